//! The rows of other families in a scan: which families have such, each with a row that shows it.

use keyplan_plan::model::{Family, ScanEnd};
use keyplan_plan::order::{sort_by, sort_by_key};

use super::{Order, Prover, rank};
use crate::guarantee::leak::law::{Scanned, foreign, foreign_if_filtered};
use crate::guarantee::missing::law::{foreign_in_range, foreign_in_range_if_filtered};
use crate::layout::Layout;
use crate::proof::{More, Reason, Verdict, Witness};

/// How many families are shown to leak into one scan before the rest is not looked at.
const MOST_LEAKS: usize = 32;

/// What is known of the rows of other families in a scan.
#[derive(Default)]
pub(super) struct ForeignRows {
    /// The worst, and of which family it is.
    worst: Option<(Verdict, String)>,
    leaks: Vec<Witness>,
    unseen: usize,
}

impl ForeignRows {
    fn rank(&self) -> u8 {
        self.worst.as_ref().map_or(0, |(verdict, _)| rank(verdict))
    }

    fn add(&mut self, verdict: Verdict, path: &str) {
        if let Verdict::Fails(witness) = &verdict {
            self.leaks.push((**witness).clone());
        }
        self.unseen += usize::from(matches!(verdict, Verdict::Unknown(_)));
        let worse = match (&verdict, &self.worst) {
            (Verdict::Fails(new), Some((Verdict::Fails(old), _))) => new.length() < old.length(),
            (verdict, _) => rank(verdict) > self.rank(),
        };
        if worse {
            self.worst = Some((verdict, path.to_owned()));
        }
    }

    /// Whether so many leak that no others are looked for: none with keys of this length can give a shorter row.
    fn is_full(&self, length: usize) -> bool {
        let shortest =
            matches!(&self.worst, Some((Verdict::Fails(witness), _)) if witness.length() <= length);
        shortest && self.leaks.len() >= MOST_LEAKS
    }

    /// The verdict, the family that it is about, and what else leaks.
    pub(super) fn told(mut self) -> (Verdict, Option<String>, More) {
        let Some((verdict, other)) = self.worst else { return (Verdict::Holds, None, More::default()) };
        self.leaks.retain(|witness| !matches!(&verdict, Verdict::Fails(worst) if **worst == *witness));
        sort_by(&mut self.leaks, |a, b| a.row_family().cmp(&b.row_family()));
        let own = usize::from(matches!(verdict, Verdict::Unknown(_)));
        let more = More { leaks: self.leaks, unseen: self.unseen.saturating_sub(own) };
        (verdict, Some(other), more)
    }
}

impl Prover<'_> {
    /// What is known of the rows of other families in a scan. What the plan accepts is worse than nothing, and better than
    /// anything that it does not accept.
    pub(super) fn foreign_rows(
        &mut self,
        family: &Family,
        scanned: Scanned<'_, '_>,
        layouts: &[Layout<'_>],
        order: &Order,
    ) -> ForeignRows {
        let near = order.near(layouts, &scanned.literal());
        let mut near: Vec<&Layout<'_>> = near.into_iter().filter_map(|index| layouts.get(index)).collect();
        near.retain(|other| other.path != scanned.layout.path && !scanned.scan.wants(other.path));
        if let Some(only) = self.only.filter(|_| !self.asked(family)) {
            near.retain(|other| only.contains(other.path));
        }
        // Those with the shortest keys first: once no other has a shorter one, the witness is a shortest.
        sort_by_key(&mut near, |other| other.sequence.width().min);
        let (accepted, near): (Vec<&Layout<'_>>, Vec<&Layout<'_>>) =
            near.into_iter().partition(|other| family.accepted_leak(other.path).is_some());
        let mut found = self.leaking(scanned, &near);
        let kept = self.leaking(scanned, &accepted);
        let bad = rank(&Verdict::Unknown(Reason::TooManySteps));
        if found.rank() < bad && kept.rank() > found.rank() {
            found.worst = kept.worst;
        }
        found.leaks.extend(kept.leaks);
        found.unseen += kept.unseen;
        found
    }

    fn leaking(&mut self, scanned: Scanned<'_, '_>, near: &[&Layout<'_>]) -> ForeignRows {
        let mut found = ForeignRows::default();
        for (index, candidate) in near.iter().enumerate() {
            if found.is_full(candidate.sequence.width().min) {
                found.unseen += near.len().saturating_sub(index);
                break;
            }
            if self.budget.is_spent() {
                found.add(Verdict::Unknown(Reason::TooManySteps), candidate.path);
                found.unseen += near.len().saturating_sub(index + 1);
                break;
            }
            let verdict = self.leak(scanned, candidate);
            found.add(verdict, candidate.path);
        }
        found
    }

    fn leak(&mut self, scanned: Scanned<'_, '_>, other: &Layout<'_>) -> Verdict {
        let (arena, budget) = (&mut self.arena, &mut self.budget);
        match (scanned.scan.end == ScanEnd::Prefix, scanned.scan.filtered) {
            (true, true) => foreign_if_filtered(arena, scanned, other, budget),
            (true, false) => foreign(arena, scanned, other, budget),
            (false, true) => foreign_in_range_if_filtered(arena, scanned, other, budget),
            (false, false) => foreign_in_range(arena, scanned, other, budget),
        }
    }
}

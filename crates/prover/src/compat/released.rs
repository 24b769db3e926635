//! KP0036: a prefix that a release has used is never forgotten.

use std::collections::BTreeSet;

use keyplan_plan::diag::Span;
use keyplan_plan::model::{Family, Plan, Space};

use super::families::all_retired;
use super::relate::{Relation, relate};
use crate::automaton::Arena;
use crate::guarantee::overlap::law::disjoint;
use crate::layout::Layout;
use crate::product::Budget;
use crate::proof::{Verdict, Witness};

/// The steps that all products may take.
const STEPS: u64 = 10_000_000;

/// A prefix that a release has used, and that the plan neither uses for the same rows nor keeps reserved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// The release that used it.
    pub release: String,
    /// The path of the family there.
    pub family: String,
    /// The name that the engine knows the space by.
    pub space: String,
    /// The prefix.
    pub prefix: Vec<u8>,
    /// A family that takes keys under it, which is not the one that it was of nor comes from it: its path, and one such key.
    pub taken: Option<(String, Vec<u8>)>,
    /// The space in the plan, if it has it.
    pub span: Span,
}

/// Every prefix of the releases, given by name, the oldest first, that a plan has forgotten; each once, by the oldest release.
pub fn forgotten<'p>(releases: impl IntoIterator<Item = (&'p str, &'p Plan)>, plan: &Plan) -> Vec<Forgotten> {
    let releases: Vec<(&str, &Plan)> = releases.into_iter().collect();
    let mut all: Vec<Forgotten> = Vec::new();
    for (release, old) in &releases {
        for (space, family) in old.families() {
            let now = plan.spaces.iter().find(|now| now.engine_name() == space.engine_name());
            let prefix = family.key.literal_prefix();
            let known = all.iter().any(|known| known.prefix == prefix && known.space == space.engine_name());
            if known || prefix.is_empty() || now.is_some_and(|now| remembers(now, old, family, &prefix)) {
                continue;
            }
            all.push(Forgotten {
                release: (*release).to_owned(),
                family: family.path.clone(),
                space: space.engine_name().to_owned(),
                prefix,
                taken: None,
                span: now.map(|now| now.span).unwrap_or_default(),
            });
        }
        for space in &old.spaces {
            let now = plan.spaces.iter().find(|now| now.engine_name() == space.engine_name());
            for entry in all_retired(space) {
                let kept = now.is_some_and(|now| retires(now, &entry.prefix));
                let known = all
                    .iter()
                    .any(|known| known.prefix == entry.prefix && known.space == space.engine_name());
                if !kept && !known {
                    all.push(Forgotten {
                        release: (*release).to_owned(),
                        family: format!("{} (retired)", space.name),
                        space: space.engine_name().to_owned(),
                        prefix: entry.prefix.clone(),
                        taken: None,
                        span: now.map(|now| now.span).unwrap_or_default(),
                    });
                }
            }
        }
    }
    // What became of the last one is compared family by family.
    let earlier = releases.split_last().map_or(&[][..], |(_, earlier)| earlier);
    let mut budget = Budget { steps: STEPS };
    for (release, old) in earlier {
        for (space, family) in old.families() {
            let prefix = family.key.literal_prefix();
            let known = all.iter().any(|known| known.prefix == prefix && known.space == space.engine_name());
            let now = plan.spaces.iter().find(|now| now.engine_name() == space.engine_name());
            let Some(now) = now.filter(|now| !known && !prefix.is_empty() && !retires(now, &prefix)) else {
                continue;
            };
            let Some((taker, key)) = taken(now, old, family, &mut budget) else { continue };
            all.push(Forgotten {
                release: (*release).to_owned(),
                family: family.path.clone(),
                space: space.engine_name().to_owned(),
                prefix,
                span: taker.name_span,
                taken: Some((taker.path.clone(), key)),
            });
        }
    }
    all
}

/// A family of a space that makes a key which an old family may have left behind, where the family that has its prefix now is written
/// otherwise, and so no longer keeps all of it.
fn taken<'n>(
    now: &'n Space,
    old: &Plan,
    family: &Family,
    budget: &mut Budget,
) -> Option<(&'n Family, Vec<u8>)> {
    let keeps = |other: &&Family| matches!(relate(&family.key, &other.key), Relation::Fits(_));
    if now.families.iter().filter(|other| is_heir(old, family, other)).any(|other| keeps(&other)) {
        return None;
    }
    let mut arena = Arena::new();
    let left = format!("{} (old)", family.path);
    let left = Layout::new(&mut arena, &left, &family.key, BTreeSet::new());
    let others = now.families.iter().filter(|other| other.retired.is_none() && !is_heir(old, family, other));
    for other in others {
        let layout = Layout::new(&mut arena, &other.path, &other.key, BTreeSet::new());
        if let Verdict::Fails(witness) = disjoint(&mut arena, &layout, &left, budget)
            && let Witness::SameKey { first, .. } = witness.as_ref()
        {
            return Some((other, first.bytes.clone()));
        }
    }
    None
}

/// Whether a family is one of an older plan, or comes from it.
fn is_heir(old: &Plan, family: &Family, other: &Family) -> bool {
    other.path == family.path
        || other.local_path() == family.local_path()
        || other.predecessors.iter().any(
            |said| matches!(old.find(&said.family).as_slice(), [(_, found)] if found.path == family.path),
        )
        // A family that was renamed and writes the same bytes.
        || super::same(&family.key, &other.key)
}

/// Whether a space keeps a prefix: reserved, or in use by the family that it was of or by one that comes from it.
fn remembers(now: &Space, old: &Plan, family: &Family, prefix: &[u8]) -> bool {
    let uses = |other: &Family| {
        let own = other.key.literal_prefix();
        own.starts_with(prefix) || (!own.is_empty() && prefix.starts_with(&own))
    };
    retires(now, prefix) || now.families.iter().filter(|other| is_heir(old, family, other)).any(uses)
}

fn retires(now: &Space, prefix: &[u8]) -> bool {
    all_retired(now).iter().any(|entry| prefix.starts_with(&entry.prefix))
}

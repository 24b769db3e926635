//! KP0036: a prefix that a release has used is never forgotten.

use std::collections::BTreeSet;

use keyplan_plan::diag::Span;
use keyplan_plan::model::{Family, Plan, Segment, Sequence, Space};

use super::families::{all_retired, reserved};
use super::relate::{Relation, relate};
use crate::automaton::Arena;
use crate::every;
use crate::guarantee::overlap::law::disjoint;
use crate::layout::Layout;
use crate::product::Budget;
use crate::proof::{Verdict, Witness};
use crate::written::written;

/// The steps that all products may take.
const STEPS: u64 = 10_000_000;

/// How many values the first part of a key may have, each of which is then a prefix.
const MOST_VALUES: usize = 16;

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
    /// A family that takes keys under it, or may, which is not the one that it was of nor comes from it.
    pub taken: Option<Taken>,
    /// The space in the plan, if it has it.
    pub span: Span,
}

/// A family that takes keys under the prefix of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its path.
    pub family: String,
    /// One such key; `None` if it is neither proved nor refuted that there is one.
    pub key: Option<Vec<u8>>,
}

/// Every prefix of the releases, given by name, the oldest first, that a plan has forgotten; each once, by the oldest release.
pub fn forgotten<'p>(
    releases: impl IntoIterator<Item = (&'p str, &'p Plan)>,
    plan: &'p Plan,
) -> Vec<Forgotten> {
    let releases: Vec<(&str, &Plan)> = releases.into_iter().collect();
    let lineage = Lineage::new(releases.iter().map(|(_, old)| *old).chain([plan]).collect());
    let mut all = All { plan, found: Vec::new() };
    for (number, (release, old)) in releases.iter().enumerate() {
        for (space, family) in old.families() {
            let now = plan.spaces.iter().find(|now| now.engine_name() == space.engine_name());
            let mut heirs = now.map(|now| lineage.heirs(number, family, now)).unwrap_or_default();
            // One that was retired stays so: nothing that is written now keeps its prefix.
            heirs.retain(|heir| family.retired.is_none() || heir.retired.is_some());
            for prefix in prefixes(&family.key) {
                if !now.is_some_and(|now| remembers(now, family, &heirs, &prefix)) {
                    all.add(release, &family.path, space, prefix);
                }
            }
        }
        for space in &old.spaces {
            let now = plan.spaces.iter().find(|now| now.engine_name() == space.engine_name());
            for entry in all_retired(space) {
                if !now.is_some_and(|now| retires(now, &entry.prefix)) {
                    all.add(release, &format!("{} (retired)", space.name), space, entry.prefix.clone());
                }
            }
        }
    }
    for (number, (release, old)) in releases.iter().enumerate() {
        for space in &old.spaces {
            let Some(now) = plan.spaces.iter().find(|now| now.engine_name() == space.engine_name()) else {
                continue;
            };
            let mut budget = Budget { steps: STEPS };
            for family in &space.families {
                let known = prefixes(&family.key);
                let heirs = lineage.heirs(number, family, now);
                if known.iter().all(|prefix| all.knows(space, prefix))
                    || heirs.iter().any(|heir| fits(family, heir))
                {
                    continue;
                }
                let left = Left { path: &family.path, key: &family.key, heirs: &heirs };
                let Some((taker, key)) = taken((space, now), &left, &mut budget) else { continue };
                let begins_it = |prefix: &Vec<u8>| key.as_ref().is_none_or(|key| key.starts_with(prefix));
                let open = |prefix: &Vec<u8>| begins_it(prefix) && !all.knows(space, prefix);
                if let Some(prefix) = known.into_iter().find(open) {
                    all.take(release, &family.path, space, prefix, (taker, key));
                }
            }
            for entry in all_retired(space) {
                let (path, key) = (format!("{} (retired)", space.name), reserved(&entry.prefix));
                let left = Left { path: &path, key: &key, heirs: &[] };
                if !all.knows(space, &entry.prefix)
                    && let Some((taker, key)) = taken((space, now), &left, &mut budget)
                {
                    all.take(release, &path, space, entry.prefix.clone(), (taker, key));
                }
            }
        }
    }
    all.found
}

/// What was found so far.
struct All<'p> {
    plan: &'p Plan,
    found: Vec<Forgotten>,
}

impl All<'_> {
    fn knows(&self, space: &Space, prefix: &[u8]) -> bool {
        self.found.iter().any(|known| known.prefix == prefix && known.space == space.engine_name())
    }

    fn add(&mut self, release: &str, family: &str, space: &Space, prefix: Vec<u8>) {
        if self.knows(space, &prefix) {
            return;
        }
        let now = self.plan.spaces.iter().find(|now| now.engine_name() == space.engine_name());
        self.found.push(Forgotten {
            release: release.to_owned(),
            family: family.to_owned(),
            space: space.engine_name().to_owned(),
            prefix,
            taken: None,
            span: now.map(|now| now.span).unwrap_or_default(),
        });
    }

    fn take(
        &mut self,
        release: &str,
        family: &str,
        space: &Space,
        prefix: Vec<u8>,
        (taker, key): (&Family, Option<Vec<u8>>),
    ) {
        self.found.push(Forgotten {
            release: release.to_owned(),
            family: family.to_owned(),
            space: space.engine_name().to_owned(),
            prefix,
            taken: Some(Taken { family: taker.path.clone(), key }),
            span: taker.name_span,
        });
    }
}

/// The bytes that every key of a layout begins with: one prefix, or one for each alternative or each of few values that it begins
/// with. Without such bytes there is none.
fn prefixes(key: &Sequence) -> Vec<Vec<u8>> {
    let mut all = beginnings(key);
    all.retain(|prefix| !prefix.is_empty());
    all.sort_unstable();
    all.dedup();
    all
}

fn beginnings(key: &Sequence) -> Vec<Vec<u8>> {
    let literal = key.literal_prefix();
    let first = key.segments().iter().find(|segment| !matches!(segment, Segment::Literal(_)));
    let Some(Segment::Argument(argument)) = first else { return vec![literal] };
    let rows: Vec<&Sequence> = argument.shape.rows().collect();
    if rows.is_empty() {
        let values = every::values(&argument.shape, MOST_VALUES).filter(|_| literal.is_empty());
        return match values {
            Some(values) => values.iter().filter_map(|value| written(&argument.shape, value)).collect(),
            None => vec![literal],
        };
    }
    let inside = rows.into_iter().flat_map(beginnings);
    inside.map(|rest| [literal.as_slice(), &rest].concat()).collect()
}

/// Which families of each version of a plan come from which of the version before.
struct Lineage<'p> {
    // The last one is the plan as it is now.
    versions: Vec<&'p Plan>,
    // For each version but the last, and each of its families, the places of its heirs in the next one.
    next: Vec<Vec<Vec<usize>>>,
}

impl<'p> Lineage<'p> {
    fn new(versions: Vec<&'p Plan>) -> Self {
        let steps = versions.iter().zip(versions.iter().skip(1));
        let next = steps.map(|(old, new)| {
            let heirs = |(space, family): (&Space, &Family)| {
                let among = new.families().enumerate();
                let heirs = among.filter(|(_, (there, other))| is_heir(old, (space, family), (there, other)));
                heirs.map(|(at, _)| at).collect()
            };
            old.families().map(heirs).collect()
        });
        Self { next: next.collect(), versions }
    }

    /// The families of a space of the plan as it is now that come from one of the version at `number`: directly, or by way of the
    /// versions between.
    fn heirs(&self, number: usize, family: &Family, now: &'p Space) -> Vec<&'p Family> {
        let Some((old, last)) = self.versions.get(number).zip(self.versions.last()) else {
            return Vec::new();
        };
        let Some((at, (space, _))) =
            old.families().enumerate().find(|(_, (_, other))| std::ptr::eq(*other, family))
        else {
            return Vec::new();
        };
        let mut places = BTreeSet::from([at]);
        for step in self.next.iter().skip(number) {
            places = places.iter().filter_map(|&at| step.get(at)).flatten().copied().collect();
        }
        let by_way = last.families().enumerate().filter(|(at, _)| places.contains(at));
        let by_way: Vec<&Family> = by_way.map(|(_, (_, other))| other).collect();
        let heir = |other: &&Family| {
            by_way.iter().any(|known| std::ptr::eq(*known, *other))
                || is_heir(old, (space, family), (now, other))
        };
        now.families.iter().filter(heir).collect()
    }
}

/// Keys that an old plan may have left behind, and the families that come from theirs.
struct Left<'l> {
    path: &'l str,
    key: &'l Sequence,
    heirs: &'l [&'l Family],
}

/// A family of a space that makes a key which an old plan may have left behind, and one such key, unless that it makes none could
/// only not be proved. Families that were there beside it
/// and are written as they were have met it from the start.
fn taken<'n>(
    (old, now): (&Space, &'n Space),
    left: &Left<'_>,
    budget: &mut Budget,
) -> Option<(&'n Family, Option<Vec<u8>>)> {
    let is_heir = |other: &Family| left.heirs.iter().any(|heir| std::ptr::eq(*heir, other));
    let was_there = |other: &Family| old.families.iter().any(|before| fits(other, before));
    let fronts = prefixes(left.key);
    let mut others: Vec<&Family> = now.families.iter().filter(|other| may_meet(&fronts, other)).collect();
    others.retain(|other| other.retired.is_none() && !is_heir(other) && !was_there(other));
    if others.is_empty() {
        return None;
    }
    let mut arena = Arena::new();
    let name = format!("{} (old)", left.path);
    let layout = Layout::new(&mut arena, &name, left.key, BTreeSet::new());
    let mut unknown = None;
    for other in others {
        let other_layout = Layout::new(&mut arena, &other.path, &other.key, BTreeSet::new());
        match disjoint(&mut arena, &other_layout, &layout, budget) {
            Verdict::Holds | Verdict::Assumed(_) => {}
            Verdict::Fails(witness) => {
                let key = match *witness {
                    Witness::SameKey { first, .. } => Some(first.bytes),
                    _ => None,
                };
                return Some((other, key));
            }
            Verdict::Unknown(_) => unknown = unknown.or(Some(other)),
        }
    }
    unknown.map(|other| (other, None))
}

/// Whether a key of a family may begin as a key does that begins with one of these prefixes; with anything, if there is none.
fn may_meet(fronts: &[Vec<u8>], family: &Family) -> bool {
    let own = prefixes(&family.key);
    let meet = |front: &Vec<u8>| own.iter().any(|own| own.starts_with(front) || front.starts_with(own));
    own.is_empty() || fronts.is_empty() || fronts.iter().any(meet)
}

/// Whether every key of a family is one of another, with the same arguments.
fn fits(family: &Family, other: &Family) -> bool {
    matches!(relate(&family.key, &other.key), Relation::Fits(_))
}

/// Whether a family is one of an older plan, or comes from it.
fn is_heir(old: &Plan, (space, family): (&Space, &Family), (there, other): (&Space, &Family)) -> bool {
    let at_home = || space.engine_name() == there.engine_name();
    other.path == family.path
        || (other.local_path() == family.local_path() && at_home())
        || other.predecessors.iter().any(
            |said| matches!(old.find(&said.family).as_slice(), [(_, found)] if found.path == family.path),
        )
        // A family that was renamed and writes the same bytes.
        || (at_home() && super::same(&family.key, &other.key))
}

/// Whether a space keeps a prefix of an old family: reserved, or in use by a family that comes from that one.
fn remembers(now: &Space, family: &Family, heirs: &[&Family], prefix: &[u8]) -> bool {
    let uses = |heir: &&Family| {
        prefixes(&heir.key).iter().any(|own| own.starts_with(prefix) || prefix.starts_with(own))
            || fits(family, heir)
    };
    retires(now, prefix) || heirs.iter().any(uses)
}

fn retires(now: &Space, prefix: &[u8]) -> bool {
    all_retired(now).iter().any(|entry| prefix.starts_with(&entry.prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_proved_is_not_taken_for_proved() {
        let plan = |text: &str| {
            keyplan_plan::compile("p.keyplan", text, |_| Err("none".into())).plan.expect("sound")
        };
        let old = plan("plan p; space s { key a = 0x01 x: u64; }");
        let now = plan("plan p; space s { key b = 0x01 0x06 y: bytes(7); }");
        let taken = |steps: u64| {
            let family = &old.spaces[0].families[0];
            let left = Left { path: &family.path, key: &family.key, heirs: &[] };
            let found = taken((&old.spaces[0], &now.spaces[0]), &left, &mut Budget { steps });
            found.map(|(family, key)| (family.path.as_str(), key.map(|key| key.len())))
        };
        assert_eq!(taken(STEPS), Some(("s.b", Some(9))));
        assert_eq!(taken(0), Some(("s.b", None)));
    }
}

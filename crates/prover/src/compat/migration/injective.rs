//! Two old keys never become one.

use std::collections::BTreeMap;

use keyplan_plan::dynamic::Value;
use keyplan_plan::mapping::{Carried, Course, Mapping, Passage, Route, Way};
use keyplan_plan::model::{DottedPath, Family, Plan};

use super::total::some_value;
use super::{Counterexample, Decision, worst};
use crate::guarantee::Guarantee;
use crate::proof::{Report, Side, Verdict, Witness};
use crate::sample;

/// How many old keys of a family are carried over to find two that become one.
const MOST_ROWS: usize = 400;

/// Decides whether rows of the route at `index` never get the new key of another row, of this route or of another.
pub(super) fn injective(
    old: &Plan,
    new: &Plan,
    report: &Report,
    mapping: &Mapping,
    index: usize,
) -> Decision {
    let route = mapping.routes.get(index);
    let Some((route, passage)) = route.and_then(|route| Some((route, moved(route)?))) else {
        return Decision::Unknown("the route moves nothing".to_owned());
    };
    let others: Vec<&Route> = mapping
        .routes
        .iter()
        .enumerate()
        .filter(|(other, route)| *other != index && target(route) == Some(&passage.to.path))
        .map(|(_, route)| route)
        .collect();
    let apart = others.iter().all(|other| moved(other).is_some_and(|other| told_apart(passage, other)));
    let of_new = layout(report, &passage.to.path);
    let beside = match overlaps(report, &passage.to.path).as_slice() {
        [] => Decision::Unknown("nothing was proved of the new layout".to_owned()),
        found => worst(found, |first, second| Counterexample::TwoReadings { first, second }),
    };
    let parts = parts(report, passage);
    let sound = matches!(beside, Decision::Proved | Decision::Assumed(_))
        && lossless(report, &passage.to.path)
        && parts;
    if apart && sound && passage.key.dropped.is_empty() {
        match of_new {
            Some(Verdict::Holds) => return beside,
            Some(Verdict::Assumed(assumption)) => return Decision::Assumed(assumption.clone()),
            _ => {}
        }
    }
    let mut search = Search { old, new, seen: BTreeMap::new() };
    let witness = match of_new {
        Some(Verdict::Fails(witness)) => search.backwards(route, passage, witness),
        _ => None,
    };
    let found = witness
        .or_else(|| search.sampled(route))
        .or_else(|| others.iter().find_map(|other| search.sampled(other)));
    found.map_or_else(
        || {
            let why = if !passage.key.dropped.is_empty() {
                "an argument is given up"
            } else if !sound {
                "another family of the new plan may make the same keys, or an encoding of the new one loses something"
            } else if apart {
                "the new layout is not proved to be unambiguous"
            } else {
                "rows of another family get keys of the same layout"
            };
            Decision::Unknown(why.to_owned())
        },
        |found| Decision::Refuted(Box::new(found)),
    )
}

fn moved(route: &Route) -> Option<&Passage> {
    if let Course::Moved(passage) = &route.course { Some(passage) } else { None }
}

fn target(route: &Route) -> Option<&String> {
    match &route.course {
        Course::Moved(passage) => Some(&passage.to.path),
        Course::Kept { to } => Some(&to.path),
        _ => None,
    }
}

/// Whether an argument of the new key is one constant in the one passage and another in the other.
fn told_apart(a: &Passage, b: &Passage) -> bool {
    a.key.constants().any(|(path, value)| {
        b.key.constants().any(|(other, constant)| path == other && differ(value, constant))
    })
}

/// Whether two constants are surely written as different bytes by a layout that loses nothing.
fn differ(a: &Value, b: &Value) -> bool {
    a != b
}

/// What was proved of the keys of a family of the new plan.
fn layout<'r>(report: &'r Report, path: &str) -> Option<&'r Verdict> {
    let about = |statement: &&crate::Statement| {
        statement.guarantee == Guarantee::Unambiguous && statement.family == path
    };
    report.statements.iter().find(about).map(|statement| &statement.verdict)
}

/// Whether members and fields that are rewritten are never written as one.
fn parts(report: &Report, passage: &Passage) -> bool {
    let anew = |carried: &Carried| *carried != Carried::Verbatim;
    if !anew(&passage.member) && !passage.fields.iter().any(|field| anew(&field.key)) {
        return true;
    }
    // Scores tell no member from another, whatever they lose. A field may be called so.
    let counts = |part: &str| part != "score" || !passage.fields.is_empty();
    let part = |statement: &crate::Statement| {
        let inside = DottedPath(&statement.family).inside(&passage.to.path);
        statement.of == passage.to.path && inside.is_some_and(counts)
    };
    report.statements.iter().all(|statement| {
        let about =
            matches!(statement.guarantee, Guarantee::Unambiguous | Guarantee::Disjoint | Guarantee::Lossless);
        let about = about && part(statement);
        !about || matches!(statement.verdict, Verdict::Holds | Verdict::Assumed(_))
    })
}

/// Whether no encoding of the keys of a family loses anything.
fn lossless(report: &Report, path: &str) -> bool {
    report.statements.iter().all(|statement| {
        let about = statement.guarantee == Guarantee::Lossless && statement.family == path;
        !about || statement.verdict == Verdict::Holds
    })
}

/// What was proved of a family of the new plan and the others of its space.
fn overlaps<'r>(report: &'r Report, path: &str) -> Vec<&'r Verdict> {
    let about = |statement: &&crate::Statement| {
        let named = statement.family == path || statement.other.as_deref() == Some(path);
        statement.guarantee == Guarantee::Disjoint && named
    };
    report.statements.iter().filter(about).map(|statement| &statement.verdict).collect()
}

struct Search<'p> {
    old: &'p Plan,
    new: &'p Plan,
    // New keys with the old ones that they were made of.
    seen: BTreeMap<Vec<u8>, Side>,
}

impl Search<'_> {
    fn families(&self, route: &Route) -> Option<(&Family, Option<&Family>)> {
        let (_, before) = route.from.find(self.old)?;
        let after = moved(route).and_then(|passage| passage.to.find(self.new)).map(|(_, family)| family);
        Some((before, after))
    }

    /// Two new argument lists with one key, as the old keys that they come from.
    fn backwards(&self, route: &Route, passage: &Passage, witness: &Witness) -> Option<Counterexample> {
        let Witness::SameKey { first, second } = witness else { return None };
        let (before, after) = self.families(route)?;
        let after = after?;
        let key = passage.key.reversed(&before.key, &after.key)?;
        let back = Passage { key, ..passage.clone() };
        let way = Way::new(after, before, &back);
        let side = |side: &Side| {
            let values = way.arguments(&side.values, &[]).ok()?;
            Side::key(&before.path, &before.key, &values)
        };
        let (first, second) = (side(first)?, side(second)?);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let forth = Way::new(before, after, passage);
        forth.key(&first.values, &[], &mut a).ok()?;
        forth.key(&second.values, &[], &mut b).ok()?;
        (a == b && first.bytes != second.bytes).then_some(Counterexample::Merged { first, second, new: a })
    }

    /// Carries sampled keys of a route over, and looks for one whose new key was met.
    fn sampled(&mut self, route: &Route) -> Option<Counterexample> {
        let (before, after) = self.families(route)?;
        let way = moved(route).zip(after).map(|(passage, after)| Way::new(before, after, passage));
        let value = some_value(before)?;
        let mut fresh = Vec::new();
        for row in sample::rows(&before.key, MOST_ROWS) {
            let Some(side) = Side::key(&before.path, &before.key, &row) else { continue };
            let mut key = Vec::new();
            match &way {
                Some(way) if way.key(&side.values, &value, &mut key).is_err() => continue,
                Some(_) => {}
                None => key.clone_from(&side.bytes),
            }
            fresh.push((key, side));
        }
        for (key, side) in fresh {
            if let Some(first) = self.seen.get(&key) {
                if first.bytes != side.bytes || first.family != side.family {
                    return Some(Counterexample::Merged { first: first.clone(), second: side, new: key });
                }
                continue;
            }
            self.seen.insert(key, side);
        }
        None
    }
}

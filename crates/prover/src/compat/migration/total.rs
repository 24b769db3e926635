//! Every old key has a new one.

use keyplan_plan::mapping::{Carried, Passage, Place, Route, Way};
use keyplan_plan::model::{Family, Plan, Sequence};

use super::takes::takes_all;
use super::{Counterexample, Decision};
use crate::compat::convert::outside;
use crate::proof::Side;
use crate::sample;

/// How many old argument lists are carried over to find one that cannot be.
const MOST_ROWS: usize = 400;

/// Decides whether every key of an old family, and every value that has a layout, can be rewritten.
pub(super) fn total(old: &Plan, new: &Plan, route: &Route, passage: &Passage) -> Decision {
    let (Some((_, before)), Some((_, after))) = (route.from.find(old), passage.to.find(new)) else {
        return Decision::Unknown("the families are not there".to_owned());
    };
    let proved = takes_all(&before.key, before.value.as_ref(), &after.key, &passage.key)
        && every_part(before, after, passage);
    if proved {
        return Decision::Proved;
    }
    refuted(before, after, passage).unwrap_or_else(|| {
        Decision::Unknown("the domains differ, and no key was found that has no new one".to_owned())
    })
}

/// Whether every value, member, score and field can be rewritten.
fn every_part(before: &Family, after: &Family, passage: &Passage) -> bool {
    let fine = |old: Option<&Sequence>, new: Option<&Sequence>, carried: &Carried| match (old, new, carried) {
        (_, _, Carried::Verbatim) => true,
        (Some(old), Some(new), Carried::Converted(arguments)) => takes_all(old, None, new, arguments),
        _ => false,
    };
    fine(before.value.as_ref(), after.value.as_ref(), &passage.value)
        && fine(before.member.as_ref(), after.member.as_ref(), &passage.member)
        && fine(before.score.as_ref(), after.score.as_ref(), &passage.score)
        && before.fields.iter().zip(&passage.fields).all(|(field, way)| {
            after.fields.get(way.to).is_some_and(|other| {
                fine(Some(&field.key), Some(&other.key), &way.key)
                    && fine(field.value.as_ref(), other.value.as_ref(), &way.value)
            })
        })
}

/// Looks for an old row that has no new one.
fn refuted(before: &Family, after: &Family, passage: &Passage) -> Option<Decision> {
    let way = Way::new(before, after, passage);
    let value = before.value.as_ref().and_then(|layout| {
        sample::rows(layout, 1).iter().find_map(|row| Side::key(&before.path, layout, row))
    });
    let value = value.map(|side| side.bytes).unwrap_or_default();
    let mut shortest: Option<(Side, String)> = None;
    for values in outside(&before.key, &after.key).into_iter().chain(sample::rows(&before.key, MOST_ROWS)) {
        let Some(side) = Side::key(&before.path, &before.key, &values) else { continue };
        let Err(misfit) = way.key(&side.values, &value, &mut Vec::new()) else { continue };
        if shortest.as_ref().is_none_or(|(other, _)| side.bytes.len() < other.bytes.len()) {
            shortest = Some((side, misfit.to_string()));
        }
    }
    if let Some((old, why)) = shortest {
        return Some(Decision::Refuted(Box::new(Counterexample::Refused { old: Some(old), why })));
    }
    let (old, new) = (before.value.as_ref()?, after.value.as_ref()?);
    for values in outside(old, new).into_iter().chain(sample::rows(old, MOST_ROWS)) {
        let Some(side) = Side::key(&format!("{} value", before.path), old, &values) else { continue };
        if let Err(misfit) = way.value(&side.bytes) {
            let why = format!("the value: {misfit}");
            return Some(Decision::Refuted(Box::new(Counterexample::Refused { old: Some(side), why })));
        }
    }
    None
}

/// A key of an old family.
pub(super) fn example(old: &Plan, from: &Place) -> Option<Side> {
    let (_, family) = from.find(old)?;
    sample::rows(&family.key, 16).iter().find_map(|row| Side::key(&family.path, &family.key, row))
}

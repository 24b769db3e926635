//! Every old key has a new one.

use keyplan_plan::dynamic::{Value, encode};
use keyplan_plan::mapping::{Carried, FieldWay, Misfit, Passage, Place, Route, Way};
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

/// A value of a family, empty where it has none; `None` if its layout has one and none could be made: what is made of a key beside
/// another value would say nothing.
pub(super) fn some_value(family: &Family) -> Option<Vec<u8>> {
    let Some(layout) = &family.value else { return Some(Vec::new()) };
    let rows = sample::rows(layout, 1);
    rows.iter().find_map(|row| Side::key(&family.path, layout, row)).map(|side| side.bytes)
}

/// Looks for an old row that has no new one.
fn refuted(before: &Family, after: &Family, passage: &Passage) -> Option<Decision> {
    let way = Way::new(before, after, passage);
    let value = some_value(before)?;
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
    let refused = |what: &str, layouts: (Option<&Sequence>, Option<&Sequence>), fits: Fits<'_>| {
        let (old, new) = (layouts.0?, layouts.1?);
        outside(old, new).into_iter().chain(sample::rows(old, MOST_ROWS)).find_map(|values| {
            let side = Side::key(&format!("{} {what}", before.path), old, &values)?;
            let why = format!("the {what}: {}", fits(&side).err()?);
            Some(Decision::Refuted(Box::new(Counterexample::Refused { old: Some(side), why })))
        })
    };
    let value = (before.value.as_ref(), after.value.as_ref());
    let member = (before.member.as_ref(), after.member.as_ref());
    let score = (before.score.as_ref(), after.score.as_ref());
    refused("value", value, &|side| way.value(&side.bytes).map(drop))
        .or_else(|| refused("member", member, &|side| way.member(&side.bytes).map(drop)))
        .or_else(|| {
            let written = |values: Vec<Value>| {
                let layout = after.score.as_ref().map_or(Ok(()), |new| encode(new, &values, &mut Vec::new()));
                layout.map_err(|error| Misfit::Value(error.to_string()))
            };
            refused("score", score, &|side| {
                way.score(&side.values).map_or(Ok(()), |score| score.and_then(written))
            })
        })
        .or_else(|| way.fields().iter().find_map(|field| refused_field(before, field)))
}

/// Looks for a field, or a value of one, that has no new form.
fn refused_field(before: &Family, way: &FieldWay<'_>) -> Option<Decision> {
    let sides = |what: &str, layout: &Sequence, other: Option<&Sequence>| -> Vec<Side> {
        let rows = other.map(|other| outside(layout, other)).unwrap_or_default();
        let rows = rows.into_iter().chain(sample::rows(layout, MOST_ROWS));
        let of = format!("{} {what}", before.path);
        rows.filter_map(|values| Side::key(&of, layout, &values)).collect()
    };
    let fields = sides("field", &way.old.key, Some(&way.new.key));
    let values = way.old.value.as_ref().map(|old| sides("value", old, way.new.value.as_ref()));
    let values = values.unwrap_or_default();
    let refused = |side: &Side, field: &[u8], value: &[u8]| {
        let why = way.convert(field, value).err()?.to_string();
        Some(Decision::Refuted(Box::new(Counterexample::Refused { old: Some(side.clone()), why })))
    };
    // Each field beside a value that has a new form, and each value beside such a field.
    let pairs = || fields.iter().flat_map(|field| values.iter().map(move |value| (field, value)));
    let fine = pairs().take(MOST_ROWS).find(|(field, value)| way.convert(&field.bytes, &value.bytes).is_ok());
    let (field, value) = match fine {
        Some((field, value)) => (field.bytes.as_slice(), value.bytes.as_slice()),
        None => (fields.last().map_or(&[][..], |field| &field.bytes), &[][..]),
    };
    let first = fields.iter().find_map(|side| refused(side, &side.bytes, value));
    first.or_else(|| values.iter().find_map(|side| refused(side, field, &side.bytes)))
}

/// Whether something can be written anew.
type Fits<'f> = &'f dyn Fn(&Side) -> Result<(), Misfit>;

/// A key of an old family.
pub(super) fn example(old: &Plan, from: &Place) -> Option<Side> {
    let (_, family) = from.find(old)?;
    sample::rows(&family.key, 16).iter().find_map(|row| Side::key(&family.path, &family.key, row))
}

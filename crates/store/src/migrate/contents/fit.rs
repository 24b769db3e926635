//! What can be under a key of which family, and scores from one layout to another.

use keyplan_plan::dynamic::{Value, readings};
use keyplan_plan::mapping::Way;
use keyplan_plan::model::{Family, FamilyKind, Sequence, Shape};

use super::thing::Thing;
use crate::structure::{Kind, QueueItem, QueueState, SetScore, Structures};

/// Whether a key that holds `found` can be of a family. Other programs keep queues on a server as sorted sets.
pub(super) fn may_be(family: &Family, found: Kind, server: bool) -> bool {
    holds(family.kind) == found || (server && family.kind == FamilyKind::Queue && found == Kind::Zset)
}

const fn holds(kind: FamilyKind) -> Kind {
    match kind {
        FamilyKind::Key => Kind::Value,
        FamilyKind::Hash => Kind::Hash,
        FamilyKind::Zset => Kind::Zset,
        FamilyKind::Set => Kind::Set,
        FamilyKind::Queue => Kind::Queue,
    }
}

fn has_reading(layout: Option<&Sequence>, bytes: &[u8]) -> bool {
    layout.is_none_or(|layout| readings(layout, bytes, 1).is_ok_and(|found| !found.readings.is_empty()))
}

/// Whether a thing can be under a key of a family.
pub(super) fn can_hold(family: &Family, thing: &Thing) -> bool {
    let ranked =
        |score: &SetScore| family.score.as_ref().is_none_or(|layout| score_values(layout, *score).is_some());
    match thing {
        Thing::Value(value) => has_reading(family.value.as_ref(), value),
        Thing::Member(member) => has_reading(family.member.as_ref(), member),
        Thing::Field(field, value) => family
            .fields
            .iter()
            .any(|known| has_reading(Some(&known.key), field) && has_reading(known.value.as_ref(), value)),
        Thing::Scored(member, score) => has_reading(family.member.as_ref(), member) && ranked(score),
        Thing::Item(item) => has_reading(family.member.as_ref(), &item.member) && ranked(&item.score),
    }
}

/// The largest integer below which a float tells every one from the next.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A score as the values of its layout; `None` if the layout has none such.
fn score_values(layout: &Sequence, score: SetScore) -> Option<Vec<Value>> {
    let mut arguments = layout.arguments();
    let (Some(only), None) = (arguments.next(), arguments.next()) else { return None };
    let value = match (&only.shape, score) {
        (Shape::Score { encoding, .. }, SetScore::Place(place)) if !encoding.is_float() => {
            Value::Score(place)
        }
        (Shape::Score { encoding, .. }, SetScore::Number(number)) if encoding.is_float() => {
            Value::Float(number)
        }
        (Shape::Float(_), SetScore::Number(number)) => Value::Float(number),
        (Shape::Int(int), SetScore::Number(number)) if number.abs() < EXACT && number.fract() == 0.0 => {
            let text = format!("{number:.0}");
            if int.ty.signed {
                Value::Signed(text.parse().ok()?)
            } else {
                Value::Unsigned(text.parse().ok()?)
            }
        }
        _ => return None,
    };
    Some(vec![value])
}

/// The score that the values of a layout are.
fn score_of(values: &[Value]) -> Result<SetScore, String> {
    let number = |text: String| match text.parse::<f64>() {
        Ok(number) if number.abs() < EXACT => Ok(SetScore::Number(number)),
        _ => Err("the score: no float tells it from its neighbours".to_owned()),
    };
    match values {
        [Value::Score(place)] => Ok(SetScore::Place(*place)),
        [Value::Float(number)] => Ok(SetScore::Number(*number)),
        [Value::Unsigned(value)] => number(value.to_string()),
        [Value::Signed(value)] => number(value.to_string()),
        _ => Err("the score: no number and no place".to_owned()),
    }
}

/// A member of a sorted set that another program uses as a queue, as an item that waits.
pub(super) fn waiting(thing: Thing) -> Thing {
    match thing {
        Thing::Scored(member, score) => {
            Thing::Item(QueueItem { member, score, attempts: 0, state: QueueState::Waiting })
        }
        thing => thing,
    }
}

/// Why a server cannot hold a score.
pub(super) const NO_PLACES: &str = "the score is an exact place in the chain, and a server has floats only";

pub(super) fn is_place(thing: &Thing) -> bool {
    match thing {
        Thing::Scored(_, score) => matches!(score, SetScore::Place(_)),
        Thing::Item(item) => matches!(item.score, SetScore::Place(_)),
        _ => false,
    }
}

pub(super) fn rank(way: &Way<'_>, score: SetScore) -> Result<SetScore, String> {
    let Some(layout) = &way.old.score else { return Ok(score) };
    let Some(values) = score_values(layout, score) else {
        return Err("the score is not one of the old layout".to_owned());
    };
    match way.score(&values) {
        None => Ok(score),
        Some(Ok(new)) => score_of(&new),
        Some(Err(misfit)) => Err(format!("the score: {misfit}")),
    }
}

/// Whether the scores of a copy may be places.
pub(super) fn exact(to: Option<&dyn Structures>) -> bool {
    to.is_none_or(|to| to.capabilities().exact_scores)
}

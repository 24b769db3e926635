use keyplan_plan::dynamic::{Decoder, Value, encode as write, readings};
use keyplan_plan::model::{Argument, Sequence};

use super::{Arbitrary, kept};

/// How many readings of one key are looked at. A key with more is not looked into further.
const READINGS: usize = 64;

/// Arguments that are encoded are among the readings of the key, and scan prefixes are prefixes of it.
///
/// The first two bytes choose a plan, the next two a family, the rest makes the arguments.
///
/// # Panics
///
/// If the claim does not hold.
pub fn encode(bytes: &[u8]) {
    let mut input = Arbitrary::new(bytes);
    let Some(kept) = input.pick(kept()) else { return };
    let families: Vec<_> = (kept.plan.spaces.iter().enumerate())
        .flat_map(|(index, space)| space.families.iter().map(move |family| (index, family)))
        .collect();
    let Some(&(space, family)) = input.pick(&families) else { return };
    let values = input.values(&family.key);
    let mut key = Vec::new();
    if write(&family.key, &values, &mut key).is_ok() {
        among_readings(&family.key, &values, &key);
        for scan in &family.scans {
            let bound = scan.values_of(&family.key, &values).unwrap_or_default();
            let mut start = Vec::new();
            let written = scan.write(&family.key, &bound, &mut start);
            assert_eq!(written, Ok(()), "a key of {bound:?}, but no scan");
            assert!(key.starts_with(&start), "the scan over {bound:?} leaves out {values:?}");
        }
        let all = Decoder::new(&kept.plan).decode_all(space, &key, READINGS);
        let found = all.is_ok_and(|all| all.more || all.readings.iter().any(|read| read.family == family));
        assert!(found, "no reading of {} in its space: {values:?}", family.path);
    }
    let others = [family.value.as_ref(), family.member.as_ref(), family.score.as_ref()];
    let fields = family.fields.iter().flat_map(|field| [Some(&field.key), field.value.as_ref()]);
    for layout in others.into_iter().chain(fields).flatten() {
        let values = input.values(layout);
        let mut bytes = Vec::new();
        if write(layout, &values, &mut bytes).is_ok() {
            among_readings(layout, &values, &bytes);
        }
    }
}

fn among_readings(layout: &Sequence, values: &[Value], key: &[u8]) {
    let found = readings(layout, key, READINGS);
    assert!(found.is_ok(), "{values:?} cannot be read back: {found:?}");
    let Ok(found) = found else { return };
    let arguments: Vec<&Argument> = layout.arguments().collect();
    let same = |read: &Vec<Value>| {
        let pairs = read.iter().zip(values).zip(&arguments);
        pairs.into_iter().all(|((read, given), argument)| {
            argument.shape.loses_information() || read == given || is_zero(given)
        })
    };
    let holds = found.more || found.readings.iter().any(same);
    assert!(holds, "{values:?} is not among {:?}", found.readings);
}

/// Whether a negative zero was given, which is written as zero.
fn is_zero(value: &Value) -> bool {
    matches!(value, Value::Float(float) if *float == 0.0)
}

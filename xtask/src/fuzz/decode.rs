use keyplan_plan::dynamic::{Decoded, Decoder, encode, readings};

use super::{Arbitrary, kept};

/// How many readings of one key are looked at.
const READINGS: usize = 8;

/// Every reading of any bytes under any layout encodes to the same bytes again.
///
/// The first two bytes choose a plan, the next two a layout or a space, the rest is the key.
///
/// # Panics
///
/// If the claim does not hold.
pub fn decode(bytes: &[u8]) {
    let mut input = Arbitrary::new(bytes);
    let Some(kept) = input.pick(kept()) else { return };
    let layouts = kept.layouts();
    let Some(layout) = input.pick(&layouts) else { return };
    let key = input.rest();

    if let Ok(found) = readings(layout, key, READINGS) {
        for values in &found.readings {
            let mut again = Vec::new();
            let encoded = encode(layout, values, &mut again);
            assert_eq!(encoded, Ok(()), "{values:?} was read but cannot be written");
            assert_eq!(again, key, "{values:?} was read but is written otherwise");
        }
    }

    let decoder = Decoder::new(&kept.plan);
    for space in 0..kept.plan.spaces.len() {
        let Ok(all) = decoder.decode_all(space, key, READINGS) else {
            assert!(decoder.decode(space, key).is_err(), "one reading, but not any");
            continue;
        };
        let first = decoder.decode(space, key).ok();
        assert_eq!(
            first.as_ref().map(shown),
            all.readings.first().map(shown),
            "not the first reading of all"
        );
        for reading in &all.readings {
            let mut again = Vec::new();
            let encoded = encode(&reading.family.key, &reading.values, &mut again);
            assert_eq!((encoded, again.as_slice()), (Ok(()), key), "in {}", reading.family.path);
        }
    }
}

/// A reading as text, in which not-a-number equals itself.
fn shown(reading: &Decoded<'_>) -> String {
    format!("{} {:?}", reading.family.path, reading.values)
}

//! Values and numbers as a person wants to see them: in full where they are short.

use keyplan_plan::diag::grouped;
use keyplan_plan::dynamic::Value;
use keyplan_plan::model::Shape;

/// The most characters of a value that are shown.
const LONGEST: usize = 72;
/// How many are shown of the front and of the end of one that is longer.
const FRONT: usize = 32;
const BACK: usize = 8;

/// A value, cut in the middle if it is long, with its length.
pub(crate) fn value(value: &Value, shape: &Shape) -> String {
    let whole = value.display(shape).to_string();
    let count = whole.chars().count();
    if count <= LONGEST {
        return whole;
    }
    let front: String = whole.chars().take(FRONT).collect();
    let back: String = whole.chars().skip(count - BACK).collect();
    let length = match value {
        Value::Text(text) => format!("{} bytes", thousands(text.len())),
        Value::Bytes(bytes) => format!("{} bytes", thousands(bytes.len())),
        Value::List(items) => format!("{} elements", thousands(items.len())),
        _ => format!("{} characters", thousands(count)),
    };
    format!("{front}…{back} ({length})")
}

/// Bytes in hexadecimal digits, cut in the middle if they are many.
pub(crate) fn bytes(bytes: &[u8]) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
    match bytes {
        [front @ .., _, _] if bytes.len() > FRONT => {
            let (front, back) = (front.get(..FRONT - 4).unwrap_or_default(), bytes.get(bytes.len() - 2..));
            format!("{} … {} ({} bytes)", hex(front), hex(back.unwrap_or_default()), thousands(bytes.len()))
        }
        _ => hex(bytes),
    }
}

/// `65,535`
pub(crate) fn thousands(n: usize) -> String {
    grouped(u64::try_from(n).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_says_how_long_it_is() {
        let shape = Shape::Opaque(keyplan_plan::model::Opaque::Raw);
        assert_eq!(value(&Value::Bytes(vec![7; 4]), &shape), "0x07070707");
        assert_eq!(
            value(&Value::Bytes(vec![7; 40]), &shape),
            "0x070707070707070707070707070707…07070707 (40 bytes)"
        );
    }
}

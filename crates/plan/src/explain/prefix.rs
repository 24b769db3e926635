//! Bytes that are the front of keys, as logs and iterators show them.

use crate::dynamic::{Value, located};
use crate::model::{Family, Scan, Segment, Sequence};

/// The front of a family's keys: what its whole segments are, and what is left over.
#[derive(Clone, Debug, PartialEq)]
pub struct Front<'p> {
    /// The family.
    pub family: &'p Family,
    /// How many segments of its layout are whole.
    pub segments: usize,
    /// The values of the arguments among them.
    pub values: Vec<Value>,
    /// How many bytes of the segment after these there are.
    pub begun: usize,
}

impl Front<'_> {
    /// The segment that the bytes end in or before; `None` if all are whole.
    pub fn next(&self) -> Option<&Segment> {
        self.family.key.segments().get(self.segments)
    }

    /// Whether the bytes are just what a scan of the family asks for.
    pub fn is_scan(&self) -> bool {
        self.scan().is_some()
    }

    /// The scan of the family that asks for just these bytes.
    pub fn scan(&self) -> Option<&Scan> {
        let those = self.family.scans.iter().filter(|scan| self.begun == 0 && scan.segments == self.segments);
        those.min_by_key(|scan| (!scan.is_called(), scan.id))
    }
}

/// Reads bytes as the front of a family's keys; `None` if no key of it begins with them, or if they are a whole key.
///
/// ```
/// use keyplan_plan::{dynamic::Value, explain::front};
///
/// let text = "plan demo; space s { key tick = 0x01 pool: u64 tick: i64.tick9 scan by pool; }";
/// let plan = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into())).plan.expect("sound");
/// let (_, tick) = plan.find("tick")[0];
/// let found = front(tick, &[1, 0, 0, 0, 0, 0, 0, 0, 7]).expect("the front of its keys");
/// assert_eq!((found.values.as_slice(), found.begun), ([Value::Unsigned(7)].as_slice(), 0));
/// assert!(found.is_scan());
/// assert_eq!(front(tick, &[2]), None);
/// ```
pub fn front<'p>(family: &'p Family, bytes: &[u8]) -> Option<Front<'p>> {
    let segments = family.key.segments();
    let reached = located(&family.key, bytes, 1).err()?;
    // Only bytes that end too soon are the front of something.
    if reached.failure.exhausted || reached.failure.offset != bytes.len() {
        return None;
    }
    // A segment that has no end of its own may be whole or not: the decoder cannot tell before more bytes come.
    let (&last, before) = reached.starts.split_last()?;
    let whole = Sequence::new(segments.iter().take(before.len()).cloned().collect());
    let values = located(&whole, bytes.get(..last)?, 1).ok()?.pop()?.values;
    Some(Front { family, segments: before.len(), values, begun: bytes.len() - last })
}

//! The bytes of one value.

use keyplan_plan::dynamic::{Value, encode_one};
use keyplan_plan::model::Shape;

/// The bytes of a value by itself. `None` if its codec refuses it: it makes no key.
pub(crate) fn written(shape: &Shape, value: &Value) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    encode_one(shape, value, &mut bytes).ok().map(|()| bytes)
}

use keyplan_codec::Buffer;

use super::Error;
use keyplan_typed::Key;

/// Keys up to these lengths are encoded on the stack, in as little room as will do: it is cleared before.
const SHORT: usize = 64;
const LONG: usize = 128;

/// Encodes a key, in place if it is short, and hands it to `f`.
#[inline]
pub(super) fn with_key<K: Key, R>(key: &K, f: impl FnOnce(&[u8]) -> Result<R, Error>) -> Result<R, Error> {
    match K::MAX_KEY_LEN {
        Some(0..=SHORT) => in_place::<SHORT, K, R>(key, f),
        Some(0..=LONG) => in_place::<LONG, K, R>(key, f),
        _ => {
            let mut out = Vec::new();
            key.encode_into(&mut out)?;
            f(&out)
        }
    }
}

#[inline]
fn in_place<const ROOM: usize, K: Key, R>(
    key: &K,
    f: impl FnOnce(&[u8]) -> Result<R, Error>,
) -> Result<R, Error> {
    let mut room = [0; ROOM];
    let mut out = Buffer::new(&mut room);
    key.encode_into(&mut out)?;
    f(out.into_written())
}

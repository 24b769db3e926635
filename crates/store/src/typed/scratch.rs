use keyplan_codec::Buffer;

use super::Error;
use keyplan_typed::Key;

/// Keys up to this length are encoded on the stack.
const SHORT: usize = 128;

/// Encodes a key, in place if it is short, and hands it to `f`.
#[inline]
pub(super) fn with_key<K: Key, R>(key: &K, f: impl FnOnce(&[u8]) -> Result<R, Error>) -> Result<R, Error> {
    if K::MAX_KEY_LEN.is_some_and(|longest| longest <= SHORT) {
        let mut room = [0; SHORT];
        let mut out = Buffer::new(&mut room);
        key.encode_into(&mut out)?;
        f(out.into_written())
    } else {
        let mut out = Vec::new();
        key.encode_into(&mut out)?;
        f(&out)
    }
}

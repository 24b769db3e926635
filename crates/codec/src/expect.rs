/// Calls `read` with `key`, in a copy of its own for keys of exactly `N` bytes.
///
/// Where a layout has one length, `read` can go through its segments one by one and still cost what a decoder
/// written for the layout costs: for a key of that length, the compiler knows every segment's length and drops
/// their checks. A key that is not read so is read again in the general copy, whose error says which byte breaks
/// it; `read` must give the same answer each time.
///
/// ```
/// use keyplan_codec::{Be, DecodeError, Delimited, Fault, Literal, Segment, expect_width};
///
/// fn decode(key: &[u8]) -> Result<u64, DecodeError> {
///     expect_width::<9, _, _>(key, |key| {
///         let ((), rest) = Literal(&[1]).take(key)?;
///         Be::new().decode(rest).map_err(|error| error.behind(1))
///     })
/// }
///
/// assert_eq!(decode(&[1, 0, 0, 0, 0, 0, 0, 0, 7]), Ok(7));
/// assert_eq!(decode(&[2]), Err(DecodeError::new(0, Fault::Literal { expected: 1, found: 2 })));
/// assert_eq!(decode(&[1, 0]), Err(DecodeError::new(2, Fault::Short { missing: 7 })));
/// ```
#[inline]
pub fn expect_width<'k, const N: usize, T, E>(
    key: &'k [u8],
    read: impl Fn(&'k [u8]) -> Result<T, E>,
) -> Result<T, E> {
    if let Ok(exact) = <&[u8; N]>::try_from(key)
        && let Ok(value) = read(exact)
    {
        return Ok(value);
    }
    aside(key, read)
}

/// Calls `read`, out of the way of the code around the call.
#[cold]
#[inline(never)]
fn aside<'k, T>(key: &'k [u8], read: impl FnOnce(&'k [u8]) -> T) -> T {
    read(key)
}

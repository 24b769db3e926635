//! Numbers in the bytes of a file.

/// The little-endian number in `N` bytes at `at`; `None` if they are not all there.
fn little<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let own = bytes.get(at..at.checked_add(N)?)?;
    Some(own.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

fn big<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let own = bytes.get(at..at.checked_add(N)?)?;
    Some(own.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

/// Two bytes, the low one first.
pub(crate) fn u16_le(bytes: &[u8], at: usize) -> Option<u16> {
    little::<2>(bytes, at).and_then(|number| u16::try_from(number).ok())
}

/// Four bytes, the low one first.
pub(crate) fn u32_le(bytes: &[u8], at: usize) -> Option<u32> {
    little::<4>(bytes, at).and_then(|number| u32::try_from(number).ok())
}

/// Eight bytes, the low one first.
pub(crate) fn u64_le(bytes: &[u8], at: usize) -> Option<u64> {
    little::<8>(bytes, at)
}

/// Two bytes, the high one first.
pub(crate) fn u16_be(bytes: &[u8], at: usize) -> Option<u16> {
    big::<2>(bytes, at).and_then(|number| u16::try_from(number).ok())
}

/// Four bytes, the high one first.
pub(crate) fn u32_be(bytes: &[u8], at: usize) -> Option<u32> {
    big::<4>(bytes, at).and_then(|number| u32::try_from(number).ok())
}

/// Eight bytes, the high one first.
pub(crate) fn u64_be(bytes: &[u8], at: usize) -> Option<u64> {
    big::<8>(bytes, at)
}

/// A number in groups of seven bits, the low ones first, and what comes after it.
pub(crate) fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0_u64;
    for (shift, (index, &byte)) in (0..64_u32).step_by(7).zip(bytes.iter().enumerate()) {
        let group = u64::from(byte & 0x7f);
        if shift == 63 && group > 1 {
            return None;
        }
        number |= group << shift;
        if byte & 0x80 == 0 {
            return Some((number, bytes.get(index + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_both_orders_and_never_past_the_end() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!((u16_le(&bytes, 0), u16_be(&bytes, 6)), (Some(0x0201), Some(0x0708)));
        assert_eq!((u32_le(&bytes, 4), u32_be(&bytes, 5)), (Some(0x0807_0605), None));
        assert_eq!(
            (u64_le(&bytes, 0), u64_be(&bytes, 0)),
            (Some(0x0807_0605_0403_0201), Some(0x0102_0304_0506_0708))
        );
        assert_eq!(u64_le(&bytes, usize::MAX), None);
    }

    #[test]
    fn a_varint_has_at_most_64_bits() {
        assert_eq!(varint(&[0xac, 0x02, 9]), Some((300, &[9][..])));
        assert_eq!(varint(&[0x80]), None);
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(varint(&most), Some((u64::MAX, &[][..])));
        assert_eq!(varint(&[0xff; 11]), None);
    }
}

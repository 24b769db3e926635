use super::{short, trailing};
use crate::{DecodeError, Delimited, EncodeError, Expected, Fault, Int, Segment, Sink, Unsigned};

marker! {
    /// An unsigned integer as LEB128: seven bits a byte, least significant first, the top bit set in all but
    /// the last byte. Only the shortest form is read.
    Leb128
}

marker! {
    /// An unsigned integer of variable length whose byte order is numeric order: `88` + v up to 109, else
    /// `f5` + n and n big-endian bytes, without leading zeros.
    ///
    /// The form holds 64 bits: of a `u128`, numbers beyond that are refused.
    OrdVar
}

marker! {
    /// An unsigned integer in Bitcoin's bijective base 128, most significant first: each byte but the last has
    /// its top bit set, and stands for one more than its lower bits. Each number has just one form.
    BitcoinVarint
}

marker! {
    /// An unsigned integer in Substrate's SCALE compact form. The two lower bits of the first byte say how long it is:
    /// `00` one byte, `01` two and `10` four bytes, least significant first, with the number above those bits; `11`
    /// says that the upper six bits and four more are the count of bytes that follow, least significant first. Only
    /// the shortest form is read.
    ScaleCompact
}

/// The greatest number of one byte in [`OrdVar`].
const ORDVAR_SMALL: u8 = 109;
const ORDVAR_ZERO: u8 = 0x88;
const ORDVAR_BYTES: u8 = 0xf5;

/// Enough for any `u128` at seven bits a byte.
const ROOM: usize = 19;

const fn out_of_range() -> DecodeError {
    DecodeError::new(0, Fault::OutOfRange)
}

/// Returns where a number of which all bytes but the last have their top bit set ends.
#[inline]
fn septet_extent<T: Int>(input: &[u8]) -> Result<usize, DecodeError> {
    let most = (T::BYTES * 8).div_ceil(7);
    match input.iter().take(most).position(|byte| byte & 0x80 == 0) {
        Some(last) => Ok(last + 1),
        None if input.len() < most => Err(short(input.len(), input.len() + 1)),
        None => Err(out_of_range()),
    }
}

impl<T: Unsigned> Segment for Leb128<T> {
    type Arg<'a> = T;
    type View<'a> = T;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: T, out: &mut S) -> Result<(), EncodeError> {
        let mut room = [0; ROOM];
        let mut left = arg.magnitude();
        let mut len = 0;
        for slot in &mut room {
            *slot = (left & 0x7f) as u8;
            left >>= 7;
            len += 1;
            if left == 0 {
                break;
            }
            *slot |= 0x80;
        }
        out.put(room.get(..len).unwrap_or_default())
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        let extent = self.extent(bytes)?;
        if bytes.len() > extent {
            return Err(trailing(bytes.len(), extent));
        }
        if let [_, .., 0] = bytes {
            return Err(DecodeError::new(extent - 1, Fault::NotShortest));
        }
        let mut number = 0u128;
        for &byte in bytes.iter().rev() {
            if number.leading_zeros() < 7 {
                return Err(out_of_range());
            }
            number = number << 7 | u128::from(byte & 0x7f);
        }
        T::from_magnitude(false, number).ok_or(out_of_range())
    }
}

impl<T: Unsigned> Delimited for Leb128<T> {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        septet_extent::<T>(input)
    }
}

impl<T: Unsigned> Segment for BitcoinVarint<T> {
    type Arg<'a> = T;
    type View<'a> = T;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: T, out: &mut S) -> Result<(), EncodeError> {
        let mut room = [0; ROOM];
        let mut left = arg.magnitude();
        let mut len = 0;
        for slot in room.iter_mut().rev() {
            let more = if len == 0 { 0 } else { 0x80 };
            *slot = (left & 0x7f) as u8 | more;
            len += 1;
            if left <= 0x7f {
                break;
            }
            left = (left >> 7) - 1;
        }
        out.put(room.get(ROOM.saturating_sub(len)..).unwrap_or_default())
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        let extent = self.extent(bytes)?;
        if bytes.len() > extent {
            return Err(trailing(bytes.len(), extent));
        }
        let mut number = 0u128;
        for &byte in bytes {
            if number.leading_zeros() < 7 {
                return Err(out_of_range());
            }
            number = number << 7 | u128::from(byte & 0x7f);
            if byte & 0x80 != 0 {
                number = number.checked_add(1).ok_or(out_of_range())?;
            }
        }
        T::from_magnitude(false, number).ok_or(out_of_range())
    }
}

impl<T: Unsigned> Delimited for BitcoinVarint<T> {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        septet_extent::<T>(input)
    }
}

impl<T: Unsigned> Segment for OrdVar<T> {
    type Arg<'a> = T;
    type View<'a> = T;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: T, out: &mut S) -> Result<(), EncodeError> {
        let number = u64::try_from(arg.magnitude()).map_err(|_| EncodeError::OutOfRange)?;
        match u8::try_from(number) {
            Ok(small) if small <= ORDVAR_SMALL => out.put(&[ORDVAR_ZERO + small]),
            _ => {
                let skip = number.leading_zeros() / 8;
                let mut room = [0; 9];
                let [_, digits @ ..] = &mut room;
                *digits = number.to_be_bytes();
                let tail = room.get_mut(skip as usize..).unwrap_or_default();
                if let Some(head) = tail.first_mut() {
                    *head = ORDVAR_BYTES + 8 - (skip & 7) as u8;
                }
                out.put(tail)
            }
        }
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        let extent = self.extent(bytes)?;
        if bytes.len() > extent {
            return Err(trailing(bytes.len(), extent));
        }
        let number = match bytes {
            [head] => u64::from(head.wrapping_sub(ORDVAR_ZERO)),
            [_, 0, ..] => return Err(DecodeError::new(1, Fault::NotShortest)),
            [_, digits @ ..] => {
                let number = digits.iter().fold(0, |number: u64, &digit| number << 8 | u64::from(digit));
                if number <= u64::from(ORDVAR_SMALL) {
                    return Err(DecodeError::new(1, Fault::NotShortest));
                }
                number
            }
            [] => return Err(short(0, 1)),
        };
        T::from_magnitude(false, number.into()).ok_or(out_of_range())
    }
}

impl<T: Unsigned> Delimited for OrdVar<T> {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        let Some(&head) = input.first() else { return Err(short(0, 1)) };
        let width = match head {
            ORDVAR_ZERO..=ORDVAR_BYTES => 1,
            0xf6..=0xfd => usize::from(head - ORDVAR_BYTES) + 1,
            _ => {
                let fault = Fault::Byte { found: head, expected: Expected::VarintHead };
                return Err(DecodeError::new(0, fault));
            }
        };
        if input.len() < width { Err(short(input.len(), width)) } else { Ok(width) }
    }
}

/// Bitcoin's CompactSize: one byte up to 252, else `fd`, `fe` or `ff` and 2, 4 or 8 bytes, least significant
/// first. Only the shortest form is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompactSize;

impl Segment for CompactSize {
    type Arg<'a> = u64;
    type View<'a> = u64;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: u64, out: &mut S) -> Result<(), EncodeError> {
        if let Ok(small @ 0..=0xfc) = u8::try_from(arg) {
            return out.put(&[small]);
        }
        if let Ok(small) = u16::try_from(arg) {
            out.put(&[0xfd])?;
            return out.put(&small.le_array());
        }
        if let Ok(small) = u32::try_from(arg) {
            out.put(&[0xfe])?;
            return out.put(&small.le_array());
        }
        out.put(&[0xff])?;
        out.put(&arg.le_array())
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<u64, DecodeError> {
        let extent = self.extent(bytes)?;
        if bytes.len() > extent {
            return Err(trailing(bytes.len(), extent));
        }
        let [head, digits @ ..] = bytes else { return Err(short(0, 1)) };
        let number = digits.iter().rev().fold(0, |number: u64, &digit| number << 8 | u64::from(digit));
        let least = match head {
            0xff => 1 << 32,
            0xfe => 1 << 16,
            0xfd => 0xfd,
            &small => return Ok(small.into()),
        };
        if number < least { Err(DecodeError::new(1, Fault::NotShortest)) } else { Ok(number) }
    }
}

impl Delimited for CompactSize {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        let width = match input.first() {
            None => return Err(short(0, 1)),
            Some(0xff) => 9,
            Some(0xfe) => 5,
            Some(0xfd) => 3,
            Some(_) => 1,
        };
        if input.len() < width { Err(short(input.len(), width)) } else { Ok(width) }
    }
}

/// The bounds of the forms of [`ScaleCompact`] that have no count.
const SCALE_ONE: u128 = 1 << 6;
const SCALE_TWO: u128 = 1 << 14;
const SCALE_FOUR: u128 = 1 << 30;

impl<T: Unsigned> Segment for ScaleCompact<T> {
    type Arg<'a> = T;
    type View<'a> = T;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: T, out: &mut S) -> Result<(), EncodeError> {
        let number = arg.magnitude();
        let (word, width) = match number {
            0..SCALE_ONE => (number << 2, 1),
            SCALE_ONE..SCALE_TWO => (number << 2 | 1, 2),
            SCALE_TWO..SCALE_FOUR => (number << 2 | 2, 4),
            _ => {
                let width = (16 - number.leading_zeros() / 8).max(4);
                out.put(&[(((width - 4) << 2 | 3) & 0xff) as u8])?;
                (number, width as usize)
            }
        };
        out.put(word.le_array().get(..width).unwrap_or_default())
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<T, DecodeError> {
        let extent = self.extent(bytes)?;
        if bytes.len() > extent {
            return Err(trailing(bytes.len(), extent));
        }
        let (Some(&head), digits) = (bytes.first(), bytes.get(1..).unwrap_or_default()) else {
            return Err(short(0, 1));
        };
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |n: u128, &digit| n << 8 | u128::from(digit));
        let (number, least) = match head & 3 {
            0 => (number(bytes) >> 2, 0),
            1 => (number(bytes) >> 2, SCALE_ONE),
            2 => (number(bytes) >> 2, SCALE_TWO),
            _ => {
                if digits.len() > 4 && digits.last() == Some(&0) {
                    return Err(DecodeError::new(extent - 1, Fault::NotShortest));
                }
                (number(digits), SCALE_FOUR)
            }
        };
        if number < least {
            return Err(DecodeError::new(0, Fault::NotShortest));
        }
        T::from_magnitude(false, number).ok_or(out_of_range())
    }
}

impl<T: Unsigned> Delimited for ScaleCompact<T> {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        let Some(&head) = input.first() else { return Err(short(0, 1)) };
        let width = match head & 3 {
            0 => 1,
            1 => 2,
            2 => 4,
            _ => usize::from(head >> 2) + 5,
        };
        if width > 17 {
            return Err(out_of_range());
        }
        if input.len() < width { Err(short(input.len(), width)) } else { Ok(width) }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    crate::laws! {
        leb_u8: Leb128::<u8>::new(), [0, 1, 127, 128, u8::MAX], delimited;
        leb_u16: Leb128::<u16>::new(), [0, 127, 128, 16_383, 16_384, u16::MAX], delimited;
        leb_u64: Leb128::<u64>::new(), [0, 127, 128, 1 << 63, u64::MAX], delimited;
        leb_u128: Leb128::<u128>::new(), [0, 127, 128, 1 << 127, u128::MAX], delimited;
        ordvar_u8: OrdVar::<u8>::new(), [0, 109, 110, u8::MAX], ordered, delimited;
        ordvar_u16: OrdVar::<u16>::new(), [0, 109, 110, 255, 256, u16::MAX], ordered, delimited;
        ordvar_u64: OrdVar::<u64>::new(), [0, 109, 110, 255, 256, 0xff_ffff, 1 << 56, u64::MAX], ordered, delimited;
        ordvar_u128: OrdVar::<u128>::new(), [0, 109, 110, u64::MAX.into()], ordered, delimited;
        bitcoin_u8: BitcoinVarint::<u8>::new(), [0, 127, 128, u8::MAX], delimited;
        bitcoin_u16: BitcoinVarint::<u16>::new(), [0, 127, 128, 16_511, 16_512, u16::MAX], delimited;
        bitcoin_u64: BitcoinVarint::<u64>::new(), [0, 127, 128, 1 << 32, u64::MAX], delimited;
        bitcoin_u128: BitcoinVarint::<u128>::new(), [0, 128, u64::MAX.into(), u128::MAX], delimited;
        scale_u8: ScaleCompact::<u8>::new(), [0, 63, 64, u8::MAX], delimited;
        scale_u32: ScaleCompact::<u32>::new(), [0, 63, 64, 16_383, 16_384, (1 << 30) - 1, 1 << 30, u32::MAX], delimited;
        scale_u64: ScaleCompact::<u64>::new(), [0, 63, 64, 1 << 30, 1 << 32, (1 << 40) - 1, u64::MAX], delimited;
        scale_u128: ScaleCompact::<u128>::new(), [0, 1 << 30, u64::MAX.into(), u128::MAX], delimited;
        compact: CompactSize, [0, 252, 253, 0xffff, 0x1_0000, 0xffff_ffff, 1 << 32, u64::MAX], delimited;
    }

    fn bytes<T: Segment>(segment: &T, arg: T::Arg<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        segment.encode(arg, &mut out).unwrap();
        out
    }

    #[test]
    fn leb128_puts_the_least_significant_first() {
        assert_eq!(bytes(&Leb128::new(), 624_485_u32), [0xe5, 0x8e, 0x26]);
        assert_eq!(bytes(&Leb128::new(), u64::MAX), [255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
    }

    #[test]
    fn padded_or_oversized_leb128_is_refused() {
        let leb = Leb128::<u16>::new();
        assert_eq!(leb.decode(&[0x80, 0]), Err(DecodeError::new(1, Fault::NotShortest)));
        assert_eq!(leb.decode(&[0xff, 0xff, 4]), Err(DecodeError::new(0, Fault::OutOfRange)));
        assert_eq!(leb.extent(&[0x80, 0x80, 0x80, 0]), Err(DecodeError::new(0, Fault::OutOfRange)));
        assert_eq!(leb.extent(&[0x80, 0x80]), Err(DecodeError::new(2, Fault::Short { missing: 1 })));
        let mut beyond = [0xff; 19];
        beyond[18] = 4;
        assert_eq!(Leb128::<u128>::new().decode(&beyond), Err(DecodeError::new(0, Fault::OutOfRange)));
    }

    #[test]
    fn ordvar_keeps_small_numbers_in_one_byte() {
        assert_eq!(bytes(&OrdVar::new(), 0u64), [0x88]);
        assert_eq!(bytes(&OrdVar::new(), 109u64), [0xf5]);
        assert_eq!(bytes(&OrdVar::new(), 110u64), [0xf6, 110]);
        assert_eq!(bytes(&OrdVar::new(), 256u64), [0xf7, 1, 0]);
        assert_eq!(bytes(&OrdVar::new(), u64::MAX), [0xfd, 255, 255, 255, 255, 255, 255, 255, 255]);
        let beyond = OrdVar::new().encode(1u128 << 64, &mut Vec::new());
        assert_eq!(beyond, Err(EncodeError::OutOfRange));
    }

    #[test]
    fn ordvar_has_one_form_a_number() {
        let ordvar = OrdVar::<u64>::new();
        assert_eq!(ordvar.decode(&[0xf6, 109]), Err(DecodeError::new(1, Fault::NotShortest)));
        assert_eq!(ordvar.decode(&[0xf7, 0, 200]), Err(DecodeError::new(1, Fault::NotShortest)));
        for head in [0x00, 0x87, 0xfe, 0xff] {
            let fault = Fault::Byte { found: head, expected: Expected::VarintHead };
            assert_eq!(ordvar.extent(&[head; 12]), Err(DecodeError::new(0, fault)));
        }
        let small = OrdVar::<u8>::new();
        assert_eq!(small.decode(&[0xf7, 1, 0]), Err(DecodeError::new(0, Fault::OutOfRange)));
    }

    #[test]
    fn bitcoin_varints_are_those_of_its_source() {
        let known: [(u64, &[u8]); 11] = [
            (0, &[0]),
            (1, &[1]),
            (127, &[0x7f]),
            (128, &[0x80, 0]),
            (255, &[0x80, 0x7f]),
            (256, &[0x81, 0]),
            (16_383, &[0xfe, 0x7f]),
            (16_384, &[0xff, 0]),
            (16_511, &[0xff, 0x7f]),
            (65_535, &[0x82, 0xfe, 0x7f]),
            (1 << 32, &[0x8e, 0xfe, 0xfe, 0xff, 0]),
        ];
        for (number, expected) in known {
            assert_eq!(bytes(&BitcoinVarint::new(), number), expected);
        }
    }

    #[test]
    fn bitcoin_varints_beyond_the_type_are_refused() {
        let beyond = DecodeError::new(0, Fault::OutOfRange);
        assert_eq!(BitcoinVarint::<u8>::new().decode(&[0x81, 0]), Err(beyond));
        assert_eq!(BitcoinVarint::<u128>::new().decode(&[0xff; 19]), Err(beyond));
        let mut largest = bytes(&BitcoinVarint::new(), u128::MAX);
        *largest.last_mut().unwrap() += 1;
        assert_eq!(BitcoinVarint::<u128>::new().decode(&largest), Err(beyond));
    }

    #[test]
    fn scale_numbers_are_those_of_its_specification() {
        // The table of examples in the SCALE codec's own specification.
        let known: [(u64, &[u8]); 7] = [
            (0, &[0]),
            (1, &[4]),
            (42, &[0xa8]),
            (69, &[0x15, 0x01]),
            (65_535, &[0xfe, 0xff, 0x03, 0x00]),
            (1_073_741_824, &[0x03, 0, 0, 0, 0x40]),
            (100_000_000_000_000, &[0x0b, 0x00, 0x40, 0x7a, 0x10, 0xf3, 0x5a]),
        ];
        for (number, expected) in known {
            assert_eq!(bytes(&ScaleCompact::new(), number), expected, "{number}");
        }
        let scale = ScaleCompact::<u64>::new();
        assert_eq!(scale.decode(&[1, 0]), Err(DecodeError::new(0, Fault::NotShortest)));
        assert_eq!(scale.decode(&[7, 0, 0, 0, 64, 0]), Err(DecodeError::new(5, Fault::NotShortest)));
        assert_eq!(scale.decode(&[3, 0, 0, 0, 1]), Err(DecodeError::new(0, Fault::NotShortest)));
        assert_eq!(scale.extent(&[0xff; 80]), Err(DecodeError::new(0, Fault::OutOfRange)));
    }

    #[test]
    fn compact_sizes_are_little_endian_and_shortest() {
        assert_eq!(bytes(&CompactSize, 252), [252]);
        assert_eq!(bytes(&CompactSize, 253), [0xfd, 0xfd, 0]);
        assert_eq!(bytes(&CompactSize, 0x1234_5678), [0xfe, 0x78, 0x56, 0x34, 0x12]);
        assert_eq!(CompactSize.decode(&[0xfd, 0xfc, 0]), Err(DecodeError::new(1, Fault::NotShortest)));
        assert_eq!(CompactSize.decode(&[0xfe, 255, 255, 0, 0]), Err(DecodeError::new(1, Fault::NotShortest)));
        assert_eq!(CompactSize.extent(&[0xff, 0]), Err(DecodeError::new(2, Fault::Short { missing: 7 })));
    }
}

use super::exactly;
use crate::{
    Be, CompactSize, DecodeError, Delimited, EncodeError, Fault, Le, Leb128, LenWidth, ScaleCompact, Segment,
    Sink,
};

/// A number of elements or bytes, written as a length prefix writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// How the number is written.
    pub width: LenWidth,
}

impl LenWidth {
    /// How many bytes the length takes, if that does not depend on the length.
    pub const fn fixed(self) -> Option<usize> {
        match self {
            Self::L8 => Some(1),
            Self::L16 | Self::L16Le => Some(2),
            Self::L32 | Self::L32Le => Some(4),
            Self::L64 | Self::L64Le => Some(8),
            Self::Varint | Self::Compact | Self::Scale => None,
        }
    }

    /// Whether the least significant byte comes first.
    pub const fn is_little_endian(self) -> bool {
        matches!(self, Self::L16Le | Self::L32Le | Self::L64Le)
    }

    /// The greatest length that can be written.
    pub const fn limit(self) -> usize {
        match self {
            Self::L8 => u8::MAX as usize,
            Self::L16 | Self::L16Le => u16::MAX as usize,
            Self::L32 | Self::L32Le | Self::Compact | Self::Scale => u32::MAX as usize,
            Self::L64 | Self::L64Le | Self::Varint => usize::MAX,
        }
    }
}

impl Segment for Count {
    type Arg<'a> = usize;
    type View<'a> = usize;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, count: usize, out: &mut S) -> Result<(), EncodeError> {
        let too_large = |_| EncodeError::Length { found: count };
        let wide = u64::try_from(count).map_err(too_large)?;
        match self.width {
            LenWidth::L8 => Be::<u8>::new().encode(u8::try_from(count).map_err(too_large)?, out),
            LenWidth::L16 => Be::<u16>::new().encode(u16::try_from(count).map_err(too_large)?, out),
            LenWidth::L32 => Be::<u32>::new().encode(u32::try_from(count).map_err(too_large)?, out),
            LenWidth::L64 => Be::<u64>::new().encode(wide, out),
            LenWidth::L16Le => Le::<u16>::new().encode(u16::try_from(count).map_err(too_large)?, out),
            LenWidth::L32Le => Le::<u32>::new().encode(u32::try_from(count).map_err(too_large)?, out),
            LenWidth::L64Le => Le::<u64>::new().encode(wide, out),
            LenWidth::Varint => Leb128::<u64>::new().encode(wide, out),
            LenWidth::Compact => CompactSize.encode(u32::try_from(count).map_err(too_large)?.into(), out),
            LenWidth::Scale => {
                ScaleCompact::<u32>::new().encode(u32::try_from(count).map_err(too_large)?, out)
            }
        }
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<usize, DecodeError> {
        usize::try_from(self.number(bytes)?).map_err(|_| DecodeError::new(0, Fault::OutOfRange))
    }
}

impl Count {
    /// The number that `bytes` stand for.
    #[inline]
    pub(super) fn number(self, bytes: &[u8]) -> Result<u64, DecodeError> {
        Ok(match self.width {
            LenWidth::L8 => u8::from_be_bytes(*exactly(bytes)?).into(),
            LenWidth::L16 => u16::from_be_bytes(*exactly(bytes)?).into(),
            LenWidth::L32 => u32::from_be_bytes(*exactly(bytes)?).into(),
            LenWidth::L64 => Be::<u64>::new().decode(bytes)?,
            LenWidth::L16Le => Le::<u16>::new().decode(bytes)?.into(),
            LenWidth::L32Le => Le::<u32>::new().decode(bytes)?.into(),
            LenWidth::L64Le => Le::<u64>::new().decode(bytes)?,
            LenWidth::Varint => Leb128::<u64>::new().decode(bytes)?,
            LenWidth::Compact => match CompactSize.decode(bytes)? {
                beyond if beyond > u32::MAX.into() => return Err(DecodeError::new(0, Fault::OutOfRange)),
                number => number,
            },
            LenWidth::Scale => ScaleCompact::<u32>::new().decode(bytes)?.into(),
        })
    }
}

impl Delimited for Count {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        match self.width.fixed() {
            Some(width) if width <= input.len() => Ok(width),
            Some(width) => Err(DecodeError::new(input.len(), Fault::Short { missing: width - input.len() })),
            None => match self.width {
                LenWidth::Compact => CompactSize.extent(input),
                LenWidth::Scale => ScaleCompact::<u32>::new().extent(input),
                _ => Leb128::<u64>::new().extent(input),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_written_as_a_length_is() {
        for (width, bytes) in [
            (LenWidth::L8, &[0xc8][..]),
            (LenWidth::L16, &[0, 0xc8]),
            (LenWidth::L32, &[0, 0, 0, 0xc8]),
            (LenWidth::L64, &[0, 0, 0, 0, 0, 0, 0, 0xc8]),
            (LenWidth::L16Le, &[0xc8, 0]),
            (LenWidth::L32Le, &[0xc8, 0, 0, 0]),
            (LenWidth::L64Le, &[0xc8, 0, 0, 0, 0, 0, 0, 0]),
            (LenWidth::Varint, &[0xc8, 1]),
            (LenWidth::Compact, &[0xc8]),
            (LenWidth::Scale, &[0x21, 3]),
        ] {
            let mut out = alloc::vec::Vec::new();
            Count { width }.encode(200, &mut out).unwrap();
            assert_eq!(out, bytes);
            assert_eq!(Count { width }.decode(bytes), Ok(200));
            out.push(7);
            assert_eq!(Count { width }.extent(&out), Ok(bytes.len()));
        }
        let mut out = alloc::vec::Vec::new();
        assert_eq!(
            Count { width: LenWidth::L8 }.encode(256, &mut out),
            Err(EncodeError::Length { found: 256 })
        );
    }
}

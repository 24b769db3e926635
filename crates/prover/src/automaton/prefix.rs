use keyplan_plan::codec::LenWidth;

use super::{ByteSet, Numbers, UNLIMITED};
use crate::sure::byte;

/// The most stretches that the lengths with a certain byte are listed as; beyond it all lengths are kept.
const MOST_STRETCHES: u64 = 1 << 12;

/// How a length is written in front of its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Prefix {
    pub(crate) width: LenWidth,
    /// Whether every byte of it is complemented.
    pub(crate) flipped: bool,
}

/// Where a byte of the length is in the number: `bits` bits from bit `shift` on.
struct Digit {
    shift: u32,
    bits: u32,
    /// How far up in the byte they are.
    lift: u32,
    /// What the other bits of the byte are.
    mark: u8,
}

impl Prefix {
    /// The greatest length that can be written.
    pub(crate) fn limit(self) -> u64 {
        u64::try_from(self.width.limit()).unwrap_or(UNLIMITED)
    }

    /// How many bytes the length `number` takes.
    pub(crate) fn width(self, number: u64) -> u64 {
        match self.width.fixed() {
            Some(width) => width as u64,
            None => match self.width {
                LenWidth::Compact | LenWidth::Scale => {
                    let form =
                        self.listed().iter().find(|(_, first, last)| (*first..=*last).contains(&number));
                    form.map_or(5, |(width, ..)| u64::from(*width))
                }
                _ => u64::from((64 - (number | 1).leading_zeros()).div_ceil(7)),
            },
        }
    }

    /// The forms of a width that has a few of them: how many bytes, the least and the greatest length.
    pub(crate) fn listed(self) -> &'static [(u8, u64, u64)] {
        match self.width {
            LenWidth::Compact => &[(1, 0, 252), (3, 253, 0xffff), (5, 0x1_0000, 0xffff_ffff)],
            LenWidth::Scale => {
                &[(1, 0, 0x3f), (2, 0x40, 0x3fff), (4, 0x4000, 0x3fff_ffff), (5, 0x4000_0000, 0xffff_ffff)]
            }
            _ => &[],
        }
    }

    /// The forms that lengths of `counts` have: how many bytes, and which of the lengths have so many.
    pub(crate) fn forms(self, counts: &Numbers) -> Vec<(u8, Numbers)> {
        if let Some(width) = self.width.fixed() {
            return vec![(u8::try_from(width).unwrap_or(u8::MAX), counts.clone())];
        }
        if !self.listed().is_empty() {
            let all = self
                .listed()
                .iter()
                .map(|&(width, first, last)| (width, counts.intersection(&Numbers::range(first, last))));
            return all.filter(|(_, these)| !these.is_empty()).collect();
        }
        (1..=10u8)
            .filter_map(|width| {
                let shift = 7 * u32::from(width);
                let first = if width == 1 { 0 } else { 1u64.checked_shl(shift - 7)? };
                let last = 1u64.checked_shl(shift).map_or(UNLIMITED, |limit| limit - 1);
                let these = counts.intersection(&Numbers::range(first, last));
                (!these.is_empty()).then_some((width, these))
            })
            .collect()
    }

    fn digit(self, width: u8, index: u8) -> Digit {
        let (width, index) = (u32::from(width), u32::from(index));
        let plain = |shift: u32| Digit { shift, bits: 8, lift: 0, mark: 0 };
        let head = |mark: u8| Digit { shift: 0, bits: 0, lift: 0, mark };
        match self.width {
            LenWidth::Varint => {
                Digit { shift: 7 * index, bits: 7, lift: 0, mark: if index + 1 < width { 0x80 } else { 0 } }
            }
            LenWidth::Compact => match (width, index) {
                (1, _) => plain(0),
                (3, 0) => head(0xfd),
                (_, 0) => head(0xfe),
                (_, index) => plain(8 * (index - 1)),
            },
            LenWidth::Scale => match (width, index) {
                (5, 0) => head(3),
                (5, index) => plain(8 * (index - 1)),
                (width, 0) => {
                    let mark = match width {
                        1 => 0,
                        2 => 1,
                        _ => 2,
                    };
                    Digit { shift: 0, bits: 6, lift: 2, mark }
                }
                (_, index) => plain(6 + 8 * (index - 1)),
            },
            width if width.is_little_endian() => plain(8 * index),
            _ => plain(8 * (width.saturating_sub(1 + index))),
        }
    }

    fn byte_of(self, digit: &Digit, number: u64) -> u8 {
        let value = number.checked_shr(digit.shift).unwrap_or(0) & ((1 << digit.bits) - 1);
        let written = byte(value << digit.lift) | digit.mark;
        if self.flipped { !written } else { written }
    }

    /// The bytes of the length `number`.
    pub(crate) fn bytes(self, number: u64) -> Vec<u8> {
        let width = byte(self.width(number));
        (0..width).map(|index| self.byte_of(&self.digit(width, index), number)).collect()
    }

    /// The values that byte `index` of a length of `width` bytes has over the lengths of `counts`.
    pub(crate) fn values(self, width: u8, index: u8, counts: &Numbers) -> ByteSet {
        let digit = self.digit(width, index);
        let mut set = ByteSet::EMPTY;
        let span = 1u64 << digit.bits;
        for &(first, last) in counts.stretches() {
            let (from, to) =
                (first.checked_shr(digit.shift).unwrap_or(0), last.checked_shr(digit.shift).unwrap_or(0));
            if to - from >= span - 1 {
                // Every value, with its mark.
                let digit = Digit { shift: 0, ..digit };
                return (0..span).fold(ByteSet::EMPTY, |set, value| set.with(self.byte_of(&digit, value)));
            }
            for value in from..=to {
                set = set.with(self.byte_of(&Digit { shift: 0, ..digit }, value % span));
            }
        }
        set
    }

    /// The lengths of `counts` whose byte `index` is in `set`; all of them if they were too many to list.
    pub(crate) fn filter(self, width: u8, index: u8, counts: &Numbers, set: ByteSet) -> Numbers {
        let digit = self.digit(width, index);
        let possible = self.values(width, index, counts);
        if !possible.meets(set) {
            return Numbers::empty();
        }
        if possible.minus(set).is_empty() {
            return counts.clone();
        }
        let mask = byte((1u32 << digit.bits) - 1);
        let digits = possible.and(set).iter().fold(ByteSet::EMPTY, |digits, byte| {
            digits.with((if self.flipped { !byte } else { byte } >> digit.lift) & mask)
        });
        let runs = digits.runs();
        let period_shift = digit.shift + digit.bits;
        let mut found = Vec::new();
        for &(first, last) in counts.stretches() {
            let (from, to) =
                (first.checked_shr(period_shift).unwrap_or(0), last.checked_shr(period_shift).unwrap_or(0));
            let count = (to - from).saturating_add(1).saturating_mul(runs.len() as u64);
            if count.saturating_add(found.len() as u64) > MOST_STRETCHES {
                return counts.clone();
            }
            for period in from..=to {
                let base = period.checked_shl(period_shift).unwrap_or(0);
                for &(low, high) in &runs {
                    let start = base | u64::from(low) << digit.shift;
                    let end = base | u64::from(high) << digit.shift | ((1u64 << digit.shift) - 1);
                    let (start, end) = (start.max(first), end.min(last));
                    if start <= end {
                        found.push((start, end));
                    }
                }
            }
        }
        Numbers::from_stretches(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyplan_plan::codec::{Count, Segment as _};

    const WIDTHS: [LenWidth; 10] = [
        LenWidth::L8,
        LenWidth::L16,
        LenWidth::L32,
        LenWidth::L64,
        LenWidth::L16Le,
        LenWidth::L32Le,
        LenWidth::L64Le,
        LenWidth::Varint,
        LenWidth::Compact,
        LenWidth::Scale,
    ];

    #[test]
    fn a_length_has_the_bytes_that_the_codec_writes() {
        for width in WIDTHS {
            for number in [
                0,
                1,
                63,
                64,
                127,
                128,
                252,
                253,
                255,
                256,
                300,
                16_383,
                16_384,
                65_535,
                65_536,
                (1 << 30) - 1,
                1 << 30,
                0xffff_ffff,
                1 << 40,
            ] {
                let prefix = Prefix { width, flipped: false };
                let mut written = Vec::new();
                let codec = Count { width };
                if codec.encode(usize::try_from(number).unwrap(), &mut written).is_ok() {
                    assert_eq!(prefix.bytes(number), written, "{width:?} {number}");
                    let flipped: Vec<u8> = written.iter().map(|byte| !byte).collect();
                    assert_eq!(Prefix { width, flipped: true }.bytes(number), flipped);
                }
            }
        }
    }

    #[test]
    fn lengths_are_filtered_by_their_bytes() {
        let sets = [ByteSet::range(0, 3), ByteSet::of(0x80).with(0xff).with(2), ByteSet::range(0x81, 0xfe)];
        let counts = Numbers::from_stretches(vec![(0, 5), (120, 140), (250, 700)]);
        for width in WIDTHS {
            for flipped in [false, true] {
                let prefix = Prefix { width, flipped };
                for (form, these) in prefix.forms(&counts) {
                    let list: Vec<u64> = (0..800).filter(|&n| these.contains(n)).collect();
                    for index in 0..form {
                        let byte = |n: u64| prefix.bytes(n)[usize::from(index)];
                        let values = prefix.values(form, index, &these);
                        let expected = list.iter().fold(ByteSet::EMPTY, |set, &n| set.with(byte(n)));
                        if width != LenWidth::L8 {
                            assert_eq!(values, expected, "{prefix:?} {form} {index}");
                        }
                        for set in sets {
                            if width == LenWidth::L8 {
                                continue;
                            }
                            let kept = prefix.filter(form, index, &these, set);
                            let expected: Vec<u64> =
                                list.iter().copied().filter(|&n| set.contains(byte(n))).collect();
                            assert_eq!((0..800).filter(|&n| kept.contains(n)).collect::<Vec<_>>(), expected);
                        }
                    }
                }
            }
        }
    }
}

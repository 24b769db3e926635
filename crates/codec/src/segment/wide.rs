use core::fmt;

use super::{fixed_extent, wrong_width};
use crate::{DecodeError, Delimited, EncodeError, Segment, Sink};

/// How an integer of 256 bits is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WideForm {
    /// Most significant byte first.
    Be,
    /// Least significant byte first.
    Le,
    /// Most significant byte first, with the sign turned: byte order is the order of signed numbers.
    SignFlip,
}

/// An integer of 256 bits. The argument is its two's complement, most significant byte first, as big-number libraries
/// give it: `32 bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wide {
    /// How it is written.
    pub form: WideForm,
}

/// How many bytes it takes.
const WIDTH: usize = 32;

impl Segment for Wide {
    type Arg<'a> = &'a [u8];
    type View<'a> = WideView<'a>;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: &[u8], out: &mut S) -> Result<(), EncodeError> {
        if arg.len() != WIDTH {
            return Err(EncodeError::Length { found: arg.len() });
        }
        super::put_all(WideView { bytes: arg, form: self.form }.bytes(), out)
    }

    #[inline]
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<WideView<'a>, DecodeError> {
        if bytes.len() != WIDTH {
            return Err(wrong_width(bytes.len(), WIDTH));
        }
        Ok(WideView { bytes, form: self.form })
    }
}

impl Delimited for Wide {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, WIDTH)
    }
}

/// An integer of 256 bits that is in a key: its two's complement, most significant byte first.
#[derive(Clone, Copy)]
pub struct WideView<'a> {
    bytes: &'a [u8],
    form: WideForm,
}

impl<'a> WideView<'a> {
    /// Returns how many bytes there are.
    pub const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the bytes, most significant first. Each form is undone as it is done.
    pub fn bytes(&self) -> impl Iterator<Item = u8> + Clone + use<'a> {
        let Self { bytes, form } = *self;
        (0..bytes.len()).filter_map(move |at| {
            let from = if form == WideForm::Le { bytes.len() - 1 - at } else { at };
            let turned = if form == WideForm::SignFlip && at == 0 { 0x80 } else { 0 };
            bytes.get(from).map(|byte| byte ^ turned)
        })
    }
}

byte_view!(WideView);

/// The two's complement of an integer of at most 256 bits, most significant byte first, as a number in base 10.
#[derive(Clone, Copy, Debug)]
pub struct WideNumber<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Whether the first bit is a sign.
    pub signed: bool,
}

/// How many digits the greatest number has.
const DIGITS: usize = 78;

impl fmt::Display for WideNumber<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let negative = self.signed && self.bytes.first().is_some_and(|byte| byte & 0x80 != 0);
        let flip = if negative { 0xff } else { 0 };
        // Least significant first.
        let mut digits = [0u8; DIGITS];
        let mut add = |times: u32, more: u32| {
            let mut carry = more;
            for digit in &mut digits {
                carry += u32::from(*digit) * times;
                *digit = u8::try_from(carry % 10).unwrap_or(0);
                carry /= 10;
            }
        };
        for byte in self.bytes.iter().take(WIDTH) {
            add(256, u32::from(byte ^ flip));
        }
        add(1, u32::from(negative));
        if negative {
            f.write_str("-")?;
        }
        let leading = digits.iter().rev().take(DIGITS - 1).take_while(|digit| **digit == 0).count();
        digits.iter().rev().skip(leading).try_for_each(|digit| write!(f, "{digit}"))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// 0, 1, 2²⁵⁵ − 1, 2²⁵⁵ and 2²⁵⁶ − 1 as they are read without a sign.
    fn numbers() -> [Vec<u8>; 5] {
        let with = |first: u8, fill: u8, last: u8| {
            let mut bytes = Vec::from([fill; WIDTH]);
            bytes[0] = first;
            bytes[WIDTH - 1] = last;
            bytes
        };
        [with(0, 0, 0), with(0, 0, 1), with(0x7f, 0xff, 0xff), with(0x80, 0, 0), with(0xff, 0xff, 0xff)]
    }

    crate::laws! {
        be: Wide { form: WideForm::Be }, numbers(), ordered, delimited;
        le: Wide { form: WideForm::Le }, numbers(), delimited;
        signflip: Wide { form: WideForm::SignFlip }, numbers(), delimited;
    }

    #[test]
    fn each_form_puts_its_bytes() {
        let [_, one, ..] = numbers();
        let written = |form: WideForm, arg: &[u8]| {
            let mut out = Vec::new();
            Wide { form }.encode(arg, &mut out).unwrap();
            (out[0], out[WIDTH - 1])
        };
        assert_eq!(written(WideForm::Be, &one), (0, 1));
        assert_eq!(written(WideForm::Le, &one), (1, 0));
        assert_eq!(written(WideForm::SignFlip, &one), (0x80, 1));
        assert_eq!(written(WideForm::SignFlip, &[0xff; WIDTH]), (0x7f, 0xff));
    }

    #[test]
    fn another_width_is_refused_both_ways() {
        let wide = Wide { form: WideForm::Be };
        assert_eq!(wide.encode(&[0; 31], &mut Vec::new()), Err(EncodeError::Length { found: 31 }));
        assert_eq!(wide.decode(&[0; 33]).map(|_| ()), Err(wrong_width(33, WIDTH)));
    }
}

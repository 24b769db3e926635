use bech32::primitives::checksum::Checksum;
use bech32::primitives::decode::CheckedHrpstring;
use bech32::primitives::gf32::Fe32;
use bech32::primitives::hrp::Hrp;
use bech32::primitives::iter::{ByteIterExt, Fe32IterExt};

use super::{check_arg_length, put_all, short, wrong_width};
use crate::{DecodeError, EncodeError, Expected, Fault, Lengths, Literal, Open, Segment, Sink};

/// Bytes as bech32 text (BIP-173, not bech32m) in lower case: `hrp | 1 | five bits a character | checksum (6)`.
///
/// The text has at most 1023 characters, up to which the checksum is defined; the limit of 90 that Bitcoin
/// sets for addresses is not applied, as Cosmos does not apply it either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bech32<'h> {
    /// The human-readable part, in lower case.
    pub hrp: &'h str,
    /// The lengths of the argument, in bytes.
    pub lengths: Lengths<'h>,
}

const SEPARATOR: u8 = b'1';
const CHECKSUM: usize = bech32::Bech32::CHECKSUM_LENGTH;
const MOST: usize = bech32::Bech32::CODE_LENGTH;

impl Bech32<'_> {
    /// How many characters come before the data: the human-readable part and the separator.
    const fn head_len(&self) -> usize {
        self.hrp.len().saturating_add(1)
    }

    /// The length of the text of `len` bytes, if there is one.
    fn text_len(&self, len: usize) -> Option<usize> {
        let data = len.checked_mul(8)?.div_ceil(5);
        let text = self.head_len().checked_add(data)?.checked_add(CHECKSUM)?;
        (text <= MOST).then_some(text)
    }

    fn parsed_hrp(&self) -> Option<Hrp> {
        let lower = !self.hrp.bytes().any(|byte| byte.is_ascii_uppercase());
        Hrp::parse(self.hrp).ok().filter(|_| lower)
    }

    /// Splits off the human-readable part and the separator.
    fn data<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], DecodeError> {
        let (hrp, rest) = bytes.split_at_checked(self.hrp.len()).unwrap_or((bytes, &[]));
        Literal(self.hrp.as_bytes()).decode(hrp)?;
        match rest {
            [SEPARATOR, data @ ..] => Ok(data),
            [found, ..] => {
                let fault = Fault::Literal { expected: SEPARATOR, found: *found };
                Err(DecodeError::new(hrp.len(), fault))
            }
            [] => Err(short(bytes.len(), self.head_len())),
        }
    }
}

/// Returns what a lower-case character of the data stands for.
#[inline]
fn element(byte: u8) -> Option<Fe32> {
    if byte.is_ascii_uppercase() { None } else { Fe32::from_char(char::from(byte)).ok() }
}

impl Segment for Bech32<'_> {
    type Arg<'a> = &'a [u8];
    type View<'a> = Bech32View<'a>;

    fn encode<S: Sink + ?Sized>(&self, arg: &[u8], out: &mut S) -> Result<(), EncodeError> {
        check_arg_length(&self.lengths, arg.len())?;
        let (Some(hrp), Some(_)) = (self.parsed_hrp(), self.text_len(arg.len())) else {
            return Err(EncodeError::Bech32);
        };
        put_all(arg.iter().copied().bytes_to_fes().with_checksum::<bech32::Bech32>(&hrp).bytes(), out)
    }

    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<Bech32View<'a>, DecodeError> {
        let data = self.data(bytes)?;
        if let Some(at) = data.iter().position(|&byte| element(byte).is_none()) {
            let found = data.get(at).copied().unwrap_or_default();
            let fault = Fault::Byte { found, expected: Expected::Bech32 };
            return Err(DecodeError::new(self.head_len() + at, fault));
        }
        let Some((text, _)) = data.split_last_chunk::<CHECKSUM>() else {
            return Err(short(bytes.len(), self.head_len() + CHECKSUM));
        };
        if bytes.len() > MOST {
            return Err(wrong_width(bytes.len(), MOST));
        }
        if self.parsed_hrp().is_none() {
            return Err(DecodeError::new(0, Fault::Bech32));
        }
        let end = self.head_len() + text.len();
        let whole =
            str::from_utf8(bytes).map_err(|error| DecodeError::new(error.valid_up_to(), Fault::Utf8))?;
        if CheckedHrpstring::new::<bech32::Bech32>(whole).is_err() {
            return Err(DecodeError::new(end, Fault::Mismatch));
        }
        // What is left of the last character must be padding: less than a character, and zero.
        let spare = text.len() * 5 % 8;
        let last = text.last().copied().and_then(element).map_or(0, Fe32::to_u8);
        if spare >= 5 || last & !(0xff << spare) != 0 {
            return Err(DecodeError::new(end - 1, Fault::Bech32));
        }
        let view = Bech32View { text };
        if !self.lengths.admits(view.len()) {
            return Err(DecodeError::new(end, Fault::Length { found: view.len() }));
        }
        Ok(view)
    }
}

impl Open for Bech32<'_> {
    fn longest(&self, input: &[u8]) -> usize {
        let head = self.hrp.bytes().chain([SEPARATOR]);
        let same = head.zip(input).take_while(|(expected, found)| expected == *found).count();
        if same < self.head_len() {
            return same;
        }
        let most = self.text_len(self.lengths.max()).unwrap_or(MOST);
        let data = input.iter().skip(same).take_while(|&&byte| element(byte).is_some()).count();
        (same + data).min(most)
    }

    fn admits(&self, len: usize) -> bool {
        let Some(data) = len.checked_sub(self.head_len() + CHECKSUM).filter(|_| len <= MOST) else {
            return false;
        };
        let bytes = data * 5 / 8;
        self.text_len(bytes) == Some(len) && self.lengths.admits(bytes)
    }
}

/// Bytes that are in a key as bech32 text, already checked.
#[derive(Clone, Copy)]
pub struct Bech32View<'a> {
    text: &'a [u8],
}

impl<'a> Bech32View<'a> {
    /// Returns how many bytes the text stands for.
    pub const fn len(&self) -> usize {
        self.text.len() * 5 / 8
    }

    /// Returns the bytes that the text stands for.
    pub fn bytes(&self) -> impl Iterator<Item = u8> + Clone + use<'a> {
        self.text.iter().filter_map(|&byte| element(byte)).fes_to_bytes()
    }
}

byte_view!(Bech32View);

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const OSMO: Bech32<'_> = Bech32 { hrp: "osmo", lengths: Lengths::ANY };
    const ADDRESS: Bech32<'_> = Bech32 { hrp: "osmo", lengths: Lengths::OneOf(&[20, 32]) };
    const TEXT: &[u8] = b"osmo1qqqsyqcyq5rqwzqfpg9scrgwpugpzysntdz28t";

    crate::laws! {
        address: ADDRESS, [(0..20).collect(), (0..32).collect(), [0xff; 32].into()], open;
        any: OSMO, [b"".into(), b"\0".into(), b"ab".into(), b"abc".into(), b"abcd".into(), b"abcde".into()], open;
        digit_in_hrp: Bech32 { hrp: "a1b", lengths: Lengths::ANY }, [b"".into(), b"xyz".into()], open;
    }

    fn text(segment: &Bech32<'_>, arg: &[u8]) -> Result<Vec<u8>, EncodeError> {
        let mut out = Vec::new();
        segment.encode(arg, &mut out).map(|()| out)
    }

    #[test]
    fn an_address_is_written_as_cosmos_does() {
        let bytes: [u8; 20] = core::array::from_fn(|index| index.try_into().unwrap());
        assert_eq!(text(&ADDRESS, &bytes), Ok(TEXT.to_vec()));
        let view = ADDRESS.decode(TEXT).unwrap();
        assert_eq!(view.to_array(), Some(bytes));
    }

    #[test]
    fn a_wrong_character_case_prefix_or_checksum_is_refused() {
        let mut other = TEXT.to_vec();
        other[10] = b'z';
        assert_eq!(ADDRESS.decode(&other), Err(DecodeError::new(37, Fault::Mismatch)));
        other[10] = b'b';
        let fault = Fault::Byte { found: b'b', expected: Expected::Bech32 };
        assert_eq!(ADDRESS.decode(&other), Err(DecodeError::new(10, fault)));
        let upper = TEXT.to_ascii_uppercase();
        let fault = Fault::Literal { expected: b'o', found: b'O' };
        assert_eq!(ADDRESS.decode(&upper), Err(DecodeError::new(0, fault)));
        let fault = Fault::Literal { expected: b'o', found: b'c' };
        assert_eq!(ADDRESS.decode(b"cosmos1qqq"), Err(DecodeError::new(0, fault)));
        let fault = Fault::Literal { expected: b'1', found: b'v' };
        assert_eq!(ADDRESS.decode(b"osmovaloper1"), Err(DecodeError::new(4, fault)));
        assert_eq!(ADDRESS.decode(b"osm"), Err(DecodeError::new(3, Fault::Short { missing: 1 })));
        assert_eq!(ADDRESS.decode(b"osmo1qq"), Err(DecodeError::new(7, Fault::Short { missing: 4 })));
    }

    #[test]
    fn padding_that_is_not_zero_or_not_needed_is_refused() {
        // `p` is 1 and `q` 0: each text has its right checksum, but not the one form of its bytes.
        for data in ["qp", "q", "qqqqqq", "qqp"] {
            let hrp = Hrp::parse("osmo").unwrap();
            let elements = data.chars().map(|char| Fe32::from_char(char).unwrap());
            let bytes: Vec<u8> = elements.with_checksum::<bech32::Bech32>(&hrp).bytes().collect();
            let end = 5 + data.len() - 1;
            assert_eq!(OSMO.decode(&bytes), Err(DecodeError::new(end, Fault::Bech32)), "{data}");
        }
    }

    #[test]
    fn other_lengths_and_parts_are_refused() {
        assert_eq!(text(&ADDRESS, &[0; 21]), Err(EncodeError::Length { found: 21 }));
        let other = text(&OSMO, &[0; 21]).unwrap();
        assert_eq!(ADDRESS.decode(&other), Err(DecodeError::new(39, Fault::Length { found: 21 })));
        for hrp in ["", "OSMO", "os mo"] {
            let segment = Bech32 { hrp, lengths: Lengths::ANY };
            assert_eq!(text(&segment, &[0; 20]), Err(EncodeError::Bech32));
        }
        assert_eq!(text(&OSMO, &[0; 632]).map(|text| text.len()), Ok(1023));
        assert_eq!(text(&OSMO, &[0; 633]), Err(EncodeError::Bech32));
    }

    #[test]
    fn only_lengths_of_whole_bytes_are_admitted() {
        let admitted: Vec<usize> = (0..22).filter(|&len| OSMO.admits(len)).collect();
        assert_eq!(admitted, [11, 13, 15, 16, 18, 19, 21]);
        let admitted: Vec<usize> = (0..1100).filter(|&len| ADDRESS.admits(len)).collect();
        assert_eq!(admitted, [43, 63]);
    }

    #[test]
    fn the_longest_run_ends_with_the_data() {
        assert_eq!(ADDRESS.longest(&[TEXT, b"/1"].concat()), TEXT.len());
        assert_eq!(ADDRESS.longest(b"osmx"), 3);
        assert_eq!(ADDRESS.longest(&[TEXT, &[b'q'; 50]].concat()), 63);
    }
}

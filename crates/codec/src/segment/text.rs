use super::{check_arg_length, check_length};
use crate::{Alphabet, DecodeError, EncodeError, Expected, Fault, Lengths, Open, Segment, Sink};

/// Text over an alphabet, as its UTF-8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'t> {
    /// What the text is made of.
    pub alphabet: &'t Alphabet,
    /// What its first character is of, if that is another alphabet.
    pub first: Option<&'t Alphabet>,
    /// The lengths allowed, in bytes.
    pub lengths: Lengths<'t>,
    /// The values that are left out, each after its length in two bytes, big-endian.
    pub except: &'t [u8],
}

impl Text<'_> {
    /// Any text.
    pub const ANY: Self = Self { alphabet: &Alphabet::UTF8, first: None, lengths: Lengths::ANY, except: &[] };

    /// Returns whether a text is one of those that are left out.
    fn leaves_out(&self, text: &[u8]) -> bool {
        let mut rest = self.except;
        while let Some((&length, behind)) = rest.split_first_chunk::<2>() {
            let length = usize::from(u16::from_be_bytes(length));
            let (value, behind) = behind.split_at_checked(length).unwrap_or((behind, &[]));
            if value == text {
                return true;
            }
            rest = behind;
        }
        false
    }

    /// Returns the length of the longest run at the front of `bytes` that the alphabets admit.
    #[inline]
    fn run(&self, bytes: &[u8]) -> usize {
        let Some(first) = self.first else {
            return self.alphabet.run(bytes);
        };
        let head = first_character(bytes);
        let (character, rest) = bytes.split_at_checked(head).unwrap_or((bytes, &[]));
        let run = first.run(character);
        if run < head { run } else { head + self.alphabet.run(rest) }
    }

    /// What belongs at `offset`, where the alphabets refuse a byte.
    fn expected(&self, offset: usize) -> Expected {
        if offset == 0 && self.first.is_some() { Expected::First } else { Expected::Alphabet }
    }
}

/// Returns how many bytes the first character takes: a byte and the continuation bytes after it.
fn first_character(bytes: &[u8]) -> usize {
    let [lead, rest @ ..] = bytes else { return 0 };
    let most = match lead {
        0xf0.. => 3,
        0xe0.. => 2,
        0xc0.. => 1,
        _ => 0,
    };
    1 + rest.iter().take(most).take_while(|&&byte| byte & 0xc0 == 0x80).count()
}

impl Segment for Text<'_> {
    type Arg<'a> = &'a str;
    type View<'a> = &'a str;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: &str, out: &mut S) -> Result<(), EncodeError> {
        let bytes = arg.as_bytes();
        check_arg_length(&self.lengths, bytes.len())?;
        let run = self.run(bytes);
        if let Some(&found) = bytes.get(run) {
            return Err(EncodeError::Byte { offset: run, found, expected: self.expected(run) });
        }
        if self.leaves_out(bytes) {
            return Err(EncodeError::LeftOut);
        }
        out.put(bytes)
    }

    #[inline]
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<&'a str, DecodeError> {
        let run = self.run(bytes);
        if let Some(&found) = bytes.get(run) {
            return Err(DecodeError::new(run, Fault::Byte { found, expected: self.expected(run) }));
        }
        check_length(&self.lengths, bytes.len(), 1)?;
        if self.leaves_out(bytes) {
            return Err(DecodeError::new(0, Fault::LeftOut));
        }
        str::from_utf8(bytes).map_err(|error| DecodeError::new(error.valid_up_to(), Fault::Utf8))
    }
}

impl Open for Text<'_> {
    #[inline]
    fn longest(&self, input: &[u8]) -> usize {
        let room = self.lengths.max().min(input.len());
        self.run(input.get(..room).unwrap_or_default())
    }

    #[inline]
    fn admits(&self, len: usize) -> bool {
        self.lengths.admits(len)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::*;

    const LETTERS: Alphabet = Alphabet::EMPTY.with_range(b'a', b'z');
    const DENOM: Alphabet = LETTERS.with_range(b'0', b'9').with(b'/');
    const NO_SLASH: Alphabet = Alphabet::EMPTY.with(b'/').complement();
    const BEYOND: Alphabet = Alphabet::EMPTY.with_range(0x80, 0xff);
    const DENOMS: Text<'_> = Text {
        first: Some(&LETTERS),
        alphabet: &DENOM,
        lengths: Lengths::Range { min: 3, max: 8 },
        except: &[],
    };

    crate::laws! {
        any: Text::ANY, [String::new(), "\0".into(), "a".into(), "é".into(), "日本".into(), "🦀".into()], ordered, open;
        denom: DENOMS, ["abc".into(), "ibc/0a".into(), "uosmo".into()], ordered, open;
        but_two: Text { except: b"\0\x01a\0\0", ..Text::ANY }, ["b".into(), "aa".into(), "\u{e4}".into()], ordered, open;
        no_slash: Text { alphabet: &NO_SLASH, ..Text::ANY }, [String::new(), "a\u{7ff}".into(), "ä".into()], ordered, open;
        foreign_first: Text { alphabet: &LETTERS, first: Some(&BEYOND), ..Text::ANY },
            [String::new(), "éa".into(), "日".into(), "🦀crab".into()], ordered, open;
    }

    #[test]
    fn a_character_outside_of_the_alphabet_is_named() {
        let byte = |offset, found, expected| DecodeError::new(offset, Fault::Byte { found, expected });
        assert_eq!(DENOMS.decode(b"ab|c"), Err(byte(2, b'|', Expected::Alphabet)));
        assert_eq!(DENOMS.decode(b"1ab"), Err(byte(0, b'1', Expected::First)));
        let error = EncodeError::Byte { offset: 0, found: b'1', expected: Expected::First };
        assert_eq!(DENOMS.encode("1ab", &mut Vec::new()), Err(error));
        let error = EncodeError::Byte { offset: 3, found: b'A', expected: Expected::Alphabet };
        assert_eq!(DENOMS.encode("abcA", &mut Vec::new()), Err(error));
    }

    #[test]
    fn lengths_count_bytes() {
        let pair = Text { lengths: Lengths::exactly(2), ..Text::ANY };
        assert_eq!(pair.encode("é", &mut Vec::new()), Ok(()));
        assert_eq!(pair.encode("é!", &mut Vec::new()), Err(EncodeError::Length { found: 3 }));
        assert_eq!(pair.decode(b"a"), Err(DecodeError::new(1, Fault::Length { found: 1 })));
        assert_eq!(pair.longest(b"abc"), 2);
    }

    #[test]
    fn broken_utf8_is_refused_where_it_breaks() {
        assert_eq!(Text::ANY.decode(b"ab\xc3("), Err(DecodeError::new(2, Fault::Utf8)));
        assert_eq!(Text::ANY.decode(b"\xed\xa0\x80"), Err(DecodeError::new(0, Fault::Utf8)));
        assert_eq!(Text::ANY.decode(b"\xc0\x80"), Err(DecodeError::new(0, Fault::Utf8)));
    }

    #[test]
    fn values_that_are_left_out_are_refused_both_ways() {
        let text = Text { except: b"\0\x02tx\0\0", ..Text::ANY };
        for left_out in ["tx", ""] {
            assert_eq!(text.encode(left_out, &mut Vec::new()), Err(EncodeError::LeftOut));
            let refused = DecodeError::new(0, Fault::LeftOut);
            assert_eq!(text.decode(left_out.as_bytes()), Err(refused));
        }
        assert_eq!(text.decode(b"txs"), Ok("txs"));
    }

    #[test]
    fn a_first_character_is_whole() {
        let text = Text { alphabet: &LETTERS, first: Some(&BEYOND), ..Text::ANY };
        assert_eq!(text.decode("éa".as_bytes()), Ok("éa"));
        let second = Fault::Byte { found: 0xc3, expected: Expected::Alphabet };
        assert_eq!(text.decode("éé".as_bytes()), Err(DecodeError::new(2, second)));
    }
}

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
}

impl Text<'_> {
    /// Any text.
    pub const ANY: Self = Self { alphabet: &Alphabet::UTF8, first: None, lengths: Lengths::ANY };

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

/// Returns how many bytes the first character takes: a byte and the continuation bytes behind it.
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
        out.put(bytes)
    }

    #[inline]
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<&'a str, DecodeError> {
        let run = self.run(bytes);
        if let Some(&found) = bytes.get(run) {
            return Err(DecodeError::new(run, Fault::Byte { found, expected: self.expected(run) }));
        }
        check_length(&self.lengths, bytes.len(), 1)?;
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

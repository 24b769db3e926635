use core::marker::PhantomData;

use super::{check_arg_length, put_all, short, trailing};
use crate::{DecodeError, EncodeError, Expected, Fault, Hash, Lengths, Open, Segment, Sink};

/// Bytes as base58 text, as Bitcoin, Solana and IPFS write it: a `1` for each zero in front, then the number that the rest is
/// in base 58, most significant digit first.
///
/// With a check, the first four bytes of the double SHA-256 of the argument come after it before all is written. A version
/// byte is the first byte of the argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base58<'l> {
    /// Whether a checksum is written.
    pub check: bool,
    /// The lengths of the argument, in bytes; at most [`Base58::MOST`] are written.
    pub lengths: Lengths<'l>,
}

const CHARACTERS: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const CHECKSUM: usize = 4;
/// The longest text: as many characters as `MOST` bytes and a checksum take.
const MOST_TEXT: usize = text_most(Base58::MOST + CHECKSUM);
/// Enough for the bytes of any text that is not too long: one of ones only has as many bytes as characters.
const ROOM: usize = MOST_TEXT + 1;

/// The most characters of so many bytes: log 256 / log 58 is below 1.366.
const fn text_most(bytes: usize) -> usize {
    if bytes == 0 { 0 } else { bytes.saturating_mul(1366) / 1000 + 1 }
}

/// Returns what a character stands for.
fn digit(byte: u8) -> Option<u8> {
    let at = CHARACTERS.iter().position(|&character| character == byte)?;
    u8::try_from(at).ok()
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    let digest = Hash::Sha256.digest(&Hash::Sha256.digest(bytes));
    digest.first_chunk().copied().unwrap_or_default()
}

/// A number in another base, least significant digit first.
struct Digits {
    room: [u8; ROOM],
    len: usize,
}

impl Digits {
    const fn new() -> Self {
        Self { room: [0; ROOM], len: 0 }
    }

    /// Multiplies by `by` and adds `carry`, in `base`.
    fn push(&mut self, by: u32, carry: u32, base: u32) {
        let mut carry = carry;
        for slot in self.room.iter_mut().take(self.len) {
            carry += u32::from(*slot) * by;
            *slot = u8::try_from(carry % base).unwrap_or(0);
            carry /= base;
        }
        while carry > 0 {
            if let Some(slot) = self.room.get_mut(self.len) {
                *slot = u8::try_from(carry % base).unwrap_or(0);
                self.len += 1;
            }
            carry /= base;
        }
    }

    /// The digits, most significant first.
    fn iter(&self) -> impl Iterator<Item = u8> + Clone {
        self.room.iter().take(self.len).rev().copied()
    }
}

impl Base58<'_> {
    /// The most bytes of an argument.
    pub const MOST: usize = 128;

    const fn extra(self) -> usize {
        if self.check { CHECKSUM } else { 0 }
    }

    /// The least and the greatest length of a text of so many bytes of argument.
    pub fn text_lengths(self, bytes: usize) -> (usize, usize) {
        let all = bytes.saturating_add(self.extra());
        (all, text_most(all))
    }
}

impl Segment for Base58<'_> {
    type Arg<'a> = &'a [u8];
    type View<'a> = Base58View<'a>;

    fn encode<S: Sink + ?Sized>(&self, arg: &[u8], out: &mut S) -> Result<(), EncodeError> {
        check_arg_length(&self.lengths, arg.len())?;
        if arg.len() > Self::MOST {
            return Err(EncodeError::Length { found: arg.len() });
        }
        let check = if self.check { checksum(arg) } else { [0; CHECKSUM] };
        let all = arg.iter().chain(check.iter().take(self.extra()));
        let zeros = all.clone().take_while(|&&byte| byte == 0).count();
        let mut digits = Digits::new();
        for &byte in all {
            digits.push(256, byte.into(), 58);
        }
        let characters = digits.iter().filter_map(|digit| CHARACTERS.get(usize::from(digit)).copied());
        put_all(core::iter::repeat_n(b'1', zeros).chain(characters), out)
    }

    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<Base58View<'a>, DecodeError> {
        if let Some((at, &found)) = bytes.iter().enumerate().find(|(_, byte)| digit(**byte).is_none()) {
            return Err(DecodeError::new(at, Fault::Byte { found, expected: Expected::Base58 }));
        }
        if bytes.len() > MOST_TEXT {
            return Err(trailing(bytes.len(), MOST_TEXT));
        }
        let ones = bytes.iter().take_while(|&&byte| byte == b'1').count();
        let mut digits = Digits::new();
        for digit in bytes.iter().filter_map(|&byte| digit(byte)) {
            digits.push(58, digit.into(), 256);
        }
        let mut room = [0; ROOM];
        for (slot, byte) in room.iter_mut().skip(ones).zip(digits.iter()) {
            *slot = byte;
        }
        let all = ones + digits.len;
        let Some(len) = all.checked_sub(self.extra()) else {
            return Err(short(bytes.len(), bytes.len() + 1));
        };
        let (arg, check) = room.get(..all).and_then(|all| all.split_at_checked(len)).unwrap_or_default();
        if self.check && check != checksum(arg) {
            return Err(DecodeError::new(0, Fault::Mismatch));
        }
        if len > Self::MOST || !self.lengths.admits(len) {
            return Err(DecodeError::new(0, Fault::Length { found: len }));
        }
        Ok(Base58View { room, len, text: PhantomData })
    }
}

impl Open for Base58<'_> {
    fn longest(&self, input: &[u8]) -> usize {
        let most = self.text_lengths(self.lengths.max().min(Self::MOST)).1;
        input.iter().take(most).take_while(|&&byte| digit(byte).is_some()).count()
    }

    fn admits(&self, len: usize) -> bool {
        (0..=Self::MOST.min(self.lengths.max())).filter(|&bytes| self.lengths.admits(bytes)).any(|bytes| {
            let (least, most) = self.text_lengths(bytes);
            (least..=most).contains(&len)
        })
    }
}

/// Bytes that are in a key as base58 text, already checked.
#[derive(Clone, Copy)]
pub struct Base58View<'a> {
    room: [u8; ROOM],
    len: usize,
    text: PhantomData<&'a [u8]>,
}

impl<'a> Base58View<'a> {
    /// Returns how many bytes the text stands for.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns the bytes that the text stands for.
    pub fn bytes(&self) -> impl Iterator<Item = u8> + Clone + use<'a> {
        self.room.into_iter().take(self.len)
    }
}

byte_view!(Base58View);

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const ANY: Base58<'_> = Base58 { check: false, lengths: Lengths::Range { min: 0, max: 128 } };
    const CHECKED: Base58<'_> = Base58 { check: true, lengths: Lengths::Range { min: 0, max: 128 } };

    crate::laws! {
        any: ANY, [b"".into(), b"\0".into(), b"\0\0\x01".into(), b"abc".into(), [0xff; 32].into(), [0xff; 128].into()], open;
        account: Base58 { check: false, lengths: Lengths::exactly(32) }, [[0; 32].into(), [7; 32].into(), [0xff; 32].into()], open;
        checked: CHECKED, [b"".into(), b"\0".into(), b"\0\x01".into(), [5; 21].into(), [0; 128].into()], open;
    }

    fn text(segment: &Base58<'_>, arg: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        segment.encode(arg, &mut out).unwrap();
        out
    }

    #[test]
    fn texts_are_those_of_the_systems_that_use_them() {
        // The examples of the base58 draft, and Solana's system program.
        assert_eq!(text(&ANY, b"Hello World!"), b"2NEpo7TZRRrLZSi2U");
        assert_eq!(
            text(&ANY, b"The quick brown fox jumps over the lazy dog."),
            b"USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z"
        );
        assert_eq!(text(&ANY, &[0, 0, 0x28, 0x7f, 0xb4, 0xcd]), b"11233QC4");
        assert_eq!(text(&ANY, &[0; 32]), [b'1'; 32]);
        // The address of Bitcoin's first block.
        let mut first = Vec::from([0]);
        first.extend([
            0x62, 0xe9, 0x07, 0xb1, 0x5c, 0xbf, 0x27, 0xd5, 0x42, 0x53, 0x99, 0xeb, 0xf6, 0xf0, 0xfb, 0x50,
            0xeb, 0xb8, 0x8f, 0x18,
        ]);
        assert_eq!(text(&CHECKED, &first), b"1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa");
    }

    #[test]
    fn a_wrong_character_checksum_or_length_is_refused() {
        let found = |segment: &Base58<'_>, text: &[u8]| segment.decode(text).map(|view| view.len());
        let fault = Fault::Byte { found: b'0', expected: Expected::Base58 };
        assert_eq!(found(&ANY, b"2N0"), Err(DecodeError::new(2, fault)));
        let other = b"1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb";
        assert_eq!(found(&CHECKED, other), Err(DecodeError::new(0, Fault::Mismatch)));
        assert_eq!(found(&CHECKED, b"111"), Err(DecodeError::new(3, Fault::Short { missing: 1 })));
        let two = Base58 { check: false, lengths: Lengths::exactly(2) };
        assert_eq!(found(&two, b"1"), Err(DecodeError::new(0, Fault::Length { found: 1 })));
        assert_eq!(found(&ANY, &[b'z'; 300]), Err(trailing(300, MOST_TEXT)));
        assert_eq!(ANY.encode(&[0; 129], &mut Vec::new()), Err(EncodeError::Length { found: 129 }));
    }
}

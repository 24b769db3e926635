//! Messages: `length (4) | body`, where a body is `what (1) | fields`. Numbers are big-endian, bytes have their length before
//! them in four bytes.

use std::io::{self, Read, Write};
use std::ops::Bound;

use crate::engine::{KeyRange, OwnedKeyRange};

/// What a first message begins with.
pub(super) const HELLO: &[u8] = b"keyplan live 1";
/// How many bytes a question may have.
pub(super) const QUESTION: usize = 1 << 20;
/// How many bytes an answer may have.
pub(super) const ANSWER: usize = 1 << 30;

pub(super) const GET: u8 = 1;
pub(super) const OPEN: u8 = 2;
pub(super) const NEXT: u8 = 3;
pub(super) const CLOSE: u8 = 4;

/// An answer that says what was wrong.
pub(super) const REFUSED: u8 = 0;
/// An answer.
pub(super) const DONE: u8 = 1;

/// Writes a message.
pub(super) fn send(stream: &mut impl Write, body: &[u8]) -> io::Result<()> {
    let length = u32::try_from(body.len()).map_err(|_| broken("the message is too long"))?;
    stream.write_all(&length.to_be_bytes())?;
    stream.write_all(body)?;
    stream.flush()
}

/// Reads a message of at most `most` bytes; `None` at the end of the stream.
pub(super) fn receive(stream: &mut impl Read, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    if let Err(error) = stream.read_exact(&mut length) {
        return if error.kind() == io::ErrorKind::UnexpectedEof { Ok(None) } else { Err(error) };
    }
    let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
    if length > most {
        return Err(broken("the message is longer than any that is taken"));
    }
    // Room is made for what comes, not for what is promised.
    let mut body = Vec::new();
    let read = stream.take(u64::try_from(length).unwrap_or(u64::MAX)).read_to_end(&mut body)?;
    if read < length {
        return Err(broken("the message ends early"));
    }
    Ok(Some(body))
}

pub(super) fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

pub(super) fn put_number(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_be_bytes());
}

/// Appends bytes after their length; refused where that does not fit four bytes.
pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) -> io::Result<()> {
    put_number(out, u32::try_from(bytes.len()).map_err(|_| broken("more bytes than a message has"))?);
    out.extend_from_slice(bytes);
    Ok(())
}

fn put_bound(out: &mut Vec<u8>, bound: Bound<&[u8]>) -> io::Result<()> {
    match bound {
        Bound::Unbounded => out.push(0),
        Bound::Included(key) => {
            out.push(1);
            put_bytes(out, key)?;
        }
        Bound::Excluded(key) => {
            out.push(2);
            put_bytes(out, key)?;
        }
    }
    Ok(())
}

pub(super) fn put_range(out: &mut Vec<u8>, range: KeyRange<'_>) -> io::Result<()> {
    put_bound(out, range.start)?;
    put_bound(out, range.end)
}

/// What is left of a message. Nothing is taken that is not there.
pub(super) struct Fields<'m>(pub(super) &'m [u8]);

impl<'m> Fields<'m> {
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*number))
    }

    pub(super) fn bytes(&mut self) -> Option<&'m [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(super) fn text(&mut self) -> Option<String> {
        Some(std::str::from_utf8(self.bytes()?).ok()?.to_owned())
    }

    fn bound(&mut self) -> Option<Bound<Vec<u8>>> {
        match self.byte()? {
            0 => Some(Bound::Unbounded),
            1 => Some(Bound::Included(self.bytes()?.to_vec())),
            2 => Some(Bound::Excluded(self.bytes()?.to_vec())),
            _ => None,
        }
    }

    pub(super) fn range(&mut self) -> Option<OwnedKeyRange> {
        Some(OwnedKeyRange { start: self.bound()?, end: self.bound()? })
    }

    /// Nothing, if nothing is left.
    pub(super) fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_comes_back_and_no_cut_of_it_does() {
        for range in [
            KeyRange::ALL,
            KeyRange { start: Bound::Included(&[1, 2]), end: Bound::Excluded(&[]) },
            KeyRange { start: Bound::Excluded(&[0xff; 300]), end: Bound::Unbounded },
        ] {
            let mut message = Vec::new();
            put_range(&mut message, range).unwrap();
            let mut fields = Fields(&message);
            assert_eq!(fields.range(), Some(range.to_owned()));
            assert_eq!(fields.end(), Some(()));
            for cut in 0..message.len() {
                assert_eq!(Fields(&message[..cut]).range(), None, "{cut}");
            }
        }
        assert_eq!(Fields(&[3, 0]).range(), None);
        assert_eq!(Fields(&[0xff, 0xff, 0xff, 0xff, 1]).bytes(), None);
    }

    #[test]
    fn a_message_is_taken_whole_or_not_at_all() {
        let mut sent = Vec::new();
        send(&mut sent, b"abc").unwrap();
        assert_eq!(sent, [0, 0, 0, 3, b'a', b'b', b'c']);
        assert_eq!(receive(&mut &sent[..], 3).unwrap().as_deref(), Some(&b"abc"[..]));
        assert!(receive(&mut &sent[..], 2).is_err());
        assert!(receive(&mut &sent[..5], 3).is_err());
        assert_eq!(receive(&mut &b""[..], 3).unwrap(), None);
        // A length of four gigabytes reserves nothing.
        assert!(receive(&mut &[0x3f, 0xff, 0xff, 0xff, 1][..], ANSWER).is_err());
    }
}

//! The lines of a stream, each within a bound: however long a line is, no more of it is held.
//!
//! ```
//! use keyplan_report::lines::Lines;
//!
//! let mut lines = Lines::new(b"0107\n\n0108".as_slice());
//! let mut found = Vec::new();
//! while let Some(line) = lines.next()? {
//!     found.push((line.number, line.text.map(<[u8]>::to_vec)));
//! }
//! assert_eq!(found[2], (3, Some(b"0108".to_vec())));
//! # Ok::<(), std::io::Error>(())
//! ```

use std::io::{self, Read};

/// The longest line that is held in memory.
pub const MAX_LINE: usize = 1 << 20;

/// How much is read at once.
const CHUNK: usize = 1 << 18;

/// The lines of a stream, in a buffer that does not grow with them.
pub struct Lines<R> {
    from: R,
    buffer: Vec<u8>,
    // The stretch of the buffer that has been read but not yet given out.
    start: usize,
    end: usize,
    number: usize,
    done: bool,
}

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Counted from 1.
    pub number: usize,
    /// What is in it; `None` if it is too long to be held.
    pub text: Option<&'a [u8]>,
}

impl<R: Read> Lines<R> {
    /// The lines of `from`.
    pub fn new(from: R) -> Self {
        Self { from, buffer: vec![0; MAX_LINE + CHUNK], start: 0, end: 0, number: 0, done: false }
    }

    /// The next line, or `None` at the end.
    #[expect(
        clippy::should_implement_trait,
        reason = "a line borrows from the buffer, which no iterator can say"
    )]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = 0;
        let mut too_long = false;
        loop {
            let held = self.buffer.get(self.start..self.end).unwrap_or_default();
            let found = held.get(searched..).and_then(|new| new.iter().position(|&byte| byte == b'\n'));
            if let Some(length) = found.map(|at| searched + at) {
                let from = self.start;
                self.start += length + 1;
                return Ok(Some(self.line(from, length, too_long)));
            }
            searched = held.len();
            if self.done {
                if searched == 0 && !too_long {
                    return Ok(None);
                }
                let from = self.start;
                self.start = self.end;
                return Ok(Some(self.line(from, searched, too_long)));
            }
            if searched > MAX_LINE {
                too_long = true;
                self.start = self.end;
                searched = 0;
            }
            self.fill()?;
        }
    }

    fn line(&mut self, from: usize, length: usize, too_long: bool) -> Line<'_> {
        self.number += 1;
        let text = self.buffer.get(from..from + length).filter(|_| !too_long && length <= MAX_LINE);
        Line { number: self.number, text: text.map(<[u8]>::trim_ascii) }
    }

    /// Reads more after what is held, which is moved to the front first.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        let read = loop {
            match self.from.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.end += read;
        self.done = read == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(input: impl Read) -> Vec<(usize, Option<Vec<u8>>)> {
        let mut lines = Lines::new(input);
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push((line.number, line.text.map(<[u8]>::to_vec)));
        }
        all
    }

    #[test]
    fn lines_end_at_newlines_and_at_the_end() {
        let got = all(b"ab\r\n\n c".as_slice());
        assert_eq!(got, [(1, Some(b"ab".to_vec())), (2, Some(Vec::new())), (3, Some(b"c".to_vec()))]);
        assert_eq!(all(b"".as_slice()), []);
        assert_eq!(all(b"a\n".as_slice()), [(1, Some(b"a".to_vec()))]);
    }

    #[test]
    fn a_line_beyond_the_limit_is_named_and_not_held() {
        let long = io::repeat(b'a').take(10 * MAX_LINE as u64);
        let got = all(b"x\n".chain(long).chain(b"\ny\n".as_slice()));
        assert_eq!(got, [(1, Some(b"x".to_vec())), (2, None), (3, Some(b"y".to_vec()))]);
    }

    #[test]
    fn a_line_of_exactly_the_limit_is_held() {
        let text = vec![b'a'; MAX_LINE];
        assert_eq!(all(text.as_slice()), [(1, Some(text.clone()))]);
        assert_eq!(all(vec![b'a'; MAX_LINE + 1].as_slice()), [(1, None)]);
    }
}

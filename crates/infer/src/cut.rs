//! Where the next piece of every key of a group may end.

use crate::guess::Frame;
use crate::read::Readers;

/// The end of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cut {
    /// So many bytes.
    Fixed(usize),
    /// Up to this byte.
    Before(u8),
    /// As long as there are digits.
    Digits,
    /// As its length before it says.
    Framed(Frame),
    /// All but the last so many bytes.
    Tail(usize),
    /// To the end of the key.
    End,
}

impl Cut {
    /// Splits a rest into the piece that is read and what follows it.
    pub(crate) fn split(self, rest: &[u8]) -> Option<(&[u8], &[u8])> {
        match self {
            Self::Fixed(width) => rest.split_at_checked(width),
            Self::Before(byte) => {
                let at = rest.iter().position(|found| *found == byte)?;
                rest.split_at_checked(at)
            }
            Self::Digits => {
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                rest.split_at_checked(digits).filter(|(piece, _)| !piece.is_empty())
            }
            Self::Framed(frame) => {
                let (header, content) = frame.split(rest)?;
                Some((content, rest.get(header + content.len()..)?))
            }
            Self::Tail(width) => rest.split_at_checked(rest.len().checked_sub(width)?),
            Self::End => Some((rest, &[])),
        }
    }

    pub(crate) const fn readers(self) -> Readers {
        match self {
            Self::Before(byte) => Readers::TextBefore(byte),
            Self::Digits => Readers::Digits,
            Self::Fixed(_) | Self::Framed(_) | Self::Tail(_) | Self::End => Readers::All,
        }
    }
}

/// Widths of integers.
const INTEGERS: [usize; 5] = [1, 2, 4, 8, 16];
/// Widths of hashes, addresses and keys.
const HASHES: [usize; 7] = [20, 28, 29, 32, 33, 40, 64];
/// How many bytes of a fixed tail are tried.
const TAILS: [usize; 10] = [1, 2, 4, 8, 12, 16, 20, 32, 36, 40];
/// How many columns are looked at.
const COLUMNS: usize = 160;
/// How many separators are tried.
const SEPARATORS: usize = 4;

/// Every cut that fits all the rests. `framed` says that the key has lengths of two bytes before this piece.
pub(crate) fn cuts(rests: &[&[u8]], framed: bool) -> Vec<Cut> {
    let min = rests.iter().map(|rest| rest.len()).min().unwrap_or_default();
    let max = rests.iter().map(|rest| rest.len()).max().unwrap_or_default();
    let mut cuts: Vec<Cut> = Vec::new();
    let mut fixed = |width: usize| {
        if width > 0 && width <= min && !(width == min && min == max) && !cuts.contains(&Cut::Fixed(width)) {
            cuts.push(Cut::Fixed(width));
        }
    };
    INTEGERS.into_iter().for_each(&mut fixed);
    if rests.iter().all(|rest| matches!(rest.first(), Some(5 | 6))) {
        fixed(9);
    }
    if rests.len() > 1 {
        HASHES.into_iter().for_each(&mut fixed);
        edges(rests, min).into_iter().for_each(&mut fixed);
        if min == max {
            TAILS.into_iter().filter_map(|tail| min.checked_sub(tail)).for_each(&mut fixed);
        }
        cuts.extend(separators(rests).into_iter().map(Cut::Before));
        cuts.extend(digits(rests));
        cuts.extend(frames(rests, framed));
        if min < max {
            cuts.extend(TAILS.into_iter().filter(|tail| *tail <= min).map(Cut::Tail));
        }
    }
    cuts.push(Cut::End);
    cuts
}

/// Columns at which bytes stop or start to be the same in every key, and where a run of hex digits ends.
fn edges(rests: &[&[u8]], min: usize) -> Vec<usize> {
    let mut edges = Vec::new();
    let column = |at: usize| rests.iter().filter_map(move |rest| rest.get(at)).copied();
    let is_same = |at: usize| {
        let first = column(at).next();
        column(at).all(|byte| Some(byte) == first)
    };
    let mut before = true;
    for at in 0..min.min(COLUMNS) {
        let same = is_same(at);
        if same && !before && at > 0 {
            edges.push(at);
        }
        before = same;
    }
    let run = |rest: &&[u8]| rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let shortest = rests.iter().map(run).min().unwrap_or_default();
    if shortest >= 8 && rests.iter().all(|rest| run(rest) == shortest) {
        edges.push(shortest & !1);
    }
    edges
}

/// Bytes that part texts: none is a letter or digit, every key has one, and what is before it is text.
fn separators(rests: &[&[u8]]) -> Vec<u8> {
    let mut found: Vec<(usize, u8)> = Vec::new();
    for byte in (0..128_u8).filter(|byte| !byte.is_ascii_alphanumeric()) {
        let mut places = 0_usize;
        let is_between = rests.iter().all(|rest| {
            let Some(at) = rest.iter().position(|found| *found == byte) else { return false };
            places += at;
            rest.get(..at).is_some_and(|piece| {
                if piece.is_ascii() {
                    piece.iter().all(|byte| matches!(byte, b' '..=b'~'))
                } else {
                    str::from_utf8(piece).is_ok()
                }
            })
        });
        if is_between && places > 0 {
            found.push((places, byte));
        }
    }
    found.sort_unstable();
    found.into_iter().take(SEPARATORS).map(|(_, byte)| byte).collect()
}

/// Digits with something else after them in some keys that is not always the same.
fn digits(rests: &[&[u8]]) -> Option<Cut> {
    let next = |rest: &&[u8]| {
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (count > 0).then(|| rest.get(count).copied())
    };
    let follows: Option<Vec<Option<u8>>> = rests.iter().map(next).collect();
    follows.filter(|follows| follows.iter().all(Option::is_some)).map(|_| Cut::Digits)
}

/// Lengths before what they count. One that is always the same says nothing, unless the key has others like it.
fn frames(rests: &[&[u8]], framed: bool) -> Vec<Cut> {
    let fits = |frame: Frame| {
        let mut seen = None;
        let mut varies = false;
        for rest in rests {
            let Some((_, content)) = frame.split(rest) else { return false };
            varies |= seen.is_some_and(|length| length != content.len());
            seen = Some(content.len());
        }
        let is_known = framed && frame == Frame::Len16 && seen.is_some_and(|length| length > 0);
        (varies && rests.len() >= 4) || is_known
    };
    Frame::ALL.into_iter().filter(|frame| fits(*frame)).map(Cut::Framed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_fit_every_key() {
        let rests: [&[u8]; 4] = [b"\x01a/1", b"\x02bc/2", b"\x01d/3", b"\x03efg/4"];
        let cuts = cuts(&rests, false);
        assert!(cuts.contains(&Cut::Framed(Frame::Len8)), "{cuts:?}");
        assert!(!cuts.contains(&Cut::Before(b'/')), "{cuts:?}");
        for cut in cuts {
            for rest in rests {
                assert!(cut.split(rest).is_some(), "{cut:?} {rest:?}");
            }
        }
        assert_eq!(Cut::Before(b'/').split(b"a/b"), Some((&b"a"[..], &b"/b"[..])));
        assert_eq!(Cut::Tail(2).split(b"abc"), Some((&b"a"[..], &b"bc"[..])));
    }
}

//! The cheapest layout of keys that are taken for one family.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::bits::{Bits, choice, float};
use crate::cut::{Cut, cuts};
use crate::guess::{Frame, Guess, Kind, Seen};
use crate::read::{Readers, read};

/// How many keys are looked at closely.
pub(crate) const KEYS: usize = 128;
/// How many states are looked at before the rest of a key is taken for bytes.
const STATES: usize = 600;
/// How many segments a layout may have.
const SEGMENTS: usize = 24;

/// One piece of a layout.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) guess: Guess,
    /// Where it ends; of a literal it is its own length.
    pub(crate) cut: Cut,
}

/// A layout, with what it and the keys under it cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layout {
    pub(crate) bits: Bits,
    pub(crate) pieces: Vec<Piece>,
}

impl Layout {
    /// Adds a piece; literals side by side are one.
    fn push(&mut self, piece: Piece) {
        match (self.pieces.last_mut(), piece) {
            (
                Some(Piece { guess: Guess::Literal(before), cut }),
                Piece { guess: Guess::Literal(bytes), .. },
            ) => {
                before.extend(bytes);
                *cut = Cut::Fixed(before.len());
            }
            (_, piece) => self.pieces.push(piece),
        }
    }

    /// The kinds of its pieces, without literals: layouts with the same are siblings.
    pub(crate) fn shape(&self) -> Vec<Kind> {
        self.pieces.iter().map(|piece| piece.guess.kind()).filter(|kind| *kind != Kind::Literal).collect()
    }
}

/// A layout as a list that shares its tail.
#[derive(Debug)]
struct Node {
    bits: Bits,
    piece: Option<(Piece, Rc<Node>)>,
}

/// Finds the cheapest layout of some keys, all of which begin with the same `literal` bytes.
pub(crate) fn search(keys: &[&[u8]], literal: usize) -> Layout {
    let mut search = Search { known: BTreeMap::new(), left: STATES };
    let mut layout = Layout::default();
    let head = keys.first().and_then(|key| key.get(..literal)).unwrap_or_default();
    let mut context = Context::default();
    if !head.is_empty() {
        let guess = Guess::Literal(head.to_vec());
        context = Context { framed: is_framed(&guess), depth: 1 };
        layout.bits = Bits::new(4.0 + 8.0 * float(literal), 0.0);
        layout.pieces.push(Piece { guess, cut: Cut::Fixed(literal) });
    }
    let rests: Vec<&[u8]> = keys.iter().map(|key| key.get(head.len()..).unwrap_or_default()).collect();
    let mut node = search.best(&rests, context);
    layout.bits = layout.bits.and(node.bits);
    while let Some((piece, next)) = &node.piece {
        layout.push(piece.clone());
        node = Rc::clone(next);
    }
    layout
}

/// What has been read of the keys before a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Context {
    /// There are lengths of two bytes before it.
    framed: bool,
    /// How many pieces there are before it.
    depth: usize,
}

struct Search {
    // A state is known by the lengths of its rests: they are ends of the same keys.
    known: BTreeMap<(bool, Vec<usize>), Rc<Node>>,
    left: usize,
}

impl Search {
    fn best(&mut self, rests: &[&[u8]], context: Context) -> Rc<Node> {
        if rests.iter().all(|rest| rest.is_empty()) {
            return Rc::new(Node { bits: Bits::default(), piece: None });
        }
        let state = (context.framed, rests.iter().map(|rest| rest.len()).collect::<Vec<_>>());
        if let Some(known) = self.known.get(&state) {
            return Rc::clone(known);
        }
        let mut best = to_the_end(rests);
        if self.left > 0 && context.depth < SEGMENTS {
            self.left -= 1;
            for (bits, piece, after) in literals(rests).into_iter().chain(pieces(rests, context)) {
                if bits.total() >= best.bits.total() {
                    continue;
                }
                let framed = context.framed || is_framed(&piece.guess);
                let next = self.best(&after, Context { framed, depth: context.depth + 1 });
                let bits = bits.and(next.bits);
                if bits.total() < best.bits.total() {
                    best = Node { bits, piece: Some((piece, next)) };
                }
            }
        }
        let best = Rc::new(best);
        self.known.insert(state, Rc::clone(&best));
        best
    }
}

/// Whether a piece shows that the key has lengths of two bytes.
fn is_framed(guess: &Guess) -> bool {
    match guess {
        Guess::Framed(Frame::Len16, _) => true,
        Guess::Literal(bytes) => Frame::Len16
            .split(bytes)
            .is_some_and(|(header, content)| !content.is_empty() && header + content.len() == bytes.len()),
        _ => false,
    }
}

/// The rest of every key as one piece.
fn to_the_end(rests: &[&[u8]]) -> Node {
    let end = Rc::new(Node { bits: Bits::default(), piece: None });
    let found = read(rests, Cut::End.readers(), false);
    let (bits, guess) = found.unwrap_or((Bits::default(), Guess::Literal(Vec::new())));
    // One key shows a literal, not what could be in its place.
    let bits = if rests.len() == 1 { bits.and(Bits::new(24.0, 0.0)) } else { bits };
    Node { bits, piece: Some((Piece { guess, cut: Cut::End }, end)) }
}

type Step<'k> = (Bits, Piece, Vec<&'k [u8]>);

fn pieces<'k>(rests: &[&'k [u8]], context: Context) -> Vec<Step<'k>> {
    let mut steps = Vec::new();
    for cut in cuts(rests, context.framed) {
        if rests.len() == 1 && !is_clear_alone(cut, rests) {
            continue;
        }
        let split: Option<Vec<(&[u8], &[u8])>> = rests.iter().map(|rest| cut.split(rest)).collect();
        let Some(split) = split else { continue };
        let (inside, after): (Vec<&[u8]>, Vec<&[u8]>) = split.into_iter().unzip();
        let Some((bits, guess)) = read(&inside, cut.readers(), false) else { continue };
        if is_inside_words(cut, &guess, &inside, &after) {
            continue;
        }
        let step = match cut {
            Cut::Framed(frame) => framed(&inside, frame).map(|(bits, guess)| (bits, guess, after)),
            _ => Some((bits, guess, after)),
        };
        steps.extend(step.map(|(bits, guess, after)| (bits, Piece { guess, cut }, after)));
    }
    steps
}

/// Whether a cut at a fixed place goes through words.
fn is_inside_words(cut: Cut, guess: &Guess, inside: &[&[u8]], after: &[&[u8]]) -> bool {
    let is_text = matches!(guess, Guess::Text { .. } | Guess::Dec | Guess::DecPadded(_) | Guess::Hex { .. });
    if !is_text || !matches!(cut, Cut::Fixed(_) | Cut::Tail(_)) {
        return false;
    }
    let is_hex = matches!(guess, Guess::Hex { .. });
    let through = |(piece, rest): &(&&[u8], &&[u8])| {
        let (Some(last), Some(first)) = (piece.last(), rest.first()) else { return false };
        if is_hex {
            return first.is_ascii_hexdigit();
        }
        // From letters to digits is an edge of its own.
        (last.is_ascii_alphabetic() && first.is_ascii_alphabetic())
            || (last.is_ascii_digit() && first.is_ascii_alphanumeric())
    };
    inside.iter().zip(after).filter(through).count() * 10 > inside.len()
}

/// Of one key only a number with leading zeros can be told.
fn is_clear_alone(cut: Cut, rests: &[&[u8]]) -> bool {
    let Cut::Fixed(width @ (4 | 8)) = cut else { return false };
    rests.iter().all(|rest| rest.get(..width / 2).is_some_and(|zeros| zeros.iter().all(|byte| *byte == 0)))
}

fn framed(inside: &[&[u8]], frame: Frame) -> Option<(Bits, Guess)> {
    let (bits, guess) = read(inside, Readers::All, true)?;
    let lengths = Seen::of(inside.iter().map(|piece| piece.len()));
    let length_bits = float(inside.len()) * choice(lengths.span());
    // A length that fits every key, and differs between them, is hardly chance.
    let evidence = if lengths.fixed().is_none() { -18.0 } else { 2.0 };
    Some((bits.and(Bits::new(evidence, length_bits)), Guess::Framed(frame, Box::new(guess))))
}

/// The bytes that all the rests begin with, and shorter ones that leave zeros or a word to what follows.
fn literals<'k>(rests: &[&'k [u8]]) -> Vec<Step<'k>> {
    let common = common_prefix(rests);
    let mut lengths = vec![common.len()];
    // Zeros, and what follows them, may belong to a number.
    let recent = common.len().saturating_sub(15);
    let filled = common.iter().enumerate().skip(recent);
    lengths.extend(filled.filter(|(_, byte)| matches!(byte, 0x00 | 0xff | 0x7f | 0x80)).map(|(at, _)| at));
    let word = common.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    lengths.push(common.len() - word);
    let digits = common.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    lengths.push(common.len() - digits);
    // A length of two bytes that is the same in every key.
    lengths.extend(common.len().checked_sub(2));
    lengths.sort_unstable();
    lengths.dedup();
    let mut steps = Vec::new();
    for length in lengths.into_iter().filter(|length| *length > 0) {
        let (Some(bytes), Some(after)) = (common.get(..length), all_after(rests, length)) else { continue };
        let inside_word = bytes.last().is_some_and(u8::is_ascii_alphanumeric)
            && after.iter().any(|rest| rest.first().is_some_and(u8::is_ascii_alphabetic));
        let bits = Bits::new(4.0 + 8.0 * float(length) + if inside_word { 12.0 } else { 0.0 }, 0.0);
        let piece = Piece { guess: Guess::Literal(bytes.to_vec()), cut: Cut::Fixed(length) };
        steps.push((bits, piece, after));
    }
    steps
}

fn all_after<'k>(rests: &[&'k [u8]], length: usize) -> Option<Vec<&'k [u8]>> {
    rests.iter().map(|rest| rest.get(length..)).collect()
}

/// The bytes that all of them begin with.
pub(crate) fn common_prefix<'k>(keys: &[&'k [u8]]) -> &'k [u8] {
    let Some((first, others)) = keys.split_first() else { return &[] };
    let mut length = first.len();
    for key in others {
        let same = first.iter().zip(key.iter()).take_while(|(a, b)| a == b).count();
        length = length.min(same);
    }
    first.get(..length).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::parts;

    fn check(keys: &[Vec<u8>], expected: &str) {
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        assert_eq!(parts(&search(&keys, 0).pieces), expected);
    }

    #[test]
    fn leading_zeros_belong_to_the_number() {
        let keys: Vec<Vec<u8>> = (1..60_u64).map(|n| [&[1][..], &n.to_be_bytes()].concat()).collect();
        check(&keys, "0x01 number: u64");
    }

    #[test]
    fn two_numbers_with_a_separator_are_two() {
        let keys: Vec<Vec<u8>> = (1..60_u64)
            .map(|n| [&[9][..], &(n / 7).to_be_bytes(), b"/", &(n * 13).to_be_bytes()].concat())
            .collect();
        check(&keys, "0x09 number: u64 \"/\" number_2: u64");
    }

    #[test]
    fn texts_end_at_their_separator() {
        let words = ["uosmo", "uatom", "ibc", "stake", "usdc"];
        let keys: Vec<Vec<u8>> = words
            .iter()
            .flat_map(|word| (1..9).map(move |n| format!("fee|{}|{word}", n * 11).into_bytes()))
            .collect();
        check(&keys, "\"fee|\" number: u64.dec \"|\" text: text(\"a-z\", 3 | 4 | 5)");
    }

    #[test]
    fn lengths_of_two_bytes_are_seen_by_what_they_count() {
        let names = ["alice", "bob", "charlotte", "dan", "eve", "frederick", "gina", "henrietta"];
        let keys: Vec<Vec<u8>> = names
            .iter()
            .enumerate()
            .flat_map(|(at, name)| {
                let head = [b"\0\x03tok\0".as_slice(), &[u8::try_from(name.len()).unwrap()], name.as_bytes()];
                let head = head.concat();
                (0..5_u32).map(move |n| {
                    [head.as_slice(), &(n * 3 + u32::try_from(at).unwrap()).to_be_bytes()].concat()
                })
            })
            .collect();
        check(&keys, "0x0003 \"tok\" text: text(\"a-z\", 1..).len16 number: u32");
    }
}

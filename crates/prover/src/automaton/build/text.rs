//! Text: over an alphabet of ASCII, or UTF-8.

use keyplan_plan::codec::Alphabet;
use keyplan_plan::model::TextShape;

use super::escape::Escape;
use super::{LEFT_OUT, Pen, numbers};
use crate::automaton::{ByteSet, DEAD, NodeId, Numbers, UNLIMITED};
use crate::hash::Map;

impl Pen<'_> {
    pub(super) fn text(&mut self, text: &TextShape, next: NodeId, flip: bool) -> NodeId {
        if text.tuple {
            let end = self.arena.literal_flipped(&[0], next, flip);
            let hole = self.hole();
            let contents = self.plain_text(text, hole, flip);
            let node = self.escape(Escape::ZEROS, contents, hole, end, flip);
            return self.arena.literal_flipped(&[2], node, flip);
        }
        self.plain_text(text, next, flip)
    }

    fn plain_text(&mut self, text: &TextShape, next: NodeId, flip: bool) -> NodeId {
        let counts = numbers(&text.lengths);
        let wide = text.alphabet.beyond_ascii() || text.first.is_some_and(|first| first.beyond_ascii());
        let set = ByteSet::from_bits(text.alphabet.bits()).and(ByteSet::utf8());
        if !wide && !text.except.is_empty() {
            return self.text_without(text, &[], &counts, next, flip);
        }
        if !text.except.is_empty() {
            self.loose.insert(LEFT_OUT);
        }
        if !wide {
            return match text.first {
                None => self.arena.run(set.flipped_if(flip), counts, next, flip),
                Some(first) => {
                    let rest = self.arena.run(set.flipped_if(flip), counts.positive().lowered(1), next, flip);
                    let first = self.arena.byte(ByteSet::from_bits(first.bits()).flipped_if(flip), rest);
                    let absent = if counts.contains(0) { next } else { DEAD };
                    self.arena.split(vec![absent, first], flip)
                }
            };
        }
        let first = text.first.unwrap_or(text.alphabet);
        let open = counts.stretches().len() == 1 && counts.max() == Some(UNLIMITED);
        if open && counts.min().is_some_and(|min| min <= 1) {
            let all = self.arena.open_loop(next);
            let mut ways = vec![next];
            ways.extend(self.character(text.alphabet, all, flip));
            self.arena.close_loop(all, ways, flip);
            if counts.min() == Some(0) && text.first.is_none() {
                return all;
            }
            let mut ways = self.character(first, all, flip);
            if counts.min() == Some(0) {
                ways.insert(0, next);
            }
            return self.arena.split(ways, flip);
        }
        let most = counts.max().unwrap_or(0);
        if most != UNLIMITED && most <= self.precision.unrolled() {
            return self.counted_text(first, text.alphabet, &counts, most, next, flip);
        }
        if most != UNLIMITED {
            self.coarse = true;
        }
        self.loose.insert("bytes that are not UTF-8 count as text in the graph");
        let later = ByteSet::range(0x80, 0xbf);
        let rest = if first.beyond_ascii() { set.or(later) } else { set };
        let tail = self.arena.run(rest.flipped_if(flip), counts.positive().lowered(1), next, flip);
        let first = ByteSet::from_bits(first.bits()).and(ByteSet::utf8());
        let head = self.arena.byte(first.flipped_if(flip), tail);
        let absent = if counts.contains(0) { next } else { DEAD };
        self.arena.split(vec![absent, head], flip)
    }

    /// Texts that begin with `read`, which begins one that is left out; `counts` is how many bytes may follow.
    fn text_without(
        &mut self,
        text: &TextShape,
        read: &[u8],
        counts: &Numbers,
        next: NodeId,
        flip: bool,
    ) -> NodeId {
        let set = ByteSet::from_bits(text.alphabet.bits()).and(ByteSet::utf8());
        let here = match text.first {
            Some(first) if read.is_empty() => ByteSet::from_bits(first.bits()),
            _ => set,
        };
        let left_out = text.except.texts();
        let is_left_out = left_out.iter().any(|text| text.as_bytes() == read);
        let mut ways = vec![if counts.contains(0) && !is_left_out { next } else { DEAD }];
        let behind = counts.positive().lowered(1);
        let free = self.arena.run(set.flipped_if(flip), behind.clone(), next, flip);
        // Bytes that lead away from everything that is left out, and between them those that do not.
        let mut away = ByteSet::EMPTY;
        for byte in here.iter() {
            let longer = [read, &[byte]].concat();
            if left_out.iter().any(|text| text.as_bytes().starts_with(&longer)) {
                ways.push(self.arena.byte(away.flipped_if(flip), free));
                away = ByteSet::EMPTY;
                let inner = self.text_without(text, &longer, &behind, next, flip);
                ways.push(self.arena.byte(ByteSet::of(byte).flipped_if(flip), inner));
            } else {
                away = away.with(byte);
            }
        }
        ways.push(self.arena.byte(away.flipped_if(flip), free));
        self.arena.split(ways, flip)
    }

    /// The ways to read one character of an alphabet, in the order of their bytes.
    fn character(&mut self, alphabet: Alphabet, next: NodeId, flip: bool) -> Vec<NodeId> {
        self.characters(alphabet, flip, |_| Some(next))
    }

    /// The ways to read one character; `next` gives what follows one of so many bytes.
    fn characters(
        &mut self,
        alphabet: Alphabet,
        flip: bool,
        next: impl Fn(u64) -> Option<NodeId>,
    ) -> Vec<NodeId> {
        let set = ByteSet::from_bits(alphabet.bits());
        let mut ways = Vec::new();
        let range = |a: u8, b: u8| ByteSet::range(a, b).flipped_if(flip);
        if let Some(next) = next(1) {
            ways.push(self.arena.byte(set.and(ByteSet::range(0, 0x7f)).flipped_if(flip), next));
        }
        if !alphabet.beyond_ascii() {
            return ways;
        }
        // Lead byte, second byte, and how many more follow.
        let forms: [(u8, u8, u8, u8, u64); 8] = [
            (0xc2, 0xdf, 0x80, 0xbf, 0),
            (0xe0, 0xe0, 0xa0, 0xbf, 1),
            (0xe1, 0xec, 0x80, 0xbf, 1),
            (0xed, 0xed, 0x80, 0x9f, 1),
            (0xee, 0xef, 0x80, 0xbf, 1),
            (0xf0, 0xf0, 0x90, 0xbf, 2),
            (0xf1, 0xf3, 0x80, 0xbf, 2),
            (0xf4, 0xf4, 0x80, 0x8f, 2),
        ];
        for (first, last, from, to, more) in forms {
            let Some(next) = next(2 + more) else { continue };
            let rest = self.arena.run(range(0x80, 0xbf), Numbers::one(more), next, false);
            let second = self.arena.byte(range(from, to), rest);
            ways.push(self.arena.byte(range(first, last), second));
        }
        ways
    }

    /// UTF-8 of a bounded number of bytes, one node for each number that was read.
    fn counted_text(
        &mut self,
        first: Alphabet,
        rest: Alphabet,
        counts: &Numbers,
        most: u64,
        next: NodeId,
        flip: bool,
    ) -> NodeId {
        let mut after: Map<u64, NodeId> = Map::default();
        for count in (0..=most).rev() {
            let alphabet = if count == 0 { first } else { rest };
            let known = &after;
            let mut ways = self.characters(alphabet, flip, |bytes| known.get(&(count + bytes)).copied());
            if counts.contains(count) {
                ways.insert(0, next);
            }
            let node = self.arena.split(ways, flip);
            if node != DEAD {
                after.insert(count, node);
            }
        }
        after.get(&0).copied().unwrap_or(DEAD)
    }
}

//! Lists: with a separator, a count, or nothing between their elements.

use keyplan_plan::codec::LenWidth;
use keyplan_plan::model::{Framing, LengthSet, Shape};

use super::{Pen, Precision, numbers};
use crate::automaton::{ByteSet, DEAD, NodeId, Numbers, Prefix, UNLIMITED};

impl Pen<'_> {
    pub(super) fn list(
        &mut self,
        item: &Shape,
        counts: &LengthSet,
        framing: &Framing,
        next: NodeId,
        flip: bool,
    ) -> Option<NodeId> {
        let counts = numbers(counts);
        if let Framing::Counted(width) = framing {
            return self.counted(item, &counts, *width, next, flip);
        }
        let separator: &[u8] = if let Framing::Joined(separator) = framing { separator } else { &[] };
        let unrolled = self.precision.unrolled();
        let most = counts.max().unwrap_or(0);
        let (mut after, mut count) = if most <= unrolled {
            (next, most)
        } else {
            // Written out up to the least count, then over and over.
            if counts.stretches().len() > 1 || most != UNLIMITED {
                self.loose.insert("a long bound on a list is left out of the graph");
                self.coarse = true;
            }
            let all = self.arena.open_loop(next);
            let body = self.shape(item, all, flip)?;
            let body = self.arena.literal_flipped(separator, body, flip);
            self.arena.close_loop(all, vec![next, body], flip);
            let least = counts.min().unwrap_or(0);
            if least > unrolled {
                self.loose.insert("a long bound on a list is left out of the graph");
            }
            (all, least.clamp(1, unrolled))
        };
        // `after` is what follows `count` elements.
        while count > 1 {
            count -= 1;
            let element = self.shape(item, after, flip)?;
            let more = self.arena.literal_flipped(separator, element, flip);
            let exit = if counts.contains(count) { next } else { DEAD };
            after = self.arena.split(vec![exit, more], flip);
        }
        let some = if count == 1 { self.shape(item, after, flip)? } else { DEAD };
        let none = if counts.contains(0) { next } else { DEAD };
        Some(self.arena.split(vec![none, some], flip))
    }

    fn counted(
        &mut self,
        item: &Shape,
        counts: &Numbers,
        width: LenWidth,
        next: NodeId,
        flip: bool,
    ) -> Option<NodeId> {
        let prefix = Prefix { width, flipped: flip };
        let counts = counts.intersection(&Numbers::range(0, prefix.limit()));
        let most = counts.max().unwrap_or(0);
        if most <= self.precision.unrolled() {
            let mut elements = next;
            let mut ways = Vec::new();
            for count in 0..=most {
                if count > 0 {
                    elements = self.shape(item, elements, flip)?;
                }
                if counts.contains(count) {
                    ways.push(self.arena.literal(&prefix.bytes(count), elements));
                }
            }
            return Some(self.arena.split(ways, flip));
        }
        self.loose.insert("a long count is free in the graph");
        self.coarse |= most != UNLIMITED && most <= Precision::Fine.unrolled();
        let all = self.arena.open_loop(next);
        let body = self.shape(item, all, flip)?;
        self.arena.close_loop(all, vec![next, body], flip);
        if let Some(width) = width.fixed() {
            return Some(self.arena.run(ByteSet::FULL, Numbers::one(width as u64), all, false));
        }
        let last = self.arena.byte(ByteSet::range(0, 0x7f).flipped_if(flip), all);
        let more = ByteSet::range(0x80, 0xff).flipped_if(flip);
        Some(self.arena.run(more, Numbers::range(0, 9), last, false))
    }
}

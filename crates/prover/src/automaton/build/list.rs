//! Lists: with a separator, a count, or nothing between their elements.

use keyplan_plan::codec::LenWidth;
use keyplan_plan::model::{Framing, LengthSet, Shape, Width};

use super::length::as_number;
use super::{Pen, Precision, numbers};
use crate::automaton::{ByteSet, DEAD, NodeId, Numbers, Prefix, UNLIMITED};
use crate::layout::class_of;

/// The most elements of a list that are written out where its count is long, and the most nodes that they take.
const MOST_ELEMENTS: usize = 16;
const MOST_WRITTEN: usize = 600;

impl Pen<'_> {
    pub(super) fn list(
        &mut self,
        item: &Shape,
        given: &LengthSet,
        framing: &Framing,
        next: NodeId,
        flip: bool,
    ) -> Option<NodeId> {
        let counts = numbers(given);
        if let Framing::Counted(width) = framing {
            if self.precision == Precision::Lengths
                && counts.max().is_none_or(|most| most > self.precision.unrolled())
            {
                let list = Shape::List {
                    item: Box::new(item.clone()),
                    counts: given.clone(),
                    framing: framing.clone(),
                };
                self.hide(&list, "the elements of a long list are free in the graph");
                let each = Width::of_shape(item);
                let each = (each.min as u64, each.max.map_or(UNLIMITED, |max| max as u64));
                let prefix = Prefix { width: *width, flipped: flip };
                return Some(self.arena.measured(
                    prefix,
                    class_of(item).flipped_if(flip),
                    &counts,
                    each,
                    next,
                ));
            }
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
        let before = self.arena.len();
        let body = self.shape(item, all, flip)?;
        self.arena.close_loop(all, vec![next, body], flip);
        // Small counts are written out, and so many elements of the others.
        let size = self.arena.len().saturating_sub(before).max(1);
        let exact = (MOST_WRITTEN / size).min(MOST_ELEMENTS) as u64;
        let (mut elements, mut more) = (next, all);
        let mut ways = Vec::new();
        for count in 0..=exact {
            if count > 0 {
                elements = self.shape(item, elements, flip)?;
            }
            if counts.contains(count) {
                ways.push(self.arena.literal(&prefix.bytes(count), elements));
            }
            more = self.shape(item, more, flip)?;
        }
        let long = counts.intersection(&Numbers::range(exact + 1, UNLIMITED));
        if self.precision.by_value() {
            // As the numbers that they are.
            for &(first, last) in long.stretches() {
                let last = last.min(prefix.limit());
                ways.push(self.arena.int(&as_number(width, first.into(), last.into()), more, flip));
            }
            return Some(self.arena.split(ways, flip));
        }
        for (form, these) in prefix.forms(&long) {
            ways.extend(self.long_counts(prefix, form, &these, exact, more));
        }
        Some(self.arena.split(ways, flip))
    }

    /// Counts of one form above `exact`, of which only the bytes are looked at one by one: none of them is written like one of
    /// the counts up to `exact`.
    fn long_counts(
        &mut self,
        prefix: Prefix,
        form: u8,
        counts: &Numbers,
        exact: u64,
        next: NodeId,
    ) -> Vec<NodeId> {
        let fixed = prefix.width.fixed().is_some();
        if form == 1 || !fixed {
            let bytes = (0..form).rev();
            return vec![
                bytes.fold(next, |next, index| self.arena.byte(prefix.values(form, index, counts), next)),
            ];
        }
        // In the fixed forms a small count has zeros but for its last digit.
        let flip = prefix.flipped;
        let zero = ByteSet::of(0).flipped_if(flip);
        let low = ByteSet::FULL.minus(
            (0..=exact)
                .fold(ByteSet::EMPTY, |set, count| u8::try_from(count).map_or(set, |count| set.with(count))),
        );
        let low = low.flipped_if(flip);
        let high = u64::from(form) - 1;
        let little = prefix.width.is_little_endian();
        let mut ways = Vec::new();
        // Of each count the digits above the last one are all zero, or one of them is the first that is not.
        for zeros in (0..=high).rev() {
            let last = if zeros == high { low } else { ByteSet::FULL };
            let after = if little { next } else { self.arena.byte(last, next) };
            let digits = if zeros == high {
                after
            } else {
                let rest = self.arena.run(ByteSet::FULL, Numbers::one(high - zeros - 1), after, false);
                self.arena.byte(zero.complement(), rest)
            };
            let digits = self.arena.run(zero, Numbers::one(zeros), digits, false);
            ways.push(if little { self.arena.byte(last, digits) } else { digits });
        }
        ways
    }
}

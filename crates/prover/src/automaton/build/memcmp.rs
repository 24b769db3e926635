//! Parts in groups of eight bytes, each with a marker after it.

use keyplan_plan::model::Shape;

use super::{MOST_SLICED, Pen};
use crate::automaton::{BYTES, ByteSet, DEAD, Node, NodeId, Numbers, UNLIMITED};
use crate::hash::Map;
use crate::sure::byte;

impl Pen<'_> {
    pub(super) fn memcmp(&mut self, inner: &Shape, next: NodeId, flip: bool) -> Option<NodeId> {
        if let Some(plain) = Self::plain(inner) {
            self.loose.extend(plain.loose);
            return Some(self.grouped_run(plain.set.flipped_if(flip), &plain.counts, next, flip));
        }
        let hole = self.hole();
        let contents = self.shape(inner, hole, flip)?;
        let mut groups = Groups { memo: Map::default(), hole, next, flip, refused: false };
        let grouped = self.group(&mut groups, contents, 0)?;
        if !groups.refused {
            return Some(grouped);
        }
        self.hide(inner, "grouped contents are free in the graph");
        Some(self.grouped_run(ByteSet::FULL, &Numbers::range(0, UNLIMITED), next, flip))
    }

    /// The same graph with a marker after each eighth byte, and padding in place of the hole.
    fn group(&mut self, groups: &mut Groups, node: NodeId, place: u8) -> Option<NodeId> {
        if node == groups.hole {
            return Some(self.last_group(place, groups.next, groups.flip));
        }
        match groups.memo.get(&(node, place)) {
            Some(Some(done)) => return Some(*done),
            Some(None) => {
                groups.refused = true;
                return Some(DEAD);
            }
            None => {}
        }
        if self.arena.len() > self.limit || groups.memo.len() > 20_000 {
            return None;
        }
        groups.memo.insert((node, place), None);
        let grouped = match self.arena.node(node).clone() {
            Node::End | Node::Mark { .. } => DEAD,
            Node::Byte { set, next } => self.group_bytes(groups, &[set], next, place)?,
            Node::Run { counts, .. } | Node::Prefixed { counts, .. }
                if counts.max().is_none_or(|most| most > MOST_SLICED) =>
            {
                groups.refused = true;
                DEAD
            }
            Node::Run { set, counts, next, reversed } => {
                self.group_run(groups, (set, &counts, reversed), next, place)?
            }
            Node::Prefixed { each, .. } if each != BYTES => {
                groups.refused = true;
                DEAD
            }
            Node::Prefixed { prefix, set, counts, next, .. } => {
                let mut ways = Vec::new();
                for count in (0..=MOST_SLICED).filter(|&count| counts.contains(count)) {
                    let length = prefix.bytes(count).into_iter().map(ByteSet::of);
                    let sets: Vec<ByteSet> = length.chain((0..count).map(|_| set)).collect();
                    ways.push(self.group_bytes(groups, &sets, next, place)?);
                }
                self.arena.split(ways, false)
            }
            Node::Split(ways) => {
                let mut grouped = Vec::new();
                for way in ways {
                    grouped.push(self.group(groups, way, place)?);
                }
                self.arena.split(grouped, false)
            }
        };
        groups.memo.insert((node, place), Some(grouped));
        Some(grouped)
    }

    /// A run that may end after each of its counts, byte by byte: so its ways are in the order of what they hold.
    fn group_run(
        &mut self,
        groups: &mut Groups,
        (set, counts, reversed): (ByteSet, &Numbers, bool),
        next: NodeId,
        place: u8,
    ) -> Option<NodeId> {
        let most = counts.max().unwrap_or(0);
        let mut after = DEAD;
        for count in (0..=most).rev() {
            let at = byte((u64::from(place) + count) % 8);
            let stay = match after {
                DEAD => DEAD,
                after if at == 7 => {
                    let marked = self.arena.literal_flipped(&[0xff], after, groups.flip);
                    self.arena.byte(set, marked)
                }
                after => self.arena.byte(set, after),
            };
            let end = if counts.contains(count) { self.group(groups, next, at)? } else { DEAD };
            after = self.arena.split(vec![end, stay], reversed);
        }
        Some(after)
    }

    /// A byte of each set from a place of a group on.
    fn group_bytes(
        &mut self,
        groups: &mut Groups,
        sets: &[ByteSet],
        next: NodeId,
        place: u8,
    ) -> Option<NodeId> {
        let place_after = |count: usize| byte((usize::from(place) + count) % 8);
        let mut node = self.group(groups, next, place_after(sets.len()))?;
        for (index, &set) in sets.iter().enumerate().rev() {
            if place_after(index + 1) == 0 {
                node = self.arena.literal_flipped(&[0xff], node, groups.flip);
            }
            node = self.arena.byte(set, node);
        }
        Some(node)
    }

    /// The padding and the marker of the last group, of which `place` bytes are read.
    fn last_group(&mut self, place: u8, next: NodeId, flip: bool) -> NodeId {
        let mut end = vec![0; usize::from(8 - place)];
        end.push(0xf7 + place);
        self.arena.literal_flipped(&end, next, flip)
    }

    /// As many bytes of `set` as one of `counts`, in groups.
    fn grouped_run(&mut self, set: ByteSet, counts: &Numbers, next: NodeId, flip: bool) -> NodeId {
        let most = counts.max().unwrap_or(0);
        let exit = |pen: &mut Self, place: u64| pen.last_group(byte(place % 8), next, flip);
        if most <= self.precision.unrolled() {
            let mut after = DEAD;
            for count in (0..=most).rev() {
                let stay = if count < most {
                    let full = (count + 1).is_multiple_of(8);
                    let behind = if full { self.arena.literal_flipped(&[0xff], after, flip) } else { after };
                    self.arena.byte(set, behind)
                } else {
                    DEAD
                };
                let end = if counts.contains(count) { exit(self, count) } else { DEAD };
                after = self.arena.split(vec![end, stay], flip);
            }
            return after;
        }
        let least = counts.min().unwrap_or(0);
        let exact = *counts == Numbers::range(least, UNLIMITED) && least <= self.precision.unrolled();
        if !exact {
            self.loose.insert("a long bound on a length is left out of the graph");
            self.coarse |= most != UNLIMITED;
        }
        let empty = exit(self, 0);
        let group = self.arena.open_loop(empty);
        let mut after = self.arena.literal_flipped(&[0xff], group, flip);
        // Where the run may go on or end, by place: from the last of a group to the first.
        let mut places = Vec::new();
        for place in (1..8).rev() {
            let stay = self.arena.byte(set, after);
            let end = exit(self, place);
            after = self.arena.split(vec![end, stay], flip);
            places.push(after);
        }
        let first = self.arena.byte(set, after);
        self.arena.close_loop(group, vec![empty, first], flip);
        places.push(group);
        places.reverse();
        if !exact {
            return group;
        }
        let mut node =
            usize::try_from(least % 8).ok().and_then(|place| places.get(place)).copied().unwrap_or(group);
        for count in (0..least).rev() {
            let full = (count + 1).is_multiple_of(8);
            let behind = if full { self.arena.literal_flipped(&[0xff], node, flip) } else { node };
            node = self.arena.byte(set, behind);
        }
        node
    }
}

/// The state of putting an inner layout into groups.
struct Groups {
    memo: Map<(NodeId, u8), Option<NodeId>>,
    hole: NodeId,
    next: NodeId,
    flip: bool,
    /// A loop or a long run cannot be put into groups place by place.
    refused: bool,
}

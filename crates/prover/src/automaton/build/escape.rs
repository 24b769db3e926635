//! Frames, and parts in which some bytes are escaped, with the end that this makes room for.

use keyplan_plan::model::{Frame, Shape};

use super::{MOST_SLICED, Pen};
use crate::automaton::{BYTES, ByteSet, DEAD, END, Node, NodeId, Numbers, UNLIMITED};
use crate::hash::Map;

/// Which bytes have another after them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Escape(&'static [(u8, u8)]);

impl Escape {
    /// `00` as `00 ff`.
    pub(super) const ZEROS: Self = Self(&[(0, 0xff)]);
    /// The same, and `ff` as `ff 00`.
    pub(super) const BOTH: Self = Self(&[(0, 0xff), (0xff, 0)]);

    /// The bytes that are escaped.
    fn set(self) -> ByteSet {
        self.0.iter().fold(ByteSet::EMPTY, |set, (byte, _)| set.with(*byte))
    }
}

impl Pen<'_> {
    pub(super) fn framed(&mut self, frame: Frame, inner: &Shape, next: NodeId, flip: bool) -> Option<NodeId> {
        match frame {
            Frame::Len(width) => self.len(width, inner, next, flip),
            Frame::Terminated => self.escaped(inner, Escape::ZEROS, &[0, 0], next, flip),
            Frame::Escaped => self.escaped(inner, Escape::ZEROS, &[0], next, flip),
            Frame::OrderedCode => self.escaped(inner, Escape::BOTH, &[0, 1], next, flip),
            Frame::Memcmp => self.memcmp(inner, next, flip),
        }
    }

    fn escaped(
        &mut self,
        inner: &Shape,
        escape: Escape,
        end: &[u8],
        next: NodeId,
        flip: bool,
    ) -> Option<NodeId> {
        let end = self.arena.literal_flipped(end, next, flip);
        let hole = self.hole();
        let contents = self.shape(inner, hole, flip)?;
        let nodes = self.arena.reachable(contents, None);
        let long = nodes.iter().any(|&id| match self.arena.node(id) {
            Node::Prefixed { counts, each, .. } => {
                *each != BYTES || counts.max().is_none_or(|most| most > MOST_SLICED)
            }
            _ => false,
        });
        if long {
            self.hide(inner, "escaped contents are free in the graph");
            let all = Numbers::range(0, UNLIMITED);
            return Some(self.escaped_run(escape, ByteSet::FULL, &all, end, flip, flip));
        }
        Some(self.escape(escape, contents, hole, end, flip))
    }

    /// The same graph with the escapes after the bytes that have one, and `end` in place of `hole`.
    pub(super) fn escape(
        &mut self,
        how: Escape,
        start: NodeId,
        hole: NodeId,
        end: NodeId,
        flip: bool,
    ) -> NodeId {
        let nodes: Vec<NodeId> =
            self.arena.reachable(start, None).into_iter().filter(|&id| id != hole && id != END).collect();
        let mut changed: Map<NodeId, NodeId> = [(hole, end), (END, DEAD)].into_iter().collect();
        let mut loops = Vec::new();
        // A way that leads to a later node is the way into a loop.
        for &id in &nodes {
            if let Node::Split(ways) = self.arena.node(id)
                && ways.iter().any(|&way| way >= id)
            {
                self.loops = true;
                let open = self.arena.open_loop(end);
                changed.insert(id, open);
                loops.push((id, open));
            }
        }
        let special = how.set().flipped_if(flip);
        for &id in &nodes {
            if changed.contains_key(&id) {
                continue;
            }
            let node = self.arena.node(id).clone();
            let mut missing = false;
            let mut to = |next: NodeId| successor(&changed, next, &mut missing);
            let new = match node {
                Node::Byte { set, next } => {
                    let next = to(next);
                    let ways = self.one_escaped(how, set.flipped_if(flip), next, flip);
                    self.arena.split(ways, flip)
                }
                Node::Run { set, counts, next, reversed } => {
                    let next = to(next);
                    if set.meets(special) {
                        self.escaped_run(how, set.flipped_if(flip), &counts, next, flip, reversed)
                    } else {
                        self.arena.run(set, counts, next, reversed)
                    }
                }
                Node::Split(ways) => {
                    let ways = ways.into_iter().map(&mut to).collect();
                    self.arena.split(ways, false)
                }
                Node::Prefixed { prefix, set, counts, next, .. } => {
                    let next = to(next);
                    let mut ways = Vec::new();
                    for count in (0..=MOST_SLICED).filter(|&count| counts.contains(count)) {
                        let inside = set.flipped_if(flip);
                        let mut node = self.escaped_run(how, inside, &Numbers::one(count), next, flip, flip);
                        for byte in prefix.bytes(count).into_iter().rev() {
                            let ways = self.one_escaped(how, ByteSet::of(byte).flipped_if(flip), node, flip);
                            node = self.arena.split(ways, flip);
                        }
                        ways.push(node);
                    }
                    self.arena.split(ways, false)
                }
                // Neither is inside of contents: its paths would be lost.
                Node::End | Node::Mark { .. } => {
                    missing = true;
                    DEAD
                }
            };
            self.broken |= missing;
            changed.insert(id, new);
        }
        for (id, open) in loops {
            if let Node::Split(ways) = self.arena.node(id).clone() {
                let broken = &mut self.broken;
                let ways = ways.into_iter().map(|way| successor(&changed, way, broken)).collect();
                self.arena.close_loop(open, ways, false);
            }
        }
        successor(&changed, start, &mut self.broken)
    }

    /// One byte of `set`, with its escape after it if it has one: the ways in the order of the bytes.
    fn one_escaped(&mut self, how: Escape, set: ByteSet, next: NodeId, flip: bool) -> Vec<NodeId> {
        let mut ways = Vec::new();
        let other = self.arena.byte(set.minus(how.set()).flipped_if(flip), next);
        for &(byte, behind) in how.0 {
            if byte != 0 && !ways.contains(&other) {
                ways.push(other);
            }
            let escape = self.arena.literal_flipped(&[behind], next, flip);
            ways.push(self.arena.byte(set.and(ByteSet::of(byte)).flipped_if(flip), escape));
        }
        if !ways.contains(&other) {
            ways.push(other);
        }
        ways
    }

    /// As many bytes of `set` as one of `counts`, with the escapes after those that have one. Fewer bytes come first in logical
    /// order, or last if `reversed`, which is not `flip` where what is escaped is itself complemented.
    pub(super) fn escaped_run(
        &mut self,
        how: Escape,
        set: ByteSet,
        counts: &Numbers,
        next: NodeId,
        flip: bool,
        reversed: bool,
    ) -> NodeId {
        let one = |pen: &mut Self, exit: NodeId, next: NodeId| {
            let mut ways = pen.one_escaped(how, set, next, flip);
            if flip {
                ways.reverse();
            }
            ways.insert(if reversed { ways.len() } else { 0 }, exit);
            ways
        };
        let most = counts.max().unwrap_or(0);
        let least = counts.min().unwrap_or(0);
        let unrolled = self.precision.unrolled();
        let (mut after, mut count) = if most <= unrolled {
            (next, most)
        } else {
            if counts.stretches().len() > 1 || most != UNLIMITED || least > unrolled {
                self.loose.insert("a long bound on a length is left out of the graph");
                self.coarse |= most != UNLIMITED;
            }
            let all = self.arena.open_loop(next);
            let ways = one(self, next, all);
            self.arena.close_loop(all, ways, false);
            (all, least.min(unrolled))
        };
        while count > 0 {
            count -= 1;
            let exit = if counts.contains(count) { next } else { DEAD };
            let ways = one(self, exit, after);
            after = self.arena.split(ways, false);
        }
        after
    }
}

/// What a node has become. Every node comes after those that it leads to; were one missing, the graph would lose paths, and
/// nothing must be proved of it.
fn successor(changed: &Map<NodeId, NodeId>, node: NodeId, missing: &mut bool) -> NodeId {
    changed.get(&node).copied().unwrap_or_else(|| {
        *missing |= node != DEAD;
        DEAD
    })
}

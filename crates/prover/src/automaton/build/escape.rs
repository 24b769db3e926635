//! Parts in which each `00` is escaped, and the end that this makes room for.

use keyplan_plan::model::Shape;

use super::{MOST_SLICED, Pen};
use crate::automaton::{ByteSet, DEAD, END, Node, NodeId, Numbers, UNLIMITED};
use crate::hash::Map;

impl Pen<'_> {
    pub(super) fn escaped(&mut self, inner: &Shape, end: &[u8], next: NodeId, flip: bool) -> Option<NodeId> {
        let end = self.arena.literal_flipped(end, next, flip);
        let hole = self.hole();
        let contents = self.shape(inner, hole, flip)?;
        let nodes = self.arena.reachable(contents, None);
        let long = nodes.iter().any(|&id| match self.arena.node(id) {
            Node::Prefixed { counts, .. } => counts.max().is_none_or(|most| most > MOST_SLICED),
            _ => false,
        });
        if long {
            self.hide(inner, "escaped contents are free in the graph");
            return Some(self.escaped_run(ByteSet::FULL, &Numbers::range(0, UNLIMITED), end, flip, flip));
        }
        Some(self.escape(contents, hole, end, flip))
    }

    /// The same graph with `ff` behind each `00`, and `end` in place of `hole`.
    pub(super) fn escape(&mut self, start: NodeId, hole: NodeId, end: NodeId, flip: bool) -> NodeId {
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
        let zero = ByteSet::of(0).flipped_if(flip);
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
                    let escaped = self.escaped_zero(set.and(zero), next, flip);
                    let other = self.arena.byte(set.minus(zero), next);
                    self.arena.split(vec![escaped, other], flip)
                }
                Node::Run { set, counts, next, reversed } => {
                    let next = to(next);
                    if set.meets(zero) {
                        self.escaped_run(set.flipped_if(flip), &counts, next, flip, reversed)
                    } else {
                        self.arena.run(set, counts, next, reversed)
                    }
                }
                Node::Split(ways) => {
                    let ways = ways.into_iter().map(&mut to).collect();
                    self.arena.split(ways, false)
                }
                Node::Prefixed { prefix, set, counts, next } => {
                    let next = to(next);
                    let mut ways = Vec::new();
                    for count in (0..=MOST_SLICED).filter(|&count| counts.contains(count)) {
                        let mut node =
                            self.escaped_run(set.flipped_if(flip), &Numbers::one(count), next, flip, flip);
                        for byte in prefix.bytes(count).into_iter().rev() {
                            node = if zero.contains(byte) {
                                self.escaped_zero(zero, node, flip)
                            } else {
                                self.arena.byte(ByteSet::of(byte), node)
                            };
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

    /// A zero of `set` with its escape behind it.
    fn escaped_zero(&mut self, set: ByteSet, next: NodeId, flip: bool) -> NodeId {
        let escape = self.arena.literal_flipped(&[0xff], next, flip);
        self.arena.byte(set, escape)
    }

    /// As many bytes of `set` as one of `counts`, each `00` with `ff` behind it. Fewer bytes come first in logical
    /// order, or last if `reversed`, which is not `flip` where what is escaped is itself complemented.
    pub(super) fn escaped_run(
        &mut self,
        set: ByteSet,
        counts: &Numbers,
        next: NodeId,
        flip: bool,
        reversed: bool,
    ) -> NodeId {
        let (zero, other) =
            (set.and(ByteSet::of(0)).flipped_if(flip), set.minus(ByteSet::of(0)).flipped_if(flip));
        let one = |pen: &mut Self, exit: NodeId, next: NodeId| {
            let mut ways = vec![pen.escaped_zero(zero, next, flip), pen.arena.byte(other, next)];
            if flip {
                ways.reverse();
            }
            ways.insert(if reversed { 2 } else { 0 }, exit);
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

//! The keys of a layout as paths through a graph.
//!
//! Every argument list of a layout is one path from its first node to [`Node::End`], and two different argument
//! lists are two different paths, apart from what a lossy encoding or a hash merges. The bytes along a path are
//! the key. Where a layout cannot be drawn exactly the graph has *more* paths than the layout has keys, never
//! fewer: what is shown absent in the graph is absent in the layout.

mod build;
mod byteset;
mod digits;
mod numbers;
mod prefix;

use std::rc::Rc;

use crate::hash::{Map, Set};
use crate::sure::Sure as _;

pub(crate) use build::{Drawing, Precision, draw, numbers_of};
pub(crate) use byteset::ByteSet;
pub(crate) use numbers::{Numbers, UNLIMITED};
pub(crate) use prefix::Prefix;

/// The index of a node. A node's successors have smaller ones, but for the way back of a loop.
pub(crate) type NodeId = u32;

/// The end of every key.
pub(crate) const END: NodeId = 0;
/// The most ways without a byte that are listed one by one.
const MOST_WAYS: usize = 1_000;

/// How far two graphs are read side by side before a product is made of them.
const MOST_SIDE_BY_SIDE: usize = 256;

/// A node that leads nowhere.
pub(crate) const DEAD: NodeId = 1;

/// How many bytes, at least and at most, one of what is counted takes.
pub(crate) type Each = (u64, u64);

/// What a length counts.
pub(crate) const BYTES: Each = (1, 1);

/// A step along a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// The end of the key.
    End,
    /// One byte of a set.
    Byte { set: ByteSet, next: NodeId },
    /// As many bytes of a set as one of `counts`. Fewer bytes come first in logical order, or last if `reversed`.
    Run { set: ByteSet, counts: Numbers, next: NodeId, reversed: bool },
    /// A length, then as many bytes of a set; or a count, and `each` is how many bytes at least and at most it counts.
    Prefixed { prefix: Prefix, set: ByteSet, counts: Numbers, each: Each, next: NodeId },
    /// One of several ways on, in logical order.
    Split(Vec<NodeId>),
    /// The place before a segment of the key: where a scan's prefix may end.
    Mark { segment: u32, next: NodeId },
}

/// A node that reads bytes, or the end, reached without reading any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Core {
    /// Which node. A run of these reads at least one byte.
    pub(crate) node: NodeId,
    /// The ranks of the ways taken; the first difference tells which comes first in logical order.
    pub(crate) trail: Vec<u32>,
}

/// Everything that can come next at a node.
#[derive(Debug, Default)]
pub(crate) struct Closure {
    pub(crate) cores: Vec<Core>,
    /// The nodes that two ways lead to without reading a byte.
    pub(crate) twice: Vec<NodeId>,
}

/// Why a node is there: an id is given out with its node, and no node is taken away.
const NODE: &str = "a node of this arena";

/// Graphs that share their equal parts.
#[derive(Debug)]
pub(crate) struct Arena {
    nodes: Vec<Node>,
    index: Map<Node, NodeId>,
    closures: Vec<Option<Rc<Closure>>>,
    shortest: Vec<u64>,
    longest: Vec<u64>,
    /// Whether a drawing failed in a way that cannot be.
    pub(crate) broken: bool,
}

impl Arena {
    pub(crate) fn new() -> Self {
        let mut arena = Self {
            nodes: Vec::new(),
            index: Map::default(),
            closures: Vec::new(),
            shortest: Vec::new(),
            longest: Vec::new(),
            broken: false,
        };
        arena.add(Node::End);
        arena.add(Node::Split(Vec::new()));
        arena
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        self.nodes.get(id as usize).sure(NODE)
    }

    /// The fewest bytes from a node to the end; `u64::MAX` if there is no way.
    pub(crate) fn shortest(&self, id: NodeId) -> u64 {
        *self.shortest.get(id as usize).sure(NODE)
    }

    /// The most bytes from a node to the end; `u64::MAX` if there is no limit, or none is known.
    pub(crate) fn longest(&self, id: NodeId) -> u64 {
        *self.longest.get(id as usize).sure(NODE)
    }

    /// Whether two graphs come to bytes that differ before either has a choice: no key is then of both.
    ///
    /// It is the product of the two as far as that is a single chain of pairs, and costs next to nothing.
    pub(crate) fn part_early(&self, mut a: NodeId, mut b: NodeId) -> bool {
        for _ in 0..MOST_SIDE_BY_SIDE {
            (a, b) = (self.behind_marks(a), self.behind_marks(b));
            (a, b) = match (self.node(a), self.node(b)) {
                (Node::Byte { set: x, next: a }, Node::Byte { set: y, next: b }) if x.meets(*y) => (*a, *b),
                (Node::Byte { .. }, Node::Byte { .. } | Node::End) | (Node::End, Node::Byte { .. }) => {
                    return true;
                }
                // Both read bytes of the set up to the first that is not of it, and so equally many.
                (Node::Run { set: x, next: a, .. }, Node::Run { set: y, next: b, .. })
                    if x == y && self.begins_outside(*a, *x) && self.begins_outside(*b, *x) =>
                {
                    (*a, *b)
                }
                _ => return false,
            };
        }
        false
    }

    /// Whether what follows a run of a set can only begin with a byte that is not of it, or not at all.
    fn begins_outside(&self, id: NodeId, run: ByteSet) -> bool {
        match self.node(self.behind_marks(id)) {
            Node::End => true,
            Node::Byte { set, .. } => !set.meets(run),
            Node::Run { .. } | Node::Prefixed { .. } | Node::Split(_) | Node::Mark { .. } => false,
        }
    }

    fn behind_marks(&self, mut id: NodeId) -> NodeId {
        while let Node::Mark { next, .. } = self.node(id) {
            id = *next;
        }
        id
    }

    fn add(&mut self, node: Node) -> NodeId {
        if let Some(&id) = self.index.get(&node) {
            return id;
        }
        let id = self.push(node.clone());
        self.index.insert(node, id);
        id
    }

    fn push(&mut self, node: Node) -> NodeId {
        // More would not fit into memory.
        let id = u32::try_from(self.nodes.len()).sure("fewer than 2³² nodes");
        self.shortest.push(self.measure(&node));
        self.longest.push(self.measure_longest(&node));
        self.nodes.push(node);
        self.closures.push(None);
        id
    }

    fn measure(&self, node: &Node) -> u64 {
        match node {
            Node::End => 0,
            Node::Byte { next, .. } => self.shortest(*next).saturating_add(1),
            Node::Run { counts, next, .. } => {
                self.shortest(*next).saturating_add(counts.min().unwrap_or(u64::MAX))
            }
            Node::Prefixed { prefix, counts, each, next, .. } => {
                let least = counts.min().unwrap_or(u64::MAX);
                let contents = least.saturating_mul(each.0);
                self.shortest(*next).saturating_add(contents).saturating_add(prefix.width(least))
            }
            Node::Split(ways) => ways.iter().map(|&way| self.shortest(way)).min().unwrap_or(u64::MAX),
            Node::Mark { next, .. } => self.shortest(*next),
        }
    }

    fn measure_longest(&self, node: &Node) -> u64 {
        match node {
            Node::End => 0,
            Node::Byte { next, .. } => self.longest(*next).saturating_add(1),
            Node::Run { counts, next, .. } => {
                self.longest(*next).saturating_add(counts.max().unwrap_or(u64::MAX))
            }
            Node::Prefixed { prefix, counts, each, next, .. } => {
                let most = counts.max().unwrap_or(u64::MAX);
                let contents = most.saturating_mul(each.1);
                self.longest(*next).saturating_add(contents).saturating_add(prefix.width(most))
            }
            Node::Split(ways) => ways.iter().map(|&way| self.longest(way)).max().unwrap_or(0),
            Node::Mark { next, .. } => self.longest(*next),
        }
    }

    pub(crate) fn byte(&mut self, set: ByteSet, next: NodeId) -> NodeId {
        if set.is_empty() || next == DEAD { DEAD } else { self.add(Node::Byte { set, next }) }
    }

    pub(crate) fn literal(&mut self, bytes: &[u8], next: NodeId) -> NodeId {
        bytes.iter().rev().fold(next, |next, &byte| self.byte(ByteSet::of(byte), next))
    }

    pub(crate) fn run(&mut self, set: ByteSet, counts: Numbers, next: NodeId, reversed: bool) -> NodeId {
        let counts = if set.is_empty() { counts.intersection(&Numbers::one(0)) } else { counts };
        match counts.single() {
            _ if counts.is_empty() || next == DEAD => DEAD,
            Some(0) => next,
            Some(1) => self.byte(set, next),
            // One count has no order among counts, so equal runs are one node.
            Some(_) => self.add(Node::Run { set, counts, next, reversed: false }),
            None => self.add(Node::Run { set, counts, next, reversed }),
        }
    }

    pub(crate) fn prefixed(
        &mut self,
        prefix: Prefix,
        set: ByteSet,
        counts: &Numbers,
        next: NodeId,
    ) -> NodeId {
        let counts = counts.intersection(&Numbers::range(0, prefix.limit()));
        let counts = if set.is_empty() { counts.intersection(&Numbers::one(0)) } else { counts };
        match counts.single() {
            _ if counts.is_empty() || next == DEAD => DEAD,
            Some(count) => {
                let contents = self.run(set, counts, next, false);
                self.literal(&prefix.bytes(count), contents)
            }
            None => self.add(Node::Prefixed { prefix, set, counts, each: BYTES, next }),
        }
    }

    /// A count, and as many bytes of a set as so many of `each` may take.
    pub(crate) fn measured(
        &mut self,
        prefix: Prefix,
        set: ByteSet,
        counts: &Numbers,
        each: Each,
        next: NodeId,
    ) -> NodeId {
        let counts = counts.intersection(&Numbers::range(0, prefix.limit()));
        if counts.is_empty() || next == DEAD {
            return DEAD;
        }
        self.add(Node::Prefixed { prefix, set, counts, each, next })
    }

    /// One of `ways`, in logical order.
    pub(crate) fn split(&mut self, mut ways: Vec<NodeId>, reversed: bool) -> NodeId {
        ways.retain(|&way| way != DEAD);
        if reversed {
            ways.reverse();
        }
        match ways.as_slice() {
            [] => DEAD,
            [only] => *only,
            _ => self.add(Node::Split(ways)),
        }
    }

    pub(crate) fn mark(&mut self, segment: u32, next: NodeId) -> NodeId {
        if next == DEAD { DEAD } else { self.add(Node::Mark { segment, next }) }
    }

    /// A node that is given its ways on later, so that they may lead back to it.
    pub(crate) fn open_loop(&mut self, exit: NodeId) -> NodeId {
        // Until it is closed it has the way out, so that lengths measured through it are right.
        let id = self.push(Node::Split(vec![exit]));
        *self.longest.get_mut(id as usize).sure(NODE) = u64::MAX;
        id
    }

    /// Gives a loop its ways on.
    pub(crate) fn close_loop(&mut self, id: NodeId, mut ways: Vec<NodeId>, reversed: bool) {
        ways.retain(|&way| way != DEAD);
        if reversed {
            ways.reverse();
        }
        *self.nodes.get_mut(id as usize).sure(NODE) = Node::Split(ways);
    }

    /// Measures the nodes from `first` on again, now that every loop has all its ways.
    pub(crate) fn settle(&mut self, first: NodeId) {
        let all = first as usize..self.nodes.len();
        self.shortest.get_mut(all.clone()).sure(NODE).fill(u64::MAX);
        // The way back of a loop is never the shorter one, so that the second turn changes little and the third nothing.
        let mut changed = true;
        while changed {
            changed = false;
            for index in all.clone() {
                let least = self.measure(self.nodes.get(index).sure(NODE));
                let slot = self.shortest.get_mut(index).sure(NODE);
                if *slot != least {
                    *slot = least;
                    changed = true;
                }
            }
        }
    }

    /// What can come next at a node, marks being passed through.
    pub(crate) fn closure(&mut self, id: NodeId) -> Rc<Closure> {
        if let Some(Some(closure)) = self.closures.get(id as usize) {
            return Rc::clone(closure);
        }
        let closure = Rc::new(self.closure_to(id, None));
        *self.closures.get_mut(id as usize).sure(NODE) = Some(Rc::clone(&closure));
        closure
    }

    /// What can come next at a node; the mark at `stop` counts as a core of its own.
    pub(crate) fn closure_to(&self, id: NodeId, stop: Option<u32>) -> Closure {
        let mut closure = Closure::default();
        let mut seen: Set<NodeId> = Set::default();
        let mut waiting: Vec<(NodeId, Vec<u32>)> = vec![(id, Vec::new())];
        while let Some((id, trail)) = waiting.pop() {
            if !seen.insert(id) {
                closure.twice.push(id);
                continue;
            }
            let ranked = |rank: u32| {
                let mut trail = trail.clone();
                trail.push(rank);
                trail
            };
            match self.node(id) {
                Node::Split(ways) => {
                    for (rank, &way) in ways.iter().enumerate().rev() {
                        waiting.push((way, ranked(u32::try_from(rank).sure("fewer ways than nodes"))));
                    }
                }
                Node::Mark { segment, .. } if Some(*segment) == stop => {
                    closure.cores.push(Core { node: id, trail });
                }
                Node::Mark { next, .. } => waiting.push((*next, trail)),
                Node::Run { counts, next, reversed, .. } if counts.contains(0) => {
                    waiting.push((*next, ranked(if *reversed { 2 } else { 0 })));
                    closure.cores.push(Core { node: id, trail: ranked(1) });
                }
                Node::End | Node::Byte { .. } | Node::Run { .. } | Node::Prefixed { .. } => {
                    closure.cores.push(Core { node: id, trail });
                }
            }
        }
        closure
    }

    /// Every way to what can come next at a node, so that a core is listed once for each of its ways; `None` if there
    /// are too many, or a loop may be gone round without a byte.
    pub(crate) fn ways_to(&self, id: NodeId, stop: Option<u32>) -> Option<Vec<Core>> {
        let mut cores = Vec::new();
        let mut waiting: Vec<(NodeId, Vec<u32>, Vec<NodeId>)> = vec![(id, Vec::new(), Vec::new())];
        while let Some((id, trail, mut path)) = waiting.pop() {
            if path.contains(&id) || cores.len() + waiting.len() > MOST_WAYS {
                return None;
            }
            path.push(id);
            let ranked = |rank: u32| {
                let mut trail = trail.clone();
                trail.push(rank);
                trail
            };
            match self.node(id) {
                Node::Split(ways) => {
                    for (rank, &way) in ways.iter().enumerate().rev() {
                        waiting.push((
                            way,
                            ranked(u32::try_from(rank).sure("fewer ways than nodes")),
                            path.clone(),
                        ));
                    }
                }
                Node::Mark { segment, .. } if Some(*segment) == stop => cores.push(Core { node: id, trail }),
                Node::Mark { next, .. } => waiting.push((*next, trail, path)),
                Node::Run { counts, next, reversed, .. } if counts.contains(0) => {
                    waiting.push((*next, ranked(if *reversed { 2 } else { 0 }), path));
                    cores.push(Core { node: id, trail: ranked(1) });
                }
                Node::End | Node::Byte { .. } | Node::Run { .. } | Node::Prefixed { .. } => {
                    cores.push(Core { node: id, trail });
                }
            }
        }
        Some(cores)
    }

    /// The nodes that can be reached from `from`, not going on after the mark at `stop`; ascending.
    pub(crate) fn reachable(&self, from: NodeId, stop: Option<u32>) -> Vec<NodeId> {
        let mut seen: Set<NodeId> = Set::default();
        let mut found = Vec::new();
        let mut waiting = vec![from];
        while let Some(id) = waiting.pop() {
            if !seen.insert(id) {
                continue;
            }
            found.push(id);
            match self.node(id) {
                Node::End => {}
                Node::Mark { segment, .. } if Some(*segment) == stop => {}
                Node::Byte { next, .. }
                | Node::Run { next, .. }
                | Node::Prefixed { next, .. }
                | Node::Mark { next, .. } => waiting.push(*next),
                Node::Split(ways) => waiting.extend(ways),
            }
        }
        found.sort_unstable();
        found
    }

    /// The nodes of `nodes` at which a choice may be made: the first, and each that follows a node that reads.
    pub(crate) fn boundaries(&self, from: NodeId, nodes: &[NodeId]) -> Vec<NodeId> {
        let mut found = vec![from];
        for &id in nodes {
            match self.node(id) {
                Node::Byte { next, .. } | Node::Run { next, .. } | Node::Prefixed { next, .. } => {
                    found.push(*next);
                }
                Node::End | Node::Split(_) | Node::Mark { .. } => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The node after the mark of a segment on the way from `from`.
    pub(crate) fn behind_mark(&self, from: NodeId, segment: u32) -> Option<NodeId> {
        self.reachable(from, Some(segment)).into_iter().find_map(|id| match self.node(id) {
            Node::Mark { segment: found, next } if *found == segment => Some(*next),
            _ => None,
        })
    }
}

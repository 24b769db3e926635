//! Two graphs read side by side.
//!
//! [`Product`] answers whether two paths with the same bytes can reach a goal. It never says no when the answer is
//! yes; where sets of lengths grow too long it may say yes when the answer is no, so each yes is followed by a
//! [`search`] for the bytes themselves.

mod lengths;
mod partial;
pub(crate) mod search;

use std::collections::BinaryHeap;
use std::rc::Rc;

use crate::automaton::{Arena, ByteSet, Core, Each, Node, NodeId, Numbers, Prefix, UNLIMITED};
use crate::hash::Map;
use lengths::{Led, LengthLike};

/// What two paths are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// Both end with the same bytes.
    Meet,
    /// The first is before the mark of a segment, wherever the second is.
    Prefix {
        /// The segment.
        stop: u32,
    },
    /// The second, which comes later in logical order, comes first in byte order.
    Disorder {
        /// Where the second may end early: the mark of a segment.
        stop: Option<u32>,
    },
}

/// What came of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The goal cannot be reached.
    Never,
    /// The goal may be reached.
    Perhaps,
    /// Too many steps.
    Exhausted,
}

/// The steps that all proofs together may still take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) steps: u64,
}

impl Budget {
    pub(crate) fn spend(&mut self, steps: u64) {
        self.steps = self.steps.saturating_sub(steps);
    }

    /// Does something with no more than some of the steps.
    pub(crate) fn with_at_most<T>(&mut self, steps: u64, work: impl FnOnce(&mut Self) -> T) -> T {
        let given = self.steps.min(steps);
        let mut part = Self { steps: given };
        let result = work(&mut part);
        self.spend(given.saturating_sub(part.steps));
        result
    }

    pub(crate) fn is_spent(self) -> bool {
        self.steps == 0
    }
}

/// The most steps that other drawings of a layout may take, once the first has not told.
pub(crate) const MOST_OTHERWISE: u64 = 400_000;

/// The most steps of one product.
const MOST_STEPS: u64 = 100_000;

/// The most pairs of items that one product reads.
const MOST_WORK: u64 = 1_000_000;

/// How many stretches the set of a state may have before it is widened.
const MOST_STRETCHES: usize = 1 << 13;

/// How often a state may grow before its set is widened.
const MOST_VISITS: u32 = 96;

/// Where one side is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Place {
    /// Before a node.
    At(NodeId),
    /// Inside the run of a node; how much is left is in the state's set.
    Within(NodeId),
    /// Inside the length of a node, of `width` bytes of which `read` are read; which lengths is in the state's set.
    Length { node: NodeId, width: u8, read: u8 },
}

impl Place {
    fn node(self) -> NodeId {
        match self {
            Self::At(node) | Self::Within(node) | Self::Length { node, .. } => node,
        }
    }
}

/// What one side can read next.
#[derive(Clone, Debug)]
enum Item {
    End,
    Byte {
        set: ByteSet,
        next: NodeId,
    },
    /// `left` holds no 0.
    Run {
        node: NodeId,
        set: ByteSet,
        next: NodeId,
        left: Numbers,
    },
    Length {
        node: NodeId,
        prefix: Prefix,
        width: u8,
        read: u8,
        set: ByteSet,
        next: NodeId,
        counts: Numbers,
        each: Each,
    },
}

/// Where one side is after a byte.
#[derive(Clone, Debug)]
enum After {
    At(NodeId),
    Item(Item),
}

#[derive(Debug, Default)]
struct State {
    known: Numbers,
    fresh: Vec<Numbers>,
    /// For a state without a set: whether it was seen.
    seen: bool,
    queued: bool,
    visits: u32,
}

pub(crate) struct Product<'a> {
    arena: &'a mut Arena,
    goal: Goal,
    /// Whether both sides are of one graph and may change places.
    symmetric: bool,
    states: Map<(Place, Place), State>,
    queue: BinaryHeap<(u64, Place, Place)>,
    reached: bool,
    steps: u64,
    /// Pairs of items that were read; what is beyond the limit is not, and the product then knows nothing.
    work: u64,
    enumerated: u64,
    /// What two lengths that are read byte by byte lead to.
    read: Map<(LengthLike, LengthLike), Rc<[Led]>>,
    /// While two lengths are read: where they lead, which is told at once for all bytes.
    leading: Option<Vec<(Place, Place, Option<Numbers>)>>,
    stops: Map<NodeId, bool>,
    /// Where the first side goes on at the mark of a segment, instead of what follows there.
    detour: Option<Detour>,
}

/// Another way on at the mark of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detour {
    /// The segment.
    pub(crate) stop: u32,
    /// The first node of the other way, which comes to no mark.
    pub(crate) way: NodeId,
}

impl<'a> Product<'a> {
    pub(crate) fn new(arena: &'a mut Arena, goal: Goal) -> Self {
        Self {
            arena,
            goal,
            symmetric: false,
            states: Map::default(),
            queue: BinaryHeap::new(),
            reached: false,
            steps: 0,
            work: 0,
            enumerated: 0,
            read: Map::default(),
            leading: None,
            stops: Map::default(),
            detour: None,
        }
    }

    /// Both sides from the start.
    pub(crate) fn meeting(mut self, a: NodeId, b: NodeId, budget: &mut Budget) -> Outcome {
        self.push(Place::At(a), Place::At(b), None);
        self.run(budget)
    }

    /// One graph twice: two different paths that end with the same bytes.
    pub(crate) fn ambiguity(mut self, start: NodeId, budget: &mut Budget) -> Outcome {
        self.symmetric = true;
        let nodes = self.arena.reachable(start, None);
        for boundary in self.arena.boundaries(start, &nodes) {
            let closure = self.arena.closure(boundary);
            if !closure.twice.is_empty() {
                return Outcome::Perhaps;
            }
            for (index, a) in closure.cores.iter().enumerate() {
                if self.work > MOST_WORK {
                    break;
                }
                for b in closure.cores.iter().skip(index + 1) {
                    self.cores(a.node, b.node);
                }
            }
            if self.reached {
                return Outcome::Perhaps;
            }
        }
        for &id in &nodes {
            if let Some((next, apart)) = self.run_apart(id) {
                self.push(Place::At(next), Place::Within(id), Some(apart));
            }
        }
        self.run(budget)
    }

    /// One graph twice: the first up to the mark of a segment, the second with other bound arguments.
    pub(crate) fn siblings(mut self, start: NodeId, stop: u32, budget: &mut Budget) -> Outcome {
        let nodes = self.arena.reachable(start, Some(stop));
        for boundary in self.arena.boundaries(start, &nodes) {
            let closure = self.arena.closure_to(boundary, Some(stop));
            if !closure.twice.is_empty() {
                return Outcome::Perhaps;
            }
            for (index, a) in closure.cores.iter().enumerate() {
                // What is left out is not proved: too much work ends in no answer.
                if self.work > MOST_WORK {
                    break;
                }
                for b in closure.cores.iter().skip(index + 1) {
                    // One of them at the mark: the other goes on with the same prefix.
                    if self.is_stop(a.node, stop) || self.is_stop(b.node, stop) {
                        return Outcome::Perhaps;
                    }
                    self.cores(a.node, b.node);
                    self.cores(b.node, a.node);
                }
            }
        }
        for &id in &nodes {
            if let Some((next, apart)) = self.run_apart(id) {
                self.push(Place::At(next), Place::Within(id), Some(apart.clone()));
                self.push(Place::Within(id), Place::At(next), Some(apart));
            }
        }
        self.run(budget)
    }

    /// One graph twice: the first up to the mark of a segment and then along the detour, the second with other bound
    /// arguments; both end with the same bytes.
    pub(crate) fn beside(mut self, start: NodeId, detour: Detour, budget: &mut Budget) -> Outcome {
        self.detour = Some(detour);
        let nodes = self.arena.reachable(start, Some(detour.stop));
        for boundary in self.arena.boundaries(start, &nodes) {
            let closure = self.arena.closure_to(boundary, Some(detour.stop));
            if !closure.twice.is_empty() {
                return Outcome::Perhaps;
            }
            for (index, a) in closure.cores.iter().enumerate() {
                if self.work > MOST_WORK {
                    break;
                }
                let left = self.along(a.node);
                for (other, b) in closure.cores.iter().enumerate() {
                    if index == other {
                        continue;
                    }
                    let right: Vec<NodeId> = match self.arena.node(b.node) {
                        Node::Mark { next, .. } => {
                            self.arena.closure(*next).cores.iter().map(|core| core.node).collect()
                        }
                        _ => vec![b.node],
                    };
                    for &x in &left {
                        for &y in &right {
                            self.cores(x, y);
                        }
                    }
                }
            }
        }
        for &id in &nodes {
            if let Some((next, apart)) = self.run_apart(id) {
                self.push(Place::At(next), Place::Within(id), Some(apart.clone()));
                self.push(Place::Within(id), Place::At(next), Some(apart));
            }
        }
        self.run(budget)
    }

    /// What the first side reads at a core: at the mark of the detour, what begins that.
    fn along(&mut self, core: NodeId) -> Vec<NodeId> {
        match self.detour {
            Some(detour) if self.is_stop(core, detour.stop) => {
                self.arena.closure(detour.way).cores.iter().map(|core| core.node).collect()
            }
            _ => vec![core],
        }
    }

    /// One graph twice from the same place on: the paths part, and the one that comes later in logical order comes
    /// first in byte order. With a `stop`, only paths that part before that mark.
    pub(crate) fn disorder(mut self, start: NodeId, stop: Option<u32>, budget: &mut Budget) -> Outcome {
        let nodes = self.arena.reachable(start, stop);
        for boundary in self.arena.boundaries(start, &nodes) {
            let closure = self.arena.closure_to(boundary, stop);
            // Where two ways lead to one node, the order of each with the others counts.
            let cores = if closure.twice.is_empty() {
                closure.cores
            } else if let Some(cores) = self.arena.ways_to(boundary, stop) {
                cores
            } else {
                return Outcome::Perhaps;
            };
            for a in &cores {
                if self.work > MOST_WORK {
                    break;
                }
                for b in cores.iter().filter(|b| a.trail < b.trail) {
                    self.ordered_cores(a, b, stop);
                }
            }
        }
        for &id in &nodes {
            if let Some((next, apart)) = self.run_apart(id) {
                let reversed = matches!(self.arena.node(id), Node::Run { reversed: true, .. });
                let (exit, stay) = (Place::At(next), Place::Within(id));
                let (smaller, larger) = if reversed { (stay, exit) } else { (exit, stay) };
                self.push(smaller, larger, Some(apart));
            }
        }
        self.run(budget)
    }

    fn ordered_cores(&mut self, smaller: &Core, larger: &Core, stop: Option<u32>) {
        let behind = |product: &Self, core: &Core| match (product.arena.node(core.node), stop) {
            (Node::Mark { segment, next }, Some(stop)) if *segment == stop => Some(*next),
            _ => None,
        };
        match (behind(self, smaller), behind(self, larger)) {
            (_, Some(_)) => self.reached = true,
            (Some(next), None) => {
                let closure = self.arena.closure(next);
                for core in &closure.cores {
                    self.cores(core.node, larger.node);
                }
            }
            (None, None) => self.cores(smaller.node, larger.node),
        }
    }

    /// For a run of several counts: what follows it, and how much longer one of two equal beginnings may be. So it is with what a
    /// count is followed by, if it has no fixed length.
    fn run_apart(&self, id: NodeId) -> Option<(NodeId, Numbers)> {
        let (counts, next) = match self.arena.node(id) {
            Node::Run { counts, next, .. } => (counts.positive(), next),
            Node::Prefixed { counts, each: (least, most), next, .. } if least < most => {
                let apart = counts.max().unwrap_or(UNLIMITED).saturating_mul(most - least);
                return Some((*next, Numbers::range(1, apart)));
            }
            _ => return None,
        };
        let apart = counts.differences(&counts);
        (!apart.is_empty()).then_some((*next, apart))
    }

    fn is_stop(&self, id: NodeId, stop: u32) -> bool {
        matches!(self.arena.node(id), Node::Mark { segment, .. } if *segment == stop)
    }

    fn run(&mut self, budget: &mut Budget) -> Outcome {
        while let Some((_, a, b)) = self.queue.pop() {
            if self.reached {
                break;
            }
            self.steps += 1;
            if self.steps > MOST_STEPS || self.work > MOST_WORK || self.steps > budget.steps {
                budget.spend(self.steps + self.work);
                return Outcome::Exhausted;
            }
            let Some(state) = self.states.get_mut(&(a, b)) else {
                // What is queued has a state; were it not so, the product would know nothing.
                budget.spend(self.steps + self.work);
                return Outcome::Exhausted;
            };
            state.queued = false;
            let fresh = if matches!((a, b), (Place::At(_), Place::At(_))) {
                None
            } else {
                state.visits += 1;
                let fresh: Vec<(u64, u64)> =
                    state.fresh.drain(..).flat_map(|set| set.stretches().to_vec()).collect();
                let mut fresh = Numbers::from_stretches(fresh).minus(&state.known);
                if fresh.is_empty() {
                    continue;
                }
                let stretches = state.known.stretches().len() + fresh.stretches().len();
                if state.visits > MOST_VISITS || stretches > MOST_STRETCHES {
                    let hull = state.known.union(&fresh).hull();
                    let wide =
                        if state.visits > 4 * MOST_VISITS { Numbers::range(1, UNLIMITED) } else { hull };
                    fresh = wide.minus(&state.known);
                }
                state.known = state.known.union(&fresh);
                Some(fresh)
            };
            let left = match (self.detour, a) {
                (Some(detour), Place::At(id)) => {
                    let cores = self.arena.closure_to(id, Some(detour.stop)).cores;
                    let along: Vec<NodeId> = cores.iter().flat_map(|core| self.along(core.node)).collect();
                    Some(along.into_iter().flat_map(|core| self.core(core)).collect())
                }
                _ => self.items(a, fresh.as_ref()),
            };
            let (Some(left), Some(right)) = (left, self.items(b, fresh.as_ref())) else {
                // A place inside of a node is one of its kind; were it not so, a pair would be skipped and taken as read.
                budget.spend(self.steps + self.work);
                return Outcome::Exhausted;
            };
            for x in &left {
                for y in &right {
                    self.pair(x, y);
                }
            }
        }
        budget.spend(self.steps + self.work);
        match self.reached {
            true => Outcome::Perhaps,
            false if self.work > MOST_WORK => Outcome::Exhausted,
            false => Outcome::Never,
        }
    }

    /// What can be read next at a place; `None` if there is no such place.
    fn items(&mut self, place: Place, set: Option<&Numbers>) -> Option<Vec<Item>> {
        Some(match place {
            Place::At(id) => {
                let closure = self.arena.closure(id);
                closure.cores.iter().flat_map(|core| self.core(core.node)).collect()
            }
            Place::Within(id) => match self.arena.node(id) {
                Node::Run { set: class, next, .. } | Node::Prefixed { set: class, next, .. } => {
                    let left = set?.clone();
                    vec![Item::Run { node: id, set: *class, next: *next, left }]
                }
                _ => return None,
            },
            Place::Length { node, width, read } => match self.arena.node(node) {
                Node::Prefixed { prefix, set: class, each, next, .. } => {
                    // A widened set may hold lengths that are not lengths of the node.
                    let counts = set?.clone();
                    vec![Item::Length {
                        node,
                        prefix: *prefix,
                        width,
                        read,
                        set: *class,
                        next: *next,
                        counts,
                        each: *each,
                    }]
                }
                _ => return None,
            },
        })
    }

    /// What can be read at a node that a closure gave.
    fn core(&self, id: NodeId) -> Vec<Item> {
        match self.arena.node(id) {
            Node::End => vec![Item::End],
            Node::Byte { set, next } => vec![Item::Byte { set: *set, next: *next }],
            Node::Run { set, counts, next, .. } => {
                vec![Item::Run { node: id, set: *set, next: *next, left: counts.positive() }]
            }
            Node::Prefixed { prefix, set, counts, each, next } => prefix
                .forms(counts)
                .into_iter()
                .map(|(width, counts)| Item::Length {
                    node: id,
                    prefix: *prefix,
                    width,
                    read: 0,
                    set: *set,
                    next: *next,
                    counts,
                    each: *each,
                })
                .collect(),
            Node::Split(_) | Node::Mark { .. } => Vec::new(),
        }
    }

    fn cores(&mut self, a: NodeId, b: NodeId) {
        let (left, right) = (self.core(a), self.core(b));
        for x in &left {
            for y in &right {
                self.pair(x, y);
            }
        }
    }

    fn push(&mut self, a: Place, b: Place, set: Option<Numbers>) {
        if self.reached || set.as_ref().is_some_and(Numbers::is_empty) {
            return;
        }
        if let Some(leading) = &mut self.leading {
            leading.push((a, b, set));
            return;
        }
        match self.goal {
            // With a detour the first side does not end as the second does.
            Goal::Meet if a == b && self.detour.is_none() => {
                // Equal places in a run have different amounts left; anywhere else the two can end alike.
                self.reached |= matches!(a, Place::At(_));
            }
            Goal::Prefix { stop } => {
                if let Place::At(id) = a {
                    self.reached |= self.stops_at(id, stop);
                }
            }
            Goal::Disorder { stop: Some(stop) } => {
                if let Place::At(id) = b {
                    self.reached |= self.stops_at(id, stop);
                }
            }
            Goal::Meet | Goal::Disorder { stop: None } => {}
        }
        let (a, b) = if self.symmetric && b < a { (b, a) } else { (a, b) };
        let state = self.states.entry((a, b)).or_default();
        match set {
            Some(set) => state.fresh.push(set),
            None if state.seen => return,
            None => state.seen = true,
        }
        if !state.queued {
            state.queued = true;
            let weight = u64::from(a.node()) + u64::from(b.node());
            self.queue.push((weight, a, b));
        }
    }

    /// Whether the mark of `stop` can be reached from a node without reading a byte.
    fn stops_at(&mut self, id: NodeId, stop: u32) -> bool {
        if let Some(&known) = self.stops.get(&id) {
            return known;
        }
        let closure = self.arena.closure_to(id, Some(stop));
        let found = closure.cores.iter().any(|core| self.is_stop(core.node, stop));
        self.stops.insert(id, found);
        found
    }

    /// Lets both sides read what they can read alike.
    fn pair(&mut self, x: &Item, y: &Item) {
        self.work += 1 + (stretches(x) + stretches(y)) / 16;
        if self.reached || self.work > MOST_WORK {
            return;
        }
        if let Goal::Disorder { .. } = self.goal
            && Self::disordered(x, y)
        {
            self.reached = true;
            return;
        }
        match (x, y) {
            (Item::End, Item::End) => self.reached |= self.goal == Goal::Meet,
            (Item::End, _) | (_, Item::End) => {}
            (Item::Run { set, .. }, Item::Run { set: other, .. }) => {
                if set.meets(*other) {
                    self.runs(x, y);
                }
            }
            (Item::Length { .. }, Item::Length { .. }) if self.in_step(x, y) => {}
            (Item::Length { .. }, Item::Length { .. }) => self.lengths(x, y),
            _ => {
                let common = first(x).and(first(y));
                if !common.is_empty() {
                    for a in after(x, common) {
                        for b in after(y, common) {
                            self.afters(a.clone(), b);
                        }
                    }
                }
            }
        }
    }

    fn afters(&mut self, a: After, b: After) {
        match (a, b) {
            (After::At(a), After::At(b)) => self.push(Place::At(a), Place::At(b), None),
            (After::At(a), After::Item(item)) => {
                if let Some((place, set)) = place_of(item) {
                    self.push(Place::At(a), place, Some(set));
                }
            }
            (After::Item(item), After::At(b)) => {
                if let Some((place, set)) = place_of(item) {
                    self.push(place, Place::At(b), Some(set));
                }
            }
            (After::Item(x), After::Item(y)) => self.pair(&x, &y),
        }
    }

    /// Two runs whose sets meet: they end together, or one has a rest.
    fn runs(&mut self, x: &Item, y: &Item) {
        let (
            Item::Run { node: first, next: after_first, left: m, .. },
            Item::Run { node: second, next: after_second, left: n, .. },
        ) = (x, y)
        else {
            return;
        };
        self.work += (m.stretches().len() as u64).saturating_mul(n.stretches().len() as u64) / 8;
        if self.work > MOST_WORK {
            return;
        }
        if m.meets(n) {
            self.push(Place::At(*after_first), Place::At(*after_second), None);
        }
        self.push(Place::Within(*first), Place::At(*after_second), Some(m.differences(n)));
        self.push(Place::At(*after_first), Place::Within(*second), Some(n.differences(m)));
    }

    /// Whether the smaller of two can come after the larger in byte order.
    fn disordered(smaller: &Item, larger: &Item) -> bool {
        match (smaller, larger) {
            (Item::End, _) => false,
            (_, Item::End) => true,
            _ => first(smaller).max() > first(larger).min(),
        }
    }
}

fn place_of(item: Item) -> Option<(Place, Numbers)> {
    match item {
        Item::Run { node, left, .. } => Some((Place::Within(node), left)),
        Item::Length { node, width, read, counts, .. } => Some((Place::Length { node, width, read }, counts)),
        Item::End | Item::Byte { .. } => None,
    }
}

/// How many stretches the set of an item has.
fn stretches(item: &Item) -> u64 {
    match item {
        Item::End | Item::Byte { .. } => 0,
        Item::Run { left: set, .. } | Item::Length { counts: set, .. } => set.stretches().len() as u64,
    }
}

/// The bytes that an item may begin with.
fn first(item: &Item) -> ByteSet {
    match item {
        Item::End => ByteSet::EMPTY,
        Item::Byte { set, .. } | Item::Run { set, .. } => *set,
        Item::Length { prefix, width, read, counts, .. } => prefix.values(*width, *read, counts),
    }
}

/// Where an item is after a byte of `set`, which it may begin with.
fn after(item: &Item, set: ByteSet) -> Vec<After> {
    let run = |node: NodeId, class: ByteSet, next: NodeId, left: &Numbers| {
        let mut all = Vec::new();
        if left.contains(0) {
            all.push(After::At(next));
        }
        let left = left.positive();
        if !left.is_empty() {
            all.push(After::Item(Item::Run { node, set: class, next, left }));
        }
        all
    };
    match item {
        Item::End => Vec::new(),
        Item::Byte { next, .. } => vec![After::At(*next)],
        Item::Run { node, set: class, next, left } => run(*node, *class, *next, &left.lowered(1)),
        Item::Length { node, prefix, width, read, set: class, next, counts, each } => {
            let counts = prefix.filter(*width, *read, counts, set);
            if counts.is_empty() {
                return Vec::new();
            }
            let read = read + 1;
            if read == *width {
                return run(*node, *class, *next, &counts.times(*each));
            }
            vec![After::Item(Item::Length {
                node: *node,
                prefix: *prefix,
                width: *width,
                read,
                set: *class,
                next: *next,
                counts,
                each: *each,
            })]
        }
    }
}

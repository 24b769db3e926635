//! The bytes after a yes: the shortest first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::partial::{extended, greatest_count, least_count, next_bytes};
use super::{Detour, Goal};
use crate::automaton::{Arena, ByteSet, Node, NodeId, UNLIMITED};
use crate::hash::{Map, Set};
use crate::sure::Sure as _;

/// The most places that one search looks at.
const MOST_PLACES: usize = 20_000;

/// The most places that one search keeps in mind.
const MOST_KEPT: usize = 80_000;

/// The most places that one search notes at all. Those beyond it are dropped: a witness may then not be found, or not be a
/// shortest one.
const MOST_NOTED: usize = 400_000;

/// The longest witness that is looked for.
const LONGEST: u64 = 70_000;

/// Bytes that reach a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// What both sides begin with.
    pub(crate) common: Vec<u8>,
    /// What the first side goes on with.
    pub(crate) first: Vec<u8>,
    /// What the second side goes on with.
    pub(crate) second: Vec<u8>,
}

/// Where one side is, with every count known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Spot {
    End,
    /// At the mark where the first side stops.
    Stop(NodeId),
    Byte(NodeId),
    /// In a run of which so many bytes are read.
    Run(NodeId, u64),
    /// In a length of which so many bytes are read, which stand for this number so far.
    Length(NodeId, u8, u64),
    /// In contents of which so many bytes are left.
    Contents(NodeId, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Pair {
    /// Both sides have taken the same path so far.
    Same(Spot),
    Two(Spot, Spot),
    /// Two ways lead to this node without a byte between them.
    Twice(NodeId),
    /// The first side goes on with a greater byte than the second, though it comes before it in logical order.
    Wrong {
        smaller: Spot,
        larger: Spot,
        high: u8,
        low: u8,
    },
}

/// The shortest bytes from a node to the end.
pub(crate) fn shortest_word(arena: &mut Arena, start: NodeId) -> Vec<u8> {
    Search::new(arena, Goal::Meet, Parting::Never).complete(start)
}

struct Step {
    pair: Pair,
    cost: u64,
    parent: usize,
    /// What was read since, so many times.
    byte: u8,
    times: u64,
}

/// Which paths may part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parting {
    /// They are of two graphs.
    Never,
    /// In either order.
    Any,
    /// The first comes before the second in logical order.
    Ordered,
}

pub(crate) struct Search<'a> {
    arena: &'a mut Arena,
    goal: Goal,
    parting: Parting,
    steps: Vec<Step>,
    queue: BinaryHeap<Reverse<(u64, u64, usize)>>,
    seen: Set<Pair>,
    /// The fewest bytes from a node of the first side to its stop.
    to_stop: Map<NodeId, u64>,
    /// Where the first side goes on at its stop.
    detour: Option<Detour>,
}

impl<'a> Search<'a> {
    fn new(arena: &'a mut Arena, goal: Goal, parting: Parting) -> Self {
        Self {
            arena,
            goal,
            parting,
            steps: Vec::new(),
            queue: BinaryHeap::new(),
            seen: Set::default(),
            to_stop: Map::default(),
            detour: None,
        }
    }

    /// Measures how far each node before the stop is from it.
    fn measure(&mut self, start: NodeId) {
        let Some(stop) = self.stop() else { return };
        for id in self.arena.reachable(start, Some(stop)) {
            let to = |next: &NodeId| self.to_stop.get(next).copied().unwrap_or(u64::MAX);
            let distance = match self.arena.node(id) {
                Node::End => u64::MAX,
                Node::Mark { segment, .. } if *segment == stop => 0,
                Node::Mark { next, .. } => to(next),
                Node::Byte { next, .. } => to(next).saturating_add(1),
                Node::Run { counts, next, .. } => to(next).saturating_add(counts.min().unwrap_or(u64::MAX)),
                Node::Prefixed { prefix, counts, next, .. } => {
                    let least = counts.min().unwrap_or(u64::MAX);
                    to(next).saturating_add(least).saturating_add(prefix.width(least))
                }
                // The way back of a loop is not known yet, and never the shorter one.
                Node::Split(ways) => ways.iter().map(to).min().unwrap_or(u64::MAX),
            };
            self.to_stop.insert(id, distance);
        }
    }

    /// The fewest bytes from a spot of the first side to its stop.
    fn until_stop(&self, spot: Spot) -> u64 {
        let to = |next: NodeId| self.to_stop.get(&next).copied().unwrap_or(u64::MAX);
        match spot {
            Spot::Stop(_) => 0,
            Spot::End => u64::MAX,
            Spot::Byte(id) => to(id),
            spot => {
                let (Node::Run { next, .. } | Node::Prefixed { next, .. }) = self.arena.node(spot_node(spot))
                else {
                    return 0;
                };
                let own = self.rest(spot).saturating_sub(self.arena.shortest(*next));
                own.saturating_add(to(*next))
            }
        }
    }

    /// Paths of two graphs.
    pub(crate) fn of_two(arena: &'a mut Arena, goal: Goal, a: NodeId, b: NodeId) -> Self {
        let mut search = Self::new(arena, goal, Parting::Never);
        search.measure(a);
        let (left, right) = (search.entry(a, search.stop()), search.entry(b, None));
        for (x, _) in &left.0 {
            for (y, _) in &right.0 {
                search.push(Pair::Two(*x, *y), 0, usize::MAX, 0);
            }
        }
        search
    }

    /// Two paths of one graph.
    pub(crate) fn of_one(arena: &'a mut Arena, goal: Goal, start: NodeId) -> Self {
        let parting = if let Goal::Disorder { .. } = goal { Parting::Ordered } else { Parting::Any };
        let mut search = Self::new(arena, goal, parting);
        search.measure(start);
        let (options, twice) = search.entry(start, search.stop());
        search.part(&options, &twice, 0, usize::MAX, 0);
        search
    }

    /// Two paths of one graph that part before the mark where the first takes the detour.
    pub(crate) fn beside(arena: &'a mut Arena, start: NodeId, detour: Detour) -> Self {
        let mut search = Self::new(arena, Goal::Meet, Parting::Any);
        search.detour = Some(detour);
        search.measure(start);
        let (options, twice) = search.entry(start, search.stop());
        search.part(&options, &twice, 0, usize::MAX, 0);
        search
    }

    fn stop(&self) -> Option<u32> {
        match self.goal {
            Goal::Prefix { stop } => Some(stop),
            Goal::Meet | Goal::Disorder { .. } => self.detour.map(|detour| detour.stop),
        }
    }

    /// Where the first side may be: instead of at its stop, on the detour if there is one.
    fn along(&mut self, spot: Spot) -> Vec<Spot> {
        match (spot, self.detour) {
            (Spot::Stop(_), Some(detour)) => {
                self.entry(detour.way, None).0.into_iter().map(|(spot, _)| spot).collect()
            }
            _ => vec![spot],
        }
    }

    /// Whether the first side has its stop still before it, and takes the detour there.
    fn before_detour(&self, spot: Spot) -> Option<Detour> {
        self.detour.filter(|_| spot != Spot::End && self.to_stop.contains_key(&spot_node(spot)))
    }

    /// The fewest bytes from a spot of the first side to its end.
    fn rest_of_first(&self, spot: Spot) -> u64 {
        match self.before_detour(spot) {
            Some(detour) => self.until_stop(spot).saturating_add(self.arena.shortest(detour.way)),
            None => self.rest(spot),
        }
    }

    /// The most bytes from a spot of the first side to its end, or more.
    fn most_of_first(&self, spot: Spot) -> u64 {
        if self.before_detour(spot).is_some() { u64::MAX } else { self.most(spot) }
    }

    /// How many steps it took so far.
    pub(crate) fn cost(&self) -> u64 {
        self.steps.len() as u64
    }

    /// The next bytes that reach the goal, shortest first.
    pub(crate) fn next(&mut self) -> Option<Found> {
        while let Some(Reverse((_, _, index))) = self.queue.pop() {
            let &Step { pair, cost, .. } = self.steps.get(index).sure("what is queued is a step");
            if let Some(found) = self.goal_of(pair, index) {
                return Some(found);
            }
            if self.steps.len() > MOST_KEPT || self.seen.len() > MOST_PLACES || !self.seen.insert(pair) {
                continue;
            }
            self.expand(pair, cost, index);
        }
        None
    }

    fn goal_of(&mut self, pair: Pair, index: usize) -> Option<Found> {
        let (first, second) = match (pair, self.goal) {
            (Pair::Twice(node), _) => {
                let rest = self.complete(node);
                (rest.clone(), rest)
            }
            (Pair::Two(Spot::End, Spot::End), Goal::Meet) => (Vec::new(), Vec::new()),
            (Pair::Two(Spot::Stop(_), spot), Goal::Prefix { .. }) => (Vec::new(), self.finish(spot)),
            (Pair::Two(smaller, Spot::End), Goal::Disorder { .. }) if smaller != Spot::End => {
                (self.finish(smaller), Vec::new())
            }
            (Pair::Wrong { smaller, larger, high, low }, _) => {
                (self.finish_with(smaller, high), self.finish_with(larger, low))
            }
            _ => return None,
        };
        Some(Found { common: self.word(index), first, second })
    }

    /// The bytes that lead to the shortest pair of which the smaller has the greater, and how long the longer is.
    fn disorder(&mut self, smaller: Spot, larger: Spot) -> Option<(u64, u8, u8)> {
        let (highs, lows) = (self.first(smaller), self.first(larger));
        let above = |low: u8| low.checked_add(1).map_or(ByteSet::EMPTY, |from| ByteSet::range(from, 255));
        if !matches!(smaller, Spot::Length(..)) && !matches!(larger, Spot::Length(..)) {
            // Whatever the bytes, the rest is as long.
            let printable = ByteSet::range(b'!', b'~');
            let pair = |highs: ByteSet, lows: ByteSet| {
                let simplest = lows.simplest().filter(|&low| highs.meets(above(low)));
                let low = simplest.or_else(|| lows.min())?;
                let highs = highs.and(above(low));
                Some((if low == 0 { highs.min() } else { highs.simplest() }?, low))
            };
            let plain = if lows == ByteSet::FULL || highs == ByteSet::FULL {
                None
            } else {
                pair(highs.and(printable), lows.and(printable))
            };
            let (high, low) = plain.or_else(|| pair(highs, lows))?;
            return Some((self.rest(smaller).max(self.rest(larger)), high, low));
        }
        let costs = |search: &mut Self, spot: Spot, set: ByteSet| -> Vec<(u64, u8)> {
            set.iter().map(|byte| (search.rest_with(spot, byte), byte)).collect()
        };
        let (highs, lows) = (costs(self, smaller, highs), costs(self, larger, lows));
        let pairs = lows.iter().flat_map(|&(behind, low)| {
            let highs = highs.iter().filter(move |(_, high)| *high > low);
            highs.map(move |&(rest, high)| (rest.max(behind), high, low))
        });
        pairs.min_by_key(|&(length, _, _)| length)
    }

    /// The fewest bytes to the end that begin with `byte`.
    fn rest_with(&mut self, spot: Spot, byte: u8) -> u64 {
        let options = self.after(spot, byte, None).0;
        options.into_iter().map(|(spot, _)| self.rest(spot)).min().unwrap_or(u64::MAX).saturating_add(1)
    }

    fn word(&self, mut index: usize) -> Vec<u8> {
        let mut word = Vec::new();
        while let Some(step) = self.steps.get(index) {
            if step.parent == usize::MAX {
                break;
            }
            word.extend((0..step.times).map(|_| step.byte));
            index = step.parent;
        }
        word.reverse();
        word
    }

    fn push(&mut self, pair: Pair, cost: u64, parent: usize, byte: u8) {
        if self.steps.len() >= MOST_NOTED || self.part_at_once(pair) {
            return;
        }
        let before = self.steps.get(parent).map_or(0, |step| step.cost);
        let times = cost.saturating_sub(before);
        let rest = match (pair, self.goal) {
            (Pair::Twice(node), _) => self.arena.shortest(node),
            (Pair::Same(spot), _) => {
                if self.stop().is_some() {
                    0
                } else {
                    self.rest(spot)
                }
            }
            (Pair::Two(a, b), Goal::Prefix { .. }) => {
                let distance = self.until_stop(a);
                // The second side has to last until the first one stops.
                if self.most(b) < distance {
                    return;
                }
                self.rest_beside(b, a).max(distance)
            }
            (Pair::Two(a, b), _) => {
                let first = self.rest_of_first(a);
                let first =
                    if self.before_detour(a).is_none() { first.max(self.rest_beside(a, b)) } else { first };
                first.max(self.rest_beside(b, a))
            }
            (Pair::Wrong { smaller, larger, high, low }, _) => {
                self.rest_with(smaller, high).max(self.rest_with(larger, low))
            }
        };
        let total = cost.saturating_add(rest);
        if let (Pair::Two(a, b), Goal::Meet) = (pair, self.goal)
            && (self.rest_of_first(a) > self.most(b) || self.rest(b) > self.most_of_first(a))
        {
            return;
        }
        if total > LONGEST || (self.seen.contains(&pair)) {
            return;
        }
        let index = self.steps.len();
        self.steps.push(Step { pair, cost, parent, byte, times });
        self.queue.push(Reverse((total, rest, index)));
    }

    /// Whether two sides read different bytes next, so that they never come to the goal together.
    fn part_at_once(&self, pair: Pair) -> bool {
        let (Pair::Two(Spot::Byte(a), Spot::Byte(b)), Goal::Meet | Goal::Prefix { .. }) = (pair, self.goal)
        else {
            return false;
        };
        match (self.arena.node(a), self.arena.node(b)) {
            (Node::Byte { set, .. }, Node::Byte { set: other, .. }) => !set.meets(*other),
            _ => false,
        }
    }

    fn expand(&mut self, pair: Pair, cost: u64, index: usize) {
        match pair {
            Pair::Twice(_) | Pair::Wrong { .. } => {}
            Pair::Same(spot) => {
                let skip = self.steady(spot).map_or(0, |left| left - 1);
                let (spot, cost) = (Self::advanced(spot, skip), cost + skip);
                // What follows a part that both share does not depend on it: the simplest will do.
                if let Some(byte) = self.next_byte(spot) {
                    let (options, twice) = self.after(spot, byte, self.stop());
                    self.part(&options, &twice, cost + 1, index, byte);
                }
            }
            Pair::Two(a, b) => {
                if let Goal::Disorder { .. } = self.goal
                    && let Some((_, high, low)) = self.disorder(a, b)
                {
                    self.push(Pair::Wrong { smaller: a, larger: b, high, low }, cost, index, 0);
                }
                let common = self.first(a).and(self.first(b));
                let each = matches!(a, Spot::Length(..)) || matches!(b, Spot::Length(..));
                // Where neither side has a choice, all bytes but the last are read at once.
                let skip = self.steady(a).zip(self.steady(b)).map_or(0, |(left, other)| left.min(other) - 1);
                let (a, b, cost) = (Self::advanced(a, skip), Self::advanced(b, skip), cost + skip);
                for byte in Self::bytes(common, each) {
                    let left = self.after(a, byte, self.stop());
                    let right = self.after(b, byte, None);
                    for (x, _) in left.0 {
                        for x in self.along(x) {
                            for (y, _) in &right.0 {
                                self.push(Pair::Two(x, *y), cost + 1, index, byte);
                            }
                        }
                    }
                }
            }
        }
    }

    /// How many bytes of one set a side reads before it has a choice again.
    fn steady(&self, spot: Spot) -> Option<u64> {
        match spot {
            Spot::Contents(_, left) => Some(left),
            Spot::Run(id, read) => match self.arena.node(id) {
                Node::Run { counts, .. } => {
                    // Up to the next count at which it may end.
                    counts.at_least(read + 1).map(|count| count - read)
                }
                _ => None,
            },
            _ => None,
        }
        .filter(|&left| left > 0)
    }

    /// The spot after so many bytes, none of which ends its run.
    fn advanced(spot: Spot, by: u64) -> Spot {
        match spot {
            Spot::Contents(id, left) => Spot::Contents(id, left.saturating_sub(by)),
            Spot::Run(id, read) => Spot::Run(id, read.saturating_add(by)),
            spot => spot,
        }
    }

    /// The bytes to try: each of them where they matter, else the simplest.
    fn bytes(set: ByteSet, each: bool) -> Vec<u8> {
        if each { set.iter().collect() } else { set.simplest().into_iter().collect() }
    }

    /// Both sides took one path up to here: they go on together, or part.
    fn part(&mut self, options: &[(Spot, Vec<u32>)], twice: &[NodeId], cost: u64, parent: usize, byte: u8) {
        for &node in twice {
            if matches!(self.goal, Goal::Disorder { .. }) || self.detour.is_some() {
                // Ways that are too many to list: either may be the smaller one, and anything may follow on it.
                let firsts = self.entry(node, self.detour.map(|detour| detour.stop)).0;
                let options = self.entry(node, None).0;
                for (x, _) in firsts {
                    for x in self.along(x) {
                        for (y, _) in &options {
                            self.push(Pair::Two(x, *y), cost, parent, byte);
                        }
                    }
                }
            } else {
                self.push(Pair::Twice(node), cost, parent, byte);
            }
        }
        for (x, trail) in options {
            if !matches!(x, Spot::End | Spot::Stop(_)) {
                self.push(Pair::Same(*x), cost, parent, byte);
            }
            for (y, other) in options {
                let parts = match self.parting {
                    Parting::Never => false,
                    Parting::Any => x != y,
                    Parting::Ordered => trail < other,
                };
                if !parts {
                    continue;
                }
                let seconds: Vec<Spot> = match y {
                    // The second side does not stop: it goes on after the mark.
                    Spot::Stop(mark) => self.entry(*mark, None).0.into_iter().map(|(y, _)| y).collect(),
                    y => vec![*y],
                };
                for x in self.along(*x) {
                    for &y in &seconds {
                        self.push(Pair::Two(x, y), cost, parent, byte);
                    }
                }
            }
        }
    }

    /// What can come next at a node, each with the ranks of its ways.
    fn entry(&mut self, id: NodeId, stop: Option<u32>) -> (Vec<(Spot, Vec<u32>)>, Vec<NodeId>) {
        let spots = |arena: &Arena, cores: &[crate::automaton::Core]| {
            let spot = |core: &crate::automaton::Core| {
                let node = core.node;
                Some(match arena.node(node) {
                    Node::End => Spot::End,
                    Node::Byte { .. } => Spot::Byte(node),
                    Node::Run { .. } => Spot::Run(node, 0),
                    Node::Prefixed { .. } => Spot::Length(node, 0, 0),
                    Node::Mark { next, .. } => Spot::Stop(*next),
                    Node::Split(_) => return None,
                })
            };
            cores.iter().filter_map(|core| Some((spot(core)?, core.trail.clone()))).collect()
        };
        if stop.is_none() {
            let closure = self.arena.closure(id);
            if self.parting == Parting::Ordered && !closure.twice.is_empty() {
                // Each way has its own place in the order.
                if let Some(cores) = self.arena.ways_to(id, None) {
                    return (spots(self.arena, &cores), Vec::new());
                }
            }
            return (spots(self.arena, &closure.cores), closure.twice.clone());
        }
        let closure = self.arena.closure_to(id, stop);
        (spots(self.arena, &closure.cores), closure.twice.clone())
    }

    fn first(&self, spot: Spot) -> ByteSet {
        match spot {
            Spot::End | Spot::Stop(_) => ByteSet::EMPTY,
            Spot::Byte(id) | Spot::Run(id, _) | Spot::Contents(id, _) => match self.arena.node(id) {
                Node::Byte { set, .. } | Node::Run { set, .. } | Node::Prefixed { set, .. } => *set,
                _ => ByteSet::EMPTY,
            },
            Spot::Length(id, read, value) => match self.arena.node(id) {
                Node::Prefixed { prefix, counts, .. } => next_bytes(*prefix, counts, read, value),
                _ => ByteSet::EMPTY,
            },
        }
    }

    /// The fewest bytes to the end.
    fn rest(&self, spot: Spot) -> u64 {
        let rest = match spot {
            Spot::End => Some(0),
            Spot::Stop(id) | Spot::Byte(id) => Some(self.arena.shortest(id)),
            Spot::Run(id, read) => match self.arena.node(id) {
                Node::Run { counts, next, .. } => counts
                    .at_least(read + 1)
                    .map(|count| (count - read).saturating_add(self.arena.shortest(*next))),
                _ => None,
            },
            Spot::Contents(id, left) => match self.arena.node(id) {
                Node::Prefixed { next, .. } => Some(left.saturating_add(self.arena.shortest(*next))),
                _ => None,
            },
            Spot::Length(id, read, value) => match self.arena.node(id) {
                Node::Prefixed { prefix, counts, next, .. } => {
                    least_count(*prefix, counts, read, value).map(|count| {
                        let left = prefix.width(count).saturating_sub(read.into());
                        left.saturating_add(count).saturating_add(self.arena.shortest(*next))
                    })
                }
                _ => None,
            },
        };
        rest.unwrap_or(u64::MAX)
    }

    /// The same beside another side, which reads the same bytes: where only the highest byte of a little-endian length is left, it is
    /// one of those that the other side reads next, and the length is at least so great.
    fn rest_beside(&self, spot: Spot, other: Spot) -> u64 {
        let rest = self.rest(spot);
        let Spot::Length(id, read, value) = spot else { return rest };
        let Node::Prefixed { prefix, next, .. } = self.arena.node(id) else { return rest };
        let last = prefix.width.fixed() == Some(usize::from(read) + 1);
        let ends = matches!(other, Spot::End | Spot::Stop(_)) || matches!(self.goal, Goal::Disorder { .. });
        if !last || ends || !prefix.width.is_little_endian() {
            return rest;
        }
        let set = self.first(other);
        let Some(byte) = (if prefix.flipped { set.max() } else { set.min() }) else { return u64::MAX };
        let (count, _) = extended(*prefix, read, value, byte);
        rest.max(count.saturating_add(1).saturating_add(self.arena.shortest(*next)))
    }

    /// The most bytes to the end, or more.
    fn most(&self, spot: Spot) -> u64 {
        match spot {
            Spot::End => 0,
            Spot::Stop(id) | Spot::Byte(id) => self.arena.longest(id),
            Spot::Run(id, read) => self.arena.longest(id).saturating_sub(read),
            Spot::Contents(id, left) => match self.arena.node(id) {
                Node::Prefixed { next, .. } => left.saturating_add(self.arena.longest(*next)),
                _ => u64::MAX,
            },
            Spot::Length(id, read, value) => match self.arena.node(id) {
                Node::Prefixed { prefix, counts, next, .. } => {
                    let most = greatest_count(*prefix, counts, read, value);
                    let left = prefix.width(most).saturating_sub(read.into());
                    left.saturating_add(most).saturating_add(self.arena.longest(*next))
                }
                _ => u64::MAX,
            },
        }
    }

    /// Where a side may be after a byte that it may begin with.
    fn after(&mut self, spot: Spot, byte: u8, stop: Option<u32>) -> (Vec<(Spot, Vec<u32>)>, Vec<NodeId>) {
        match spot {
            Spot::End | Spot::Stop(_) => (Vec::new(), Vec::new()),
            Spot::Byte(id) => match self.arena.node(id) {
                Node::Byte { next, .. } => self.entry(*next, stop),
                _ => (Vec::new(), Vec::new()),
            },
            Spot::Contents(id, left) => match self.arena.node(id) {
                Node::Prefixed { next, .. } if left <= 1 => self.entry(*next, stop),
                _ => (vec![(Spot::Contents(id, left - 1), Vec::new())], Vec::new()),
            },
            Spot::Run(id, read) => {
                let Node::Run { counts, next, reversed, .. } = self.arena.node(id) else {
                    return (Vec::new(), Vec::new());
                };
                let (next, read, exit) = (*next, read + 1, if *reversed { 2 } else { 0 });
                let mut options = Vec::new();
                if counts.at_least(read + 1).is_some() {
                    // Behind the last bound all counts are alike.
                    let read = match counts.stretches().last() {
                        Some((first, UNLIMITED)) => read.min((*first).max(1)),
                        _ => read,
                    };
                    options.push((Spot::Run(id, read), vec![1]));
                }
                let mut twice = Vec::new();
                if counts.contains(read) {
                    let (behind, again) = self.entry(next, stop);
                    twice = again;
                    options.extend(behind.into_iter().map(|(spot, mut trail)| {
                        trail.insert(0, exit);
                        (spot, trail)
                    }));
                }
                (options, twice)
            }
            Spot::Length(id, read, value) => {
                let Node::Prefixed { prefix, counts, next, .. } = self.arena.node(id) else {
                    return (Vec::new(), Vec::new());
                };
                let next = *next;
                let (value, done) = extended(*prefix, read, value, byte);
                if !done {
                    return (vec![(Spot::Length(id, read + 1, value), Vec::new())], Vec::new());
                }
                if !counts.contains(value) {
                    return (Vec::new(), Vec::new());
                }
                if value == 0 {
                    return self.entry(next, stop);
                }
                (vec![(Spot::Contents(id, value), Vec::new())], Vec::new())
            }
        }
    }

    /// The shortest bytes from a node to the end.
    fn complete(&mut self, id: NodeId) -> Vec<u8> {
        let options = self.entry(id, None).0;
        self.finish_one_of(options)
    }

    fn finish_one_of(&mut self, options: Vec<(Spot, Vec<u32>)>) -> Vec<u8> {
        let best = options.into_iter().map(|(spot, _)| spot).min_by_key(|&spot| self.rest(spot));
        best.map_or_else(Vec::new, |spot| self.finish(spot))
    }

    /// The shortest bytes from a spot to the end.
    fn finish(&mut self, mut spot: Spot) -> Vec<u8> {
        let mut word = Vec::new();
        // Each turn reads a byte, and the rest gets shorter with each.
        while let Some(byte) = self.next_byte(spot) {
            if word.len() as u64 > LONGEST {
                break;
            }
            word.push(byte);
            let options = self.after(spot, byte, None).0;
            let best = options.into_iter().map(|(spot, _)| spot).min_by_key(|&spot| self.rest(spot));
            let Some(next) = best else { break };
            spot = next;
        }
        word
    }

    /// The bytes from a spot to the end that begin with `byte`.
    fn finish_with(&mut self, spot: Spot, byte: u8) -> Vec<u8> {
        let options = self.after(spot, byte, None).0;
        let mut word = vec![byte];
        word.extend(self.finish_one_of(options));
        word
    }

    /// The byte that leads to the shortest rest.
    fn next_byte(&self, spot: Spot) -> Option<u8> {
        if let Spot::Length(id, read, value) = spot
            && let Node::Prefixed { prefix, counts, .. } = self.arena.node(id)
        {
            let count = least_count(*prefix, counts, read, value)?;
            return prefix.bytes(count).get(usize::from(read)).copied();
        }
        self.first(spot).simplest()
    }
}

fn spot_node(spot: Spot) -> NodeId {
    match spot {
        Spot::End => crate::automaton::END,
        Spot::Stop(id) | Spot::Byte(id) | Spot::Run(id, _) | Spot::Length(id, ..) | Spot::Contents(id, _) => {
            id
        }
    }
}

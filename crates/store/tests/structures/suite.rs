//! Random commands against the model, for any implementation.

use std::ops::Bound;
use std::time::Duration;

use keyplan_store::Direction;
use keyplan_store::engine::Durability;
use keyplan_store::structure::{
    Atomicity, Claim, Command, End, Kind, Now, QueueState, RangeQuery, Reply, ScoreRange, Scored, SetScore,
    StructureError, StructureRead, Structures,
};

use crate::model::{Model, Refused, State, Thing, ends, in_order};
use crate::support::Random;

/// Keys that run into one another, that are empty, and that a pattern would misread.
const KEYS: [&[u8]; 8] = [b"", b"a", b"a\0", b"ab", b"a*[?]\\", b"{a}b", &[0xff, 0xff], b"z:own:1A:spnd"];

/// Keys of queues; a server may keep these as sorted sets, so that no other kind of that sort is tried on them.
const QUEUES: [&[u8]; 3] = [b"q:", b"q:tok:1", b"q:tok:1\0"];

/// One command with what it borrows.
#[derive(Clone, Debug)]
struct Owned {
    kind: u64,
    key: Vec<u8>,
    member: Vec<u8>,
    value: Vec<u8>,
    score: SetScore,
    range: ScoreRange,
    end: End,
    count: usize,
    by: f64,
    claim: Claim,
    receipt: u64,
}

impl Owned {
    fn command(&self) -> Command<'_> {
        let (key, member) = (self.key.as_slice(), self.member.as_slice());
        match self.kind {
            0 => Command::Put { key, value: &self.value },
            1 => Command::Delete { key },
            2 | 3 => Command::SetAdd { key, member },
            4 => Command::SetRemove { key, member },
            5 | 6 => Command::HashSet { key, field: member, value: &self.value },
            7 => Command::HashDelete { key, field: member },
            8..=10 => Command::ZsetAdd { key, member, score: self.score },
            11 => Command::ZsetRemove { key, member },
            12 => Command::ZsetIncrement { key, member, by: self.by },
            13 => Command::ZsetPop { key, end: self.end, count: self.count },
            14 => Command::ZsetRemoveRange { key, scores: self.range },
            15..=17 => Command::QueuePush { key, member, score: self.score },
            18 | 19 => Command::QueueClaim { key, claim: self.claim },
            20 | 21 => Command::QueueAcknowledge { key, member, receipt: self.receipt },
            22 => Command::QueueRelease { key, member, receipt: self.receipt },
            23 => Command::QueueBury { key, member, receipt: self.receipt },
            24 => Command::QueueRestore {
                key,
                member,
                score: self.score,
                attempts: u32::try_from(self.count).unwrap(),
                state: match self.receipt % 3 {
                    0 => QueueState::Waiting,
                    1 => QueueState::Claimed { until: self.receipt * 1_000 },
                    _ => QueueState::Dead,
                },
            },
            _ => Command::QueueRemove { key, member },
        }
    }
}

/// Makes commands: mostly of the kind that a key has, sometimes of another.
struct Maker {
    random: Random,
    exact: bool,
    now: u64,
}

impl Maker {
    fn member(&mut self) -> Vec<u8> {
        match self.random.below(12) {
            0 => Vec::new(),
            1 => vec![0],
            2 => vec![0xff; 2],
            3 => vec![7; 150],
            n => vec![b'm', u8::try_from(n).unwrap(), u8::try_from(self.random.below(4)).unwrap()],
        }
    }

    fn number(&mut self) -> f64 {
        match self.random.below(12) {
            0 => f64::INFINITY,
            1 => f64::NEG_INFINITY,
            2 => -0.0,
            3 => 0.0,
            4 => f64::MIN_POSITIVE,
            5 => 850_000.000_000_123,
            _ => f64::from(u32::try_from(self.random.below(16)).unwrap()) - 8.0,
        }
    }

    /// A score of the kind that a key's members have, sometimes of the other, sometimes none.
    fn score(&mut self, key: &[u8]) -> SetScore {
        let places = self.exact && key.len().is_multiple_of(2) != (self.random.below(40) == 0);
        if self.random.below(60) == 0 {
            return SetScore::Number(f64::NAN);
        }
        if !places {
            return SetScore::Number(self.number());
        }
        match self.random.below(3) {
            0 => SetScore::unconfirmed(self.random.below(3), u32::try_from(self.random.below(3)).unwrap()),
            1 => SetScore::confirmed(u32::MAX, u64::MAX - self.random.below(3)),
            _ => SetScore::confirmed(u32::try_from(self.random.below(4)).unwrap(), self.random.below(4)),
        }
    }

    fn range(&mut self, key: &[u8]) -> ScoreRange {
        let mut end = || match self.random.below(4) {
            0 => Bound::Unbounded,
            1 => Bound::Excluded(self.score(key)),
            _ => Bound::Included(self.score(key)),
        };
        ScoreRange { min: end(), max: end() }
    }

    fn command(&mut self, model: &Model) -> Owned {
        let queue = self.random.below(3) == 0;
        let key = if queue { self.random.pick(&QUEUES) } else { self.random.pick(&KEYS) };
        let key = key.to_vec();
        let found = model.things.get(&key).map(Thing::kind).filter(|_| self.random.below(12) > 0);
        let kind = match (queue, found) {
            (true, _) => 15 + self.random.below(11),
            (false, Some(Kind::Value)) => self.random.below(2),
            (false, Some(Kind::Set)) => 2 + self.random.below(3),
            (false, Some(Kind::Hash)) => 5 + self.random.below(3),
            (false, Some(Kind::Zset)) => 8 + self.random.below(7),
            (false, _) => self.random.below(15),
        };
        self.now += self.random.below(40);
        let claim = Claim::new(usize::try_from(self.random.below(4)).unwrap(), Duration::from_millis(100))
            .at(Now::Millis(self.now));
        let claim = if self.random.below(2) == 0 { claim.attempts(2) } else { claim };
        let (member, receipt) = self.held(model, &key);
        let length = usize::try_from(self.random.below(30)).unwrap();
        Owned {
            kind,
            member,
            value: self.random.bytes(length),
            score: self.score(&key),
            range: self.range(&key),
            end: *self.random.pick(&[End::Min, End::Max]),
            count: usize::try_from(self.random.below(4)).unwrap(),
            by: self.number(),
            claim,
            receipt,
            key,
        }
    }

    /// A member of a queue that a worker holds, with its receipt, or any.
    fn held(&mut self, model: &Model, key: &[u8]) -> (Vec<u8>, u64) {
        let mut held = Vec::new();
        if let Some(Thing::Queue(items)) = model.things.get(key) {
            held.extend(items.iter().filter_map(|(member, item)| match item.state {
                State::Claimed { receipt, .. } => Some((member.clone(), receipt)),
                _ => None,
            }));
        }
        if held.is_empty() || self.random.below(4) == 0 {
            return (self.member(), self.random.below(4));
        }
        self.random.pick(&held).clone()
    }
}

fn refusal(error: &StructureError) -> Option<Refused> {
    match error {
        StructureError::WrongKind { .. } => Some(Refused::WrongKind),
        StructureError::WrongScores { .. } => Some(Refused::WrongScores),
        StructureError::NotANumber => Some(Refused::NotANumber),
        StructureError::Partly { source, .. } => refusal(source),
        _ => None,
    }
}

/// Runs random commands, and compares every reply and, now and then, everything.
///
/// `reopen` gives another handle on the same data; the one before is dropped.
pub(crate) fn run(seed: u64, rounds: u64, mut reopen: impl FnMut() -> Box<dyn Structures>) {
    let mut structures = reopen();
    let capabilities = structures.capabilities();
    let whole = capabilities.atomicity == Atomicity::Everything;
    let mut maker = Maker { random: Random::new(seed), exact: capabilities.exact_scores, now: 1_000 };
    let mut model = Model::default();
    for round in 0..rounds {
        let batch: Vec<Owned> = (0..=maker.random.below(5)).map(|_| maker.command(&model)).collect();
        let commands: Vec<Command<'_>> = batch.iter().map(Owned::command).collect();
        if whole || maker.random.below(2) == 0 {
            let mut after = model.clone();
            let expected: Result<Vec<Reply>, Refused> =
                commands.iter().map(|command| after.apply(command)).collect();
            if whole || expected.is_ok() {
                let got = structures.apply(&commands, Durability::Buffer);
                let got = got.map_err(|error| refusal(&error).ok_or(error).expect("known"));
                assert_eq!(got, expected, "seed {seed}, round {round}: {commands:?}");
                if expected.is_ok() {
                    model = after;
                }
            }
        } else {
            for command in &commands {
                let expected = model.apply(command);
                let got = structures.apply_one(*command);
                let got = got.map_err(|error| refusal(&error).ok_or(error).expect("known"));
                assert_eq!(got, expected, "seed {seed}, round {round}: {command:?}");
            }
        }
        some_reads(&*structures, &model, &mut maker);
        if round % 100 == 99 {
            everything(&*structures, &model, capabilities.ordered_members);
        }
        if round % 250 == 249 {
            drop(structures);
            structures = reopen();
            everything(&*structures, &model, capabilities.ordered_members);
        }
    }
}

fn collected<T: Ord>(
    rows: Result<keyplan_store::structure::Rows<'_, T>, StructureError>,
    ordered: bool,
) -> Vec<T> {
    let mut rows: Vec<T> = rows.unwrap().map(|row| row.unwrap()).collect();
    if !ordered {
        rows.sort();
    }
    rows
}

/// Compares all that can be read.
pub(crate) fn everything(read: &dyn StructureRead, model: &Model, ordered: bool) {
    for kind in [Kind::Value, Kind::Set, Kind::Hash, Kind::Zset, Kind::Queue] {
        for prefix in [&b""[..], b"a", b"a*", b"q:", &[0xff]] {
            let expected: Vec<Vec<u8>> = model
                .things
                .iter()
                .filter(|(key, thing)| thing.kind() == kind && key.starts_with(prefix))
                .map(|(key, _)| key.clone())
                .collect();
            assert_eq!(collected(read.keys(kind, prefix), ordered), expected, "{kind} {prefix:?}");
        }
    }
    for prefix in [&b""[..], b"a", b"a*"] {
        let expected: Vec<(Vec<u8>, Vec<u8>)> = model
            .things
            .iter()
            .filter(|(key, _)| key.starts_with(prefix))
            .filter_map(|(key, thing)| match thing {
                Thing::Value(value) => Some((key.clone(), value.clone())),
                _ => None,
            })
            .collect();
        assert_eq!(collected(read.scan(prefix), ordered), expected);
    }
    for key in KEYS.iter().chain(&QUEUES) {
        one(read, model, key, ordered);
    }
}

fn one(read: &dyn StructureRead, model: &Model, key: &[u8], ordered: bool) {
    let thing = model.things.get(key);
    assert_eq!(read.kind(key).unwrap(), thing.map(Thing::kind), "{key:?}");
    match thing {
        None => {
            assert_eq!(read.get(key).unwrap(), None);
            assert_eq!(read.set_count(key).unwrap(), 0);
            assert_eq!(collected(read.hash_all(key), ordered), []);
            assert_eq!(read.zset_range(key, &RangeQuery::default()).unwrap(), []);
        }
        Some(Thing::Value(value)) => assert_eq!(read.get(key).unwrap().as_ref(), Some(value)),
        Some(Thing::Set(members)) => {
            assert_eq!(read.set_count(key).unwrap(), members.len() as u64);
            assert!(collected(read.set_members(key), ordered).iter().eq(members));
        }
        Some(Thing::Hash(fields)) => {
            assert_eq!(read.hash_count(key).unwrap(), fields.len() as u64);
            let all = collected(read.hash_all(key), ordered);
            assert!(all.iter().map(|(field, value)| (field, value)).eq(fields));
        }
        Some(Thing::Zset(members)) => {
            assert_eq!(read.zset_count(key).unwrap(), members.len() as u64);
            for direction in [Direction::Ascending, Direction::Descending] {
                let order = in_order(members, direction);
                let query = RangeQuery { direction, ..RangeQuery::default() };
                assert_eq!(read.zset_range(key, &query).unwrap(), order);
                for (rank, scored) in order.iter().enumerate() {
                    let found = read.zset_rank(key, &scored.member, direction).unwrap();
                    assert_eq!(found, Some(rank as u64));
                }
            }
            if members.values().all(|score| matches!(score, SetScore::Number(_))) {
                let sum: f64 = in_order(members, Direction::Ascending)
                    .iter()
                    .map(|scored| match scored.score {
                        SetScore::Number(number) => number,
                        SetScore::Place(_) => unreachable!(),
                    })
                    .sum();
                let found = read.zset_sum(key, &ScoreRange::ALL);
                assert_eq!(found.ok(), (!sum.is_nan()).then_some(sum));
            }
        }
        Some(Thing::Queue(items)) => {
            assert_eq!(read.queue_size(key).unwrap(), model.size(key));
            let waiting = items.iter().filter(|(_, item)| item.state == State::Waiting);
            let waiting = waiting.map(|(member, item)| (member.clone(), item.score)).collect();
            assert_eq!(read.queue_peek(key, usize::MAX).unwrap(), in_order(&waiting, Direction::Ascending));
            let mut dead: Vec<_> = read.queue_dead(key).unwrap().map(Result::unwrap).collect();
            dead.sort_by(|a, b| a.member.cmp(&b.member));
            let expected = items.iter().filter(|(_, item)| item.state == State::Dead);
            assert_eq!(dead, expected.map(|(member, item)| item.shown(member)).collect::<Vec<_>>());
            for (member, item) in items {
                assert_eq!(read.queue_item(key, member).unwrap(), Some(item.shown(member)));
            }
        }
    }
}

/// A read of each kind, of a key that may be of another.
fn some_reads(read: &dyn StructureRead, model: &Model, maker: &mut Maker) {
    let key = maker.random.pick(&KEYS).to_vec();
    let members: Vec<Vec<u8>> = (0..3).map(|_| maker.member()).collect();
    let member_refs: Vec<&[u8]> = members.iter().map(Vec::as_slice).collect();
    let thing = model.things.get(&key);
    let refused = |error: StructureError| refusal(&error).ok_or(error).expect("known");
    let wrong = |kind: Kind| thing.is_some_and(|thing| thing.kind() != kind);

    let got = read.get(&key).map_err(refused);
    let expected = match thing {
        Some(Thing::Value(value)) => Ok(Some(value.clone())),
        None => Ok(None),
        Some(_) => Err(Refused::WrongKind),
    };
    assert_eq!(got, expected);

    let got = read.set_contains_many(&key, &member_refs).map_err(refused);
    let expected = match thing {
        Some(Thing::Set(set)) => Ok(members.iter().map(|member| set.contains(member)).collect()),
        None => Ok(vec![false; 3]),
        Some(_) => Err(Refused::WrongKind),
    };
    assert_eq!(got, expected);
    if !wrong(Kind::Set) {
        assert_eq!(read.set_contains(&key, &members[0]).unwrap(), expected.unwrap()[0]);
    }

    let got = read.hash_get_many(&key, &member_refs).map_err(refused);
    let expected = match thing {
        Some(Thing::Hash(fields)) => Ok(members.iter().map(|field| fields.get(field).cloned()).collect()),
        None => Ok(vec![None; 3]),
        Some(_) => Err(Refused::WrongKind),
    };
    assert_eq!(got, expected);
    if !wrong(Kind::Hash) {
        let places: Vec<(&[u8], &[u8])> = member_refs.iter().map(|field| (key.as_slice(), *field)).collect();
        assert_eq!(read.hash_get_each(&places).unwrap(), expected.unwrap());
    }

    let range = maker.range(&key);
    if ends(&range).iter().any(|end| end.checked().is_err()) {
        return;
    }
    let direction = *maker.random.pick(&[Direction::Ascending, Direction::Descending]);
    let limit = (maker.random.below(3) > 0).then(|| maker.random.below(5));
    let query = RangeQuery { scores: range, direction, offset: maker.random.below(3), limit };
    let got = read.zset_range(&key, &query).map_err(refused);
    let all = match thing {
        Some(Thing::Zset(set)) => {
            let kind = set.values().next().unwrap().kind();
            if ends(&range).iter().any(|end| end.kind() != kind) {
                Err(Refused::WrongScores)
            } else {
                Ok(in_order(set, direction).into_iter().filter(|at| range.contains(at.score)).collect())
            }
        }
        None => Ok(Vec::new()),
        Some(_) => Err(Refused::WrongKind),
    };
    let expected = all.clone().map(|all: Vec<Scored>| {
        let limit = usize::try_from(limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        all.into_iter().skip(usize::try_from(query.offset).unwrap()).take(limit).collect()
    });
    assert_eq!(got, expected, "{query:?}");
    let Ok(all) = all else { return };
    // From after each member, whether it is in the range or not.
    if let Some(Thing::Zset(set)) = thing {
        for after in in_order(set, direction) {
            let rows = read.zset_rows(&key, &range, direction, Some(&after)).unwrap();
            let rows: Vec<Scored> = rows.map(Result::unwrap).collect();
            let behind = |at: &Scored| {
                let order = at.score.order(after.score).then_with(|| at.member.cmp(&after.member));
                if direction == Direction::Ascending { order.is_gt() } else { order.is_lt() }
            };
            assert_eq!(rows, all.iter().filter(|at| behind(at)).cloned().collect::<Vec<_>>());
        }
        let places: Vec<(&[u8], &[u8])> = member_refs.iter().map(|at| (key.as_slice(), *at)).collect();
        let scores: Vec<Option<SetScore>> = members.iter().map(|at| set.get(at).copied()).collect();
        assert_eq!(read.zset_score_each(&places).unwrap(), scores);
    }
}

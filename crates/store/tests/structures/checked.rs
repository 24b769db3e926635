//! Commands that are done only if what they were made from is still so, on any implementation.

use std::sync::Arc;

use keyplan_store::engine::{Durability, Memory};
use keyplan_store::structure::{
    Command, Embedded, End, Expectation, Kind, QueueItem, Reply, ScoreRange, Scored, SetScore,
    StructureError, StructureRead, Structures,
};
use keyplan_store::{Direction, Schema, Store};

use crate::support::Random;

/// Keys by what they hold, all in one slot.
const VALUE: &[u8] = b"{t}value";
const SET: &[u8] = b"{t}set";
const HASH: &[u8] = b"{t}hash";
const ZSET: &[u8] = b"{t}zset";
const QUEUE: &[u8] = b"{t}queue";

/// Everything under these keys.
#[derive(Debug, PartialEq)]
struct Whole {
    value: Option<Vec<u8>>,
    set: Vec<Vec<u8>>,
    hash: Vec<(Vec<u8>, Vec<u8>)>,
    zset: Vec<Scored>,
    queue: Vec<(Vec<u8>, SetScore)>,
}

fn whole(read: &(impl StructureRead + ?Sized)) -> Whole {
    let sorted = |mut all: Vec<Vec<u8>>| {
        all.sort();
        all
    };
    let mut hash: Vec<_> = read.hash_all(HASH).unwrap().map(Result::unwrap).collect();
    hash.sort();
    let item = |item: Result<QueueItem, StructureError>| item.map(|item| (item.member, item.score)).unwrap();
    let mut queue: Vec<_> = read.queue_items(QUEUE).unwrap().map(item).collect();
    queue.sort_by(|one, other| one.0.cmp(&other.0));
    let zset = read.zset_rows(ZSET, &ScoreRange::ALL, Direction::Ascending, None).unwrap();
    Whole {
        value: read.get(VALUE).unwrap(),
        set: sorted(read.set_members(SET).unwrap().map(Result::unwrap).collect()),
        hash,
        zset: zset.map(Result::unwrap).collect(),
        queue,
    }
}

/// A command with a part and a number, of one of the kinds.
fn command(which: u64, part: &[u8], number: u8) -> Command<'_> {
    let score = SetScore::Number(f64::from(number));
    match which {
        0 => Command::Put { key: VALUE, value: part },
        1 => Command::Delete { key: VALUE },
        2 | 3 => Command::SetAdd { key: SET, member: part },
        4 => Command::SetRemove { key: SET, member: part },
        5 | 6 => Command::HashSet { key: HASH, field: part, value: b"v" },
        7 => Command::HashDelete { key: HASH, field: part },
        8 | 9 => Command::ZsetAdd { key: ZSET, member: part, score },
        10 => Command::ZsetRemove { key: ZSET, member: part },
        11 => Command::ZsetIncrement { key: ZSET, member: part, by: 0.5 },
        12 => Command::ZsetPop { key: ZSET, end: End::Min, count: usize::from(number % 3) },
        13 => Command::ZsetRemoveRange { key: ZSET, scores: ScoreRange::from(9.0) },
        14 | 15 => Command::QueuePush { key: QUEUE, member: part, score },
        _ => Command::QueueRemove { key: QUEUE, member: part },
    }
}

/// The bytes that an expectation borrows.
struct Known {
    part: Vec<u8>,
    value: Option<Vec<u8>>,
    score: Option<SetScore>,
    there: bool,
}

impl Known {
    fn read(read: &dyn Structures, part: &[u8], which: u64) -> Self {
        let mut known = Self { part: part.to_vec(), value: None, score: None, there: false };
        match which {
            0 => known.value = read.get(VALUE).unwrap(),
            1 => known.there = read.set_contains(SET, part).unwrap(),
            2 => known.value = read.hash_get(HASH, part).unwrap(),
            _ => known.score = read.zset_score(ZSET, part).unwrap(),
        }
        known
    }

    /// Something else than what was read.
    fn spoil(&mut self) {
        self.there = !self.there;
        self.value = match self.value.take() {
            Some(value) if value.len() > 1 => None,
            Some(value) => Some([&value[..], b"x"].concat()),
            None => Some(Vec::new()),
        };
        self.score = match self.score {
            Some(SetScore::Number(number)) => Some(SetScore::Number(number + 1.0)),
            _ => Some(SetScore::Number(0.0)),
        };
    }

    fn expectation(&self, which: u64) -> Expectation<'_> {
        let part = self.part.as_slice();
        match which {
            0 => Expectation::Value { key: VALUE, value: self.value.as_deref() },
            1 => Expectation::Member { key: SET, member: part, there: self.there },
            2 => Expectation::Field { key: HASH, field: part, value: self.value.as_deref() },
            _ => Expectation::Score { key: ZSET, member: part, score: self.score },
        }
    }
}

/// Random commands under random expectations: done as on a store in memory that is told nothing of them, or not at all.
pub(crate) fn run(seed: u64, rounds: u64, tested: &dyn Structures) {
    const PLAN: &str = "plan twin; space things { hash thing = key: bytes field any = field: bytes -> raw; }";
    let compiled = keyplan_plan::compile("twin.keyplan", PLAN, |_| Err("no imports".into()));
    let store = Store::create(Memory::new(), &Schema::of(&compiled).unwrap()).unwrap();
    let twin = Embedded::open(Arc::new(store), "things").unwrap();
    let mut random = Random::new(seed);
    let (mut done, mut refused) = (0, 0);
    for _ in 0..rounds {
        let part = |random: &mut Random| vec![b'a' + u8::try_from(random.below(4)).unwrap()];
        let mut known = Vec::new();
        for _ in 0..random.below(3) {
            let which = random.below(4);
            known.push((which, Known::read(tested, &part(&mut random), which)));
        }
        let spoilt = !known.is_empty() && random.below(3) == 0;
        if spoilt && let Some((_, last)) = known.last_mut() {
            last.spoil();
        }
        let chosen: Vec<_> = (0..random.below(5))
            .map(|_| (random.below(17), part(&mut random), u8::try_from(random.below(12)).unwrap()))
            .collect();
        let commands: Vec<_> =
            chosen.iter().map(|(which, part, number)| command(*which, part, *number)).collect();
        let expected: Vec<_> = known.iter().map(|(which, known)| known.expectation(*which)).collect();
        let came = tested.apply_if(&expected, &commands, Durability::Buffer);
        if spoilt {
            let key = expected.last().unwrap().key().to_vec();
            assert!(
                matches!(&came, Err(StructureError::Changed { key: found }) if *found == key),
                "{came:?}: {expected:?}"
            );
            refused += 1;
        } else {
            let replies: Vec<Reply> = twin.apply(&commands, Durability::Buffer).unwrap();
            assert_eq!(came.unwrap(), replies, "{commands:?}");
            done += 1;
        }
        assert_eq!(whole(tested), whole(&twin), "{commands:?}");
    }
    assert!(done > 0 && refused > 0);
    particular(tested);
}

/// What is wrong is found before anything is done.
fn particular(tested: &dyn Structures) {
    let put = |key| Command::Put { key, value: b"new" };
    tested.set_add(b"{t}kind", b"m").unwrap();
    let wrong = |came: Result<Vec<Reply>, StructureError>| match came {
        Err(StructureError::WrongKind { key, expected, found }) => (key, expected, found),
        other => panic!("{other:?}"),
    };
    let kind = (b"{t}kind".to_vec(), Kind::Hash, Kind::Set);
    let field = Command::HashSet { key: b"{t}kind", field: b"f", value: b"v" };
    assert_eq!(wrong(tested.apply_if(&[], &[put(b"{t}first"), field], Durability::Buffer)), kind);
    let read = Expectation::Field { key: b"{t}kind", field: b"f", value: None };
    assert_eq!(wrong(tested.apply_if(&[read], &[put(b"{t}first")], Durability::Buffer)), kind);
    assert_eq!(tested.get(b"{t}first").unwrap(), None);
    let kind = (b"{t}kind".to_vec(), Kind::Value, Kind::Set);
    let read = Expectation::Value { key: b"{t}kind", value: None };
    assert_eq!(wrong(tested.apply_if(&[read], &[], Durability::Buffer)), kind);
    // Scores are compared as numbers, also those that a text has several forms of.
    for score in [0.1 + 0.2, f64::INFINITY, -0.0, 1e300, 9_007_199_254_740_993.0] {
        let score = SetScore::Number(score);
        tested.zset_add(b"{t}scores", b"m", score).unwrap();
        let same = Expectation::Score { key: b"{t}scores", member: b"m", score: Some(score) };
        tested.apply_if(&[same], &[], Durability::Buffer).unwrap();
    }
    assert_eq!(tested.apply_if(&[], &[], Durability::Buffer).unwrap(), []);
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    assert!(u128::from(tested.clock().unwrap()).abs_diff(clock) < 60_000);
}

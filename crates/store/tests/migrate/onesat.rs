//! 1Sat's store under the plan without its flaws: from an engine, and from a server as its own program fills it.

use std::sync::Arc;
use std::time::Duration;

use keyplan_codec::Score;
use keyplan_plan::Compiled;
use keyplan_store::engine::{Durability, Engine, Fjall, FjallSettings, Memory};
use keyplan_store::migrate::{
    ASIDE_SPACE, Migration, MigrationError, Phase, Step, Survey, read_aside, visit_parked,
};
use keyplan_store::structure::{
    Claim, Command, Embedded, Now, Redis, SetScore, StructureRead as _, Structures,
};
use keyplan_store::{Schema, Store, StoreError};

use crate::plans::count;
use crate::server::Server;
use crate::support::{Rows, attach, folder, plan, prove, rows, run, text};

const PLANS: (&str, &str) = ("plans/onesat.keyplan", "plans/onesat_v2.keyplan");

/// Which readings are meant where what a key holds does not tell.
const PREFERRED: [&str; 5] = ["event_spent", "merkle_state", "topic_outputs", "topic_txs", "progress.owner"];

/// How the keys and scores of one plan are written, by hand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Old,
    New,
}

impl Layout {
    fn score(self, height: u32, index: u64) -> SetScore {
        let place = Score::Confirmed { height, index };
        match self {
            Self::Old => SetScore::height_score(place).unwrap(),
            Self::New => SetScore::Place(place),
        }
    }

    fn of(self, old: &str, new: &str) -> Vec<u8> {
        if self == Self::Old { old.into() } else { new.into() }
    }
}

/// A thing to write.
enum Put {
    Field(Vec<u8>, Vec<u8>, Vec<u8>),
    Member(Vec<u8>, Vec<u8>),
    Scored(Vec<u8>, Vec<u8>, SetScore),
    Item(Vec<u8>, Vec<u8>, SetScore),
}

fn txid(n: u64) -> Vec<u8> {
    let mut id = n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes().to_vec();
    id.extend(n.to_be_bytes());
    id.extend([7; 16]);
    id
}

fn outpoint(n: u64) -> Vec<u8> {
    [txid(n), 1_u32.to_be_bytes().to_vec()].concat()
}

fn address(n: u64) -> String {
    // Base58 has no zero: digits go from 1 on.
    let digits: String = format!("{:024}", n % 997).bytes().map(|digit| char::from(digit + 1)).collect();
    format!("1A{digits}")
}

/// What an indexer has stored of `count` outputs, a little more than ten things each.
fn things(layout: Layout, count: u64) -> Vec<Put> {
    let mut all = Vec::new();
    for n in 0..count {
        let (point, id) = (outpoint(n), txid(n));
        let height = 850_000 + u32::try_from(n / 50).unwrap();
        let at = layout.score(height, n % 2_000);
        let out = [layout.of("h:", "h:out:"), point.clone()].concat();
        all.push(Put::Field(out.clone(), b"ev".to_vec(), b"[\"own:x\"]".to_vec()));
        let merkle = [&height.to_be_bytes()[..], &(n % 2_000).to_be_bytes()].concat();
        all.push(Put::Field(out.clone(), b"ms".to_vec(), merkle));
        all.push(Put::Field(out, b"dt:bsv21".to_vec(), b"{}".to_vec()));
        all.push(Put::Field(b"h:sats".to_vec(), point.clone(), n.to_be_bytes().to_vec()));
        let event = format!("own:{}", address(n));
        let key = layout.of(&format!("z:{event}"), &format!("z:ev:{event}"));
        all.push(Put::Scored(key, point.clone(), at));
        if n % 3 == 0 {
            all.push(Put::Field(b"h:spnd".to_vec(), point.clone(), txid(n + 1)));
            let key = layout.of(&format!("z:{event}:spnd"), &format!("z:es:{event}"));
            all.push(Put::Scored(key, point.clone(), at));
        }
        let topic = format!("tm_{}", n % 11);
        let key = layout.of(&format!("z:tp:{topic}"), &format!("z:to:{topic}"));
        all.push(Put::Scored(key, point.clone(), at));
        let key = layout.of(&format!("z:tp:{topic}:tx"), &format!("z:tx:{topic}"));
        all.push(Put::Scored(key, id.clone(), at));
        let state = u32::try_from(n % 4).unwrap();
        let key = match layout {
            Layout::Old => format!("z:merkle:{topic}:{state}").into_bytes(),
            Layout::New => [b"z:mk:", &state.to_be_bytes()[..], topic.as_bytes()].concat(),
        };
        all.push(Put::Scored(key, point.clone(), at));
        all.push(Put::Scored(layout.of("z:ingest", "z:lg:ingest"), id.clone(), at));
        let queue = format!("sub{}", n % 5);
        all.push(Put::Item(layout.of(&format!("q:{queue}"), &format!("q:sub:{queue}")), id, at));
        if n % 10 == 0 {
            all.push(Put::Item(b"q:tok:abc_0".to_vec(), point, at));
        }
    }
    // What is not in a block yet: a clock, to the nanosecond that the float says.
    let seen = Score::Unconfirmed { seconds: 1_703_097_600, nanos: 500_000_000 };
    let seen = match layout {
        Layout::Old => SetScore::height_score(seen).unwrap(),
        Layout::New => SetScore::Place(seen),
    };
    all.push(Put::Scored(layout.of("z:txid:x", "z:ev:txid:x"), outpoint(count), seen));
    all.push(Put::Member(b"s:bsv21:whitelist".to_vec(), b"token".to_vec()));
    let height = 850_000_u32.to_be_bytes().to_vec();
    let progress = |old: &str, new: &[u8]| match layout {
        Layout::Old => old.as_bytes().to_vec(),
        Layout::New => new.to_vec(),
    };
    let mut known = |field: Vec<u8>, value: Vec<u8>| all.push(Put::Field(b"h:prog".to_vec(), field, value));
    known(progress("junglebus-1", b"sub:junglebus-1"), height.clone());
    let owner = address(5);
    known(progress(&owner, format!("own:{owner}").as_bytes()), height);
    let since = match layout {
        Layout::Old => b"1.7030976005e+09".to_vec(),
        Layout::New => 1_703_097_600.5_f64.to_be_bytes().to_vec(),
    };
    known(progress("peer:tm_1:example.org", b"peer:\x00\x04tm_1example.org"), since);
    all
}

/// What cannot be carried, and why: a score that does not tell its place, a host with a colon, a name with three readings.
fn misfits() -> Vec<(Put, &'static str)> {
    let late = SetScore::Number(8_400_000.5);
    vec![
        (Put::Scored(b"z:late".to_vec(), outpoint(1), late), "does not tell its place"),
        (
            Put::Field(b"h:prog".to_vec(), b"peer:tm_1:https://x".to_vec(), b"17.5".to_vec()),
            "2 readings: fields",
        ),
        (
            Put::Field(b"h:prog".to_vec(), b"peer:tm_1:https://y".to_vec(), b"17.25".to_vec()),
            "several readings",
        ),
        (Put::Scored(b"z:tp:foo:spnd".to_vec(), outpoint(2), Layout::Old.score(850_000, 1)), "readings: "),
    ]
}

fn write(to: &dyn Structures, all: &[Put]) {
    for chunk in all.chunks(2_000) {
        let commands: Vec<Command<'_>> = chunk
            .iter()
            .map(|put| match put {
                Put::Field(key, field, value) => Command::HashSet { key, field, value },
                Put::Member(key, member) => Command::SetAdd { key, member },
                Put::Scored(key, member, score) => Command::ZsetAdd { key, member, score: *score },
                Put::Item(key, member, score) => Command::QueuePush { key, member, score: *score },
            })
            .collect();
        to.apply(&commands, Durability::Buffer).unwrap();
    }
}

/// An engine with a plan and things in it.
fn filled<E: Engine>(engine: E, plan: &Compiled, all: &[Put]) -> Arc<Store<E>> {
    let store = Arc::new(Store::create(engine, &Schema::of(plan).unwrap()).unwrap());
    write(&Embedded::open(store.clone(), "store").unwrap(), all);
    store
}

fn plans() -> (Compiled, Compiled) {
    (plan(PLANS.0, &text(PLANS.0)), plan(PLANS.1, &text(PLANS.1)))
}

fn migration<'p>(old: &'p Compiled, new: &'p Compiled) -> Migration<'p> {
    let mut migration = Migration::between(old, new, prove(old, new).mapping).unwrap();
    for path in PREFERRED {
        migration.prefer(path).unwrap();
    }
    migration
}

/// Splits what was set aside from the rows of a copy.
fn parked(found: &mut Rows) -> Vec<String> {
    let mut why = Vec::new();
    found.retain(|(space, key), value| {
        if space == ASIDE_SPACE {
            why.push(read_aside(key, value).unwrap().why.to_owned());
        }
        space != ASIDE_SPACE
    });
    why
}

fn check_parked(found: &mut Rows) {
    let why = parked(found);
    for (_, expected) in misfits() {
        assert!(why.iter().any(|why| why.contains(expected)), "{expected}: {why:?}");
    }
    assert_eq!(why.len(), misfits().len());
}

#[test]
fn onesat_is_carried_from_fjall_and_from_a_server() {
    let (old, new) = plans();
    let migration = migration(&old, &new);
    assert!(migration.is_by_contents());
    let outputs = count() / 10;
    let mut before = things(Layout::Old, outputs);
    before.extend(misfits().into_iter().map(|(put, _)| put));
    let expected = rows(filled(Memory::new(), &new, &things(Layout::New, outputs)).engine());
    assert!(u64::try_from(before.len()).unwrap() >= count());

    // From an engine.
    let (from, to) = (folder("onesat-from"), folder("onesat-to"));
    let source = filled(Fjall::open(&from, FjallSettings::default()).unwrap(), &old, &before);
    let survey = migration.survey_of(source.engine(), |_| ()).unwrap();
    assert_eq!((survey.aside(), survey.open_rows()), (4, 0), "{:?}", survey.problems);
    let copy = migration.create_copy(Fjall::open(&to, FjallSettings::default()).unwrap()).unwrap();
    assert_eq!(migration.copy(source.engine(), &copy, false, |_| ()).unwrap(), survey);
    let mut found = rows(copy.engine());
    check_parked(&mut found);
    assert!(found == expected, "{} rows found, {} expected", found.len(), expected.len());
    drop(copy);
    Store::open(Fjall::open(&to, FjallSettings::default()).unwrap(), &Schema::of(&new).unwrap()).unwrap();

    // From a server, on which queues are sorted sets, as 1Sat's own program keeps them.
    let server = Server::start();
    let redis = server.redis();
    let queues = |put| match put {
        Put::Item(key, member, score) => Put::Scored(key, member, score),
        put => put,
    };
    let before: Vec<Put> = before.into_iter().map(queues).collect();
    write(&redis, &before);
    let survey = migration.survey_server(&redis, None, |_| ()).unwrap();
    assert_eq!((survey.aside(), survey.open_rows()), (4, 0), "{:?}", survey.problems);
    let copy = migration.create_copy(Memory::new()).unwrap();
    migration.copy_from_server(&redis, &copy, &survey, false, |_| ()).unwrap();
    let mut found = rows(copy.engine());
    check_parked(&mut found);
    assert!(found == expected, "{} rows found, {} expected", found.len(), expected.len());
}

#[test]
fn names_that_are_not_preferred_are_never_guessed() {
    let (old, new) = plans();
    let mut migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    assert!(matches!(migration.prefer("nobody"), Err(MigrationError::NoFamily { found: 0, .. })));
    migration.prefer("event_spent").unwrap();
    let all = things(Layout::Old, 50);
    let source = filled(Memory::new(), &old, &all);
    let survey = migration.survey_of(source.engine(), |_| ()).unwrap();
    let ambiguous: Vec<_> = survey.problems.iter().map(|problem| problem.examples[0].why.clone()).collect();
    assert!(ambiguous.iter().any(|why| why.contains("topic_outputs")), "{ambiguous:?}");
    assert!(ambiguous.iter().any(|why| why == "2 readings: fields subscription, owner"), "{ambiguous:?}");
    // In place they are not guessed, either: the plan says that they are set aside.
    let mut running = attach(&migration, source.engine().clone());
    running.begin(&survey, false).unwrap();
    assert_eq!(run(&mut running, 1_000).0, Step::Finished);
    assert_eq!(visit_parked(source.engine(), |_| ()).unwrap(), survey.aside());
}

#[test]
fn onesat_is_carried_in_place() {
    let (old, new) = plans();
    let migration = migration(&old, &new);
    let mut before = things(Layout::Old, 500);
    before.extend(misfits().into_iter().map(|(put, _)| put));
    let expected = rows(filled(Memory::new(), &new, &things(Layout::New, 500)).engine());
    let source = filled(Memory::new(), &old, &before);
    let as_it_was = rows(source.engine());
    let mut running = attach(&migration, source.engine().clone());
    let survey = running.survey(|_| ()).unwrap();
    assert_eq!((survey.aside(), survey.open_rows()), (4, 0), "{:?}", survey.problems);
    running.begin(&survey, false).unwrap();
    while running.mark().unwrap().phase != Phase::Check {
        running.step(1_000).unwrap();
    }
    running.turn_back().unwrap();
    assert_eq!(run(&mut running, 1_000).0, Step::Undone);
    assert!(rows(source.engine()) == as_it_was);
    let mut running = attach(&migration, source.engine().clone());
    running.begin(&survey, false).unwrap();
    assert_eq!(run(&mut running, 1_000).0, Step::Finished);
    while running.purge(1_000).unwrap() > 0 {}
    let mut found = rows(source.engine());
    check_parked(&mut found);
    assert!(found == expected, "{} rows found, {} expected", found.len(), expected.len());
}

const EXACT: &str = r#"plan p;
space store {
    zset events = "a:" event: text
        member id: u64
        score at: score;
    queue work = "q:" queue_name: text
        member id: u64
        score at: score;
    hash out = "h:" id: u32.dec
        field data = "d:" tag: text -> n: u16;
}
space rows {
    key plain = 0x01 id: u8;
}
"#;

fn floats() -> String {
    EXACT
        .replace("\"a:\"", "\"z:\"")
        .replace("score at: score", "score at: score.height_score")
        .replace("-> n: u16", "-> n: u32")
}

/// An engine with exact scores, leases and a dead item.
fn exact(places: u64, misfit: bool) -> (Compiled, Memory) {
    let old = plan("old", EXACT);
    let engine = Memory::new();
    let store = Arc::new(Store::create(engine.clone(), &Schema::of(&old).unwrap()).unwrap());
    let structures = Embedded::open(store, "store").unwrap();
    for n in 0..places {
        let id = n.to_be_bytes();
        let key = format!("a:{}", n % 9);
        let at = SetScore::confirmed(1 + u32::try_from(n).unwrap(), n);
        structures.zset_add(key.as_bytes(), &id, at).unwrap();
        structures.queue_push(b"q:work", &id, at).unwrap();
        structures.hash_set(format!("h:{n}").as_bytes(), b"d:x", &id[6..]).unwrap();
    }
    let claim =
        |now, count| Claim { count, lease: Duration::from_secs(9), attempts: Some(1), now: Now::Millis(now) };
    // The first dies at the second claim, which takes others.
    structures.queue_claim(b"q:work", claim(1_000, 1)).unwrap();
    structures.queue_claim(b"q:work", claim(60_000, 2)).unwrap();
    if misfit {
        structures.zset_add(b"a:late", &[1; 8], SetScore::confirmed(1 << 23, 5)).unwrap();
    }
    (old, engine)
}

fn compare(redis: &Redis, places: u64) {
    for n in 0..places {
        let id = n.to_be_bytes();
        let place = Score::Confirmed { height: 1 + u32::try_from(n).unwrap(), index: n };
        let float = SetScore::height_score(place).unwrap();
        let key = format!("z:{}", n % 9);
        assert_eq!(redis.zset_score(key.as_bytes(), &id).unwrap(), Some(float));
        let value = redis.hash_get(format!("h:{n}").as_bytes(), b"d:x").unwrap().unwrap();
        assert_eq!(value, [&[0, 0], &id[6..]].concat());
        assert_eq!(redis.queue_item(b"q:work", &id).unwrap().unwrap().score, float);
    }
    let counts: u64 = (0..9).map(|n| redis.zset_count(format!("z:{n}").as_bytes()).unwrap()).sum();
    assert_eq!(counts, places);
}

#[test]
fn structures_go_to_a_server_with_their_leases_and_back() {
    let (old, engine) = exact(300, true);
    let new = plan("new", &floats());
    let migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    let server = Server::start();
    let redis = server.redis();
    let survey = migration.survey_for(&engine, &redis, |_| ()).unwrap();
    // The place that no float tells is named, and is left where it is.
    let [problem] = survey.problems.as_slice() else { panic!("{:?}", survey.problems) };
    assert!(problem.examples[0].why.contains("has no float that tells it"), "{:?}", problem.examples);
    let refused = migration.copy_to_server(&engine, &redis, &survey, false, |_| ()).unwrap_err();
    assert_eq!(refused.to_string(), "1 row has no new key, and may not be set aside");
    migration.copy_to_server(&engine, &redis, &survey, true, |_| ()).unwrap();
    compare(&redis, 300);
    let size = redis.queue_size(b"q:work").unwrap();
    assert_eq!((size.waiting, size.claimed, size.dead), (297, 2, 1));
    // The lease that came along runs out at its time, and the item is claimed again.
    let claim = Claim { count: 1, lease: Duration::from_secs(1), attempts: None, now: Now::Millis(70_000) };
    let again = redis.queue_claim(b"q:work", claim).unwrap();
    assert_eq!((again[0].member.as_slice(), again[0].attempts), (&1_u64.to_be_bytes()[..], 2));
    // A server with keys is not written to.
    let refused = migration.copy_to_server(&engine, &redis, &survey, true, |_| ()).unwrap_err();
    assert!(matches!(refused, MigrationError::NotEmpty), "{refused}");
    // And back, with scores that are places again.
    let back = Migration::between(&new, &old, prove(&new, &old).mapping).unwrap();
    let survey = back.survey_server(&redis, None, |_| ()).unwrap();
    assert_eq!(survey.aside(), 0, "{:?}", survey.problems);
    let copy = back.create_copy(Memory::new()).unwrap();
    back.copy_from_server(&redis, &copy, &survey, false, |_| ()).unwrap();
    let found = Embedded::open(copy, "store").unwrap();
    for n in 0..300_u64 {
        let score = found.zset_score(format!("a:{}", n % 9).as_bytes(), &n.to_be_bytes()).unwrap();
        assert_eq!(score, Some(SetScore::confirmed(1 + u32::try_from(n).unwrap(), n)));
    }
    // Rows have no place on a server.
    let mut batch = keyplan_store::engine::Batch::<Memory>::new();
    batch.put(engine.space("rows").unwrap(), vec![1, 1], vec![]);
    engine.commit(batch, Durability::Buffer).unwrap();
    let other = Server::start().redis();
    let refused = migration.copy_to_server(&engine, &other, &Survey::default(), true, |_| ()).unwrap_err();
    assert_eq!(refused.to_string(), "space `rows` has rows, and a server has a place for structures only");
}

#[test]
fn a_server_that_goes_away_loses_nothing() {
    let (old, engine) = exact(3_000, false);
    let new = plan("new", &floats());
    let migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    let mut server = Server::start();
    let redis = server.redis();
    let survey = migration.survey_for(&engine, &redis, |_| ()).unwrap();
    // It ends in the middle of the copy, and has what it had when it is there again.
    let stopped = migration.copy_to_server(&engine, &redis, &survey, false, |_| server.kill()).unwrap_err();
    assert!(matches!(stopped, MigrationError::Structure(_)), "{stopped}");
    server.run();
    let redis = server.redis();
    let there: u64 = (0..9).map(|n| redis.zset_count(format!("z:{n}").as_bytes()).unwrap()).sum();
    let hashes = redis.keys(keyplan_store::structure::Kind::Hash, b"h:").unwrap().count();
    assert!(there + u64::try_from(hashes).unwrap() > 0, "something was copied before");
    // Another migration is not let in between.
    let ruled = plan("ruled", &floats().replace("\"z:\"", "\"y:\""));
    let other = Migration::between(&old, &ruled, prove(&old, &ruled).mapping).unwrap();
    let refused = other.copy_to_server(&engine, &redis, &survey, false, |_| ()).unwrap_err();
    assert!(matches!(refused, MigrationError::OtherCopy), "{refused}");
    migration.copy_to_server(&engine, &redis, &survey, false, |_| ()).unwrap();
    compare(&redis, 3_000);
    assert_eq!(redis.get(b"keyplan:migration").unwrap(), None);
    // A server that is read ends, too: the copy is not finished, says so, and is made again.
    let back = Migration::between(&new, &old, prove(&new, &old).mapping).unwrap();
    let survey = back.survey_server(&redis, None, |_| ()).unwrap();
    let target = Memory::new();
    let copy = back.create_copy(target.clone()).unwrap();
    let stopped = back.copy_from_server(&redis, &copy, &survey, false, |_| server.kill()).unwrap_err();
    assert!(matches!(stopped, MigrationError::Structure(_)), "{stopped}");
    drop(copy);
    let refused = Store::open(target.clone(), &Schema::of(&old).unwrap()).unwrap_err();
    assert!(matches!(refused, StoreError::Migrating { .. }), "{refused}");
    assert!(back.is_unfinished_copy(&target).unwrap());
    server.run();
    let copy = back.create_copy(Memory::new()).unwrap();
    back.copy_from_server(&server.redis(), &copy, &survey, false, |_| ()).unwrap();
    let found = Embedded::open(copy, "store").unwrap();
    assert_eq!(found.queue_size(b"q:work").unwrap().waiting, 2_997);
}

//! Structures whose members, scores, fields or values are written differently, carried over in place.

#![cfg(test)]

#[path = "migrate/rows.rs"]
#[expect(dead_code, reason = "the other tests of migrations use the rest")]
mod rows;
#[path = "migrate/support.rs"]
#[expect(dead_code, reason = "the other tests of migrations use the rest")]
mod support;

use std::sync::Arc;
use std::time::Duration;

use keyplan_codec::Score;
use keyplan_store::engine::{Durability, Engine, Fjall, FjallSettings, Memory, Redb, RedbSettings};
use keyplan_store::migrate::{ASIDE_SPACE, Migration, MigrationError, Phase, ProblemKind, Step};
use keyplan_store::structure::{
    Claim, Command, Embedded, Now, Reply, SetScore, StructureRead as _, Structures as _,
};
use keyplan_store::{Schema, Store};

use crate::support::{Rows, attach, folder, plan, prove, rows, run};

const OLD: &str = r#"plan p;
space store {
    hash out = "h:" id: u32.dec
        field data = "d:" tag: u16.dec -> raw;
    set names = "s:" name: u8.dec
        member token: u64.dec;
    zset events = "z:" event: u8.dec
        member id: u64.dec
        score at: score;
    queue work = "q:" queue_name: u8.dec
        member id: u64.dec
        score at: score;
    zset heights = "f:" event: u8.dec
        member id: u64
        score at: score.height_score;
    set still = "k:" name: u8.dec
        member token: u64.dec;
    hash moved = "m:" id: u32.dec
        field data = "d:" tag: u16.dec -> raw;
}
space rows {
    key plain = 0x01 id: u8;
}
"#;

/// Fields, members and scores are rewritten, under keys that stay, change, swap their prefixes or go elsewhere.
const NEW: &str = r#"plan p;
space store {
    hash out = "h:" id: u32.dec
        field data = "e:" tag: u16 -> raw;
    set names = "s:" name: u8.dec
        member token: u64;
    zset events = "q:" event: u8.dec
        member id: u64
        score at: score;
    queue work = "z:" queue_name: u8.dec
        member id: u64
        score at: score;
    zset heights = "f:" event: u8.dec
        member id: u64
        score at: score;
    set still = "k:" name: u8.dec
        member token: u64.dec;
}
space other {
    hash moved = id: u32
        field data = "d:" tag: u16.dec -> raw
        from store.moved;
}
space rows {
    key plain = 0x02 id: u8;
}
"#;

fn number(number: u64, binary: bool) -> Vec<u8> {
    if binary { number.to_be_bytes().to_vec() } else { number.to_string().into_bytes() }
}

/// Makes the same structures under either plan, and gives the receipts of two leases.
fn fill<E: Engine>(engine: E, new: bool) -> Vec<u64> {
    let text = if new { NEW } else { OLD };
    let made = Arc::new(Store::create(engine, &Schema::of(&plan("p", text)).unwrap()).unwrap());
    let structures = Embedded::open(made.clone(), "store").unwrap();
    let moved = if new { Embedded::open(made.clone(), "other").unwrap() } else { structures.clone() };
    let apply =
        |on: &Embedded<E>, command: Command<'_>| on.apply(&[command], Durability::Buffer).unwrap().remove(0);
    let key = |old: &str, now: &str, name: u64| format!("{}{name}", if new { now } else { old }).into_bytes();
    for n in 0..40_u64 {
        let (name, member) = (n % 3, number(n, new));
        let tag = u16::try_from(n % 11).unwrap();
        let field =
            if new { [b"e:", &tag.to_be_bytes()[..]].concat() } else { format!("d:{tag}").into_bytes() };
        apply(
            &structures,
            Command::HashSet { key: &key("h:", "h:", name), field: &field, value: &number(n, false) },
        );
        apply(&structures, Command::SetAdd { key: &key("s:", "s:", name), member: &member });
        let score = SetScore::confirmed(u32::try_from(n / 3).unwrap(), n);
        apply(&structures, Command::ZsetAdd { key: &key("z:", "q:", name), member: &member, score });
        apply(&structures, Command::QueuePush { key: &key("q:", "z:", name), member: &member, score });
        let height = u32::try_from(n).unwrap() + 800_000;
        let score = if new {
            SetScore::confirmed(height, 7)
        } else {
            SetScore::height_score(Score::Confirmed { height, index: 7 }).unwrap()
        };
        apply(&structures, Command::ZsetAdd { key: &key("f:", "f:", name), member: &n.to_be_bytes(), score });
        let token = number(n, false);
        apply(&structures, Command::SetAdd { key: &key("k:", "k:", name), member: &token });
        let place = if new {
            u32::try_from(name).unwrap().to_be_bytes().to_vec()
        } else {
            format!("m:{name}").into_bytes()
        };
        let field = format!("d:{tag}");
        apply(&moved, Command::HashSet { key: &place, field: field.as_bytes(), value: &token });
    }
    let queue = key("q:", "z:", 1);
    let mut receipts = Vec::new();
    for now in [1_000, 60_000] {
        // The leases of the first have run out by the second, and its items are given up.
        let claim =
            Claim { count: 2, lease: Duration::from_secs(9), attempts: Some(1), now: Now::Millis(now) };
        if let Reply::Claimed(claimed) = apply(&structures, Command::QueueClaim { key: &queue, claim }) {
            receipts = claimed.iter().map(|claimed| claimed.receipt).collect();
        }
    }
    let mut batch = keyplan_store::engine::Batch::new();
    for id in 0..20 {
        batch.put_row(made.space("rows").unwrap(), &[if new { 2 } else { 1 }, id], &[id]);
    }
    made.commit(batch, Durability::Buffer).unwrap();
    receipts
}

/// Heads of queues keep times and gaps of what was there before, and are compared by what they say.
fn without_queue_heads(mut rows: Rows) -> Rows {
    rows.retain(|(space, key), _| space != "store" || !key.starts_with(b"\x02z:"));
    rows
}

fn same(found: &Rows, expected: &Rows, when: &str) {
    let differs = |a: &Rows, b: &Rows| {
        a.iter().find(|(place, row)| b.get(*place) != Some(*row)).map(|(a, b)| (a.clone(), b.clone()))
    };
    assert_eq!(differs(found, expected), None, "{when}: found");
    assert_eq!(differs(expected, found), None, "{when}: missing");
}

fn ends_as_it_would_have_been_made<E: Engine>(engine: impl Fn() -> E) {
    let (old, new) = (plan("p", OLD), plan("p", NEW));
    let migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    assert!(migration.is_by_contents());
    let receipts = fill(engine(), false);
    let expected = Memory::new();
    assert_eq!(fill(expected.clone(), true), receipts);
    let mut running = attach(&migration, engine());
    let survey = running.survey(|_| ()).unwrap();
    assert_eq!(survey.problems, []);
    running.begin(&survey, false).unwrap();
    let (end, steps) = run(&mut running, 11);
    assert_eq!(end, Step::Finished);
    assert!(steps > 60, "{steps}");
    while running.purge(100).unwrap() > 0 {}
    let engine = running.into_engine();
    same(&without_queue_heads(rows(&engine)), &without_queue_heads(rows(&expected)), "at the end");
    let open = |store: Store<E>| Embedded::open(Arc::new(store), "store").unwrap();
    let found = open(Store::open(engine, &Schema::of(&new).unwrap()).unwrap());
    let queue = b"z:1";
    let size = found.queue_size(queue).unwrap();
    assert_eq!((size.waiting, size.claimed, size.dead), (9, 2, 2));
    // A lease from before is ended by its receipt, and receipts go on after those that were given out.
    let leased: Vec<Vec<u8>> = found
        .queue_items(queue)
        .unwrap()
        .map(Result::unwrap)
        .filter(|item| matches!(item.state, keyplan_store::structure::QueueState::Claimed { .. }))
        .map(|item| item.member)
        .collect();
    let done = Command::QueueAcknowledge { key: queue, member: &leased[0], receipt: receipts[0] };
    assert_eq!(found.apply(&[done], Durability::Buffer).unwrap(), [Reply::Changed(true)]);
    let claim = Claim { count: 1, lease: Duration::from_secs(9), attempts: None, now: Now::Millis(61_000) };
    let replies = found.apply(&[Command::QueueClaim { key: queue, claim }], Durability::Buffer).unwrap();
    let [Reply::Claimed(claimed)] = replies.as_slice() else { panic!("{replies:?}") };
    assert!(claimed[0].receipt > *receipts.iter().max().unwrap());
}

#[test]
fn what_keys_hold_is_written_anew_in_place() {
    let engine = Memory::new();
    ends_as_it_would_have_been_made(|| engine.clone());
}

#[test]
fn on_fjall_and_on_redb_it_is_the_same() {
    let folder = folder("in-place");
    ends_as_it_would_have_been_made(|| Fjall::open(folder.join("fjall"), FjallSettings::default()).unwrap());
    ends_as_it_would_have_been_made(|| Redb::open(folder.join("redb"), RedbSettings::default()).unwrap());
}

/// Takes `steps` steps, each by a process that then ends; whether that was all.
fn interrupted(migration: &Migration<'_>, engine: &Memory, steps: usize, phases: &mut Vec<Phase>) -> bool {
    for _ in 0..steps {
        let mut running = attach(migration, engine.clone());
        phases.push(running.mark().unwrap().phase);
        if running.step(7).unwrap() == Step::Finished {
            while running.purge(50).unwrap() > 0 {}
            return true;
        }
    }
    false
}

#[test]
fn from_any_step_it_goes_on_and_goes_back_byte_for_byte() {
    let (old, new) = (plan("p", OLD), plan("p", NEW));
    let migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    let expected = Memory::new();
    fill(expected.clone(), true);
    let mut phases = Vec::new();
    for steps in (0..).step_by(5) {
        let engine = Memory::new();
        fill(engine.clone(), false);
        let before = rows(&engine);
        let mut running = attach(&migration, engine.clone());
        let survey = running.survey(|_| ()).unwrap();
        running.begin(&survey, false).unwrap();
        drop(running);
        if interrupted(&migration, &engine, steps, &mut phases) {
            same(&without_queue_heads(rows(&engine)), &without_queue_heads(rows(&expected)), "at the end");
            break;
        }
        assert!(Store::open(engine.clone(), &Schema::of(&old).unwrap()).is_err());
        attach(&migration, engine.clone()).turn_back().unwrap();
        // The way back is interrupted after each step, too.
        loop {
            let mut running = attach(&migration, engine.clone());
            if running.step(3).unwrap() == Step::Undone {
                break;
            }
        }
        same(&rows(&engine), &before, &format!("after {steps} steps"));
        Store::open(engine, &Schema::of(&old).unwrap()).unwrap();
    }
    phases.sort_unstable();
    phases.dedup();
    assert_eq!(phases, [Phase::Move, Phase::Settle, Phase::Check, Phase::Build]);
}

#[test]
fn what_has_no_new_form_is_set_aside_on_request_and_comes_back() {
    let (old, new) =
        (plan("p", OLD), plan("p", &NEW.replace("member token: u64;", "member token: u64(0..=30);")));
    let options = keyplan_prover::Options::default();
    let proof =
        keyplan_prover::prove_migration(old.plan.as_ref().unwrap(), new.plan.as_ref().unwrap(), &options);
    let migration = Migration::between(&old, &new, proof.mapping).unwrap();
    let engine = Memory::new();
    fill(engine.clone(), false);
    // A row of no layout, and one of a key that holds nothing.
    let space = engine.space("store").unwrap();
    let mut batch = keyplan_store::engine::Batch::<Memory>::new();
    batch.put(space, &b"\x77what"[..], &b"1"[..]);
    batch.put(space, &b"\x03\x03s:9\x31"[..], &b""[..]);
    engine.commit(batch, Durability::Buffer).unwrap();
    let before = rows(&engine);
    let mut running = attach(&migration, engine.clone());
    let survey = running.survey(|_| ()).unwrap();
    let kinds: Vec<_> = survey.problems.iter().map(|problem| (problem.kind, problem.rows)).collect();
    assert_eq!(kinds, [(ProblemKind::Unreadable, 2), (ProblemKind::NoNewKey, 9)]);
    assert!(matches!(running.begin(&survey, false), Err(MigrationError::Unfit { rows: 11 })));
    same(&rows(&engine), &before, "as before");
    for back in [true, false] {
        let mut running = attach(&migration, engine.clone());
        running.begin(&survey, true).unwrap();
        while back && running.mark().unwrap().phase != Phase::Check {
            running.step(7).unwrap();
        }
        if back {
            running.turn_back().unwrap();
            assert_eq!(run(&mut running, 7).0, Step::Undone);
            same(&rows(&engine), &before, "as before");
            continue;
        }
        assert_eq!(run(&mut running, 7).0, Step::Finished);
        while running.purge(100).unwrap() > 0 {}
        let aside = rows(&engine).keys().filter(|(space, _)| space.starts_with(ASIDE_SPACE)).count();
        assert_eq!(aside, 11);
        let mut seen = Vec::new();
        keyplan_store::migrate::visit_parked(&engine, |row| seen.push(row.key.to_vec())).unwrap();
        assert!(
            seen.contains(&b"\x77what".to_vec()) && seen.contains(&b"\x03\x03s:039".to_vec()),
            "{seen:?}"
        );
    }
}

#[test]
fn a_new_key_where_another_stays_is_refused_before_anything_is_lost() {
    let old = plan(
        "p",
        "plan p; space s { set a = \"a\" id: u8 member m: u8.dec; set b = \"b\" id: u8 member m: u8; }",
    );
    // Two families with one prefix: the prover refuses it, and who goes on all the same loses nothing.
    let new = plan(
        "p",
        "plan p; space s { set b = \"b\" id: u8 member m: u8; set c = \"b\" id: u8 member m: u8 from s.a; }",
    );
    let options = keyplan_prover::Options::default();
    let proof =
        keyplan_prover::prove_migration(old.plan.as_ref().unwrap(), new.plan.as_ref().unwrap(), &options);
    let migration = Migration::between(&old, &new, proof.mapping).unwrap();
    let engine = Memory::new();
    let store = Arc::new(Store::create(engine.clone(), &Schema::of(&old).unwrap()).unwrap());
    let sets = Embedded::open(store, "s").unwrap();
    for (key, member) in [(b"a1", &b"7"[..]), (b"b1", &[7][..])] {
        sets.apply(&[Command::SetAdd { key, member }], Durability::Buffer).unwrap();
    }
    let before = rows(&engine);
    let mut running = attach(&migration, engine.clone());
    let survey = running.survey(|_| ()).unwrap();
    running.begin(&survey, false).unwrap();
    let refused = loop {
        match running.step(7) {
            Ok(Step::More { .. }) => {}
            other => break other,
        }
    };
    assert!(matches!(refused, Err(MigrationError::Merged { .. })), "{refused:?}");
    running.turn_back().unwrap();
    assert_eq!(run(&mut running, 7).0, Step::Undone);
    same(&rows(&engine), &before, "as before");
}

//! Structures on the way: keys move, and what they hold stays.

use std::sync::Arc;
use std::time::Duration;

use keyplan_store::engine::{Durability, Engine, Fjall, FjallSettings, Memory};
use keyplan_store::migrate::{Migration, Step};
use keyplan_store::structure::{Claim, Command, Embedded, End, Now, SetScore, Structures as _};
use keyplan_store::{Schema, Store};

use crate::support::{attach, folder, plan, prove, rows, run};

const OLD: &str = r#"plan p;
space store {
    hash out = "h:" id: u32.dec
        field data = "d:" tag: text -> raw;
    set names = "s:" name: text
        member token: text;
    zset events = "z:" event: text
        member id: u64
        score at: score;
    queue work = "q:" queue_name: text
        member id: u64
        score at: score;
}
space rows {
    key plain = 0x01 id: u8;
}
"#;

/// Hashes in binary and in a space of their own; sorted sets and queues have each other's prefix; sets stay.
const NEW: &str = r#"plan p;
space store {
    set names = "s:" name: text
        member token: text;
    zset events = "q:" event: text
        member id: u64
        score at: score;
    queue work = "z:" queue_name: text
        member id: u64
        score at: score;
}
space outs {
    hash out = id: u32
        field data = "d:" tag: text -> raw
        from store.out;
}
space rows {
    key plain = 0x01 id: u8;
}
"#;

/// The keys of one plan: hashes are in a space, the others in `store`.
struct Keys {
    hashes: &'static str,
    hash: fn(u32) -> Vec<u8>,
    zset: &'static str,
    queue: &'static str,
}

const BEFORE: Keys =
    Keys { hashes: "store", hash: |id| format!("h:{id}").into_bytes(), zset: "z:", queue: "q:" };
const AFTER: Keys = Keys { hashes: "outs", hash: |id| id.to_be_bytes().to_vec(), zset: "q:", queue: "z:" };

/// Makes the same structures under the keys of either plan.
fn fill<E: Engine>(engine: E, text: &str, keys: &Keys) {
    let store = Arc::new(Store::create(engine, &Schema::of(&plan("p", text)).unwrap()).unwrap());
    let hashes = Embedded::open(store.clone(), keys.hashes).unwrap();
    let others = Embedded::open(store, "store").unwrap();
    let apply = |structures: &Embedded<E>, command: Command<'_>| {
        structures.apply(&[command], Durability::Buffer).unwrap();
    };
    for n in 0..40_u32 {
        let (hash, name) = ((keys.hash)(n), format!("{}", n % 7));
        let zset = [keys.zset, &name].concat();
        let (set, queue) = (format!("s:{name}"), [keys.queue, &name].concat());
        let id = u64::from(n).to_be_bytes();
        let at = SetScore::confirmed(n / 3, u64::from(n));
        for tag in ["a", "b"] {
            let field = format!("d:{tag}");
            apply(&hashes, Command::HashSet { key: &hash, field: field.as_bytes(), value: &id });
        }
        apply(&others, Command::SetAdd { key: set.as_bytes(), member: &id[7..] });
        apply(&others, Command::ZsetAdd { key: zset.as_bytes(), member: &id, score: at });
        apply(&others, Command::QueuePush { key: queue.as_bytes(), member: &id, score: at });
    }
    // Gaps in an order, leases, receipts, an item that was given up.
    let (zset, queue) = ([keys.zset, "1"].concat(), [keys.queue, "2"].concat());
    apply(&others, Command::ZsetPop { key: zset.as_bytes(), end: End::Min, count: 2 });
    let claim =
        |now| Claim { count: 2, lease: Duration::from_secs(9), attempts: Some(1), now: Now::Millis(now) };
    apply(&others, Command::QueueClaim { key: queue.as_bytes(), claim: claim(1_000) });
    apply(&others, Command::QueueClaim { key: queue.as_bytes(), claim: claim(60_000) });
}

#[test]
fn structures_under_new_keys_are_those_that_would_have_been_made_under_them() {
    let (old, new) = (plan("p", OLD), plan("p", NEW));
    let migration = Migration::between(&old, &new, prove(&old, &new).mapping).unwrap();
    let (engine, expected) = (Memory::new(), Memory::new());
    fill(engine.clone(), OLD, &BEFORE);
    fill(expected.clone(), NEW, &AFTER);
    let before = rows(&engine);
    let mut running = attach(&migration, engine.clone());
    let survey = running.survey(|_| ()).unwrap();
    assert_eq!((survey.problems.len(), survey.moved() > 200), (0, true), "{:?}", survey.problems);
    running.begin(&survey, false).unwrap();
    // Back from the end, and forth again.
    while running.mark().unwrap().phase != keyplan_store::migrate::Phase::Check {
        running.step(11).unwrap();
    }
    running.turn_back().unwrap();
    assert_eq!(run(&mut running, 11).0, Step::Undone);
    assert_eq!(rows(&engine), before);
    let mut running = attach(&migration, engine.clone());
    running.begin(&survey, false).unwrap();
    assert_eq!(run(&mut running, 11).0, Step::Finished);
    assert_eq!(rows(&engine), rows(&expected));
    // A copy is the same.
    let folder = folder("structures-copy");
    let source = Memory::new();
    fill(source.clone(), OLD, &BEFORE);
    let copy = migration.create_copy(Fjall::open(&folder, FjallSettings::default()).unwrap()).unwrap();
    assert_eq!(migration.copy(&source, &copy, false, |_| ()).unwrap(), survey);
    assert_eq!(rows(copy.engine()), rows(&expected));
}

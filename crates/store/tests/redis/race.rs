//! Processes that race for a nonce and for a lock on a server, by the types of a plan.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Duration;

use keyplan_store::engine::Durability;
use keyplan_store::structure::{Redis, Structures};
use keyplan_store::typed::Error;
use keyplan_store::typed::structure::{Hash, LockField, Locks, Nonces, NumberField, Set, Step, raw::Now};
use keyplan_testkit::again;

keyplan::plan! {
    plan bridge;

    space bridge {
        hash nonce = "nonce:{" channel: u32.dec "}"
            field sender = sender: u64 -> last: u64;
        set packet = "packet:{" channel: u32.dec "}"
            member nonce: u64 by: u32;
        hash pool = "pool:{" id: u32.dec "}"
            field lock = "lock" -> token: u64 until: u64 owner: bytes
            field entries = "entries" -> count: u64;
    }
}

use bridge::bridge::{
    Nonce, NonceSenderField, NonceSenderValue, Packet, PacketMember, Pool, PoolEntriesField,
    PoolEntriesValue, PoolLockField, PoolLockValue,
};

impl NumberField for NonceSenderField {
    fn value_of(last: u64) -> NonceSenderValue {
        NonceSenderValue { last }
    }
    fn number_of(value: NonceSenderValue) -> u64 {
        value.last
    }
}

impl<'v> LockField<'v> for PoolLockField {
    fn value_of(token: u64, until: u64, owner: &'v [u8]) -> PoolLockValue<'v> {
        PoolLockValue { token, until, owner }
    }
    fn held_of(value: PoolLockValue<'v>) -> (u64, u64, &'v [u8]) {
        (value.token, value.until, value.owner)
    }
}

/// Where the child finds the server.
const CHILD: &str = "KEYPLAN_RACE_CHILD";
/// How many nonces both processes try to use.
const NONCES: u64 = 200;
/// How often each process enters the pool.
const ENTRIES: u64 = 40;

const MINUTE: Duration = Duration::from_mins(1);
const CHANNEL: Nonce = Nonce { channel: 1 };
const POOL: Pool = Pool { id: 7 };

fn entries(redis: &Redis) -> u64 {
    let found = Hash::<Pool, _>::on(redis).unwrap().get(&POOL, PoolEntriesField {}).unwrap();
    found.map_or(0, |found| found.value().unwrap().count)
}

/// Not a test by itself: one of the processes that race. It says which nonces it has used.
#[test]
fn child() {
    let Ok(url) = std::env::var(CHILD) else { return };
    let redis = Redis::connect(&url).unwrap();
    let nonces = Nonces::<Nonce>::on(&redis).unwrap();
    let by = std::process::id();
    for nonce in 1..=NONCES {
        let used = Step::update(&redis, Durability::Buffer, |step| {
            nonces.advance(step, &CHANNEL, NonceSenderField { sender: 5 }, nonce)?;
            step.set_add(&Packet { channel: 1 }, &PacketMember { nonce, by })
        });
        match used {
            Ok(()) => println!("used {nonce}"),
            Err(Error::Replayed { last, given, .. }) => assert!(given <= last),
            Err(other) => panic!("{other}"),
        }
    }
    let locks = Locks::<Pool>::on(&redis).unwrap();
    let (owner, mut entered, mut token) = (by.to_string(), 0, 0);
    while entered < ENTRIES {
        match locks.hold(&POOL, PoolLockField {}, owner.as_bytes(), MINUTE) {
            Ok(inside) => {
                assert!(inside.held().token > token);
                token = inside.held().token;
                // Read and written in two steps: without the lock one of two would be lost.
                let value = PoolEntriesValue { count: entries(&redis) + 1 };
                let mut step = Step::new();
                step.hash_set(&POOL, PoolEntriesField {}, &value).unwrap();
                locks.require(&mut step, &POOL, PoolLockField {}, inside.held()).unwrap();
                step.apply(&redis, Durability::Buffer).unwrap();
                entered += 1;
                // Every third time it is forgotten, as by a process that was killed, but that its end comes soon.
                if entered % 3 == 0 {
                    let mut inside = inside;
                    inside.renew(Duration::from_millis(20)).unwrap();
                    inside.keep();
                } else {
                    inside.release().unwrap();
                }
            }
            Err(Error::Locked { .. }) => std::thread::sleep(Duration::from_millis(1)),
            Err(other) => panic!("{other}"),
        }
    }
}

/// Two processes on a server: each nonce passes for one of them, with what it protects, and one at a time is in the pool.
pub(crate) fn on(url: &str) {
    let children: Vec<_> = (0..2)
        .map(|_| {
            let mut child = again("race::child");
            child.env(CHILD, url).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut used = BTreeSet::new();
    for child in children {
        let by = child.id();
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        for line in String::from_utf8(ended.stdout).unwrap().lines() {
            if let Some((_, nonce)) = line.split_once("used ") {
                assert!(used.insert((nonce.parse::<u64>().unwrap(), by)), "{nonce} has passed twice");
            }
        }
    }
    let redis = Redis::connect(url).unwrap();
    let passed: BTreeSet<u64> = used.iter().map(|(nonce, _)| *nonce).collect();
    assert_eq!(passed.len(), used.len(), "a nonce has passed for both");
    assert_eq!(passed.last(), Some(&NONCES));
    // What a nonce protects is there with it, and nothing else is.
    let packets = Set::<Packet, _>::on(&redis).unwrap().members(&Packet { channel: 1 }).unwrap();
    let packets: BTreeSet<(u64, u32)> = packets
        .iter()
        .map(|found| found.member().map(|PacketMember { nonce, by }| (nonce, by)).unwrap())
        .collect();
    assert_eq!(packets, used);
    assert_eq!(entries(&redis), 2 * ENTRIES, "both were inside at once");
    // Each entry had a token of its own.
    let locks = Locks::<Pool>::on(&redis).unwrap();
    std::thread::sleep(Duration::from_millis(30));
    let after = locks.hold(&POOL, PoolLockField {}, b"after", MINUTE).unwrap();
    assert_eq!(after.held().token, 2 * ENTRIES + 1);
}

#[test]
fn a_nonce_passes_for_one_process_and_a_lock_is_held_by_one() {
    let (server, _) = crate::server();
    on(&format!("redis://{}", server.address()));
}

#[test]
fn an_owner_whose_time_was_over_changes_nothing_more() {
    let (_server, settings) = crate::server();
    let redis = Redis::open(settings).unwrap();
    fenced(&redis);
}

/// A lock at given moments: who has it, who is refused, and what an owner can still do whose time was over.
fn fenced(structures: &dyn Structures) {
    let at = |millis| Locks::<Pool>::on(structures).unwrap().at(Now::Millis(millis));
    let lease = Duration::from_millis(100);
    let first = at(1_000).hold(&POOL, PoolLockField {}, b"first", lease).unwrap();
    assert_eq!(at(1_099).holder(&POOL, PoolLockField {}).unwrap().as_ref(), Some(first.held()));
    let refused = at(1_099).hold(&POOL, PoolLockField {}, b"second", lease).map(drop).unwrap_err();
    assert!(
        matches!(&refused, Error::Locked { until: 1_100, owner, .. } if owner == "6669727374"),
        "{refused}"
    );
    assert_eq!(at(1_100).holder(&POOL, PoolLockField {}).unwrap(), None);
    // Its time is over, and nobody has taken it: it can still write.
    let count = |count, held| {
        let mut step = Step::new();
        step.hash_set(&POOL, PoolEntriesField {}, &PoolEntriesValue { count }).unwrap();
        at(0).require(&mut step, &POOL, PoolLockField {}, held).unwrap();
        step.apply(structures, Durability::Buffer)
    };
    count(1, first.held()).unwrap();
    let second = at(1_100).hold(&POOL, PoolLockField {}, b"second", lease).unwrap();
    assert_eq!(second.held().token, first.held().token + 1);
    assert!(matches!(count(2, first.held()), Err(Error::Conflict)));
    count(3, second.held()).unwrap();
    let mut step = Step::new();
    let late = at(1_101).renew(&mut step, &POOL, PoolLockField {}, first.held(), lease).unwrap_err();
    assert_eq!(late.to_string(), "0x6669727374 does not hold `bridge.pool`");
    assert!(matches!(first.release(), Err(Error::NotHeld { .. })));
    assert_eq!(at(1_101).holder(&POOL, PoolLockField {}).unwrap().as_ref(), Some(second.held()));
    // What the owner does in steps of its own.
    let held = second.held().clone();
    second.keep();
    let mut step = Step::new();
    let held = at(1_150).renew(&mut step, &POOL, PoolLockField {}, &held, lease).unwrap();
    step.apply(structures, Durability::Buffer).unwrap();
    assert_eq!(held.until, 1_250);
    let mut step = Step::new();
    at(1_200).release(&mut step, &POOL, PoolLockField {}, &held).unwrap();
    step.apply(structures, Durability::Buffer).unwrap();
    assert_eq!(at(1_201).holder(&POOL, PoolLockField {}).unwrap(), None);
    // A step sees what it has read and changed itself.
    let nonces = Nonces::<Nonce>::on(structures).unwrap();
    let mut step = Step::new();
    nonces.advance(&mut step, &CHANNEL, NonceSenderField { sender: 9 }, 4).unwrap();
    let again = nonces.advance(&mut step, &CHANNEL, NonceSenderField { sender: 9 }, 4);
    assert!(matches!(again, Err(Error::Replayed { last: 4, given: 4, .. })), "{again:?}");
    // Another was quicker: nothing of it is done.
    let mut other = Step::new();
    nonces.advance(&mut other, &CHANNEL, NonceSenderField { sender: 9 }, 7).unwrap();
    other.apply(structures, Durability::Buffer).unwrap();
    step.set_add(&Packet { channel: 1 }, &PacketMember { nonce: 4, by: 0 }).unwrap();
    assert!(matches!(step.apply(structures, Durability::Buffer), Err(Error::Conflict)));
    assert_eq!(nonces.last(&CHANNEL, NonceSenderField { sender: 9 }).unwrap(), Some(7));
    assert_eq!(Set::<Packet, _>::on(structures).unwrap().count(&Packet { channel: 1 }).unwrap(), 0);
}

#[test]
fn the_same_holds_in_this_process() {
    use keyplan::store::Store;
    use keyplan::store::engine::Memory;
    let store = Store::create_on(Memory::new(), &bridge::PLAN).unwrap();
    fenced(&store.structures("bridge").unwrap());
}

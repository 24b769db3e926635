//! The PAW chain's operations: each is one step, and the document's flaws are refused or repaired.
#![cfg(test)]

mod model;
mod suite;

use std::collections::BTreeMap;

use keyplan::plan::model::{Family, Segment};
use keyplan::plan::notation::{Notation, hex};
use keyplan::store::engine::{Fjall, FjallSettings, Memory};
use keyplan::store::{Error, Read as _};
use keyplan_chains::paw::paw_chain::{self as layout, state};
use keyplan_chains::paw::{Module, Packet, Paw, PawError, Quote};
use keyplan_chains::{paw, paw_v2, upstream};
use keyplan_store::engine::{Lmdb, LmdbSettings, Redb, RedbSettings};

const ALICE: [u8; 20] = [1; 20];
const BOB: [u8; 32] = [2; 32];

fn packet<'p>(channel: &'p str, sender: &'p str, nonce: u64) -> Packet<'p> {
    Packet { channel, sender, nonce }
}

/// Every family of the repaired plan, which has every family of the document, is here with the same keys.
#[test]
fn keys_are_those_of_the_repaired_plan() {
    let compile = |name: &str, text: &str| {
        let imports = |path: &str| {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans");
            std::fs::read_to_string(folder.join(path)).map_err(|error| error.to_string())
        };
        keyplan::plan::compile(name, text, imports).plan.expect("a plan")
    };
    let repaired = compile("paw_v2.keyplan", paw_v2::PLAN.text());
    let ours = compile("paw_chain.keyplan", layout::PLAN.text());
    let layouts = |plan: &keyplan::plan::model::Plan| -> BTreeMap<String, String> {
        let notation = Notation::of(plan);
        let of = |family: &Family| {
            let parts = family.key.segments().iter().map(|segment| match segment {
                Segment::Argument(argument) => {
                    format!("{} {}", argument.name.as_deref().unwrap_or("-"), notation.shape(&argument.shape))
                }
                _ => String::from("a literal"),
            });
            format!("{} {}", hex(&family.key.literal_prefix()), parts.collect::<Vec<_>>().join(" "))
        };
        let families = plan.spaces.iter().flat_map(|space| &space.families);
        families.map(|family| (family.path.clone(), of(family))).collect()
    };
    let (theirs, ours) = (layouts(&repaired), layouts(&ours));
    assert_eq!(theirs.len(), 33);
    for (path, layout) in &theirs {
        assert_eq!(ours.get(path), Some(layout), "{path}");
    }
    let more: Vec<&str> =
        ours.keys().filter(|path| !theirs.contains_key(*path)).map(String::as_str).collect();
    assert_eq!(more, ["state.compute.request_count", "state.oracle.total_power", "state.oracle.vote_at"]);
}

#[test]
fn a_pair_of_tokens_is_nobody_elses() {
    // Two pairs with one key: the document's types refuse to write either.
    let pair = paw::state::dex::PoolByTokens { token_a: "upaw", token_b: "usdc" };
    let other = paw::state::dex::PoolByTokens { token_a: "upa", token_b: "wusdc" };
    assert!(pair.to_vec().is_err() && other.to_vec().is_err());
    let chain = Paw::create(Memory::new()).unwrap();
    let pool = chain.create_pool("usdc", "upaw").unwrap();
    assert_eq!(chain.pool_of("upaw", "usdc").unwrap(), Some(pool));
    assert_eq!(chain.pool_of("upa", "wusdc").unwrap(), None);
    let second = chain.create_pool("upa", "wusdc").unwrap();
    assert_ne!(pool, second);
    assert!(
        matches!(chain.create_pool("upaw", "usdc"), Err(PawError::PoolExists { pool: same }) if same == pool)
    );
    assert!(matches!(chain.create_pool("upaw", "upaw"), Err(PawError::OneToken)));
    assert!(chain.create_pool("up", "usdc").is_err(), "no token is called so");
}

/// A slash in the sender: two senders with one nonce key in the document, two here, in each of the three modules.
#[test]
fn a_nonce_is_nobody_elses() {
    let theirs = paw::state::dex::IbcPacketNonce { channel_id: "channel-1", sender: "a/b" };
    assert!(theirs.to_vec().is_err(), "its bytes are also those of channel-1/a with b");
    let chain = Paw::create(Memory::new()).unwrap();
    for module in [Module::Compute, Module::Dex, Module::Oracle] {
        chain.receive_packet(module, &packet("channel-1", "a/b", 5)).unwrap();
        assert!(
            chain.receive_packet(module, &packet("channel-1/a", "b", 5)).is_err(),
            "no channel is called so"
        );
        chain.receive_packet(module, &packet("channel-1", "b", 5)).unwrap();
        for nonce in [4, 5] {
            let replay = chain.receive_packet(module, &packet("channel-1", "a/b", nonce));
            assert!(matches!(replay, Err(PawError::Store(Error::Replayed { last: 5, .. }))));
        }
        chain.receive_packet(module, &packet("channel-1", "a/b", 6)).unwrap();
    }
}

/// In the chain's code the pause and the sum of all weights have the key `03 0e`: each overwrites the other.
#[test]
fn the_pause_and_the_sum_of_weights_have_keys_of_their_own() {
    use upstream::paw_upstream::oracle::keeper as theirs;
    // The types made of the code's layout refuse to write the pause over the sum.
    assert!(theirs::EmergencyPause.to_vec().is_err());
    assert_eq!(theirs::CachedTotalVotingPower.to_vec().unwrap(), [3, 0x0e]);
    assert_eq!(state::oracle::EmergencyPause.to_vec().unwrap(), [3, 0x0e]);
    assert_eq!(state::oracle::TotalPower.to_vec().unwrap(), [3, 0x0f]);
    let chain = Paw::create(Memory::new()).unwrap();
    chain.register_validator(&ALICE, 70).unwrap();
    chain.pause(&BOB, "a wrong feed", 9).unwrap();
    chain.register_validator(&BOB, 30).unwrap();
    assert_eq!(chain.total_power().unwrap(), 100);
    let pause = chain.paused().unwrap().unwrap();
    assert_eq!((pause.by.as_slice(), pause.height, pause.why.as_str()), (&BOB[..], 9, "a wrong feed"));
    let quote = [Quote { price: 7, denom: "upaw" }];
    assert!(matches!(chain.vote(&ALICE, &ALICE, &quote, 9), Err(PawError::Paused)));
    chain.resume().unwrap();
    chain.vote(&ALICE, &ALICE, &quote, 9).unwrap();
    assert_eq!(chain.total_power().unwrap(), 100);
}

#[test]
fn every_operation_is_one_step_in_memory() {
    suite::operations(&Paw::create(Memory::new()).unwrap());
}

#[test]
fn every_operation_is_one_step_on_fjall() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Fjall::open(folder.path(), FjallSettings::default()).unwrap();
    suite::operations(&Paw::create(open()).unwrap());
    assert_eq!(Paw::open(open()).unwrap().pool_of("usdc", "upaw").unwrap(), Some(1));
}

#[test]
fn random_operations_agree_with_a_model_in_memory() {
    let memory = Memory::new();
    model::random_operations_agree(|| Paw::open(memory.clone()).unwrap(), 1, 6_000);
}

#[test]
fn random_operations_agree_with_a_model_on_fjall() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Paw::open(Fjall::open(folder.path(), FjallSettings::default()).unwrap()).unwrap();
    model::random_operations_agree(open, 2, 1_500);
}

#[test]
fn random_operations_agree_with_a_model_on_redb() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Paw::open(Redb::open(folder.path(), RedbSettings::default()).unwrap()).unwrap();
    model::random_operations_agree(open, 3, 1_500);
}

#[test]
fn random_operations_agree_with_a_model_on_lmdb() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Paw::open(Lmdb::open(folder.path(), LmdbSettings::default()).unwrap()).unwrap();
    model::random_operations_agree(open, 4, 1_500);
}

/// Threads that use one nonce and change one pool: nothing passes twice and nothing is lost.
#[test]
fn operations_of_threads_are_one_after_the_other() {
    let chain = Paw::create(Memory::new()).unwrap();
    let pool = chain.create_pool("upaw", "usdc").unwrap();
    let passed = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 1..=4_u8 {
            let (chain, passed) = (&chain, &passed);
            scope.spawn(move || {
                for height in 1..=10 {
                    chain.add_liquidity(pool, &[thread; 20], 100, 100, height).unwrap();
                    if chain.receive_packet(Module::Dex, &packet("channel-0", "same", height)).is_ok() {
                        passed.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    }
                }
            });
        }
    });
    let state = chain.pool(pool).unwrap();
    assert_eq!((state.reserve_a, state.reserve_b, state.shares), (4_000, 4_000, 4_000));
    assert!(passed.into_inner() <= 10);
    let rows = chain.store().snapshot().unwrap().scan(state::dex::Liquidity::by_pool_id(pool)).count();
    assert_eq!(rows, 4);
}

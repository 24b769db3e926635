//! The PAW chain's operations: each is one step, and the document's flaws are refused or repaired.
#![cfg(test)]
#![cfg(all(feature = "paw", feature = "store"))]

use keyplan::store::Error;
use keyplan::store::engine::{Durability, Engine, Fjall, FjallSettings, Memory};
use keyplan::store::raw::Steps;
use keyplan_chains::paw_chain::paw_chain::state;
use keyplan_chains::paw_chain::{Paw, PawError};
use keyplan_chains::{paw, paw_v2};

const ALICE: [u8; 20] = [1; 20];
const BOB: [u8; 32] = [2; 32];

#[test]
fn keys_are_those_of_the_repaired_plan() {
    let ours = state::dex::PoolByTokens { token_a: "upaw", token_b: "usdc" }.to_vec().unwrap();
    let theirs = paw_v2::state::dex::PoolByTokens { token_a: "upaw", token_b: "usdc" }.to_vec().unwrap();
    assert_eq!(ours, theirs);
    let ours = state::compute::IbcPacketNonce { channel_id: "channel-1", sender: "a/b" }.to_vec().unwrap();
    let theirs =
        paw_v2::state::compute::IbcPacketNonce { channel_id: "channel-1", sender: "a/b" }.to_vec().unwrap();
    assert_eq!(ours, theirs);
    let ours = state::dex::LiquidityShare { pool_id: 7, addr: &ALICE }.to_vec().unwrap();
    assert_eq!(ours, paw_v2::state::dex::LiquidityShare { pool_id: 7, addr: &ALICE }.to_vec().unwrap());
    assert_eq!(state::oracle::EmergencyPause.to_vec().unwrap(), [3, 0x0e]);
}

/// The flaws as the document's keys have them, and what the operations make of them.
#[test]
fn flaws_of_the_document_are_refused_or_repaired() {
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
    // A slash in the sender: two senders with one nonce key in the document, two here.
    chain.receive_packet("channel-1", "a/b", 5).unwrap();
    assert!(chain.receive_packet("channel-1/a", "b", 5).is_err(), "no channel is called so");
    chain.receive_packet("channel-1", "b", 5).unwrap();
    for nonce in [4, 5] {
        let replay = chain.receive_packet("channel-1", "a/b", nonce);
        assert!(matches!(replay, Err(PawError::Store(Error::Replayed { last: 5, .. }))));
    }
    // The number that two keys shared in the code, 03 0e, is the pause's alone: the plan proves it when it is compiled.
    chain.pause(&BOB).unwrap();
    assert!(matches!(chain.vote(1, &ALICE, "upaw", 7), Err(PawError::Paused)));
    chain.resume().unwrap();
    chain.vote(1, &ALICE, "upaw", 7).unwrap();
}

fn operations<E: Engine>(chain: &Paw<E>) {
    let pool = chain.create_pool("upaw", "usdc").unwrap();
    assert!(matches!(chain.add_liquidity(99, &ALICE, 1, 1, 1), Err(PawError::NoPool { pool: 99 })));
    assert_eq!(chain.add_liquidity(pool, &ALICE, 100, 400, 1).unwrap(), 200);
    assert_eq!(chain.add_liquidity(pool, &BOB, 50, 200, 1).unwrap(), 100);
    // What is refused writes nothing, not even that the account has acted.
    assert!(matches!(
        chain.remove_liquidity(pool, &BOB, 101, 2),
        Err(PawError::TooFew { have: 100, wanted: 101 })
    ));
    assert_eq!(chain.remove_liquidity(pool, &BOB, 100, 2).unwrap(), (50, 200));
    assert_eq!(chain.share_of(pool, &BOB).unwrap(), 0);
    let state = chain.pool(pool).unwrap();
    assert_eq!((state.reserve_a, state.reserve_b, state.shares), (100, 400, 200));
    chain.trip_breaker(pool, 10).unwrap();
    assert!(matches!(chain.add_liquidity(pool, &ALICE, 1, 4, 10), Err(PawError::Halted { until: 10, .. })));
    assert_eq!(chain.add_liquidity(pool, &ALICE, 1, 4, 11).unwrap(), 2);
    chain.add_fees(pool, "upaw", 30, 3).unwrap();
    chain.add_fees(pool, "upaw", 10, 1).unwrap();
    assert!(matches!(chain.add_fees(pool, "upaw", u128::MAX, 1), Err(PawError::Overflow)));
    assert_eq!(chain.fees(pool, "upaw").unwrap(), (40, 4));

    let request = chain.request(&ALICE, 1, 500).unwrap();
    assert!(matches!(chain.request(&ALICE, 1, 500), Err(PawError::Store(Error::Replayed { .. }))));
    let other = chain.request(&ALICE, 2, 70).unwrap();
    assert_eq!((chain.escrow(request).unwrap(), chain.escrow(other).unwrap()), (Some(500), Some(70)));
    assert_eq!(chain.complete(request, b"42").unwrap(), 500);
    assert!(
        matches!(chain.refund(request), Err(PawError::NotPending { .. })),
        "what is paid is not paid back"
    );
    assert_eq!(chain.refund(other).unwrap(), 70);
    assert!(matches!(chain.complete(other, b""), Err(PawError::NotPending { .. })));
    assert_eq!(chain.escrow(request).unwrap(), None);

    for (height, price) in [(5, 10_u8), (5, 30), (150_000, 20)] {
        let voter = [price; 20];
        chain.vote(height, &voter, "upaw", price.into()).unwrap();
    }
    assert_eq!(chain.settle_price(5, "upaw").unwrap(), Some(30));
    assert_eq!(chain.settle_price(6, "upaw").unwrap(), None);
    let steps = Steps { rows: 1, durability: Durability::Buffer, dry_run: false };
    assert_eq!(chain.prune_votes(100_004, &steps).unwrap().rows, 0);
    assert_eq!(chain.prune_votes(100_005, &steps).unwrap().rows, 2);
    assert_eq!(chain.settle_price(150_000, "upaw").unwrap(), Some(20));
}

#[test]
fn every_operation_is_one_step_in_memory_and_on_fjall() {
    operations(&Paw::create(Memory::new()).unwrap());
    let folder = tempfile::tempdir().unwrap();
    operations(&Paw::create(Fjall::open(folder.path(), FjallSettings::default()).unwrap()).unwrap());
    let again = Paw::open(Fjall::open(folder.path(), FjallSettings::default()).unwrap()).unwrap();
    assert_eq!(again.pool_of("usdc", "upaw").unwrap(), Some(1));
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
                    if chain.receive_packet("channel-0", "same", height).is_ok() {
                        passed.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    }
                }
            });
        }
    });
    let state = chain.pool(pool).unwrap();
    assert_eq!((state.reserve_a, state.reserve_b, state.shares), (4_000, 4_000, 4_000));
    assert!(passed.into_inner() <= 10);
}

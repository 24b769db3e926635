//! What the operations do, one after the other, on any engine.

use keyplan::store::Error;
use keyplan::store::engine::{Durability, Engine};
use keyplan::store::raw::Steps;
use keyplan_chains::paw::{
    ComputeParams, DexParams, JobState, OracleParams, Packet, Paw, PawError, Quote, Slashed, Slashing, Swap,
    Swapped, Validator, commitment,
};

const ALICE: [u8; 20] = [1; 20];
const BOB: [u8; 32] = [2; 32];
const CAROL: [u8; 20] = [3; 20];

pub(crate) fn operations<E: Engine>(chain: &Paw<E>) {
    pools(chain);
    swaps(chain);
    locks(chain);
    jobs(chain);
    prices(chain);
    commitments(chain);
    misses(chain);
}

fn pools<E: Engine>(chain: &Paw<E>) {
    let pool = chain.create_pool("upaw", "usdc").unwrap();
    assert!(matches!(chain.add_liquidity(99, &ALICE, 1, 1, 1), Err(PawError::NoPool { pool: 99 })));
    assert_eq!(chain.add_liquidity(pool, &ALICE, 100, 400, 1).unwrap(), 200);
    assert_eq!(chain.add_liquidity(pool, &BOB, 50, 200, 1).unwrap(), 100);
    // What is refused writes nothing, not even that the account has acted.
    assert!(matches!(
        chain.remove_liquidity(pool, &BOB, 101, 2),
        Err(PawError::TooFew { have: 100, wanted: 101 })
    ));
    assert_eq!(chain.last_action(pool, &BOB).unwrap(), Some(1));
    assert_eq!(chain.liquidity_of(pool, &BOB).unwrap(), (50, 200));
    assert_eq!(chain.remove_liquidity(pool, &BOB, 50, 2).unwrap(), (25, 100));
    assert_eq!(chain.liquidity_of(pool, &BOB).unwrap(), (25, 100));
    assert_eq!(chain.shares(pool).unwrap(), [(ALICE.to_vec(), 200), (BOB.to_vec(), 50)]);
    assert_eq!(chain.remove_liquidity(pool, &BOB, 50, 3).unwrap(), (25, 100));
    assert_eq!((chain.share_of(pool, &BOB).unwrap(), chain.liquidity_of(pool, &BOB).unwrap()), (0, (0, 0)));
    let state = chain.pool(pool).unwrap();
    assert_eq!((state.reserve_a, state.reserve_b, state.shares), (100, 400, 200));
    chain.trip_breaker(pool, 10).unwrap();
    assert!(matches!(chain.add_liquidity(pool, &ALICE, 1, 4, 10), Err(PawError::Halted { until: 10, .. })));
    assert_eq!(chain.add_liquidity(pool, &ALICE, 1, 4, 11).unwrap(), 2);
    chain.trip_breaker(pool, 20).unwrap();
    assert_eq!(chain.breaker(pool).unwrap(), Some(20));
    chain.reset_breaker(pool).unwrap();
    assert_eq!(chain.breaker(pool).unwrap(), None);
    chain.set_dex_params(DexParams { flash_loan_blocks: 5, ..DexParams::default() }).unwrap();
    let early = chain.remove_liquidity(pool, &ALICE, 1, 15);
    assert!(matches!(early, Err(PawError::TooSoon { height: 11 })));
    assert!(chain.remove_liquidity(pool, &ALICE, 2, 16).is_ok());
    chain.set_dex_params(DexParams::default()).unwrap();
    let wrong = DexParams { swap_fee: 1_000_001, ..DexParams::default() };
    assert!(matches!(chain.set_dex_params(wrong), Err(PawError::Overflow)));
    assert_eq!(chain.dex_params().unwrap(), DexParams::default());
}

fn swaps<E: Engine>(chain: &Paw<E>) {
    let pool = chain.create_pool("uatom", "usdc").unwrap();
    let swap = Swap { pool, token_in: "uatom", amount_in: 10_000, min_out: 1 };
    assert!(matches!(chain.swap(&swap, 1), Err(PawError::TooFew { .. })), "there is nothing to take");
    chain.add_liquidity(pool, &ALICE, 1_000_000, 4_000_000, 1).unwrap();
    // A fee of 31: 3 for the protocol. Then 4,000,000 · 9,969 ÷ 1,009,969.
    let done = chain.swap(&swap, 2).unwrap();
    assert_eq!(done, Swapped { out: 39_482, lp_fee: 28, protocol_fee: 3 });
    let state = chain.pool(pool).unwrap();
    assert_eq!((state.reserve_a, state.reserve_b), (1_009_969, 3_960_518));
    assert!(state.reserve_a * state.reserve_b >= 1_000_000 * 4_000_000);
    assert_eq!(chain.fees(pool, "uatom").unwrap(), (28, 3));
    let greedy = Swap { min_out: 39_482, ..swap };
    assert!(matches!(chain.swap(&greedy, 3), Err(PawError::TooFew { wanted: 39_482, .. })));
    let all = Swap { amount_in: 1_000_000, ..swap };
    assert!(matches!(chain.swap(&all, 3), Err(PawError::Drained { .. })));
    let other = Swap { token_in: "upaw", ..swap };
    assert!(matches!(chain.swap(&other, 3), Err(PawError::OtherToken { .. })));
    chain.trip_breaker(pool, 3).unwrap();
    assert!(matches!(chain.swap(&swap, 3), Err(PawError::Halted { .. })));
    // A packet that asks for a swap which is refused has not passed: its nonce can be used again.
    let packet = Packet { channel: "channel-7", sender: "cosmos1/x", nonce: 1 };
    assert!(matches!(chain.receive_swap(&packet, &swap, 3), Err(PawError::Halted { .. })));
    let back = Swap { token_in: "usdc", ..swap };
    assert!(chain.receive_swap(&packet, &back, 4).is_ok());
    let replay = chain.receive_swap(&packet, &back, 5);
    assert!(matches!(replay, Err(PawError::Store(Error::Replayed { last: 1, given: 1, .. }))));
    let (usdc, _) = chain.fees(pool, "usdc").unwrap();
    let before = chain.pool(pool).unwrap();
    assert_eq!(chain.compound_fees(pool).unwrap(), (28, usdc));
    let after = chain.pool(pool).unwrap();
    assert_eq!(
        (after.reserve_a, after.reserve_b),
        (before.reserve_a + 28, before.reserve_b + usdc),
        "what was gathered belongs to all shares"
    );
    assert_eq!(chain.fees(pool, "uatom").unwrap(), (0, 3));
    chain.add_fees(pool, "uatom", 30, 7).unwrap();
    assert!(matches!(chain.add_fees(pool, "uatom", u128::MAX, 1), Err(PawError::Overflow)));
    assert_eq!(chain.fees(pool, "uatom").unwrap(), (30, 10));
    assert_eq!(chain.collect_protocol_fees("uatom").unwrap(), 10);
    assert_eq!(chain.collect_protocol_fees("uatom").unwrap(), 0);
    assert_eq!(chain.pools().unwrap().len(), 2);
}

fn locks<E: Engine>(chain: &Paw<E>) {
    let pool = chain.create_pool("ulock", "usdc").unwrap();
    chain.add_liquidity(pool, &ALICE, 100_000, 100_000, 1).unwrap();
    let swap = Swap { pool, token_in: "ulock", amount_in: 1_000, min_out: 1 };
    let inside = chain.enter(pool, b"first", 10, 12).unwrap();
    // Nobody enters it again, its owner included, and nobody acts on it from outside.
    for owner in [&b"second"[..], b"first"] {
        let again = chain.enter(pool, owner, 11, 13);
        assert!(matches!(again, Err(PawError::Store(Error::Locked { until: 12, .. }))));
    }
    assert!(matches!(chain.swap(&swap, 10), Err(PawError::Entered { until: 12, .. })));
    assert!(matches!(chain.add_liquidity(pool, &BOB, 9, 9, 10), Err(PawError::Entered { .. })));
    assert!(matches!(chain.remove_liquidity(pool, &ALICE, 9, 10), Err(PawError::Entered { .. })));
    inside.swap(&swap).unwrap();
    assert!(inside.add_liquidity(&BOB, 1_000, 1_000).unwrap() > 0);
    assert!(matches!(inside.swap(&Swap { pool: 1, ..swap }), Err(PawError::NoPool { pool: 1 })));
    inside.leave().unwrap();
    chain.swap(&swap, 10).unwrap();
    // Dropped, it has left too; a crash leaves it inside to the end of its time.
    drop(chain.enter(pool, b"second", 11, 13).unwrap());
    chain.swap(&swap, 11).unwrap();
    chain.enter(pool, b"crashed", 12, 13).unwrap().stay();
    assert!(matches!(chain.swap(&swap, 13), Err(PawError::Entered { until: 13, .. })));
    chain.swap(&swap, 14).unwrap();
    let late = chain.enter(pool, b"late", 15, 15).unwrap();
    chain.enter(pool, b"next", 16, 17).unwrap().stay();
    assert!(matches!(late.swap(&swap), Err(PawError::Entered { until: 17, .. })), "another is inside by now");
    assert!(late.leave().is_err());
    assert!(matches!(chain.enter(99, b"x", 1, 2), Err(PawError::NoPool { pool: 99 })));
}

fn jobs<E: Engine>(chain: &Paw<E>) {
    assert!(matches!(chain.register_provider(&BOB, 999), Err(PawError::TooFew { have: 999, wanted: 1_000 })));
    chain.register_provider(&BOB, 1_500).unwrap();
    assert!(matches!(chain.register_provider(&BOB, 1_500), Err(PawError::Registered)));
    assert_eq!(chain.add_stake(&BOB, 500).unwrap(), 2_000);
    assert_eq!(chain.withdraw_stake(&BOB, 1_000).unwrap(), 1_000);
    assert!(matches!(chain.withdraw_stake(&BOB, 1), Err(PawError::TooFew { .. })));
    assert!(matches!(chain.add_stake(&CAROL, 1), Err(PawError::NotRegistered)));
    let request = chain.request(&ALICE, 1, 500).unwrap();
    assert!(matches!(chain.request(&ALICE, 1, 500), Err(PawError::Store(Error::Replayed { .. }))));
    assert_eq!(chain.nonce_of(&ALICE).unwrap(), Some(1));
    let other = chain.request(&ALICE, 2, 70).unwrap();
    assert_eq!((chain.escrow(request).unwrap(), chain.escrow(other).unwrap()), (Some(500), Some(70)));
    assert!(matches!(chain.complete(request, &BOB, b"42"), Err(PawError::NotRunning { .. })));
    chain.assign(request, &BOB).unwrap();
    assert!(matches!(chain.assign(request, &BOB), Err(PawError::NotPending { .. })));
    assert!(matches!(chain.refund(request), Err(PawError::NotPending { .. })), "somebody works on it");
    assert!(matches!(chain.retire_provider(&BOB), Err(PawError::Busy { running: 1 })));
    assert!(matches!(chain.complete(request, &CAROL, b"41"), Err(PawError::NotRunning { .. })));
    assert_eq!(chain.complete(request, &BOB, b"42").unwrap(), 500);
    assert_eq!(chain.result(request).unwrap().as_deref(), Some(&b"42"[..]));
    let job = chain.job(request).unwrap().unwrap();
    assert_eq!((job.requester.as_slice(), job.nonce), (&ALICE[..], 1));
    assert_eq!(job.state, JobState::Done(BOB.to_vec()));
    assert!(
        matches!(chain.refund(request), Err(PawError::NotPending { .. })),
        "what is paid is not paid back"
    );
    assert_eq!(chain.refund(other).unwrap(), 70);
    assert_eq!(chain.escrow(request).unwrap(), None);
    // A job from another chain, which its provider does not do.
    let packet = Packet { channel: "channel-3", sender: "osmo1", nonce: 9 };
    let far = chain.receive_request(&packet, &CAROL, 300).unwrap();
    assert!(chain.receive_request(&packet, &CAROL, 300).is_err());
    chain.set_compute_params(ComputeParams { min_stake: 1_001, slash: 250_000 }).unwrap();
    assert!(matches!(chain.assign(far, &BOB), Err(PawError::TooFew { have: 1_000, wanted: 1_001 })));
    chain.add_stake(&BOB, 1).unwrap();
    chain.assign(far, &BOB).unwrap();
    assert_eq!(chain.fail(far).unwrap(), (300, 250));
    assert_eq!(chain.job(far).unwrap().unwrap().state, JobState::Failed(BOB.to_vec()));
    assert!(matches!(chain.fail(far), Err(PawError::NotRunning { .. })));
    let provider = chain.provider(&BOB).unwrap().unwrap();
    assert_eq!((provider.stake, provider.running, provider.done, provider.failed), (751, 0, 1, 1));
    assert_eq!(chain.providers().unwrap(), [(BOB.to_vec(), provider)]);
    assert_eq!(chain.retire_provider(&BOB).unwrap(), 751);
    assert_eq!((chain.provider(&BOB).unwrap(), chain.job(77).unwrap()), (None, None));
    assert_eq!(chain.compute_params().unwrap().slash, 250_000);
}

fn prices<E: Engine>(chain: &Paw<E>) {
    let upaw = |price| [Quote { price, denom: "upaw" }];
    assert!(matches!(chain.vote(&ALICE, &ALICE, &upaw(1), 5), Err(PawError::NotRegistered)));
    for (validator, power) in [(&ALICE[..], 10), (&BOB, 20), (&CAROL, 25)] {
        chain.register_validator(validator, power).unwrap();
    }
    assert!(matches!(chain.register_validator(&ALICE, 10), Err(PawError::Registered)));
    assert_eq!(chain.total_power().unwrap(), 55);
    // A feeder votes for its validator and for nobody else.
    let feeder = [9_u8; 20];
    assert!(matches!(chain.vote(&ALICE, &feeder, &upaw(10), 5), Err(PawError::NotTheFeeder)));
    chain.delegate_feeder(&ALICE, &feeder).unwrap();
    assert_eq!(chain.feeder_of(&ALICE).unwrap().as_deref(), Some(&feeder[..]));
    chain.vote(&ALICE, &feeder, &upaw(10), 5).unwrap();
    assert!(matches!(chain.vote(&BOB, &feeder, &upaw(10), 5), Err(PawError::NotTheFeeder)));
    chain.revoke_feeder(&ALICE).unwrap();
    assert!(matches!(chain.vote(&ALICE, &feeder, &upaw(10), 6), Err(PawError::NotTheFeeder)));
    chain.vote(&BOB, &BOB, &upaw(20), 5).unwrap();
    let two = [Quote { price: 30, denom: "upaw" }, Quote { price: 3, denom: "uatom" }];
    chain.vote(&CAROL, &CAROL, &two, 5).unwrap();
    let of_carol = vec![("upaw".to_owned(), 30), ("uatom".to_owned(), 3)];
    assert_eq!(chain.votes_of(&CAROL).unwrap(), Some((5, of_carol)));
    let twice = [two[0], two[0]];
    assert!(matches!(chain.vote(&CAROL, &CAROL, &twice, 5), Err(PawError::Twice)));
    // By weight: 10 of 55, 30 of 55.
    assert_eq!(chain.settle_price(5, "upaw").unwrap(), Some(20));
    assert_eq!(chain.settle_price(5, "uatom").unwrap(), Some(3));
    assert_eq!(chain.settle_price(6, "upaw").unwrap(), None);
    // The weight of the first counts for the third: 20 against 35.
    chain.delegate_power(&ALICE, &CAROL).unwrap();
    assert!(matches!(chain.delegate_power(&CAROL, &BOB), Err(PawError::Delegated)));
    assert!(matches!(chain.delegate_power(&BOB, &ALICE), Err(PawError::Delegated)));
    assert!(matches!(chain.delegate_power(&BOB, &BOB), Err(PawError::Delegated)));
    assert!(matches!(chain.vote(&ALICE, &ALICE, &upaw(1), 6), Err(PawError::Delegated)));
    assert_eq!(chain.settle_price(5, "upaw").unwrap(), Some(30));
    chain.take_back_power(&ALICE).unwrap();
    // 30 over ten heights, 60 over five: (300 + 300) ÷ 15.
    assert_eq!(chain.twap("upaw", 15).unwrap(), Some(30));
    let packet = Packet { channel: "channel-9", sender: "band", nonce: 4 };
    chain.receive_price(&packet, "upaw", 60, 15).unwrap();
    assert!(chain.receive_price(&packet, "upaw", 60, 15).is_err());
    assert_eq!(chain.price("upaw").unwrap(), Some((60, 15)));
    assert_eq!(chain.twap("upaw", 20).unwrap(), Some(40));
    assert!(matches!(
        chain.receive_price(&Packet { nonce: 5, ..packet }, "upaw", 1, 14),
        Err(PawError::TooSoon { height: 15 })
    ));
    assert_eq!(chain.price("upaw").unwrap(), Some((60, 15)), "what is refused writes nothing");
    assert_eq!((chain.price("ubtc").unwrap(), chain.twap("ubtc", 20).unwrap()), (None, None));
    // What is older than the window counts as its average: after 10 heights of 60 nothing of 30 is left.
    chain.set_oracle_params(OracleParams { twap_window: 10, ..OracleParams::default() }).unwrap();
    for (nonce, height) in [(6, 25), (7, 35), (8, 45)] {
        chain.receive_price(&Packet { nonce, ..packet }, "upaw", 60, height).unwrap();
    }
    let average = chain.twap("upaw", 45).unwrap().unwrap();
    assert!((50..=60).contains(&average), "{average}");
    chain.vote(&BOB, &BOB, &upaw(20), 150_000).unwrap();
    let steps = Steps { rows: 1, durability: Durability::Buffer, dry_run: false };
    assert_eq!(chain.prune_votes(100_004, &steps).unwrap().rows, 0);
    assert_eq!(chain.prune_votes(100_005, &steps).unwrap().rows, 4);
    assert_eq!(chain.settle_price(150_000, "upaw").unwrap(), Some(20));
}

fn commitments<E: Engine>(chain: &Paw<E>) {
    let (salt, height) = ([7; 32], 150_010);
    let prices = [Quote { price: 55, denom: "upaw" }];
    let hash = commitment(&salt, height, &prices).unwrap();
    let shown =
        |salt: &[u8; 32], prices: &[Quote<'_>], height| chain.reveal(&BOB, &BOB, salt, prices, height);
    assert!(matches!(shown(&salt, &prices, height), Err(PawError::Commitment)), "nothing was committed to");
    assert!(matches!(chain.prevote(&BOB, &CAROL, hash, 150_005), Err(PawError::NotTheFeeder)));
    chain.prevote(&BOB, &BOB, hash, 150_005).unwrap();
    // Another salt, another price, another height: none is what the validator has committed itself to.
    assert!(matches!(shown(&[8; 32], &prices, height), Err(PawError::Commitment)));
    assert!(matches!(shown(&salt, &[Quote { price: 56, ..prices[0] }], height), Err(PawError::Commitment)));
    assert!(matches!(shown(&salt, &prices, height + 1), Err(PawError::Commitment)));
    shown(&salt, &prices, height).unwrap();
    assert_eq!(chain.settle_price(height, "upaw").unwrap(), Some(55));
    assert!(matches!(shown(&salt, &prices, height), Err(PawError::Commitment)), "it is used up");
    // It must have been made before.
    chain.prevote(&BOB, &BOB, hash, height).unwrap();
    assert!(matches!(shown(&salt, &prices, height), Err(PawError::TooSoon { height: 150_010 })));
}

fn misses<E: Engine>(chain: &Paw<E>) {
    chain.set_oracle_params(OracleParams { slash: 100_000, max_misses: 1, twap_window: 9 }).unwrap();
    let at = 150_010;
    // At this height only the second has voted.
    assert_eq!(chain.end_period(at).unwrap(), []);
    let missed = |validator: &[u8]| chain.misses(validator).unwrap();
    assert_eq!((missed(&ALICE), missed(&BOB), missed(&CAROL)), (1, 0, 1));
    chain.delegate_power(&CAROL, &BOB).unwrap();
    let upaw = [Quote { price: 5, denom: "upaw" }];
    chain.vote(&BOB, &BOB, &upaw, at + 1).unwrap();
    // Who lets its weight count for another misses nothing.
    let lost = chain.end_period(at + 1).unwrap();
    assert_eq!(lost, [Slashed { validator: ALICE.to_vec(), lost: 1 }]);
    assert_eq!(chain.validator(&ALICE).unwrap(), Some(Validator { power: 9, jailed: true }));
    assert_eq!(chain.slashing(&ALICE).unwrap(), Some(Slashing { height: at + 1, count: 1, lost: 1 }));
    assert_eq!((missed(&ALICE), chain.total_power().unwrap()), (0, 54));
    assert!(matches!(chain.vote(&ALICE, &ALICE, &upaw, at + 2), Err(PawError::NotRegistered)));
    chain.unjail(&ALICE).unwrap();
    chain.vote(&ALICE, &ALICE, &upaw, at + 2).unwrap();
    chain.set_power(&ALICE, 100).unwrap();
    assert_eq!(chain.total_power().unwrap(), 145);
    chain.pause(&CAROL, "stop", at + 3).unwrap();
    assert!(matches!(chain.end_period(at + 3), Err(PawError::Paused)));
    assert!(matches!(chain.settle_price(at + 2, "upaw"), Err(PawError::Paused)));
    chain.resume().unwrap();
    // With the second goes what was handed to it; what it has lost stays known.
    chain.retire_validator(&BOB).unwrap();
    chain.retire_validator(&ALICE).unwrap();
    assert!(matches!(chain.retire_validator(&ALICE), Err(PawError::NotRegistered)));
    assert_eq!(chain.total_power().unwrap(), 25);
    assert!(chain.slashing(&ALICE).unwrap().is_some());
    chain.vote(&CAROL, &CAROL, &upaw, at + 4).unwrap();
    assert_eq!(chain.votes_of(&BOB).unwrap(), None);
}

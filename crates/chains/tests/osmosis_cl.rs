//! Ticks, positions, incentives and accumulators of Osmosis, against a model.
#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};

use keyplan::store::engine::{Engine, Fjall, FjallSettings, Memory};
use keyplan_chains::osmosis_cl::{Incentive, Liquidity, LiquidityError, Opening, Towards, UPTIMES};
use keyplan_store::engine::{Lmdb, LmdbSettings, Redb, RedbSettings};

#[test]
fn ticks_are_found_in_both_directions() {
    let cl = Liquidity::create(Memory::new()).unwrap();
    let ticks: BTreeSet<i64> = [-108_000_000, -300, -256, -255, -1, 0, 1, 255, 256, 342_000_000].into();
    for tick in &ticks {
        cl.put_tick(7, *tick, b"info").unwrap();
        cl.put_tick(8, tick / 2, b"other pool").unwrap();
    }
    cl.put_tick(7, 77, b"").unwrap();
    cl.remove_tick(7, 77).unwrap();
    for from in [-200_000_000, -301, -300, -256, -2, -1, 0, 1, 2, 255, 300, 342_000_000, i64::MAX, i64::MIN] {
        let higher = ticks.iter().copied().find(|tick| *tick > from);
        let lower = ticks.iter().copied().rev().find(|tick| *tick <= from);
        assert_eq!(cl.next_tick(7, from, Towards::Higher).unwrap(), higher, "above {from}");
        assert_eq!(cl.next_tick(7, from, Towards::Lower).unwrap(), lower, "at or below {from}");
        let three: Vec<i64> = ticks.iter().copied().rev().filter(|tick| *tick <= from).take(3).collect();
        assert_eq!(cl.ticks(7, from, Towards::Lower, 3).unwrap(), three);
    }
    assert_eq!(cl.next_tick(9, 0, Towards::Higher).unwrap(), None);
}

#[test]
fn positions_are_found_by_owner_and_pool_and_withdrawn_whole() {
    let cl = Liquidity::create(Memory::new()).unwrap();
    let owners: [&[u8]; 3] = [&[1; 20], &[1; 32], &[]];
    let mut model: BTreeMap<u64, (usize, u64)> = BTreeMap::new();
    for position in 1..=60_u64 {
        let (owner, pool) = ((position % 3) as usize, [1, 10, 11, 2][(position % 4) as usize]);
        cl.create_position(position, owners[owner], pool, b"body").unwrap();
        model.insert(position, (owner, pool));
    }
    assert!(matches!(
        cl.create_position(7, owners[0], 1, b""),
        Err(LiquidityError::PositionExists { position: 7 })
    ));
    cl.lock_position(12, 99).unwrap();
    let (owner, pool) = model[&12];
    assert!(matches!(
        cl.withdraw_position(12, owners[owner], pool),
        Err(LiquidityError::Locked { position: 12, lock: 99 })
    ));
    for position in [5, 6, 30] {
        let (owner, pool) = model.remove(&position).unwrap();
        assert!(matches!(
            cl.withdraw_position(position, owners[(owner + 1) % 3], pool),
            Err(LiquidityError::NoPosition { .. })
        ));
        cl.withdraw_position(position, owners[owner], pool).unwrap();
    }
    for (index, owner) in owners.iter().enumerate() {
        let mut all = cl.positions_of(owner).unwrap();
        all.sort_unstable();
        let mut want: Vec<(u64, u64)> = model
            .iter()
            .filter(|(_, (of, _))| *of == index)
            .map(|(position, (_, pool))| (*pool, *position))
            .collect();
        want.sort_unstable();
        assert_eq!(all, want);
        for pool in [1, 10, 11, 2, 3] {
            let mut found = cl.positions_in(owner, pool).unwrap();
            found.sort_unstable();
            let want: Vec<u64> =
                want.iter().filter(|(of, _)| *of == pool).map(|(_, position)| *position).collect();
            assert_eq!(found, want, "of pool {pool}");
        }
    }
    for pool in [1, 10, 11, 2] {
        let want: Vec<u64> =
            model.iter().filter(|(_, (_, of))| *of == pool).map(|(position, _)| *position).collect();
        assert_eq!(cl.pool_positions(pool).unwrap(), want);
    }
    assert!(matches!(cl.positions_of(&[0; 256]), Err(LiquidityError::Address)));
}

#[test]
fn incentives_and_accumulators_are_kept_apart() {
    let cl = Liquidity::create(Memory::new()).unwrap();
    for (pool, uptime) in [(1, 0), (1, 1), (11, 0), (1, 5)] {
        cl.put_incentive(pool, uptime, "uosmo", &[3; 20], format!("{pool} {uptime}").as_bytes()).unwrap();
        cl.put_uptime(pool, uptime, format!("acc {pool} {uptime}").as_bytes()).unwrap();
    }
    cl.put_incentive(1, 1, "ibc/ABC", &[4; 20], b"second").unwrap();
    let one = |denom: &str, sponsor: u8, body: &[u8]| Incentive {
        denom: denom.to_owned(),
        sponsor: vec![sponsor; 20],
        body: body.to_vec(),
    };
    assert_eq!(cl.incentives(1, 1).unwrap(), [one("ibc/ABC", 4, b"second"), one("uosmo", 3, b"1 1")]);
    assert_eq!(cl.incentives(1, 0).unwrap(), [one("uosmo", 3, b"1 0")]);
    assert_eq!(cl.uptime(1, 5).unwrap().as_deref(), Some(&b"acc 1 5"[..]));
    assert_eq!(cl.uptime(11, 1).unwrap(), None);
    cl.put_spread(1, 7, b"total", b"share").unwrap();
    assert_eq!(cl.spread(1).unwrap().as_deref(), Some(&b"total"[..]));
    assert_eq!(cl.spread_of(1, 7).unwrap().as_deref(), Some(&b"share"[..]));
    assert_eq!((cl.spread(11).unwrap(), cl.spread_of(1, 8).unwrap()), (None, None));
    assert!(cl.put_incentive(1, 1, "a|b", &[4; 20], b"").is_err(), "no coin is called so");
}

#[test]
fn a_position_comes_with_everything_and_goes_with_it() {
    let cl = Liquidity::create(Memory::new()).unwrap();
    let owner = [5; 20];
    let opening = Opening {
        position: 7,
        owner: &owner,
        pool: 3,
        body: b"body",
        ticks: &[(-100, b"lower"), (200, b"upper")],
        spread: Some((b"total", b"share")),
        uptimes: &[(0, b"first"), (5, b"last")],
        full_range: Some(b"all"),
        lock: Some(9),
    };
    // An uptime that there is not: nothing of the position is there.
    let wrong = Opening { uptimes: &[(0, b"first"), (6, b"none")], ..opening };
    assert!(matches!(cl.open_position(&wrong), Err(LiquidityError::Uptime { uptime: 6 })));
    assert_eq!(
        (cl.position(7).unwrap(), cl.tick(3, -100).unwrap(), cl.spread(3).unwrap()),
        (None, None, None)
    );
    cl.open_position(&opening).unwrap();
    assert_eq!(cl.tick(3, 200).unwrap().as_deref(), Some(&b"upper"[..]));
    assert_eq!(cl.uptime_of(3, 5, 7).unwrap().as_deref(), Some(&b"last"[..]));
    assert_eq!(cl.full_range(3).unwrap().as_deref(), Some(&b"all"[..]));
    assert_eq!((cl.lock_of(7).unwrap(), cl.position_of(9).unwrap()), (Some(9), Some(7)));
    cl.put_position(7, b"more").unwrap();
    assert_eq!(cl.position(7).unwrap().as_deref(), Some(&b"more"[..]));
    // A lock keeps one position, and a position has one lock: neither is left without its way back.
    cl.create_position(8, &owner, 3, b"").unwrap();
    assert!(matches!(cl.lock_position(8, 9), Err(LiquidityError::LockTaken { lock: 9, position: 7 })));
    assert!(matches!(cl.lock_position(7, 10), Err(LiquidityError::Locked { position: 7, lock: 9 })));
    assert!(matches!(cl.withdraw_position(7, &owner, 3), Err(LiquidityError::Locked { .. })));
    assert_eq!((cl.unlock_position(7).unwrap(), cl.unlock_position(7).unwrap()), (Some(9), None));
    assert_eq!((cl.lock_of(7).unwrap(), cl.position_of(9).unwrap()), (None, None));
    cl.put_uptime_of(3, 2, 7, b"total", b"late").unwrap();
    assert!(matches!(cl.put_uptime_of(3, 2, 70, b"", b""), Err(LiquidityError::NoPosition { .. })));
    cl.withdraw_position(7, &owner, 3).unwrap();
    for uptime in 0..UPTIMES {
        assert_eq!(cl.uptime_of(3, uptime, 7).unwrap(), None);
    }
    assert_eq!((cl.spread_of(3, 7).unwrap(), cl.position(7).unwrap()), (None, None));
    assert_eq!(cl.uptime(3, 2).unwrap().as_deref(), Some(&b"total"[..]), "what is the pool's stays");
    cl.put_pool(3, b"pool").unwrap();
    assert_eq!((cl.pool(3).unwrap().as_deref(), cl.pool(4).unwrap()), (Some(&b"pool"[..]), None));
    for (balancer, uptime) in [(1, 0), (1, 5), (11, 0)] {
        cl.put_balancer(3, balancer, uptime, format!("{balancer} {uptime}").as_bytes()).unwrap();
    }
    assert!(matches!(cl.put_balancer(3, 1, 6, b""), Err(LiquidityError::Uptime { uptime: 6 })));
    assert_eq!(cl.balancer(3, 1, 5).unwrap().as_deref(), Some(&b"1 5"[..]));
    cl.remove_balancer(3, 1).unwrap();
    assert_eq!((cl.balancer(3, 1, 0).unwrap(), cl.balancer(3, 1, 5).unwrap()), (None, None));
    assert_eq!(cl.balancer(3, 11, 0).unwrap().as_deref(), Some(&b"11 0"[..]));
    cl.put_full_range(3, b"less").unwrap();
    assert_eq!(cl.full_range(3).unwrap().as_deref(), Some(&b"less"[..]));
    cl.put_incentive(3, 0, "uosmo", &[3; 20], b"a").unwrap();
    cl.put_incentive(3, 4, "uion", &[3; 20], b"b").unwrap();
    let all: Vec<u64> = cl.incentives_of(3).unwrap().into_iter().map(|(uptime, _)| uptime).collect();
    assert_eq!(all, [0, 4]);
    cl.remove_incentive(3, 0, "uosmo", &[3; 20]).unwrap();
    assert_eq!(cl.incentives_of(3).unwrap().len(), 1);
}

/// Random positions, ticks and locks against plain maps; the state is opened again now and then.
fn agrees_with_a_model<E: Engine>(mut open: impl FnMut() -> Liquidity<E>, steps: u64) {
    let mut state = 9_u64;
    let mut random = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let owners: [&[u8]; 3] = [&[1; 20], &[1; 32], &[2; 20]];
    let mut positions: BTreeMap<u64, (usize, u64, Option<u64>)> = BTreeMap::new();
    let mut ticks: BTreeSet<(u64, i64)> = BTreeSet::new();
    let mut cl = open();
    for _ in 0..steps {
        let (pool, position, lock) =
            ([1, 10, 2][usize::try_from(random(3)).unwrap()], random(40), random(10));
        let owner = usize::try_from(random(3)).unwrap();
        let tick = i64::try_from(random(600)).unwrap() - 300;
        match random(8) {
            0..=2 => {
                let done = cl.open_position(&Opening {
                    position,
                    owner: owners[owner],
                    pool,
                    ticks: &[(tick, b"t")],
                    uptimes: &[(1, b"u")],
                    ..Opening::default()
                });
                assert_eq!(done.is_ok(), !positions.contains_key(&position), "{done:?}");
                if done.is_ok() {
                    positions.insert(position, (owner, pool, None));
                    ticks.insert((pool, tick));
                }
            }
            3 => {
                let own = positions.get(&position).is_some_and(|had| *had == (owner, pool, None));
                assert_eq!(cl.withdraw_position(position, owners[owner], pool).is_ok(), own);
                if own {
                    positions.remove(&position);
                }
            }
            4 => {
                let taken = positions.values().any(|had| had.2 == Some(lock));
                let free = positions.get(&position).is_some_and(|had| had.2.is_none());
                assert_eq!(cl.lock_position(position, lock).is_ok(), free && !taken);
                if let (true, false, Some(had)) = (free, taken, positions.get_mut(&position)) {
                    had.2 = Some(lock);
                }
            }
            5 => {
                let had = positions.get_mut(&position).and_then(|had| had.2.take());
                assert_eq!(cl.unlock_position(position).unwrap(), had);
            }
            6 => {
                cl.remove_tick(pool, tick).unwrap();
                ticks.remove(&(pool, tick));
            }
            _ => {
                let higher = ticks.range((pool, tick + 1)..=(pool, i64::MAX)).next();
                let lower = ticks.range((pool, i64::MIN)..=(pool, tick)).next_back();
                assert_eq!(cl.next_tick(pool, tick, Towards::Higher).unwrap(), higher.map(|found| found.1));
                assert_eq!(cl.next_tick(pool, tick, Towards::Lower).unwrap(), lower.map(|found| found.1));
            }
        }
        if random(200) == 0 {
            drop(cl);
            cl = open();
        }
    }
    for (index, owner) in owners.iter().enumerate() {
        let mut found = cl.positions_of(owner).unwrap();
        found.sort_unstable();
        let own = positions.iter().filter(|(_, had)| had.0 == index);
        let mut want: Vec<(u64, u64)> = own.map(|(position, had)| (had.1, *position)).collect();
        want.sort_unstable();
        assert_eq!(found, want);
    }
    for (position, (_, pool, lock)) in &positions {
        assert_eq!(cl.lock_of(*position).unwrap(), *lock);
        assert_eq!(cl.uptime_of(*pool, 1, *position).unwrap().as_deref(), Some(&b"u"[..]));
    }
    for lock in 0..10 {
        let by = positions.iter().find(|(_, had)| had.2 == Some(lock)).map(|(position, _)| *position);
        assert_eq!(cl.position_of(lock).unwrap(), by);
    }
}

#[test]
fn random_operations_agree_with_a_model_on_every_engine() {
    let memory = Memory::new();
    agrees_with_a_model(|| Liquidity::open(memory.clone()).unwrap(), 4_000);
    let folder = tempfile::tempdir().unwrap();
    let open = || Liquidity::open(Fjall::open(folder.path(), FjallSettings::default()).unwrap()).unwrap();
    agrees_with_a_model(open, 1_000);
    let folder = tempfile::tempdir().unwrap();
    let open = || Liquidity::open(Redb::open(folder.path(), RedbSettings::default()).unwrap()).unwrap();
    agrees_with_a_model(open, 1_000);
    let folder = tempfile::tempdir().unwrap();
    let open = || Liquidity::open(Lmdb::open(folder.path(), LmdbSettings::default()).unwrap()).unwrap();
    agrees_with_a_model(open, 1_000);
}

//! Ticks, positions, incentives and accumulators of Osmosis, against a model.
#![cfg(test)]
#![cfg(all(feature = "osmosis_cl", feature = "store"))]

use std::collections::{BTreeMap, BTreeSet};

use keyplan::store::engine::Memory;
use keyplan_chains::osmosis_chain::{Incentive, Liquidity, LiquidityError, Towards};

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
    for (pool, uptime) in [(1, 0), (1, 1), (11, 0), (1, 10)] {
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
    assert_eq!(cl.uptime(1, 10).unwrap().as_deref(), Some(&b"acc 1 10"[..]));
    assert_eq!(cl.uptime(11, 1).unwrap(), None);
    cl.put_spread(1, 7, b"total", b"share").unwrap();
    assert_eq!(cl.spread(1).unwrap().as_deref(), Some(&b"total"[..]));
    assert_eq!(cl.spread_of(1, 7).unwrap().as_deref(), Some(&b"share"[..]));
    assert_eq!((cl.spread(11).unwrap(), cl.spread_of(1, 8).unwrap()), (None, None));
    assert!(cl.put_incentive(1, 1, "a|b", &[4; 20], b"").is_err(), "no coin is called so");
}

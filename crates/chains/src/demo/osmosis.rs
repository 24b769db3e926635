//! Pools of concentrated liquidity: ticks on both sides of zero, positions, and the lookups that lead to them.

use crate::five::cl::accum::{AccSpread, PosSpread};
use crate::five::cl::{
    AddressPoolPosition, AddressPoolPositionValue, LockToPosition, LockToPositionValue, Pool, PoolPosition,
    PoolPositionValue, Position, PositionToLock, PositionToLockValue, Tick,
};
use keyplan::typed::{Proto, ShortBytes};

use super::error::{DemoError, Result};
use super::fill::Filler;
use super::message::Message;

/// Rows for each position: itself, two lookups and its record of fees; every eighth is locked.
const ROWS_A_POSITION: u64 = 4;

/// Writes about `rows` rows.
pub(super) fn fill(filler: &mut Filler<'_>, rows: u64) -> Result<()> {
    let pools = (rows / 4_000).clamp(2, 50);
    let ticks = rows / 2 / pools;
    let positions = rows / 2 / ROWS_A_POSITION;
    for pool_id in 1..=pools {
        let price = filler.random.below(1 << 40);
        let pool = Message::new().number(4, pool_id).bytes(6, b"uosmo").bytes(7, b"uatom").decimal(8, price);
        filler.put(&Pool { pool_id }, &Proto(pool.as_bytes()))?;
        filler.put(&AccSpread { pool_id }, &Proto(Message::new().decimal(2, price).as_bytes()))?;
        for step in 0..ticks {
            // Around the price ticks lie close, and they go on far out on both sides.
            let spacing = 100;
            let tick = (i64::try_from(step)? - i64::try_from(ticks / 2)?) * spacing;
            let liquidity = filler.random.below(1 << 50);
            let info = Message::new().decimal(1, liquidity).decimal(2, liquidity / 3);
            filler.put(&Tick { pool_id, tick }, &Proto(info.as_bytes()))?;
        }
    }
    for position_id in 1..=positions {
        let pool_id = 1 + filler.random.below(pools);
        let owner = filler.random.bytes::<20>();
        let addr = ShortBytes::copied(&owner).ok_or(DemoError::Address)?;
        let position = Message::new()
            .number(1, position_id)
            .account(2, &owner)
            .number(3, pool_id)
            .decimal(7, filler.random.below(1 << 44));
        filler.put(&Position { position_id }, &Proto(position.as_bytes()))?;
        filler.put(&AddressPoolPosition { addr, pool_id, position_id }, &AddressPoolPositionValue)?;
        filler.put(&PoolPosition { pool_id, position_id }, &PoolPositionValue)?;
        filler.put(
            &PosSpread { pool_id, position_id },
            &Proto(Message::new().decimal(1, position_id).as_bytes()),
        )?;
        if position_id.is_multiple_of(8) {
            let lock_id = position_id / 8;
            filler.put(&PositionToLock { position_id }, &PositionToLockValue { lock_id })?;
            filler.put(&LockToPosition { lock_id }, &LockToPositionValue { position_id })?;
        }
    }
    Ok(())
}

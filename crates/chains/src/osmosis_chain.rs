//! Concentrated liquidity of Osmosis as operations on the keys of [`crate::osmosis_cl`], each one atomic batch.
//!
//! Bodies of ticks, positions, incentive records and accumulators are protobuf messages, which the caller encodes.
//!
//! ```
//! use keyplan::store::engine::Memory;
//! use keyplan_chains::osmosis_chain::{Liquidity, Towards};
//!
//! let cl = Liquidity::create(Memory::new())?;
//! for tick in [-200, -100, 0, 300] {
//!     cl.put_tick(7, tick, b"info")?;
//! }
//! assert_eq!(cl.next_tick(7, 0, Towards::Higher)?, Some(300));
//! assert_eq!(cl.next_tick(7, -1, Towards::Lower)?, Some(-100));
//! cl.create_position(1, &[5; 20], 7, b"body")?;
//! assert_eq!(cl.positions_in(&[5; 20], 7)?, [1]);
//! # Ok::<(), keyplan_chains::osmosis_chain::LiquidityError>(())
//! ```

use keyplan::store::engine::{Durability, Engine};
use keyplan::store::{Batch, Error, Read as _, Store};
use keyplan::typed::{KeyError, Proto, ShortBytes};

use crate::osmosis_cl;
use crate::osmosis_cl::cl::{
    AddressPoolPosition, AddressPoolPositionValue, IncentiveRecord, LockToPosition, LockToPositionValue,
    PoolPosition, PoolPositionValue, Position, PositionToLock, PositionToLockValue, Tick, accum,
};

/// Why an operation was refused. Nothing of it is written then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiquidityError {
    /// The store could not do it, or an argument is outside of its domain.
    #[error(transparent)]
    Store(#[from] Error),
    /// An address is longer than the chain admits.
    #[error("an address has at most 255 bytes")]
    Address,
    /// The position exists already.
    #[error("position {position} exists already")]
    PositionExists {
        /// Its number.
        position: u64,
    },
    /// There is no such position of this owner in this pool.
    #[error("the owner has no position {position} in the pool")]
    NoPosition {
        /// Its number.
        position: u64,
    },
    /// A lock keeps the position.
    #[error("position {position} is kept by lock {lock}")]
    Locked {
        /// The position.
        position: u64,
        /// The lock.
        lock: u64,
    },
}

impl From<KeyError> for LiquidityError {
    fn from(error: KeyError) -> Self {
        Self::Store(error.into())
    }
}

/// Where a swap goes from a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Towards {
    /// To the next initialised tick above.
    Higher,
    /// To the next initialised tick at it or below.
    Lower,
}

/// What a sponsor still pays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incentive {
    /// The coin.
    pub denom: String,
    /// The sponsor.
    pub sponsor: Vec<u8>,
    /// The record, a protobuf message.
    pub body: Vec<u8>,
}

/// The liquidity of all pools.
#[derive(Debug)]
pub struct Liquidity<E: Engine>(Store<E>);

impl<E: Engine> Liquidity<E> {
    /// Makes the state on an engine that holds nothing.
    pub fn create(engine: E) -> Result<Self, LiquidityError> {
        Ok(Self(Store::create_on(engine, &osmosis_cl::PLAN)?))
    }

    /// Opens the state, and makes it if the engine holds nothing.
    pub fn open(engine: E) -> Result<Self, LiquidityError> {
        Ok(Self(Store::open_on(engine, &osmosis_cl::PLAN)?))
    }

    /// The store below, by the types of the plan.
    pub const fn store(&self) -> &Store<E> {
        &self.0
    }

    fn atomically<T>(
        &self,
        mut operation: impl FnMut(&mut Batch<'_, E>) -> Result<T, LiquidityError>,
    ) -> Result<T, LiquidityError> {
        loop {
            let mut batch = self.0.checked_batch()?;
            let done = operation(&mut batch)?;
            match batch.commit(Durability::Buffer) {
                Ok(()) => return Ok(done),
                Err(Error::Conflict) => {}
                Err(other) => return Err(other.into()),
            }
        }
    }

    /// Writes an initialised tick.
    pub fn put_tick(&self, pool: u64, tick: i64, info: &[u8]) -> Result<(), LiquidityError> {
        self.atomically(|batch| Ok(batch.put(&Tick { pool_id: pool, tick }, &Proto(info))?))
    }

    /// Takes out a tick that no position begins or ends at any more.
    pub fn remove_tick(&self, pool: u64, tick: i64) -> Result<(), LiquidityError> {
        self.atomically(|batch| Ok(batch.delete(&Tick { pool_id: pool, tick })?))
    }

    /// The next initialised tick of a pool, by one seek in either direction.
    pub fn next_tick(&self, pool: u64, from: i64, towards: Towards) -> Result<Option<i64>, LiquidityError> {
        let scan = match towards {
            Towards::Higher => Tick::by_pool_id(pool).after(from),
            Towards::Lower => Tick::by_pool_id(pool).through(from).rev(),
        };
        let row = self.0.snapshot()?.scan(scan).next().transpose()?;
        Ok(row.map(|row| row.key().map(|key| key.tick)).transpose()?)
    }

    /// Up to `limit` initialised ticks of a pool from one on, as a swap meets them.
    pub fn ticks(
        &self,
        pool: u64,
        from: i64,
        towards: Towards,
        limit: usize,
    ) -> Result<Vec<i64>, LiquidityError> {
        let scan = match towards {
            Towards::Higher => Tick::by_pool_id(pool).after(from),
            Towards::Lower => Tick::by_pool_id(pool).through(from).rev(),
        };
        let view = self.0.snapshot()?;
        let mut found = Vec::new();
        for row in view.scan(scan).take(limit) {
            found.push(row?.key()?.tick);
        }
        Ok(found)
    }

    /// Makes a position: its record, and its place among those of its owner and of its pool, are one step.
    pub fn create_position(
        &self,
        position: u64,
        owner: &[u8],
        pool: u64,
        body: &[u8],
    ) -> Result<(), LiquidityError> {
        let addr = address(owner)?;
        self.atomically(|batch| {
            let key = Position { position_id: position };
            if batch.contains(&key)? {
                return Err(LiquidityError::PositionExists { position });
            }
            batch.put(&key, &Proto(body))?;
            let of_owner = AddressPoolPosition { addr, pool_id: pool, position_id: position };
            batch.put(&of_owner, &AddressPoolPositionValue)?;
            let of_pool = PoolPosition { pool_id: pool, position_id: position };
            Ok(batch.put(&of_pool, &PoolPositionValue)?)
        })
    }

    /// Takes out a position and everything that names it. One that a lock keeps is refused.
    pub fn withdraw_position(&self, position: u64, owner: &[u8], pool: u64) -> Result<(), LiquidityError> {
        let addr = address(owner)?;
        self.atomically(|batch| {
            let of_owner = AddressPoolPosition { addr, pool_id: pool, position_id: position };
            if !batch.contains(&of_owner)? {
                return Err(LiquidityError::NoPosition { position });
            }
            if let Some(found) = batch.get(&PositionToLock { position_id: position })? {
                return Err(LiquidityError::Locked { position, lock: found.value()?.lock_id });
            }
            batch.delete(&of_owner)?;
            batch.delete(&PoolPosition { pool_id: pool, position_id: position })?;
            batch.delete(&accum::PosSpread { pool_id: pool, position_id: position })?;
            Ok(batch.delete(&Position { position_id: position })?)
        })
    }

    /// Ties a position to a lock, in both directions.
    pub fn lock_position(&self, position: u64, lock: u64) -> Result<(), LiquidityError> {
        self.atomically(|batch| {
            if !batch.contains(&Position { position_id: position })? {
                return Err(LiquidityError::NoPosition { position });
            }
            let value = PositionToLockValue { lock_id: lock };
            batch.put(&PositionToLock { position_id: position }, &value)?;
            let value = LockToPositionValue { position_id: position };
            Ok(batch.put(&LockToPosition { lock_id: lock }, &value)?)
        })
    }

    /// The positions of an owner, each with its pool, in the order of their text.
    pub fn positions_of(&self, owner: &[u8]) -> Result<Vec<(u64, u64)>, LiquidityError> {
        let view = self.0.snapshot()?;
        let mut found = Vec::new();
        view.scan(AddressPoolPosition::by_addr(address(owner)?)?).each(|key, _| {
            found.push((key.pool_id, key.position_id));
        })?;
        Ok(found)
    }

    /// The positions of an owner in one pool.
    pub fn positions_in(&self, owner: &[u8], pool: u64) -> Result<Vec<u64>, LiquidityError> {
        let view = self.0.snapshot()?;
        let mut found = Vec::new();
        view.scan(AddressPoolPosition::by_addr_pool_id(address(owner)?, pool)?).each(|key, _| {
            found.push(key.position_id);
        })?;
        Ok(found)
    }

    /// The positions of a pool.
    pub fn pool_positions(&self, pool: u64) -> Result<Vec<u64>, LiquidityError> {
        let view = self.0.snapshot()?;
        let mut found = Vec::new();
        view.scan(PoolPosition::by_pool_id(pool)).each(|key, _| found.push(key.position_id))?;
        Ok(found)
    }

    /// Writes what a sponsor still pays to a pool's positions of an uptime.
    pub fn put_incentive(
        &self,
        pool: u64,
        uptime: u64,
        denom: &str,
        sponsor: &[u8],
        body: &[u8],
    ) -> Result<(), LiquidityError> {
        let key = IncentiveRecord { pool_id: pool, uptime_index: uptime, denom, addr: address(sponsor)? };
        self.atomically(|batch| Ok(batch.put(&key, &Proto(body))?))
    }

    /// What sponsors still pay to a pool's positions of an uptime.
    pub fn incentives(&self, pool: u64, uptime: u64) -> Result<Vec<Incentive>, LiquidityError> {
        let view = self.0.snapshot()?;
        let mut found = Vec::new();
        view.scan(IncentiveRecord::by_pool_id_uptime_index(pool, uptime)?).each(|key, value| {
            let (denom, sponsor) = (key.denom.to_owned(), key.addr.as_slice().to_vec());
            found.push(Incentive { denom, sponsor, body: value.0.to_vec() });
        })?;
        Ok(found)
    }

    /// Writes the accumulator of a pool's spread rewards, and a position's share of it, as one step.
    pub fn put_spread(
        &self,
        pool: u64,
        position: u64,
        accumulator: &[u8],
        record: &[u8],
    ) -> Result<(), LiquidityError> {
        self.atomically(|batch| {
            batch.put(&accum::AccSpread { pool_id: pool }, &Proto(accumulator))?;
            let key = accum::PosSpread { pool_id: pool, position_id: position };
            Ok(batch.put(&key, &Proto(record))?)
        })
    }

    /// The accumulator of a pool's spread rewards, a protobuf message.
    pub fn spread(&self, pool: u64) -> Result<Option<Vec<u8>>, LiquidityError> {
        let found = self.0.get(&accum::AccSpread { pool_id: pool })?;
        Ok(found.map(|found| found.bytes().to_vec()))
    }

    /// A position's share of a pool's spread rewards, a protobuf message.
    pub fn spread_of(&self, pool: u64, position: u64) -> Result<Option<Vec<u8>>, LiquidityError> {
        let found = self.0.get(&accum::PosSpread { pool_id: pool, position_id: position })?;
        Ok(found.map(|found| found.bytes().to_vec()))
    }

    /// Writes the accumulator of a pool's incentives of an uptime.
    pub fn put_uptime(&self, pool: u64, uptime: u64, accumulator: &[u8]) -> Result<(), LiquidityError> {
        let key = accum::AccUptime { pool_id: pool, uptime_index: uptime };
        self.atomically(|batch| Ok(batch.put(&key, &Proto(accumulator))?))
    }

    /// The accumulator of a pool's incentives of an uptime, a protobuf message.
    pub fn uptime(&self, pool: u64, uptime: u64) -> Result<Option<Vec<u8>>, LiquidityError> {
        let found = self.0.get(&accum::AccUptime { pool_id: pool, uptime_index: uptime })?;
        Ok(found.map(|found| found.bytes().to_vec()))
    }
}

fn address(bytes: &[u8]) -> Result<ShortBytes<255>, LiquidityError> {
    ShortBytes::copied(bytes).ok_or(LiquidityError::Address)
}

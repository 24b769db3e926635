//! The operations.

use keyplan::store::engine::{Durability, Engine};
use keyplan::store::{Batch, Error, Read as _, Store};
use keyplan::typed::{Key, KeyError, Proto, Raw, ShortBytes};

use super::PLAN;
use super::cl::{
    AddressPoolPosition, AddressPoolPositionValue, BalancerFullRange, FullRangeLiquidity, IncentiveRecord,
    LockToPosition, LockToPositionValue, Pool, PoolPosition, PoolPositionValue, Position, PositionToLock,
    PositionToLockValue, Tick, accum,
};

/// How many uptimes incentives are paid for: from a nanosecond to two weeks.
pub const UPTIMES: u64 = 6;

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
    /// The lock keeps another position.
    #[error("lock {lock} keeps position {position}")]
    LockTaken {
        /// The lock.
        lock: u64,
        /// The position that it keeps.
        position: u64,
    },
    /// There is no such uptime.
    #[error("there are {UPTIMES} uptimes, and {uptime} is not one of them")]
    Uptime {
        /// Its index.
        uptime: u64,
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

/// A position that is made, and everything that comes with it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opening<'o> {
    /// Its number.
    pub position: u64,
    /// Its owner.
    pub owner: &'o [u8],
    /// Its pool.
    pub pool: u64,
    /// Its record.
    pub body: &'o [u8],
    /// The ticks that it begins and ends at, with what they are now.
    pub ticks: &'o [(i64, &'o [u8])],
    /// The accumulator of the pool's spread rewards as it is now, and the position's share of it.
    pub spread: Option<(&'o [u8], &'o [u8])>,
    /// The position's share of the pool's incentives, by uptime.
    pub uptimes: &'o [(u64, &'o [u8])],
    /// The liquidity of all positions over the pool's whole range as it is now, if this is one of them.
    pub full_range: Option<&'o [u8]>,
    /// The lock that keeps it.
    pub lock: Option<u64>,
}

/// The liquidity of all pools.
#[derive(Debug)]
pub struct Liquidity<E: Engine>(Store<E>);

impl<E: Engine> Liquidity<E> {
    /// Makes the state on an engine that holds nothing.
    pub fn create(engine: E) -> Result<Self, LiquidityError> {
        Ok(Self(Store::create_on(engine, &PLAN)?))
    }

    /// Opens the state, and makes it if the engine holds nothing.
    pub fn open(engine: E) -> Result<Self, LiquidityError> {
        Ok(Self(Store::open_on(engine, &PLAN)?))
    }

    /// The store below, by the types of the plan.
    pub const fn store(&self) -> &Store<E> {
        &self.0
    }

    fn atomically<T>(
        &self,
        operation: impl FnMut(&mut Batch<'_, E>) -> Result<T, LiquidityError>,
    ) -> Result<T, LiquidityError> {
        self.0.update_or(Durability::Buffer, operation)
    }

    /// Writes an initialised tick.
    pub fn put_tick(&self, pool: u64, tick: i64, info: &[u8]) -> Result<(), LiquidityError> {
        self.atomically(|batch| Ok(batch.put(&Tick { pool_id: pool, tick }, &Proto(info))?))
    }

    /// Takes out a tick that no position begins or ends at any more.
    pub fn remove_tick(&self, pool: u64, tick: i64) -> Result<(), LiquidityError> {
        self.atomically(|batch| Ok(batch.delete(&Tick { pool_id: pool, tick })?))
    }

    /// What is known of an initialised tick.
    pub fn tick(&self, pool: u64, tick: i64) -> Result<Option<Vec<u8>>, LiquidityError> {
        self.bytes_of(&Tick { pool_id: pool, tick })
    }

    /// The bytes of a value, if there is one.
    fn bytes_of<K: Key>(&self, key: &K) -> Result<Option<Vec<u8>>, LiquidityError> {
        Ok(self.0.get(key)?.map(|found| found.bytes().to_vec()))
    }

    /// Writes the record of a pool.
    pub fn put_pool(&self, pool: u64, body: &[u8]) -> Result<(), LiquidityError> {
        self.atomically(|batch| Ok(batch.put(&Pool { pool_id: pool }, &Proto(body))?))
    }

    /// The record of a pool.
    pub fn pool(&self, pool: u64) -> Result<Option<Vec<u8>>, LiquidityError> {
        self.bytes_of(&Pool { pool_id: pool })
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
        self.open_position(&Opening { position, owner, pool, body, ..Opening::default() })
    }

    /// Makes a position with its ticks, its shares of the rewards and its lock, all in one step.
    pub fn open_position(&self, opening: &Opening<'_>) -> Result<(), LiquidityError> {
        let Opening { position, pool, .. } = *opening;
        let addr = address(opening.owner)?;
        self.atomically(|batch| {
            let key = Position { position_id: position };
            if batch.contains(&key)? {
                return Err(LiquidityError::PositionExists { position });
            }
            batch.put(&key, &Proto(opening.body))?;
            let of_owner = AddressPoolPosition { addr, pool_id: pool, position_id: position };
            batch.put(&of_owner, &AddressPoolPositionValue)?;
            let of_pool = PoolPosition { pool_id: pool, position_id: position };
            batch.put(&of_pool, &PoolPositionValue)?;
            for (tick, info) in opening.ticks {
                batch.put(&Tick { pool_id: pool, tick: *tick }, &Proto(info))?;
            }
            if let Some((accumulator, record)) = opening.spread {
                batch.put(&accum::AccSpread { pool_id: pool }, &Proto(accumulator))?;
                let key = accum::PosSpread { pool_id: pool, position_id: position };
                batch.put(&key, &Proto(record))?;
            }
            for (uptime, record) in opening.uptimes {
                let uptime_index = known(*uptime)?;
                let key = accum::PosUptime { pool_id: pool, uptime_index, position_id: position };
                batch.put(&key, &Proto(record))?;
            }
            if let Some(liquidity) = opening.full_range {
                batch.put(&FullRangeLiquidity { pool_id: pool }, &Proto(liquidity))?;
            }
            opening.lock.map_or(Ok(()), |lock| tied(batch, position, lock))
        })
    }

    /// Changes the record of a position.
    pub fn put_position(&self, position: u64, body: &[u8]) -> Result<(), LiquidityError> {
        self.atomically(|batch| {
            let key = Position { position_id: position };
            if !batch.contains(&key)? {
                return Err(LiquidityError::NoPosition { position });
            }
            Ok(batch.put(&key, &Proto(body))?)
        })
    }

    /// The record of a position.
    pub fn position(&self, position: u64) -> Result<Option<Vec<u8>>, LiquidityError> {
        self.bytes_of(&Position { position_id: position })
    }

    /// Takes out a position and everything that names it, its shares of the rewards included. One that a lock keeps is refused.
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
            for uptime_index in 0..UPTIMES {
                batch.delete(&accum::PosUptime { pool_id: pool, uptime_index, position_id: position })?;
            }
            Ok(batch.delete(&Position { position_id: position })?)
        })
    }

    /// Ties a position to a lock, in both directions. Neither may be tied already.
    pub fn lock_position(&self, position: u64, lock: u64) -> Result<(), LiquidityError> {
        self.atomically(|batch| {
            if !batch.contains(&Position { position_id: position })? {
                return Err(LiquidityError::NoPosition { position });
            }
            tied(batch, position, lock)
        })
    }

    /// Takes the lock off a position, in both directions, and returns it.
    pub fn unlock_position(&self, position: u64) -> Result<Option<u64>, LiquidityError> {
        self.atomically(|batch| {
            let key = PositionToLock { position_id: position };
            let Some(found) = batch.get(&key)? else { return Ok(None) };
            let lock_id = found.value()?.lock_id;
            drop(found);
            batch.delete(&key)?;
            batch.delete(&LockToPosition { lock_id })?;
            Ok(Some(lock_id))
        })
    }

    /// The lock that keeps a position.
    pub fn lock_of(&self, position: u64) -> Result<Option<u64>, LiquidityError> {
        let found = self.0.get(&PositionToLock { position_id: position })?;
        Ok(found.map(|found| found.value().map(|value| value.lock_id)).transpose()?)
    }

    /// The position that a lock keeps.
    pub fn position_of(&self, lock: u64) -> Result<Option<u64>, LiquidityError> {
        let found = self.0.get(&LockToPosition { lock_id: lock })?;
        Ok(found.map(|found| found.value().map(|value| value.position_id)).transpose()?)
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

    /// Takes out what a sponsor has paid in full.
    pub fn remove_incentive(
        &self,
        pool: u64,
        uptime: u64,
        denom: &str,
        sponsor: &[u8],
    ) -> Result<(), LiquidityError> {
        let key = IncentiveRecord { pool_id: pool, uptime_index: uptime, denom, addr: address(sponsor)? };
        self.atomically(|batch| Ok(batch.delete(&key)?))
    }

    /// What sponsors still pay to a pool's positions, each with its uptime, in the order of their text.
    pub fn incentives_of(&self, pool: u64) -> Result<Vec<(u64, Incentive)>, LiquidityError> {
        let view = self.0.snapshot()?;
        let mut found = Vec::new();
        view.scan(IncentiveRecord::by_pool_id(pool)?).each(|key, value| {
            let (denom, sponsor) = (key.denom.to_owned(), key.addr.as_slice().to_vec());
            found.push((key.uptime_index, Incentive { denom, sponsor, body: value.0.to_vec() }));
        })?;
        Ok(found)
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
        let key = accum::AccUptime { pool_id: pool, uptime_index: known(uptime)? };
        self.atomically(|batch| Ok(batch.put(&key, &Proto(accumulator))?))
    }

    /// Writes the accumulator of a pool's incentives of an uptime, and a position's share of it, as one step.
    pub fn put_uptime_of(
        &self,
        pool: u64,
        uptime: u64,
        position: u64,
        accumulator: &[u8],
        record: &[u8],
    ) -> Result<(), LiquidityError> {
        let uptime_index = known(uptime)?;
        self.atomically(|batch| {
            if !batch.contains(&PoolPosition { pool_id: pool, position_id: position })? {
                return Err(LiquidityError::NoPosition { position });
            }
            batch.put(&accum::AccUptime { pool_id: pool, uptime_index }, &Proto(accumulator))?;
            let key = accum::PosUptime { pool_id: pool, uptime_index, position_id: position };
            Ok(batch.put(&key, &Proto(record))?)
        })
    }

    /// The accumulator of a pool's incentives of an uptime, a protobuf message.
    pub fn uptime(&self, pool: u64, uptime: u64) -> Result<Option<Vec<u8>>, LiquidityError> {
        self.bytes_of(&accum::AccUptime { pool_id: pool, uptime_index: uptime })
    }

    /// A position's share of a pool's incentives of an uptime, a protobuf message.
    pub fn uptime_of(
        &self,
        pool: u64,
        uptime: u64,
        position: u64,
    ) -> Result<Option<Vec<u8>>, LiquidityError> {
        self.bytes_of(&accum::PosUptime { pool_id: pool, uptime_index: uptime, position_id: position })
    }

    /// Writes the liquidity of all positions over a pool's whole range.
    pub fn put_full_range(&self, pool: u64, liquidity: &[u8]) -> Result<(), LiquidityError> {
        self.atomically(|batch| Ok(batch.put(&FullRangeLiquidity { pool_id: pool }, &Proto(liquidity))?))
    }

    /// The liquidity of all positions over a pool's whole range, a protobuf message.
    pub fn full_range(&self, pool: u64) -> Result<Option<Vec<u8>>, LiquidityError> {
        self.bytes_of(&FullRangeLiquidity { pool_id: pool })
    }

    /// Writes what a balancer pool's full-range shares are entitled to in a pool, for an uptime.
    pub fn put_balancer(
        &self,
        pool: u64,
        balancer: u64,
        uptime: u64,
        entitled: &[u8],
    ) -> Result<(), LiquidityError> {
        let key = of_balancer(pool, balancer, known(uptime)?);
        self.atomically(|batch| Ok(batch.put(&key, &Raw(entitled))?))
    }

    /// Takes a balancer pool's link to a pool out, for all uptimes, in one step.
    pub fn remove_balancer(&self, pool: u64, balancer: u64) -> Result<(), LiquidityError> {
        self.atomically(|batch| {
            (0..UPTIMES).try_for_each(|uptime| Ok(batch.delete(&of_balancer(pool, balancer, uptime))?))
        })
    }

    /// What a balancer pool's full-range shares are entitled to in a pool, for an uptime.
    pub fn balancer(&self, pool: u64, balancer: u64, uptime: u64) -> Result<Option<Vec<u8>>, LiquidityError> {
        self.bytes_of(&of_balancer(pool, balancer, uptime))
    }
}

/// Ties a position to a lock, unless either is tied.
fn tied<E: Engine>(batch: &mut Batch<'_, E>, position: u64, lock: u64) -> Result<(), LiquidityError> {
    if let Some(found) = batch.get(&PositionToLock { position_id: position })? {
        return Err(LiquidityError::Locked { position, lock: found.value()?.lock_id });
    }
    if let Some(found) = batch.get(&LockToPosition { lock_id: lock })? {
        return Err(LiquidityError::LockTaken { lock, position: found.value()?.position_id });
    }
    batch.put(&PositionToLock { position_id: position }, &PositionToLockValue { lock_id: lock })?;
    Ok(batch.put(&LockToPosition { lock_id: lock }, &LockToPositionValue { position_id: position })?)
}

/// The key of a balancer pool's link.
const fn of_balancer(pool: u64, balancer: u64, uptime: u64) -> BalancerFullRange {
    BalancerFullRange { cl_pool_id: pool, balancer_pool_id: balancer, uptime_index: uptime }
}

/// The index of an uptime that there is.
const fn known(uptime: u64) -> Result<u64, LiquidityError> {
    if uptime < UPTIMES { Ok(uptime) } else { Err(LiquidityError::Uptime { uptime }) }
}

fn address(bytes: &[u8]) -> Result<ShortBytes<255>, LiquidityError> {
    ShortBytes::copied(bytes).ok_or(LiquidityError::Address)
}

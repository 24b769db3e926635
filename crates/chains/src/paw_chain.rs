//! The state of the PAW chain as operations, each one atomic batch.
//!
//! The keys are those of [`paw_v2`](crate::paw_v2), the plan without the document's flaws; the values are typed, where the document
//! leaves them to protobuf. What the document asks of its handlers is done here: a pair of tokens has one pool, found by one read
//! in whichever order it is asked for; packets and requests pass with a greater nonce only; an account cannot act twice on a pool at
//! one height; a tripped breaker and an emergency pause stop what they should; votes are kept for a while and then pruned.
//!
//! ```
//! use keyplan::store::engine::Memory;
//! use keyplan_chains::paw_chain::{Paw, PawError};
//!
//! let paw = Paw::create(Memory::new())?;
//! let alice = [1; 20];
//! let pool = paw.create_pool("upaw", "usdc")?;
//! assert_eq!(paw.pool_of("usdc", "upaw")?, Some(pool));
//! // The document's key would find this pool for these two as well.
//! assert_eq!(paw.pool_of("upa", "wusdc")?, None);
//! assert_eq!(paw.add_liquidity(pool, &alice, 100, 400, 7)?, 200);
//! assert!(matches!(paw.remove_liquidity(pool, &alice, 50, 7), Err(PawError::TooSoon { height: 7 })));
//! assert_eq!(paw.remove_liquidity(pool, &alice, 50, 8)?, (25, 100));
//! # Ok::<(), PawError>(())
//! ```

use core::ops::ControlFlow;

use keyplan::store::collection::{Nonces, NumberKey};
use keyplan::store::engine::{Durability, Engine};
use keyplan::store::raw::{Removed, Steps};
use keyplan::store::{Batch, Error, Read, Store};

keyplan::plan! {
    plan paw_chain;

    type Address = bytes(20 | 32);
    type Denom = text("a-zA-Z", "a-zA-Z0-9/:._-", 3..=128);
    type Channel = text("a-zA-Z0-9._+#[]<>-", 8..=64);

    space state {
        rule prefix 2 "the byte of the module and the byte of the family";
        rule integers be "rows sort by number";
        rule separators 0x00 "a length tells where a text ends, or a byte that no text here has";

        module compute = 0x01 {
            /// Who asked for a job.
            key request = 0x02 request_id: u64 -> nonce: u64 requester: Address
                scan all in order;
            /// What is held for a job.
            key escrow = 0x04 request_id: u64 -> amount: u128
                scan all in order;
            /// How far a job has come.
            key job_status = 0x05 request_id: u64 -> status: (pending: 0x00 | done: 0x01 | refunded: 0x02)
                scan all in order;
            /// The last nonce of an account.
            key nonce_tracker = 0x06 addr: Address -> nonce: u64;
            /// What a job has produced.
            key result = 0x07 request_id: u64 -> raw
                scan all in order;
            /// The number that the next request will get.
            key request_count = 0x08 -> next: u64;
            /// The highest nonce of a sender on a channel.
            key ibc_packet_nonce = 0x20 channel_id: Channel.len8 sender: text(1..=256) -> nonce: u64
                scan by channel_id in order;
        }

        module dex = 0x02 {
            /// A pool: its tokens, what is in it, and how many shares there are.
            key pool = 0x01 pool_id: u64
                -> reserve_a: u128 reserve_b: u128 shares: u128 token_a: Denom.len8 token_b: Denom
                scan all in order;
            /// The number that the next pool will get.
            key pool_count = 0x02 -> next: u64;
            /// The height until which trading is halted.
            key circuit_breaker = 0x06 pool_id: u64 -> until: u64;
            /// The height at which an account last changed its liquidity.
            key last_liquidity_action = 0x07 pool_id: u64 addr: Address -> height: u64
                scan by pool_id in order;
            /// Fees of a pool for those who provide liquidity.
            key pool_lp_fee = 0x09 pool_id: u64 token: Denom -> amount: u128
                scan by pool_id in order;
            /// Fees for the protocol.
            key protocol_fee = 0x0A token: Denom -> amount: u128
                scan all in order;
            /// The share of a pool that an account owns.
            key liquidity_share = 0x0B pool_id: u64 addr: Address -> amount: u128
                scan by pool_id in order;
            /// The pool of two tokens, the lesser one first.
            key pool_by_tokens = 0x10 token_a: Denom.len8 token_b: Denom -> pool_id: u64
                scan by token_a in order;
        }

        module oracle = 0x03 {
            /// The price of a token that is valid now.
            key price = 0x02 denom: Denom -> height: u64 price: u128
                scan all in order;
            /// Who has stopped the oracle.
            key emergency_pause = 0x0E -> by: Address;
            /// What validators have voted for, by height.
            key vote_at = 0x30 height: u64 denom: Denom 0x00 addr: Address -> price: u128
                scan all in order
                scan by height
                retain 100_000 by height;
        }
    }
}
use paw_chain::state::{compute, dex, oracle};

impl NumberKey for compute::NonceTracker<'_> {
    fn value_of(nonce: u64) -> compute::NonceTrackerValue {
        compute::NonceTrackerValue { nonce }
    }
    fn number_of(value: compute::NonceTrackerValue) -> u64 {
        value.nonce
    }
}

impl NumberKey for compute::IbcPacketNonce<'_> {
    fn value_of(nonce: u64) -> compute::IbcPacketNonceValue {
        compute::IbcPacketNonceValue { nonce }
    }
    fn number_of(value: compute::IbcPacketNonceValue) -> u64 {
        value.nonce
    }
}

/// Why an operation was refused. Nothing of it is written then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PawError {
    /// The store could not do it, an argument is outside of its domain, a nonce was used before, or another has changed what was
    /// read.
    #[error(transparent)]
    Store(#[from] Error),
    /// There is no such pool.
    #[error("there is no pool {pool}")]
    NoPool {
        /// Its number.
        pool: u64,
    },
    /// The pair has a pool.
    #[error("the pair has the pool {pool}")]
    PoolExists {
        /// Its number.
        pool: u64,
    },
    /// A pair of one token.
    #[error("a pool has two tokens")]
    OneToken,
    /// The breaker of a pool is tripped.
    #[error("pool {pool} is halted until height {until}")]
    Halted {
        /// The pool.
        pool: u64,
        /// The last height of it.
        until: u64,
    },
    /// The account has acted on the pool at this height, or later.
    #[error("the account has acted on the pool at height {height}")]
    TooSoon {
        /// That height.
        height: u64,
    },
    /// There is less than was asked for.
    #[error("there are {have}, and {wanted} were asked for")]
    TooFew {
        /// What there is.
        have: u128,
        /// What was asked for.
        wanted: u128,
    },
    /// A number that does not fit.
    #[error("the amount does not fit")]
    Overflow,
    /// There is no such request, or it is settled.
    #[error("request {request} is not pending")]
    NotPending {
        /// Its number.
        request: u64,
    },
    /// The oracle was stopped.
    #[error("the oracle is paused")]
    Paused,
}

/// A pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolState {
    /// The lesser token.
    pub token_a: String,
    /// The greater token.
    pub token_b: String,
    /// What is there of the first.
    pub reserve_a: u128,
    /// What is there of the second.
    pub reserve_b: u128,
    /// How many shares there are.
    pub shares: u128,
}

/// The state of the chain.
#[derive(Debug)]
pub struct Paw<E: Engine>(Store<E>);

impl<E: Engine> Paw<E> {
    /// Makes the state of a chain on an engine that holds nothing.
    pub fn create(engine: E) -> Result<Self, PawError> {
        Ok(Self(Store::create_on(engine, &paw_chain::PLAN)?))
    }

    /// Opens the state of a chain, and makes it if the engine holds nothing.
    pub fn open(engine: E) -> Result<Self, PawError> {
        Ok(Self(Store::open_on(engine, &paw_chain::PLAN)?))
    }

    /// The store below, by the types of the plan.
    pub const fn store(&self) -> &Store<E> {
        &self.0
    }

    /// Runs an operation in one batch, and again if another has changed what it has read.
    fn atomically<T>(
        &self,
        mut operation: impl FnMut(&mut Batch<'_, E>) -> Result<T, PawError>,
    ) -> Result<T, PawError> {
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

    /// Makes the pool of two tokens, in whichever order they are given.
    pub fn create_pool(&self, one: &str, other: &str) -> Result<u64, PawError> {
        let (token_a, token_b) = pair(one, other)?;
        self.atomically(|batch| {
            let key = dex::PoolByTokens { token_a, token_b };
            if let Some(found) = batch.get(&key)? {
                return Err(PawError::PoolExists { pool: found.value()?.pool_id });
            }
            let next = batch.get(&dex::PoolCount)?.map(|found| found.value().map(|value| value.next));
            let pool_id = next.transpose()?.unwrap_or(1);
            let after = pool_id.checked_add(1).ok_or(PawError::Overflow)?;
            batch.put(&dex::PoolCount, &dex::PoolCountValue { next: after })?;
            batch.put(&key, &dex::PoolByTokensValue { pool_id })?;
            let value = dex::PoolValue { reserve_a: 0, reserve_b: 0, shares: 0, token_a, token_b };
            batch.put(&dex::Pool { pool_id }, &value)?;
            Ok(pool_id)
        })
    }

    /// The pool of two tokens, by one read.
    pub fn pool_of(&self, one: &str, other: &str) -> Result<Option<u64>, PawError> {
        let (token_a, token_b) = pair(one, other)?;
        let found = self.0.get(&dex::PoolByTokens { token_a, token_b })?;
        Ok(found.map(|found| found.value().map(|value| value.pool_id)).transpose()?)
    }

    /// What is in a pool.
    pub fn pool(&self, pool: u64) -> Result<PoolState, PawError> {
        state_of(&self.0.snapshot()?, pool)
    }

    /// Puts liquidity into a pool and returns the shares for it. An account acts on a pool once a height.
    pub fn add_liquidity(
        &self,
        pool: u64,
        who: &[u8],
        a: u128,
        b: u128,
        height: u64,
    ) -> Result<u128, PawError> {
        self.atomically(|batch| {
            let state = Self::entered(batch, pool, who, height)?;
            let minted = if state.shares == 0 {
                a.checked_mul(b).ok_or(PawError::Overflow)?.isqrt()
            } else {
                let of = |amount: u128, reserve: u128| -> Option<u128> {
                    amount.checked_mul(state.shares)?.checked_div(reserve)
                };
                let both = of(a, state.reserve_a).zip(of(b, state.reserve_b));
                both.map(|(a, b)| a.min(b)).ok_or(PawError::Overflow)?
            };
            if minted == 0 {
                return Err(PawError::TooFew { have: 0, wanted: 1 });
            }
            let sum = |a: u128, b: u128| a.checked_add(b).ok_or(PawError::Overflow);
            let own = share(batch, pool, who)?;
            let key = dex::LiquidityShare { pool_id: pool, addr: who };
            batch.put(&key, &dex::LiquidityShareValue { amount: sum(own, minted)? })?;
            let after = PoolState {
                reserve_a: sum(state.reserve_a, a)?,
                reserve_b: sum(state.reserve_b, b)?,
                shares: sum(state.shares, minted)?,
                ..state
            };
            put_pool(batch, pool, &after)?;
            Ok(minted)
        })
    }

    /// Gives shares back and returns what they are worth.
    pub fn remove_liquidity(
        &self,
        pool: u64,
        who: &[u8],
        shares: u128,
        height: u64,
    ) -> Result<(u128, u128), PawError> {
        self.atomically(|batch| {
            let state = Self::entered(batch, pool, who, height)?;
            let have = share(batch, pool, who)?;
            let left = have.checked_sub(shares).ok_or(PawError::TooFew { have, wanted: shares })?;
            let worth = |reserve: u128| {
                reserve
                    .checked_mul(shares)
                    .and_then(|n| n.checked_div(state.shares))
                    .ok_or(PawError::Overflow)
            };
            let (a, b) = (worth(state.reserve_a)?, worth(state.reserve_b)?);
            let key = dex::LiquidityShare { pool_id: pool, addr: who };
            if left == 0 {
                batch.delete(&key)?;
            } else {
                batch.put(&key, &dex::LiquidityShareValue { amount: left })?;
            }
            let after = PoolState {
                reserve_a: state.reserve_a.saturating_sub(a),
                reserve_b: state.reserve_b.saturating_sub(b),
                shares: state.shares.saturating_sub(shares),
                ..state
            };
            put_pool(batch, pool, &after)?;
            Ok((a, b))
        })
    }

    /// The share of a pool that an account owns.
    pub fn share_of(&self, pool: u64, who: &[u8]) -> Result<u128, PawError> {
        share(&self.0.snapshot()?, pool, who)
    }

    /// What every operation on a pool begins with: it is there, it is not halted, and the account acts for the first time at this
    /// height.
    fn entered(batch: &mut Batch<'_, E>, pool: u64, who: &[u8], height: u64) -> Result<PoolState, PawError> {
        let state = state_of(batch, pool)?;
        if let Some(found) = batch.get(&dex::CircuitBreaker { pool_id: pool })? {
            let until = found.value()?.until;
            if height <= until {
                return Err(PawError::Halted { pool, until });
            }
        }
        let key = dex::LastLiquidityAction { pool_id: pool, addr: who };
        if let Some(found) = batch.get(&key)? {
            let last = found.value()?.height;
            if height <= last {
                return Err(PawError::TooSoon { height: last });
            }
        }
        batch.put(&key, &dex::LastLiquidityActionValue { height })?;
        Ok(state)
    }

    /// Halts a pool up to a height and at it.
    pub fn trip_breaker(&self, pool: u64, until: u64) -> Result<(), PawError> {
        self.atomically(|batch| {
            state_of(batch, pool)?;
            Ok(batch.put(&dex::CircuitBreaker { pool_id: pool }, &dex::CircuitBreakerValue { until })?)
        })
    }

    /// Adds to the fees of a pool and of the protocol, both or neither.
    pub fn add_fees(&self, pool: u64, token: &str, lp: u128, protocol: u128) -> Result<(), PawError> {
        self.atomically(|batch| {
            state_of(batch, pool)?;
            let key = dex::PoolLpFee { pool_id: pool, token };
            let had = batch.get(&key)?.map(|found| found.value().map(|value| value.amount)).transpose()?;
            let amount = had.unwrap_or(0).checked_add(lp).ok_or(PawError::Overflow)?;
            batch.put(&key, &dex::PoolLpFeeValue { amount })?;
            let key = dex::ProtocolFee { token };
            let had = batch.get(&key)?.map(|found| found.value().map(|value| value.amount)).transpose()?;
            let amount = had.unwrap_or(0).checked_add(protocol).ok_or(PawError::Overflow)?;
            Ok(batch.put(&key, &dex::ProtocolFeeValue { amount })?)
        })
    }

    /// The fees of a token: of a pool, and of the protocol.
    pub fn fees(&self, pool: u64, token: &str) -> Result<(u128, u128), PawError> {
        let view = self.0.snapshot()?;
        let of_pool = view.get(&dex::PoolLpFee { pool_id: pool, token })?;
        let of_pool = of_pool.map(|found| found.value().map(|value| value.amount)).transpose()?;
        let of_all = view.get(&dex::ProtocolFee { token })?;
        let of_all = of_all.map(|found| found.value().map(|value| value.amount)).transpose()?;
        Ok((of_pool.unwrap_or(0), of_all.unwrap_or(0)))
    }

    /// Asks for a job: the nonce, the request, its escrow and its status are one step.
    pub fn request(&self, requester: &[u8], nonce: u64, fee: u128) -> Result<u64, PawError> {
        self.atomically(|batch| {
            Nonces.advance(batch, &compute::NonceTracker { addr: requester }, nonce)?;
            let next = batch.get(&compute::RequestCount)?.map(|found| found.value().map(|value| value.next));
            let request_id = next.transpose()?.unwrap_or(1);
            let after = request_id.checked_add(1).ok_or(PawError::Overflow)?;
            batch.put(&compute::RequestCount, &compute::RequestCountValue { next: after })?;
            batch.put(&compute::Request { request_id }, &compute::RequestValue { nonce, requester })?;
            batch.put(&compute::Escrow { request_id }, &compute::EscrowValue { amount: fee })?;
            let status = compute::JobStatusValueStatus::Pending;
            batch.put(&compute::JobStatus { request_id }, &compute::JobStatusValue { status })?;
            Ok(request_id)
        })
    }

    /// Settles a job with its result and returns what was held for it, which is now the provider's.
    pub fn complete(&self, request: u64, result: &[u8]) -> Result<u128, PawError> {
        self.atomically(|batch| {
            let amount = settle(batch, request, compute::JobStatusValueStatus::Done)?;
            batch.put(&compute::Result { request_id: request }, &keyplan::typed::Raw(result))?;
            Ok(amount)
        })
    }

    /// Gives up a job and returns what was held for it, which is the requester's again.
    pub fn refund(&self, request: u64) -> Result<u128, PawError> {
        self.atomically(|batch| settle(batch, request, compute::JobStatusValueStatus::Refunded))
    }

    /// What is held for a job.
    pub fn escrow(&self, request: u64) -> Result<Option<u128>, PawError> {
        let found = self.0.get(&compute::Escrow { request_id: request })?;
        Ok(found.map(|found| found.value().map(|value| value.amount)).transpose()?)
    }

    /// Lets a packet of IBC pass, if its nonce is greater than the last of its sender on its channel. The sender may be any text:
    /// a slash in it does not make it another.
    pub fn receive_packet(&self, channel: &str, sender: &str, nonce: u64) -> Result<(), PawError> {
        let key = compute::IbcPacketNonce { channel_id: channel, sender };
        self.atomically(|batch| Ok(Nonces.advance(batch, &key, nonce)?))
    }

    /// Records a vote, unless the oracle is paused.
    pub fn vote(&self, height: u64, validator: &[u8], denom: &str, price: u128) -> Result<(), PawError> {
        self.atomically(|batch| {
            not_paused(batch)?;
            let key = oracle::VoteAt { height, denom, addr: validator };
            Ok(batch.put(&key, &oracle::VoteAtValue { price })?)
        })
    }

    /// Makes the median of a height's votes the price of a token, and returns it.
    pub fn settle_price(&self, height: u64, denom: &str) -> Result<Option<u128>, PawError> {
        self.atomically(|batch| {
            not_paused(batch)?;
            let mut prices = Vec::new();
            batch.scan(oracle::VoteAt::by_height(height)).each(|key, value| {
                if key.denom == denom {
                    prices.push(value.price);
                }
            })?;
            prices.sort_unstable();
            let Some(price) = prices.get(prices.len() / 2).copied() else { return Ok(None) };
            batch.put(&oracle::Price { denom }, &oracle::PriceValue { height, price })?;
            Ok(Some(price))
        })
    }

    /// Removes votes that are older than the plan keeps them, in steps.
    pub fn prune_votes(&self, height: u64, steps: &Steps) -> Result<Removed, PawError> {
        let to_the_end = |_: &Removed| ControlFlow::Continue(());
        Ok(self.0.prune::<oracle::VoteAt<'_>>(
            &paw_chain::PLAN,
            Some(i128::from(height)),
            steps,
            to_the_end,
        )?)
    }

    /// Stops the oracle.
    pub fn pause(&self, by: &[u8]) -> Result<(), PawError> {
        self.atomically(|batch| Ok(batch.put(&oracle::EmergencyPause, &oracle::EmergencyPauseValue { by })?))
    }

    /// Lets the oracle go on.
    pub fn resume(&self) -> Result<(), PawError> {
        self.atomically(|batch| Ok(batch.delete(&oracle::EmergencyPause)?))
    }
}

/// Two tokens, the lesser one first.
fn pair<'t>(one: &'t str, other: &'t str) -> Result<(&'t str, &'t str), PawError> {
    match one.cmp(other) {
        core::cmp::Ordering::Less => Ok((one, other)),
        core::cmp::Ordering::Equal => Err(PawError::OneToken),
        core::cmp::Ordering::Greater => Ok((other, one)),
    }
}

fn state_of<R: Read>(read: &R, pool: u64) -> Result<PoolState, PawError> {
    let found = read.get(&dex::Pool { pool_id: pool })?.ok_or(PawError::NoPool { pool })?;
    let dex::PoolValue { reserve_a, reserve_b, shares, token_a, token_b } = found.value()?;
    Ok(PoolState { token_a: token_a.to_owned(), token_b: token_b.to_owned(), reserve_a, reserve_b, shares })
}

fn put_pool<E: Engine>(batch: &mut Batch<'_, E>, pool: u64, state: &PoolState) -> Result<(), PawError> {
    let PoolState { token_a, token_b, reserve_a, reserve_b, shares } = state;
    let value =
        dex::PoolValue { reserve_a: *reserve_a, reserve_b: *reserve_b, shares: *shares, token_a, token_b };
    Ok(batch.put(&dex::Pool { pool_id: pool }, &value)?)
}

fn share<R: Read>(read: &R, pool: u64, who: &[u8]) -> Result<u128, PawError> {
    let found = read.get(&dex::LiquidityShare { pool_id: pool, addr: who })?;
    Ok(found.map(|found| found.value().map(|value| value.amount)).transpose()?.unwrap_or(0))
}

/// Ends a pending request and takes what is held for it.
fn settle<E: Engine>(
    batch: &mut Batch<'_, E>,
    request: u64,
    status: compute::JobStatusValueStatus,
) -> Result<u128, PawError> {
    let key = compute::JobStatus { request_id: request };
    let now = batch.get(&key)?.map(|found| found.value().map(|value| value.status)).transpose()?;
    if now != Some(compute::JobStatusValueStatus::Pending) {
        return Err(PawError::NotPending { request });
    }
    let escrow = compute::Escrow { request_id: request };
    let held = batch.get(&escrow)?.map(|found| found.value().map(|value| value.amount)).transpose()?;
    batch.delete(&escrow)?;
    batch.put(&key, &compute::JobStatusValue { status })?;
    Ok(held.unwrap_or(0))
}

fn not_paused<R: Read>(read: &R) -> Result<(), PawError> {
    if read.contains(&oracle::EmergencyPause)? { Err(PawError::Paused) } else { Ok(()) }
}

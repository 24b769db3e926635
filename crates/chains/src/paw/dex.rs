//! The exchange: pools, the shares in them, swaps, fees, and what guards them.

use keyplan::store::collection::{LockGuard, Locks};
use keyplan::store::engine::Engine;
use keyplan::store::{Batch, Read};

use super::chain::{PARTS, passed, share_of, sum, value};
use super::layout::paw_chain::state::dex;
use super::{Module, Packet, Paw, PawError};

/// What governance sets for the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DexParams {
    /// The fee of a swap, in parts per million of what is paid in.
    pub swap_fee: u32,
    /// The part of the fee that is the protocol's, in parts per million; the rest is for those who provide liquidity.
    pub protocol_part: u32,
    /// The greatest part of a reserve that one swap may take, in parts per million.
    pub max_drain: u32,
    /// How many heights must lie between two changes of an account's liquidity in a pool; 1 lets it act at every height.
    pub flash_loan_blocks: u64,
}

impl Default for DexParams {
    fn default() -> Self {
        Self { swap_fee: 3_000, protocol_part: 100_000, max_drain: 300_000, flash_loan_blocks: 1 }
    }
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

/// A swap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swap<'s> {
    /// The pool.
    pub pool: u64,
    /// The token that is paid in.
    pub token_in: &'s str,
    /// How much of it.
    pub amount_in: u128,
    /// The least that must come out.
    pub min_out: u128,
}

/// What a swap has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swapped {
    /// What comes out of the pool.
    pub out: u128,
    /// What stays for those who provide liquidity.
    pub lp_fee: u128,
    /// What stays for the protocol.
    pub protocol_fee: u128,
}

/// When an operation is done, and by whom if somebody has entered the pool.
#[derive(Clone, Copy)]
struct At<'a> {
    height: u64,
    inside: Option<&'a [u8]>,
}

/// Somebody inside of a pool: its operations pass, and nobody else's do. It leaves when this is dropped, and a crash keeps it inside
/// to the end of its time and no longer.
#[derive(Debug)]
pub struct Inside<'p, E: Engine> {
    paw: &'p Paw<E>,
    pool: u64,
    owner: Vec<u8>,
    height: u64,
    guard: LockGuard<'p, dex::ReentrancyLock, E>,
}

impl<E: Engine> Inside<'_, E> {
    /// [`Paw::swap`] in this pool.
    pub fn swap(&self, swap: &Swap<'_>) -> Result<Swapped, PawError> {
        self.of_this(swap.pool)?;
        self.paw.atomically(|batch| swapped(batch, swap, self.at()))
    }

    /// [`Paw::add_liquidity`] to this pool.
    pub fn add_liquidity(&self, who: &[u8], a: u128, b: u128) -> Result<u128, PawError> {
        self.paw.atomically(|batch| added(batch, self.pool, who, a, b, self.at()))
    }

    /// [`Paw::remove_liquidity`] from this pool.
    pub fn remove_liquidity(&self, who: &[u8], shares: u128) -> Result<(u128, u128), PawError> {
        self.paw.atomically(|batch| removed(batch, self.pool, who, shares, self.at()))
    }

    /// Leaves the pool; says if its time was over and another has entered.
    pub fn leave(self) -> Result<(), PawError> {
        Ok(self.guard.release()?)
    }

    /// Stays inside to the end of its time, as a crash would.
    pub fn stay(self) {
        self.guard.keep();
    }

    fn at(&self) -> At<'_> {
        At { height: self.height, inside: Some(&self.owner) }
    }

    fn of_this(&self, pool: u64) -> Result<(), PawError> {
        if pool == self.pool { Ok(()) } else { Err(PawError::NoPool { pool }) }
    }
}

impl<E: Engine> Paw<E> {
    /// Sets the parameters of the exchange.
    pub fn set_dex_params(&self, params: DexParams) -> Result<(), PawError> {
        let DexParams { swap_fee, protocol_part, max_drain, flash_loan_blocks } = params;
        if [swap_fee, protocol_part, max_drain].iter().any(|rate| u128::from(*rate) > PARTS) {
            return Err(PawError::Overflow);
        }
        let value = dex::ParamsValue { swap_fee, protocol_part, max_drain, flash_loan_blocks };
        self.atomically(|batch| Ok(batch.put(&dex::Params, &value)?))
    }

    /// The parameters of the exchange.
    pub fn dex_params(&self) -> Result<DexParams, PawError> {
        params(&self.0.snapshot()?)
    }

    /// Makes the pool of two tokens, in whichever order they are given.
    pub fn create_pool(&self, one: &str, other: &str) -> Result<u64, PawError> {
        let (token_a, token_b) = pair(one, other)?;
        self.atomically(|batch| {
            let key = dex::PoolByTokens { token_a, token_b };
            if let Some(pool) = value(batch, &key, |value| value.pool_id)? {
                return Err(PawError::PoolExists { pool });
            }
            let pool_id = value(batch, &dex::PoolCount, |value| value.next)?.unwrap_or(1);
            let next = pool_id.checked_add(1).ok_or(PawError::Overflow)?;
            batch.put(&dex::PoolCount, &dex::PoolCountValue { next })?;
            batch.put(&key, &dex::PoolByTokensValue { pool_id })?;
            let value = dex::PoolValue { reserve_a: 0, reserve_b: 0, shares: 0, token_a, token_b };
            batch.put(&dex::Pool { pool_id }, &value)?;
            Ok(pool_id)
        })
    }

    /// The pool of two tokens, by one read.
    pub fn pool_of(&self, one: &str, other: &str) -> Result<Option<u64>, PawError> {
        let (token_a, token_b) = pair(one, other)?;
        value(&self.0.snapshot()?, &dex::PoolByTokens { token_a, token_b }, |value| value.pool_id)
    }

    /// What is in a pool.
    pub fn pool(&self, pool: u64) -> Result<PoolState, PawError> {
        state_of(&self.0.snapshot()?, pool)
    }

    /// All pools, by number.
    pub fn pools(&self) -> Result<Vec<(u64, PoolState)>, PawError> {
        let mut all = Vec::new();
        self.0.snapshot()?.scan(dex::Pool::all()).each(|key, value| {
            all.push((key.pool_id, owned(value)));
        })?;
        Ok(all)
    }

    /// Enters a pool for several operations that belong together, at a height and up to another. `owner` names whoever enters, such as a
    /// transaction by its hash, and is nobody else's name.
    pub fn enter(&self, pool: u64, owner: &[u8], height: u64, until: u64) -> Result<Inside<'_, E>, PawError> {
        self.pool(pool)?;
        let guard = Locks.hold(&self.0, &dex::ReentrancyLock { pool_id: pool }, owner, height, until)?;
        Ok(Inside { paw: self, pool, owner: owner.to_vec(), height, guard })
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
        self.atomically(|batch| added(batch, pool, who, a, b, At { height, inside: None }))
    }

    /// Gives shares back and returns what they are worth.
    pub fn remove_liquidity(
        &self,
        pool: u64,
        who: &[u8],
        shares: u128,
        height: u64,
    ) -> Result<(u128, u128), PawError> {
        self.atomically(|batch| removed(batch, pool, who, shares, At { height, inside: None }))
    }

    /// Swaps by the rule that the product of the reserves does not fall. Reserves and both fees are one step.
    pub fn swap(&self, swap: &Swap<'_>, height: u64) -> Result<Swapped, PawError> {
        self.atomically(|batch| swapped(batch, swap, At { height, inside: None }))
    }

    /// Swaps on behalf of another chain: the nonce of the packet is used in the step that it protects.
    pub fn receive_swap(
        &self,
        packet: &Packet<'_>,
        swap: &Swap<'_>,
        height: u64,
    ) -> Result<Swapped, PawError> {
        self.atomically(|batch| {
            passed(batch, Module::Dex, packet)?;
            swapped(batch, swap, At { height, inside: None })
        })
    }

    /// The share of a pool that an account owns.
    pub fn share_of(&self, pool: u64, who: &[u8]) -> Result<u128, PawError> {
        share(&self.0.snapshot()?, pool, who)
    }

    /// All shares of a pool, by address.
    pub fn shares(&self, pool: u64) -> Result<Vec<(Vec<u8>, u128)>, PawError> {
        let mut all = Vec::new();
        self.0.snapshot()?.scan(dex::LiquidityShare::by_pool_id(pool)).each(|key, value| {
            all.push((key.addr.to_vec(), value.amount));
        })?;
        Ok(all)
    }

    /// What an account has put into a pool, less its part of what it has taken out.
    pub fn liquidity_of(&self, pool: u64, who: &[u8]) -> Result<(u128, u128), PawError> {
        liquidity(&self.0.snapshot()?, pool, who)
    }

    /// The height at which an account last changed its liquidity in a pool.
    pub fn last_action(&self, pool: u64, who: &[u8]) -> Result<Option<u64>, PawError> {
        let key = dex::LastLiquidityAction { pool_id: pool, addr: who };
        value(&self.0.snapshot()?, &key, |value| value.height)
    }

    /// Halts a pool up to a height and at it.
    pub fn trip_breaker(&self, pool: u64, until: u64) -> Result<(), PawError> {
        self.atomically(|batch| {
            state_of(batch, pool)?;
            Ok(batch.put(&dex::CircuitBreaker { pool_id: pool }, &dex::CircuitBreakerValue { until })?)
        })
    }

    /// Lets a pool go on before its time.
    pub fn reset_breaker(&self, pool: u64) -> Result<(), PawError> {
        self.atomically(|batch| Ok(batch.delete(&dex::CircuitBreaker { pool_id: pool })?))
    }

    /// The height until which a pool is halted, if it was.
    pub fn breaker(&self, pool: u64) -> Result<Option<u64>, PawError> {
        value(&self.0.snapshot()?, &dex::CircuitBreaker { pool_id: pool }, |value| value.until)
    }

    /// Adds to the fees of a pool and of the protocol, both or neither.
    pub fn add_fees(&self, pool: u64, token: &str, lp: u128, protocol: u128) -> Result<(), PawError> {
        self.atomically(|batch| {
            state_of(batch, pool)?;
            put_fees(batch, pool, token, lp, protocol)
        })
    }

    /// The fees of a token: of a pool, and of the protocol.
    pub fn fees(&self, pool: u64, token: &str) -> Result<(u128, u128), PawError> {
        fees(&self.0.snapshot()?, pool, token)
    }

    /// Moves the fees of a pool into its reserves, so that every share is worth more, and returns how much of either token.
    pub fn compound_fees(&self, pool: u64) -> Result<(u128, u128), PawError> {
        self.atomically(|batch| {
            let state = state_of(batch, pool)?;
            if state.shares == 0 {
                return Err(PawError::TooFew { have: 0, wanted: 1 });
            }
            let mut taken = |token: &str| -> Result<u128, PawError> {
                let amount = fees(batch, pool, token)?.0;
                batch.delete(&dex::PoolLpFee { pool_id: pool, token })?;
                Ok(amount)
            };
            let (a, b) = (taken(&state.token_a)?, taken(&state.token_b)?);
            let after = PoolState {
                reserve_a: sum(state.reserve_a, a)?,
                reserve_b: sum(state.reserve_b, b)?,
                ..state
            };
            put_pool(batch, pool, &after)?;
            Ok((a, b))
        })
    }

    /// Takes the protocol's fees of a token out, and returns them.
    pub fn collect_protocol_fees(&self, token: &str) -> Result<u128, PawError> {
        self.atomically(|batch| {
            let key = dex::ProtocolFee { token };
            let amount = value(batch, &key, |value| value.amount)?;
            batch.delete(&key)?;
            Ok(amount.unwrap_or(0))
        })
    }
}

/// What every operation on a pool begins with: it is there, nobody else is inside, and it is not halted.
fn entered<E: Engine>(batch: &mut Batch<'_, E>, pool: u64, at: At<'_>) -> Result<PoolState, PawError> {
    let state = state_of(batch, pool)?;
    let held = Locks.holder(batch, &dex::ReentrancyLock { pool_id: pool }, at.height)?;
    match (held, at.inside) {
        (None, None) => {}
        (Some(held), Some(owner)) if held.owner == owner => {}
        (Some(held), _) => return Err(PawError::Entered { pool, until: held.until }),
        (None, Some(_)) => return Err(PawError::Left { pool }),
    }
    let halted = value(batch, &dex::CircuitBreaker { pool_id: pool }, |value| value.until)?;
    match halted {
        Some(until) if at.height <= until => Err(PawError::Halted { pool, until }),
        _ => Ok(state),
    }
}

/// Refuses an account that has changed its liquidity too short a while ago, and notes that it does so now.
fn acted<E: Engine>(batch: &mut Batch<'_, E>, pool: u64, who: &[u8], height: u64) -> Result<(), PawError> {
    let key = dex::LastLiquidityAction { pool_id: pool, addr: who };
    let blocks = params(batch)?.flash_loan_blocks;
    match value(batch, &key, |value| value.height)? {
        Some(last) if height < last.saturating_add(blocks) => Err(PawError::TooSoon { height: last }),
        _ => Ok(batch.put(&key, &dex::LastLiquidityActionValue { height })?),
    }
}

fn added<E: Engine>(
    batch: &mut Batch<'_, E>,
    pool: u64,
    who: &[u8],
    a: u128,
    b: u128,
    at: At<'_>,
) -> Result<u128, PawError> {
    let state = entered(batch, pool, at)?;
    acted(batch, pool, who, at.height)?;
    let minted = if state.shares == 0 {
        a.checked_mul(b).ok_or(PawError::Overflow)?.isqrt()
    } else {
        share_of(a, state.shares, state.reserve_a)?.min(share_of(b, state.shares, state.reserve_b)?)
    };
    if minted == 0 {
        return Err(PawError::TooFew { have: 0, wanted: 1 });
    }
    let own = sum(share(batch, pool, who)?, minted)?;
    batch
        .put(&dex::LiquidityShare { pool_id: pool, addr: who }, &dex::LiquidityShareValue { amount: own })?;
    let (had_a, had_b) = liquidity(batch, pool, who)?;
    let value = dex::LiquidityValue { a: sum(had_a, a)?, b: sum(had_b, b)? };
    batch.put(&dex::Liquidity { pool_id: pool, addr: who }, &value)?;
    let after = PoolState {
        reserve_a: sum(state.reserve_a, a)?,
        reserve_b: sum(state.reserve_b, b)?,
        shares: sum(state.shares, minted)?,
        ..state
    };
    put_pool(batch, pool, &after)?;
    Ok(minted)
}

fn removed<E: Engine>(
    batch: &mut Batch<'_, E>,
    pool: u64,
    who: &[u8],
    shares: u128,
    at: At<'_>,
) -> Result<(u128, u128), PawError> {
    let state = entered(batch, pool, at)?;
    acted(batch, pool, who, at.height)?;
    let have = share(batch, pool, who)?;
    let left = have.checked_sub(shares).filter(|_| shares > 0);
    let left = left.ok_or(PawError::TooFew { have, wanted: shares })?;
    let a = share_of(state.reserve_a, shares, state.shares)?;
    let b = share_of(state.reserve_b, shares, state.shares)?;
    let (of_share, of_liquidity) =
        (dex::LiquidityShare { pool_id: pool, addr: who }, dex::Liquidity { pool_id: pool, addr: who });
    if left == 0 {
        batch.delete(&of_share)?;
        batch.delete(&of_liquidity)?;
    } else {
        batch.put(&of_share, &dex::LiquidityShareValue { amount: left })?;
        let (had_a, had_b) = liquidity(batch, pool, who)?;
        let value = dex::LiquidityValue { a: share_of(had_a, left, have)?, b: share_of(had_b, left, have)? };
        batch.put(&of_liquidity, &value)?;
    }
    let after = PoolState {
        reserve_a: state.reserve_a.saturating_sub(a),
        reserve_b: state.reserve_b.saturating_sub(b),
        shares: state.shares.saturating_sub(shares),
        ..state
    };
    put_pool(batch, pool, &after)?;
    Ok((a, b))
}

fn swapped<E: Engine>(batch: &mut Batch<'_, E>, swap: &Swap<'_>, at: At<'_>) -> Result<Swapped, PawError> {
    let Swap { pool, token_in, amount_in, min_out } = *swap;
    let state = entered(batch, pool, at)?;
    let params = params(batch)?;
    let a_in = token_in == state.token_a;
    if !a_in && token_in != state.token_b {
        return Err(PawError::OtherToken { pool });
    }
    let (reserve_in, reserve_out) =
        if a_in { (state.reserve_a, state.reserve_b) } else { (state.reserve_b, state.reserve_a) };
    // Rounded up, so that many small swaps do not go free.
    let fee = share_of(amount_in, params.swap_fee.into(), PARTS)?;
    let fee = if params.swap_fee > 0 { sum(fee, 1)?.min(amount_in) } else { fee };
    let protocol_fee = share_of(fee, params.protocol_part.into(), PARTS)?;
    let lp_fee = fee.saturating_sub(protocol_fee);
    let paid = amount_in.saturating_sub(fee);
    let all_in = sum(reserve_in, paid)?;
    let out = if all_in == 0 { 0 } else { share_of(reserve_out, paid, all_in)? };
    let wanted = min_out.max(1);
    if out < wanted {
        return Err(PawError::TooFew { have: out, wanted });
    }
    if out > share_of(reserve_out, params.max_drain.into(), PARTS)? {
        return Err(PawError::Drained { out, reserve: reserve_out });
    }
    let left = reserve_out.saturating_sub(out);
    let (reserve_a, reserve_b) = if a_in { (all_in, left) } else { (left, all_in) };
    put_pool(batch, pool, &PoolState { reserve_a, reserve_b, ..state })?;
    put_fees(batch, pool, token_in, lp_fee, protocol_fee)?;
    Ok(Swapped { out, lp_fee, protocol_fee })
}

/// Two tokens, the lesser one first.
fn pair<'t>(one: &'t str, other: &'t str) -> Result<(&'t str, &'t str), PawError> {
    match one.cmp(other) {
        core::cmp::Ordering::Less => Ok((one, other)),
        core::cmp::Ordering::Equal => Err(PawError::OneToken),
        core::cmp::Ordering::Greater => Ok((other, one)),
    }
}

fn params<R: Read>(read: &R) -> Result<DexParams, PawError> {
    let set = value(read, &dex::Params, |value| {
        let dex::ParamsValue { swap_fee, protocol_part, max_drain, flash_loan_blocks } = value;
        DexParams { swap_fee, protocol_part, max_drain, flash_loan_blocks }
    })?;
    Ok(set.unwrap_or_default())
}

fn owned(value: dex::PoolValue<'_>) -> PoolState {
    let dex::PoolValue { reserve_a, reserve_b, shares, token_a, token_b } = value;
    PoolState { token_a: token_a.to_owned(), token_b: token_b.to_owned(), reserve_a, reserve_b, shares }
}

fn state_of<R: Read>(read: &R, pool: u64) -> Result<PoolState, PawError> {
    value(read, &dex::Pool { pool_id: pool }, owned)?.ok_or(PawError::NoPool { pool })
}

fn put_pool<E: Engine>(batch: &mut Batch<'_, E>, pool: u64, state: &PoolState) -> Result<(), PawError> {
    let PoolState { token_a, token_b, reserve_a, reserve_b, shares } = state;
    let value =
        dex::PoolValue { reserve_a: *reserve_a, reserve_b: *reserve_b, shares: *shares, token_a, token_b };
    Ok(batch.put(&dex::Pool { pool_id: pool }, &value)?)
}

fn share<R: Read>(read: &R, pool: u64, who: &[u8]) -> Result<u128, PawError> {
    let key = dex::LiquidityShare { pool_id: pool, addr: who };
    Ok(value(read, &key, |value| value.amount)?.unwrap_or(0))
}

fn liquidity<R: Read>(read: &R, pool: u64, who: &[u8]) -> Result<(u128, u128), PawError> {
    let key = dex::Liquidity { pool_id: pool, addr: who };
    Ok(value(read, &key, |value| (value.a, value.b))?.unwrap_or_default())
}

fn fees<R: Read>(read: &R, pool: u64, token: &str) -> Result<(u128, u128), PawError> {
    let of_pool = value(read, &dex::PoolLpFee { pool_id: pool, token }, |value| value.amount)?;
    let of_all = value(read, &dex::ProtocolFee { token }, |value| value.amount)?;
    Ok((of_pool.unwrap_or(0), of_all.unwrap_or(0)))
}

fn put_fees<E: Engine>(
    batch: &mut Batch<'_, E>,
    pool: u64,
    token: &str,
    lp: u128,
    protocol: u128,
) -> Result<(), PawError> {
    let (of_pool, of_all) = fees(batch, pool, token)?;
    let amount = sum(of_pool, lp)?;
    batch.put(&dex::PoolLpFee { pool_id: pool, token }, &dex::PoolLpFeeValue { amount })?;
    let amount = sum(of_all, protocol)?;
    Ok(batch.put(&dex::ProtocolFee { token }, &dex::ProtocolFeeValue { amount })?)
}

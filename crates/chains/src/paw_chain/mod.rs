//! The state of the PAW chain as operations, each one atomic batch.
//!
//! The keys are those of [`paw_v2`](crate::paw_v2), the plan without the document's flaws; the values are typed, where the document
//! leaves them to protobuf. What the document asks of its handlers is done here: a pair of tokens has one pool, found by one read
//! in whichever order it is asked for; packets and requests pass with a greater nonce only; nobody enters a pool twice, nor acts twice
//! on it at one height; a tripped breaker and an emergency pause stop what they should; votes are kept for a while and then pruned.
//!
//! ```
//! use keyplan::store::engine::Memory;
//! use keyplan_chains::paw_chain::{Paw, PawError, Swap};
//!
//! let paw = Paw::create(Memory::new())?;
//! let alice = [1; 20];
//! let pool = paw.create_pool("upaw", "usdc")?;
//! assert_eq!(paw.pool_of("usdc", "upaw")?, Some(pool));
//! // The document's key would find this pool for these two as well.
//! assert_eq!(paw.pool_of("upa", "wusdc")?, None);
//! assert_eq!(paw.add_liquidity(pool, &alice, 10_000, 40_000, 7)?, 20_000);
//! assert!(matches!(paw.remove_liquidity(pool, &alice, 50, 7), Err(PawError::TooSoon { height: 7 })));
//! let swap = Swap { pool, token_in: "upaw", amount_in: 1_000, min_out: 2_000 };
//! assert_eq!(paw.swap(&swap, 8)?.out, 3_623);
//! // Whoever is inside of a pool keeps all others out, until it leaves or its time is over.
//! let inside = paw.enter(pool, b"this transaction", 9, 10)?;
//! assert!(matches!(paw.swap(&swap, 9), Err(PawError::Entered { until: 10, .. })));
//! inside.swap(&swap)?;
//! drop(inside);
//! paw.swap(&swap, 9)?;
//! # Ok::<(), PawError>(())
//! ```
//!
//! # What the document names, and where it is
//!
//! | prefix | what it is | operations of [`Paw`] |
//! | --- | --- | --- |
//! | `01 01` | parameters of compute | [`set_compute_params`](Paw::set_compute_params), [`compute_params`](Paw::compute_params) |
//! | `01 02` | requests | [`request`](Paw::request), [`job`](Paw::job) |
//! | `01 03` | providers | [`register_provider`](Paw::register_provider), [`add_stake`](Paw::add_stake), [`withdraw_stake`](Paw::withdraw_stake), [`retire_provider`](Paw::retire_provider), [`provider`](Paw::provider), [`providers`](Paw::providers) |
//! | `01 04` | escrow | [`request`](Paw::request), [`complete`](Paw::complete), [`refund`](Paw::refund), [`fail`](Paw::fail), [`escrow`](Paw::escrow) |
//! | `01 05` | status of a job | [`assign`](Paw::assign) and the four above, [`job`](Paw::job) |
//! | `01 06` | nonces of accounts | [`request`](Paw::request), [`nonce_of`](Paw::nonce_of) |
//! | `01 07` | results | [`complete`](Paw::complete), [`result`](Paw::result) |
//! | `01 28` → `01 20` | nonces of packets | [`receive_request`](Paw::receive_request), [`receive_packet`](Paw::receive_packet) |
//! | `02 01`, `02 02` | pools and their counter | [`create_pool`](Paw::create_pool), [`pool`](Paw::pool), [`pools`](Paw::pools) |
//! | `02 03` → `02 10` | pools by tokens | [`create_pool`](Paw::create_pool), [`pool_of`](Paw::pool_of) |
//! | `02 04` | liquidity | [`add_liquidity`](Paw::add_liquidity), [`remove_liquidity`](Paw::remove_liquidity), [`liquidity_of`](Paw::liquidity_of) |
//! | `02 05` | parameters of the exchange | [`set_dex_params`](Paw::set_dex_params), [`dex_params`](Paw::dex_params) |
//! | `02 06` | circuit breaker | [`trip_breaker`](Paw::trip_breaker), [`reset_breaker`](Paw::reset_breaker), [`breaker`](Paw::breaker) |
//! | `02 07` | last action | checked and written by both changes of liquidity, [`last_action`](Paw::last_action) |
//! | `02 08` | reentrancy locks | [`enter`](Paw::enter); every operation on a pool reads it |
//! | `02 09`, `02 0a` | fees | [`swap`](Paw::swap), [`add_fees`](Paw::add_fees), [`compound_fees`](Paw::compound_fees), [`collect_protocol_fees`](Paw::collect_protocol_fees), [`fees`](Paw::fees) |
//! | `02 0b` | shares | both changes of liquidity, [`share_of`](Paw::share_of), [`shares`](Paw::shares) |
//! | `02 16` → `02 20` | nonces of packets | [`receive_swap`](Paw::receive_swap), [`receive_packet`](Paw::receive_packet) |
//! | `03 01` | parameters of the oracle | [`set_oracle_params`](Paw::set_oracle_params), [`oracle_params`](Paw::oracle_params) |
//! | `03 02` | prices | [`settle_price`](Paw::settle_price), [`price`](Paw::price) |
//! | `03 03` | validators | [`register_validator`](Paw::register_validator), [`set_power`](Paw::set_power), [`unjail`](Paw::unjail), [`retire_validator`](Paw::retire_validator), [`validator`](Paw::validator) |
//! | `03 04` | feeders | [`delegate_feeder`](Paw::delegate_feeder), [`revoke_feeder`](Paw::revoke_feeder), [`feeder_of`](Paw::feeder_of) |
//! | `03 05` | missed votes | [`end_period`](Paw::end_period), [`misses`](Paw::misses) |
//! | `03 06`, `03 08` | votes | [`vote`](Paw::vote), [`reveal`](Paw::reveal), [`votes_of`](Paw::votes_of) |
//! | `03 07` | commitments | [`commitment`], [`prevote`](Paw::prevote), [`reveal`](Paw::reveal) |
//! | `03 09` | delegation of weight | [`delegate_power`](Paw::delegate_power), [`take_back_power`](Paw::take_back_power) |
//! | `03 0a` | slashing | [`end_period`](Paw::end_period), [`slashing`](Paw::slashing) |
//! | `03 0b` | average prices | [`settle_price`](Paw::settle_price), [`twap`](Paw::twap) |
//! | `03 0d` → `03 20` | nonces of packets | [`receive_price`](Paw::receive_price), [`receive_packet`](Paw::receive_packet) |
//! | `03 0e` | emergency pause | [`pause`](Paw::pause), [`resume`](Paw::resume), [`paused`](Paw::paused) |
//!
//! An arrow says that the family has moved, because its layout in the document is unsound. `03 0e` is the pause's alone: the sum of all
//! weights, which the chain's code keeps under the same key, is at `03 0f`. Historical votes are at `03 30`, and are pruned by
//! [`prune_votes`](Paw::prune_votes). Rates are parts per million.

mod compute;
mod dex;
mod error;
mod layout;
mod oracle;

pub use compute::{ComputeParams, Job, JobState, Provider};
pub use dex::{DexParams, Inside, PoolState, Swap, Swapped};
pub use error::PawError;
pub use layout::paw_chain;
pub use oracle::{OracleParams, Pause, Slashed, Slashing, Validator, commitment};
pub use paw_chain::Quote;

use keyplan::store::collection::Nonces;
use keyplan::store::engine::{Durability, Engine};
use keyplan::store::{Batch, Read, Store};
use keyplan::typed::Key;

/// The state of the chain.
#[derive(Debug)]
pub struct Paw<E: Engine>(Store<E>);

/// A packet of IBC: which channel it came by, who sent it, in the words of the other chain, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'p> {
    /// The channel.
    pub channel: &'p str,
    /// The sender: any text; a slash in it does not make it another.
    pub sender: &'p str,
    /// The number, which must be greater than the last of this sender on this channel.
    pub nonce: u64,
}

/// The module that a packet is for. Each has nonces of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Module {
    /// The compute marketplace.
    Compute,
    /// The exchange.
    Dex,
    /// The price oracle.
    Oracle,
}

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
        operation: impl FnMut(&mut Batch<'_, E>) -> Result<T, PawError>,
    ) -> Result<T, PawError> {
        self.0.update_or(Durability::Buffer, operation)
    }

    /// Lets a packet of IBC pass that changes nothing else, if its nonce is greater than the last of its sender on its channel.
    pub fn receive_packet(&self, module: Module, packet: &Packet<'_>) -> Result<(), PawError> {
        self.atomically(|batch| passed(batch, module, packet))
    }
}

/// Uses the nonce of a packet, in the batch of what it protects.
fn passed<E: Engine>(batch: &mut Batch<'_, E>, module: Module, packet: &Packet<'_>) -> Result<(), PawError> {
    use paw_chain::state;
    let Packet { channel: channel_id, sender, nonce } = *packet;
    Ok(match module {
        Module::Compute => {
            Nonces.advance(batch, &state::compute::IbcPacketNonce { channel_id, sender }, nonce)
        }
        Module::Dex => Nonces.advance(batch, &state::dex::IbcPacketNonce { channel_id, sender }, nonce),
        Module::Oracle => Nonces.advance(batch, &state::oracle::IbcPacketNonce { channel_id, sender }, nonce),
    }?)
}

/// What is taken of a value, if there is one.
fn value<K: Key, R: Read, T>(
    read: &R,
    key: &K,
    take: impl for<'v> FnOnce(K::Value<'v>) -> T,
) -> Result<Option<T>, PawError> {
    let Some(found) = read.get(key)? else { return Ok(None) };
    Ok(Some(take(found.value()?)))
}

/// One million: rates are parts of it.
const PARTS: u128 = 1_000_000;

fn sum(a: u128, b: u128) -> Result<u128, PawError> {
    a.checked_add(b).ok_or(PawError::Overflow)
}

/// `a · b ÷ c` rounded down, also where `a · b` takes 256 bits.
fn share_of(a: u128, b: u128, c: u128) -> Result<u128, PawError> {
    const LOW: u128 = u64::MAX as u128;
    if let Some(product) = a.checked_mul(b) {
        return product.checked_div(c).ok_or(PawError::Overflow);
    }
    let ((a_high, a_low), (b_high, b_low)) = ((a >> 64, a & LOW), (b >> 64, b & LOW));
    let low = a_low * b_low;
    let middle = a_high * b_low + (low >> 64);
    let other = a_low * b_high + (middle & LOW);
    let mut high = a_high * b_high + (middle >> 64) + (other >> 64);
    let mut low = (other << 64) | (low & LOW);
    if high >= c {
        return Err(PawError::Overflow);
    }
    // Long division, bit by bit: `high` is the remainder, and is less than `c` after each step.
    for _ in 0..128 {
        let carried = high >> 127 == 1;
        high = (high << 1) | (low >> 127);
        low <<= 1;
        if carried || high >= c {
            high = high.wrapping_sub(c);
            low |= 1;
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::share_of;

    #[test]
    fn products_of_256_bits_are_divided_exactly() {
        let ok = |a, b, c| share_of(a, b, c).ok();
        assert_eq!(ok(7, 9, 2), Some(31));
        assert_eq!(ok(7, 9, 0), None);
        assert_eq!(ok(u128::MAX, u128::MAX, u128::MAX), Some(u128::MAX));
        assert_eq!(ok(u128::MAX, u128::MAX, u128::MAX - 1), None, "the quotient has more than 128 bits");
        assert_eq!(ok(u128::MAX, u128::MAX - 1, u128::MAX), Some(u128::MAX - 1));
        assert_eq!(ok(1 << 127, 6, 4), Some(3 << 126));
        // With remainders: (q·c + r) = a·b for numbers made so.
        for (a, c) in
            [(u128::MAX / 3, u128::MAX / 5 + 7), (u128::MAX - 12, u128::MAX - 5), (1 << 100, 12_345)]
        {
            for b in [1_u128, 2, 3, 1 << 20] {
                let Some(q) = ok(a, b, c) else { continue };
                // Modulo 2^128, the remainder is below the divisor.
                let rest = a.wrapping_mul(b).wrapping_sub(q.wrapping_mul(c));
                assert!(rest < c, "{a} {b} {c}");
            }
        }
    }
}

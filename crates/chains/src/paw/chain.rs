//! The state of the chain, and what its operations share.

use keyplan::store::collection::Nonces;
use keyplan::store::engine::{Durability, Engine};
use keyplan::store::{Batch, Read, Store};
use keyplan::typed::Key;

use super::PawError;
use super::layout::paw_chain;

/// The state of the chain.
#[derive(Debug)]
pub struct Paw<E: Engine>(pub(super) Store<E>);

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
    pub(super) fn atomically<T>(
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
pub(super) fn passed<E: Engine>(
    batch: &mut Batch<'_, E>,
    module: Module,
    packet: &Packet<'_>,
) -> Result<(), PawError> {
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
pub(super) fn value<K: Key, R: Read, T>(
    read: &R,
    key: &K,
    take: impl for<'v> FnOnce(K::Value<'v>) -> T,
) -> Result<Option<T>, PawError> {
    let Some(found) = read.get(key)? else { return Ok(None) };
    Ok(Some(take(found.value()?)))
}

/// One million: rates are parts of it.
pub(super) const PARTS: u128 = 1_000_000;

pub(super) fn sum(a: u128, b: u128) -> Result<u128, PawError> {
    a.checked_add(b).ok_or(PawError::Overflow)
}

/// `a · b ÷ c` rounded down, also where `a · b` takes 256 bits.
pub(super) fn share_of(a: u128, b: u128, c: u128) -> Result<u128, PawError> {
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

use crate::engine::Engine;

use super::{NumberKey, number};
use crate::typed::{Batch, Error, Read};

/// Replay protection: the last number that a sender has used, under a key of the plan.
///
/// Only a greater number passes, and it is written in the batch of what it protects: both are there, or neither is. Where
/// several threads write, take the batch from [`Store::checked_batch`](crate::typed::Store::checked_batch): the second of two
/// with one number is then refused at its commit.
///
/// ```
/// keyplan::plan! {
///     plan packets;
///     space state { key nonce = 0x01 channel: u32 sender: u64 -> last: u64; }
/// }
/// use keyplan::store::collection::{Nonces, NumberKey};
/// use keyplan::store::{Error, Store, engine::Memory};
/// use packets::state::{Nonce, NonceValue};
///
/// impl NumberKey for Nonce {
///     fn value_of(last: u64) -> NonceValue {
///         NonceValue { last }
///     }
///     fn number_of(value: NonceValue) -> u64 {
///         value.last
///     }
/// }
///
/// let store = Store::create_on(Memory::new(), &packets::PLAN)?;
/// let mut batch = store.checked_batch()?;
/// let sender = Nonce { channel: 1, sender: 7 };
/// Nonces.advance(&mut batch, &sender, 5)?;
/// assert!(matches!(Nonces.advance(&mut batch, &sender, 5), Err(Error::Replayed { last: 5, given: 5, .. })));
/// Nonces.advance(&mut batch, &sender, 9)?;
/// assert_eq!(Nonces.last(&batch, &sender)?, Some(9));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Nonces;

impl Nonces {
    /// The last number that was used, if there was one.
    pub fn last<K: NumberKey, R: Read>(&self, read: &R, key: &K) -> Result<Option<u64>, Error> {
        number(read, key)
    }

    /// Uses a number. One that is not greater than the last is refused, with nothing changed.
    pub fn advance<K: NumberKey, E: Engine>(
        &self,
        batch: &mut Batch<'_, E>,
        key: &K,
        nonce: u64,
    ) -> Result<(), Error> {
        if let Some(last) = number(batch, key)?.filter(|last| nonce <= *last) {
            return Err(Error::Replayed { family: K::FAMILY, last, given: nonce });
        }
        batch.put_row(key, &K::value_of(nonce))
    }
}

use std::fmt;

use crate::engine::{Durability, Engine};

use crate::typed::error::hex;
use crate::typed::{Batch, Error, Read, Store};
use keyplan_typed::Key;

/// A family whose value says who holds something, and until when: `-> until: u64 owner: bytes`.
pub trait LockKey<'v>: Key {
    /// The value that says so.
    fn value_of(owner: &'v [u8], until: u64) -> Self::Value<'v>;
    /// Who holds it and until when, as a value says.
    fn held_of(value: Self::Value<'v>) -> (&'v [u8], u64);
}

/// Who holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The owner.
    pub owner: Vec<u8>,
    /// The last moment, in blocks or seconds, at which it is held.
    pub until: u64,
}

/// Locks under keys of the plan: with an owner, and with an end.
///
/// A lock that is held is refused to everyone, its owner included: that is what keeps a handler from being entered again. It
/// ends when it is released or when its time is over, so that no crash leaves one behind. Moments are the caller's: heights,
/// seconds, whatever grows.
///
/// ```
/// keyplan::plan! {
///     plan guard;
///     space state { key lock = 0x01 pool: u64 -> until: u64 owner: bytes; }
/// }
/// use guard::state::{Lock, LockValue};
/// use keyplan::store::collection::{LockKey, Locks};
/// use keyplan::store::{Error, Store, engine::Memory};
///
/// impl<'v> LockKey<'v> for Lock {
///     fn value_of(owner: &'v [u8], until: u64) -> LockValue<'v> {
///         LockValue { until, owner }
///     }
///     fn held_of(value: LockValue<'v>) -> (&'v [u8], u64) {
///         (value.owner, value.until)
///     }
/// }
///
/// let store = Store::create_on(Memory::new(), &guard::PLAN)?;
/// let pool = Lock { pool: 7 };
/// let held = Locks.hold(&store, &pool, b"swap", 100, 105)?;
/// assert!(matches!(Locks.hold(&store, &pool, b"join", 103, 108), Err(Error::Locked { until: 105, .. })));
/// drop(held);
/// Locks.hold(&store, &pool, b"join", 103, 108)?.keep();
/// // Whoever crashed while holding it is not waited for.
/// assert!(Locks.hold(&store, &pool, b"swap", 109, 112).is_ok());
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Locks;

impl Locks {
    /// Who holds a lock at this moment.
    pub fn holder<K: for<'v> LockKey<'v>, R: Read>(
        &self,
        read: &R,
        key: &K,
        now: u64,
    ) -> Result<Option<Held>, Error> {
        let held = read.get_with(key, |value| {
            let (owner, until) = K::held_of(value);
            (now <= until).then(|| Held { owner: owner.to_vec(), until })
        })?;
        Ok(held.flatten())
    }

    /// Takes a lock, in a batch.
    pub fn acquire<K: for<'v> LockKey<'v>, E: Engine>(
        &self,
        batch: &mut Batch<'_, E>,
        key: &K,
        owner: &[u8],
        now: u64,
        until: u64,
    ) -> Result<(), Error> {
        match self.holder(batch, key, now)? {
            Some(held) => {
                Err(Error::Locked { family: K::FAMILY, owner: hex(&held.owner), until: held.until })
            }
            None => batch.put_row(key, &K::value_of(owner, until)),
        }
    }

    /// Holds a lock longer, in a batch. Refused if its owner does not hold it any more.
    pub fn renew<K: for<'v> LockKey<'v>, E: Engine>(
        &self,
        batch: &mut Batch<'_, E>,
        key: &K,
        owner: &[u8],
        now: u64,
        until: u64,
    ) -> Result<(), Error> {
        match self.holder(batch, key, now)? {
            Some(held) if held.owner == owner => batch.put_row(key, &K::value_of(owner, until)),
            _ => Err(Error::NotHeld { family: K::FAMILY, owner: hex(owner) }),
        }
    }

    /// Gives a lock back, in a batch. Refused if another has it, which means that this owner's time was over.
    pub fn release<K: for<'v> LockKey<'v>, E: Engine>(
        &self,
        batch: &mut Batch<'_, E>,
        key: &K,
        owner: &[u8],
    ) -> Result<(), Error> {
        match self.holder(batch, key, 0)? {
            Some(held) if held.owner == owner => batch.delete(key),
            _ => Err(Error::NotHeld { family: K::FAMILY, owner: hex(owner) }),
        }
    }

    /// Takes a lock at once, in a batch of its own, and gives it back when what it returns is dropped.
    ///
    /// Of two threads that try, one gets it and the other is told who has it.
    pub fn hold<'s, K: for<'v> LockKey<'v>, E: Engine>(
        &self,
        store: &'s Store<E>,
        key: &K,
        owner: &[u8],
        now: u64,
        until: u64,
    ) -> Result<LockGuard<'s, K, E>, Error> {
        // If another was quicker, it is told by name in the next round.
        store.update(Durability::Buffer, |batch| self.acquire(batch, key, owner, now, until))?;
        Ok(LockGuard { store, key: *key, owner: owner.to_vec(), kept: false })
    }
}

/// A lock that is given back when this is dropped.
pub struct LockGuard<'s, K: for<'v> LockKey<'v>, E: Engine> {
    store: &'s Store<E>,
    key: K,
    owner: Vec<u8>,
    kept: bool,
}

impl<K: for<'v> LockKey<'v>, E: Engine> LockGuard<'_, K, E> {
    /// Gives it back now; says if another has it, because its time was over.
    pub fn release(mut self) -> Result<(), Error> {
        self.kept = true;
        self.give_back()
    }

    /// Leaves the lock to its end.
    pub fn keep(mut self) {
        self.kept = true;
    }

    fn give_back(&self) -> Result<(), Error> {
        self.store.update(Durability::Buffer, |batch| Locks.release(batch, &self.key, &self.owner))
    }
}

impl<K: for<'v> LockKey<'v>, E: Engine> Drop for LockGuard<'_, K, E> {
    fn drop(&mut self) {
        if !self.kept {
            // What cannot be given back ends by itself.
            let _ = self.give_back();
        }
    }
}

impl<K: for<'v> LockKey<'v>, E: Engine> fmt::Debug for LockGuard<'_, K, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockGuard").field("key", &self.key).finish_non_exhaustive()
    }
}

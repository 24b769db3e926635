use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use crate::engine::Durability;
use crate::structure::{Command, Expectation, Now, StructureError, Structures};

use super::{Step, hash, in_space};
use crate::typed::Error;
use crate::typed::error::hex;
use keyplan_typed::{HashField, HashKey, Value as _};

/// A field of a hash whose value says who holds something: `-> token: u64 until: u64 owner: bytes`.
pub trait LockField<'v>: HashField {
    /// The value that says so.
    fn value_of(token: u64, until: u64, owner: &'v [u8]) -> Self::FieldValue<'v>;
    /// The token, the end and the owner that a value says.
    fn held_of(value: Self::FieldValue<'v>) -> (u64, u64, &'v [u8]);
}

/// A lock that somebody holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The owner.
    pub owner: Vec<u8>,
    /// How often the lock was taken, this time included. Whoever takes it later has a greater one: something outside of the
    /// structures can refuse an owner whose time was over by it.
    pub token: u64,
    /// The end, in milliseconds since 1970. It is held before that moment, and not at it.
    pub until: u64,
}

/// Locks among structures, as fields of hashes: with an owner, a token that only grows, and an end.
///
/// A lock that is held is refused to everyone, its owner included. It ends when it is released or when its time is over by the
/// clock next to the data, so that no crash leaves one behind. Between processes too: it is taken, renewed and released in steps
/// that are refused if the lock has changed since it was read. What is done under a lock goes into a [`Step`] with
/// [`Locks::require`], which is refused once another has taken the lock. In rows,
/// [`collection::Locks`](crate::typed::collection::Locks) does the same.
///
/// ```
/// keyplan::plan! {
///     plan guard;
///
///     space pools {
///         hash lock = "lock:{" pool: u64.dec "}"
///             field holder = "holder" -> token: u64 until: u64 owner: bytes;
///     }
/// }
/// use std::time::Duration;
///
/// use guard::pools::{Lock, LockHolderField, LockHolderValue};
/// use keyplan::store::engine::Memory;
/// use keyplan::store::structure::{LockField, Locks};
/// use keyplan::store::{Error, Store};
///
/// impl<'v> LockField<'v> for LockHolderField {
///     fn value_of(token: u64, until: u64, owner: &'v [u8]) -> LockHolderValue<'v> {
///         LockHolderValue { token, until, owner }
///     }
///     fn held_of(value: LockHolderValue<'v>) -> (u64, u64, &'v [u8]) {
///         (value.token, value.until, value.owner)
///     }
/// }
///
/// let store = Store::create_on(Memory::new(), &guard::PLAN)?;
/// // Or a server: `Redis::connect("redis://localhost")?`.
/// let structures = store.structures("pools")?;
/// let locks = Locks::<Lock>::on(&structures)?;
/// let (pool, minute) = (Lock { pool: 7 }, Duration::from_mins(1));
/// let held = locks.hold(&pool, LockHolderField {}, b"swap", minute)?;
/// assert!(matches!(locks.hold(&pool, LockHolderField {}, b"join", minute), Err(Error::Locked { .. })));
/// assert_eq!(held.held().token, 1);
/// drop(held);
/// assert_eq!(locks.hold(&pool, LockHolderField {}, b"join", minute)?.held().token, 2);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Locks<'r, K> {
    raw: &'r dyn Structures,
    now: Now,
    family: PhantomData<fn() -> K>,
}

impl<'r, K: HashKey> Locks<'r, K> {
    /// The locks that a family of hashes keeps, among structures of its space, by the clock next to the data.
    pub fn on(raw: &'r dyn Structures) -> Result<Self, Error> {
        in_space::<K>(raw)?;
        Ok(Self { raw, now: Now::Clock, family: PhantomData })
    }

    /// The same at a given time.
    #[must_use]
    pub const fn at(mut self, now: Now) -> Self {
        self.now = now;
        self
    }

    /// Who holds a lock now.
    pub fn holder<'f, F>(&self, key: &K, field: F) -> Result<Option<Held>, Error>
    where
        F: for<'v> LockField<'v> + Into<K::Field<'f>>,
    {
        let now = self.now()?;
        let found = self.found(&mut Step::new(), key, field)?;
        Ok(found.filter(|held| now < held.until))
    }

    /// Takes a lock, in a step, for a while.
    pub fn acquire<'f, F>(
        &self,
        step: &mut Step,
        key: &K,
        field: F,
        owner: &[u8],
        lease: Duration,
    ) -> Result<Held, Error>
    where
        F: for<'v> LockField<'v> + Into<K::Field<'f>>,
    {
        let now = self.now()?;
        let token = match self.found(step, key, field)? {
            Some(Held { owner, until, .. }) if now < until => {
                return Err(Error::Locked { family: K::FAMILY, owner: hex(&owner), until });
            }
            Some(before) => before.token.checked_add(1).ok_or(Error::Exhausted { family: K::FAMILY })?,
            None => 1,
        };
        let held = Held { owner: owner.to_vec(), token, until: end(now, lease) };
        step.hash_set(key, field, &F::value_of(held.token, held.until, &held.owner))?;
        Ok(held)
    }

    /// Holds a lock longer, in a step. Refused if its time is over, or if another has it.
    pub fn renew<'f, F>(
        &self,
        step: &mut Step,
        key: &K,
        field: F,
        held: &Held,
        lease: Duration,
    ) -> Result<Held, Error>
    where
        F: for<'v> LockField<'v> + Into<K::Field<'f>>,
    {
        let now = self.now()?;
        match self.found(step, key, field)? {
            Some(found) if found == *held && now < found.until => {
                let held = Held { until: end(now, lease), ..found };
                step.hash_set(key, field, &F::value_of(held.token, held.until, &held.owner))?;
                Ok(held)
            }
            _ => Err(not_held::<K>(held)),
        }
    }

    /// Gives a lock back, in a step. Refused if another has it, which means that this owner's time was over.
    pub fn release<'f, F>(&self, step: &mut Step, key: &K, field: F, held: &Held) -> Result<(), Error>
    where
        F: for<'v> LockField<'v> + Into<K::Field<'f>>,
    {
        match self.found(step, key, field)? {
            Some(found) if found == *held => {
                step.hash_set(key, field, &F::value_of(held.token, 0, &held.owner))
            }
            _ => Err(not_held::<K>(held)),
        }
    }

    /// Has a step done only while a lock is as it was taken or renewed last: after another has taken it, the step is refused as
    /// a [conflict](Error::Conflict). While nobody has, its time may be over.
    pub fn require<'f, F>(&self, step: &mut Step, key: &K, field: F, held: &Held) -> Result<(), Error>
    where
        F: for<'v> LockField<'v> + Into<K::Field<'f>>,
    {
        let value = bytes::<F>(held.token, held.until, &held.owner)?;
        step.expect_field(key, hash::bytes::<K, F>(field)?, Some(value))
    }

    /// Takes a lock at once, in a step of its own, and gives it back when what it returns is dropped.
    ///
    /// Of two that try, one gets it and the other is told who has it.
    pub fn hold<'f, F>(
        &self,
        key: &K,
        field: F,
        owner: &[u8],
        lease: Duration,
    ) -> Result<LockGuard<'r, F>, Error>
    where
        F: for<'v> LockField<'v> + Into<K::Field<'f>>,
    {
        // If another was quicker, it is told by name in the next round.
        let held =
            Step::update(self.raw, Durability::Buffer, |step| self.acquire(step, key, field, owner, lease))?;
        Ok(LockGuard {
            raw: self.raw,
            now: self.now,
            family: K::FAMILY,
            key: key.to_vec()?,
            field: hash::bytes::<K, F>(field)?,
            held,
            kept: false,
            of: PhantomData,
        })
    }

    fn found<'f, F>(&self, step: &mut Step, key: &K, field: F) -> Result<Option<Held>, Error>
    where
        F: for<'v> LockField<'v> + Into<K::Field<'f>>,
    {
        let Some(found) = step.hash_get(self.raw, key, field)? else { return Ok(None) };
        let (token, until, owner) = F::held_of(found.value()?);
        Ok(Some(Held { owner: owner.to_vec(), token, until }))
    }

    fn now(&self) -> Result<u64, Error> {
        moment(self.raw, self.now)
    }
}

/// A lock of structures that is given back when this is dropped.
pub struct LockGuard<'r, F: for<'v> LockField<'v>> {
    raw: &'r dyn Structures,
    now: Now,
    family: &'static str,
    key: Vec<u8>,
    field: Vec<u8>,
    held: Held,
    kept: bool,
    of: PhantomData<fn() -> F>,
}

impl<F: for<'v> LockField<'v>> LockGuard<'_, F> {
    /// The lock as it is held, for [`Locks::require`].
    pub const fn held(&self) -> &Held {
        &self.held
    }

    /// Holds it longer, from now on. Refused if its time is over, or if another has it.
    pub fn renew(&mut self, lease: Duration) -> Result<(), Error> {
        let now = moment(self.raw, self.now)?;
        if now >= self.held.until {
            return Err(self.lost());
        }
        self.change(end(now, lease))
    }

    /// Gives it back now; says if another has it, because its time was over.
    pub fn release(mut self) -> Result<(), Error> {
        self.kept = true;
        self.change(0)
    }

    /// Leaves the lock to its end.
    pub fn keep(mut self) {
        self.kept = true;
    }

    /// Gives the lock another end, if it is still as it was taken.
    fn change(&mut self, until: u64) -> Result<(), Error> {
        let Held { token, owner, .. } = &self.held;
        let (before, after) =
            (bytes::<F>(*token, self.held.until, owner)?, bytes::<F>(*token, until, owner)?);
        let (key, field) = (self.key.as_slice(), self.field.as_slice());
        let expected = Expectation::Field { key, field, value: Some(&before) };
        let change = Command::HashSet { key, field, value: &after };
        match self.raw.apply_if(&[expected], &[change], Durability::Buffer) {
            Ok(_) => {
                self.held.until = until;
                Ok(())
            }
            Err(StructureError::Changed { .. }) => Err(self.lost()),
            Err(error) => Err(error.into()),
        }
    }

    fn lost(&self) -> Error {
        Error::NotHeld { family: self.family, owner: hex(&self.held.owner) }
    }
}

impl<F: for<'v> LockField<'v>> Drop for LockGuard<'_, F> {
    fn drop(&mut self) {
        if !self.kept {
            // What cannot be given back ends by itself.
            let _ = self.change(0);
        }
    }
}

impl<F: for<'v> LockField<'v>> fmt::Debug for LockGuard<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockGuard")
            .field("family", &self.family)
            .field("held", &self.held)
            .finish_non_exhaustive()
    }
}

fn bytes<F: for<'v> LockField<'v>>(token: u64, until: u64, owner: &[u8]) -> Result<Vec<u8>, Error> {
    Ok(F::value_of(token, until, owner).to_vec()?)
}

fn moment(raw: &dyn Structures, now: Now) -> Result<u64, Error> {
    match now {
        Now::Clock => Ok(raw.clock()?),
        Now::Millis(millis) => Ok(millis),
    }
}

/// The end of a lease. Whole milliseconds; what is left over counts as one.
fn end(now: u64, lease: Duration) -> u64 {
    let millis = u64::try_from(lease.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
    now.saturating_add(millis)
}

#[cold]
fn not_held<K: HashKey>(held: &Held) -> Error {
    Error::NotHeld { family: K::FAMILY, owner: hex(&held.owner) }
}

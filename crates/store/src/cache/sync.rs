//! The locks and counters of the cache: those of the standard library.
//!
//! In tests each use of one is also a place where a checker of threads may let another go on; outside of a check they are the same.

#[cfg(not(test))]
pub(super) use std::sync::Mutex;
#[cfg(not(test))]
pub(super) use std::sync::atomic::{AtomicU64, AtomicUsize};

#[cfg(test)]
pub(super) use watched::{AtomicU64, AtomicUsize, Mutex, checked};

#[cfg(test)]
mod watched {
    use std::cell::Cell;
    use std::ops::{Deref, DerefMut};
    use std::sync::{self, LockResult, MutexGuard, TryLockError, atomic};

    thread_local! {
        // The checker runs all of its threads on one of the system's.
        static CHECKED: Cell<bool> = const { Cell::new(false) };
    }

    /// Runs something under a checker, which is asked who is next at every lock and counter.
    pub(in super::super) fn checked(run: impl FnOnce()) {
        CHECKED.set(true);
        run();
        CHECKED.set(false);
    }

    /// Another thread may go on here.
    fn turn() {
        if CHECKED.get() && !std::thread::panicking() {
            shuttle::thread::yield_now();
        }
    }

    /// A lock. Under a checker whoever has to wait for it lets others go on.
    #[derive(Default)]
    pub(in super::super) struct Mutex<T>(sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(in super::super) const fn new(of: T) -> Self {
            Self(sync::Mutex::new(of))
        }

        pub(in super::super) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
            turn();
            while CHECKED.get() {
                match self.0.try_lock() {
                    Ok(guard) => return Ok(guard),
                    Err(TryLockError::Poisoned(poisoned)) => return Err(poisoned),
                    Err(TryLockError::WouldBlock) => turn(),
                }
            }
            self.0.lock()
        }

        pub(in super::super) fn is_poisoned(&self) -> bool {
            self.0.is_poisoned()
        }
    }

    /// A counter.
    #[derive(Debug, Default)]
    pub(in super::super) struct Watched<A>(A);

    pub(in super::super) type AtomicU64 = Watched<atomic::AtomicU64>;
    pub(in super::super) type AtomicUsize = Watched<atomic::AtomicUsize>;

    impl AtomicUsize {
        pub(in super::super) const fn new(of: usize) -> Self {
            Self(atomic::AtomicUsize::new(of))
        }
    }

    impl<A> Deref for Watched<A> {
        type Target = A;

        fn deref(&self) -> &A {
            turn();
            &self.0
        }
    }

    impl<A> DerefMut for Watched<A> {
        fn deref_mut(&mut self) -> &mut A {
            &mut self.0
        }
    }
}

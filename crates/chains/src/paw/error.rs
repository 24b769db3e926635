use keyplan::store::Error;
use keyplan::typed::KeyError;

/// Why an operation was refused. Nothing of it is written then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PawError {
    /// The store could not do it, an argument is outside of its domain, a nonce was used before, or a lock is held.
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
    /// The pool has other tokens.
    #[error("pool {pool} does not trade this token")]
    OtherToken {
        /// The pool.
        pool: u64,
    },
    /// The breaker of a pool is tripped.
    #[error("pool {pool} is halted until height {until}")]
    Halted {
        /// The pool.
        pool: u64,
        /// The last height of it.
        until: u64,
    },
    /// An operation on the pool is running, and this is not part of it.
    #[error("pool {pool} has been entered, and is not entered again before height {until} is over")]
    Entered {
        /// The pool.
        pool: u64,
        /// Until when, if nobody leaves it before.
        until: u64,
    },
    /// The time of whoever had entered the pool is over.
    #[error("the time inside of pool {pool} is over")]
    Left {
        /// The pool.
        pool: u64,
    },
    /// It was done at this height, or later.
    #[error("it was done at height {height}")]
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
    /// A swap would take more of a pool than governance allows.
    #[error("a swap takes {out} of {reserve}, which is more than is allowed")]
    Drained {
        /// What would be taken.
        out: u128,
        /// What there is.
        reserve: u128,
    },
    /// A number that does not fit.
    #[error("the amount does not fit")]
    Overflow,
    /// The request is not in the state that the operation begins with, or is another's.
    #[error("request {request} is not pending")]
    NotPending {
        /// Its number.
        request: u64,
    },
    /// The request is not running, or another runs it.
    #[error("request {request} is not run by this provider")]
    NotRunning {
        /// Its number.
        request: u64,
    },
    /// The account is registered already.
    #[error("the account is registered already")]
    Registered,
    /// The account is not registered, or has been jailed.
    #[error("the account is not registered, or is jailed")]
    NotRegistered,
    /// The provider still has jobs to run.
    #[error("{running} jobs are still running")]
    Busy {
        /// How many.
        running: u64,
    },
    /// The account may not act for the validator.
    #[error("the account may not act for the validator")]
    NotTheFeeder,
    /// The weight of a validator counts for another, or others let theirs count for it.
    #[error("the weight of a validator is handed on once")]
    Delegated,
    /// What is shown is not what the validator had committed itself to.
    #[error("the prices are not those of the commitment")]
    Commitment,
    /// A token that is named twice.
    #[error("a token is named twice")]
    Twice,
    /// The oracle was stopped.
    #[error("the oracle is paused")]
    Paused,
}

impl From<KeyError> for PawError {
    fn from(error: KeyError) -> Self {
        Self::Store(error.into())
    }
}

//! The PAW chain: the keys that its document states ([`state`]), and with the feature `store` its state as operations, each one
//! atomic batch ([`Paw`]).
//!
//! The keys of the operations are those of [`paw_v2`](crate::paw_v2), the plan without the document's flaws; the values are typed, where the document
//! leaves them to protobuf. What the document asks of its handlers is done here: a pair of tokens has one pool, found by one read
//! in whichever order it is asked for; packets and requests pass with a greater nonce only; nobody enters a pool twice, nor acts twice
//! on it at one height; a tripped breaker and an emergency pause stop what they should; votes are kept for a while and then pruned.
//!
//! ```
//! # #[cfg(feature = "store")] {
//! use keyplan::store::engine::Memory;
//! use keyplan_chains::paw::{Paw, PawError, Swap};
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
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
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
//! An arrow says that the family has moved, because its layout in the document is unsound. `03 0e` is only the pause's: the sum of all
//! weights, which the chain's code keeps under the same key, is at `03 0f`. Historical votes are at `03 30`, and are pruned by
//! [`prune_votes`](Paw::prune_votes). Rates are parts per million.

#[cfg(feature = "store")]
mod chain;
#[cfg(feature = "store")]
mod compute;
#[cfg(feature = "store")]
mod dex;
#[cfg(feature = "store")]
mod error;
#[cfg(feature = "store")]
mod layout;
#[cfg(feature = "store")]
mod oracle;

#[cfg(feature = "laws")]
pub use crate::keys::paw::TYPES;
pub use crate::keys::paw::{PLAN, state};
#[cfg(feature = "store")]
pub use chain::{Module, Packet, Paw};
#[cfg(feature = "store")]
pub use compute::{ComputeParams, Job, JobState, Provider};
#[cfg(feature = "store")]
pub use dex::{DexParams, Inside, PoolState, Swap, Swapped};
#[cfg(feature = "store")]
pub use error::PawError;
#[cfg(feature = "store")]
pub use layout::paw_chain;
#[cfg(feature = "store")]
pub use oracle::{OracleParams, Pause, Slashed, Slashing, Validator, commitment};
#[cfg(feature = "store")]
pub use paw_chain::Quote;

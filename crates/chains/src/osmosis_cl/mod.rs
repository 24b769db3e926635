//! Concentrated liquidity of Osmosis: its keys ([`cl`]), and with the feature `store` operations on them, each one atomic batch
//! ([`Liquidity`]).
//!
//! Bodies of pools, ticks, positions, incentive records and accumulators are protobuf messages, which the caller encodes.
//!
//! | prefix | what it is | operations of [`Liquidity`] |
//! | --- | --- | --- |
//! | `01` | ticks | [`put_tick`](Liquidity::put_tick), [`remove_tick`](Liquidity::remove_tick), [`tick`](Liquidity::tick), [`next_tick`](Liquidity::next_tick), [`ticks`](Liquidity::ticks) |
//! | `02` | positions by owner and pool | [`open_position`](Liquidity::open_position), [`withdraw_position`](Liquidity::withdraw_position), [`positions_of`](Liquidity::positions_of), [`positions_in`](Liquidity::positions_in) |
//! | `03` | pools | [`put_pool`](Liquidity::put_pool), [`pool`](Liquidity::pool) |
//! | `04` | incentive records | [`put_incentive`](Liquidity::put_incentive), [`remove_incentive`](Liquidity::remove_incentive), [`incentives`](Liquidity::incentives), [`incentives_of`](Liquidity::incentives_of) |
//! | `08` | positions | the first two of `02`, [`put_position`](Liquidity::put_position), [`position`](Liquidity::position) |
//! | `09` | positions by pool | the first two of `02`, [`pool_positions`](Liquidity::pool_positions) |
//! | `accum/` | spread rewards | [`put_spread`](Liquidity::put_spread), [`spread`](Liquidity::spread), [`spread_of`](Liquidity::spread_of) |
//! | `accum/` | incentives by uptime | [`put_uptime`](Liquidity::put_uptime), [`put_uptime_of`](Liquidity::put_uptime_of), [`uptime`](Liquidity::uptime), [`uptime_of`](Liquidity::uptime_of) |
//! | `0d`, `10` | positions and locks, both ways | [`lock_position`](Liquidity::lock_position), [`unlock_position`](Liquidity::unlock_position), [`lock_of`](Liquidity::lock_of), [`position_of`](Liquidity::position_of) |
//! | `0e` | full-range liquidity | [`put_full_range`](Liquidity::put_full_range), [`full_range`](Liquidity::full_range) |
//! | `0f` | balancer pools of a pool | [`put_balancer`](Liquidity::put_balancer), [`remove_balancer`](Liquidity::remove_balancer), [`balancer`](Liquidity::balancer) |
//!
//! ```
//! # #[cfg(feature = "store")] {
//! use keyplan::store::engine::Memory;
//! use keyplan_chains::osmosis_cl::{Liquidity, Towards};
//!
//! let cl = Liquidity::create(Memory::new())?;
//! for tick in [-200, -100, 0, 300] {
//!     cl.put_tick(7, tick, b"info")?;
//! }
//! assert_eq!(cl.next_tick(7, 0, Towards::Higher)?, Some(300));
//! assert_eq!(cl.next_tick(7, -1, Towards::Lower)?, Some(-100));
//! cl.create_position(1, &[5; 20], 7, b"body")?;
//! assert_eq!(cl.positions_in(&[5; 20], 7)?, [1]);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "store")]
mod liquidity;

#[cfg(feature = "laws")]
pub use crate::keys::osmosis_cl::TYPES;
pub use crate::keys::osmosis_cl::{PLAN, cl};
#[cfg(feature = "store")]
pub use liquidity::{Incentive, Liquidity, LiquidityError, Opening, Towards, UPTIMES};

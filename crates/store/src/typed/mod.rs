//! State under the keys of a plan, by their types.
//!
//! [`Store`] is opened with the plan that the program was built with. [`Read`] is what can be asked of a [`Snapshot`] and
//! of a [`Batch`], which sees its own changes. A scan lends its rows to a closure ([`Rows::each`]), which costs what the
//! engine's own iteration does, or gives them out one by one. These come back as [`Row`], and values as [`Stored`]: they hold
//! the engine's bytes, and decode in place.
//!
//! ```
//! keyplan::plan! {
//!     plan market;
//!
//!     space state {
//!         /// Liquidity at every initialised tick of a pool, most negative first.
//!         key tick = 0x01 pool: u64 tick: i64.tick9 -> liquidity: u64
//!             scan by pool in order;
//!     }
//! }
//! use keyplan::store::engine::{Durability, Memory};
//! use keyplan::store::{Read as _, Store};
//! use market::state::{Tick, TickValue};
//!
//! let store = Store::create_on(Memory::new(), &market::PLAN)?;
//! let mut batch = store.batch()?;
//! for tick in [-100, 0, 100] {
//!     batch.put(&Tick { pool: 7, tick }, &TickValue { liquidity: 5 })?;
//! }
//! batch.commit(Durability::Buffer)?;
//!
//! let view = store.snapshot()?;
//! let mut found = Vec::new();
//! view.scan(Tick::by_pool(7).from(-50).rev()).each(|Tick { tick, .. }, TickValue { liquidity }| {
//!     found.push((tick, liquidity));
//! })?;
//! assert_eq!(found, [(100, 5), (0, 5)]);
//!
//! // The same rows, one at a time, to keep or to stop at.
//! for row in view.scan(Tick::by_pool(7).from(-50).rev()) {
//!     let row = row?;
//!     assert_eq!(row.value()?, TickValue { liquidity: 5 });
//! }
//! # Ok::<(), keyplan::store::Error>(())
//! ```
//!
//! [`MapRows`] has rows of a family made again by a function of the program while a database goes from one plan to the next.
//! [`structure`] has the hashes, sets, sorted sets and queues of a plan by their types, in this process and on a server.
//! [`collection`] has maps with indexes, counters, queues and histories whose rows are families of the plan, too. What
//! works on bytes, without types, is [`raw`](crate).

mod batch;
pub mod collection;
mod error;
mod migration;
mod read;
mod row;
mod scratch;
mod snapshot;
pub mod structure;
mod typed_store;

pub use batch::Batch;
pub use error::Error;
pub use migration::{MapRows, NewRow};
pub use read::{Read, Rows};
pub use row::{Page, Row, Stored};
pub use snapshot::Snapshot;
pub use typed_store::Store;

//! State under proven keys: engines, snapshots, atomic batches, and the plan inside the database.
//!
//! [`Store`] is an [`engine`] with a plan in it. It is opened with a [`Schema`], refuses a database that was written
//! under another layout, and gives out snapshots that see every batch whole. Keys and values are bytes here; the feature
//! `typed` adds rows, structures and collections by the types of a plan, which programs use as `keyplan::store`. [`Reader`] is for tools that learn the plan from the database itself. [`structure`] has hashes,
//! sorted sets, sets and queues in a space of a store, or on a server. [`cache`] keeps rows in memory above any engine. [`migrate`] carries a database from one plan to the next.
//!
//! ```
//! use keyplan_store::engine::{Durability, Memory};
//! use keyplan_store::{Schema, Store};
//!
//! let text = "plan demo; space cl { key tick = 0x01 pool: u64 -> liquidity: u64; }";
//! let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
//! let store = Store::create(Memory::new(), &Schema::of(&compiled).expect("sound"))?;
//!
//! let space = store.space("cl")?;
//! let mut batch = store.batch()?;
//! batch.put(space, [1, 0, 0, 0, 0, 0, 0, 0, 7].as_slice(), [9].as_slice());
//! assert!(store.snapshot()?.get(space, &[1, 0, 0, 0, 0, 0, 0, 0, 7])?.is_none());
//! batch.commit(Durability::SyncAll)?;
//! assert_eq!(&*store.snapshot()?.get(space, &[1, 0, 0, 0, 0, 0, 0, 0, 7])?.expect("there"), [9]);
//! # Ok::<(), keyplan_store::StoreError>(())
//! ```
//!
//! # Features
//!
//! `fjall` (on by default), `redb` and `lmdb` add the engines of these names; one in memory is always there. `redis` adds
//! [structures](structure) on a Redis server or cluster. `live` adds a socket through which tools read a store that is open.
//! `typed` adds `typed`.
//!
//! # Hostile input
//!
//! A damaged file gives an error or the right data. The engines panic on some damage; that panic ends in an error,
//! unless the program is built to abort on panics.

mod backup;
mod batch;
mod bulk;
pub mod cache;
mod copy;
pub mod engine;
mod error;
#[cfg(all(unix, feature = "live"))]
pub mod live;
mod meta;
pub mod migrate;
mod page;
mod reader;
mod schema;
mod snapshot;
pub mod source;
mod store;
pub mod structure;
#[cfg(feature = "typed")]
pub mod typed;
mod upkeep;

pub use backup::Backup;
pub use batch::{Found, PendingRange, StoreBatch};
pub use bulk::{BulkLoad, BulkOptions, BulkProgress, Duplicates};
pub use copy::{Copied, CopyError, compare_copy, copy_rows, refuse_uncopied};
pub use error::{StoreError, TokenFault};
pub use meta::{FORMAT, META_PLAN, META_SPACE, Meta};
pub use page::{Direction, Page, PageToken};
pub use reader::{Figures, Reader, Row, Rows, SpaceFigures};
pub use schema::{FamilyPrefix, PlanFile, PlanFingerprint, Schema};
pub use snapshot::{BytesOf, RangeOf, StoreSnapshot};
pub use store::{Access, ChangedSettings, RecordedName, Store};
pub use upkeep::{
    DeleteScan, Deleted, Prune, Removed, RemovedRange, Retire, RetiredTarget, Steps, retired_targets,
    to_the_end,
};

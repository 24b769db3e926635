//! Stores of keyplan on object storage, by SlateDB.
//!
//! [`Slate`] is an [`Engine`](keyplan_store::engine::Engine) whose database is a number of objects in S3 or something like
//! it, in a directory, or in memory. It has one writer, and any number of readers in other processes and on other machines.
//!
//! ```
//! use keyplan_slate::{Slate, SlateSettings};
//! use keyplan_store::engine::{Batch, Durability, Engine as _, Snapshot as _, Space};
//!
//! let mut engine = Slate::open(SlateSettings::new("memory://example")?)?;
//! let space = engine.create_space(&Space::map("s"))?;
//! let mut batch = Batch::new();
//! batch.put(space, b"k".as_slice(), b"v".as_slice());
//! engine.commit(batch, Durability::SyncAll)?;
//! assert_eq!(engine.snapshot()?.get(space, b"k")?.as_deref(), Some(&b"v"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # One writer
//!
//! Opening for writing takes over: the writer before is told so ([`Fenced`](keyplan_store::engine::Error::Fenced)) before
//! its next acknowledged commit, and what it had acknowledged as durable is there for the next one. That a database is
//! open elsewhere cannot be seen; see to it that one program writes.
//!
//! # Durability
//!
//! | durability | what it means here |
//! | --- | --- |
//! | `Buffer` | visible to this process; in its memory, and lost with it |
//! | `SyncData`, `SyncAll` | acknowledged by the object store |
//!
//! A commit that waits takes until the next object is written, 100 ms unless [told](SlateSettings::flush_interval).
//!
//! # Costs
//!
//! A scan from the back is a scan of its own. There is no ingestion below the level of batches, and no call that compacts
//! everything: SlateDB compacts in the background, and [`compact`](keyplan_store::engine::Engine::compact) only moves
//! what is in memory to where it is compacted. Bytes that were read hold on to the block of 4 KiB that they are in.
//!
//! # Features
//!
//! `chains` puts the Cardano store of `keyplan-chains` on this engine.

mod bytes;
mod engine;
mod failure;
mod layout;
mod link;
mod rows;
mod settings;
mod snapshot;
mod still;

pub use crate::bytes::SlateBytes;
pub use engine::{Checkpoint, Slate};
pub use rows::SlateRange;
pub use settings::{SettingsError, SlateSettings};
pub use slatedb::object_store;
pub use snapshot::SlateSnapshot;

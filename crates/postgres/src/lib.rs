//! Stores of keyplan on PostgreSQL 15 and later.
//!
//! [`Postgres`] is an [`Engine`](keyplan_store::engine::Engine): a schema of a PostgreSQL database with a table for each
//! space. Any number of processes may read and write it at the same time. A batch is one transaction, a snapshot is one
//! too; keys are compared as bytes, by the server as everywhere else.
//!
//! ```no_run
//! use keyplan_postgres::{Postgres, PostgresSettings};
//! use keyplan_store::{Schema, Store};
//!
//! let text = "plan demo; space cl { key tick = 0x01 pool: u64 -> liquidity: u64; }";
//! let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
//! let settings = PostgresSettings::new("postgres://indexer@db.example/chain")?.schema("demo");
//! let store = Store::open_or_create(Postgres::open(settings)?, &Schema::of(&compiled).expect("sound"))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Several writers
//!
//! Commits of one schema come one after the other: each takes a lock of the server for as long as its transaction lasts,
//! so that every batch is one step in one order, also where it deletes what is not there. A batch that
//! [carries what it read](keyplan_store::engine::Batch::expect) is refused as a conflict if any of it has changed.
//!
//! # What an error says about a write
//!
//! Each commit also counts up a number in a row of its writer. If the connection breaks between the commit and its answer,
//! that row is read on a new connection, after the old transaction has been kept from ending later than that. So a commit
//! ends as done, as certainly not done ([`Unavailable`](keyplan_store::engine::Error::Unavailable)), or, only if no server
//! can be asked in time, as [`CommitUnknown`](keyplan_store::engine::Error::CommitUnknown). A server that took over
//! without something that was acknowledged is found out by the same number.
//!
//! # Features
//!
//! `chains` puts the Cardano store of `keyplan-chains` on this engine.

mod commit;
mod engine;
mod failure;
mod layout;
mod link;
mod load;
mod rows;
mod settings;
mod snapshot;

pub use engine::Postgres;
pub use rows::PostgresRange;
pub use settings::{PostgresSettings, SettingsError};
pub use snapshot::PostgresSnapshot;

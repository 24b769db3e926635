//! A database of any kind by its path or URL, and what is done with one.
//!
//! [`AnyStore`] is a database of ours on whichever engine it was made with; [`AnyEngine`] only the engine, without a plan;
//! [`Foreign`] a database of another program under a plan that is named; [`open`] any of them as a source of rows. [`dump()`]
//! and [`load()`] are all rows out and in, [`scan()`] those of a scan, [`structures`](structure) what keys of structures hold,
//! [`typed`] keys and values as people write them, [`find`](mod@find) families by their names, [`migrate`](mod@migrate) a database
//! under the next plan.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use keyplan_database::{AnyStore, EngineName, LoadOptions, load, on_engine};
//! use keyplan_store::Schema;
//!
//! let text = "plan demo; space s { key k = 0x01 id: u8 -> n: u8; }";
//! let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
//! # let folder = tempfile::tempdir()?;
//! let place = folder.path().join("data");
//! let database = AnyStore::create(&place, EngineName::Redb, &Schema::of(&compiled).expect("sound"))?;
//! let plan = compiled.plan.expect("sound");
//!
//! let lines = b"{\"family\":\"k\",\"args\":{\"id\":7},\"value\":{\"n\":9}}\n".as_slice();
//! let options = LoadOptions { bind: Vec::new(), batch: 1_000, allow_unknown: false, resume: false };
//! let loaded = on_engine!(&database, store => {
//!     load(store, &plan, Box::new(lines), Some(&place), &options, &mut |_| ControlFlow::Continue(()))
//! })?;
//! assert_eq!(loaded.rows, 1);
//! assert_eq!(database.get("s", &[1, 7])?, Some(vec![9]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here prints, asks or ends the process. Long work tells how far it has come, and ends when it is told to. Hostile
//! dumps and databases get an error.
//!
//! The feature `slate` adds databases on object storage.

// The macros of these two are used by the others.
#[macro_use]
mod engine;
#[macro_use]
mod any;

mod binary;
mod delete;
mod dump;
mod error;
mod explained;
mod filter;
pub mod find;
mod foreign;
mod foreign_engine;
mod get;
mod layout;
mod load;
pub mod migrate;
mod parts;
mod raw;
mod remote;
mod scan;
mod server;
pub mod structure;
pub mod typed;
mod upkeep;
pub mod words;

use std::ops::ControlFlow;

pub use any::{AnyStore, compiled, expect_plan};
pub use delete::{DeleteOutcome, DeleteQuery, delete};
pub use dump::{DumpFormat, dump, dump_foreign, dump_raw};
pub use engine::{AnyEngine, found};
pub use error::{Error, Result, in_one_line};
pub use explained::{ExplainedRows, StoredIn};
pub use foreign::{Foreign, Opened, given, is_own, open, place, planless, rows};
pub use foreign_engine::{ForeignEngine, ForeignRange, ForeignSnapshot};
pub use get::{GotRow, RowQuery, get_row};
pub use layout::{Layout, RowPart};
pub use load::{LoadOptions, Loaded, load};
pub use parts::{PartBytes, parts, value_part};
pub use raw::{RawScan, hex, spaces};
pub use remote::{EngineName, Opening, Remote, is_server, is_url, refuse_directory, settings, shown};
pub use scan::{Found, LOOK_EVERY, Rows, ScanQuery, Scanned, scan, scan_database, scan_foreign};
pub use server::redis;
pub use upkeep::{present, pruned_families};

/// Is told how much is done, and says whether to go on.
pub type Told<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

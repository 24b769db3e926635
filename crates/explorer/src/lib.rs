//! Looks into a database under a plan: what is in it, what a key means, and what the plan does not explain.
//!
//! An [`Explorer`] is a database, a plan and the jobs that walk it. Everything that is shown of it is a [`Page`]: one
//! function, [`Explorer::answer`], takes the page and its parameters and gives JSON. The browser, the terminal and tests
//! ask the same questions.
//!
//! ```
//! use std::sync::Arc;
//! use keyplan_explorer::{Database, Explorer, Page, Params, Settings};
//! use keyplan_store::engine::{Batch, Durability, Engine, Memory, Space};
//! use keyplan_store::source::EngineSource;
//!
//! let mut engine = Memory::new();
//! let space = engine.create_space(&Space::map("s"))?;
//! let mut batch = Batch::new();
//! batch.put(space, vec![1, 0, 7], vec![]);
//! engine.commit(batch, Durability::Buffer)?;
//! let compiled = keyplan_plan::compile("demo.keyplan", "plan demo; space s { key pool = 0x01 id: u16; }", |_| {
//!     Err("no imports".into())
//! });
//! let database = Database::new("demo", Arc::new(EngineSource::new(engine)));
//! let explorer = Explorer::new(database, compiled, Settings::default())?;
//! let rows = explorer.answer(Page::Rows, &Params::parse("family=s.pool")).expect("rows");
//! assert_eq!(rows["rows"][0]["cells"][0], "7");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The feature `web` serves the pages in a browser, `tui` shows them in a terminal.
//!
//! Nothing here decodes, proves or counts by itself: keys are read by `keyplan-plan`, values by `keyplan-values`, rows by
//! `keyplan-sources` and `keyplan-store`. Keys, values and plans are hostile input: what is shown of them has limits, and
//! text that would act on a screen is written as its number. Nothing is changed, but the plan's own file and the notes
//! beside it, and these only where [`Settings`] say so.

mod copy;
mod database;
mod explorer;
mod job;
mod notes;
mod page;
mod params;
mod reading;
mod server;
mod show;
#[cfg(feature = "tui")]
pub mod tui;
mod walk;
#[cfg(feature = "web")]
pub mod web;

pub use database::{Database, StructureOpener};
pub use explorer::{ExploreError, Explorer, Settings};
pub use page::Page;
pub use params::{Params, Problem};
#[cfg(feature = "web")]
pub use web::router;

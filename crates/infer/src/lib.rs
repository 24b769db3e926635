//! Drafts the plan of a database that has none, and says which known plan fits.
//!
//! [`infer`] reads a source twice: once to count its keys and keep some of them, once to say what the draft explains. First
//! every plan of [`known_plans`] is tried. A draft is made in three steps: keys are divided into families by the bytes that
//! tag them and by shape; each family gets the layout that describes its keys in the fewest bits; and the plan is compiled,
//! proved and run over every key.
//!
//! A draft claims no scan and no order: rows that are there cannot show what rows may come. What it is not sure of is
//! said, with the reason.
//!
//! ```
//! use keyplan_infer::{Options, infer};
//! use keyplan_store::engine::{Batch, Durability, Engine, Memory, Space};
//! use keyplan_store::source::EngineSource;
//! use std::ops::ControlFlow;
//!
//! let mut engine = Memory::new();
//! let space = engine.create_space(&Space::map("fees"))?;
//! let mut batch = Batch::new();
//! for pool in 1..100_u64 {
//!     batch.put(space, [&[7], &pool.to_be_bytes()[..]].concat(), vec![]);
//! }
//! engine.commit(batch, Durability::Buffer)?;
//! let found = infer(&EngineSource::new(engine), &Options::default(), |_| ControlFlow::Continue(()))?;
//! let draft = found.draft.expect("no known plan fits");
//! assert!(draft.text.contains("key k_07 = 0x07 number: u64;"));
//! assert_eq!((draft.explained_keys(), draft.keys()), (99, 99));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The same rows give the same draft. Keys are hostile input: how many are kept, how long they may be and how many layouts
//! are tried has limits, each a named constant.

mod bits;
mod chosen;
mod class;
mod cut;
mod divide;
mod draft;
mod fit;
mod guess;
mod inference;
mod known;
mod read;
mod run;
mod sample;
mod search;
mod unsure;
mod values;

pub use chosen::ChosenPlan;
pub use inference::{Draft, DraftFamily, DraftedSpace, InferError, Inference, Options, infer};
pub use known::{KnownFit, KnownPlan, KnownSpace, NAMED, known_plans};

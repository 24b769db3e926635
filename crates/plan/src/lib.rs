//! A plan's text, its meaning, and values under it.
//!
//! [`compile`] reads a plan and gives back its [`model::Plan`] and every finding; [`load`] does so from files, by a
//! function that fetches them. [`dynamic`] encodes and decodes keys under a plan that is known only at run time, [`explain`]
//! says which bytes of a key are what, and [`notation`] writes layouts and values for people and for programs. [`mapping`]
//! has how rows of one plan become rows of another, [`lock`] the releases of plans. [`diag`] renders findings; [`syntax`] is the tree of the text, for the formatter and for editors.
//!
//! ```
//! use keyplan_plan::dynamic::{Decoder, Value, encode};
//!
//! let text = "plan demo; space cl { key tick = 0x01 pool: u64 tick: i64.tick9; }";
//! let plan = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into())).plan.expect("sound");
//! let (_, tick) = plan.find("tick")[0];
//!
//! let mut key = Vec::new();
//! encode(&tick.key, &[Value::Unsigned(7), Value::Signed(-100)], &mut key)?;
//! assert_eq!(key[..10], [1, 0, 0, 0, 0, 0, 0, 0, 7, 5]);
//!
//! let read = Decoder::new(&plan).decode(0, &key).expect("a key of the space");
//! assert_eq!((read.family.name.as_str(), read.values[1].clone()), ("tick", Value::Signed(-100)));
//! # Ok::<(), keyplan_plan::dynamic::EncodeError>(())
//! ```
//!
//! Nothing here does input or output, reads a clock or depends on the order of a hash map: the same text gives the same
//! result on every machine. Hostile text and hostile keys get an answer within fixed bounds of depth, size and steps.

mod compile;
mod engine;
mod schema;

pub mod diag;
pub mod dynamic;
pub mod explain;
pub mod load;
pub mod lock;
pub mod mapping;
pub mod model;
pub mod notation;
pub mod order;
pub mod program;
pub mod sample;
pub mod syntax;

pub use compile::{Compiled, compile};
pub use engine::{Engine, Limits};
/// The codecs that a plan's segments are made of.
pub use keyplan_codec as codec;

//! The types that [`plan!`](crate::plan!) makes of a plan, as a table that a test can go through.
//!
//! With the feature `laws`, the module of a plan has a static `TYPES`: every key, value, member, score and field with
//! functions that make it of the values of a plan's model, write it and read it, and every scan with the range of bytes
//! that it stands for. No family can be forgotten in a test that goes through the table.
//!
//! ```
//! keyplan::plan! {
//!     plan example;
//!     space cl {
//!         key tick = 0x01 pool: u64 tick: i64.tick9
//!             scan by pool in order;
//!     }
//! }
//! use keyplan::plan::dynamic::Value;
//!
//! let tick = &example::TYPES.types[0];
//! let made = (tick.make)(&[Value::Unsigned(7), Value::Signed(-100)])?;
//! assert_eq!(made.shown, "tick(pool=7, tick=-100)");
//! assert_eq!(made.bytes?, b"\x01\0\0\0\0\0\0\0\x07\x05\xff\xff\xff\xff\xff\xff\xff\x9c");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It is for tests: the arguments that a type is made of are never given back to the allocator.

mod from_value;
mod scan;
mod types;

pub use from_value::{Arguments, FromValue, FromValues, Misfit, alternative, digest_bytes, record};
pub use scan::{IntoScan, Limit, Rows, ScanEntry, Window, limited, rows};
pub use types::{Buffered, Compare, Made, Part, Read, ReadKey, SpaceEntry, TypeEntry, compare};

use crate::typed::PlanText;

/// What was made of a plan.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PlanTypes {
    /// The plan.
    pub plan: PlanText,
    /// The enum over the families of each space that has families, in the plan's order.
    pub spaces: &'static [SpaceEntry],
    /// The types, family by family.
    pub types: &'static [TypeEntry],
    /// The scans that are declared and proved.
    pub scans: &'static [ScanEntry],
}

impl PlanTypes {
    /// What [`plan!`](crate::plan!) emits.
    pub const fn new(
        plan: PlanText,
        spaces: &'static [SpaceEntry],
        types: &'static [TypeEntry],
        scans: &'static [ScanEntry],
    ) -> Self {
        Self { plan, spaces, types, scans }
    }
}

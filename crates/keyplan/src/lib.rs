//! Key spaces as programs.
//!
//! A *plan* says once how the keys of a chain or an indexer are laid out. From it come keys that encode and decode one
//! way, an explanation of any raw key, and the reference document. This crate is the one to depend on:
//!
//! - [`plan!`] makes types from a plan while the program is compiled; [`typed`] is what they have in common;
//! - [`plan`](mod@plan) reads plans and encodes, decodes and explains keys under them at run time;
//! - [`codec`] holds the bytes of every kind of segment, without an allocator.
//!
//! ```
//! keyplan::plan! {
//!     plan example;
//!
//!     space cl {
//!         /// Liquidity at every initialised tick of a pool.
//!         key tick = 0x01 pool: u64 tick: i64.tick9
//!             scan by pool in order;
//!     }
//! }
//! use example::cl::Tick;
//!
//! let key = Tick { pool: 7, tick: -100 }.encode();
//! assert_eq!(key, *b"\x01\0\0\0\0\0\0\0\x07\x05\xff\xff\xff\xff\xff\xff\xff\x9c");
//! assert_eq!(Tick::decode(&key)?, Tick { pool: 7, tick: -100 });
//!
//! // This scan exists because the plan declares it, and because it is proved to return exactly its rows.
//! assert!(Tick::by_pool(7).from(-1_000).contains(&key));
//! assert!(!Tick::by_pool(8).contains(&key));
//! # Ok::<(), keyplan::typed::KeyError>(())
//! ```
//!
//! # Features
//!
//! `std` is on by default and has everything. Without it there are [`codec`], [`typed`] and [`plan!`], which need
//! neither `std` nor an allocator; `alloc`, `hash` and `bech32` add what their names say. `cbor` and `json` read and
//! write the values that a plan gives these codecs, with `minicbor` and `serde_json`. `store` adds `store`: state
//! under the keys of a plan, on the embedded engine fjall, and with `redb` on that engine too.
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(feature = "json", feature = "store"))]
extern crate std;

#[cfg(feature = "store")]
pub mod store;
pub mod typed;

pub use keyplan_codec as codec;
pub use keyplan_macros::plan;
#[cfg(feature = "std")]
pub use keyplan_plan as plan;

/// Keeps items of generated code that need an allocator.
#[cfg(feature = "alloc")]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_alloc {
    ($($item:tt)*) => { $($item)* };
}

/// Leaves out items of generated code that need an allocator.
#[cfg(not(feature = "alloc"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_alloc {
    ($($item:tt)*) => {};
}

/// What generated code names and nobody else.
#[doc(hidden)]
pub mod __private {
    #[cfg(feature = "alloc")]
    pub use alloc::vec::Vec;
}

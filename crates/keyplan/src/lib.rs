//! Key spaces as programs.
//!
//! A *plan* says once how the keys of a chain or an indexer are laid out. From it come keys that encode and decode one
//! way, an explanation of any raw key, and the reference document. This crate is the one to depend on:
//!
//! - [`codec`] holds the bytes of every kind of segment, without an allocator;
//! - [`plan`] reads plans and encodes, decodes and explains keys under them at run time.
//!
//! ```
//! use keyplan::codec::{Be, Buffer, Literal, Segment, Tick9};
//!
//! let mut room = [0; 18];
//! let mut key = Buffer::new(&mut room);
//! Literal(&[0x01]).encode((), &mut key)?;
//! Be::<u64>::new().encode(7, &mut key)?;
//! Tick9.encode(-100, &mut key)?;
//! assert_eq!(key.written(), b"\x01\0\0\0\0\0\0\0\x07\x05\xff\xff\xff\xff\xff\xff\xff\x9c");
//! # Ok::<(), keyplan::codec::EncodeError>(())
//! ```
//!
//! Without the feature `std` only [`codec`] is there, and it needs no `std`.
#![no_std]

pub use keyplan_codec as codec;
#[cfg(feature = "std")]
pub use keyplan_plan as plan;

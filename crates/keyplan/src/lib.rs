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
//! write the values that a plan gives these codecs, with `minicbor` and `serde_json`; `proto` does so with `prost`, and `rlp`,
//! `scale`, `bcs` and `borsh` with the crates of these formats. `store` adds `store`: state
//! under the keys of a plan, on the embedded engine fjall, and with `redb` and `lmdb` on these engines too. `laws` is for
//! tests: a table of every type that was made of a plan.
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(feature = "json", feature = "store"))]
extern crate std;

#[cfg(feature = "laws")]
pub mod laws;

pub use keyplan_codec as codec;
pub use keyplan_macros::plan;
#[cfg(feature = "std")]
pub use keyplan_plan as plan;

/// What the types that [`plan!`] makes have in common.
pub mod typed {
    #[doc(inline)]
    pub use keyplan_typed::*;
}

/// State under the keys of a plan, by their types: [`keyplan_store::typed`], with what is below it.
#[cfg(feature = "store")]
pub mod store {
    #[doc(inline)]
    pub use keyplan_store::typed::*;
    pub use keyplan_store::{self as raw, cache, engine};
}

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

/// Makes the types of a plan out of the values of its model, and lists them.
#[cfg(feature = "laws")]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_laws {
    (struct $name:ident [$($life:tt)*] { $($field:ident)* }) => {
        impl<'k> $crate::laws::FromValues<'k> for $name $($life)* {
            fn from_values(
                values: &'k [$crate::plan::dynamic::Value],
            ) -> ::core::result::Result<Self, $crate::laws::Misfit> {
                let mut values = $crate::laws::Arguments::new(values);
                let made = Self { $($field: values.take()?,)* };
                values.end()?;
                ::core::result::Result::Ok(made)
            }
        }

        impl<'k> $crate::laws::FromValue<'k> for $name $($life)* {
            fn from_value(
                value: &'k $crate::plan::dynamic::Value,
            ) -> ::core::result::Result<Self, $crate::laws::Misfit> {
                $crate::laws::FromValues::from_values($crate::laws::record(value)?)
            }
        }
    };
    (enum $name:ident [$($life:tt)*] {
        $($index:literal $variant:ident $({ $($field:ident)* })? $(($value:ident))?,)*
    }) => {
        impl<'k> $crate::laws::FromValue<'k> for $name $($life)* {
            fn from_value(
                value: &'k $crate::plan::dynamic::Value,
            ) -> ::core::result::Result<Self, $crate::laws::Misfit> {
                let (index, mut values) = $crate::laws::alternative(value)?;
                let made = match index {
                    $($index => Self::$variant $({ $($field: values.take()?,)* })? $(({
                        let $value = values.take()?;
                        $value
                    }))?,)*
                    _ => return ::core::result::Result::Err($crate::laws::Misfit::Inexpressible),
                };
                values.end()?;
                ::core::result::Result::Ok(made)
            }
        }
    };
    (digest $name:ident $of:ty) => {
        impl<'k> $crate::laws::FromValue<'k> for $name {
            fn from_value(
                value: &'k $crate::plan::dynamic::Value,
            ) -> ::core::result::Result<Self, $crate::laws::Misfit> {
                match $crate::laws::digest_bytes(value) {
                    ::core::option::Option::Some(digest) => digest.map(Self::from_digest),
                    ::core::option::Option::None => {
                        Self::of(<$of as $crate::laws::FromValue<'k>>::from_value(value)?)
                            .map_err($crate::laws::Misfit::Refused)
                    }
                }
            }
        }
    };
    (table spaces { $($space:literal [$($any:tt)*])* } types { $(($($entry:tt)*))* } scans { $(($($scan:tt)*))* }) => {
        /// Every type of the plan, for tests.
        pub static TYPES: $crate::laws::PlanTypes = $crate::laws::PlanTypes::new(
            PLAN,
            &[$($crate::laws::SpaceEntry::new($space, |key| {
                let read = $($any)*::decode(key)?;
                ::core::result::Result::Ok((
                    read.family(),
                    $crate::laws::Read::new(
                        &read,
                        |out| read.encode_unguarded_into(out),
                        |out| read.encode_into(out),
                    ),
                ))
            })),*],
            &[$($crate::__with_laws!(@type $($entry)*)),*],
            &[$($crate::__with_laws!(@scan $($scan)*)),*],
        );
    };
    (@type key ordered $key:ty) => {
        $crate::laws::TypeEntry::key::<$key>().ordered($crate::laws::compare::<$key>)
    };
    (@type key $key:ty) => { $crate::laws::TypeEntry::key::<$key>() };
    (@type value $key:ty) => { $crate::laws::TypeEntry::value::<$key>() };
    (@type member $key:ty) => { $crate::laws::TypeEntry::member::<$key>() };
    (@type score $key:ty) => { $crate::laws::TypeEntry::score::<$key>() };
    (@type field $family:literal $name:literal [$($path:tt)*] $field:ty) => {
        $crate::laws::TypeEntry::field::<$field>($family, $name, |bytes| {
            let field = $($path)*::decode(bytes)?;
            ::core::result::Result::Ok($crate::laws::Read::new(
                &field,
                |out| $crate::typed::Layout::put(&field, out).map_err(|error| error.of($family)),
                |out| field.encode_into(out),
            ))
        })
    };
    (@type field_value $family:literal $name:literal $field:ty) => {
        $crate::laws::TypeEntry::field_value::<$field>($family, $name)
    };
    (@scan $family:literal $bound:literal $bare:literal $ordered:literal $rows:ident [$($begin:tt)*] $($argument:ident)*) => {
        $crate::laws::ScanEntry::new($family, ($bound, $bare), $ordered, |values, window| {
            let mut values = $crate::laws::Arguments::new(values);
            $(let $argument = values.take()?;)*
            values.end()?;
            $crate::laws::$rows($($begin)*($($argument),*), window)
        })
    };
}

/// Leaves out what is for tests.
#[cfg(not(feature = "laws"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_laws {
    ($($item:tt)*) => {};
}

/// What generated code names and nobody else.
#[doc(hidden)]
pub mod __private {
    #[cfg(feature = "alloc")]
    pub use alloc::vec::Vec;
}

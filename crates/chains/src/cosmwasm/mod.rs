//! Length-prefixed storage keys: a namespace of components, then a raw key.
//!
//! ```text
//! len (2, big-endian) | component | len (2) | component | … | key
//! ```
//!
//! - [`compose`] makes such a key in one allocation of exactly its length, [`compose_into`] in a slice of the caller's.
//! - [`decompose`] takes one apart again when the number of components is known, and [`decompose_all`] gives every split
//!   that the bytes allow when it is not: the key does not say how many there are.
//! - [`to_length_prefixed`] and [`to_length_prefixed_nested`] are the names that contracts know for only the prefix.
//!
//! Nothing here panics: a component that does not fit in its length, and a raw key that ends too soon, are errors that
//! say which component it is and where.

mod compose;
mod decompose;

#[cfg(feature = "laws")]
pub use crate::keys::cosmwasm::TYPES;
pub use crate::keys::cosmwasm::{PLAN, bare, contract, one, three, two};
pub use compose::{
    ComposeError, MAX_COMPONENT, compose, compose_into, composed_len, to_length_prefixed,
    to_length_prefixed_nested,
};
pub use decompose::{Components, DecomposeError, Decomposed, Splits, decompose, decompose_all};

use keyplan::codec::{LenPrefix, LenWidth};

/// A component with its length before it.
const COMPONENT: LenPrefix = LenPrefix { width: LenWidth::L16 };

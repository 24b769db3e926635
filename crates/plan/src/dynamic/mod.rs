//! Values under a plan known at run time: for tools, tests and other languages.
//!
//! [`encode`] and [`readings`] are the two directions over one layout; [`Decoder`] finds the family of a key
//! first, by one walk along its leading bytes.

mod decode;
mod delimit;
mod dispatch;
mod encode;
mod guard;
mod inside;
mod int;
mod leaf;
mod list;
mod program;
mod shown;
mod text;
mod value;
mod wide;

pub use decode::{Failure, Readings, readings};
pub(crate) use decode::{READINGS, located};
pub use dispatch::{Decoded, Decoder, KeyReadings, Miss};
pub use encode::{EncodeError, EncodeFault, derive, derived_value, encode, encode_one, prefix};
pub use guard::{Other, other_key, other_layout};
pub use inside::{Form, FormPair, inside, inside_both, inside_mut, map_inside};
pub(crate) use int::{decode as decode_int, int_width};
pub use leaf::contents;
pub(crate) use leaf::{Unframed, unframe};
pub(crate) use list::list_places;
pub use text::{ParseError, parse, typed_text};
pub use value::Value;
pub(crate) use wide::decimal as wide_decimal;

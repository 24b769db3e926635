//! Values of databases as one kind of tree, with the bytes that each part of it is.
//!
//! [`decode`] reads the formats that say themselves what is in them: CBOR, JSON, RLP, and protobuf as far as its wire tells.
//! [`Type::decode`] reads those that need to be told: SCALE, BCS, Borsh and the bincode form of version 1, and gives names to what
//! CBOR has by position. [`Messages`] reads
//! protobuf by a schema, which the feature `proto` compiles. [`text`] and [`json`] write a tree for people and for programs,
//! [`lanes`] says which bytes are what, and [`Type::encode`] and [`Messages::from_json`] lead back from JSON. [`Type::exact`] makes
//! JSON of CBOR that loses nothing.
//!
//! ```
//! use keyplan_values::{Format, Limits, decode, json, text};
//!
//! let value = decode(Format::Cbor, &[0xa1, 0x61, b'a', 0x82, 0x01, 0x20], &Limits::default())?;
//! assert_eq!(text(&value), r#"{"a": [1, -1]}"#);
//! assert_eq!(json(&value).to_string(), r#"{"a":[1,-1]}"#);
//!
//! let fault = decode(Format::Cbor, &[0x82, 0x01], &Limits::default()).unwrap_err();
//! assert_eq!(fault.to_string(), "byte 2: it ends too soon");
//! # Ok::<(), keyplan_values::Fault>(())
//! ```
//!
//! Values are hostile input: depth, the number of nodes and the size have [`Limits`], a claim of a length is compared with
//! what is left before anything is kept, and what is wrong is said with its offset. Nothing here prints.

mod cbor;
mod dollar;
mod format;
mod json;
mod lanes;
mod message;
mod named;
mod proto;
mod reader;
mod rlp;
mod schema;
mod show;
pub mod time;
mod tree;
mod write;

pub use dollar::has_verbatim;
pub use format::{Format, decode};
pub use lanes::{Lane, lanes};
pub use message::{MessageId, Messages, NoMessage, Unwritable};
#[cfg(feature = "proto")]
pub use message::{MessagesError, SchemaText};
pub use reader::{Fault, Limits};
pub use rlp::encode as encode_rlp;
pub use schema::{Codec, SchemaError, Type, Variant};
pub use show::{json, text, write_json};
pub use tree::{Data, Node, Record};

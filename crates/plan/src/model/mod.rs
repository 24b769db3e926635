//! What a plan means: spaces, families, segments, and of the spelling only the spans.
//!
//! The enums here are not `#[non_exhaustive]`: code that reads a layout has to handle every kind of it, and the compiler names
//! each place that a new one concerns. A new encoding is therefore a breaking release of this crate.

mod clause;
mod column;
mod domain;
mod encoding;
mod escape;
mod evolution;
mod family;
mod fingerprint;
mod int_order;
mod layout;
mod numbers;
mod parts;
mod path;
mod relation;
mod resolve;
mod retention;
mod scan;
mod schema;
mod segment;
mod shape;
mod shown;
mod sight;
mod space;
mod style;
pub(crate) mod table;
mod walk;

pub use domain::domains;
pub use evolution::{AllowedBreak, Binding, BindingSource, BreakKind, Dropped, MisfitRule, Predecessor};
pub use family::{Accept, AcceptKind, Family, Field};
pub use fingerprint::Fingerprint;
pub use layout::{Extent, Width};
pub use numbers::Numbers;
pub use path::DottedPath;
pub use relation::{Reference, ReferenceSource, Relation};
pub use resolve::{Imported, Part, Resolved, resolve};
pub use retention::{Keep, Retention};
pub use scan::{BoundPart, Company, Scan, ScanEnd, ScanId};
pub use schema::{Coded, Made, MissingSchema, ProtoMessage, SchemaFile, SchemaFormat, Schemas, ValueCodec};
pub use segment::{Argument, Derivation, Derived, Literal, Same, Segment, Sequence};
pub use shape::{
    Alternative, Except, IntRange, IntShape, IntType, LengthSet, Name, NameSet, Opaque, Shape, TextShape,
};
pub use shown::Shown;
pub use space::{Allotment, Module, ModuleId, NamedType, Plan, Retired, Space};
pub use style::{Asks, HouseRule, StyleFault};
pub use table::{
    BoolEncoding, BytesCodec, BytesEncoding, DomainKind, Encoding, ExtentRule, FloatEncoding, Frame, Framing,
    IntEncoding, NibbleEncoding, OrderRule, ScoreEncoding, Takes, TimeEncoding, encodings, table,
};

pub use crate::syntax::ast::FamilyKind;

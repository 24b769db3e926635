//! Diagnostics are data: a code, a message, labels under the text, notes. Rendering is apart.

mod code;
mod diagnostic;
mod number;
mod recipe;
mod render;
mod source;

pub use code::{Code, Severity};
pub use diagnostic::{Diagnostic, Label, Note, NoteKind};
pub use number::grouped;
pub use recipe::{Recipe, RecipeExtent, RecipePart};
pub use render::{Style, render};
pub use source::{FileId, Position, Source, SourceMap, Span};

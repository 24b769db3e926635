//! From text to a tree and back.
//!
//! [`parse`] gives a tree and what is wrong with the text, always both: a file with mistakes has a tree of what
//! could be read, and one run finds all of them. Hostile text costs time in proportion to its length and
//! cannot overflow the stack.

pub mod ast;

mod brackets;
pub(crate) mod foreign;
mod format;
mod layout;
mod lexer;
mod literal;
mod nearest;
mod parser;
mod sink;
mod source;
mod token;

pub use format::format;
pub use lexer::{Comment, Lexed, lex};
pub use nearest::nearest;
pub use parser::{Parsed, parse, parse_tokens};
pub use source::{MAX_SOURCE_BYTES, decode_source};
pub use token::{Token, TokenKind};

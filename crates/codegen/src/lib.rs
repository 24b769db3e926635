//! From a plan to code: the types that the macro makes, and the same keys in other languages.
//!
//! [`rust::expand`] gives what `keyplan::plan!` emits for a plan that was read; [`rust::format`] prints it for people. The same
//! plan gives the same code on every machine. Nothing here reads or writes a file.
//!
//! ```
//! use keyplan_codegen::rust;
//!
//! let text = "plan demo; space cl { key tick = 0x01 pool: u64 tick: i64.tick9; }";
//! let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
//! let code = rust::expand(&compiled).expect("the plan is sound");
//! assert!(rust::format(&code).contains("pub struct Tick {"));
//! ```

mod about;
pub mod go;
mod guard;
mod make;
pub mod model;
mod naming;
mod prove;
mod regular;
mod runtime;
pub mod rust;
mod scan;
mod shake;
pub mod typescript;
pub mod vectors;

pub use make::{Made, MakeOptions, Product, is_made, make};
pub use prove::prove;

/// A file that was made, by its path below the output directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The path, with `/` between its parts.
    pub path: String,
    /// What it holds.
    pub text: String,
}

impl File {
    fn new(path: impl Into<String>, text: String) -> Self {
        Self { path: path.into(), text }
    }
}

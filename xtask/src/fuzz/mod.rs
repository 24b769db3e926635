//! What is tried with hostile input.
//!
//! A [`Target`] is a claim about any bytes: its function returns if the claim holds and panics if it does not. The same
//! functions run under the real fuzzer (`fuzz/fuzz_targets/`, started by `cargo xtask soak`) and on the stable toolchain
//! (`cargo xtask fuzz`), there over the kept corpus and what a seeded generator makes of it.

mod arbitrary;
mod database;
mod decode;
mod encode;
mod format;
mod mutate;
mod parser;
mod plans;
mod rng;
mod rows;
mod run;
mod schema;
mod seeds;
mod source;
mod value;

pub use arbitrary::Arbitrary;
pub use database::database;
pub use decode::decode;
pub use encode::encode;
pub use format::format;
pub use mutate::mutated;
pub use parser::parser;
pub use plans::{Kept, kept};
pub use rng::Rng;
pub use rows::rows;
pub use run::{Budget, Done, corpus, run};
pub use schema::schema;
pub use source::source;
pub use value::value;

/// A claim about any bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name: that of the fuzzer's binary and of the corpus's folder.
    pub name: &'static str,
    /// The claim, in one line.
    pub claim: &'static str,
    /// Returns if the claim holds for these bytes, and panics if not.
    pub body: fn(&[u8]),
    /// Inputs to begin with, made from the project's plans.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Pieces that random input hardly ever hits on.
    pub words: &'static [&'static [u8]],
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target {
        name: "parser",
        claim: "any bytes as a plan give a model or an error with a span inside of the text",
        body: parser,
        seeds: seeds::texts,
        words: parser::WORDS,
    },
    Target {
        name: "format",
        claim: "formatting a plan keeps its tokens, comments and meaning, and a second time changes nothing",
        body: format,
        seeds: seeds::texts,
        words: parser::WORDS,
    },
    Target {
        name: "decode",
        claim: "every reading of any bytes under any layout encodes to the same bytes again",
        body: decode,
        seeds: seeds::keys,
        words: &[],
    },
    Target {
        name: "encode",
        claim: "arguments that are encoded are among the readings of the key",
        body: encode,
        seeds: seeds::noise,
        words: &[],
    },
    Target {
        name: "value",
        claim: "text that is read as a value is written as text that is read as the same value",
        body: value,
        seeds: seeds::values,
        words: value::WORDS,
    },
    Target {
        name: "source",
        claim: "any bytes as a file of another program's database give rows in order or an error",
        body: source,
        seeds: source::seeds,
        words: &[],
    },
    Target {
        name: "database",
        claim: "another program's database that was changed in places gives rows in order or an error about a file",
        body: database,
        seeds: database::seeds,
        words: &[],
    },
    Target {
        name: "rows",
        claim: "any bytes as a dump, JSON lines, a contract's state or a list of keys give rows in order or an error",
        body: rows,
        seeds: rows::seeds,
        words: rows::WORDS,
    },
    Target {
        name: "schema",
        claim: "any bytes as a schema and a value give a tree inside of the value or an error inside of it",
        body: schema,
        seeds: schema::seeds,
        words: schema::WORDS,
    },
];

/// The target of that name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|target| target.name == name).copied()
}

//! `keyplan generate` and `keyplan vectors`

use std::path::PathBuf;

use clap::{Args as Group, Subcommand, ValueEnum};

use super::ExplainFormat;

/// `keyplan generate`
#[derive(Debug, Group)]
#[command(
    after_help = "A plan with findings is not generated. Of a directory, only files that this command wrote are changed; it is an error \
    if there are others. The same plan gives the same files on every machine.\n\n\
    Examples:\n  keyplan generate go plans/osmosis_cl.keyplan -o keys\n  \
    keyplan generate typescript plans/osmosis_cl.keyplan -o src/keys\n  \
    keyplan generate vectors plans/paw.keyplan -o paw.jsonl --count 50\n  \
    keyplan generate go plans/osmosis_cl.keyplan -o keys --check\n  \
    keyplan generate go plans/v2.keyplan -o keys --migration plans/v1.keyplan\n  \
    keyplan generate --check\n\n\
    Without a target and a plan, everything is written that `keyplan.toml` names in its tables `[generate.NAME]`."
)]
pub(crate) struct Generate {
    /// What to write; without it, all that the project's file names
    #[arg(value_enum, requires = "plan")]
    pub(crate) target: Option<Target>,
    /// The plan file
    pub(crate) plan: Option<String>,
    /// Where to: a directory for Go and TypeScript, else a file (standard output without it)
    #[arg(short, long, value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
    /// Write nothing, and say which files are stale
    #[arg(long)]
    pub(crate) check: bool,
    /// The name of the Go package; that of the plan without it
    #[arg(long, value_name = "NAME")]
    pub(crate) package: Option<String>,
    /// With Go: also iteration over the stores of the Cosmos SDK, and codecs for its collections
    #[arg(long)]
    pub(crate) cosmos: bool,
    /// With Go: also the function of an upgrade handler that carries rows of this older plan to the new one
    #[arg(long, value_name = "OLD")]
    pub(crate) migration: Option<String>,
    /// How many argument lists the vectors of each layout have beside those at the edges of their domains
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) count: usize,
}

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    /// A package that needs only the standard library, with its tests
    Go,
    /// A module without dependencies for Node and browsers, with its test
    Typescript,
    /// What the macro `keyplan::plan!` makes
    Rust,
    /// Keys and refusals, one JSON object per line
    Vectors,
    /// The resolved plan as JSON
    Model,
}

impl From<Target> for keyplan_codegen::Product {
    fn from(target: Target) -> Self {
        match target {
            Target::Go => Self::Go,
            Target::Typescript => Self::Typescript,
            Target::Rust => Self::Rust,
            Target::Vectors => Self::Vectors,
            Target::Model => Self::Model,
        }
    }
}

/// `keyplan vectors`
#[derive(Debug, Subcommand)]
pub(crate) enum Vectors {
    /// Tell which lines of a file of vectors are wrong under a plan
    #[command(after_help = "Example:\n  keyplan vectors check keys.jsonl --plan plans/paw.keyplan")]
    Check(CheckVectors),
}

/// `keyplan vectors check`
#[derive(Debug, Group)]
pub(crate) struct CheckVectors {
    /// The file of vectors
    pub(crate) file: String,
    /// The plan file
    #[arg(long, value_name = "PLAN")]
    pub(crate) plan: String,
    /// How to print the outcome
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub(crate) format: ExplainFormat,
}

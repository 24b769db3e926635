//! What is typed to read a database of any kind without changing it: `audit`, `diff` and `checksum`.

use clap::{Args as Group, ValueEnum};

use super::db::RowFormat;

/// The plan that rows are read under, and which space is which.
#[derive(Debug, Group)]
pub(crate) struct Reading {
    /// The plan that keys are read under; left out, the one that is in the database
    #[arg(long, value_name = "PLAN")]
    pub(crate) plan: Option<String>,
    /// Read a space of the source as one of the plan, where their names differ
    #[arg(long, value_name = "PLAN_SPACE=SOURCE_SPACE")]
    pub(crate) bind: Vec<String>,
}

/// `keyplan db audit`
#[derive(Debug, Group)]
#[command(
    after_help = "SOURCE is a database of any kind that is read here, a dump or a list of rows; PATH@HEIGHT is an older \
    version of one that keeps some. Nothing is changed and nothing is locked.\n\n\
    Exit code 1 says that there are findings.\n\n\
    Examples:\n  keyplan db audit data\n  \
    keyplan db audit node/data/application.db --plan plans/upstream/osmosis_cl.keyplan --bind cl=concentratedliquidity\n  \
    keyplan db audit state.sqlite --plan plans/upstream/osmosis_cl.keyplan --bind cl=kv --format sarif"
)]
pub(crate) struct Audit {
    /// What is read
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = AuditFormat::Text)]
    pub(crate) format: AuditFormat,
}

/// How an audit is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuditFormat {
    /// For people
    Text,
    /// One object, for programs
    Json,
    /// SARIF 2.1.0, for code scanners
    Sarif,
}

/// `keyplan db diff`
#[derive(Debug, Group)]
#[command(
    after_help = "The two need not be of one kind. PATH@HEIGHT is an older version of a source that keeps some. Without a \
    plan rows are compared as bytes, space by space.\n\n\
    Exit code 1 says that they differ.\n\n\
    Examples:\n  keyplan db diff data backup.jsonl\n  \
    keyplan db diff application.db@100 application.db@101 --plan plans/upstream/paw.keyplan"
)]
pub(crate) struct Diff {
    /// What was
    #[arg(value_name = "BEFORE")]
    pub(crate) before: String,
    /// What is
    #[arg(value_name = "AFTER")]
    pub(crate) after: String,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// The version of the first source, as in BEFORE@HEIGHT
    #[arg(long, value_name = "HEIGHT")]
    pub(crate) height_a: Option<u64>,
    /// The version of the second source
    #[arg(long, value_name = "HEIGHT")]
    pub(crate) height_b: Option<u64>,
    /// Print no more than this many rows; all are counted
    #[arg(long, value_name = "ROWS")]
    pub(crate) limit: Option<u64>,
    /// How to print the differences
    #[arg(long, value_enum, default_value_t = RowFormat::Text)]
    pub(crate) format: RowFormat,
}

/// `keyplan db checksum`
#[derive(Debug, Group)]
#[command(
    after_help = "A checksum is the SHA-256 of the rows in order, each as the length of its key in eight bytes, the key, the \
    length of its value and the value. Two sources with the same rows have the same checksums, whatever engine they are on. \
    Where they differ, `--depth` and then `--prefix` show where.\n\n\
    Examples:\n  keyplan db checksum data\n  keyplan db checksum data --prefix 01 --depth 2"
)]
pub(crate) struct Checksum {
    /// What is read; PATH@HEIGHT is an older version of a source that keeps some
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Only rows whose keys begin with these bytes
    #[arg(long, value_name = "HEX", default_value = "")]
    pub(crate) prefix: String,
    /// Also sum ranges apart, by this many bytes of the keys after the prefix
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub(crate) depth: usize,
    /// How to print the checksums
    #[arg(long, value_enum, default_value_t = RowFormat::Text)]
    pub(crate) format: RowFormat,
}

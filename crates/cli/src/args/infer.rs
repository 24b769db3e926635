//! What is typed to draft a plan: `keyplan infer`.

use clap::Args as Group;

use super::ExplainFormat;

/// `keyplan infer`
#[derive(Debug, Group)]
#[command(
    after_help = "SOURCE is a database of any kind that is read here, a dump, or a list of keys, hex or base64, one per line; \
    `-` is such a list on standard input, and PATH@HEIGHT an older version of a source that keeps some. Nothing is changed.\n\n\
    First every plan that comes with keyplan is tried. If none explains at least 90 % of the keys, a plan is drafted: \
    compiled, proved, and run over every key. A draft claims no scan and no order, and says what it is not sure of.\n\n\
    Examples:\n  keyplan infer node/data/application.db\n  \
    keyplan infer state.sqlite -o draft.keyplan\n  \
    keyplan infer - --format json < keys.txt"
)]
pub(crate) struct Infer {
    /// What is read
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,
    /// Write the draft to this file, which must not be there yet
    #[arg(short, long, value_name = "PLAN")]
    pub(crate) output: Option<String>,
    /// Look at this space of the source only
    #[arg(long, value_name = "SPACE")]
    pub(crate) space: Option<String>,
    /// Draft a plan even if a known one fits
    #[arg(long)]
    pub(crate) draft: bool,
    /// Also guess what the values are, from some of them: JSON, CBOR, protobuf, text, numbers
    #[arg(long)]
    pub(crate) values: bool,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub(crate) format: ExplainFormat,
}

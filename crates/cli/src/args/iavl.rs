//! What is typed after `keyplan db iavl` and `keyplan db history`.

use std::path::PathBuf;

use clap::Args as Group;

use super::db::RowFormat;

/// `keyplan db iavl`
#[derive(Debug, Group)]
#[command(after_help = "Nothing is changed and no lock is taken: the node may be running.\n\n\
    Exit code 1 says that a root hash is not the one of its commit.\n\n\
    Examples:\n  keyplan db iavl node/data/application.db\n  \
    keyplan db iavl node/data/application.db --verify --format json")]
pub(crate) struct Iavl {
    /// The directory of the application.db
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,
    /// Recompute root hashes from the leaves and compare them with the commits: of all versions, or of `--height`
    #[arg(long)]
    pub(crate) verify: bool,
    /// The version that is read; the latest committed one if left out
    #[arg(long, value_name = "VERSION")]
    pub(crate) height: Option<u64>,
    /// How to print what is there
    #[arg(long, value_enum, default_value_t = RowFormat::Text)]
    pub(crate) format: RowFormat,
}

/// `keyplan db history`
#[derive(Debug, Group)]
#[command(after_help = "Exit code 1 says that no version that is kept has the key.\n\n\
    Example:\n  keyplan db history node/data/application.db 0201 --space bank")]
pub(crate) struct History {
    /// The directory of the application.db
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,
    /// The key, in hex
    #[arg(value_name = "KEY")]
    pub(crate) key: String,
    /// The store; all of the last commit if left out
    #[arg(long, value_name = "STORE")]
    pub(crate) space: Option<String>,
    /// How to print the values
    #[arg(long, value_enum, default_value_t = RowFormat::Text)]
    pub(crate) format: RowFormat,
}

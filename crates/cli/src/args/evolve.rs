//! What was typed after `keyplan release` and `keyplan migrate`.

use std::path::PathBuf;

use clap::{Args as Group, Subcommand};

use super::ExplainFormat;
use super::db::EngineName;

/// `keyplan release`
#[derive(Debug, Group)]
#[command(
    after_help = "The layout as it is now becomes an entry of `keyplan.lock`, beside the plan: commit that file. From then on \
    `keyplan check` compares the plan with its last release by itself, and no prefix that any release has used can be \
    forgotten.\n\nExamples:\n  keyplan release plans/positions.keyplan\n  \
    keyplan release plans/positions.keyplan --name v2"
)]
pub(crate) struct Release {
    /// The plan file
    pub(crate) plan: String,
    /// What the release is called; the next number, if it is left out
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The day of the release, if it is not today
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) date: Option<String>,
}

/// `keyplan migrate`
#[derive(Debug, Subcommand)]
pub(crate) enum Migrate {
    /// Print what becomes of every family, and what was proved of it
    Plan(MigratePlan),
}

/// `keyplan migrate plan`
#[derive(Debug, Group)]
#[command(
    after_help = "OLD is a plan file, `git:REV` or `git:REV:PATH`, or the directory of a database; without it, the last \
    release in `keyplan.lock` beside NEW. Exit code 1 says that something is not proved and that the plan has no rule \
    for it.\n\nExamples:\n  keyplan migrate plan plans/paw.keyplan plans/paw_v2.keyplan\n  \
    keyplan migrate plan plans/positions.keyplan"
)]
pub(crate) struct MigratePlan {
    /// The older plan, and the newer one
    #[arg(value_name = "PLAN", num_args = 1..=2, required = true)]
    pub(crate) plans: Vec<String>,
    /// How to print it
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub(crate) format: ExplainFormat,
}

/// `keyplan db migrate`
#[derive(Debug, Group)]
#[command(
    after_help = "Without --apply nothing is written: every row is read, and what would become of it is counted. A migration \
    that was interrupted continues with --apply and is taken back with --undo; the database knows which plan it is on the way to.\n\n\
    Exit code 1 says that rows have no new key; --park sets them aside.\n\n\
    DIR may be the database of another program, or one without a plan in it: --plan names its plan, and --into makes a copy. \
    Nothing is changed there.\n\n\
    DIR and DIR2 may be servers: a URL such as `redis://host:6379`, or `redis` for the one that KEYPLAN_URL names (for DIR2, \
    KEYPLAN_INTO_URL), so that no password is an argument. A server is only read, and has no plan in it: --plan names it. A \
    copy is made on an empty one. What is set aside has no place on a server, and stays where it was.\n\n\
    Examples:\n  keyplan db migrate data --to plans/paw_v2.keyplan\n  \
    keyplan db migrate data --to plans/paw_v2.keyplan --apply --park\n  keyplan db migrate data --undo\n  \
    keyplan db migrate node/data/state.db --plan plans/paw.keyplan --to plans/paw_v2.keyplan --into data --engine redb\n  \
    keyplan db migrate redis://127.0.0.1:6379 --plan plans/onesat.keyplan --to plans/onesat_v2.keyplan --into data \
    --prefer event_spent"
)]
pub(crate) struct DbMigrate {
    /// The directory of the database, or a server
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// The plan of a server, or of a database without a plan in it
    #[arg(long, value_name = "PLAN")]
    pub(crate) plan: Option<String>,
    /// A space of that plan that is called otherwise in the database; may be given for several
    #[arg(long, value_name = "PLAN_SPACE=SOURCE_SPACE", requires = "plan")]
    pub(crate) bind: Vec<String>,
    /// The plan to carry it to; not needed to go on or back
    #[arg(long, value_name = "PLAN")]
    pub(crate) to: Option<String>,
    /// Do it, or go on
    #[arg(long, conflicts_with = "undo")]
    pub(crate) apply: bool,
    /// Bring every row back to where it was
    #[arg(long)]
    pub(crate) undo: bool,
    /// Set rows aside that have no new key
    #[arg(long)]
    pub(crate) park: bool,
    /// Take keys with several readings for this family of the older plan, or fields for this field; may be given for several
    #[arg(long, value_name = "PATH")]
    pub(crate) prefer: Vec<String>,
    /// Make a copy under the new plan here, a directory or a server, and leave the database as it is
    #[arg(long, value_name = "DIR2", conflicts_with_all = ["apply", "undo"])]
    pub(crate) into: Option<PathBuf>,
    /// The engine of the copy
    #[arg(long, value_enum, default_value_t = EngineName::Fjall)]
    pub(crate) engine: EngineName,
    /// Rows in one step
    #[arg(long, value_name = "ROWS", default_value_t = 10_000)]
    pub(crate) batch: usize,
    /// How to print what was done
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub(crate) format: ExplainFormat,
}

/// `keyplan db parked`
#[derive(Debug, Group)]
#[command(
    after_help = "Rows that have no key under the new plan stay in the database, in a space of their own, with the reason. \
    With --format json there is one object per line: the space and the key that the row had, its value, and why it is \
    aside.\n\nExamples:\n  keyplan db parked data\n  keyplan db parked data --format json > parked.jsonl"
)]
pub(crate) struct DbParked {
    /// The directory of the database
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// How to print them
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub(crate) format: ExplainFormat,
}

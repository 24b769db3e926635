//! What was typed after `keyplan db`.

use std::path::PathBuf;

use clap::{Args as Group, Subcommand, ValueEnum};

pub(crate) use keyplan_database::{DumpFormat, EngineName};

use super::iavl::{History, Iavl};
use super::source::{Audit, Checksum, Diff};

/// What to do with a database.
#[derive(Debug, Subcommand)]
pub(crate) enum Db {
    /// Make a database with a plan in it
    Create(Create),
    /// Print the plan that is in a database
    Plan(PlanText),
    /// Write one row
    Put(Put),
    /// Read the value of one row
    Get(Get),
    /// Print the rows of a scan, of a family, or of everything
    Scan(Scan),
    /// Delete one row, or all rows of a scan
    Delete(Delete),
    /// Remove rows that are past the retention which the plan states, or say how many there are
    Prune(Prune),
    /// Remove rows of what the plan has retired, by name, or say what there is
    Retire(Retire),
    /// Write rows from JSON lines or from a binary dump
    Load(Load),
    /// Print all rows as JSON lines or in a binary form
    Dump(Dump),
    /// Copy a database as it is now, or bring an earlier copy up to date
    Backup(Backup),
    /// Count rows and bytes of each family
    Stats(Stats),
    /// Decode every key and value, and report those that the plan does not make
    Verify(Verify),
    /// Show the versions and stores of a Cosmos node's application.db, and check its root hashes
    Iavl(Iavl),
    /// Show one key across the versions that a Cosmos node keeps
    History(History),
    /// Read every row of any database under a plan, and say what the plan does not explain
    Audit(Audit),
    /// Compare two databases of any kind, row by row
    Diff(Diff),
    /// Sum the rows of each family, equal wherever the rows are
    Checksum(Checksum),
    /// Carry a database to another plan, or show what would become of it
    Migrate(super::evolve::DbMigrate),
    /// List the rows that migrations have set aside
    Parked(super::evolve::DbParked),
    /// Copy a database to another engine or place, and compare the two
    Copy(Copy),
}

/// `keyplan db copy`
#[derive(Debug, Group)]
#[command(
    after_help = "The copy has the same plan and the same rows. When all of them are there, both are read again and \
    compared, by number and by checksum. A copy that was interrupted has no plan in it; start it again in an empty place.\n\n\
    Examples:\n  keyplan db copy data copy --engine redb\n  \
    keyplan db copy data 'postgres://indexer@db.example/chain?schema=chain'"
)]
pub(crate) struct Copy {
    /// The database: a directory, or a URL
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,
    /// Where the copy is made: a directory that is empty or not there, or a URL
    #[arg(value_name = "TARGET")]
    pub(crate) target: PathBuf,
    /// The engine of a copy in a directory
    #[arg(long, value_enum, default_value_t = EngineName::Fjall)]
    pub(crate) engine: EngineName,
}

/// The database, and the plan that it must have.
#[derive(Debug, Group)]
pub(crate) struct Target {
    /// The directory of the database, or a URL: <postgres://USER@HOST/DATABASE?schema=NAME>, <s3://BUCKET/PATH>,
    /// <file:///PATH>
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Refuse a database that was written under another layout than this plan's
    #[arg(long, value_name = "PLAN")]
    pub(crate) plan: Option<String>,
}

/// What is read: a database in a directory, or a server.
#[derive(Debug, Group)]
pub(crate) struct Source {
    /// The database; with `--plan` also one of another program, a dump or a list of rows, and PATH@HEIGHT an older version of
    /// one that keeps some; left out with `--url` or `--engine`
    #[arg(value_name = "DIR", required_unless_present_any = ["url", "engine"])]
    pub(crate) directory: Option<String>,
    /// The plan of a server or of another program's database; a database of keyplan's own is refused if it was written under another layout
    #[arg(long, value_name = "PLAN")]
    pub(crate) plan: Option<String>,
    /// Read a space of another program's database as one of the plan, where their names differ
    #[arg(long, value_name = "PLAN_SPACE=SOURCE_SPACE", requires = "plan", conflicts_with_all = ["url", "engine"])]
    pub(crate) bind: Vec<String>,
    /// What kind of server is read; without `--url`, the one that the variable `KEYPLAN_URL` names
    #[arg(long, value_enum, requires = "plan")]
    pub(crate) engine: Option<ServerName>,
    /// Read from a server: redis://, rediss:// or redis-cluster:// with host, port and credentials; with a URL of PostgreSQL or
    /// of object storage, the same as the URL in place of DIR
    #[arg(long, value_name = "URL", requires = "plan")]
    pub(crate) url: Option<String>,
}

impl Source {
    /// Whether it is a server.
    pub(crate) const fn is_server(&self) -> bool {
        self.url.is_some() || self.engine.is_some()
    }

    /// The database in the directory, unless a server was named.
    pub(crate) fn target(&self) -> Target {
        let directory = self.directory.clone().unwrap_or_default().into();
        Target { directory, plan: self.plan.clone() }
    }
}

/// A server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServerName {
    /// Redis 6.2 or later, one server or a cluster
    Redis,
}

/// A family and arguments of its keys, after the source.
#[derive(Debug, Group)]
pub(crate) struct Asked {
    /// The family: its path, or the last parts of it if no other path ends in them
    pub(crate) family: Option<String>,
    /// Arguments of the key: all of them for one row, those that a scan binds for its rows
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) values: Vec<String>,
}

impl Asked {
    /// The family and the arguments. With `--url` there is no DIR, and what follows has taken its place.
    pub(crate) fn of(&self, source: &Source) -> (Option<String>, Vec<String>) {
        let first = source.directory.as_ref().filter(|_| source.is_server());
        let mut words = first.into_iter().chain(&self.family).chain(&self.values).cloned();
        (words.next(), words.collect())
    }
}

/// `keyplan db create`
#[derive(Debug, Group)]
#[command(after_help = "Example:\n  keyplan db create data plans/osmosis_cl.keyplan")]
pub(crate) struct Create {
    /// The directory of the database, which may exist, if it is empty; or a URL
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// The plan file; its text is kept in the database
    pub(crate) plan: String,
    /// The engine that keeps the rows
    #[arg(long, value_enum, default_value_t = EngineName::Fjall)]
    pub(crate) engine: EngineName,
    /// Make the database even if guarantees of the plan are refuted or unknown
    #[arg(long)]
    pub(crate) unsound: bool,
}

/// `keyplan db plan`
#[derive(Debug, Group)]
#[command(after_help = "Examples:\n  keyplan db plan data > was.keyplan\n  keyplan db plan data -o was")]
pub(crate) struct PlanText {
    /// The directory of the database
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Write the plan and everything that it imports into this folder, and print the plan's path
    #[arg(long, short, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
}

/// `keyplan db backup`
#[derive(Debug, Group)]
#[command(
    after_help = "The copy is of one moment, and a database like any other. On LMDB another process may write meanwhile.\n\n\
    Example:\n  keyplan db backup data copy"
)]
pub(crate) struct Backup {
    #[command(flatten)]
    pub(crate) target: Target,
    /// The directory of the copy: one that does not exist or is empty, or an earlier backup
    #[arg(value_name = "INTO")]
    pub(crate) into: PathBuf,
}

/// `keyplan db put`
#[derive(Debug, Group)]
#[command(
    after_help = "Arguments of the value that are called like one of the key are written value.NAME=VALUE. \
    A value that the plan does not look into is value=HEX.\n\n\
    Examples:\n  keyplan db put data tick pool_id=7 tick=-100 value=0a0101\n  \
    keyplan db put data position_to_lock position_id=5 lock_id=9\n  \
    keyplan db put data token id=7 'value={\"name\":\"Tether\"}'"
)]
pub(crate) struct Put {
    #[command(flatten)]
    pub(crate) target: Target,
    /// The family: its path, or the last parts of it if no other path ends in them
    pub(crate) family: String,
    /// A value for each argument of the key and of the value
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) values: Vec<String>,
    /// Write the row even if its key can be read in another way
    #[arg(long)]
    pub(crate) unguarded: bool,
}

/// `keyplan db get`
#[derive(Debug, Group)]
#[command(after_help = "Exit code 1 says that there is no such row.\n\n\
    Example:\n  keyplan db get data tick pool_id=7 tick=-100")]
pub(crate) struct Get {
    #[command(flatten)]
    pub(crate) source: Source,
    #[command(flatten)]
    pub(crate) asked: Asked,
    /// Read the row with this key, in hex, instead of one named by its family
    #[arg(long, value_name = "HEX", conflicts_with_all = ["family", "url"])]
    pub(crate) raw: Option<String>,
    /// The space of --raw; needed if there are several
    #[arg(long, value_name = "SPACE", requires = "raw")]
    pub(crate) space: Option<String>,
    /// How to print the row
    #[arg(long, value_enum, default_value_t = RowFormat::Text)]
    pub(crate) format: RowFormat,
}

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    /// One line per row, for people
    Text,
    /// One object per line, for programs; `load` takes rows
    Json,
}

/// `keyplan db scan`
#[derive(Debug, Group)]
#[command(
    after_help = "Arguments bind a scan that the plan declares. Where it declares none that binds just these, every row \
    of the family is looked at, and that is said. Without arguments all rows of the family are printed, and without a family \
    all rows there are; a database of another program needs no plan for that.\n\n\
    Examples:\n  keyplan db scan data tick pool_id=7 --rev --limit 10\n  \
    keyplan db scan data tick pool_id=7 --from tick=-100 --to tick=100 --count\n  \
    keyplan db scan data --unknown\n  \
    keyplan db scan node/data/blockstore.db --prefix 48 --limit 10\n  \
    keyplan db scan --url redis://localhost --plan plans/onesat.keyplan event event=id:x --limit 10"
)]
pub(crate) struct Scan {
    #[command(flatten)]
    pub(crate) source: Source,
    #[command(flatten)]
    pub(crate) asked: Asked,
    /// Print no more than this many rows in all
    #[arg(long, value_name = "ROWS")]
    pub(crate) limit: Option<usize>,
    /// Begin at the arguments that follow those of the scan; for scans `in order`
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) from: Vec<String>,
    /// End before these arguments, which follow those of the scan; for scans `in order`
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) to: Vec<String>,
    /// Only rows with this argument of the key or of the value; each row is looked at
    #[arg(long = "where", value_name = "NAME=VALUE")]
    pub(crate) filter: Vec<String>,
    /// Print only how many rows there are
    #[arg(long)]
    pub(crate) count: bool,
    /// Begin with the last row
    #[arg(long)]
    pub(crate) rev: bool,
    /// Only rows of this space
    #[arg(long, value_name = "SPACE", conflicts_with_all = ["family", "url"])]
    pub(crate) space: Option<String>,
    /// Only rows whose keys begin with these bytes
    #[arg(long, value_name = "HEX", conflicts_with_all = ["family", "url"])]
    pub(crate) prefix: Option<String>,
    /// Go on after the row with this key; an interrupted scan says it
    #[arg(long, value_name = "HEX", conflicts_with_all = ["url", "token"])]
    pub(crate) after: Option<String>,
    /// Go on after the row that an earlier scan ended at; it printed this token
    #[arg(long, value_name = "TOKEN", requires = "limit", conflicts_with = "url")]
    pub(crate) token: Option<String>,
    /// Print only rows whose keys no family makes, and why
    #[arg(long, conflicts_with_all = ["family", "token"])]
    pub(crate) unknown: bool,
    /// How to print the rows
    #[arg(long, value_enum, default_value_t = RowFormat::Text)]
    pub(crate) format: RowFormat,
}

/// `keyplan db delete`
#[derive(Debug, Group)]
#[command(
    after_help = "Deleting a scan takes several steps, each of which is whole: when it is interrupted, some \
    of its rows are gone, and the same command deletes the rest.\n\n\
    Examples:\n  keyplan db delete data tick pool_id=7 tick=-100\n  keyplan db delete data tick pool_id=7 --scan"
)]
pub(crate) struct Delete {
    #[command(flatten)]
    pub(crate) target: Target,
    /// The family: its path, or the last parts of it if no other path ends in them
    pub(crate) family: String,
    /// A value for each argument of the key; with `--scan`, for those that the scan binds
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) values: Vec<String>,
    /// Delete the rows of the family that the scan with the arguments given returns; rows of others that a flaw brings into
    /// it are kept
    #[arg(long)]
    pub(crate) scan: bool,
    /// Say what would be deleted, and delete nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// `keyplan db prune`
#[derive(Debug, Group)]
#[command(
    after_help = "A family says what is kept with `retain 100_000 by height`, `retain 30 days by at` or `retain newest 10 per \
    pool`. Without `--apply` nothing is written. Rows go in steps, each one batch: after an interruption the same command goes \
    on.\n\nExamples:\n  keyplan db prune data --at 18500000\n  keyplan db prune data oracle.vote --at 18500000 --apply"
)]
pub(crate) struct Prune {
    #[command(flatten)]
    pub(crate) target: Target,
    /// One family: its path, or the end of it; all that state what is kept otherwise
    pub(crate) family: Option<String>,
    /// The present height, for what is kept by a number; what is kept by time takes the clock
    #[arg(long, value_name = "HEIGHT", allow_negative_numbers = true)]
    pub(crate) at: Option<i128>,
    /// The present moment instead of the clock's, as 2006-01-02T15:04:05.000000000
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<String>,
    /// Take the `retain` clauses of the plan given with `--plan` instead of those in the database
    #[arg(long, requires = "plan")]
    pub(crate) rules_of_plan: bool,
    /// Remove them
    #[arg(long)]
    pub(crate) apply: bool,
    /// How many rows go in one step
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) step: usize,
}

/// `keyplan db retire`
#[derive(Debug, Group)]
#[command(
    after_help = "Without a name everything is listed that the plan has retired, with how many rows are left of it. Without \
    `--apply` nothing is written. Rows go in steps, each one batch; a row that a family in use may have made stays.\n\n\
    Examples:\n  keyplan db retire data\n  keyplan db retire data state.0x030c --list\n  keyplan db retire data state.0x030c --apply"
)]
pub(crate) struct Retire {
    #[command(flatten)]
    pub(crate) target: Target,
    /// What is retired: the path of a family or the end of it, or a space and a prefix, `state.0x030c`
    pub(crate) name: Option<String>,
    /// Print the keys
    #[arg(long, requires = "name")]
    pub(crate) list: bool,
    /// Remove the rows
    #[arg(long, requires = "name")]
    pub(crate) apply: bool,
    /// How many rows go in one step
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) step: usize,
}

/// `keyplan db load`
#[derive(Debug, Group)]
#[command(
    after_help = "A line is an object: {\"family\": …, \"args\": {…}, \"value\": \"hex\"}. Instead of `value` \
    there may be `base64`; `value` may also be an object with its arguments, or the JSON that it is. Instead of `family` \
    and `args` there may be `space` and a `key` in hex. What `dump` prints is such lines.\n\n\
    Rows are written in batches, and after each the place in the input is kept in the database's directory. When a \
    line is wrong or the load is interrupted, `--resume` continues after the last batch.\n\n\
    Examples:\n  keyplan db load data rows.jsonl\n  keyplan db dump old --format binary | keyplan db load new -\n  \
    keyplan db dump node/data/state.db --raw | keyplan db load new - --bind cl=default"
)]
pub(crate) struct Load {
    #[command(flatten)]
    pub(crate) target: Target,
    /// JSON lines or a binary dump: the first bytes tell which; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) input: String,
    /// Go on where an interrupted load of the same input stopped
    #[arg(long)]
    pub(crate) resume: bool,
    /// Rows in one step
    #[arg(long, value_name = "ROWS", default_value_t = 10_000)]
    pub(crate) batch: usize,
    /// Also write keys that no family makes, and keys that are retired
    #[arg(long)]
    pub(crate) allow_unknown: bool,
    /// Write the rows of a space of the input into one of the plan, where their names differ
    #[arg(long, value_name = "PLAN_SPACE=SOURCE_SPACE")]
    pub(crate) bind: Vec<String>,
}

/// `keyplan db dump`
#[derive(Debug, Group)]
#[command(
    after_help = "With `--raw` DIR may be a database of another program: LevelDB, goleveldb, RocksDB, Pebble, the \
    application.db of a Cosmos node, LMDB, SQLite or Badger. Nothing in it is changed, and no lock is taken. What is \
    dumped from any of them can be loaded into a database of keyplan's own.\n\n\
    Examples:\n  keyplan db dump data > rows.jsonl\n  \
    keyplan db dump data --format binary -o rows.kpd\n  \
    keyplan db dump node/data/application.db --raw --height 1200000"
)]
pub(crate) struct Dump {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Write here instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How to write the rows
    #[arg(long, value_enum, default_value_t = DumpFormat::Json)]
    pub(crate) format: DumpFormat,
    /// Write space, key and value as they are in the database, without a plan; other programs' databases are read too
    #[arg(long, conflicts_with_all = ["plan", "url"])]
    pub(crate) raw: bool,
    /// The version of a database that keeps several; the latest committed one if left out
    #[arg(long, value_name = "VERSION", requires = "raw")]
    pub(crate) height: Option<u64>,
    /// Take the database for one of this kind, such as `lsm` for the rows that an IAVL multistore is made of
    #[arg(long, value_name = "KIND", requires = "raw", value_parser = kind)]
    pub(crate) kind: Option<keyplan_sources::Kind>,
}

/// The kind of a database, by its word.
fn kind(word: &str) -> Result<keyplan_sources::Kind, String> {
    keyplan_sources::Kind::of_word(word).ok_or_else(|| {
        let words: Vec<&str> = keyplan_sources::Kind::ALL.iter().map(|kind| kind.word()).collect();
        format!("it is one of: {}", words.join(", "))
    })
}

/// `keyplan db stats`
#[derive(Debug, Group)]
#[command(after_help = "Every number is exact: all rows are read.\n\n\
    Examples:\n  keyplan db stats data\n  keyplan db stats data --detail --since figures.json")]
pub(crate) struct Stats {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Also show the first and the last key of each family, and how long its keys and values are
    #[arg(long)]
    pub(crate) detail: bool,
    /// Say what has changed since the figures in FILE were taken, and keep the new ones there
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    pub(crate) since: Option<PathBuf>,
    /// How to print the figures
    #[arg(long, value_enum, default_value_t = RowFormat::Text)]
    pub(crate) format: RowFormat,
}

/// `keyplan db verify`
#[derive(Debug, Group)]
#[command(after_help = "Exit code 1 says that there are such rows.\n\nExample:\n  keyplan db verify data")]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Show no more than this many rows; all are counted
    #[arg(long, value_name = "ROWS", default_value_t = 20)]
    pub(crate) limit: usize,
    /// How to print the rows
    #[arg(long, value_enum, default_value_t = RowFormat::Text)]
    pub(crate) format: RowFormat,
}

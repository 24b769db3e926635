//! What was typed.

pub(crate) mod db;
pub(crate) mod evolve;
#[cfg(feature = "explore")]
pub(crate) mod explore;
pub(crate) mod generate;
pub(crate) mod iavl;
pub(crate) mod infer;
pub(crate) mod source;

use std::path::PathBuf;

use clap::{Args as Group, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use keyplan_report::files::Imports;
use keyplan_report::key_text::KeyText;

/// The key space of a program, as a plan: check it, encode and explain keys, write its reference.
#[derive(Debug, Parser)]
#[command(name = "keyplan", version, max_term_width = 100, after_help = EXIT)]
pub(crate) struct Args {
    /// When to colour the output; `auto` colours on a terminal unless `NO_COLOR` is set
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
    /// Which files a plan may import: those of its project, the nearest folder with `keyplan.toml` or `.git` (else the
    /// plan's own folder), or any
    #[arg(long, global = true, value_name = "WHERE", value_enum, default_value_t = ImportsFrom::Project)]
    pub(crate) imports: ImportsFrom,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT: &str = "Exit codes: 0 clean, 1 findings, 2 could not run.\n\n\
    Examples:\n  keyplan demo\n  keyplan check plans/paw.keyplan\n  \
    keyplan explain plans/osmosis_cl.keyplan 01000000000000000705ffffffffffffff9c";

const ELSEWHERE: &str = "A database on a server or on object storage is named by a URL in place of DIR, or with every subcommand by \
    `--engine ENGINE --url URL`; without `--url`, the variable `KEYPLAN_URL` has the URL:\n  \
    postgres   postgres://USER@HOST/DATABASE?schema=NAME\n  \
    slate      s3://BUCKET/PATH, file:///PATH; in a `keyplan` that was built with `--features slate`\n\n\
    Credentials of S3 are taken from the environment (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, \
    `AWS_ENDPOINT_URL`). None is ever printed.";

/// Which files a plan may import.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ImportsFrom {
    /// Those of its project.
    Project,
    /// Any file.
    Anywhere,
}

impl From<ImportsFrom> for Imports {
    fn from(from: ImportsFrom) -> Self {
        match from {
            ImportsFrom::Project => Self::Project,
            ImportsFrom::Anywhere => Self::Anywhere,
        }
    }
}

/// When to colour.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// In a pipe, too.
    Always,
    /// Not at all.
    Never,
}

impl Color {
    /// Makes it the choice of every stream.
    pub(crate) fn write_global(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Prove what plans claim, and print every finding
    Check(Check),
    /// Check a certificate that `check --certificate` wrote against a plan
    Verify(Verify),
    /// Make the layout as it is now a release, in `keyplan.lock`
    Release(evolve::Release),
    /// Show how a database goes from one plan to the next
    #[command(subcommand)]
    Migrate(evolve::Migrate),
    /// Format plans
    Fmt(Fmt),
    /// Encode a key, a scan's prefix, a value, a field, a member or a score
    Encode(Encode),
    /// Say what a key means, byte by byte
    Explain(Explain),
    /// Look into a database in the browser or in the terminal
    #[cfg(feature = "explore")]
    Explore(explore::Explore),
    /// Draft the plan of a database that has none, or say which known plan fits
    Infer(infer::Infer),
    /// Write a plan's reference as Markdown
    Doc(Doc),
    /// Show the numbers of modules: used, free, retired; or compare a document with them
    Registry(Registry),
    /// Print the Rust code that `keyplan::plan!` makes of a plan
    Expand(Expand),
    /// Write the keys of a plan in another language, its vectors, or its model
    Generate(generate::Generate),
    /// Work with files of vectors
    #[command(subcommand)]
    Vectors(generate::Vectors),
    /// Make, fill, read and check a database that has its plan in it
    #[command(subcommand, after_help = ELSEWHERE)]
    Db(db::Db),
    /// Prove five real plans, fill a database with their state, and look into it
    Demo(Demo),
    /// Write a project that checks: `keyplan.toml`, a plan, a workflow and a hook
    Init(Init),
    /// Serve an editor, by the Language Server Protocol on standard input and output
    Lsp,
    /// Print the reference of the plan language
    Language,
    /// Print the manual page
    #[command(after_help = "Example:\n  keyplan man -o ~/.local/share/man/man1")]
    Man {
        /// Write a page for each subcommand into this folder instead
        #[arg(short, long, value_name = "FOLDER")]
        output: Option<String>,
    },
    /// Print completions for a shell
    #[command(
        after_help = "Example:\n  keyplan completions bash > ~/.local/share/bash-completion/completions/keyplan"
    )]
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// `keyplan check`
#[derive(Debug, Group)]
#[command(
    after_help = "Every guarantee is proved, refuted by keys that were really encoded, or said to be unknown. \
    The exit code is 1 if a finding is an error; with only warnings it stays 0.\n\n\
    Examples:\n  keyplan check\n  keyplan check plans/*.keyplan\n  keyplan check --fix\n  \
    keyplan check plans/paw.keyplan --accepted\n  \
    keyplan check --explain KP0004\n  \
    keyplan check plans/paw.keyplan --against git:v1.0\n  \
    keyplan check plans/paw_v2.keyplan --certificate paw_v2.proof.json\n  \
    keyplan check plans/paw.keyplan --format sarif > paw.sarif"
)]
#[expect(clippy::struct_excessive_bools, reason = "one for each flag that can be typed")]
pub(crate) struct Check {
    /// Plan files; `-` is standard input, and a directory a database that has its plan in it; without any, those of the
    /// project
    #[arg(value_name = "PLAN")]
    pub(crate) plans: Vec<String>,
    /// How to print the findings; without it, text, and in a GitHub workflow (`GITHUB_ACTIONS`) its annotations too
    #[arg(long, value_enum)]
    pub(crate) format: Option<CheckFormat>,
    /// The engine that keys must fit; without it, that of `keyplan.toml`, else fjall
    #[arg(long, value_enum)]
    pub(crate) engine: Option<Engine>,
    /// Check again whenever a file changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["certificate", "explain"])]
    pub(crate) watch: bool,
    /// Apply the proved repairs that move no key and take no scan back
    #[arg(long, conflicts_with_all = ["no_proof", "watch"])]
    pub(crate) fix: bool,
    /// With --fix: also apply repairs that need a migration or, where nothing else helps, a change of the program
    #[arg(long = "unsafe", requires = "fix")]
    pub(crate) unsafe_fixes: bool,
    /// A file of known findings, which do not count; without it, that of `keyplan.toml`
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<String>,
    /// Write all findings to the baseline instead of printing them
    #[arg(long, conflicts_with_all = ["watch", "format"])]
    pub(crate) write_baseline: bool,
    /// Also compare with an earlier version: a plan file, `git:REV:PATH`, or `git:REV` for the same path
    #[arg(long, value_name = "OLD", conflicts_with = "no_proof")]
    pub(crate) against: Option<String>,
    /// Write what was proved of one plan, so that `keyplan verify` can check it again
    #[arg(long, value_name = "FILE", conflicts_with = "no_proof")]
    pub(crate) certificate: Option<String>,
    /// Do not look for changes to the plan that cure a finding
    #[arg(long)]
    pub(crate) no_repairs: bool,
    /// Also list the flaws that the plans accept, each with keys that show it
    #[arg(long, conflicts_with = "no_proof")]
    pub(crate) accepted: bool,
    /// Let warnings count as findings
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    /// Look only at the text and prove nothing
    #[arg(long)]
    pub(crate) no_proof: bool,
    /// Print the page of a diagnostic code, such as KP0004
    #[arg(long, value_name = "CODE", conflicts_with = "plans")]
    pub(crate) explain: Option<String>,
}

/// `keyplan init`
#[derive(Debug, Group)]
#[command(
    after_help = "Files that are there stay as they are.\n\nExamples:\n  keyplan init && keyplan check\n  keyplan init --editor neovim"
)]
pub(crate) struct Init {
    /// The folder of the project
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(crate) folder: String,

    /// Also let an editor start `keyplan lsp` for plans: Neovim everywhere, Helix in this project
    #[arg(long, value_name = "EDITOR")]
    pub(crate) editor: Option<Editor>,
}

/// An editor that a few files set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Editor {
    /// A package in its data folder
    Neovim,
    /// `.helix/languages.toml` in the project
    Helix,
}

/// `keyplan demo`
#[derive(Debug, Group)]
#[command(
    after_help = "The rows are made up, and the same on every machine. A database that is there already is filled again with \
    the same rows.\n\nExamples:\n  keyplan demo\n  keyplan demo scratch/five --rows 1000000\n  \
    keyplan demo scratch/five --engine lmdb\n  \
    keyplan demo --engine postgres --url 'postgres://me@localhost/test?schema=five'"
)]
pub(crate) struct Demo {
    /// The directory of the database, or a URL
    #[arg(value_name = "DIR", default_value = "keyplan-demo")]
    pub(crate) directory: PathBuf,
    /// The engine of a database in a directory that is empty or not there
    #[arg(long, value_enum, default_value_t = db::EngineName::Fjall)]
    pub(crate) engine: db::EngineName,
    /// About how many rows to write
    #[arg(long, value_name = "N", default_value_t = 300_000)]
    pub(crate) rows: u64,
}

/// `keyplan verify`
#[derive(Debug, Group)]
#[command(
    after_help = "Every key of a refutation is encoded again, and every reason of a proof is looked at by code that is \
    not the prover's. What has no such reason is proved again, and counted separately.\n\n\
    Example:\n  keyplan check plans/paw_v2.keyplan --certificate paw_v2.proof.json\n  \
    keyplan verify paw_v2.proof.json plans/paw_v2.keyplan"
)]
pub(crate) struct Verify {
    /// The plan file, or the certificate
    #[arg(value_name = "PLAN")]
    pub(crate) first: String,
    /// The other of the two
    #[arg(value_name = "CERTIFICATE")]
    pub(crate) second: String,
    /// Exit with 0 even if guarantees of the plan are refuted or unknown, as long as the certificate says so too
    #[arg(long)]
    pub(crate) allow_refuted: bool,
    /// How to print the outcome
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub(crate) format: ExplainFormat,
}

/// `keyplan expand`
#[derive(Debug, Group)]
#[command(after_help = "Example:\n  keyplan expand plans/paw_v2.keyplan | less")]
pub(crate) struct Expand {
    /// The plan file
    pub(crate) plan: String,
}

/// An engine that keys must fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// Keys of up to 65,535 bytes
    Fjall,
    /// Keys of up to 256 MiB
    Redb,
    /// Keys of up to 511 bytes
    Lmdb,
    /// Keys of up to 10,000 bytes
    Foundationdb,
    /// Keys of up to 2,600 bytes
    Postgres,
    /// Keys of up to 65,535 bytes
    Slate,
}

impl Engine {
    /// As the prover knows it.
    pub(crate) const fn known(self) -> keyplan_prover::Engine {
        match self {
            Self::Fjall => keyplan_prover::Engine::Fjall,
            Self::Redb => keyplan_prover::Engine::Redb,
            Self::Lmdb => keyplan_prover::Engine::Lmdb,
            Self::Foundationdb => keyplan_prover::Engine::FoundationDb,
            Self::Postgres => keyplan_prover::Engine::Postgres,
            Self::Slate => keyplan_prover::Engine::Slate,
        }
    }
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For people, with the lines of the plan
    Text,
    /// One object, for programs
    Json,
    /// SARIF 2.1.0, for code scanners
    Sarif,
    /// Annotations of a GitHub workflow
    Github,
    /// `JUnit` XML, for build servers
    Junit,
}

/// `keyplan fmt`
#[derive(Debug, Group)]
#[command(after_help = "Examples:\n  keyplan fmt plans/*.keyplan\n  keyplan fmt --check plans/*.keyplan\n  \
    keyplan fmt - < draft.keyplan")]
pub(crate) struct Fmt {
    /// Plan files; `-` reads standard input and writes standard output
    #[arg(required = true, value_name = "PLAN")]
    pub(crate) plans: Vec<String>,
    /// Change nothing; show what would change and exit with 1 if anything would
    #[arg(long)]
    pub(crate) check: bool,
}

/// `keyplan encode`
#[derive(Debug, Group)]
#[command(
    after_help = "Values: 42 or 0x2a for numbers, hex for bytes, text as it is, (txid=00ff, vout=1) for records, \
    spread(pool=1) for choices, none or some(5) for options, [1, 2] for lists.\n\n\
    Examples:\n  keyplan encode plans/osmosis_cl.keyplan tick pool_id=7 tick=-100\n  \
    keyplan encode plans/osmosis_cl.keyplan tick pool_id=7 --scan\n  \
    keyplan encode plans/onesat.keyplan out_hash --field data tag=ord"
)]
#[expect(clippy::struct_excessive_bools, reason = "one for each flag that can be typed")]
pub(crate) struct Encode {
    /// The plan file
    pub(crate) plan: String,
    /// The family: its path, or the last parts of it if no other path ends in them
    pub(crate) family: String,
    /// A value for each argument
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) values: Vec<String>,
    /// Encode the prefix of the scan that binds the arguments given
    #[arg(long, group = "layout")]
    pub(crate) scan: bool,
    /// Encode the first part of a key, up to the last argument given: where a range begins or ends
    #[arg(long, group = "layout")]
    pub(crate) front: bool,
    /// Encode a value of the family; with `--field`, of that field
    #[arg(long)]
    pub(crate) value: bool,
    /// Encode the key of this field of a hash
    #[arg(long, group = "layout", value_name = "FIELD")]
    pub(crate) field: Option<String>,
    /// Encode a member of a set, sorted set or queue
    #[arg(long, group = "layout", conflicts_with = "value")]
    pub(crate) member: bool,
    /// Encode a score of a sorted set or queue
    #[arg(long, group = "layout", conflicts_with = "value")]
    pub(crate) score: bool,
    /// Print the bytes even if they can be read in another way
    #[arg(long)]
    pub(crate) unguarded: bool,
    /// How to print the bytes
    #[arg(long, value_enum, default_value_t = BytesFormat::Hex)]
    pub(crate) format: BytesFormat,
}

/// How bytes are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BytesFormat {
    /// Two digits per byte
    Hex,
    /// Base64 with padding
    Base64,
    /// Text with escapes such as \x01
    Text,
    /// An object with the family, its arguments and the bytes
    Json,
}

/// `keyplan explain`
#[derive(Debug, Group)]
#[command(
    after_help = "Keys are hex (with or without 0x and spaces), base64, or text with escapes (\\x01abc). \
    `auto` takes what has an even number of hex digits and nothing else for hex, what is padded base64 for base64, \
    and the rest for text; --input settles it.\n\n\
    Empty lines on standard input are skipped; the empty key is 0x.\n\n\
    In JSON, integers of more than 32 bits are strings, whatever their value; bytes are strings of hex digits.\n\n\
    Examples:\n  keyplan explain plans/osmosis_cl.keyplan 01000000000000000705ffffffffffffff9c\n  \
    keyplan explain plans/paw.keyplan --format json < keys.txt\n  \
    keyplan explain plans/onesat.keyplan --family out_hash --field 6576\n  \
    keyplan explain node/data/application.db --plan plans/upstream/osmosis_cl.keyplan --bind cl=concentratedliquidity 0100\n  \
    keyplan explain --decompose state.json"
)]
pub(crate) struct Explain {
    /// The plan file; or a database, whose rows are looked up as well: one that has its plan in it, or any with `--plan`
    #[arg(value_name = "PLAN|SOURCE", required_unless_present = "decompose", conflicts_with = "decompose")]
    pub(crate) plan: Option<String>,
    /// Keys; without any, or with `-`, one per line on standard input
    #[arg(value_name = "KEY", conflicts_with_all = ["decompose", "family"])]
    pub(crate) keys: Vec<String>,
    /// The plan that the keys of SOURCE are read under, where there is none in it
    #[arg(long = "plan", value_name = "PLAN", conflicts_with = "decompose")]
    pub(crate) under: Option<String>,
    /// Read a space of SOURCE as one of the plan, where their names differ
    #[arg(long, value_name = "PLAN_SPACE=SOURCE_SPACE", requires = "under")]
    pub(crate) bind: Vec<String>,
    /// Look in this space only
    #[arg(long, value_name = "SPACE")]
    pub(crate) space: Option<String>,
    /// How keys are written
    #[arg(long, value_enum, default_value_t = InputFormat::Auto)]
    pub(crate) input: InputFormat,
    /// How to print what was found; `json` is one object per line
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub(crate) format: ExplainFormat,
    /// The family whose value, field or member is explained
    #[arg(long, value_name = "FAMILY")]
    pub(crate) family: Option<String>,
    /// Explain a value: that of the key, or of --family, or of --field
    #[arg(long, value_name = "BYTES")]
    pub(crate) value: Option<String>,
    /// Explain the key of a field of --family
    #[arg(long, value_name = "BYTES", requires = "family")]
    pub(crate) field: Option<String>,
    /// Explain a member of --family
    #[arg(long, value_name = "BYTES", requires = "family", conflicts_with_all = ["value", "field"])]
    pub(crate) member: Option<String>,
    /// Split the keys of a CosmWasm contract with no plan at all: FILE, or standard input, has the JSON that
    /// `contract-state all` prints
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) decompose: Option<String>,
}

/// How keys are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// Whatever it looks like
    Auto,
    /// Two digits per byte
    Hex,
    /// Base64, with padding or without
    Base64,
    /// Text with escapes such as \x01
    Text,
}

impl From<InputFormat> for KeyText {
    fn from(format: InputFormat) -> Self {
        match format {
            InputFormat::Auto => Self::Auto,
            InputFormat::Hex => Self::Hex,
            InputFormat::Base64 => Self::Base64,
            InputFormat::Text => Self::Text,
        }
    }
}

/// How an explanation is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainFormat {
    /// Text, for people
    Text,
    /// JSON, for programs
    Json,
}

/// `keyplan doc`
#[derive(Debug, Group)]
#[command(
    after_help = "If the layout has moved since the last release in the lock beside the plan, the last section says what becomes of \
    that release's rows, and what is proved of it.\n\nExample:\n  keyplan doc plans/paw.keyplan -o docs/paw.md"
)]
pub(crate) struct Doc {
    /// The plan file
    pub(crate) plan: String,
    /// Write here instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<String>,
}

/// `keyplan registry`
#[derive(Debug, Group)]
#[command(
    after_help = "Examples:\n  keyplan registry plans/paw.keyplan\n  keyplan registry plans/paw.keyplan --module dex\n  \
    keyplan registry plans/paw.keyplan --check docs/STORE_KEYS.md"
)]
pub(crate) struct Registry {
    /// The plan file, or a database with its plan in it
    pub(crate) plan: String,
    /// Only this module
    #[arg(long, value_name = "NAME")]
    pub(crate) module: Option<String>,
    /// Say which lines of a Markdown document do not agree with the plan: its tables of prefixes, ranges and counts
    #[arg(long, value_name = "FILE", conflicts_with = "module")]
    pub(crate) check: Option<String>,
    /// How it is printed
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: ExplainFormat,
}

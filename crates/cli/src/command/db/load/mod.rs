//! `keyplan db load`: rows from JSON lines or from a binary dump.

mod names;
mod position;
mod strict;
mod target;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use keyplan_plan::model::Plan;
use keyplan_store::engine::{Durability, Engine};
use keyplan_store::{Access, PlanFingerprint, Store, StoreError};

use self::names::Names;
use self::position::{Position, Rolling};
use self::target::Target;
use super::binary::{self, FIRST};
use super::foreign::given;
use super::{Database, on_engine};
use crate::args::db::Load;
use crate::command::Outcome;
use crate::render::{self, Output, Progress};
use crate::{input, interrupt};

/// The longest line that is read. A value of 30 MiB in hex fits.
const MAX_LINE: u64 = 64 << 20;

/// A batch is written when it holds this many bytes, however few its rows are.
const BATCH_BYTES: u64 = 16 * 1024 * 1024;

/// How long the end of a load may take to move rows to where opening finds them at once.
const SETTLE: Duration = Duration::from_mins(1);

/// Writes rows from a file or from standard input.
pub(super) fn run(args: &Load, out: &mut Output) -> Result<Outcome> {
    let (from, size): (Box<dyn BufRead>, _) = if args.input == "-" {
        (Box::new(BufReader::with_capacity(1 << 18, io::stdin())), None)
    } else {
        let unreadable =
            |error: io::Error| anyhow!("cannot read `{}`: {}", args.input, input::reason(&error));
        let file = File::open(&args.input).map_err(unreadable)?;
        let size = file.metadata().map_err(unreadable)?.len();
        (Box::new(BufReader::with_capacity(1 << 18, file)), Some(size))
    };
    let (database, plan) = Database::open(&args.target, Access::ReadWrite)?;
    on_engine!(&database, store => load(store, &plan, args, from, size, out))
}

fn load<E: Engine>(
    store: &Store<E>,
    plan: &Plan,
    args: &Load,
    from: Box<dyn BufRead>,
    size: Option<u64>,
    out: &mut Output,
) -> Result<Outcome> {
    let directory = &args.target.directory;
    // On a server there is no directory to keep it in.
    let keeps_position = !super::is_url(directory);
    if args.resume && !keeps_position {
        bail!(
            "a load into a server cannot be resumed: load it again from the beginning, which leaves the same rows"
        );
    }
    let left = if args.resume { Position::read(directory)? } else { None };
    let left = left.unwrap_or_default();
    let mut names = Names::new(plan, &given(&args.bind)?)?;
    let mut source = Source::new(from, plan, &mut names)?;
    let mut target = Target::new(store, plan, names, args.allow_unknown, left.rows);
    let mut read_so_far = Rolling::default();
    let progress = Progress::bytes("loading; when interrupted, --resume goes on", size);
    let (mut unit, mut read, mut bytes) = (0_u64, 0_u64, Vec::new());
    let mut applied = left.unit;
    let claimed = loop {
        match source.next(&mut bytes) {
            Ok(Step::Unit) => unit += 1,
            Ok(Step::End { claimed }) => break claimed,
            Err(error) => return Err(stopped(&error, &source, unit + 1, applied)),
        }
        read += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        progress.set(read);
        read_so_far.add(&bytes);
        if unit <= left.unit {
            if unit == left.unit && !left.is_of(&read_so_far) {
                bail!(
                    "the input up to {} {unit} is not what the interrupted load read: this is another input, or a row \
                     of it was changed; without --resume it is loaded from the beginning",
                    source.unit()
                );
            }
            continue;
        }
        if interrupt::came() {
            let error = anyhow!("interrupted");
            return Err(stopped(&error, &source, unit, applied));
        }
        if let Err(error) = source.apply(&bytes, &mut target) {
            return Err(stopped(&error, &source, unit, applied));
        }
        if target.batch.len() >= args.batch.max(1) || target.batch.bytes() >= BATCH_BYTES {
            // The place is kept only once the rows before it are on the disk.
            if let Err(error) = target.commit(Durability::SyncData) {
                return Err(stopped(&error, &source, unit, applied));
            }
            if keeps_position {
                Position::after(unit, target.rows, &read_so_far).write(directory)?;
            }
            applied = unit;
        }
    };
    if unit < left.unit {
        bail!("the input has {unit} {}s, and the interrupted load had read {}", source.unit(), left.unit);
    }
    if unit == 0 && claimed.is_none() {
        bail!(
            "the input is empty: there is not even one row, and a dump that was cut to nothing looks like this"
        );
    }
    if let Err(error) = target.commit(Durability::SyncAll) {
        return Err(stopped(&error, &source, unit, applied));
    }
    let rows = target.rows;
    if claimed.is_some_and(|claimed| claimed != rows) {
        bail!("the dump says that it has {} rows, and {rows} were read", claimed.unwrap_or_default());
    }
    if keeps_position {
        Position::remove(directory)?;
    }
    match store.shutdown(SETTLE) {
        // Everything is on the disk all the same.
        Err(StoreError::Engine(keyplan_store::engine::Error::Deadline { .. })) | Ok(()) => {}
        Err(error) => return Err(error.into()),
    }
    progress.end();
    out.line(&render::loaded(rows, left.rows))?;
    Ok(Outcome::Clean)
}

/// Says where a load stopped, and how it goes on.
fn stopped(error: &anyhow::Error, source: &Source, unit: u64, applied: u64) -> anyhow::Error {
    let what = source.unit();
    let kept = match applied {
        0 => "nothing was written".to_owned(),
        _ => format!("everything up to {what} {applied} is written, and --resume goes on after it"),
    };
    anyhow!("{what} {unit}: {error:#}; {kept}")
}

/// What came of reading on.
enum Step {
    /// A unit.
    Unit,
    /// The end, with the number of rows if the input says it.
    End { claimed: Option<u64> },
}

/// Where rows come from.
enum Source {
    Lines(Box<dyn BufRead>),
    Blocks { from: Box<dyn BufRead>, spaces: Vec<Result<usize>> },
}

impl Source {
    fn new(mut from: Box<dyn BufRead>, plan: &Plan, names: &mut Names<'_>) -> Result<Self> {
        if from.fill_buf()?.first() != Some(&FIRST) {
            return Ok(Self::Lines(from));
        }
        let head = binary::read_head(&mut from)?;
        let ours: PlanFingerprint = plan.fingerprint().into();
        // A dump that was made without a plan has rows as they are, which are looked at one by one.
        if head.fingerprint != ours && head.fingerprint != binary::NO_PLAN {
            bail!("the dump was made under plan {}, and the database has {ours}", head.fingerprint);
        }
        let spaces = head.spaces.iter().map(|name| names.index(name)).collect();
        Ok(Self::Blocks { from, spaces })
    }

    /// What a unit of it is called.
    const fn unit(&self) -> &'static str {
        match self {
            Self::Lines(_) => "line",
            Self::Blocks { .. } => "block",
        }
    }

    /// Reads the next unit.
    fn next(&mut self, bytes: &mut Vec<u8>) -> Result<Step> {
        match self {
            Self::Blocks { from, .. } => Ok(match binary::read_block(from, bytes)? {
                None => Step::Unit,
                claimed => Step::End { claimed },
            }),
            Self::Lines(from) => {
                bytes.clear();
                let found = from.take(MAX_LINE).read_until(b'\n', bytes)?;
                if u64::try_from(found).unwrap_or(u64::MAX) >= MAX_LINE {
                    bail!("it is over {} MiB long", MAX_LINE >> 20);
                }
                Ok(if found == 0 { Step::End { claimed: None } } else { Step::Unit })
            }
        }
    }

    fn apply<E: Engine>(&self, bytes: &[u8], target: &mut Target<'_, '_, E>) -> Result<()> {
        match self {
            Self::Lines(_) if bytes.trim_ascii().is_empty() => Ok(()),
            Self::Lines(_) => target.line(bytes),
            Self::Blocks { spaces, .. } => binary::read_rows(bytes, |space, key, value| {
                let space = usize::try_from(space).ok().and_then(|index| spaces.get(index));
                match space {
                    Some(Ok(space)) => target.row(*space, key.to_vec(), value.to_vec()),
                    // A space that nobody asked for is no fault as long as it has no row.
                    Some(Err(error)) => bail!("{error}"),
                    None => bail!("it names a space that the dump does not have"),
                }
            }),
        }
    }
}

//! Rows from JSON lines or from a binary dump, into a store.

mod names;
mod position;
mod strict;
mod target;

use std::io::{BufRead, Read as _};
use std::path::Path;
use std::time::Duration;

use keyplan_plan::model::Plan;
use keyplan_store::engine::{Durability, Engine};
use keyplan_store::{PlanFingerprint, Store, StoreError};

use self::names::Names;
use self::position::{Position, Rolling};
use self::target::Target;
use crate::Told;
use crate::binary::{self, FIRST};
use crate::error::{Error, Result, bail};
use crate::foreign::given;

/// The longest line that is read. A value of 30 MiB in hex fits.
const MAX_LINE: u64 = 64 << 20;

/// A batch is written when it holds this many bytes, however few its rows are.
const BATCH_BYTES: u64 = 16 * 1024 * 1024;

/// How long the end of a load may take to move rows to where opening finds them at once.
const SETTLE: Duration = Duration::from_mins(1);

/// How rows are taken.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// Spaces of the input that are called otherwise in the plan: `PLAN_SPACE=SOURCE_SPACE`.
    pub bind: Vec<String>,
    /// How many rows go in one batch.
    pub batch: usize,
    /// Whether rows are taken whose keys no family makes.
    pub allow_unknown: bool,
    /// Whether to go on where an interrupted load of the same input ended.
    pub resume: bool,
}

/// What was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// Rows of the input.
    pub rows: u64,
    /// How many of them were there before, from a load that was interrupted.
    pub before: u64,
}

/// Writes rows from JSON lines or from a binary dump. How far it has come is kept in `directory`, if there is one, so that
/// a load that is interrupted can go on. `told` hears how many bytes were read.
pub fn load<E: Engine>(
    store: &Store<E>,
    plan: &Plan,
    from: Box<dyn BufRead>,
    directory: Option<&Path>,
    options: &LoadOptions,
    told: Told<'_>,
) -> Result<Loaded> {
    if options.resume && directory.is_none() {
        bail!(
            "a load into a server cannot be resumed: load it again from the beginning, which leaves the same rows"
        );
    }
    let left = match directory {
        Some(directory) if options.resume => Position::read(directory)?,
        _ => None,
    };
    let left = left.unwrap_or_default();
    let mut names = Names::new(plan, &given(&options.bind)?)?;
    let mut source = Source::new(from, plan, &mut names)?;
    let mut target = Target::new(store, plan, names, options.allow_unknown, left.rows);
    let mut read_so_far = Rolling::default();
    let (mut unit, mut read, mut bytes) = (0_u64, 0_u64, Vec::new());
    let mut applied = left.unit;
    let claimed = loop {
        match source.next(&mut bytes) {
            Ok(Step::Unit) => unit += 1,
            Ok(Step::End { claimed }) => break claimed,
            Err(error) => return Err(stopped(error, &source, unit + 1, applied)),
        }
        read += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let goes_on = told(read);
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
        if goes_on.is_break() {
            let error = Error::Stopped { rows: target.rows };
            return Err(stopped(error, &source, unit, applied));
        }
        if let Err(error) = source.apply(&bytes, &mut target) {
            return Err(stopped(error, &source, unit, applied));
        }
        if target.batch.len() >= options.batch.max(1) || target.batch.bytes() >= BATCH_BYTES {
            // The place is kept only once the rows before it are on the disk.
            if let Err(error) = target.commit(Durability::SyncData) {
                return Err(stopped(error, &source, unit, applied));
            }
            if let Some(directory) = directory {
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
        return Err(stopped(error, &source, unit, applied));
    }
    let rows = target.rows;
    if claimed.is_some_and(|claimed| claimed != rows) {
        bail!("the dump says that it has {} rows, and {rows} were read", claimed.unwrap_or_default());
    }
    if let Some(directory) = directory {
        Position::remove(directory)?;
    }
    match store.shutdown(SETTLE) {
        // Everything is on the disk all the same.
        Err(StoreError::Engine(keyplan_store::engine::Error::Deadline { .. })) | Ok(()) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(Loaded { rows, before: left.rows })
}

/// Says where a load stopped, and how it goes on.
fn stopped(cause: Error, source: &Source, number: u64, written: u64) -> Error {
    Error::Load { unit: source.unit(), number, written, cause: Box::new(cause) }
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
                    // A space that nobody asked for is not a fault as long as it has no row.
                    Some(Err(error)) => bail!("{error}"),
                    None => bail!("it names a space that the dump does not have"),
                }
            }),
        }
    }
}

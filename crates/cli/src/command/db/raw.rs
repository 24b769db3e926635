//! `keyplan db dump --raw`: the rows of any database, without a plan.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use keyplan_sources::{Options, Source, open};
use keyplan_store::Direction;
use keyplan_store::engine::{Fjall, FjallSettings, KeyRange, Redb, RedbSettings};
use keyplan_store::source::EngineSource;

use crate::args::db::{Dump, DumpFormat};
use crate::command::Outcome;
use crate::render::{self, Output, ValueDigits};

/// Writes all rows, space by space, in the order of their keys.
pub(super) fn run(args: &Dump, out: &mut Output) -> Result<Outcome> {
    let digits = match args.format {
        // Without a plan there is nothing to decode by.
        DumpFormat::Json | DumpFormat::Hex => ValueDigits::Hex,
        DumpFormat::Base64 => ValueDigits::Base64,
        DumpFormat::Binary => bail!("a binary dump needs a plan: leave out `--raw`, or take another format"),
    };
    let directory = args.source.directory.clone().unwrap_or_default();
    let source = source(Path::new(&directory), args)?;
    let Some(path) = &args.output else {
        each_line(&*source, digits, |line| Ok(out.json(line)?))?;
        return Ok(Outcome::Clean);
    };
    let file = File::create(path).with_context(|| format!("cannot write `{}`", path.display()))?;
    let mut file = BufWriter::with_capacity(1 << 16, file);
    each_line(&*source, digits, |line| Ok(file.write_all(line)?))?;
    file.flush()?;
    file.get_ref().sync_all()?;
    Ok(Outcome::Clean)
}

/// The database of any kind, ours included.
fn source(directory: &Path, args: &Dump) -> Result<Box<dyn Source>> {
    if args.height.is_none() && args.kind.is_none() {
        let failed = || format!("cannot open `{}`", directory.display());
        if Fjall::exists(directory) {
            let engine = Fjall::open_read_only(directory, FjallSettings::default()).with_context(failed)?;
            return Ok(Box::new(EngineSource::new(engine)));
        }
        if Redb::exists(directory) {
            let engine = Redb::open_read_only(directory, RedbSettings::default()).with_context(failed)?;
            return Ok(Box::new(EngineSource::new(engine)));
        }
    }
    let mut options = Options::default();
    if let Some(kind) = args.kind {
        options = options.kind(kind);
    }
    if let Some(height) = args.height {
        options = options.height(height);
    }
    Ok(open(directory, &options)?)
}

fn each_line(
    source: &dyn Source,
    digits: ValueDigits,
    mut write: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let view = source.view()?;
    let mut line = Vec::new();
    for space in source.spaces() {
        let found = source.space(&space.name).ok_or_else(|| anyhow!("there is no space `{}`", space.name))?;
        let mut walk = view.walk(found, KeyRange::ALL, Direction::Ascending)?;
        while let Some(row) = walk.next()? {
            line.clear();
            render::raw_row(&mut line, &space.name, row.key, row.value, digits);
            write(&line)?;
        }
    }
    Ok(())
}

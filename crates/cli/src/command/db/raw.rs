//! `keyplan db dump --raw`: the rows of any database, without a plan.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use keyplan_sources::{Options, Source};
use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, SpaceId};

use super::foreign;
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
    let typed = args.source.directory.as_deref().unwrap_or_default();
    let mut options = Options::default();
    (options.kind, options.height) = (args.kind, args.height);
    let source = foreign::rows(Path::new(typed), &options)?;
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

fn each_line(
    source: &dyn Source,
    digits: ValueDigits,
    mut write: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let view = source.view()?;
    let mut line = Vec::new();
    // By number: two column families whose names are no text may look alike.
    for (number, space) in (0..).zip(source.spaces()) {
        let mut walk = view.walk(SpaceId(number), KeyRange::ALL, Direction::Ascending)?;
        while let Some(row) = walk.next()? {
            line.clear();
            render::raw_row(&mut line, &space.name, row.key, row.value, digits);
            write(&line)?;
        }
    }
    Ok(())
}

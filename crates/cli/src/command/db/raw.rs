//! The rows of any database, without a plan.

use std::io::Write;
use std::ops::Bound;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use keyplan_sources::{Options, Source};
use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, OwnedKeyRange, SpaceId};

use super::binary::{BlockWriter, NO_PLAN};
use super::foreign;
use crate::args::InputFormat;
use crate::args::db::{Dump, DumpFormat, Get, RowFormat, Scan};
use crate::command::Outcome;
use crate::render::{self, Output, Progress, ValueDigits};
use crate::{interrupt, key_text};

/// How often progress is told.
const REPORT_EVERY: u64 = 5_000;

/// Writes all rows, space by space, in the order of their keys.
pub(super) fn run(args: &Dump, out: &mut Output) -> Result<Outcome> {
    let typed = args.source.directory.as_deref().unwrap_or_default();
    let mut options = Options::default();
    (options.kind, options.height) = (args.kind, args.height);
    let source = foreign::rows(Path::new(typed), &options)?;
    super::dump::written(args, out, |to| match args.format {
        // Without a plan there is nothing to decode by.
        DumpFormat::Json | DumpFormat::Hex => lines(&*source, ValueDigits::Hex, to),
        DumpFormat::Base64 => lines(&*source, ValueDigits::Base64, to),
        DumpFormat::Binary => blocks(&*source, to),
    })
}

fn lines(source: &dyn Source, digits: ValueDigits, to: &mut dyn Write) -> Result<u64> {
    let names: Vec<String> = source.spaces().into_iter().map(|space| space.name).collect();
    let mut line = Vec::new();
    each(source, |space, key, value| {
        line.clear();
        let name = names.get(space).map_or("", String::as_str);
        render::raw_row(&mut line, name, key, value, digits);
        Ok(to.write_all(&line)?)
    })
}

fn blocks(source: &dyn Source, mut to: &mut dyn Write) -> Result<u64> {
    let names: Vec<String> = source.spaces().into_iter().map(|space| space.name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut blocks = BlockWriter::new(&mut to, NO_PLAN, &names)?;
    let rows = each(source, |space, key, value| blocks.push(&mut to, space, key, value))?;
    blocks.finish(&mut to)?;
    Ok(rows)
}

/// Hands on each row with the number of its space; returns how many there were.
fn each(source: &dyn Source, mut row: impl FnMut(usize, &[u8], &[u8]) -> Result<()>) -> Result<u64> {
    let view = source.view()?;
    let progress = Progress::rows("dumping");
    let mut done = 0_u64;
    for (index, (id, _)) in numbered(source).into_iter().enumerate() {
        let mut walk = view.walk(id, KeyRange::ALL, Direction::Ascending)?;
        while let Some(found) = walk.next()? {
            row(index, found.key, found.value)?;
            done += 1;
            if done.is_multiple_of(REPORT_EVERY) {
                progress.set(done);
                if interrupt::came() {
                    bail!(
                        "interrupted after {done} rows: the dump is not whole; the same command begins anew"
                    );
                }
            }
        }
    }
    progress.end();
    Ok(done)
}

/// Every space of a source. Two column families whose names are no text may look alike: then it is their place that counts.
fn numbered(source: &dyn Source) -> Vec<(SpaceId, String)> {
    let names: Vec<String> = source.spaces().into_iter().map(|space| space.name).collect();
    let alike = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
    let id = |(place, name): (u32, &String)| match source.space(name).filter(|_| !alike(name)) {
        Some(id) => (id, name.clone()),
        None => (SpaceId(place), name.clone()),
    };
    (0..).zip(&names).map(id).collect()
}

/// The spaces of a source that were asked for: one by its name, or all of them.
fn spaces(source: &dyn Source, name: Option<&str>) -> Result<Vec<(SpaceId, String)>> {
    let all = numbered(source);
    let Some(name) = name else { return Ok(all) };
    let names: Vec<&str> = all.iter().map(|(_, name)| name.as_str()).collect();
    let missing = anyhow!("there is no space `{name}`; there are: {}", names.join(", "));
    all.iter().find(|(_, found)| found == name).map(|found| vec![found.clone()]).ok_or(missing)
}

/// The bytes that were typed as hex digits.
pub(super) fn hex(typed: &str, flag: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    key_text::read(typed.as_bytes(), InputFormat::Hex, &mut bytes)
        .map_err(|error| anyhow!("`{flag} {typed}`: {error}"))?;
    Ok(bytes)
}

/// Prints the row with a key of a source that has no plan in it.
pub(super) fn get(source: &dyn Source, args: &Get, typed: &str, out: &mut Output) -> Result<Outcome> {
    let key = hex(typed, "--raw")?;
    let spaces = spaces(source, args.space.as_deref())?;
    let [(id, name)] = spaces.as_slice() else {
        let names: Vec<&str> = spaces.iter().map(|(_, name)| name.as_str()).collect();
        bail!("it has several spaces: name one with --space: {}", names.join(", "));
    };
    let Some(value) = source.view()?.get(*id, &key)? else {
        render::message(&render::no_raw_row(name, &key));
        return Ok(Outcome::Findings);
    };
    match args.format {
        RowFormat::Text => out.line(&render::hex(&value))?,
        RowFormat::Json => {
            let mut line = Vec::new();
            render::raw_row(&mut line, name, &key, &value, ValueDigits::Hex);
            out.json(&line)?;
        }
    }
    Ok(Outcome::Clean)
}

/// The keys of a scan that begin with some bytes and come after some others.
pub(super) fn range(args: &Scan) -> Result<OwnedKeyRange> {
    let prefix = args.prefix.as_deref().map(|typed| hex(typed, "--prefix")).transpose()?;
    let mut range = OwnedKeyRange::prefix(&prefix.unwrap_or_default());
    after(&mut range, args)?;
    Ok(range)
}

/// Begins a range after the row that was named.
pub(super) fn after(range: &mut OwnedKeyRange, args: &Scan) -> Result<()> {
    let Some(typed) = &args.after else { return Ok(()) };
    let key = hex(typed, "--after")?;
    if args.rev {
        range.end = Bound::Excluded(key);
    } else {
        range.start = Bound::Excluded(key);
    }
    Ok(())
}

/// Prints rows of a source that has no plan in it.
pub(super) fn scan(source: &dyn Source, args: &Scan, out: &mut Output) -> Result<Outcome> {
    if args.asked.family.is_some() || args.unknown || !args.filter.is_empty() {
        bail!("there is no plan, and so there are no families: name one with `--plan PLAN`");
    }
    let view = source.view()?;
    let range = range(args)?;
    let direction = if args.rev { Direction::Descending } else { Direction::Ascending };
    let mut spaces = spaces(source, args.space.as_deref())?;
    if args.rev {
        spaces.reverse();
    }
    let (mut done, mut line, mut last) = (0_u64, Vec::new(), Vec::new());
    let limit = args.limit.map_or(u64::MAX, |limit| u64::try_from(limit).unwrap_or(u64::MAX));
    let mut cut = false;
    'all: for (id, name) in &spaces {
        let mut walk = view.walk(*id, range.borrow(), direction)?;
        while let Some(row) = walk.next()? {
            if done == limit {
                cut = true;
                break 'all;
            }
            done += 1;
            if !args.count {
                match args.format {
                    RowFormat::Text => out.line(&render::plain_row(name, row.key, row.value))?,
                    RowFormat::Json => {
                        line.clear();
                        render::raw_row(&mut line, name, row.key, row.value, ValueDigits::Hex);
                        out.json(&line)?;
                    }
                }
            }
            if done.is_multiple_of(super::scan::LOOK_EVERY) && interrupt::came() {
                last.extend_from_slice(row.key);
                out.flush()?;
                return Err(super::scan::interrupted(done, name, &last));
            }
        }
    }
    if args.count {
        match args.format {
            RowFormat::Text => out.line(&render::rows(done))?,
            RowFormat::Json => out.json(&render::rows_json(done))?,
        }
    }
    out.flush()?;
    if cut {
        render::message(&render::more_rows(None));
    }
    Ok(Outcome::Clean)
}

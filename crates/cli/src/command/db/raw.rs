//! The rows of any database, without a plan.

use std::ops::ControlFlow;

use anyhow::{Result, bail};
use keyplan_database::{LOOK_EVERY, RawScan, hex, spaces};
use keyplan_report::row::{ValueDigits, raw_row};
use keyplan_store::Direction;
use keyplan_store::source::Source;

use super::scan::{interrupted, query};
use crate::args::db::{Get, RowFormat, Scan};
use crate::command::Outcome;
use crate::interrupt;
use crate::render::{self, Output};

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
            raw_row(&mut line, name, &key, &value, ValueDigits::Hex);
            out.json(&line)?;
        }
    }
    Ok(Outcome::Clean)
}

/// Prints rows of a source that has no plan in it.
pub(super) fn scan(source: &dyn Source, args: &Scan, out: &mut Output) -> Result<Outcome> {
    if args.asked.family.is_some() || args.unknown || !args.filter.is_empty() {
        bail!("there is no plan, and so there are no families: name one with `--plan PLAN`");
    }
    let scan = RawScan {
        space: args.space.clone(),
        range: query(args).raw_range()?,
        direction: if args.rev { Direction::Descending } else { Direction::Ascending },
        limit: args.limit,
    };
    let mut line = Vec::new();
    let found = scan.run(source, |space, key, value, done| {
        match args.format {
            _ if args.count => {}
            RowFormat::Text => out.line(&render::plain_row(space, key, value))?,
            RowFormat::Json => {
                line.clear();
                raw_row(&mut line, space, key, value, ValueDigits::Hex);
                out.json(&line)?;
            }
        }
        let look = done.is_multiple_of(LOOK_EVERY);
        Ok(if look { interrupt::goes_on() } else { ControlFlow::Continue(()) })
    });
    out.flush()?;
    let (rows, cut) = found.map_err(interrupted)?;
    if args.count {
        match args.format {
            RowFormat::Text => out.line(&render::rows(rows))?,
            RowFormat::Json => out.json(&render::rows_json(rows))?,
        }
    }
    out.flush()?;
    if cut {
        render::message(&render::more_rows(None));
    }
    Ok(Outcome::Clean)
}

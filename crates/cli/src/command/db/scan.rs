//! `keyplan db scan`: rows of a scan, of a family, or of everything.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;

use anyhow::{Result, anyhow, bail};
use keyplan_database::structure::{self, StructureQuery};
use keyplan_database::{
    Error, Found, Rows, ScanQuery, Scanned, find, is_undeclared, on_engine, scan, scan_foreign,
};
use keyplan_plan::model::Plan;
use keyplan_report::row::{ValueDigits, row_json};
use keyplan_report::structure::is_structured;
use keyplan_store::Access;

use super::server::Server;
use super::structure::printed;
use super::{foreign, opened, planless, raw};
use crate::args::db::{RowFormat, Scan};
use crate::command::Outcome;
use crate::interrupt;
use crate::render::{self, Output};

/// Prints rows.
pub(super) fn run(args: &Scan, out: &mut Output) -> Result<Outcome> {
    if let Some(server) = Server::open(&args.source)? {
        refuse_ranges(args, "of a server")?;
        return server.scan(args, out);
    }
    if args.asked.family.is_none() {
        if args.token.is_some() {
            bail!("a token goes on with the scan of a family: name it");
        }
        if !args.from.is_empty() || !args.to.is_empty() || !args.filter.is_empty() {
            bail!("--from, --to and --where are for the rows of a family: name it");
        }
    }
    if let Some(source) = planless(&args.source)? {
        return raw::scan(&*source, args, out);
    }
    let wanted = query(args);
    if let Some(foreign) = foreign(&args.source)? {
        full_scan(args, &foreign.plan)?;
        let mut printer = Printer { args, line: Vec::new(), names: BTreeMap::new(), out };
        let scanned = scan_foreign(&foreign, &wanted, &mut printer);
        printer.end(scanned)?;
        return Ok(Outcome::Clean);
    }
    let (database, plan) = opened(&args.source.target(), Access::ReadOnly)?;
    let query = StructureQuery { values: &args.asked.values, limit: args.limit, reverse: args.rev };
    if let Some(family) = &args.asked.family {
        let (index, _) = find::family(&plan, family)?;
        if let Some(space) = plan.spaces.get(index).filter(|space| is_structured(space)) {
            refuse_ranges(args, "of structures")?;
            if args.token.is_some() {
                bail!("`{}` holds structures, whose scans have no tokens", space.name);
            }
            let read = database.structures(space)?;
            let take = &mut |listed: structure::Listed<'_>| printed(listed, args.format, out);
            return Ok(found(structure::scan(&*read, &plan, family, &query, take)?));
        }
    }
    if args.count && args.asked.family.is_none() && plan.spaces.iter().any(is_structured) {
        bail!(
            "some spaces hold structures, which have no rows to be counted: name a family, or see `keyplan db stats`"
        );
    }
    full_scan(args, &plan)?;
    let names = database.meta().map(|meta| &meta.names).into_iter().flatten();
    let names = names.map(|((_, digest), name)| (digest.clone(), name.clone())).collect();
    let mut printer = Printer { args, line: Vec::new(), names, out };
    let scanned = on_engine!(&database, store => scan(store, &plan, &wanted, &mut printer));
    let Scanned { mut left, cut, .. } = printer.end(scanned)?;
    if args.asked.family.is_some() || cut || args.prefix.is_some() || args.after.is_some() {
        return Ok(Outcome::Clean);
    }
    // The limit is one for the whole command.
    let chosen = wanted.chosen(&plan)?;
    for (index, space) in plan.spaces.iter().enumerate().filter(|(_, space)| is_structured(space)) {
        if chosen.is_some_and(|chosen| chosen != index) {
            continue;
        }
        let read = database.structures(space)?;
        let query = StructureQuery { limit: left, ..query };
        let take = &mut |listed: structure::Listed<'_>| printed(listed, args.format, out);
        let shown = structure::scan_space(&*read, &plan, index, args.unknown, &query, take)?;
        left = left.map(|left| left.saturating_sub(shown));
    }
    Ok(Outcome::Clean)
}

/// How a listing ended that may have found nothing under a key.
pub(super) const fn found(any: bool) -> Outcome {
    if any { Outcome::Clean } else { Outcome::Findings }
}

/// What was typed, for the library.
pub(super) fn query(args: &Scan) -> ScanQuery<'_> {
    ScanQuery {
        family: args.asked.family.as_deref(),
        values: &args.asked.values,
        from: &args.from,
        to: &args.to,
        filter: &args.filter,
        space: args.space.as_deref(),
        prefix: args.prefix.as_deref(),
        after: args.after.as_deref(),
        token: args.token.as_deref(),
        limit: args.limit,
        reverse: args.rev,
        unknown: args.unknown,
        count: args.count,
    }
}

/// Refuses what only the rows of a family have.
fn refuse_ranges(args: &Scan, of: &str) -> Result<()> {
    if !args.from.is_empty() || !args.to.is_empty() || !args.filter.is_empty() || args.count {
        bail!("--from, --to, --where and --count are for the rows of a family, not for a scan {of}");
    }
    Ok(())
}

/// Says that every row of a family is looked at, where no scan binds the arguments.
fn full_scan(args: &Scan, plan: &Plan) -> Result<()> {
    let Some(name) = &args.asked.family else { return Ok(()) };
    let (_, family) = find::family(plan, name)?;
    let ranged = !args.from.is_empty() || !args.to.is_empty();
    if !ranged && is_undeclared(family, &args.asked.values)? {
        render::message(&render::full_scan(family, &args.asked.values));
    }
    Ok(())
}

/// Says how far an interrupted scan came, and how it goes on.
pub(super) fn interrupted(error: Error) -> anyhow::Error {
    let Error::ScanStopped { rows, space, last } = error else { return error.into() };
    let last = render::hex(&last);
    anyhow!(
        "interrupted after {rows} rows; `--after {last}` goes on after the last one in space `{space}`{}",
        if last.is_empty() { ", whose key is empty" } else { "" }
    )
}

/// Prints rows.
struct Printer<'a> {
    args: &'a Scan,
    line: Vec<u8>,
    /// The names that the database knows for digests.
    names: BTreeMap<Vec<u8>, String>,
    out: &'a mut Output,
}

impl Rows for Printer<'_> {
    fn row(&mut self, row: &Found<'_, '_>) -> io::Result<()> {
        if self.args.format == RowFormat::Text {
            let mut text = render::row_text(&row.view);
            if let Ok(read) = row.view.decoded {
                text.push_str(&render::known_names(&read.family.key, &read.values, &self.names));
            }
            return self.out.line(&text);
        }
        self.line.clear();
        let whole = row.view.is_unambiguous(row.decoder, row.space);
        row_json(&mut self.line, &row.view, whole, ValueDigits::Decoded);
        self.out.json(&self.line)
    }

    fn goes_on(&mut self) -> ControlFlow<()> {
        interrupt::goes_on()
    }
}

impl Printer<'_> {
    /// Says how many there were, and what was left out.
    fn end(self, scanned: Result<Scanned, Error>) -> Result<Scanned> {
        if scanned.is_err() {
            self.out.flush()?;
        }
        let scanned = scanned.map_err(interrupted)?;
        if self.args.count {
            match self.args.format {
                RowFormat::Text => self.out.line(&render::rows(scanned.rows))?,
                RowFormat::Json => self.out.json(&render::rows_json(scanned.rows))?,
            }
        }
        if let Some(next) = &scanned.next {
            render::message(&render::more_rows(Some(next)));
        }
        self.out.flush()?;
        if scanned.cut {
            render::message(&render::more_rows(None));
        }
        let of_family = self.args.asked.family.is_some();
        if of_family && scanned.others > 0 {
            render::message(&render::other_rows(scanned.others));
        }
        if scanned.rows == 0 && !self.args.count && of_family {
            render::message(&render::no_rows());
        }
        Ok(scanned)
    }
}

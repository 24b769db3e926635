//! `keyplan db scan`: rows of a scan, of a family, or of everything.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;

use anyhow::{Result, anyhow};
use keyplan_database::structure::Listed;
use keyplan_database::{Error, Found, Rows, ScanQuery, Scanned, scan_database, scan_foreign};
use keyplan_plan::model::Family;
use keyplan_report::row::{ValueDigits, row_json};
use keyplan_store::Access;

use super::server::Server;
use super::structure::printed;
use super::{foreign, opened, planless, raw};
use crate::args::db::{RowFormat, Scan};
use crate::command::Outcome;
use crate::interrupt;
use crate::render::{self, Length, Output};

/// Prints rows.
pub(super) fn run(args: &Scan, out: &mut Output) -> Result<Outcome> {
    let wanted = query(args);
    if let Some(server) = Server::open(&args.source)? {
        wanted.refuse_ranges("of a server")?;
        return server.scan(args, out);
    }
    wanted.refuse_without_family()?;
    if let Some(source) = planless(&args.source)? {
        return raw::scan(&*source, args, out);
    }
    if let Some(foreign) = foreign(&args.source)? {
        let mut printer = Printer { args, line: Vec::new(), names: BTreeMap::new(), out };
        let scanned = scan_foreign(&foreign, &wanted, &mut printer);
        printer.out.flush()?;
        scanned.map_err(interrupted)?;
        return Ok(Outcome::Clean);
    }
    let (database, plan) = opened(&args.source.target(), Access::ReadOnly)?;
    let names = database.meta().map(|meta| &meta.names).into_iter().flatten();
    let names = names.map(|((_, digest), name)| (digest.clone(), name.clone())).collect();
    let mut printer = Printer { args, line: Vec::new(), names, out };
    let any = scan_database(&database, &plan, &wanted, &mut printer);
    if any.is_err() {
        printer.out.flush()?;
    }
    any.map(found).map_err(interrupted)
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

/// Says how far an interrupted scan came, and how it goes on.
pub(super) fn interrupted(error: Error) -> anyhow::Error {
    let Error::ScanStopped { rows, space, last } = error else { return error.into() };
    let last = render::hex(&last);
    anyhow!(
        "interrupted after {rows} rows; `--after {last}` continues after the last one in space `{space}`{}",
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
            let mut text = render::row_text(&row.view, Length::Line);
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

    fn listed(&mut self, listed: Listed<'_>) -> io::Result<()> {
        printed(listed, self.args.format, Length::Line, self.out)
    }

    fn full_scan(&mut self, family: &Family) {
        render::message(&render::full_scan(family, &self.args.asked.values));
    }

    /// Says how many there were, and what was left out.
    fn ended(&mut self, scanned: &Scanned) -> io::Result<()> {
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
        Ok(())
    }

    fn goes_on(&mut self) -> ControlFlow<()> {
        interrupt::goes_on()
    }
}

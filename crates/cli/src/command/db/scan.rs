//! `keyplan db scan`: rows of a scan, of a family, or of everything.

use std::ops::Bound;

use anyhow::{Result, anyhow, bail};
use keyplan_plan::dynamic::Decoder;
use keyplan_plan::model::{Family, Plan};
use keyplan_store::engine::{Engine, KeyRange, OwnedKeyRange};
use keyplan_store::source::Walk;
use keyplan_store::{Access, Direction, Reader, Row, Store, StoreError};

use super::filter::Filter;
use super::foreign::Foreign;
use super::server::Server;
use super::structure::{self, Query, is_structured};
use super::{Database, View, on_engine};
use crate::args::db::{RowFormat, Scan};
use crate::command::encode::{assignments, front, scan_prefix};
use crate::command::{Outcome, find};
use crate::key_text;
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
        refuse_ranges(args, "of everything: name a family")?;
    }
    if let Some(foreign) = Foreign::open(&args.source)? {
        let mut printer = Printer::new(args, &foreign.plan, out);
        scan_foreign(&foreign, args, &mut printer)?;
        printer.end()?;
        return Ok(Outcome::Clean);
    }
    let (database, plan) = Database::open(&args.source.target(), Access::ReadOnly)?;
    let query =
        Query { values: &args.asked.values, limit: args.limit, reverse: args.rev, format: args.format };
    if let Some(family) = &args.asked.family {
        let (index, _) = find::family(&plan, family)?;
        if let Some(space) = plan.spaces.get(index).filter(|space| is_structured(space)) {
            refuse_ranges(args, "of structures")?;
            if args.token.is_some() {
                bail!("`{}` holds structures, whose scans have no tokens", space.name);
            }
            return structure::scan(&*database.structures(space)?, &plan, family, &query, out);
        }
    }
    let mut printer = Printer::new(args, &plan, out);
    on_engine!(&database, store => scan(store, &plan, args, &mut printer))?;
    let (left, cut) = (printer.left, printer.cut);
    printer.end()?;
    if args.asked.family.is_some() || cut {
        return Ok(Outcome::Clean);
    }
    // The limit is one for the whole command.
    let mut left = left;
    for (index, space) in plan.spaces.iter().enumerate().filter(|(_, space)| is_structured(space)) {
        let read = database.structures(space)?;
        let query = Query { limit: left, ..query };
        let shown = structure::scan_space(&*read, &plan, index, args.unknown, &query, out)?;
        left = left.map(|left| left.saturating_sub(shown));
    }
    Ok(Outcome::Clean)
}

/// Prints rows of a source that has no plan in it.
fn scan_foreign<'p>(foreign: &'p Foreign, args: &Scan, printer: &mut Printer<'_, 'p>) -> Result<()> {
    if args.token.is_some() {
        bail!("a token goes on with a scan of a database that has its plan in it; here --from does");
    }
    let view = foreign.source.view()?;
    let direction = if args.rev { Direction::Descending } else { Direction::Ascending };
    if let Some(name) = &args.asked.family {
        let (index, family) = find::family(&foreign.plan, name)?;
        foreign.refuse_structures(index)?;
        let (range, _) = bounded(family, args)?;
        printer.only(family, args)?;
        let mut walk = view.walk(foreign.space(index)?, range.borrow(), direction)?;
        printer.walk(index, &mut *walk)?;
        return Ok(());
    }
    let mut pairs = foreign.binding.pairs.clone();
    if args.rev {
        pairs.reverse();
    }
    for (index, space) in pairs {
        let mut walk = view.walk(space, KeyRange::ALL, direction)?;
        if !printer.walk(index, &mut *walk)? {
            break;
        }
    }
    Ok(())
}

/// Refuses what only the rows of a family have.
fn refuse_ranges(args: &Scan, of: &str) -> Result<()> {
    if !args.from.is_empty() || !args.to.is_empty() || !args.filter.is_empty() || args.count {
        bail!("--from, --to, --where and --count are for the rows of a family, not for a scan {of}");
    }
    Ok(())
}

fn scan<'p, E: Engine>(
    store: &Store<E>,
    plan: &'p Plan,
    args: &Scan,
    printer: &mut Printer<'_, 'p>,
) -> Result<()> {
    let reader = Reader::new(plan, store.snapshot()?);
    let Some(family) = &args.asked.family else {
        let ordinary = plan.spaces.iter().enumerate().filter(|(_, space)| !is_structured(space));
        let mut spaces: Vec<usize> = ordinary.map(|(index, _)| index).collect();
        if args.rev {
            spaces.reverse();
        }
        for index in spaces {
            let rows = reader.rows(index, KeyRange::ALL)?;
            let more = if args.rev { printer.all(index, rows.rev()) } else { printer.all(index, rows) };
            if !more? {
                break;
            }
        }
        return Ok(());
    };
    let (index, family) = find::family(plan, family)?;
    let (range, whole) = bounded(family, args)?;
    printer.only(family, args)?;
    let paged = whole && !args.count && args.filter.is_empty() && args.from.is_empty() && args.to.is_empty();
    let Some(limit) = args.limit.filter(|_| paged) else {
        if args.token.is_some() {
            bail!("a token goes on with a declared scan, without --where, --from and --to");
        }
        let rows = reader.rows(index, range.borrow())?;
        if args.rev {
            printer.all(index, rows.rev())?;
        } else {
            printer.all(index, rows)?;
        }
        return Ok(());
    };
    let mut token = Vec::new();
    if let Some(text) = &args.token {
        key_text::read(text.as_bytes(), crate::args::InputFormat::Hex, &mut token)
            .map_err(|error| anyhow!("`{text}` is not a token: {error}"))?;
    }
    let token = args.token.as_ref().map(|_| token.as_slice());
    let direction = if args.rev { Direction::Descending } else { Direction::Ascending };
    let page = reader.snapshot().page(reader.space(index)?, range.borrow(), direction, token, limit);
    // The message has its cause in it.
    let page = page.map_err(|error| anyhow!("{error}"))?;
    for (key, value) in &page.rows {
        printer.row(index, key, value)?;
    }
    if let Some(next) = page.next {
        render::message(&render::more_rows(Some(next.as_bytes())));
    }
    Ok(())
}

/// The keys of a scan between its ends, and whether the scan is one that the plan declares.
fn bounded(family: &Family, args: &Scan) -> Result<(OwnedKeyRange, bool)> {
    let typed = &args.asked.values;
    let (prefix, whole) = shared(family, typed)?;
    let mut range = OwnedKeyRange::prefix(&prefix);
    if args.from.is_empty() && args.to.is_empty() {
        return Ok((range, whole));
    }
    let bound = assignments(typed)?;
    if !family.scan_by(bound.len()).is_some_and(|scan| scan.in_order) {
        bail!(
            "`{}` has no scan `in order` that binds just these arguments, so that its rows have no range: --where \
             looks at each of them",
            family.path
        );
    }
    let end = |typed: &[String], flag: &str| -> Result<Vec<u8>> {
        let given: Vec<(&str, &str)> = bound.iter().copied().chain(assignments(typed)?).collect();
        let (bytes, values) = front(family, &given)?;
        if values.len() != given.len() {
            bail!("{flag} has the arguments that follow those of the scan, from the first on");
        }
        Ok(bytes)
    };
    if !args.from.is_empty() {
        range.start = Bound::Included(end(&args.from, "--from")?);
    }
    if !args.to.is_empty() {
        range.end = Bound::Excluded(end(&args.to, "--to")?);
    }
    Ok((range, whole))
}

/// The bytes that the keys of a declared scan begin with, and `true`; or those that the keys of a family share which
/// declares no such scan, and `false`.
pub(super) fn shared(family: &Family, typed: &[String]) -> Result<(Vec<u8>, bool)> {
    let given = assignments(typed)?;
    if given.is_empty() && family.scan_by(0).is_none() {
        return Ok((family.key.literal_prefix(), false));
    }
    let (prefix, _) = scan_prefix(family, &given)?;
    // Of a filtered scan only the rows of the family are meant.
    Ok((prefix, family.scan_by(given.len()).is_some_and(|scan| !scan.filtered)))
}

/// Prints or counts rows until there were enough.
struct Printer<'a, 'p> {
    decoder: Decoder<'p>,
    args: &'a Scan,
    family: Option<&'p Family>,
    filters: Vec<Filter>,
    line: Vec<u8>,
    left: Option<usize>,
    printed: u64,
    /// Rows of other families that lie in the range.
    others: u64,
    /// Whether rows were left out because there were enough.
    cut: bool,
    out: &'a mut Output,
}

impl<'a, 'p> Printer<'a, 'p> {
    fn new(args: &'a Scan, plan: &'p Plan, out: &'a mut Output) -> Self {
        Self {
            decoder: Decoder::new(plan),
            args,
            family: None,
            filters: Vec::new(),
            line: Vec::new(),
            left: args.limit,
            printed: 0,
            others: 0,
            cut: false,
            out,
        }
    }

    /// Prints rows of this family only, and those that the filters let through.
    fn only(&mut self, family: &'p Family, args: &Scan) -> Result<()> {
        self.family = Some(family);
        self.filters = args.filter.iter().map(|typed| Filter::new(family, typed)).collect::<Result<_>>()?;
        Ok(())
    }

    /// Prints rows of a space; whether there may be more.
    fn all<E: Engine>(
        &mut self,
        index: usize,
        rows: impl Iterator<Item = Result<Row<'p, E>, StoreError>>,
    ) -> Result<bool> {
        for row in rows {
            let row = row?;
            if self.args.unknown && row.decoded.is_ok() {
                continue;
            }
            if !self.row(index, &row.key, &row.value)? {
                self.cut = true;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Prints rows of a source; whether there may be more.
    fn walk(&mut self, index: usize, walk: &mut dyn Walk) -> Result<bool> {
        while let Some(row) = walk.next()? {
            if self.args.unknown && self.decoder.decode(index, row.key).is_ok() {
                continue;
            }
            if !self.row(index, row.key, row.value)? {
                self.cut = true;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Prints a row, if it is wanted; false if it was one too many.
    fn row(&mut self, index: usize, key: &[u8], value: &[u8]) -> Result<bool> {
        let decoded = self.decoder.decode(index, key);
        if let Some(family) = self.family {
            let Some(read) = decoded.as_ref().ok().filter(|read| read.family.path == family.path) else {
                self.others += 1;
                return Ok(true);
            };
            if !self.filters.iter().all(|filter| filter.admits(family, &read.values, value)) {
                return Ok(true);
            }
        }
        if self.left == Some(0) {
            return Ok(false);
        }
        self.left = self.left.map(|left| left - 1);
        self.printed += 1;
        if self.args.count {
            return Ok(true);
        }
        let space = self.decoder.plan().spaces.get(index).map_or("", |space| space.name.as_str());
        let view = View { space, key, value, decoded: &decoded };
        match self.args.format {
            RowFormat::Text => self.out.line(&render::row_text(&view))?,
            RowFormat::Json => {
                self.line.clear();
                let whole = view.is_unambiguous(&self.decoder, index);
                render::row_json(&mut self.line, &view, whole, render::ValueDigits::Decoded);
                self.out.json(&self.line)?;
            }
        }
        Ok(true)
    }

    /// Says how many there were, and what was left out.
    fn end(self) -> Result<()> {
        if self.args.count {
            match self.args.format {
                RowFormat::Text => self.out.line(&render::rows(self.printed))?,
                RowFormat::Json => self.out.json(&render::rows_json(self.printed))?,
            }
        }
        self.out.flush()?;
        if self.cut {
            render::message(&render::more_rows(None));
        }
        if self.family.is_some() && self.others > 0 {
            render::message(&render::other_rows(self.others));
        }
        if self.printed == 0 && !self.args.count && self.family.is_some() {
            render::message(&render::no_rows());
        }
        Ok(())
    }
}

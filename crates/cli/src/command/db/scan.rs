//! `keyplan db scan`: rows of a scan, of a family, or of everything.

use std::collections::BTreeMap;
use std::ops::Bound;

use anyhow::{Result, anyhow, bail};
use keyplan_plan::dynamic::Decoder;
use keyplan_plan::model::{Family, Plan};
use keyplan_store::engine::{Engine, OwnedKeyRange};
use keyplan_store::source::Walk;
use keyplan_store::{Access, Direction, Reader, Row, Store, StoreError};

use super::filter::Filter;
use super::foreign::{Foreign, planless};
use super::raw;
use super::server::Server;
use super::structure::{self, Query, is_structured};
use super::{Database, View, on_engine};
use crate::args::db::{RowFormat, Scan};
use crate::command::encode::{assignments, front, leading, scan_prefix};
use crate::command::{Outcome, find};
use crate::render::{self, Output};
use crate::{input, interrupt, key_text};

/// How many rows lie between two looks for an interrupt.
pub(super) const LOOK_EVERY: u64 = 1_000;

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
    if args.count && args.asked.family.is_none() && plan.spaces.iter().any(is_structured) {
        bail!(
            "some spaces hold structures, which have no rows to be counted: name a family, or see `keyplan db stats`"
        );
    }
    let mut printer = Printer::new(args, &plan, out);
    if let Some(meta) = on_engine!(&database, store => store.meta()) {
        printer.names = meta.names.iter().map(|((_, digest), name)| (digest.clone(), name.clone())).collect();
    }
    on_engine!(&database, store => scan(store, &plan, args, &mut printer))?;
    let (left, cut) = (printer.left, printer.cut);
    printer.end()?;
    if args.asked.family.is_some() || cut || args.prefix.is_some() || args.after.is_some() {
        return Ok(Outcome::Clean);
    }
    // The limit is one for the whole command.
    let mut left = left;
    let wanted = chosen(&plan, args)?;
    for (index, space) in plan.spaces.iter().enumerate().filter(|(_, space)| is_structured(space)) {
        if wanted.is_some_and(|wanted| wanted != index) {
            continue;
        }
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
    let wanted = chosen(&foreign.plan, args)?;
    let range = raw::range(args)?;
    let mut pairs = foreign.binding.pairs.clone();
    pairs.retain(|&(index, _)| wanted.is_none_or(|wanted| wanted == index));
    if args.rev {
        pairs.reverse();
    }
    for (index, space) in pairs {
        let mut walk = view.walk(space, range.borrow(), direction)?;
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
        let wanted = chosen(plan, args)?;
        let range = raw::range(args)?;
        let ordinary = plan.spaces.iter().enumerate().filter(|(_, space)| !is_structured(space));
        let mut spaces: Vec<usize> = ordinary.map(|(index, _)| index).collect();
        spaces.retain(|&index| wanted.is_none_or(|wanted| wanted == index));
        if args.rev {
            spaces.reverse();
        }
        for index in spaces {
            let rows = reader.rows(index, range.borrow())?;
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
    let ranged = !args.from.is_empty() || !args.to.is_empty() || args.after.is_some();
    let paged = whole && !args.count && args.filter.is_empty() && !ranged;
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
    if fits_none(family, typed)? {
        if !args.from.is_empty() || !args.to.is_empty() {
            bail!("no scan of `{}` binds just these arguments, so that its rows have no range", family.path);
        }
        render::message(&render::full_scan(family, typed));
        let mut range = OwnedKeyRange::prefix(&family.key.literal_prefix());
        raw::after(&mut range, args)?;
        return Ok((range, false));
    }
    let (prefix, whole) = shared(family, typed)?;
    let mut range = OwnedKeyRange::prefix(&prefix);
    if args.from.is_empty() && args.to.is_empty() {
        raw::after(&mut range, args)?;
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
    raw::after(&mut range, args)?;
    Ok((range, whole))
}

/// Whether the plan declares no scan that binds just these arguments of a family.
fn fits_none(family: &Family, typed: &[String]) -> Result<bool> {
    let given = assignments(typed)?;
    let names: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
    let scan = family.scan_named(&names);
    let values = leading(scan.map_or(&family.key, |scan| scan.layout(&family.key)), &given, &family.path)?;
    let fits = values.len() == given.len() && scan.is_some();
    Ok(!given.is_empty() && !fits)
}

/// The space of the plan that was named.
fn chosen(plan: &Plan, args: &Scan) -> Result<Option<usize>> {
    args.space.as_deref().map(|name| input::space(plan, name)).transpose()
}

/// Says how far an interrupted scan came, and how it goes on.
pub(super) fn interrupted(rows: u64, space: &str, last: &[u8]) -> anyhow::Error {
    let last = render::hex(last);
    anyhow!(
        "interrupted after {rows} rows; `--after {last}` goes on after the last one in space `{space}`{}",
        if last.is_empty() { ", whose key is empty" } else { "" }
    )
}

/// The bytes that the keys of a declared scan begin with, and `true`; or those that the keys of a family share which
/// declares no such scan, and `false`.
pub(super) fn shared(family: &Family, typed: &[String]) -> Result<(Vec<u8>, bool)> {
    let given = assignments(typed)?;
    if given.is_empty() && family.scan_by(0).is_none() {
        return Ok((family.key.literal_prefix(), false));
    }
    let (prefix, _) = scan_prefix(family, &given)?;
    let names: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
    let scan = family.scan_named(&names).or_else(|| family.scan_by(given.len()));
    // Of a filtered scan only the rows of the family are meant.
    Ok((prefix, scan.is_some_and(|scan| !scan.filtered)))
}

/// Prints or counts rows until there were enough.
struct Printer<'a, 'p> {
    decoder: Decoder<'p>,
    args: &'a Scan,
    family: Option<&'p Family>,
    filters: Vec<Filter>,
    line: Vec<u8>,
    /// The names that the database knows for digests.
    names: BTreeMap<Vec<u8>, String>,
    left: Option<usize>,
    printed: u64,
    /// Rows that were looked at.
    seen: u64,
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
            names: BTreeMap::new(),
            left: args.limit,
            printed: 0,
            seen: 0,
            others: 0,
            cut: false,
            out,
        }
    }

    /// Prints rows of this family only, and those that the filters let through.
    fn only(&mut self, family: &'p Family, args: &Scan) -> Result<()> {
        self.family = Some(family);
        // Arguments that bind no scan are looked for in each row.
        let unbound = if fits_none(family, &args.asked.values)? { args.asked.values.as_slice() } else { &[] };
        let typed = args.filter.iter().chain(unbound);
        self.filters = typed.map(|typed| Filter::new(family, typed)).collect::<Result<_>>()?;
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
        let more = self.print(index, key, value)?;
        self.seen += 1;
        if self.seen.is_multiple_of(LOOK_EVERY) && interrupt::came() {
            self.out.flush()?;
            let space = self.decoder.plan().spaces.get(index).map_or("", |space| space.name.as_str());
            return Err(interrupted(self.printed, space, key));
        }
        Ok(more)
    }

    fn print(&mut self, index: usize, key: &[u8], value: &[u8]) -> Result<bool> {
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
            RowFormat::Text => {
                let mut text = render::row_text(&view);
                if let Ok(read) = &decoded {
                    text.push_str(&render::known_names(&read.family.key, &read.values, &self.names));
                }
                self.out.line(&text)?;
            }
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

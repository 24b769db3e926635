//! Rows of a scan, of a family, or of everything, one by one.

use std::io;
use std::ops::{Bound, ControlFlow};

use keyplan_plan::dynamic::Decoder;
use keyplan_plan::model::{Family, Plan};
use keyplan_report::key_text::{self, KeyText};
use keyplan_report::row::View;
use keyplan_report::structure::is_structured;
use keyplan_store::engine::{Engine, OwnedKeyRange};
use keyplan_store::source::Walk;
use keyplan_store::{Direction, Reader, Row, Store, StoreError};

use crate::any::AnyStore;
use crate::error::{Error, Result, bail, refused};
use crate::filter::Filter;
use crate::find;
use crate::foreign::Foreign;
use crate::raw::hex;
use crate::structure::{self, Listed, StructureQuery};
use crate::typed::{assignments, front, leading, scan_of, scan_prefix};

/// How many rows lie between two looks at whether to go on.
pub const LOOK_EVERY: u64 = 1_000;

/// What is wanted of the rows of a database, as it was typed.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScanQuery<'a> {
    /// The family; without one, everything.
    pub family: Option<&'a str>,
    /// Arguments of its key that a scan binds, `NAME=VALUE`; those that bind none are looked for in each row.
    pub values: &'a [String],
    /// The first arguments after those, of a scan in order.
    pub from: &'a [String],
    /// The arguments that it ends before.
    pub to: &'a [String],
    /// Arguments of the key or of the value that a row must have.
    pub filter: &'a [String],
    /// Only rows of this space.
    pub space: Option<&'a str>,
    /// Only rows whose keys begin with these bytes, in hex.
    pub prefix: Option<&'a str>,
    /// Only rows after this key, in hex.
    pub after: Option<&'a str>,
    /// Where an earlier scan ended, in hex.
    pub token: Option<&'a str>,
    /// No more rows than this.
    pub limit: Option<usize>,
    /// From the last row on.
    pub reverse: bool,
    /// Only rows whose keys no family makes.
    pub unknown: bool,
    /// Rows are only counted.
    pub count: bool,
}

impl ScanQuery<'_> {
    const fn direction(&self) -> Direction {
        if self.reverse { Direction::Descending } else { Direction::Ascending }
    }

    /// The keys that begin with some bytes and come after some others.
    pub fn raw_range(&self) -> Result<OwnedKeyRange> {
        let prefix = self.prefix.map(|typed| hex(typed, "--prefix")).transpose()?;
        let mut range = OwnedKeyRange::prefix(&prefix.unwrap_or_default());
        after(&mut range, self)?;
        Ok(range)
    }

    /// Refuses what only the rows of a family have, for a scan `of` something else.
    pub fn refuse_ranges(&self, of: &str) -> Result<()> {
        if !self.from.is_empty() || !self.to.is_empty() || !self.filter.is_empty() || self.count {
            bail!("--from, --to, --where and --count are for the rows of a family, not for a scan {of}");
        }
        Ok(())
    }

    /// Refuses what only the rows of a family have, if none was named.
    pub fn refuse_without_family(&self) -> Result<()> {
        if self.family.is_some() {
            return Ok(());
        }
        if self.token.is_some() {
            bail!("a token continues the scan of a family: name the family");
        }
        if !self.from.is_empty() || !self.to.is_empty() || !self.filter.is_empty() {
            bail!("--from, --to and --where are for the rows of a family: name it");
        }
        Ok(())
    }

    /// The space of the plan that was named.
    pub fn chosen(&self, plan: &Plan) -> Result<Option<usize>> {
        self.space.map(|name| find::space(plan, name)).transpose()
    }
}

/// Begins a range after the row that was named.
fn after(range: &mut OwnedKeyRange, args: &ScanQuery<'_>) -> Result<()> {
    let Some(typed) = args.after else { return Ok(()) };
    let key = hex(typed, "--after")?;
    if args.reverse {
        range.end = Bound::Excluded(key);
    } else {
        range.start = Bound::Excluded(key);
    }
    Ok(())
}

/// What became of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Rows that were given out or counted.
    pub rows: u64,
    /// Rows of other families that lie in the same range.
    pub others: u64,
    /// Whether rows were left out because there were enough.
    pub cut: bool,
    /// How many more could have been given out, if there is a limit.
    pub left: Option<usize>,
    /// What the next page begins with.
    pub next: Option<Vec<u8>>,
}

/// A row that was found, the index of its space, and what reads its key.
pub struct Found<'r, 'p> {
    /// The row.
    pub view: View<'r, 'p>,
    /// The index of its space in the plan.
    pub space: usize,
    /// The decoder of the plan.
    pub decoder: &'r Decoder<'p>,
}

/// Takes the rows of a scan.
pub trait Rows {
    /// Takes a row.
    fn row(&mut self, row: &Found<'_, '_>) -> io::Result<()>;

    /// Takes what is in a space of structures.
    fn listed(&mut self, _: Listed<'_>) -> io::Result<()> {
        Ok(())
    }

    /// Hears that no scan binds the arguments, so that every row of the family is looked at.
    fn full_scan(&mut self, _: &Family) {}

    /// Hears that all rows were given out; what structures hold may follow.
    fn ended(&mut self, _: &Scanned) -> io::Result<()> {
        Ok(())
    }

    /// Whether to go on; asked every [`LOOK_EVERY`] rows.
    fn goes_on(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Gives out what is asked for of a database: rows, and what structures hold. False if a key was named that holds nothing.
pub fn scan_database(
    database: &AnyStore,
    plan: &Plan,
    args: &ScanQuery<'_>,
    rows: &mut dyn Rows,
) -> Result<bool> {
    let query = StructureQuery { values: args.values, limit: args.limit, reverse: args.reverse };
    if let Some(family) = args.family {
        let (index, _) = find::family(plan, family)?;
        if let Some(space) = plan.spaces.get(index).filter(|space| is_structured(space)) {
            args.refuse_ranges("of structures")?;
            if args.token.is_some() {
                bail!("`{}` holds structures, whose scans have no tokens", space.name);
            }
            let read = database.structures(space)?;
            return structure::scan(&*read, plan, family, &query, &mut |listed| rows.listed(listed));
        }
    }
    if args.count && args.family.is_none() && plan.spaces.iter().any(is_structured) {
        bail!(
            "some spaces hold structures, which have no rows to be counted: name a family, or see `keyplan db stats`"
        );
    }
    let scanned = on_engine!(database, store => scan(store, plan, args, rows))?;
    rows.ended(&scanned)?;
    if args.family.is_some() || scanned.cut || args.prefix.is_some() || args.after.is_some() {
        return Ok(true);
    }
    // The limit is one for everything.
    let mut left = scanned.left;
    let chosen = args.chosen(plan)?;
    for (index, space) in plan.spaces.iter().enumerate().filter(|(_, space)| is_structured(space)) {
        if chosen.is_some_and(|chosen| chosen != index) {
            continue;
        }
        let read = database.structures(space)?;
        let query = StructureQuery { limit: left, ..query };
        let take = &mut |listed: Listed<'_>| rows.listed(listed);
        let shown = structure::scan_space(&*read, plan, index, args.unknown, &query, take)?;
        left = left.map(|left| left.saturating_sub(shown));
    }
    Ok(true)
}

/// Gives out rows of a store, of spaces that hold no structures.
pub fn scan<E: Engine>(
    store: &Store<E>,
    plan: &Plan,
    args: &ScanQuery<'_>,
    rows: &mut dyn Rows,
) -> Result<Scanned> {
    let mut giver = Giver::new(args, plan, rows);
    let reader = Reader::new(plan, store.snapshot()?);
    let Some(family) = args.family else {
        let wanted = args.chosen(plan)?;
        let range = args.raw_range()?;
        let ordinary = plan.spaces.iter().enumerate().filter(|(_, space)| !is_structured(space));
        let mut spaces: Vec<usize> = ordinary.map(|(index, _)| index).collect();
        spaces.retain(|&index| wanted.is_none_or(|wanted| wanted == index));
        if args.reverse {
            spaces.reverse();
        }
        for index in spaces {
            let rows = reader.rows(index, range.borrow())?;
            let more = if args.reverse { giver.all(index, rows.rev()) } else { giver.all(index, rows) };
            if !more? {
                break;
            }
        }
        return Ok(giver.scanned);
    };
    let (index, family) = find::family(plan, family)?;
    let (range, whole) = bounded(family, args)?;
    giver.only(family, args)?;
    let ranged = !args.from.is_empty() || !args.to.is_empty() || args.after.is_some();
    let paged = whole && !args.count && args.filter.is_empty() && !ranged;
    let Some(limit) = args.limit.filter(|_| paged) else {
        if args.token.is_some() {
            bail!("a token continues a declared scan, without --where, --from and --to");
        }
        let rows = reader.rows(index, range.borrow())?;
        if args.reverse {
            giver.all(index, rows.rev())?;
        } else {
            giver.all(index, rows)?;
        }
        return Ok(giver.scanned);
    };
    let mut token = Vec::new();
    if let Some(text) = args.token {
        key_text::read(text.as_bytes(), KeyText::Hex, &mut token)
            .map_err(|error| refused!("`{text}` is not a token: {error}"))?;
    }
    let token = args.token.map(|_| token.as_slice());
    let page = reader.snapshot().page(reader.space(index)?, range.borrow(), args.direction(), token, limit);
    // The message has its cause in it.
    let page = page.map_err(|error| refused!("{error}"))?;
    for (key, value) in &page.rows {
        giver.row(index, key, value)?;
    }
    giver.scanned.next = page.next.map(|next| next.as_bytes().to_vec());
    Ok(giver.scanned)
}

/// Gives out rows of a source that has no plan in it.
pub fn scan_foreign(foreign: &Foreign, args: &ScanQuery<'_>, rows: &mut dyn Rows) -> Result<Scanned> {
    if args.token.is_some() {
        bail!("a token continues a scan of a database that has its plan in it; here use --from");
    }
    let mut giver = Giver::new(args, &foreign.plan, rows);
    let view = foreign.source.view()?;
    if let Some(name) = args.family {
        let (index, family) = find::family(&foreign.plan, name)?;
        foreign.refuse_structures(index)?;
        let (range, _) = bounded(family, args)?;
        giver.only(family, args)?;
        let mut walk = view.walk(foreign.space(index)?, range.borrow(), args.direction())?;
        giver.walk(index, &mut *walk)?;
        giver.rows.ended(&giver.scanned)?;
        return Ok(giver.scanned);
    }
    let wanted = args.chosen(&foreign.plan)?;
    let range = args.raw_range()?;
    let mut pairs = foreign.binding.pairs.clone();
    pairs.retain(|&(index, _)| wanted.is_none_or(|wanted| wanted == index));
    if args.reverse {
        pairs.reverse();
    }
    for (index, space) in pairs {
        let mut walk = view.walk(space, range.borrow(), args.direction())?;
        if !giver.walk(index, &mut *walk)? {
            break;
        }
    }
    giver.rows.ended(&giver.scanned)?;
    Ok(giver.scanned)
}

/// The keys of a scan between its ends, and whether the scan is one that the plan declares.
fn bounded(family: &Family, args: &ScanQuery<'_>) -> Result<(OwnedKeyRange, bool)> {
    let typed = args.values;
    if is_undeclared(family, typed)? {
        if !args.from.is_empty() || !args.to.is_empty() {
            bail!("no scan of `{}` binds just these arguments, so that its rows have no range", family.path);
        }
        let mut range = OwnedKeyRange::prefix(&family.key.literal_prefix());
        after(&mut range, args)?;
        return Ok((range, false));
    }
    let (prefix, whole) = shared(family, typed)?;
    let mut range = OwnedKeyRange::prefix(&prefix);
    if args.from.is_empty() && args.to.is_empty() {
        after(&mut range, args)?;
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
        range.start = Bound::Included(end(args.from, "--from")?);
    }
    if !args.to.is_empty() {
        range.end = Bound::Excluded(end(args.to, "--to")?);
    }
    after(&mut range, args)?;
    Ok((range, whole))
}

/// Whether the plan declares no scan that binds just these arguments of a family.
fn is_undeclared(family: &Family, typed: &[String]) -> Result<bool> {
    let given = assignments(typed)?;
    let names: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
    let scan = family.scan_named(&names);
    let values = leading(scan.map_or(&family.key, |scan| scan.layout(&family.key)), &given, &family.path)?;
    let fits = values.len() == given.len() && scan.is_some();
    Ok(!given.is_empty() && !fits)
}

/// The bytes that the keys of a declared scan begin with, and `true`; or those that the keys of a family share which
/// declares no such scan, and `false`.
pub(crate) fn shared(family: &Family, typed: &[String]) -> Result<(Vec<u8>, bool)> {
    let given = assignments(typed)?;
    if given.is_empty() && family.scan_by(0).is_none() {
        return Ok((family.key.literal_prefix(), false));
    }
    let (prefix, _) = scan_prefix(family, &given)?;
    // Of a filtered scan only the rows of the family are meant.
    Ok((prefix, scan_of(family, &given).is_some_and(|scan| !scan.filtered)))
}

/// Gives out or counts rows until there were enough.
struct Giver<'a, 'p> {
    decoder: Decoder<'p>,
    args: &'a ScanQuery<'a>,
    family: Option<&'p Family>,
    filters: Vec<Filter>,
    scanned: Scanned,
    /// Rows that were looked at.
    seen: u64,
    rows: &'a mut dyn Rows,
}

impl<'a, 'p> Giver<'a, 'p> {
    fn new(args: &'a ScanQuery<'a>, plan: &'p Plan, rows: &'a mut dyn Rows) -> Self {
        let scanned = Scanned { left: args.limit, ..Scanned::default() };
        Self { decoder: Decoder::new(plan), args, family: None, filters: Vec::new(), scanned, seen: 0, rows }
    }

    /// Gives out rows of this family only, and those that the filters let through.
    fn only(&mut self, family: &'p Family, args: &ScanQuery<'_>) -> Result<()> {
        self.family = Some(family);
        // Arguments that bind no scan are looked for in each row.
        let unbound = if is_undeclared(family, args.values)? { args.values } else { &[] };
        if !unbound.is_empty() {
            self.rows.full_scan(family);
        }
        let typed = args.filter.iter().chain(unbound);
        self.filters = typed.map(|typed| Filter::new(family, typed)).collect::<Result<_>>()?;
        Ok(())
    }

    /// Gives out rows of a space; whether there may be more.
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
                self.scanned.cut = true;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Gives out rows of a source; whether there may be more.
    fn walk(&mut self, index: usize, walk: &mut dyn Walk) -> Result<bool> {
        while let Some(row) = walk.next()? {
            if self.args.unknown && self.decoder.decode(index, row.key).is_ok() {
                continue;
            }
            if !self.row(index, row.key, row.value)? {
                self.scanned.cut = true;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Gives out a row, if it is wanted; false if it was one too many.
    fn row(&mut self, index: usize, key: &[u8], value: &[u8]) -> Result<bool> {
        let more = self.give(index, key, value)?;
        self.seen += 1;
        if self.seen.is_multiple_of(LOOK_EVERY) && self.rows.goes_on().is_break() {
            let space = self.space(index).to_owned();
            return Err(Error::ScanStopped { rows: self.scanned.rows, space, last: key.to_vec() });
        }
        Ok(more)
    }

    fn space(&self, index: usize) -> &'p str {
        self.decoder.plan().spaces.get(index).map_or("", |space| space.name.as_str())
    }

    fn give(&mut self, index: usize, key: &[u8], value: &[u8]) -> Result<bool> {
        let decoded = self.decoder.decode(index, key);
        if let Some(family) = self.family {
            let Some(read) = decoded.as_ref().ok().filter(|read| read.family.path == family.path) else {
                self.scanned.others += 1;
                return Ok(true);
            };
            if !self.filters.iter().all(|filter| filter.admits(family, &read.values, value)) {
                return Ok(true);
            }
        }
        if self.scanned.left == Some(0) {
            return Ok(false);
        }
        self.scanned.left = self.scanned.left.map(|left| left - 1);
        self.scanned.rows += 1;
        if !self.args.count {
            let view = View { space: self.space(index), key, value, decoded: &decoded };
            self.rows.row(&Found { view, space: index, decoder: &self.decoder })?;
        }
        Ok(true)
    }
}

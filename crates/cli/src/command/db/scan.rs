use anyhow::{Result, anyhow, bail};
use keyplan_plan::dynamic::Decoder;
use keyplan_plan::model::{Family, Plan};
use keyplan_store::engine::{Engine, KeyRange, OwnedKeyRange};
use keyplan_store::{Access, Direction, Reader, Row, Store, StoreError};

use super::server::Server;
use super::structure::{self, Query, is_structured};
use super::{Database, View, on_engine};
use crate::args::db::{RowFormat, Scan};
use crate::command::encode::{assignments, scan_prefix};
use crate::command::{Outcome, find};
use crate::key_text;
use crate::render::{self, Output};

/// Prints rows.
pub(super) fn run(args: &Scan, out: &mut Output) -> Result<Outcome> {
    if let Some(server) = Server::open(&args.source)? {
        return server.scan(args, out);
    }
    if args.token.is_some() && args.asked.family.is_none() {
        bail!("a token goes on with the scan of a family: name it");
    }
    let (database, plan) = Database::open(&args.source.target(), Access::ReadOnly)?;
    let query =
        Query { values: &args.asked.values, limit: args.limit, reverse: args.rev, format: args.format };
    if let Some(family) = &args.asked.family {
        let (index, _) = find::family(&plan, family)?;
        if let Some(space) = plan.spaces.get(index).filter(|space| is_structured(space)) {
            if args.token.is_some() {
                bail!("`{}` holds structures, whose scans have no tokens", space.name);
            }
            return structure::scan(&*database.structures(space)?, &plan, family, &query, out);
        }
    }
    on_engine!(&database, store => scan(store, &plan, args, out))?;
    if args.asked.family.is_none() {
        let structured = plan.spaces.iter().enumerate().filter(|(_, space)| is_structured(space));
        for (index, space) in structured {
            let read = database.structures(space)?;
            structure::scan_space(&*read, &plan, index, args.unknown, &query, out)?;
        }
    }
    Ok(Outcome::Clean)
}

fn scan<E: Engine>(store: &Store<E>, plan: &Plan, args: &Scan, out: &mut Output) -> Result<Outcome> {
    let reader = Reader::new(plan, store.snapshot()?);
    let mut printer = Printer { decoder: Decoder::new(plan), args, line: Vec::new(), left: args.limit, out };
    let Some(family) = &args.asked.family else {
        let ordinary = plan.spaces.iter().enumerate().filter(|(_, space)| !is_structured(space));
        let spaces: Vec<usize> = ordinary.map(|(index, _)| index).collect();
        let ordered: Box<dyn Iterator<Item = usize>> =
            if args.rev { Box::new(spaces.into_iter().rev()) } else { Box::new(spaces.into_iter()) };
        for index in ordered {
            let rows = reader.rows(index, KeyRange::ALL)?;
            let more = if args.rev { printer.all(index, rows.rev()) } else { printer.all(index, rows) };
            if !more? {
                break;
            }
        }
        return Ok(Outcome::Clean);
    };
    let (index, family) = find::family(plan, family)?;
    let (range, whole) = range(family, &args.asked.values)?;
    let Some(limit) = args.limit.filter(|_| whole) else {
        let rows = reader.rows(index, range.borrow())?;
        let of_family = |row: &Result<Row<'_, E>, StoreError>| {
            whole
                || row
                    .as_ref()
                    .is_ok_and(|row| row.decoded.as_ref().is_ok_and(|read| read.family.path == family.path))
                || row.is_err()
        };
        if args.rev {
            printer.all(index, rows.rev().filter(of_family))?;
        } else {
            printer.all(index, rows.filter(of_family))?;
        }
        return Ok(Outcome::Clean);
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
        render::message(&render::more_rows(next.as_bytes()));
    }
    Ok(Outcome::Clean)
}

/// The keys of a declared scan, and `true`; or those that share the literals of a family whose rows must then be told
/// apart from others one by one, and `false`.
pub(super) fn range(family: &Family, typed: &[String]) -> Result<(OwnedKeyRange, bool)> {
    let (prefix, whole) = shared(family, typed)?;
    Ok((OwnedKeyRange::prefix(&prefix), whole))
}

/// The bytes that these keys begin with.
pub(super) fn shared(family: &Family, typed: &[String]) -> Result<(Vec<u8>, bool)> {
    let given = assignments(typed)?;
    let declared = family.scans.iter().any(|scan| scan.bound == 0);
    if given.is_empty() && !declared {
        return Ok((family.key.literal_prefix(), false));
    }
    let (prefix, _) = scan_prefix(family, &given)?;
    Ok((prefix, true))
}

/// Prints rows until there were enough.
struct Printer<'a, 'p> {
    decoder: Decoder<'p>,
    args: &'a Scan,
    line: Vec<u8>,
    left: Option<usize>,
    out: &'a mut Output,
}

impl Printer<'_, '_> {
    /// Prints rows of a space; whether there may be more.
    fn all<'p, E: Engine>(
        &mut self,
        index: usize,
        rows: impl Iterator<Item = Result<Row<'p, E>, StoreError>>,
    ) -> Result<bool> {
        for row in rows {
            let row = row?;
            if self.args.unknown && row.decoded.is_ok() {
                continue;
            }
            if self.left == Some(0) {
                return Ok(false);
            }
            self.row(index, &row.key, &row.value)?;
            self.left = self.left.map(|left| left - 1);
        }
        Ok(true)
    }

    fn row(&mut self, index: usize, key: &[u8], value: &[u8]) -> Result<()> {
        let decoded = self.decoder.decode(index, key);
        let space = self.decoder.plan().spaces.get(index).map_or("", |space| space.name.as_str());
        let view = View { space, key, value, decoded: &decoded };
        match self.args.format {
            RowFormat::Text => self.out.line(&render::row_text(&view))?,
            RowFormat::Json => {
                self.line.clear();
                let whole = view.is_unambiguous(&self.decoder, index);
                render::row_json(&mut self.line, &view, whole, render::ValueDigits::Hex);
                self.out.json(&self.line)?;
            }
        }
        Ok(())
    }
}

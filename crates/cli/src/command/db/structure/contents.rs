//! What one key holds.

use anyhow::Result;
use keyplan_plan::model::FamilyKind;
use keyplan_store::Direction;
use keyplan_store::structure::{ScoreRange, StructureError, StructureRead};

use super::{Key, Query};
use crate::args::db::RowFormat;
use crate::command::Outcome;
use crate::render::{self, Output, Part};

/// Prints the fields, members or items under a key, in order; exit code 1 says that there is nothing.
pub(super) fn print(
    read: &dyn StructureRead,
    key: &Key<'_>,
    query: &Query<'_>,
    out: &mut Output,
) -> Result<Outcome> {
    let mut printer = Printer { key, format: query.format, left: query.limit, any: false, out };
    let direction = if query.reverse { Direction::Descending } else { Direction::Ascending };
    match key.decoded.family.kind {
        FamilyKind::Key => {
            if let Some(value) = read.get(&key.bytes)? {
                printer.part(&Part::Value(&value))?;
            }
        }
        FamilyKind::Hash => {
            printer.all(read.hash_all(&key.bytes)?, |printer, (field, value)| {
                printer.part(&Part::Field { field: &field, value: &value })
            })?;
        }
        FamilyKind::Set => {
            printer.all(read.set_members(&key.bytes)?, |printer, member| {
                printer.part(&Part::Member { member: &member, score: None, item: None })
            })?;
        }
        FamilyKind::Zset => {
            let rows = read.zset_rows(&key.bytes, &ScoreRange::default(), direction, None)?;
            printer.all(rows, |printer, scored| {
                let score = Some(scored.score);
                printer.part(&Part::Member { member: &scored.member, score, item: None })
            })?;
        }
        FamilyKind::Queue => {
            let size = read.queue_size(&key.bytes)?;
            printer.note(&render::queue_size(&size))?;
            let waiting = query.limit.unwrap_or(usize::MAX).min(usize::try_from(size.waiting)?);
            for scored in read.queue_peek(&key.bytes, waiting)? {
                let item = read.queue_item(&key.bytes, &scored.member)?;
                let score = Some(scored.score);
                printer.part(&Part::Member { member: &scored.member, score, item: item.as_ref() })?;
            }
            printer.all(read.queue_dead(&key.bytes)?, |printer, item| {
                let score = Some(item.score);
                printer.part(&Part::Member { member: &item.member, score, item: Some(&item) })
            })?;
        }
    }
    if printer.any {
        return Ok(Outcome::Clean);
    }
    render::message(&render::no_row(key.decoded.family, &key.decoded.values, &key.bytes));
    Ok(Outcome::Findings)
}

struct Printer<'a, 'p> {
    key: &'a Key<'p>,
    format: RowFormat,
    left: Option<usize>,
    any: bool,
    out: &'a mut Output,
}

impl Printer<'_, '_> {
    /// Prints each thing that is found until there were enough.
    fn all<T>(
        &mut self,
        found: impl Iterator<Item = Result<T, StructureError>>,
        mut print: impl FnMut(&mut Self, T) -> Result<()>,
    ) -> Result<()> {
        for one in found {
            if self.left == Some(0) {
                break;
            }
            print(self, one?)?;
        }
        Ok(())
    }

    fn part(&mut self, part: &Part<'_>) -> Result<()> {
        self.any = true;
        if self.left == Some(0) {
            return Ok(());
        }
        self.left = self.left.map(|left| left - 1);
        match self.format {
            RowFormat::Text => self.out.line(&render::part_text(&self.key.decoded, part))?,
            RowFormat::Json => self.out.json(&render::part_object(&self.key.decoded, part)?)?,
        }
        Ok(())
    }

    /// A line for people alone.
    fn note(&mut self, text: &str) -> Result<()> {
        if self.format == RowFormat::Text {
            self.out.line(text)?;
        }
        Ok(())
    }
}

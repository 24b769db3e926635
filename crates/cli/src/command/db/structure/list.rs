//! Keys, with how much each holds.

use anyhow::Result;
use keyplan_plan::dynamic::Decoder;
use keyplan_plan::model::Family;
use keyplan_report::structure::{KINDS, kind, size};
use keyplan_store::structure::{Kind, StructureRead};

use super::{Key, Query, contents};
use crate::args::db::RowFormat;
use crate::command::Outcome;
use crate::render::{self, Output};

/// The keys of a space.
pub(super) struct Keys<'a, 'p> {
    pub(super) decoder: Decoder<'p>,
    pub(super) space: usize,
    pub(super) read: &'a dyn StructureRead,
}

impl Keys<'_, '_> {
    /// Prints the keys of some kinds that begin with a prefix; of one family, if it is given.
    pub(super) fn print(
        &self,
        kinds: &[Kind],
        prefix: &[u8],
        of: Option<&Family>,
        query: &Query<'_>,
        out: &mut Output,
    ) -> Result<Outcome> {
        let mut left = query.limit;
        for &kind in kinds {
            for key in self.read.keys(kind, prefix)? {
                let key = key?;
                let Ok(decoded) = self.decoder.decode(self.space, &key) else {
                    if of.is_none() && !take(&mut left) {
                        return Ok(Outcome::Clean);
                    }
                    if of.is_none() {
                        self.unknown(kind, &key, query.format, out)?;
                    }
                    continue;
                };
                if of.is_some_and(|family| family.path != decoded.family.path) {
                    continue;
                }
                if !take(&mut left) {
                    return Ok(Outcome::Clean);
                }
                let size = size(self.read, kind, &key)?;
                match query.format {
                    RowFormat::Text => out.line(&render::key_size(&decoded, kind, size))?,
                    RowFormat::Json => out.json(&render::key_size_json(&decoded, kind, size)?)?,
                }
            }
        }
        Ok(Outcome::Clean)
    }

    /// Prints the keys that no family makes, and those that hold something else than their family says.
    pub(super) fn print_unknown(&self, query: &Query<'_>, out: &mut Output) -> Result<Outcome> {
        let mut left = query.limit;
        for held in KINDS {
            for key in self.read.keys(held, &[])? {
                let key = key?;
                let decoded = self.decoder.decode(self.space, &key);
                if decoded.is_ok_and(|decoded| kind(decoded.family.kind) == held) {
                    continue;
                }
                if !take(&mut left) {
                    return Ok(Outcome::Clean);
                }
                self.unknown(held, &key, query.format, out)?;
            }
        }
        Ok(Outcome::Clean)
    }

    /// Prints everything that the keys hold, as objects.
    pub(super) fn dump(&self, out: &mut Output) -> Result<Outcome> {
        let query = Query { values: &[], limit: None, reverse: false, format: RowFormat::Json };
        for held in KINDS {
            for key in self.read.keys(held, &[])? {
                let bytes = key?;
                match self.decoder.decode(self.space, &bytes) {
                    Ok(decoded) if kind(decoded.family.kind) == held => {
                        contents::print(self.read, &Key { decoded, bytes }, &query, out)?;
                    }
                    _ => self.unknown(held, &bytes, query.format, out)?,
                }
            }
        }
        Ok(Outcome::Clean)
    }

    fn unknown(&self, kind: Kind, key: &[u8], format: RowFormat, out: &mut Output) -> Result<()> {
        let space = self.decoder.plan().spaces.get(self.space).map_or("", |space| space.name.as_str());
        match format {
            RowFormat::Text => out.line(&render::unknown_key(space, kind, key))?,
            RowFormat::Json => out.json(&render::unknown_key_json(space, kind, key))?,
        }
        Ok(())
    }
}

/// Whether one more may be printed; then it is counted.
fn take(left: &mut Option<usize>) -> bool {
    if *left == Some(0) {
        return false;
    }
    *left = left.map(|left| left - 1);
    true
}

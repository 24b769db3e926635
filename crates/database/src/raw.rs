//! The rows of any database, without a plan.

use std::ops::ControlFlow;

use keyplan_report::key_text::{self, KeyText};
use keyplan_store::Direction;
use keyplan_store::engine::{OwnedKeyRange, SpaceId};
use keyplan_store::source::Source;

use crate::error::{Error, Result, refused};

/// Every space of a source. Two column families whose names are not text may look alike: then it is their place that counts.
pub(crate) fn numbered(source: &dyn Source) -> Vec<(SpaceId, String)> {
    let names: Vec<String> = source.spaces().into_iter().map(|space| space.name).collect();
    let alike = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
    let id = |(place, name): (u32, &String)| match source.space(name).filter(|_| !alike(name)) {
        Some(id) => (id, name.clone()),
        None => (SpaceId(place), name.clone()),
    };
    (0..).zip(&names).map(id).collect()
}

/// The spaces of a source that were asked for: one by its name, or all of them.
pub fn spaces(source: &dyn Source, name: Option<&str>) -> Result<Vec<(SpaceId, String)>> {
    let all = numbered(source);
    let Some(name) = name else { return Ok(all) };
    let names: Vec<&str> = all.iter().map(|(_, name)| name.as_str()).collect();
    let missing = refused!("there is no space `{name}`; there are: {}", names.join(", "));
    all.iter().find(|(_, found)| found == name).map(|found| vec![found.clone()]).ok_or(missing)
}

/// The bytes that were typed as hex digits.
pub fn hex(typed: &str, flag: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    key_text::read(typed.as_bytes(), KeyText::Hex, &mut bytes)
        .map_err(|error| refused!("`{flag} {typed}`: {error}"))?;
    Ok(bytes)
}

/// What is wanted of rows without a plan.
#[derive(Clone, Debug)]
pub struct RawScan {
    /// Only rows of this space.
    pub space: Option<String>,
    /// Their keys.
    pub range: OwnedKeyRange,
    /// From the first on, or from the last.
    pub direction: Direction,
    /// No more than this many in all.
    pub limit: Option<usize>,
}

impl RawScan {
    /// Hands on each row with the name of its space, which may ask for an end; how many there were, and whether there are
    /// more.
    pub fn run(
        &self,
        source: &dyn Source,
        mut row: impl FnMut(&str, &[u8], &[u8], u64) -> Result<ControlFlow<()>>,
    ) -> Result<(u64, bool)> {
        let view = source.view()?;
        let mut spaces = spaces(source, self.space.as_deref())?;
        if self.direction == Direction::Descending {
            spaces.reverse();
        }
        let limit = self.limit.map_or(u64::MAX, |limit| u64::try_from(limit).unwrap_or(u64::MAX));
        let mut done = 0_u64;
        for (id, name) in &spaces {
            let mut walk = view.walk(*id, self.range.borrow(), self.direction)?;
            while let Some(found) = walk.next()? {
                if done == limit {
                    return Ok((done, true));
                }
                done += 1;
                if row(name, found.key, found.value, done)?.is_break() {
                    let (space, last) = (name.clone(), found.key.to_vec());
                    return Err(Error::ScanStopped { rows: done, space, last });
                }
            }
        }
        Ok((done, false))
    }
}

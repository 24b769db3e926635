//! A server as a source: its keys are listed, and sorted, as rows of a space with structures lie.

use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use keyplan_report::structure::KINDS;
use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, Space, SpaceId};
use keyplan_store::source::{RowRef, Source, SourceError, View, Walk};
use keyplan_store::structure::{Kind, StructureError, StructureRead};

/// How long a list of keys is shown before it is made again.
const FRESH: Duration = Duration::from_secs(10);
/// How many keys are listed; a server with more is refused, for a list that leaves some out would look whole.
const MOST: usize = 5_000_000;
/// How many values are fetched at once.
const FETCHED: usize = 256;

/// What comes before a plain key, and of one that holds a structure.
const VALUE: u8 = 1;
const HEAD: u8 = 2;

/// The keys of a server.
#[derive(Debug)]
pub(crate) struct ServerSource {
    read: Arc<dyn StructureRead>,
    kind: &'static str,
    space: Space,
    structured: bool,
    listed: Mutex<Option<(Instant, Keys)>>,
}

/// The keys of one moment, sorted.
type Keys = Arc<Vec<Vec<u8>>>;

fn failed(error: &StructureError) -> SourceError {
    SourceError::Absent { what: error.to_string() }
}

impl ServerSource {
    pub(crate) fn new(
        read: Arc<dyn StructureRead>,
        kind: &'static str,
        space: &str,
        structured: bool,
    ) -> Self {
        Self { read, kind, space: Space::map(space), structured, listed: Mutex::default() }
    }

    fn keys(&self) -> Result<Keys, SourceError> {
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, keys)) = &*listed
            && at.elapsed() < FRESH
        {
            return Ok(Arc::clone(keys));
        }
        let mut keys = Vec::new();
        for kind in KINDS {
            if kind != Kind::Value && !self.structured {
                continue;
            }
            for key in self.read.keys(kind, b"").map_err(|error| failed(&error))? {
                let key = key.map_err(|error| failed(&error))?;
                if keys.len() >= MOST {
                    return Err(SourceError::Absent { what: format!("there are more than {MOST} keys") });
                }
                let tag = if kind == Kind::Value { VALUE } else { HEAD };
                keys.push(self.structured.then_some(tag).into_iter().chain(key).collect());
            }
        }
        keys.sort_unstable();
        // A server lists a key twice that was moved while it did so.
        keys.dedup();
        let keys = Arc::new(keys);
        *listed = Some((Instant::now(), Arc::clone(&keys)));
        Ok(keys)
    }
}

impl Source for ServerSource {
    fn kind(&self) -> &str {
        self.kind
    }

    fn spaces(&self) -> Vec<Space> {
        vec![self.space.clone()]
    }

    fn view(&self) -> Result<Box<dyn View>, SourceError> {
        Ok(Box::new(Listed { read: Arc::clone(&self.read), keys: self.keys()?, structured: self.structured }))
    }
}

/// The keys of one moment; values are those of the moment at which they are asked for.
#[derive(Debug)]
struct Listed {
    read: Arc<dyn StructureRead>,
    keys: Keys,
    structured: bool,
}

/// The key of a plain row.
fn plain(row: &[u8], structured: bool) -> Option<&[u8]> {
    if structured { row.strip_prefix(&[VALUE]) } else { Some(row) }
}

impl View for Listed {
    fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<Vec<u8>>, SourceError> {
        if space.0 != 0 {
            return Err(SourceError::no_space(space));
        }
        match plain(key, self.structured) {
            Some(key) => match self.read.get(key) {
                Ok(value) => Ok(value),
                // A key that holds something else has no value.
                Err(StructureError::WrongKind { .. }) => Ok(None),
                Err(error) => Err(failed(&error)),
            },
            None => Ok(self.keys.binary_search_by(|known| known.as_slice().cmp(key)).is_ok().then(Vec::new)),
        }
    }

    fn walk(
        &self,
        space: SpaceId,
        range: KeyRange<'_>,
        direction: Direction,
    ) -> Result<Box<dyn Walk>, SourceError> {
        if space.0 != 0 {
            return Err(SourceError::no_space(space));
        }
        let before = |bound: &[u8], with: bool| {
            self.keys.partition_point(|key| key.as_slice() < bound || (with && key.as_slice() == bound))
        };
        let start = match range.start {
            Bound::Included(key) => before(key, false),
            Bound::Excluded(key) => before(key, true),
            Bound::Unbounded => 0,
        };
        let end = match range.end {
            Bound::Included(key) => before(key, true),
            Bound::Excluded(key) => before(key, false),
            Bound::Unbounded => self.keys.len(),
        };
        Ok(Box::new(ListedWalk {
            read: Arc::clone(&self.read),
            keys: Arc::clone(&self.keys),
            structured: self.structured,
            left: start..end.max(start),
            direction,
            fetched: Vec::new(),
            row: None,
        }))
    }
}

struct ListedWalk {
    read: Arc<dyn StructureRead>,
    keys: Keys,
    structured: bool,
    left: std::ops::Range<usize>,
    direction: Direction,
    /// Rows that are to come, the next one last.
    fetched: Vec<(usize, Vec<u8>)>,
    row: Option<(usize, Vec<u8>)>,
}

impl ListedWalk {
    fn fetch(&mut self) -> Result<(), SourceError> {
        while self.fetched.is_empty() && !self.left.is_empty() {
            let count = self.left.len().min(FETCHED);
            let part = match self.direction {
                Direction::Ascending => self.left.start..self.left.start + count,
                Direction::Descending => self.left.end - count..self.left.end,
            };
            match self.direction {
                Direction::Ascending => self.left.start = part.end,
                Direction::Descending => self.left.end = part.start,
            }
            let all = self.keys.get(part.clone()).unwrap_or_default();
            let plain: Vec<&[u8]> = all.iter().filter_map(|row| plain(row, self.structured)).collect();
            let mut values = self.read.get_many(&plain).map_err(|error| failed(&error))?.into_iter();
            let mut rows = Vec::new();
            for (at, row) in part.zip(all) {
                let is_plain = !self.structured || row.first() == Some(&VALUE);
                let value = if is_plain { values.next().flatten() } else { Some(Vec::new()) };
                // What was removed since the keys were listed is left out.
                rows.extend(value.map(|value| (at, value)));
            }
            if self.direction == Direction::Ascending {
                rows.reverse();
            }
            self.fetched = rows;
        }
        Ok(())
    }
}

impl Walk for ListedWalk {
    fn next(&mut self) -> Result<Option<RowRef<'_>>, SourceError> {
        self.fetch()?;
        self.row = self.fetched.pop();
        Ok(self.row.as_ref().and_then(|(at, value)| {
            let key = self.keys.get(*at)?;
            Some(RowRef { key, value })
        }))
    }
}

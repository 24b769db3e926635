//! A draft of a plan for the keys that no family makes.

use std::fmt;
use std::sync::Arc;

use keyplan_infer::{Options, infer};
use keyplan_plan::dynamic::Decoder;
use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, Space, SpaceId};
use keyplan_store::source::{RowRef, Source, SourceError, View, Walk};
use serde_json::{Value as Json, json};

use crate::explorer::Explorer;
use crate::params::{Params, Problem};
use crate::reading::Reading;

/// Drafts a plan of what is unread, or of everything.
pub(crate) fn ask(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let reading = explorer.reading_of(params)?;
    let source = explorer.source(0, params.height()?)?;
    let binding = explorer.binding(&reading, &*source)?;
    let everything = params.flag("all");
    let spaces: Vec<(usize, SpaceId)> = binding.pairs;
    let name = format!("infer {}", params.canonical(&["again"]));
    explorer.jobs.ask(name, params.flag("again"), move |told| {
        let options = Options::default().draft(true).name("draft");
        let progress = |rows| told.rows(rows);
        let found = if everything {
            infer(&*source, &options, progress)
        } else {
            infer(&Unread { source, reading, spaces: spaces.into() }, &options, progress)
        };
        let found = found.map_err(|error| error.to_string())?;
        Ok(json!(found))
    })
}

/// The rows of a source whose keys no family of a plan makes.
#[derive(Clone)]
struct Unread {
    source: Arc<dyn Source>,
    reading: Arc<Reading>,
    spaces: Arc<[(usize, SpaceId)]>,
}

impl fmt::Debug for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unread").field("source", &self.source).finish_non_exhaustive()
    }
}

impl Source for Unread {
    fn kind(&self) -> &str {
        self.source.kind()
    }

    fn spaces(&self) -> Vec<Space> {
        self.source.spaces()
    }

    fn space(&self, name: &str) -> Option<SpaceId> {
        let id = self.source.space(name)?;
        self.spaces.iter().any(|(_, bound)| *bound == id).then_some(id)
    }

    fn view(&self) -> Result<Box<dyn View>, SourceError> {
        Ok(Box::new(UnreadView { view: self.source.view()?, of: self.clone() }))
    }
}

#[derive(Debug)]
struct UnreadView {
    view: Box<dyn View>,
    of: Unread,
}

impl View for UnreadView {
    fn walk(
        &self,
        space: SpaceId,
        range: KeyRange<'_>,
        direction: Direction,
    ) -> Result<Box<dyn Walk>, SourceError> {
        let index = self.of.spaces.iter().find(|(_, bound)| *bound == space).map(|(index, _)| *index);
        let index = index.ok_or_else(|| SourceError::no_space(space))?;
        // A decoder borrows its plan, and a walk borrows nothing: unread keys are few, and are copied.
        let decoder = Decoder::new(&self.of.reading.plan);
        let mut walk = self.view.walk(space, range, direction)?;
        let mut rows = Vec::new();
        let mut bytes = 0_usize;
        while let Some(row) = walk.next()? {
            if decoder.decode(index, row.key).is_ok() {
                continue;
            }
            bytes += row.key.len() + row.value.len().min(KEPT_VALUE);
            if bytes > KEPT_BYTES {
                break;
            }
            rows.push((
                row.key.to_vec(),
                row.value.get(..row.value.len().min(KEPT_VALUE)).unwrap_or_default().to_vec(),
            ));
        }
        Ok(Box::new(Copied { rows: rows.into_iter(), row: None }))
    }
}

/// How many bytes of unread rows a draft is made from.
const KEPT_BYTES: usize = 32 << 20;
/// How many bytes of a value are kept.
const KEPT_VALUE: usize = 256;

struct Copied {
    rows: std::vec::IntoIter<(Vec<u8>, Vec<u8>)>,
    row: Option<(Vec<u8>, Vec<u8>)>,
}

impl Walk for Copied {
    fn next(&mut self) -> Result<Option<RowRef<'_>>, SourceError> {
        self.row = self.rows.next();
        Ok(self.row.as_ref().map(|(key, value)| RowRef { key, value }))
    }
}

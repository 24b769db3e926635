//! Everything that can be asked, one page a file.

mod family;
mod groups;
mod history;
mod key;
mod overview;
mod plan;
mod rows;
mod scan;
mod search;
mod structure;
mod trial;

use std::sync::Arc;

use keyplan_plan::model::{Family, FamilyKind, Sequence};
use keyplan_plan::notation::{Notation, argument_name};
use keyplan_report::structure::is_structured;
use keyplan_store::engine::{OwnedKeyRange, SpaceId};
use keyplan_store::source::Source;
use serde_json::{Value as Json, json};

use crate::explorer::Explorer;
use crate::params::{Params, Problem};
use crate::reading::Reading;
use crate::{copy, job, notes};

/// A question that an [`Explorer`] answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Page {
    /// The database, the plan, and all families.
    Overview,
    /// How far the walk over all rows is, and what it counted.
    Walk,
    /// One family: its layout, its scans, what is proved of it.
    Family,
    /// Rows of a family, of a scan, of a space, or of a group of keys with a fault.
    Rows,
    /// Everything about one key.
    Key,
    /// Bytes of a value that are not shown on the page of its key.
    Bytes,
    /// Families, keys in any notation, and notes.
    Search,
    /// Keys that no family makes, by the byte where they break.
    Unread,
    /// Keys with two readings.
    Several,
    /// The values of an argument.
    Facets,
    /// What is not the same in two databases or at two heights.
    Diff,
    /// One number for the rows of each family.
    Checksum,
    /// One key over all heights.
    History,
    /// What a key of a structure holds.
    Structure,
    /// Bytes that the current height does not need.
    Dead,
    /// A key or rows in another notation.
    Copy,
    /// The plan: its text, what is proved, its allotments.
    Plan,
    /// A changed plan, tried.
    Try,
    /// A draft for the keys that no family makes.
    Infer,
    /// Notes and saved scans.
    Notes,
    /// The keys of the keyboard.
    Keys,
    /// Ends a walk or a job.
    Stop,
    /// Writes the plan's file, where that is allowed.
    WritePlan,
    /// Adds to the file of notes, where that is allowed.
    WriteNote,
}

impl Page {
    /// All pages.
    pub const ALL: [Self; 24] = [
        Self::Overview,
        Self::Walk,
        Self::Family,
        Self::Rows,
        Self::Key,
        Self::Bytes,
        Self::Search,
        Self::Unread,
        Self::Several,
        Self::Facets,
        Self::Diff,
        Self::Checksum,
        Self::History,
        Self::Structure,
        Self::Dead,
        Self::Copy,
        Self::Plan,
        Self::Try,
        Self::Infer,
        Self::Notes,
        Self::Keys,
        Self::Stop,
        Self::WritePlan,
        Self::WriteNote,
    ];

    /// Its name in an address.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Walk => "walk",
            Self::Family => "family",
            Self::Rows => "rows",
            Self::Key => "key",
            Self::Bytes => "bytes",
            Self::Search => "search",
            Self::Unread => "unread",
            Self::Several => "several",
            Self::Facets => "facets",
            Self::Diff => "diff",
            Self::Checksum => "checksum",
            Self::History => "history",
            Self::Structure => "structure",
            Self::Dead => "dead",
            Self::Copy => "copy",
            Self::Plan => "plan",
            Self::Try => "try",
            Self::Infer => "infer",
            Self::Notes => "notes",
            Self::Keys => "keys",
            Self::Stop => "stop",
            Self::WritePlan => "write-plan",
            Self::WriteNote => "write-note",
        }
    }

    /// The page of that name.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|page| page.word() == word)
    }

    /// Whether it does more than answer, so that a mere address must not do it.
    pub const fn acts(self) -> bool {
        matches!(self, Self::Try | Self::Stop | Self::WritePlan | Self::WriteNote)
    }

    pub(crate) fn answer(self, explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
        match self {
            Self::Overview => overview::overview(explorer, params),
            Self::Walk => overview::walk(explorer, params),
            Self::Family => family::family(explorer, params),
            Self::Rows => rows::rows(explorer, params),
            Self::Key => key::key(explorer, params),
            Self::Bytes => key::bytes(explorer, params),
            Self::Search => search::search(explorer, params),
            Self::Unread => groups::unread(explorer, params),
            Self::Several => groups::several(explorer, params),
            Self::Facets => job::facets::ask(explorer, params),
            Self::Diff => job::diff::ask(explorer, params),
            Self::Checksum => job::checksum::ask(explorer, params),
            Self::History => history::history(explorer, params),
            Self::Structure => structure::structure(explorer, params),
            Self::Dead => job::dead::ask(explorer, params),
            Self::Copy => copy::copy(explorer, params),
            Self::Plan => plan::plan(explorer, params),
            Self::Try => trial::attempt(explorer, params),
            Self::Infer => job::infer::ask(explorer, params),
            Self::Notes => Ok(notes::notes(explorer)),
            Self::Keys => Ok(keys()),
            Self::Stop => stop(explorer, params),
            Self::WritePlan => trial::write(explorer, params),
            Self::WriteNote => notes::add(explorer, params),
        }
    }
}

/// Ends the walk, or the job that is named.
fn stop(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    if let Some(name) = params.get("job") {
        return Ok(json!({ "stopped": explorer.jobs.stop(name) }));
    }
    explorer.walk(params)?.stop();
    Ok(json!({ "stopped": true }))
}

/// What the keyboard does, in the browser and in the terminal.
pub(crate) const KEYS: [(&str, &str); 24] = [
    ("?", "show this list"),
    ("/", "find a family, or paste a key"),
    ("j", "next row"),
    ("k", "row before"),
    ("J", "next family"),
    ("K", "family before"),
    ("n", "next page"),
    ("p", "page before"),
    ("Enter", "open the row"),
    ("s", "build a scan"),
    ("r", "turn the order around"),
    ("f", "values of an argument"),
    ("u", "keys that no family makes"),
    ("2", "keys with two readings"),
    ("m", "bytes by family"),
    ("d", "compare"),
    ("h", "history of the key"),
    ("@", "another height"),
    ("l", "the plan and its proofs"),
    ("c", "copy as"),
    ("o", "notes and saved scans"),
    ("x", "stop counting"),
    ("t", "light or dark"),
    ("Esc", "close, or go back"),
];

fn keys() -> Json {
    KEYS.iter().map(|(key, what)| json!({ "key": key, "what": what })).collect()
}

/// Where the rows of a family lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The index of the space in the plan.
    pub(crate) index: usize,
    /// The space in the source.
    pub(crate) space: SpaceId,
    /// What comes before a key where a space holds structures.
    pub(crate) tag: Option<u8>,
}

impl Place {
    /// The place of a family's rows.
    pub(crate) fn of(
        explorer: &Explorer,
        reading: &Reading,
        source: &dyn Source,
        path: &str,
    ) -> Result<Self, Problem> {
        let found = reading.family(path);
        let (index, family) = found.ok_or_else(|| Problem::Absent(format!("there is no family `{path}`")))?;
        let mut place = Self::of_space(explorer, reading, source, index)?;
        if place.tag.is_some() && family.kind == FamilyKind::Key {
            place.tag = Some(1);
        }
        Ok(place)
    }

    /// The place of the rows of a space; of one with structures, the heads of these.
    pub(crate) fn of_space(
        explorer: &Explorer,
        reading: &Reading,
        source: &dyn Source,
        index: usize,
    ) -> Result<Self, Problem> {
        let binding = explorer.binding(reading, source)?;
        let space = reading.plan.spaces.get(index);
        let found = binding.pairs.iter().find(|(bound, _)| *bound == index).map(|(_, id)| *id);
        let (Some(model), Some(space)) = (space, found) else {
            let name = space.map_or("", |space| space.name.as_str());
            return Err(Problem::Absent(format!("no space of the database is `{name}` of the plan")));
        };
        Ok(Self { index, space, tag: is_structured(model).then_some(2) })
    }

    /// The rows whose keys begin so.
    pub(crate) fn range(&self, prefix: &[u8]) -> OwnedKeyRange {
        OwnedKeyRange::prefix(&self.raw(prefix))
    }

    /// The key as it lies in the database.
    pub(crate) fn raw(&self, key: &[u8]) -> Vec<u8> {
        self.tag.into_iter().chain(key.iter().copied()).collect()
    }

    /// The key of the plan that a row has.
    pub(crate) fn key<'k>(&self, row: &'k [u8]) -> Option<&'k [u8]> {
        match self.tag {
            None => Some(row),
            Some(tag) => row.strip_prefix(&[tag]),
        }
    }
}

/// The columns of a family's table: the arguments of its keys, then those of its values where they have a layout.
pub(crate) fn columns(reading: &Reading, family: &Family) -> Json {
    let notation = Notation::of(&reading.plan);
    let of = |layout: &Sequence, of: &'static str| -> Vec<Json> {
        let column = |argument: &keyplan_plan::model::Argument| json!({ "name": argument_name(argument), "type": notation.type_of(argument), "of": of });
        layout.arguments().map(column).collect()
    };
    let mut all = of(&family.key, "key");
    if let Some(layout) = value_columns(family) {
        all.extend(of(layout, "value"));
    }
    json!(all)
}

/// The layout of a family's values, if its arguments can be columns.
pub(crate) fn value_columns(family: &Family) -> Option<&Sequence> {
    let layout = family.value.as_ref().filter(|_| family.kind == FamilyKind::Key)?;
    let is_table =
        keyplan_report::values::whole_opaque(layout).is_none() && layout.arguments().next().is_some();
    (is_table && layout.arguments().count() <= 12).then_some(layout)
}

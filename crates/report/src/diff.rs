//! Two sources row by row: what one has and the other has not, and what became of values, by the plan's own names.
//!
//! Both are read once, in order, side by side; no row is kept.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use keyplan_plan::dynamic::{Decoded, Decoder};
use keyplan_plan::model::{Plan, Sequence};
use keyplan_plan::notation::hex;
use keyplan_store::engine::{KeyRange, SpaceId};
use keyplan_store::source::{Source, SourceError, Walk};
use keyplan_store::{Direction, META_SPACE};
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::binding::Binding;
use crate::values::readable_json;

/// How many rows are read between two looks at the progress.
const REPORT_EVERY: u64 = 10_000;

/// A space of one source and what it is compared with; `None` where one side has no such space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// What it is called in the report.
    pub name: String,
    /// The index of the space in the plan, if there is one.
    pub plan: Option<usize>,
    /// In the first source.
    pub before: Option<SpaceId>,
    /// In the second.
    pub after: Option<SpaceId>,
}

/// The spaces of a plan in both sources.
pub fn pairs_of_plan(plan: &Plan, before: &Binding, after: &Binding) -> Vec<Pair> {
    let find = |binding: &Binding, index: usize| {
        binding.pairs.iter().find(|(plan, _)| *plan == index).map(|(_, space)| *space)
    };
    let pair = |(index, space): (usize, &keyplan_plan::model::Space)| {
        let (before, after) = (find(before, index), find(after, index));
        Some(Pair { name: space.name.clone(), plan: Some(index), before, after })
            .filter(|_| before.is_some() || after.is_some())
    };
    plan.spaces.iter().enumerate().filter_map(pair).collect()
}

/// The spaces of both sources that are called alike; the only one and the only one, whatever they are called.
pub fn pairs_by_name(before: &dyn Source, after: Option<&dyn Source>) -> Vec<Pair> {
    let own = |source: &dyn Source| -> Vec<(String, SpaceId)> {
        let spaces = source.spaces().into_iter().filter(|space| space.name != META_SPACE);
        spaces.filter_map(|space| Some((space.name.clone(), source.space(&space.name)?))).collect()
    };
    let (before, after) = (own(before), after.map(own).unwrap_or_default());
    if let ([(name, one)], [(_, other)]) = (before.as_slice(), after.as_slice()) {
        return vec![Pair { name: name.clone(), plan: None, before: Some(*one), after: Some(*other) }];
    }
    let mut pairs: BTreeMap<String, Pair> = BTreeMap::new();
    let new = |name: &String| Pair { name: name.clone(), plan: None, before: None, after: None };
    for (name, id) in &before {
        pairs.entry(name.clone()).or_insert_with(|| new(name)).before = Some(*id);
    }
    for (name, id) in &after {
        pairs.entry(name.clone()).or_insert_with(|| new(name)).after = Some(*id);
    }
    pairs.into_values().collect()
}

/// What became of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// Only the second source has it.
    Added,
    /// Only the first source has it.
    Removed,
    /// Both have it, with other values.
    Changed,
}

/// A row that is not the same in both.
#[derive(Debug)]
pub struct Change<'r, 'p> {
    /// The space, as [`Pair::name`] says.
    pub space: &'r str,
    /// The key.
    pub key: &'r [u8],
    /// What the key stands for; `None` without a plan or a family.
    pub decoded: Option<Decoded<'p>>,
    /// The value in the first source.
    pub before: Option<&'r [u8]>,
    /// The value in the second.
    pub after: Option<&'r [u8]>,
}

/// A part of a value that is not the same in both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldChange {
    /// The argument's name.
    pub field: String,
    /// What it was.
    pub before: Json,
    /// What it is.
    pub after: Json,
}

impl Change<'_, '_> {
    /// What became of it.
    pub const fn kind(&self) -> ChangeKind {
        match (self.before, self.after) {
            (None, _) => ChangeKind::Added,
            (Some(_), None) => ChangeKind::Removed,
            (Some(_), Some(_)) => ChangeKind::Changed,
        }
    }

    /// The family's path, or the space where there is none.
    pub fn family(&self) -> &str {
        self.decoded.as_ref().map_or(self.space, |decoded| &decoded.family.path)
    }

    /// The arguments of a changed value that differ; empty where a value has no layout, or does not decode.
    pub fn fields(&self) -> Vec<FieldChange> {
        let layout = self.decoded.as_ref().and_then(|decoded| decoded.family.value.as_ref());
        let (Some(layout), Some(before), Some(after)) = (layout, self.before, self.after) else {
            return Vec::new();
        };
        let (Some(before), Some(after)) = (object(layout, before), object(layout, after)) else {
            return Vec::new();
        };
        let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
        let differs = |name: &String| {
            let (old, new) =
                (before.get(name).unwrap_or(&Json::Null), after.get(name).unwrap_or(&Json::Null));
            (old != new).then(|| FieldChange { field: name.clone(), before: old.clone(), after: new.clone() })
        };
        names.filter_map(differs).collect()
    }
}

/// The arguments of a value by name, or the members of what it is in a format of its own.
fn object(layout: &Sequence, value: &[u8]) -> Option<Map<String, Json>> {
    match readable_json(layout, value)? {
        Json::Object(object) => Some(object),
        _ => None,
    }
}

/// How many rows differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Differences {
    /// Only in the second source.
    pub added: u64,
    /// Only in the first.
    pub removed: u64,
    /// With other values.
    pub changed: u64,
}

/// What came of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// How many rows the first source has.
    pub before: u64,
    /// How many the second has.
    pub after: u64,
    /// How many are the same in both.
    pub same: u64,
    /// Families with differences, by path; a space where a key has no family.
    pub families: BTreeMap<String, Differences>,
}

impl Summary {
    /// Whether there is no difference.
    pub fn is_same(&self) -> bool {
        self.families.is_empty()
    }

    fn count(&mut self, change: &Change<'_, '_>) {
        let family = change.family();
        if !self.families.contains_key(family) {
            self.families.insert(family.to_owned(), Differences::default());
        }
        let Some(differences) = self.families.get_mut(family) else { return };
        match change.kind() {
            ChangeKind::Added => differences.added += 1,
            ChangeKind::Removed => differences.removed += 1,
            ChangeKind::Changed => differences.changed += 1,
        }
    }
}

/// Why two sources could not be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError<E> {
    /// A source could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The rows of a source are not in the order of their keys, so that they cannot be read side by side.
    #[error("space `{space}`: the row 0x{key} is not in the order of the bytes of keys")]
    Order {
        /// The space.
        space: String,
        /// The key, in hex.
        key: String,
    },
    /// Whoever takes the changes could not go on.
    #[error("a change could not be taken")]
    Taken(E),
    /// Whoever watched the progress asked for an end.
    #[error("stopped after {rows} rows")]
    Stopped {
        /// How many rows of both were read.
        rows: u64,
    },
}

/// The current row of one side.
struct Side {
    walk: Option<Box<dyn Walk>>,
    key: Vec<u8>,
    value: Vec<u8>,
    is_there: bool,
    rows: u64,
}

impl Side {
    fn open(source: &dyn Source, space: Option<SpaceId>) -> Result<Self, SourceError> {
        let walk = match space {
            Some(space) => Some(source.view()?.walk(space, KeyRange::ALL, Direction::Ascending)?),
            None => None,
        };
        Ok(Self { walk, key: Vec::new(), value: Vec::new(), is_there: false, rows: 0 })
    }

    /// Moves to the next row; the error is the key that is not in order.
    fn advance(&mut self) -> Result<Result<(), String>, SourceError> {
        let Some(walk) = &mut self.walk else {
            self.is_there = false;
            return Ok(Ok(()));
        };
        let Some(row) = walk.next()? else {
            (self.walk, self.is_there) = (None, false);
            return Ok(Ok(()));
        };
        // In a multimap a key comes again with its next value.
        let before = (self.key.as_slice(), self.value.as_slice());
        if self.rows > 0 && before >= (row.key, row.value) && (before.0 != row.key || before.1 == row.value) {
            return Ok(Err(hex(row.key)));
        }
        self.key.clear();
        self.key.extend_from_slice(row.key);
        self.value.clear();
        self.value.extend_from_slice(row.value);
        self.is_there = true;
        self.rows += 1;
        Ok(Ok(()))
    }
}

/// Compares the pairs of spaces. `each` takes every change in order; `progress` is told how many rows of both were read.
pub fn diff<'p, E>(
    before: &dyn Source,
    after: &dyn Source,
    pairs: &[Pair],
    decoder: Option<&Decoder<'p>>,
    mut each: impl FnMut(&Change<'_, 'p>) -> Result<(), E>,
    mut progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Summary, DiffError<E>> {
    let mut summary = Summary::default();
    for pair in pairs {
        let mut one = Side::open(before, pair.before)?;
        let mut other = Side::open(after, pair.after)?;
        let step = |side: &mut Side| match side.advance()? {
            Ok(()) => Ok(()),
            Err(key) => Err(DiffError::Order { space: pair.name.clone(), key }),
        };
        step(&mut one)?;
        step(&mut other)?;
        let start = summary.before + summary.after;
        while one.is_there || other.is_there {
            let order = match (one.is_there, other.is_there) {
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                _ => one.key.cmp(&other.key),
            };
            if order == Ordering::Equal && one.value == other.value {
                summary.same += 1;
            } else {
                let key = if order == Ordering::Greater { &other.key } else { &one.key };
                let change = Change {
                    space: &pair.name,
                    key,
                    decoded: decoder
                        .zip(pair.plan)
                        .and_then(|(decoder, index)| decoder.decode(index, key).ok()),
                    before: (order != Ordering::Greater).then_some(one.value.as_slice()),
                    after: (order != Ordering::Less).then_some(other.value.as_slice()),
                };
                summary.count(&change);
                each(&change).map_err(DiffError::Taken)?;
            }
            if order != Ordering::Greater {
                step(&mut one)?;
            }
            if order != Ordering::Less {
                step(&mut other)?;
            }
            let rows = start + one.rows + other.rows;
            if rows.is_multiple_of(REPORT_EVERY) && progress(rows).is_break() {
                return Err(DiffError::Stopped { rows });
            }
        }
        summary.before += one.rows;
        summary.after += other.rows;
    }
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use keyplan_store::engine::{Batch, Durability, Engine as _, Memory};
    use keyplan_store::source::EngineSource;

    use super::*;

    fn source(rows: &[(&[u8], &[u8])]) -> EngineSource<Memory> {
        let mut engine = Memory::new();
        let space = engine.create_space(&keyplan_store::engine::Space::map("s")).expect("made");
        let mut batch: Batch<Memory> = Batch::new();
        for (key, value) in rows {
            batch.put(space, *key, *value);
        }
        engine.commit(batch, Durability::Buffer).expect("committed");
        EngineSource::new(engine)
    }

    #[test]
    fn changes_are_named_by_family_argument_and_field() {
        let text = "plan p; space s { key pool = 0x01 id: u16 -> fee: u16 depth: u8; }";
        let plan = keyplan_plan::compile("p", text, |_| Err(String::new())).plan.expect("sound");
        let decoder = Decoder::new(&plan);
        let before = source(&[
            (&[1, 0, 1], &[0, 5, 1]),
            (&[1, 0, 2], &[0, 5, 1]),
            (&[1, 0, 3], &[0, 5, 1]),
            (&[9], &[]),
        ]);
        let after = source(&[(&[1, 0, 1], &[0, 5, 1]), (&[1, 0, 3], &[0, 7, 1]), (&[1, 0, 4], &[0, 5, 1])]);
        let pairs = pairs_by_name(&before, Some(&after));
        let pairs: Vec<Pair> = pairs.into_iter().map(|pair| Pair { plan: Some(0), ..pair }).collect();
        let mut found = Vec::new();
        let summary = diff(
            &before,
            &after,
            &pairs,
            Some(&decoder),
            |change| {
                found.push((change.kind(), change.family().to_owned(), hex(change.key), change.fields()));
                Ok::<_, Infallible>(())
            },
            |_| ControlFlow::Continue(()),
        )
        .expect("compared");
        let fee = FieldChange { field: "fee".to_owned(), before: Json::from(5), after: Json::from(7) };
        let of_pool = |kind, key: &str, fields| (kind, "s.pool".to_owned(), key.to_owned(), fields);
        assert_eq!(
            found,
            [
                of_pool(ChangeKind::Removed, "010002", vec![]),
                of_pool(ChangeKind::Changed, "010003", vec![fee]),
                of_pool(ChangeKind::Added, "010004", vec![]),
                (ChangeKind::Removed, "s".to_owned(), "09".to_owned(), vec![]),
            ]
        );
        let families = BTreeMap::from([
            ("s".to_owned(), Differences { added: 0, removed: 1, changed: 0 }),
            ("s.pool".to_owned(), Differences { added: 1, removed: 1, changed: 1 }),
        ]);
        assert_eq!(summary, Summary { before: 4, after: 3, same: 1, families });
    }
}

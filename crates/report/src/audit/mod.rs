//! Every row of a source, read under a plan: what the plan does not explain, and what it explains twice.
//!
//! [`audit`] reads each space once, in order, and keeps groups of like faults with their counts and a few examples, so that
//! its memory does not grow with the source.

mod finding;
mod relation;
mod structured;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use keyplan_plan::dynamic::{Decoded, Decoder, Miss, Value, encode, readings};
use keyplan_plan::model::{Family, FamilyKind, Opaque, Plan, Retired, Sequence, Shape, Space};
use keyplan_plan::notation::{argument_name, assignments, hex};
use keyplan_store::engine::{KeyRange, SpaceKind};
use keyplan_store::source::{RowRef, Source, SourceError};
use keyplan_store::{Direction, META_SPACE, PlanFingerprint};
use serde::Serialize;

use finding::Groups;
pub use finding::{EXAMPLES, Example, Finding, FindingKind, MAX_FINDINGS};
use relation::{Relations, Row};
use structured::Held;

use crate::binding::Binding;
use crate::structure::is_structured;
use crate::values::{fault, whole_opaque};

/// How many readings of a key are shown.
const READINGS: usize = 4;
/// How many bytes of a value an example shows.
const SHOWN: usize = 64;
/// How many rows are read between two looks at the progress.
const REPORT_EVERY: u64 = 10_000;

/// What an audit has looked at and found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// The plan's name.
    pub plan: String,
    /// The fingerprint of its layout.
    pub fingerprint: String,
    /// What was read: `rocksdb`, `lmdb`.
    pub source: String,
    /// Each space that was read.
    pub spaces: Vec<AuditedSpace>,
    /// What is wrong, space by space.
    pub findings: Vec<Finding>,
    /// What was not looked at, and why.
    pub not_looked_at: Vec<String>,
}

/// How much of a space was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuditedSpace {
    /// Its name in the plan.
    pub space: String,
    /// Its name in the source.
    pub source_space: String,
    /// All rows.
    pub rows: u64,
    /// The rows whose keys a family makes, by its path.
    pub families: BTreeMap<String, u64>,
    /// How many values were compared with a layout.
    pub values: u64,
    /// How many rows that others refer to were looked for.
    pub references: u64,
}

impl Audit {
    /// How many rows were read.
    pub fn rows(&self) -> u64 {
        self.spaces.iter().map(|space| space.rows).sum()
    }

    /// How many rows are of findings of this kind.
    pub fn count(&self, kind: FindingKind) -> u64 {
        self.findings.iter().filter(|finding| finding.kind == kind).map(|finding| finding.rows).sum()
    }
}

/// Why an audit ended without an answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The source could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Whoever watched the progress asked for an end.
    #[error("stopped after {rows} rows")]
    Stopped {
        /// How many rows were read.
        rows: u64,
    },
}

/// Reads every row of the spaces that are bound. `progress` is told now and then how many rows were read, and may stop it.
pub fn audit(
    source: &dyn Source,
    plan: &Plan,
    binding: &Binding,
    mut progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Audit, AuditError> {
    let decoder = Decoder::new(plan);
    let view = source.view()?;
    let theirs = source.spaces();
    let mut audit = Audit {
        plan: plan.name.clone(),
        fingerprint: PlanFingerprint::from(plan.fingerprint()).to_string(),
        source: source.kind().to_owned(),
        spaces: Vec::new(),
        findings: Vec::new(),
        not_looked_at: Vec::new(),
    };
    for &(index, id) in &binding.pairs {
        let Some(space) = plan.spaces.get(index) else { continue };
        // Rows of structures are known of databases that a store of ours has made.
        let structured = is_structured(space);
        if structured && source.space(META_SPACE).is_none() {
            let why = "it holds structures, which another program's database has no rows of";
            audit.not_looked_at.push(format!("space `{}`: {why}", space.name));
            continue;
        }
        let their = theirs.iter().find(|space| source.space(&space.name) == Some(id));
        let before = audit.rows();
        let relations = Relations::new(plan, index, binding, &*view);
        let kind = their.map_or(SpaceKind::Map, |space| space.kind);
        let mut pass = Pass::new(&decoder, space, index, kind, relations);
        pass.audited.source_space = their.map(|space| space.name.clone()).unwrap_or_default();
        let mut walk = view.walk(id, KeyRange::ALL, Direction::Ascending)?;
        while let Some(row) = walk.next()? {
            if structured {
                pass.structured_row(row)?;
            } else {
                pass.row(row)?;
            }
            let rows = before + pass.audited.rows;
            if rows.is_multiple_of(REPORT_EVERY) && progress(rows).is_break() {
                return Err(AuditError::Stopped { rows });
            }
        }
        pass.end(&mut audit);
    }
    let unread = |name: &String| format!("space `{name}` of the source: no space of the plan is bound to it");
    audit.not_looked_at.extend(binding.unread.iter().map(unread));
    let absent = |name: &String| format!("space `{name}` of the plan: the source has no such space");
    audit.not_looked_at.extend(binding.absent.iter().map(absent));
    if plan.families().all(|(_, family)| family.relations.is_empty()) {
        audit.not_looked_at.push("relations between rows: the plan declares none".to_owned());
    }
    Ok(audit)
}

/// One space while it is read.
struct Pass<'d, 'p, 'v> {
    decoder: &'d Decoder<'p>,
    space: &'p Space,
    index: usize,
    kind: SpaceKind,
    audited: AuditedSpace,
    // Counts by the index of the family: a path is not compared for each row.
    families: Vec<u64>,
    retired: Vec<&'p Retired>,
    relations: Relations<'p, 'v>,
    held: Held<'p>,
    groups: Groups,
    last: Vec<u8>,
    again: Vec<u8>,
    // Kept only so that a row needs no new one.
    label: String,
}

impl<'d, 'p, 'v> Pass<'d, 'p, 'v> {
    fn new(
        decoder: &'d Decoder<'p>,
        space: &'p Space,
        index: usize,
        kind: SpaceKind,
        relations: Relations<'p, 'v>,
    ) -> Self {
        let modules = space.modules.iter().flat_map(|module| &module.retired);
        Self {
            decoder,
            space,
            index,
            kind,
            audited: AuditedSpace { space: space.name.clone(), ..AuditedSpace::default() },
            families: vec![0; space.families.len()],
            retired: space.retired.iter().chain(modules).collect(),
            relations,
            held: Held::default(),
            groups: Groups::default(),
            last: Vec::new(),
            again: Vec::new(),
            label: String::new(),
        }
    }

    fn row(&mut self, row: RowRef<'_>) -> Result<(), SourceError> {
        self.ordered(row.key);
        if let Some(retired) = self.retired.iter().find(|retired| row.key.starts_with(&retired.prefix)) {
            let label = hex(&retired.prefix);
            let message = format!("keys of {label} are retired: {}", retired.why);
            self.add(FindingKind::Retired, &label, Vec::new(), None, || message, || example(row.key));
        }
        match self.decoder.decode_all(self.index, row.key, READINGS) {
            Err(miss) => self.unknown(row.key, &miss),
            Ok(found) => {
                if found.readings.len() > 1 {
                    self.several(row.key, &found.readings);
                }
                if let Some(first) = found.readings.first() {
                    self.read(row, first);
                }
                self.referred(row, &found.readings, None)?;
            }
        }
        Ok(())
    }

    /// Looks for the rows that a row refers to. One with several readings is as good as the best of them.
    fn referred(
        &mut self,
        row: RowRef<'_>,
        found: &[Decoded<'p>],
        member: Option<&[Value]>,
    ) -> Result<(), SourceError> {
        let mut first = None;
        for reading in found {
            let Some(at) = self.place(reading) else { return Ok(()) };
            if !self.relations.has(at) {
                return Ok(());
            }
            let missing = self.relations.missing(at, &Row { decoded: reading, value: row.value, member })?;
            if missing.is_empty() {
                return Ok(());
            }
            first.get_or_insert((at, reading, missing));
        }
        let Some((at, reading, missing)) = first else { return Ok(()) };
        for missing in missing {
            let Some(asked) = self.relations.of(at).get(missing.relation) else { continue };
            let (own, other) = (reading.family.path.clone(), asked.relation.family.clone());
            let label = format!("{own} {:04}", missing.relation);
            let message = format!("`{own}` {}, and the row is not there", asked.relation.words());
            let families = vec![own, other];
            let missed = || Example {
                readings: vec![self::reading(reading)],
                target: Some(missing.target),
                value: member.map(|_| shown(row.value)),
                ..example(row.key)
            };
            self.add(FindingKind::MissingTarget, &label, families, None, || message, missed);
        }
        Ok(())
    }

    /// The index of a reading's family in the space.
    fn place(&self, reading: &Decoded<'p>) -> Option<usize> {
        self.space.families.iter().position(|other| std::ptr::eq(other, reading.family))
    }

    fn add(
        &mut self,
        kind: FindingKind,
        label: &str,
        families: Vec<String>,
        offset: Option<usize>,
        message: impl FnOnce() -> String,
        example: impl FnOnce() -> Example,
    ) {
        let space = &self.audited.space;
        let new = || Finding {
            kind,
            space: space.clone(),
            families,
            offset,
            message: message(),
            rows: 0,
            examples: Vec::new(),
        };
        self.groups.count(kind, label, new, example);
    }

    /// Counts a row, and looks whether it comes after the one before it.
    fn ordered(&mut self, key: &[u8]) {
        let is_after = match self.kind {
            SpaceKind::Map => self.last.as_slice() < key,
            SpaceKind::Multimap => self.last.as_slice() <= key,
        };
        if self.audited.rows > 0 && !is_after {
            self.out_of_order(key);
        }
        self.audited.rows += 1;
        self.last.clear();
        self.last.extend_from_slice(key);
    }

    fn out_of_order(&mut self, key: &[u8]) {
        let message = format!("it comes after {}, whose bytes are not smaller", hex(&self.last));
        self.add(FindingKind::Order, "", Vec::new(), None, || message, || example(key));
    }

    /// Keys of no family, together by the place where the family that gets furthest breaks.
    fn unknown(&mut self, key: &[u8], miss: &Miss<'_>) {
        let Unread { label, family, offset, message } = unread(key, miss);
        let families = family.into_iter().collect();
        self.add(FindingKind::UnknownKey, &label, families, Some(offset), || message, || example(key));
    }

    fn several(&mut self, key: &[u8], found: &[Decoded<'_>]) {
        let mut families: Vec<String> = found.iter().map(|reading| reading.family.path.clone()).collect();
        families.sort_unstable();
        families.dedup();
        let label = families.join(" ");
        let message = match families.as_slice() {
            [only] => format!("two argument lists of `{only}` make one key"),
            _ => format!(
                "{} make one key",
                families.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(" and ")
            ),
        };
        let shown = || Example { readings: found.iter().map(reading).collect(), ..example(key) };
        self.add(FindingKind::TwoReadings, &label, families, None, || message, shown);
    }

    /// A row of a family: its value, and whether the family may have rows at all.
    fn read(&mut self, row: RowRef<'_>, decoded: &Decoded<'p>) {
        let family = decoded.family;
        if let Some(count) = self.place(decoded).and_then(|at| self.families.get_mut(at)) {
            *count += 1;
        }
        self.retired_family(row.key, family);
        self.value_of(row, decoded);
    }

    /// A family whose rows should be gone.
    fn retired_family(&mut self, key: &[u8], family: &Family) {
        if let Some(why) = &family.retired {
            let (label, families) = (family.path.clone(), vec![family.path.clone()]);
            let message = format!("`{}` is retired: {why}", family.path);
            self.add(FindingKind::Retired, &label, families, None, || message, || example(key));
        }
    }

    fn value_of(&mut self, row: RowRef<'_>, decoded: &Decoded<'p>) {
        let family = decoded.family;
        let Some(layout) = family.value.as_ref().filter(|_| family.kind == FamilyKind::Key) else { return };
        self.audited.values += 1;
        if let Some(form) = whole_opaque(layout) {
            return self.opaque_value(row, family, form);
        }
        let fault = self.value_fault(layout, row.value);
        if let Some((offset, segment, message)) = fault {
            let label = format!("{} {segment}", family.path);
            let shown = || Example { value: Some(shown(row.value)), ..example(row.key) };
            self.add(FindingKind::Value, &label, vec![family.path.clone()], offset, || message, shown);
        }
    }

    /// A value that is in a format of its own as a whole. A database may have one fault in every row.
    fn opaque_value(&mut self, row: RowRef<'_>, family: &Family, form: &Opaque) {
        let Some(found) = fault(form, row.value) else { return };
        self.label.clear();
        for part in [family.path.as_str(), " ", found.kind()] {
            self.label.push_str(part);
        }
        let space = &self.audited.space;
        let new = || Finding {
            kind: FindingKind::Value,
            space: space.clone(),
            families: vec![family.path.clone()],
            offset: Some(found.offset),
            message: found.to_string(),
            rows: 0,
            examples: Vec::new(),
        };
        let shown = || Example { value: Some(shown(row.value)), ..example(row.key) };
        self.groups.count(FindingKind::Value, &self.label, new, shown);
    }

    /// What is wrong with a value: at which byte, in which segment, and what.
    fn value_fault(&mut self, layout: &Sequence, value: &[u8]) -> Option<(Option<usize>, String, String)> {
        if let Some(form) = whole_opaque(layout) {
            return fault(form, value).map(|found| {
                (Some(found.offset), format!("{} {}", form.name(), found.kind()), found.to_string())
            });
        }
        let found = match readings(layout, value, 1) {
            Err(failure) => {
                return Some((Some(failure.offset), failure.segment.clone(), failure.to_string()));
            }
            Ok(found) => found.readings.into_iter().next()?,
        };
        self.again.clear();
        match encode(layout, &found, &mut self.again) {
            Ok(()) if self.again == value => inside(layout, &found),
            Ok(()) => {
                let same = self.again.iter().zip(value).take_while(|(one, other)| one == other).count();
                Some((
                    Some(same),
                    "again".to_owned(),
                    format!("byte {same}: it is not written as it would be"),
                ))
            }
            Err(error) => Some((None, "again".to_owned(), format!("it cannot be written again: {error}"))),
        }
    }

    fn end(mut self, audit: &mut Audit) {
        for (family, rows) in self.space.families.iter().zip(&self.families) {
            if *rows > 0 {
                self.audited.families.insert(family.path.clone(), *rows);
            }
        }
        if self.groups.beyond > 0 {
            let what = format!(
                "space `{}`: {} more faulty rows are in no group",
                self.space.name, self.groups.beyond
            );
            audit.not_looked_at.push(what);
        }
        self.audited.references = self.relations.rows();
        audit.not_looked_at.append(&mut self.relations.unasked);
        audit.spaces.push(self.audited);
        audit.findings.extend(self.groups.into_findings());
    }
}

/// Why no family makes a key, and which other keys are like it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The same for keys that break at the same place; in the order of that place.
    pub label: String,
    /// The family that gets furthest, if one gets past the first byte.
    pub family: Option<String>,
    /// The byte that breaks it.
    pub offset: usize,
    /// What is wrong there.
    pub message: String,
}

/// Says where a key that no family makes breaks: in the family that gets furthest.
pub fn unread(key: &[u8], miss: &Miss<'_>) -> Unread {
    let nearest = miss.nearest();
    let reached = nearest.first().filter(|(_, failure)| failure.offset > 0);
    if let Some((path, failure)) = reached {
        return Unread {
            label: format!("{:08} {path} {}", failure.offset, failure.segment),
            family: Some((*path).to_owned()),
            offset: failure.offset,
            message: format!("`{path}` gets furthest: {failure}"),
        };
    }
    let first = key.first().map_or_else(|| "nothing".to_owned(), |first| format!("0x{first:02x}"));
    Unread {
        label: format!("{:08} {first}", 0),
        family: None,
        offset: 0,
        message: format!("byte 0: no family begins with {first}"),
    }
}

/// What is wrong with the arguments of a value that are of other formats. Where they begin in the value is not told.
fn inside(layout: &Sequence, values: &[Value]) -> Option<(Option<usize>, String, String)> {
    layout.arguments().zip(values).find_map(|(argument, value)| match (&argument.shape, value) {
        (Shape::Opaque(form), Value::Bytes(bytes)) => fault(form, bytes).map(|found| {
            let name = argument_name(argument);
            (None, format!("{name} {}", found.kind()), format!("`{name}`: {found}"))
        }),
        _ => None,
    })
}

fn example(key: &[u8]) -> Example {
    Example { key: hex(key), value: None, readings: Vec::new(), target: None }
}

/// `cl.tick pool_id=7 tick=-100`
fn reading(decoded: &Decoded<'_>) -> String {
    if decoded.values.is_empty() {
        return decoded.family.path.clone();
    }
    format!("{} {}", decoded.family.path, assignments(&decoded.family.key, &decoded.values))
}

fn shown(value: &[u8]) -> String {
    match value.get(..SHOWN) {
        Some(first) if value.len() > SHOWN => format!("{}… ({} bytes)", hex(first), value.len()),
        _ => hex(value),
    }
}

#[cfg(test)]
mod tests;

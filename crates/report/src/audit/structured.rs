//! Rows of structures, as `plans/structures.keyplan` lays them out: what lies under each key of the plan, held against it.

use keyplan_codec::{Delimited as _, FloatOrdered, LenPrefix, LenWidth, ScoreExact, Segment as _};
use keyplan_plan::dynamic::{Decoded, Value, readings};
use keyplan_plan::model::{Family, FamilyKind, Sequence};
use keyplan_store::source::{RowRef, SourceError};

use super::finding::{Example, FindingKind};
use super::{Pass, READINGS, example, shown};
use crate::look::{Looked, look_at_rank};

/// What the rows of a space begin with.
const VALUE: u8 = 1;
pub(super) const HEAD: u8 = 2;
const SET_MEMBER: u8 = 3;
const HASH_FIELD: u8 = 4;
const MEMBER_SCORE: u8 = 5;
const ITEM: u8 = 7;
const LAST: u8 = 9;

/// The byte that the row of a key begins with which a family's kind of structure is found by.
pub(super) const fn tag(kind: FamilyKind) -> u8 {
    match kind {
        FamilyKind::Key => VALUE,
        _ => HEAD,
    }
}

/// The key that the last rows were of, and what it stands for. Rows of one key come one after the other.
#[derive(Debug, Default)]
pub(super) struct Held<'p> {
    key: Vec<u8>,
    readings: Vec<Decoded<'p>>,
}

/// A row taken apart: what it is, the key of the plan, and what follows it.
fn take_apart(row: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    const LENGTH: LenPrefix = LenPrefix { width: LenWidth::Varint };
    let (&tag, rest) = row.split_first()?;
    match tag {
        VALUE | HEAD => Some((tag, rest, &[])),
        SET_MEMBER..=LAST => {
            let (key, rest) = rest.split_at_checked(LENGTH.extent(rest).ok()?)?;
            Some((tag, LENGTH.decode(key).ok()?, rest))
        }
        _ => None,
    }
}

impl<'p> Pass<'_, 'p, '_> {
    /// Looks at a row of a space that holds structures.
    pub(super) fn structured_row(&mut self, row: RowRef<'_>) -> Result<(), SourceError> {
        self.ordered(row.key);
        let Some((tag, key, rest)) = take_apart(row.key) else {
            let first =
                row.key.first().map_or_else(|| "nothing".to_owned(), |first| format!("0x{first:02x}"));
            let message = format!("byte 0: no row of a structure begins with {first}");
            let kind = FindingKind::UnknownKey;
            self.add(
                kind,
                &format!("{first} structure"),
                Vec::new(),
                Some(0),
                || message,
                || example(row.key),
            );
            return Ok(());
        };
        if self.held.key != key || self.audited.rows == 1 {
            self.hold(key, tag);
        }
        let Some(first) = self.held.readings.first().cloned() else { return Ok(()) };
        let family = first.family;
        match tag {
            VALUE | HEAD => {
                if let Some(count) = self.place(&first).and_then(|at| self.families.get_mut(at)) {
                    *count += 1;
                }
                if !self.is_of_kind(tag, family, key, row.value) {
                    return Ok(());
                }
                let found = std::mem::take(&mut self.held.readings);
                let plain = RowRef { key, value: row.value };
                if tag == VALUE {
                    self.value_of(plain, &first);
                }
                let done = self.referred(plain, &found, None);
                self.held.readings = found;
                done
            }
            SET_MEMBER | MEMBER_SCORE | ITEM => {
                let member = self.part(family, family.member.as_ref(), "member", key, rest);
                if tag != SET_MEMBER {
                    self.score(family, key, rest, row.value);
                }
                let Some(member) = member else { return Ok(()) };
                self.referred(RowRef { key, value: rest }, std::slice::from_ref(&first), Some(&member))
            }
            HASH_FIELD => {
                if let Some((field, _)) = family.decode_field(rest) {
                    let title = format!("field {}", field.name);
                    self.part(family, field.value.as_ref(), &title, key, row.value);
                } else {
                    self.audited.values += 1;
                    let message = "no field of the family is written like this".to_owned();
                    self.member_fault(family, "field", None, message, key, rest);
                }
                Ok(())
            }
            // The order of members, leases and the dead say nothing that other rows do not.
            _ => Ok(()),
        }
    }

    /// Decodes the key of the rows that follow; what is wrong with it is told where the key itself is.
    fn hold(&mut self, key: &[u8], tag: u8) {
        self.held.key.clear();
        self.held.key.extend_from_slice(key);
        self.held.readings.clear();
        let first = tag == VALUE || tag == HEAD;
        match self.decoder.decode_all(self.index, key, READINGS) {
            Err(miss) if first => self.unknown(key, &miss),
            Err(_) => {}
            Ok(found) => {
                if first && found.readings.len() > 1 {
                    self.several(key, &found.readings);
                }
                if let Some(reading) = found.readings.first().filter(|_| first) {
                    self.retired_family(key, reading.family);
                }
                self.held.readings = found.readings;
            }
        }
    }

    /// Whether a key holds what its family says.
    fn is_of_kind(&mut self, tag: u8, family: &Family, key: &[u8], head: &[u8]) -> bool {
        let kind = match (tag, head.first()) {
            (VALUE, _) => Some(FamilyKind::Key),
            (_, Some(1)) => Some(FamilyKind::Set),
            (_, Some(2)) => Some(FamilyKind::Hash),
            (_, Some(3)) => Some(FamilyKind::Zset),
            (_, Some(4)) => Some(FamilyKind::Queue),
            _ => None,
        };
        if kind == Some(family.kind) {
            return true;
        }
        let word = kind.map_or("nothing that is known", FamilyKind::keyword);
        let message = format!("it is a {word} where the plan has a {}", family.kind.keyword());
        self.member_fault(family, &format!("kind {word}"), None, message, key, head);
        false
    }

    /// Looks at a field's value or a member: its arguments, if it is what the layout says.
    fn part(
        &mut self,
        family: &'p Family,
        layout: Option<&'p Sequence>,
        title: &str,
        key: &[u8],
        bytes: &[u8],
    ) -> Option<Vec<Value>> {
        let layout = layout?;
        self.audited.values += 1;
        if let Some((offset, segment, message)) = self.value_fault(layout, bytes) {
            let message = format!("{title}: {message}");
            self.member_fault(family, &format!("{title} {segment}"), offset, message, key, bytes);
            return None;
        }
        readings(layout, bytes, 1).ok()?.readings.pop()
    }

    fn score(&mut self, family: &Family, key: &[u8], member: &[u8], value: &[u8]) {
        let Some(layout) = &family.score else { return };
        let told = match value.split_first() {
            Some((0, rest)) => rest.get(..8).and_then(|bytes| FloatOrdered.decode(bytes).ok()).map(Some),
            Some((1, rest)) => rest.get(..13).and_then(|bytes| ScoreExact.decode(bytes).ok()).map(|_| None),
            _ => None,
        };
        let message = match told {
            None => "the score is not one".to_owned(),
            Some(number) => match look_at_rank(layout, number) {
                Looked::Unsound(message) => message,
                _ => return,
            },
        };
        self.member_fault(family, "score", None, message, key, member);
    }

    fn member_fault(
        &mut self,
        family: &Family,
        label: &str,
        offset: Option<usize>,
        message: String,
        key: &[u8],
        bytes: &[u8],
    ) {
        let label = format!("{} {label}", family.path);
        let shown = || Example { value: Some(shown(bytes)), ..example(key) };
        self.add(FindingKind::Member, &label, vec![family.path.clone()], offset, || message, shown);
    }
}

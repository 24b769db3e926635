//! Which family of the new plan is which of the old one.

use std::collections::{BTreeMap, BTreeSet};

use keyplan_plan::diag::Span;
use keyplan_plan::model::{
    Argument, BytesEncoding, Family, LengthSet, Literal, Plan, Retired, Scan, Segment, Sequence, Shape, Space,
};

use super::{Broken, Change, Fate, Part, Remade, fate, same};
use crate::automaton::Arena;
use crate::guarantee::Guarantee;
use crate::guarantee::overlap::law::disjoint;
use crate::layout::Layout;
use crate::product::Budget;
use crate::proof::{Report, Side, Verdict};
use crate::sample;

/// The steps that all products of a comparison may take.
const STEPS: u64 = 10_000_000;

/// Compares two plans: what became of every space, family, field, member, score, value and retired prefix of `old`,
/// and what is new in `new`. `report` is what was proved of `new`.
///
/// The changes come by space, path and part, whatever the order of declarations.
pub fn compare(old: &Plan, new: &Plan, report: &Report) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut budget = Budget { steps: STEPS };
    for (before, after) in paired_spaces(old, new) {
        let mut pair = Pair { before, after, report, budget, changes: Vec::new() };
        pair.compare();
        budget = pair.budget;
        changes.extend(pair.changes);
    }
    changes.sort_by(|a, b| (&a.space, &a.subject, a.part).cmp(&(&b.space, &b.subject, b.part)));
    changes
}

/// Whether two spaces are the same one, by one way of telling.
type Test<'t> = &'t dyn Fn(&Space, &Space) -> bool;

/// The spaces that are the same: by name, else by the name that the engine knows, else by the names of their families.
pub(super) fn paired_spaces<'p>(old: &'p Plan, new: &'p Plan) -> Vec<(Option<&'p Space>, Option<&'p Space>)> {
    let mut before: Vec<&Space> = old.spaces.iter().collect();
    let mut after: Vec<&Space> = new.spaces.iter().collect();
    before.sort_by(|a, b| a.name.cmp(&b.name));
    after.sort_by(|a, b| a.name.cmp(&b.name));
    let same_families = |a: &Space, b: &Space| {
        let paths = |space: &Space| -> BTreeSet<String> {
            space.families.iter().map(|family| family.local_path().to_owned()).collect()
        };
        !a.families.is_empty() && paths(a) == paths(b)
    };
    let tests: [Test<'_>; 3] =
        [&|a, b| a.name == b.name, &|a, b| a.engine_name() == b.engine_name(), &same_families];
    let mut pairs = Vec::new();
    for same in tests {
        before.retain(|space| match after.iter().position(|other| same(space, other)) {
            Some(index) => {
                pairs.push((Some(*space), Some(after.remove(index))));
                false
            }
            None => true,
        });
    }
    pairs.extend(before.into_iter().map(|space| (Some(space), None)));
    pairs.extend(after.into_iter().map(|space| (None, Some(space))));
    pairs
}

struct Pair<'p> {
    before: Option<&'p Space>,
    after: Option<&'p Space>,
    report: &'p Report,
    budget: Budget,
    changes: Vec<Change>,
}

/// A layout of the old plan whose keys may still be there.
struct Stale {
    name: String,
    /// The family of the new plan that has taken its place.
    successor: Option<String>,
    sequence: Sequence,
}

impl Pair<'_> {
    fn space(&self) -> String {
        self.after.or(self.before).map(|space| space.name.clone()).unwrap_or_default()
    }

    /// Says what became of something that `of` has: a family of the new plan, or of the old one if it is gone.
    fn say(
        &mut self,
        of: Option<&Family>,
        (previous, subject): (&str, &str),
        part: Part,
        fate: Fate,
        span: Span,
    ) {
        self.changes.push(Change {
            space: self.space(),
            of: of.map(|family| family.path.clone()),
            subject: subject.to_owned(),
            previous: (subject != previous).then(|| previous.to_owned()),
            part,
            fate,
            span,
        });
    }

    fn compare(&mut self) {
        let none = Vec::new();
        let before = self.before.map_or(&none, |space| &space.families);
        let after = self.after.map_or(&none, |space| &space.families);
        if let (Some(old), Some(new)) = (self.before, self.after)
            && old.engine_name() != new.engine_name()
        {
            let fate = Fate::Moved { from: old.engine_name().to_owned(), to: new.engine_name().to_owned() };
            self.say(None, (&old.name, &new.name), Part::Space, fate, new.span);
        }
        let (pairs, gone, fresh) = paired_families(before, after);
        let mut stale = Vec::new();
        let mut grown: Vec<&Family> = Vec::new();
        for (old, new) in pairs {
            let fate = self.family(old, new);
            if !matches!(fate, Fate::Same | Fate::Widened { .. }) {
                let (name, successor) = (old.path.clone(), Some(new.path.clone()));
                stale.push(Stale { name, successor, sequence: old.key.clone() });
            }
            if fate != Fate::Same {
                grown.push(new);
            }
        }
        for old in gone {
            self.removed(old);
            stale.push(Stale { name: old.path.clone(), successor: None, sequence: old.key.clone() });
        }
        let retired: Vec<&Retired> = self.before.map(all_retired).unwrap_or_default();
        for entry in &retired {
            self.unretired(entry);
            let name = format!("the retired prefix {}", super::Hex(&entry.prefix));
            stale.push(Stale { name, successor: None, sequence: reserved(&entry.prefix) });
        }
        for family in &fresh {
            let meets = self.meets(family, &stale);
            self.added(family, meets);
        }
        // A family that has grown or moved may have grown over what others left behind.
        for family in grown {
            let meets = self.meets(family, &stale);
            if !meets.is_empty() {
                self.added(family, meets);
            }
        }
    }

    fn added(&mut self, new: &Family, meets: Vec<(String, Verdict)>) {
        let fate = Fate::Added { meets };
        self.say(Some(new), (&new.path, &new.path), Part::Key, fate, new.name_span);
    }

    /// A family of both plans; gives what became of its keys.
    fn family(&mut self, old: &Family, new: &Family) -> Fate {
        let mut keys = if old.kind == new.kind {
            fate(&new.path, &old.key, &old.path, &new.key)
        } else {
            let why = format!("a {} is a {} now", old.kind.keyword(), new.kind.keyword());
            match example(old) {
                Some(side) => Fate::Changed(Box::new(Broken { old: side, new: Remade::Retyped(why) })),
                None => Fate::Unknown("it holds another structure"),
            }
        };
        if let Fate::Widened { lost, .. } = &mut keys {
            *lost = self.lost(&new.path);
        }
        self.say(Some(new), (&old.path, &new.path), Part::Key, keys.clone(), new.name_span);
        if old.retired.is_some() && new.retired.is_none() {
            self.say(Some(new), (&old.path, &new.path), Part::Key, Fate::Revived, new.name_span);
        }
        self.scans(old, new, &keys);
        if old.kind != new.kind {
            return keys;
        }
        self.part(
            new,
            Part::Value,
            (&old.path, old.value.as_ref()),
            (&new.path, new.value.as_ref()),
            new.name_span,
        );
        self.part(
            new,
            Part::Member,
            (&old.path, old.member.as_ref()),
            (&new.path, new.member.as_ref()),
            new.name_span,
        );
        self.part(
            new,
            Part::Score,
            (&old.path, old.score.as_ref()),
            (&new.path, new.score.as_ref()),
            new.name_span,
        );
        self.fields(old, new);
        keys
    }

    /// What became of the scans of a family of both plans.
    fn scans(&mut self, old: &Family, new: &Family, keys: &Fate) {
        if new.retired.is_some() {
            return;
        }
        let bound = |family: &Family, scan: &Scan| -> Vec<String> {
            let names = scan.layout(&family.key).arguments().take(scan.value_count());
            names.map(|argument| argument.name.clone().unwrap_or_default()).collect()
        };
        let still = matches!(keys, Fate::Same | Fate::Widened { .. });
        // What is only claimed of a program is not called, and nothing is lost with it.
        for scan in old.scans.iter().filter(|scan| scan.is_called()) {
            let by = bound(old, scan);
            let part = |scan: &Scan| scan.part.as_ref().map(|part| part.segment);
            let alike = |other: &&Scan| {
                other.is_called()
                    && (other.bound, part(other), other.bare) == (scan.bound, part(scan), scan.bare)
                    && (!scan.with.is_empty() || other.with.is_empty())
            };
            let mut found = new.scans.iter().filter(alike);
            let found = found.find(|other| still || bound(new, other) == by);
            let fate = match found {
                None => Fate::ScanLost(by),
                Some(found) if scan.in_order && !found.in_order => Fate::OrderLost(by),
                Some(_) => continue,
            };
            self.say(Some(new), (&old.path, &new.path), Part::Key, fate, new.name_span);
        }
    }

    fn part(
        &mut self,
        of: &Family,
        part: Part,
        (previous, old): (&str, Option<&Sequence>),
        (path, new): (&str, Option<&Sequence>),
        span: Span,
    ) {
        let fate = match (old, new) {
            (None, None) => return,
            (Some(old), Some(new)) => fate(path, old, previous, new),
            (Some(_), None) => Fate::Unknown("the new plan does not say what it holds"),
            (None, Some(_)) => Fate::Unknown("the old plan does not say what it holds"),
        };
        self.say(Some(of), (previous, path), part, fate, span);
    }

    fn fields(&mut self, old: &Family, new: &Family) {
        let mut stale = Vec::new();
        let mut left: Vec<_> = new.fields.iter().collect();
        for field in &old.fields {
            let previous = old.path_of(&field.name);
            let place = left.iter().position(|other| other.name == field.name).or_else(|| {
                left.iter().position(|other| {
                    !old.fields.iter().any(|field| field.name == other.name) && same(&field.key, &other.key)
                })
            });
            let Some(other) = place.map(|index| left.remove(index)) else {
                let example =
                    sample::rows(&field.key, 1).iter().find_map(|row| Side::key(&previous, &field.key, row));
                self.say(
                    Some(new),
                    (&previous, &previous),
                    Part::Field,
                    Fate::Removed { retired: None, example, bare: false },
                    new.name_span,
                );
                stale.push(Stale { name: previous, successor: None, sequence: field.key.clone() });
                continue;
            };
            let path = new.path_of(&other.name);
            let mut keys = fate(&path, &field.key, &previous, &other.key);
            if let Fate::Widened { lost, .. } = &mut keys {
                *lost = self.lost(&path);
            }
            if !matches!(keys, Fate::Same | Fate::Widened { .. }) {
                let successor = Some(path.clone());
                stale.push(Stale { name: previous.clone(), successor, sequence: field.key.clone() });
            }
            self.say(Some(new), (&previous, &path), Part::Field, keys, other.span);
            self.part(
                new,
                Part::Value,
                (&previous, field.value.as_ref()),
                (&path, other.value.as_ref()),
                other.span,
            );
        }
        for field in left {
            let path = new.path_of(&field.name);
            let meets = self.meetings(&path, &field.key, &stale);
            self.say(Some(new), (&path, &path), Part::Field, Fate::Added { meets }, field.span);
        }
    }

    fn removed(&mut self, old: &Family) {
        let literal = old.key.literal_prefix();
        let all = self.after.map(all_retired).unwrap_or_default();
        let retired =
            all.iter().map(|entry| &entry.prefix).find(|prefix| literal.starts_with(prefix)).cloned();
        let span = self.after.map(|space| space.span).unwrap_or_default();
        let fate = Fate::Removed { retired, example: example(old), bare: literal.is_empty() };
        self.say(Some(old), (&old.path, &old.path), Part::Key, fate, span);
    }

    /// A prefix that the new plan no longer keeps from coming back.
    fn unretired(&mut self, entry: &Retired) {
        let all = self.after.map(all_retired).unwrap_or_default();
        if !all.iter().any(|other| entry.prefix.starts_with(&other.prefix)) {
            let subject = format!("{}", super::Hex(&entry.prefix));
            let span = self.after.map(|space| space.span).unwrap_or_default();
            self.say(None, (&subject, &subject), Part::Retired, Fate::Revived, span);
        }
    }

    fn meets(&mut self, family: &Family, stale: &[Stale]) -> Vec<(String, Verdict)> {
        if family.retired.is_some() {
            return Vec::new();
        }
        self.meetings(&family.path, &family.key, stale)
    }

    /// What a new layout meets of that which may have been left behind.
    fn meetings(&mut self, path: &str, sequence: &Sequence, stale: &[Stale]) -> Vec<(String, Verdict)> {
        let mut arena = Arena::new();
        let layout = Layout::new(&mut arena, path, sequence, BTreeSet::new());
        let mut meets = Vec::new();
        for old in stale.iter().filter(|old| old.successor.as_deref() != Some(path)) {
            // The name sets the old one apart from a new one with the same path.
            let name = format!("{} (old)", old.name);
            let other = Layout::new(&mut arena, &name, &old.sequence, BTreeSet::new());
            match disjoint(&mut arena, &layout, &other, &mut self.budget) {
                Verdict::Holds => {}
                verdict => meets.push((old.name.clone(), verdict)),
            }
        }
        meets
    }

    /// The guarantees without which an old key may be read as something else, as far as they do not hold.
    fn lost(&self, path: &str) -> Vec<Guarantee> {
        const NEEDED: [Guarantee; 4] =
            [Guarantee::Disjoint, Guarantee::Unambiguous, Guarantee::NoForeignRows, Guarantee::NoSiblingRows];
        let about = |statement: &&crate::Statement| {
            statement.family == path || statement.other.as_deref() == Some(path)
        };
        let findings = self.report.findings().filter(about).map(|statement| statement.guarantee);
        let lost: BTreeSet<Guarantee> = findings.filter(|guarantee| NEEDED.contains(guarantee)).collect();
        lost.into_iter().collect()
    }
}

pub(super) type Paired<'p> = (Vec<(&'p Family, &'p Family)>, Vec<&'p Family>, Vec<&'p Family>);

/// Families by their path in the space; of the others, those whose bytes are all the same.
pub(super) fn paired_families<'p>(old: &'p [Family], new: &'p [Family]) -> Paired<'p> {
    let by_path = |families: &'p [Family]| -> BTreeMap<&'p str, &'p Family> {
        families.iter().map(|family| (family.local_path(), family)).collect()
    };
    let (mut before, mut after) = (by_path(old), by_path(new));
    let mut pairs = Vec::new();
    before.retain(|path, family| match after.remove(path) {
        Some(other) => {
            pairs.push((*family, other));
            false
        }
        None => true,
    });
    before.retain(|_, family| {
        let twin = after.iter().find(|(_, other)| identical(family, other)).map(|(path, _)| *path);
        match twin.and_then(|path| after.remove(path)) {
            Some(other) => {
                pairs.push((*family, other));
                false
            }
            None => true,
        }
    });
    (pairs, before.into_values().collect(), after.into_values().collect())
}

/// Whether two families of different names write the same bytes throughout.
fn identical(old: &Family, new: &Family) -> bool {
    let both = |a: Option<&Sequence>, b: Option<&Sequence>| match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => same(a, b),
        _ => false,
    };
    old.kind == new.kind
        && same(&old.key, &new.key)
        && both(old.value.as_ref(), new.value.as_ref())
        && both(old.member.as_ref(), new.member.as_ref())
        && both(old.score.as_ref(), new.score.as_ref())
        && old.fields.len() == new.fields.len()
        && old.fields.iter().all(|field| {
            let twin = |other: &keyplan_plan::model::Field| {
                other.name == field.name
                    && same(&field.key, &other.key)
                    && both(field.value.as_ref(), other.value.as_ref())
            };
            new.fields.iter().any(twin)
        })
}

pub(super) fn all_retired(space: &Space) -> Vec<&Retired> {
    space.retired.iter().chain(space.modules.iter().flat_map(|module| &module.retired)).collect()
}

/// A key of a family.
fn example(family: &Family) -> Option<Side> {
    sample::rows(&family.key, 16).iter().find_map(|row| Side::key(&family.path, &family.key, row))
}

/// Every key that begins with a prefix, as a layout.
pub(super) fn reserved(prefix: &[u8]) -> Sequence {
    let span = Span::default();
    let literal = Literal { bytes: prefix.to_vec(), spelling: String::new(), hashed: None, span };
    let shape = Shape::Bytes { lengths: LengthSet::ANY, encoding: BytesEncoding::Raw };
    let rest = Argument {
        name: Some("rest".to_owned()),
        type_name: None,
        shape,
        shown: None,
        doc: Vec::new(),
        span,
    };
    Sequence::new(vec![Segment::Literal(literal), Segment::Argument(rest)])
}

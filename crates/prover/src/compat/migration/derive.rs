//! Which family of the new plan the rows of an old one become, and how.

use std::collections::BTreeMap;

use keyplan_plan::diag::Span;
use keyplan_plan::mapping::{
    Arguments, Carried, Course, FieldPassage, Mapping, Passage, Place, Route, Unmatched,
};
use keyplan_plan::model::{BindingSource, Family, MisfitRule, Plan, Predecessor, Segment, Sequence, Space};

use crate::compat::families::{all_retired, paired_families, paired_spaces};
use crate::compat::relate::{Relation, relate};

/// A mapping as far as two plans give one, and what they leave open.
pub(super) struct Derived {
    pub(super) mapping: Mapping,
    pub(super) gaps: Vec<Gap>,
}

/// Something that two plans leave open.
pub(super) struct Gap {
    /// The index of the route.
    pub(super) route: usize,
    pub(super) kind: GapKind,
    pub(super) to: Option<Place>,
    pub(super) why: String,
    pub(super) span: Span,
}

#[derive(Clone, Copy)]
pub(super) enum GapKind {
    /// Arguments do not match.
    Arguments,
    /// A family has no successor, or several.
    Family,
}

pub(super) fn derive(old: &Plan, new: &Plan) -> Derived {
    let heirs = Heirs::new(old, new);
    let (mut routes, mut gaps) = (Vec::new(), Vec::new());
    for (space_index, space) in old.spaces.iter().enumerate() {
        for (family_index, family) in space.families.iter().enumerate() {
            let from = Place { space: space_index, family: family_index, path: family.path.clone() };
            let course = match heirs.course(new, space, family, &from.path) {
                Ok(course) => course,
                Err(gap) => {
                    gaps.push(Gap { route: routes.len(), ..gap });
                    Course::Unspoken
                }
            };
            routes.push(Route { from, course, readable: false });
        }
    }
    Derived { mapping: Mapping { routes }, gaps }
}

/// For each old family, the new ones that take its rows.
struct Heirs<'p> {
    named: BTreeMap<String, Vec<(Place, &'p Family, &'p Predecessor)>>,
    by_path: BTreeMap<String, (Place, &'p Family)>,
    dropped: BTreeMap<String, String>,
    // The new space of an old one.
    spaces: BTreeMap<String, &'p Space>,
}

impl<'p> Heirs<'p> {
    fn new(old: &'p Plan, new: &'p Plan) -> Self {
        let mut heirs = Self {
            named: BTreeMap::new(),
            by_path: BTreeMap::new(),
            dropped: BTreeMap::new(),
            spaces: BTreeMap::new(),
        };
        let mut places: BTreeMap<String, Place> = BTreeMap::new();
        for (space_index, space) in new.spaces.iter().enumerate() {
            for (family_index, family) in space.families.iter().enumerate() {
                let path = family.path.clone();
                let place = Place { space: space_index, family: family_index, path: path.clone() };
                for said in &family.predecessors {
                    if let [(_, before)] = old.find(&said.family).as_slice() {
                        let all = heirs.named.entry(before.path.clone()).or_default();
                        all.push((place.clone(), family, said));
                    }
                }
                places.insert(path, place);
            }
            for dropped in &space.dropped {
                if let [(_, before)] = old.find(&dropped.family).as_slice() {
                    heirs.dropped.insert(before.path.clone(), dropped.why.clone());
                }
            }
        }
        for (before, after) in paired_spaces(old, new) {
            let (Some(before), Some(after)) = (before, after) else { continue };
            heirs.spaces.insert(before.name.clone(), after);
            for (old_family, family) in paired_families(&before.families, &after.families).0 {
                // A family that says where its rows come from has no other predecessor.
                let said = family.predecessors.iter().any(|said| old.find(&said.family).len() == 1);
                if let Some(place) = places.get(&family.path).filter(|_| !said) {
                    heirs.by_path.insert(old_family.path.clone(), (place.clone(), family));
                }
            }
        }
        heirs
    }

    fn course(&self, new: &Plan, space: &Space, family: &Family, path: &str) -> Result<Course, Gap> {
        let gap = |kind, to, why, span| Gap { route: 0, kind, to, why, span };
        match (self.named.get(path).map_or(&[][..], Vec::as_slice), self.dropped.get(path)) {
            ([], Some(why)) => return Ok(Course::Dropped { why: why.clone() }),
            ([(place, heir, said)], None) => {
                return passage(new, space, family, place, heir, Some(said))
                    .map_err(|why| gap(GapKind::Arguments, Some(place.clone()), why, said.span));
            }
            ([], None) => {}
            (several, _) => {
                let names: Vec<&str> = several.iter().map(|(place, ..)| place.path.as_str()).collect();
                let span = several.first().map(|(_, _, said)| said.span).unwrap_or_default();
                let why = format!("its rows are claimed more than once: {}", names.join(", "));
                return Err(gap(GapKind::Family, None, why, span));
            }
        }
        if let Some((place, heir)) = self.by_path.get(path) {
            return passage(new, space, family, place, heir, None)
                .map_err(|why| gap(GapKind::Arguments, Some(place.clone()), why, heir.name_span));
        }
        let after = self.spaces.get(&space.name);
        let literal = family.key.literal_prefix();
        let retired = after.into_iter().flat_map(|space| all_retired(space));
        let same_place = after.is_some_and(|after| after.engine_name() == space.engine_name());
        let prefix = retired.map(|entry| &entry.prefix).find(|prefix| literal.starts_with(prefix));
        if let Some(prefix) = prefix.filter(|_| same_place) {
            return Ok(Course::Retired { prefix: prefix.clone() });
        }
        let span = after.map(|space| space.span).unwrap_or_default();
        let why = "no family comes from it, no prefix of it is retired, and it is not dropped by name";
        Err(gap(GapKind::Family, None, why.to_owned(), span))
    }
}

/// How the rows of one family become those of another.
fn passage(
    new: &Plan,
    space: &Space,
    old: &Family,
    place: &Place,
    heir: &Family,
    said: Option<&Predecessor>,
) -> Result<Course, String> {
    if old.kind != heir.kind {
        return Err(format!("a {} is a {} now", old.kind.keyword(), heir.kind.keyword()));
    }
    let renamed = renamed(&old.key, said);
    let stays = new.spaces.get(place.space).is_some_and(|after| after.engine_name() == space.engine_name());
    let same_key = renamed.as_ref().is_some_and(|renamed| fits(renamed, &heir.key));
    let value = carried(old.value.as_ref(), heir.value.as_ref(), "the value")?;
    let member = carried(old.member.as_ref(), heir.member.as_ref(), "the member")?;
    let score = carried(old.score.as_ref(), heir.score.as_ref(), "the score")?;
    let fields = fields(old, heir)?;
    let verbatim = [&value, &member, &score].into_iter().all(|carried| *carried == Carried::Verbatim)
        && fields.iter().all(|field| field.key == Carried::Verbatim && field.value == Carried::Verbatim);
    if stays && same_key && verbatim {
        return Ok(Course::Kept { to: place.clone() });
    }
    let key = Arguments::between(&old.key, old.value.as_ref(), &heir.key, said)
        .map_err(|open| shown(Some(&old.path), &open))?;
    Ok(Course::Moved(Box::new(Passage {
        to: place.clone(),
        key,
        value,
        member,
        score,
        fields,
        fitting: said.is_some_and(|said| said.fitting),
        rule: said.map_or(MisfitRule::Refuse, |said| said.rule),
        staged: false,
    })))
}

/// What nothing says of the arguments of an old layout, and of a family's key how it is said.
fn shown(from: Option<&str>, open: &Unmatched) -> String {
    let list = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let mut all = Vec::new();
    if let Some(first) = open.new.first() {
        let way = from.map(|from| {
            format!(": `from {from}({first} = …)` names an old argument, or a constant in quotes")
        });
        all.push(format!("nothing says where {} comes from{}", list(&open.new), way.unwrap_or_default()));
    }
    if let Some(first) = open.old.first() {
        let way = from.map(|from| format!(": `from {from}(drop {first})` gives it up"));
        all.push(format!("nothing says what becomes of {}{}", list(&open.old), way.unwrap_or_default()));
    }
    if !open.unknown.is_empty() {
        all.push(format!("the old family has no {}", list(&open.unknown)));
    }
    all.join("; ")
}

/// The old key with the names that a `from` clause gives its arguments; `None` if it says more than names.
fn renamed(key: &Sequence, said: Option<&Predecessor>) -> Option<Sequence> {
    let Some(said) = said else { return Some(key.clone()) };
    if !said.dropped.is_empty() {
        return None;
    }
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    for binding in &said.bindings {
        let BindingSource::Argument(old) = &binding.source else { return None };
        if names.insert(old, &binding.argument).is_some() {
            return None;
        }
    }
    let segments = key.segments().iter().cloned().map(|segment| match segment {
        Segment::Argument(mut argument) => {
            let known = argument.name.as_deref().and_then(|name| names.get(name));
            if let Some(name) = known {
                argument.name = Some((*name).to_owned());
            }
            Segment::Argument(argument)
        }
        segment => segment,
    });
    Some(Sequence::new(segments.collect()))
}

/// Whether every old argument list is written as the same bytes.
fn fits(old: &Sequence, new: &Sequence) -> bool {
    matches!(relate(old, new), Relation::Fits(_))
}

/// What becomes of a layout that is not a key.
fn carried(old: Option<&Sequence>, new: Option<&Sequence>, what: &str) -> Result<Carried, String> {
    let (Some(old), Some(new)) = (old, new) else { return Ok(Carried::Verbatim) };
    if fits(old, new) {
        return Ok(Carried::Verbatim);
    }
    let arguments = Arguments::between(old, None, new, None);
    arguments.map(Carried::Converted).map_err(|open| format!("{what}: {}", shown(None, &open)))
}

fn fields(old: &Family, new: &Family) -> Result<Vec<FieldPassage>, String> {
    let field = |field: &keyplan_plan::model::Field| {
        let same = new.fields.iter().position(|other| other.name == field.name);
        let to = same.ok_or_else(|| format!("the field `{}` is gone", field.name))?;
        let other = new.fields.get(to).ok_or("the field is gone")?;
        let what = format!("the field `{}`", field.name);
        let key = carried(Some(&field.key), Some(&other.key), &what)?;
        let value = carried(field.value.as_ref(), other.value.as_ref(), &format!("the value of {what}"))?;
        Ok(FieldPassage { to, key, value })
    };
    old.fields.iter().map(field).collect()
}

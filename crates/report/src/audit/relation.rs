//! Rows that rows refer to: a lookup for each, with the last answers kept.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use keyplan_plan::dynamic::{Decoded, Value, encode, parse, readings};
use keyplan_plan::mapping::{Misfit, bare, convert_value};
use keyplan_plan::model::{
    Argument, Family, Opaque, Plan, Reference, ReferenceSource, Relation, Sequence, Shape,
};
use keyplan_plan::notation::assignments;
use keyplan_store::engine::SpaceId;
use keyplan_store::source::{SourceError, View};
use keyplan_values::{Data, Node};

use super::structured::tag;
use crate::binding::Binding;
use crate::structure::is_structured;
use crate::values::{has_schema, read};

/// How many answers are kept: rows that refer to one row mostly come one after the other.
const KEPT: usize = 4096;
/// Keys above this are not kept.
const LONGEST_KEPT: usize = 256;

/// A relation of a family, and where its rows are.
#[derive(Debug)]
pub(super) struct Asked<'p> {
    pub(super) relation: &'p Relation,
    family: &'p Family,
    /// What a key begins with in a space of structures.
    tag: Option<u8>,
    space: Option<SpaceId>,
    /// How many rows were asked for.
    pub(super) rows: u64,
}

/// What a row refers to.
#[derive(Debug, PartialEq)]
enum Target {
    /// The row of this key.
    Key(Vec<u8>, Vec<Value>),
    /// No row can be: an argument is outside of the other family's domain.
    Impossible(String),
    /// Nothing: a part is absent, or does not decode, which is a fault of its own.
    Nothing,
}

/// A row that may refer to others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'r, 'p> {
    /// What its key stands for.
    pub(super) decoded: &'r Decoded<'p>,
    /// Its value.
    pub(super) value: &'r [u8],
    /// The member that it is, in a space of structures.
    pub(super) member: Option<&'r [Value]>,
}

/// A row that is referred to and is not there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Missing {
    /// Which relation of the family it is.
    pub(super) relation: usize,
    /// The row, as a person reads it: `cl.pool pool_id=7`.
    pub(super) target: String,
}

/// The relations of every family of a space, asked of one moment of a source.
pub(super) struct Relations<'p, 'v> {
    view: &'v dyn View,
    /// By the index of the family in its space.
    families: Vec<Vec<Asked<'p>>>,
    kept: Vec<Option<(SpaceId, Vec<u8>, bool)>>,
    /// Why relations could not be asked.
    pub(super) unasked: Vec<String>,
}

impl<'p, 'v> Relations<'p, 'v> {
    pub(super) fn new(plan: &'p Plan, space: usize, binding: &Binding, view: &'v dyn View) -> Self {
        let mut unasked = Vec::new();
        let families = plan.spaces.get(space).map_or(&[][..], |space| &space.families);
        let families: Vec<Vec<Asked<'p>>> = families
            .iter()
            .map(|family| {
                let asked = |relation: &'p Relation| asked(plan, binding, family, relation, &mut unasked);
                family.relations.iter().filter_map(asked).collect()
            })
            .collect();
        let any = families.iter().any(|asked| !asked.is_empty());
        Self { view, families, kept: if any { vec![None; KEPT] } else { Vec::new() }, unasked }
    }

    /// Whether the family at this place has relations.
    pub(super) fn has(&self, family: usize) -> bool {
        self.families.get(family).is_some_and(|asked| !asked.is_empty())
    }

    /// The relations of the family at this place.
    pub(super) fn of(&self, family: usize) -> &[Asked<'p>] {
        self.families.get(family).map_or(&[], Vec::as_slice)
    }

    /// How many rows were asked for.
    pub(super) fn rows(&self) -> u64 {
        self.families.iter().flatten().map(|asked| asked.rows).sum()
    }

    /// The rows that one reading of a row refers to and that are not there.
    pub(super) fn missing(&mut self, at: usize, row: &Row<'_, '_>) -> Result<Vec<Missing>, SourceError> {
        let mut missing = Vec::new();
        for index in 0..self.of(at).len() {
            let Some(asked) = self.families.get_mut(at).and_then(|asked| asked.get_mut(index)) else { break };
            let Some(space) = asked.space else { continue };
            // What is said of members is asked for each of them, the rest once for the key.
            if asked.relation.reads_member() != row.member.is_some() {
                continue;
            }
            let family = asked.family;
            let (mut key, values) = match target(asked.relation, family, row) {
                Target::Nothing => continue,
                Target::Key(key, values) => (key, values),
                Target::Impossible(why) => {
                    asked.rows += 1;
                    let target = format!("no row of {}: {why}", family.path);
                    missing.push(Missing { relation: index, target });
                    continue;
                }
            };
            asked.rows += 1;
            key.splice(0..0, asked.tag);
            match self.is_there(space, &key) {
                Ok(true) => {}
                Ok(false) => {
                    let target = if values.is_empty() {
                        family.path.clone()
                    } else {
                        format!("{} {}", family.path, assignments(&family.key, &values))
                    };
                    missing.push(Missing { relation: index, target });
                }
                Err(SourceError::Unsupported { what, .. } | SourceError::Absent { what }) => {
                    let words = self.stop(at, index);
                    self.unasked.push(format!("{words}: the source cannot be asked for a row: {what}"));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(missing)
    }

    /// Asks no further rows for a relation; says which it is.
    fn stop(&mut self, at: usize, index: usize) -> String {
        let Some(asked) = self.families.get_mut(at).and_then(|asked| asked.get_mut(index)) else {
            return String::new();
        };
        asked.space = None;
        format!("relation `{}`", asked.relation.words())
    }

    fn is_there(&mut self, space: SpaceId, key: &[u8]) -> Result<bool, SourceError> {
        if key.len() > LONGEST_KEPT {
            return Ok(self.view.get(space, key)?.is_some());
        }
        let mut hasher = DefaultHasher::new();
        (space.0, key).hash(&mut hasher);
        let slot = usize::try_from(hasher.finish() % KEPT as u64).unwrap_or_default();
        let slot = self.kept.get_mut(slot);
        if let Some(Some((kept_space, kept_key, there))) = &slot
            && *kept_space == space
            && kept_key == key
        {
            return Ok(*there);
        }
        let there = self.view.get(space, key)?.is_some();
        if let Some(slot) = slot {
            *slot = Some((space, key.to_vec(), there));
        }
        Ok(there)
    }
}

/// A relation with the place of its rows, or why they cannot be asked for.
fn asked<'p>(
    plan: &'p Plan,
    binding: &Binding,
    own: &Family,
    relation: &'p Relation,
    unasked: &mut Vec<String>,
) -> Option<Asked<'p>> {
    let mut refuse = |why: String| {
        unasked.push(format!("`{}` {}: {why}", own.path, relation.words()));
        None
    };
    let found = plan.spaces.iter().enumerate().find_map(|(index, space)| {
        let family = space.families.iter().find(|family| family.path == relation.family)?;
        Some((index, space, family))
    });
    let (index, space, family) = found?;
    let Some(&(_, id)) = binding.pairs.iter().find(|(bound, _)| *bound == index) else {
        return refuse(format!("the source has no space `{}`", space.name));
    };
    if let Some(message) = unread(own, relation) {
        return refuse(format!("the plan has no schema of `{message}`, which says what it refers to"));
    }
    let tag = is_structured(space).then(|| tag(family.kind));
    Some(Asked { relation, family, tag, space: Some(id), rows: 0 })
}

/// A message that a relation reads and whose parts have no names, because its schema is missing.
fn unread(own: &Family, relation: &Relation) -> Option<String> {
    relation.bindings.iter().find_map(|reference| {
        let ReferenceSource::Inside { argument, .. } = reference.source else { return None };
        match &own.value.as_ref()?.arguments().nth(argument)?.shape {
            Shape::Opaque(opaque @ Opaque::Proto(message)) if !has_schema(opaque) => {
                Some(message.name.clone())
            }
            _ => None,
        }
    })
}

fn target(relation: &Relation, family: &Family, row: &Row<'_, '_>) -> Target {
    let value = Held::new(row.decoded.family.value.as_ref(), row.value, relation.reads_value());
    let mut values = Vec::with_capacity(relation.bindings.len());
    for (reference, argument) in relation.bindings.iter().zip(family.key.arguments()) {
        match one(reference, argument, row, &value) {
            Ok(Some(value)) => values.push(value),
            Ok(None) => return Target::Nothing,
            Err(why) => return Target::Impossible(why),
        }
    }
    let mut key = Vec::new();
    match encode(&family.key, &values, &mut key) {
        Ok(()) => Target::Key(key, values),
        Err(error) => Target::Impossible(error.to_string()),
    }
}

/// The value of a row, as far as relations need it.
struct Held<'r> {
    layout: Option<&'r Sequence>,
    values: Vec<Value>,
}

impl<'r> Held<'r> {
    fn new(layout: Option<&'r Sequence>, bytes: &[u8], wanted: bool) -> Self {
        let layout = layout.filter(|_| wanted);
        let found = layout.and_then(|layout| readings(layout, bytes, 1).ok());
        let values = found.and_then(|found| found.readings.into_iter().next()).unwrap_or_default();
        Self { layout, values }
    }

    fn shape(&self, argument: usize) -> Option<&'r Shape> {
        self.layout?.arguments().nth(argument).map(|argument| &argument.shape)
    }
}

/// The value of one argument of the other key; `None` if the row has none.
fn one(
    reference: &Reference,
    argument: &Argument,
    row: &Row<'_, '_>,
    value: &Held<'_>,
) -> Result<Option<Value>, String> {
    match &reference.source {
        ReferenceSource::Constant(value) => Ok(Some(value.clone())),
        ReferenceSource::Key(place) => {
            taken(&row.decoded.family.key, &row.decoded.values, place, reference, argument)
        }
        ReferenceSource::Value(place) => match value.layout {
            Some(layout) => taken(layout, &value.values, place, reference, argument),
            None => Ok(None),
        },
        ReferenceSource::Inside { argument: at, path } => {
            let (Some(Shape::Opaque(opaque)), Some(Value::Bytes(bytes))) =
                (value.shape(*at), value.values.get(*at))
            else {
                return Ok(None);
            };
            inside(opaque, bytes, path, reference, argument)
        }
        ReferenceSource::Member(place) => match (&row.decoded.family.member, row.member) {
            (Some(layout), Some(values)) => taken(layout, values, place, reference, argument),
            _ => Ok(None),
        },
    }
}

/// The value at a place of an argument list, as one of the other argument.
fn taken(
    layout: &Sequence,
    values: &[Value],
    place: &[usize],
    reference: &Reference,
    argument: &Argument,
) -> Result<Option<Value>, String> {
    let Some((shape, value)) = found(layout, values, place) else { return Ok(None) };
    // What is absent refers to nothing.
    if *value == Value::Option(None) && !matches!(bare(&argument.shape), Shape::Option(_)) {
        return Ok(None);
    }
    match convert_value(&reference.spelled, shape, &argument.shape, value) {
        Ok(value) => Ok(Some(value)),
        Err(Misfit::Value(why) | Misfit::Kind(why)) => Err(why),
    }
}

fn found<'m, 'v>(
    layout: &'m Sequence,
    values: &'v [Value],
    place: &[usize],
) -> Option<(&'m Shape, &'v Value)> {
    let (first, rest) = place.split_first()?;
    let shape = &layout.arguments().nth(*first)?.shape;
    let value = values.get(*first)?;
    if rest.is_empty() {
        return Some((shape, value));
    }
    match value {
        Value::Record(values) => found(bare(shape).rows().next()?, values, rest),
        _ => None,
    }
}

/// A part of a value in a format of its own, as a value of the other argument.
fn inside(
    opaque: &Opaque,
    bytes: &[u8],
    path: &[String],
    reference: &Reference,
    argument: &Argument,
) -> Result<Option<Value>, String> {
    let Some(Ok(seen)) = read(opaque, bytes) else { return Ok(None) };
    let Some(node) = part(&seen.node, path) else { return Ok(None) };
    let refused = || format!("`{}` is not a value of `{}`", reference.spelled, reference.argument);
    let written = |text: &str| parse(&argument.shape, text).map(Some).map_err(|_| refused());
    let shape = bare(&argument.shape);
    match (&node.data, shape) {
        (Data::Null | Data::Undefined, _) => Ok(None),
        (Data::Bytes(bytes), Shape::Bytes { .. }) => Ok(Some(Value::Bytes(bytes.clone()))),
        (Data::Bytes(bytes), Shape::Text(_)) => {
            String::from_utf8(bytes.clone()).map(|text| Some(Value::Text(text))).map_err(|_| refused())
        }
        (Data::Text(text), Shape::Text(_)) => Ok(Some(Value::Text(text.clone()))),
        (Data::Text(text) | Data::Number(text), _) => written(text),
        (Data::Unsigned(number), _) => written(&number.to_string()),
        (Data::Signed(number), _) => written(&number.to_string()),
        (Data::Bool(truth), Shape::Bool(_)) => Ok(Some(Value::Bool(*truth))),
        _ => Err(refused()),
    }
}

/// Follows names into a tree.
fn part<'n>(node: &'n Node, path: &[String]) -> Option<&'n Node> {
    let Some((name, rest)) = path.split_first() else { return Some(node) };
    let inner = match &node.data {
        Data::Message(record) => {
            record.fields.iter().find(|(field, _)| **field == **name).map(|(_, node)| node)
        }
        Data::Map(pairs) => pairs
            .iter()
            .find(|(key, _)| matches!(&key.data, Data::Text(text) if text == name))
            .map(|(_, node)| node),
        Data::Variant(variant, node) if variant == name => Some(&**node),
        _ => None,
    };
    part(inner?, rest)
}

use std::borrow::Cow;

use super::convert::{Misfit, convert_beside, convert_value, fetch, is_plain};
use super::leaf::{Path, bare, leaves};
use super::{Arguments, Carried, Course, Mapping, Passage, Source};
use crate::dynamic::{Value, encode, readings};
use crate::model::{Family, Field, Plan, Sequence, Shape};

/// Applies a mapping to rows.
#[derive(Debug)]
pub struct Carrier<'p> {
    ways: Vec<Option<Way<'p>>>,
}

impl<'p> Carrier<'p> {
    /// Prepares the routes of a mapping between two plans.
    pub fn new(old: &'p Plan, new: &'p Plan, mapping: &Mapping) -> Self {
        let way = |course: &Course, from: &super::Place| match course {
            Course::Moved(passage) => {
                let (_, before) = from.find(old)?;
                let (_, after) = passage.to.find(new)?;
                Some(Way::new(before, after, passage))
            }
            _ => None,
        };
        Self { ways: mapping.routes.iter().map(|route| way(&route.course, &route.from)).collect() }
    }

    /// How rows of the route at `index` are rewritten; `None` if they are not.
    pub fn way(&self, index: usize) -> Option<&Way<'p>> {
        self.ways.get(index)?.as_ref()
    }
}

/// How the rows of one family become those of another.
#[derive(Debug)]
pub struct Way<'p> {
    /// The old family.
    pub old: &'p Family,
    /// The new family.
    pub new: &'p Family,
    key: Row<'p>,
    value: Bytes<'p>,
    member: Bytes<'p>,
    score: Option<Row<'p>>,
    fields: Vec<FieldWay<'p>>,
    needs_value: bool,
}

/// The bytes of a field and of its value, borrowed where they stay as they are.
pub type NewField<'v> = (Cow<'v, [u8]>, Cow<'v, [u8]>);

/// How one field of a hash becomes one of another.
#[derive(Debug)]
pub struct FieldWay<'p> {
    /// The old field.
    pub old: &'p Field,
    /// The new field.
    pub new: &'p Field,
    key: Bytes<'p>,
    value: Bytes<'p>,
}

impl FieldWay<'_> {
    /// Whether the field and its value have readings under the old layouts.
    pub fn reads(&self, field: &[u8], value: &[u8]) -> bool {
        let fits = |layout: &Sequence, bytes: &[u8]| {
            readings(layout, bytes, 1).is_ok_and(|found| !found.readings.is_empty())
        };
        fits(&self.old.key, field) && self.old.value.as_ref().is_none_or(|layout| fits(layout, value))
    }

    /// The new field and its value.
    pub fn convert<'v>(&self, field: &'v [u8], value: &'v [u8]) -> Result<NewField<'v>, Misfit> {
        let field = self.key.convert(field).map_err(|misfit| misfit.of("the field"))?;
        let value = self.value.convert(value).map_err(|misfit| misfit.of("the value"))?;
        Ok((field, value))
    }
}

impl<'p> Way<'p> {
    /// Prepares one passage.
    pub fn new(old: &'p Family, new: &'p Family, passage: &Passage) -> Self {
        let key = Row::new(&old.key, old.value.as_ref(), &new.key, &passage.key);
        let value = Bytes::new(old.value.as_ref(), new.value.as_ref(), &passage.value, Strictness::Beside);
        let member = Bytes::new(old.member.as_ref(), new.member.as_ref(), &passage.member, Strictness::Key);
        let score = match (old.score.as_ref(), new.score.as_ref(), &passage.score) {
            (Some(old), Some(new), Carried::Converted(arguments)) => {
                Some(Row::new(old, None, new, arguments))
            }
            _ => None,
        };
        let fields = old.fields.iter().zip(&passage.fields).filter_map(|(field, way)| {
            let other = new.fields.get(way.to)?;
            let key = Bytes::new(Some(&field.key), Some(&other.key), &way.key, Strictness::Key);
            let value =
                Bytes::new(field.value.as_ref(), other.value.as_ref(), &way.value, Strictness::Beside);
            Some(FieldWay { old: field, new: other, key, value })
        });
        let fields = fields.collect();
        let needs_value = passage.key.sources.iter().any(|(_, source)| matches!(source, Source::Value(_)));
        Self { old, new, key, value, member, score, fields, needs_value }
    }

    /// The new bytes of a member of a set, a sorted set or a queue.
    pub fn member<'v>(&self, member: &'v [u8]) -> Result<Cow<'v, [u8]>, Misfit> {
        self.member.convert(member)
    }

    /// The values of a new score; `None` if scores stay as they are.
    pub fn score(&self, values: &[Value]) -> Option<Result<Vec<Value>, Misfit>> {
        self.score.as_ref().map(|score| score.convert(values, &[]))
    }

    /// How each field of the old hash becomes one of the new.
    pub fn fields(&self) -> &[FieldWay<'p>] {
        &self.fields
    }

    /// The arguments of the new key.
    pub fn arguments(&self, values: &[Value], value: &[u8]) -> Result<Vec<Value>, Misfit> {
        let beside = if self.needs_value { read(self.old.value.as_ref(), value)? } else { Vec::new() };
        self.key.convert(values, &beside)
    }

    /// Appends the new key of a row, given the arguments of the old key and the old value.
    pub fn key(&self, values: &[Value], value: &[u8], out: &mut Vec<u8>) -> Result<(), Misfit> {
        let arguments = self.arguments(values, value)?;
        encode(&self.new.key, &arguments, out).map_err(|error| Misfit::Value(error.to_string()))
    }

    /// The new value of a row.
    pub fn value<'v>(&self, value: &'v [u8]) -> Result<Cow<'v, [u8]>, Misfit> {
        self.value.convert(value)
    }
}

/// Bytes of a layout that stay, or are decoded and encoded again.
#[derive(Debug)]
struct Bytes<'p>(Option<(&'p Sequence, Row<'p>)>);

/// Whether what is converted tells a row from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strictness {
    /// It does: two values never become one.
    Key,
    /// It does not.
    Beside,
}

impl<'p> Bytes<'p> {
    /// Prepares what was decided of a layout.
    fn new(
        old: Option<&'p Sequence>,
        new: Option<&'p Sequence>,
        carried: &Carried,
        strictness: Strictness,
    ) -> Self {
        Self(match (old, new, carried) {
            (Some(old), Some(new), Carried::Converted(arguments)) => {
                Some((old, Row { strictness, ..Row::new(old, None, new, arguments) }))
            }
            _ => None,
        })
    }

    /// The bytes under the new layout.
    fn convert<'v>(&self, bytes: &'v [u8]) -> Result<Cow<'v, [u8]>, Misfit> {
        let Some((old, row)) = &self.0 else { return Ok(Cow::Borrowed(bytes)) };
        let values = row.convert(&read(Some(old), bytes)?, &[])?;
        let mut out = Vec::new();
        encode(row.new, &values, &mut out).map_err(|error| Misfit::Value(error.to_string()))?;
        Ok(Cow::Owned(out))
    }
}

/// The only reading of bytes.
fn read(layout: Option<&Sequence>, bytes: &[u8]) -> Result<Vec<Value>, Misfit> {
    let Some(layout) = layout else { return Ok(Vec::new()) };
    let mut found = readings(layout, bytes, 2).map_err(|failure| Misfit::Value(failure.to_string()))?;
    match (found.readings.pop(), found.more) {
        (Some(values), false) => Ok(values),
        _ => Err(Misfit::Value("it has several readings".to_owned())),
    }
}

/// A prepared argument list.
#[derive(Debug)]
struct Row<'p> {
    new: &'p Sequence,
    slots: Vec<Slot<'p>>,
    strictness: Strictness,
}

#[derive(Debug)]
enum Slot<'p> {
    Taken { path: Path, from: From, name: String, old: &'p Shape, new: &'p Shape, plain: bool },
    Constant(Value),
    Record(Vec<Slot<'p>>),
    Absent,
    // A source that the layouts do not have: no row has such a key.
    Missing,
}

/// Which argument list a value is taken from.
#[derive(Clone, Copy, Debug)]
enum From {
    Key,
    Value,
}

impl<'p> Row<'p> {
    fn new(old: &'p Sequence, value: Option<&'p Sequence>, new: &'p Sequence, arguments: &Arguments) -> Self {
        let slots = slots(old, value, new, new, arguments, &[]);
        Self { new, slots, strictness: Strictness::Key }
    }

    fn convert(&self, values: &[Value], beside: &[Value]) -> Result<Vec<Value>, Misfit> {
        row(&self.slots, values, beside, self.strictness)
    }
}

fn slots<'p>(
    old: &'p Sequence,
    value: Option<&'p Sequence>,
    whole: &'p Sequence,
    new: &'p Sequence,
    arguments: &Arguments,
    base: &[usize],
) -> Vec<Slot<'p>> {
    let (before, _) = leaves(old, whole);
    let slot = |(index, argument): (usize, &'p crate::model::Argument)| {
        let path: Path = base.iter().copied().chain([index]).collect();
        let source = arguments.sources.iter().find(|(place, _)| *place == path).map(|(_, source)| source);
        let taken = |path: &Path, from: From, name: &str, old: &'p Shape| Slot::Taken {
            path: path.clone(),
            from,
            name: name.to_owned(),
            old,
            new: &argument.shape,
            plain: is_plain(old, &argument.shape),
        };
        match source {
            Some(Source::Constant(value)) => Slot::Constant(value.clone()),
            Some(Source::Key(from)) => match before.iter().find(|leaf| leaf.path == *from) {
                Some(leaf) => taken(from, From::Key, &leaf.name, leaf.shape),
                None => Slot::Missing,
            },
            Some(Source::Value(from)) => {
                let index = from.first().copied().unwrap_or_default();
                match value.and_then(|value| value.arguments().nth(index)) {
                    Some(found) => {
                        taken(from, From::Value, found.name.as_deref().unwrap_or_default(), &found.shape)
                    }
                    None => Slot::Missing,
                }
            }
            None => match bare(&argument.shape) {
                Shape::Record(inner) => Slot::Record(slots(old, value, whole, inner, arguments, &path)),
                _ => Slot::Absent,
            },
        }
    };
    new.arguments().enumerate().map(slot).collect()
}

fn row(
    slots: &[Slot<'_>],
    values: &[Value],
    beside: &[Value],
    strictness: Strictness,
) -> Result<Vec<Value>, Misfit> {
    slots.iter().map(|slot| convert_slot(slot, values, beside, strictness)).collect()
}

fn convert_slot(
    slot: &Slot<'_>,
    values: &[Value],
    beside: &[Value],
    strictness: Strictness,
) -> Result<Value, Misfit> {
    match slot {
        Slot::Constant(value) => Ok(value.clone()),
        Slot::Record(inner) => row(inner, values, beside, strictness).map(Value::Record),
        Slot::Absent => Ok(Value::Option(None)),
        Slot::Missing => Err(Misfit::Kind("the arguments are others".to_owned())),
        Slot::Taken { path, from, name, old, new, plain } => {
            let list = match from {
                From::Key => values,
                From::Value => beside,
            };
            let value =
                fetch(list, path).ok_or_else(|| Misfit::Kind("the arguments are others".to_owned()))?;
            if *plain && !matches!(value, Value::Digest(_)) {
                return Ok(value.clone());
            }
            match strictness {
                Strictness::Key => convert_value(name, old, new, value),
                Strictness::Beside => convert_beside(name, old, new, value),
            }
        }
    }
}

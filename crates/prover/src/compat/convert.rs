//! An argument list of an old layout as one of a new layout.

use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{LengthSet, Opaque, Sequence, Shape, TextShape};

use super::normal::{Leaf, Mapping, bare, leaves};
use super::relate::{Number, ends, partners};
use crate::reader::alone;
use crate::sample;

/// Why an old argument list is none of the new layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// No list is: an argument is of another kind, new or gone.
    Kind(String),
    /// This one is not.
    Value(String),
}

/// The same values as an argument list of the new layout.
pub(super) fn convert(old: &Sequence, new: &Sequence, values: &[Value]) -> Result<Vec<Value>, Misfit> {
    let (before, after) = leaves(old, new);
    let mapping = Mapping::between(&before, &after).map_err(Misfit::Kind)?;
    Builder { mapping, before, values }.row(new, &[])
}

struct Builder<'m, 'v> {
    mapping: Mapping,
    before: Vec<Leaf<'m>>,
    values: &'v [Value],
}

impl Builder<'_, '_> {
    fn row(&self, new: &Sequence, base: &[usize]) -> Result<Vec<Value>, Misfit> {
        new.arguments()
            .enumerate()
            .map(|(index, argument)| {
                let path: Vec<usize> = base.iter().copied().chain([index]).collect();
                let Some(from) = self.mapping.old_of(&path) else {
                    return match bare(&argument.shape) {
                        Shape::Record(inner) => self.row(inner, &path).map(Value::Record),
                        _ => Ok(Value::Option(None)),
                    };
                };
                let leaf = self.before.iter().find(|leaf| leaf.path == *from);
                let found = leaf.zip(fetch(self.values, from));
                let (leaf, value) =
                    found.ok_or_else(|| Misfit::Kind("the arguments are others".to_owned()))?;
                convert_value(&leaf.name, leaf.shape, &argument.shape, value)
            })
            .collect()
    }
}

/// The value at a path of an argument list.
fn fetch<'v>(values: &'v [Value], path: &[usize]) -> Option<&'v Value> {
    let (first, rest) = path.split_first()?;
    let value = values.get(*first)?;
    match (rest.is_empty(), value) {
        (true, value) => Some(value),
        (false, Value::Record(inner)) => fetch(inner, rest),
        (false, _) => None,
    }
}

/// Puts a value at a path of an argument list.
fn put(values: &mut [Value], path: &[usize], value: Value) -> Option<()> {
    let (first, rest) = path.split_first()?;
    let slot = values.get_mut(*first)?;
    match (rest.is_empty(), slot) {
        (true, slot) => *slot = value,
        (false, Value::Record(inner)) => return put(inner, rest, value),
        (false, _) => return None,
    }
    Some(())
}

fn convert_value(name: &str, old: &Shape, new: &Shape, value: &Value) -> Result<Value, Misfit> {
    let (old, new) = (bare(old), bare(new));
    let one = |old: &Shape, new: &Shape, value: &Value| -> Result<Value, Misfit> {
        let row = convert(&alone(old), &alone(new), std::slice::from_ref(value))?;
        row.into_iter().next().ok_or_else(|| Misfit::Kind(format!("argument `{name}` is gone")))
    };
    let refuse = |why: &str| Err(Misfit::Value(format!("argument `{name}` {why}")));
    match (old, new, value) {
        (Shape::Int(_), Shape::Int(int), Value::Unsigned(n)) if int.ty.signed => {
            i128::try_from(*n).map_or_else(|_| refuse("is too large"), |n| Ok(Value::Signed(n)))
        }
        (Shape::Int(_), Shape::Int(int), Value::Signed(n)) if !int.ty.signed => {
            u128::try_from(*n).map_or_else(|_| refuse("is negative"), |n| Ok(Value::Unsigned(n)))
        }
        (Shape::Text(_), Shape::Bytes { .. }, Value::Text(text)) => {
            Ok(Value::Bytes(text.as_bytes().to_vec()))
        }
        (Shape::Bytes { .. }, Shape::Text(_), Value::Bytes(bytes)) => {
            let text = String::from_utf8(bytes.clone());
            text.map_or_else(|_| refuse("is not UTF-8"), |text| Ok(Value::Text(text)))
        }
        (Shape::Option(a), Shape::Option(b), Value::Option(inside)) => Ok(Value::Option(match inside {
            Some(value) => Some(Box::new(one(a, b, value)?)),
            None => None,
        })),
        (old, Shape::Option(b), value) => Ok(Value::Option(Some(Box::new(one(old, b, value)?)))),
        (Shape::Option(a), new, Value::Option(inside)) => match inside {
            Some(value) => one(a, new, value),
            None => refuse("is absent"),
        },
        (Shape::List { item: a, .. }, Shape::List { item: b, .. }, Value::List(items)) => {
            items.iter().map(|item| one(a, b, item)).collect::<Result<_, _>>().map(Value::List)
        }
        (Shape::Choice(a), Shape::Choice(b), Value::Choice(index, values)) => {
            let partner = partners(a, b).get(*index).copied().flatten();
            let pair = a.get(*index).zip(partner.and_then(|at| Some((at, b.get(at)?))));
            let Some((alternative, (at, other))) = pair else { return refuse("has lost this alternative") };
            convert(&alternative.sequence, &other.sequence, values).map(|row| Value::Choice(at, row))
        }
        (Shape::Opaque(a), Shape::Opaque(b), value) if a == b => Ok(value.clone()),
        // A message may have another name and the same bytes: nothing is known.
        (Shape::Opaque(Opaque::Proto(_)), Shape::Opaque(Opaque::Proto(_)), value) => Ok(value.clone()),
        (old, new, value) if old.kind() == new.kind() && !matches!(old, Shape::Opaque(_)) => {
            same_kind(name, old, new, value)
        }
        (old, new, _) => {
            let what = if name.is_empty() { "it".to_owned() } else { format!("argument `{name}`") };
            Err(Misfit::Kind(format!("{what} was {} and is {}", shown(old), shown(new))))
        }
    }
}

fn same_kind(name: &str, old: &Shape, new: &Shape, value: &Value) -> Result<Value, Misfit> {
    match (old, new) {
        // Signed and unsigned integers are told apart by their kind; here they are alike.
        (Shape::Int(_), Shape::Int(_))
        | (Shape::Bool(_), Shape::Bool(_))
        | (Shape::Float(_), Shape::Float(_))
        | (Shape::Time(_), Shape::Time(_))
        | (Shape::Score(_), Shape::Score(_))
        | (Shape::Bytes { .. }, Shape::Bytes { .. })
        | (Shape::Text(_), Shape::Text(_))
        | (Shape::Nibbles { .. }, Shape::Nibbles { .. }) => Ok(value.clone()),
        _ => Err(Misfit::Kind(format!("argument `{name}` is of another kind"))),
    }
}

fn shown(shape: &Shape) -> String {
    if let Shape::Opaque(opaque) = shape { opaque.name() } else { shape.kind().to_owned() }
}

/// The longest value that is made to show that a bound was narrowed.
const LONGEST: usize = 1 << 17;

/// Argument lists of the old layout that the new one may refuse, the simplest first.
pub(super) fn outside(old: &Sequence, new: &Sequence) -> Vec<Vec<Value>> {
    let (before, after) = leaves(old, new);
    let Ok(mapping) = Mapping::between(&before, &after) else { return Vec::new() };
    let Some(base) = sample::rows(old, 1).into_iter().next() else { return Vec::new() };
    let mut rows = Vec::new();
    for leaf in &after {
        let from = mapping.old_of(&leaf.path).and_then(|from| before.iter().find(|old| old.path == *from));
        let Some(from) = from else { continue };
        for value in values_outside(from.shape, leaf.shape) {
            let mut row = base.clone();
            if put(&mut row, &from.path, value).is_some() {
                rows.push(row);
            }
        }
    }
    rows
}

fn values_outside(old: &Shape, new: &Shape) -> Vec<Value> {
    let inner =
        |a: &Shape, b: &Shape| outside(&alone(a), &alone(b)).into_iter().flatten().collect::<Vec<Value>>();
    match (bare(old), bare(new)) {
        (Shape::Int(a), Shape::Int(b)) => {
            let ((least, most), (c, d)) = (ends(a.range), ends(b.range));
            let next = |n: Number| match n {
                Number::Natural(n) => n.checked_add(1).map(Number::Natural),
                Number::Negative(n) => {
                    Some(if n == -1 { Number::Natural(0) } else { Number::Negative(n + 1) })
                }
            };
            let previous = |n: Number| match n {
                Number::Natural(0) => Some(Number::Negative(-1)),
                Number::Natural(n) => Some(Number::Natural(n - 1)),
                Number::Negative(n) => n.checked_sub(1).map(Number::Negative),
            };
            let near = [next(d), previous(c), Some(least), Some(most)].into_iter().flatten();
            let inside = near.filter(|n| (least..=most).contains(n) && !(c..=d).contains(n));
            let value = |n: Number| match (n, a.ty.signed) {
                (Number::Natural(n), false) => Some(Value::Unsigned(n)),
                (Number::Natural(n), true) => i128::try_from(n).ok().map(Value::Signed),
                (Number::Negative(n), _) => Some(Value::Signed(n)),
            };
            inside.filter_map(value).collect()
        }
        (Shape::Bytes { lengths: m, .. }, Shape::Bytes { lengths: n, .. }) => {
            missing(m, n).map(|length| Value::Bytes(vec![0; length])).into_iter().collect()
        }
        (Shape::Nibbles { lengths: m, .. }, Shape::Nibbles { lengths: n, .. }) => {
            missing(m, n).map(|length| Value::Nibbles(vec![0; length])).into_iter().collect()
        }
        (Shape::Bytes { lengths, .. }, Shape::Text(text)) => {
            let least = lengths.min().max(1);
            let not_text = lengths.admits(least).then(|| Value::Bytes(vec![0xff; least]));
            let length = missing(lengths, &text.lengths).map(|length| Value::Bytes(vec![b'a'; length]));
            not_text.into_iter().chain(length).collect()
        }
        (Shape::Text(a), Shape::Text(b)) => texts(a, Some(b), &b.lengths),
        (Shape::Text(a), Shape::Bytes { lengths, .. }) => texts(a, None, lengths),
        (Shape::Option(a), Shape::Option(b)) => {
            inner(a, b).into_iter().map(|value| Value::Option(Some(Box::new(value)))).collect()
        }
        (Shape::Option(_), _) => vec![Value::Option(None)],
        (old, Shape::Option(b)) => inner(old, b),
        (Shape::List { item: a, counts: m, .. }, Shape::List { item: b, counts: n, .. }) => {
            let fill = sample::values(a).into_iter().next();
            let counted = missing(m, n).zip(fill).map(|(count, fill)| Value::List(vec![fill; count]));
            let least = m.min().max(1);
            let items = inner(a, b)
                .into_iter()
                .filter(|_| m.admits(least))
                .map(|item| Value::List(vec![item; least]));
            counted.into_iter().chain(items).collect()
        }
        (Shape::Choice(a), Shape::Choice(b)) => {
            let mut all = Vec::new();
            for (index, (alternative, partner)) in a.iter().zip(partners(a, b)).enumerate() {
                let rows = match partner.and_then(|at| b.get(at)) {
                    Some(other) => outside(&alternative.sequence, &other.sequence),
                    None => sample::rows(&alternative.sequence, 1),
                };
                all.extend(rows.into_iter().map(|row| Value::Choice(index, row)));
            }
            all
        }
        _ => Vec::new(),
    }
}

/// The least length of the old set that is not in the new one.
fn missing(old: &LengthSet, new: &LengthSet) -> Option<usize> {
    let near =
        [Some(old.min()), new.max().and_then(|max| max.checked_add(1)), new.min().checked_sub(1), old.max()];
    let mut near: Vec<usize> = near.into_iter().flatten().collect();
    match (old, new) {
        (LengthSet::OneOf(list), _) | (_, LengthSet::OneOf(list)) => {
            near.extend(list.iter().copied().chain(list.iter().filter_map(|n| n.checked_add(1))));
        }
        _ => {}
    }
    near.sort_unstable();
    near.into_iter().find(|&n| n <= LONGEST && old.admits(n) && !new.admits(n))
}

/// Texts of the old alphabet with a character or a length that the new one does not have.
fn texts(old: &TextShape, new: Option<&TextShape>, lengths: &LengthSet) -> Vec<Value> {
    let first = |text: &TextShape| text.first.unwrap_or(text.alphabet);
    let simplest = |alphabet: keyplan_plan::codec::Alphabet| {
        let preferred = [b'a', b'0', b'A'].into_iter().chain(0x20..0x7f).chain(0..0x80);
        preferred.into_iter().find(|&byte| alphabet.contains(byte)).map(char::from)
    };
    let lost = |a: keyplan_plan::codec::Alphabet, b: keyplan_plan::codec::Alphabet| {
        let printable = (0x21..0x7f).chain(0..0x80);
        let ascii = printable.into_iter().find(|&byte| a.contains(byte) && !b.contains(byte)).map(char::from);
        ascii.or_else(|| (a.beyond_ascii() && !b.beyond_ascii()).then_some('é'))
    };
    let spell = |head: Option<char>, rest: Option<char>, length: usize| {
        let mut text: String = head.into_iter().collect();
        while text.len() < length {
            text.push(rest?);
        }
        Some(Value::Text(text))
    };
    let (head, rest) = (simplest(first(old)), simplest(old.alphabet));
    let mut all = Vec::new();
    if let Some(length) = missing(&old.lengths, lengths) {
        all.extend(spell(head.filter(|_| length > 0), rest, length));
    }
    if let Some(new) = new {
        let least = old.lengths.min();
        if let Some(lost) = lost(first(old), first(new)) {
            all.extend(spell(Some(lost), rest, least.max(1)));
        }
        if let (Some(lost), Some(head)) = (lost(old.alphabet, new.alphabet), head) {
            let mut text = format!("{head}{lost}");
            while text.len() < least {
                text.push(rest.unwrap_or(lost));
            }
            all.push(Value::Text(text));
        }
    }
    all
}

//! Argument lists of an old layout that a new one may refuse.

use keyplan_plan::codec::Alphabet;
use keyplan_plan::dynamic::Value;
use keyplan_plan::mapping::{Pairing, bare, leaves, partners};
use keyplan_plan::model::{Frame, LengthSet, Sequence, Shape, TextShape, TimeEncoding};

use super::relate::{Number, ends};
use crate::reader::alone;
use crate::sample;

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

/// The longest value that is made to show that a bound was narrowed.
const LONGEST: usize = 1 << 17;

/// Argument lists of the old layout that the new one may refuse, the simplest first.
pub(super) fn outside(old: &Sequence, new: &Sequence) -> Vec<Vec<Value>> {
    let (before, after) = leaves(old, new);
    let Ok(mapping) = Pairing::between(&before, &after) else { return Vec::new() };
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
    let mut all = too_long(old, new);
    all.extend(bare_outside(bare(old), bare(new)));
    all
}

/// Values that are longer than the length before the new one can tell, or the longest that there are: the new bytes of each may be more.
fn too_long(old: &Shape, new: &Shape) -> Vec<Value> {
    let Shape::Framed { frame: Frame::Len(width), .. } = new else { return Vec::new() };
    let lengths = match bare(old) {
        Shape::Bytes { lengths, .. } => lengths,
        Shape::Text(text) => &text.lengths,
        _ => return Vec::new(),
    };
    let value = |length: usize| match bare(old) {
        Shape::Text(text) => {
            spelled(simplest(text.first.unwrap_or(text.alphabet)), simplest(text.alphabet), length)
        }
        _ => Some(Value::Bytes(vec![0; length])),
    };
    let near = [width.limit().checked_add(1), lengths.max()].into_iter().flatten();
    near.filter(|&length| length <= LONGEST && lengths.admits(length)).filter_map(value).collect()
}

fn bare_outside(old: &Shape, new: &Shape) -> Vec<Value> {
    let inner =
        |a: &Shape, b: &Shape| outside(&alone(a), &alone(b)).into_iter().flatten().collect::<Vec<Value>>();
    match (old, new) {
        // Years that 64 bits of nanoseconds do not reach.
        (Shape::Time(_), Shape::Time(TimeEncoding::Nanos)) => {
            [i64::MAX, i64::MIN].map(|end| Value::Time(i128::from(end) * 2)).into()
        }
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

/// The simplest character of an alphabet.
fn simplest(alphabet: Alphabet) -> Option<char> {
    let preferred = [b'a', b'0', b'A'].into_iter().chain(0x20..0x7f).chain(0..0x80);
    preferred.into_iter().find(|&byte| alphabet.contains(byte)).map(char::from)
}

/// A text of so many bytes, if there are characters for it.
fn spelled(head: Option<char>, rest: Option<char>, length: usize) -> Option<Value> {
    let mut text: String = head.into_iter().collect();
    while text.len() < length {
        text.push(rest?);
    }
    Some(Value::Text(text))
}

/// Texts of the old alphabet with a character or a length that the new one does not have.
fn texts(old: &TextShape, new: Option<&TextShape>, lengths: &LengthSet) -> Vec<Value> {
    let first = |text: &TextShape| text.first.unwrap_or(text.alphabet);
    let lost = |a: Alphabet, b: Alphabet| {
        let printable = (0x21..0x7f).chain(0..0x80);
        let ascii = printable.into_iter().find(|&byte| a.contains(byte) && !b.contains(byte)).map(char::from);
        ascii.or_else(|| (a.beyond_ascii() && !b.beyond_ascii()).then_some('é'))
    };
    let (head, rest) = (simplest(first(old)), simplest(old.alphabet));
    let mut all = Vec::new();
    if let Some(length) = missing(&old.lengths, lengths) {
        all.extend(spelled(head.filter(|_| length > 0), rest, length));
    }
    if let Some(new) = new {
        let least = old.lengths.min();
        if let Some(lost) = lost(first(old), first(new)) {
            all.extend(spelled(Some(lost), rest, least.max(1)));
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

//! Every value of a shape, where those are few: what is decided by looking at all of them is decided.

use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{BytesEncoding, IntRange, LengthSet, Sequence, Shape};

use crate::sure::Sure as _;

/// Every argument list of a layout, if there are no more than `most`.
pub(crate) fn rows(sequence: &Sequence, most: usize) -> Option<Vec<Vec<Value>>> {
    lists_of(sequence.arguments().map(|argument| &argument.shape), most)
}

/// Every list of one value for each shape.
fn lists_of<'m>(shapes: impl Iterator<Item = &'m Shape>, most: usize) -> Option<Vec<Vec<Value>>> {
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    for shape in shapes {
        let values = values(shape, most)?;
        if all.len().checked_mul(values.len())? > most {
            return None;
        }
        let mut longer = Vec::with_capacity(all.len() * values.len());
        for row in &all {
            longer.extend(values.iter().map(|value| [row.as_slice(), std::slice::from_ref(value)].concat()));
        }
        all = longer;
    }
    Some(all)
}

/// Every value of a shape, if there are no more than `most`. Some of them may have no encoding.
pub(crate) fn values(shape: &Shape, most: usize) -> Option<Vec<Value>> {
    let all: Vec<Value> = match shape {
        Shape::Int(int) => numbers(int.range, most)?,
        Shape::Bool(_) => vec![Value::Bool(false), Value::Bool(true)],
        Shape::Bytes { lengths, encoding } => {
            let class: Vec<u8> = match encoding {
                BytesEncoding::Wide { .. } => return None,
                BytesEncoding::Class(class) => (0..=u8::MAX).filter(|&byte| class.contains(byte)).collect(),
                _ => (0..=u8::MAX).collect(),
            };
            strings(lengths, &class, &class, most)?.into_iter().map(Value::Bytes).collect()
        }
        Shape::Text(text) => {
            if text.names.is_some() || text.alphabet.beyond_ascii() {
                return None;
            }
            let first = text.first.unwrap_or(text.alphabet);
            if first.beyond_ascii() {
                return None;
            }
            let letters: Vec<u8> = (0..128).filter(|&byte| text.alphabet.contains(byte)).collect();
            let firsts: Vec<u8> = (0..128).filter(|&byte| first.contains(byte)).collect();
            let texts = strings(&text.lengths, &firsts, &letters, most)?;
            let texts = texts.into_iter().map(String::from_utf8).collect::<Result<Vec<_>, _>>().ok()?;
            texts.into_iter().filter(|value| text.admits(value)).map(Value::Text).collect()
        }
        Shape::Nibbles { lengths, .. } => {
            let digits: Vec<u8> = (0..16).collect();
            strings(lengths, &digits, &digits, most)?.into_iter().map(Value::Nibbles).collect()
        }
        Shape::Float(_) | Shape::Time(_) | Shape::Score { .. } | Shape::Opaque(_) => {
            return None;
        }
        Shape::List { item, counts, .. } => lists(&values(item, most)?, counts, most)?,
        composite => {
            let mut all = Vec::new();
            for form in composite.forms()? {
                let parts = lists_of(form.shapes(), most)?.into_iter();
                all.extend(parts.map(|parts| form.value(parts).sure("a part for each shape")));
                if all.len() > most {
                    return None;
                }
            }
            all
        }
    };
    (all.len() <= most).then_some(all)
}

/// The numbers of a range in their order, if there are no more than `most`.
pub(crate) fn numbers(range: IntRange, most: usize) -> Option<Vec<Value>> {
    let limit = u128::try_from(most).ok()?;
    match range {
        IntRange::Unsigned { min, max } if max.checked_sub(min)? < limit => {
            Some((min..=max).map(Value::Unsigned).collect())
        }
        IntRange::Signed { min, max } if max.abs_diff(min) < limit => {
            Some((min..=max).map(Value::Signed).collect())
        }
        _ => None,
    }
}

/// Every list of one of the counts.
fn lists(items: &[Value], counts: &LengthSet, most: usize) -> Option<Vec<Value>> {
    let last = counts.max()?;
    let (mut all, mut lists): (Vec<Value>, Vec<Vec<Value>>) = (Vec::new(), vec![Vec::new()]);
    for count in 0..=last {
        if counts.admits(count) {
            all.extend(lists.iter().cloned().map(Value::List));
        }
        if count == last {
            break;
        }
        if all.len() > most || lists.len().checked_mul(items.len())? > most {
            return None;
        }
        let longer = lists.iter().flat_map(|list| {
            items.iter().map(move |item| [list.as_slice(), std::slice::from_ref(item)].concat())
        });
        lists = longer.collect();
        if lists.is_empty() {
            break;
        }
    }
    Some(all)
}

/// Every string of one of the lengths.
fn strings(lengths: &LengthSet, first: &[u8], rest: &[u8], most: usize) -> Option<Vec<Vec<u8>>> {
    let last = lengths.max()?;
    let (mut all, mut strings): (Vec<Vec<u8>>, Vec<Vec<u8>>) = (Vec::new(), vec![Vec::new()]);
    // One letter makes one string per length, and a length may be great.
    if last > most {
        return None;
    }
    for length in 0..=last {
        if lengths.admits(length) {
            all.extend(strings.iter().cloned());
        }
        if length == last {
            break;
        }
        let letters = if length == 0 { first } else { rest };
        if all.len() > most || strings.len().checked_mul(letters.len())? > most {
            return None;
        }
        let longer = strings
            .iter()
            .flat_map(|string| letters.iter().map(move |&letter| [string.as_slice(), &[letter]].concat()));
        strings = longer.collect();
        if strings.is_empty() {
            break;
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(segment: &str, most: usize) -> Option<usize> {
        let text = format!("plan p; space s {{ key k = 0x01 a: {segment}; }}");
        let plan = keyplan_plan::compile("p.keyplan", &text, |_| Err("none".into())).plan.expect("sound");
        rows(&plan.spaces[0].families[0].key, most).map(|rows| rows.len())
    }

    #[test]
    fn every_value_is_listed_or_none() {
        assert_eq!(count("u8", 256), Some(256));
        assert_eq!(count("u8", 255), None);
        assert_eq!(count("i8(-2..=2)", 9), Some(5));
        assert_eq!(count("u128", 4_096), None);
        assert_eq!(count(r#"text("ab", 0..=2)"#, 9), Some(7));
        assert_eq!(count(r#"text("ab", 0..=2)"#, 6), None);
        assert_eq!(count(r#"text("ab", 0..=2).except("a")"#, 9), Some(6));
        assert_eq!(count(r#"text("a", "a0", 0..=2)"#, 9), Some(4));
        assert_eq!(count(r#"text("a-z", 1..)"#, 4_096), None);
        assert_eq!(count("bytes(1)", 256), Some(256));
        assert_eq!(count("list(bool, 0 | 2)", 9), Some(5));
        assert_eq!(count("list(bool, 1..).count8", 4_096), None);
        assert_eq!(count("option(list(bool, 1..=2).count8)", 9), Some(7));
        assert_eq!(count("(p: 0x01 x: bool | q: 0x02)", 9), Some(3));
        assert_eq!(count("nibbles(0..=1)", 17), Some(17));
        assert_eq!(count("f64", 4_096), None);
        assert_eq!(count("text.hashed(sha256, 8)", 4_096), None);
    }
}

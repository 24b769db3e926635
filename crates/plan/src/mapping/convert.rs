//! Values of one layout as values of another.

use keyplan_codec::{HeightScore, Score};

use super::leaf::{Leaf, Pairing, bare, leaves};
use crate::diag::Span;
use crate::dynamic::Value;
use crate::model::{Alternative, Argument, BytesEncoding, Opaque, Segment, Sequence, Shape};

/// Why an old argument list is none of the new layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// No list is: an argument is of another kind, new or gone.
    Kind(String),
    /// This one is not.
    Value(String),
}

impl Misfit {
    /// The same, of a part of a row.
    #[must_use]
    pub fn of(self, part: &str) -> Self {
        match self {
            Self::Kind(why) => Self::Kind(format!("{part}: {why}")),
            Self::Value(why) => Self::Value(format!("{part}: {why}")),
        }
    }
}

impl std::fmt::Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Kind(why) | Self::Value(why)) = self;
        f.write_str(why)
    }
}

/// The same values as an argument list of the new layout, matched by name and by what is left over in order.
pub fn convert(old: &Sequence, new: &Sequence, values: &[Value]) -> Result<Vec<Value>, Misfit> {
    let (before, after) = leaves(old, new);
    let pairing = Pairing::between(&before, &after).map_err(Misfit::Kind)?;
    Builder { pairing, before, values }.row(new, &[])
}

struct Builder<'m, 'v> {
    pairing: Pairing,
    before: Vec<Leaf<'m>>,
    values: &'v [Value],
}

impl Builder<'_, '_> {
    fn row(&self, new: &Sequence, base: &[usize]) -> Result<Vec<Value>, Misfit> {
        new.arguments()
            .enumerate()
            .map(|(index, argument)| {
                let path: Vec<usize> = base.iter().copied().chain([index]).collect();
                let Some(from) = self.pairing.old_of(&path) else {
                    return match argument.shape.record() {
                        Some(inner) => self.row(inner, &path).map(Value::Record),
                        None => Ok(Value::Option(None)),
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
pub(super) fn fetch<'v>(values: &'v [Value], path: &[usize]) -> Option<&'v Value> {
    let (first, rest) = path.split_first()?;
    let value = values.get(*first)?;
    match (rest.is_empty(), value) {
        (true, value) => Some(value),
        (false, Value::Record(inner)) => fetch(inner, rest),
        (false, _) => None,
    }
}

fn alone(shape: &Shape) -> Sequence {
    let argument = Argument {
        name: None,
        type_name: None,
        shape: shape.clone(),
        shown: None,
        doc: Vec::new(),
        span: Span::default(),
    };
    Sequence::new(vec![Segment::Argument(argument)])
}

/// One value of the argument `name` in the domain of another shape.
pub fn convert_value(name: &str, old: &Shape, new: &Shape, value: &Value) -> Result<Value, Misfit> {
    // A digest whose argument is not known passes only where the same bytes are written again.
    if let Value::Digest(_) = value {
        return if old == new {
            Ok(value.clone())
        } else {
            Err(Misfit::Value(format!("argument `{name}` is known by its hash only")))
        };
    }
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
        (old, new, Value::Bytes(bytes))
            if turns_sign(old, new) && bytes.first().is_some_and(|&b| b >= 0x80) =>
        {
            // The same bytes are below zero on the one side, and beyond all numbers on the other.
            refuse(if is_signed_wide(old) { "is negative" } else { "is too large" })
        }
        (Shape::Text(_), Shape::Bytes { .. }, Value::Text(text)) => {
            Ok(Value::Bytes(text.as_bytes().to_vec()))
        }
        (Shape::Bytes { .. }, Shape::Text(_), Value::Bytes(bytes)) => {
            let text = String::from_utf8(bytes.clone());
            text.map_or_else(|_| refuse("is not UTF-8"), |text| Ok(Value::Text(text)))
        }
        (Shape::Score { .. }, Shape::Score { encoding, .. }, Value::Float(float)) if !encoding.is_float() => {
            HeightScore::place(*float).map_or_else(
                || refuse("is a float that does not tell its place in the chain"),
                |place| Ok(Value::Score(place)),
            )
        }
        (Shape::Score { .. }, Shape::Score { encoding, .. }, Value::Score(place)) if encoding.is_float() => {
            let told = HeightScore::float(*place).ok().filter(|float| {
                // A time is rounded, as 1Sat does it; a place in a block must not be.
                matches!(place, Score::Unconfirmed { .. }) || HeightScore::place(*float) == Some(*place)
            });
            told.map_or_else(|| refuse("has no float that tells it"), |float| Ok(Value::Float(float)))
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

/// One value of a row's value, which tells no row from another: beyond what [`convert_value`] does, numbers in text become
/// floats, and floats their shortest text.
pub(super) fn convert_beside(name: &str, old: &Shape, new: &Shape, value: &Value) -> Result<Value, Misfit> {
    match (bare(old), bare(new), value) {
        (Shape::Text(_), Shape::Float(_), Value::Text(text)) => match text.parse::<f64>() {
            Ok(float) if float.is_finite() => Ok(Value::Float(float)),
            _ => Err(Misfit::Value(format!("argument `{name}` is not a number"))),
        },
        (Shape::Float(_), Shape::Text(_), Value::Float(float)) => Ok(Value::Text(float.to_string())),
        _ => convert_value(name, old, new, value),
    }
}

/// Whether every value of the first shape is one of the same spelling in the second: nothing has to be converted.
pub(super) fn is_plain(old: &Shape, new: &Shape) -> bool {
    match (bare(old), bare(new)) {
        (Shape::Int(a), Shape::Int(b)) => a.ty.signed == b.ty.signed,
        (Shape::Score { encoding: a, .. }, Shape::Score { encoding: b, .. }) => a == b,
        (old, new) if turns_sign(old, new) => false,
        (old, new) => same_kind("", old, new, &Value::Bool(false)).is_ok(),
    }
}

/// Whether a shape is an integer of 256 bits with a sign.
const fn is_signed_wide(shape: &Shape) -> bool {
    matches!(shape, Shape::Bytes { encoding: BytesEncoding::Wide { signed: true, .. }, .. })
}

/// Whether two shapes are integers of 256 bits, one with a sign and one without.
fn turns_sign(old: &Shape, new: &Shape) -> bool {
    old.kind() == new.kind() && is_signed_wide(old) != is_signed_wide(new)
}

fn same_kind(name: &str, old: &Shape, new: &Shape, value: &Value) -> Result<Value, Misfit> {
    match (old, new) {
        // Signed and unsigned integers are told apart by their kind; here they are alike.
        (Shape::Int(_), Shape::Int(_))
        | (Shape::Bool(_), Shape::Bool(_))
        | (Shape::Float(_), Shape::Float(_))
        | (Shape::Time(_), Shape::Time(_))
        | (Shape::Score { .. }, Shape::Score { .. })
        | (Shape::Bytes { .. }, Shape::Bytes { .. })
        | (Shape::Text(_), Shape::Text(_))
        | (Shape::Nibbles { .. }, Shape::Nibbles { .. }) => Ok(value.clone()),
        _ => Err(Misfit::Kind(format!("argument `{name}` is of another kind"))),
    }
}

fn shown(shape: &Shape) -> String {
    if let Shape::Opaque(opaque) = shape { opaque.name() } else { shape.kind().to_owned() }
}

/// For each old alternative the new one that it is: by label, and what is left over in order.
pub fn partners(old: &[Alternative], new: &[Alternative]) -> Vec<Option<usize>> {
    let by_label = |alternative: &Alternative| new.iter().position(|other| other.label == alternative.label);
    let mut left = new.iter().enumerate().filter(|(_, other)| !old.iter().any(|a| a.label == other.label));
    old.iter()
        .map(|alternative| by_label(alternative).or_else(|| left.next().map(|(index, _)| index)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile;

    /// The values of the key `old` as those of the key `new`.
    fn converted(old: &str, new: &str, values: &[Value]) -> Result<Vec<Value>, Misfit> {
        let text = format!("plan p; space s {{ key old = {old}; key new = {new}; }}");
        let plan = compile("p.keyplan", &text, |_| Err(String::new())).plan.unwrap();
        let [old, new] = plan.spaces[0].families.as_slice() else { panic!("two families") };
        convert(&old.key, &new.key, values)
    }

    #[test]
    fn numbers_of_256_bits_keep_their_sign() {
        let (one, all) = ([[0; 31].as_slice(), &[1]].concat(), vec![0xff; 32]);
        let (one, all) = ([Value::Bytes(one)], [Value::Bytes(all)]);
        let refused = |why: &str| Err(Misfit::Value(format!("argument `n` {why}")));
        assert_eq!(converted("n: i256", "n: u256", &one), Ok(one.to_vec()));
        assert_eq!(converted("n: u256.le", "n: i256.signflip", &one), Ok(one.to_vec()));
        assert_eq!(converted("n: i256", "n: u256", &all), refused("is negative"));
        assert_eq!(converted("n: u256", "n: i256", &all), refused("is too large"));
        assert_eq!(converted("n: i256", "n: i256.signflip", &all), Ok(all.to_vec()));
        assert!(matches!(converted("n: bytes(32)", "n: u256", &one), Err(Misfit::Kind(_))));
    }

    #[test]
    fn what_is_new_may_be_absent_whatever_is_written_around_it() {
        let (old, none) = ([Value::Unsigned(7)], Value::Option(None));
        for new in ["option(u8)", "option(u8).desc", "option(u8).len8", "option(u8).hash_concat(twox_64)"] {
            let row = converted("a: u8", &format!("a: u8 b: {new}"), &old);
            assert_eq!(row, Ok(vec![old[0].clone(), none.clone()]), "{new}");
        }
        assert!(converted("a: u8", "a: u8 b: u8", &old).is_err());
    }
}

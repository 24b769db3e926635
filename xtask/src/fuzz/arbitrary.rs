use keyplan_codec::{Alphabet, Score};
use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{BytesEncoding, IntRange, IntShape, LengthSet, Sequence, Shape, TextShape};

/// Makes values out of bytes: the same bytes give the same values, and when there are no more, the smallest.
///
/// Most values are such as their shape allows; some are not, so that refusals are tried as well.
#[derive(Clone, Debug)]
pub struct Arbitrary<'b> {
    bytes: &'b [u8],
}

impl<'b> Arbitrary<'b> {
    /// Begins with the first byte.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { bytes }
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    /// One of `all`, by two bytes.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        let index = usize::from(self.byte()) << 8 | usize::from(self.byte());
        all.get(index % all.len().max(1))
    }

    /// Whatever is left.
    pub fn rest(self) -> &'b [u8] {
        self.bytes
    }

    /// A value for each argument of a sequence.
    pub fn values(&mut self, sequence: &Sequence) -> Vec<Value> {
        sequence.arguments().map(|argument| self.value(&argument.shape)).collect()
    }

    /// A value of a shape.
    pub fn value(&mut self, shape: &Shape) -> Value {
        match shape {
            Shape::Int(int) => self.integer(int),
            Shape::Bool(_) => Value::Bool(self.below(2) == 1),
            Shape::Float(_) => Value::Float(self.float()),
            Shape::Time(_) => Value::Time(self.time()),
            Shape::Score { .. } => Value::Score(self.score()),
            Shape::Bytes { lengths, encoding } => {
                let count = self.length(lengths);
                let mut bytes = self.string(count);
                if let BytesEncoding::Class(alphabet) = encoding {
                    let allowed: Vec<u8> = (0..=u8::MAX).filter(|byte| alphabet.contains(*byte)).collect();
                    for byte in &mut bytes {
                        let place = usize::from(*byte) % allowed.len().max(1);
                        *byte = allowed.get(place).copied().unwrap_or(*byte);
                    }
                }
                Value::Bytes(bytes)
            }
            Shape::Text(text) => Value::Text(self.text(text)),
            Shape::Nibbles { lengths, .. } => {
                let count = self.length(lengths);
                Value::Nibbles(self.string(count).iter().map(|byte| byte % 16).collect())
            }
            Shape::Opaque(_) => {
                let count = self.below(12);
                Value::Bytes(self.string(count))
            }
            Shape::Record(sequence) => Value::Record(self.values(sequence)),
            Shape::Choice(alternatives) => {
                let index = self.below(alternatives.len().max(1));
                let values = alternatives.get(index).map(|chosen| self.values(&chosen.sequence));
                Value::Choice(index, values.unwrap_or_default())
            }
            Shape::Option(inner) => Value::Option((self.below(2) == 1).then(|| Box::new(self.value(inner)))),
            Shape::List { item, counts, .. } => {
                let count = self.length(counts);
                Value::List((0..count).map(|_| self.value(item)).collect())
            }
            Shape::Framed { inner, .. } | Shape::Desc(inner) | Shape::HashConcat { inner, .. } => {
                self.value(inner)
            }
            Shape::Hashed { inner, keep, .. } => match self.below(4) {
                0 => Value::Digest(self.string(*keep)),
                _ => self.value(inner),
            },
        }
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit.max(1)
    }

    fn string(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.byte()).collect()
    }

    /// Up to sixteen bytes as a number, small ones more often than not.
    fn number(&mut self) -> u128 {
        let count = [1, 1, 2, 4, 8, 8, 16, 16].get(self.below(8)).copied().unwrap_or(1);
        self.string(count).iter().fold(0, |number, byte| number << 8 | u128::from(*byte))
    }

    fn integer(&mut self, int: &IntShape) -> Value {
        let how = self.below(16);
        match (int.range, how) {
            (IntRange::Unsigned { min, .. }, 0) => Value::Unsigned(min),
            (IntRange::Unsigned { max, .. }, 1) => Value::Unsigned(max),
            (IntRange::Unsigned { .. }, 2) => Value::Unsigned(self.number()),
            (IntRange::Unsigned { min, max }, _) => {
                let count = (max - min).saturating_add(1);
                Value::Unsigned(min + self.number() % count)
            }
            (IntRange::Signed { min, .. }, 0) => Value::Signed(min),
            (IntRange::Signed { max, .. }, 1) => Value::Signed(max),
            (IntRange::Signed { .. }, 2) => Value::Signed(self.number().cast_signed()),
            (IntRange::Signed { min, max }, _) => {
                // Small numbers around zero, and numbers counted from the least.
                let number = self.number();
                let sign = if self.below(2) == 1 { -1 } else { 1 };
                let near = i128::try_from(number).ok().map(|number| number * sign);
                let from_least = max.wrapping_sub(min).cast_unsigned().saturating_add(1);
                let far = min.wrapping_add((number % from_least).cast_signed());
                Value::Signed(near.filter(|near| (min..=max).contains(near)).unwrap_or(far))
            }
        }
    }

    fn float(&mut self) -> f64 {
        let edges = [0.0, 1.5, -2.25, 0.1, 850_000.000_000_123, 1e9, f64::MAX, f64::MIN_POSITIVE];
        let specials = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0];
        match self.below(4) {
            0 => edges.get(self.below(8)).copied().unwrap_or_default(),
            1 => specials.get(self.below(4)).copied().unwrap_or_default(),
            2 => f64::from(self.byte()) - 128.0,
            _ => f64::from_bits(self.string(8).iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte))),
        }
    }

    fn time(&mut self) -> i128 {
        let second = 1_000_000_000;
        match self.below(4) {
            0 => i128::from(self.byte()),
            // Around the ends of what four digits of a year can say.
            1 => -62_167_219_200 * second + i128::from(self.byte()) - 8,
            2 => 253_402_300_800 * second + i128::from(self.byte()) - 240,
            _ => (self.number() % (1 << 62)).cast_signed(),
        }
    }

    fn score(&mut self) -> Score {
        let (first, second) = (self.number(), self.number());
        let small = |number: u128| u32::try_from(number % (1 << 32)).unwrap_or_default();
        let large = |number: u128| u64::try_from(number % (1 << 64)).unwrap_or_default();
        if self.below(2) == 0 {
            Score::Confirmed { height: small(first), index: large(second) }
        } else {
            Score::Unconfirmed { seconds: large(first), nanos: small(second) }
        }
    }

    /// A length that is mostly one of the set, and not long.
    fn length(&mut self, lengths: &LengthSet) -> usize {
        let more = self.below(32);
        if more == 31 {
            return self.below(8);
        }
        match lengths {
            LengthSet::OneOf(all) => all.get(more % all.len().max(1)).copied().unwrap_or_default(),
            LengthSet::Range { min, max } => {
                let room = max.saturating_sub(*min).saturating_add(1);
                min.saturating_add((more % 12) % room)
            }
        }
    }

    fn text(&mut self, shape: &TextShape) -> String {
        if let Some(names) = &shape.names
            && !names.names.is_empty()
            && self.below(2) == 0
        {
            let index = self.below(names.names.len());
            return names.names.get(index).map(|name| name.text.clone()).unwrap_or_default();
        }
        let count = self.length(&shape.lengths);
        let mut text = String::new();
        while text.len() < count {
            let alphabet = match &shape.first {
                Some(first) if text.is_empty() => first,
                _ => &shape.alphabet,
            };
            text.push(self.character(alphabet));
        }
        text
    }

    fn character(&mut self, alphabet: &Alphabet) -> char {
        if alphabet.beyond_ascii() && self.below(16) == 15 {
            return ['é', '→', '\u{10348}', '\u{80}'].get(self.below(4)).copied().unwrap_or('é');
        }
        let start = self.byte() % 128;
        let member = (0..128).map(|step| (start + step) % 128).find(|byte| alphabet.contains(*byte));
        member.map_or('é', char::from)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Rng, kept};
    use super::*;
    use keyplan_plan::dynamic::encode;

    #[test]
    fn most_values_that_are_made_can_be_encoded() {
        let mut rng = Rng::new(1);
        for plan in kept() {
            for (_, family) in plan.plan.families() {
                let tries = 200;
                let made = (0..tries).filter(|_| {
                    let bytes = rng.bytes(200);
                    let values = Arbitrary::new(&bytes).values(&family.key);
                    encode(&family.key, &values, &mut Vec::new()).is_ok()
                });
                let made = made.count();
                assert!(made > tries / 5, "{} in {}: only {made} of {tries}", family.path, plan.path);
            }
        }
    }
}

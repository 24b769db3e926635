//! Arguments and damage made up from a seed: the same for the same plan.

use keyplan_codec::Alphabet;
use keyplan_plan::dynamic::{Value, encode_one};
use keyplan_plan::model::{BytesEncoding, Sequence, Shape, TextShape};

use super::domain;

/// A sequence of numbers that a seed gives (splitmix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: &[u8], path: &str) -> Self {
        let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(seed.iter().chain(path.as_bytes()).fold(0xcbf2_9ce4_8422_2325, fold))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `limit`, which is not 0.
    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(limit.max(1)).unwrap_or(1)).unwrap_or(0)
    }

    /// An argument list.
    pub(super) fn arguments(&mut self, sequence: &Sequence) -> Vec<Value> {
        sequence.arguments().map(|argument| self.value(&argument.shape)).collect()
    }

    fn value(&mut self, shape: &Shape) -> Value {
        match shape {
            Shape::Record(sequence) => Value::Record(self.arguments(sequence)),
            Shape::Choice(alternatives) => {
                let index = self.below(alternatives.len());
                let values = alternatives.get(index).map(|one| self.arguments(&one.sequence));
                Value::Choice(index, values.unwrap_or_default())
            }
            Shape::Option(_) if self.below(3) == 0 => Value::Option(None),
            Shape::Option(inner) => Value::Option(Some(Box::new(self.value(inner)))),
            // No list of so many elements is made up, and that of none is refused.
            Shape::List { counts, .. } if counts.min() > domain::MOST => Value::List(Vec::new()),
            Shape::List { item, counts, .. } => {
                let (min, max) =
                    (counts.min(), counts.max().unwrap_or(counts.min() + 3).min(counts.min() + 3));
                let count = (min..=max).filter(|count| counts.admits(*count)).nth(self.below(max - min + 1));
                Value::List((0..count.unwrap_or(min)).map(|_| self.value(item)).collect())
            }
            Shape::Framed { inner, .. } | Shape::Desc(inner) | Shape::HashConcat { inner, .. } => {
                self.value(inner)
            }
            leaf => {
                let edges = domain::inside(leaf);
                let of = self.below(edges.len());
                match edges.into_iter().nth(of) {
                    Some(edge) => self.moved(leaf, edge),
                    None => Value::Bytes(Vec::new()),
                }
            }
        }
    }

    /// A value somewhere near another of the same kind.
    fn moved(&mut self, shape: &Shape, value: Value) -> Value {
        match (shape, value) {
            (Shape::Int(int), _) => {
                domain::number(int, u128::from(self.next()) << 64 | u128::from(self.next()))
            }
            (Shape::Bytes { encoding: BytesEncoding::Class(_), .. }, value) => value,
            (Shape::Bytes { .. } | Shape::Opaque(_), Value::Bytes(mut bytes)) => {
                for byte in &mut bytes {
                    *byte = self.next().to_be_bytes()[0];
                }
                Value::Bytes(bytes)
            }
            (_, Value::Nibbles(mut nibbles)) => {
                for nibble in &mut nibbles {
                    *nibble = self.next().to_be_bytes()[0] & 0x0f;
                }
                Value::Nibbles(nibbles)
            }
            (_, Value::Digest(mut digest)) => {
                for byte in &mut digest {
                    *byte = self.next().to_be_bytes()[0];
                }
                Value::Digest(digest)
            }
            (Shape::Text(text), Value::Text(edge)) => {
                let made = Value::Text(self.text(text, edge.len()));
                if encode_one(shape, &made, &mut Vec::new()).is_ok() { made } else { Value::Text(edge) }
            }
            (Shape::Float(_), edge) => {
                // Of all magnitudes, and numbers that people write.
                let bits = f64::from_bits(self.next());
                let small = f64::from(i32::from_be_bytes(first_four(self.next()))) / 1000.0;
                let made = Value::Float(if self.below(2) == 0 { bits } else { small });
                let taken = !matches!(made, Value::Float(float) if float.is_nan())
                    && encode_one(shape, &made, &mut Vec::new()).is_ok();
                if taken { made } else { edge }
            }
            (_, Value::Time(_)) => Value::Time(i128::from(self.next().cast_signed() / 4)),
            (_, value) => value,
        }
    }

    /// A text of the alphabet, of so many bytes.
    fn text(&mut self, text: &TextShape, len: usize) -> String {
        let of = |alphabet: &Alphabet| (0..0x80).filter(|byte| alphabet.contains(*byte)).collect::<Vec<u8>>();
        let rest = of(&text.alphabet);
        let first = text.first.as_ref().map_or_else(|| rest.clone(), of);
        let mut made = String::new();
        while made.len() < len {
            let among = if made.is_empty() { &first } else { &rest };
            if text.alphabet.beyond_ascii() && made.len() + 4 <= len && self.below(4) == 0 {
                made.extend(['é', '語', '\u{10ffff}'].get(self.below(3)));
                continue;
            }
            let pick = self.below(among.len());
            let Some(byte) = among.get(pick) else { break };
            made.push(char::from(*byte));
        }
        made
    }

    /// Bytes of nobody, and such bytes after the front of a key.
    pub(super) fn noise(&mut self, front: &[u8]) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        for _ in 0..4 {
            let len = self.below(40);
            let bytes: Vec<u8> = (0..len).map(|_| self.next().to_be_bytes()[0]).collect();
            all.push([front, &bytes].concat());
            all.push(bytes);
        }
        all
    }

    /// A key cut, made longer, and with bytes changed.
    pub(super) fn damaged(&mut self, key: &[u8]) -> Vec<Vec<u8>> {
        let mut all = vec![Vec::new(), [key, &[0]].concat(), [key, b"/"].concat()];
        for cut in [1, 2, key.len() / 2] {
            all.extend(key.get(..key.len().saturating_sub(cut)).map(<[u8]>::to_vec));
        }
        for _ in 0..6 {
            let (at, with) = (self.below(key.len()), self.next().to_be_bytes()[0]);
            let mut changed = key.to_vec();
            if let Some(byte) = changed.get_mut(at) {
                *byte = if with < 0x40 { with } else { *byte ^ (1 << (with & 7)) };
            }
            all.push(changed);
            let mut grown = key.to_vec();
            grown.insert(at, with);
            all.push(grown);
            let mut shrunk = key.to_vec();
            if at < shrunk.len() {
                shrunk.remove(at);
            }
            all.push(shrunk);
        }
        all
    }
}

/// The four highest bytes of a number.
fn first_four(number: u64) -> [u8; 4] {
    let [a, b, c, d, ..] = number.to_be_bytes();
    [a, b, c, d]
}

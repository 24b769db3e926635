#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "random numbers are cut to the size that is needed"
)]

use keyplan::codec::{Alphabet, LenWidth, Score};
use keyplan::plan::dynamic::Value;
use keyplan::plan::model::{BytesEncoding, Frame, IntRange, LengthSet, Sequence, Shape, TextShape};

/// Arguments at random, the edges of their domains among them; the same every time.
pub(crate) struct Random(keyplan_testkit::Random);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(keyplan_testkit::Random(seed))
    }

    fn next(&mut self) -> u64 {
        self.0.next()
    }

    fn below(&mut self, n: usize) -> usize {
        self.0.index(n.max(1))
    }

    fn coin(&mut self) -> bool {
        self.0.coin()
    }

    /// A value for each argument of a layout; `None` if a domain turned out to be empty.
    pub(crate) fn values(&mut self, sequence: &Sequence) -> Option<Vec<Value>> {
        sequence.arguments().map(|argument| self.value(&argument.shape)).collect()
    }

    fn value(&mut self, shape: &Shape) -> Option<Value> {
        Some(match shape {
            Shape::Int(int) => match int.range {
                IntRange::Unsigned { min, max } => Value::Unsigned(self.unsigned(min, max)),
                IntRange::Signed { min, max } => {
                    let span = max.abs_diff(min);
                    Value::Signed(min.wrapping_add_unsigned(self.unsigned(0, span)))
                }
            },
            Shape::Bool(_) => Value::Bool(self.coin()),
            Shape::Float(_) => Value::Float(self.float()),
            Shape::Time(_) => {
                Value::Time(i128::from(self.next().cast_signed()) / if self.coin() { 1 } else { 1 << 30 })
            }
            Shape::Score { heights: Some(heights), .. } => {
                let least = heights.least.max(1);
                let height = least + self.next() as u32 % (heights.most - least + 1);
                Value::Score(Score::Confirmed { height, index: self.next() % 1_000_000_000 })
            }
            Shape::Score { heights: None, .. } => Value::Score(if self.coin() {
                Score::Confirmed { height: 1 + self.next() as u32 % 1_000_000, index: self.next() % 5_000 }
            } else {
                Score::Unconfirmed {
                    seconds: self.next() % 2_000_000_000,
                    nanos: self.next() as u32 % 1_000_000_000,
                }
            }),
            Shape::Bytes { lengths, encoding: BytesEncoding::Class(class) } => {
                let length = self.length(lengths)?;
                let all: Vec<u8> = (0..=255).filter(|byte| class.contains(*byte)).collect();
                Value::Bytes((0..length).map(|_| all[self.below(all.len())]).collect())
            }
            Shape::Bytes { lengths, .. } => {
                let length = self.length(lengths)?;
                Value::Bytes((0..length).map(|_| self.byte()).collect())
            }
            Shape::Text(text) => Value::Text(self.text(text)?),
            Shape::Nibbles { lengths, .. } => {
                let length = self.length(lengths)?;
                Value::Nibbles((0..length).map(|_| self.byte() & 0x0f).collect())
            }
            Shape::Opaque(_) => Value::Bytes((0..self.below(9)).map(|_| self.byte()).collect()),
            Shape::Record(sequence) => Value::Record(self.values(sequence)?),
            Shape::Choice(alternatives) => {
                let index = self.below(alternatives.len());
                Value::Choice(index, self.values(&alternatives[index].sequence)?)
            }
            Shape::Option(inner) => {
                Value::Option(if self.coin() { None } else { Some(Box::new(self.value(inner)?)) })
            }
            Shape::List { item, counts, .. } => {
                let count = self.length(counts)?.min(4).max(counts.min());
                Value::List((0..count).map(|_| self.value(item)).collect::<Option<_>>()?)
            }
            Shape::Framed { inner, .. } | Shape::Desc(inner) | Shape::HashConcat { inner, .. } => {
                self.value(inner)?
            }
            Shape::Hashed { inner, .. } => self.value(inner)?,
        })
    }

    /// Takes one argument, or a part of one, out of its domain; `false` if there was nothing outside of it.
    pub(crate) fn spoil(&mut self, sequence: &Sequence, values: &mut [Value]) -> bool {
        let shapes: Vec<&Shape> = sequence.arguments().map(|argument| &argument.shape).collect();
        if shapes.is_empty() {
            return false;
        }
        let start = self.below(shapes.len());
        (0..shapes.len()).any(|step| {
            let at = (start + step) % shapes.len();
            self.spoil_value(shapes[at], &mut values[at])
        })
    }

    fn spoil_value(&mut self, shape: &Shape, value: &mut Value) -> bool {
        match (shape, value) {
            (Shape::Int(int), Value::Unsigned(n)) => {
                let IntRange::Unsigned { min, max } = int.range else { return false };
                let outside = [max.checked_add(1), min.checked_sub(1), max.checked_mul(3)];
                self.one_of(&outside).map(|outside| *n = outside).is_some()
            }
            (Shape::Int(int), Value::Signed(n)) => {
                let IntRange::Signed { min, max } = int.range else { return false };
                let outside = [max.checked_add(1), min.checked_sub(1), min.checked_mul(3)];
                self.one_of(&outside).map(|outside| *n = outside).is_some()
            }
            (Shape::Float(_), Value::Float(n)) => {
                *n = [f64::NAN, f64::MAX, 0.1 + 0.2][self.below(3)];
                true
            }
            (Shape::Time(_), Value::Time(nanos)) => {
                *nanos = [i128::MAX, i128::MIN, i128::from(i64::MAX) * 1_000][self.below(3)];
                true
            }
            (Shape::Score { .. }, Value::Score(score)) => {
                *score = Score::Unconfirmed { seconds: u64::MAX, nanos: 1_000_000_000 };
                true
            }
            (Shape::Bytes { lengths, .. }, Value::Bytes(bytes)) => match self.wrong_length(lengths) {
                Some(length) => {
                    bytes.resize(length, 0x61);
                    true
                }
                None => false,
            },
            (Shape::Text(text), Value::Text(value)) => self.spoil_text(text, value),
            (Shape::Nibbles { lengths, .. }, Value::Nibbles(nibbles)) => {
                if let Some(length) = self.wrong_length(lengths).filter(|_| nibbles.is_empty() || self.coin())
                {
                    nibbles.resize(length, 1);
                } else if let Some(first) = nibbles.first_mut() {
                    *first = 0x10;
                } else {
                    return false;
                }
                true
            }
            (Shape::Record(sequence), Value::Record(values)) => self.spoil(sequence, values),
            (Shape::Choice(alternatives), Value::Choice(index, values)) => {
                let sequence = &alternatives[*index].sequence;
                if self.below(8) == 0 || !self.spoil(sequence, values) {
                    *index = alternatives.len();
                }
                true
            }
            (Shape::Option(inner), Value::Option(Some(value))) => self.spoil_value(inner, value),
            (Shape::List { item, counts, .. }, Value::List(values)) => {
                let wrong =
                    self.wrong_length(counts).filter(|wrong| *wrong < values.len() || !values.is_empty());
                match (wrong, values.first().cloned()) {
                    (Some(count), Some(first)) if self.coin() => values.resize(count, first),
                    (_, Some(_)) => {
                        let at = self.below(values.len());
                        return self.spoil_value(item, &mut values[at]);
                    }
                    (_, None) => return false,
                }
                true
            }
            (Shape::Framed { frame, inner }, value) => {
                let short = matches!(frame, Frame::Len(LenWidth::L8));
                // More than a short prefix of the length can say.
                match (&**inner, &mut *value) {
                    (Shape::Bytes { lengths, .. }, Value::Bytes(bytes)) if short && lengths.admits(300) => {
                        bytes.resize(300, 0x61);
                        true
                    }
                    (inner, value) => self.spoil_value(inner, value),
                }
            }
            (Shape::Desc(inner) | Shape::HashConcat { inner, .. } | Shape::Hashed { inner, .. }, value) => {
                self.spoil_value(inner, value)
            }
            _ => false,
        }
    }

    fn spoil_text(&mut self, text: &TextShape, value: &mut String) -> bool {
        let strange: Vec<char> = ['|', '/', ' ', '\u{7f}', 'A', 'é']
            .into_iter()
            .filter(|character| match u8::try_from(*character).ok().filter(u8::is_ascii) {
                Some(byte) => !text.alphabet.contains(byte),
                None => !text.alphabet.beyond_ascii(),
            })
            .collect();
        if !strange.is_empty() && !value.is_empty() && self.coin() {
            let at = self.below(value.chars().count());
            let with = strange[self.below(strange.len())];
            *value = value.chars().enumerate().map(|(i, c)| if i == at { with } else { c }).collect();
            return true;
        }
        let Some(length) = self.wrong_length(&text.lengths) else { return false };
        let character = value.chars().find(char::is_ascii).unwrap_or('a');
        *value = std::iter::repeat_n(character, length).collect();
        true
    }

    /// A length that is not admitted, next to those that are.
    fn wrong_length(&mut self, lengths: &LengthSet) -> Option<usize> {
        let near = [
            lengths.min().checked_sub(1),
            lengths.max().and_then(|max| max.checked_add(1)),
            Some(lengths.min() + 1),
            Some(0),
        ];
        self.one_of(&near.map(|length| length.filter(|length| *length <= 65_536 && !lengths.admits(*length))))
    }

    fn one_of<T: Copy>(&mut self, options: &[Option<T>]) -> Option<T> {
        let there: Vec<T> = options.iter().copied().flatten().collect();
        if there.is_empty() { None } else { Some(there[self.below(there.len())]) }
    }

    fn unsigned(&mut self, min: u128, max: u128) -> u128 {
        let any = u128::from(self.next()) << 64 | u128::from(self.next());
        match self.below(6) {
            0 => min,
            1 => max,
            2 => min.saturating_add(any % 300).min(max),
            3 => (any >> self.below(127)).clamp(min, max),
            _ => match (max - min).checked_add(1) {
                Some(span) => min + any % span,
                None => any,
            },
        }
    }

    fn float(&mut self) -> f64 {
        match self.below(6) {
            0 => 0.0,
            1 => -1.5,
            2 => f64::INFINITY,
            3 => (self.next() % 10_000) as f64 / 8.0,
            _ => {
                let float = f64::from_bits(self.next());
                if float.is_nan() { 1.0 } else { float }
            }
        }
    }

    fn byte(&mut self) -> u8 {
        // Bytes that separate, escape or end something are more likely than chance has it.
        match self.below(4) {
            0 => [0x00, 0xff, b'/', b':', b'|', b'_', b'a', 0x01][self.below(8)],
            _ => self.next() as u8,
        }
    }

    fn length(&mut self, lengths: &LengthSet) -> Option<usize> {
        let (min, max) = (lengths.min(), lengths.max().unwrap_or(usize::MAX).min(lengths.min() + 40));
        let wanted = match self.below(5) {
            0 => min,
            1 => max,
            2 => lengths.max().unwrap_or(max).min(300),
            _ => min + self.below(max - min + 1),
        };
        let admitted = (0..=300).filter(|length| lengths.admits(*length));
        admitted.min_by_key(|length| length.abs_diff(wanted))
    }

    fn text(&mut self, text: &TextShape) -> Option<String> {
        let length = self.length(&text.lengths)?;
        let mut out = String::new();
        let characters = |alphabet: &Alphabet| -> Vec<char> {
            let mut all: Vec<char> =
                (0u8..0x80).filter(|byte| alphabet.contains(*byte)).map(char::from).collect();
            if alphabet.beyond_ascii() {
                all.extend(['é', '日', '🦀']);
            }
            all
        };
        if let Some(names) = text.names.as_ref().filter(|names| !names.names.is_empty())
            && self.coin()
        {
            return Some(names.names[self.below(names.names.len())].text.clone());
        }
        let first = characters(text.first.as_ref().unwrap_or(&text.alphabet));
        let rest = characters(&text.alphabet);
        while out.len() < length {
            let from = if out.is_empty() { &first } else { &rest };
            let mut character = from[self.below(from.len())];
            for special in ['/', ':', '_', '|'] {
                if self.below(12) == 0 && from.contains(&special) {
                    character = special;
                }
            }
            if out.len() + character.len_utf8() > length {
                character = *from.iter().find(|character| character.len_utf8() == 1)?;
            }
            out.push(character);
        }
        Some(out)
    }

    /// Keys that differ a little from `key`.
    pub(crate) fn neighbours(&mut self, key: &[u8], round: usize) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        let at = if key.is_empty() { 0 } else { self.below(key.len()) };
        if !key.is_empty() {
            let mut changed = key.to_vec();
            changed[at] = self.byte();
            all.push(changed);
            let mut changed = key.to_vec();
            changed[at] ^= 1 << self.below(8);
            all.push(changed);
            all.push(key[..key.len() - 1].to_vec());
            all.push(key[..at].to_vec());
            let mut without = key.to_vec();
            without.remove(at);
            all.push(without);
        }
        let mut longer = key.to_vec();
        longer.insert(at, self.byte());
        all.push(longer);
        let mut longer = key.to_vec();
        longer.push([0x00, b'0', b'/', 0xff][round % 4]);
        all.push(longer);
        all
    }
}

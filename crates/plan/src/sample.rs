//! Simple values of a layout, for examples: small numbers, short texts.

use keyplan_codec::{Alphabet, Heights, Score};

use crate::dynamic::{Value, encode_one};
use crate::model::{BytesEncoding, IntRange, LengthSet, Sequence, Shape, TextShape};

/// Texts that look like something, tried before one is made up.
const TEXTS: [&str; 8] = ["uosmo", "usdc", "alice", "main", "abc", "a", "AB", "1"];

/// Lengths that byte strings have in the wild, tried before the shortest.
const LENGTHS: [usize; 4] = [20, 32, 8, 4];

/// 2024-03-01T12:00:00 in nanoseconds since 1970.
const NOON: i128 = 1_709_294_400_000_000_000;

/// One value for each argument; `None` if the layout asks for something unusual.
///
/// The same layout gives the same values, and `encode` takes them.
///
/// ```
/// let text = "plan demo; space s { key tick = 0x01 pool: u64 tick: i64.tick9; }";
/// let plan = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into())).plan.expect("sound");
/// let layout = &plan.find("tick")[0].1.key;
/// let values = keyplan_plan::sample::arguments(layout).expect("nothing unusual");
/// assert_eq!(keyplan_plan::notation::assignments(layout, &values), "pool=1 tick=-2");
/// ```
pub fn arguments(sequence: &Sequence) -> Option<Vec<Value>> {
    let mut samples = Samples { next: 0 };
    samples.sequence(sequence)
}

struct Samples {
    next: u8,
}

impl Samples {
    fn sequence(&mut self, sequence: &Sequence) -> Option<Vec<Value>> {
        sequence.arguments().map(|argument| self.shape(&argument.shape)).collect()
    }

    /// A different small number each time, so that arguments can be told apart.
    fn number(&mut self) -> u8 {
        self.next = self.next % 9 + 1;
        self.next
    }

    fn shape(&mut self, shape: &Shape) -> Option<Value> {
        Some(match shape {
            Shape::Int(int) => match int.range {
                IntRange::Unsigned { min, max } => Value::Unsigned(u128::from(self.number()).clamp(min, max)),
                IntRange::Signed { min, max } => Value::Signed((-i128::from(self.number())).clamp(min, max)),
            },
            Shape::Bool(_) => Value::Bool(true),
            Shape::Float(_) => Value::Float(1.5),
            Shape::Time(_) => Value::Time(NOON),
            Shape::Score { heights, .. } => {
                // No block of height 0 has a float.
                let height =
                    |heights: &Heights| 850_000.clamp(heights.least.max(1).min(heights.most), heights.most);
                Value::Score(Score::Confirmed { height: heights.as_ref().map_or(850_000, height), index: 12 })
            }
            Shape::Bytes { lengths, encoding: BytesEncoding::Class(class) } => {
                let all: Vec<u8> = (0..=u8::MAX).filter(|byte| class.contains(*byte)).collect();
                let byte = *all.get(usize::from(self.number()) % all.len().max(1))?;
                first_that_fits(shape, lengths, |len| Value::Bytes(vec![byte; len]))?
            }
            Shape::Bytes { lengths, .. } => {
                let byte = self.number();
                first_that_fits(shape, lengths, |len| Value::Bytes(vec![0xa0 + byte; len]))?
            }
            Shape::Text(text) => self.text(shape, text)?,
            Shape::Nibbles { lengths, .. } => {
                first_that_fits(shape, lengths, |len| Value::Nibbles((1..=15).cycle().take(len).collect()))?
            }
            Shape::Opaque(_) => Value::Bytes(Vec::new()),
            Shape::List { item, counts, .. } => {
                let count = if counts.admits(2) { 2 } else { counts.min() };
                let items: Option<Vec<Value>> = (0..count.min(64)).map(|_| self.shape(item)).collect();
                Value::List(items?)
            }
            composite => {
                let mut forms = composite.forms()?;
                // The first alternative of a choice, and something where there may be nothing.
                let form = if composite.inner().is_some() { forms.last() } else { forms.next() }?;
                form.value(form.shapes().map(|shape| self.shape(shape)).collect::<Option<_>>()?)?
            }
        })
    }

    fn text(&mut self, shape: &Shape, text: &TextShape) -> Option<Value> {
        let names = text.names.iter().flat_map(|set| &set.names).filter(|name| !name.retired);
        let skipped = usize::from(self.number()) - 1;
        let usual = TEXTS.into_iter().cycle().skip(skipped).take(TEXTS.len()).map(str::to_owned);
        names
            .map(|name| name.text.clone())
            .chain(usual)
            .chain([made_up(text)])
            .map(Value::Text)
            .find(|value| fits(shape, value))
    }
}

/// The value of the first usual length that the shape takes.
fn first_that_fits(shape: &Shape, lengths: &LengthSet, value: impl Fn(usize) -> Value) -> Option<Value> {
    let usual = LENGTHS.into_iter().filter(|len| lengths.admits(*len));
    let least = [lengths.min().max(1), lengths.min()].into_iter().filter(|len| *len <= 1024);
    usual.chain(least).map(value).find(|value| fits(shape, value))
}

/// The shortest text over an alphabet, of its first letters.
fn made_up(text: &TextShape) -> String {
    let of = |alphabet: &Alphabet| (b'a'..=b'z').chain(b' '..=b'~').find(|byte| alphabet.contains(*byte));
    let length = text.lengths.min().clamp(1, 1024);
    let first = of(text.first.as_ref().unwrap_or(&text.alphabet)).unwrap_or(b'a');
    let rest = of(&text.alphabet).unwrap_or(b'a');
    std::iter::once(first).chain(std::iter::repeat_n(rest, length - 1)).map(char::from).collect()
}

fn fits(shape: &Shape, value: &Value) -> bool {
    encode_one(shape, value, &mut Vec::new()).is_ok()
}

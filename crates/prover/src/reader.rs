//! Every argument list that comes after some bytes.
//!
//! The decoder of `keyplan-plan` ends a delimited segment where its own bytes say so. A witness of an ambiguity may
//! need the other readings too, so this reader tries every end of every segment. It knows nothing of the graphs.

use std::collections::HashSet;

use keyplan_plan::codec::{HashConcat, Segment as _, complement};
use keyplan_plan::diag::Span;
use keyplan_plan::dynamic::{Value, contents, encode, readings};
use keyplan_plan::model::{
    Argument, BytesEncoding, Framing, IntEncoding, IntRange, IntShape, LengthSet, Segment, Sequence, Shape,
    Width,
};

use crate::sure::{Sure as _, front, rest};
use crate::written::written;

/// The most steps of the readings for one verdict.
const MOST_STEPS: u32 = 150_000;

/// The most elements of a list with a count that every reading is tried of.
const MOST_ONE_BY_ONE: usize = 64;

/// The most bytes that a longer list is read of, and the most elements that it has.
const MOST_LISTED: usize = 4_096;
const MOST_FILLED: usize = 1 << 17;

/// The steps that the readings for one verdict may take together.
#[derive(Debug)]
pub(crate) struct Effort(u32);

impl Effort {
    pub(crate) fn new() -> Self {
        Self(MOST_STEPS)
    }

    /// How many steps it took so far.
    pub(crate) fn used(&self) -> u64 {
        u64::from(MOST_STEPS - self.0)
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.0 == 0
    }

    fn spend(&mut self, steps: u32) -> bool {
        self.0 = self.0.saturating_sub(steps);
        self.0 > 0
    }
}

/// Up to `limit` argument lists that are written as `bytes`.
pub(crate) fn read(sequence: &Sequence, bytes: &[u8], limit: usize, effort: &mut Effort) -> Vec<Vec<Value>> {
    if !sequence.width().admits(bytes.len()) || !effort.spend(8) {
        return Vec::new();
    }
    // The quick way finds most of them.
    let mut found = readings(sequence, bytes, limit).map(|found| found.readings).unwrap_or_default();
    found.retain(|values| writes(sequence, values, bytes));
    if found.len() >= limit {
        return found;
    }
    let mut reader = Reader { effort, strict: true };
    for values in reader.sequence(sequence, bytes, limit.saturating_mul(4).max(16)) {
        if found.len() < limit && !found.contains(&values) && writes(sequence, &values, bytes) {
            found.push(values);
        }
    }
    found
}

/// Up to `limit` argument lists that are written as `bytes` but for copies, derived parts and hashes, which may be others.
pub(crate) fn rewritten(
    sequence: &Sequence,
    bytes: &[u8],
    limit: usize,
    effort: &mut Effort,
) -> Vec<Vec<Value>> {
    if !sequence.width().admits(bytes.len()) || !effort.spend(8) {
        return Vec::new();
    }
    Reader { effort, strict: false }.sequence(sequence, bytes, limit)
}

fn writes(sequence: &Sequence, values: &[Value], bytes: &[u8]) -> bool {
    let mut out = Vec::new();
    encode(sequence, values, &mut out).is_ok() && out == bytes
}

struct Reader<'e> {
    effort: &'e mut Effort,
    /// Whether a copy is that of its argument, and a hash that of what follows it.
    strict: bool,
}

/// A sequence half read.
struct Row<'m, 'b> {
    sequence: &'m Sequence,
    bytes: &'b [u8],
    limit: usize,
    values: Vec<Value>,
    found: Vec<Vec<Value>>,
    dead: HashSet<(usize, usize)>,
}

impl Reader<'_> {
    fn step(&mut self) -> bool {
        self.effort.spend(1)
    }

    fn sequence(&mut self, sequence: &Sequence, bytes: &[u8], limit: usize) -> Vec<Vec<Value>> {
        let mut row =
            Row { sequence, bytes, limit, values: Vec::new(), found: Vec::new(), dead: HashSet::new() };
        self.row(&mut row, 0, 0);
        row.found
    }

    fn row(&mut self, row: &mut Row<'_, '_>, index: usize, at: usize) {
        if row.found.len() >= row.limit || !self.step() {
            return;
        }
        let Some(segment) = row.sequence.segments().get(index) else {
            if at == row.bytes.len() {
                row.found.push(row.values.clone());
            }
            return;
        };
        let rest = rest(row.bytes, at);
        if rest.len() < row.sequence.tail(index).min || row.dead.contains(&(index, at)) {
            return;
        }
        let before = row.found.len();
        match segment {
            Segment::Literal(literal) => {
                if rest.starts_with(&literal.bytes) {
                    self.row(row, index + 1, at + literal.bytes.len());
                }
            }
            Segment::Same(_) if !self.strict => self.ends(row, index, at, segment),
            Segment::Same(same) => {
                let value = row.values.get(row.sequence.arguments_before(same.of));
                if let Some(copy) = value.and_then(|value| written(&same.shape, value))
                    && rest.starts_with(&copy)
                {
                    self.row(row, index + 1, at + copy.len());
                }
            }
            Segment::Argument(_) | Segment::Derived(_) => self.ends(row, index, at, segment),
        }
        // The values before matter only to copies and to what is derived.
        if row.found.len() == before && row.sequence.is_plain() {
            row.dead.insert((index, at));
        }
    }

    /// Tries every end that a segment may have.
    fn ends(&mut self, row: &mut Row<'_, '_>, index: usize, at: usize, segment: &Segment) {
        let rest = rest(row.bytes, at);
        let (width, tail) = (Width::of_segment(segment), row.sequence.tail(index + 1));
        let most = width.max.unwrap_or(usize::MAX).min(rest.len().saturating_sub(tail.min));
        let least = width.min.max(tail.max.map_or(0, |max| rest.len().saturating_sub(max)));
        for length in least..=most {
            if !self.step() {
                return;
            }
            let content = front(rest, length);
            let argument = match segment {
                Segment::Argument(argument) => argument,
                Segment::Same(same) if self.values(&same.shape, content, 1).is_empty() => continue,
                _ => {
                    // What is derived is checked when the whole key is written again.
                    self.row(row, index + 1, at + length);
                    continue;
                }
            };
            let left = row.limit.saturating_sub(row.found.len()).max(2);
            for value in self.values(&argument.shape, content, left) {
                row.values.push(value);
                self.row(row, index + 1, at + length);
                row.values.pop();
            }
        }
    }

    /// The values of a shape that is exactly `bytes`.
    fn values(&mut self, shape: &Shape, bytes: &[u8], limit: usize) -> Vec<Value> {
        if !self.step() {
            return Vec::new();
        }
        match shape {
            Shape::Record(sequence) => {
                self.sequence(sequence, bytes, limit).into_iter().map(Value::Record).collect()
            }
            Shape::Choice(alternatives) => {
                let mut all = Vec::new();
                for (index, alternative) in alternatives.iter().enumerate() {
                    let rows = self.sequence(&alternative.sequence, bytes, limit);
                    all.extend(rows.into_iter().map(|values| Value::Choice(index, values)));
                }
                all
            }
            Shape::Option(inner) => {
                let mut all = Vec::new();
                if bytes.is_empty() {
                    all.push(Value::Option(None));
                }
                let some = self.values(inner, bytes, limit);
                all.extend(some.into_iter().map(|value| Value::Option(Some(Box::new(value)))));
                all
            }
            Shape::List { item, counts, framing } => self.list(item, counts, framing, bytes, limit),
            Shape::Framed { frame, inner } => match contents(*frame, bytes) {
                Ok(content) => self.values(inner, &content, limit),
                Err(_) => Vec::new(),
            },
            Shape::Desc(inner) => {
                let mut flipped = bytes.to_vec();
                complement(&mut flipped);
                self.values(inner, &flipped, limit)
            }
            Shape::HashConcat { keep, inner, .. } if !self.strict => {
                bytes.get(*keep..).map_or_else(Vec::new, |content| self.values(inner, content, limit))
            }
            Shape::HashConcat { hash, keep, inner } => {
                match (HashConcat { hash: *hash, keep: *keep }).decode(bytes) {
                    Ok(content) => self.values(inner, content, limit),
                    Err(_) => Vec::new(),
                }
            }
            Shape::Bytes { lengths, encoding: BytesEncoding::Fit(_) } => {
                // Without the padding, or with something after what was cut.
                let padding = bytes.iter().rev().take_while(|&&byte| byte == 0).count();
                let shortest = bytes.len().saturating_sub(padding);
                let lengths = (shortest..=bytes.len().saturating_add(64)).filter(|&n| lengths.admits(n));
                let padded = lengths.take(limit.max(2)).map(|length| {
                    let mut value = bytes.to_vec();
                    value.resize(length, 0);
                    Value::Bytes(value)
                });
                padded.collect()
            }
            Shape::Int(IntShape {
                ty,
                range: IntRange::Signed { min, max },
                encoding: IntEncoding::Saturating,
            }) if *min < 0 && bytes.len() == ty.bytes() && bytes.iter().all(|&byte| byte == 0) => {
                // Every negative number is written as 0.
                let mut all = vec![Value::Signed((*max).min(0))];
                all.extend((*min != (*max).min(0)).then_some(Value::Signed(*min)));
                all
            }
            Shape::Int(int) if int.encoding.row().loses => number_readings(int, bytes),
            leaf => readings(&alone(leaf), bytes, 1)
                .map(|found| found.readings.into_iter().flatten().collect())
                .unwrap_or_default(),
        }
    }

    fn list(
        &mut self,
        item: &Shape,
        counts: &LengthSet,
        framing: &Framing,
        bytes: &[u8],
        limit: usize,
    ) -> Vec<Value> {
        let separator: &[u8] = if let Framing::Joined(separator) = framing { separator } else { &[] };
        let mut found = Vec::new();
        if let Framing::Counted(width) = framing {
            // A count is written like the length of so many bytes.
            for head in 1..=bytes.len().min(10) {
                let (front, rest) = bytes.split_at_checked(head).sure("no longer than the list");
                let codec = keyplan_plan::codec::Count { width: *width };
                if let Ok(count) = codec.decode(front)
                    && counts.admits(count)
                    && count > MOST_ONE_BY_ONE
                {
                    found.extend(self.long_list(item, rest, count));
                } else if let Ok(count) = codec.decode(front)
                    && counts.admits(count)
                {
                    self.elements(
                        item,
                        separator,
                        rest,
                        &mut Vec::new(),
                        &|n| n == count,
                        count,
                        limit,
                        &mut found,
                    );
                }
            }
            return found;
        }
        let most = counts.max().unwrap_or(bytes.len() + 4);
        self.elements(
            item,
            separator,
            bytes,
            &mut Vec::new(),
            &|n| counts.admits(n),
            most,
            limit,
            &mut found,
        );
        found
    }

    /// A list of very many elements, if it can be read with as few as there are bytes for, and empty ones besides.
    fn long_list(&mut self, item: &Shape, bytes: &[u8], count: usize) -> Option<Value> {
        if bytes.len() > MOST_LISTED || count > MOST_FILLED {
            return None;
        }
        let width = Width::of_shape(item);
        // For each place, of how many elements the shortest way to it is, and where the last of them begins.
        let mut ways: Vec<Option<(usize, usize)>> = vec![None; bytes.len() + 1];
        *ways.first_mut()? = Some((0, 0));
        for at in 0..bytes.len() {
            let Some((steps, _)) = ways.get(at).copied().flatten() else { continue };
            let most = width.max.unwrap_or(usize::MAX).min(bytes.len() - at);
            for length in width.min.max(1)..=most {
                let shorter = ways.get(at + length)?.is_none_or(|(others, _)| steps + 1 < others);
                if shorter && !self.values(item, bytes.get(at..at + length)?, 1).is_empty() {
                    *ways.get_mut(at + length)? = Some((steps + 1, at));
                }
            }
        }
        let mut list = Vec::new();
        let mut at = bytes.len();
        while at > 0 {
            let (_, before) = ways.get(at).copied().flatten()?;
            list.extend(self.values(item, bytes.get(before..at)?, 1).into_iter().next());
            at = before;
        }
        list.reverse();
        if list.len() < count {
            let empty = self.values(item, &[], 1).into_iter().next()?;
            list.resize(count, empty);
        }
        (list.len() == count).then_some(Value::List(list))
    }

    /// Reads elements up to the end of `bytes`.
    #[expect(clippy::too_many_arguments, reason = "the parts of a list and the state of the search")]
    fn elements(
        &mut self,
        item: &Shape,
        separator: &[u8],
        bytes: &[u8],
        values: &mut Vec<Value>,
        admits: &dyn Fn(usize) -> bool,
        most: usize,
        limit: usize,
        found: &mut Vec<Value>,
    ) {
        if found.len() >= limit || values.len() > 256 || !self.step() {
            return;
        }
        if bytes.is_empty() && admits(values.len()) {
            let all = Value::List(values.clone());
            if !found.contains(&all) {
                found.push(all);
            }
        }
        if values.len() >= most {
            return;
        }
        let rest = if values.is_empty() { Some(bytes) } else { bytes.strip_prefix(separator) };
        let Some(rest) = rest else { return };
        // An element may be empty, but without a limit only so many can be told apart.
        if rest.is_empty() && separator.is_empty() && values.len() > 8 && most > 64 {
            return;
        }
        for length in 0..=rest.len() {
            let (front, behind) = rest.split_at_checked(length).sure("no longer than what is left");
            for value in self.values(item, front, limit) {
                values.push(value);
                self.elements(item, separator, behind, values, admits, most, limit, found);
                values.pop();
            }
        }
    }
}

/// Numbers with these bytes, of an encoding that may write several alike: the one that is read back, and others beside it.
fn number_readings(int: &IntShape, bytes: &[u8]) -> Vec<Value> {
    let shape = Shape::Int(int.clone());
    let read = readings(&alone(&shape), bytes, 1);
    let mut all: Vec<Value> =
        read.map(|found| found.readings.into_iter().flatten().collect()).unwrap_or_default();
    let is_alike = |value: &Value| written(&shape, value).is_some_and(|own| own == bytes);
    let steps = [1u128, 2, 256, 1 << 16, 1 << 24, 1 << 32, 1 << 40, 1 << 48, 1 << 56, 1 << 64];
    for first in all.clone() {
        let others = steps.iter().flat_map(|step| match first {
            Value::Unsigned(number) => {
                [number.checked_add(*step), number.checked_sub(*step)].map(|other| other.map(Value::Unsigned))
            }
            Value::Signed(number) => [number.checked_add_unsigned(*step), number.checked_sub_unsigned(*step)]
                .map(|other| other.map(Value::Signed)),
            _ => [None, None],
        });
        all.extend(others.flatten().filter(is_alike));
    }
    all
}

/// A shape as a layout of its own.
pub(crate) fn alone(shape: &Shape) -> Sequence {
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

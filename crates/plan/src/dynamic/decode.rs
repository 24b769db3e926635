use std::collections::HashSet;
use std::fmt;

use keyplan_codec::{
    Bech32, Bool, Bytes, Count, DecodeError, Delimited, Escaped, Fault, Fit, Fixed, FloatBadger, FloatBits,
    FloatOrdered, HeightScore, HexBytes, HexPrefix, LenPrefix, LenWidth, Memcmp, Nibbles, Open,
    PackedNibbles, ScoreExact, Segment as _, Terminated, TimeNanos, TimeText9, TupleBool, TupleBytes,
    TupleFloat, TupleText, complement,
};

use super::{Value, derive, int};
use crate::model::{
    BoolEncoding, BytesEncoding, Extent, FloatEncoding, Frame, Framing, LengthSet, Name, NibbleEncoding,
    ScoreEncoding, Segment, Sequence, Shape, TextShape, TimeEncoding, Width,
};

/// How many steps one key may take before the search is given up. A sound layout needs about one for each
/// segment; only layouts with several ends to try come near it.
const MAX_STEPS: usize = 1 << 20;

/// How deep the search may go. Sequences have at most 256 parts and nest at most 96 deep, but few use either.
const MAX_DEPTH: usize = 1024;

/// Why bytes are not a key of a layout: the byte that the search got furthest to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The offset of the byte that breaks it.
    pub offset: usize,
    /// The segment in which that byte stands.
    pub segment: String,
    /// What is wrong there.
    pub fault: Fault,
    /// Whether the search was given up because the layout allows too many splits.
    pub exhausted: bool,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.exhausted {
            return write!(f, "`{}`: the layout allows too many splits of this key", self.segment);
        }
        write!(f, "byte {}, in `{}`: {}", self.offset, self.segment, self.fault)
    }
}

impl std::error::Error for Failure {}

/// The argument lists that a byte string may stand for under one layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Readings {
    /// Each a value for every argument; none if there is no reading.
    pub readings: Vec<Vec<Value>>,
    /// Whether the search ended at its limit, so that there may be more.
    pub more: bool,
}

/// Finds up to `limit` readings of `bytes` under a layout, or says why there is none.
pub fn readings(sequence: &Sequence, bytes: &[u8], limit: usize) -> Result<Readings, Failure> {
    let mut search = Search { steps: 0, depth: 0, furthest: None, exhausted: false };
    let found = search.sequence(sequence, bytes, 0, limit.max(1));
    if found.is_empty() {
        let (offset, fault, segment) = search.furthest.unwrap_or((0, Fault::NoAlternative, ""));
        return Err(Failure { offset, segment: segment.to_owned(), fault, exhausted: search.exhausted });
    }
    let more = search.exhausted || found.len() >= limit.max(1);
    Ok(Readings { readings: found, more })
}

/// A search for readings, and how far it got.
struct Search<'m> {
    steps: usize,
    depth: usize,
    furthest: Option<(usize, Fault, &'m str)>,
    exhausted: bool,
}

/// A sequence half read: where each segment began, and the values so far.
struct Row<'s, 'k> {
    bytes: &'k [u8],
    base: usize,
    limit: usize,
    starts: Vec<usize>,
    values: Vec<Value>,
    found: Vec<Vec<Value>>,
    // Segment and offset from which no reading was found, kept only where the values before cannot matter.
    dead: HashSet<(usize, usize)>,
    sequence: &'s Sequence,
}

impl<'m> Search<'m> {
    fn fail(&mut self, offset: usize, fault: Fault, label: &'m str) {
        if self.furthest.is_none_or(|(furthest, ..)| offset > furthest) {
            self.furthest = Some((offset, fault, label));
        }
    }

    fn error(&mut self, error: DecodeError, base: usize, label: &'m str) {
        self.fail(base.saturating_add(error.offset), error.fault, label);
    }

    /// Counts a step; false when the search must end.
    fn step(&mut self) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            self.exhausted = true;
        }
        !self.exhausted
    }

    fn sequence(
        &mut self,
        sequence: &'m Sequence,
        bytes: &[u8],
        base: usize,
        limit: usize,
    ) -> Vec<Vec<Value>> {
        let count = sequence.segments().len();
        let mut row = Row {
            bytes,
            base,
            limit,
            starts: Vec::with_capacity(count),
            values: Vec::with_capacity(sequence.argument_count()),
            found: Vec::new(),
            dead: HashSet::new(),
            sequence,
        };
        self.row(sequence, &mut row, 0, 0);
        row.found
    }

    /// Reads the segments from `index` on, at offset `at`; leaves the row as it found it, but for what was found.
    fn row(&mut self, sequence: &'m Sequence, row: &mut Row<'_, '_>, index: usize, at: usize) {
        let (starts, values) = (row.starts.len(), row.values.len());
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.exhausted = true;
        } else {
            self.run(sequence, row, index, at);
        }
        self.depth -= 1;
        row.starts.truncate(starts);
        row.values.truncate(values);
    }

    /// Goes on as long as each segment has one end and one value; branches where it has more.
    fn run(&mut self, sequence: &'m Sequence, row: &mut Row<'_, '_>, first: usize, start: usize) {
        let mut at = start;
        for (index, (segment, extent)) in
            sequence.segments().iter().zip(sequence.extents()).enumerate().skip(first)
        {
            if !self.step() {
                return;
            }
            row.starts.push(at);
            let rest = row.bytes.get(at..).unwrap_or_default();
            let shape = match segment {
                Segment::Literal(literal) => {
                    if !rest.starts_with(&literal.bytes) {
                        self.literal(&literal.bytes, rest, row.base + at, segment.label());
                        return;
                    }
                    at += literal.bytes.len();
                    continue;
                }
                Segment::Derived(derived) => {
                    let Some(end) = self.derived_end(*extent, &derived.shape, rest, row, at, index, segment)
                    else {
                        return;
                    };
                    match int::decode(&derived.shape, rest.get(..end - at).unwrap_or_default()) {
                        Ok(_) => at = end,
                        Err(error) => return self.error(error, row.base + at, segment.label()),
                    }
                    continue;
                }
                Segment::Argument(argument) => &argument.shape,
                Segment::Same(same) => &same.shape,
            };
            let end = match extent {
                Extent::Fixed(width) if *width <= rest.len() => at + width,
                Extent::Fixed(width) => {
                    let fault = Fault::Short { missing: width - rest.len() };
                    return self.fail(row.base + row.bytes.len(), fault, segment.label());
                }
                Extent::Delimited => match self.delimit(shape, rest) {
                    Ok(width) => at + width,
                    Err(error) => return self.error(error, row.base + at, segment.label()),
                },
                Extent::Open if index + 1 == sequence.segments().len() => row.bytes.len(),
                Extent::Open => return self.branch(sequence, row, index, at, segment, shape),
            };
            let bytes = row.bytes.get(at..end).unwrap_or_default();
            let found =
                self.values(shape, bytes, row.base + at, row.limit - row.found.len(), segment.label());
            match found {
                Values::None => return,
                Values::One(value) => {
                    if !self.place(segment, value, row, sequence, at) {
                        return;
                    }
                    at = end;
                }
                Values::Many(many) => {
                    for value in many {
                        let kept = row.values.len();
                        if self.place(segment, value, row, sequence, at) {
                            self.row(sequence, row, index + 1, end);
                        }
                        row.values.truncate(kept);
                        if row.found.len() >= row.limit || self.exhausted {
                            return;
                        }
                    }
                    return;
                }
            }
        }
        self.finish(sequence, row, at);
    }

    /// The end of a derived part: like any integer's, with an open one ending where its digits do.
    #[expect(clippy::too_many_arguments, reason = "the state of one step of the loop above")]
    fn derived_end(
        &mut self,
        extent: Extent,
        shape: &crate::model::IntShape,
        rest: &[u8],
        row: &Row<'_, '_>,
        at: usize,
        index: usize,
        segment: &'m Segment,
    ) -> Option<usize> {
        let width = match extent {
            Extent::Fixed(width) => Ok(width),
            Extent::Delimited => int::extent(shape, rest),
            Extent::Open if index + 1 == row.sequence.segments().len() => Ok(rest.len()),
            Extent::Open => Ok(int::longest_text(shape, rest)),
        };
        match width {
            Ok(width) if width <= rest.len() => Some(at + width),
            Ok(width) => {
                let fault = Fault::Short { missing: width - rest.len() };
                self.fail(row.base + row.bytes.len(), fault, segment.label());
                None
            }
            Err(error) => {
                self.error(error, row.base + at, segment.label());
                None
            }
        }
    }

    /// Keeps the value of a segment; false if it is a copy that differs from its original.
    fn place(
        &mut self,
        segment: &'m Segment,
        value: Value,
        row: &mut Row<'_, '_>,
        sequence: &Sequence,
        at: usize,
    ) -> bool {
        if let Segment::Same(same) = segment {
            let same_value = row.values.get(sequence.arguments_before(same.of)) == Some(&value);
            if !same_value {
                self.fail(row.base + at, Fault::Differs, segment.label());
            }
            return same_value;
        }
        row.values.push(value);
        true
    }

    fn literal(&mut self, literal: &[u8], rest: &[u8], base: usize, label: &'m str) {
        let same = literal.iter().zip(rest).take_while(|(a, b)| a == b).count();
        let fault = match (literal.get(same), rest.get(same)) {
            (Some(&expected), Some(&found)) => Fault::Literal { expected, found },
            _ => Fault::Short { missing: literal.len() - same },
        };
        self.fail(base + same, fault, label);
    }

    /// All segments are read: nothing may be left, and what was derived must be right.
    fn finish(&mut self, sequence: &'m Sequence, row: &mut Row<'_, '_>, at: usize) {
        if at != row.bytes.len() {
            let fault = Fault::Trailing { extra: row.bytes.len() - at };
            let label = sequence.segments().last().map_or("", Segment::label);
            return self.fail(row.base + at, fault, label);
        }
        if !sequence.is_plain() && !self.derived_match(sequence, row) {
            return;
        }
        // A family may have an alternative reading with the same arguments: the same bytes, but no second reading.
        if !row.found.contains(&row.values) {
            row.found.push(row.values.clone());
        }
    }

    fn derived_match(&mut self, sequence: &'m Sequence, row: &Row<'_, '_>) -> bool {
        let piece = |index: usize| {
            let start = row.starts.get(index).copied().unwrap_or_default();
            let end = row.starts.get(index + 1).copied().unwrap_or(row.bytes.len());
            (start, row.bytes.get(start..end).unwrap_or_default())
        };
        for (index, segment) in sequence.segments().iter().enumerate() {
            let Segment::Derived(derived) = segment else { continue };
            let of: Vec<u8> = derived.of.iter().flat_map(|&of| piece(of).1).copied().collect();
            let (start, bytes) = piece(index);
            if int::decode(&derived.shape, bytes) != Ok(Value::Unsigned(derive(derived, &of))) {
                self.fail(row.base + start, Fault::Mismatch, segment.label());
                return false;
            }
        }
        true
    }

    /// Tries every end that an open segment may have.
    fn branch(
        &mut self,
        sequence: &'m Sequence,
        row: &mut Row<'_, '_>,
        index: usize,
        at: usize,
        segment: &'m Segment,
        shape: &'m Shape,
    ) {
        let memo = sequence.is_plain();
        let after = sequence.tail(index + 1);
        let next = match sequence.segments().get(index + 1) {
            Some(Segment::Literal(literal)) => literal.bytes.as_slice(),
            _ => &[],
        };
        let rest = row.bytes.get(at..).unwrap_or_default();
        let width = Width::of_segment(segment);
        let longest = longest(shape, rest).min(width.max.unwrap_or(usize::MAX));
        let most = longest.min(rest.len().saturating_sub(after.min));
        let least = width.min.max(after.max.map_or(0, |max| rest.len().saturating_sub(max)));
        let mut tried = false;
        for length in least..=most {
            if !rest.get(length..).unwrap_or_default().starts_with(next) {
                continue;
            }
            tried = true;
            let end = at + length;
            if row.dead.contains(&(index + 1, end)) {
                continue;
            }
            if !self.step() {
                return;
            }
            let bytes = rest.get(..length).unwrap_or_default();
            let before = row.found.len();
            let left = row.limit - before;
            let found = self.values(shape, bytes, row.base + at, left, segment.label());
            let any = !matches!(found, Values::None);
            for value in found.into_vec() {
                let kept = row.values.len();
                if self.place(segment, value, row, sequence, at) {
                    self.row(sequence, row, index + 1, end);
                }
                row.values.truncate(kept);
                if row.found.len() >= row.limit || self.exhausted {
                    return;
                }
            }
            if memo && any && row.found.len() == before {
                row.dead.insert((index + 1, end));
            }
        }
        if !tried {
            // Nothing to go on with: say what stands where the segment would have to end.
            let stop = longest.min(rest.len());
            let fault = match (next.first(), rest.get(stop)) {
                (Some(&expected), Some(&found)) => Fault::Literal { expected, found },
                (_, None) => Fault::Short { missing: after.min.max(1) },
                (None, Some(&found)) => Fault::Byte { found, expected: keyplan_codec::Expected::Alphabet },
            };
            self.fail(row.base + at + stop, fault, segment.label());
        }
    }

    /// The values of a shape that is exactly `bytes`.
    fn values(
        &mut self,
        shape: &'m Shape,
        bytes: &[u8],
        base: usize,
        limit: usize,
        label: &'m str,
    ) -> Values {
        match shape {
            Shape::Record(sequence) => {
                Values::of(self.sequence(sequence, bytes, base, limit).into_iter().map(Value::Record))
            }
            Shape::Choice(alternatives) => {
                let mut found = Vec::new();
                for (index, alternative) in alternatives.iter().enumerate() {
                    if found.len() >= limit {
                        break;
                    }
                    let rows = self.sequence(&alternative.sequence, bytes, base, limit - found.len());
                    found.extend(rows.into_iter().map(|values| Value::Choice(index, values)));
                }
                if found.is_empty() && bytes.is_empty() {
                    self.fail(base, Fault::Short { missing: 1 }, label);
                }
                Values::of(found)
            }
            Shape::Option(inner) => {
                let mut found = Vec::new();
                if bytes.is_empty() {
                    found.push(Value::Option(None));
                }
                if found.len() < limit && Width::of_shape(inner).admits(bytes.len()) {
                    let some = self.values(inner, bytes, base, limit - found.len(), label);
                    found.extend(
                        some.into_vec().into_iter().map(|value| Value::Option(Some(Box::new(value)))),
                    );
                }
                if found.is_empty() && !Width::of_shape(inner).admits(bytes.len()) {
                    self.fail(base, Fault::Length { found: bytes.len() }, label);
                }
                Values::of(found)
            }
            Shape::List { item, counts, framing } => {
                self.list(item, counts, framing, bytes, base, limit, label)
            }
            Shape::Framed { frame, inner } => match unframe(*frame, bytes) {
                Ok(Unframed::Borrowed(skip, content)) => {
                    self.values(inner, content, base + skip, limit, label)
                }
                Ok(Unframed::Owned(content)) => {
                    // Offsets inside escaped content are those of the content: no byte before it is counted.
                    self.values(inner, &content, base, limit, label)
                }
                Err(error) => self.none(error, base, label),
            },
            Shape::Desc(inner) => {
                let mut flipped = bytes.to_vec();
                complement(&mut flipped);
                self.values(inner, &flipped, base, limit, label)
            }
            Shape::Hashed { keep, known, .. } => self.digest(*keep, known, bytes, base, label),
            Shape::HashConcat { hash, keep, inner } => {
                match (keyplan_codec::HashConcat { hash: *hash, keep: *keep }).decode(bytes) {
                    Ok(content) => self.values(inner, content, base + keep, limit, label),
                    Err(error) => self.none(error, base, label),
                }
            }
            leaf => match decode_leaf(leaf, bytes) {
                Ok(value) => Values::One(value),
                Err(error) => self.none(error, base, label),
            },
        }
    }

    fn none(&mut self, error: DecodeError, base: usize, label: &'m str) -> Values {
        self.error(error, base, label);
        Values::None
    }

    fn digest(
        &mut self,
        keep: usize,
        known: &[(Vec<u8>, Name)],
        bytes: &[u8],
        base: usize,
        label: &'m str,
    ) -> Values {
        if bytes.len() != keep {
            let fault = Fault::Length { found: bytes.len() };
            return self.none(DecodeError::new(0, fault), base, label);
        }
        let found = known.binary_search_by(|(digest, _)| digest.as_slice().cmp(bytes));
        let name = found.ok().and_then(|index| known.get(index));
        Values::One(match name {
            Some((_, name)) => Value::Text(name.text.clone()),
            None => Value::Digest(bytes.to_vec()),
        })
    }

    /// The lists that are exactly `bytes`: depth first over the ends of the elements, without recursion.
    #[expect(clippy::too_many_arguments, reason = "the parts of a list and the state of the search")]
    fn list(
        &mut self,
        item: &'m Shape,
        counts: &LengthSet,
        framing: &'m Framing,
        bytes: &[u8],
        base: usize,
        limit: usize,
        label: &'m str,
    ) -> Values {
        let (head, counted) = match framing {
            Framing::Counted(width) => match counted(*width, bytes) {
                Ok((count, head)) => (head, Some(count)),
                Err(error) => return self.none(error, base, label),
            },
            Framing::ToEnd | Framing::Joined(_) => (0, None),
        };
        let separator: &[u8] = if let Framing::Joined(separator) = framing { separator } else { &[] };
        let admits = |count: usize| counts.admits(count) && counted.is_none_or(|counted| counted == count);
        let most = counted.or(counts.max()).unwrap_or(usize::MAX);
        let mut found: Vec<Value> = Vec::new();
        let mut ends: Vec<(usize, usize)> = Vec::new();
        let mut values: Vec<Value> = Vec::new();
        if head == bytes.len() && admits(0) {
            found.push(Value::List(Vec::new()));
        }
        // The end to try next for the element that begins where the last one ended.
        let mut least = 0;
        while found.len() < limit {
            if !self.step() {
                break;
            }
            let start = match ends.last() {
                Some(&(_, end)) => end + separator.len(),
                None => head,
            };
            let room = values.len() < most && (start <= bytes.len());
            let next = if room { self.item(item, separator, bytes, start, least, base, label) } else { None };
            match next {
                // An element of no bytes would repeat for ever.
                Some((end, _)) if end == start && separator.is_empty() => break,
                Some((end, value)) => {
                    ends.push((start, end));
                    values.push(value);
                    least = 0;
                    if end == bytes.len() {
                        if admits(values.len()) {
                            found.push(Value::List(values.clone()));
                        } else {
                            self.fail(base + start, Fault::Length { found: values.len() }, label);
                        }
                    }
                }
                None => {
                    let Some((start, end)) = ends.pop() else { break };
                    values.pop();
                    least = end - start + 1;
                }
            }
        }
        if found.is_empty() && bytes.len() == head {
            self.fail(base + head, Fault::Length { found: 0 }, label);
        }
        Values::of(found)
    }

    /// The next element at `start` that has at least `least` bytes, and its end.
    #[expect(clippy::too_many_arguments, reason = "the state of one step of the loop above")]
    fn item(
        &mut self,
        item: &'m Shape,
        separator: &[u8],
        bytes: &[u8],
        start: usize,
        least: usize,
        base: usize,
        label: &'m str,
    ) -> Option<(usize, Value)> {
        let rest = bytes.get(start..)?;
        let only = match item.extent() {
            Extent::Fixed(width) => Some(Ok(width)),
            Extent::Delimited => Some(self.delimit(item, rest)),
            Extent::Open => None,
        };
        let range = match only {
            Some(Ok(width)) if width >= least && width <= rest.len() => width..=width,
            Some(Ok(width)) => {
                if width > rest.len() {
                    let fault = Fault::Short { missing: width - rest.len() };
                    self.fail(base + bytes.len(), fault, label);
                }
                return None;
            }
            Some(Err(error)) => {
                self.error(error, base + start, label);
                return None;
            }
            None => {
                let width = Width::of_shape(item);
                let most = longest(item, rest).min(width.max.unwrap_or(usize::MAX)).min(rest.len());
                width.min.max(least)..=most
            }
        };
        for length in range {
            if !self.step() {
                return None;
            }
            let behind = rest.get(length..).unwrap_or_default();
            if !behind.is_empty() && !behind.starts_with(separator) {
                continue;
            }
            let content = rest.get(..length).unwrap_or_default();
            // One reading an element: several would multiply, and the element's own family reports them.
            let found = self.values(item, content, base + start, 1, label);
            if let Some(value) = found.into_vec().into_iter().next() {
                return Some((start + length, value));
            }
        }
        None
    }

    /// Returns how many bytes at the front of `input` belong to a shape that marks its own end.
    fn delimit(&mut self, shape: &'m Shape, input: &[u8]) -> Result<usize, DecodeError> {
        match shape {
            Shape::Int(int) => int::extent(int, input),
            Shape::Bytes { .. } => TupleBytes.extent(input),
            Shape::Text(_) => TupleText.extent(input),
            Shape::Framed { frame, .. } => match frame {
                Frame::Len(width) => LenPrefix { width: *width }.extent(input),
                Frame::Terminated => Terminated.extent(input),
                Frame::Escaped => Escaped.extent(input),
                Frame::Memcmp => Memcmp.extent(input),
            },
            Shape::Record(sequence) => {
                let mut at = 0usize;
                for (segment, extent) in sequence.segments().iter().zip(sequence.extents()) {
                    let rest = input.get(at..).unwrap_or_default();
                    let width = match (extent, segment) {
                        (Extent::Fixed(width), _) => *width,
                        (_, Segment::Argument(argument)) => {
                            self.delimit(&argument.shape, rest).map_err(|error| error.behind(at))?
                        }
                        (_, Segment::Same(same)) => {
                            self.delimit(&same.shape, rest).map_err(|error| error.behind(at))?
                        }
                        (_, Segment::Derived(derived)) => {
                            int::extent(&derived.shape, rest).map_err(|error| error.behind(at))?
                        }
                        (_, Segment::Literal(literal)) => literal.bytes.len(),
                    };
                    at = at.saturating_add(width);
                    if at > input.len() {
                        return Err(DecodeError::new(
                            input.len(),
                            Fault::Short { missing: at - input.len() },
                        ));
                    }
                }
                Ok(at)
            }
            Shape::List { item, framing: Framing::Counted(width), .. } => {
                let (count, mut at) = counted(*width, input)?;
                for _ in 0..count {
                    if !self.step() {
                        return Err(DecodeError::new(at, Fault::OutOfRange));
                    }
                    let rest = input.get(at..).unwrap_or_default();
                    let width = match item.extent() {
                        Extent::Fixed(width) => width,
                        _ => self.delimit(item, rest).map_err(|error| error.behind(at))?,
                    };
                    if width > rest.len() {
                        let missing = width - rest.len();
                        return Err(DecodeError::new(input.len(), Fault::Short { missing }));
                    }
                    at += width;
                }
                Ok(at)
            }
            Shape::Desc(inner) => {
                let mut flipped = input.to_vec();
                complement(&mut flipped);
                self.delimit(inner, &flipped)
            }
            Shape::HashConcat { keep, inner, .. } => {
                let rest = input.get(*keep..).ok_or_else(|| {
                    DecodeError::new(input.len(), Fault::Short { missing: keep - input.len() })
                })?;
                self.delimit(inner, rest).map(|width| width + keep).map_err(|error| error.behind(*keep))
            }
            _ => Err(DecodeError::new(0, Fault::NoAlternative)),
        }
    }
}

/// What a shape may stand for: most often one value.
enum Values {
    None,
    One(Value),
    Many(Vec<Value>),
}

impl Values {
    fn of(values: impl IntoIterator<Item = Value>) -> Self {
        let mut values: Vec<Value> = values.into_iter().collect();
        match values.len() {
            0 => Self::None,
            1 => values.pop().map_or(Self::None, Self::One),
            _ => Self::Many(values),
        }
    }

    fn into_vec(self) -> Vec<Value> {
        match self {
            Self::None => Vec::new(),
            Self::One(value) => vec![value],
            Self::Many(values) => values,
        }
    }
}

/// The content of a frame: in place behind its prefix, or with its escapes undone.
enum Unframed<'k> {
    Borrowed(usize, &'k [u8]),
    Owned(Vec<u8>),
}

fn unframe(frame: Frame, bytes: &[u8]) -> Result<Unframed<'_>, DecodeError> {
    Ok(match frame {
        Frame::Len(width) => {
            let content = LenPrefix { width }.decode(bytes)?;
            Unframed::Borrowed(bytes.len() - content.len(), content)
        }
        Frame::Terminated => Unframed::Owned(Terminated.decode(bytes)?.bytes().collect()),
        Frame::Escaped => Unframed::Owned(Escaped.decode(bytes)?.bytes().collect()),
        Frame::Memcmp => Unframed::Owned(Memcmp.decode(bytes)?.bytes().collect()),
    })
}

/// The count at the front of `input`, and how many bytes it takes.
fn counted(width: LenWidth, input: &[u8]) -> Result<(usize, usize), DecodeError> {
    let extent = Count { width }.extent(input)?;
    let count = Count { width }.decode(input.get(..extent).unwrap_or_default())?;
    Ok((count, extent))
}

/// How many bytes at the front of `rest` an open shape could take at most.
fn longest(shape: &Shape, rest: &[u8]) -> usize {
    match shape {
        Shape::Int(int) => int::longest_text(int, rest),
        Shape::Text(text) => text.codec().longest(rest),
        Shape::Bytes { lengths, encoding } => {
            let lengths = lengths.lengths();
            match encoding {
                BytesEncoding::Hex(case) => HexBytes { case: *case, lengths }.longest(rest),
                BytesEncoding::Bech32(hrp) => Bech32 { hrp, lengths }.longest(rest),
                _ => Bytes { lengths }.longest(rest),
            }
        }
        _ => rest.len(),
    }
}

fn decode_leaf(shape: &Shape, bytes: &[u8]) -> Result<Value, DecodeError> {
    Ok(match shape {
        Shape::Int(int) => int::decode(int, bytes)?,
        Shape::Bool(BoolEncoding::Byte) => Value::Bool(Bool.decode(bytes)?),
        Shape::Bool(BoolEncoding::Tuple) => Value::Bool(TupleBool.decode(bytes)?),
        Shape::Float(encoding) => Value::Float(match encoding {
            FloatEncoding::Bits => FloatBits.decode(bytes)?,
            FloatEncoding::Ordered => FloatOrdered.decode(bytes)?,
            FloatEncoding::Badger => FloatBadger.decode(bytes)?,
            FloatEncoding::Fixed(decimals) => Fixed { decimals: *decimals }.decode(bytes)?,
            FloatEncoding::Tuple => TupleFloat.decode(bytes)?,
        }),
        Shape::Time(TimeEncoding::Text9) => Value::Time(TimeText9.decode(bytes)?),
        Shape::Time(TimeEncoding::Nanos) => Value::Time(TimeNanos.decode(bytes)?),
        Shape::Score(ScoreEncoding::Exact) => Value::Score(ScoreExact.decode(bytes)?),
        Shape::Score(ScoreEncoding::HeightScore) => Value::Float(HeightScore.decode(bytes)?),
        Shape::Bytes { lengths, encoding } => Value::Bytes(decode_bytes(lengths, encoding, bytes)?),
        Shape::Text(text) => Value::Text(decode_text(text, bytes)?),
        Shape::Nibbles { lengths, encoding } => {
            let lengths = lengths.lengths();
            Value::Nibbles(match encoding {
                NibbleEncoding::Unpacked => Nibbles { lengths }.decode(bytes)?.to_vec(),
                NibbleEncoding::Packed => PackedNibbles { lengths }.decode(bytes)?.bytes().collect(),
                NibbleEncoding::HexPrefix => HexPrefix { lengths }.decode(bytes)?.bytes().collect(),
            })
        }
        Shape::Opaque(_) => Value::Bytes(bytes.to_vec()),
        _ => return Err(DecodeError::new(0, Fault::NoAlternative)),
    })
}

fn decode_bytes(lengths: &LengthSet, encoding: &BytesEncoding, bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let lengths = lengths.lengths();
    Ok(match encoding {
        BytesEncoding::Raw => Bytes { lengths }.decode(bytes)?.to_vec(),
        BytesEncoding::Hex(case) => HexBytes { case: *case, lengths }.decode(bytes)?.bytes().collect(),
        BytesEncoding::Bech32(hrp) => Bech32 { hrp, lengths }.decode(bytes)?.bytes().collect(),
        BytesEncoding::Fit(width) => Fit { width: *width }.decode(bytes)?.to_vec(),
        BytesEncoding::Tuple => {
            let content: Vec<u8> = TupleBytes.decode(bytes)?.bytes().collect();
            if !lengths.admits(content.len()) {
                return Err(DecodeError::new(1, Fault::Length { found: content.len() }));
            }
            content
        }
    })
}

fn decode_text(shape: &TextShape, bytes: &[u8]) -> Result<String, DecodeError> {
    if !shape.tuple {
        return Ok(shape.codec().decode(bytes)?.to_owned());
    }
    let content: Vec<u8> = TupleText.decode(bytes)?.contents().bytes().collect();
    shape.codec().decode(&content).map(str::to_owned).map_err(|error| error.behind(1))
}

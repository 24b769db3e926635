use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use keyplan_codec::{DecodeError, Fault, HashConcat, Segment as _, complement};

use super::leaf::{Unframed, decode_leaf, longest, unframe};
use super::{Value, derive, int};
use crate::model::{Extent, Name, Segment, Sequence, Shape, Width};

/// How many steps one key may take before the search is given up, a step being a segment or 16 bytes tried. A sound
/// layout needs about one for each segment; only layouts with several ends to try come near it.
const MAX_STEPS: usize = 1 << 20;

/// How deep the search may go. Sequences have at most 256 parts and nest at most 96 deep, but few use either.
const MAX_DEPTH: usize = 1024;

/// How many readings are looked through for the one that is asked about.
pub(crate) const READINGS: usize = 16;

/// Why bytes are not a key of a layout: the byte that the search got furthest to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The offset of the byte that breaks it.
    pub offset: usize,
    /// The segment in which that byte is.
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
    search(sequence, bytes, limit, (0, 0))
}

/// As [`readings`], of a key that is known to begin with the layout's leading literals.
pub(super) fn readings_behind_lead(
    sequence: &Sequence,
    bytes: &[u8],
    limit: usize,
) -> Result<Readings, Failure> {
    // What is derived or copied looks back at every segment.
    search(sequence, bytes, limit, if sequence.is_plain() { sequence.lead() } else { (0, 0) })
}

fn search(
    sequence: &Sequence,
    bytes: &[u8],
    limit: usize,
    from: (usize, usize),
) -> Result<Readings, Failure> {
    let mut search = Search::default();
    let found = search.sequence_from(sequence, bytes, 0, limit.max(1), from);
    if found.is_empty() {
        return Err(search.failure());
    }
    let more = search.exhausted || found.len() >= limit.max(1);
    Ok(Readings { readings: found, more })
}

/// A reading, and the offset at which each segment of the layout begins.
pub(crate) struct Located {
    pub(crate) values: Vec<Value>,
    pub(crate) starts: Vec<usize>,
}

/// Where the segments began that were read on the way to a [`Failure`], the one that broke last.
pub(crate) struct Reached {
    pub(crate) failure: Failure,
    pub(crate) starts: Vec<usize>,
}

/// As [`readings`], with the places of the segments.
pub(crate) fn located(sequence: &Sequence, bytes: &[u8], limit: usize) -> Result<Vec<Located>, Box<Reached>> {
    let mut search = Search { trail: Some(Trail::default()), ..Search::default() };
    let mut row = Row::new(sequence, bytes, 0, limit.max(1));
    row.traced = true;
    search.row(sequence, &mut row, 0, 0);
    let trail = search.trail.take().unwrap_or_default();
    if row.found.is_empty() {
        return Err(Box::new(Reached { failure: search.failure(), starts: trail.furthest }));
    }
    let found = row.found.into_iter().zip(trail.found);
    Ok(found.map(|(values, starts)| Located { values, starts }).collect())
}

/// A search for readings, and how far it got.
#[derive(Default)]
pub(super) struct Search<'m> {
    steps: usize,
    depth: usize,
    furthest: Option<(usize, Fault, &'m str)>,
    exhausted: bool,
    // Kept only where the places of segments are asked for.
    trail: Option<Trail>,
}

/// The furthest fault, and where the segments began then.
pub(super) type Reach<'m> = (Option<(usize, Fault, &'m str)>, Option<Vec<usize>>);

/// Where the segments of the outermost row begin: now, when the search was furthest, and in each reading.
#[derive(Default)]
struct Trail {
    starts: Vec<usize>,
    furthest: Vec<usize>,
    found: Vec<Vec<usize>>,
}

/// A sequence half read: where each segment began, and the values so far.
struct Row<'k> {
    bytes: &'k [u8],
    base: usize,
    limit: usize,
    plain: bool,
    // Whether its starts are those of the search's trail.
    traced: bool,
    // How many segments with several ends or values lie on the way here: while there is none, nothing comes back.
    branches: usize,
    starts: Vec<usize>,
    values: Vec<Value>,
    found: Vec<Vec<Value>>,
    // Segment and offset from which no reading was found, kept only where the values before cannot matter.
    dead: Option<HashSet<(usize, usize)>>,
}

impl<'k> Row<'k> {
    fn new(sequence: &Sequence, bytes: &'k [u8], base: usize, limit: usize) -> Self {
        let count = sequence.segments().len();
        Self {
            bytes,
            base,
            limit,
            plain: sequence.is_plain(),
            traced: false,
            branches: 0,
            // Only what is derived or copied looks back.
            starts: if sequence.is_plain() { Vec::new() } else { Vec::with_capacity(count) },
            values: Vec::with_capacity(sequence.argument_count()),
            found: Vec::new(),
            dead: None,
        }
    }

    /// How many values of a segment may be of use: one for each reading that is still wanted. A copy must come to the value of its
    /// original, which is one of the first.
    fn left(&self, segment: &Segment) -> usize {
        if matches!(segment, Segment::Same(_)) { self.limit } else { self.limit - self.found.len() }
    }
}

impl<'m> Search<'m> {
    pub(super) fn fail(&mut self, offset: usize, fault: Fault, label: &'m str) {
        if self.furthest.is_none_or(|(furthest, ..)| offset > furthest) {
            self.furthest = Some((offset, fault, label));
            if let Some(trail) = &mut self.trail {
                trail.furthest.clone_from(&trail.starts);
            }
        }
    }

    /// How far the search got, to come back to after a search for what is not needed.
    pub(super) fn reached(&self) -> Reach<'m> {
        (self.furthest, self.trail.as_ref().map(|trail| trail.furthest.clone()))
    }

    /// Forgets what got further since then.
    pub(super) fn reset(&mut self, (furthest, starts): Reach<'m>) {
        self.furthest = furthest;
        if let (Some(trail), Some(starts)) = (&mut self.trail, starts) {
            trail.furthest = starts;
        }
    }

    fn failure(&self) -> Failure {
        let (offset, fault, segment) = self.furthest.unwrap_or((0, Fault::NoAlternative, ""));
        Failure { offset, segment: segment.to_owned(), fault, exhausted: self.exhausted }
    }

    /// Notes where a segment of a row begins, for those who look back.
    fn begin(&mut self, row: &mut Row<'_>, at: usize) {
        if row.plain && !row.traced {
            return;
        }
        if let (true, Some(trail)) = (row.traced, &mut self.trail) {
            trail.starts.truncate(row.starts.len());
            trail.starts.push(at);
        }
        row.starts.push(at);
    }

    pub(super) fn error(&mut self, error: DecodeError, base: usize, label: &'m str) {
        self.fail(base.saturating_add(error.offset), error.fault, label);
    }

    /// Counts a step; false when the search must end.
    pub(super) fn step(&mut self) -> bool {
        self.step_over(0)
    }

    /// Counts a step that looks at `bytes` bytes; false when the search must end.
    pub(super) fn step_over(&mut self, bytes: usize) -> bool {
        self.steps = self.steps.saturating_add(1 + bytes / 16);
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
        self.sequence_from(sequence, bytes, base, limit, (0, 0))
    }

    /// The readings of a sequence of which the segments before `from` are known to fit.
    fn sequence_from(
        &mut self,
        sequence: &'m Sequence,
        bytes: &[u8],
        base: usize,
        limit: usize,
        (segment, at): (usize, usize),
    ) -> Vec<Vec<Value>> {
        let mut row = Row::new(sequence, bytes, base, limit);
        self.row(sequence, &mut row, segment, at);
        row.found
    }

    /// Reads the segments from `index` on, at offset `at`; leaves the row as it found it, but for what was found.
    fn row(&mut self, sequence: &'m Sequence, row: &mut Row<'_>, index: usize, at: usize) {
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
    fn run(&mut self, sequence: &'m Sequence, row: &mut Row<'_>, first: usize, start: usize) {
        let mut at = start;
        for (index, (segment, extent)) in
            sequence.segments().iter().zip(sequence.extents()).enumerate().skip(first)
        {
            if !self.step() {
                return;
            }
            self.begin(row, at);
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
                    // A derived part has a fixed width or marks its own end: the plan's resolution sees to it.
                    let width = match extent {
                        Extent::Fixed(width) => Ok(*width),
                        _ => int::extent(&derived.shape, rest),
                    };
                    let read = width.and_then(|width| {
                        let missing = width.saturating_sub(rest.len());
                        let bytes = rest.get(..width);
                        let bytes = bytes.ok_or(DecodeError::new(rest.len(), Fault::Short { missing }))?;
                        int::decode(&derived.shape, bytes).map(|_| width)
                    });
                    match read {
                        Ok(width) => at += width,
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
            let found = self.values(shape, bytes, row.base + at, row.left(segment), segment.label());
            match found {
                Values::None => return,
                Values::One(value) => {
                    if !self.place(segment, value, row, sequence, at) {
                        return;
                    }
                    at = end;
                }
                many @ Values::Many(_) => return self.go_on(sequence, row, index, at..end, many),
            }
        }
        self.finish(sequence, row, at);
    }

    /// Goes on after the segment at `index`, once for each of its values.
    fn go_on(
        &mut self,
        sequence: &'m Sequence,
        row: &mut Row<'_>,
        index: usize,
        place: Range<usize>,
        values: Values,
    ) {
        let Some(segment) = sequence.segments().get(index) else { return };
        row.branches += 1;
        for value in values.into_vec() {
            let kept = row.values.len();
            if self.place(segment, value, row, sequence, place.start) {
                self.row(sequence, row, index + 1, place.end);
            }
            row.values.truncate(kept);
            if row.found.len() >= row.limit || self.exhausted {
                break;
            }
        }
        row.branches -= 1;
    }

    /// Keeps the value of a segment; false if it is a copy that differs from its original.
    fn place(
        &mut self,
        segment: &'m Segment,
        value: Value,
        row: &mut Row<'_>,
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
    fn finish(&mut self, sequence: &'m Sequence, row: &mut Row<'_>, at: usize) {
        if at != row.bytes.len() {
            let fault = Fault::Trailing { extra: row.bytes.len() - at };
            let label = sequence.segments().last().map_or("", Segment::label);
            return self.fail(row.base + at, fault, label);
        }
        if !row.plain && !self.derived_match(sequence, row) {
            return;
        }
        // A family may have an alternative reading with the same arguments: the same bytes, but no second reading.
        if row.found.is_empty() && (row.limit == 1 || row.branches == 0) {
            row.found.push(std::mem::take(&mut row.values));
        } else if !row.found.contains(&row.values) {
            row.found.push(row.values.clone());
        } else {
            return;
        }
        if let (true, Some(trail)) = (row.traced, &mut self.trail) {
            trail.found.push(row.starts.clone());
        }
    }

    fn derived_match(&mut self, sequence: &'m Sequence, row: &Row<'_>) -> bool {
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
        row: &mut Row<'_>,
        index: usize,
        at: usize,
        segment: &'m Segment,
        shape: &'m Shape,
    ) {
        let memo = row.plain;
        let after = sequence.tail(index + 1);
        let next = match sequence.segments().get(index + 1) {
            Some(Segment::Literal(literal)) => literal.bytes.as_slice(),
            _ => &[],
        };
        let rest = row.bytes.get(at..).unwrap_or_default();
        let width = sequence.widths().get(index).copied().unwrap_or_default();
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
            if row.dead.as_ref().is_some_and(|dead| dead.contains(&(index + 1, end))) {
                continue;
            }
            if !self.step_over(length) {
                return;
            }
            let bytes = rest.get(..length).unwrap_or_default();
            let before = row.found.len();
            let found = self.values(shape, bytes, row.base + at, row.left(segment), segment.label());
            let any = !matches!(found, Values::None);
            self.go_on(sequence, row, index, at..end, found);
            if row.found.len() >= row.limit || self.exhausted {
                return;
            }
            if memo && any && row.found.len() == before {
                row.dead.get_or_insert_default().insert((index + 1, end));
            }
        }
        if !tried {
            // Nothing to go on with: say what is there where the segment would have to end.
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
    pub(super) fn values(
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
                match (HashConcat { hash: *hash, keep: *keep }).decode(bytes) {
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

    pub(super) fn none(&mut self, error: DecodeError, base: usize, label: &'m str) -> Values {
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
}

/// What a shape may stand for: most often one value.
pub(super) enum Values {
    None,
    One(Value),
    Many(Vec<Value>),
}

impl Values {
    pub(super) fn of(values: impl IntoIterator<Item = Value>) -> Self {
        let mut values: Vec<Value> = values.into_iter().collect();
        match values.len() {
            0 => Self::None,
            1 => values.pop().map_or(Self::None, Self::One),
            _ => Self::Many(values),
        }
    }

    pub(super) fn into_vec(self) -> Vec<Value> {
        match self {
            Self::None => Vec::new(),
            Self::One(value) => vec![value],
            Self::Many(values) => values,
        }
    }
}

//! Keys below one another: bytes at the same place in one column, ` | ` between the segments.

use std::fmt::Write as _;
use std::ops::Range;

use keyplan_plan::dynamic::prefix;
use keyplan_plan::model::{Segment, Sequence};
use keyplan_plan::order;

use super::shorten;
use super::subject::Subject;
use crate::proof::Side;

/// The longest keys that are shown in full, in bytes.
const WHOLE: usize = 40;
/// How many bytes are shown on either side of a place that matters.
const AROUND: usize = 4;
/// The most places that matter in a long key.
const MOST_PLACES: usize = 12;
/// The widest bytes that arguments are shown beside and not above.
const BESIDE: usize = 64;

/// A key to be shown.
pub(crate) struct Row<'a> {
    /// What comes before the arguments, such as `scan` or the name of a family.
    pub(crate) title: String,
    pub(crate) subject: Subject<'a>,
    pub(crate) side: &'a Side,
}

/// Draws keys with their arguments, a line or two each.
pub(crate) fn draw(rows: &[Row<'_>]) -> String {
    let keys: Vec<Lanes<'_>> = rows.iter().map(|row| Lanes::new(row.subject.sequence, row.side)).collect();
    let bytes = columns(&keys);
    let titles = padded(rows.iter().map(|row| row.title.clone()).collect());
    let arguments = arguments(rows);
    let width = bytes.iter().map(|line| line.chars().count()).max().unwrap_or_default();
    let lines = bytes.iter().zip(titles).zip(arguments).map(|((bytes, title), arguments)| {
        let text = [title, arguments]
            .into_iter()
            .filter(|part| !part.trim().is_empty())
            .collect::<Vec<_>>()
            .join("  ");
        let text = text.trim_end();
        if text.is_empty() {
            bytes.clone()
        } else if width <= BESIDE {
            let pad = " ".repeat(width - bytes.chars().count());
            format!("{bytes}{pad}    {text}")
        } else {
            format!("{text}\n    {bytes}")
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The index of the first segment that does not end at the same place in both keys of one layout.
pub(crate) fn parting(sequence: &Sequence, first: &Side, second: &Side) -> Option<usize> {
    let (a, b) = (ends(sequence, first), ends(sequence, second));
    a.iter().zip(&b).position(|(a, b)| a != b && a.is_some() && b.is_some())
}

/// The index among the segments of the first argument that the two do not share.
pub(crate) fn differing(sequence: &Sequence, first: &Side, second: &Side) -> Option<usize> {
    let at = first.values.iter().zip(&second.values).position(|(a, b)| a != b)?;
    let mut arguments =
        sequence.segments().iter().enumerate().filter(|(_, segment)| matches!(segment, Segment::Argument(_)));
    arguments.nth(at).map(|(index, _)| index)
}

/// Where each segment ends, as far as the side goes; `None` where a segment cannot be written without what follows.
fn ends(sequence: &Sequence, side: &Side) -> Vec<Option<usize>> {
    let mut ends = Vec::new();
    for count in 1..=sequence.segments().len() {
        let Some(values) = side.values.get(..sequence.arguments_before(count)) else { break };
        let mut front = Vec::new();
        let end = prefix(sequence, count, values, &mut front).ok().map(|()| front.len());
        if end.is_some_and(|end| end > side.bytes.len()) {
            break;
        }
        ends.push(end);
    }
    ends
}

/// The bytes of a key and where its segments lie; literals in a row are one.
struct Lanes<'a> {
    bytes: &'a [u8],
    segments: Vec<Range<usize>>,
}

impl<'a> Lanes<'a> {
    fn new(sequence: &Sequence, side: &'a Side) -> Self {
        let mut segments: Vec<Range<usize>> = Vec::new();
        let mut literal_before = false;
        let mut at = 0;
        for (segment, end) in sequence.segments().iter().zip(ends(sequence, side)) {
            let Some(end) = end else { continue };
            let literal = matches!(segment, Segment::Literal(_));
            match segments.last_mut() {
                Some(last) if literal && literal_before => last.end = end,
                _ => segments.push(at..end),
            }
            literal_before = literal;
            at = end;
        }
        if at < side.bytes.len() {
            segments.push(at..side.bytes.len());
        }
        Self { bytes: &side.bytes, segments }
    }

    /// What comes before the byte at `offset`: the bars of the segments that begin there, `·` for an empty one.
    fn before(&self, offset: usize) -> String {
        let mut out = String::new();
        for (index, segment) in
            self.segments.iter().enumerate().filter(|(_, segment)| segment.start == offset)
        {
            if index > 0 {
                out.push_str("| ");
            }
            if segment.is_empty() {
                out.push_str("· ");
            }
        }
        out
    }
}

/// One line for each key.
fn columns(rows: &[Lanes<'_>]) -> Vec<String> {
    let longest = rows.iter().map(|row| row.bytes.len()).max().unwrap_or_default();
    let left_out = left_out(rows, longest);
    let mut lines = vec![String::new(); rows.len()];
    let mut offset = 0;
    while offset <= longest {
        if let Some(stretch) = left_out.iter().find(|stretch| stretch.start == offset) {
            let text = format!("[{} bytes] ", shorten::thousands(stretch.len()));
            for (line, row) in lines.iter_mut().zip(rows) {
                line.push_str(if row.bytes.len() > offset { &text } else { "" });
            }
            offset = stretch.end;
            continue;
        }
        let before: Vec<String> = rows.iter().map(|row| row.before(offset)).collect();
        let width = before.iter().map(|text| text.chars().count()).max().unwrap_or_default();
        for ((line, row), before) in lines.iter_mut().zip(rows).zip(before) {
            line.push_str(&before);
            line.extend(std::iter::repeat_n(' ', width - before.chars().count()));
            match row.bytes.get(offset) {
                // Writing to a string does not fail.
                Some(byte) => drop(write!(line, "{byte:02x} ")),
                None => line.push_str("   "),
            }
        }
        offset += 1;
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// The stretches of long keys that are left out: those far from ends, bars and differences.
fn left_out(rows: &[Lanes<'_>], longest: usize) -> Vec<Range<usize>> {
    if longest <= WHOLE {
        return Vec::new();
    }
    let mut places: Vec<usize> = vec![0, longest];
    places.extend(rows.iter().map(|row| row.bytes.len()));
    if let [first, second, ..] = rows {
        places.extend(first.bytes.iter().zip(second.bytes).position(|(a, b)| a != b));
    }
    places.extend(
        rows.iter().flat_map(|row| row.segments.iter().map(|segment| segment.start)).take(MOST_PLACES),
    );
    order::sort(&mut places);
    places.dedup();
    let mut stretches = Vec::new();
    for pair in places.windows(2) {
        let [from, to] = pair else { continue };
        let (start, end) = (from + AROUND * 2, to.saturating_sub(AROUND));
        if start + AROUND < end {
            stretches.push(start..end);
        }
    }
    stretches
}

/// The arguments of each row, those of one name below one another.
fn arguments(rows: &[Row<'_>]) -> Vec<String> {
    let mut cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let all = row.subject.sequence.arguments().zip(&row.side.values);
            all.map(|(argument, value)| {
                let name = argument.name.as_deref().unwrap_or("value");
                format!("{name}={}", shorten::value(value, &argument.shape))
            })
            .collect()
        })
        .collect();
    let one_layout = rows.windows(2).all(|pair| match pair {
        [a, b] => std::ptr::eq(a.subject.sequence, b.subject.sequence),
        _ => true,
    });
    if one_layout {
        let most = cells.iter().map(Vec::len).max().unwrap_or_default();
        for column in 0..most {
            let width = cells.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
            for cell in cells.iter_mut().filter_map(|row| row.get_mut(column)) {
                let pad = width.unwrap_or_default().saturating_sub(cell.chars().count());
                cell.extend(std::iter::repeat_n(' ', pad));
            }
        }
    }
    cells.into_iter().map(|row| row.join("  ")).collect()
}

fn padded(texts: Vec<String>) -> Vec<String> {
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or_default();
    let pad = |text: String| format!("{text}{}", " ".repeat(width - text.chars().count()));
    texts.into_iter().map(pad).collect()
}

//! The program of a layout: its segments as steps, each with the place where it ends.
//!
//! The decoder for plans known at run time and the code that is made for other languages are both printed from these steps, so
//! that what one reads straight on the other does not search for.

use keyplan_codec::Case;

use crate::model::Extent;
use crate::model::{BytesEncoding, IntEncoding, Segment, Sequence, Shape, Width};

/// Where the bytes of a step end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// After this many bytes.
    Fixed(usize),
    /// Where its own bytes say.
    Marked,
    /// At the end of everything.
    Rest,
    /// At the first byte that it cannot hold, where the next literal begins.
    Run,
    /// At one of several places: each is to be tried.
    Tried,
}

/// One segment of a layout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step<'m> {
    /// The segment.
    pub segment: &'m Segment,
    /// Where it ends.
    pub end: End,
    /// How many bytes it may take.
    pub width: Width,
    /// How many bytes everything after it may take.
    pub after: Width,
    /// The index of its argument, for a segment that is one.
    pub argument: Option<usize>,
}

/// The steps of a layout, first to last.
#[derive(Clone, Debug, PartialEq)]
pub struct Program<'m> {
    /// The layout.
    pub sequence: &'m Sequence,
    /// Its steps.
    pub steps: Vec<Step<'m>>,
}

impl<'m> Program<'m> {
    /// The program of a layout.
    pub fn of(sequence: &'m Sequence) -> Self {
        let segments = sequence.segments();
        let mut arguments = 0..;
        let steps = segments.iter().zip(sequence.extents()).zip(sequence.widths()).enumerate();
        let steps = steps.map(|(index, ((segment, extent), width))| {
            let end = match extent {
                Extent::Fixed(width) => End::Fixed(*width),
                Extent::Delimited => End::Marked,
                Extent::Open => open_end(segment, segments.get(index + 1)),
            };
            let argument = matches!(segment, Segment::Argument(_)).then(|| arguments.next()).flatten();
            Step { segment, end, width: *width, after: sequence.tail(index + 1), argument }
        });
        Self { sequence, steps: steps.collect() }
    }

    /// Whether every step has one possible end, so that nothing is searched for.
    pub fn is_direct(&self) -> bool {
        self.sequence.is_plain() && self.steps.iter().all(|step| step.end != End::Tried)
    }
}

/// The end of an open segment before `next`.
fn open_end(segment: &Segment, next: Option<&Segment>) -> End {
    let Some(next) = next else { return End::Rest };
    let (Segment::Argument(argument), Segment::Literal(literal)) = (segment, next) else { return End::Tried };
    match literal.bytes.first() {
        Some(&byte) if !may_contain(&argument.shape, byte) => End::Run,
        _ => End::Tried,
    }
}

/// Whether a value of an open shape may hold a byte, as far as is known by construction.
fn may_contain(shape: &Shape, byte: u8) -> bool {
    match shape {
        Shape::Int(int) => match int.encoding {
            IntEncoding::Dec => byte.is_ascii_digit() || byte == b'-',
            IntEncoding::Hex(_) => byte.is_ascii_hexdigit(),
            _ => true,
        },
        Shape::Bytes { encoding: BytesEncoding::Hex(Case::Lower | Case::Upper), .. } => {
            byte.is_ascii_hexdigit()
        }
        // The alphabet of the first character may be wider than that of the rest.
        Shape::Text(text) => {
            text.tuple || text.alphabet.contains(byte) || text.first.is_some_and(|first| first.contains(byte))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile;

    fn ends(parts: &str) -> Vec<End> {
        let text = format!("plan p; space s {{ key k = {parts}; }}");
        let plan = compile("p.keyplan", &text, |_| Err(String::new())).plan.unwrap();
        Program::of(&plan.spaces[0].families[0].key).steps.iter().map(|step| step.end).collect()
    }

    #[test]
    fn a_segment_ends_where_the_next_literal_cannot_belong_to_it() {
        let found = ends(r#"0x01 a: text("a-z", 1..) "|" b: u64.dec "/" c: bytes"#);
        assert_eq!(found, [End::Fixed(1), End::Run, End::Fixed(1), End::Run, End::Fixed(1), End::Rest]);
    }

    #[test]
    fn a_segment_that_may_hold_what_comes_next_is_tried() {
        assert_eq!(ends(r#"a: text "/" b: u8"#), [End::Tried, End::Fixed(1), End::Fixed(1)]);
        assert_eq!(ends("a: i64.dec \"-\" b: u64.leb128"), [End::Tried, End::Fixed(1), End::Marked]);
    }
}

//! One family: its layout, arguments, scans, values, an example, and what is wrong with it.

use std::fmt::Write as _;

use keyplan_plan::dynamic::{Decoded, encode};
use keyplan_plan::explain::Reading;
use keyplan_plan::model::{
    Argument, BytesEncoding, Family, LengthSet, ScoreEncoding, Segment, Sequence, Shape, Space, Width,
};

use super::lanes::{encoding, innermost, lanes};
use super::{Page, code, width};
use crate::picture::draw;
use keyplan_plan::notation::{Notation, assignments, class, hex, int_range, lengths_text, scan};
use keyplan_plan::sample;

/// How wide the picture of an example is.
const WIDTH: usize = 100;

pub(super) fn section(page: &mut Page<'_>, space: &Space, family: &Family, heading: &str) {
    page.line(&format!("{heading} {}", family.path));
    if let Some(name) = &family.real_name {
        page.line(&format!("In the program: {}.", code(name)));
    }
    page.paragraphs(&family.doc);
    if let Some(why) = &family.retired {
        let since = family.retired_since.as_ref().map(|since| format!(" since {since}")).unwrap_or_default();
        page.line(&format!("> Retired{since}: {why}. Its keys stay reserved."));
    }
    let kind = family.kind.keyword();
    if kind != "key" {
        page.line(&format!("A {} in space {}.", code(kind), code(&space.name)));
    }
    page.block(&lanes(page.notation, &family.key));
    page.line(&format!("A key has {}.", width(family.key.width())));
    arguments(page, &family.key);
    scans(page, family);
    relations(page, family);
    value(page, family.value.as_ref());
    fields(page, family);
    if let (Some(buckets), Some(key)) = (family.spread, family.key.constant()) {
        page.line(&format!(
            "On a server it is spread over {buckets} buckets: a field lies in the hash {}, where n is the CRC-16 of the \
             field modulo {buckets}.",
            code(&format!("{}{{n}}", key.escape_ascii()))
        ));
    }
    part(page, "Members", family.member.as_ref());
    part(page, "Scores", family.score.as_ref());
    example(page, space, family);
    accepted(page, family);
}

fn arguments(page: &mut Page<'_>, sequence: &Sequence) {
    let mut rows = Vec::new();
    collect(page.notation, sequence, "", 8, &mut rows);
    // A column without a line in it says nothing.
    if rows.iter().any(|row| row.last().is_some_and(|purpose| !purpose.is_empty())) {
        page.table(&["argument", "type", "encoding", "width", "values", "purpose"], &rows);
    } else {
        for row in &mut rows {
            row.pop();
        }
        page.table(&["argument", "type", "encoding", "width", "values"], &rows);
    }
}

/// The arguments of a layout and, below each, those of the records and choices in it.
fn collect(
    notation: Notation<'_>,
    sequence: &Sequence,
    within: &str,
    depth: usize,
    rows: &mut Vec<Vec<String>>,
) {
    for argument in sequence.arguments() {
        let name = match &argument.name {
            Some(name) => format!("{within}{name}"),
            None if within.is_empty() => "value".to_owned(),
            None => within.trim_end_matches('.').to_owned(),
        };
        rows.push(row(notation, argument, &name));
        if depth > 0 {
            collect_inside(notation, &argument.shape, &name, depth - 1, rows);
        }
    }
}

fn collect_inside(
    notation: Notation<'_>,
    shape: &Shape,
    name: &str,
    depth: usize,
    rows: &mut Vec<Vec<String>>,
) {
    let (name, shape) = innermost(shape, name);
    for (label, sequence) in shape.labelled() {
        let within = label.map_or_else(|| format!("{name}."), |label| format!("{name}.{label}."));
        collect(notation, sequence, &within, depth, rows);
    }
}

fn row(notation: Notation<'_>, argument: &Argument, name: &str) -> Vec<String> {
    let ty = argument.type_name.clone().unwrap_or_else(|| notation.domain(&argument.shape));
    vec![
        code(name),
        code(&ty),
        encoding(&argument.shape),
        width(Width::of_shape(&argument.shape)),
        values(&argument.shape),
        argument.doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" "),
    ]
}

/// Which values there are: a range, lengths, an alphabet, labels.
fn values(shape: &Shape) -> String {
    let lengths = |lengths: &LengthSet, unit: &str| match lengths_text(lengths) {
        Some(text) => {
            format!("{} {unit}", text.replace("..=", " to ").replace("..", " or more").replace(" | ", " or "))
        }
        None => format!("any number of {unit}"),
    };
    if let Some(inner) = shape.optional() {
        return format!("absent, or {}", values(inner));
    }
    match shape {
        Shape::Int(int) => int_range(int).replace("..=", " to "),
        Shape::Bool(_) => "false, true".to_owned(),
        Shape::Bytes { encoding: BytesEncoding::Wide { signed: true, .. }, .. } => {
            "-2^255 to 2^255 - 1".to_owned()
        }
        Shape::Bytes { encoding: BytesEncoding::Wide { .. }, .. } => "0 to 2^256 - 1".to_owned(),
        Shape::Bytes { lengths: set, .. } => lengths(set, "bytes"),
        Shape::Nibbles { lengths: set, .. } => lengths(set, "nibbles"),
        Shape::List { counts, .. } => lengths(counts, "elements"),
        Shape::Text(text) => {
            let mut all = lengths(&text.lengths, "bytes");
            if text.alphabet != keyplan_codec::Alphabet::UTF8 {
                let _ = write!(all, " of {}", code(&class(&text.alphabet)));
            }
            if let Some(first) = &text.first {
                let _ = write!(all, ", the first of {}", code(&class(first)));
            }
            all
        }
        Shape::Score { heights: Some(heights), .. } => {
            format!("in blocks of the heights {} to {}", heights.least, heights.most)
        }
        Shape::Score { encoding: ScoreEncoding::HeightScore, .. } => LOSSY_SCORES.to_owned(),
        other => other.inner().map_or_else(
            || other.labelled().filter_map(|(label, _)| label.map(code)).collect::<Vec<_>>().join(", "),
            values,
        ),
    }
}

/// What KP0009 says of this encoding, whether the plan accepts it or not.
const LOSSY_SCORES: &str = "not all can be told apart (KP0009): two places in a block from height 8388608 on, and two \
     times 238 ns apart, may share a score";

fn scans(page: &mut Page<'_>, family: &Family) {
    let rows = family.scans.iter().map(|claim| {
        let rest: Vec<String> =
            family.key.arguments().skip(claim.bound).filter_map(|a| a.name.as_deref()).map(code).collect();
        let order = match (claim.in_order, rest.is_empty()) {
            (true, false) => format!("by {}", rest.join(", then ")),
            (true, true) => "one row".to_owned(),
            (false, _) => "not claimed".to_owned(),
        };
        let name = scan(family, claim);
        let bytes =
            keyplan_plan::notation::scan_bytes(family, claim).map_or_else(String::new, |bytes| code(&bytes));
        vec![
            code(name.trim_end_matches(" in order")),
            code(&page.notation.parts(&claim.prefix(&family.key))),
            bytes,
            order,
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    page.table(&["scan", "prefix", "such as", "order of the rows"], &rows);
    if family.scans.iter().any(|claim| claim.filtered) {
        page.line("A filtered scan also reads the rows of other families that begin with the same bytes, and drops them.");
    }
}

fn relations(page: &mut Page<'_>, family: &Family) {
    for relation in &family.relations {
        let words = relation.words();
        let words = words.strip_prefix("refers to ").unwrap_or(&words);
        page.line(&format!("Every row refers to a row of {}.", code(words)));
    }
}

fn value(page: &mut Page<'_>, value: Option<&Sequence>) {
    let Some(value) = value else { return };
    match value.segments() {
        [Segment::Argument(Argument { name: None, shape: Shape::Opaque(_), .. })] => {
            page.line(&format!("Value: {}.", page.notation.value_layout(value)));
        }
        _ => part(page, "Value", Some(value)),
    }
}

fn part(page: &mut Page<'_>, title: &str, sequence: Option<&Sequence>) {
    let Some(sequence) = sequence else { return };
    page.line(&format!("{title}:"));
    page.block(&lanes(page.notation, sequence));
    arguments(page, sequence);
}

fn fields(page: &mut Page<'_>, family: &Family) {
    let rows: Vec<Vec<String>> = family
        .fields
        .iter()
        .map(|field| {
            vec![
                code(&field.name),
                code(&page.notation.parts(&field.key)),
                field.value.as_ref().map_or(String::new(), |value| code(&page.notation.parts(value))),
                field.doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" "),
            ]
        })
        .collect();
    page.table(&["field", "written as", "value", "purpose"], &rows);
}

/// A key of the family, made by the encoder itself.
fn example(page: &mut Page<'_>, space: &Space, family: &Family) {
    let Some(values) = sample::arguments(&family.key) else { return };
    let mut key = Vec::new();
    if encode(&family.key, &values, &mut key).is_err() {
        return;
    }
    let reading = Reading { decoded: Decoded { space, family, values: values.clone() } };
    let drawn = reading
        .pieces(&key)
        .map_or_else(|| format!("  {}\n", hex(&key)), |pieces| draw(&key, &pieces, WIDTH).to_string());
    let arguments = if values.is_empty() { String::new() } else { assignments(&family.key, &values) };
    let title = format!("{} {arguments}", family.local_path());
    page.line(&format!("Example: {}", code(title.trim_end())));
    page.block(&format!("{}\n\n{}", hex(&key), drawn.trim_end()));
}

fn accepted(page: &mut Page<'_>, family: &Family) {
    if family.accepts.is_empty() {
        return;
    }
    let lines: Vec<String> = family
        .accepts
        .iter()
        .map(|accept| {
            let of: Vec<String> = accept.of.iter().map(|path| code(path)).collect();
            let of = if of.is_empty() { String::new() } else { format!(" with {}", of.join(", ")) };
            format!("- **{}**{of}: {}", accept.kind.word(), accept.why)
        })
        .collect();
    page.line(&format!("Accepted flaws:\n\n{}", lines.join("\n")));
}

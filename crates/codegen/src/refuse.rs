//! Encodings that another language has no code for yet. They are refused by name, never left out.

use keyplan_plan::codec::{Hash, LenWidth};
use keyplan_plan::diag::{Code, Diagnostic};
use keyplan_plan::model::{
    BytesEncoding, Family, Frame, Framing, IntEncoding, IntShape, NibbleEncoding, Plan, Segment, Sequence,
    Shape,
};

/// What of a plan cannot be made in `language`.
pub(crate) fn unsupported(plan: &Plan, language: &str) -> Vec<Diagnostic> {
    let mut all = Vec::new();
    for family in plan.spaces.iter().flat_map(|space| &space.families) {
        for sequence in sequences(family) {
            for segment in sequence.segments() {
                let found = match segment {
                    Segment::Literal(_) => None,
                    Segment::Argument(argument) => of_shape(&argument.shape),
                    Segment::Same(same) => of_shape(&same.shape),
                    Segment::Derived(derived) => of_int(&derived.shape),
                };
                if let Some(encoding) = found {
                    let message =
                        format!("there is no {language} for this layout: `{encoding}` cannot be written yet");
                    all.push(Diagnostic::new(Code::TooLarge, message, segment.span(), "this"));
                }
            }
        }
    }
    all
}

/// Every layout of a family.
fn sequences(family: &Family) -> impl Iterator<Item = &Sequence> {
    let fields = family.fields.iter().flat_map(|field| std::iter::once(&field.key).chain(&field.value));
    std::iter::once(&family.key).chain(&family.value).chain(&family.member).chain(&family.score).chain(fields)
}

fn of_sequence(sequence: &Sequence) -> Option<String> {
    sequence.segments().iter().find_map(|segment| match segment {
        Segment::Literal(_) => None,
        Segment::Argument(argument) => of_shape(&argument.shape),
        Segment::Same(same) => of_shape(&same.shape),
        Segment::Derived(derived) => of_int(&derived.shape),
    })
}

fn of_shape(shape: &Shape) -> Option<String> {
    match shape {
        Shape::Int(int) => of_int(int),
        Shape::Nibbles { encoding: NibbleEncoding::Counted, .. } => Some("counted".to_owned()),
        Shape::Text(text) if !text.except.is_empty() => Some("except".to_owned()),
        Shape::Bytes { encoding: BytesEncoding::Class(_), .. } => Some("bytes of a class".to_owned()),
        Shape::Record(sequence) => of_sequence(sequence),
        Shape::Choice(alternatives) => alternatives.iter().find_map(|one| of_sequence(&one.sequence)),
        Shape::Option(inner) | Shape::Desc(inner) => of_shape(inner),
        Shape::List { item, framing, .. } => match framing {
            Framing::Counted(width) => of_width(*width, "count"),
            Framing::ToEnd | Framing::Joined(_) => None,
        }
        .or_else(|| of_shape(item)),
        Shape::Framed { frame, inner } => match frame {
            Frame::Len(width) => of_width(*width, "len"),
            Frame::OrderedCode => Some("orderedcode".to_owned()),
            Frame::Terminated | Frame::Escaped | Frame::Memcmp => None,
        }
        .or_else(|| of_shape(inner)),
        Shape::Hashed { hash, inner, .. } | Shape::HashConcat { hash, inner, .. } => {
            of_hash(*hash).or_else(|| of_shape(inner))
        }
        Shape::Bool(_)
        | Shape::Float(_)
        | Shape::Time(_)
        | Shape::Score(_)
        | Shape::Bytes { .. }
        | Shape::Text(_)
        | Shape::Nibbles { .. }
        | Shape::Opaque(_) => None,
    }
}

fn of_int(int: &IntShape) -> Option<String> {
    match int.encoding {
        IntEncoding::ScaleCompact => Some("scale_compact".to_owned()),
        IntEncoding::OrderedCode => Some("orderedcode".to_owned()),
        _ if int.ty.is_narrow() => Some(int.ty.name()),
        _ => None,
    }
}

fn of_width(width: LenWidth, of: &str) -> Option<String> {
    match width {
        LenWidth::Compact => Some(format!("compact{of}")),
        LenWidth::Scale => Some(format!("scale{of}")),
        _ => None,
    }
}

fn of_hash(hash: Hash) -> Option<String> {
    match hash {
        Hash::Keccak256 | Hash::Blake2b224 | Hash::Hash160 | Hash::Siphash24 => Some(hash.name().to_owned()),
        Hash::Xxh3_64 | Hash::Twox64 | Hash::Twox128 | Hash::Blake2b128 | Hash::Blake2b256 | Hash::Sha256 => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{go, typescript};

    #[test]
    fn what_a_language_cannot_write_is_refused_by_name_and_place() {
        let cases = [
            ("a: u24", "u24"),
            ("a: list(u8).scalecount", "scalecount"),
            ("a: option((x: bytes.compactlen))", "compactlen"),
            ("a: text.orderedcode", "orderedcode"),
            ("a: text(\"a-z\", 1..=9).except(\"tx\").len8", "except"),
            ("a: bytes(\"\\\\x01-\\\\xff\", 1..=9)", "bytes of a class"),
            ("a: i64.orderedcode.desc", "orderedcode"),
            ("a: nibbles(0..=9).counted", "counted"),
            ("a: (b: 0x00 | c: 0x01 n: u32.scale_compact)", "scale_compact"),
            ("a: u8.hashed(keccak256)", "keccak256"),
        ];
        for (part, name) in cases {
            let text = format!("plan p; space s {{ key k = 0x01 {part}; }}");
            let compiled = keyplan_plan::compile("p.keyplan", &text, |_| Err("no imports".to_owned()));
            let refused = [
                go::generate(&compiled, &go::Options::default()).unwrap_err(),
                typescript::generate(&compiled).unwrap_err(),
            ];
            for (found, language) in refused.iter().zip(["Go", "TypeScript"]) {
                let [found] = found.as_slice() else { panic!("{found:?}") };
                let message =
                    format!("there is no {language} for this layout: `{name}` cannot be written yet");
                assert_eq!(found.message, message);
                let place = found.labels.first().map(|label| label.span).unwrap();
                assert_eq!(&text[place.start as usize..place.end as usize], part, "{part}");
            }
        }
    }
}

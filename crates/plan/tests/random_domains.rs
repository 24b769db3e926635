//! The domains that random plans are made of, in the tests of other crates, have every encoding of the language.
#![cfg(test)]

use std::collections::BTreeSet;

use keyplan_plan::compile;
use keyplan_plan::model::{
    BoolEncoding, BytesEncoding, Encoding, FloatEncoding, Frame, Framing, IntEncoding, NibbleEncoding,
    ScoreEncoding, Sequence, Shape, TimeEncoding,
};
use keyplan_testkit::DOMAINS;

/// An encoding by its domains, its word and what it writes: a word may be of several.
type Row = (String, &'static str, &'static str);

fn row(encoding: &Encoding) -> Row {
    (format!("{:?}", encoding.domain), encoding.word, encoding.bytes)
}

/// The encodings of a shape and of everything inside of it.
fn encodings(shape: &Shape, found: &mut BTreeSet<Row>) {
    let own = match shape {
        Shape::Int(int) => Some(int.encoding.row()),
        Shape::Bool(encoding) => Some(encoding.row()),
        Shape::Float(encoding) => Some(encoding.row()),
        Shape::Time(encoding) => Some(encoding.row()),
        Shape::Score { encoding, .. } => Some(encoding.row()),
        Shape::Bytes { encoding, .. } => Some(encoding.row()),
        Shape::Nibbles { encoding, .. } => Some(encoding.row()),
        Shape::List { framing, .. } => Some(framing.row()),
        Shape::Framed { frame, .. } => Some(frame.row()),
        _ => None,
    };
    found.extend(own.map(row));
    shape.children().for_each(|inside| encodings(inside, found));
}

#[test]
fn random_plans_have_every_encoding() {
    let mut found = BTreeSet::new();
    for domain in DOMAINS {
        let text = format!("plan p; space s {{ key k = a: {domain}; }}");
        let compiled = compile("p.keyplan", &text, |_| Err("there are no imports".to_owned()));
        let plan = compiled.plan.unwrap_or_else(|| panic!("{domain}: {:?}", compiled.diagnostics));
        for (_, family) in plan.families() {
            Sequence::shapes(&family.key).for_each(|shape| encodings(shape, &mut found));
        }
    }
    let all = [
        IntEncoding::ROWS,
        BoolEncoding::ROWS,
        FloatEncoding::ROWS,
        TimeEncoding::ROWS,
        ScoreEncoding::ROWS,
        BytesEncoding::ROWS,
        NibbleEncoding::ROWS,
        Framing::ROWS,
        Frame::ROWS,
    ];
    // A row that writes nothing is there for the compiler only: no plan can ask for it.
    let written = all.into_iter().flatten().filter(|row| !row.bytes.is_empty()).map(row);
    let missing: Vec<Row> = written.filter(|row| !found.contains(row)).collect();
    assert_eq!(missing, []);
}

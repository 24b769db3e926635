//! Rows that rows refer to, and what structures hold, as an audit finds them.

#![cfg(test)]

use std::ops::ControlFlow;

use keyplan_report::audit::{Audit, Example, Finding, FindingKind, audit};
use keyplan_report::binding::bind;
use keyplan_store::META_SPACE;
use keyplan_store::engine::{Batch, Durability, Engine as _, Memory, Space};
use keyplan_store::source::EngineSource;

fn audited(plan: &str, rows: &[(&[u8], &[u8])]) -> Audit {
    let compiled = keyplan_plan::compile("p", plan, |_| Err(String::new()));
    let plan = compiled.plan.expect("sound");
    let mut engine = Memory::new();
    let space = engine.create_space(&Space::map("s")).expect("made");
    let mut batch: Batch<Memory> = Batch::new();
    for (key, value) in rows {
        batch.put(space, *key, *value);
    }
    engine.commit(batch, Durability::Buffer).expect("committed");
    let source = EngineSource::new(engine);
    let binding = bind(&plan, &source, &[]).expect("bound");
    audit(&source, &plan, &binding, |_| ControlFlow::Continue(())).expect("read")
}

/// A relation, how many of its targets are missing, and examples.
type Missing = (String, u64, Vec<(String, String)>);

/// The findings of missing rows: the message, how many rows, and the examples with what is missing.
fn missing(audit: &Audit) -> Vec<Missing> {
    let of_kind = audit.findings.iter().filter(|finding| finding.kind == FindingKind::MissingTarget);
    let one = |finding: &Finding| {
        let shown = |example: &Example| (example.key.clone(), example.target.clone().unwrap_or_default());
        (finding.message.clone(), finding.rows, finding.examples.iter().map(shown).collect())
    };
    of_kind.map(one).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[test]
fn rows_that_are_referred_to_and_missing_are_found_by_relation() {
    let plan = r#"plan p; space s {
        key pool = 0x03 id: u64.dec -> raw;
        key by_owner = 0x04 owner: u8 pool_id: u32 -> "" refers to pool(id = pool_id);
        key by_name = 0x05 name: text -> pool: u16 refers to pool(id = value.pool);
    }"#;
    let rows: [(&[u8], &[u8]); 6] = [
        (b"\x037", b""),
        (&[4, 1, 0, 0, 0, 7], b""),
        (&[4, 1, 0, 0, 0, 8], b""),
        (&[4, 2, 0, 0, 0, 8], b""),
        (b"\x05a", &[0, 7]),
        (b"\x05b", &[0, 9]),
    ];
    let found = audited(plan, &rows);
    let expected = [
        (
            "`s.by_name` refers to s.pool(id = value.pool), and the row is not there".to_owned(),
            1,
            pairs(&[("0562", "s.pool id=9")]),
        ),
        (
            "`s.by_owner` refers to s.pool(id = pool_id), and the row is not there".to_owned(),
            2,
            pairs(&[("040100000008", "s.pool id=8"), ("040200000008", "s.pool id=8")]),
        ),
    ];
    assert_eq!(missing(&found), expected);
    assert_eq!(found.spaces[0].references, 5);
    assert_eq!(found.not_looked_at, Vec::<String>::new());
}

#[test]
fn what_is_absent_refers_to_nothing_and_what_fits_no_key_is_found() {
    let plan = r#"plan p; space s {
        key row = 0x01 id: u8 -> "";
        key wide = 0x02 id: u16 -> "" refers to row;
        key maybe = 0x03 n: u8 -> json refers to row(id = value.inner.row);
    }"#;
    let rows: [(&[u8], &[u8]); 8] = [
        (&[1, 1], b""),
        (&[2, 0, 1], b""),
        (&[2, 1, 1], b""),
        (&[3, 1], br#"{"inner":{"row":1}}"#),
        (&[3, 2], br#"{"inner":{"row":2}}"#),
        (&[3, 3], br#"{"inner":{"row":null}}"#),
        (&[3, 4], br#"{"inner":[]}"#),
        (&[3, 5], br#"{"inner":{"row":-1}}"#),
    ];
    let found = audited(plan, &rows);
    let expected = [
        (
            "`s.maybe` refers to s.row(id = value.inner.row), and the row is not there".to_owned(),
            2,
            pairs(&[
                ("0302", "s.row id=2"),
                ("0305", "no row of s.row: `value.inner.row` is not a value of `id`"),
            ]),
        ),
        (
            "`s.wide` refers to s.row, and the row is not there".to_owned(),
            1,
            pairs(&[("020101", "no row of s.row: `id`: the number is out of its range")]),
        ),
    ];
    assert_eq!(missing(&found), expected);
}

#[test]
fn a_row_with_several_readings_is_as_good_as_the_best_of_them() {
    let plan = r#"plan p; space s {
        key name = 0x01 a: text "/" b: text -> "" refers to one(name = b) accept ambiguous "kept";
        key one = 0x02 name: text -> "";
    }"#;
    let found = audited(plan, &[(b"\x01x/y/z", b""), (b"\x01x/q/w", b""), (b"\x02y/z", b"")]);
    let shown: Vec<_> = missing(&found).into_iter().map(|(_, rows, examples)| (rows, examples)).collect();
    assert_eq!(shown.len(), 1);
    assert_eq!(shown[0].0, 1);
    assert_eq!(shown[0].1[0].0, keyplan_plan::notation::hex(b"\x01x/q/w"));
}

#[test]
fn rows_of_spaces_that_are_not_there_are_not_asked_for() {
    let plan = "plan p; space s { key a = 0x01 id: u8 refers to b; } space t { key b = 0x01 id: u8; }";
    let found = audited(plan, &[(&[1, 1], b"")]);
    assert_eq!(found.findings, []);
    assert_eq!(
        found.not_looked_at,
        [
            "`s.a` refers to t.b: the source has no space `t`",
            "space `t` of the plan: the source has no such space",
        ]
    );
}

/// Rows of structures as a store keeps them: under each key of the plan what it holds.
#[test]
fn members_fields_and_scores_of_structures_are_held_against_the_plan() {
    let plan = keyplan_plan::compile(
        "p",
        "plan p; space s { \
           hash thing = \"h:\" id: u8 field name = \"n\" -> name: text field size = \"s\" -> size: u16; \
           zset ranks = \"z:\" id: u8 member thing: u8 score n: u8 refers to thing(id = member.thing); \
           set flags = \"s:\" id: u8 member flag: u8 refers to thing; \
           key plain = \"k:\" id: u8 -> n: u8; }",
        |_| Err(String::new()),
    );
    let plan = plan.plan.expect("sound");
    let mut engine = Memory::new();
    engine.create_space(&Space::map(META_SPACE)).expect("made");
    let space = engine.create_space(&Space::map("s")).expect("made");
    let under = |tag: u8, key: &[u8], rest: &[u8]| {
        let length = u8::try_from(key.len()).expect("short");
        [&[tag, length][..], key, rest].concat()
    };
    let head = |key: &[u8]| [&[2][..], key].concat();
    let number = |n: f64| {
        let mut out = vec![0];
        keyplan_plan::codec::Segment::encode(&keyplan_plan::codec::FloatOrdered, n, &mut out)
            .expect("written");
        out
    };
    let count = [0, 0, 0, 0, 0, 0, 0, 1];
    let counted = |kind: &[u8]| [kind, &count].concat();
    let rows: Vec<(Vec<u8>, Vec<u8>)> = vec![
        ([&[1][..], b"k:\x01"].concat(), vec![7]),
        ([&[1][..], b"k:\x02"].concat(), vec![7, 7]),
        (head(b"h:\x01"), counted(&[2])),
        (head(b"h:\x02"), counted(&[1])),
        (head(b"x:\x02"), counted(&[1])),
        (head(b"z:\x01"), counted(&[3, 0])),
        (head(b"s:\x01"), counted(&[1])),
        (head(b"s:\x05"), counted(&[1])),
        (under(3, b"s:\x01", &[1]), vec![]),
        (under(3, b"s:\x05", &[1, 2]), vec![]),
        (under(4, b"h:\x01", b"n"), b"name".to_vec()),
        (under(4, b"h:\x01", b"s"), vec![1]),
        (under(4, b"h:\x01", b"q"), vec![1]),
        (under(5, b"z:\x01", &[1]), number(3.0)),
        (under(5, b"z:\x01", &[9]), number(300.0)),
        (vec![0xee], vec![]),
    ];
    let mut batch: Batch<Memory> = Batch::new();
    for (key, value) in rows {
        batch.put(space, key, value);
    }
    engine.commit(batch, Durability::Buffer).expect("committed");
    let source = EngineSource::new(engine);
    let binding = bind(&plan, &source, &[]).expect("bound");
    let found = audit(&source, &plan, &binding, |_| ControlFlow::Continue(())).expect("read");
    let told: Vec<String> =
        found.findings.iter().map(|finding| format!("{} {}", finding.kind.word(), finding.message)).collect();
    let expected = [
        "unknown-key byte 0: no family begins with 0x78",
        "unknown-key byte 0: no row of a structure begins with 0xee",
        "value byte 1 …",
        "member byte 1 …, of a set",
        "member byte 1 …, of a field",
        "member no field of the family is written like this",
        "member it is a set where the plan has a hash",
        "member the score 300 is not one of `n`",
        "missing-target `s.flags` refers to s.thing, and the row is not there",
        "missing-target `s.ranks` refers to s.thing(id = member.thing), and the row is not there",
    ];
    let kinds = |lines: Vec<&str>| {
        let mut kinds: Vec<String> =
            lines.iter().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
        kinds.sort_unstable();
        kinds
    };
    assert_eq!(kinds(told.iter().map(String::as_str).collect()), kinds(expected.to_vec()), "{told:#?}");
    for line in expected.iter().filter(|line| !line.contains('…')) {
        assert!(told.iter().any(|found| found == line), "{line} is not in {told:#?}");
    }
    assert_eq!(found.spaces[0].rows, 16);
    assert_eq!(found.not_looked_at, Vec::<String>::new());
}

use keyplan_store::engine::{Batch, Durability, Engine as _, Memory};
use keyplan_store::source::EngineSource;

use super::*;
use crate::binding::bind;

fn audited(plan: &str, rows: &[(&[u8], &[u8])]) -> Audit {
    let plan = keyplan_plan::compile("p", plan, |_| Err(String::new())).plan.expect("sound");
    let mut engine = Memory::new();
    let space = engine.create_space(&keyplan_store::engine::Space::map("s")).expect("made");
    let mut batch: Batch<Memory> = Batch::new();
    for (key, value) in rows {
        batch.put(space, *key, *value);
    }
    engine.commit(batch, Durability::Buffer).expect("committed");
    let source = EngineSource::new(engine);
    let binding = bind(&plan, &source, &[]).expect("bound");
    audit(&source, &plan, &binding, |_| ControlFlow::Continue(())).expect("read")
}

/// Kind, families, offset, rows, and the first example's key with its readings.
type Short = (FindingKind, Vec<String>, Option<usize>, u64, String, Vec<String>);

fn short(audit: &Audit) -> Vec<Short> {
    let one = |finding: &Finding| {
        let example = finding.examples[0].clone();
        (finding.kind, finding.families.clone(), finding.offset, finding.rows, example.key, example.readings)
    };
    audit.findings.iter().map(one).collect()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_sound_space_has_no_findings_and_exact_counts() {
    let found = audited(
        "plan p; space s { key a = 0x01 id: u8 -> n: u16; }",
        &[(&[1, 1], &[0, 1]), (&[1, 2], &[0, 2])],
    );
    assert_eq!(found.findings, []);
    let space = AuditedSpace {
        space: "s".to_owned(),
        source_space: "s".to_owned(),
        rows: 2,
        families: BTreeMap::from([("s.a".to_owned(), 2)]),
        values: 2,
        references: 0,
    };
    assert_eq!(found.spaces, [space]);
    assert_eq!(found.not_looked_at, ["relations between rows: the plan declares none"]);
}

#[test]
fn keys_of_no_family_are_grouped_by_the_byte_where_they_break() {
    let plan = "plan p; space s { key tick = 0x01 pool: u8 tick: i64.tick9; }";
    let low = [1, 7, 7, 0, 0, 0, 0, 0, 0, 0, 3];
    let high = [1, 8, 9, 0, 0, 0, 0, 0, 0, 0, 3];
    let found = audited(plan, &[(&low, b""), (&high, b""), (&[0x7f, 1], b""), (&[0x7f, 2], b"")]);
    assert_eq!(
        short(&found),
        [
            (FindingKind::UnknownKey, vec![], Some(0), 2, "7f01".to_owned(), vec![]),
            (FindingKind::UnknownKey, names(&["s.tick"]), Some(2), 2, hex(&low), vec![]),
        ]
    );
}

#[test]
fn a_key_with_two_readings_shows_both() {
    let plan = "plan p; space s { key pair = 0x02 a: text b: text accept ambiguous \"kept\"; }";
    let found = audited(plan, &[(b"\x02ab", b"")]);
    let finding = &found.findings[0];
    assert_eq!((finding.kind, finding.rows), (FindingKind::TwoReadings, 1));
    assert_eq!(finding.message, "two argument lists of `s.pair` make one key");
    assert_eq!(finding.examples[0].readings.len(), 3);
}

#[test]
fn retired_prefixes_and_families_are_named_with_their_reason() {
    let plan = "plan p; space s { retired 0x11 \"moved\"; key old = 0x03 id: u8 retired \"gone\"; }";
    let found = audited(plan, &[(&[3, 1], b""), (&[0x11, 1], b"")]);
    let messages: Vec<_> =
        found.findings.iter().map(|finding| (finding.kind, finding.message.as_str())).collect();
    assert_eq!(
        messages,
        [
            (FindingKind::UnknownKey, "byte 0: no family begins with 0x11"),
            (FindingKind::Retired, "keys of 11 are retired: moved"),
            (FindingKind::Retired, "`s.old` is retired: gone"),
        ]
    );
}

#[test]
fn values_that_do_not_decode_are_found_whatever_their_form() {
    let plan = "plan p; space s { key a = 0x01 -> n: u16; key b = 0x02 -> json; key c = 0x03 -> cbor; key d = 0x04 -> proto(\"T\"); }";
    let wrong = audited(plan, &[(&[1], &[1]), (&[2], &[0xff]), (&[3], &[0xff, 0]), (&[4], &[0x0a, 9])]);
    let families: Vec<_> =
        wrong.findings.iter().map(|finding| (finding.kind, finding.families[0].as_str())).collect();
    let value = FindingKind::Value;
    assert_eq!(families, [(value, "s.a"), (value, "s.b"), (value, "s.c"), (value, "s.d")]);
    let right = audited(plan, &[(&[1], &[1, 2]), (&[2], b"[]"), (&[3], &[0x80]), (&[4], &[0x0a, 0])]);
    assert_eq!(right.findings, []);
}

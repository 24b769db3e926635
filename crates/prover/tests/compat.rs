//! Old plan × new plan: cases with their expected lines.
//!
//! `KEYPLAN_BLESS=1` writes the expected lines again.
#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};

use keyplan_plan::model::Plan;
use keyplan_prover::{
    Change, Options, compare, diagnose_forgotten, diagnose_migration, forgotten, prove, prove_migration,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn plan(path: &Path) -> Plan {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let folder = path.parent().unwrap().to_owned();
    let compiled = keyplan_plan::compile("plan.keyplan", &text, |import| {
        fs::read_to_string(folder.join(import)).map_err(|error| error.to_string())
    });
    compiled.plan.unwrap_or_else(|| panic!("{}: {:?}", path.display(), compiled.diagnostics))
}

fn changes(old: &Path, new: &Path) -> Vec<Change> {
    let (old, new) = (plan(old), plan(new));
    let report = prove(&new, &Options::default());
    compare(&old, &new, &report)
}

fn lines(changes: &[Change]) -> String {
    let line =
        |change: &Change| format!("{} {change}\n", if change.is_breaking() { "breaks" } else { "keeps " });
    changes.iter().map(line).collect()
}

#[test]
fn every_case_is_judged_as_its_folder_says() {
    let mut cases: Vec<PathBuf> =
        fs::read_dir(root().join("testdata/compat")).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() >= 8, "{cases:?}");
    for case in cases {
        let got = lines(&changes(&case.join("previous.keyplan"), &case.join("current.keyplan")));
        let expected = case.join("expected.txt");
        if std::env::var_os("KEYPLAN_BLESS").is_some() {
            fs::write(&expected, &got).unwrap();
        }
        assert_eq!(got, fs::read_to_string(&expected).unwrap(), "{}", case.display());
    }
}

#[test]
fn every_plan_keeps_its_own_keys() {
    for name in ["cardano", "cardano_redb", "cosmwasm", "onesat", "onesat_v2", "osmosis_cl", "paw", "paw_v2"]
    {
        let path = root().join(format!("plans/{name}.keyplan"));
        let changes = changes(&path, &path);
        let moved: Vec<String> = changes
            .iter()
            .filter(|change| change.fate != keyplan_prover::Fate::Same)
            .map(ToString::to_string)
            .collect();
        assert_eq!(moved, Vec::<String>::new(), "{name}");
    }
}

#[test]
fn the_order_of_declarations_does_not_matter() {
    let case = root().join("testdata/compat/widened");
    let (old, mut new) = (plan(&case.join("previous.keyplan")), plan(&case.join("current.keyplan")));
    let report = prove(&new, &Options::default());
    let before = compare(&old, &new, &report);
    new.spaces.iter_mut().for_each(|space| space.families.reverse());
    assert_eq!(compare(&old, &new, &report), before);
}

fn sound(text: &str) -> Plan {
    let compiled = keyplan_plan::compile("p.keyplan", text, |_| Err("none".to_owned()));
    compiled.plan.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
}

/// The subjects of the changes that a person is told of.
fn told(old: &str, new: &str) -> Vec<String> {
    let (old, new) = (sound(old), sound(new));
    let changes = compare(&old, &new, &prove(&new, &Options::default()));
    let open = |change: &&Change| change.is_breaking() && !change.is_allowed(&new);
    changes.iter().filter(open).map(|change| change.subject.clone()).collect()
}

#[test]
fn a_family_without_a_prefix_goes_where_the_new_plan_says() {
    let old = "plan p; space a { key k = id: u32; } space b { key l = id: u32; } space c { key z = 0x09; }";
    let new = |clauses: &str, drops: &str| {
        format!("plan p; space c {{ {drops} key z = 0x09; key k = 0x01 id: u32 {clauses}; }}")
    };
    assert_eq!(told(old, &new("", "")), ["a.k", "b.l"]);
    assert_eq!(told(old, &new("from a.k", "")), ["a.k", "b.l"]);
    assert_eq!(told(old, &new("from a.k allow break(scan) \"why\"", "")), ["a.k", "b.l"]);
    assert_eq!(told(old, &new("from a.k allow break(moved) \"why\"", "")), ["b.l"]);
    assert_eq!(told(old, &new("from a.k allow break \"why\"", "drop b.l \"empty\";")), Vec::<String>::new());
    // One with a prefix is retired, or its prefix could come back.
    let old = "plan p; space a { key k = 0x07 id: u32; } space c { key z = 0x09; }";
    assert_eq!(told(old, &new("from a.k allow break \"why\"", "")), ["a.k"]);
}

#[test]
fn breaks_are_allowed_by_their_kind() {
    let old = "plan p; space s { key k = 0x01 a: u32 b: u32 -> v: u16 scan by a in order scan all; }";
    let new = |layout: &str, clauses: &str| format!("plan p; space s {{ key k = {layout} {clauses}; }}");
    for (layout, kind) in [
        ("0x02 a: u32 b: u32 -> v: u16 scan by a in order scan all", "moved"),
        ("0x01 a: u32(0..=9) b: u32 -> v: u16 scan by a in order scan all", "narrowed"),
        ("0x01 a: u32 b: u32 -> v: u16 scan by a in order", "scan"),
        ("0x01 a: u32 b: u32 -> v: u16 scan by a scan all", "order"),
        ("0x01 a: u32 b: u32 -> v: u32 scan by a in order scan all", "value"),
    ] {
        assert_eq!(told(old, &new(layout, "")).len(), 1, "{kind}");
        for allowed in ["moved", "narrowed", "scan", "order", "value"] {
            let left = told(old, &new(layout, &format!("allow break({allowed}) \"why\""))).len();
            assert_eq!(left, usize::from(allowed != kind), "{kind} by {allowed}");
        }
        assert_eq!(told(old, &new(layout, "allow break \"why\"")), Vec::<String>::new(), "{kind}");
    }
}

#[test]
fn a_break_is_allowed_by_its_own_family() {
    let plan = |layout: &str, clauses: &str| {
        format!(
            "plan p; space s {{ hash a = 0x05 field f = \"f\" n: {layout} {clauses}; module a = 0x01 {{ key b = 0x05 n: {layout}; }} }}"
        )
    };
    // A module and a family may have one name: what is in the module is not the family's.
    assert_eq!(told(&plan("u16", ""), &plan("u32", "")), ["s.a.b", "s.a.f"]);
    assert_eq!(told(&plan("u16", ""), &plan("u32", "allow break \"why\"")), ["s.a.b"]);
}

#[test]
fn a_prefix_is_not_given_to_another_family_bit_by_bit() {
    let first = sound("plan p; space s { key a = 0x01 x: u64; }");
    let second = sound("plan p; space s { key a = 0x01 0x05 x: u64 allow break(moved) \"room for more\"; }");
    let of = |text: &str| {
        let third =
            sound(&format!("plan p; space s {{ key a = 0x01 0x05 x: u64 allow break \"room\"; {text} }}"));
        forgotten([("v1", &first), ("v2", &second)], &third)
    };
    // Keys of the first release may begin with both bytes.
    let found = of("key b = 0x01 0x06 y: bytes(7);");
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.release.as_str(), one.family.as_str(), one.prefix.as_slice()), ("v1", "s.a", &[1][..]));
    let taken = one.taken.as_ref().unwrap();
    let key = taken.key.as_ref().unwrap();
    assert_eq!((taken.family.as_str(), key.len(), &key[..2]), ("s.b", 9, &[1, 6][..]));
    let said = diagnose_forgotten(&found);
    assert_eq!(said[0].message, "`s.b` takes keys under 01, the prefix of `s.a`");
    // No key of the first release is as long as these, or begins so.
    assert_eq!(of("key b = 0x01 0x06 y: bytes(9);"), []);
    assert_eq!(of("key b = 0x02 y: bytes(8);"), []);
    assert_eq!(of(""), []);
}

#[test]
fn prefixes_of_alternatives_are_not_forgotten() {
    let first = sound(
        "plan p; space s { key k = 0x07 0x01 x: u8; key t = kind: (a: 0x01 x: u8 | c: 0x03 | b: 0x02 y: u8); }",
    );
    let of = |text: &str| {
        let now = sound(&format!("plan p; space s {{ key k = 0x07 0x01 x: u8; {text} }}"));
        let found = forgotten([("v1", &first)], &now);
        found.into_iter().map(|found| found.prefix).collect::<Vec<_>>()
    };
    assert_eq!(of("key t = kind: (a: 0x01 x: u8 | c: 0x03 | b: 0x02 y: u8);"), Vec::<Vec<u8>>::new());
    assert_eq!(of("key t = kind: (a: 0x01 x: u8 | c: 0x03);"), [[2]]);
    assert_eq!(of("retired 0x02 \"b\"; key t = kind: (a: 0x01 x: u8 | c: 0x03);"), Vec::<Vec<u8>>::new());
    assert_eq!(of(""), [[1], [2], [3]]);
    // Families that are made of the alternatives keep their prefixes, each its own.
    assert_eq!(
        of("key t = 0x01 x: u8; key u = 0x02 y: u8 from t; key v = 0x03 from t;"),
        Vec::<Vec<u8>>::new()
    );
    assert_eq!(of("key t = 0x01 x: u8; key u = 0x02 y: u8; key v = 0x03 from t;"), [[2]]);
}

#[test]
fn a_family_that_was_renamed_keeps_its_prefix_whatever_becomes_of_it() {
    let first = sound("plan p; space s { key a = 0x01 x: u16; }");
    let second = sound("plan p; space s { key b = 0x01 x: u16 from a; }");
    let of = |text: &str| {
        let third = sound(&format!("plan p; space s {{ {text} }}"));
        let found = forgotten([("v1", &first), ("v2", &second)], &third);
        found.into_iter().map(|found| (found.family, found.prefix)).collect::<Vec<_>>()
    };
    // It comes from the first family by way of the second release, though nothing says so any more.
    assert_eq!(of("key b = 0x01 x: u32;"), []);
    assert_eq!(of("key c = 0x01 x: u32 from b;"), []);
    assert_eq!(of("key c = 0x01 x: u32;"), [("s.a".to_owned(), vec![1])]);
}

#[test]
fn values_that_keys_begin_with_are_not_forgotten() {
    let first = sound("plan p; space s { key e = kind: u8(1..=3) id: u64; key f = 0x09 kind: u8(1..=3); }");
    let of = |text: &str| {
        let now = sound(&format!("plan p; space s {{ key f = 0x09 kind: u8(1..=2); {text} }}"));
        let found = forgotten([("v1", &first)], &now);
        found.into_iter().map(|found| found.prefix).collect::<Vec<_>>()
    };
    let none = Vec::<Vec<u8>>::new();
    // The prefix of the other family is its literal, and what follows it is no prefix.
    assert_eq!(of("key e = kind: u8(1..=3) id: u64;"), none);
    assert_eq!(of("key e = kind: u8(1..=8) id: u64;"), none);
    assert_eq!(of("key e = kind: u8(1..=2) id: u64;"), [[3]]);
    assert_eq!(of("retired 0x03 \"the third kind\"; key e = kind: u8(1..=2) id: u64;"), none);
    // Another family does not keep it.
    assert_eq!(of("key e = kind: u8(1..=2) id: u64; key g = 0x03 id: u64;"), [[3]]);
    assert_eq!(of(""), [[1], [2], [3]]);
}

#[test]
fn a_family_that_was_retired_stays_retired() {
    let first =
        sound("plan p; space s { key a = 0x01 x: u64 retired \"nobody reads it\"; key b = 0x02 x: u64; }");
    let of = |text: &str| {
        let now = sound(&format!("plan p; space s {{ key b = 0x02 x: u64; {text} }}"));
        let found = forgotten([("v1", &first)], &now);
        found.into_iter().map(|found| (found.family, found.prefix)).collect::<Vec<_>>()
    };
    assert_eq!(of("key a = 0x01 x: u64 retired \"nobody reads it\";"), []);
    assert_eq!(of("retired 0x01 \"nobody reads it\";"), []);
    for text in ["key a = 0x01 x: u64;", "key a = 0x01 x: u64; key c = 0x03;", "key c = 0x01 x: u64;", ""] {
        assert_eq!(of(text), [("s.a".to_owned(), vec![1])], "{text}");
    }
}

#[test]
fn what_is_not_said_of_an_argument_comes_with_how_it_is_said() {
    let old = sound("plan p; space s { key a = 0x01 x: u32 y: u8; }");
    let told = |text: &str| {
        let new = sound(&format!("plan p; space s {{ retired 0x01 \"x\"; {text} }}"));
        let proof = prove_migration(&old, &new, &Options::default());
        let notes = diagnose_migration(&proof, &old, &new);
        notes.into_iter().flat_map(|found| found.notes).map(|note| note.text).collect::<Vec<_>>()
    };
    let gone = told("key a = 0x02 x: u32;");
    assert_eq!(gone[0], "nothing says what becomes of `y`: `from s.a(drop y)` gives it up");
    let new = told("key a = 0x02 x: u32 y: u8 z: u8;");
    let way = "`from s.a(z = …)` names an old argument, or a constant in quotes";
    assert_eq!(new[0], format!("nothing says where `z` comes from: {way}"));
    // What is said so is taken.
    assert!(told("key a = 0x02 x: u32 y: u8 z: u8 from s.a(z = \"7\");").is_empty());
}

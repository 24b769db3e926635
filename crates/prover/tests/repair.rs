//! Repairs are proved, cheap ones first, and say what they cost.
#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};

use keyplan_plan::diag::NoteKind;
use keyplan_plan::{Compiled, compile};
use keyplan_prover::{Guarantee, Options, Repair, Statement, Verdict, diagnose, prove, repairs};

fn inline(text: &str) -> Compiled {
    compile("plan.keyplan", text, |_| Err("no imports".to_owned()))
}

fn plan(name: &str) -> Compiled {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    let text = fs::read_to_string(folder.join(format!("{name}.keyplan"))).unwrap();
    compile(&format!("{name}.keyplan"), &text, |import| {
        fs::read_to_string(folder.join(import)).map_err(|error| error.to_string())
    })
}

fn statement(compiled: &Compiled, guarantee: Guarantee, family: &str, other: Option<&str>) -> Statement {
    let report = prove(compiled.plan.as_ref().unwrap(), &Options::default());
    let found = report.statements.into_iter().find(|statement| {
        statement.guarantee == guarantee
            && statement.family == family
            && (other.is_none() || statement.other.as_deref() == other)
            && matches!(statement.verdict, Verdict::Fails(_))
    });
    found.unwrap_or_else(|| panic!("no {guarantee:?} of {family}"))
}

fn offered(compiled: &Compiled, guarantee: Guarantee, family: &str) -> Vec<Repair> {
    repairs(compiled, &statement(compiled, guarantee, family, None), &Options::default())
}

fn lines(repairs: &[Repair]) -> Vec<String> {
    repairs
        .iter()
        .map(|repair| {
            let (least, most) = repair.cost;
            let most = most.map_or("?".to_owned(), |most| format!("{most:+}"));
            format!("{} ({least:+}..{most}, migration: {})", repair.title, repair.needs_migration)
        })
        .collect()
}

/// What is left of the finding once the first repair is applied.
fn apply(compiled: &Compiled, repair: &Repair) -> Compiled {
    let (span, text) = &repair.edit;
    let old = &compiled.sources.files()[0].text;
    inline(&format!("{}{text}{}", &old[..span.range().start], &old[span.range().end..]))
}

#[test]
fn a_separator_outside_of_the_alphabet_is_the_cheapest_end() {
    let compiled =
        inline("plan p; space s {\n    key k = 0x01 a: text(\"a-z\", 1..=9) b: text(\"a-z\", 1..=9);\n}\n");
    let found = offered(&compiled, Guarantee::Unambiguous, "s.k");
    assert_eq!(
        lines(&found),
        [
            "end `a` with \"/\", a byte that it cannot contain (+1..+1, migration: true)",
            "put the length of `a` before it, in one byte (+1..+1, migration: true)",
            "put the length of `a` before it, in as many bytes as it takes (+1..+1, migration: true)",
            "put the length of `b` before it, in one byte (+1..+1, migration: true)",
            "put the length of `b` before it, in as many bytes as it takes (+1..+1, migration: true)",
            "put the length of `a` before it, in two bytes (+2..+2, migration: true)",
            "put the length of `b` before it, in two bytes (+2..+2, migration: true)",
            "end `a` with 00 00 and escape what it holds of it (+2..+11, migration: true)",
        ]
    );
    assert_eq!(
        found[0].diff(),
        "--- plan.keyplan\n+++ plan.keyplan\n@@ -1,3 +1,3 @@\n plan p; space s {\n\
         -    key k = 0x01 a: text(\"a-z\", 1..=9) b: text(\"a-z\", 1..=9);\n\
         +    key k = 0x01 a: text(\"a-z\", 1..=9) \"/\" b: text(\"a-z\", 1..=9);\n }\n"
    );
    for repair in &found {
        let report = prove(apply(&compiled, repair).plan.as_ref().unwrap(), &Options::default());
        assert!(report.is_sound(), "{repair:?}");
    }
}

#[test]
fn the_pair_of_tokens_of_paw_can_be_told_apart() {
    let compiled = plan("paw");
    let found = offered(&compiled, Guarantee::Unambiguous, "state.dex.pool_by_tokens");
    assert_eq!(
        lines(&found).first().map(String::as_str),
        Some("put the length of `token_a` before it, in as many bytes as it takes (+1..?, migration: true)")
    );
}

#[test]
fn the_events_of_onesat_cannot_be_moved_by_one_byte() {
    // Both families begin with free text after one prefix: no change to an end tells them apart without bringing
    // them together with another family, and there is no number to move.
    let compiled = plan("onesat");
    let overlap = statement(
        &compiled,
        Guarantee::Disjoint,
        "store.sorted_sets.event",
        Some("store.sorted_sets.event_spent"),
    );
    for repair in repairs(&compiled, &overlap, &Options::default()) {
        let again = apply(&compiled, &repair);
        let report = prove(again.plan.as_ref().unwrap(), &Options::default());
        let left = report.statements.iter().any(|s| {
            (s.guarantee, &s.family, &s.other) == (overlap.guarantee, &overlap.family, &overlap.other)
                && matches!(s.verdict, Verdict::Fails(_) | Verdict::Unknown(_))
        });
        assert!(!left, "{repair:?}");
    }
}

#[test]
fn an_overlap_is_moved_to_the_first_free_prefix() {
    let compiled =
        inline("plan p; space s { key a = 0x01 n: u64; key b = 0x01 m: u32 k: u32; key c = 0x02; }");
    let found = offered(&compiled, Guarantee::Disjoint, "s.a");
    assert_eq!(
        lines(&found),
        [
            "give `a` the free prefix 0x03 (+0..+0, migration: true)",
            "give `a` the free prefix 0x04 (+0..+0, migration: true)",
            "give `b` the free prefix 0x03 (+0..+0, migration: true)",
            "give `b` the free prefix 0x04 (+0..+0, migration: true)",
        ]
    );
}

#[test]
fn decimals_are_padded_or_written_in_fixed_width() {
    let compiled = inline("plan p; space s { key k = 0x01 n: u64.dec scan all in order; }");
    let found = offered(&compiled, Guarantee::InOrder, "s.k");
    assert_eq!(
        lines(&found),
        [
            "no longer claim the order (+0..+0, migration: false)",
            "write `n` big-endian in fixed width (-12..+7, migration: true)",
            "pad `n` with zeros to 20 digits (+0..+19, migration: true)",
        ]
    );
}

#[test]
fn signed_numbers_get_their_sign_flipped() {
    let compiled = inline("plan p; space s { key k = 0x01 n: i64 scan all in order; }");
    let found = offered(&compiled, Guarantee::InOrder, "s.k");
    assert_eq!(
        lines(&found),
        [
            "no longer claim the order (+0..+0, migration: false)",
            "flip the sign bit of `n` (+0..+0, migration: true)",
        ]
    );
}

#[test]
fn a_scan_that_leaks_is_ended_or_dropped() {
    let compiled =
        inline("plan p; space s { key k = 0x01 owner: bytes(1..=8).hex pool: u64 scan by owner; }");
    let found = offered(&compiled, Guarantee::NoSiblingRows, "s.k");
    assert_eq!(
        lines(&found)[..3],
        [
            "no longer claim the scan (+0..+0, migration: false)",
            "end `owner` with \"/\", a byte that it cannot contain (+1..+1, migration: true)",
            "put the length of `owner` before it, in one byte (+1..+1, migration: true)",
        ]
    );
}

#[test]
fn what_holds_needs_no_repair() {
    let compiled = inline("plan p; space s { key k = 0x01 n: u64; }");
    let report = prove(compiled.plan.as_ref().unwrap(), &Options::default());
    for statement in &report.statements {
        assert_eq!(repairs(&compiled, statement, &Options::default()), []);
    }
}

#[test]
fn a_bare_scan_that_leaks_is_cured_by_the_literal_behind_it() {
    let compiled = inline(
        "plan p; space s {\n    key k = 0x01 pool: u64.dec \"|\" id: u64.dec\n        scan by pool bare;\n}\n",
    );
    let found = offered(&compiled, Guarantee::NoSiblingRows, "s.k");
    let first = "drop `bare` here and in the program: the prefix then ends with the literals after the last argument (+0..+0, migration: false)";
    assert_eq!(lines(&found).first().map(String::as_str), Some(first));
    // The program must change with the plan, so that it is not a repair to make unasked.
    assert!(!found[0].keeps_claims);
    let report = prove(apply(&compiled, &found[0]).plan.as_ref().unwrap(), &Options::default());
    assert!(report.statements.iter().all(|statement| !matches!(statement.verdict, Verdict::Fails(_))));
}

/// The end of `escaped` is the first byte of a zero inside: only the byte after it tells which of the two it is.
#[test]
fn an_end_that_is_the_front_of_a_zero_is_told_as_that() {
    let plan =
        |key: &str| inline(&format!("plan p; space s {{\n    key k = 0x01 {key}\n        scan by db;\n}}\n"));
    let told = |compiled: &Compiled| {
        let (plan, options) = (compiled.plan.as_ref().unwrap(), Options::default());
        let found = diagnose(plan, &prove(plan, &options), &options, "plan.keyplan");
        let [one] = found.as_slice() else { panic!("{found:?}") };
        let help = one.notes.iter().find(|note| note.kind == NoteKind::Help).unwrap();
        (one.labels[1].text.clone(), help.text.clone())
    };
    let label = "`db` ends with `00`, and a zero in it begins with `00` too";
    let help = "put a literal after `db` that does not begin with `ff`, or write it `.terminated`";
    let range = "; a range up to the zero has these rows only: `scan by db to 0xff`";
    let keep = "; to keep it: `accept leak \"why\"`";
    for domain in ["bytes(0..=9).escaped", "text(0..=9).tuple", "(a: u8 b: bytes(0..=9).tuple)"] {
        let compiled = plan(&format!("db: {domain} n: u8(0..=254)"));
        assert_eq!(told(&compiled), (label.to_owned(), format!("{help}{range}{keep}")), "{domain}");
    }
    // A range from `00 ff` up to `00 ff ff` has the zero in it.
    let compiled = plan("db: bytes(0..=9).escaped 0xff n: u8");
    assert_eq!(told(&compiled), (label.to_owned(), format!("{help}{keep}")));

    let compiled = plan("db: bytes(0..=9).escaped n: u8");
    let found = offered(&compiled, Guarantee::NoSiblingRows, "s.k");
    assert_eq!(lines(&found)[1], "end `db` with 00 00 instead of 00 (+1..+1, migration: true)");
    let report = prove(apply(&compiled, &found[1]).plan.as_ref().unwrap(), &Options::default());
    assert!(report.is_sound());
    for cure in ["db: text(0..=9).tuple 0x05 n: u8", "db: bytes(0..=9).escaped \"/\" n: u8"] {
        assert!(prove(plan(cure).plan.as_ref().unwrap(), &Options::default()).is_sound(), "{cure}");
    }
}

//! Plans that are large or made to be hard: an answer, soon, that says what was left out.
#![cfg(test)]

use std::collections::BTreeSet;

use keyplan_plan::{Compiled, compile};
use keyplan_prover::{Guarantee, Options, Report, Verdict, diagnose, diagnose_and_repair, prove};

fn compiled(body: &str) -> Compiled {
    let compiled = compile("p.keyplan", &format!("plan p; space s {{ {body} }}"), |_| Err("none".to_owned()));
    assert!(compiled.plan.is_some(), "{:?}", compiled.diagnostics);
    compiled
}

fn proved(body: &str) -> (Compiled, Report) {
    let compiled = compiled(body);
    let report = prove(compiled.plan.as_ref().unwrap(), &Options::default());
    (compiled, report)
}

fn families(count: usize, family: impl Fn(usize) -> String) -> String {
    (0..count).map(family).collect::<Vec<_>>().join(" ")
}

/// The paths of all families that a report has a statement of this guarantee about.
fn covered(report: &Report, guarantee: Guarantee) -> BTreeSet<&str> {
    let about = report.statements.iter().filter(|statement| statement.guarantee == guarantee);
    about.flat_map(|s| [Some(s.family.as_str()), s.other.as_deref()]).flatten().collect()
}

#[test]
fn families_that_all_meet_are_one_finding_that_says_what_was_left_out() {
    let (compiled, report) = proved(&families(1_000, |n| format!("key k{n} = a: u64 b: bytes(1..=32);")));
    let plan = compiled.plan.as_ref().unwrap();
    // Every family is shown to be flawed, none is proved apart.
    assert_eq!(covered(&report, Guarantee::Disjoint).len(), 1_000);
    let apart =
        |s: &&keyplan_prover::Statement| s.guarantee == Guarantee::Disjoint && s.verdict == Verdict::Holds;
    assert_eq!(report.statements.iter().filter(apart).count(), 0);
    let pairs = report.statements.iter().filter(|s| s.guarantee == Guarantee::Disjoint).count();
    assert!(pairs < 6_000, "{pairs}");
    assert_eq!(report.left_out[0].pairs, 499_500 - pairs as u64);
    let options = Options::default();
    let overlaps: Vec<_> = diagnose(plan, &report, &options, "p.keyplan")
        .into_iter()
        .filter(|finding| finding.code.id() == "KP0001")
        .collect();
    assert_eq!(overlaps.len(), 1);
    let note = &overlaps[0].notes.iter().find(|note| note.text.contains("with the same cause")).unwrap().text;
    assert!(note.contains("and 978 more"), "{note}");
    assert!(note.contains("were not compared"), "{note}");
}

#[test]
fn an_overlap_that_is_accepted_hides_no_other() {
    let accepted: Vec<String> = (1..12).map(|n| format!("k{n}")).collect();
    let body = format!(
        "key k0 = a: u64 accept overlap({}) \"as it is\"; {} key z = a: u64;",
        accepted.join(", "),
        families(12, |n| if n == 0 { String::new() } else { format!("key k{n} = \"{n}\" b: bytes(7);") })
    );
    let (_, report) = proved(&body);
    let found: Vec<_> = report.findings().filter(|s| s.guarantee == Guarantee::Disjoint).collect();
    assert!(found.iter().any(|s| s.family == "s.k0" && s.other.as_deref() == Some("s.z")), "{found:#?}");
}

#[test]
fn repairs_stop_when_their_work_is_done_and_say_so() {
    let body = families(120, |n| {
        format!(
            "key k{n} = \"x\" a: text(\"a-z\", 1..=64) \"/\" b: u64.dec \"/\" c: u64.dec \"/k{n}\" scan by a;"
        )
    });
    let (compiled, report) = proved(&body);
    let found = diagnose_and_repair(&compiled, &report, &Options::default(), "p.keyplan");
    let left = |text: &str| text.starts_with("no repair was looked for");
    let spared = found.iter().filter(|d| d.notes.iter().any(|note| left(&note.text))).count();
    assert!(spared > 0 && spared < found.len(), "{spared} of {}", found.len());
    // No clock is read: the same plan gets the same repairs.
    assert_eq!(found, diagnose_and_repair(&compiled, &report, &Options::default(), "p.keyplan"));
}

#[test]
fn a_choice_of_many_literals_ends() {
    let literals: Vec<String> = (0..1_500).map(|n| format!("l{n}: \"{n:05}\"")).collect();
    let (_, report) = proved(&format!("key k = a: ({}) scan by a in order;", literals.join(" | ")));
    assert!(!report.statements.iter().any(|s| matches!(s.verdict, Verdict::Fails(_))));
}

#[test]
fn lengths_with_awkward_sums_end() {
    let parts: Vec<String> =
        (0..20u32).map(|n| format!("a{n}: bytes({} | {})", 1u64 << n, 3u64.pow(n) + 1)).collect();
    let (_, report) = proved(&format!("key k = {};", parts.join(" ")));
    // The shortest key has a mebibyte, less one byte.
    let fits = report.statements.iter().find(|s| s.guarantee == Guarantee::Fits).unwrap();
    assert!(matches!(fits.verdict, Verdict::Fails(_)), "{:?}", fits.verdict);
    assert!(!report.statements.iter().any(|s| s.verdict == Verdict::Holds && s.guarantee == Guarantee::Fits));
}

/// No value is made that memory does not hold.
#[test]
fn a_length_that_nobody_can_write_ends() {
    for shape in [
        "bytes(1000000000000)",
        "option(bytes(1000000000000))",
        "list(text(\"a\", 1000000000000), 0..=3).count8",
    ] {
        let (_, report) = proved(&format!("key k = a: {shape} scan by a in order;"));
        assert!(
            !report.statements.iter().any(|s| s.verdict == Verdict::Holds && s.guarantee == Guarantee::Fits)
        );
    }
}

#[test]
fn every_family_of_a_large_plan_is_spoken_of() {
    let (compiled, report) = proved(&families(600, |n| {
        format!("key k{n} = \"{n}/\" a: text(\"a-z\", 1..=64) \"/\" b: u64 scan by a in order;")
    }));
    let plan = compiled.plan.as_ref().unwrap();
    let declared: BTreeSet<&str> = plan.families().map(|(_, family)| family.path.as_str()).collect();
    assert_eq!(declared.len(), 600);
    for guarantee in [Guarantee::Disjoint, Guarantee::Unambiguous, Guarantee::Fits, Guarantee::NoSiblingRows]
    {
        assert_eq!(covered(&report, guarantee), declared, "{guarantee:?}");
    }
    assert!(report.is_sound(), "{:?}", report.findings().next());
}

/// What is decided of two families by themselves is decided among 531 of them, by steps in proportion to their number.
#[test]
fn scans_in_order_of_531_families_of_one_space_are_all_decided() {
    let text = |count: usize| {
        families(count, |n| {
            let end = ["u64", "bytes(8)", "text(\"a-z\", 1..=20)", "u32 \"/\" c: u32"][n % 4];
            format!(
                "key k{n} = \"k{n}\" a: text(\"a-z\", 1..=20) \"/\" b: {end} scan all in order scan by a in order;"
            )
        })
    };
    let steps = |count: usize| {
        let report = proved(&text(count)).1;
        let open: Vec<_> =
            report.statements.iter().filter(|s| matches!(s.verdict, Verdict::Unknown(_))).take(3).collect();
        assert!(open.is_empty(), "{open:?}");
        assert_eq!(covered(&report, Guarantee::InOrder).len(), count);
        report.steps
    };
    let (few, many) = (steps(53), steps(531));
    assert!(many <= 20 * few, "{many} steps for 531 families, {few} for 53");
}

#[cfg(feature = "certificate")]
#[test]
fn a_certificate_speaks_of_every_family_of_the_plan() {
    use keyplan_prover::certificate::{Rejected, certify, verify};
    let (compiled, report) = proved(&families(50, |n| format!("key k{n} = \"{n}/\" a: u64;")));
    let plan = compiled.plan.as_ref().unwrap();
    let mut certificate = certify(plan, &Options::default(), &report);
    let spoken: BTreeSet<&str> = certificate.statements.iter().map(|s| s.family.as_str()).collect();
    assert_eq!(spoken.len(), plan.families().count());
    verify(&certificate, plan).unwrap();
    certificate.statements.retain(|statement| statement.family != "s.k7");
    assert_eq!(verify(&certificate, plan), Err(Rejected::Missing("KP0001 s.k7".to_owned())));
}

//! Certificates that claim what was refuted, with every reason that there is: none is accepted.
//!
//! `KEYPLAN_FORGER` says how many random plans are tried; a soak sets it to 20000.
#![cfg(test)]
#![cfg(feature = "certificate")]

#[path = "brute_force/plans.rs"]
mod plans;

use keyplan_plan::model::Plan;
use keyplan_prover::certificate::{
    Apart, By, Certificate, Ground, MOST_STEPS, Rejected, Ruling, certify, verify,
};
use keyplan_prover::{Options, prove};

fn compile(text: &str) -> Option<Plan> {
    keyplan_plan::compile("p.keyplan", text, |_| Err("no imports".to_owned())).plan
}

fn honest(plan: &Plan) -> Certificate {
    let options = Options::default();
    certify(plan, &options, &prove(plan, &options))
}

/// Domains of every kind, small enough for every fault to have a short witness.
const DOMAINS: [&str; 49] = [
    "u8",
    "u16.le",
    "i8",
    "i8.signflip",
    "i64.tick9",
    "i8.saturating",
    "u16.low(1)",
    "u16(0..=2).low(1)",
    "u16.high(1)",
    "u64.float",
    "u16.float",
    "u16.dec",
    "u16.dec(5)",
    "u16.hex",
    "u16.hex(4)",
    "u16.leb128",
    "u16.ordvar",
    "u16.bitcoin_varint",
    "u64.compact_size",
    "u16.tuple",
    "bool",
    "f64.tuple",
    "bytes(2)",
    "bytes(0..=3)",
    "bytes(1 | 3)",
    "bytes(0..=3).hex",
    "bytes(0..=3).fit(2)",
    "bytes(0..=4).tuple",
    "bytes(0..=4).escaped",
    "bytes(0..=4).terminated",
    "bytes(0..=4).memcmp",
    "bytes(0..=4).len8",
    "bytes(0..=4).varlen",
    "bytes(0..=4).escaped.desc",
    "bytes(0..=4).tuple.desc",
    "text(\"a-c\", 1..=3)",
    "text(\"a-c\", 1..=3).tuple",
    "text(\"a-c\", 1..=3).escaped",
    "text(0..=3).tuple",
    "text(\"a-c\", 2)",
    "nibbles(0..=3)",
    "nibbles(0..=3).packed",
    "nibbles(0..=3).hex_prefix",
    "option(u8)",
    "list(bytes(0..=2).escaped, 0..=2)",
    "list(bytes(0..=2).tuple, 0..=2).count8",
    "list(u8, 0..=3).joined(\"/\")",
    "(x: bytes(0..=3).escaped y: u8)",
    "(x: \"a\" n: u8 | y: \"ab\")",
];

/// Every reason that could be given for a statement about `families`.
fn reasons(families: &[String], own: &str) -> Vec<Ground> {
    let mut all = vec![
        Ground::Marked,
        Ground::Short,
        Ground::Sorted,
        Ground::Digests,
        Ground::Product,
        Ground::Apart(Vec::new()),
    ];
    let ways = [By::Length, By::Start(0), By::Start(1), By::Start(2), By::End(0), By::End(1)];
    for by in ways {
        let others = families.iter().filter(|family| *family != own);
        all.push(Ground::Apart(others.map(|other| Apart { other: other.clone(), by }).collect()));
    }
    all
}

/// The forgeries of a plan: how many were tried, and those that were accepted.
fn forge(plan: &Plan) -> (usize, Vec<String>) {
    let certificate = honest(plan);
    let families: Vec<String> = plan.families().map(|(_, family)| family.path.clone()).collect();
    if let Err(rejected) = verify(&certificate, plan) {
        return (0, vec![format!("the honest one is rejected: {rejected}")]);
    }
    let (mut tried, mut accepted) = (0, Vec::new());
    for (index, statement) in certificate.statements.iter().enumerate() {
        if !matches!(statement.verdict, Ruling::Fails(_) | Ruling::Unknown(_)) {
            continue;
        }
        for ground in reasons(&families, &statement.family) {
            let assumed = Ruling::Assumed { hash: "xxh3_64".to_owned(), keep: 8, ground: ground.clone() };
            for verdict in [Ruling::Holds(ground.clone()), assumed] {
                let mut forged = certificate.clone();
                forged.statements[index].verdict = verdict.clone();
                tried += 1;
                if verify(&forged, plan).is_ok() {
                    accepted.push(format!("{} {}: {verdict:?}", statement.code, statement.family));
                }
            }
        }
    }
    (tried, accepted)
}

fn check(text: &str) -> usize {
    let plan = compile(text).unwrap_or_else(|| panic!("no plan: {text}"));
    let (tried, accepted) = forge(&plan);
    assert!(accepted.is_empty(), "{text}\n{accepted:#?}");
    tried
}

#[test]
fn an_escaped_value_before_bytes_is_not_marked() {
    for domain in ["bytes(0..=4).escaped", "bytes(0..=4).tuple", "text(0..=4).tuple"] {
        check(&format!("plan p; space s {{ key k = a: {domain} b: bytes(1..=4) scan by a; }}"));
        check(&format!("plan p; space s {{ key k = a: {domain} scan by a; }}"));
        check(&format!("plan p; space s {{ key k = r: (a: {domain}) b: bytes(1..=4) scan by r; }}"));
        check(&format!("plan p; space s {{ key k = l: list({domain}, 0..=3) scan by l; }}"));
        check(&format!("plan p; space s {{ key k = l: list({domain}, 0..=3).count8 b: bytes(1..=4); }}"));
    }
}

#[test]
fn no_refuted_statement_of_two_arguments_passes_with_any_reason() {
    let mut tried = 0;
    for (index, a) in DOMAINS.iter().enumerate() {
        // Each domain before a handful of others; all of them come second to some.
        for step in [0, 1, 5, 11, 18, 23] {
            let b = DOMAINS[(index + step) % DOMAINS.len()];
            tried += check(&format!(
                "plan p; space s {{ key k = 0x01 a: {a} b: {b} scan by a scan all in order; }}"
            ));
        }
    }
    assert!(tried > 6_000, "{tried}");
}

#[test]
fn no_refuted_statement_of_two_families_passes_with_any_reason() {
    let mut tried = 0;
    for (index, a) in DOMAINS.iter().enumerate() {
        let b = DOMAINS[(index + 7) % DOMAINS.len()];
        tried += check(&format!(
            "plan p; space s {{ key k = 0x01 a: {a} \"/\" c: u8 scan by a in order; key l = 0x01 b: {b} scan all; }}"
        ));
    }
    assert!(tried > 1_000, "{tried}");
}

#[test]
fn no_refuted_statement_of_allotments_and_names_passes_with_any_reason() {
    let forged = |families: &[&str]| {
        let plan = format!("plan p; space s {{ retired 0x0203 \"gone\"; {} }}", families.join(" "));
        let plan = compile(&plan).unwrap();
        let (tried, accepted) = forge(&plan);
        assert!(accepted.is_empty(), "{families:?}\n{accepted:#?}");
        assert!(tried > 0, "{families:?}: nothing is refuted");
    };
    forged(&["module m = 0x02 { allot 0x01..=0x02 few; key k = 0x03 n: u8; }"]);
    forged(&["module m = 0x02 { allot 0x01..=0x02 few; key k = n: u8; }"]);
    forged(&[
        "module m = 0x01 { allot 0x01..=0x02 few; allot 0x05..=0x06 more; key k = 0x01 n: u8 allot more; }",
    ]);
    forged(&["module m = 0x01 { allot 0x01..=0x02 few; key k = 0x01 n: u8; key l = 0x01 n: u16; }"]);
    forged(&["key k = 0x02 n: u8 m: u8;"]);
    forged(&["key k = n: bytes(1..=3);"]);
    let names: Vec<String> =
        (b'a'..=b'z').flat_map(|n| [1, 2].map(|times| char::from(n).to_string().repeat(times))).collect();
    let names = format!("\"{}\"", names.join("\", \""));
    let plan = format!(
        "plan p; names N = text(\"a-z\", 1..=4) {{ {names} }} space s {{ key k = 0x01 n: N.hashed(sha256, 1); }}"
    );
    assert!(check(&plan) > 0);
}

/// The names of a family that the certificate's own words for a retired prefix must not be taken for.
#[test]
fn a_retired_prefix_has_a_reason_of_its_own() {
    let plan =
        compile("plan p; space s { retired 0x02 \"gone\"; key k = n: u8(3..=9) m: u8; key l = 0x01 n: u8; }")
            .unwrap();
    let certificate = honest(&plan);
    let found = |family: &str| {
        let mut those = certificate.statements.iter();
        those.find(|one| one.code == "KP0006" && one.family == family).unwrap().verdict.clone()
    };
    // Its first byte may be anything, as far as the checker looks.
    assert_eq!(found("s.k"), Ruling::Holds(Ground::Product));
    assert_eq!(found("s.l"), Ruling::Holds(Ground::Apart(Vec::new())));
    let mut forged = certificate.clone();
    for statement in &mut forged.statements {
        if statement.code == "KP0006" {
            let by = By::Start(0);
            statement.verdict = Ruling::Holds(Ground::Apart(vec![Apart { other: "02".to_owned(), by }]));
        }
    }
    assert!(verify(&forged, &plan).is_err());
}

#[test]
fn no_refuted_statement_of_random_plans_passes_with_the_reason_of_its_guarantee() {
    let count = std::env::var("KEYPLAN_FORGER").map_or(250, |value| value.parse().expect("a number"));
    let (mut tried, mut plans, mut at) = (0, 0, 77u64 << 32);
    while plans < count {
        at += 1;
        let text = plans::plan_text(&mut plans::Random(at));
        let Some(plan) = compile(&text) else { continue };
        plans += 1;
        let certificate = honest(&plan);
        verify(&certificate, &plan).unwrap_or_else(|rejected| panic!("{rejected}\n{text}"));
        for (index, statement) in certificate.statements.iter().enumerate() {
            if !matches!(statement.verdict, Ruling::Fails(_) | Ruling::Unknown(_)) {
                continue;
            }
            let ways = || [By::Length, By::Start(0), By::Start(1), By::End(0)].into_iter();
            let apart = |by: By| {
                let all = plan.families().map(|(_, family)| family.path.clone());
                let all = all.filter(|path| *path != statement.family);
                Ground::Apart(all.map(|other| Apart { other, by }).collect())
            };
            let grounds: Vec<Ground> = match statement.code.as_str() {
                "KP0001" | "KP0003" => ways().map(apart).collect(),
                "KP0002" | "KP0004" => vec![Ground::Marked],
                "KP0005" => vec![Ground::Sorted],
                "KP0006" | "KP0013" => vec![Ground::Apart(Vec::new())],
                "KP0008" => vec![Ground::Digests],
                "KP0010" => vec![Ground::Short],
                _ => Vec::new(),
            };
            for ground in grounds {
                let mut forged = certificate.clone();
                forged.statements[index].verdict = Ruling::Holds(ground.clone());
                tried += 1;
                let accepted = verify(&forged, &plan).is_ok();
                // What is unknown may be true.
                let refuted = matches!(statement.verdict, Ruling::Fails(_));
                assert!(!accepted || !refuted, "{} {} {ground:?}\n{text}", statement.code, statement.family);
            }
        }
    }
    assert!(tried >= 2 * count, "{tried}");
}

#[test]
fn a_reason_that_is_given_twice_is_rejected() {
    let plan = compile("plan p; space s { key k = a: bytes(2); key l = a: bytes(3); }").unwrap();
    let mut certificate = honest(&plan);
    let twice = certificate
        .statements
        .iter_mut()
        .find_map(|statement| match &mut statement.verdict {
            Ruling::Holds(Ground::Apart(apart)) if !apart.is_empty() => Some(apart),
            _ => None,
        })
        .unwrap();
    twice.push(twice[0].clone());
    let why = "a layout is told apart twice";
    assert_eq!(verify(&certificate, &plan), Err(Rejected::Wrong { statement: "KP0001 s.k".to_owned(), why }));
}

#[test]
fn a_certificate_does_not_set_the_budget_of_its_check() {
    let plan = compile("plan p; space s { key k = a: bytes(2); }").unwrap();
    let mut certificate = honest(&plan);
    certificate.steps = u64::MAX;
    assert_eq!(verify(&certificate, &plan), Err(Rejected::Steps { found: u64::MAX, most: MOST_STEPS }));
}

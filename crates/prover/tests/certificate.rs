//! Certificates of the plans are accepted; edited ones are not.
#![cfg(test)]
#![cfg(feature = "certificate")]

use std::fs;
use std::path::{Path, PathBuf};

use keyplan_plan::model::Plan;
use keyplan_prover::certificate::{Certificate, Ground, Rejected, Ruling, Verified, certify, verify};
use keyplan_prover::{Engine, Options, prove};

const PLANS: [&str; 8] =
    ["cardano", "cardano_redb", "cosmwasm", "onesat", "onesat_v2", "osmosis_cl", "paw", "paw_v2"];

fn plan(name: &str) -> Plan {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    let text = fs::read_to_string(folder.join(format!("{name}.keyplan"))).unwrap();
    compile(&text, |import| fs::read_to_string(folder.join(import)).map_err(|error| error.to_string()))
}

fn compile(text: &str, import: impl FnMut(&str) -> Result<String, String>) -> Plan {
    let compiled = keyplan_plan::compile("plan.keyplan", text, import);
    compiled.plan.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
}

fn inline(text: &str) -> Plan {
    compile(text, |_| Err("no imports".to_owned()))
}

fn of(plan: &Plan) -> Certificate {
    let options = Options::default();
    certify(plan, &options, &prove(plan, &options))
}

/// A plan with every guarantee and every verdict in it.
const MANY: &str = r#"
    plan many;
    type Name = text("a-z", 1..=8);
    space s {
        retired 0x0f "gone";
        key open = 0x01 a: text("a-z", 1..) b: text("a-z", 1..) scan by a in order;
        key closed = 0x02 a: Name "/" b: u64 scan by a scan by a, b;
        key digits = 0x03 n: u64.dec scan all in order;
        key shared = 0x04 rest: bytes(0..=9);
        key taken = 0x04 0x05 n: u64;
        key long = 0x06 n: u32 rest: bytes(0..=70000) scan by n in order;
        key hashed = 0x07 n: Name.hashed(xxh3_64) scan by n;
        key reused = p: u8(14..=15) "x" n: u64;
        key lossy = 0x08 at: score.height_score accept lossy "as it is";
        module m = 0x09 {
            allot 0x01..=0x02 few "few";
            key inside = 0x01 n: u8 allot few;
            key outside = 0x03 n: u8 allot few accept misallotted "history";
        }
        hash h = 0x0a
            field a = "a" -> u8
            field b = "b:" n: Name -> u8
            field c = "b:" n: text("0-9a", 1..=2) -> u8;
        zset z = 0x0b member m: bytes(32) score at: score.height_score;
    }
"#;

#[test]
fn certificates_of_the_plans_are_accepted() {
    for name in PLANS {
        let plan = plan(name);
        let certificate = of(&plan);
        let read = Certificate::from_json(&certificate.to_json().unwrap()).unwrap();
        assert_eq!(read, certificate, "{name}");
        let verified = verify(&read, &plan).unwrap_or_else(|rejected| panic!("{name}: {rejected}"));
        assert_eq!(verified.statements, certificate.statements.len());
        println!("{name}: {} statements, {} recomputed", verified.statements, verified.recomputed.len());
    }
}

#[test]
fn most_proofs_of_the_first_four_guarantees_have_a_short_reason() {
    let (mut short, mut all) = (0, 0);
    for name in PLANS {
        for statement in of(&plan(name)).statements {
            let (Ruling::Holds(ground) | Ruling::Assumed { ground, .. }) = &statement.verdict else {
                continue;
            };
            if ["KP0001", "KP0002", "KP0003", "KP0004"].contains(&statement.code.as_str()) {
                all += 1;
                short += usize::from(*ground != Ground::Product);
            }
        }
    }
    assert!(short * 100 >= all * 90, "{short} of {all}");
}

/// Every plan of the repository, and the example of its documentation.
fn all_plans() -> Vec<(String, Plan)> {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("plans"), root.join("docs")];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        let inside = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let (below, found): (Vec<PathBuf>, Vec<PathBuf>) = inside.partition(|path| path.is_dir());
        folders.extend(below);
        files.extend(found);
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "keyplan"));
    files.sort();
    let plan = |path: PathBuf| {
        let folder = path.parent().unwrap();
        let read = |path: &Path| fs::read_to_string(path).map_err(|error| error.to_string());
        (path.display().to_string(), compile(&read(&path).unwrap(), |import| read(&folder.join(import))))
    };
    files.into_iter().map(plan).collect()
}

#[test]
fn few_statements_of_all_plans_are_proved_anew() {
    let (mut anew, mut all) = (Vec::new(), 0);
    for (name, plan) in all_plans() {
        let verified = verify(&of(&plan), &plan).unwrap_or_else(|rejected| panic!("{name}: {rejected}"));
        all += verified.statements;
        anew.extend(verified.recomputed.into_iter().map(|statement| format!("{name}: {statement}")));
    }
    println!("{} of {all} statements are proved anew\n{}", anew.len(), anew.join("\n"));
    assert!(all > 4_000, "{all}");
    assert!(anew.len() * 100 <= all * 2, "{} of {all}\n{}", anew.len(), anew.join("\n"));
}

/// A derived part is bound by its value: the witness has it in place of the argument behind it, which is a number too.
#[test]
fn scans_by_a_derived_part_are_certified_with_the_value_of_the_part() {
    let plan = inline(
        r"plan p; space s {
            key sound = 0x01 ns: u8 slot = crc16(user) % 4 as u8 user: u16 scan by ns, slot scan by ns, user;
            key leaks = 0x02 ns: bytes(0..=2) slot = crc16(user) % 4 as u8 user: u16 scan by ns, slot;
            key other = 0x01 0x00 0x03 scan all;
        }",
    );
    let certificate = of(&plan);
    let said = |code: &str, family: &str| -> Vec<String> {
        let those = certificate.statements.iter().filter(|one| one.code == code && one.family == family);
        those
            .map(|one| match &one.verdict {
                Ruling::Fails(keys) => {
                    format!("{:?} {}", (one.scan.unwrap(), one.nth), serde_json::to_string(keys).unwrap())
                }
                Ruling::Holds(_) => format!("{:?} holds", (one.scan.unwrap(), one.nth)),
                other => format!("{other:?}"),
            })
            .collect()
    };
    assert_eq!(said("KP0004", "s.sound"), ["(1, 0) holds", "(2, 0) holds"]);
    // A key of another family in the slot 3 of the namespace 0.
    let foreign = said("KP0003", "s.sound");
    assert!(
        foreign[1]
            .starts_with(r#"(1, 0) {"row":[{"family":"s.sound","arguments":["0","3"],"bytes":"010003"}"#),
        "{foreign:?}"
    );
    assert_eq!(foreign[0], "(2, 0) holds");
    let leak = said("KP0004", "s.leaks");
    assert!(leak[0].starts_with(r#"(1, 0) {"row":[{"family":"s.leaks""#), "{leak:?}");
    let read = Certificate::from_json(&certificate.to_json().unwrap()).unwrap();
    let verified = verify(&read, &plan).unwrap_or_else(|rejected| panic!("{rejected}"));
    assert_eq!(verified.statements, certificate.statements.len());
    // Another value of the part has another prefix.
    let forged = certificate.to_json().unwrap().replace("\"3\"\n", "\"2\"\n");
    assert_ne!(forged, certificate.to_json().unwrap());
    assert!(verify(&Certificate::from_json(&forged).unwrap(), &plan).is_err());
}

#[test]
fn a_certificate_of_another_plan_is_rejected() {
    let (one, other) =
        (inline("plan p; space s { key k = n: u8; }"), inline("plan p; space s { key k = n: u16; }"));
    let rejected = verify(&of(&one), &other).unwrap_err();
    let show = |plan: &Plan| format!("`p` ({})", plan.fingerprint());
    assert_eq!(rejected, Rejected::Plan { expected: show(&other), found: show(&one) });
}

#[test]
fn claims_that_the_fingerprint_does_not_cover_are_asked_for() {
    let before = inline("plan p; space s { key k = n: u8 m: u8; }");
    let after = inline("plan p; space s { key k = n: u8 m: u8 scan by n; }");
    assert_eq!(before.fingerprint(), after.fingerprint());
    assert_eq!(verify(&of(&before), &after), Err(Rejected::Missing("KP0003 s.k".to_owned())));
    assert_eq!(verify(&of(&after), &before), Err(Rejected::Surplus("KP0003 s.k, scan by 1".to_owned())));
}

#[test]
fn a_certificate_for_another_engine_says_so() {
    let plan = inline("plan p; space s { key k = rest: bytes(0..=20000); }");
    let mut certificate = of(&plan);
    assert_eq!(verify(&certificate, &plan), Ok(Verified { statements: 3, recomputed: Vec::new() }));
    certificate.engine = Engine::FoundationDb.name().to_owned();
    let why = "a key may be longer than the engine allows";
    assert_eq!(verify(&certificate, &plan), Err(Rejected::Wrong { statement: "KP0010 s.k".to_owned(), why }));
}

/// Every JSON document that differs from `value` in one place, with the path of the place.
fn edits(value: &serde_json::Value) -> Vec<(String, serde_json::Value)> {
    use serde_json::Value as Json;
    let mut all = Vec::new();
    match value {
        Json::Object(fields) => {
            for (name, field) in fields {
                let mut without = fields.clone();
                without.remove(name);
                all.push((format!(".{name} dropped"), Json::Object(without)));
                for (path, edited) in edits(field) {
                    let mut with = fields.clone();
                    with.insert(name.clone(), edited);
                    all.push((format!(".{name}{path}"), Json::Object(with)));
                }
            }
        }
        Json::Array(items) => {
            for index in 0..items.len() {
                let mut without = items.clone();
                without.remove(index);
                all.push((format!("[{index}] dropped"), Json::Array(without)));
                for (path, edited) in edits(&items[index]) {
                    let mut with = items.clone();
                    with[index] = edited;
                    all.push((format!("[{index}]{path}"), Json::Array(with)));
                }
            }
        }
        Json::String(text) => {
            all.push((" longer".to_owned(), Json::String(format!("{text}0"))));
            all.push((" empty".to_owned(), Json::String(String::new())));
        }
        Json::Number(number) => {
            let n = number.as_u64().unwrap();
            all.push((" more".to_owned(), Json::from(n + 1)));
            all.push((" less".to_owned(), Json::from(n.saturating_sub(1))));
        }
        Json::Bool(flag) => all.push((" flipped".to_owned(), Json::Bool(!flag))),
        Json::Null => {}
    }
    all.retain(|(_, edited)| edited != value);
    all
}

#[test]
fn every_edit_is_rejected_or_as_true_as_before() {
    let plan = inline(MANY);
    let certificate = of(&plan);
    verify(&certificate, &plan).unwrap();
    let json: serde_json::Value = serde_json::from_str(&certificate.to_json().unwrap()).unwrap();
    let mut rejected = 0;
    let mut still_true = Vec::new();
    for (path, edited) in edits(&json) {
        let Ok(edited) = serde_json::from_value::<Certificate>(edited) else {
            rejected += 1;
            continue;
        };
        match verify(&edited, &plan) {
            Err(_) => rejected += 1,
            Ok(_) => still_true.push(path),
        }
    }
    // Another number of steps, another byte in which two layouts differ too.
    let harmless =
        |path: &String| path.contains(".steps") || path.contains(".start") || path.contains(".end");
    let bad: Vec<&String> = still_true.iter().filter(|path| !harmless(path)).collect();
    assert!(bad.is_empty(), "accepted: {bad:#?}");
    assert!(rejected > 500, "{rejected}");
}

#[test]
fn a_verdict_that_is_put_in_place_of_another_is_rejected() {
    let plan = inline(MANY);
    let certificate = of(&plan);
    let grounds = [Ground::Marked, Ground::Short, Ground::Product, Ground::Apart(Vec::new())];
    for (index, statement) in certificate.statements.iter().enumerate() {
        let mut others: Vec<Ruling> = vec![Ruling::Unknown("the proof takes too many steps".to_owned())];
        others.extend(grounds.iter().cloned().map(Ruling::Holds));
        let hash = || "xxh3_64".to_owned();
        others.extend(grounds.iter().cloned().map(|ground| Ruling::Assumed {
            hash: hash(),
            keep: 8,
            ground,
        }));
        let donors = certificate.statements.iter().map(|donor| donor.verdict.clone());
        for verdict in others.into_iter().chain(donors) {
            let same_kind = match (&verdict, &statement.verdict) {
                (Ruling::Holds(_), Ruling::Holds(_)) | (Ruling::Assumed { .. }, Ruling::Assumed { .. }) => {
                    true
                }
                (a, b) => a == b,
            };
            if same_kind {
                continue;
            }
            let mut edited = certificate.clone();
            edited.statements[index].verdict = verdict.clone();
            let result = verify(&edited, &plan);
            assert!(result.is_err(), "{statement:?} became {verdict:?}");
        }
    }
}

/// That pruning removes a range and nothing else rests on statements that are named, and is not believed without them.
#[test]
fn what_is_pruned_is_a_range_by_statements_of_the_certificate() {
    let plan = inline(
        "plan p; space s {
            key vote = 0x01 height: u64 voter: bytes(2) scan all in order retain 20 by height;
            key trade = 0x02 pool: u8 id: u16 scan by pool in order retain newest 3 per pool;
            key kept = 0x03 id: u16 scan all in order;
        }",
    );
    let certificate = of(&plan);
    let shown: Vec<(&str, &str, Vec<&str>, bool)> = certificate
        .pruned
        .iter()
        .map(|rule| {
            let codes = rule.rests_on.iter().map(String::as_str).collect();
            (rule.family.as_str(), rule.rule.as_str(), codes, rule.a_range)
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("s.vote", "retain 20 by height", vec!["KP0002", "KP0003", "KP0004", "KP0005"], true),
            ("s.trade", "retain newest 3 per pool", vec!["KP0002", "KP0003", "KP0004", "KP0005"], true),
        ]
    );
    assert!(verify(&certificate, &plan).is_ok());
    assert_eq!(Certificate::from_json(&certificate.to_json().unwrap()).unwrap(), certificate);
    let rejected = |change: &dyn Fn(&mut Certificate)| {
        let mut other = certificate.clone();
        change(&mut other);
        verify(&other, &plan).unwrap_err().to_string()
    };
    assert_eq!(rejected(&|it| it.pruned.clear()), "`retain 20 by height` of s.vote: missing");
    let why = "it does not rest on these statements, or they do not hold";
    assert_eq!(
        rejected(&|it| it.pruned[1].rule = "retain newest 2 per pool".to_owned()),
        format!("`retain newest 3 per pool` of s.trade: {why}")
    );
    assert_eq!(
        rejected(&|it| it.pruned[0].rests_on.truncate(1)),
        format!("`retain 20 by height` of s.vote: {why}")
    );
    assert!(rejected(&|it| it.pruned.push(it.pruned[0].clone())).ends_with("not asked of this plan"));
}

/// A scan that another family's rows are in: nothing is said to be a range.
#[test]
fn what_is_pruned_is_no_range_where_a_row_of_another_lies_in_it() {
    let plan = inline(
        "plan p; space s {
            key vote = 0x01 height: u64 scan all in order retain 20 by height;
            key other = 0x01 0x00 rest: bytes(3..=9);
        }",
    );
    let certificate = of(&plan);
    assert_eq!(certificate.pruned.iter().map(|rule| rule.a_range).collect::<Vec<_>>(), [false]);
    let mut forged = certificate;
    forged.pruned[0].a_range = true;
    assert!(verify(&forged, &plan).is_err());
}

//! What is proved of migrations, against enumeration of every key of small plans.
//!
//! `KEYPLAN_MIGRATION_PAIRS` says how many random pairs of plans are looked at, `KEYPLAN_MIGRATION_SEED` which ones.

#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};

use keyplan_plan::compile;
use keyplan_plan::dynamic::{Decoder, Value, encode};
use keyplan_plan::mapping::{Carrier, Course};
use keyplan_plan::model::{Argument, Family, Plan, Shape};
use keyplan_prover::{Counterexample, Decision, MigrationProof, Obligation, Options, prove_migration};
use keyplan_testkit::Random;

/// Domains that are small enough to write all values down.
const DOMAINS: &[&str] = &[
    "u8(0..=3)",
    "u8(0..=2).dec",
    "u16(0..=2)",
    "i8(-1..=1)",
    "bool",
    "text(\"ab\", 0..=2)",
    "text(\"ab\", 1..=2)",
    "text(\"a\", 0..=2).len8",
    "text(\"ab\", 1..=1)",
    "bytes(1)",
    "u8(0..=12).dec(2)",
    "option(u8(0..=1))",
    "u8(0..=2).desc",
    "u16(0..=2).le",
    "i8(-1..=1).signflip",
    "u16(254..=257).low(1)",
    "text(\"ab\", 0..=2).terminated",
    "(p: u8(0..=1) q: text(\"a\", 0..=1))",
    "(q: text(\"a\", 0..=1) p: u16(0..=1))",
    "(a: 0x01 n: u8(0..=1) | b: 0x02 | c: \"a\")",
    "(c: 0x01 | b: \"b\" | a: n: u8(1..=1))",
    "list(u8(0..=1), 0..=2).count8",
    "list(u16(0..=1), 0..=2)",
    "list(text(\"ab\", 1..=1), 0..=2).joined(\"b\")",
    "list(text(\"ab\", 0..=1), 0..=2)",
];

fn values(domain: &str) -> Vec<Value> {
    let unsigned = |most: u128| (0..=most).map(Value::Unsigned).collect::<Vec<_>>();
    let texts = |letters: &[&str], least: usize, most: usize| {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..most {
            last = last
                .iter()
                .flat_map(|text| letters.iter().map(move |letter| format!("{text}{letter}")))
                .collect();
            all.extend(last.clone());
        }
        all.into_iter().filter(|text| text.len() >= least).map(Value::Text).collect::<Vec<_>>()
    };
    match domain {
        "u8(0..=3)" => unsigned(3),
        "u8(0..=2).dec" | "u16(0..=2)" | "u8(0..=2).desc" | "u16(0..=2).le" => unsigned(2),
        "u16(254..=257).low(1)" => (254..=257).map(Value::Unsigned).collect(),
        "u8(0..=12).dec(2)" => unsigned(12),
        "i8(-1..=1)" | "i8(-1..=1).signflip" => (-1..=1).map(Value::Signed).collect(),
        "bool" => vec![Value::Bool(false), Value::Bool(true)],
        "text(\"ab\", 0..=2)" | "text(\"ab\", 0..=2).terminated" => texts(&["a", "b"], 0, 2),
        "text(\"ab\", 1..=2)" => texts(&["a", "b"], 1, 2),
        "text(\"a\", 0..=2).len8" => texts(&["a"], 0, 2),
        "text(\"ab\", 1..=1)" => texts(&["a", "b"], 1, 1),
        "bytes(1)" => (0..=255).map(|byte| Value::Bytes(vec![byte])).collect(),
        "option(u8(0..=1))" => {
            let some = unsigned(1).into_iter().map(|value| Value::Option(Some(Box::new(value))));
            std::iter::once(Value::Option(None)).chain(some).collect()
        }
        "(p: u8(0..=1) q: text(\"a\", 0..=1))" => {
            pairs(&unsigned(1), &texts(&["a"], 0, 1)).into_iter().map(Value::Record).collect()
        }
        "(q: text(\"a\", 0..=1) p: u16(0..=1))" => {
            pairs(&texts(&["a"], 0, 1), &unsigned(1)).into_iter().map(Value::Record).collect()
        }
        "(a: 0x01 n: u8(0..=1) | b: 0x02 | c: \"a\")" => {
            let first = unsigned(1).into_iter().map(|n| Value::Choice(0, vec![n]));
            first.chain([Value::Choice(1, Vec::new()), Value::Choice(2, Vec::new())]).collect()
        }
        "(c: 0x01 | b: \"b\" | a: n: u8(1..=1))" => vec![
            Value::Choice(0, Vec::new()),
            Value::Choice(1, Vec::new()),
            Value::Choice(2, vec![Value::Unsigned(1)]),
        ],
        "list(u8(0..=1), 0..=2).count8" | "list(u16(0..=1), 0..=2)" => lists(&unsigned(1)),
        "list(text(\"ab\", 1..=1), 0..=2).joined(\"b\")" => lists(&texts(&["a", "b"], 1, 1)),
        "list(text(\"ab\", 0..=1), 0..=2)" => lists(&texts(&["a", "b"], 0, 1)),
        other => panic!("{other}"),
    }
}

fn pairs(first: &[Value], second: &[Value]) -> Vec<Vec<Value>> {
    first.iter().flat_map(|a| second.iter().map(move |b| vec![a.clone(), b.clone()])).collect()
}

/// Every list of at most two.
fn lists(items: &[Value]) -> Vec<Value> {
    let one = items.iter().map(|item| vec![item.clone()]);
    std::iter::once(Vec::new()).chain(one).chain(pairs(items, items)).map(Value::List).collect()
}

/// A family of a random plan: its prefix, and its arguments by name and domain.
#[derive(Clone, Debug)]
struct Sketch {
    name: &'static str,
    prefix: &'static str,
    arguments: Vec<(&'static str, &'static str)>,
    /// What is between two arguments.
    glue: &'static str,
    /// What comes after the last, of the first one if it is a function's name.
    tail: &'static str,
    from: String,
}

impl Sketch {
    fn text(&self) -> String {
        let arguments: Vec<String> =
            self.arguments.iter().map(|(name, domain)| format!("{name}: {domain}")).collect();
        let glue = format!(" {} ", self.glue);
        let tail = match (self.tail, self.arguments.first()) {
            ("same", Some((first, _))) => format!("same({first})"),
            ("crc16", Some((first, _))) => format!("sum = crc16({first})"),
            ("same" | "crc16", None) => String::new(),
            (literal, _) => literal.to_owned(),
        };
        format!("    key {} = {} {} {tail} {};\n", self.name, self.prefix, arguments.join(&glue), self.from)
    }

    /// Every argument list.
    fn rows(&self) -> Vec<Vec<Value>> {
        let mut rows = vec![Vec::new()];
        for (_, domain) in &self.arguments {
            rows = rows
                .into_iter()
                .flat_map(|row: Vec<Value>| {
                    values(domain).into_iter().map(move |value| row.iter().cloned().chain([value]).collect())
                })
                .collect();
        }
        rows
    }
}

const PREFIXES: &[&str] = &["0x01", "0x02", "0x03", "0x0161", "\"a\"", "0x01 0x00", ""];

const GLUES: &[&str] = &["", "", "", "0x00", "\"a\"", "\"/\""];

const TAILS: &[&str] = &["", "", "", "", "\"b\"", "same", "crc16"];

fn sketch(random: &mut Random, name: &'static str) -> Sketch {
    let names: &[&[&'static str]] = &[&["x"], &["x", "y"], &[]];
    let arguments = random.choose(names).iter().map(|argument| (*argument, random.choose(DOMAINS))).collect();
    let (prefix, glue, tail) = (random.choose(PREFIXES), random.choose(GLUES), random.choose(TAILS));
    Sketch { name, prefix, arguments, glue, tail, from: String::new() }
}

/// The sketch as the next plan might have it.
fn changed(random: &mut Random, old: &Sketch) -> Sketch {
    let mut new = old.clone();
    for _ in 0..=random.index(3) {
        match random.index(9) {
            7 => new.glue = random.choose(GLUES),
            8 => new.tail = random.choose(TAILS),
            0 => new.prefix = random.choose(PREFIXES),
            1 => new.arguments.reverse(),
            2 if !new.arguments.is_empty() => {
                let index = random.index(new.arguments.len());
                new.arguments[index].1 = random.choose(DOMAINS);
            }
            3 if new.arguments.len() == 2 && new.from.is_empty() => {
                let (gone, _) = new.arguments.pop().unwrap();
                new.from = format!("from s.{}(drop {gone})", old.name);
            }
            4 if new.from.is_empty() => {
                new.arguments.push(("z", "bool"));
                new.from = format!("from s.{}(z = \"true\")", old.name);
            }
            5 if new.from.is_empty() && new.arguments.iter().any(|(name, _)| *name == "x") => {
                for argument in &mut new.arguments {
                    if argument.0 == "x" {
                        argument.0 = "w";
                    }
                }
                new.from = format!("from s.{}(w = x)", old.name);
            }
            6 if new.from.is_empty() => new.from = format!("from s.{} park", old.name),
            _ => {}
        }
    }
    new
}

fn plan(sketches: &[Sketch]) -> Option<Plan> {
    let text: String = sketches.iter().map(Sketch::text).collect();
    let text = format!("plan p;\nspace s {{\n{text}}}\n");
    compile("p.keyplan", &text, |_| Err("none".to_owned())).plan
}

fn proved(proof: &MigrationProof, from: &str, obligation: Obligation) -> bool {
    let duty = proof.duties.iter().find(|duty| duty.from == from && duty.obligation == obligation);
    duty.is_some_and(|duty| duty.decision == Decision::Proved)
}

fn key(family: &Family, row: &[Value]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    encode(&family.key, row, &mut out).ok()?;
    Some(out)
}

/// The arguments of a family that keeps what another one had: of the same name, or `w` that was `x`.
fn by_name(old: &Sketch, new: &Family, row: &[Value]) -> Vec<Value> {
    let of = |name: &str| {
        let was = if name == "w" { "x" } else { name };
        let index = old.arguments.iter().position(|(other, _)| *other == name || *other == was);
        row[index.unwrap()].clone()
    };
    let taken = |argument: &Argument| match (of(argument.name.as_deref().unwrap()), &argument.shape) {
        (Value::Text(text), Shape::Bytes { .. }) => Value::Bytes(text.into_bytes()),
        (value, _) => value,
    };
    new.key.arguments().map(taken).collect()
}

/// Compares every verdict with what enumeration shows; gives how many were proved and refuted.
fn check(old: &[Sketch], new: &[Sketch]) -> Option<(usize, usize)> {
    let (before, after) = (plan(old)?, plan(new)?);
    let proof = prove_migration(&before, &after, &Options::default());
    let carrier = Carrier::new(&before, &after, &proof.mapping);
    let decoder = Decoder::new(&before);
    let about = || format!("{old:#?}\n{new:#?}\n{:#?}", proof.duties);
    let families = &before.spaces[0].families;
    let mut old_keys: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut new_keys: BTreeMap<Vec<u8>, BTreeSet<(String, Vec<u8>)>> = BTreeMap::new();
    let mut images: Vec<(usize, Option<Vec<u8>>)> = Vec::new();
    for (index, (sketch, family)) in old.iter().zip(families).enumerate() {
        for row in sketch.rows() {
            let Some(bytes) = key(family, &row) else { continue };
            let image = match (&proof.mapping.routes[index].course, carrier.way(index)) {
                (Course::Moved(_), Some(way)) => {
                    let mut out = Vec::new();
                    way.key(&row, &[], &mut out).ok().map(|()| out)
                }
                (Course::Kept { to }, _) => {
                    let (_, heir) = to.find(&after).unwrap();
                    let written = key(heir, &by_name(sketch, heir, &row));
                    assert_eq!(written.as_ref(), Some(&bytes), "not kept: {}\n{}", family.path, about());
                    written
                }
                _ => None,
            };
            if let Some(image) = &image {
                new_keys.entry(image.clone()).or_default().insert((family.path.clone(), bytes.clone()));
            }
            if proof.mapping.routes[index].readable {
                let all = decoder.decode_all(0, &bytes, 8).unwrap();
                assert!(all.readings.len() == 1 && !all.more, "not readable: {bytes:02x?}\n{}", about());
            }
            old_keys.insert(bytes);
            images.push((index, image));
        }
    }
    for (index, image) in &images {
        let route = &proof.mapping.routes[*index];
        let Course::Moved(_) = route.course else { continue };
        let from = &route.from.path;
        if proved(&proof, from, Obligation::Total) {
            assert!(image.is_some(), "not total: {from}\n{}", about());
        }
        let Some(image) = image else { continue };
        if proved(&proof, from, Obligation::Injective) {
            assert_eq!(new_keys[image].len(), 1, "not injective: {from} {image:02x?}\n{}", about());
        }
        if proved(&proof, from, Obligation::Apart) {
            assert!(!old_keys.contains(image), "not apart: {from} {image:02x?}\n{}", about());
        }
    }
    let mut figures = (0, 0);
    for duty in &proof.duties {
        match &duty.decision {
            Decision::Proved | Decision::Assumed(_) => figures.0 += 1,
            Decision::Unknown(_) => {}
            Decision::Refuted(found) => {
                figures.1 += 1;
                refutation(&before, &after, &proof, duty.from.as_str(), found, &about);
            }
        }
    }
    Some(figures)
}

/// A refutation has keys that show it.
fn refutation(
    old: &Plan,
    new: &Plan,
    proof: &MigrationProof,
    from: &str,
    found: &Counterexample,
    about: &dyn Fn() -> String,
) {
    let carrier = Carrier::new(old, new, &proof.mapping);
    let image = |side: &keyplan_prover::Side| {
        let index = proof.mapping.routes.iter().position(|route| route.from.path == side.family).unwrap();
        let mut out = Vec::new();
        match carrier.way(index) {
            Some(way) => way.key(&side.values, &[], &mut out).map(|()| out).ok(),
            None => Some(side.bytes.clone()),
        }
    };
    match found {
        Counterexample::Refused { old: Some(side), .. } => {
            assert_eq!(image(side), None, "{from}\n{}", about());
        }
        Counterexample::Merged { first, second, new } => {
            assert_ne!((&first.family, &first.bytes), (&second.family, &second.bytes), "{}", about());
            assert_eq!(
                (image(first).as_ref(), image(second).as_ref()),
                (Some(new), Some(new)),
                "{}",
                about()
            );
        }
        Counterexample::TwoReadings { first, second } => {
            assert_eq!(first.bytes, second.bytes);
            assert_ne!((&first.family, &first.values), (&second.family, &second.values), "{}", about());
        }
        Counterexample::Crossing { new, old } => assert_eq!(new.bytes, old.bytes, "{}", about()),
        Counterexample::Refused { old: None, .. } | Counterexample::Unspoken { .. } => {}
    }
}

#[test]
fn verdicts_agree_with_enumeration() {
    let pairs = std::env::var("KEYPLAN_MIGRATION_PAIRS").map_or(1_500, |pairs| pairs.parse().unwrap());
    let seed = std::env::var("KEYPLAN_MIGRATION_SEED").map_or(0, |seed| seed.parse().unwrap());
    let mut random = Random(0x5eed_2026_1116 ^ seed);
    let (mut proved, mut refuted, mut looked_at) = (0, 0, 0);
    for _ in 0..pairs {
        let old: Vec<Sketch> =
            ["f", "g"].into_iter().take(1 + random.index(2)).map(|name| sketch(&mut random, name)).collect();
        let mut new: Vec<Sketch> = old.iter().map(|sketch| changed(&mut random, sketch)).collect();
        if random.index(8) == 0 {
            new.pop();
        }
        // Both become one, which says or does not say which they were.
        if old.len() == 2 && random.index(10) == 0 {
            let (first, second) = (random.choose(&["0", "1"]), random.choose(&["0", "1"]));
            let mut one = sketch(&mut random, "both");
            one.arguments.retain(|(name, _)| old[0].arguments.iter().any(|(other, _)| other == name));
            one.arguments.push(("k", "u8(0..=3)"));
            one.from = format!("from s.f(k = {first}) from s.g(k = {second})");
            new = vec![one];
        }
        if let Some((some, others)) = check(&old, &new) {
            looked_at += 1;
            proved += some;
            refuted += others;
        }
    }
    assert!(looked_at > pairs / 2 && proved > pairs && refuted > pairs / 5, "{looked_at} {proved} {refuted}");
}

#[test]
fn no_new_key_lies_under_a_prefix_that_an_earlier_plan_gave_up() {
    let sound = |text: &str| compile("p.keyplan", text, |_| Err("none".to_owned())).plan.unwrap();
    let old = sound("plan p; space s { retired 0x01 \"the first index\"; key pool = 0x02 id: u64; }");
    let apart = |text: &str| {
        let new = sound(&format!("plan p; space s {{ {text} id: u64; }}"));
        let proof = prove_migration(&old, &new, &Options::default());
        let duty = proof.duties.iter().find(|duty| duty.obligation == Obligation::Apart).unwrap().clone();
        (duty.decision.clone(), duty.is_finding(), duty.blocks())
    };
    let kept = "retired 0x01 \"the first index\"; key pool =";
    let (decision, finding, blocks) = apart(&format!("{kept} 0x01 0x07"));
    let Decision::Refuted(found) = decision else { panic!("{decision:?}") };
    let Counterexample::Crossing { new, old } = *found else { panic!("{found:?}") };
    assert_eq!(
        (new.family.as_str(), &new.bytes, old.family.as_str()),
        ("s.pool", &old.bytes, "the retired prefix 01")
    );
    assert!(finding && blocks);
    assert_eq!(apart(&format!("{kept} 0x11")), (Decision::Proved, false, false));
    // On the way back to a plan that uses it, no row stays under it.
    assert_eq!(apart("key pool = 0x01"), (Decision::Proved, false, false));
}

/// What is decided of `total`, in a word, with why it is not if a key shows it.
fn total(old: &str, new: &str) -> String {
    let sound = |text: &str| {
        let text = format!("plan p; space s {{ key k = 0x01 {text}; }}");
        compile("p.keyplan", &text, |_| Err("none".to_owned())).plan.unwrap()
    };
    let proof = prove_migration(&sound(old), &sound(new), &Options::default());
    let duty = proof.duties.iter().find(|duty| duty.obligation == Obligation::Total).unwrap();
    match &duty.decision {
        Decision::Proved => "proved".to_owned(),
        Decision::Refuted(found) => match found.as_ref() {
            Counterexample::Refused { old: Some(_), why } => format!("refuted: {why}"),
            other => format!("{other:?}"),
        },
        other => format!("{other:?}"),
    }
}

#[test]
fn what_a_length_or_a_count_or_a_time_cannot_tell_has_no_new_key() {
    assert_eq!(total("l: list(u16).count8", "l: list(u32).count8"), "proved");
    assert_eq!(total("l: list(u16).count8", "l: list(u16.le).count16"), "proved");
    assert_eq!(total("t: time.nanos", "t: time.text9"), "proved");
    assert_eq!(total("d = crc16(a) a: u8", "d = crc32(a) a: u16"), "proved");
    assert_eq!(total("a: u8", "d = crc16(a) % 16384 as u16.le a: u16"), "proved");
    for (old, new) in [
        ("a: text", "a: text.len8"),
        ("a: bytes", "a: bytes.len16"),
        ("a: bytes(0..=200)", "a: bytes(0..=200).hex.len8"),
        ("a: time.text9", "a: time.nanos"),
        ("n: u8 -> note: text", "n: u16 -> note: text.len8"),
    ] {
        let found = total(old, new);
        assert!(found.starts_with("refuted: "), "{old} {new}: {found}");
    }
}

#[test]
fn a_score_that_loses_something_merges_no_members() {
    let sound = |text: &str| {
        let text = format!("plan p; space s {{ {text}; }}");
        compile("p.keyplan", &text, |_| Err("none".to_owned())).plan.unwrap()
    };
    let decided = |old: &str, new: &str, obligation: Obligation| {
        let proof = prove_migration(&sound(old), &sound(new), &Options::default());
        proof.duties.iter().find(|duty| duty.obligation == obligation).unwrap().decision.clone()
    };
    let zset = |member: &str| {
        format!(
            "zset z = \"z:\" n: u8 member {member} score at: u64.float accept lossy \"as the server has it\""
        )
    };
    let injective = |old: &str, new: &str| decided(old, new, Obligation::Injective);
    assert_eq!(injective(&zset("m: u32"), &zset("m: u64")), Decision::Proved);
    // A member that loses something may be one with another, and so may a field that is called `score`.
    assert_ne!(injective(&zset("m: u32"), &zset("m: u32.low(2)")), Decision::Proved);
    let hash = |field: &str| format!("hash h = \"h:\" n: u8 field score = {field}");
    assert_ne!(injective(&hash("m: u32"), &hash("m: u32.low(2)")), Decision::Proved);
    // Members, scores and fields without a new form are shown.
    let total = |old: &str, new: &str| decided(old, new, Obligation::Total);
    let set = |member: &str| format!("set t = \"t:\" n: u8 member {member}");
    let exact = zset("m: u32").replace("at: u64.float", "at: u64(0..=9).float");
    for (old, new, part) in [
        (set("m: text"), set("m: text.len8"), "the member: "),
        (zset("m: u32"), exact, "the score: "),
        (hash("m: u16"), hash("m: u8"), "the field: "),
        (hash("\"s\" -> t: text"), hash("\"s\" -> t: text.len8"), "the value: "),
    ] {
        let Decision::Refuted(found) = total(&old, &new) else {
            panic!("{old} {new}: {:?}", total(&old, &new))
        };
        assert!(
            matches!(&*found, Counterexample::Refused { old: Some(_), why } if why.starts_with(part)),
            "{found:?}"
        );
    }
}

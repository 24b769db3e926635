//! Random pairs of plans, with databases that are carried over, interrupted, brought back and carried again. Every row is compared with
//! one that was encoded by what is written down here, apart from the encoder of plans.
//!
//! `KEYPLAN_MIGRATION_PAIRS` says how many pairs are looked at, `KEYPLAN_MIGRATION_SEED` from which on.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use keyplan_plan::{Compiled, compile};
use keyplan_prover::{Options, prove_migration};
use keyplan_store::engine::Memory;
use keyplan_store::migrate::{ASIDE_SPACE, Attached, Migration, Running, Step, read_aside};
use keyplan_store::{Schema, Store};
use keyplan_testkit::Random;

use crate::rows::fill;
use crate::support::{Rows, attach, rows};

/// A value, whatever the plan that writes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Thing {
    Number(u8),
    Bytes(Vec<u8>),
    Text(String),
}

impl Thing {
    fn number(&self) -> u8 {
        let Self::Number(number) = self else { panic!("{self:?}") };
        *number
    }

    /// The number in so many bytes, most significant first.
    fn wide(&self, width: usize) -> Vec<u8> {
        let mut out = vec![0; width];
        *out.last_mut().unwrap() = self.number();
        out
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Text(text) => text.as_bytes(),
            Self::Number(_) => panic!("{self:?}"),
        }
    }
}

type Write = fn(&Thing) -> Vec<u8>;

/// A domain with its encoding: the text in a plan, whether its end is told, and its bytes.
#[derive(Clone, Copy)]
struct Domain {
    text: &'static str,
    open: bool,
    write: Write,
}

const fn domain(text: &'static str, open: bool, write: Write) -> Domain {
    Domain { text, open, write }
}

fn counted(bytes: &[u8]) -> Vec<u8> {
    [&[u8::try_from(bytes.len()).unwrap()], bytes].concat()
}

fn terminated(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for &byte in bytes {
        out.push(byte);
        if byte == 0 {
            out.push(0xff);
        }
    }
    [&out[..], &[0, 0]].concat()
}

fn hex(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()
}

fn turned(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.reverse();
    bytes
}

/// Domains of one kind take each other's values, as these are drawn.
const NUMBERS: &[Domain] = &[
    domain("u8", false, |thing| thing.wide(1)),
    domain("u16", false, |thing| thing.wide(2)),
    domain("u32.le", false, |thing| turned(thing.wide(4))),
    domain("u64", false, |thing| thing.wide(8)),
    domain("u64.dec", true, |thing| thing.number().to_string().into_bytes()),
    domain("u16.dec(5)", false, |thing| format!("{:05}", thing.number()).into_bytes()),
    domain("u32.hex(8)", false, |thing| format!("{:08x}", thing.number()).into_bytes()),
    domain("u64.leb128", false, |thing| {
        let number = thing.number();
        if number < 128 { vec![number] } else { vec![number, 1] }
    }),
    domain("i32.signflip", false, |thing| vec![0x80, 0, 0, thing.number()]),
    domain("i64.tick9", false, |thing| [&[6], &thing.wide(8)[..]].concat()),
    domain("u16.desc", false, |thing| thing.wide(2).iter().map(|byte| !byte).collect()),
];

const BYTES: &[Domain] = &[
    domain("bytes(3)", false, |thing| thing.bytes().to_vec()),
    domain("bytes(3).hex", false, |thing| hex(thing.bytes())),
    domain("bytes(1..=5).len8", false, |thing| counted(thing.bytes())),
    domain("bytes(0..=9).terminated", false, |thing| terminated(thing.bytes())),
    domain("bytes(1..=3).HEX", true, |thing| hex(thing.bytes()).to_ascii_uppercase()),
];

const TEXTS: &[Domain] = &[
    domain("text(\"a-c\", 1..=3)", true, |thing| thing.bytes().to_vec()),
    domain("text(\"a-c\", 1..=4).len8", false, |thing| counted(thing.bytes())),
    domain("text(\"a-z\", 0..=9).terminated", false, |thing| terminated(thing.bytes())),
    domain("bytes(1..=4).len8", false, |thing| counted(thing.bytes())),
    domain("bytes(1..=3).hex", true, |thing| hex(thing.bytes())),
];

const KINDS: &[&[Domain]] = &[NUMBERS, BYTES, TEXTS];

/// What may be the value of a row; the first is one of which the plan says nothing.
const VALUES: &[(&str, Write)] = &[
    ("", |thing| vec![thing.number(), 0, 1]),
    ("-> n: u16", |thing| thing.wide(2)),
    ("-> n: u32.le", |thing| turned(thing.wide(4))),
    ("-> n: u64.dec", |thing| thing.number().to_string().into_bytes()),
];

#[derive(Clone)]
struct Argument {
    name: &'static str,
    kind: usize,
    domain: Domain,
    /// Where a row of the new plan has its value from: the old argument, or a constant.
    from: Result<&'static str, u8>,
}

#[derive(Clone)]
struct Sketch {
    name: &'static str,
    space: &'static str,
    prefix: &'static [u8],
    arguments: Vec<Argument>,
    separated: bool,
    value: usize,
    clauses: String,
}

const PREFIXES: &[&[u8]] = &[&[1], &[2], &[3], &[1, 2], &[1, 2, 0], b"a/", b"a"];

impl Sketch {
    fn text(&self) -> String {
        let prefix = hex(self.prefix);
        let mut parts = format!("0x{}", String::from_utf8(prefix).unwrap());
        for (index, argument) in self.arguments.iter().enumerate() {
            write!(parts, " {}: {}", argument.name, argument.domain.text).unwrap();
            if self.ends(index) {
                parts += " \"/\"";
            }
        }
        format!("    key {} = {parts} {}{};\n", self.name, VALUES[self.value].0, self.clauses)
    }

    /// Whether a separator comes after an argument.
    fn ends(&self, index: usize) -> bool {
        index + 1 < self.arguments.len() && (self.separated || self.arguments[index].domain.open)
    }

    fn key(&self, values: &BTreeMap<&str, Thing>) -> Vec<u8> {
        let mut out = self.prefix.to_vec();
        for (index, argument) in self.arguments.iter().enumerate() {
            let constant;
            let value = match argument.from {
                Ok(name) => &values[name],
                Err(number) => {
                    constant = Thing::Number(number);
                    &constant
                }
            };
            out.extend((argument.domain.write)(value));
            if self.ends(index) {
                out.push(b'/');
            }
        }
        out
    }
}

fn sketch(random: &mut Random, name: &'static str) -> Sketch {
    let names = ["x", "y", "z"];
    let mut arguments = Vec::new();
    for name in &names[..=random.index(3)] {
        let kind = random.index(KINDS.len());
        arguments.push(Argument { name, kind, domain: random.choose(KINDS[kind]), from: Ok(name) });
    }
    Sketch {
        name,
        space: random.choose(&["s", "s", "t"]),
        prefix: random.choose(PREFIXES),
        arguments,
        separated: random.chance(30),
        value: random.index(VALUES.len()),
        clauses: String::new(),
    }
}

/// The sketch as the next plan has it, which says where its rows come from if names do not.
fn changed(random: &mut Random, old: &Sketch) -> Sketch {
    let mut new = old.clone();
    let mut bindings: Vec<String> = Vec::new();
    let mut said = false;
    for _ in 0..=random.index(4) {
        match random.index(8) {
            0 => new.prefix = random.choose(PREFIXES),
            1 => new.arguments.reverse(),
            2 => {
                let index = random.index(new.arguments.len());
                new.arguments[index].domain = random.choose(KINDS[new.arguments[index].kind]);
            }
            3 if new.arguments.iter().all(|argument| argument.name != "k") => {
                let number = random.byte_below(200);
                let domain = random.choose(&NUMBERS[..4]);
                let place = random.index(new.arguments.len() + 1);
                new.arguments.insert(place, Argument { name: "k", kind: 0, domain, from: Err(number) });
                bindings.push(format!("k = {number}"));
            }
            4 if new.arguments.iter().any(|argument| argument.name == "x") => {
                for argument in new.arguments.iter_mut().filter(|argument| argument.name == "x") {
                    argument.name = "w";
                }
                bindings.push("w = x".to_owned());
            }
            5 => {
                new.space = random.choose(&["s", "t", "u"]);
                said = true;
            }
            6 if old.value > 0 => new.value = 1 + random.index(VALUES.len() - 1),
            7 => new.separated ^= true,
            _ => {}
        }
    }
    if !bindings.is_empty() {
        new.clauses = format!(" from {}.{}({})", old.space, old.name, bindings.join(", "));
    } else if said || random.chance(20) {
        new.clauses = format!(" from {}.{}", old.space, old.name);
    }
    new
}

fn text(sketches: &[Sketch], extra: &BTreeMap<&str, String>) -> String {
    let mut out = "plan p;\n".to_owned();
    for space in ["s", "t", "u"] {
        let families: String =
            sketches.iter().filter(|sketch| sketch.space == space).map(Sketch::text).collect();
        let extra = extra.get(space).cloned().unwrap_or_default();
        if !families.is_empty() || !extra.is_empty() {
            writeln!(out, "space {space} {{\n{extra}{families}}}").unwrap();
        }
    }
    out
}

fn thing(random: &mut Random, kind: usize) -> Thing {
    match kind {
        0 => Thing::Number(random.byte()),
        1 => {
            let mut bytes = random.bytes(3);
            if random.coin() {
                // Where separators and terminators are mistaken for contents.
                bytes = bytes.iter().map(|byte| [0, 1, b'/', 0xff][usize::from(byte % 4)]).collect();
            }
            Thing::Bytes(bytes)
        }
        _ => Thing::Text((0..=random.index(3)).map(|_| random.choose(&['a', 'b', 'c'])).collect()),
    }
}

/// A space and a key.
type Place = (String, Vec<u8>);

/// A pair of plans with the rows of a database before and after.
struct Pair {
    texts: (String, String),
    before: Rows,
    /// By the old row: the new one, if it has one.
    after: BTreeMap<Place, Option<(Place, Vec<u8>)>>,
}

fn pair(random: &mut Random) -> Pair {
    let names = ["f", "g", "h"];
    let old: Vec<Sketch> = names[..=random.index(3)].iter().map(|name| sketch(random, name)).collect();
    let mut extra: BTreeMap<&str, String> = BTreeMap::new();
    let mut ways: Vec<Option<Sketch>> = Vec::new();
    for sketch in &old {
        if old.len() > 1 && random.chance(8) {
            let drops = extra.entry(sketch.space).or_default();
            writeln!(drops, "    drop {}.{} \"nobody reads it\";", sketch.space, sketch.name).unwrap();
            ways.push(None);
        } else {
            ways.push(Some(changed(random, sketch)));
        }
    }
    let texts =
        (text(&old, &BTreeMap::new()), text(&ways.iter().flatten().cloned().collect::<Vec<_>>(), &extra));
    let (mut before, mut after) = (Rows::new(), BTreeMap::new());
    for (sketch, way) in old.iter().zip(&ways) {
        for _ in 0..random.index(40) {
            let values: BTreeMap<&str, Thing> = sketch
                .arguments
                .iter()
                .map(|argument| (argument.name, thing(random, argument.kind)))
                .collect();
            let value = Thing::Number(random.byte());
            let row = (sketch.space.to_owned(), sketch.key(&values));
            let stored = VALUES[sketch.value].1(&value);
            let new = way.as_ref().map(|way| {
                // Bytes of which a plan says nothing stay.
                let bytes = if sketch.value == 0 { stored.clone() } else { VALUES[way.value].1(&value) };
                ((way.space.to_owned(), way.key(&values)), bytes)
            });
            if before.insert(row.clone(), stored).is_none() {
                after.insert(row, new);
            } else {
                // Two argument lists with one key: it has no right reading.
                before.remove(&row);
                after.remove(&row);
            }
        }
    }
    Pair { texts, before, after }
}

fn sound(name: &str, text: &str) -> Option<Compiled> {
    let compiled = compile(name, text, |_| Err("imports nothing".to_owned()));
    compiled.plan.is_some().then_some(compiled)
}

/// The rows of a database without what was set aside, and what was.
fn found(engine: &Memory) -> (Rows, Rows) {
    let (mut all, mut aside) = (rows(engine), Rows::new());
    all.retain(|(space, key), value| {
        if space == ASIDE_SPACE {
            let parked = read_aside(key, value).unwrap();
            assert_eq!(key[0], 1, "something was left on the way");
            aside.insert((parked.space.to_owned(), parked.key.to_vec()), parked.value.to_vec());
        }
        space != ASIDE_SPACE
    });
    (all, aside)
}

fn finish(migration: &Migration<'_>, engine: &Memory, rows: usize, end: Step) {
    loop {
        let mut running = attach(migration, engine.clone());
        let step = running.step(rows).unwrap();
        if !matches!(step, Step::More { .. }) {
            assert_eq!(step, end);
            while end == Step::Finished && running.purge(rows).unwrap() > 0 {}
            return;
        }
    }
}

fn begun<'m, 'p>(migration: &'m Migration<'p>, engine: &Memory) -> Running<'m, 'p, Memory> {
    let mut running = attach(migration, engine.clone());
    let survey = running.survey(|_| ()).unwrap();
    running.begin(&survey, true).unwrap();
    running
}

/// Carries a pair over; false if something stands in its way.
fn carried(random: &mut Random, pair: &Pair) -> bool {
    let about = || format!("{}\n{}", pair.texts.0, pair.texts.1);
    let (Some(old), Some(new)) = (sound("old", &pair.texts.0), sound("new", &pair.texts.1)) else {
        return false;
    };
    let proof = prove_migration(old.plan.as_ref().unwrap(), new.plan.as_ref().unwrap(), &Options::default());
    if proof.blockers().next().is_some() {
        return false;
    }
    let migration = Migration::between(&old, &new, proof.mapping).unwrap();
    let engine = Memory::new();
    fill(engine.clone(), &old, &pair.before);
    // Interrupted after some steps, and taken back in steps of other sizes.
    let (rows_forth, rows_back) = (1 + random.index(9), 1 + random.index(9));
    match migration.attach(engine.clone()).unwrap() {
        Attached::Ready(running) => drop(running),
        Attached::Done(_) => return false,
    }
    let mut running = begun(&migration, &engine);
    for _ in 0..random.index(40) {
        if running.mark().unwrap().phase == keyplan_store::migrate::Phase::Check && random.coin() {
            break;
        }
        if running.step(rows_forth).unwrap() == Step::Finished {
            break;
        }
    }
    if running.mark().is_some() {
        running.turn_back().unwrap();
        drop(running);
        finish(&migration, &engine, rows_back, Step::Undone);
        assert!(rows(&engine) == pair.before, "not as it was\n{}", about());
        Store::open(engine.clone(), &Schema::of(&old).unwrap()).unwrap();
        drop(begun(&migration, &engine));
        finish(&migration, &engine, rows_forth, Step::Finished);
    } else {
        while running.purge(rows_back).unwrap() > 0 {}
    }
    let (found, aside) = found(&engine);
    let mut expected = Rows::new();
    for (row, new) in &pair.after {
        match new {
            _ if aside.contains_key(row) => assert_eq!(aside[row], pair.before[row], "{}", about()),
            None => {}
            Some((place, value)) => {
                let twice = expected.insert(place.clone(), value.clone());
                assert_eq!(twice, None, "two rows have become one: {place:02x?}\n{}", about());
            }
        }
    }
    let missing: BTreeSet<_> = expected.iter().filter(|row| !found.contains_key(row.0)).collect();
    assert!(found == expected, "missing: {missing:02x?}\nfound: {found:02x?}\n{}", about());
    Store::open(engine, &Schema::of(&new).unwrap()).unwrap();
    true
}

#[test]
fn random_pairs_of_plans_are_carried_over_and_brought_back() {
    let asked = |name: &str, usual: u64| std::env::var(name).map_or(usual, |number| number.parse().unwrap());
    let pairs = asked("KEYPLAN_MIGRATION_PAIRS", 1_000);
    let first = asked("KEYPLAN_MIGRATION_SEED", 1);
    let mut done = 0;
    for seed in first..first + pairs {
        let mut random = Random(seed);
        let pair = pair(&mut random);
        if carried(&mut random, &pair) {
            done += 1;
        }
    }
    assert!(done > pairs / 4, "{done} of {pairs}");
}

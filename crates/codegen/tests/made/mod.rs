//! Plans for tests of generated code: those of the repository, and plans made up at random that have every kind of argument.

mod systems;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use keyplan_codegen::{prove, vectors};
use keyplan_plan::{Compiled, compile};
use keyplan_testkit::Random;

/// How many packages of a run are compiled together.
const BATCH: usize = 50;
/// How many plans are the spaces of one package: what a package costs a compiler is mostly its runtime.
const PLANS: usize = 10;
/// How many families each plan has.
const FAMILIES: usize = 3;

const DOMAINS: &[&str] = &[
    "u8",
    "u16.le",
    "u32.dec",
    "i64.dec",
    "i32.signflip",
    "i64.tick9",
    "i16",
    "i128.le",
    "u64.leb128",
    "u32.ordvar",
    "u64.compact_size",
    "u128.bitcoin_varint",
    "u64.hex",
    "u32.HEX(8)",
    "u64.dec(20)",
    "u64(3..=900)",
    "u16(10..=2000).dec",
    "i128.dec",
    "u128.tuple",
    "i64.saturating",
    "u64.low(3)",
    "u128(70000..=99999999999999999999999).low(9)",
    "u24.low(2)",
    "u32(300..=700).low(1)",
    "u64.high(3)",
    "u40(70000..=80000000).high(2)",
    "u128.high(12)",
    "u64.float",
    "i64.float",
    "u16(3..=900).float",
    "u32.float",
    "bool",
    "bool.tuple",
    "f64.ordered",
    "f64",
    "f64.badger",
    "f64.fixed(3)",
    "f64.tuple",
    "time",
    "time.nanos",
    "score",
    "score.height_score",
    "score(3..=9)",
    "score(1..=8388607).height_score",
    "bytes(4)",
    "bytes(1..=6)",
    "bytes(2 | 4)",
    "bytes",
    "bytes.len8",
    "bytes(0..=9).len16",
    "bytes.len64le",
    "bytes.len16le",
    "text(\"a-z\", 0..=300).len32le",
    "bytes(2 | 4).hex",
    "bytes(0..=5).HEX",
    "bytes.hex",
    "bytes(1..=20).bech32(\"osmo\")",
    "bytes.memcmp",
    "bytes(0..=12).terminated",
    "bytes.tuple",
    "bytes(0..=9).fit(4)",
    "text",
    "text(\"a-z\", 1..=8)",
    "text(\"a-z\", \"a-z0-9\", 2..=6)",
    "text.len8",
    "text(1..=9).varlen",
    "text.terminated",
    "text.escaped",
    "text(0..=5).desc",
    "text.tuple",
    "u64.desc",
    "i64.tuple",
    "nibbles(0..=6).hex_prefix",
    "nibbles(4)",
    "nibbles(0..=8).packed",
    "option(u16).len8",
    "option(text(1..=4))",
    "list(u16).count8",
    "list(bytes(2)).len8",
    "list(text(\"a-z\", 1..=4), 1..=3).joined(\",\")",
    "list(u32, 1..=4).varcount",
    "(x: u8 y: text(\"a-z\", 0..=3)).len8",
    "(x: u16 \"-\" y: u16.dec)",
    "(a: 0x00 | b: 0x01 n: u16)",
    "(buy: 0x00 | sell: 0x01)",
    "(id: u32 | name: text(\"a-z\", 1..=6))",
    "bytes(3).hashed(sha256, 8)",
    "text(1..=9).hashed(xxh3_64)",
    "u32.hash_concat(twox_64)",
    "text(1..=99).hash_concat(xxh3_64)",
    "bytes(0..=80).hash_concat(blake2b_256)",
    "u64.hash_concat(twox_128)",
    "option((x: u8 y: option(u16).len8)).len8",
    "(kind: 0x00 kind: u8 | other: 0x01 name: text(1..=3))",
    "time.desc",
    "i128",
    "u8.dec(3)",
    "i8.dec",
    "u128.HEX",
    "bytes.hash_concat(blake2b_128)",
    "u256",
    "u256.le.desc",
    "i256",
    "i256.le",
    "i256.signflip",
    "bytes(0..=9).base58",
    "bytes(32).base58",
    "bytes(0..=21).base58check",
    "bytes(21).base58check.len8",
    "u24",
    "u40.le",
    "u48(7..=90_000_000_000)",
    "u56.dec",
    "u24.leb128",
    "u32.scale_compact",
    "u128.scale_compact",
    "u24.scale_compact",
    "u64.orderedcode",
    "i64.orderedcode",
    "i16.orderedcode",
    "u40.orderedcode.desc",
    "text.orderedcode",
    "bytes(0..=6).orderedcode",
    "bytes.compactlen",
    "text(0..=300).scalelen",
    "list(u16).compactcount",
    "list(text(\"a-z\", 0..=3).len8, 0..=70).scalecount",
    "list(u8).count32le",
    "nibbles(0..=9).counted",
    "nibbles(3 | 6).counted",
    "text(\"a-z\", 1..=9).except(\"tx\", \"a\").len8",
    "text(1..=9).except(\"b\")",
    "bytes(\"\\x01-\\xff\", 1..=9)",
    "bytes(\"\\x00a-f\", 4)",
    "bytes(0..=300).hash_concat(keccak256)",
    "u64.hashed(keccak256)",
    "text(1..=20).hash_concat(hash160)",
    "bytes(0..=40).hash_concat(siphash_24)",
    "bytes(0..=20).hash_concat(blake2b_224, 5)",
];

const SEPARATORS: &[&str] = &["", "", "\"/\"", "\"|\"", "0x00", "\"::\""];

/// What the families of a space hold: rows of keys and of structures are not in one.
#[derive(Clone, Copy)]
enum Holding {
    Values,
    Structures,
}

struct Families(Random);

impl Families {
    fn below(&mut self, n: usize) -> usize {
        self.0.index(n)
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        self.0.choose(list)
    }

    /// The word for a family, and what it holds.
    fn holds(&mut self, holding: Holding) -> (&'static str, String) {
        let (one, two) = (self.of(DOMAINS), self.of(DOMAINS));
        match (holding, self.below(4)) {
            (Holding::Values, 0) => ("key", "\n        -> u64".to_owned()),
            (Holding::Values, 1) => ("key", "\n        -> (n: u32.leb128 rest: raw)".to_owned()),
            (Holding::Values, 2) => ("key", format!("\n        -> x: {one}")),
            (Holding::Values, _) => ("key", String::new()),
            (Holding::Structures, 0) => ("set", format!("\n        member m: {one}")),
            (Holding::Structures, 1) => {
                ("zset", format!("\n        member x: u16 m: {one}\n        score at: f64.ordered"))
            }
            (Holding::Structures, 2) => {
                ("queue", format!("\n        member m: {one}\n        score at: score"))
            }
            (Holding::Structures, _) => (
                "hash",
                format!("\n        field a = \"a\" x: {one} -> json\n        field b = \"b\" -> y: {two}"),
            ),
        }
    }

    /// A family whose flaws are accepted. `None` if the plan of it alone does not check.
    fn family(&mut self, number: usize, holding: Holding) -> Option<String> {
        let mut text = format!("    /// Family {number}.\n    key family{number} = 0x{number:02x}");
        let count = 1 + self.below(4);
        for argument in 0..count {
            let (separator, domain) = (self.of(SEPARATORS), self.of(DOMAINS));
            let separator = if argument == 0 { "" } else { separator };
            write!(text, " {separator} a{argument}: {domain}").unwrap();
        }
        match self.below(6) {
            0 => text.push_str(" \"!\""),
            1 => text.push_str(" same(a0)"),
            2 => text.push_str(" slot = crc16(a0) % 16384"),
            _ => {}
        }
        let (kind, holds) = self.holds(holding);
        let text = text.replacen(" key ", &format!(" {kind} "), 1) + &holds;
        let bound: Vec<String> = (0..count.min(2)).map(|argument| format!("a{argument}")).collect();
        let by = format!("\n        scan by a0\n        scan by {}", bound.join(", "));
        let by = if count > 2 { by } else { String::new() };
        for accepts in ["", "ambiguous", "lossy", "ambiguous lossy"] {
            let accepts: String = accepts
                .split(' ')
                .filter(|one| !one.is_empty())
                .fold(String::new(), |all, one| format!("{all}\n        accept {one} \"made at random\""));
            let family = format!("{text}{accepts}\n        scan all");
            let scans =
                [format!("{family} in order{by}"), format!("{family}{by}"), format!("{family} in order")];
            for family in scans.into_iter().chain([family, format!("{text}{accepts}")]) {
                let plan = format!("plan one;\nspace s {{\n{family};\n}}\n");
                let compiled = compiled(&plan);
                let sound = compiled.errors().next().is_none();
                let plan = compiled.plan.filter(|_| sound);
                if plan.is_some_and(|plan| prove(&plan, "one.keyplan").is_ok()) {
                    return Some(family);
                }
            }
        }
        None
    }
}

fn compiled(text: &str) -> Compiled {
    compile("one.keyplan", text, |_| Err("there are no imports".to_owned()))
}

/// How many plans at random a run makes, and with which seed: `KEYPLAN_GENERATE` and `KEYPLAN_GENERATE_SEED` for long runs.
fn wanted() -> (usize, u64) {
    let of = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let plans = of("KEYPLAN_GENERATE").and_then(|plans: u64| usize::try_from(plans).ok());
    (plans.unwrap_or(200), of("KEYPLAN_GENERATE_SEED").unwrap_or(21))
}

/// Plans at random in batches, each with its name. Each is a space of its own, and ten of them are one plan, in which the same
/// names are met again.
pub(crate) fn at_random(mut judge: impl FnMut(Vec<(String, Compiled)>)) {
    let (plans, seed) = wanted();
    let mut random = Families(Random(seed));
    let packages = plans.div_ceil(PLANS);
    let mut batch = Vec::new();
    for number in 0..packages {
        let mut text = format!("plan random{number};\n");
        for space in 0..PLANS.min(plans - number * PLANS) {
            writeln!(text, "space s{space} {{").unwrap();
            let holding = if random.below(3) == 0 { Holding::Structures } else { Holding::Values };
            let mut families = 0;
            while families < FAMILIES {
                if let Some(family) = random.family(families, holding) {
                    text.push_str(&family);
                    text.push_str(";\n");
                    families += 1;
                }
            }
            text.push_str("}\n");
        }
        batch.push((format!("random{number}"), compiled(&text)));
        if batch.len() == BATCH || number + 1 == packages {
            judge(std::mem::take(&mut batch));
        }
    }
}

/// The plans of the repository, each with a name of letters and digits, and its path below `plans`.
pub(crate) fn of_the_repository() -> Vec<(String, String, Compiled)> {
    let plans = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    let mut found = Vec::new();
    for folder in ["", "upstream"] {
        for entry in std::fs::read_dir(plans.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "keyplan") {
                continue;
            }
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            let read = |name: &str| {
                std::fs::read_to_string(path.with_file_name(name)).map_err(|error| error.to_string())
            };
            let name = format!("{stem}.keyplan");
            let compiled = compile(&name, &read(&name).unwrap(), read);
            let below = if folder.is_empty() { stem.clone() } else { format!("{folder}/{stem}") };
            found.push((format!("{folder}{}", stem.replace('_', "")), below, compiled));
        }
    }
    found.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    found
}

/// A plan with scans, names that meet and a flaw that is kept, for tests that are written by hand.
pub(crate) fn scans() -> Compiled {
    compile("scans.keyplan", include_str!("scans/scans.keyplan"), |_| Err("there are no imports".to_owned()))
}

/// A plan whose names meet those of generated code, of its runtime and of the languages.
pub(crate) fn names() -> Compiled {
    compile("names.keyplan", include_str!("scans/names.keyplan"), |_| Err("there are no imports".to_owned()))
}

/// Writes the files of each plan that a system wrote vectors for, with those vectors, and compares how many there are.
pub(crate) fn systems(mut write_files: impl FnMut(&str, &Compiled) -> PathBuf) {
    let plans = of_the_repository();
    let mut counts = Vec::new();
    for (below, file, ..) in systems::SYSTEMS {
        let (name, _, compiled) = plans.iter().find(|(_, path, _)| path == below).unwrap();
        let system = systems::system(below, file, compiled);
        let folder = write_files(&format!("systems{name}"), compiled);
        std::fs::write(folder.join("testdata/keyplan.jsonl"), system.text).unwrap();
        counts.push((below, file, system.found, system.others));
    }
    assert_eq!(counts, systems::SYSTEMS);
}

/// Writes files below a folder, with the vectors of their plan.
pub(crate) fn write(folder: &Path, files: &[keyplan_codegen::File], compiled: &Compiled, count: usize) {
    std::fs::create_dir_all(folder.join("testdata")).unwrap();
    for file in files {
        std::fs::write(folder.join(&file.path), &file.text).unwrap();
    }
    let lines = vectors::generate(compiled, vectors::Options { count }).unwrap();
    assert!(lines.lines().count() > 1, "{} has no vector", folder.display());
    std::fs::write(folder.join("testdata/keyplan.jsonl"), lines).unwrap();
}

/// Runs a tool in a folder and returns whether it was content, and what it printed.
pub(crate) fn run(folder: &Path, program: &str, arguments: &[&str], install: &str) -> (bool, String) {
    let done = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("GOFLAGS", "-mod=mod")
        .env("GOTOOLCHAIN", "local")
        .output()
        .unwrap_or_else(|error| panic!("{program} cannot be run ({error}): install it with `{install}`"));
    let text = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    (done.status.success(), text)
}

/// An empty folder.
pub(crate) fn fresh(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).unwrap();
    }
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

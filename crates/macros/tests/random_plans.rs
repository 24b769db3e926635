//! Plans at random: the types made of each against the dynamic path.
#![expect(
    clippy::unwrap_used,
    reason = "all of it is a test, though most of it is outside of the function marked as one"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use keyplan_plan::compile;
use keyplan_plan::diag::{Code, Diagnostic};
use keyplan_testkit::Random;

/// Domains with an encoding, as a plan writes them.
const DOMAINS: &[&str] = &[
    "u8",
    "u16.le",
    "u32.dec",
    "i64.dec",
    "i32.signflip",
    "i64.tick9",
    "i16",
    "u64.leb128",
    "u32.ordvar",
    "u64.compact_size",
    "u128.bitcoin_varint",
    "u64.hex",
    "u32.HEX(8)",
    "u64.dec(20)",
    "u64(3..=900)",
    "u16(10..=2000).dec",
    "bool",
    "f64.ordered",
    "f64",
    "time",
    "time.nanos",
    "score",
    "bytes(4)",
    "bytes(1..=6)",
    "bytes(2 | 4)",
    "bytes",
    "bytes.len8",
    "bytes(0..=9).len16",
    "bytes.len32",
    "bytes(2 | 4).hex",
    "bytes(0..=5).HEX",
    "bytes.hex",
    "bytes(1..=20).bech32(\"osmo\")",
    "bytes.memcmp",
    "bytes(0..=12).terminated",
    "bytes.tuple",
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
    "(x: u8 y: text(\"a-z\", 0..=3)).len8",
    "(x: u16 \"-\" y: u16.dec)",
    "(a: 0x00 | b: 0x01 n: u16)",
    "(id: u32 | name: text(\"a-z\", 1..=6))",
    "bytes(3).hashed(sha256, 8)",
    "text(1..=9).hashed(xxh3_64)",
    "u32.hash_concat(twox_64)",
];

const SEPARATORS: &[&str] = &["", "", "\"/\"", "\"|\"", "0x00", "\"::\""];

const FLAWS: &[(Code, &str)] = &[
    (Code::Ambiguous, "ambiguous"),
    (Code::Lossy, "lossy"),
    (Code::Unordered, "unordered"),
    (Code::SiblingLeak, "leak"),
    (Code::ForeignLeak, "leak"),
];

/// How many plans there are, and how many families in each.
const PLANS: usize = 8;
const FAMILIES: usize = 6;

struct Families(Random);

impl Families {
    fn below(&mut self, n: usize) -> usize {
        self.0.index(n)
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        self.0.choose(list)
    }

    /// The parts and scans of a family.
    fn family(&mut self, number: usize) -> String {
        let mut text = format!("    key family{number} = 0x{number:02x}");
        let count = 1 + self.below(4);
        for argument in 0..count {
            let (separator, domain) = (self.of(SEPARATORS), self.of(DOMAINS));
            let separator = if argument == 0 { "" } else { separator };
            write!(text, " {separator} a{argument}: {domain}").unwrap();
        }
        if self.below(4) == 0 {
            text.push_str(" \"!\"");
        }
        let bound: Vec<String> = (0..self.below(count)).map(|argument| format!("a{argument}")).collect();
        let scan = if bound.is_empty() { "all".to_owned() } else { format!("by {}", bound.join(", ")) };
        let order = if self.below(2) == 0 { " in order" } else { "" };
        write!(text, "\n        scan {scan}{order}").unwrap();
        text
    }
}

/// What is wrong with a plan of one family.
fn findings(family: &str) -> Vec<Diagnostic> {
    let text = format!("plan one;\nspace s {{\n{family};\n}}\n");
    let compiled = compile("one.keyplan", &text, |_| Err("there are no imports".to_owned()));
    keyplan_codegen::rust::expand(&compiled).err().unwrap_or_default()
}

/// A family that can be had: its flaws are accepted, and it has a Rust type.
fn sound(random: &mut Families, number: usize) -> String {
    loop {
        let mut family = random.family(number);
        for _ in 0..FLAWS.len() {
            let found = findings(&family);
            if found.is_empty() {
                return family;
            }
            let accept = found
                .iter()
                .map(|finding| FLAWS.iter().find(|(code, _)| *code == finding.code).map(|(_, flaw)| *flaw))
                .collect::<Option<Vec<_>>>();
            let Some(accept) = accept.and_then(|flaws| flaws.first().copied()) else { break };
            write!(family, "\n        accept {accept} \"at random\"").unwrap();
        }
    }
}

#[test]
fn random_plans_agree_with_the_dynamic_path() {
    let mut random = Families(Random(0x0bad_5eed));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let agree = root.join("../keyplan/tests/agree/mod.rs");
    let mut program = format!("#![allow(dead_code)]\n#[path = {agree:?}]\nmod agree;\n\n");
    let mut calls = String::new();
    for plan in 0..PLANS {
        let families: Vec<String> = (0..FAMILIES).map(|number| sound(&mut random, number + 1)).collect();
        let families = families.join(";\n");
        writeln!(program, "keyplan::plan! {{\nplan plan{plan};\nspace s {{\n{families};\n}}\n}}\n").unwrap();
        writeln!(calls, "    agree::compare(&plan{plan}::TYPES, 60);").unwrap();
        writeln!(calls, "    agree::keep_the_laws(&plan{plan}::TYPES, 30);").unwrap();
    }
    write!(program, "fn main() {{\n{calls}}}\n").unwrap();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join("random_plans.rs");
    std::fs::write(&file, program).unwrap();
    trybuild::TestCases::new().pass(file);
}

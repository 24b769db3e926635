//! Plans at random: the types made of each against the dynamic path.
#![expect(
    clippy::unwrap_used,
    reason = "all of it is a test, though most of it is outside of the function marked as one"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use keyplan_plan::compile;
use keyplan_plan::diag::{Code, Diagnostic};
use keyplan_testkit::{DOMAINS, Random, SEPARATORS};

const FLAWS: &[(Code, &str)] = &[
    (Code::Ambiguous, "ambiguous"),
    (Code::Lossy, "lossy"),
    (Code::Unordered, "unordered"),
    (Code::SiblingLeak, "leak"),
    (Code::ForeignLeak, "leak"),
];

/// How many plans one program has, and how many families each plan.
const PLANS: usize = 8;
const FAMILIES: usize = 6;

/// How many programs a run makes, and with which seed: `KEYPLAN_TYPES` and `KEYPLAN_TYPES_SEED` for long runs.
fn wanted() -> (u64, u64) {
    let of = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    (of("KEYPLAN_TYPES").unwrap_or(1), of("KEYPLAN_TYPES_SEED").unwrap_or(0x0bad_5eed))
}

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

/// A program that compares the types of some plans with the dynamic path.
fn program(random: &mut Families) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let agree = root.join("../keyplan/tests/agree/mod.rs");
    let agree = agree.to_str().unwrap();
    let mut program = format!("#![allow(dead_code)]\n#[path = {agree:?}]\nmod agree;\n\n");
    let mut calls = String::new();
    for plan in 0..PLANS {
        let families: Vec<String> = (0..FAMILIES).map(|number| sound(random, number + 1)).collect();
        let families = families.join(";\n");
        writeln!(program, "keyplan::plan! {{\nplan plan{plan};\nspace s {{\n{families};\n}}\n}}\n").unwrap();
        writeln!(calls, "    agree::compare(&plan{plan}::TYPES, 60);").unwrap();
        writeln!(calls, "    agree::keep_the_laws(&plan{plan}::TYPES, 30);").unwrap();
    }
    write!(program, "fn main() {{\n{calls}}}\n").unwrap();
    program
}

#[test]
fn random_plans_agree_with_the_dynamic_path() {
    let (programs, seed) = wanted();
    let mut random = Families(Random(seed));
    let cases = trybuild::TestCases::new();
    for number in 0..programs {
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("random_plans_{number}.rs"));
        std::fs::write(&file, program(&mut random)).unwrap();
        cases.pass(file);
    }
}

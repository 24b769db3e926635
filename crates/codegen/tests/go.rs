//! The Go that is made of plans: as `gofmt` writes it, accepted by `go vet`, and of one mind with the encoder and the decoder for
//! plans known at run time about every vector.
//!
//! All packages are one module, compiled once. Plans at random have every kind of argument; those that do not check are made
//! again until they do.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "all of it is a test, though most of it is outside of the functions marked as one"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use keyplan_codegen::{go, vectors};
use keyplan_plan::{Compiled, compile};

/// How many plans are made up, each with several families.
const PLANS: usize = 40;
const FAMILIES: usize = 6;

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
    "bytes(4)",
    "bytes(1..=6)",
    "bytes(2 | 4)",
    "bytes",
    "bytes.len8",
    "bytes(0..=9).len16",
    "bytes.len64le",
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
    "bytes.hash_concat(blake2b_128)",
];

const SEPARATORS: &[&str] = &["", "", "\"/\"", "\"|\"", "0x00", "\"::\""];

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % n as u64).unwrap()
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list.get(self.below(list.len())).unwrap()
    }

    /// A family whose flaws are accepted. `None` if the plan of it alone does not check.
    fn family(&mut self, number: usize) -> Option<String> {
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
        let value = ["", "\n        -> u64", "\n        -> (n: u32.leb128 rest: raw)", ""];
        text.push_str(value.get(self.below(4)).unwrap());
        for accepts in ["", "ambiguous", "lossy", "ambiguous lossy"] {
            let accepts: String = accepts
                .split(' ')
                .filter(|one| !one.is_empty())
                .fold(String::new(), |all, one| format!("{all}\n        accept {one} \"made at random\""));
            let family = format!("{text}{accepts}\n        scan all");
            for family in [format!("{family} in order"), family.clone(), format!("{text}{accepts}")] {
                let plan = format!("plan one;\nspace s {{\n{family};\n}}\n");
                if go::generate(&compiled(&plan), &go::Options::default()).is_ok() {
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

/// The package of a plan with its vectors, in a directory of the module.
fn package(module: &Path, name: &str, compiled: &Compiled, count: usize) {
    let folder = module.join(name);
    std::fs::create_dir_all(folder.join("testdata")).unwrap();
    let options = go::Options { package: None, cosmos: true };
    for file in go::generate(compiled, &options).unwrap_or_else(|findings| panic!("{name}: {findings:#?}")) {
        std::fs::write(folder.join(&file.path), file.text).unwrap();
    }
    let lines = vectors::generate(compiled, vectors::Options { count }).unwrap();
    assert!(lines.lines().count() > 1, "{name} has no vector");
    std::fs::write(folder.join("testdata/keyplan.jsonl"), lines).unwrap();
}

/// Runs a tool of Go in the module and returns what it printed.
fn run(module: &Path, program: &str, arguments: &[&str]) -> (bool, String) {
    let done = Command::new(program)
        .args(arguments)
        .current_dir(module)
        .env("GOFLAGS", "-mod=mod")
        .env("GOTOOLCHAIN", "local")
        .output()
        .expect("Go is missing: install it with `apt-get install golang-go`");
    let text = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    (done.status.success(), text)
}

fn judged(module: &Path) {
    std::fs::write(module.join("go.mod"), "module keys\n\ngo 1.19\n").unwrap();
    assert_eq!(run(module, "gofmt", &["-l", "."]), (true, String::new()), "files that gofmt would change");
    assert_eq!(run(module, "go", &["vet", "./..."]), (true, String::new()));
    let (passed, text) = run(module, "go", &["test", "./..."]);
    assert!(passed, "{text}");
}

fn fresh(name: &str) -> PathBuf {
    let module = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    if module.exists() {
        std::fs::remove_dir_all(&module).unwrap();
    }
    std::fs::create_dir_all(&module).unwrap();
    module
}

#[test]
fn go_makes_and_reads_the_keys_of_every_plan() {
    let module = fresh("go-plans");
    let plans = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    for folder in ["", "upstream"] {
        for entry in std::fs::read_dir(plans.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_string_lossy().replace('_', "");
            if path.extension().is_none_or(|extension| extension != "keyplan") {
                continue;
            }
            let read = |name: &str| {
                std::fs::read_to_string(path.with_file_name(name)).map_err(|error| error.to_string())
            };
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let compiled = compile(&name, &read(&name).unwrap(), read);
            package(&module, &format!("{folder}{stem}"), &compiled, 2);
        }
    }
    judged(&module);
}

#[test]
fn go_is_of_one_mind_with_the_dynamic_path_on_plans_at_random() {
    let module = fresh("go-random");
    let mut random = Random(21);
    for number in 0..PLANS {
        let mut text = format!("plan random{number};\nspace s {{\n");
        let mut families = 0;
        while families < FAMILIES {
            if let Some(family) = random.family(families) {
                text.push_str(&family);
                text.push_str(";\n");
                families += 1;
            }
        }
        text.push_str("}\n");
        package(&module, &format!("random{number}"), &compiled(&text), 12);
    }
    judged(&module);
}

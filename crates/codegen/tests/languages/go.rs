//! The Go that is made of plans: as `gofmt` writes it, accepted by `go vet`, and of one mind with the encoder and the decoder for
//! plans known at run time about every vector.
//!
//! All packages of a batch are one module. What a package's own test does is called by one test for all of them, so that one
//! program is linked.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use keyplan_codegen::go;
use keyplan_plan::Compiled;

use crate::made::{self, fresh, lines, of_the_repository, run};

const INSTALL: &str = "apt-get install golang-go";

pub(crate) fn package(module: &Path, name: &str, compiled: &Compiled, lines: &str) {
    let options = go::Options { package: None, cosmos: true };
    let files = go::generate(compiled, &options).unwrap_or_else(|findings| panic!("{name}: {findings:#?}"));
    made::write(&module.join(name), &files, lines);
}

/// Judges the packages of a module by the tools of Go.
pub(crate) fn accepted(module: &Path) {
    std::fs::write(module.join("go.mod"), "module keys\n\ngo 1.19\n").unwrap();
    assert_eq!(
        run(module, "gofmt", &["-s", "-l", "."], INSTALL),
        (true, String::new()),
        "files that gofmt would change"
    );
    assert_eq!(run(module, "go", &["vet", "./..."], INSTALL), (true, String::new()));
}

/// Accepted where an `int` has 32 bits.
fn accepted_on_32_bits(module: &Path) {
    let build = ["GOARCH=386", "CGO_ENABLED=0", "go", "build", "./..."];
    assert_eq!(run(module, "env", &build, INSTALL), (true, String::new()));
}

/// Runs the vectors of all packages of a module.
pub(crate) fn of_one_mind(module: &Path, names: &[String]) {
    let (mut imports, mut calls) = (String::new(), String::new());
    for (number, name) in names.iter().enumerate() {
        let folder = module.join(name);
        std::fs::rename(folder.join("keyplan_test.go"), folder.join("vectors.go")).unwrap();
        writeln!(imports, "\tp{number} \"keys/{name}\"").unwrap();
        writeln!(calls, "\t{{\"{name}\", p{number}.TestVectors}},").unwrap();
    }
    let driver = format!(
        "package keys\n\nimport (\n\t\"os\"\n\t\"testing\"\n\n{imports})\n\nvar all = []struct {{\n\tname string\n\ttest func(*testing.T)\n}}{{\n{calls}}}\n\nfunc TestAll(t *testing.T) {{\n\tfor _, one := range all {{\n\t\tif err := os.Chdir(one.name); err != nil {{\n\t\t\tt.Fatal(err)\n\t\t}}\n\t\tt.Run(one.name, one.test)\n\t\tif err := os.Chdir(\"..\"); err != nil {{\n\t\t\tt.Fatal(err)\n\t\t}}\n\t}}\n}}\n"
    );
    std::fs::write(module.join("all_test.go"), driver).unwrap();
    // Nobody looks into the program, and without what a debugger needs it takes a fifth less time.
    let build = ["test", "-vet=off", "-gcflags=keys/...=-dwarf=false", "-ldflags=-s -w", "."];
    let (passed, text) = run(module, "go", &build, INSTALL);
    assert!(passed, "{text}");
}

#[test]
fn go_makes_and_reads_the_keys_of_every_plan() {
    let module = fresh("go-plans");
    let mut names = Vec::new();
    for (name, _, compiled) in of_the_repository() {
        package(&module, &name, &compiled, &lines(&compiled, 2));
        names.push(name);
    }
    made::systems(|name, compiled| {
        package(&module, name, compiled, &lines(compiled, 0));
        names.push(name.to_owned());
        module.join(name)
    });
    accepted(&module);
    of_one_mind(&module, &names);
}

/// No file is left out for its name or written over another, no parameter hides what a body needs, and `gofmt` rewrites nothing of what a
/// plan says.
#[test]
fn go_is_made_of_whatever_names_and_words_a_plan_has() {
    let module = fresh("go-odd");
    let mut names = Vec::new();
    for (name, plan) in made::odd() {
        package(&module, name, &plan, &lines(&plan, 2));
        names.push(name.to_owned());
    }
    accepted(&module);
    accepted_on_32_bits(&module);
    of_one_mind(&module, &names);
}

#[test]
fn a_name_is_numbered_only_where_it_is_taken() {
    let files = go::generate(&made::names(), &go::Options { package: None, cosmos: true }).unwrap();
    let text: String = files.iter().map(|file| file.text.as_str()).collect();
    for free in ["A", "T", "I", "The", "Count", "Part", "Offset", "Result", "Next", "Value"] {
        assert!(text.contains(&format!("\ntype {free} struct")), "{free}");
    }
    for taken in ["Range_2", "KeyError_2", "Iter_2", "LayoutA1", "LayoutA1_2"] {
        assert!(text.contains(&format!("\ntype {taken} struct")), "{taken}");
    }
}

#[test]
fn go_scans_spaces_and_codecs_of_collections_do_what_they_say() {
    let module = fresh("go-scans");
    let mut plans = vec![("scans".to_owned(), made::scans()), ("names".to_owned(), made::names())];
    plans.extend(
        of_the_repository()
            .into_iter()
            .find(|(_, path, _)| path == "five")
            .map(|(name, _, plan)| (name, plan)),
    );
    assert_eq!(plans.len(), 3);
    for (name, plan) in &plans {
        package(&module, name, plan, &lines(plan, 2));
        codecs(&module.join(name), name);
    }
    std::fs::write(module.join("go.mod"), "module keys\n\ngo 1.19\n").unwrap();
    let own = include_str!("made/scans/scans_test.go");
    std::fs::write(module.join("scans/scans_test.go"), own).unwrap();
    assert_eq!(run(&module, "gofmt", &["-s", "-l", "."], INSTALL), (true, String::new()));
    for what in [["test", "./scans"].as_slice(), &["test", "-run", "TestCodecsOfEveryFamily", "./..."]] {
        let (passed, text) = run(&module, "go", what, INSTALL);
        assert!(passed, "{text}");
    }
}

/// Writes a test of all codecs that a package has, about all of its vectors.
fn codecs(folder: &Path, package: &str) {
    let adapters = std::fs::read_to_string(folder.join("cosmos.keyplan.go")).unwrap();
    let makers = adapters.lines().filter_map(|line| line.strip_prefix("func ")?.split_once("() "));
    let mut laws = String::new();
    for (number, (maker, of)) in makers.enumerate() {
        let law = match of.split('[').next() {
            Some("KeyCodec") => "keyLaws",
            Some("ValueCodec") => "valueLaws",
            _ => continue,
        };
        write!(laws, "\tname{number}, law{number} := {law}({maker}())\n\tlaws[name{number}] = law{number}\n")
            .unwrap();
    }
    let test = include_str!("made/codecs_test.go").replace("PACKAGE", package).replace("\tLAWS\n", &laws);
    std::fs::write(folder.join("codecs_test.go"), test).unwrap();
}

/// The lines of Go that `README.md` shows are a program, and it prints what its page says of keys elsewhere.
#[test]
fn go_of_the_readme_runs() {
    let page = include_str!("../../../../README.md");
    let block = page.split("```go\n").nth(1).unwrap().split("```").next().unwrap();
    let module = fresh("go-readme");
    let (_, _, compiled) = of_the_repository().into_iter().find(|(_, path, _)| path == "osmosis_cl").unwrap();
    let options = go::Options { package: Some("keys".to_owned()), cosmos: false };
    let files = go::generate(&compiled, &options).unwrap();
    made::write(&module.join("keys"), &files, &lines(&compiled, 2));
    std::fs::write(module.join("go.mod"), "module indexer\n\ngo 1.19\n").unwrap();
    let program = format!(
        "package main\n\nimport (\n\t\"fmt\"\n\n\t\"indexer/keys\"\n)\n\nfunc main() {{\n{block}}}\n"
    );
    std::fs::write(module.join("main.go"), program).unwrap();
    let (passed, text) = run(&module, "go", &["run", "."], INSTALL);
    assert!(passed, "{text}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["01000000000000000705ffffffffffffff9c", "7 -100 <nil>"]);
    assert_eq!(lines[2], "01000000000000000705fffffffffffffc18 to 010000000000000008 <nil>");
    assert!(lines[3].contains("pool_id"), "{text}");
}

/// Rows before and after, as the mapping carries them in Rust: space, key and value in base 16.
fn migrated(old: &Compiled, new: &Compiled, count: usize) -> String {
    use keyplan_plan::dynamic::Decoder;
    use keyplan_plan::mapping::{Carrier, Course};
    let (before, after) = (old.plan.as_ref().unwrap(), new.plan.as_ref().unwrap());
    let proof = keyplan_prover::prove_migration(before, after, &keyplan_prover::Options::default());
    let carrier = Carrier::new(before, after, &proof.mapping);
    let decoder = Decoder::new(before);
    let hex = |bytes: &[u8]| bytes.iter().fold(String::new(), |all, byte| format!("{all}{byte:02x}"));
    let mut lines = String::new();
    let vectors =
        keyplan_codegen::vectors::generate(old, keyplan_codegen::vectors::Options { count }).unwrap();
    for line in vectors.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let (Some(key), Some(path)) = (line["hex"].as_str(), line["part"].as_str()) else { continue };
        if line["result"] != "valid" {
            continue;
        }
        let key: Vec<u8> =
            (0..key.len() / 2).map(|at| u8::from_str_radix(&key[2 * at..2 * at + 2], 16).unwrap()).collect();
        let places = proof.mapping.routes.iter().enumerate().filter(|(_, route)| route.from.path == path);
        for (index, route) in places {
            let (space, family) = route.from.find(before).unwrap();
            let Ok(read) = decoder.decode(route.from.space, &key) else { continue };
            if read.family.path != family.path {
                continue;
            }
            let from = space.engine_name();
            let (to, made) = match (&route.course, carrier.way(index)) {
                (Course::Moved(passage), Some(way)) => {
                    let mut made = Vec::new();
                    way.key(&read.values, &[], &mut made).unwrap();
                    (passage.to.find(after).unwrap().0.engine_name(), made)
                }
                (Course::Kept { .. }, _) => (from, key.clone()),
                _ => continue,
            };
            writeln!(lines, "{from} {} {to} {}", hex(&key), hex(&made)).unwrap();
        }
    }
    lines
}

#[test]
fn the_handler_of_an_upgrade_carries_rows_as_the_mapping_does() {
    let plans = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    let module = fresh("go-migration");
    let pairs = [
        ("osmosis", "osmosis_cl.keyplan", "evolve/osmosis_cl_v2.keyplan"),
        ("contract", "evolve/cw_balances.keyplan", "evolve/cw_balances_v2.keyplan"),
    ];
    for (name, old, new) in pairs {
        let plan = |path: &str| {
            let text = std::fs::read_to_string(plans.join(path)).unwrap();
            keyplan_plan::compile(path, &text, |_| Err("there are no imports".to_owned()))
        };
        let (old, new) = (plan(old), plan(new));
        let options = go::Options { package: Some("keys".to_owned()), cosmos: true };
        let files = go::generate_migration(&new, &old, &options)
            .unwrap_or_else(|findings| panic!("{name}: {findings:#?}"));
        let folder = module.join(name);
        made::write(&folder, &files, &lines(&new, 2));
        let rows = migrated(&old, &new, 20);
        assert!(rows.lines().count() > 20, "{name}: {rows}");
        std::fs::write(folder.join("testdata/rows.txt"), rows).unwrap();
        std::fs::write(folder.join("migration_test.go"), include_str!("made/migration_test.go")).unwrap();
    }
    std::fs::write(module.join("go.mod"), "module keys\n\ngo 1.19\n").unwrap();
    assert_eq!(run(&module, "gofmt", &["-s", "-l", "."], INSTALL), (true, String::new()));
    assert_eq!(run(&module, "go", &["vet", "./..."], INSTALL), (true, String::new()));
    let (passed, text) = run(&module, "go", &["test", "-vet=off", "./..."], INSTALL);
    assert!(passed, "{text}");
}

/// Stores of the SDK refuse a value of nil, and take one of no bytes.
#[test]
fn the_handler_of_an_upgrade_writes_values_of_no_bytes() {
    let plan =
        |text: &str| keyplan_plan::compile("one.keyplan", text, |_| Err("there are no imports".to_owned()));
    let old = plan("plan p; space s { key note = 0x01 id: u32 -> text: text.len8; key gone = 0x02 id: u8; }");
    let new = plan("plan p; space s { drop gone \"over\"; key note = 0x11 id: u64 -> text: text; }");
    let options = go::Options { package: Some("keys".to_owned()), cosmos: false };
    let files = go::generate_migration(&new, &old, &options).unwrap();
    let module = fresh("go-values");
    made::write(&module, &files, &lines(&new, 2));
    std::fs::write(module.join("values_test.go"), include_str!("made/values_test.go")).unwrap();
    std::fs::write(module.join("go.mod"), "module keys\n\ngo 1.19\n").unwrap();
    assert_eq!(run(&module, "gofmt", &["-s", "-l", "."], INSTALL), (true, String::new()));
    let (passed, text) = run(&module, "go", &["test", "."], INSTALL);
    assert!(passed, "{text}");
}

#[test]
fn a_migration_that_is_not_proved_has_no_handler() {
    let plan =
        |text: &str| keyplan_plan::compile("one.keyplan", text, |_| Err("there are no imports".to_owned()));
    let old = plan("plan p; space s { key a = 0x01 id: u64; key b = 0x02 x: u8 y: u8; }");
    let refused = |text: &str| {
        let refused = go::generate_migration(&plan(text), &old, &go::Options::default()).unwrap_err();
        refused.iter().map(|one| one.message.clone()).collect::<Vec<_>>().join("; ")
    };
    let narrowed = refused("plan p; space s { key a = 0x11 id: u32; key b = 0x02 x: u8 y: u8; }");
    assert!(narrowed.contains("the handler needs what is not proved: total s.a"), "{narrowed}");
    let crossing = refused("plan p; space s { key a = 0x01 id: u64; key b = 0x02 y: u8 x: u8; }");
    assert!(crossing.contains("not proved: apart s.b"), "{crossing}");
    let forgotten = refused("plan p; space s { key a = 0x01 id: u64; }");
    assert!(forgotten.contains("not proved: complete s.b"), "{forgotten}");
}

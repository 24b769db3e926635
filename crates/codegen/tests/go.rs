//! The Go that is made of plans: as `gofmt` writes it, accepted by `go vet`, and of one mind with the encoder and the decoder for
//! plans known at run time about every vector.
//!
//! All packages of a batch are one module. What a package's own test does is called by one test for all of them, so that one
//! program is linked.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "all of it is a test, though most of it is outside of the functions marked as one"
)]

mod made;

use std::fmt::Write as _;
use std::path::Path;

use keyplan_codegen::go;
use keyplan_plan::Compiled;

use made::{at_random, fresh, of_the_repository, run};

const INSTALL: &str = "apt-get install golang-go";

fn package(module: &Path, name: &str, compiled: &Compiled, count: usize) {
    let options = go::Options { package: None, cosmos: true };
    let files = go::generate(compiled, &options).unwrap_or_else(|findings| panic!("{name}: {findings:#?}"));
    made::write(&module.join(name), &files, compiled, count);
}

/// Judges the packages of a module by the tools of Go, and runs the vectors of all of them.
fn judged(module: &Path, names: &[String]) {
    std::fs::write(module.join("go.mod"), "module keys\n\ngo 1.19\n").unwrap();
    assert_eq!(
        run(module, "gofmt", &["-l", "."], INSTALL),
        (true, String::new()),
        "files that gofmt would change"
    );
    assert_eq!(run(module, "go", &["vet", "./..."], INSTALL), (true, String::new()));
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
    let (passed, text) = run(module, "go", &["test", "-vet=off", "."], INSTALL);
    assert!(passed, "{text}");
}

#[test]
fn go_makes_and_reads_the_keys_of_every_plan() {
    let module = fresh("go-plans");
    let mut names = Vec::new();
    for (name, _, compiled) in of_the_repository() {
        package(&module, &name, &compiled, 2);
        names.push(name);
    }
    made::systems(|name, compiled| {
        package(&module, name, compiled, 0);
        names.push(name.to_owned());
        module.join(name)
    });
    judged(&module, &names);
}

#[test]
fn go_scans_spaces_and_codecs_of_collections_do_what_they_say() {
    let module = fresh("go-scans");
    package(&module, "scans", &made::scans(), 2);
    std::fs::write(module.join("go.mod"), "module keys\n\ngo 1.19\n").unwrap();
    let own = include_str!("made/scans/scans_test.go");
    std::fs::write(module.join("scans/scans_test.go"), own).unwrap();
    assert_eq!(run(&module, "gofmt", &["-l", "."], INSTALL), (true, String::new()));
    let (passed, text) = run(&module, "go", &["test", "./..."], INSTALL);
    assert!(passed, "{text}");
}

#[test]
fn go_is_of_one_mind_with_the_dynamic_path_on_plans_at_random() {
    at_random(|plans| {
        let module = fresh("go-random");
        let mut names = Vec::new();
        for (name, compiled) in plans {
            package(&module, &name, &compiled, 12);
            names.push(name);
        }
        judged(&module, &names);
    });
}

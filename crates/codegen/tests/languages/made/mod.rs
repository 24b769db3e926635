//! Plans for tests of generated code: those of the repository, and some written for the purpose.

mod systems;

use std::path::{Path, PathBuf};
use std::process::Command;

use keyplan_codegen::vectors;
use keyplan_plan::{Compiled, compile};

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

/// A plan with more alternatives than a byte has values, with and without arguments.
fn many() -> String {
    let bare: Vec<String> = (0..300).map(|number| format!("a{number}: 0x{number:04x}")).collect();
    let with: Vec<String> = bare.iter().map(|one| format!("{one} n: u8")).collect();
    let (bare, with) = (bare.join(" | "), with.join(" | "));
    format!(
        "plan many; type Label = ({bare}); type One = ({with}); \
         space s {{ key labels = 0x01 label: Label n: u8 scan by label; key ones = 0x02 one: One; }}"
    )
}

/// Plans whose names and words mean something to languages and tools: those of [`names`], those of spaces, comments and parameters,
/// one of a single family without a scan, one of lengths and numbers that languages have no type for, and [`many`].
pub(crate) fn odd() -> [(&'static str, Compiled); 5] {
    let plan = |name, text: &str| compile(name, text, |_| Err("there are no imports".to_owned()));
    [
        ("many", plan("many.keyplan", &many())),
        ("names", names()),
        ("odd", plan("odd.keyplan", include_str!("scans/odd.keyplan"))),
        ("bare", plan("bare.keyplan", include_str!("scans/bare.keyplan"))),
        ("huge", plan("huge.keyplan", include_str!("scans/huge.keyplan"))),
    ]
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
        counts.push((below, file, system.found, system.fronts, system.others));
    }
    assert_eq!(counts, systems::SYSTEMS);
}

/// Writes files below a folder, with vectors.
pub(crate) fn write(folder: &Path, files: &[keyplan_codegen::File], lines: &str) {
    std::fs::create_dir_all(folder.join("testdata")).unwrap();
    for file in files {
        std::fs::write(folder.join(&file.path), &file.text).unwrap();
    }
    assert!(lines.lines().count() > 1, "{} has no vector", folder.display());
    std::fs::write(folder.join("testdata/keyplan.jsonl"), lines).unwrap();
}

/// The vectors of a plan, of which none is wrong as they are checked.
pub(crate) fn lines(compiled: &Compiled, count: usize) -> String {
    let lines = vectors::generate(compiled, vectors::Options { count }).unwrap();
    assert_eq!(vectors::check(compiled.plan.as_ref().unwrap(), &lines).0, []);
    lines
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

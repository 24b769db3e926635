//! The TypeScript that is made of plans: accepted by the compiler at its strictest, and of one mind with the encoder and the decoder
//! for plans known at run time about every vector.
//!
//! All modules of a batch are compiled at once and run by one program.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "all of it is a test, though most of it is outside of the functions marked as one"
)]

mod made;

use std::fmt::Write as _;
use std::path::Path;

use keyplan_codegen::typescript;
use keyplan_plan::Compiled;

use made::{at_random, fresh, of_the_repository, run};

const INSTALL: &str = "npm install --global typescript";

/// Every check that the compiler has and that is not a matter of taste, for a machine without types of Node or of browsers.
const CONFIG: &str = r#"{
  "compilerOptions": {
    "strict": true,
    "target": "es2022",
    "lib": ["es2022"],
    "module": "nodenext",
    "moduleResolution": "nodenext",
    "types": [],
    "declaration": true,
    "isolatedDeclarations": true,
    "erasableSyntaxOnly": true,
    "verbatimModuleSyntax": true,
    "exactOptionalPropertyTypes": true,
    "noFallthroughCasesInSwitch": true,
    "noImplicitReturns": true,
    "noPropertyAccessFromIndexSignature": true,
    "noUncheckedIndexedAccess": true
  },
  "include": ["*/*.ts"]
}
"#;

fn module(project: &Path, name: &str, compiled: &Compiled, count: usize) -> String {
    let files = typescript::generate(compiled).unwrap_or_else(|findings| panic!("{name}: {findings:#?}"));
    made::write(&project.join(name), &files, compiled, count);
    let test = files.iter().map(|file| &file.path).find(|path| path.ends_with(".test.ts")).unwrap();
    format!("./{name}/{}", test.replace(".ts", ".js"))
}

/// Compiles all modules of a project and runs their tests.
fn judged(project: &Path, tests: &[String]) {
    std::fs::write(project.join("package.json"), "{ \"type\": \"module\" }\n").unwrap();
    std::fs::write(project.join("tsconfig.json"), CONFIG).unwrap();
    assert_eq!(run(project, "tsc", &["-p", "."], INSTALL), (true, String::new()));
    let mut all = String::new();
    for test in tests {
        writeln!(all, "import '{test}';").unwrap();
    }
    std::fs::write(project.join("all.test.js"), all).unwrap();
    let (passed, text) = run(project, "node", &["--test", "all.test.js"], "apt-get install nodejs");
    assert!(passed, "{text}");
    assert!(text.contains("# fail 0\n"), "{text}");
}

#[test]
fn typescript_makes_and_reads_the_keys_of_every_plan() {
    let project = fresh("typescript-plans");
    let mut tests: Vec<String> =
        of_the_repository().iter().map(|(name, _, compiled)| module(&project, name, compiled, 2)).collect();
    made::systems(|name, compiled| {
        tests.push(module(&project, name, compiled, 0));
        project.join(name)
    });
    tests.push(module(&project, "scans", &made::scans(), 2));
    std::fs::write(project.join("scans/own.test.ts"), include_str!("made/scans/own.test.ts")).unwrap();
    tests.push("./scans/own.test.js".to_owned());
    judged(&project, &tests);
}

#[test]
fn typescript_is_of_one_mind_with_the_dynamic_path_on_plans_at_random() {
    at_random(|plans| {
        let project = fresh("typescript-random");
        let tests: Vec<String> =
            plans.iter().map(|(name, compiled)| module(&project, name, compiled, 12)).collect();
        judged(&project, &tests);
    });
}

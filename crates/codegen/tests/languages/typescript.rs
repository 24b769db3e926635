//! The TypeScript that is made of plans: accepted by the compiler at its strictest, and of one mind with the encoder and the decoder
//! for plans known at run time about every vector.
//!
//! All modules of a batch are compiled at once and run by one program.

use std::fmt::Write as _;
use std::path::Path;

use keyplan_codegen::typescript;
use keyplan_plan::Compiled;

use crate::made::{self, fresh, lines, of_the_repository, run};

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
    "noUncheckedIndexedAccess": true,
    "noUnusedParameters": true
  },
  "include": ["*/*.ts"]
}
"#;

pub(crate) fn module(project: &Path, name: &str, compiled: &Compiled, lines: &str) -> String {
    let files = typescript::generate(compiled).unwrap_or_else(|findings| panic!("{name}: {findings:#?}"));
    made::write(&project.join(name), &files, lines);
    let test = files.iter().map(|file| &file.path).find(|path| path.ends_with(".test.ts")).unwrap();
    format!("./{name}/{}", test.replace(".ts", ".js"))
}

/// Compiles all modules of a project and runs their tests.
pub(crate) fn judged(project: &Path, tests: &[String]) {
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
    let own =
        |name: &str, compiled: &Compiled, count| module(&project, name, compiled, &lines(compiled, count));
    let mut tests: Vec<String> =
        of_the_repository().iter().map(|(name, _, compiled)| own(name, compiled, 2)).collect();
    made::systems(|name, compiled| {
        tests.push(own(name, compiled, 0));
        project.join(name)
    });
    tests.push(own("scans", &made::scans(), 2));
    tests.extend(made::odd().iter().map(|(name, plan)| own(name, plan, 2)));
    std::fs::write(project.join("scans/own.test.ts"), include_str!("made/scans/own.test.ts")).unwrap();
    tests.push("./scans/own.test.js".to_owned());
    judged(&project, &tests);
}

/// The page that runs the test of a module as it is: what the test wants of Node is put in its place.
const PAGE: &str = r#"<!doctype html>
<meta charset="utf-8">
<title>running</title>
<script type="importmap">
{ "imports": {
  "node:test": "./node.js", "node:assert/strict": "./node.js", "node:fs": "./node.js", "node:path": "./node.js", "node:url": "./node.js"
} }
</script>
<pre id="said"></pre>
<script type="module">
  const said = document.getElementById('said');
  try {
    await import('./TEST');
    const { ran } = await import('./node.js');
    said.textContent = ran() + ' tests passed in ' + navigator.userAgent;
  } catch (error) {
    said.textContent = 'failed: ' + (error.stack ?? error);
  }
</script>
"#;

/// What the test of a module uses of Node, over the page's own means.
const NODE: &str = r"const vectors = VECTORS;
let count = 0;
export const ran = () => count;
export const test = (name, run) => { run(); count += 1; };
export const ok = (value, why) => { if (!value) throw new Error(why); };
export const deepEqual = (a, b) => ok(JSON.stringify(a) === JSON.stringify(b), JSON.stringify(a).slice(0, 2000));
export const equal = (a, b, why) => ok(a === b, `${a} is not ${b}: ${why}`);
export const dirname = (path) => path.slice(0, path.lastIndexOf('/'));
export const join = (...parts) => parts.join('/');
export const fileURLToPath = (url) => new URL(url).pathname;
export const existsSync = () => true;
export const readFileSync = () => vectors;
";

#[test]
fn typescript_makes_and_reads_the_same_keys_in_a_browser() {
    let project = fresh("typescript-browser");
    let plans = of_the_repository();
    let (name, _, compiled) = plans.iter().find(|(_, path, _)| path == "five").unwrap();
    let test = module(&project, name, compiled, &lines(compiled, 2));
    std::fs::write(project.join("package.json"), "{ \"type\": \"module\" }\n").unwrap();
    std::fs::write(project.join("tsconfig.json"), CONFIG).unwrap();
    assert_eq!(run(&project, "tsc", &["-p", "."], INSTALL), (true, String::new()));
    let vectors = std::fs::read_to_string(project.join(name).join("testdata/keyplan.jsonl")).unwrap();
    assert!(vectors.lines().count() > 500, "{}", vectors.lines().count());
    let literal = serde_json::to_string(&vectors).unwrap();
    std::fs::write(project.join("node.js"), NODE.replace("VECTORS", &literal)).unwrap();
    let page = project.join("page.html");
    std::fs::write(&page, PAGE.replace("./TEST", &test)).unwrap();
    let script = project.join("browser.mjs");
    std::fs::write(&script, include_str!("made/browser.mjs")).unwrap();
    let (url, profile) = (format!("file://{}", page.display()), project.join("profile"));
    let arguments = ["browser.mjs", &url, &profile.to_string_lossy()];
    let (_, said) = run(&project, "node", &arguments, "apt-get install nodejs");
    let passed = said.starts_with("1 tests passed in ") && said.contains("Chrome/");
    assert!(passed, "{said}");
}

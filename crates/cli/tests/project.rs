//! A project from its first command on, and the files that check it elsewhere, run as a shell would run them.
#![cfg(test)]
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

const FLAWED: &str = "plan flawed;

space s {
    /// Pools.
    key pool = 0x01 a: text(\"a\", 1..=3) b: text(\"a\", 1..=3);

    /// Heights.
    key height = 0x02 h: u64.dec
        scan all in order;
}
";

fn keyplan(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyplan"));
    let done = command
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env_remove("GITHUB_ACTIONS")
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
}

/// A script run by a shell that finds the command.
fn shell(folder: &Path, script: &str) -> (i32, String) {
    let binary = Path::new(env!("CARGO_BIN_EXE_keyplan")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.args(["-e", "-c", script]).current_dir(folder).env("PATH", path).env("NO_COLOR", "1");
    let done = command.env("GITHUB_ACTIONS", "true").output().unwrap();
    (done.status.code().unwrap(), String::from_utf8(done.stdout).unwrap())
}

/// A project that `init` wrote.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, _) = keyplan(folder.path(), &["init"]);
    assert_eq!(
        (code, out.as_str()),
        (
            0,
            "wrote ./keyplan.toml\nwrote ./plans/example.keyplan\nwrote ./tour.keyplan\nwrote ./.github/workflows/keyplan.yml\n\
            wrote ./.pre-commit-config.yaml\n\nTry next:\n  \
            keyplan check                 the plans of the project: sound\n  \
            keyplan check tour.keyplan    a plan with a flaw: two keys and a repair\n  \
            keyplan init --editor neovim  the same in an editor (or helix)\n"
        )
    );
    folder
}

#[test]
fn a_new_project_checks_from_any_of_its_folders() {
    let folder = project();
    for place in [folder.path().to_owned(), folder.path().join("plans")] {
        let (code, out, error) = keyplan(&place, &["check"]);
        assert_eq!((code, error.as_str()), (0, ""));
        assert!(out.starts_with("3 families, 4 scans: 0 findings, 0 accepted, 0 unknown, in "), "{out}");
    }
    // Its settings name every engine that there is.
    let settings = fs::read_to_string(folder.path().join("keyplan.toml")).unwrap();
    let named = settings.lines().find(|line| line.starts_with("# The engine")).unwrap();
    for engine in keyplan_plan::Engine::ALL {
        assert!(named.contains(engine.name()), "{named}");
    }
    let (code, out, _) = keyplan(folder.path(), &["fmt", "--check", "plans/example.keyplan"]);
    assert_eq!((code, out.as_str()), (0, ""));
    let (code, _, error) = keyplan(folder.path(), &["init"]);
    assert_eq!((code, error.as_str()), (2, "error: `./keyplan.toml` is there already: this is a project\n"));
    fs::write(folder.path().join("keyplan.toml"), "[check]\ndeny-warning = true\n").unwrap();
    let (code, _, error) = keyplan(folder.path(), &["check"]);
    let expected =
        "error: keyplan.toml: line 2: `[check]` has no key `deny-warning`; did you mean `deny-warnings`?\n";
    assert_eq!((code, error.as_str()), (2, expected));
}

#[test]
fn the_tour_is_a_finding_with_two_keys_and_a_repair_and_no_part_of_the_project() {
    let folder = project();
    let (code, out, _) = keyplan(folder.path(), &["check", "tour.keyplan"]);
    assert_eq!(code, 1);
    for words in ["KP0002", "witness:", "reproduce:", "repair:"] {
        assert!(out.contains(words), "{out}");
    }
    assert_eq!(keyplan(folder.path(), &["check"]).0, 0);
    let (code, out, _) = keyplan(folder.path(), &["fmt", "--check", "tour.keyplan"]);
    assert_eq!((code, out.as_str()), (0, ""));
}

#[test]
fn an_editor_is_set_up_in_a_project_that_is_there() {
    let folder = project();
    let (code, out, _) = keyplan(folder.path(), &["init", "--editor", "helix"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("wrote ./.helix/languages.toml\n"), "{out}");
    let settings = fs::read_to_string(folder.path().join(".helix/languages.toml")).unwrap();
    assert!(settings.contains("args = [\"lsp\"]"), "{settings}");
    // What somebody has changed stays.
    fs::write(folder.path().join(".helix/languages.toml"), "# mine\n").unwrap();
    let (code, out, _) = keyplan(folder.path(), &["init", "--editor", "helix"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("kept ./.helix/languages.toml\n"), "{out}");
    assert_eq!(fs::read_to_string(folder.path().join(".helix/languages.toml")).unwrap(), "# mine\n");
}

#[test]
fn without_a_project_check_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let (code, _, error) = keyplan(folder.path(), &["check"]);
    assert_eq!(code, 2);
    assert!(error.contains("`keyplan init` writes one"), "{error}");
}

#[test]
fn known_findings_do_not_fail_and_new_ones_do() {
    let folder = project();
    let plan = folder.path().join("plans/flawed.keyplan");
    fs::write(&plan, FLAWED).unwrap();
    assert_eq!(keyplan(folder.path(), &["check"]).0, 1);
    let (code, out, _) = keyplan(folder.path(), &["check", "--write-baseline", "--baseline", "known"]);
    assert_eq!((code, out.as_str()), (0, "wrote 2 findings to known\n"));
    let (code, out, _) = keyplan(folder.path(), &["check", "--baseline", "known"]);
    assert_eq!(code, 0);
    assert!(out.contains("\n2 known findings are in the baseline\n2 plans, "), "{out}");
    fs::write(
        &plan,
        FLAWED.replace("u64.dec", "u64").replace("\n}", "\n    key more = 0x01 x: bytes(2);\n}"),
    )
    .unwrap();
    let (code, out, _) = keyplan(folder.path(), &["check", "--baseline", "known"]);
    assert_eq!(code, 1);
    assert!(out.contains("KP0001"), "{out}");
    assert!(out.contains("1 line of the baseline is gone"), "{out}");
}

#[test]
fn a_baseline_counts_as_soon_as_it_is_written() {
    let folder = project();
    fs::write(folder.path().join("plans/flawed.keyplan"), FLAWED).unwrap();
    assert_eq!(keyplan(folder.path(), &["check"]).0, 1);
    assert_eq!(keyplan(folder.path(), &["check", "--write-baseline"]).0, 0);
    for place in [folder.path().to_owned(), folder.path().join("plans")] {
        let (code, out, _) = keyplan(&place, &["check"]);
        assert_eq!(code, 0, "{out}");
        assert!(out.contains("2 known findings are in the baseline"), "{out}");
    }
}

#[test]
fn fixes_move_no_byte_unless_that_is_asked_for() {
    let folder = project();
    let plan = folder.path().join("plans/flawed.keyplan");
    fs::write(&plan, FLAWED).unwrap();
    let (code, out, _) = keyplan(folder.path(), &["check", "--fix"]);
    assert_eq!(code, 1);
    assert!(out.starts_with("fixed KP0005 in plans/flawed.keyplan: no longer claim the order\n"), "{out}");
    assert_eq!(fs::read_to_string(&plan).unwrap(), FLAWED.replace(" in order", ""));
    let (code, out, _) = keyplan(folder.path(), &["check", "--fix", "--unsafe"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("fixed KP0002 in plans/flawed.keyplan: end `a` with \"/\""), "{out}");
    assert!(fs::read_to_string(&plan).unwrap().contains("1..=3) \"/\" b"));
}

#[test]
fn standard_input_is_a_plan() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("draft"), FLAWED).unwrap();
    let (code, out) = shell(folder.path(), "keyplan check - --format junit < draft");
    assert_eq!(code, 1);
    assert!(out.contains("<testsuite name=\"-\" tests=\"2\" failures=\"2\""), "{out}");
}

#[test]
fn the_action_and_the_hooks_do_what_they_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = project();
    let action = fs::read_to_string(root.join("action.yml")).unwrap();
    let steps: Vec<&str> = action.lines().filter_map(|line| line.trim().strip_prefix("run: ")).collect();
    assert_eq!(steps.len(), 2);
    // The command is there, so that the first step installs nothing.
    let script = steps.join("\n");
    assert_eq!(shell(folder.path(), &script).0, 0);
    fs::write(folder.path().join("plans/flawed.keyplan"), FLAWED).unwrap();
    let (code, out) = shell(folder.path(), &script);
    assert_eq!(code, 1);
    let annotations: Vec<&str> = out.lines().filter(|line| line.starts_with("::error ")).collect();
    assert_eq!(annotations.len(), 2, "{out}");
    assert!(annotations[0].starts_with("::error file=plans/flawed.keyplan,line=5,"), "{out}");
    let hooks = fs::read_to_string(root.join(".pre-commit-hooks.yaml")).unwrap();
    let entries: Vec<&str> = hooks.lines().filter_map(|line| line.trim().strip_prefix("entry: ")).collect();
    assert_eq!(entries, ["keyplan check", "keyplan fmt --check"]);
    for (plan, expected) in [("plans/example.keyplan", [0, 0]), ("plans/flawed.keyplan", [1, 0])] {
        let codes: Vec<i32> =
            entries.iter().map(|entry| shell(folder.path(), &format!("{entry} {plan}")).0).collect();
        assert_eq!(codes, expected, "{plan}");
    }
}

#[test]
fn watching_checks_again_when_a_file_changes() {
    let folder = project();
    let mut child = Command::new(env!("CARGO_BIN_EXE_keyplan"))
        .args(["check", "--watch"])
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .env_remove("GITHUB_ACTIONS")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "watching 2 files; Ctrl-C ends it"));
    fs::write(folder.path().join("plans/example.keyplan"), FLAWED).unwrap();
    assert!(lines.any(|line| line.contains("2 findings")));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, _) = keyplan(folder.path(), &["man"]);
    assert_eq!(code, 0);
    assert!(out.contains(".TH keyplan 1"), "{out}");
    assert_eq!(keyplan(folder.path(), &["man", "-o", "pages"]).0, 0);
    let page = fs::read_to_string(folder.path().join("pages/keyplan-check.1")).unwrap();
    assert!(page.contains("Prove what plans claim") && page.contains("baseline"), "{page}");
}

#[test]
fn the_language_server_answers_on_its_streams() {
    let folder = tempfile::tempdir().unwrap();
    let message = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
    let sent = [
        message(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#),
        message(r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#),
        message(r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#),
        message(r#"{"jsonrpc":"2.0","method":"exit"}"#),
    ];
    fs::write(folder.path().join("input"), sent.concat()).unwrap();
    let (code, out) = shell(folder.path(), "keyplan lsp < input");
    assert_eq!(code, 0);
    assert!(out.contains("\"serverInfo\":{\"name\":\"keyplan\""), "{out}");
    assert!(out.contains("\"id\":2"), "{out}");
}

#[test]
fn what_a_project_generates_is_written_and_compared_without_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (code, _, said) = keyplan(folder, &["generate"]);
    assert_eq!((code, said.contains("there is no `keyplan.toml` here")), (2, true), "{said}");
    fs::create_dir_all(folder.join("plans")).unwrap();
    fs::create_dir_all(folder.join("deep/er")).unwrap();
    fs::write(folder.join("plans/dex.keyplan"), "plan dex;\n\nspace s {\n    key pool = 0x01 id: u64;\n}\n")
        .unwrap();
    fs::write(folder.join("keyplan.toml"), "[project]\nplans = [\"plans/*.keyplan\"]\n").unwrap();
    let (code, _, said) = keyplan(folder, &["generate"]);
    assert_eq!((code, said.contains("names nothing to write")), (2, true), "{said}");
    let targets = "[generate.go]\nplan = \"plans/dex.keyplan\"\nout = \"keys\"\ncosmos = true\n\n[generate.web]\nlanguage = \"typescript\"\nplan = \"plans/dex.keyplan\"\nout = \"web\"\n\n[generate.model]\nplan = \"plans/dex.keyplan\"\nout = \"dex.json\"\n";
    fs::write(folder.join("keyplan.toml"), targets).unwrap();
    let (code, said, _) = keyplan(folder, &["generate", "--check"]);
    assert_eq!((code, said.contains("keys/keyplan.go is missing")), (1, true), "{said}");
    // Paths are those of the project, wherever one is in it.
    let (code, _, said) = keyplan(&folder.join("deep/er"), &["generate"]);
    assert_eq!(code, 0, "{said}");
    assert!(folder.join("keys/cosmos.keyplan.go").exists() && folder.join("dex.json").exists());
    assert!(folder.join("web").read_dir().unwrap().count() > 1);
    assert_eq!(keyplan(folder, &["generate", "--check"]).0, 0);
    fs::write(folder.join("plans/dex.keyplan"), "plan dex;\n\nspace s {\n    key pool = 0x02 id: u64;\n}\n")
        .unwrap();
    let (code, said, _) = keyplan(folder, &["generate", "--check"]);
    assert_eq!((code, said.contains("dex.json is stale")), (1, true), "{said}");
    assert_eq!(keyplan(folder, &["generate"]).0, 0);
    assert_eq!(keyplan(folder, &["generate", "--check"]).0, 0);
    fs::write(folder.join("keys/mine.go"), "package dex\n").unwrap();
    let (code, _, said) = keyplan(folder, &["generate"]);
    assert_eq!((code, said.contains("did not write, and is left as it is: mine.go")), (2, true), "{said}");
    fs::write(folder.join("keyplan.toml"), targets.replace("\"typescript\"", "\"cobol\"")).unwrap();
    fs::remove_file(folder.join("keys/mine.go")).unwrap();
    let (code, _, said) = keyplan(folder, &["generate"]);
    assert_eq!((code, said.contains("`[generate.web]` has the language `cobol`")), (2, true), "{said}");
    let refused = |targets: String, wanted: &str| {
        fs::write(folder.join("keyplan.toml"), targets).unwrap();
        let (code, _, said) = keyplan(folder, &["generate"]);
        assert_eq!((code, said.contains(wanted)), (2, true), "{said}");
    };
    refused(
        targets.replace("\"web\"", "\"./keys\""),
        "`[generate.go]` and `[generate.web]` write to one place",
    );
    refused(
        targets.replace("\"web\"", "\"web\"\ncosmos = true"),
        "`[generate.web]` has `cosmos`, which is for Go",
    );
    refused(
        targets.replace("\"keys\"", "\"keys\"\npackage = \"my-keys\""),
        "`my-keys` cannot be the name of a Go package",
    );
    let (code, _, said) = keyplan(folder, &["generate", "model", "plans/dex.keyplan", "--package", "x"]);
    assert_eq!((code, said.contains("--package is for Go")), (2, true), "{said}");
    assert!(folder.join("keys/keyplan.go").exists(), "nothing is removed by what is refused");
}

//! Nothing that the command prints acts on a terminal, whoever wrote it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::process::Command;

/// ESC and a sequence of it, a C1 control, and two controls of bidirectional text.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{2066}";

/// Everything that a command prints, with colours on.
fn printed(folder: &tempfile::TempDir, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyplan"));
    let output =
        command.current_dir(folder.path()).args(["--color", "always"]).args(arguments).output().unwrap();
    String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
}

/// The characters of a text that would act on a terminal, except for styles.
fn acting(text: &str) -> Vec<char> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = rest
            .strip_prefix("\u{1b}[")
            .map(|style| style.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';'));
        if let Some(after) = after.and_then(|after| after.strip_prefix('m')) {
            rest = after;
            continue;
        }
        if keyplan_plan::notation::is_hidden(c) {
            found.push(c);
        }
        rest = &rest[c.len_utf8()..];
    }
    found
}

#[test]
fn hostile_text_is_shown_and_does_not_act() {
    let folder = tempfile::tempdir().unwrap();
    let plan = format!(
        "plan p;\n/// Doc {HOSTILE} of a space.\nspace s {{\n    /// Rows {HOSTILE} of it.\n    \
         key k = 0x01 a: text(1..=64) -> raw accept lossy \"why {HOSTILE}\";\n    key b = 0x02 a: text b: text; // {HOSTILE}\n}}\n"
    );
    fs::write(folder.path().join("p.keyplan"), plan).unwrap();
    let sound = "plan p; space s { /// Rows.\n key k = 0x01 a: text(1..=64) -> raw; }";
    fs::write(folder.path().join("q.keyplan"), sound).unwrap();
    printed(&folder, &["db", "create", "data", "q.keyplan"]);
    let row = format!("a={HOSTILE}");
    let family = serde_json::json!({ "family": HOSTILE, "args": {} });
    fs::write(folder.path().join("rows"), format!("{family}\n")).unwrap();
    let key = HOSTILE.bytes().fold("01".to_owned(), |key, byte| format!("{key}{byte:02x}"));
    let commands: [&[&str]; 16] = [
        &["check", "p.keyplan"],
        &["check", "p.keyplan", "--accepted"],
        &["check", "p.keyplan", "--format", "json"],
        &["check", "p.keyplan", "--format", "sarif"],
        &["check", "p.keyplan", "--format", "github"],
        &["doc", "p.keyplan"],
        &["expand", "q.keyplan"],
        &["fmt", "--check", "p.keyplan"],
        &["explain", "p.keyplan", &key],
        &["explain", "p.keyplan", &key, "--format", "json"],
        &["encode", "p.keyplan", HOSTILE],
        &["check", HOSTILE],
        &["db", "load", "data", "rows"],
        &["db", "put", "data", "k", &row, "value=00"],
        &["db", "scan", "data"],
        &[HOSTILE],
    ];
    for arguments in commands {
        let text = printed(&folder, arguments);
        assert!(!text.is_empty(), "{arguments:?}");
        assert_eq!(acting(&text), Vec::<char>::new(), "{arguments:?}: {text:?}");
    }
}

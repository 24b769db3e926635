//! Every counterexample that `keyplan check` shows can be pasted: its commands make its keys.
#![cfg(test)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Makes a plan accept nothing, so that every flaw is a finding.
fn without_accepts(plan: &Path) {
    let text = std::fs::read_to_string(plan).unwrap();
    let mut kept = String::new();
    let mut rest = text.as_str();
    // A clause on a line of its own: `accept what "why"`, in which the reason may be on the next line.
    let clause = |text: &str| {
        let mut all = text.match_indices("accept ").map(|(at, _)| at);
        all.find(|&at| text[..at].trim_end_matches(' ').ends_with('\n'))
    };
    while let Some(at) = clause(rest) {
        kept.push_str(rest[..at].trim_end());
        let (_, reason) = rest[at..].split_once('"').unwrap();
        // The end of the reason is a quote with no backslash before it.
        let end = reason.match_indices('"').map(|(at, _)| at).find(|&at| !reason[..at].ends_with('\\'));
        rest = &reason[end.unwrap() + 1..];
    }
    kept.push_str(rest);
    std::fs::write(plan, kept).unwrap();
}

fn plans_in(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.extension().is_some_and(|extension| extension == "keyplan")).collect()
}

/// The keys of every witness, by code.
fn witnesses(plan: &Value) -> BTreeSet<(String, Vec<String>)> {
    let sides = |witness: &Value| {
        let mut keys: Vec<String> = witness
            .as_object()
            .unwrap()
            .values()
            .filter_map(|side| side.get("hex").and_then(Value::as_str).map(str::to_owned))
            .collect();
        keys.sort();
        keys
    };
    plan["statements"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|statement| statement["verdict"] == "fails")
        .map(|statement| (statement["code"].as_str().unwrap().to_owned(), sides(&statement["witness"])))
        .collect()
}

fn copy_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copy = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_all(&path, &copy);
        } else {
            std::fs::copy(&path, &copy).unwrap();
        }
    }
}

#[test]
fn the_commands_of_every_counterexample_make_its_keys() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let binary = Path::new(env!("CARGO_BIN_EXE_keyplan"));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("reproduce");
    let mut path = std::ffi::OsString::from(binary.parent().unwrap());
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let (mut shown, mut typed) = (0, 0);
    // Plans import one another, so that all are copied before the first is read.
    if folder.exists() {
        std::fs::remove_dir_all(&folder).unwrap();
    }
    copy_all(&root.join("plans"), &folder.join("plans"));
    let whole = ["plans", "plans/upstream", "plans/evolve", "plans/gallery", "plans/dolos"];
    for plans in whole.iter().chain(&["plans/paw"]) {
        for plan in plans_in(&folder.join(plans)) {
            without_accepts(&plan);
        }
    }
    for plans in whole {
        for copy in plans_in(&folder.join(plans)) {
            let output =
                Command::new(binary).arg("check").arg(&copy).args(["--format", "json"]).output().unwrap();
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            let checked = &report["plans"][0];
            assert!(checked["name"].is_string(), "{}: {:#}", copy.display(), checked["findings"]);
            let known = witnesses(checked);
            for finding in checked["findings"].as_array().unwrap() {
                let code = finding["code"].as_str().unwrap();
                let notes = finding["notes"].as_array().unwrap();
                // Nobody types a key that is longer than an engine takes.
                let witness = notes.iter().any(|note| note["kind"] == "witness") && code != "KP0010";
                shown += usize::from(witness);
                let Some(commands) = notes.iter().find(|note| note["kind"] == "reproduce") else { continue };
                typed += 1;
                let script = commands["text"].as_str().unwrap();
                let made = Command::new("bash").args(["-ec", script]).env("PATH", &path).output().unwrap();
                assert!(made.status.success(), "{script}\n{}", String::from_utf8_lossy(&made.stderr));
                let mut keys: Vec<String> =
                    String::from_utf8(made.stdout).unwrap().lines().map(str::to_owned).collect();
                keys.sort();
                let shown = known.iter().any(|(of, sides)| {
                    // A side that is too long to be typed has no command.
                    let all = keys.len() == sides.len() || sides.iter().any(|side| side.len() > 200);
                    of == code && all && keys.iter().all(|key| sides.contains(key))
                });
                assert!(shown, "{code} {script}\nmade {keys:?}");
            }
        }
    }
    assert!(shown > 100, "{shown} counterexamples");
    assert_eq!(typed, shown, "some counterexamples have no commands");
}

/// Whoever follows the demo gets what it says, far from any checkout.
#[test]
fn every_command_that_the_demo_names_works() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_keyplan"))
            .args(arguments)
            .current_dir(folder.path())
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{arguments:?}: {said}{}", String::from_utf8_lossy(&output.stderr));
        said
    };
    let said = run(&["demo", "--rows", "2000"]);
    let (_, next) = said.split_once("Try next:").unwrap();
    let commands: Vec<Vec<&str>> = next
        .lines()
        .filter_map(|line| line.trim().strip_prefix("keyplan "))
        .map(|command| command.split(' ').collect())
        .filter(|command: &Vec<&str>| command[0] != "explore")
        .collect();
    assert!(commands.len() >= 5, "{next}");
    for command in commands {
        assert!(!run(&command).trim().is_empty(), "{command:?}");
    }
}

//! The guide is run: files are written as it shows them, commands are typed, and what they print is what it says.
//!
//! `KEYPLAN_BLESS=1` writes what they print into the guide.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::folder;

#[test]
fn the_guide_says_what_its_commands_print() {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/change-a-live-layout.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let home = folder("guide");
    std::fs::create_dir_all(&home).unwrap();
    let found = run_all(&text, &home);
    if std::env::var_os("KEYPLAN_BLESS").is_some() {
        std::fs::write(&page, found).unwrap();
    } else {
        assert_eq!(found, text);
    }
}

/// The page with what its commands really print.
fn run_all(text: &str, home: &Path) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    let mut file = None;
    while let Some(line) = lines.next() {
        writeln!(out, "{line}").unwrap();
        if let Some(name) = line.strip_prefix('`').and_then(|rest| rest.strip_suffix("`:")) {
            file = Some(name.to_owned());
        }
        let inside: Vec<&str> = match line {
            "```keyplan" | "```console" => lines.by_ref().take_while(|line| *line != "```").collect(),
            _ => continue,
        };
        if line == "```keyplan" {
            let body = inside.join("\n") + "\n";
            std::fs::write(home.join(file.take().unwrap()), &body).unwrap();
            out.push_str(&body);
        } else {
            for command in inside.iter().filter_map(|line| line.strip_prefix("$ keyplan ")) {
                writeln!(out, "$ keyplan {command}\n{}", said(command, home)).unwrap();
            }
            // One empty line between commands, none at the end.
            out.truncate(out.trim_end().len());
            out.push('\n');
        }
        out.push_str("```\n");
    }
    out
}

fn said(command: &str, home: &Path) -> String {
    let words: Vec<&str> = command.split(' ').collect();
    let mut run = Command::new(env!("CARGO_BIN_EXE_keyplan"));
    let done = run.args(words).current_dir(home).env("NO_COLOR", "1").stdin(Stdio::null()).output().unwrap();
    let mut text = String::from_utf8(done.stdout).unwrap();
    text.push_str(&String::from_utf8(done.stderr).unwrap());
    // How long it took is another time each time.
    text.lines().map(|line| timeless(line).to_owned() + "\n").collect()
}

fn timeless(line: &str) -> &str {
    match line.rsplit_once(", in ") {
        Some((before, time)) if time.ends_with(" ms") => before,
        _ => line,
    }
}

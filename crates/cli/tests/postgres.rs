//! `keyplan db` on a PostgreSQL server of the test's own.
#![cfg(test)]

use std::process::{Command, Output};

#[expect(dead_code, reason = "replicas and crashes are for the tests of the engine")]
#[path = "../../postgres/tests/engine/server.rs"]
mod server;

/// Runs the command, and gives what it said.
fn keyplan(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyplan"));
    command.args(words).env("NO_COLOR", "1").env_remove("KEYPLAN_URL").output().unwrap()
}

fn said(words: &[&str]) -> String {
    let output = keyplan(words);
    let (out, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{words:?}: {out}{error}");
    assert!(!out.contains("hush") && !error.contains("hush"), "{words:?} shows the password: {out}{error}");
    out
}

#[test]
fn every_subcommand_works_on_a_server() {
    let server = server::Server::start(&[]);
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let plan = path("plan.keyplan");
    let text = "plan demo; space cl { key tick = 0x01 pool: u64 tick: u32 -> liquidity: u64 scan by pool; } \
                space things { hash thing = \"h:\" name: text field any = field: bytes -> raw; }";
    std::fs::write(&plan, text).unwrap();
    let url = |schema: &str| {
        let place = server.url();
        format!("{}?schema={schema}", place.replace("keyplan@", "keyplan:hush@"))
    };
    let (first, second) = (url("first"), url("second"));

    let refused = keyplan(&["db", "plan", &first]);
    assert!(!refused.status.success());
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.contains("holds no database of this engine") && !error.contains("hush"), "{error}");

    let made = said(&["db", "create", &first, &plan]);
    assert!(made.starts_with("made `postgres://127.0.0.1/postgres?schema=first` on postgres"), "{made}");
    for tick in ["1", "2", "3"] {
        said(&["db", "put", &first, "tick", "pool=7", &format!("tick={tick}"), "liquidity=9"]);
    }
    assert!(said(&["db", "get", &first, "tick", "pool=7", "tick=2"]).contains("liquidity=9"));
    assert_eq!(
        said(&["db", "scan", &first, "tick", "pool=7"]).lines().filter(|line| line.contains("tick=")).count(),
        3
    );
    assert!(said(&["db", "scan", &first, "tick", "pool=7", "--rev", "--limit", "1"]).contains("tick=3"));
    assert!(said(&["db", "stats", &first]).contains("tick"));
    said(&["db", "verify", &first]);
    said(&["db", "audit", &first]);
    assert!(said(&["db", "plan", &first]).contains("plan demo"));
    let dump = path("rows.jsonl");
    said(&["db", "dump", &first, "--output", &dump]);

    // To another engine and back: the rows are the same everywhere.
    let copied = said(&["db", "copy", &first, &path("copy"), "--engine", "redb"]);
    assert!(
        copied.contains("cl  3 rows") && copied.contains("numbers and checksums of both sides agree"),
        "{copied}"
    );
    let copied = said(&["db", "copy", &path("copy"), &second]);
    assert!(
        copied.contains("copied 3 rows to `postgres://127.0.0.1/postgres?schema=second` on postgres"),
        "{copied}"
    );
    let sums = |place: &str| -> Vec<String> {
        said(&["db", "checksum", place])
            .lines()
            .filter(|line| line.contains("tick"))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(sums(&first), sums(&second));
    assert_eq!(sums(&first), sums(&path("copy")));
    said(&["db", "diff", &first, &second]);

    said(&["db", "delete", &first, "tick", "pool=7", "tick=2"]);
    assert_eq!(
        said(&["db", "scan", &first, "tick", "pool=7"]).lines().filter(|line| line.contains("tick=")).count(),
        2
    );
    said(&["db", "load", &first, &dump]);
    assert_eq!(sums(&first), sums(&second));

    // The engine and the URL in place of DIR.
    let word = said(&["db", "get", "--engine", "postgres", "--url", &first, "tick", "pool=7", "tick=2"]);
    assert!(word.contains("liquidity=9"), "{word}");
    said(&["db", "verify", "--url", &first]);
    let demo = said(&["demo", "--rows", "3000", "--engine", "postgres", "--url", &url("demo")]);
    assert!(demo.contains("written to postgres://127.0.0.1/postgres?schema=demo"), "{demo}");
    let refused = keyplan(&["db", "plan", &first, &first]);
    assert!(!String::from_utf8(refused.stderr).unwrap().contains("hush"));

    // A password in an argument is seen by everybody who lists processes.
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyplan"));
    let output = command.args(["db", "stats", "postgres:"]).env("KEYPLAN_URL", &second).output().unwrap();
    assert!(output.status.success() && !String::from_utf8_lossy(&output.stdout).contains("hush"));
}

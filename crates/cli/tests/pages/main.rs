//! The pages that people read are run: files are written as they show them, commands are typed, and what they print is what the
//! page says.
//!
//! A block of `console` holds commands after `$ `, each with what it prints. A block after a line such as `` `a.keyplan`: `` is
//! that file. All blocks of a page share one folder, in which `plans`, `docs` and `testdata` are those of the repository, and
//! `node/data/application.db` is the database of a node, `keys.txt` a list of keys. Servers that a page names are started for it. A command that opens the
//! explorer is left as soon as its address has answered.
//! `KEYPLAN_BLESS=1` writes what the commands print into the pages.
#![cfg(test)]

mod servers;

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use servers::Servers;

#[test]
fn pages_say_what_their_commands_print() {
    let pages = pages_with_commands();
    assert!(pages.len() > 5, "{pages:?}");
    let mut wrong = Vec::new();
    for page in pages {
        let path = root().join(&page);
        let text = std::fs::read_to_string(&path).unwrap();
        let Some(found) = run_all(&text) else { continue };
        if std::env::var_os("KEYPLAN_BLESS").is_some() {
            std::fs::write(&path, found).unwrap();
        } else if found != text {
            let line = found.lines().zip(text.lines()).position(|(found, said)| found != said);
            wrong.push(format!("{page}:{}: its commands print\n{found}", line.map_or(0, |line| line + 1)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every page under `docs` with a block of commands, but for those that are written from the code. Those of the README are
/// refreshed by `cargo xtask generate`.
fn pages_with_commands() -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    let runs = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        !text.starts_with("<!-- Written by") && text.contains("\n```console\n")
    };
    let name = |path: &PathBuf| path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
    let mut pages: Vec<String> = found.iter().filter(|path| runs(path)).map(name).collect();
    pages.sort();
    pages
}

/// The page with what its commands really print, unless a server that it needs cannot be had here.
fn run_all(text: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let servers = Servers::of(text, folder.path())?;
    for shared in ["plans", "docs", "testdata"] {
        symlink(root().join(shared), folder.path().join(shared)).unwrap();
    }
    // A node's data, as its own code wrote it.
    std::fs::create_dir_all(folder.path().join("node/data")).unwrap();
    let database = root().join("testdata/databases/iavl-1.3.5/application.db");
    symlink(database, folder.path().join("node/data/application.db")).unwrap();
    symlink(root().join("testdata/draft/keys.txt"), folder.path().join("keys.txt")).unwrap();
    let mut out = String::new();
    let mut lines = text.lines();
    let mut file: Option<String> = None;
    while let Some(line) = lines.next() {
        writeln!(out, "{line}").unwrap();
        let Some(mark) = line.strip_prefix("```") else {
            if !line.is_empty() {
                let name = line.strip_prefix('`').and_then(|rest| rest.strip_suffix("`:"));
                file = name.map(str::to_owned);
            }
            continue;
        };
        let inside: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if mark == "console" {
            for command in inside.iter().filter_map(|line| line.strip_prefix("$ ")) {
                let typed = servers.command(command);
                let found = if typed.starts_with("keyplan explore ") {
                    explored(&typed, folder.path())
                } else {
                    said(&typed, folder.path())
                };
                writeln!(out, "$ {command}\n{}", servers.output(&found)).unwrap();
            }
            // One empty line between commands, none at the end.
            out.truncate(out.trim_end().len());
            out.push('\n');
        } else {
            let body = inside.join("\n") + "\n";
            if let Some(name) = file.take() {
                std::fs::write(folder.path().join(name), &body).unwrap();
            }
            out.push_str(&body);
        }
        out.push_str("```\n");
    }
    Some(out)
}

/// A line of a shell, in a folder, with the command that was built.
fn shell(command: &str, home: &Path) -> Command {
    let binaries = Path::new(env!("CARGO_BIN_EXE_keyplan")).parent().unwrap();
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(command)
        .current_dir(home)
        .envs([("PATH", path.as_str()), ("NO_COLOR", "1"), ("COLUMNS", "120")])
        .env_remove("GITHUB_ACTIONS")
        .env_remove("KEYPLAN_URL")
        .stdin(Stdio::null());
    shell
}

fn said(command: &str, home: &Path) -> String {
    let done = shell(&format!("{{ {command}\n}} 2>&1"), home).output().unwrap();
    // How long it took is another time each time.
    String::from_utf8(done.stdout).unwrap().lines().map(|line| timeless(line).to_owned() + "\n").collect()
}

fn timeless(line: &str) -> &str {
    match line.rsplit_once(", in ") {
        Some((before, time)) if time.ends_with(" ms") => before,
        _ => line,
    }
}

/// What `keyplan explore` prints, once what it serves has answered. The port and the secret are others each time.
fn explored(command: &str, home: &Path) -> String {
    let mut running = shell(&format!("exec {command}"), home).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(running.stdout.take().unwrap()).lines().map_while(Result::ok);
    // The last line says how it is ended.
    let mut printed = String::new();
    for line in lines {
        writeln!(printed, "{line}").unwrap();
        if line.starts_with("Ctrl-C") {
            break;
        }
    }
    let address =
        printed.split_whitespace().find_map(|word| word.strip_prefix("http://")).expect("an address");
    let (host, token) = address.split_once("/?token=").unwrap();
    let port = host.rsplit_once(':').unwrap().1;
    let mut stream = TcpStream::connect(host).unwrap();
    let cookie = format!("Cookie: keyplan_{port}={token}");
    write!(stream, "GET /api/overview HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{cookie}\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"families\""), "{answer}");
    running.kill().unwrap();
    running.wait().unwrap();
    printed.replace(port, "PORT").replace(token, "…")
}

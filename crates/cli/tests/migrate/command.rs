//! The commands: a release, what a change means, a database carried over, killed, gone on with and brought back.

use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::Instant;

use keyplan_store::engine::{Durability, Engine, Error, Fjall, FjallSettings, Memory, Redb, RedbSettings};
use keyplan_store::structure::{Command as Change, Embedded, SetScore, Structures as _};
use keyplan_store::{Schema, Store};

use crate::support::{Rows, fill, folder, path, plan, rows};

pub(crate) fn keyplan(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyplan"));
    command.args(args).env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

pub(crate) fn said(args: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = keyplan(args).output().unwrap();
    (status.code(), format!("{}{}", String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap()))
}

pub(crate) const OLD: &str = "plan positions;\n\nspace cl {\n    key position = 0x08 id: u64.dec;\n    key owner = 0x02 owner: bytes(20).hex \"/\" id: u64.dec;\n}\n";
pub(crate) const NEW: &str = "plan positions;\n\nspace cl {\n    retired 0x02 \"owners in hex\";\n\n    key position = 0x08 id: u64.dec;\n    key owner = 0x12 owner: bytes(20).bech32(\"osmo\") \"/\" id: u64.dec\n        allow break(moved) \"bech32 is easier on the eye\";\n}\n";

#[test]
fn a_release_is_compared_with_and_never_forgotten() {
    let folder = folder("release");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("positions.keyplan");
    let file = path(&file).to_owned();
    std::fs::write(&file, OLD).unwrap();
    let (code, text) = said(&["release", &file, "--date", "2026-11-16"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("released positions as \"1\": fingerprint "), "{text}");
    let (code, text) = said(&["release", &file]);
    assert_eq!((code, text.as_str()), (Some(0), "nothing has moved since release \"1\" of 2026-11-16\n"));
    // A prefix that is given up without a word.
    std::fs::write(&file, NEW.replace("    retired 0x02 \"owners in hex\";\n\n", "")).unwrap();
    let (code, text) = said(&["check", &file]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("KP0036") && text.contains("retired 0x02"), "{text}");
    let (code, text) = said(&["release", &file]);
    assert_eq!(code, Some(1), "{text}");
    std::fs::write(&file, NEW).unwrap();
    let (code, text) = said(&["check", &file]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = said(&["migrate", "plan", &file]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("moved to cl.owner"), "{text}");
    assert_eq!(said(&["release", &file, "--name", "v2"]).0, Some(0));
    // A release that was edited.
    let lock = folder.join("keyplan.lock");
    let text = std::fs::read_to_string(&lock).unwrap();
    std::fs::write(&lock, text.replacen("0x08", "0x09", 1)).unwrap();
    let (code, text) = said(&["check", &file]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("was edited, moved or taken out"), "{text}");
}

#[test]
fn no_comparison_and_no_baseline_hides_a_prefix_that_was_forgotten() {
    let folder = folder("hidden");
    std::fs::create_dir_all(&folder).unwrap();
    let (file, lock) = (folder.join("positions.keyplan"), folder.join("released.lock"));
    let file = path(&file);
    // The project says what the lock is called.
    std::fs::write(folder.join("keyplan.toml"), "[project]\nlock = \"released.lock\"\n").unwrap();
    std::fs::write(file, OLD).unwrap();
    let (code, text) = said(&["release", file, "--date", "2026-11-16"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("released.lock`") && lock.exists() && !folder.join("keyplan.lock").exists(),
        "{text}"
    );
    let forgets = NEW.replace("    retired 0x02 \"owners in hex\";\n\n", "");
    std::fs::write(file, &forgets).unwrap();
    // The way that is no break of another version, without a proof, and with everything that is known.
    for more in [&[][..], &["--against", file], &["--no-proof"]] {
        let (code, text) = said(&[&["check", file][..], more].concat());
        assert_eq!(code, Some(1), "{more:?} {text}");
        assert!(text.contains("KP0036") && text.contains("retired 0x02"), "{more:?} {text}");
    }
    let baseline = folder.join("baseline");
    let known = ["check", file, "--baseline", path(&baseline)];
    let (code, text) = said(&[&known[..], &["--write-baseline"]].concat());
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = said(&known);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("KP0036"), "{text}");
    // Without its last release the lock is not trusted.
    std::fs::write(file, NEW).unwrap();
    assert_eq!(said(&["release", file]).0, Some(0));
    let text = std::fs::read_to_string(&lock).unwrap();
    let second = text.find("\nrelease \"2\"").unwrap();
    std::fs::write(&lock, &text[..second]).unwrap();
    let (code, text) = said(&["check", file]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("one after it was taken out"), "{text}");
    // A lock that is not beside the plan is none.
    std::fs::write(folder.join("keyplan.toml"), "[project]\nlock = \"../released.lock\"\n").unwrap();
    let (code, text) = said(&["check", file]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("line 2: `lock` is the name of a file"), "{text}");
}

#[test]
fn a_lock_that_was_committed_is_missed() {
    let folder = folder("committed");
    std::fs::create_dir_all(&folder).unwrap();
    let git = |args: &[&str]| {
        let name = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"];
        let done = Command::new("git").arg("-C").arg(&folder).args(name).args(args).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    let (file, lock) = (folder.join("positions.keyplan"), folder.join("keyplan.lock"));
    let file = path(&file);
    std::fs::write(file, OLD).unwrap();
    git(&["init", "--quiet"]);
    // A release that was never committed may be thought better of.
    assert_eq!(said(&["release", file]).0, Some(0));
    std::fs::remove_file(&lock).unwrap();
    assert_eq!(said(&["check", file]).0, Some(0));
    assert_eq!(said(&["release", file]).0, Some(0));
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "released"]);
    let text = std::fs::read_to_string(&lock).unwrap();
    assert_eq!(said(&["check", file]).0, Some(0));
    std::fs::remove_file(&lock).unwrap();
    for what in ["check", "release"] {
        let (code, text) = said(&[what, file]);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains("is in the last commit and not there any more"), "{text}");
    }
    // A lock of nothing, which is sound by itself.
    std::fs::write(&lock, "keyplan-lock 1\n").unwrap();
    let (code, said_of_it) = said(&["check", file]);
    assert_eq!(code, Some(2), "{said_of_it}");
    assert!(said_of_it.contains("release \"1\" of positions is in the last commit"), "{said_of_it}");
    // It may grow.
    std::fs::write(&lock, text).unwrap();
    std::fs::write(file, NEW).unwrap();
    assert_eq!(said(&["release", file]).0, Some(0));
    assert_eq!(said(&["check", file]).0, Some(0));
}

/// The plan that forgets what the old one has used.
fn forgets() -> String {
    NEW.replace("    retired 0x02 \"owners in hex\";\n\n", "")
}

/// A repository of git with a plan that is released and committed.
fn released(name: &str) -> (std::path::PathBuf, impl Fn(&[&str])) {
    let folder = folder(name);
    std::fs::create_dir_all(&folder).unwrap();
    let there = folder.clone();
    let git = move |args: &[&str]| {
        let name = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"];
        let done = Command::new("git").arg("-C").arg(&there).args(name).args(args).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    let file = folder.join("positions.keyplan");
    std::fs::write(&file, OLD).unwrap();
    assert_eq!(said(&["release", path(&file)]).0, Some(0));
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "released"]);
    (folder, git)
}

#[test]
fn a_release_that_a_commit_took_out_is_compared_with() {
    let (folder, git) = released("taken-out");
    let (file, lock) = (folder.join("positions.keyplan"), folder.join("keyplan.lock"));
    let file = path(&file);
    std::fs::write(file, NEW).unwrap();
    assert_eq!(said(&["release", file]).0, Some(0));
    git(&["commit", "--quiet", "-a", "-m", "released again"]);
    // The last release is cut, and the line that repeats its seal is made to fit.
    let text = std::fs::read_to_string(&lock).unwrap();
    let first = &text[..text.find("\nrelease \"2\"").unwrap()];
    let seal = first.lines().last().unwrap().strip_prefix("seal ").unwrap();
    let last = first.lines().nth(1).unwrap();
    std::fs::write(&lock, first.replacen(last, &format!("last {seal}"), 1)).unwrap();
    std::fs::write(file, OLD).unwrap();
    git(&["commit", "--quiet", "-a", "-m", "cut"]);
    // A commit later the last one knows nothing of it.
    git(&["commit", "--quiet", "--allow-empty", "-m", "more"]);
    let (code, text) = said(&["check", file]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("release \"2\" wrote keys under it"), "{text}");
    // What it wrote is missed by a release, too.
    std::fs::write(file, OLD.replace("}\n", "    key more = 0x20 id: u64;\n}\n")).unwrap();
    let (code, text) = said(&["release", file]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("release \"2\" wrote keys under it"), "{text}");
    // So it is where the lock as a whole was taken out.
    git(&["rm", "--quiet", "keyplan.lock"]);
    git(&["commit", "--quiet", "-m", "no lock"]);
    std::fs::write(file, forgets()).unwrap();
    let (code, text) = said(&["check", file]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("KP0036") && text.contains("retired 0x02"), "{text}");
}

#[test]
fn a_hook_of_git_reads_the_lock_of_the_last_commit() {
    let (folder, _) = released("hook");
    std::fs::remove_file(folder.join("keyplan.lock")).unwrap();
    let file = folder.join("positions.keyplan");
    let mut check = keyplan(&["check", path(&file)]);
    let Output { status, stderr, .. } = check.env("GIT_DIR", ".git").output().unwrap();
    assert_eq!(status.code(), Some(2));
    assert!(String::from_utf8(stderr).unwrap().contains("is in the last commit and not there any more"));
}

#[test]
fn a_plan_that_moved_to_another_folder_needs_its_lock() {
    let (folder, git) = released("moved");
    std::fs::create_dir_all(folder.join("plans")).unwrap();
    git(&["mv", "positions.keyplan", "plans/positions.keyplan"]);
    let moved = folder.join("plans/positions.keyplan");
    std::fs::write(&moved, forgets()).unwrap();
    for what in ["check", "release"] {
        let (code, text) = said(&[what, path(&moved)]);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains("where its file is not any more: bring them to"), "{text}");
    }
    git(&["mv", "keyplan.lock", "plans/keyplan.lock"]);
    let (code, text) = said(&["check", path(&moved)]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("KP0036"), "{text}");
    // While that one is there, one of the same name in a third folder is another one.
    std::fs::create_dir_all(folder.join("other")).unwrap();
    let other = folder.join("other/positions.keyplan");
    std::fs::write(&other, forgets()).unwrap();
    assert_eq!(said(&["check", path(&other)]).0, Some(0));
}

#[test]
fn a_link_to_a_plan_has_the_releases_of_the_plan() {
    let folder = folder("link");
    std::fs::create_dir_all(folder.join("links")).unwrap();
    let (file, link) = (folder.join("positions.keyplan"), folder.join("links/link.keyplan"));
    std::os::unix::fs::symlink("../positions.keyplan", &link).unwrap();
    std::fs::write(&file, OLD).unwrap();
    assert_eq!(said(&["release", path(&link)]).0, Some(0));
    let lock = folder.join("keyplan.lock");
    let text = std::fs::read_to_string(&lock).unwrap();
    assert!(text.contains("\nfile \"positions.keyplan\"\n"), "{text}");
    std::fs::write(&file, forgets().replace("plan positions", "plan places")).unwrap();
    for file in [&file, &link] {
        let (code, text) = said(&["check", path(file)]);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("KP0036"), "{text}");
    }
    // A lock that is a link to nothing is one that cannot be read.
    std::fs::remove_file(&lock).unwrap();
    std::os::unix::fs::symlink("nowhere", &lock).unwrap();
    let (code, text) = said(&["check", path(&file)]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("cannot read `"), "{text}");
}

#[test]
fn a_project_that_gives_its_lock_another_name_brings_the_releases_along() {
    let folder = folder("other-name");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("positions.keyplan");
    let file = path(&file);
    std::fs::write(file, OLD).unwrap();
    assert_eq!(said(&["release", file]).0, Some(0));
    std::fs::write(file, forgets()).unwrap();
    std::fs::write(folder.join("keyplan.toml"), "[project]\nlock = \"released.lock\"\n").unwrap();
    let (code, text) = said(&["check", file]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("releases of positions are in `") && text.contains("keyplan.lock`"), "{text}");
    std::fs::rename(folder.join("keyplan.lock"), folder.join("released.lock")).unwrap();
    let (code, text) = said(&["check", file]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("KP0036"), "{text}");
    // What the file is called says that it is a lock, so that it is found under any such name.
    std::fs::write(folder.join("keyplan.toml"), "[project]\nlock = \"releases\"\n").unwrap();
    let (code, text) = said(&["check", file]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("line 2: `lock` is the name of a file"), "{text}");
}

#[test]
fn what_is_not_a_lock_is_told_with_a_way_out() {
    let folder = folder("no-lock");
    std::fs::create_dir_all(&folder).unwrap();
    let (file, lock) = (folder.join("positions.keyplan"), folder.join("keyplan.lock"));
    let file = path(&file);
    std::fs::write(file, OLD).unwrap();
    assert_eq!(said(&["release", file]).0, Some(0));
    let text = std::fs::read_to_string(&lock).unwrap();
    let last = text.lines().nth(1).unwrap();
    let conflict = format!("<<<<<<< HEAD\n{last}\n=======\nlast 00\n>>>>>>> branch");
    let told = |content: &[u8]| {
        std::fs::write(&lock, content).unwrap();
        let (code, text) = said(&["check", file]);
        assert_eq!(code, Some(2), "{text}");
        text
    };
    let said_of_it = told(text.replacen(last, &conflict, 1).as_bytes());
    assert!(said_of_it.contains("line 2: two branches have both added releases"), "{said_of_it}");
    assert!(told(b"\xff\xfe\x00").contains("cannot be trusted: line 1: it is not text"));
    assert!(told(b"").contains("line 1: expected `keyplan-lock 1`"));
    // Ends of lines are those of the system that it was checked out on.
    std::fs::write(&lock, text.replace('\n', "\r\n")).unwrap();
    assert_eq!(said(&["check", file]).0, Some(0));
    std::fs::write(file, forgets()).unwrap();
    assert_eq!(said(&["check", file]).0, Some(1));
}

#[test]
fn a_prefix_that_is_retired_is_not_taken_by_one_that_accepts_it() {
    let folder = folder("accepted");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("p.keyplan");
    let file = path(&file);
    let plan = |text: &str| format!("plan p;\n\nspace s {{\n    key a = 0x01 x: u64;\n{text}}}\n");
    std::fs::write(file, plan("    key b = 0x02 x: u64;\n")).unwrap();
    assert_eq!(said(&["release", file]).0, Some(0));
    std::fs::write(file, plan("    retired 0x02 \"b\";\n    drop s.b \"nobody reads it\";\n")).unwrap();
    assert_eq!(said(&["release", file]).0, Some(0));
    let taken = "    retired 0x02 \"b\";\n    key c = 0x02 y: u64 accept misallotted \"why not\";\n";
    std::fs::write(file, plan(taken)).unwrap();
    for more in [&[][..], &["--against", file], &["--no-proof"]] {
        let (code, text) = said(&[&["check", file][..], more].concat());
        assert_eq!(code, Some(1), "{more:?} {text}");
        assert!(text.contains("`s.c` takes keys under 02"), "{more:?} {text}");
    }
}

#[test]
fn what_is_no_database_is_named_for_what_it_is() {
    let folder = folder("none");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("p.keyplan");
    std::fs::write(&file, OLD).unwrap();
    let migrate = |data: &std::path::Path| said(&["db", "migrate", path(data), "--to", path(&file)]);
    let (code, text) = migrate(&file);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.ends_with("is not a database: it is a file\n"), "{text}");
    let (_, text) = migrate(&folder);
    assert!(text.ends_with("is not a database: it is a directory with other files in it\n"), "{text}");
    let (_, text) = migrate(&folder.join("data"));
    assert!(text.contains("keyplan db create"), "{text}");
}

#[test]
fn what_is_proved_of_a_release_is_in_the_report_the_certificate_and_the_reference() {
    let folder = folder("joined");
    std::fs::create_dir_all(&folder).unwrap();
    let (file, certificate) = (folder.join("positions.keyplan"), folder.join("proof.json"));
    let (file, certificate) = (path(&file), path(&certificate));
    std::fs::write(file, OLD).unwrap();
    assert_eq!(said(&["release", file, "--name", "v1"]).0, Some(0));
    // Nothing has moved: there is nothing to say.
    let (_, text) = said(&["check", file, "--format", "json"]);
    assert!(!text.contains("\"migration\""), "{text}");
    std::fs::write(file, NEW).unwrap();
    let (code, text) = said(&["check", file, "--format", "json", "--certificate", certificate]);
    assert_eq!(code, Some(0), "{text}");
    let json = &text[..=text.rfind("}\n").unwrap()];
    let report: serde_json::Value = serde_json::from_str(json).unwrap();
    let migration = &report["plans"][0]["against"]["migration"];
    let told: Vec<String> = migration["obligations"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|duty| duty["from"] == "cl.owner")
        .map(|duty| format!("{} {}", duty["obligation"].as_str().unwrap(), duty["verdict"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        ["complete proved", "total proved", "injective proved", "readable proved", "apart proved"]
    );
    let route = &migration["routes"][1];
    assert_eq!((&route["from"], &route["course"]), (&"cl.owner".into(), &"moved".into()));
    assert_eq!(route["arguments"][0], serde_json::json!({"argument": "owner", "from": "owner"}));
    assert!(route["example"]["old"].as_str().unwrap().starts_with("02"), "{route}");
    assert!(route["example"]["new"].as_str().unwrap().starts_with("126f736d6f31"), "{route}");
    // The certificate is checked with the release in the lock, and what is not proved of it is refused.
    let (code, text) = said(&["verify", certificate, file]);
    assert_eq!(code, Some(0), "{text}");
    let proved = std::fs::read_to_string(certificate).unwrap();
    assert!(proved.contains("\"release\": \"v1\""), "{proved}");
    let forged = proved.replacen("\"obligation\": \"total\"", "\"obligation\": \"complete\"", 1);
    std::fs::write(certificate, forged).unwrap();
    let (code, text) = said(&["verify", certificate, file]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("it is not what is proved of it"), "{text}");
    std::fs::write(certificate, &proved).unwrap();
    std::fs::remove_file(folder.join("keyplan.lock")).unwrap();
    let (code, text) = said(&["verify", certificate, file]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("is not in a lock beside the plan"), "{text}");
    // The reference has a section about it.
    std::fs::write(file, OLD).unwrap();
    assert_eq!(said(&["release", file, "--name", "v1"]).0, Some(0));
    assert!(!said(&["doc", file]).1.contains("From release"));
    std::fs::write(file, NEW).unwrap();
    let (code, text) = said(&["doc", file]);
    assert_eq!(code, Some(0), "{text}");
    let row = "| `cl.owner` | moved to `cl.owner` | proved | proved | proved | proved | proved |";
    assert!(text.contains("## From release `v1`") && text.contains(row), "{text}");
}

#[test]
fn a_plan_and_its_file_that_are_renamed_at_once_keep_their_releases() {
    let folder = folder("renamed");
    std::fs::create_dir_all(&folder).unwrap();
    let (before, after) = (folder.join("positions.keyplan"), folder.join("places.keyplan"));
    std::fs::write(&before, OLD).unwrap();
    assert_eq!(said(&["release", path(&before)]).0, Some(0));
    // Beside the plan that was released another one is another one, also with a space of the same name.
    let other =
        NEW.replace("plan positions", "plan places").replace("    retired 0x02 \"owners in hex\";\n\n", "");
    std::fs::write(&after, &other).unwrap();
    assert_eq!(said(&["check", path(&after)]).0, Some(0));
    std::fs::remove_file(&before).unwrap();
    let (code, text) = said(&["check", path(&after)]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("KP0036") && text.contains("retired 0x02"), "{text}");
    std::fs::write(&after, NEW.replace("plan positions", "plan places")).unwrap();
    assert_eq!(said(&["release", path(&after)]).0, Some(0));
    // With a release of its own it is compared with that one.
    std::fs::write(&after, &other).unwrap();
    let (code, text) = said(&["check", path(&after)]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("the prefix 02 was retired, and is not any more"), "{text}");
    // The releases under the other name are its past also now.
    assert!(text.contains("release \"1\" wrote keys under it"), "{text}");
}

pub(crate) fn owners(count: u64) -> Rows {
    let mut rows = Rows::new();
    for n in 0..count {
        rows.insert(("cl".to_owned(), format!("\x08{n}").into_bytes()), n.to_be_bytes().to_vec());
        let owner = format!("{n:016x}{n:016x}{:08x}", n % 7);
        rows.insert(("cl".to_owned(), format!("\x02{owner}/{n}").into_bytes()), vec![1]);
    }
    rows
}

/// What is carried: the new plan, the old database, and its rows at the end.
struct Case<'a, E> {
    new: &'a str,
    fill: &'a dyn Fn(E),
    after: &'a dyn Fn(&Rows),
}

/// Kills migrations at moments that are spread over their time, goes on, and goes back; rows must be all there.
fn killed<E: Engine>(name: &str, open: &dyn Fn(&std::path::Path) -> E, case: &Case<'_, E>) {
    let (home, rounds) = (folder(name), rounds());
    std::fs::create_dir_all(&home).unwrap();
    let file = home.join("new.keyplan");
    std::fs::write(&file, case.new).unwrap();
    let data = home.join("data");
    (case.fill)(open(&data));
    let before = rows(&open(&data));
    let migrate = |more: &[&str]| {
        let mut args = vec!["db", "migrate", path(&data)];
        args.extend(more);
        keyplan(&args)
    };
    // Kills are spread over the time that a whole migration takes on this machine, now; what else it does may change that.
    let begun = Instant::now();
    let whole = migrate(&["--apply", "--batch=3", "--to", path(&file)]).output().unwrap();
    assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));
    let mut whole = begun.elapsed();
    let anew = || {
        std::fs::remove_dir_all(&data).unwrap();
        (case.fill)(open(&data));
    };
    anew();
    let (mut forth, mut middle) = (true, 0);
    for round in 0..rounds {
        let way = if forth { ["--apply", "--batch=3"] } else { ["--undo", "--batch=3"] };
        let mut command = migrate(&way);
        let begun = keyplan_store::migrate::pending_plan(&open(&data)).unwrap();
        if forth && begun.is_empty() {
            command.args(["--to", path(&file)]);
        }
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole * u32::try_from(10 + round * 37 % 90).unwrap() / 100);
        child.kill().unwrap();
        child.wait().unwrap();
        let on_the_way = !keyplan_store::migrate::pending_plan(&open(&data)).unwrap().is_empty();
        middle += u64::from(on_the_way);
        if !on_the_way && rows(&open(&data)) != before {
            // It came to its end, so that the next is killed sooner: start again.
            whole = whole * 4 / 5;
            anew();
        } else if !on_the_way && forth {
            // It had not begun.
            whole = whole * 6 / 5;
        }
        // One that was killed in the middle goes back every third time, and then forth again.
        forth = !on_the_way || round % 3 != 0;
    }
    assert!(middle > 0, "none was killed in the middle");
    if !keyplan_store::migrate::pending_plan(&open(&data)).unwrap().is_empty() {
        let done = migrate(&["--undo"]).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        assert!(rows(&open(&data)) == before);
    }
    let done = migrate(&["--apply", "--to", path(&file)]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    (case.after)(&rows(&open(&data)));
}

fn killed_with_rows<E: Engine>(name: &str, open: &dyn Fn(&std::path::Path) -> E) {
    let before = owners(2_000);
    let after = |found: &Rows| {
        assert_eq!(found.len(), before.len());
        assert!(found.keys().all(|(_, key)| key[0] != 0x02));
    };
    killed(
        name,
        open,
        &Case { new: NEW, fill: &|engine| fill(engine, &plan("old", OLD), &before), after: &after },
    );
}

const OLD_STRUCTURES: &str = "plan p;\n\nspace s {\n    hash out = \"h:\" id: u32.dec\n        field data = \"d:\" tag: u16.dec -> raw;\n    set names = \"s:\" name: u8.dec\n        member token: u64.dec;\n    zset events = \"z:\" event: u8.dec\n        member id: u64.dec\n        score at: score;\n    queue work = \"q:\" line: u8.dec\n        member id: u64.dec\n        score at: score;\n}\n";

/// Members in binary, and sorted sets and queues have each other's prefix.
fn new_structures() -> String {
    let text = OLD_STRUCTURES.replace("u64.dec", "u64").replace("u16.dec", "u16");
    text.replace("\"z:\"", "\"x:\"").replace("\"q:\"", "\"z:\"").replace("\"x:\"", "\"q:\"")
}

/// Makes the same structures under either plan.
fn fill_structures<E: Engine>(engine: E, text: &str) {
    let new = text != OLD_STRUCTURES;
    let made = Store::create(engine, &Schema::of(&plan("p", text)).unwrap()).unwrap();
    let structures = Embedded::open(Arc::new(made), "s").unwrap();
    let (zset, queue) = if new { ("q:", "z:") } else { ("z:", "q:") };
    for n in 0..300_u64 {
        let key = |prefix: &str| format!("{prefix}{}", n % 3).into_bytes();
        let member = if new { n.to_be_bytes().to_vec() } else { n.to_string().into_bytes() };
        let tag = u16::try_from(n).unwrap();
        let field = if new { tag.to_be_bytes().to_vec() } else { tag.to_string().into_bytes() };
        let field = [b"d:", &field[..]].concat();
        let score = SetScore::confirmed(tag.into(), 1);
        let (hash, set, zset, queue) = (key("h:"), key("s:"), key(zset), key(queue));
        let commands = [
            Change::HashSet { key: &hash, field: &field, value: &[7] },
            Change::SetAdd { key: &set, member: &member },
            Change::ZsetAdd { key: &zset, member: &member, score },
            Change::QueuePush { key: &queue, member: &member, score },
        ];
        structures.apply(&commands, Durability::Buffer).unwrap();
    }
}

fn killed_with_structures<E: Engine>(name: &str, open: &dyn Fn(&std::path::Path) -> E) {
    let (expected, new) = (Memory::new(), new_structures());
    fill_structures(expected.clone(), &new);
    let after = |found: &Rows| assert!(*found == rows(&expected), "not what the new plan would have made");
    let fill = |engine| fill_structures(engine, OLD_STRUCTURES);
    killed(name, open, &Case { new: &new, fill: &fill, after: &after });
}

#[test]
fn rows_without_a_new_key_are_set_aside_on_request_and_listed() {
    let home = folder("parked");
    std::fs::create_dir_all(&home).unwrap();
    let file = home.join("new.keyplan");
    std::fs::write(&file, NEW).unwrap();
    let data = home.join("data");
    let mut filled = owners(3);
    filled.insert(("cl".to_owned(), vec![0x77, 0x01]), vec![0xab]);
    fill(Redb::open(&data, RedbSettings::default()).unwrap(), &plan("old", OLD), &filled);
    let (code, text) = said(&["db", "migrate", path(&data), "--to", path(&file), "--apply"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("! unreadable: 1 row of no family\n    cl 7701: "), "{text}");
    assert!(text.ends_with("nothing was written: --park sets rows aside that have no new key\n"), "{text}");
    // A copy is refused, too, and what was begun of it is taken away again.
    let copy = home.join("copy");
    let (code, text) = said(&["db", "migrate", path(&data), "--to", path(&file), "--into", path(&copy)]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("! unreadable: 1 row of no family\n    cl 7701: "), "{text}");
    assert!(text.ends_with("nothing was written: --park sets rows aside that have no new key\n"), "{text}");
    assert!(!copy.exists());
    let (code, text) = said(&["db", "migrate", path(&data), "--to", path(&file), "--apply", "--park"]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = said(&["db", "parked", path(&data)]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("cl  0x7701: ") && text.ends_with("\n1 row set aside\n"), "{text}");
    let (_, text) = said(&["db", "parked", path(&data), "--format", "json"]);
    assert!(text.starts_with("{\"space\":\"cl\",\"key\":\"7701\",\"value\":\"ab\",\"why\":\""), "{text}");
}

/// Opens a database that this process may have had open a moment ago: on a busy machine the engine's threads end late.
fn opened<E>(open: impl Fn() -> Result<E, Error>) -> E {
    let begun = Instant::now();
    loop {
        match open() {
            Err(Error::AlreadyOpen { .. }) if begun.elapsed().as_secs() < 60 => {}
            done => return done.unwrap(),
        }
    }
}

fn rounds() -> u64 {
    std::env::var("KEYPLAN_MIGRATION_KILLS").map_or(20, |rounds| rounds.parse().unwrap())
}

#[test]
fn a_migration_on_fjall_survives_being_killed() {
    killed_with_rows("killed-fjall", &|path| opened(|| Fjall::open(path, FjallSettings::default())));
}

#[test]
fn a_migration_on_redb_survives_being_killed() {
    killed_with_rows("killed-redb", &|path| opened(|| Redb::open(path, RedbSettings::default())));
}

#[test]
fn a_migration_of_structures_on_fjall_survives_being_killed() {
    killed_with_structures("killed-structures-fjall", &|path| {
        opened(|| Fjall::open(path, FjallSettings::default()))
    });
}

#[test]
fn a_migration_of_structures_on_redb_survives_being_killed() {
    killed_with_structures("killed-structures-redb", &|path| {
        opened(|| Redb::open(path, RedbSettings::default()))
    });
}

#[test]
fn a_dry_run_writes_nothing_and_says_what_would_be_done() {
    let home = folder("dry");
    std::fs::create_dir_all(&home).unwrap();
    let file = home.join("new.keyplan");
    std::fs::write(&file, NEW).unwrap();
    let data = home.join("data");
    let open = || Fjall::open(&data, FjallSettings::default()).unwrap();
    fill(open(), &plan("old", OLD), &owners(10));
    let (code, text) = said(&["db", "migrate", path(&data), "--to", path(&file)]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("20 rows: 10 moved, 0 dropped, 0 without a new key\n"), "{text}");
    assert!(text.ends_with("nothing was written: --apply does it\n"), "{text}");
    assert!(rows(&open()) == owners(10));
    let (code, text) = said(&["db", "migrate", path(&data), "--undo", "--to", path(&file)]);
    assert_eq!(
        (code, text.as_str()),
        (Some(2), "error: the database is not in the middle of a migration: there is nothing to undo\n")
    );
    let (code, text) = said(&["db", "migrate", path(&data)]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("--to PLAN"), "{text}");
    let copy = home.join("copy");
    let (code, text) =
        said(&["db", "migrate", path(&data), "--to", path(&file), "--into", path(&copy), "--engine", "redb"]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = said(&["db", "migrate", path(&data), "--to", path(&file), "--apply"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(rows(&Redb::open(&copy, RedbSettings::default()).unwrap()) == rows(&open()));
    // Once more finds everything in its place.
    let (code, text) = said(&["db", "migrate", path(&data), "--to", path(&file)]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("20 rows: 0 moved, 0 dropped, 0 without a new key\n"), "{text}");
    let parked = said(&["db", "parked", path(&data)]);
    assert_eq!(parked, (Some(0), "0 rows set aside\n".to_owned()));
    let (code, text) = said(&["db", "verify", path(&data)]);
    assert_eq!(code, Some(0), "{text}");
}

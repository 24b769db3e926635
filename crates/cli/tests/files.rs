//! What the command does to files and pipes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn keyplan(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keyplan"));
    command.args(args).env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

fn run(args: &[&str]) -> Output {
    keyplan(args).output().unwrap()
}

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    folder
}

const UNTIDY: &str = "plan untidy;\nspace s{ key a=0x01 id:u64; }\n";
const TIDY: &str = "plan untidy;\n\nspace s {\n    key a = 0x01 id: u64;\n}\n";

#[test]
fn fmt_rewrites_a_file_once_and_leaves_nothing_behind() {
    let folder = folder("fmt");
    let path = folder.join("a.keyplan");
    fs::write(&path, UNTIDY).unwrap();
    for told in [format!("formatted {}\n", path.display()), String::new()] {
        let done = run(&["fmt", path.to_str().unwrap()]);
        assert_eq!(
            (done.status.code(), String::from_utf8_lossy(&done.stdout).as_ref()),
            (Some(0), told.as_str())
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), TIDY);
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn fmt_keeps_permissions_and_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = folder("links");
    let path = folder.join("a.keyplan");
    let link = folder.join("link.keyplan");
    fs::write(&path, UNTIDY).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&path, &link).unwrap();
    assert_eq!(run(&["fmt", link.to_str().unwrap()]).status.code(), Some(0));
    assert_eq!(fs::read_to_string(&path).unwrap(), TIDY);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn fmt_check_changes_nothing() {
    let path = folder("check").join("a.keyplan");
    fs::write(&path, UNTIDY).unwrap();
    assert_eq!(run(&["fmt", "--check", path.to_str().unwrap()]).status.code(), Some(1));
    assert_eq!(fs::read_to_string(&path).unwrap(), UNTIDY);
}

#[test]
fn doc_writes_the_same_page_to_a_file() {
    let path = folder("doc").join("market.md");
    let page = run(&["doc", "tests/plans/market.keyplan"]).stdout;
    for _ in 0..2 {
        let done = run(&["doc", "tests/plans/market.keyplan", "-o", path.to_str().unwrap()]);
        assert_eq!((done.status.code(), done.stdout.len()), (Some(0), 0));
        assert_eq!(fs::read(&path).unwrap(), page);
    }
}

#[test]
fn a_certificate_is_verified_against_its_plan_and_no_other() {
    let path = folder("certificate").join("pair.json");
    let path = path.to_str().unwrap();
    for _ in 0..2 {
        let done = run(&["check", "tests/plans/pair_v2.keyplan", "--certificate", path]);
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stdout));
    }
    let done = run(&["verify", path, "tests/plans/pair_v2.keyplan", "--format", "json"]);
    let outcome: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((done.status.code(), &outcome["verified"]), (Some(0), &serde_json::json!(true)));
    assert!(outcome["statements"].as_u64().unwrap() >= 4, "{outcome}");

    let done = run(&["verify", path, "tests/plans/pair.keyplan"]);
    assert_eq!(done.status.code(), Some(1));
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(text.starts_with("rejected: a certificate of `pair` ("), "{text}");

    let forged = fs::read_to_string(path).unwrap().replace("\"marked\"", "\"short\"");
    fs::write(path, forged).unwrap();
    assert_eq!(run(&["verify", path, "tests/plans/pair_v2.keyplan"]).status.code(), Some(1));
}

#[test]
fn an_earlier_version_is_read_from_git() {
    let folder = folder("git");
    let git = |args: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false"])
            .args(args)
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let text = "plan old;\nimport \"types.keyplan\";\nspace s {\n    key pool = 0x01 id: Pool;\n}\n";
    fs::write(folder.join("a.keyplan"), text).unwrap();
    fs::write(folder.join("types.keyplan"), "plan types;\ntype Pool = u64;\n").unwrap();
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "first"]);
    fs::write(folder.join("types.keyplan"), "plan types;\ntype Pool = u32;\n").unwrap();
    for against in ["git:HEAD", "git:HEAD:a.keyplan"] {
        let done =
            keyplan(&["check", "a.keyplan", "--against", against]).current_dir(&folder).output().unwrap();
        let text = String::from_utf8(done.stdout).unwrap();
        assert_eq!(done.status.code(), Some(1), "{text}");
        assert!(
            text.contains("error[KP0007]: the old keys of `s.pool` are now written differently\n"),
            "{text}"
        );
        assert!(text.contains("\nagainst git:HEAD:a.keyplan: 1 broken\n"), "{text}");
    }
    let done = keyplan(&["check", "a.keyplan", "--against", "git:--output=x"])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(!folder.join("x").exists());
}

#[test]
fn what_the_macro_makes_is_printed_as_rust() {
    let done = run(&["expand", "tests/plans/pair_v2.keyplan"]);
    let code = String::from_utf8(done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert!(code.contains("pub struct MarkedPair<"), "{code}");
    assert_eq!(run(&["expand", "tests/plans/pair_v2.keyplan"]).stdout, code.into_bytes());
}

#[test]
fn a_plan_over_the_limit_is_a_finding() {
    let path = folder("large").join("large.keyplan");
    fs::write(&path, format!("plan large;\n{}", "// filler\n".repeat(500_000))).unwrap();
    let done = run(&["check", path.to_str().unwrap()]);
    assert_eq!(done.status.code(), Some(1));
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(text.starts_with("error[KP0105]: the file is too large for a plan: over 4 MiB\n"), "{text}");
}

#[test]
fn a_plan_nested_without_end_is_a_finding() {
    let path = folder("deep").join("deep.keyplan");
    let deep =
        format!("plan deep;\nspace s {{ key k = a: {}u8{}; }}\n", "(b: ".repeat(10_000), ")".repeat(10_000));
    fs::write(&path, deep).unwrap();
    assert_eq!(run(&["check", path.to_str().unwrap()]).status.code(), Some(1));
}

#[test]
fn a_reader_that_goes_away_ends_the_command_quietly() {
    let mut child = keyplan(&["explain", "tests/plans/market.keyplan", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let line = b"01000000000000000705ffffffffffffff9c\n".repeat(1000);
    // The command may end before it has read everything.
    while stdin.write_all(&line).is_ok() {}
    drop(stdin);
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!((child.wait().unwrap().code(), message.as_str()), (Some(0), ""));
}

#[test]
fn colour_is_for_those_who_ask() {
    let args = ["explain", "tests/plans/market.keyplan", "10010000000000000001"];
    let plain = run(&args).stdout;
    assert!(!plain.contains(&0x1b));
    let coloured = run(&[&args[..], &["--color", "always"]].concat()).stdout;
    assert!(coloured.contains(&0x1b));
    let stripped = anstream::adapter::strip_str(std::str::from_utf8(&coloured).unwrap()).to_string();
    assert_eq!(stripped.as_bytes(), plain);
}

#[test]
fn the_language_and_completions_are_printed() {
    let language = run(&["language"]).stdout;
    assert_eq!(language, fs::read("../../docs/language.md").unwrap());
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let done = run(&["completions", shell]);
        assert_eq!(done.status.code(), Some(0), "{shell}");
        assert!(String::from_utf8(done.stdout).unwrap().contains("decompose"), "{shell}");
    }
}

#[test]
fn documents_of_the_five_plans_have_every_family() {
    for plan in ["osmosis_cl", "cosmwasm", "cardano", "paw", "onesat"] {
        let path = format!("../../plans/{plan}.keyplan");
        let page = String::from_utf8(run(&["doc", &path]).stdout).unwrap();
        let report: serde_json::Value =
            serde_json::from_slice(&run(&["check", &path, "--format", "json"]).stdout).unwrap();
        let families = page.lines().filter(|line| line.starts_with("Example: ")).count();
        assert_eq!(serde_json::json!(families), report["plans"][0]["families"], "{plan}");
    }
}

#[cfg(unix)]
#[test]
fn what_is_written_to_a_pipe_or_a_link_stays_one() {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    let folder = folder("special");
    let plan = folder.join("a.keyplan");
    fs::write(&plan, TIDY).unwrap();
    let plan = plan.to_str().unwrap();
    let pipe = folder.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for arguments in [["doc", plan, "-o"], ["check", plan, "--certificate"]] {
        let mut reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().unwrap();
        let done = keyplan(&arguments).arg(&pipe).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        let mut read = String::new();
        reader.stdout.take().unwrap().read_to_string(&mut read).unwrap();
        assert!(reader.wait().unwrap().success());
        assert!(read.contains("untidy"), "{read}");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    }
    let (one, other) = (folder.join("one.keyplan"), folder.join("other.keyplan"));
    fs::write(&one, UNTIDY).unwrap();
    fs::hard_link(&one, &other).unwrap();
    assert_eq!(run(&["fmt", one.to_str().unwrap()]).status.code(), Some(0));
    assert_eq!(fs::read_to_string(&other).unwrap(), TIDY);
    assert_eq!(fs::metadata(&one).unwrap().nlink(), 2);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 4);
}

#[test]
fn a_plan_is_read_from_standard_input() {
    let mut child = keyplan(&["check", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(TIDY.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert!(String::from_utf8(done.stdout).unwrap().starts_with("1 family, 0 scans: 0 findings"));
}

#[test]
fn a_certificate_of_a_plan_with_refuted_claims_fails_unless_it_may() {
    let folder = folder("refuted");
    let (plan, proof) = (folder.join("p.keyplan"), folder.join("p.json"));
    fs::write(&plan, "plan p; space s { key k = a: text(\"a-z\", 1..) b: text(\"a-z\", 1..); }").unwrap();
    let (plan, proof) = (plan.to_str().unwrap(), proof.to_str().unwrap());
    assert_eq!(run(&["check", plan, "--certificate", proof]).status.code(), Some(1));
    for arguments in [["verify", plan, proof], ["verify", proof, plan]] {
        let done = run(&arguments);
        assert_eq!(done.status.code(), Some(1));
        let text = String::from_utf8(done.stdout).unwrap();
        assert!(
            text.starts_with("the certificate is right: ") && text.contains(", 2 refuted, 0 unknown"),
            "{text}"
        );
    }
    assert_eq!(run(&["verify", plan, proof, "--allow-refuted"]).status.code(), Some(0));
}

#[test]
fn a_value_is_explained_beside_its_key() {
    let folder = folder("value");
    let plan = folder.join("p.keyplan");
    fs::write(&plan, "plan p; space s { key k = 0x01 id: u8 -> n: u16; }").unwrap();
    let done = run(&["explain", plan.to_str().unwrap(), "0105", "--value", "0007"]);
    let text = String::from_utf8(done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert!(text.contains("id = 5") && text.contains("n = 7"), "{text}");
    let done = run(&["explain", plan.to_str().unwrap(), "01"]);
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(text.contains("\n  prefix of s.k; id would be next\n"), "{text}");
}

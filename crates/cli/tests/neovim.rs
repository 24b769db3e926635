//! The language server in a real Neovim: a finding with its keys, hover, byte offsets, and a repair that cures it.
//!
//! Needs Neovim 0.10, which the test command puts under `target/neovim`.
#![cfg(test)]
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

const PLAN: &str = "plan demo;

space s {
    /// Pools.
    key pool = 0x01 id: u32 a: text(\"a\", 1..=3) b: text(\"a\", 1..=3);
}
";

#[test]
fn a_finding_is_seen_and_cured_in_neovim() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (plan, out) = (folder.path().join("demo.keyplan"), folder.path().join("seen.json"));
    fs::write(&plan, PLAN).unwrap();
    let editors = root.join("editors/neovim");
    let done = Command::new("sh")
        .arg(editors.join("test/nvim.sh"))
        .args(["--headless", "-u", "NONE", "-i", "NONE", "-n", "--cmd"])
        .arg(format!("set runtimepath^={}", editors.display()))
        .arg("-S")
        .arg(editors.join("test/drive.lua"))
        // A driver that fails does not leave an editor that waits.
        .args(["-c", "cquit"])
        .env("KEYPLAN", env!("CARGO_BIN_EXE_keyplan"))
        .env("PLAN", &plan)
        .env("OUT", &out)
        .env("HOME", folder.path())
        .output()
        .unwrap();
    let seen =
        fs::read_to_string(&out).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&done.stderr)));
    let seen: serde_json::Value = serde_json::from_str(&seen).unwrap();
    assert_eq!(seen.get("failed"), None, "{seen:#}");
    assert_eq!(seen["filetype"], "keyplan");
    assert_eq!((&seen["finding"]["code"], &seen["finding"]["line"]), (&"KP0002".into(), &4.into()));
    assert!(seen["finding"]["message"].as_str().unwrap().contains("witness:"), "{seen:#}");
    assert!(seen["hover"].as_str().unwrap().contains("- one reading per key: **refuted**"), "{seen:#}");
    assert_eq!(seen["hints"], serde_json::json!(["@0..1", "@1..5", "@5.."]));
    let text: Vec<&str> =
        seen["text"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    assert_eq!(text.join("\n") + "\n", PLAN.replace("1..=3) b", "1..=3) \"/\" b"));
}

/// With nothing but the command: a project, an editor that knows nothing of plans, and the plan that `init` leaves to look at.
#[test]
fn whoever_has_the_command_only_sees_a_finding_in_their_editor() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("project");
    fs::create_dir(&folder).unwrap();
    let command = Path::new(env!("CARGO_BIN_EXE_keyplan"));
    let set_up = Command::new(command)
        .args(["init", "--editor", "neovim"])
        .current_dir(&folder)
        .env("HOME", home.path())
        .env_remove("XDG_DATA_HOME")
        .output()
        .unwrap();
    assert!(set_up.status.success(), "{}", String::from_utf8_lossy(&set_up.stderr));
    let said = String::from_utf8_lossy(&set_up.stdout);
    assert!(said.contains("open tour.keyplan in it"), "{said}");
    let out = home.path().join("seen.json");
    let path = format!("{}:{}", command.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let nothing = home.path().join("init.vim");
    fs::write(&nothing, "").unwrap();
    let done = Command::new("sh")
        .arg(root.join("editors/neovim/test/nvim.sh"))
        .args(["--headless", "-i", "NONE", "-n", "-u"])
        .arg(&nothing)
        .arg("-S")
        .arg(root.join("editors/neovim/test/drive.lua"))
        .args(["-c", "cquit"])
        .current_dir(&folder)
        .env("PATH", path)
        .env("PLAN", "tour.keyplan")
        .env("OUT", &out)
        .env("HOME", home.path())
        .env_remove("KEYPLAN")
        .env_remove("XDG_DATA_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .unwrap();
    let seen =
        fs::read_to_string(&out).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&done.stderr)));
    let seen: serde_json::Value = serde_json::from_str(&seen).unwrap();
    assert_eq!(seen.get("failed"), None, "{seen:#}");
    assert_eq!(seen["finding"]["code"], "KP0002");
    // Its two keys and its repair are in what the editor shows.
    let message = seen["finding"]["message"].as_str().unwrap();
    assert!(message.contains("token_a=\"aaa\"") && message.contains("token_a=\"aaaa\""), "{message}");
    assert!(seen["text"].to_string().contains("token_a: Denom \\\"/\\\" token_b: Denom"), "{seen:#}");
}

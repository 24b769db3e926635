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

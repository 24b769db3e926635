//! The page in a real browser: each of its features by clicks and keys, as `browser/page.mjs` says.
#![cfg(test)]
#![cfg(feature = "web")]

mod support;

use std::path::Path;
use std::process::Command;

/// Whether the browser and its driver are here. In CI they must be.
fn is_there(modules: &Path) -> bool {
    let browser =
        ["/usr/bin/chromium", "/usr/bin/chromium-browser"].iter().any(|path| Path::new(path).exists());
    let driver = modules.join("playwright-core").is_dir() && modules.join("axe-core").is_dir();
    let node = Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success());
    if browser && driver && node {
        return true;
    }
    let in_ci = std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
    assert!(!in_ci, "Chromium, Node, or playwright-core and axe-core in {} are missing", modules.display());
    false
}

#[test]
fn every_feature_works_by_clicks_and_keys() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let modules = root.join("target/browser/node_modules");
    if !is_there(&modules) {
        eprintln!("not run: `cargo xtask test` installs Chromium and what drives it");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let read_only = tempfile::tempdir().unwrap();
    let gate = folder.path().join("gate");
    let told = serde_json::json!({
        "slow": support::serve(support::gated(&gate).0),
        "gate": gate,
        "shop": support::serve(support::explorer(folder.path(), true)),
        "readOnly": support::serve(support::explorer(read_only.path(), false)),
        "chain": support::serve(support::multistore()),
        "plan": folder.path().join("shop.keyplan"),
        "hostile": support::HOSTILE,
        "pictures": std::env::var("KEYPLAN_PICTURES").ok(),
    });
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/page.mjs");
    let output = Command::new("node")
        .arg(script)
        .env("EXPLORER", told.to_string())
        .env("MODULES", modules.canonicalize().unwrap())
        .output()
        .unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    // Whoever reads the log sees what was looked at.
    eprintln!("{said}");
    assert!(said.contains("features passed"), "{said}");
}

//! Programs in Go that write with the engine's own code.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds a program of this folder with the packages of the system.
pub(crate) fn build(source: &str, directory: &Path) -> PathBuf {
    let program = directory.join("writer");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(source);
    let built = Command::new("go")
        .args(["build", "-o"])
        .arg(&program)
        .arg(source)
        .envs([("GO111MODULE", "off"), ("GOPATH", "/usr/share/gocode"), ("GOFLAGS", "")])
        .env("GOCACHE", directory.join("cache"))
        .output()
        .expect("Go is there: `cargo xtask test` installs it");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    program
}

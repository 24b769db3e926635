//! What is written down about the plans is what the prover says today.

use xtask::{findings, workspace};

#[test]
fn the_findings_written_down_are_those_of_today() {
    let written = std::fs::read_to_string(workspace::root().join("docs/findings.md")).unwrap();
    let (_, written) = written.split_once('\n').unwrap();
    assert_eq!(written, findings::page().unwrap(), "bring it up to date with: cargo xtask generate");
}

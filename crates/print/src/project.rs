//! What is told of a project: files that were written, repairs that were made, findings that are known.

use std::path::Path;

use keyplan_report::findings::fix::Fix;

use super::{DIM, GOOD, NAME, STRONG, counted, painted};

/// A file that `init` wrote, or left as it was.
pub fn initialised(path: &Path, kept: bool) -> String {
    let (style, word) = if kept { (DIM, "kept") } else { (GOOD, "wrote") };
    format!("{} {}", painted(style, word), path.display())
}

/// A plan that `fmt` has rewritten.
pub fn formatted(path: &str) -> String {
    format!("{} {path}", painted(GOOD, "formatted"))
}

/// A certificate that `check` wrote.
pub fn certificate_written(path: &str) -> String {
    format!("{} {path}: `keyplan verify` checks it\n", painted(GOOD, "wrote"))
}

/// What to do with a new project.
pub fn after_init(has_editor: bool) -> String {
    let try_next = |command: &str, what: &str| {
        format!("  {}{}", painted(STRONG, format!("{command:<30}")), painted(DIM, what))
    };
    let editor = if has_editor {
        try_next("open tour.keyplan in it", "a finding, its two keys and its repair")
    } else {
        try_next("keyplan init --editor neovim", "the same in an editor (or helix)")
    };
    let lines = [
        try_next("keyplan check", "the plans of the project: sound"),
        try_next("keyplan check tour.keyplan", "a plan with a flaw: two keys and a repair"),
        editor,
    ];
    format!("\nTry next:\n{}", lines.join("\n"))
}

/// Repairs that were made, each with the lines that it changed.
pub fn fixes(fixes: &[Fix]) -> String {
    let mut out = String::new();
    for fix in fixes {
        put!(
            out,
            "{} {} in {}: {}\n",
            painted(GOOD, "fixed"),
            painted(NAME, fix.code),
            &fix.file,
            &fix.title
        );
        let changed = fix.diff.lines().filter(|line| line.starts_with(['-', '+']));
        for line in changed.filter(|line| !line.starts_with("---") && !line.starts_with("+++")) {
            put!(out, "  {line}\n");
        }
    }
    if !fixes.is_empty() {
        out.push('\n');
    }
    out
}

/// How many findings a baseline took out, if any.
pub fn known(again: usize, gone: usize) -> Option<String> {
    let mut out = String::new();
    if again > 0 {
        put!(out, "{} in the baseline", counted(again, "known finding is", "known findings are"));
    }
    if gone > 0 {
        let join = if again > 0 { "; " } else { "" };
        put!(
            out,
            "{join}{} gone: `--write-baseline` takes it out",
            counted(gone, "line of the baseline is", "lines of the baseline are")
        );
    }
    (!out.is_empty()).then_some(out)
}

/// A baseline that was written.
pub fn baseline_written(count: usize, path: &Path) -> String {
    format!("wrote {} to {}", counted(count, "finding", "findings"), path.display())
}

/// Pages of the manual that were written.
pub fn pages_written(folder: &Path) -> String {
    format!("wrote a page for each command to {}", folder.display())
}

/// That the files are being watched.
pub fn watching(files: usize) -> String {
    painted(DIM, format!("watching {}; Ctrl-C ends it", counted(files, "file", "files")))
}

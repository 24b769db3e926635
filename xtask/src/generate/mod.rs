//! `cargo xtask generate`: the pages that come from the code.
//!
//! | page | from |
//! | --- | --- |
//! | `docs/cli.md` | `keyplan help` for every subcommand |
//! | `docs/diagnostics.md` | every diagnostic code and its explanation |
//! | `docs/rules/` | the pages of the rules, as `keyplan check --explain` prints them |
//! | `docs/findings.md` | what the prover says about every plan |
//! | `docs/pictures/figures.svg` | three figures of `docs/benchmarks.md` |
//! | `README.md` | what its commands print, and the three figures; nothing else of it |
//! | `docs/language.md` | its table of encodings; nothing else of it |

mod console;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Args;
use keyplan_plan::diag::{Code, Severity};
use keyplan_plan::model::table;
use keyplan_prover::PAGES;
use xtask::{findings, workspace};

use crate::built;
use crate::console::line;
use crate::job::Job;
use crate::site::charts;

/// Write, or look.
#[derive(Args)]
pub(crate) struct Generate {
    /// Write nothing; fail if a page is not what would be written
    #[arg(long)]
    check: bool,
}

/// The pages of the rules, a folder that holds nothing else.
const RULES: &str = "docs/rules";

const README: &str = "README.md";

/// Where the figures of the README begin and end.
const FIGURES: &str = "<!-- figures of docs/benchmarks.md, by `cargo xtask generate` -->";
const FIGURES_END: &str = "<!-- end of figures -->";

const LANGUAGE: &str = "docs/language.md";

/// Where the table of encodings begins and ends.
const ENCODINGS: &str = "<!-- encodings of crates/plan/src/model/table.rs, by `cargo xtask generate` -->";
const ENCODINGS_END: &str = "<!-- end of encodings -->";

/// Writes every page, or compares it.
pub(crate) fn run(generate: &Generate) -> Result<ExitCode> {
    let pages = pages()?;
    let stale: Vec<&str> =
        pages.iter().filter(|(path, text)| !is(path, text)).map(|(path, _)| path.as_str()).collect();
    let orphans: Vec<String> = orphans(&pages)?;
    if generate.check {
        for path in stale.iter().copied().chain(orphans.iter().map(String::as_str)) {
            line(format_args!("stale: {path}"));
        }
        if stale.is_empty() && orphans.is_empty() {
            line(format_args!("{} generated pages are up to date", pages.len()));
            return Ok(ExitCode::SUCCESS);
        }
        line("bring them up to date with: cargo xtask generate");
        return Ok(ExitCode::FAILURE);
    }
    for path in &orphans {
        std::fs::remove_file(workspace::root().join(path))
            .with_context(|| format!("cannot remove {path}"))?;
        line(format_args!("removed {path}"));
    }
    for path in stale {
        let text = pages.get(path).map(String::as_str).unwrap_or_default();
        write(path, text)?;
        line(format_args!("wrote {path}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn is(path: &str, text: &str) -> bool {
    std::fs::read_to_string(workspace::root().join(path)).is_ok_and(|found| found == text)
}

fn write(path: &str, text: &str) -> Result<()> {
    let path = workspace::root().join(path);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Pages of rules that are no more.
fn orphans(pages: &BTreeMap<String, String>) -> Result<Vec<String>> {
    let files = workspace::files_in(&workspace::root().join(RULES), "md")?;
    let mut found: Vec<String> = files.iter().map(|path| workspace::relative(path)).collect();
    found.retain(|path| !pages.contains_key(path));
    Ok(found)
}

/// Every page by its path.
fn pages() -> Result<BTreeMap<String, String>> {
    let keyplan = built::keyplan()?;
    let mut pages = BTreeMap::new();
    pages.insert("docs/cli.md".to_owned(), commands(&keyplan)?);
    let readme = std::fs::read_to_string(workspace::root().join(README)).context("cannot read README.md")?;
    let readme = console::refreshed(&readme, |arguments| printed(&keyplan, arguments))?;
    let benchmarks = std::fs::read_to_string(workspace::root().join("docs/benchmarks.md"))
        .context("cannot read docs/benchmarks.md")?;
    let (figures, picture) = charts::first_figures(&benchmarks)?;
    pages.insert(README.to_owned(), with_part(&readme, (FIGURES, FIGURES_END), &figures)?);
    let language =
        std::fs::read_to_string(workspace::root().join(LANGUAGE)).context("cannot read docs/language.md")?;
    pages.insert(LANGUAGE.to_owned(), with_part(&language, (ENCODINGS, ENCODINGS_END), &encodings())?);
    pages.insert("docs/pictures/figures.svg".to_owned(), picture);
    pages.insert("docs/diagnostics.md".to_owned(), diagnostics());
    pages.insert("docs/findings.md".to_owned(), format!("{}{}", notice("the plans"), findings::page()?));
    for page in PAGES {
        let source = format!("{}.md in crates/prover/src", page.code.id());
        pages.insert(rule(page.code), format!("{}{}", notice(&source), page.text));
    }
    Ok(pages)
}

/// What the first line of a generated page says.
fn notice(from: &str) -> String {
    format!("<!-- Written by `cargo xtask generate` from {from}: change that instead. -->\n")
}

/// The page with a part of it between the two lines that are for it.
fn with_part(page: &str, (start, end): (&str, &str), part: &str) -> Result<String> {
    let (before, rest) = page.split_once(start).with_context(|| format!("there is no line {start}"))?;
    let (_, after) = rest.split_once(end).with_context(|| format!("there is no line {end}"))?;
    Ok(format!("{before}{start}\n{part}{end}{after}"))
}

/// The table of encodings, a row per word and domain.
fn encodings() -> String {
    let mut text = String::from(
        "| encoding | of | bytes | ends | order | loses |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for row in table().filter(|row| !row.word.is_empty() && !row.bytes.is_empty()) {
        let (extent, order, loses) =
            (row.extent.name(), row.order.name(), if row.loses { "yes" } else { "" });
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {extent} | {order} | {loses} |",
            row.example(),
            row.domain.name(),
            row.bytes
        );
    }
    text
}

/// The page of a rule.
fn rule(code: Code) -> String {
    format!("{RULES}/{}.md", code.id())
}

/// The help of the command and of each of its subcommands.
fn commands(keyplan: &Path) -> Result<String> {
    let overview = output(keyplan, &["--help"])?;
    let mut text = notice("the help of the command");
    text.push_str("# The command line\n");
    section(&mut text, "keyplan", &overview);
    let listed = overview.lines().skip_while(|line| *line != "Commands:").skip(1);
    // A long description goes on in lines that are indented further.
    let names = listed
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .filter_map(|line| line.split_whitespace().next());
    for name in names.filter(|name| *name != "help") {
        section(&mut text, &format!("keyplan {name}"), &output(keyplan, &[name, "--help"])?);
    }
    Ok(text)
}

fn section(text: &mut String, title: &str, help: &str) {
    let lines: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
    // Writing to a string does not fail.
    let _ = write!(text, "\n## `{title}`\n\n```text\n{}\n```\n", lines.join("\n"));
}

/// Every code with its explanation.
fn diagnostics() -> String {
    let mut text = notice("crates/plan/src/diag/code.rs");
    text.push_str("# Diagnostics\n\nA code is never reused, so that it can be looked up in any version.\n");
    let mut codes = Code::ALL.to_vec();
    codes.sort_by_key(|code| code.id());
    for code in codes {
        let severity = match code.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let lines: Vec<&str> = code.explanation().trim().lines().map(str::trim).collect();
        // Writing to a string does not fail.
        let _ = write!(text, "\n## {}: {}\n\n*{severity}* — {}\n", code.id(), code.slug(), lines.join("\n"));
        if keyplan_prover::page(code).is_some() {
            let _ = write!(
                text,
                "\n[Why it matters, an example, and what to write instead](rules/{}.md)\n",
                code.id()
            );
        }
    }
    text
}

fn output(keyplan: &Path, arguments: &[&str]) -> Result<String> {
    let start = Job::new(&keyplan.to_string_lossy(), "").variable("COLUMNS", "100").variable("NO_COLOR", "1");
    arguments.iter().fold(start, |job, argument| job.argument(*argument)).output()
}

/// What a command prints on both streams, whether it is content or not.
fn printed(keyplan: &Path, arguments: &[&str]) -> Result<String> {
    let start = Job::new(&keyplan.to_string_lossy(), "").variable("COLUMNS", "100").variable("NO_COLOR", "1");
    let job = arguments.iter().fold(start, |job, argument| job.argument(*argument));
    let output = job.command().output().with_context(|| format!("cannot run `{job}`"))?;
    Ok(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_go_between_their_lines() {
        let page = format!("a\n{FIGURES}\nold\n{FIGURES_END}\nb\n");
        let lines = (FIGURES, FIGURES_END);
        let expected = format!("a\n{FIGURES}\nnew\n{FIGURES_END}\nb\n");
        assert_eq!(with_part(&page, lines, "new\n").unwrap(), expected);
        assert!(with_part("a\nb\n", lines, "new\n").is_err());
    }
}

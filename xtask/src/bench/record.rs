//! The measurements in `docs/benchmarks.md`, each group between its markers.

use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use xtask::workspace;

use super::{Measurement, number};

const PAGE: &str = "docs/benchmarks.md";
const END: &str = "<!-- bench:end -->";

/// Replaces the table of a group.
pub(super) fn write(group: &str, measured: &[Measurement]) -> Result<()> {
    let path = workspace::root().join(PAGE);
    let page = std::fs::read_to_string(&path).with_context(|| format!("cannot read {PAGE}"))?;
    let replaced = replaced(&page, group, &table(measured))?;
    std::fs::write(&path, replaced).with_context(|| format!("cannot write {PAGE}"))
}

fn table(measured: &[Measurement]) -> String {
    let mut text = String::from(
        "| what | measured | goal | unit | | compared with |\n| --- | --: | --: | --- | --- | --- |\n",
    );
    for line in measured {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            line.name,
            number(line.value),
            line.goal,
            line.unit,
            line.verdict(),
            line.compared_with
        );
    }
    text
}

fn replaced(page: &str, group: &str, table: &str) -> Result<String> {
    let marker = format!("<!-- bench:{group} -->");
    let places = || {
        let start = page.find(&marker)? + marker.len();
        let end = start + page.get(start..)?.find(END)?;
        Some((page.get(..start)?, page.get(end..)?))
    };
    let (before, after) = places().with_context(|| format!("{PAGE} has no `{marker}` with its `{END}`"))?;
    Ok(format!("{before}\n{table}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_table_of_the_group_is_replaced() {
        let page =
            "a\n<!-- bench:x -->\nold\n<!-- bench:end -->\nb\n<!-- bench:y -->\nkept\n<!-- bench:end -->\n";
        let new =
            "a\n<!-- bench:x -->\nnew\n<!-- bench:end -->\nb\n<!-- bench:y -->\nkept\n<!-- bench:end -->\n";
        assert_eq!(replaced(page, "x", "new\n").unwrap(), new);
        assert!(replaced(page, "z", "").is_err());
    }
}

//! The table of allowed dependencies in `ARCHITECTURE.md`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, bail};

/// The heading of the table's first column, by which it is found.
const HEADER: &str = "| crate | may depend on |";

/// Reads the table: each crate with the crates that it may depend on.
///
/// A row is `` | `codec` | nothing | `` or `` | `plan` | `codec` | ``: names are in backquotes, and what is
/// outside of them is for people.
pub fn allowed(text: &str) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let (_, table) = text.split_once(HEADER).with_context(|| format!("there is no table `{HEADER}`"))?;
    let mut allowed = BTreeMap::new();
    for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        let [name, needs] = cells.as_slice() else { bail!("a row of the table without two cells: {row}") };
        let [name] =
            quoted(name).try_into().ok().with_context(|| format!("a row without one name: {row}"))?;
        if allowed.insert(name.clone(), quoted(needs).into_iter().collect()).is_some() {
            bail!("`{name}` has two rows");
        }
    }
    Ok(allowed)
}

/// The names in backquotes.
fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Every way in which the crates are not as the table says, one line each.
pub fn differences(
    allowed: &BTreeMap<String, BTreeSet<String>>,
    found: &BTreeMap<String, BTreeSet<String>>,
) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, needs) in found {
        let Some(may) = allowed.get(name) else {
            lines.push(format!("`{name}` has no row"));
            continue;
        };
        lines.extend(needs.difference(may).map(|extra| format!("`{name}` may not depend on `{extra}`")));
    }
    let gone = allowed.keys().filter(|name| !found.contains_key(*name));
    lines.extend(gone.map(|name| format!("there is no crate `{name}`")));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &str) -> BTreeMap<String, BTreeSet<String>> {
        allowed(&format!("words\n\n{HEADER}\n| --- | --- |\n{rows}\nmore words | `x` |\n")).unwrap()
    }

    #[test]
    fn rows_end_with_the_table() {
        let read = table("| `a` | nothing |\n| `b` | `a`, and `c` as a feature |\n");
        let b = BTreeSet::from(["a".to_owned(), "c".to_owned()]);
        assert_eq!(read, BTreeMap::from([("a".to_owned(), BTreeSet::new()), ("b".to_owned(), b)]));
    }

    #[test]
    fn each_difference_is_one_line() {
        let allowed = table("| `a` | nothing |\n| `b` | `a` |\n| `gone` | nothing |\n");
        let found = table("| `a` | `b` |\n| `b` | nothing |\n| `new` | nothing |\n");
        let lines = ["`a` may not depend on `b`", "`new` has no row", "there is no crate `gone`"];
        assert_eq!(differences(&allowed, &found), lines);
    }
}

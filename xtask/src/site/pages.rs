//! What the pages of `docs/` need to become a book: a whole table of contents, and links that lead out of the folder.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Where files of the repository are that are not pages.
const REPOSITORY: &str = "https://github.com/keyplan/keyplan/blob/main/";

/// Completes the copy of `docs/` that the book is made of.
pub(super) fn complete(docs: &Path) -> Result<()> {
    let summary = docs.join("SUMMARY.md");
    let text = std::fs::read_to_string(&summary).context("cannot read docs/SUMMARY.md")?;
    let text = text
        .replace("<!-- rules -->", &entries(docs, "rules")?)
        .replace("<!-- plans -->", &entries(docs, "reference")?);
    std::fs::write(&summary, text)?;
    for page in all(docs, "md")? {
        let text = std::fs::read_to_string(&page)?;
        let depth = page.strip_prefix(docs)?.components().count();
        std::fs::write(&page, led_out(&text, depth))?;
    }
    Ok(())
}

/// The entries of a folder, by their titles, below the entry before them.
fn entries(docs: &Path, folder: &str) -> Result<String> {
    let mut lines = Vec::new();
    for page in all(&docs.join(folder), "md")? {
        let text = std::fs::read_to_string(&page)?;
        let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or("untitled").to_owned();
        let path = page.strip_prefix(docs)?.to_string_lossy().into_owned();
        lines.push(format!("  - [{title}]({path})"));
    }
    Ok(lines.join("\n"))
}

/// The text with the links that leave `docs/` turned to the repository. `depth` is 1 for a page right in the folder.
fn led_out(text: &str, depth: usize) -> String {
    text.replace(&format!("]({}", "../".repeat(depth)), &format!("]({REPOSITORY}"))
}

/// The files below a folder whose name ends so, in order.
pub(super) fn all(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(all(&path, extension)?);
        } else if path.extension().is_some_and(|one| one == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_out_of_the_folder_lead_to_the_repository() {
        let text = "[a](../../editors/README.md) [b](../language.md) [c](x.md)";
        let expected = format!("[a]({REPOSITORY}editors/README.md) [b](../language.md) [c](x.md)");
        assert_eq!(led_out(text, 2), expected);
        assert_eq!(led_out("[b](../plans/a.keyplan)", 1), format!("[b]({REPOSITORY}plans/a.keyplan)"));
    }
}

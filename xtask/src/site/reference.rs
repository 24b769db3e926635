//! The reference pages of the plans: what `keyplan doc` says of each, made with the site and kept nowhere else.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use xtask::workspace;

use crate::job::Job;

/// Writes a page for every plan into the folder, those of the gallery included.
pub(super) fn write(keyplan: &Path, folder: &Path) -> Result<()> {
    let mut all = workspace::plans()?;
    for folder in ["plans/dolos", "plans/gallery"] {
        all.extend(workspace::files_in(&workspace::root().join(folder), "keyplan")?);
    }
    for plan in all {
        let plan = workspace::relative(&plan);
        let page = folder.join(page(&plan));
        if let Some(parent) = page.parent() {
            std::fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        }
        let doc = Job::new(&keyplan.to_string_lossy(), "doc").argument(&plan).variable("NO_COLOR", "1");
        std::fs::write(&page, doc.output()?).with_context(|| format!("cannot write {}", page.display()))?;
    }
    Ok(())
}

/// The page of a plan, inside of the folder: `plans/upstream/paw.keyplan` has `upstream/paw.md`.
fn page(plan: &str) -> PathBuf {
    Path::new(plan.strip_prefix("plans/").unwrap_or(plan)).with_extension("md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_its_page_in_the_same_place() {
        assert_eq!(page("plans/paw.keyplan"), Path::new("paw.md"));
        assert_eq!(page("plans/upstream/paw.keyplan"), Path::new("upstream/paw.md"));
    }
}

//! `keyplan init`: a project that checks, the files that check it elsewhere, and what an editor needs.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use keyplan_report::new_project::{files, helix, neovim};
use keyplan_report::project::FILE;

use super::Outcome;
use crate::args::{Editor, Init};
use crate::render::{self, Output};

/// Writes a project into a folder. Files that are there stay as they are.
pub(crate) fn run(args: &Init, out: &mut Output) -> Result<Outcome> {
    let folder = Path::new(&args.folder);
    let mut wanted = Vec::new();
    if !folder.join(FILE).exists() {
        wanted = files(folder);
    } else if args.editor.is_none() {
        bail!("`{}` is there already: this is a project", folder.join(FILE).display());
    }
    wanted.extend(match args.editor {
        Some(Editor::Neovim) => neovim(&data()?),
        Some(Editor::Helix) => helix(folder),
        None => Vec::new(),
    });
    for file in wanted {
        let written = file.write()?;
        out.line(&render::initialised(&file.path, !written))?;
    }
    out.line(&render::after_init(args.editor.is_some()))?;
    Ok(Outcome::Clean)
}

/// Where Neovim looks for packages that it loads by itself.
fn data() -> Result<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("XDG_DATA_HOME")
        .or_else(|| named("HOME").map(|home| home.join(".local/share")))
        .context("neither XDG_DATA_HOME nor HOME says where Neovim keeps its packages")
}

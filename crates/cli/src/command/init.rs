//! `keyplan init`: a project that checks, the files that check it elsewhere, and what an editor needs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use keyplan_report::output_file;
use keyplan_report::project::FILE;

use super::Outcome;
use crate::args::{Editor, Init};
use crate::render::{self, Output};

const PROJECT: &str = include_str!("init/keyplan.toml");
const PLAN: &str = include_str!("init/example.keyplan");
const WORKFLOW: &str = include_str!("init/workflow.yml");
const HOOKS: &str = include_str!("init/pre-commit.yaml");
const TOUR: &str = include_str!("init/tour.keyplan");
const HELIX: &str = include_str!("init/helix.toml");
/// The package of Neovim: what each file of it is called, and what is in it.
const NEOVIM: [(&str, &str); 3] = [
    ("ftdetect/keyplan.lua", include_str!("init/ftdetect.lua")),
    ("ftplugin/keyplan.lua", include_str!("init/ftplugin.lua")),
    ("syntax/keyplan.vim", include_str!("init/syntax.vim")),
];

/// Writes a project into a folder. Files that are there stay as they are.
pub(crate) fn run(args: &Init, out: &mut Output) -> Result<Outcome> {
    let folder = Path::new(&args.folder);
    if !folder.join(FILE).exists() {
        project(folder, out)?;
    } else if args.editor.is_none() {
        bail!("`{}` is there already: this is a project", folder.join(FILE).display());
    }
    match args.editor {
        Some(Editor::Neovim) => {
            let package = neovim_package()?;
            for (name, text) in NEOVIM {
                // The package is this command's own: a newer command brings a newer one.
                put(&package.join(name), text, Existing::Replaced, out)?;
            }
        }
        Some(Editor::Helix) => put(&folder.join(".helix/languages.toml"), HELIX, Existing::Kept, out)?,
        None => {}
    }
    out.line(&render::after_init(args.editor.is_some()))?;
    Ok(Outcome::Clean)
}

/// What becomes of a file that is there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Existing {
    Kept,
    Replaced,
}

fn project(folder: &Path, out: &mut Output) -> Result<()> {
    let has_plans = fs::read_dir(folder.join("plans")).is_ok_and(|mut found| {
        found.any(|entry| {
            entry.is_ok_and(|entry| entry.path().extension().is_some_and(|end| end == "keyplan"))
        })
    });
    let files = [
        (FILE, PROJECT),
        ("plans/example.keyplan", PLAN),
        ("tour.keyplan", TOUR),
        (".github/workflows/keyplan.yml", WORKFLOW),
        (".pre-commit-config.yaml", HOOKS),
    ];
    for (name, text) in files {
        if name.starts_with("plans/") && has_plans {
            continue;
        }
        put(&folder.join(name), text, Existing::Kept, out)?;
    }
    Ok(())
}

/// Writes a file and its folder, and says so.
fn put(path: &Path, text: &str, existing: Existing, out: &mut Output) -> Result<()> {
    let kept = existing == Existing::Kept && path.exists();
    if !kept {
        let parent = path.parent().unwrap_or(path);
        fs::create_dir_all(parent)
            .with_context(|| format!("cannot make the folder `{}`", parent.display()))?;
        output_file::write(path, text.as_bytes())?;
    }
    out.line(&render::initialised(path, kept))?;
    Ok(())
}

/// Where Neovim looks for packages that it loads by itself.
fn neovim_package() -> Result<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = named("XDG_DATA_HOME")
        .or_else(|| named("HOME").map(|home| home.join(".local/share")))
        .context("neither XDG_DATA_HOME nor HOME says where Neovim keeps its packages")?;
    Ok(data.join("nvim/site/pack/keyplan/start/keyplan"))
}

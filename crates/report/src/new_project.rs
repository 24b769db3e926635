//! The files of a new project, and those that set up an editor.
//!
//! ```
//! let folder = std::path::Path::new("shop");
//! let files = keyplan_report::new_project::files(folder);
//! assert!(files.iter().any(|file| file.path.ends_with("keyplan.toml")));
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use crate::output_file::{self, WriteError};
use crate::project::FILE;

/// A file that is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// Where.
    pub path: PathBuf,
    /// What is in it.
    pub text: &'static str,
    /// Whether it takes the place of one that is there: it is this program's own, and a newer program has a newer one.
    pub replaces: bool,
}

/// The files of a project in a folder: its settings, a plan unless it has some, a flawed plan to look at, and what checks them elsewhere.
pub fn files(folder: &Path) -> Vec<NewFile> {
    let is_plan = |path: &Path| path.extension().is_some_and(|end| end == "keyplan");
    let has_plans = fs::read_dir(folder.join("plans"))
        .is_ok_and(|mut found| found.any(|entry| entry.is_ok_and(|entry| is_plan(&entry.path()))));
    let plan = ("plans/example.keyplan", include_str!("new_project/example.keyplan"));
    let files = [
        (FILE, include_str!("new_project/keyplan.toml")),
        plan,
        ("tour.keyplan", include_str!("new_project/tour.keyplan")),
        (".github/workflows/keyplan.yml", include_str!("new_project/workflow.yml")),
        (".pre-commit-config.yaml", include_str!("new_project/pre-commit.yaml")),
    ];
    let wanted = files.into_iter().filter(|file| !(has_plans && *file == plan));
    wanted.map(|(name, text)| NewFile { path: folder.join(name), text, replaces: false }).collect()
}

/// The package of Neovim, below the folder in which Neovim keeps its data.
pub fn neovim(data: &Path) -> Vec<NewFile> {
    let package = data.join("nvim/site/pack/keyplan/start/keyplan");
    let files = [
        ("ftdetect/keyplan.lua", include_str!("new_project/ftdetect.lua")),
        ("ftplugin/keyplan.lua", include_str!("new_project/ftplugin.lua")),
        ("syntax/keyplan.vim", include_str!("new_project/syntax.vim")),
    ];
    files.map(|(name, text)| NewFile { path: package.join(name), text, replaces: true }).into()
}

/// What Helix needs in a project.
pub fn helix(folder: &Path) -> Vec<NewFile> {
    let text = include_str!("new_project/helix.toml");
    vec![NewFile { path: folder.join(".helix/languages.toml"), text, replaces: false }]
}

impl NewFile {
    /// Writes the file and its folder; `false` if one is there that it does not replace.
    pub fn write(&self) -> Result<bool, WriteError> {
        if !self.replaces && self.path.exists() {
            return Ok(false);
        }
        if let Some(parent) = self.path.parent() {
            fs::create_dir_all(parent)
                .map_err(|source| WriteError { path: Some(parent.to_owned()), source })?;
        }
        output_file::write(&self.path, self.text.as_bytes())?;
        Ok(true)
    }
}

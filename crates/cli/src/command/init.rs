//! `keyplan init`: a project that checks, and the files that check it elsewhere.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use keyplan_report::output_file;
use keyplan_report::project::FILE;

use super::Outcome;
use crate::args::Init;
use crate::render::{self, Output};

const PROJECT: &str = include_str!("init/keyplan.toml");
const PLAN: &str = include_str!("init/example.keyplan");
const WORKFLOW: &str = include_str!("init/workflow.yml");
const HOOKS: &str = include_str!("init/pre-commit.yaml");

/// Writes a project into a folder. Files that are there stay as they are.
pub(crate) fn run(args: &Init, out: &mut Output) -> Result<Outcome> {
    let folder = Path::new(&args.folder);
    if folder.join(FILE).exists() {
        bail!("`{}` is there already: this is a project", folder.join(FILE).display());
    }
    let has_plans = fs::read_dir(folder.join("plans")).is_ok_and(|mut found| {
        found.any(|entry| {
            entry.is_ok_and(|entry| entry.path().extension().is_some_and(|end| end == "keyplan"))
        })
    });
    let files = [
        (FILE, PROJECT),
        ("plans/example.keyplan", PLAN),
        (".github/workflows/keyplan.yml", WORKFLOW),
        (".pre-commit-config.yaml", HOOKS),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        let kept = path.exists() || (name.ends_with(".keyplan") && has_plans);
        if !kept {
            let parent = path.parent().unwrap_or(folder);
            fs::create_dir_all(parent)
                .with_context(|| format!("cannot make the folder `{}`", parent.display()))?;
            output_file::write(&path, text.as_bytes())?;
        }
        if !(kept && name.ends_with(".keyplan")) {
            out.line(&render::initialised(&path, kept))?;
        }
    }
    out.line(&render::after_init())?;
    Ok(Outcome::Clean)
}

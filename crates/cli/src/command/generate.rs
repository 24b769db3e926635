//! `keyplan generate`: a plan in other languages, its vectors, its model.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum as _;
use keyplan_codegen::{File, go, model, rust, typescript, vectors};
use keyplan_plan::Compiled;
use keyplan_plan::diag::Diagnostic;
use keyplan_report::output_file;
use keyplan_report::project::Project;

use super::Outcome;
use crate::args::generate::{Generate, Target};
use crate::input;
use crate::render::{self, Output};

/// How much of a file is looked at to tell whether this command wrote it.
const HEAD: usize = 512;

/// Writes what was asked for, or tells what is stale.
pub(crate) fn run(args: &Generate, out: &mut Output) -> Result<Outcome> {
    let (Some(target), Some(plan)) = (args.target, &args.plan) else { return project(args, out) };
    let wanted = Wanted {
        target,
        plan: plan.clone(),
        out: args.out.clone(),
        package: args.package.clone(),
        cosmos: args.cosmos,
        migration: args.migration.clone(),
        count: args.count,
        check: args.check,
    };
    if wanted.migration.is_some() && target != Target::Go {
        bail!("--migration is for Go");
    }
    one(&wanted, out)
}

/// One thing to write.
struct Wanted {
    target: Target,
    plan: String,
    out: Option<PathBuf>,
    package: Option<String>,
    cosmos: bool,
    migration: Option<String>,
    count: usize,
    check: bool,
}

/// Writes everything that the project's file names, or tells what is stale.
fn project(args: &Generate, out: &mut Output) -> Result<Outcome> {
    if args.out.is_some() || args.package.is_some() || args.cosmos || args.migration.is_some() {
        bail!("name what to write and the plan: `keyplan generate go PLAN -o DIR`");
    }
    let here = std::env::current_dir().context("cannot tell the current directory")?;
    let Some(project) = Project::around(&here).context("keyplan.toml")? else {
        bail!(
            "there is no `keyplan.toml` here; name what to write and the plan: `keyplan generate go PLAN -o DIR`"
        );
    };
    if project.settings.targets.is_empty() {
        bail!("`keyplan.toml` names nothing to write: it has no table `[generate.NAME]`");
    }
    let mut outcome = Outcome::Clean;
    for (name, target) in &project.settings.targets {
        let known = Target::value_variants()
            .iter()
            .find(|known| known.to_possible_value().is_some_and(|known| known.get_name() == target.language));
        let Some(known) = known else {
            bail!(
                "keyplan.toml: `[generate.{name}]` has the language `{}`, which is none of: go, typescript, rust, vectors, model",
                target.language
            );
        };
        let wanted = Wanted {
            target: *known,
            plan: project.seen_from(&here, &target.plan),
            out: Some(project.seen_from(&here, &target.out).into()),
            package: target.package.clone(),
            cosmos: target.cosmos,
            migration: target.migration.as_ref().map(|old| project.seen_from(&here, old)),
            count: args.count,
            check: args.check,
        };
        if one(&wanted, out)? == Outcome::Findings {
            outcome = Outcome::Findings;
        }
    }
    Ok(outcome)
}

fn one(args: &Wanted, out: &mut Output) -> Result<Outcome> {
    let compiled = input::load(&args.plan)?.compiled;
    let old = match &args.migration {
        Some(old) => Some(input::previous(old, &args.plan, true)?.compiled),
        None => None,
    };
    let made = match make(args, &compiled, old.as_ref()) {
        Ok(made) => made,
        Err(diagnostics) => {
            render::message(&render::findings(&compiled.sources, &diagnostics));
            return Ok(Outcome::Findings);
        }
    };
    match (made, &args.out) {
        (Made::Text(text), None) if args.check => {
            bail!("`--check` compares with a file: name it with `-o` ({} bytes were made)", text.len())
        }
        (Made::Text(text), None) => {
            out.text(&text)?;
            Ok(Outcome::Clean)
        }
        (Made::Text(text), Some(path)) => single(path, &text, args.check, out),
        (Made::Files(_), None) => bail!("several files are made: name a directory for them with `-o`"),
        (Made::Files(files), Some(folder)) => directory(folder, &files, args.check, out),
    }
}

/// What was made.
enum Made {
    Text(String),
    Files(Vec<File>),
}

fn make(args: &Wanted, compiled: &Compiled, old: Option<&Compiled>) -> Result<Made, Vec<Diagnostic>> {
    let lines = |count| vectors::generate(compiled, vectors::Options { count });
    let with_vectors = |mut files: Vec<File>| {
        files.push(File { path: "testdata/keyplan.jsonl".to_owned(), text: lines(args.count)? });
        Ok(Made::Files(files))
    };
    match args.target {
        Target::Go => {
            let options = go::Options { package: args.package.clone(), cosmos: args.cosmos };
            with_vectors(match old {
                Some(old) => go::generate_migration(compiled, old, &options)?,
                None => go::generate(compiled, &options)?,
            })
        }
        Target::Typescript => with_vectors(typescript::generate(compiled)?),
        Target::Rust => rust::expand(compiled).map(|code| Made::Text(rust::format(&code))),
        Target::Vectors => lines(args.count).map(Made::Text),
        Target::Model => model::generate(compiled).map(Made::Text),
    }
}

fn single(path: &Path, text: &str, check: bool, out: &mut Output) -> Result<Outcome> {
    let shown = path.display().to_string();
    let old = fs::read(path).ok();
    if old.as_deref() == Some(text.as_bytes()) {
        return Ok(Outcome::Clean);
    }
    if check {
        out.line(&format!("{shown} is {}", if old.is_some() { "stale" } else { "missing" }))?;
        return Ok(Outcome::Findings);
    }
    output_file::write(path, text.as_bytes())?;
    Ok(Outcome::Clean)
}

fn directory(folder: &Path, files: &[File], check: bool, out: &mut Output) -> Result<Outcome> {
    let there = files_below(folder)?;
    let foreign: Vec<String> =
        there.iter().filter(|(_, ours)| !**ours).map(|(path, _)| path.clone()).collect();
    if !foreign.is_empty() {
        bail!(
            "`{}` holds files that `keyplan generate` did not write, and is left as it is: {}; name another directory",
            folder.display(),
            foreign.join(", ")
        );
    }
    let mut outcome = Outcome::Clean;
    for file in files {
        let path = folder.join(&file.path);
        let old = fs::read(&path).ok();
        if old.as_deref() == Some(file.text.as_bytes()) {
            continue;
        }
        if check {
            out.line(&format!("{} is {}", path.display(), if old.is_some() { "stale" } else { "missing" }))?;
            outcome = Outcome::Findings;
            continue;
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot make `{}`", parent.display()))?;
        }
        output_file::write(&path, file.text.as_bytes())?;
    }
    for old in there.keys().filter(|old| !files.iter().any(|file| file.path == **old)) {
        let path = folder.join(old);
        if check {
            out.line(&format!("{} is no longer made", path.display()))?;
            outcome = Outcome::Findings;
        } else {
            fs::remove_file(&path).with_context(|| format!("cannot remove `{}`", path.display()))?;
        }
    }
    Ok(outcome)
}

/// The files below a directory, and whether this command wrote each. Fuzzers keep what they find below `testdata/fuzz`.
fn files_below(folder: &Path) -> Result<BTreeMap<String, bool>> {
    let mut found = BTreeMap::new();
    let mut left: Vec<(PathBuf, String)> = vec![(folder.to_path_buf(), String::new())];
    while let Some((path, name)) = left.pop() {
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).with_context(|| format!("cannot read `{}`", path.display())),
        };
        for entry in entries {
            let entry = entry?;
            let own = entry.file_name().to_string_lossy().into_owned();
            let name = if name.is_empty() { own } else { format!("{name}/{own}") };
            if entry.file_type()?.is_dir() {
                if name != "testdata/fuzz" {
                    left.push((entry.path(), name));
                }
            } else {
                found.insert(name, is_ours(&entry.path()));
            }
        }
    }
    Ok(found)
}

fn is_ours(path: &Path) -> bool {
    use std::io::Read as _;
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(HEAD as u64).read_to_end(&mut head));
    let head = String::from_utf8_lossy(&head);
    read.is_ok() && (head.contains("Code generated by keyplan") || head.starts_with("{\"keyplan\":"))
}

//! `keyplan generate`: a plan in other languages, its vectors, its model.

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum as _;
use keyplan_codegen::{Made, MakeOptions, go, is_made, make};
use keyplan_report::folder::{self, file};
use keyplan_report::output_file;
use keyplan_report::project::Project;

use super::Outcome;
use crate::args::generate::{Generate, Target};
use crate::input;
use crate::render::{self, Output};

/// Writes what was asked for, or tells what is stale.
pub(crate) fn run(args: &Generate, out: &mut Output) -> Result<Outcome> {
    let (Some(target), Some(plan)) = (args.target, &args.plan) else { return project(args, out) };
    let go = [
        ("--package", args.package.is_some()),
        ("--cosmos", args.cosmos),
        ("--migration", args.migration.is_some()),
    ];
    if let Some((option, _)) = go.iter().find(|(_, given)| *given && target != Target::Go) {
        bail!("{option} is for Go");
    }
    let wanted = Wanted {
        target,
        plan: plan.clone(),
        out: args.out.clone(),
        options: MakeOptions { package: args.package.clone(), cosmos: args.cosmos, count: args.count },
        migration: args.migration.clone(),
        check: args.check,
    };
    one(&wanted, out)
}

/// One thing to write.
struct Wanted {
    target: Target,
    plan: String,
    out: Option<PathBuf>,
    options: MakeOptions,
    migration: Option<String>,
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
    if let Some((one, other)) = project.settings.same_place() {
        bail!(
            "keyplan.toml: `[generate.{one}]` and `[generate.{other}]` write to one place, and each would remove the other's files"
        );
    }
    let mut outcome = Outcome::Clean;
    for (name, target) in &project.settings.targets {
        let language = Target::from_str(&target.language, false).map_err(|_| {
            anyhow!(
                "keyplan.toml: `[generate.{name}]` has the language `{}`, which is not one of: go, typescript, rust, vectors, model",
                target.language
            )
        })?;
        if let Some(key) = target.key_of_go().filter(|_| language != Target::Go) {
            bail!("keyplan.toml: `[generate.{name}]` has `{key}`, which is for Go");
        }
        let wanted = Wanted {
            target: language,
            plan: project.seen_from(&here, &target.plan),
            out: Some(project.seen_from(&here, &target.out).into()),
            options: MakeOptions {
                package: target.package.clone(),
                cosmos: target.cosmos,
                count: args.count,
            },
            migration: target.migration.as_ref().map(|old| project.seen_from(&here, old)),
            check: args.check,
        };
        if one(&wanted, out)? == Outcome::Findings {
            outcome = Outcome::Findings;
        }
    }
    Ok(outcome)
}

fn one(args: &Wanted, out: &mut Output) -> Result<Outcome> {
    if let Some(package) = args.options.package.as_ref().filter(|name| !go::is_package_name(name)) {
        bail!(
            "`{package}` cannot be the name of a Go package: letters, digits and `_`, and no word of the language"
        );
    }
    let compiled = input::load(&args.plan)?.compiled;
    let old = match &args.migration {
        Some(old) => Some(input::previous(old, &args.plan, true)?.compiled),
        None => None,
    };
    let made = match make(args.target.into(), &compiled, old.as_ref(), &args.options) {
        Ok(made) => made,
        Err(diagnostics) => {
            render::message(&render::findings(&compiled.sources, &diagnostics));
            return Ok(Outcome::Findings);
        }
    };
    let stale = match (&made, &args.out) {
        (Made::Text(text), None) if args.check => {
            bail!("`--check` compares with a file: name it with `-o` ({} bytes were made)", text.len())
        }
        (Made::Text(text), None) => {
            out.text(text)?;
            Vec::new()
        }
        (Made::Text(text), Some(path)) if args.check => file(path, text).into_iter().collect(),
        (Made::Text(text), Some(path)) => {
            if file(path, text).is_some() {
                output_file::write(path, text.as_bytes())?;
            }
            Vec::new()
        }
        (Made::Files(_), None) => bail!("several files are made: name a directory for them with `-o`"),
        (Made::Files(files), Some(place)) => {
            let files: Vec<(&str, &str)> =
                files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
            folder::folder(place, &files, is_made)?
        }
    };
    for one in &stale {
        if args.check {
            out.line(&one.to_string())?;
        } else {
            one.apply()?;
        }
    }
    Ok(if args.check && !stale.is_empty() { Outcome::Findings } else { Outcome::Clean })
}

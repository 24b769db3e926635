//! `keyplan check`: every finding about plans, and one line that sums them up.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, bail};
use keyplan_prover::Options;
use keyplan_prover::certificate::{Carried, certify};
use keyplan_report::findings::baseline::Baseline;
use keyplan_report::findings::fix::{Fixed, Fixes, fix};
use keyplan_report::findings::junit::junit;
use keyplan_report::findings::{Checked, Repairs, Tally, code_page};
use keyplan_report::output_file;
use keyplan_report::releases::Repositories;
use keyplan_report::task::{Known, Task, TaskOptions};

use super::{Outcome, watch};
use crate::args::{Check, CheckFormat};
use crate::input;
use crate::render::{self, Output};

/// Checks plans, or prints the page of a code.
pub(crate) fn run(args: &Check, out: &mut Output) -> Result<Outcome> {
    if let Some(code) = &args.explain {
        let page =
            code_page(code).ok_or_else(|| anyhow!("there is no code `{code}`; codes look like KP0004"))?;
        out.raw(page.as_bytes())?;
        return Ok(Outcome::Clean);
    }
    if !args.watch {
        return once(args, out).map(|(outcome, _)| outcome);
    }
    watch::run(out, |out| once(args, out))
}

/// One run, and the files that it read.
fn once(args: &Check, out: &mut Output) -> Result<(Outcome, Vec<PathBuf>)> {
    let started = Instant::now();
    let here = std::env::current_dir().context("cannot tell the current directory")?;
    let task = Task::of(
        &here,
        TaskOptions {
            plans: args.plans.clone(),
            engine: args.engine.map(crate::args::Engine::known),
            deny_warnings: args.deny_warnings,
            baseline: args.baseline.as_ref().map(PathBuf::from),
        },
    )?;
    if task.plans.len() > 1 && args.certificate.is_some() {
        bail!("a certificate is of one plan; run `check` for each of them");
    }
    let (mut plans, repositories) = (Vec::new(), Repositories::default());
    for path in &task.plans {
        plans.push(checked(&task, args, path, &repositories, out)?);
    }
    let mut files: Vec<PathBuf> =
        task.project.iter().map(|project| project.root.join("keyplan.toml")).collect();
    files.extend(
        plans.iter().flat_map(|plan| plan.compiled.sources.files()).map(|file| PathBuf::from(&file.name)),
    );
    if args.write_baseline {
        let (path, text) = task.baseline(&plans);
        output_file::write(&path, text.as_bytes())?;
        let findings = plans.iter().flat_map(|plan| &plan.findings);
        let count = findings.filter(|found| Baseline::may_hold(found)).count();
        out.line(&render::baseline_written(count, &path))?;
        return Ok((Outcome::Clean, files));
    }
    let known = task.take_known(&mut plans)?;
    print(args, &plans, known, started, out)?;
    let found = plans.iter().any(|plan| plan.fails(task.deny_warnings));
    Ok((if found { Outcome::Findings } else { Outcome::Clean }, files))
}

fn print(args: &Check, plans: &[Checked], known: Known, started: Instant, out: &mut Output) -> Result<()> {
    match args.format.unwrap_or(CheckFormat::Text) {
        CheckFormat::Text => {
            for plan in plans {
                out.text(&render::checked(plan, args.accepted))?;
            }
            for against in plans.iter().filter_map(|plan| plan.against.as_ref()) {
                out.line(&render::evolution(against))?;
            }
            if let Some(line) = render::known(known.again, known.gone) {
                out.line(&line)?;
            }
            out.line(&render::summary(&Tally::of(plans), started.elapsed()))?;
            // A workflow shows such lines at the text that they are about.
            if args.format.is_none()
                && std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true")
            {
                out.text(&render::github(plans))?;
            }
        }
        CheckFormat::Json => out.json(&render::check_json(plans)?)?,
        CheckFormat::Sarif => out.json(&render::sarif(plans)?)?,
        CheckFormat::Github => out.text(&render::github(plans))?,
        CheckFormat::Junit => {
            out.raw(junit(plans).as_bytes())?;
        }
    }
    Ok(())
}

/// One plan, repaired if that was asked for.
fn checked(
    task: &Task,
    args: &Check,
    path: &str,
    repositories: &Repositories,
    out: &mut Output,
) -> Result<Checked> {
    let options = (!args.no_proof).then(|| Options { engine: task.engine, ..Options::default() });
    let repairs = if args.no_repairs && !args.fix { Repairs::Unasked } else { Repairs::Wanted };
    let loaded = input::load(path)?;
    let mut plan = Checked::new(&loaded.path, loaded.compiled, options.as_ref(), repairs);
    if let (true, Some(options)) = (args.fix, &options) {
        let allowed = if args.unsafe_fixes { Fixes::Any } else { Fixes::Safe };
        if path == "-" || Path::new(path).is_dir() {
            bail!("`--fix` changes plan files, and `{path}` is not one");
        }
        plan = written(fix(plan, options, allowed), args, out)?;
    }
    if let Some(old) = &args.against {
        let old = input::previous(old, path, task.plans.len() == 1)?;
        if old.compiled.plan.is_none() {
            render::message(&render::findings(&old.compiled.sources, &old.compiled.diagnostics));
            bail!("`{}` has mistakes, so that nothing can be compared with it", old.path);
        }
        plan.compare_with(&old);
        plan.compare_prefixes(repositories)?;
    } else {
        plan.compare_with_releases(repositories)?;
    }
    if let Some(file) = &args.certificate
        && let (Some(model), Some((options, report))) = (&plan.compiled.plan, &plan.proof)
    {
        let mut certificate = certify(model, options, report);
        if let Some(against) = &plan.against
            && let Some((release, proof)) = against.release.as_ref().zip(against.migration(model))
        {
            certificate.carried = Some(Carried::of(release, &against.before, &proof));
        }
        let text = certificate.to_json()?;
        output_file::write(Path::new(file), text.as_bytes())?;
        render::message(&render::certificate_written(file));
    }
    Ok(plan)
}

/// Writes the files that repairs have changed, and tells what was done.
fn written(fixed: Fixed, args: &Check, out: &mut Output) -> Result<Checked> {
    for (file, text) in &fixed.files {
        output_file::write(Path::new(file), text.as_bytes())?;
    }
    if args.format.is_none_or(|format| format == CheckFormat::Text) {
        out.text(&render::fixes(&fixed.fixes))?;
    }
    Ok(fixed.checked)
}

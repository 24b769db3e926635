//! `keyplan explore`: a database in the browser.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use keyplan_explorer::{Database as Explored, Explorer, Settings};
use keyplan_infer::{Options, infer, known_plans};
use keyplan_plan::{Compiled, compile};
use keyplan_store::Access;
use keyplan_store::source::Source;

use super::Outcome;
use super::db::{Database, given, is_own, on_engine, place};
use crate::args::db::Target;
use crate::args::explore::Explore;
use crate::input;
use crate::render::{self, Output, Progress};

/// Looks into a database.
pub(super) fn run(args: &Explore, out: &mut Output) -> Result<Outcome> {
    let explorer = explorer(args)?;
    let mut told = Ok(());
    let served = keyplan_explorer::web::serve_here(explorer, args.listen, |url| {
        told = out.line(&render::exploring(&args.source, url)).and_then(|()| out.flush());
        if args.open {
            open_browser(url);
        }
    });
    told?;
    served.with_context(|| format!("cannot listen at {}", args.listen))?;
    Ok(Outcome::Clean)
}

fn explorer(args: &Explore) -> Result<Arc<Explorer>> {
    let (database, recorded) = open(&args.source)?;
    let mut others = Vec::new();
    for other in &args.with {
        others.push(open(other)?.0);
    }
    let mut bind = given(&args.reading.bind)?;
    let mut draft = false;
    let mut file = None;
    let compiled = if let Some(path) = &args.reading.plan {
        file = Some(PathBuf::from(path)).filter(|path| path.is_file());
        input::load(path)?.compiled
    } else if let Some(recorded) = recorded {
        recorded
    } else {
        let (compiled, spaces, drafted) = inferred(&args.source, &*database.source())?;
        draft = drafted;
        bind.extend(spaces);
        compiled
    };
    if compiled.plan.is_none() {
        render::message(&render::findings(&compiled.sources, &compiled.diagnostics));
        bail!("the plan has mistakes");
    }
    let beside = |path: &PathBuf| path.with_file_name("keyplan.notes");
    let notes = args.notes.clone().or_else(|| file.as_ref().map(beside));
    let settings = Settings::default()
        .bind(bind)
        .plan_file(file)
        .write(args.write_plan)
        .notes(notes)
        .others(others)
        .draft(draft);
    Ok(Explorer::new(database, compiled, settings)?)
}

/// What is explored, and the plan that is in it.
fn open(typed: &str) -> Result<(Explored, Option<Compiled>)> {
    let (path, height) = place(typed, None);
    if is_own(path) {
        if let Some(height) = height {
            bail!("`{}` has no height {height}: it keeps one state", path.display());
        }
        let target = Target { directory: path.to_owned(), plan: None };
        let (database, _) = Database::open(&target, Access::ReadOnly)?;
        let plan = Database::recorded_plan(path)?;
        let explored = on_engine!(&database, store => Explored::of_store(typed, store));
        return Ok((explored, Some(plan)));
    }
    if !path.exists() && typed == "keyplan-demo" {
        bail!("there is no `keyplan-demo` here: `keyplan demo` makes it");
    }
    Ok((Explored::open(typed, path, height)?, None))
}

/// A plan, which space of it is which, and whether it is a draft.
type Inferred = (Compiled, Vec<(String, String)>, bool);

/// A known plan that fits, or a draft.
fn inferred(name: &str, source: &dyn Source) -> Result<Inferred> {
    let progress = Progress::rows("reading");
    let found = infer(source, &Options::default(), |rows| {
        progress.set(rows);
        ControlFlow::Continue(())
    })
    .with_context(|| format!("cannot draft a plan of `{name}`"))?;
    progress.end();
    if let Some(fit) = found.known.first() {
        let known = known_plans();
        let plan = known.iter().find(|plan| plan.path == fit.path);
        let plan = plan.ok_or_else(|| anyhow!("there is no plan {}", fit.path))?;
        let compiled = compile(plan.path, plan.text, |path| {
            let name = Path::new(path).file_name();
            let found = known.iter().find(|plan| Path::new(plan.path).file_name() == name);
            found.map(|plan| plan.text.to_owned()).ok_or_else(|| "there is no such plan".to_owned())
        });
        let spaces = fit.spaces.iter().map(|space| (space.space.clone(), space.source_space.clone()));
        return Ok((compiled, spaces.collect(), false));
    }
    let draft = found.draft.ok_or_else(|| anyhow!("no plan of `{name}` could be drafted"))?;
    let compiled = compile("draft.keyplan", &draft.text, |_| Err("a draft imports nothing".to_owned()));
    Ok((compiled, Vec::new(), true))
}

/// Opens the browser of this system; who has none copies the address.
fn open_browser(url: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = std::process::Command::new(program);
    command.arg(url).stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    // The address was printed: nothing is lost.
    let _ = command.spawn();
}

//! `keyplan explore`: a database in the browser, or in the terminal.

use std::io::IsTerminal as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use keyplan_database::{AnyStore, given, is_own, is_server, on_engine, place, redis, shown};
use keyplan_explorer::{Database as Explored, Explorer, Settings};
use keyplan_infer::{ChosenPlan, Options, infer};
use keyplan_plan::Compiled;
use keyplan_store::Access;
use keyplan_store::source::Source;

use super::Outcome;
use crate::args::explore::Explore;
use crate::input;
use crate::render::{self, DIM, GOOD, Output, Progress, STRONG, painted};

/// Looks into a database.
pub(super) fn run(args: &Explore, out: &mut Output) -> Result<Outcome> {
    if args.tui && !(std::io::stdout().is_terminal() && std::io::stdin().is_terminal()) {
        bail!("`--tui` draws on a terminal, and there is none here: leave it out for the browser");
    }
    let explorer = explorer(args)?;
    let place = args.at.trim().trim_start_matches('?');
    if args.tui {
        keyplan_explorer::tui::run(explorer, place).context("cannot draw on this terminal")?;
        return Ok(Outcome::Clean);
    }
    let mut told = Ok(());
    let served = keyplan_explorer::web::serve_here(explorer, args.listen, |url| {
        let url = &if place.is_empty() { url.to_owned() } else { format!("{url}&{place}") };
        told = out.line(&exploring(&args.source, url)).and_then(|()| out.flush());
        if args.open {
            open_browser(url);
        }
    });
    told?;
    served.with_context(|| format!("cannot listen at {}", args.listen))?;
    Ok(Outcome::Clean)
}

fn explorer(args: &Explore) -> Result<Arc<Explorer>> {
    let plan = args.reading.plan.as_deref();
    let (database, recorded) = open(&args.source, plan)?;
    let mut others = Vec::new();
    for other in &args.with {
        others.push(open(other, plan)?.0);
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
        let chosen = inferred(&args.source, &*database.source())?;
        draft = chosen.draft;
        bind.extend(chosen.spaces);
        chosen.compiled
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
fn open(typed: &str, plan: Option<&str>) -> Result<(Explored, Option<Compiled>)> {
    // `redis:` names no server: it is the one that the variable `KEYPLAN_URL` names.
    if is_server(Path::new(typed)) || typed == "redis:" {
        return Ok((of_redis(typed, plan)?, None));
    }
    let (path, height) = place(typed, None);
    if is_own(path) {
        if let Some(height) = height {
            bail!("`{}` has no height {height}: it keeps one state", path.display());
        }
        let (database, _) = AnyStore::open(path, Access::ReadOnly)?;
        let plan = AnyStore::recorded_plan(path)?;
        let explored = on_engine!(&database, store => Explored::of_store(typed, store));
        return Ok((explored, Some(plan)));
    }
    if !path.exists() && typed == "keyplan-demo" {
        bail!("there is no `keyplan-demo` here: `keyplan demo` makes it");
    }
    Ok((Explored::open(typed, path, height)?, None))
}

/// A Redis server, whose keys are of the one space of the plan that is theirs.
fn of_redis(url: &str, plan: Option<&str>) -> Result<Explored> {
    let path = plan.ok_or_else(|| anyhow!("a server has no plan in it: name one with `--plan PLAN`"))?;
    let plan = input::asked(path)?;
    let (redis, space) = redis(&plan, Some(url).filter(|url| *url != "redis:"))?;
    let space = plan.spaces.get(space).ok_or_else(|| anyhow!("the plan has no space"))?;
    Ok(Explored::of_server(shown(Path::new(url)), "redis", space, Arc::new(redis)))
}

/// A known plan that fits, or a draft.
fn inferred(name: &str, source: &dyn Source) -> Result<ChosenPlan> {
    let progress = Progress::rows("reading");
    let found = infer(source, &Options::default(), |rows| {
        progress.set(rows);
        ControlFlow::Continue(())
    })
    .with_context(|| format!("cannot draft a plan of `{name}`"))?;
    progress.end();
    found.plan().ok_or_else(|| anyhow!("no plan of `{name}` could be drafted"))
}

/// Opens the browser of this system; without one, a person copies the address.
fn open_browser(url: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = std::process::Command::new(program);
    command.arg(url).stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    // The address was printed: nothing is lost.
    let _ = command.spawn();
}

/// Where the browser finds a database.
fn exploring(source: &str, url: &str) -> String {
    let end = painted(DIM, "Ctrl-C ends it. The address lets a browser of this machine in, and nobody else.");
    format!("{} {source}\n  {}\n{end}", painted(GOOD, "exploring"), painted(STRONG, url))
}

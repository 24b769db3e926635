//! `keyplan db migrate`: a database under the next plan.

use anyhow::Result;
use keyplan_database::Error;
use keyplan_database::migrate::{Course, Done, MigrateQuery, Migrated, Watcher, migrate};
use keyplan_plan::Compiled;

use crate::args::ExplainFormat;
use crate::args::evolve::DbMigrate;
use crate::command::{Outcome, evolve};
use crate::input;
use crate::render::{self, Output, Progress};

/// Carries a database to another plan, or says what would become of it.
pub(super) fn run(args: &DbMigrate, out: &mut Output) -> Result<Outcome> {
    let plan = |path: &Option<String>| -> Result<Option<Compiled>> {
        path.as_deref().map(|path| Ok(input::load(path)?.compiled)).transpose()
    };
    let (old, new) = (plan(&args.plan)?, plan(&args.to)?);
    let query = MigrateQuery {
        place: &args.directory,
        plan: old.as_ref(),
        bind: &args.bind,
        to: new.as_ref(),
        course: match &args.into {
            Some(into) => Course::Copy { into, engine: args.engine },
            None if args.undo => Course::Undo,
            None if args.apply => Course::Apply,
            None => Course::Look,
        },
        park: args.park,
        prefer: &args.prefer,
        batch: args.batch,
    };
    match migrate(&query, &mut Told(None)) {
        Ok(migrated) => print(&migrated, args, out),
        Err(Error::Mistaken(compiled)) => Err(evolve::mistaken(&compiled)),
        Err(error) => Err(error.into()),
    }
}

fn print(migrated: &Migrated, args: &DbMigrate, out: &mut Output) -> Result<Outcome> {
    match (migrated, args.format) {
        (Migrated::Unproved { new, findings }, _) => {
            out.text(&render::findings(&new.sources, findings))?;
            out.line("nothing was touched: `keyplan migrate plan` shows what is not proved")?;
            return Ok(Outcome::Findings);
        }
        (Migrated::There | Migrated::Finished, ExplainFormat::Json) => {
            out.raw(&render::state_json("done")?)?;
        }
        (Migrated::Undone, ExplainFormat::Json) => out.raw(&render::state_json("undone")?)?,
        (Migrated::There, ExplainFormat::Text) => out.line("the database has this plan already")?,
        (Migrated::Finished, ExplainFormat::Text) => {
            out.line("the rest of the migration is done, and every row was counted and compared")?;
        }
        (Migrated::Undone, ExplainFormat::Text) => {
            out.line("the database is as it was before the migration")?;
        }
        (Migrated::Surveyed { done, proof, survey }, format) => {
            let text = format == ExplainFormat::Text;
            if text {
                out.text(&render::survey(proof, survey))?;
                out.line(&render::survey_summary(survey))?;
            } else {
                out.raw(&render::survey_json(proof, survey, done.word())?)?;
            }
            let open = survey.open_rows() > 0;
            let says = said(done, open && !args.park);
            if *done == Done::CopyRefused {
                render::message(&format!("{says}\n"));
            } else if text {
                out.line(&says)?;
            }
            return Ok(if open && done.is_nothing() { Outcome::Findings } else { Outcome::Clean });
        }
    }
    Ok(Outcome::Clean)
}

/// What was done, and what would do more.
fn said(done: &Done, open: bool) -> String {
    let nothing = match done {
        Done::Carried => {
            return "done: counts and checksums of both sides agree, and the database has the new plan"
                .to_owned();
        }
        Done::Copied { place } => {
            let place = place.as_ref().map_or("the server".to_owned(), |place| format!("`{place}`"));
            return format!("copied to {place}: counts and checksums of both sides agree");
        }
        Done::LookAtForeign => "--into DIR2 makes a copy",
        Done::Look if !open => "--apply does it",
        Done::Look | Done::Refused | Done::CopyRefused => "--park sets rows aside that have no new key",
    };
    format!("nothing was written: {nothing}")
}

/// Shows how far it has come.
struct Told(Option<Progress>);

impl Watcher for Told {
    fn unread(&mut self, space: &str) {
        render::message(&format!("not read: the space `{space}`, which is none of the plan\n"));
    }

    fn begins(&mut self, doing: &str, total: Option<u64>) {
        // The one before goes first.
        self.0 = None;
        self.0 = Some(total.map_or_else(|| Progress::rows(doing), |total| Progress::rows_of(doing, total)));
    }

    fn done(&mut self, rows: u64) {
        if let Some(progress) = &self.0 {
            progress.set(rows);
        }
    }

    fn ends(&mut self) {
        self.0 = None;
    }
}

use std::path::Path;

use anyhow::Result;
use keyplan_database::{AnyStore, shown};
use keyplan_plan::diag::Severity;
use keyplan_prover::{Options, diagnose, prove};
use keyplan_store::Schema;

use crate::args::db::Create;
use crate::command::Outcome;
use crate::input;
use crate::render::{self, Output};

/// Makes a database.
pub(super) fn run(args: &Create, out: &mut Output) -> Result<Outcome> {
    let loaded = input::load(&args.plan)?;
    let Some((schema, plan)) = Schema::of(&loaded.compiled).zip(loaded.compiled.plan.as_ref()) else {
        render::message(&render::findings(&loaded.compiled.sources, &loaded.compiled.diagnostics));
        return Ok(Outcome::Findings);
    };
    let of_schemas = keyplan_report::values::diagnose(plan);
    if !of_schemas.is_empty() {
        render::message(&render::findings(&loaded.compiled.sources, &of_schemas));
        return Ok(Outcome::Findings);
    }
    if !args.unsound {
        let report = prove(plan, &Options::default());
        let findings = diagnose(plan, &report, &Options::default(), &args.plan);
        if findings.iter().any(|finding| finding.severity() == Severity::Error) {
            render::message(&render::findings(&loaded.compiled.sources, &findings));
            render::message(&render::unsound(&args.plan));
            return Ok(Outcome::Findings);
        }
    }
    let database = AnyStore::create(&args.directory, args.engine, &schema)?;
    let place = shown(&args.directory);
    out.line(&render::created(Path::new(&place), database.engine_name(), plan))?;
    Ok(Outcome::Clean)
}

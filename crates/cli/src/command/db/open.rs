//! What was typed, opened: a database of ours, one of another program, or none.

use anyhow::Result;
use keyplan_database::{AnyStore, Foreign, expect_plan, given};
use keyplan_plan::model::Plan;
use keyplan_report::binding::{Binding, bind};
use keyplan_store::Access;
use keyplan_store::source::Source;

use crate::args::db;
use crate::args::source::Reading;
use crate::input;

/// Opens a database with the plan that is in it, which must be the one that was named.
pub(crate) fn opened(target: &db::Target, access: Access) -> Result<(AnyStore, Plan)> {
    let (database, plan) = AnyStore::open(&target.directory, access)?;
    if let Some(path) = &target.plan {
        expect_plan(&target.directory, &plan, &input::asked(path)?)?;
    }
    Ok((database, plan))
}

/// Opens a source that has no plan in it under the plan that was named; `None` if it is for [`opened`].
pub(crate) fn foreign(args: &db::Source) -> Result<Option<Foreign>> {
    let Some(typed) = args.directory.as_deref().filter(|_| !args.is_server()) else { return Ok(None) };
    Foreign::open(typed, args.plan.as_deref().map(|path| || input::asked(path)), &args.bind)
}

/// A source that has no plan in it, where none was named; `None` if it has one, or is none.
pub(super) fn planless(args: &db::Source) -> Result<Option<Box<dyn Source>>> {
    let typed = args.directory.as_deref().filter(|_| !args.is_server() && args.plan.is_none());
    Ok(typed.map(keyplan_database::planless).transpose()?.flatten())
}

/// The plan that was asked for, or the one in the first database that has one.
pub(super) fn plan_of(reading: &Reading, recorded: Vec<Option<Plan>>) -> Result<Option<Plan>> {
    match &reading.plan {
        Some(path) => input::asked(path).map(Some),
        None => Ok(recorded.into_iter().flatten().next()),
    }
}

/// Which space of the plan is which of the source.
pub(super) fn binding(reading: &Reading, plan: &Plan, source: &dyn Source) -> Result<Binding> {
    Ok(bind(plan, source, &given(&reading.bind)?)?)
}

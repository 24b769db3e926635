//! One number for the rows of each family.

use std::sync::Arc;

use keyplan_plan::dynamic::Decoder;
use keyplan_report::checksum::{Query, checksum};
use keyplan_report::diff::Pair;
use serde_json::{Value as Json, json};

use crate::explorer::Explorer;
use crate::params::{Params, Problem};

/// Sums every family of a database.
pub(crate) fn ask(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let reading = explorer.reading_of(params)?;
    let which = params.number("of", 0, usize::MAX)?;
    let source = explorer.source(which, params.height()?)?;
    let binding = explorer.binding(&reading, &*source)?;
    let query =
        Query { prefix: params.hex("prefix")?.unwrap_or_default(), depth: params.number("depth", 0, 8)? };
    let name = format!("checksum {}", params.canonical(&["again"]));
    explorer.jobs.ask(name, params.flag("again"), move |told| {
        let pair = |&(index, id): &(usize, keyplan_store::engine::SpaceId)| {
            let space = reading.plan.spaces.get(index)?;
            Some(Pair { name: space.name.clone(), plan: Some(index), before: Some(id), after: None })
        };
        let pairs: Vec<Pair> = binding.pairs.iter().filter_map(pair).collect();
        let decoder = Decoder::new(&reading.plan);
        let sums = checksum(&*source, &pairs, Some(&decoder), &query, |rows| told.rows(rows));
        sums.map(|sums| json!(sums)).map_err(|error| error.to_string())
    })
}

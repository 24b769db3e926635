//! Bytes of a multistore that the height which is read does not need.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::explorer::Explorer;
use crate::params::{Params, Problem};

/// Counts what is kept of older versions, store by store.
pub(crate) fn ask(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let Some(multistore) = &explorer.database.multistore else {
        let kind = explorer.database.source.kind();
        return Err(Problem::Absent(format!("a {kind} database does not tell which of its bytes are dead")));
    };
    let at = Arc::clone(&multistore.at);
    explorer.jobs.ask("dead".to_owned(), params.flag("again"), move |_| {
        let report = at.report().map_err(|error| error.to_string())?;
        let store = |store: &keyplan_sources::iavl::StoreReport| {
            json!({
                "store": store.name, "committed": store.committed, "bytes": store.bytes, "dead": store.dead,
                "versions": store.versions.len(), "first": store.versions.first(), "last": store.versions.last(),
            })
        };
        Ok(json!({
            "latest": report.latest,
            "app_hash": const_hex::encode(report.app_hash),
            "stores": report.stores.iter().map(store).collect::<Vec<_>>(),
        }))
    })
}

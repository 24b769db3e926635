//! Rows and multistores of other programs' databases.

use keyplan_plan::diag::grouped;
use keyplan_sources::iavl::{Change, Checked, Report};
use serde_json::json;

use super::{DIM, ERROR, GOOD, NAME, painted};

/// A multistore, for people.
pub fn multistore(report: &Report, commits: &[u64], verified: bool) -> String {
    let mut out = format!(
        "iavl · version {} of {} · {} commits · app hash {}\n\n",
        report.version,
        report.latest,
        grouped(u64::try_from(commits.len()).unwrap_or(u64::MAX)),
        const_hex::encode(report.app_hash),
    );
    for store in &report.stores {
        let kept = match (store.versions.first(), store.versions.last()) {
            (Some(first), Some(last)) => format!("versions {first} to {last}"),
            _ => "no version".to_owned(),
        };
        put!(out, "{}  {kept}, {} bytes", painted(NAME, &store.name), grouped(store.bytes));
        put!(out, ", {} of them not needed by this version", grouped(store.dead));
        if !store.committed {
            put!(out, ", {}", painted(DIM, "not in the last commit"));
        }
        out.push('\n');
    }
    if verified {
        out.push('\n');
        for checked in &report.checked {
            out.push_str(&root_line(checked));
        }
        let good = report.checked.iter().filter(|checked| checked.matches()).count();
        put!(out, "{good} of {} root hashes are right\n", report.checked.len());
    }
    out
}

fn root_line(checked: &Checked) -> String {
    let verdict = match (checked.matches(), &checked.committed) {
        (true, Some(_)) => painted(GOOD, "as committed"),
        (true, None) => painted(DIM, "not in the commit"),
        (false, _) => painted(ERROR, "WRONG"),
    };
    let hash = const_hex::encode(checked.hash);
    let rows = grouped(checked.rows);
    format!("{}  {}  {hash}  {rows} rows  {verdict}\n", checked.version, painted(NAME, &checked.store))
}

/// A multistore, for programs: one object.
pub fn multistore_json(report: &Report, commits: &[u64], verified: bool) -> Vec<u8> {
    let stores: Vec<_> = report
        .stores
        .iter()
        .map(|store| {
            json!({
                "name": store.name,
                "committed": store.committed,
                "versions": store.versions,
                "fast": store.fast,
                "bytes": store.bytes,
                "dead_bytes": store.dead,
            })
        })
        .collect();
    let roots: Vec<_> = report.checked.iter().map(|checked| {
        json!({
            "version": checked.version,
            "store": checked.store,
            "hash": const_hex::encode(checked.hash),
            "rows": checked.rows,
            "committed": checked.committed.as_ref().map(const_hex::encode),
            "fast": checked.fast,
            "wrong_nodes": checked.wrong_nodes,
            "matches": if checked.committed.is_some() || !checked.matches() { Some(checked.matches()) } else { None },
        })
    }).collect();
    let mut object = json!({
        "latest": report.latest,
        "version": report.version,
        "app_hash": const_hex::encode(report.app_hash),
        "versions": commits,
        "stores": stores,
    });
    if verified && let Some(object) = object.as_object_mut() {
        object.insert("roots".to_owned(), roots.into());
        object.insert("matches".to_owned(), report.matches().into());
    }
    let mut line = object.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// What became of a key, for people.
pub fn key_history(store: &str, key: &[u8], changes: &[Change]) -> String {
    let mut out = format!("{} {}\n", painted(NAME, store), const_hex::encode(key));
    for change in changes {
        let value = match &change.value {
            Some(value) => const_hex::encode(value),
            None => painted(DIM, "not there"),
        };
        put!(out, "  {}  {value}\n", change.version);
    }
    out
}

/// What became of a key, for programs: one line per change.
pub fn key_history_json(store: &str, key: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut out = Vec::new();
    for change in changes {
        let object = json!({
            "space": store,
            "key": const_hex::encode(key),
            "version": change.version,
            "seen": change.seen,
            "value": change.value.as_ref().map(const_hex::encode),
        });
        out.extend_from_slice(object.to_string().as_bytes());
        out.push(b'\n');
    }
    out
}

//! A draft, compiled, proved and run over the whole source.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use keyplan_plan::dynamic::{Decoder, Value};
use keyplan_plan::model::Plan;
use keyplan_prover::{Options as ProofOptions, Verdict, prove};
use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, SpaceId};
use keyplan_store::source::View;

use crate::InferError;
use crate::sample::REPORT_EVERY;

/// How many keys that a draft does not explain are kept to mend it.
const MISSES: usize = 2_000;

/// What a draft explains of one space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Explained {
    pub(crate) keys: u64,
    pub(crate) bytes: u64,
    pub(crate) read_keys: u64,
    pub(crate) read_bytes: u64,
    /// Keys by the path of their family.
    pub(crate) families: BTreeMap<String, u64>,
    /// Some of the keys that no family makes.
    pub(crate) misses: Vec<Vec<u8>>,
}

/// Reads every key of a space under the draft. `is_plain` says of a path and an argument whether its bytes are only kept.
pub(crate) fn run(
    view: &dyn View,
    id: SpaceId,
    decoder: &Decoder<'_>,
    index: usize,
    is_plain: &BTreeMap<String, Vec<bool>>,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Explained, InferError> {
    let mut found = Explained::default();
    let mut walk = view.walk(id, KeyRange::ALL, Direction::Ascending)?;
    // Rows of one family lie together: its counter is looked up once for a run of them.
    let mut counted: (&str, u64) = ("", 0);
    while let Some(row) = walk.next()? {
        let length = u64::try_from(row.key.len()).unwrap_or(u64::MAX);
        found.keys += 1;
        found.bytes += length;
        if found.keys.is_multiple_of(REPORT_EVERY) && progress(found.keys).is_break() {
            return Err(InferError::Stopped { rows: found.keys });
        }
        match decoder.decode(index, row.key) {
            Ok(read) => {
                found.read_keys += 1;
                let plain = is_plain.get(&read.family.path).map(Vec::as_slice).unwrap_or_default();
                let kept = read.values.iter().zip(plain).filter(|(_, plain)| **plain);
                let kept: u64 = kept.map(|(value, _)| size(value)).sum();
                found.read_bytes += length.saturating_sub(kept);
                if counted.0 != read.family.path {
                    *found.families.entry(counted.0.to_owned()).or_default() += counted.1;
                    counted = (read.family.path.as_str(), 0);
                }
                counted.1 += 1;
            }
            Err(_) => {
                if found.misses.len() < MISSES {
                    found.misses.push(row.key.to_vec());
                }
            }
        }
    }
    *found.families.entry(counted.0.to_owned()).or_default() += counted.1;
    found.families.remove("");
    Ok(found)
}

fn size(value: &Value) -> u64 {
    match value {
        Value::Bytes(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        Value::Text(text) => u64::try_from(text.len()).unwrap_or(u64::MAX),
        _ => 0,
    }
}

/// What the prover refutes or cannot decide of a plan, in short.
pub(crate) fn findings(plan: &Plan) -> Vec<String> {
    let report = prove(plan, &ProofOptions::default());
    let line = |statement: &keyplan_prover::Statement| {
        let verdict = match &statement.verdict {
            Verdict::Fails(_) => "refuted",
            _ => "not decided",
        };
        let other = statement.other.as_ref().map(|other| format!(" and {other}")).unwrap_or_default();
        format!("{} {verdict}: {}{other}", statement.guarantee.code(), statement.family)
    };
    report.findings().map(line).collect()
}

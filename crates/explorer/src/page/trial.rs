//! What if: a changed plan, proved again and read over the keys that are there.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use keyplan_plan::dynamic::Decoder;
use keyplan_plan::notation::hex;
use keyplan_report::files::{Files, Imports};
use keyplan_report::findings::Repairs;
use keyplan_report::structure::{is_structured, row_key};
use keyplan_store::Direction;
use keyplan_store::engine::KeyRange;
use serde_json::{Value as Json, json};

use super::{overview, plan};
use crate::explorer::Explorer;
use crate::params::{Params, Problem};
use crate::reading::Reading;
use crate::show::cut;
use crate::walk::reading_text;

/// How many bytes of a plan are tried.
const LONGEST: usize = 1 << 20;
/// How long rows of a space are read while somebody types.
const TIME: Duration = Duration::from_millis(150);
/// How many rows of a space.
const ROWS: u64 = 20_000;

/// Compiles and proves `text`, and says what it makes of the keys that are there.
pub(super) fn attempt(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let text = params.need("text")?;
    let reading = match compiled(explorer, text)? {
        Ok(reading) => reading,
        Err(findings) => return Ok(json!({ "meaning": false, "findings": findings })),
    };
    let now = explorer.reading();
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let name = format!("{:016x}", hasher.finish());
    let reading = Arc::new(reading);
    explorer.keep_trial(&name, Arc::clone(&reading));
    let reads = reads(explorer, &reading, params)?;
    let before = now.plan.fingerprint().to_string();
    let after = reading.plan.fingerprint().to_string();
    Ok(json!({
        "meaning": true,
        "trial": name,
        "fingerprint": after,
        "same_layout": before == after,
        "proof": overview::proof(&reading),
        "proof_now": overview::proof(&now),
        "findings": plan::findings(&reading.checked),
        "table": plan::table(&reading),
        "reads": reads,
    }))
}

/// The plan of a text; its findings if it does not compile.
fn compiled(explorer: &Explorer, text: &str) -> Result<Result<Reading, Json>, Problem> {
    if text.len() > LONGEST {
        return Err(Problem::Asked("a plan of more than a megabyte is not tried".to_owned()));
    }
    let now = explorer.reading();
    let compiled = match &explorer.settings.plan_file {
        Some(file) => Files::new(Imports::Project).load_bytes(&file.to_string_lossy(), text.as_bytes()),
        // Imports are those that came with the plan.
        None => keyplan_plan::compile(&now.name, text, |path| {
            let found = now.sources().find(path).and_then(|id| now.sources().get(id));
            found.map(|file| file.text.clone()).ok_or_else(|| format!("`{path}` is not in the database"))
        }),
    };
    Ok(Reading::new(&now.name, compiled, Repairs::Unasked).map_err(|checked| plan::findings(&checked)))
}

/// What the plan makes of the first rows of each space, and of the keys that were unread.
fn reads(explorer: &Arc<Explorer>, reading: &Reading, params: &Params) -> Result<Json, Problem> {
    let source = explorer.source(0, params.height()?)?;
    let binding = match explorer.binding(reading, &*source) {
        Ok(binding) => binding,
        Err(problem) => return Ok(json!({ "why": problem.to_string() })),
    };
    let decoder = Decoder::new(&reading.plan);
    let view = source.view().map_err(Problem::failed)?;
    let mut spaces = Vec::new();
    for &(index, id) in &binding.pairs {
        let Some(space) = reading.plan.spaces.get(index) else { continue };
        let structured = is_structured(space);
        let begun = Instant::now();
        let (mut rows, mut read) = (0_u64, 0_u64);
        let mut walk = view.walk(id, KeyRange::ALL, Direction::Ascending).map_err(Problem::failed)?;
        let mut whole = true;
        while let Some(row) = walk.next().map_err(Problem::failed)? {
            if rows >= ROWS || (rows.is_multiple_of(256) && begun.elapsed() > TIME) {
                whole = false;
                break;
            }
            rows += 1;
            let key = if structured { row_key(row.key) } else { Some(row.key) };
            read += u64::from(key.is_some_and(|key| decoder.decode(index, key).is_ok()));
        }
        spaces.push(json!({ "space": space.name, "rows": rows, "read": read, "whole": whole }));
    }
    let walk = explorer.walk(&Params::default())?;
    let tally = walk.tally();
    let mut groups = Vec::new();
    for group in tally.unread.values().take(100) {
        let Some(name) = walk.reading.plan.spaces.get(group.space).map(|space| &space.name) else { continue };
        let Some(index) = reading.plan.spaces.iter().position(|space| space.name == *name) else { continue };
        let structured = reading.plan.spaces.get(index).is_some_and(is_structured);
        let mut read = 0;
        let mut first = None;
        for example in &group.examples {
            let key = if structured { row_key(example).unwrap_or(example) } else { example };
            if let Ok(decoded) = decoder.decode(index, key) {
                read += 1;
                first.get_or_insert_with(|| json!({ "key": hex(key), "text": reading_text(&decoded) }));
            }
        }
        groups.push(json!({
            "space": name, "group": group.label, "message": cut(&group.message, 200), "rows": group.counts.rows,
            "examples": group.examples.len(), "read": read, "first": first,
        }));
    }
    Ok(json!({ "spaces": spaces, "unread": groups }))
}

/// Writes `text` to the plan's own file and takes it for the plan, if that was allowed at the start.
pub(super) fn write(explorer: &Arc<Explorer>, params: &Params) -> Result<Json, Problem> {
    let (Some(file), true) = (&explorer.settings.plan_file, explorer.settings.write) else {
        return Err(Problem::Asked(
            "the plan is only read: start with `--write-plan` to write it".to_owned(),
        ));
    };
    let text = params.need("text")?;
    let Ok(reading) = compiled(explorer, text)? else {
        return Err(Problem::Asked("the plan has mistakes, and is not written".to_owned()));
    };
    let source = explorer.source(0, None)?;
    explorer.binding(&reading, &*source)?;
    // Somebody's editor may have changed it meanwhile: what is there must be what was shown.
    let was = explorer.reading();
    let known = was.sources().files().first().map(|file| file.text.as_str()).unwrap_or_default();
    let there = std::fs::read_to_string(file).map_err(Problem::failed)?;
    if there != known {
        return Err(Problem::Asked(format!(
            "`{}` was changed since it was read: load the page again",
            file.display()
        )));
    }
    let beside = file.with_extension("keyplan.new");
    std::fs::write(&beside, text).map_err(Problem::failed)?;
    std::fs::rename(&beside, file).map_err(Problem::failed)?;
    explorer.set_reading(Arc::new(reading));
    Ok(json!({ "written": file.display().to_string() }))
}

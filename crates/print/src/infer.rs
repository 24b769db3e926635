//! Known plans that fit, and a draft with what it explains.

use keyplan_infer::{Draft, DraftedSpace, Inference, KnownFit};
use keyplan_plan::diag::grouped;
use serde_json::json;

use super::row::many;
use super::{DIM, ERROR, GOOD, NAME, painted};

/// For people. The draft itself is printed unless it was written to a file.
pub fn inference(found: &Inference, file: Option<&str>) -> String {
    let mut out = String::new();
    for fit in &found.known {
        put_known(&mut out, fit);
    }
    let Some(draft) = &found.draft else { return out };
    if found.known.is_empty() {
        out.push_str("no known plan fits; this is a draft\n");
    } else if draft.spaces.iter().all(|space| !is_known(found, &space.source_space)) {
        out.push_str("no known plan fits the other spaces; this is a draft of them\n");
    }
    out.push('\n');
    if let Some(file) = file {
        put!(out, "the draft is in {}\n\n", painted(NAME, file));
    } else {
        put!(out, "{}\n", draft.text);
    }
    put_draft(&mut out, draft);
    out
}

/// Whether a known plan fits a space of the source.
fn is_known(found: &Inference, space: &str) -> bool {
    found.known.iter().flat_map(|fit| &fit.spaces).any(|fit| fit.source_space == space)
}

fn put_known(out: &mut String, fit: &KnownFit) {
    put!(
        out,
        "{} explains {:.1} % of the keys that were tried{} ({})\n",
        painted(GOOD, &fit.plan),
        fit.share * 100.0,
        if fit.in_part { " in these spaces" } else { "" },
        fit.path
    );
    for space in &fit.spaces {
        put!(
            out,
            "  {} = {}  {} of {}, {}\n",
            painted(NAME, &space.space),
            space.source_space,
            grouped(space.explained),
            many(space.tried, "key", "keys"),
            many(u64::try_from(space.families).unwrap_or(u64::MAX), "family", "families"),
        );
    }
}

fn put_draft(out: &mut String, draft: &Draft) {
    for space in &draft.spaces {
        put_space(out, space);
    }
    for what in &draft.not_looked_at {
        put!(out, "  {}\n", painted(DIM, format!("not looked at: {what}")));
    }
    if draft.findings.is_empty() {
        put!(out, "{}\n", painted(GOOD, "everything that the draft says of its keys is proved"));
    } else {
        put!(
            out,
            "{}\n",
            painted(
                ERROR,
                format!(
                    "{} of the prover; `keyplan check` shows keys",
                    many(u64::try_from(draft.findings.len()).unwrap_or(u64::MAX), "finding", "findings")
                )
            )
        );
        for finding in &draft.findings {
            put!(out, "  {finding}\n");
        }
    }
    put!(
        out,
        "{}\n",
        painted(DIM, "no scan and no order is claimed: rows that are there cannot show what rows may come")
    );
}

fn put_space(out: &mut String, space: &DraftedSpace) {
    put!(
        out,
        "{}  explains {} of {}, {} of {}\n",
        painted(NAME, &space.source_space),
        grouped(space.explained_keys),
        many(space.keys, "key", "keys"),
        grouped(space.explained_bytes),
        many(space.bytes, "byte", "bytes"),
    );
    if let Some(sampled) = space.sampled {
        put!(
            out,
            "  {}\n",
            painted(
                DIM,
                format!("drafted from a sample of {}, checked on all", many(sampled, "key", "keys"))
            )
        );
    }
    for family in &space.families {
        put!(out, "  {}  {}\n", family.path, many(family.keys, "key", "keys"));
        for note in &family.unsure {
            put!(out, "    {}\n", painted(DIM, format!("unsure: {note}")));
        }
    }
}

/// One object.
pub fn inference_json(found: &Inference) -> serde_json::Result<Vec<u8>> {
    let mut object = serde_json::to_value(found)?;
    if let Some(object) = object.as_object_mut() {
        object.insert("version".to_owned(), json!(1));
    }
    let mut out = serde_json::to_vec(&object)?;
    out.push(b'\n');
    Ok(out)
}

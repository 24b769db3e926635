//! A value, a field or a member of one family.

use anyhow::{Context, Result};
use keyplan_database::{PartBytes, find, parts, value_part};
use keyplan_plan::dynamic::readings;
use keyplan_plan::explain::Explanation;
use keyplan_plan::model::{Family, Plan};
use keyplan_report::explain_json::part_json;
use keyplan_report::key_text;

use super::super::Outcome;
use super::READINGS;
use crate::args::{Explain, ExplainFormat};
use crate::render::{self, Output};

/// Explains the parts that were given.
pub(super) fn run(args: &Explain, plan: &Plan, family: &str, out: &mut Output) -> Result<Outcome> {
    let (_, family) = find::family(plan, family)?;
    let given = |text: &Option<String>| text.as_ref().map(|text| bytes(text, args)).transpose();
    let (field, member, value) = (given(&args.field)?, given(&args.member)?, given(&args.value)?);
    let apart = field.is_some() && value.is_some() && args.format == ExplainFormat::Text;
    let parts = parts(family, field, member, value)?;
    let last = parts.len() - 1;
    let mut sound = true;
    for (index, one) in parts.iter().enumerate() {
        if apart && index == last {
            out.line("")?;
        }
        sound &= part(plan, one, args.format, out)?;
    }
    Ok(if sound { Outcome::Clean } else { Outcome::Findings })
}

/// Explains the value under a key that was explained already; false if it is not of the key's family.
pub(super) fn value_of_key(
    args: &Explain,
    plan: &Plan,
    key: &Explanation<'_>,
    typed: &str,
    out: &mut Output,
) -> Result<bool> {
    let mut families: Vec<&Family> = key.readings.iter().map(|reading| reading.decoded.family).collect();
    families.dedup_by(|a, b| a.path == b.path);
    let value_bytes = bytes(typed, args)?;
    let mut sound = !families.is_empty();
    for family in families {
        if args.format == ExplainFormat::Text {
            out.line("")?;
        }
        sound &= part(plan, &value_part(family, None, value_bytes.clone())?, args.format, out)?;
    }
    Ok(sound)
}

fn bytes(text: &str, args: &Explain) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    key_text::read(text.as_bytes(), args.input.into(), &mut bytes)
        .with_context(|| format!("cannot read `{text}`"))?;
    Ok(bytes)
}

/// Explains bytes under one layout; false if they do not fit it.
pub(super) fn part(
    plan: &Plan,
    part: &PartBytes<'_>,
    format: ExplainFormat,
    out: &mut Output,
) -> Result<bool> {
    let PartBytes { title, doc, sequence, bytes } = part;
    let found = readings(sequence, bytes, READINGS);
    match format {
        ExplainFormat::Json => {
            let mut buffer = Vec::new();
            part_json(&mut buffer, title, sequence, bytes, &found);
            out.json(&buffer)?;
        }
        ExplainFormat::Text => {
            out.text(&render::part(plan, title, doc, sequence, bytes, &found, out.width()))?;
        }
    }
    Ok(found.is_ok())
}

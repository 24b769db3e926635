//! A value, a field or a member of one family.

use anyhow::{Context, Result, anyhow, bail};
use keyplan_database::find;
use keyplan_plan::dynamic::{Decoder, readings};
use keyplan_plan::explain::explain;
use keyplan_plan::model::{Family, Field, Plan, Sequence};
use keyplan_report::explain_json::part_json;

use super::super::Outcome;
use super::READINGS;
use crate::args::{Explain, ExplainFormat};
use crate::key_text;
use crate::render::{self, Output};

/// Explains the parts that were given.
pub(super) fn run(args: &Explain, plan: &Plan, family: &str, out: &mut Output) -> Result<Outcome> {
    let (_, family) = find::family(plan, family)?;
    let mut sound = true;
    let mut field = None;
    if let Some(text) = &args.field {
        let bytes = bytes(text, args)?;
        field = family.decode_field(&bytes).map(|(field, _)| field);
        let Some(field) = field else {
            bail!("no field of `{}` is written as {}", family.path, render::hex(&bytes));
        };
        let title = format!("field {} of {}", field.name, family.path);
        sound &= part(plan, &title, &field.doc, &field.key, &bytes, args.format, out)?;
    }
    if let Some(text) = &args.member {
        let member = family.member.as_ref().ok_or_else(|| anyhow!("`{}` has no members", family.path))?;
        let title = format!("member of {}", family.path);
        sound &= part(plan, &title, &[], member, &bytes(text, args)?, args.format, out)?;
    }
    if let Some(text) = &args.value {
        let value = value(family, field)?;
        let owner = field.map_or(String::new(), |field| format!("field {} of ", field.name));
        let title = format!("value of {owner}{}", family.path);
        if let (Some(_), ExplainFormat::Text) = (field, args.format) {
            out.line("")?;
        }
        sound &= part(plan, &title, &[], value, &bytes(text, args)?, args.format, out)?;
    }
    if args.field.is_none() && args.member.is_none() && args.value.is_none() {
        bail!("--family needs one of --value, --field and --member");
    }
    Ok(if sound { Outcome::Clean } else { Outcome::Findings })
}

/// Explains the value under a key that was explained already; false if it is none of the key's family.
pub(super) fn value_of_key(
    args: &Explain,
    decoder: &Decoder<'_>,
    spaces: &[usize],
    key: &[u8],
    typed: &str,
    out: &mut Output,
) -> Result<bool> {
    let plan = decoder.plan();
    let found = explain(decoder, spaces, key);
    let mut families: Vec<&Family> = found.readings.iter().map(|reading| reading.decoded.family).collect();
    families.dedup_by(|a, b| a.path == b.path);
    let value_bytes = bytes(typed, args)?;
    let mut sound = !families.is_empty();
    for family in families {
        if args.format == ExplainFormat::Text {
            out.line("")?;
        }
        let title = format!("value of {}", family.path);
        sound &= part(plan, &title, &[], value(family, None)?, &value_bytes, args.format, out)?;
    }
    Ok(sound)
}

fn value<'p>(family: &'p Family, field: Option<&'p Field>) -> Result<&'p Sequence> {
    match field {
        Some(field) => field.value.as_ref().ok_or_else(|| anyhow!("the plan gives no layout for its value")),
        None => {
            family.value.as_ref().ok_or_else(|| anyhow!("`{}` has no value layout of its own", family.path))
        }
    }
}

fn bytes(text: &str, args: &Explain) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    key_text::read(text.as_bytes(), args.input, &mut bytes)
        .with_context(|| format!("cannot read `{text}`"))?;
    Ok(bytes)
}

/// Explains bytes under one layout; false if they do not fit it.
pub(super) fn part(
    plan: &Plan,
    title: &str,
    doc: &[String],
    sequence: &Sequence,
    bytes: &[u8],
    format: ExplainFormat,
    out: &mut Output,
) -> Result<bool> {
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

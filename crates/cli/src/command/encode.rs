//! `keyplan encode`: arguments as a person writes them, to bytes.

use anyhow::{Result, anyhow, bail};
use keyplan_plan::dynamic::{Decoder, Other, Value, encode, other_key, other_layout, prefix};
use keyplan_plan::model::{Argument, Family, Field, Plan, Segment, Sequence, Shape};

use super::{Outcome, find};
use crate::args::{BytesFormat, Encode};
use crate::input;
use crate::render::{self, Notation, Output};

/// What to do about bytes that can be read in another way.
const UNGUARDED: &str = "--unguarded prints it anyway";

/// Encodes one key, prefix, value, field, member or score.
pub(crate) fn run(args: &Encode, out: &mut Output) -> Result<Outcome> {
    let Some(plan) = input::plan(&args.plan)? else { return Ok(Outcome::Findings) };
    let (space, family) = find::family(&plan, &args.family)?;
    let layout = Layout::chosen(args, family)?;
    let given = assignments(&args.values)?;
    let (bytes, values) = if args.scan {
        scan_prefix(family, &given)?
    } else if args.front {
        front(family, &given)?
    } else {
        let values = complete(Notation::of(&plan), layout.sequence, &given, &layout.title(family))?;
        let mut bytes = Vec::new();
        encode(layout.sequence, &values, &mut bytes)?;
        (bytes, values)
    };
    let whole = !args.scan && !args.front;
    if whole
        && !args.unguarded
        && let Some(other) = layout.other_reading(&plan, space, family, &values, &bytes)
    {
        let title = layout.title(family);
        render::message(&render::refusal(&title, layout.sequence, &values, &bytes, &other, UNGUARDED));
        return Ok(Outcome::Findings);
    }
    match args.format {
        BytesFormat::Hex => out.line(&render::hex(&bytes))?,
        BytesFormat::Base64 => out.line(&render::base64(&bytes))?,
        BytesFormat::Text => out.line(&render::escaped(&bytes))?,
        BytesFormat::Json => {
            let title = match (args.scan, args.front) {
                (true, _) => "scan",
                (_, true) => "front",
                _ => layout.kind,
            };
            out.json(&render::encoded_json(family, title, layout.sequence, &values, &bytes))?;
        }
    }
    Ok(Outcome::Clean)
}

/// Which of a family's layouts is to be encoded.
struct Layout<'p> {
    kind: &'static str,
    field: Option<&'p Field>,
    sequence: &'p Sequence,
}

impl<'p> Layout<'p> {
    fn chosen(args: &Encode, family: &'p Family) -> Result<Self> {
        let lacks = |what: &str| anyhow!("`{}` is a {} without a {what}", family.path, family.kind.keyword());
        if let Some(name) = &args.field {
            let field = find::field(family, name)?;
            let sequence = if args.value {
                field.value.as_ref().ok_or_else(|| lacks("value layout of that field"))?
            } else {
                &field.key
            };
            let kind = if args.value { "field value" } else { "field" };
            return Ok(Self { kind, field: Some(field), sequence });
        }
        let (kind, sequence) = if args.value {
            ("value", family.value.as_ref().ok_or_else(|| lacks("value layout"))?)
        } else if args.member {
            ("member", family.member.as_ref().ok_or_else(|| lacks("member layout"))?)
        } else if args.score {
            ("score", family.score.as_ref().ok_or_else(|| lacks("score layout"))?)
        } else {
            ("key", &family.key)
        };
        Ok(Self { kind, field: None, sequence })
    }

    /// What a message calls it.
    fn title(&self, family: &Family) -> String {
        match (self.kind, self.field) {
            ("key", _) => family.path.clone(),
            (kind, Some(field)) => format!("{kind} `{}` of {}", field.name, family.path),
            (kind, None) => format!("{kind} of {}", family.path),
        }
    }

    fn other_reading(
        &self,
        plan: &'p Plan,
        space: usize,
        family: &'p Family,
        values: &[Value],
        bytes: &[u8],
    ) -> Option<Other<'p>> {
        match (self.kind, self.field) {
            ("key", _) => other_key(&Decoder::new(plan), space, family, values, bytes),
            ("field", Some(field)) => {
                let fields = family.fields.iter().map(|field| (field.name.as_str(), &field.key));
                other_layout(fields, &field.name, values, bytes)
            }
            (kind, _) => other_layout([(kind, self.sequence)], kind, values, bytes),
        }
    }
}

/// `name=value`, taken apart.
pub(super) fn assignments(typed: &[String]) -> Result<Vec<(&str, &str)>> {
    let mut given: Vec<(&str, &str)> = Vec::new();
    for text in typed {
        let Some((name, value)) = text.split_once('=') else {
            bail!("`{text}` is not an argument: write NAME=VALUE");
        };
        if given.iter().any(|(other, _)| *other == name) {
            bail!("the argument `{name}` is given twice");
        }
        given.push((name, value));
    }
    Ok(given)
}

pub(super) fn name(argument: &Argument) -> &str {
    argument.name.as_deref().unwrap_or("value")
}

/// How a record is typed that has an argument of this name.
fn record_with(argument: &Argument, wanted: &str) -> Option<String> {
    let Shape::Record(record) = &argument.shape else { return None };
    let inside: Vec<&str> = record.arguments().filter_map(|inside| inside.name.as_deref()).collect();
    let typed: Vec<String> = inside.iter().map(|name| format!("{name}=…")).collect();
    inside.contains(&wanted).then(|| format!("{}=({})", name(argument), typed.join(", ")))
}

/// The values of the first arguments of a layout, as many as were given.
pub(super) fn leading(sequence: &Sequence, given: &[(&str, &str)], title: &str) -> Result<Vec<Value>> {
    let names: Vec<&str> = sequence.arguments().map(name).collect();
    for (given, _) in given {
        if !names.contains(given) {
            if let Some(record) = sequence.arguments().find_map(|argument| record_with(argument, given)) {
                bail!("{title} has no argument `{given}`, but a record that has it: write '{record}'");
            }
            let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            bail!("{title} has no argument `{given}`; it has: {has}");
        }
    }
    let mut values = Vec::new();
    for argument in sequence.arguments() {
        let Some((name, text)) = given.iter().find(|(given, _)| *given == name(argument)) else { break };
        values.push(typed(argument, text).map_err(|error| anyhow!("`{name}={text}`: {error}"))?);
    }
    Ok(values)
}

/// A value as it was typed: in the form that the plan shows it in, or of another format as JSON.
pub(super) fn typed(argument: &Argument, text: &str) -> Result<Value> {
    if let Shape::Opaque(opaque) = &argument.shape
        && text.trim_start().starts_with(['{', '['])
    {
        return super::db::opaque_value(opaque, text).map(Value::Bytes);
    }
    argument.parse(text).map_err(|error| anyhow!(error))
}

/// A value for each argument of a layout.
pub(super) fn complete(
    notation: Notation<'_>,
    sequence: &Sequence,
    given: &[(&str, &str)],
    title: &str,
) -> Result<Vec<Value>> {
    let values = leading(sequence, given, title)?;
    if values.len() < sequence.argument_count() {
        let missing: Vec<String> = sequence
            .arguments()
            .filter(|argument| given.iter().all(|(given, _)| *given != name(argument)))
            .map(|argument| format!("{} ({})", name(argument), notation.type_of(argument)))
            .collect();
        bail!("{title} also needs: {}", missing.join(", "));
    }
    Ok(values)
}

/// A key up to the last argument given, and nothing behind that.
pub(super) fn front(family: &Family, given: &[(&str, &str)]) -> Result<(Vec<u8>, Vec<Value>)> {
    let values = leading(&family.key, given, &family.path)?;
    let segments = family.key.segments().iter().enumerate();
    let arguments = segments.filter(|(_, segment)| matches!(segment, Segment::Argument(_)));
    let behind = arguments.take(values.len()).last().map_or(0, |(index, _)| index + 1);
    let mut bytes = Vec::new();
    prefix(&family.key, behind, &values, &mut bytes)?;
    Ok((bytes, values))
}

/// The prefix of the scan that binds exactly the arguments given.
pub(super) fn scan_prefix(family: &Family, given: &[(&str, &str)]) -> Result<(Vec<u8>, Vec<Value>)> {
    let names: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
    let scan = family.scan_named(&names).or_else(|| family.scan_by(given.len()));
    let values = leading(scan.map_or(&family.key, |scan| scan.layout(&family.key)), given, &family.path)?;
    let Some(scan) = scan.filter(|_| values.len() == given.len()) else {
        let scans: Vec<String> = family.scans.iter().map(|scan| render::scan(family, scan)).collect();
        let has = if scans.is_empty() { "none".to_owned() } else { scans.join("; ") };
        bail!("`{}` has no scan that binds just these arguments; its scans: {has}", family.path);
    };
    let mut bytes = Vec::new();
    scan.write(&family.key, &values, &mut bytes)?;
    Ok((bytes, values))
}

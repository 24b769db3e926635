//! `keyplan encode`: arguments as a person writes them, to bytes.

use anyhow::{Result, anyhow};
use keyplan_database::find;
use keyplan_database::typed::{assignments, complete, front, scan_prefix};
use keyplan_plan::dynamic::{Decoder, Other, Value, encode, other_key, other_layout};
use keyplan_plan::model::{Family, Field, Plan, Sequence};
use keyplan_plan::notation::{Notation, escaped};
use keyplan_report::row::base64;

use super::Outcome;
use crate::args::{BytesFormat, Encode};
use crate::input;
use crate::render::{self, Output};

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
        BytesFormat::Base64 => out.line(&base64(&bytes))?,
        BytesFormat::Text => out.line(&escaped(&bytes))?,
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

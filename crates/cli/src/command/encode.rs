//! `keyplan encode`: arguments as a person writes them, to bytes.

use anyhow::Result;
use keyplan_database::typed::{assignments, complete, front, scan_prefix};
use keyplan_database::{Layout, RowPart, find};
use keyplan_plan::dynamic::encode;
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
    let part = match (&args.field, args.value) {
        (Some(name), true) => RowPart::FieldValue(name),
        (Some(name), false) => RowPart::Field(name),
        (None, true) => RowPart::Value,
        (None, false) if args.member => RowPart::Member,
        (None, false) if args.score => RowPart::Score,
        (None, false) => RowPart::Key,
    };
    let layout = Layout::of(family, part)?;
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

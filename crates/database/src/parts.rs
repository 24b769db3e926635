//! Values, fields and members of a family that are to be explained, each under its layout.

use keyplan_plan::model::{Family, Field, Sequence};
use keyplan_plan::notation::hex;

use crate::error::{Result, bail, refused};

/// A part of a row under its layout.
#[derive(Clone, Debug)]
pub struct PartBytes<'p> {
    /// What it is called: `value of cl.tick`.
    pub title: String,
    /// What the plan says of it.
    pub doc: &'p [String],
    /// Its layout.
    pub sequence: &'p Sequence,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The parts that were given of a row of a family: a field, a member, a value, which is the field's if there is one.
pub fn parts(
    family: &Family,
    field: Option<Vec<u8>>,
    member: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
) -> Result<Vec<PartBytes<'_>>> {
    let mut parts = Vec::new();
    let mut of = None;
    if let Some(bytes) = field {
        of = family.decode_field(&bytes).map(|(field, _)| field);
        let Some(field) = of else {
            bail!("no field of `{}` is written as {}", family.path, hex(&bytes));
        };
        let title = format!("field {} of {}", field.name, family.path);
        parts.push(PartBytes { title, doc: &field.doc, sequence: &field.key, bytes });
    }
    if let Some(bytes) = member {
        let sequence = family.member.as_ref().ok_or_else(|| refused!("`{}` has no members", family.path))?;
        parts.push(PartBytes { title: format!("member of {}", family.path), doc: &[], sequence, bytes });
    }
    if let Some(bytes) = value {
        parts.push(value_part(family, of, bytes)?);
    }
    if parts.is_empty() {
        bail!("--family needs one of --value, --field and --member");
    }
    Ok(parts)
}

/// The value of a row of a family, or of one of its fields.
pub fn value_part<'p>(family: &'p Family, field: Option<&'p Field>, bytes: Vec<u8>) -> Result<PartBytes<'p>> {
    let sequence = if let Some(field) = field {
        field.value.as_ref().ok_or_else(|| refused!("the plan gives no layout for its value"))?
    } else {
        family.value.as_ref().ok_or_else(|| refused!("`{}` has no value layout of its own", family.path))?
    };
    let owner = field.map_or(String::new(), |field| format!("field {} of ", field.name));
    Ok(PartBytes { title: format!("value of {owner}{}", family.path), doc: &[], sequence, bytes })
}

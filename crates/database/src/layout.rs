//! The layouts of a family: of its key, its value, its fields, members and scores.

use keyplan_plan::dynamic::{Decoder, Other, Value, other_key, other_layout};
use keyplan_plan::model::{Family, Field, Plan, Sequence};

use crate::error::{Result, refused};
use crate::find;

/// Which of a family's layouts is to be encoded.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'p> {
    /// Which: `key`, `value`, `member`, `score`, `field` or `field value`.
    pub kind: &'static str,
    /// The field, if it is one of a field.
    pub field: Option<&'p Field>,
    /// The layout itself.
    pub sequence: &'p Sequence,
}

/// A part of a row that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowPart<'a> {
    /// Its key.
    #[default]
    Key,
    /// Its value.
    Value,
    /// The key of a field of a hash, by the field's name.
    Field(&'a str),
    /// The value of a field of a hash.
    FieldValue(&'a str),
    /// A member of a set, sorted set or queue.
    Member,
    /// What it is ranked by.
    Score,
}

impl<'p> Layout<'p> {
    /// The layout of a part, if the family has such.
    pub fn of(family: &'p Family, part: RowPart<'_>) -> Result<Self> {
        let lacks =
            |what: &str| refused!("`{}` is a {} without a {what}", family.path, family.kind.keyword());
        let (kind, field, sequence) = match part {
            RowPart::Key => ("key", None, &family.key),
            RowPart::Value => ("value", None, family.value.as_ref().ok_or_else(|| lacks("value layout"))?),
            RowPart::Member => {
                ("member", None, family.member.as_ref().ok_or_else(|| lacks("member layout"))?)
            }
            RowPart::Score => ("score", None, family.score.as_ref().ok_or_else(|| lacks("score layout"))?),
            RowPart::Field(name) => {
                let field = find::field(family, name)?;
                ("field", Some(field), &field.key)
            }
            RowPart::FieldValue(name) => {
                let field = find::field(family, name)?;
                let value = field.value.as_ref().ok_or_else(|| lacks("value layout of that field"))?;
                ("field value", Some(field), value)
            }
        };
        Ok(Self { kind, field, sequence })
    }

    /// What a message calls it.
    pub fn title(&self, family: &Family) -> String {
        match (self.kind, self.field) {
            ("key", _) => family.path.clone(),
            (kind, Some(field)) => format!("{kind} `{}` of {}", field.name, family.path),
            (kind, None) => format!("{kind} of {}", family.path),
        }
    }

    /// Another way in which bytes of this layout can be read, if there is one.
    pub fn other_reading(
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

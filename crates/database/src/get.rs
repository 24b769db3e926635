//! One row, by the arguments of its key or by its bytes.

use keyplan_plan::dynamic::{Decoded, Decoder, Miss, Value};
use keyplan_plan::model::{Family, Plan};
use keyplan_report::key_text::{self, KeyText};

use crate::error::{Result, bail, refused};
use crate::find;
use crate::typed::{assignments, typed_key};

/// Which row is asked for.
#[derive(Clone, Copy, Debug)]
pub enum RowQuery<'a> {
    /// The one with these arguments of a family's key, `NAME=VALUE`.
    Typed {
        /// The family.
        family: &'a str,
        /// The arguments.
        values: &'a [String],
    },
    /// The one with a key in hex.
    Raw {
        /// The space, if the plan has several.
        space: Option<&'a str>,
        /// The key.
        key: &'a str,
    },
}

/// What became of it.
#[derive(Clone, Debug)]
pub enum GotRow<'p> {
    /// The row.
    Row {
        /// The index of its space in the plan.
        space: usize,
        /// Its key.
        key: Vec<u8>,
        /// Its value.
        value: Vec<u8>,
        /// What the key stands for, or why no family makes it.
        decoded: Box<Result<Decoded<'p>, Miss<'p>>>,
    },
    /// There is none with these arguments.
    NoRow {
        /// The family.
        family: &'p Family,
        /// The arguments.
        values: Vec<Value>,
        /// The key that they make.
        key: Vec<u8>,
    },
    /// There is none with this key.
    NoKey {
        /// The space.
        space: &'p str,
        /// The key.
        key: Vec<u8>,
    },
}

/// Finds a row; `value` reads the value of a key of a space.
pub fn get_row<'p>(
    plan: &'p Plan,
    query: &RowQuery<'_>,
    value: impl Fn(usize, &[u8]) -> Result<Option<Vec<u8>>>,
) -> Result<GotRow<'p>> {
    match *query {
        RowQuery::Typed { family, values } => {
            let (index, family) = find::family(plan, family)?;
            let (key, values) = typed_key(plan, family, &assignments(values)?)?;
            let space = plan.spaces.get(index).ok_or_else(|| refused!("there is no such space"))?;
            let Some(value) = value(index, &key)? else { return Ok(GotRow::NoRow { family, values, key }) };
            let decoded = Box::new(Ok(Decoded { space, family, values }));
            Ok(GotRow::Row { space: index, key, value, decoded })
        }
        RowQuery::Raw { space, key: typed } => {
            let index = match (space, plan.spaces.len()) {
                (Some(name), _) => find::space(plan, name)?,
                (None, 1) => 0,
                (None, _) => bail!("plan `{}` has several spaces: name one with --space", plan.name),
            };
            let space = plan.spaces.get(index).ok_or_else(|| refused!("there is no such space"))?;
            let mut key = Vec::new();
            key_text::read(typed.as_bytes(), KeyText::Hex, &mut key)
                .map_err(|error| refused!("`{typed}`: {error}"))?;
            let Some(value) = value(index, &key)? else {
                return Ok(GotRow::NoKey { space: &space.name, key });
            };
            let decoded = Box::new(Decoder::new(plan).decode(index, &key));
            Ok(GotRow::Row { space: index, key, value, decoded })
        }
    }
}

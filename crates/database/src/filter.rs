//! Rows by an argument of their key or of their value.

use keyplan_plan::dynamic::{Value, readings};
use keyplan_plan::model::{Family, Sequence};
use keyplan_plan::notation::argument_name;

use crate::error::{Result, bail, refused};

/// An argument and the value that it must have.
pub(crate) struct Filter {
    of_value: bool,
    index: usize,
    wanted: Value,
}

impl Filter {
    /// `NAME=VALUE`, of the key if it has such an argument, and of the value else; `value.NAME=VALUE` is of the value.
    pub(crate) fn new(family: &Family, typed: &str) -> Result<Self> {
        let Some((name, text)) = typed.split_once('=') else {
            bail!("`{typed}` is not a condition: write NAME=VALUE");
        };
        let (of_value, layout, index) = found(family, name)?;
        let argument = layout.arguments().nth(index);
        let argument = argument.ok_or_else(|| refused!("`{}` has no argument `{name}`", family.path))?;
        let wanted = argument.parse(text).map_err(|error| refused!("`{typed}`: {error}"))?;
        Ok(Self { of_value, index, wanted })
    }

    /// Whether a row of the family is one of those.
    pub(crate) fn admits(&self, family: &Family, key: &[Value], value: &[u8]) -> bool {
        if !self.of_value {
            return key.get(self.index) == Some(&self.wanted);
        }
        let Some(layout) = &family.value else { return false };
        let read = readings(layout, value, 1).ok().and_then(|mut found| found.readings.pop());
        read.is_some_and(|values| values.get(self.index) == Some(&self.wanted))
    }
}

fn found<'f>(family: &'f Family, name: &str) -> Result<(bool, &'f Sequence, usize)> {
    let place = |layout: &Sequence, name: &str| layout.arguments().position(|a| argument_name(a) == name);
    let in_value = |name: &str| {
        let layout = family.value.as_ref()?;
        Some((true, layout, place(layout, name)?))
    };
    let of_value = name.strip_prefix("value.").and_then(in_value);
    let of_key = place(&family.key, name).map(|index| (false, &family.key, index));
    of_value.or(of_key).or_else(|| in_value(name)).ok_or_else(|| {
        let arguments = family.key.arguments().chain(family.value.iter().flat_map(Sequence::arguments));
        let names: Vec<&str> = arguments.map(argument_name).collect();
        let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        refused!("`{}` has no argument `{name}`; it has: {has}", family.path)
    })
}

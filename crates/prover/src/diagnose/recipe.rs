//! What the keys of a witness are made of, so that others can make them again.

use keyplan_plan::diag::{Recipe, RecipeExtent, RecipePart};
use keyplan_plan::dynamic::{Value, typed_text};
use keyplan_plan::model::Shape;

use super::subject::{Part, Subject};
use crate::proof::Side;

/// What a side of a witness is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// A whole key, field, member or score.
    Whole,
    /// The prefix of a scan.
    Prefix,
    /// A key up to one of its arguments, as at the end of a range.
    Front,
    /// Bytes that no arguments make.
    Untyped,
}

/// What a side is made of; `None` if no arguments make it.
pub(crate) fn recipe(path: &str, subject: Subject<'_>, side: &Side, made: Made) -> Option<Recipe> {
    let extent = match made {
        Made::Whole => RecipeExtent::Whole,
        Made::Prefix => RecipeExtent::Prefix,
        Made::Front => RecipeExtent::Front,
        Made::Untyped => return None,
    };
    let part = match subject.part {
        Part::Key => RecipePart::Key,
        Part::Field(field) => RecipePart::Field(field.name.clone()),
        Part::Member => RecipePart::Member,
        Part::Score => RecipePart::Score,
    };
    let arguments = subject.sequence.arguments().zip(&side.values).map(|(argument, value)| {
        let name = argument.name.as_deref().unwrap_or("value");
        (name.to_owned(), typed(value, &argument.shape))
    });
    Some(Recipe {
        plan: path.to_owned(),
        family: subject.family.path.clone(),
        part,
        arguments: arguments.collect(),
        extent,
    })
}

/// A value as people type it: a text goes without quotes.
fn typed(value: &Value, shape: &Shape) -> String {
    match value {
        Value::Text(text) => typed_text(text),
        value => value.display(shape).to_string(),
    }
}

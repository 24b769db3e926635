#![doc = include_str!("KP0015.md")]

use keyplan_plan::diag::{Code, Diagnostic};
use keyplan_plan::model::{FamilyKind, Plan, Space};

use crate::diagnose::Page;

pub(crate) const PAGE: Page = Page { code: Code::MixedSpace, text: include_str!("KP0015.md") };

/// Every space with rows of its own beside structures.
pub(crate) fn findings(plan: &Plan) -> Vec<Diagnostic> {
    plan.spaces.iter().filter_map(mixed).collect()
}

fn mixed(space: &Space) -> Option<Diagnostic> {
    let row = space.families.iter().find(|family| family.kind == FamilyKind::Key)?;
    let structure = space.families.iter().find(|family| family.kind != FamilyKind::Key)?;
    let message = format!(
        "space `{}` holds rows of `{}` beside the structure `{}`",
        space.name, row.path, structure.path
    );
    let found = Diagnostic::new(Code::MixedSpace, message, row.name_span, "its rows are written as they are");
    Some(found.with_label(structure.name_span, "is kept in rows of another layout").with_help(
        "move the `key` families to a space of their own: a batch changes both spaces in one step",
    ))
}

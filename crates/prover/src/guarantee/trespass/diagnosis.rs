#![doc = include_str!("KP0013.md")]

use keyplan_plan::diag::{Diagnostic, NoteKind};

use crate::diagnose::lanes::{Row, draw};
use crate::diagnose::recipe::recipe;
use crate::diagnose::{Finding, Made};
use crate::proof::Side;

/// A key that begins with the prefix of a module that its family is not in.
pub(crate) fn diagnostic(finding: Finding<'_>, path: &str, prefix: &[u8], key: &Side) -> Option<Diagnostic> {
    let subject = finding.subject()?;
    let title = subject.title();
    let space = finding.plan.spaces.iter().find(|space| space.name == finding.statement.space)?;
    let module = space.modules.iter().find(|module| module.path == path && module.prefix == prefix)?;
    let hex: Vec<String> = prefix.iter().map(|byte| format!("{byte:02x}")).collect();
    let own = subject.family.module.and_then(|id| space.modules.get(id.0));
    let same = own.is_some_and(|own| own.prefix == module.prefix);
    let message = if same {
        format!("the module of {title} has the prefix of the module `{path}`")
    } else {
        format!("keys of {title} begin with 0x{}, which the module `{path}` owns", hex.concat())
    };
    let row = Row { title: String::new(), subject, side: key };
    let diagnostic = Diagnostic::new(finding.code(), message, subject.name_span(), "not in that module")
        .with_label(module.span, "everything that begins so belongs to this module")
        .with_note(NoteKind::Witness, draw(&[row]));
    let recipes = recipe(finding.path, subject, key, Made::Whole).into_iter().collect();
    let diagnostic = diagnostic.with_recipes(recipes);
    Some(diagnostic.with_help(format!(
        "give it a prefix that no module has, or move it into `{}`; to keep it: `accept trespass \"why\"`",
        module.name
    )))
}

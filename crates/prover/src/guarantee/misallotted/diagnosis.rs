#![doc = include_str!("KP0006.md")]

use keyplan_plan::diag::{Diagnostic, NoteKind, Span};
use keyplan_plan::model::{Module, Retired};

use crate::diagnose::lanes::{Row, draw};
use crate::diagnose::recipe::recipe;
use crate::diagnose::subject::Subject;
use crate::diagnose::{Finding, Made};
use crate::proof::NumberFault;

/// A number that is not the family's to use.
pub(crate) fn diagnostic(finding: Finding<'_>, number: u8, fault: &NumberFault) -> Option<Diagnostic> {
    let subject = finding.subject()?;
    let title = subject.title();
    let span = number_span(subject);
    let code = finding.code();
    let keep = "to keep it: `accept misallotted \"why\"`";
    let free = next_free(finding);
    match fault {
        NumberFault::Taken { by } => {
            let other = Subject::find(finding.plan, by, finding.statement)?;
            let message = format!("the number 0x{number:02x} of {title} is also that of {}", other.title());
            Some(
                Diagnostic::new(code, message, span, "taken")
                    .with_label(number_span(other), "by this family")
                    .with_help(format!("give one of them a free number{}; {keep}", free.named())),
            )
        }
        NumberFault::Outside { allotment } => {
            let allotment = module(finding)?.allotments.iter().find(|a| a.name == *allotment)?;
            let message =
                format!("the number 0x{number:02x} of {title} lies outside of `{}`", allotment.name);
            let range =
                format!("`{}` is 0x{:02x}..=0x{:02x}", allotment.name, allotment.first, allotment.last);
            Some(
                Diagnostic::new(code, message, span, "not in the range that the family names")
                    .with_label(allotment.span, range)
                    .with_help(format!(
                        "take a free number of `{}`{}; {keep}",
                        allotment.name,
                        free.number()
                    )),
            )
        }
        NumberFault::Nowhere => {
            let message =
                format!("the number 0x{number:02x} of {title} lies outside of every range of its module");
            Some(
                Diagnostic::new(code, message, span, "allotted to nothing")
                    .with_label(module(finding)?.span, "this module allots its numbers")
                    .with_help(format!("take a free number{}; {keep}", free.named())),
            )
        }
        NumberFault::Absent => {
            let message = format!("{title} has no number, and its module allots them");
            let label = "begins with no byte that is always the same";
            Some(
                Diagnostic::new(code, message, subject.family.name_span, label)
                    .with_label(module(finding)?.span, "this module allots its numbers")
                    .with_help(format!("begin its keys with a free number{}; {keep}", free.named())),
            )
        }
        NumberFault::Retired { prefix, key } => {
            let retired = retired(finding, prefix)?;
            let hex: Vec<String> = prefix.iter().map(|byte| format!("{byte:02x}")).collect();
            let message = format!("keys of {title} begin with 0x{}, which is retired", hex.concat());
            let diagnostic = Diagnostic::new(code, message, span, "not to be used again")
                .with_label(retired.span, "given up here");
            let row = Row { title: String::new(), subject, side: key };
            let diagnostic = diagnostic.with_note(NoteKind::Witness, draw(&[row]));
            let recipes = recipe(finding.path, subject, key, Made::Whole).into_iter().collect();
            let diagnostic = diagnostic.with_recipes(recipes);
            Some(diagnostic.with_help(format!("take a number that was never used{}; {keep}", free.named())))
        }
    }
}

/// The next free number of the range that the family draws from.
struct Free(Option<(u8, String)>);

impl Free {
    /// ", such as 0x20", if there is one.
    fn number(&self) -> String {
        self.0.as_ref().map_or_else(String::new, |(number, _)| format!(", such as 0x{number:02x}"))
    }

    /// ", such as 0x20 of `cross_module`", if there is one.
    fn named(&self) -> String {
        self.0
            .as_ref()
            .map_or_else(String::new, |(number, range)| format!(", such as 0x{number:02x} of `{range}`"))
    }
}

fn next_free(finding: Finding<'_>) -> Free {
    let found = finding.plan.families().find(|(_, family)| family.path == finding.statement.family);
    let next = found.and_then(|(space, family)| space.next_free(family));
    Free(next.map(|(number, range)| (number, range.name.clone())))
}

fn module(finding: Finding<'_>) -> Option<&Module> {
    let (space, family) =
        finding.plan.families().find(|(_, family)| family.path == finding.statement.family)?;
    space.modules.get(family.module?.0)
}

fn retired<'a>(finding: Finding<'a>, prefix: &[u8]) -> Option<&'a Retired> {
    let space = finding.plan.spaces.iter().find(|space| space.name == finding.statement.space)?;
    let mut all = space.retired.iter().chain(space.modules.iter().flat_map(|module| &module.retired));
    all.find(|retired| retired.prefix == prefix)
}

/// The literal that holds a family's number: the first one in its own declaration.
fn number_span(subject: Subject<'_>) -> Span {
    let own = subject.family.span;
    let inside = |span: &Span| span.file == own.file && own.start <= span.start && span.end <= own.end;
    let mut spans = subject.sequence.segments().iter().map(keyplan_plan::model::Segment::span);
    spans.find(inside).unwrap_or(subject.family.name_span)
}

#![doc = include_str!("../pages/KP0006.md")]

use keyplan_plan::diag::{Diagnostic, NoteKind, Span};
use keyplan_plan::model::{Module, Retired};

use super::super::command::encode;
use super::super::lanes::{Row, draw};
use super::super::subject::Subject;
use super::super::{Finding, Made};
use crate::proof::NumberFault;

/// A number that is not the family's to use.
pub(in super::super) fn diagnostic(
    finding: Finding<'_>,
    number: u8,
    fault: &NumberFault,
) -> Option<Diagnostic> {
    let subject = finding.subject()?;
    let title = subject.title();
    let span = number_span(subject);
    let code = finding.code();
    let keep = "to keep it: `accept misallotted \"why\"`";
    match fault {
        NumberFault::Taken { by } => {
            let other = Subject::find(finding.plan, by, finding.statement)?;
            let message = format!("the number 0x{number:02x} of {title} is also that of {}", other.title());
            Some(
                Diagnostic::new(code, message, span, "taken")
                    .with_label(number_span(other), "by this family")
                    .with_help(format!("give one of them a free number; {keep}")),
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
                    .with_help(format!("take a free number of `{}`; {keep}", allotment.name)),
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
            let diagnostic = match encode(finding.path, subject, key, Made::Whole) {
                Some(command) => diagnostic.with_note(NoteKind::Reproduce, command),
                None => diagnostic,
            };
            Some(diagnostic.with_help(format!("take a number that was never used; {keep}")))
        }
    }
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

/// The literal that holds a family's number: the first one that stands in its own declaration.
fn number_span(subject: Subject<'_>) -> Span {
    let own = subject.family.span;
    let inside = |span: &Span| span.file == own.file && own.start <= span.start && span.end <= own.end;
    let mut spans = subject.sequence.segments().iter().map(keyplan_plan::model::Segment::span);
    spans.find(inside).unwrap_or(subject.family.name_span)
}

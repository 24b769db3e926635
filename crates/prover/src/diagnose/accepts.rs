#![doc = include_str!("KP0012.md")]

use keyplan_plan::Engine;
use keyplan_plan::diag::{Code, Diagnostic};
use keyplan_plan::model::{Accept, AcceptKind, Family, Plan, ScanEnd};

use super::pages::Page;
use super::subject::{Part, Subject};
use crate::guarantee::Guarantee;
use crate::proof::{Report, Statement, Verdict};

pub(crate) const PAGE: Page = Page { code: Code::NeedlessAccept, text: include_str!("KP0012.md") };

/// Every `accept` of a flaw that is proved absent.
pub(crate) fn needless(plan: &Plan, report: &Report) -> Vec<Diagnostic> {
    let mut all = Vec::new();
    for (space, family) in plan.families() {
        for accept in &family.accepts {
            if accept.kind == AcceptKind::Style && !space.style_faults(family).is_empty() {
                continue;
            }
            if accept.kind == AcceptKind::Overlap {
                let absent: Vec<&String> =
                    accept.of.iter().filter(|other| !overlaps(report, family, other)).collect();
                all.extend(absent.into_iter().map(|other| {
                    let message = format!(
                        "`accept overlap` is not needed: `{}` and `{other}` share no key",
                        family.path
                    );
                    found(message, accept)
                }));
            } else if accept.kind == AcceptKind::Leak && !accept.of.is_empty() {
                let absent = accept.of.iter().filter(|other| !leaks(report, family, other));
                all.extend(absent.map(|other| {
                    let message = format!(
                        "`accept leak({other})` is not needed: no scan of `{}` returns rows of it that are not its own",
                        family.path
                    );
                    found(message, accept)
                }));
            } else if !is_needed(report, family, accept.kind) {
                let message = format!(
                    "`accept {}` is not needed: {}",
                    accept.kind.word(),
                    absence(family, accept.kind)
                );
                all.push(found(message, accept));
            }
        }
    }
    all
}

/// The `accept` under which a plan keeps the flaw of a statement.
pub fn accepted_by<'p>(plan: &'p Plan, statement: &Statement) -> Option<&'p Accept> {
    let owner = |path: &str| Subject::find(plan, path, statement);
    let subject = owner(&statement.family)?;
    let own = |kind: AcceptKind| subject.family.accepts.iter().find(|accept| accept.kind == kind);
    if statement.guarantee == Guarantee::Disjoint {
        let other = owner(statement.other.as_deref()?)?;
        if let (Part::Field(_), Part::Field(_)) = (subject.part, other.part) {
            return own(AcceptKind::Ambiguous);
        }
        let names = |a: &'p Family, b: &Family| {
            a.accepted(AcceptKind::Overlap).find(|accept| accept.of.contains(&b.path))
        };
        return names(subject.family, other.family).or_else(|| names(other.family, subject.family));
    }
    if matches!(statement.guarantee, Guarantee::NoForeignRows | Guarantee::NoSiblingRows) {
        return subject.family.accepted_leak(statement.other.as_deref().unwrap_or(&subject.family.path));
    }
    let by_loss = matches!(statement.guarantee, Guarantee::Unambiguous | Guarantee::InOrder);
    own(statement.guarantee.accepted_as()?).or_else(|| own(AcceptKind::Lossy).filter(|_| by_loss))
}

fn found(message: String, accept: &Accept) -> Diagnostic {
    Diagnostic::new(Code::NeedlessAccept, message, accept.span, "accepts a flaw that is proved absent")
        .with_help("remove it, so that the flaws a plan lists are those it has")
}

fn absence(family: &Family, kind: AcceptKind) -> String {
    let path = &family.path;
    match kind {
        AcceptKind::Ambiguous => format!("no two argument lists of `{path}` make the same key"),
        AcceptKind::Overlap => format!("no other family makes a key of `{path}`"),
        AcceptKind::Leak if family.scans.is_empty() => format!("`{path}` claims no scan"),
        AcceptKind::Leak => format!("every scan of `{path}` returns only its own rows"),
        AcceptKind::Missing if family.scans.iter().all(|scan| scan.end == ScanEnd::Prefix) => {
            format!("`{path}` claims no range")
        }
        AcceptKind::Missing => format!("no range of `{path}` leaves out any of its rows"),
        AcceptKind::Unordered if family.scans.iter().all(|scan| !scan.in_order) => {
            format!("no scan of `{path}` claims an order")
        }
        AcceptKind::Unordered => format!("every scan of `{path}` is in order"),
        AcceptKind::Misallotted => format!("the number of `{path}` is its own to use"),
        AcceptKind::Lossy => format!("no encoding of `{path}` loses anything"),
        AcceptKind::Oversize => format!("the keys of `{path}` fit every engine"),
        AcceptKind::Style => format!("`{path}` follows every house rule"),
        AcceptKind::Trespass => format!("no key of `{path}` lies in another module's prefix"),
    }
}

fn is_flawed(statement: &Statement) -> bool {
    matches!(statement.verdict, Verdict::Fails(_) | Verdict::Unknown(_))
}

/// Whether two families may share a key.
fn overlaps(report: &Report, family: &Family, other: &str) -> bool {
    report.statements.iter().any(|statement| {
        let pair = (statement.family.as_str(), statement.other.as_deref());
        let own = family.path.as_str();
        statement.guarantee == Guarantee::Disjoint
            && is_flawed(statement)
            && (pair == (own, Some(other)) || pair == (other, Some(own)))
    })
}

/// Whether rows of `other` may leak into a scan of the family.
fn leaks(report: &Report, family: &Family, other: &str) -> bool {
    report.statements.iter().filter(|statement| is_flawed(statement)).any(|statement| {
        let own = statement.family == family.path && statement.family != other;
        match statement.guarantee {
            Guarantee::NoForeignRows => own && may_leak(statement, other),
            Guarantee::NoSiblingRows => statement.family == family.path && statement.family == other,
            _ => false,
        }
    })
}

/// Whether the statement names the family, or leaves open whether it leaks.
fn may_leak(statement: &Statement, other: &str) -> bool {
    let more = &statement.more;
    statement.other.as_deref() == Some(other)
        || more.unseen > 0
        || more.leaks.iter().any(|witness| witness.row_family() == Some(other))
}

fn is_needed(report: &Report, family: &Family, kind: AcceptKind) -> bool {
    if kind == AcceptKind::Oversize {
        let least = Engine::ALL.into_iter().map(Engine::longest_key).min().unwrap_or_default();
        // Which engine a plan is checked for changes; what it accepts does not.
        return family.key.longest().is_none_or(|longest| longest > least);
    }
    report.statements.iter().filter(|statement| is_flawed(statement)).any(|statement| {
        let own = statement.of == family.path;
        let of_part = own && statement.family != statement.of;
        let between_fields =
            kind == AcceptKind::Ambiguous && statement.guarantee == Guarantee::Disjoint && of_part;
        own && (statement.guarantee.accepted_as() == Some(kind) || between_fields)
    })
}

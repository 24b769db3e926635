//! What a report says, for the people who write plans: each finding under the text that causes it, with keys that
//! show it, what they are made of, and a way out.

mod accepts;
mod group;
pub(crate) mod lanes;
mod pages;
pub(crate) mod recipe;
pub(crate) mod shorten;
pub(crate) mod subject;
pub(crate) mod witness;

use keyplan_plan::Compiled;
use keyplan_plan::diag::{Code, Diagnostic, Note, NoteKind};
use keyplan_plan::model::{Plan, Scan, ScanEnd, Sequence};
use keyplan_plan::order::{sort_by, sort_by_key};

pub use accepts::accepted_by;
pub use pages::{PAGES, Page, has_page, page};

use crate::guarantee::Guarantee;
use crate::guarantee::{mixed_space, oversize, style};
use crate::proof::{Report, Statement, Verdict, Witness};
use crate::prove::Options;
use crate::repair::{Repair, Workshop};
pub(crate) use recipe::Made;
use subject::Subject;

/// Everything in a report that a person must look at, in the order of the plan's text.
///
/// `path` is what the caller knows the plan's file by; the commands that reproduce a finding name it. Flaws that the
/// plan accepts are left out, and an `accept` of a flaw that is proved absent is a finding of its own.
///
/// ```
/// use keyplan_prover::{Options, diagnose, prove};
///
/// let text = r#"plan demo; space s { key pool = "p/" a: text("a-z", 1..=9) b: text("a-z", 1..=9); }"#;
/// let plan = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into())).plan.expect("sound");
/// let options = Options::default();
/// let findings = diagnose(&plan, &prove(&plan, &options), &options, "demo.keyplan");
/// assert_eq!(findings.len(), 1);
/// assert_eq!(findings[0].message, "two argument lists of `s.pool` make the same key");
/// ```
pub fn diagnose(plan: &Plan, report: &Report, options: &Options, path: &str) -> Vec<Diagnostic> {
    findings(plan, report, options, path).into_iter().map(|(_, diagnostic)| diagnostic).collect()
}

/// The most findings that are told of one plan.
const MOST_FINDINGS: usize = 1_000;

/// Every finding with the statement that it is about, if it is about one; in the order of the plan's text.
fn findings<'r>(
    plan: &Plan,
    report: &'r Report,
    options: &Options,
    path: &str,
) -> Vec<(Option<&'r Statement>, Diagnostic)> {
    let (endless, single): (Vec<&Statement>, Vec<&Statement>) =
        report.findings().partition(|statement| oversize::diagnosis::is_endless(plan, statement));
    let mut groups = group::grouped(plan, single);
    let left_out = groups.len().saturating_sub(MOST_FINDINGS);
    if left_out > 0 {
        sort_by_key(&mut groups, |group| (group.head.span, group.head.guarantee));
        groups.truncate(MOST_FINDINGS);
    }
    let mut all: Vec<(Option<&Statement>, Diagnostic)> = Vec::new();
    for group in groups {
        let Some(diagnostic) = describe(plan, group.head, options, path) else { continue };
        let diagnostic = match group::also(plan, &group, report) {
            Some(also) => diagnostic.with_note(NoteKind::Note, also),
            None => diagnostic,
        };
        all.push((Some(group.head), diagnostic));
    }
    all.extend(oversize::diagnosis::endless(plan, &endless, options).map(|diagnostic| (None, diagnostic)));
    all.extend(accepts::needless(plan, report).into_iter().map(|diagnostic| (None, diagnostic)));
    all.extend(style::findings(plan).into_iter().map(|diagnostic| (None, diagnostic)));
    all.extend(mixed_space::findings(plan).into_iter().map(|diagnostic| (None, diagnostic)));
    sort_by(&mut all, |(_, a), (_, b)| (a.span(), a.code, &a.message).cmp(&(b.span(), b.code, &b.message)));
    if let Some((_, last)) = all.last().filter(|_| left_out > 0) {
        let message = format!("{left_out} more findings are not listed");
        let diagnostic =
            Diagnostic::new(Code::TooManyFaults, message, last.span(), "the last one that is listed")
                .with_help("cure some of these first; `--format json` has every statement");
        all.push((None, diagnostic));
    }
    all
}

/// A finding with what it is about and what cures it.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// What a person is told.
    pub diagnostic: Diagnostic,
    /// The statement that it is about, if it is about one.
    pub statement: Option<Statement>,
    /// Changes to the plan's text that cure it, each proved: the one to take first, and after it one that gives a claim
    /// up, if that is all that helps without a migration.
    pub repairs: Vec<Repair>,
}

impl From<Diagnostic> for Found {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostic, statement: None, repairs: Vec::new() }
    }
}

/// As [`diagnose`], each finding with the statement that it is about.
pub fn found(plan: &Plan, report: &Report, options: &Options, path: &str) -> Vec<Found> {
    let all = findings(plan, report, options, path).into_iter();
    all.map(|(statement, diagnostic)| Found { statement: statement.cloned(), ..Found::from(diagnostic) })
        .collect()
}

/// As [`diagnose`], each refuted guarantee with the change to the plan's text that cures it, where one is known.
///
/// Of the changes that were proved the cheapest is shown that keeps every claim of the plan, and after it one
/// that gives a claim up, if that is all that helps without a migration.
pub fn diagnose_and_repair(
    compiled: &Compiled,
    report: &Report,
    options: &Options,
    path: &str,
) -> Vec<Diagnostic> {
    found_and_repaired(compiled, report, options, path).into_iter().map(|found| found.diagnostic).collect()
}

/// As [`diagnose_and_repair`], with the statements and the repairs as data.
pub fn found_and_repaired(compiled: &Compiled, report: &Report, options: &Options, path: &str) -> Vec<Found> {
    let Some(plan) = &compiled.plan else { return Vec::new() };
    let mut workshop = Workshop::new(compiled, plan, report, options);
    let mut all = Vec::new();
    for (statement, diagnostic) in findings(plan, report, options, path) {
        let mut found = Found { statement: statement.cloned(), ..Found::from(diagnostic) };
        if let Some(statement) = statement.filter(|statement| matches!(statement.verdict, Verdict::Fails(_)))
        {
            offer(&mut workshop, statement, &mut found);
        }
        all.push(found);
    }
    all
}

/// Adds the repairs of a statement to its finding.
fn offer(workshop: &mut Workshop<'_>, statement: &Statement, found: &mut Found) {
    let Some(offered) = workshop.repairs(statement) else {
        let text = "no repair was looked for: those of other findings took all the work that is allowed";
        found.diagnostic.notes.push(Note { kind: NoteKind::Note, text: text.to_owned() });
        return;
    };
    let best = offered.iter().find(|repair| repair.keeps_claims);
    let humble = offered.iter().find(|repair| !repair.keeps_claims);
    let humble = humble.filter(|_| best.is_none_or(|best| best.needs_migration));
    for repair in best.into_iter().chain(humble) {
        found.diagnostic.notes.push(Note { kind: NoteKind::Repair, text: repair.summary() });
        found.repairs.push(repair.clone());
    }
}

/// How many guarantees are neither proved nor refuted, nor accepted as flawed.
pub fn unproved(plan: &Plan, report: &Report) -> usize {
    let unknown = report.findings().filter(|statement| matches!(statement.verdict, Verdict::Unknown(_)));
    unknown.filter(|statement| !oversize::diagnosis::is_endless(plan, statement)).count()
}

/// One statement as a diagnostic, whether the plan accepts it or not; `None` if nothing is wrong.
pub fn describe(plan: &Plan, statement: &Statement, options: &Options, path: &str) -> Option<Diagnostic> {
    let finding = Finding { plan, statement, options, path };
    match &statement.verdict {
        Verdict::Holds | Verdict::Assumed(_) => None,
        Verdict::Fails(witness) => Some(finding.refuted(witness)),
        Verdict::Unknown(reason) => {
            let label = "neither proved nor refuted";
            let message = format!("not proved: {}", finding.claim());
            let diagnostic = Diagnostic::new(finding.code(), message, statement.span, label)
                .with_note(NoteKind::Note, reason.to_string());
            let diagnostic = match finding.other() {
                Some(other) => diagnostic.with_label(other.name_span(), "the other one"),
                None => diagnostic,
            };
            Some(
                diagnostic.with_help(
                    "bound the arguments or mark where they end, so that less has to be looked at",
                ),
            )
        }
    }
}

/// The layout that the path of a statement or of a side of its witness names: of a family's keys, of a field, of
/// members or of scores.
pub fn layout<'p>(plan: &'p Plan, statement: &Statement, path: &str) -> Option<&'p Sequence> {
    Subject::find(plan, path, statement).map(|subject| subject.sequence)
}

/// A statement with what is around it.
#[derive(Clone, Copy)]
pub(crate) struct Finding<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) statement: &'a Statement,
    pub(crate) options: &'a Options,
    pub(crate) path: &'a str,
}

impl<'a> Finding<'a> {
    pub(crate) fn code(self) -> Code {
        self.statement.guarantee.rule().code
    }

    /// What was to be proved.
    fn claim(self) -> String {
        (self.statement.guarantee.rule().claim)(self)
    }

    fn refuted(self, witness: &'a Witness) -> Diagnostic {
        let told = (self.statement.guarantee.rule().refuted)(self, witness);
        // A flaw that has no words of its own is told all the same.
        told.unwrap_or_else(|| {
            let message = format!("refuted: {}", self.claim());
            Diagnostic::new(self.code(), message, self.statement.span, "does not hold")
        })
    }

    /// What the statement is about; `None` if it is about a whole space.
    pub(crate) fn subject(self) -> Option<Subject<'a>> {
        Subject::find(self.plan, &self.statement.family, self.statement)
    }

    /// The subject with the layout of the scan's prefix, which may bind what is not an argument of a key.
    pub(crate) fn scanned_subject(self) -> Option<Subject<'a>> {
        let subject = self.subject()?;
        let scan = self.statement.scan.and_then(|id| subject.family.scan(id));
        Some(Subject {
            sequence: scan.map_or(subject.sequence, |scan| scan.layout(subject.sequence)),
            ..subject
        })
    }

    /// The other family, where it is about two.
    pub(crate) fn other(self) -> Option<Subject<'a>> {
        // A module is not a family, though the two may have one path.
        let other =
            self.statement.other.as_deref().filter(|_| self.statement.guarantee != Guarantee::KeepsOut)?;
        Subject::find(self.plan, other, self.statement)
    }

    /// The other family as a person would call it.
    pub(crate) fn other_title(self) -> String {
        self.other().map_or_else(|| "another family".to_owned(), Subject::title)
    }

    /// The other families whose rows leak and that the plan does not accept, each with a key.
    pub(crate) fn also_leaks(self) -> Option<String> {
        let subject = self.subject()?;
        let more = &self.statement.more;
        let open = more.leaks.iter().filter_map(|witness| match witness {
            Witness::Row { row, .. } | Witness::Range { row, .. } => Some(row),
            _ => None,
        });
        let open = open.filter(|row| subject.family.accepted_leak(&row.family).is_none());
        let mut lines: Vec<String> =
            open.map(|row| format!("`{}`: {}", row.family, shorten::bytes(&row.bytes))).collect();
        if lines.is_empty() && more.unseen == 0 {
            return None;
        }
        let mut text = match lines.len() {
            0 => String::new(),
            1 => "and rows of 1 more family, such as".to_owned(),
            count => format!("and rows of {count} more families, such as"),
        };
        if more.unseen > 0 {
            lines.push(match more.unseen {
                1 => "of 1 more it is not known".to_owned(),
                count => format!("of {count} more it is not known"),
            });
        }
        for line in lines {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&line);
        }
        Some(text)
    }

    pub(crate) fn title(self) -> String {
        self.subject().map_or_else(|| format!("`{}`", self.statement.family), Subject::title)
    }

    /// How the prefix of the scan is made: by the scan itself, if it can be called.
    pub(crate) fn prefix_made(self) -> Made {
        let scan = self.subject().and_then(|subject| {
            let scan = subject.family.scan(self.statement.scan?)?;
            Some((scan, subject.family.scan_by(scan.bound)))
        });
        match scan {
            Some((scan, _)) if scan.part.is_some() && scan.is_called() => Made::Prefix,
            Some((scan, _)) if scan.bare => Made::Front,
            Some((scan, Some(called))) if called.segments == scan.segments => Made::Prefix,
            _ => Made::Untyped,
        }
    }

    /// The scan without the end of a range and without what else changes it: `by pool`.
    pub(crate) fn plain_scan(self) -> String {
        let found = self.subject().and_then(|subject| {
            let scan = subject.family.scan(self.statement.scan?)?;
            let plain = Scan { bare: false, end: ScanEnd::Prefix, filtered: false, ..scan.clone() };
            Some(plain.words(subject.sequence))
        });
        found.unwrap_or_else(|| "all".to_owned())
    }

    /// The scan as a person would call it: `` `s.tick by pool` ``.
    pub(crate) fn scan(self) -> String {
        let Some(subject) = self.subject() else { return format!("of `{}`", self.statement.family) };
        let scan = self.statement.scan.and_then(|id| subject.family.scan(id));
        let words = scan.map_or_else(String::new, |scan| format!(" {}", scan.words(subject.sequence)));
        format!("`{}{words}`", subject.family.path)
    }
}

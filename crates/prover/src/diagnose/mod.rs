//! What a report says, for the people who write plans: each finding under the text that causes it, with keys that
//! show it, commands that show it again, and a way out.

mod accepts;
mod command;
mod group;
mod lanes;
mod pages;
mod rule;
mod shorten;
mod subject;

use keyplan_plan::Compiled;
use keyplan_plan::diag::{Code, Diagnostic, Note, NoteKind};
use keyplan_plan::model::{Plan, Scan, ScanEnd, Sequence};

pub use accepts::accepted_by;
pub use pages::{PAGES, Page, page};
pub use rule::incompatible::{Version, diagnose_changes};
pub use rule::migration::{diagnose_forgotten, diagnose_migration};

use crate::proof::{Guarantee, Report, Statement, Verdict, Witness};
use crate::prove::Options;
use crate::repair::{Repair, Workshop};
use command::Made;
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
        report.findings().partition(|statement| rule::oversize::is_endless(plan, statement));
    let mut groups = group::grouped(plan, single);
    let left_out = groups.len().saturating_sub(MOST_FINDINGS);
    if left_out > 0 {
        groups.sort_by_key(|group| (group.head.span, group.head.guarantee));
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
    all.extend(rule::oversize::endless(plan, &endless, options).map(|diagnostic| (None, diagnostic)));
    all.extend(accepts::needless(plan, report).into_iter().map(|diagnostic| (None, diagnostic)));
    all.extend(rule::off_style::findings(plan).into_iter().map(|diagnostic| (None, diagnostic)));
    all.extend(rule::mixed_space::findings(plan).into_iter().map(|diagnostic| (None, diagnostic)));
    all.sort_by(|(_, a), (_, b)| (a.span(), a.code, &a.message).cmp(&(b.span(), b.code, &b.message)));
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
    /// Changes to the plan's text that cure it, each proved: the one to take first, and behind it one that gives a claim
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
/// Of the changes that were proved the cheapest is shown that leaves every claim of the plan standing, and behind it one
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
    unknown.filter(|statement| !rule::oversize::is_endless(plan, statement)).count()
}

/// One statement as a diagnostic, whether the plan accepts it or not; `None` if nothing is wrong.
pub fn describe(plan: &Plan, statement: &Statement, options: &Options, path: &str) -> Option<Diagnostic> {
    let finding = Finding { plan, statement, options, path };
    match &statement.verdict {
        Verdict::Holds | Verdict::Assumed(_) => None,
        Verdict::Fails(witness) => finding.refuted(witness),
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
struct Finding<'a> {
    plan: &'a Plan,
    statement: &'a Statement,
    options: &'a Options,
    path: &'a str,
}

impl<'a> Finding<'a> {
    fn code(self) -> Code {
        match self.statement.guarantee {
            Guarantee::Disjoint => Code::Overlap,
            Guarantee::Unambiguous => Code::Ambiguous,
            Guarantee::NoForeignRows => Code::ForeignRows,
            Guarantee::NoSiblingRows => Code::SiblingRows,
            Guarantee::InOrder => Code::Disorder,
            Guarantee::Allotted => Code::Misallotted,
            Guarantee::DistinctNames => Code::NameCollision,
            Guarantee::Lossless => Code::Lossy,
            Guarantee::Fits => Code::Oversize,
            Guarantee::KeepsOut => Code::Trespass,
            Guarantee::NoMissingRows => Code::MissingRows,
        }
    }

    /// What was to be proved.
    fn claim(self) -> String {
        let title = self.title();
        let other = self.other().map_or_else(|| "another family".to_owned(), Subject::title);
        match self.statement.guarantee {
            Guarantee::Disjoint => format!("{title} and {other} never make the same key"),
            Guarantee::Unambiguous => format!("two argument lists of {title} never make the same key"),
            Guarantee::NoForeignRows => format!("the scan {} returns no row of {other}", self.scan()),
            Guarantee::NoSiblingRows => {
                format!("the scan {} returns no row with other arguments", self.scan())
            }
            Guarantee::InOrder => format!("the scan {} is in order", self.scan()),
            Guarantee::Allotted => format!("the number of {title} is its own to use"),
            Guarantee::DistinctNames => format!("the known names of {title} have digests of their own"),
            Guarantee::Lossless => format!("two values of {title} are never written as the same bytes"),
            Guarantee::Fits => format!("every key of {title} fits {}", self.options.engine.name()),
            Guarantee::KeepsOut => {
                let module = self.statement.other.as_deref().unwrap_or("another module");
                format!("no key of {title} begins with the prefix of `{module}`")
            }
            Guarantee::NoMissingRows => format!("the range {} leaves out none of its rows", self.scan()),
        }
    }

    fn refuted(self, witness: &'a Witness) -> Option<Diagnostic> {
        match witness {
            Witness::SameKey { first, second } => match self.statement.guarantee {
                Guarantee::Disjoint => rule::overlap::diagnostic(self, first, second),
                Guarantee::Lossless => rule::lossy::diagnostic(self, first, second),
                _ => rule::ambiguous::diagnostic(self, first, second),
            },
            Witness::Row { scan, row } => match self.statement.guarantee {
                Guarantee::NoForeignRows => rule::foreign_rows::diagnostic(self, scan, row),
                _ => rule::sibling_rows::diagnostic(self, scan, row),
            },
            Witness::Disorder { first, second } => rule::disorder::rows(self, first, second),
            Witness::RangeEnd { end, row } => rule::disorder::range(self, end, row),
            Witness::Range { start, end, row } => rule::missing_rows::diagnostic(self, start, end, row),
            Witness::Number { number, fault, .. } => rule::misallotted::diagnostic(self, *number, fault),
            Witness::Digest { first, second, digest } => {
                Some(rule::name_collision::diagnostic(self, first, second, digest))
            }
            Witness::Trespass { module, prefix, key } => {
                rule::trespass::diagnostic(self, module, prefix, key)
            }
            Witness::TooLong { key, limit } => rule::oversize::diagnostic(self, key, *limit),
        }
    }

    /// What the statement is about; `None` if it is about a whole space.
    fn subject(self) -> Option<Subject<'a>> {
        Subject::find(self.plan, &self.statement.family, self.statement)
    }

    /// The subject with the layout of the scan's prefix, which may bind what is no argument of a key.
    fn scanned_subject(self) -> Option<Subject<'a>> {
        let subject = self.subject()?;
        let scan = self.statement.scan.and_then(|id| subject.family.scan(id));
        Some(Subject {
            sequence: scan.map_or(subject.sequence, |scan| scan.layout(subject.sequence)),
            ..subject
        })
    }

    /// The other family, where it is about two.
    fn other(self) -> Option<Subject<'a>> {
        // A module is no family, though the two may have one path.
        let other =
            self.statement.other.as_deref().filter(|_| self.statement.guarantee != Guarantee::KeepsOut)?;
        Subject::find(self.plan, other, self.statement)
    }

    /// The other families whose rows leak and that the plan does not accept, each with a key.
    fn also_leaks(self) -> Option<String> {
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

    fn title(self) -> String {
        self.subject().map_or_else(|| format!("`{}`", self.statement.family), Subject::title)
    }

    /// How the prefix of the scan is made: by the scan itself, if it can be called.
    fn prefix_made(self) -> Made {
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
    fn plain_scan(self) -> String {
        let found = self.subject().and_then(|subject| {
            let scan = subject.family.scan(self.statement.scan?)?;
            let plain = Scan { bare: false, end: ScanEnd::Prefix, filtered: false, ..scan.clone() };
            Some(plain.words(subject.sequence))
        });
        found.unwrap_or_else(|| "all".to_owned())
    }

    /// The scan as a person would call it: `` `s.tick by pool` ``.
    fn scan(self) -> String {
        let Some(subject) = self.subject() else { return format!("of `{}`", self.statement.family) };
        let scan = self.statement.scan.and_then(|id| subject.family.scan(id));
        let words = scan.map_or_else(String::new, |scan| format!(" {}", scan.words(subject.sequence)));
        format!("`{}{words}`", subject.family.path)
    }
}

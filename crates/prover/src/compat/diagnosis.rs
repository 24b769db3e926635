#![doc = include_str!("KP0007.md")]

use std::fmt::Write as _;

use keyplan_plan::diag::{Code, Diagnostic, NoteKind};
use keyplan_plan::model::Plan;

use crate::compat::{Broken, Change, Fate, Part, Remade};
use crate::diagnose::Page;
use crate::diagnose::lanes::{Row, draw};
use crate::diagnose::recipe::{Made, recipe};
use crate::diagnose::subject::Subject;
use crate::proof::{Side, Verdict, Witness};

pub(crate) const PAGE: Page = Page { code: Code::Incompatible, text: include_str!("KP0007.md") };

/// A plan that is compared with another.
#[derive(Clone, Copy, Debug)]
pub struct Version<'p> {
    /// The plan.
    pub plan: &'p Plan,
    /// The file that `keyplan encode` can be given, if there is one.
    pub path: Option<&'p str>,
}

/// Every change that breaks what an old plan wrote and that the new plan does not allow, as a person must see it, in the
/// order of the new plan's text.
///
/// `changes` are those of [`compare`](crate::compare) for the two plans.
///
/// ```
/// use keyplan_prover::{Options, Version, compare, diagnose_changes, prove};
///
/// let plan = |text: &str| keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into())).plan.expect("sound");
/// let old = plan("plan demo; space s { key tick = 0x01 pool: u64; }");
/// let new = plan("plan demo; space s { key tick = 0x01 pool: u32; }");
/// let changes = compare(&old, &new, &prove(&new, &Options::default()));
/// let version = |plan| Version { plan, path: None };
/// let findings = diagnose_changes(&changes, version(&old), version(&new));
/// assert_eq!(findings[0].message, "the old keys of `s.tick` are now written differently");
/// ```
pub fn diagnose_changes(changes: &[Change], old: Version<'_>, new: Version<'_>) -> Vec<Diagnostic> {
    let breaking = changes.iter().filter(|change| change.is_breaking() && !change.is_allowed(new.plan));
    let mut all: Vec<Diagnostic> = breaking.map(|change| Seen { change, old, new }.diagnostic()).collect();
    all.sort_by(|a, b| (a.span(), &a.message).cmp(&(b.span(), &b.message)));
    all
}

const MIGRATE: &str = "carry the rows over with `keyplan db migrate` and say that it is intended, `allow break \"why\"`; or take the change back";

/// A change with the plans that it is between.
#[derive(Clone, Copy)]
struct Seen<'a> {
    change: &'a Change,
    old: Version<'a>,
    new: Version<'a>,
}

impl<'a> Seen<'a> {
    fn diagnostic(self) -> Diagnostic {
        let subject = self.subject();
        match &self.change.fate {
            Fate::Changed(broken) => self
                .broken(format!("the old {subject} are now written differently"), "writes other bytes", broken)
                .with_help(MIGRATE),
            Fate::Narrowed(broken) => self
                .broken(
                    format!("some of the old {subject} can no longer be written"),
                    "refuses arguments that were allowed",
                    broken,
                )
                .with_help("take what was taken before; or say what becomes of rows that are refused, `from … park`, and `allow break(narrowed) \"why\"`"),
            Fate::Removed { example, .. } => {
                let message = format!("the old {subject} have no family any more");
                let mut shown = self.said(message, "it was declared in the plan before");
                if let Some(side) = example {
                    shown = self.with_rows(shown, &[(self.old, "was", side)]);
                }
                match self.old_prefix() {
                    Some(prefix) => shown.with_help(format!(
                        "keep their prefix from being used again: `retired {prefix} \"what it was\";`"
                    )),
                    None => shown.with_help(
                        "say where its rows go, with `from` and `allow break`, or that they are dropped: `drop PATH \"why\";`",
                    ),
                }
            }
            Fate::Added { meets } => self.added(meets),
            Fate::Widened { bounds, lost } => {
                let codes: Vec<&str> = lost.iter().map(|guarantee| guarantee.code()).collect();
                let message =
                    format!("old {subject} may be read as others: {} does not hold", codes.join(", "));
                let mut diagnostic = self.said(message, "takes more than it did");
                for bound in bounds {
                    let text = format!("`{}` was {}, and is {}", bound.argument, bound.was, bound.is);
                    diagnostic = diagnostic.with_note(NoteKind::Note, text);
                }
                diagnostic.with_help("see the finding on the new plan itself, or take the change back")
            }
            Fate::Moved { from, to } => {
                let message = format!("the rows of space `{}` are under {from:?}", self.change.subject);
                self.said(message, format!("and are looked for under {to:?}")).with_help(format!(
                    "keep the name that the engine knows: `space {} = {from:?}`",
                    self.change.subject
                ))
            }
            Fate::Revived => {
                let message = format!("{subject} was retired, and is not any more");
                self.said(message, "old rows may be under it")
                    .with_help("leave it `retired`, and take another prefix")
            }
            Fate::ScanLost(by) => {
                let scan = if by.is_empty() { "all rows".to_owned() } else { by.join(", ") };
                self.said(
                    format!("the {subject} can no longer be scanned by {scan}"),
                    "declares no such scan",
                )
                .with_help("declare the scan, or say that it is intended: `allow break(scan) \"why\"`")
            }
            Fate::OrderLost(by) => {
                let scan = if by.is_empty() { "all rows".to_owned() } else { by.join(", ") };
                let message = format!("a scan of the {subject} by {scan} is no longer in order");
                self.said(message, "declares the scan without `in order`")
                    .with_help("claim the order, or say that it is intended: `allow break(order) \"why\"`")
            }
            Fate::Unknown(why) => self
                .said(format!("not proved: the old {subject} stay as they are"), "neither proved nor refuted")
                .with_note(NoteKind::Note, *why)
                .with_help("say in both plans what is stored there"),
            Fate::Same => self.said(format!("the old {subject} stay as they are"), ""),
        }
    }

    /// The literal bytes that a family of the old plan began with, as a plan writes them.
    fn old_prefix(self) -> Option<String> {
        let path = self.change.previous.as_deref().unwrap_or(&self.change.subject);
        let subject = Subject::changed(self.old.plan, path, self.change.part)?;
        let bytes = subject.sequence.literal_prefix();
        let hex = |out: String, byte: &u8| format!("{out}{byte:02x}");
        (!bytes.is_empty() && self.change.part == Part::Key).then(|| bytes.iter().fold("0x".to_owned(), hex))
    }

    /// What a message calls the bytes: `` keys of `s.tick` ``.
    fn subject(self) -> String {
        let Change { subject, part, previous, .. } = self.change;
        let was = previous.as_ref().map_or_else(String::new, |previous| format!(" (was `{previous}`)"));
        match part {
            Part::Key => format!("keys of `{subject}`{was}"),
            Part::Field => format!("fields `{subject}`{was}"),
            Part::Member => format!("members of `{subject}`{was}"),
            Part::Score => format!("scores of `{subject}`{was}"),
            Part::Value => format!("values of `{subject}`{was}"),
            Part::Space => format!("rows of space `{subject}`{was}"),
            Part::Retired => format!("the prefix {subject}"),
        }
    }

    fn said(self, message: String, label: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Code::Incompatible, message, self.change.span, label)
    }

    fn broken(self, message: String, label: &str, broken: &Broken) -> Diagnostic {
        let diagnostic = self.said(message, label);
        match &broken.new {
            Remade::Bytes { side, .. } => {
                self.with_rows(diagnostic, &[(self.old, "was", &broken.old), (self.new, "is", side)])
            }
            Remade::Refused(why) | Remade::Retyped(why) => self
                .with_rows(diagnostic, &[(self.old, "was", &broken.old)])
                .with_note(NoteKind::Note, why.clone()),
        }
    }

    fn added(self, meets: &[(String, Verdict)]) -> Diagnostic {
        let others: Vec<String> = meets.iter().map(|(other, _)| named(other)).collect();
        let message = format!("{} may be old keys of {}", self.subject(), others.join(", "));
        let mut diagnostic = self.said(message, "is new");
        for (other, verdict) in meets {
            match verdict {
                Verdict::Fails(witness) => {
                    if let Witness::SameKey { first, second } = witness.as_ref() {
                        let (fresh, stale) = if first.family == self.change.subject {
                            (first, second)
                        } else {
                            (second, first)
                        };
                        let rows = [(self.old, other.as_str(), stale), (self.new, "new", fresh)];
                        diagnostic = self.with_rows(diagnostic, &rows);
                    }
                }
                Verdict::Unknown(reason) => {
                    diagnostic = diagnostic.with_note(NoteKind::Note, format!("{}: {reason}", named(other)));
                }
                Verdict::Holds | Verdict::Assumed(_) => {}
            }
        }
        diagnostic.with_help("begin it with bytes that no earlier family has used")
    }

    /// Adds keys, each under the plan that writes it, and what they are made of.
    fn with_rows(self, diagnostic: Diagnostic, sides: &[(Version<'a>, &str, &'a Side)]) -> Diagnostic {
        let found: Vec<Option<Subject<'a>>> = sides
            .iter()
            .map(|(version, _, side)| Subject::changed(version.plan, &side.family, self.change.part))
            .collect();
        let rows: Option<Vec<Row<'_>>> = sides
            .iter()
            .zip(&found)
            .map(|((_, title, side), subject)| {
                Some(Row { title: (*title).to_owned(), subject: (*subject)?, side })
            })
            .collect();
        let text = rows.map_or_else(|| plain(sides), |rows| draw(&rows));
        let recipes = sides
            .iter()
            .zip(&found)
            .filter_map(|((version, _, side), subject)| recipe(version.path?, (*subject)?, side, Made::Whole))
            .collect();
        diagnostic.with_note(NoteKind::Witness, text).with_recipes(recipes)
    }
}

/// A path in quotes, or what already is a description.
fn named(other: &str) -> String {
    if other.contains(' ') { other.to_owned() } else { format!("`{other}`") }
}

/// Bytes without a layout to draw them by, such as those of values.
fn plain(sides: &[(Version<'_>, &str, &Side)]) -> String {
    let width = sides.iter().map(|(_, title, _)| title.len()).max().unwrap_or_default();
    let line = |(_, title, side): &(Version<'_>, &str, &Side)| {
        let mut out = format!("{title:width$} ");
        for byte in &side.bytes {
            // Writing to a string does not fail.
            let _ = write!(out, " {byte:02x}");
        }
        if side.bytes.is_empty() { out + " (empty)" } else { out }
    };
    sides.iter().map(line).collect::<Vec<_>>().join("\n")
}

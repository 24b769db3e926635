//! Which rows of a family are kept.

use super::resolve::{Resolver, unknown};
use super::{AcceptKind, Argument, Family, Scan, Shape};
use crate::diag::{Code, Diagnostic, Span};
use crate::syntax::ast;

/// Which rows of a family are kept, and so which may be pruned.
///
/// What is pruned is a range of keys: the family claims the scan of the arguments before the one that counts, `in order`, so
/// that the prover shows that no other row lies between two that go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    /// How many of the key's arguments are equal in the rows that are looked at together.
    pub bound: usize,
    /// Which of these rows stay.
    pub keep: Keep,
    /// Where it is declared.
    pub span: Span,
}

/// Which rows of a range stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Those whose next argument is greater than the present one less this: a height or a time. A time is in nanoseconds.
    Within(u128),
    /// So many, the greatest in the order of the next argument.
    Newest {
        /// How many.
        count: u64,
        /// Whether the greatest come first.
        first: bool,
    },
}

impl Retention {
    /// The argument that says how old a row is: a height, a time, a number.
    pub fn argument<'f>(&self, family: &'f Family) -> Option<&'f Argument> {
        family.key.arguments().nth(self.bound)
    }

    /// The clause in words, as a plan has it.
    pub fn words(&self, family: &Family) -> String {
        let name = |argument: &Argument| argument.name.clone().unwrap_or_default();
        match self.keep {
            Keep::Within(amount) => {
                let by = self.argument(family).map(name).unwrap_or_default();
                let time =
                    self.argument(family).is_some_and(|argument| matches!(argument.shape, Shape::Time(_)));
                if time {
                    format!("retain {} by {by}", duration(amount))
                } else {
                    format!("retain {amount} by {by}")
                }
            }
            Keep::Newest { count, .. } => {
                let per: Vec<String> = family.key.arguments().take(self.bound).map(name).collect();
                if per.is_empty() {
                    format!("retain newest {count}")
                } else {
                    format!("retain newest {count} per {}", per.join(", "))
                }
            }
        }
    }
}

/// The units of time, in nanoseconds.
const UNITS: [(&str, u128); 8] = [
    ("seconds", 1_000_000_000),
    ("minutes", 60_000_000_000),
    ("hours", 3_600_000_000_000),
    ("days", 86_400_000_000_000),
    ("second", 1_000_000_000),
    ("minute", 60_000_000_000),
    ("hour", 3_600_000_000_000),
    ("day", 86_400_000_000_000),
];

fn duration(nanoseconds: u128) -> String {
    let whole = |unit: &&(&str, u128)| nanoseconds.is_multiple_of(unit.1);
    let unit = UNITS.iter().take(4).rev().find(whole);
    unit.map_or_else(|| format!("{nanoseconds} ns"), |(name, size)| format!("{} {name}", nanoseconds / size))
}

impl<'a> Resolver<'a> {
    /// The retention that the clauses of a family state, once its scans are known.
    pub(super) fn retention(&mut self, clauses: &'a [ast::Clause], family: &mut Family) {
        let all = clauses.iter().filter_map(|clause| match clause {
            ast::Clause::Retain(retain) => Some(retain),
            _ => None,
        });
        for (nth, clause) in all.enumerate() {
            if nth > 0 {
                self.bad_retention(
                    clause.span,
                    "`retain` is given twice",
                    "given already",
                    "keep one of them",
                );
                continue;
            }
            family.retention = self.retained(clause, family);
        }
    }

    fn bad_retention(&mut self, span: Span, message: &str, label: &str, help: &str) {
        self.report(Diagnostic::new(Code::BadClause, message, span, label).with_help(help));
    }

    fn retained(&mut self, clause: &ast::RetainClause, family: &Family) -> Option<Retention> {
        let names: Vec<&str> =
            family.key.arguments().filter_map(|argument| argument.name.as_deref()).collect();
        let mut places = Vec::new();
        for argument in &clause.arguments {
            let Some(place) = family.key.argument_index(&argument.text) else {
                self.report(unknown(argument, "argument of the key", &names));
                return None;
            };
            places.push(place);
        }
        let amount = clause.amount.magnitude;
        if clause.amount.negative || amount == 0 {
            let help = "to keep nothing, retire the family";
            self.bad_retention(
                clause.amount.span,
                "nothing would be kept",
                "not a number of rows or blocks",
                help,
            );
            return None;
        }
        let retention = if clause.newest {
            self.newest(clause, family, &places, amount)
        } else {
            self.within(clause, family, places.first().copied()?, amount)
        }?;
        self.is_range(clause.span, family, &retention).then_some(retention)
    }

    fn newest(
        &mut self,
        clause: &ast::RetainClause,
        family: &Family,
        places: &[usize],
        amount: u128,
    ) -> Option<Retention> {
        if !places.iter().copied().eq(0..places.len()) {
            let help = "name the first arguments of the key, in their order";
            self.bad_retention(
                clause.span,
                "the rows that are counted together are not next to each other",
                "not the first",
                help,
            );
            return None;
        }
        let bound = places.len();
        let Some(next) = family.key.arguments().nth(bound) else {
            let help = "leave out the last argument: it is what tells old rows from new ones";
            self.bad_retention(
                clause.span,
                "there is one row for these arguments",
                "nothing left to count",
                help,
            );
            return None;
        };
        let Ok(count) = u64::try_from(amount) else {
            self.bad_retention(clause.amount.span, "no database has so many rows", "too many", "take less");
            return None;
        };
        let keep = Keep::Newest { count, first: matches!(next.shape, Shape::Desc(_)) };
        Some(Retention { bound, keep, span: clause.span })
    }

    fn within(
        &mut self,
        clause: &ast::RetainClause,
        family: &Family,
        bound: usize,
        amount: u128,
    ) -> Option<Retention> {
        let argument = family.key.arguments().nth(bound)?;
        let amount = match (&argument.shape, &clause.unit) {
            (Shape::Int(_), None) => amount,
            (Shape::Time(_), Some(unit)) => {
                let Some((_, size)) = UNITS.iter().find(|(name, _)| *name == unit.text) else {
                    let words: Vec<&str> = UNITS.iter().take(4).map(|(name, _)| *name).collect();
                    let help = format!("units are: {}", words.join(", "));
                    self.report(unknown(unit, "unit of time", &words).with_help(help));
                    return None;
                };
                amount.checked_mul(*size)?
            }
            (Shape::Time(_), None) => {
                let help = "write `retain 30 days by …`";
                self.bad_retention(
                    clause.span,
                    "a time is kept for seconds, minutes, hours or days",
                    "no unit",
                    help,
                );
                return None;
            }
            (Shape::Int(_), Some(unit)) => {
                let help = "a number has no unit: write how many heights, or seconds, are kept";
                self.bad_retention(unit.span, "the argument is a number", "a unit of time", help);
                return None;
            }
            _ => {
                let help = "name an integer or a `time` of the key";
                self.bad_retention(
                    clause.span,
                    "how old a row is cannot be told from this",
                    "no number",
                    help,
                );
                return None;
            }
        };
        Some(Retention { bound, keep: Keep::Within(amount), span: clause.span })
    }

    /// Whether the family claims what makes the rows that go a range; reports what is missing.
    fn is_range(&mut self, span: Span, family: &Family, retention: &Retention) -> bool {
        let bound = retention.bound;
        let plain = |scan: &&Scan| {
            scan.part.is_none() && scan.is_called() && !scan.bare && !scan.filtered && scan.with.is_empty()
        };
        let claimed = family.scans.iter().filter(plain).any(|scan| scan.bound == bound && scan.in_order);
        if !claimed {
            let names: Vec<&str> =
                family.key.arguments().take(bound).filter_map(|argument| argument.name.as_deref()).collect();
            let wanted = if names.is_empty() { "all".to_owned() } else { format!("by {}", names.join(", ")) };
            let help =
                format!("add `scan {wanted} in order`: it is what shows that the rows that go are a range");
            self.bad_retention(span, "what is pruned is not known to be a range", "no scan in order", &help);
            return false;
        }
        let flaws = [AcceptKind::Ambiguous, AcceptKind::Leak, AcceptKind::Unordered, AcceptKind::Overlap];
        let Some(flaw) = family.accepts.iter().find(|accept| flaws.contains(&accept.kind)) else {
            return true;
        };
        let message = "what is pruned is not known to be a range";
        self.report(
            Diagnostic::new(Code::BadClause, message, span, "prunes rows")
                .with_label(flaw.span, "the family keeps a flaw of its scans")
                .with_help("rows of a family with such a flaw are not pruned by rule"),
        );
        false
    }
}

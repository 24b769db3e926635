use std::cmp::Ordering;
use std::fmt;

use keyplan_plan::codec::Hash;
use keyplan_plan::diag::Span;
use keyplan_plan::dynamic::{Value, encode, prefix};
use keyplan_plan::model::{ScanId, Sequence};

use crate::guarantee::Guarantee;

/// What is known of a guarantee.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Proved.
    Holds,
    /// Proved unless a hash collides.
    Assumed(Assumption),
    /// Refuted by keys that were really encoded.
    Fails(Box<Witness>),
    /// Neither.
    Unknown(Reason),
}

/// A hash that is taken not to collide.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Assumption {
    /// The function.
    pub hash: Hash,
    /// How many bytes of its digest are kept.
    pub keep: usize,
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unless {} collides in its first {} bytes", self.hash, self.keep)
    }
}

/// Why a guarantee is neither proved nor refuted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The layout has more parts than the prover draws.
    TooLarge,
    /// The steps ran out.
    TooManySteps,
    /// An overlap is possible by what the prover looks at, but no keys were found that show it.
    NotRealised {
        /// What the prover does not look at.
        loose: Vec<&'static str>,
    },
    /// The order of an encoding is not known to be right, and no keys were found that show it wrong.
    Order {
        /// What about it.
        why: &'static str,
    },
    /// The contents of a frame are too large to be looked into.
    Contents,
    /// A check of the prover's own work failed. This is a mistake in the prover, and never a proof.
    Internal,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => f.write_str("the layout has too many parts to be drawn"),
            Self::TooManySteps => f.write_str("the proof takes too many steps"),
            Self::NotRealised { loose } if loose.is_empty() => {
                f.write_str("no keys that show it were found within the limits of the search")
            }
            Self::NotRealised { loose } => {
                write!(
                    f,
                    "no keys that show it were found, and the proof is blind here: {}",
                    loose.join("; ")
                )
            }
            Self::Order { why } => f.write_str(why),
            Self::Contents => f.write_str("the contents of a frame may themselves be ambiguous"),
            Self::Internal => f.write_str("a check of the prover's own work failed: please report this plan"),
        }
    }
}

/// A key, or the front of one, with the arguments that make it.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// The path of the family, field or member.
    pub family: String,
    /// A value for each argument that the bytes hold.
    pub values: Vec<Value>,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Side {
    /// A whole key; `None` if the codec refuses the values.
    pub fn key(family: &str, sequence: &Sequence, values: &[Value]) -> Option<Self> {
        let mut bytes = Vec::new();
        encode(sequence, values, &mut bytes).ok()?;
        // A report may hold many long keys.
        bytes.shrink_to_fit();
        Some(Self { family: family.to_owned(), values: values.to_vec(), bytes })
    }

    /// The first `segments` segments of a key; `None` if the codec refuses the values.
    pub fn prefix(family: &str, sequence: &Sequence, segments: usize, values: &[Value]) -> Option<Self> {
        let mut bytes = Vec::new();
        prefix(sequence, segments, values, &mut bytes).ok()?;
        Some(Self { family: family.to_owned(), values: values.to_vec(), bytes })
    }
}

/// Concrete keys that break a guarantee. Its constructors refuse what does not.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Witness {
    /// Two argument lists with the same bytes.
    SameKey {
        /// One.
        first: Side,
        /// The other.
        second: Side,
    },
    /// A scan and a row that it returns though it should not.
    Row {
        /// The bound arguments and the prefix.
        scan: Side,
        /// The row.
        row: Side,
    },
    /// Two rows in the wrong order.
    Disorder {
        /// Comes first in logical order.
        first: Side,
        /// Comes second in logical order, but its bytes come first.
        second: Side,
    },
    /// The end of a range, and a row that lies on its wrong side.
    RangeEnd {
        /// The bound arguments, the argument at the end, and their bytes.
        end: Side,
        /// The row.
        row: Side,
    },
    /// A range, and a row that it holds though it should not, or leaves out though it should hold it.
    Range {
        /// The bound arguments and the prefix, at which the range begins.
        start: Side,
        /// Where it ends.
        end: RangeStop,
        /// The row.
        row: Side,
    },
    /// A number that is not allotted as it should be.
    Number {
        /// The family that uses it.
        family: String,
        /// The number; 0 if the family has none.
        number: u8,
        /// What is wrong.
        fault: NumberFault,
    },
    /// Two names with one digest.
    Digest {
        /// One name.
        first: Vec<u8>,
        /// The other.
        second: Vec<u8>,
        /// The digest of both.
        digest: Vec<u8>,
    },
    /// A key in the prefix of a module that its family is not in.
    Trespass {
        /// The path of the module.
        module: String,
        /// Its prefix.
        prefix: Vec<u8>,
        /// The key.
        key: Side,
    },
    /// A key that is too long for the engine.
    TooLong {
        /// The key.
        key: Side,
        /// The longest that the engine takes.
        limit: usize,
    },
}

/// The last key of a range, or the first after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeStop {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether a key of these bytes is in the range.
    pub included: bool,
}

/// What is wrong with the number of a family.
#[derive(Clone, Debug, PartialEq)]
pub enum NumberFault {
    /// Another family of the module has it.
    Taken {
        /// The other family.
        by: String,
    },
    /// It lies outside of the allotment that the family names.
    Outside {
        /// The allotment.
        allotment: String,
    },
    /// It lies outside of every allotment of the module.
    Nowhere,
    /// The module allots numbers, and the family has none: its keys do not begin with a byte that is always the same.
    Absent,
    /// Keys of the family begin with a retired prefix.
    Retired {
        /// The prefix.
        prefix: Vec<u8>,
        /// A key that does.
        key: Side,
    },
}

impl Witness {
    /// Two different argument lists, or lists of different families, with the same bytes.
    pub fn same_key(first: Side, second: Side) -> Option<Self> {
        let different = first.family != second.family || first.values != second.values;
        (different && first.bytes == second.bytes).then_some(Self::SameKey { first, second })
    }

    /// A row that begins with the prefix of a scan, of another family or with other bound arguments.
    pub fn row(scan: Side, row: Side) -> Option<Self> {
        let foreign = scan.family != row.family || !row.values.starts_with(&scan.values);
        (foreign && row.bytes.starts_with(&scan.bytes)).then_some(Self::Row { scan, row })
    }

    /// The family of the row that a scan or a range returns.
    pub fn row_family(&self) -> Option<&str> {
        match self {
            Self::Row { row, .. } | Self::Range { row, .. } => Some(&row.family),
            _ => None,
        }
    }

    /// Two rows with the same first `bound` arguments, of which the one that comes first in logical order comes
    /// second in byte order.
    pub(crate) fn disorder(sequence: &Sequence, bound: usize, a: Side, b: Side) -> Option<Self> {
        if a.values.get(..bound) != b.values.get(..bound) {
            return None;
        }
        let logical = crate::compare::compare_rows(sequence, bound, &a.values, &b.values)?;
        let (first, second) = match logical {
            Ordering::Less => (a, b),
            Ordering::Greater => (b, a),
            Ordering::Equal => return None,
        };
        (first.bytes > second.bytes).then_some(Self::Disorder { first, second })
    }

    /// A row that lies on the wrong side of the end of a range over argument `bound`.
    pub(crate) fn range_end(sequence: &Sequence, bound: usize, end: Side, row: Side) -> Option<Self> {
        let argument = sequence.arguments().nth(bound)?;
        let (at, here) = (end.values.get(bound)?, row.values.get(bound)?);
        if end.values.get(..bound) != row.values.get(..bound) {
            return None;
        }
        let behind = crate::compare::compare(&argument.shape, here, at)? != Ordering::Less;
        (behind != (row.bytes >= end.bytes)).then_some(Self::RangeEnd { end, row })
    }

    /// A row that a range holds though it is of another family or has other bound arguments, or one that it leaves out
    /// though it is neither.
    pub fn range(start: Side, end: RangeStop, row: Side) -> Option<Self> {
        let belongs = start.family == row.family && row.values.starts_with(&start.values);
        (belongs != is_within(&start, &end, &row.bytes)).then_some(Self::Range { start, end, row })
    }

    /// The bytes of its longest key.
    pub fn length(&self) -> usize {
        match self {
            Self::SameKey { first: a, second: b }
            | Self::Row { scan: a, row: b }
            | Self::Disorder { first: a, second: b }
            | Self::RangeEnd { end: a, row: b }
            | Self::Range { start: a, row: b, .. } => a.bytes.len().max(b.bytes.len()),
            Self::TooLong { key, .. } | Self::Trespass { key, .. } => key.bytes.len(),
            Self::Number { .. } => 1,
            Self::Digest { digest, .. } => digest.len(),
        }
    }
}

/// Whether a range holds a key.
pub(crate) fn is_within(start: &Side, end: &RangeStop, key: &[u8]) -> bool {
    let before = if end.included { key <= end.bytes.as_slice() } else { key < end.bytes.as_slice() };
    key >= start.bytes.as_slice() && before
}

/// One guarantee of one thing, and its verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// What is asked.
    pub guarantee: Guarantee,
    /// The space.
    pub space: String,
    /// The path of the family, field, member or score.
    pub family: String,
    /// The path of the family: of a field, member or score, the one that has it.
    pub of: String,
    /// The path of the other family, where the verdict is about two.
    pub other: Option<String>,
    /// Which scan of the family, where the verdict is about one.
    pub scan: Option<ScanId>,
    /// What is known.
    pub verdict: Verdict,
    /// What else leaks into the scan.
    pub more: More,
    /// Whether the plan accepts the flaw.
    pub accepted: bool,
    /// Where the family or the scan is declared.
    pub span: Span,
}

/// What leaks into a scan beside the family that the statement names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct More {
    /// A row of each other family that leaks, whether the plan accepts that or not.
    pub leaks: Vec<Witness>,
    /// How many families may leak and were not looked at, or of which nothing is known.
    pub unseen: usize,
}

/// Everything that was asked of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// By space, guarantee, family and scan.
    pub statements: Vec<Statement>,
    /// What was not looked at, because what is around it is refuted already.
    pub left_out: Vec<LeftOut>,
    /// The steps that it took.
    pub steps: u64,
}

/// Pairs of families of a space that were not compared: each of the two is shown to share keys with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The space.
    pub space: String,
    /// How many pairs.
    pub pairs: u64,
}

impl Report {
    /// The statements that a person must look at: refuted or unknown, and not accepted.
    pub fn findings(&self) -> impl Iterator<Item = &Statement> {
        self.statements.iter().filter(|statement| {
            !statement.accepted && matches!(statement.verdict, Verdict::Fails(_) | Verdict::Unknown(_))
        })
    }

    /// Whether everything is proved, assumed or accepted.
    pub fn is_sound(&self) -> bool {
        self.findings().next().is_none()
    }
}

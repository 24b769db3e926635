//! KP0007: a new version keeps every key of the old one, or migrates it.
//!
//! # What it finds
//!
//! A family whose keys are written differently than in the plan before, that refuses arguments it used to take, or that
//! is gone while its prefix is not `retired`; a retired prefix or family that comes back; a new family that meets keys
//! which an old one may have left behind; a space that the engine knows by another name.
//!
//! # Why it matters
//!
//! A database outlives the program. Keys that a new version no longer writes are not deleted: they stay, are not found
//! by lookups, and turn up in scans, or as the keys of another family.
//!
//! # How it is decided
//!
//! Both layouts are brought into a normal form (records written out, literals joined, lengths of contents of a fixed
//! length as literals). Where the forms are equal no byte moves; where they differ only in bounds that let through
//! more, every old key keeps its bytes, and its meaning if the new plan's own guarantees hold. Everything else is
//! refuted by an argument list that was really encoded with both layouts, or unknown.

mod convert;
pub(crate) mod diagnosis;
mod families;
pub(crate) mod migration;
mod normal;
mod relate;
mod released;

pub use families::compare;
pub use migration::{Counterexample, Decision, Duty, MigrationProof, Obligation, prove_migration};
pub use relate::Widening;
pub use released::{Forgotten, Taken, forgotten};

use std::fmt;

use keyplan_plan::diag::Span;
use keyplan_plan::dynamic::encode;
use keyplan_plan::mapping::{Misfit, convert};
use keyplan_plan::model::{BreakKind, DottedPath, Family, Plan, Sequence, Space};

use crate::guarantee::Guarantee;
use crate::proof::{Side, Verdict};
use crate::sample;
use convert::outside;
use relate::{Relation, relate};

/// What became of one thing of an old plan, or where something new comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The space, by its new name if it has one.
    pub space: String,
    /// The path of the family that has it, in the new plan; in the old plan, if that is gone. `None` for what no family has.
    pub of: Option<String>,
    /// The path in the new plan; in the old plan, if it is gone.
    pub subject: String,
    /// The path in the old plan, if it was another.
    pub previous: Option<String>,
    /// Which bytes it is about.
    pub part: Part,
    /// What became of them.
    pub fate: Fate,
    /// Where it is declared in the new plan; the space, or the start of the plan, if it is not.
    pub span: Span,
}

/// Which bytes a change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The name that the engine stores a space under.
    Space,
    /// The keys of a family.
    Key,
    /// The fields of a hash.
    Field,
    /// The members of a set, sorted set or queue.
    Member,
    /// The scores of a sorted set or queue.
    Score,
    /// The values of a family or field.
    Value,
    /// A prefix that may not come back.
    Retired,
}

impl Part {
    /// What a person calls it.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Space => "space",
            Self::Key => "key",
            Self::Field => "field",
            Self::Member => "member",
            Self::Score => "score",
            Self::Value => "value",
            Self::Retired => "retired prefix",
        }
    }
}

/// What became of old bytes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fate {
    /// No byte moves, and nothing else is allowed or refused. Proved.
    Same,
    /// Every old argument list is written as the same bytes, and others are allowed too. Proved.
    Widened {
        /// Which bounds let through more.
        bounds: Vec<Widening>,
        /// The guarantees of the family that do not hold in the new plan, so that an old key may be read as another.
        lost: Vec<Guarantee>,
    },
    /// An old argument list is refused.
    Narrowed(Box<Broken>),
    /// An old argument list is written as other bytes.
    Changed(Box<Broken>),
    /// It is gone.
    Removed {
        /// The prefix that the new plan keeps reserved for its keys.
        retired: Option<Vec<u8>>,
        /// One of its keys.
        example: Option<Side>,
        /// Whether its keys began with nothing that a plan could keep reserved.
        bare: bool,
    },
    /// It is new. For each thing of the old plan that may have left keys behind, whether it meets them.
    Added {
        /// The old family or retired prefix that it meets or may meet, with the verdict that is not `Holds`.
        meets: Vec<(String, Verdict)>,
    },
    /// The engine finds a space under another name.
    Moved {
        /// The name that holds the data.
        from: String,
        /// The name that the new plan looks under.
        to: String,
    },
    /// It was retired, and no longer is.
    Revived,
    /// Rows could be scanned by these arguments, all rows if there are none, and no longer can.
    ScanLost(Vec<String>),
    /// A scan by these arguments was in order, and is no longer claimed to be.
    OrderLost(Vec<String>),
    /// Neither proved nor refuted.
    Unknown(&'static str),
}

/// An old argument list that the new layout does not keep.
#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// The old bytes and their arguments.
    pub old: Side,
    /// What the new layout makes of the arguments.
    pub new: Remade,
}

/// What a new layout makes of old arguments.
#[derive(Clone, Debug, PartialEq)]
pub enum Remade {
    /// Other bytes.
    Bytes {
        /// The arguments as the new layout takes them, and their bytes.
        side: Side,
        /// The first byte that differs.
        at: usize,
    },
    /// Nothing: this value is refused.
    Refused(String),
    /// Nothing: the arguments themselves are others.
    Retyped(String),
}

impl Change {
    /// Whether keys or values of the old plan are lost, misread or not found, or may be.
    pub fn is_breaking(&self) -> bool {
        match &self.fate {
            Fate::Same => false,
            Fate::Widened { lost, .. } => !lost.is_empty(),
            Fate::Removed { retired, .. } => retired.is_none(),
            Fate::Added { meets } => meets.iter().any(|(_, verdict)| !matches!(verdict, Verdict::Assumed(_))),
            Fate::Narrowed(_)
            | Fate::Changed(_)
            | Fate::Moved { .. }
            | Fate::Revived
            | Fate::ScanLost(_)
            | Fate::OrderLost(_)
            | Fate::Unknown(_) => true,
        }
    }

    /// Which kind of break it is, if a plan may say that it is intended.
    pub fn break_kind(&self) -> Option<BreakKind> {
        match (&self.fate, self.part) {
            (Fate::ScanLost(_), _) => Some(BreakKind::Scan),
            (Fate::OrderLost(_), _) => Some(BreakKind::Order),
            (Fate::Narrowed(_), _) => Some(BreakKind::Narrowed),
            (Fate::Changed(_) | Fate::Unknown(_), Part::Key) => Some(BreakKind::Moved),
            (Fate::Changed(_) | Fate::Unknown(_), _) => Some(BreakKind::Value),
            _ => None,
        }
    }

    /// Whether the new plan says where the rows of a family without a prefix go, or that they are dropped.
    fn is_spoken_of(&self, new: &Plan) -> bool {
        let named = |name: &str| DottedPath(&self.subject).ends_with(DottedPath(name));
        let heir = |family: &Family| {
            let moved = family.allowed_breaks.iter().any(|allowed| allowed.kinds.contains(&BreakKind::Moved));
            moved && family.predecessors.iter().any(|said| named(&said.family))
        };
        let dropped = |space: &Space| space.dropped.iter().any(|dropped| named(&dropped.family));
        new.spaces.iter().any(|space| dropped(space) || space.families.iter().any(heir))
    }

    /// Whether the new plan says that the break is meant.
    pub fn is_allowed(&self, new: &Plan) -> bool {
        if let (Fate::Removed { bare: true, .. }, Part::Key) = (&self.fate, self.part) {
            return self.is_spoken_of(new);
        }
        let Some(kind) = self.break_kind() else { return false };
        let about = |family: &Family| self.of.as_ref() == Some(&family.path);
        let allows =
            |family: &Family| family.allowed_breaks.iter().any(|allowed| allowed.kinds.contains(&kind));
        new.families().any(|(_, family)| about(family) && allows(family))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.part.noun(), self.subject)?;
        if let Some(previous) = &self.previous {
            write!(f, " (was {previous})")?;
        }
        write!(f, ": {}", self.fate)
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same => f.write_str("same"),
            Self::Widened { bounds, lost } => {
                f.write_str("widened")?;
                for (index, bound) in bounds.iter().enumerate() {
                    f.write_str(if index == 0 { ", " } else { "; " })?;
                    if !bound.argument.is_empty() {
                        write!(f, "`{}` ", bound.argument)?;
                    }
                    write!(f, "was {}, is {}", bound.was, bound.is)?;
                }
                for guarantee in lost {
                    write!(f, "; {} does not hold", guarantee.code())?;
                }
                Ok(())
            }
            Self::Narrowed(broken) => write!(f, "narrowed, {broken}"),
            Self::Changed(broken) => write!(f, "changed, {broken}"),
            Self::Removed { retired: Some(prefix), .. } => write!(f, "removed, {} is retired", Hex(prefix)),
            Self::Removed { retired: None, example: Some(side), .. } => {
                write!(f, "removed, {} has no home", Hex(&side.bytes))
            }
            Self::Removed { retired: None, example: None, .. } => f.write_str("removed"),
            Self::Added { meets } => {
                f.write_str("added")?;
                for (other, verdict) in meets {
                    match verdict {
                        Verdict::Fails(witness) => match witness.as_ref() {
                            crate::Witness::SameKey { first, .. } => {
                                write!(f, ", meets {other} at {}", Hex(&first.bytes))?;
                            }
                            _ => write!(f, ", meets {other}")?,
                        },
                        Verdict::Unknown(reason) => write!(f, ", may meet {other}: {reason}")?,
                        Verdict::Assumed(assumption) => write!(f, ", apart from {other} {assumption}")?,
                        Verdict::Holds => {}
                    }
                }
                Ok(())
            }
            Self::Moved { from, to } => write!(f, "moved, stored under {from:?}, looked for under {to:?}"),
            Self::Revived => f.write_str("no longer retired"),
            Self::ScanLost(by) if by.is_empty() => f.write_str("the scan of all rows is gone"),
            Self::ScanLost(by) => write!(f, "the scan by {} is gone", by.join(", ")),
            Self::OrderLost(by) if by.is_empty() => f.write_str("the scan of all rows is not in order"),
            Self::OrderLost(by) => write!(f, "the scan by {} is not in order", by.join(", ")),
            Self::Unknown(why) => write!(f, "unknown, {why}"),
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Hex(&self.old.bytes))?;
        match &self.new {
            Remade::Bytes { side, at } => write!(f, " is {} from byte {at} on", Hex(&side.bytes)),
            Remade::Refused(why) => write!(f, " cannot be written: {why}"),
            Remade::Retyped(why) => write!(f, ": {why}"),
        }
    }
}

struct Hex<'b>(&'b [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 48;
        if self.0.is_empty() {
            return f.write_str("the empty string");
        }
        self.0.iter().take(MOST).try_for_each(|byte| write!(f, "{byte:02x}"))?;
        if self.0.len() > MOST { write!(f, "… ({} bytes)", self.0.len()) } else { Ok(()) }
    }
}

/// How many old argument lists are encoded with both layouts.
const MOST_ROWS: usize = 600;

/// What became of one layout.
fn fate(path: &str, old: &Sequence, previous: &str, new: &Sequence) -> Fate {
    match relate(old, new) {
        Relation::Fits(bounds) if bounds.is_empty() => Fate::Same,
        Relation::Fits(bounds) => Fate::Widened { bounds, lost: Vec::new() },
        Relation::Cut | Relation::Unlike => refute(path, old, previous, new),
    }
}

/// Whether no byte moves between two layouts.
fn same(old: &Sequence, new: &Sequence) -> bool {
    relate(old, new) == Relation::Fits(Vec::new())
}

/// Looks for an old argument list that the new layout does not keep: other bytes rather than a refusal.
fn refute(path: &str, old: &Sequence, previous: &str, new: &Sequence) -> Fate {
    let mut refused: Option<Broken> = None;
    for values in outside(old, new).into_iter().chain(sample::rows(old, MOST_ROWS)) {
        let Some(side) = Side::key(previous, old, &values) else { continue };
        match remade(path, old, new, &side) {
            Some(remade @ (Remade::Bytes { .. } | Remade::Retyped(_))) => {
                return Fate::Changed(Box::new(Broken { old: side, new: remade }));
            }
            Some(remade @ Remade::Refused(_)) => {
                let shorter = refused.as_ref().is_none_or(|other| side.bytes.len() < other.old.bytes.len());
                if shorter {
                    refused = Some(Broken { old: side, new: remade });
                }
            }
            None => {}
        }
    }
    match refused {
        Some(broken) => Fate::Narrowed(Box::new(broken)),
        None => {
            Fate::Unknown("the layouts differ, and no argument list was found that they write differently")
        }
    }
}

/// What the new layout makes of an old key; `None` if the same bytes.
fn remade(path: &str, old: &Sequence, new: &Sequence, side: &Side) -> Option<Remade> {
    let values = match convert(old, new, &side.values) {
        Ok(values) => values,
        Err(Misfit::Kind(why)) => return Some(Remade::Retyped(why)),
        Err(Misfit::Value(why)) => return Some(Remade::Refused(why)),
    };
    let mut bytes = Vec::new();
    if let Err(error) = encode(new, &values, &mut bytes) {
        return Some(Remade::Refused(error.to_string()));
    }
    if bytes == side.bytes {
        return None;
    }
    let at = bytes.iter().zip(&side.bytes).take_while(|(a, b)| a == b).count();
    Some(Remade::Bytes { side: Side { family: path.to_owned(), values, bytes }, at })
}

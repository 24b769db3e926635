//! The guarantees. Each has a folder, named by the word with which a plan accepts its flaw: the law that decides it,
//! what a person is told, and the page of its rule.
//!
//! | guarantee | code | `accept` | folder |
//! |---|---|---|---|
//! | two families make no key in common | KP0001 | `overlap` | `overlap/` |
//! | two argument lists make no key in common | KP0002 | `ambiguous` | `ambiguous/` |
//! | a scan returns no row of another family | KP0003 | `leak` | `leak/` |
//! | a scan returns no row with other arguments | KP0004 | `leak` | `leak/` |
//! | a scan `in order` is in order | KP0005 | `unordered` | `unordered/` |
//! | numbers are allotted as the module says | KP0006 | `misallotted` | `misallotted/` |
//! | hashed names have digests of their own | KP0008 | never | `name_collision/` |
//! | an encoding loses nothing | KP0009 | `lossy` | `lossy/` |
//! | the longest key fits the engine | KP0010 | `oversize` | `oversize/` |
//! | a family keeps out of other modules' prefixes | KP0013 | `trespass` | `trespass/` |
//! | a range leaves out none of its rows | KP0016 | `missing` | `missing/` |
//!
//! Two more need no proof, because the text of the plan decides them: `mixed_space/` (KP0015) and `style/` (KP0020).
//! What changes between two plans (KP0007, KP0031 to KP0036) is in `compat/`.
//!
//! To add a guarantee: a code in `keyplan_plan::diag::Code`, a variant here, a folder with its [`Rule`], and what asks
//! for it in `prove.rs`.

pub(crate) mod ambiguous;
pub(crate) mod chance;
pub(crate) mod digest;
pub(crate) mod leak;
pub(crate) mod listed;
pub(crate) mod lossy;
pub(crate) mod misallotted;
pub(crate) mod missing;
pub(crate) mod mixed_space;
pub(crate) mod name_collision;
pub(crate) mod overlap;
pub(crate) mod oversize;
pub(crate) mod preimage;
pub(crate) mod style;
pub(crate) mod trespass;
pub(crate) mod unordered;

use keyplan_plan::diag::{Code, Diagnostic};
use keyplan_plan::model::AcceptKind;

use crate::diagnose::Finding;
use crate::proof::Witness;

/// What a plan may be asked to guarantee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Guarantee {
    /// Two families of a space never make the same key.
    Disjoint,
    /// Two different argument lists of a family never make the same key.
    Unambiguous,
    /// A scan returns no row of another family.
    NoForeignRows,
    /// A scan returns no row of its own family with other bound arguments.
    NoSiblingRows,
    /// A scan `in order` is in order, and ranges over its next argument hold what lies between their ends.
    InOrder,
    /// Numbers are allotted as the module says.
    Allotted,
    /// Hashed names do not collide among those known.
    DistinctNames,
    /// An encoding loses nothing.
    Lossless,
    /// The longest key fits the engine.
    Fits,
    /// A family keeps out of the prefixes of modules that it is not in.
    KeepsOut,
    /// A range leaves out no row that belongs to it.
    NoMissingRows,
}

/// What belongs to a guarantee beside its law.
pub(crate) struct Rule {
    /// Its code.
    pub(crate) code: Code,
    /// The flaw that a plan may accept instead.
    pub(crate) accept: Option<AcceptKind>,
    /// What was to be proved, in words.
    pub(crate) claim: fn(Finding<'_>) -> String,
    /// What a person is told of a witness; `None` if it is not a witness against this guarantee.
    pub(crate) refuted: for<'a> fn(Finding<'a>, &'a Witness) -> Option<Diagnostic>,
}

impl Guarantee {
    /// Every guarantee, in the order of their codes.
    pub const ALL: [Self; 11] = [
        Self::Disjoint,
        Self::Unambiguous,
        Self::NoForeignRows,
        Self::NoSiblingRows,
        Self::InOrder,
        Self::Allotted,
        Self::DistinctNames,
        Self::Lossless,
        Self::Fits,
        Self::KeepsOut,
        Self::NoMissingRows,
    ];

    pub(crate) const fn rule(self) -> &'static Rule {
        match self {
            Self::Disjoint => &overlap::RULE,
            Self::Unambiguous => &ambiguous::RULE,
            Self::NoForeignRows => &leak::FOREIGN,
            Self::NoSiblingRows => &leak::SIBLING,
            Self::InOrder => &unordered::RULE,
            Self::Allotted => &misallotted::RULE,
            Self::DistinctNames => &name_collision::RULE,
            Self::Lossless => &lossy::RULE,
            Self::Fits => &oversize::RULE,
            Self::KeepsOut => &trespass::RULE,
            Self::NoMissingRows => &missing::RULE,
        }
    }

    /// Its stable code, such as `KP0001`.
    pub const fn code(self) -> &'static str {
        self.rule().code.id()
    }

    /// The flaw that a plan may accept instead; hashed names that collide cannot be accepted.
    pub const fn accepted_as(self) -> Option<AcceptKind> {
        self.rule().accept
    }
}

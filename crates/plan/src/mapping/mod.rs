//! How rows under one plan become rows under another, as data.
//!
//! A [`Mapping`] has a [`Route`] for every family of the old plan. The prover derives it from two plans and proves what
//! must hold before a row is touched; a [`Carrier`] applies it, row by row. Nothing here decides whether it is right.

mod arguments;
mod carrier;
mod convert;
mod description;
mod leaf;

pub use arguments::{Arguments, Source, Unmatched};
pub use carrier::{Carrier, FieldWay, NewField, Way};
pub use convert::{Misfit, convert, convert_value, partners};
pub use leaf::{Leaf, Pairing, Path, bare, leaves};

use crate::model::{Family, MisfitRule, Plan, Space};

/// How the rows of every family of an old plan become rows of a new one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mapping {
    /// One for each family of the old plan, in its order.
    pub routes: Vec<Route>,
}

/// A family of a plan, by its indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The index of the space.
    pub space: usize,
    /// The index of the family in it.
    pub family: usize,
    /// Its path.
    pub path: String,
}

impl Place {
    /// The space and the family in their plan.
    pub fn find<'p>(&self, plan: &'p Plan) -> Option<(&'p Space, &'p Family)> {
        let space = plan.spaces.get(self.space)?;
        Some((space, space.families.get(self.family)?))
    }
}

/// What becomes of the rows of one old family.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The old family.
    pub from: Place,
    /// What becomes of its rows.
    pub course: Course,
    /// Whether it is proved that its keys have one reading each, among all families of the space.
    pub readable: bool,
}

/// What becomes of rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Course {
    /// No byte of them moves.
    Kept {
        /// The family that they are of in the new plan.
        to: Place,
    },
    /// They are rewritten.
    Moved(Box<Passage>),
    /// They stay where they are, under a prefix that the new plan keeps reserved.
    Retired {
        /// The prefix.
        prefix: Vec<u8>,
    },
    /// They are deleted.
    Dropped {
        /// Why.
        why: String,
    },
    /// The new plan says nothing of them.
    Unspoken,
}

/// How rows are rewritten.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// The family that they are of in the new plan.
    pub to: Place,
    /// Where the arguments of the new key come from.
    pub key: Arguments,
    /// Values of plain keys.
    pub value: Carried,
    /// Members of sets, sorted sets and queues.
    pub member: Carried,
    /// Scores of sorted sets and queues.
    pub score: Carried,
    /// Fields of hashes: for each field of the old family, the new one.
    pub fields: Vec<FieldPassage>,
    /// Whether a key with several readings is taken for the only one that the new layout takes.
    pub fitting: bool,
    /// What becomes of a row without a new key.
    pub rule: MisfitRule,
    /// Whether rows go by a place of their own first, because a new key may be an old one that is still there.
    pub staged: bool,
}

/// How a field of a hash is rewritten.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldPassage {
    /// The index of the new field.
    pub to: usize,
    /// Its key.
    pub key: Carried,
    /// Its value.
    pub value: Carried,
}

/// What becomes of a value, a member, a score or a field.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Carried {
    /// Its bytes stay.
    #[default]
    Verbatim,
    /// It is decoded with the old layout and encoded with the new one.
    Converted(Arguments),
}

impl Mapping {
    /// Whether no row has to be touched.
    pub fn is_empty(&self) -> bool {
        let still = |route: &Route| matches!(route.course, Course::Kept { .. } | Course::Retired { .. });
        self.routes.iter().all(still)
    }
}

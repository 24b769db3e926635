use std::fmt;

use super::StructureError;
use crate::engine::Durability;

/// What an implementation of [`Structures`](super::Structures) can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StructureCapabilities {
    /// Its name, for messages.
    pub name: &'static str,
    /// Whether several reads can see one moment.
    pub snapshots: bool,
    /// What a list of commands is one step over.
    pub atomicity: Atomicity,
    /// Whether a score may be a place in chain order, exactly. Otherwise scores are floats.
    pub exact_scores: bool,
    /// Whether members, fields and keys come in the order of their bytes.
    pub ordered_members: bool,
    /// The most that a write can wait for.
    pub durability: Durability,
}

/// What a list of commands is one step over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atomicity {
    /// Each command is a step of its own: if one fails, those before it stay.
    Command,
    /// The commands on keys of one slot of a cluster are one step.
    Slot,
    /// All of them are one step.
    Everything,
}

impl StructureCapabilities {
    /// Capabilities of an implementation that can do everything.
    pub const fn everything(name: &'static str) -> Self {
        Self {
            name,
            snapshots: true,
            atomicity: Atomicity::Everything,
            exact_scores: true,
            ordered_members: true,
            durability: Durability::SyncAll,
        }
    }

    /// Capabilities of an implementation that can do nothing but the commands themselves.
    pub const fn least(name: &'static str) -> Self {
        Self {
            name,
            snapshots: false,
            atomicity: Atomicity::Command,
            exact_scores: false,
            ordered_members: false,
            durability: Durability::Buffer,
        }
    }

    /// Refuses if there are no snapshots.
    pub const fn need_snapshots(&self) -> Result<(), StructureError> {
        self.need(self.snapshots, "snapshots")
    }

    /// Refuses if a list of commands is one step over less than asked for.
    pub fn need_atomicity(&self, asked: Atomicity) -> Result<(), StructureError> {
        self.need(self.atomicity >= asked, asked.word())
    }

    /// Refuses if scores are floats.
    pub const fn need_exact_scores(&self) -> Result<(), StructureError> {
        self.need(self.exact_scores, "exact scores")
    }

    /// Refuses a durability that there is not.
    pub fn need_durability(&self, asked: Durability) -> Result<(), StructureError> {
        self.need(self.durability >= asked, "writes that wait for the disk")
    }

    const fn need(&self, there: bool, what: &'static str) -> Result<(), StructureError> {
        if there { Ok(()) } else { Err(StructureError::Unsupported { name: self.name, what }) }
    }
}

impl Atomicity {
    /// The words in messages.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Command => "atomic commands",
            Self::Slot => "atomic writes to a slot",
            Self::Everything => "atomic writes across slots",
        }
    }
}

impl fmt::Display for Atomicity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lacking_is_refused_by_name() {
        let least = StructureCapabilities::least("redis");
        let refused = |result: Result<(), StructureError>| result.unwrap_err().to_string();
        assert_eq!(refused(least.need_snapshots()), "`redis` has no snapshots");
        assert_eq!(refused(least.need_exact_scores()), "`redis` has no exact scores");
        assert_eq!(
            refused(least.need_atomicity(Atomicity::Everything)),
            "`redis` has no atomic writes across slots"
        );
        assert_eq!(
            refused(least.need_durability(Durability::SyncAll)),
            "`redis` has no writes that wait for the disk"
        );
        least.need_durability(Durability::Buffer).unwrap();
        StructureCapabilities::everything("memory").need_atomicity(Atomicity::Everything).unwrap();
    }
}

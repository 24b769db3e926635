//! What a database says of the migration that it is in the middle of.

use super::checksum::Checksum;
use crate::schema::PlanFingerprint;

/// The row of the metadata that says where a migration is.
pub(crate) const MARK: &[u8] = b"migration";

/// The rows of the metadata that say what must be there at the end: a space each.
pub(crate) const EXPECTED: &[u8] = b"migration/expected/";

/// The rows of the metadata that hold the plan to come.
pub(crate) const FILES: &[u8] = b"migration/file/";

/// The version of the mark.
const VERSION: u8 = 1;

/// Where a migration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Rows without a new key are being set aside.
    Park,
    /// Rows are being rewritten.
    Move,
    /// Rows that went by a place of their own are being written to their new place.
    Settle,
    /// Everything is being read and compared.
    Check,
    /// Rows are going back to that place.
    Unsettle,
    /// Rows are being written as before.
    Unmove,
    /// Rows that were set aside are going back.
    Restore,
    /// The database is a copy that is being made.
    Copy,
    /// New keys are being filled with what the old ones held.
    Build,
    /// New keys are being taken away with what they hold.
    Unbuild,
}

impl Phase {
    const ALL: [Self; 10] = [
        Self::Park,
        Self::Move,
        Self::Settle,
        Self::Check,
        Self::Unsettle,
        Self::Unmove,
        Self::Restore,
        Self::Copy,
        Self::Build,
        Self::Unbuild,
    ];

    /// Whether the migration is going back.
    pub fn is_back(self) -> bool {
        matches!(self, Self::Unbuild | Self::Unsettle | Self::Unmove | Self::Restore)
    }

    /// What a person calls it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Park => "setting rows aside",
            Self::Move => "moving rows",
            Self::Settle => "settling rows",
            Self::Check => "checking rows",
            Self::Unsettle => "taking rows out",
            Self::Unmove => "moving rows back",
            Self::Restore => "restoring rows",
            Self::Copy => "copying",
            Self::Build => "filling structures",
            Self::Unbuild => "taking structures out",
        }
    }
}

/// What a database says of the migration that it is in the middle of.
///
/// ```text
/// version (1) | phase (1) | migration (8) | old plan (16) | new plan (16) | space (4) | rows done (8) | 0, or 1 and the last key
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationMark {
    /// Where it is.
    pub phase: Phase,
    /// What tells it from every other.
    pub id: [u8; 8],
    /// The old plan.
    pub from: PlanFingerprint,
    /// The new plan.
    pub to: PlanFingerprint,
    /// The number of the space that the phase has come to.
    pub space: u32,
    /// How many rows the phase has gone over.
    pub done: u64,
    /// The last key of the space that it has gone over.
    pub last: Option<Vec<u8>>,
}

impl MigrationMark {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let phase = Phase::ALL.iter().position(|phase| *phase == self.phase);
        let mut out = vec![VERSION, phase.and_then(|phase| u8::try_from(phase).ok()).unwrap_or(u8::MAX)];
        out.extend(self.id);
        out.extend(self.from.0);
        out.extend(self.to.0);
        out.extend(self.space.to_be_bytes());
        out.extend(self.done.to_be_bytes());
        match &self.last {
            Some(last) => {
                out.push(1);
                out.extend(last);
            }
            None => out.push(0),
        }
        out
    }

    /// Reads a mark; `None` if it is damaged or of a later version.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (&[version, phase], rest) = bytes.split_first_chunk::<2>()?;
        if version != VERSION {
            return None;
        }
        let (id, rest) = rest.split_first_chunk::<8>()?;
        let (from, rest) = rest.split_first_chunk::<16>()?;
        let (to, rest) = rest.split_first_chunk::<16>()?;
        let (space, rest) = rest.split_first_chunk::<4>()?;
        let (done, rest) = rest.split_first_chunk::<8>()?;
        let last = match rest.split_first()? {
            (0, []) => None,
            (1, last) => Some(last.to_vec()),
            _ => return None,
        };
        Some(Self {
            phase: *Phase::ALL.get(usize::from(phase))?,
            id: *id,
            from: PlanFingerprint(*from),
            to: PlanFingerprint(*to),
            space: u32::from_be_bytes(*space),
            done: u64::from_be_bytes(*done),
            last,
        })
    }
}

/// What must be in a space at the end, as a row of the metadata.
pub(crate) fn expected_row(space: &str, sum: Checksum) -> (Vec<u8>, Vec<u8>) {
    let value = [sum.rows.to_be_bytes(), sum.sum.to_be_bytes()].concat();
    ([EXPECTED, space.as_bytes()].concat(), value)
}

pub(crate) fn read_expected(value: &[u8]) -> Option<Checksum> {
    let (rows, rest) = value.split_first_chunk::<8>()?;
    let sum: &[u8; 8] = rest.try_into().ok()?;
    Some(Checksum { rows: u64::from_be_bytes(*rows), sum: u64::from_be_bytes(*sum) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_was_written_and_not_otherwise() {
        for (last, phase) in
            [(None, Phase::Park), (Some(vec![]), Phase::Check), (Some(vec![7, 0]), Phase::Restore)]
        {
            let (from, to) = (PlanFingerprint([1; 16]), PlanFingerprint([2; 16]));
            let mark = MigrationMark { phase, id: [9; 8], from, to, space: 3, done: 1 << 40, last };
            let bytes = mark.encode();
            assert_eq!(MigrationMark::decode(&bytes), Some(mark));
            assert_eq!(MigrationMark::decode(&bytes[..20]), None);
        }
        assert_eq!(MigrationMark::decode(&[]), None);
        assert_eq!(MigrationMark::decode(&[2; 80]), None);
    }
}

use super::SetScore;

/// Something that was read, and that commands were made from: [`apply_if`](super::Structures::apply_if) does them only while it
/// is still so. It borrows what was read.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Expectation<'a> {
    /// What a plain key holds.
    Value {
        /// The key.
        key: &'a [u8],
        /// Its value; `None` if there is none.
        value: Option<&'a [u8]>,
    },
    /// Whether a set has a member.
    Member {
        /// The set.
        key: &'a [u8],
        /// The member.
        member: &'a [u8],
        /// Whether it is there.
        there: bool,
    },
    /// What a field of a hash holds.
    Field {
        /// The hash.
        key: &'a [u8],
        /// The field.
        field: &'a [u8],
        /// Its value; `None` if there is no such field.
        value: Option<&'a [u8]>,
    },
    /// The score of a member of a sorted set.
    Score {
        /// The sorted set.
        key: &'a [u8],
        /// The member.
        member: &'a [u8],
        /// Its score; `None` if there is no such member.
        score: Option<SetScore>,
    },
}

impl<'a> Expectation<'a> {
    /// The key that it is about.
    pub const fn key(&self) -> &'a [u8] {
        match self {
            Self::Value { key, .. }
            | Self::Member { key, .. }
            | Self::Field { key, .. }
            | Self::Score { key, .. } => key,
        }
    }
}

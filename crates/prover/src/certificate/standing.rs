//! What a certificate says, in numbers.

use super::{Certificate, Certified, Ruling};

/// What a certificate that was found to be right says of its plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Statements that hold, by assumption on a hash or without.
    pub hold: usize,
    /// Statements that are refuted and not accepted.
    pub refuted: usize,
    /// Statements that are neither proved nor refuted, and not accepted.
    pub unknown: usize,
    /// Statements that do not hold, and whose flaw the plan accepts.
    pub accepted: usize,
}

impl Standing {
    /// Counts.
    pub fn of(certificate: &Certificate) -> Self {
        let mut standing = Self::default();
        for Certified { verdict, accepted, .. } in &certificate.statements {
            let count = match verdict {
                Ruling::Holds(_) | Ruling::Assumed { .. } => &mut standing.hold,
                _ if *accepted => &mut standing.accepted,
                Ruling::Fails(_) => &mut standing.refuted,
                Ruling::Unknown(_) => &mut standing.unknown,
            };
            *count += 1;
        }
        if let Some(carried) = &certificate.carried {
            carried.count(&mut standing);
        }
        standing
    }
}

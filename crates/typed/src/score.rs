use core::fmt;
use core::hash::{Hash, Hasher};

use keyplan_codec::{EncodeError, HeightScore, Score};

/// A place in chain order as the float that 1Sat writes: the height and the place in the block, or the time.
///
/// Two are equal if their bits are, so that it can be looked up; it is never NaN in a key.
#[derive(Clone, Copy, Debug, Default)]
pub struct FloatScore(pub f64);

impl PartialEq for FloatScore {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for FloatScore {}

impl Hash for FloatScore {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl TryFrom<Score> for FloatScore {
    type Error = EncodeError;

    fn try_from(score: Score) -> Result<Self, EncodeError> {
        HeightScore::float(score).map(Self)
    }
}

impl fmt::Display for FloatScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

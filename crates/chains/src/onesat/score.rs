use core::time::Duration;

use keyplan::codec::{EncodeError, Score};
use keyplan::typed::FloatScore;

/// The score of the transaction at `index` of the block at `height`, or of one that is in no block yet, for which `height`
/// is 0 and the score is `clock`, the time since 1970.
///
/// It is a float: what it cannot tell apart is listed with the plan's `accept lossy`.
///
/// ```
/// use core::time::Duration;
/// use keyplan_chains::onesat::height_score;
///
/// assert_eq!(height_score(850_000, 3, Duration::ZERO)?.0, 850_000.000_000_003);
/// assert_eq!(height_score(0, 0, Duration::from_millis(1_703_097_600_500))?.0, 1_703_097_600.5);
/// # Ok::<(), keyplan::codec::EncodeError>(())
/// ```
pub fn height_score(height: u32, index: u64, clock: Duration) -> Result<FloatScore, EncodeError> {
    let place = if height == 0 {
        Score::Unconfirmed { seconds: clock.as_secs(), nanos: clock.subsec_nanos() }
    } else {
        Score::Confirmed { height, index }
    };
    FloatScore::try_from(place)
}

#[cfg(test)]
mod tests {
    use crate::onesat::document::store::{hashes, queues, sets, sorted_sets};

    #[test]
    fn constants_are_those_of_the_document() {
        let prefixes =
            [hashes::PREFIX, sorted_sets::PREFIX, sorted_sets::topics::PREFIX, sets::PREFIX, queues::PREFIX];
        assert_eq!(prefixes, [b"h:".as_slice(), b"z:", b"z:tp:", b"s:", b"q:"]);
        assert_eq!(hashes::Satoshis::KEY, *b"h:sats");
        assert_eq!(hashes::Spends::KEY, *b"h:spnd");
        assert_eq!(hashes::Progress::KEY, *b"h:prog");
        assert_eq!(hashes::Progress.encode(), hashes::Progress::KEY);
    }
}

use super::{exactly, fixed_extent};
use crate::{DecodeError, Delimited, EncodeError, Expected, Fault, FixedWidth, Segment, SignFlip, Sink};

/// A time as text of 29 bytes, `2006-01-02T15:04:05.000000000`: byte order is the order of time.
///
/// The argument is in nanoseconds since 1970, in the proleptic Gregorian calendar without leap seconds, from
/// year 0000 to year 9999.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeText9;

/// A time as nanoseconds since 1970 in a sign-flipped [`i64`]: byte order is the order of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeNanos;

const NANOS_PER_SECOND: i128 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;
/// 0000-01-01 and 9999-12-31, in days since 1970-01-01.
const DAYS: core::ops::RangeInclusive<i64> = -719_528..=2_932_896;

/// Where each field is: its offset and how many digits it has.
const FIELDS: [(usize, usize); 7] = [(0, 4), (5, 2), (8, 2), (11, 2), (14, 2), (17, 2), (20, 9)];
/// The text around the fields.
const FRAME: &[u8; 29] = b"0000-00-00T00:00:00.000000000";

impl Segment for TimeText9 {
    type Arg<'a> = i128;
    type View<'a> = i128;

    fn encode<S: Sink + ?Sized>(&self, arg: i128, out: &mut S) -> Result<(), EncodeError> {
        let seconds = i64::try_from(arg.div_euclid(NANOS_PER_SECOND)).map_err(|_| EncodeError::OutOfRange)?;
        let days = seconds.div_euclid(SECONDS_PER_DAY);
        if !DAYS.contains(&days) {
            return Err(EncodeError::OutOfRange);
        }
        let (year, month, day) = date_of(days);
        let second = seconds.rem_euclid(SECONDS_PER_DAY);
        let nanos = (arg.rem_euclid(NANOS_PER_SECOND) % NANOS_PER_SECOND) as i64;
        let values = [year, month, day, second / 3600, second / 60 % 60, second % 60, nanos];
        let mut text = *FRAME;
        for ((offset, width), mut value) in FIELDS.into_iter().zip(values) {
            for slot in text.iter_mut().skip(offset).take(width).rev() {
                *slot = b'0' + (value.rem_euclid(10) % 10) as u8;
                value /= 10;
            }
        }
        out.put(&text)
    }

    fn decode(&self, bytes: &[u8]) -> Result<i128, DecodeError> {
        let text = exactly::<29>(bytes)?;
        for (offset, (&found, &frame)) in text.iter().zip(FRAME).enumerate() {
            let fits = if frame == b'0' { found.is_ascii_digit() } else { found == frame };
            if !fits {
                return Err(DecodeError::new(offset, Fault::Byte { found, expected: Expected::Time }));
            }
        }
        let [year, month, day, hour, minute, second, nanos] = FIELDS.map(|(offset, width)| {
            let digits = text.iter().skip(offset).take(width);
            digits.fold(0, |value, digit| value * 10 + i64::from(digit - b'0'))
        });
        let exists = [
            true,
            (1..=12).contains(&month),
            (1..=days_in_month(year, month)).contains(&day),
            hour < 24,
            minute < 60,
            second < 60,
            true,
        ];
        if let Some((_, (offset, _))) = exists.into_iter().zip(FIELDS).find(|(exists, _)| !exists) {
            return Err(DecodeError::new(offset, Fault::Time));
        }
        let seconds = days_of(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second;
        Ok(i128::from(seconds) * NANOS_PER_SECOND + i128::from(nanos))
    }
}

impl Delimited for TimeText9 {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, Self::WIDTH)
    }
}

impl FixedWidth for TimeText9 {
    type Value = i128;
    const WIDTH: usize = 29;
}

impl Segment for TimeNanos {
    type Arg<'a> = i128;
    type View<'a> = i128;

    #[inline]
    fn encode<S: Sink + ?Sized>(&self, arg: i128, out: &mut S) -> Result<(), EncodeError> {
        let nanos = i64::try_from(arg).map_err(|_| EncodeError::OutOfRange)?;
        SignFlip::new().encode(nanos, out)
    }

    #[inline]
    fn decode(&self, bytes: &[u8]) -> Result<i128, DecodeError> {
        SignFlip::<i64>::new().decode(bytes).map(i128::from)
    }
}

impl Delimited for TimeNanos {
    #[inline]
    fn extent(&self, input: &[u8]) -> Result<usize, DecodeError> {
        fixed_extent(input, Self::WIDTH)
    }
}

impl FixedWidth for TimeNanos {
    type Value = i128;
    const WIDTH: usize = 8;
}

const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

const fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days of 400 years, after which the calendar repeats.
const DAYS_PER_ERA: i64 = 146_097;
/// From 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

/// Returns the days from 1970-01-01 to a date.
///
/// Years are counted from March, so that the leap day comes last in its year.
const fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    era * DAYS_PER_ERA + year * 365 + year / 4 - year / 100 + day_of_year - EPOCH
}

/// Returns year, month and day of a date that is `days` after 1970-01-01.
const fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH;
    let (era, day) = (days.div_euclid(DAYS_PER_ERA), days.rem_euclid(DAYS_PER_ERA));
    // The leap days so far: one each 4 years, none each 100, one each 400.
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year;
    (if month <= 2 { year + 1 } else { year }, month, day)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const SECOND: i128 = NANOS_PER_SECOND;
    const FIRST: i128 = -62_167_219_200 * SECOND;
    const LAST: i128 = 253_402_300_800 * SECOND - 1;

    crate::laws! {
        text9: TimeText9, [FIRST, -SECOND, -1, 0, 1, 1_136_214_245 * SECOND, LAST], ordered, delimited;
        nanos: TimeNanos, [i64::MIN.into(), -1, 0, 1, i64::MAX.into()], ordered, delimited;
    }

    fn text(nanos: i128) -> Vec<u8> {
        let mut out = Vec::new();
        TimeText9.encode(nanos, &mut out).unwrap();
        out
    }

    #[test]
    fn times_are_written_as_dates() {
        assert_eq!(text(0), b"1970-01-01T00:00:00.000000000");
        assert_eq!(text(-1), b"1969-12-31T23:59:59.999999999");
        assert_eq!(text(1_136_214_245 * SECOND), b"2006-01-02T15:04:05.000000000");
        assert_eq!(text(951_782_400 * SECOND + 7), b"2000-02-29T00:00:00.000000007");
        assert_eq!(text(FIRST), b"0000-01-01T00:00:00.000000000");
        assert_eq!(text(LAST), b"9999-12-31T23:59:59.999999999");
    }

    #[test]
    fn years_before_0000_and_after_9999_are_refused() {
        for beyond in [FIRST - 1, LAST + 1, i128::MIN, i128::MAX] {
            assert_eq!(TimeText9.encode(beyond, &mut Vec::new()), Err(EncodeError::OutOfRange));
        }
        let beyond = i128::from(i64::MAX) + 1;
        assert_eq!(TimeNanos.encode(beyond, &mut Vec::new()), Err(EncodeError::OutOfRange));
    }

    #[test]
    fn dates_and_times_that_do_not_exist_are_refused() {
        let fault = |offset| Err(DecodeError::new(offset, Fault::Time));
        assert_eq!(TimeText9.decode(b"2023-00-01T00:00:00.000000000"), fault(5));
        assert_eq!(TimeText9.decode(b"2023-13-01T00:00:00.000000000"), fault(5));
        assert_eq!(TimeText9.decode(b"2023-01-00T00:00:00.000000000"), fault(8));
        assert_eq!(TimeText9.decode(b"2023-02-29T00:00:00.000000000"), fault(8));
        assert_eq!(TimeText9.decode(b"1900-02-29T00:00:00.000000000"), fault(8));
        assert_eq!(TimeText9.decode(b"2023-04-31T00:00:00.000000000"), fault(8));
        assert_eq!(TimeText9.decode(b"2023-01-01T24:00:00.000000000"), fault(11));
        assert_eq!(TimeText9.decode(b"2023-01-01T00:60:00.000000000"), fault(14));
        assert_eq!(TimeText9.decode(b"2016-12-31T23:59:60.000000000"), fault(17));
        let byte =
            |offset, found| Err(DecodeError::new(offset, Fault::Byte { found, expected: Expected::Time }));
        assert_eq!(TimeText9.decode(b"2023-01-01 00:00:00.000000000"), byte(10, b' '));
        assert_eq!(TimeText9.decode(b"2023-01-01T00:00:00.00000000Z"), byte(28, b'Z'));
        assert_eq!(TimeText9.decode(b"-023-01-01T00:00:00.000000000"), byte(0, b'-'));
    }

    #[test]
    fn every_day_of_ten_thousand_years_follows_the_one_before() {
        let mut expected = (0, 1, 1);
        for days in DAYS {
            assert_eq!(date_of(days), expected);
            let (year, month, day) = expected;
            assert_eq!(days_of(year, month, day), days);
            expected = if day < days_in_month(year, month) {
                (year, month, day + 1)
            } else if month < 12 {
                (year, month + 1, 1)
            } else {
                (year + 1, 1, 1)
            };
        }
        assert_eq!(expected, (10_000, 1, 1));
    }
}

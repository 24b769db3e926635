//! Seconds and nanoseconds since 1970 as people write them, in UTC.

/// The least and the greatest second that has a form: years 0001 to 9999.
const SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// `2023-12-20T18:40:00.123Z`, with as many decimals as are needed in threes. `None` beyond years of four digits.
pub fn show(seconds: i64, nanos: u32) -> Option<String> {
    if !SECONDS.contains(&seconds) || nanos > 999_999_999 {
        return None;
    }
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    if nanos > 0 {
        let digits = format!("{nanos:09}");
        let kept = if nanos.is_multiple_of(1_000_000) {
            3
        } else if nanos.is_multiple_of(1000) {
            6
        } else {
            9
        };
        text.push('.');
        text.extend(digits.chars().take(kept));
    }
    text.push('Z');
    Some(text)
}

/// What [`show`] writes, with any number of decimals up to nine, and with a `Z` or without.
pub fn parse(text: &str) -> Option<(i64, u32)> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let bytes = whole.as_bytes();
    let mark = |at: usize, byte: u8| bytes.get(at) == Some(&byte);
    if bytes.len() != 19
        || !(mark(4, b'-') && mark(7, b'-') && mark(10, b'T') && mark(13, b':') && mark(16, b':'))
    {
        return None;
    }
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = whole.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = days(year, month, day);
    if date(days) != (year, month, day) {
        return None;
    }
    if decimals.len() > 9 || !decimals.bytes().all(|byte| byte.is_ascii_digit()) || text.ends_with('.') {
        return None;
    }
    let nanos: u32 = format!("{decimals:0<9}").parse().ok()?;
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second;
    SECONDS.contains(&seconds).then_some((seconds, nanos))
}

/// The date of a day, counted from 1970; eras of 400 years begin in March.
fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The day of a date.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let shifted_month = (month + 9) % 12;
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_and_read() {
        for (seconds, nanos, text) in [
            (0, 0, "1970-01-01T00:00:00Z"),
            (1_703_097_600, 123_456_789, "2023-12-20T18:40:00.123456789Z"),
            (951_782_400, 500_000_000, "2000-02-29T00:00:00.500Z"),
            (-1, 0, "1969-12-31T23:59:59Z"),
            (-62_135_596_800, 0, "0001-01-01T00:00:00Z"),
            (253_402_300_799, 1000, "9999-12-31T23:59:59.000001Z"),
        ] {
            assert_eq!(show(seconds, nanos).as_deref(), Some(text));
            assert_eq!(parse(text), Some((seconds, nanos)));
        }
        assert_eq!(show(253_402_300_800, 0), None);
        for text in [
            "",
            "2023-02-29T00:00:00Z",
            "2023-12-20T24:00:00Z",
            "2023-12-20 18:40:00",
            "2023-12-20T18:40:00.Z",
            "2023-12-20T18:40:00.1234567890Z",
            "0000-01-01T00:00:00Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}

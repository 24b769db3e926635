//! Integers in every form, against arithmetic: which strings are numbers of a range.
//!
//! Two families that differ only in where they cut one range must be disjoint, and meet where the ranges do: that
//! holds only if the graphs lose no number and add none. The random plans do not reach such edges often enough.
#![cfg(test)]

use std::fmt::Write as _;

use keyplan_prover::{Guarantee, Options, Verdict, prove};

/// Whether the keys of two layouts meet.
fn meet(a: &str, b: &str) -> bool {
    let text = format!("plan p; space s {{ key a = {a}; key b = {b}; }}");
    let compiled = keyplan_plan::compile("p.keyplan", &text, |_| Err("none".to_owned()));
    let plan = compiled.plan.unwrap_or_else(|| panic!("{text}: {:?}", compiled.diagnostics));
    let report = prove(&plan, &Options::default());
    let met = report.statements.iter().find(|s| s.guarantee == Guarantee::Disjoint && s.other.is_some());
    match met.map(|statement| &statement.verdict) {
        None => false,
        Some(Verdict::Fails(_)) => true,
        Some(other) => panic!("{text}: {other:?}"),
    }
}

fn bytes_of(text: &str) -> String {
    text.bytes().fold("0x".to_owned(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[test]
fn a_decimal_is_a_number_of_its_range_and_nothing_else() {
    let edges =
        [0u32, 1, 2, 8, 9, 10, 11, 12, 19, 20, 21, 90, 98, 99, 100, 101, 109, 110, 111, 199, 200, 255];
    for (index, &min) in edges.iter().enumerate() {
        for &max in edges.iter().skip(index).step_by(3) {
            let range = format!("n: u8({min}..={max}).dec");
            for probe in [
                min,
                max,
                min.saturating_sub(1),
                max + 1,
                u32::midpoint(min, max),
                min * 10,
                max * 10,
                min / 10,
            ] {
                let inside = (min..=max).contains(&probe);
                assert_eq!(meet(&range, &bytes_of(&probe.to_string())), inside, "{range} {probe}");
                // A leading zero is never written.
                assert!(!meet(&range, &bytes_of(&format!("0{probe}"))), "{range} 0{probe}");
            }
        }
    }
}

#[test]
fn wide_decimals_end_exactly_at_their_bounds() {
    for (ty, max) in [("u16", u128::from(u16::MAX)), ("u64", u128::from(u64::MAX)), ("u128", u128::MAX)] {
        let range = format!("n: {ty}.dec");
        for probe in [max, max - 1, max / 10, max / 2] {
            assert!(meet(&range, &bytes_of(&probe.to_string())), "{range} {probe}");
        }
        let digits = max.to_string();
        for (index, digit) in digits.char_indices().filter(|(_, digit)| *digit != '9') {
            let above = char::from_digit(digit.to_digit(10).unwrap() + 1, 10).unwrap();
            let beyond = format!("{}{above}{}", &digits[..index], &digits[index + 1..]);
            assert!(!meet(&range, &bytes_of(&beyond)), "{range} {beyond}");
            if digit > '0' && (index > 0 || digit > '1') {
                let below = char::from_digit(digit.to_digit(10).unwrap() - 1, 10).unwrap();
                let within = format!("{}{below}{}", &digits[..index], "9".repeat(digits.len() - index - 1));
                assert!(meet(&range, &bytes_of(&within)), "{range} {within}");
            }
        }
        assert!(!meet(&range, &bytes_of(&format!("{digits}0"))));
    }
}

#[test]
fn signed_decimals_have_no_negative_zero() {
    for (range, probes) in [
        ("n: i8(-12..=9).dec", ["-12", "-9", "-1", "0", "9"].as_slice()),
        ("n: i16(-300..=-9).dec", ["-300", "-9", "-10", "-100"].as_slice()),
        ("n: i64.dec", ["-9223372036854775808", "9223372036854775807", "0"].as_slice()),
    ] {
        for probe in probes {
            assert!(meet(range, &bytes_of(probe)), "{range} {probe}");
        }
        for probe in ["-0", "-13 ", "--1", "", "-", "9223372036854775808", "-9223372036854775809", "-01"] {
            assert!(probe.is_empty() || !meet(range, &bytes_of(probe)), "{range} {probe}");
        }
    }
}

#[test]
fn varints_are_read_in_their_shortest_form_only() {
    for form in ["80 00", "81 00 00", "80 80 00", "ff 80 00"] {
        let probe = format!("0x{}", form.replace(' ', ""));
        assert!(!meet("n: u64.leb128", &probe), "{form}");
        assert!(!meet("n: u32(0..=70000).leb128", &probe), "{form}");
        // As a length it leaves one byte too few or none at all.
        assert!(!meet("b: bytes(0..=1).varlen", &probe), "{form}");
    }
    assert!(meet("n: u64.leb128", "0xffffffffffffffffff01"));
    assert!(!meet("n: u64.leb128", "0xffffffffffffffffff02"));
    assert!(meet("n: u64.compact_size", "0xfdfd00") && !meet("n: u64.compact_size", "0xfdfc00"));
    assert!(meet("n: u64.ordvar", "0xf66e") && !meet("n: u64.ordvar", "0xf66d"));
    assert!(meet("n: u64.bitcoin_varint", "0x8000") && !meet("n: u64.bitcoin_varint", "0x80"));
    assert!(meet("n: u32(16512..=16512).bitcoin_varint", "0x808000"));
    assert!(!meet("n: u32(16511..=16511).bitcoin_varint", "0x808000"));
}

#[test]
fn every_small_range_of_every_form_meets_its_own_numbers_only() {
    let forms =
        ["be", "le", "leb128", "ordvar", "bitcoin_varint", "tuple", "hex", "HEX", "dec", "hex(5)", "dec(5)"];
    for form in forms {
        for (min, max) in [(0, 3), (100, 140), (250, 260), (255, 255), (16_380, 16_390), (65_000, 65_535)] {
            for probe in [min, max, min + (max - min) / 2, min.max(1) - 1, max + 1] {
                let range = format!("n: u32({min}..={max}).{form}");
                let one = format!("n: u32({probe}..={probe}).{form}");
                assert_eq!(meet(&range, &one), (min..=max).contains(&probe), "{range} {probe}");
            }
        }
    }
    for form in ["be", "le", "signflip", "dec", "tuple"] {
        for (min, max) in [(-3, 3), (-300, -200), (-1, 0), (127, 129), (-129, -127)] {
            for probe in [min, max, i32::midpoint(min, max), min - 1, max + 1] {
                let range = format!("n: i16({min}..={max}).{form}");
                let one = format!("n: i16({probe}..={probe}).{form}");
                assert_eq!(meet(&range, &one), (min..=max).contains(&probe), "{range} {probe}");
            }
        }
    }
}

//! The laws on arguments and bytes that nobody picked.

use keyplan_codec::laws::{Law, Lawful};
use keyplan_codec::{
    Alphabet, Be, Bech32, BitcoinVarint, Bytes, Case, CompactSize, Decimal, Delimited, Desc, Escaped, Fixed,
    FloatBadger, FloatBits, FloatOrdered, Hash, HashConcat, Hashed, HeightScore, HexBytes, HexInt, HexPrefix,
    Le, Leb128, LenPrefix, LenWidth, Lengths, Memcmp, Nibbles, Open, OrdVar, PackedNibbles, PaddedDecimal,
    PaddedHexInt, Score, ScoreExact, Segment, SignFlip, Sink, Terminated, Text, Tick9, TimeNanos, TimeText9,
    TupleBytes, TupleFloat, TupleInt, TupleText,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Every law but that of order; `behind` is what comes after it, and what is read on its own.
fn delimited<S: Lawful + Delimited>(segment: &S, values: &[S::Owned], behind: &[u8]) {
    let law = Law::new(segment, values);
    law.round_trip();
    law.delimited();
    law.delimited_before(&[behind]);
    law.canonical_on(behind);
    if let Ok(extent) = segment.extent(behind) {
        assert!(extent <= behind.len(), "an extent of {extent} in {behind:02x?}");
    }
}

fn open<S: Lawful + Open>(segment: &S, values: &[S::Owned], bytes: &[u8]) {
    let law = Law::new(segment, values);
    law.round_trip();
    law.canonical_on(bytes);
    law.open_on(bytes);
    let mut own = Vec::new();
    for value in values {
        own.clear();
        assert_eq!(segment.encode(S::lend(value), &mut own), Ok(()));
        law.open_on(&own);
    }
}

fn ordered<S: Lawful<Owned: PartialOrd> + Delimited>(segment: &S, values: &[S::Owned], behind: &[u8]) {
    delimited(segment, values, behind);
    Law::new(segment, values).ordered();
}

/// Bytes of which many are those that encodings treat in a special way.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![any::<u8>(), Just(0), Just(0xff), Just(b'0'), Just(b'f'), 0u8..16];
    vec(byte, 0..48)
}

fn finite() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("a number", |float| !float.is_nan()).prop_map(|float| float + 0.0)
}

fn score() -> impl Strategy<Value = Score> {
    prop_oneof![
        any::<(u32, u64)>().prop_map(|(height, index)| Score::Confirmed { height, index }),
        (any::<u64>(), 0u32..1_000_000_000)
            .prop_map(|(seconds, nanos)| Score::Unconfirmed { seconds, nanos }),
    ]
}

/// Integers of every magnitude, not only large ones.
macro_rules! integers {
    ($($int:ident)*) => {$(
        fn $int() -> impl Strategy<Value = [$int; 3]> {
            any::<[($int, u32); 3]>().prop_map(|pairs| pairs.map(|(int, shift)| int >> (shift % $int::BITS)))
        }
    )*};
}

integers!(u16 u64 u128 i16 i64 i128);

proptest! {
    #[test]
    fn integers_of_fixed_width(a in u64(), b in i64(), c in u128(), d in i128(), behind in bytes()) {
        ordered(&Be::new(), &a, &behind);
        ordered(&Be::new(), &c, &behind);
        delimited(&Be::new(), &b, &behind);
        delimited(&Le::new(), &a, &behind);
        delimited(&Le::new(), &d, &behind);
        ordered(&SignFlip::new(), &b, &behind);
        ordered(&SignFlip::new(), &d, &behind);
        ordered(&Tick9, &b, &behind);
        delimited(&Desc(Tick9), &b, &behind);
        Law::new(&Desc(Tick9), &b).descending();
    }

    #[test]
    fn integers_of_variable_width(a in u64(), b in u128(), c in u16(), behind in bytes()) {
        ordered(&OrdVar::new(), &a, &behind);
        ordered(&OrdVar::new(), &c, &behind);
        delimited(&Leb128::new(), &a, &behind);
        delimited(&Leb128::new(), &b, &behind);
        delimited(&Leb128::new(), &c, &behind);
        delimited(&BitcoinVarint::new(), &a, &behind);
        delimited(&BitcoinVarint::new(), &b, &behind);
        delimited(&CompactSize, &a, &behind);
    }

    #[test]
    fn integers_as_tuple_elements(a in u64(), b in i64(), c in u128(), d in i128(), behind in bytes()) {
        ordered(&TupleInt::new(), &a, &behind);
        ordered(&TupleInt::new(), &b, &behind);
        ordered(&TupleInt::new(), &c, &behind);
        ordered(&TupleInt::new(), &d, &behind);
    }

    #[test]
    fn integers_as_text(a in u64(), b in i64(), c in u128(), d in i128(), e in i16(), text in bytes()) {
        open(&Decimal::full(), &a, &text);
        open(&Decimal::full(), &b, &text);
        open(&Decimal::full(), &c, &text);
        open(&Decimal::full(), &d, &text);
        open(&Decimal::full(), &e, &text);
        open(&HexInt::full(Case::Lower), &a, &text);
        open(&HexInt::full(Case::Upper), &c, &text);
        ordered(&PaddedDecimal::full(20), &a, &text);
        ordered(&PaddedDecimal::full(39), &c, &text);
        ordered(&PaddedHexInt::full(Case::Lower, 16), &a, &text);
    }

    #[test]
    fn decimals_are_those_of_the_standard_library(a in any::<u64>(), b in any::<i128>(), text in "-?[0-9]{1,40}") {
        let mut out = Vec::new();
        Decimal::full().encode(a, &mut out).unwrap();
        prop_assert_eq!(&out, &a.to_string().into_bytes());
        out.clear();
        Decimal::full().encode(b, &mut out).unwrap();
        prop_assert_eq!(&out, &b.to_string().into_bytes());
        let expected = text.parse::<u64>().ok().filter(|number| number.to_string() == text);
        prop_assert_eq!(Decimal::<u64>::full().decode(text.as_bytes()).ok(), expected);
        let expected = text.parse::<i128>().ok().filter(|number| number.to_string() == text);
        prop_assert_eq!(Decimal::<i128>::full().decode(text.as_bytes()).ok(), expected);
    }

    #[test]
    fn every_range_of_decimals_admits_just_its_lengths(a in any::<i16>(), b in any::<i16>(), len in 0usize..8) {
        let range = Decimal { min: a.min(b), max: a.max(b) };
        let exists = (range.min..=range.max).any(|number| number.to_string().len() == len);
        prop_assert_eq!(range.admits(len), exists);
    }

    #[test]
    fn floats(a in [finite(), finite(), finite()], behind in bytes()) {
        delimited(&FloatBits, &a, &behind);
        ordered(&FloatOrdered, &a, &behind);
        ordered(&TupleFloat, &a, &behind);
        ordered(&FloatBadger, &a, &behind);
    }

    #[test]
    fn sortable_bytes_of_badger_stand_for_one_float(sortable in any::<[u8; 8]>()) {
        Law::new(&FloatBadger, &[]).canonical_on(&sortable);
        Law::new(&FloatOrdered, &[]).canonical_on(&sortable);
    }

    #[test]
    fn fixed_point(units in any::<[(i64, u32); 3]>(), decimals in 0u8..=22, bytes in any::<[u8; 8]>()) {
        let fixed = Fixed { decimals };
        // Below 2⁵⁰ every number of units has a float of its own, which is what was asked of it.
        #[expect(clippy::cast_precision_loss, reason = "it is exact below 2⁵³")]
        let values = units.map(|(units, shift)| (units >> (14 + shift % 50)) as f64 / 10f64.powi(decimals.into()));
        ordered(&fixed, &values, &bytes);
    }

    #[test]
    fn scores(a in [score(), score(), score()], behind in bytes()) {
        ordered(&ScoreExact, &a, &behind);
    }

    #[test]
    fn a_height_score_that_is_read_is_written_again(bytes in any::<[u8; 8]>(), score in score()) {
        let mut out = Vec::new();
        if let Ok(float) = HeightScore.decode(&bytes) {
            HeightScore.encode_float(float, &mut out).unwrap();
            prop_assert_eq!(out.as_slice(), bytes);
        }
        out.clear();
        if HeightScore.encode(score, &mut out).is_ok() {
            prop_assert_eq!(HeightScore.decode(&out).ok(), HeightScore::float(score).ok());
        }
    }

    #[test]
    fn times(a in i64(), seconds in -62_167_219_200i64..253_402_300_800, nanos in 0i128..1_000_000_000, behind in bytes()) {
        ordered(&TimeNanos, &a.map(i128::from), &behind);
        let [b, c, d] = a.map(i128::from);
        ordered(&TimeText9, &[b, c, d, i128::from(seconds) * 1_000_000_000 + nanos], &behind);
    }

    #[test]
    fn strings_of_bytes(a in bytes(), b in bytes(), c in bytes()) {
        let values = [a, b];
        let any = Lengths::ANY;
        open(&Bytes { lengths: any }, &values, &c);
        open(&HexBytes { case: Case::Lower, lengths: any }, &values, &c);
        open(&HexBytes { case: Case::Upper, lengths: any }, &values, &c);
        open(&HashConcat::whole(Hash::Blake2b128), &values, &c);
        open(&Bech32 { hrp: "osmo", lengths: any }, &values, &c);
        ordered(&Terminated, &values, &c);
        ordered(&Memcmp, &values, &c);
        for width in [LenWidth::L8, LenWidth::L16, LenWidth::L32, LenWidth::L64, LenWidth::L16Le, LenWidth::L32Le, LenWidth::L64Le, LenWidth::Varint] {
            delimited(&LenPrefix { width }, &values, &c);
        }
        Law::new(&Escaped, &values).ordered();
        Law::new(&Escaped, &values).round_trip();
        Law::new(&Escaped, &values).canonical_on(&c);
        Law::new(&TupleBytes, &values).ordered();
        Law::new(&TupleBytes, &values).round_trip();
        Law::new(&TupleBytes, &values).canonical_on(&c);
    }

    #[test]
    fn nibbles(a in vec(0u8..16, 0..40), b in vec(0u8..16, 0..40), c in bytes()) {
        let mut even = a.clone();
        even.truncate(a.len() / 2 * 2);
        let any = Lengths::ANY;
        let values = [a, b];
        open(&Nibbles { lengths: any }, &values, &c);
        open(&HexPrefix { lengths: any }, &values, &c);
        open(&PackedNibbles { lengths: any }, &[even], &c);
    }

    #[test]
    fn texts(a in any::<String>(), b in "[a-z][a-z0-9/]{0,20}", c in bytes()) {
        const LETTERS: Alphabet = Alphabet::EMPTY.with_range(b'a', b'z');
        const DENOM: Alphabet = LETTERS.with_range(b'0', b'9').with(b'/');
        let denom = Text { alphabet: &DENOM, first: Some(&LETTERS), ..Text::ANY };
        open(&denom, std::slice::from_ref(&b), &c);
        let values = [a, b];
        open(&Text::ANY, &values, &c);
        let law = Law::new(&TupleText, &values);
        law.round_trip();
        law.ordered();
        law.canonical_on(&c);
    }

    #[test]
    fn frames_made_in_place_are_those_made_from_bytes(a in bytes(), front in bytes()) {
        let put = |out: &mut Vec<u8>| out.put(&a);
        let mut direct = front.clone();
        let mut wrapped = front.clone();
        Terminated.encode(&a, &mut direct).unwrap();
        Terminated.wrap(&mut wrapped, put).unwrap();
        Escaped.encode(&a, &mut direct).unwrap();
        Escaped.wrap(&mut wrapped, put).unwrap();
        Memcmp.encode(&a, &mut direct).unwrap();
        Memcmp.wrap(&mut wrapped, put).unwrap();
        for width in [LenWidth::L8, LenWidth::L16Le, LenWidth::L64Le, LenWidth::Varint] {
            LenPrefix { width }.encode(&a, &mut direct).unwrap();
            LenPrefix { width }.wrap(&mut wrapped, put).unwrap();
        }
        for hash in Hash::ALL {
            Hashed::whole(hash).encode(&a, &mut direct).unwrap();
            Hashed::whole(hash).wrap(&mut wrapped, put).unwrap();
            HashConcat::whole(hash).encode(&a, &mut direct).unwrap();
            HashConcat::whole(hash).wrap(&mut wrapped, put).unwrap();
        }
        prop_assert_eq!(direct, wrapped);
    }
}

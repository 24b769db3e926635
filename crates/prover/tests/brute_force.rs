//! Verdicts against enumeration: random small plans, every value, every key.
//!
//! `KEYPLAN_BRUTE_FORCE` sets how many plans are tried, `KEYPLAN_BRUTE_FORCE_SEED` where they begin.
#![cfg(test)]

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use keyplan_plan::codec::Score;
use keyplan_plan::dynamic::{Value, encode, prefix};
use keyplan_plan::model::{
    BytesEncoding, Family, IntRange, LengthSet, NibbleEncoding, Plan, Segment, Sequence, Shape,
};
use keyplan_prover::{Guarantee, Options, Report, Side, Statement, Verdict, Witness, prove};

/// The most keys of one family that are listed.
const MOST_KEYS: usize = 700;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

const LITERALS: &[&str] = &[
    "0x00", "0x01", "0x02", "0x03", "\"a\"", "\"b\"", "\"0\"", "\"1\"", "\"/\"", "0x80", "0xff", "0x00ff",
    "0x0000", "0x05", "0x06", "\"-\"", "\"ab\"", "0x0161", "0x8001", "0x15",
];

const LEAVES: &[&str] = &[
    "u8(0..=3)",
    "u8(0..=3).le",
    "u8(8..=11).dec",
    "u8(0..=12).dec",
    "u8(0..=3).dec(2)",
    "u16(98..=101).dec",
    "u8(14..=17).hex",
    "u8(9..=17).HEX",
    "u8(0..=9).hex(2)",
    "u8(126..=129).leb128",
    "u16(254..=258).leb128",
    "u16(0..=2).leb128",
    "u8(108..=111).ordvar",
    "u16(254..=257).ordvar",
    "u8(126..=129).bitcoin_varint",
    "u32(16510..=16513).bitcoin_varint",
    "u64(251..=254).compact_size",
    "u64(65534..=65537).compact_size",
    "u8(0..=2).tuple",
    "u16(254..=257).tuple",
    "u16(254..=257)",
    "u16(254..=257).le",
    "u16(0..=2)",
    "i8(-2..=2)",
    "i8(-2..=2).signflip",
    "i8(-2..=2).dec",
    "i16(-11..=-8).dec",
    "i16(-1..=9).dec",
    "i8(-2..=1).tuple",
    "i16(-257..=-254).tuple",
    "i8(-2..=2).saturating",
    "i8(0..=2).saturating",
    "i64(-2..=1).tick9",
    "i16(-2..=1).le",
    "i8(-3..=-1)",
    "u8(0..=250).dec",
    "u8(48..=51)",
    "u8(97..=98)",
    "bool",
    "bool.tuple",
    "text(\"ab\", 0..=2)",
    "text(\"ab\", 1..=2)",
    "text(\"a\", 0..=3)",
    "text(\"01\", 1..=2)",
    "text(\"a/\", 0..=2)",
    "text(\"0-2\", 1..=1)",
    "text(\"a\", \"a0\", 0..=2)",
    "text(\"b\", \"a\", 1..=3)",
    "text(\"ab\", 0..=2).tuple",
    "text(\"\\x00a\", 0..=2)",
    "text(\"\\x00\\x01\", 0..=2).tuple",
    "text(\"\\x00\\x01\\x02\", 0..=2)",
    "nibbles(0..=1)",
    "nibbles(0 | 2).packed",
    "nibbles(0..=2).hex_prefix",
    "nibbles(1).hex_prefix",
];

/// Domains of too many values to list them all.
const WIDE: &[&str] = &[
    "bytes(1)",
    "bytes(0..=1)",
    "bytes(0..=2)",
    "bytes(2)",
    "bytes",
    "bytes(1..)",
    "bytes(1 | 3)",
    "bytes(0..=1).hex",
    "bytes(1).HEX",
    "bytes.hex",
    "bytes(0..=2).fit(1)",
    "bytes(1).fit(2)",
    "bytes(0..=1).tuple",
    "bytes.tuple",
    "bytes(0..=1).bech32(\"a\")",
    "text",
    "text(1..)",
    "text(0..=2)",
    "text(\"^/\", 1..)",
    "text(\"^a\", 0..=3)",
    "text(\"a-z\")",
    "text(\"a-z\", 1..)",
    "u8",
    "u16",
    "u32.le",
    "u64.dec",
    "i16",
    "i16.signflip",
    "u64.leb128",
    "u64.ordvar",
    "u64.bitcoin_varint",
    "u64.compact_size",
    "i64.tick9",
    "i64.tuple",
    "u16.hex",
    "f64",
    "f64.ordered",
    "f64.badger",
    "f64.fixed(2)",
    "f64.tuple",
    "time",
    "time.nanos",
    "score",
    "score.height_score",
    "u32.dec(10)",
    "text(\"ab\", 1..).hashed(xxh3_64)",
    "u8.hashed(sha256, 8)",
    "u8.hash_concat(twox_64)",
    "text(\"a\", 0..=2).hash_concat(sha256, 1)",
    "raw",
    "nibbles",
];

/// Long values of one character, for the arithmetic of lengths.
const LONG: &[&str] = &[
    "text(\"a\", 126..=129).len8",
    "text(\"a\", 254..=257).len16",
    "text(\"a\", 126..=129).varlen",
    "text(\"\\x01\", 254..=258).varlen",
    "text(\"\\x01\", 0..=300).len16",
    "text(\"a\", 95..=99)",
    "text(\"\\x00\", 0..=260).len16",
    "text(\"\\x01\", 126..=130)",
    "text(\"\\x00\", 250..=260)",
    "text(\"\\x00\", 0..=258).len8",
    "text(\"\\x7f\", 120..=130).varlen",
    "text(\"\\x01\", 0..=258).len32",
    "text(\"\\x01\", 0..=258).len64le",
    "text(\"\\x00\\x01\", 0..=3).len16",
    "u8(126..=129)",
    "u16(254..=257)",
    "text(\"\\x01\", 255..=257).desc",
    "text(\"\\x00\", 254..=257).len16.desc",
    "text(\"\\x00\", 0..=9).memcmp",
    "text(\"\\x00\", 0..=17).memcmp",
    "text(\"\\x01\", 7..=9).memcmp",
];

const FRAMES: &[&str] =
    &["len8", "len16", "len32", "len64", "len64le", "varlen", "terminated", "escaped", "memcmp", "desc"];

fn domain(random: &mut Random, depth: usize) -> String {
    let inner = match random.below(if depth == 0 { 10 } else { 17 }) {
        8 if random.chance(50) => random.pick(WIDE).to_owned(),
        0..=9 => random.pick(LEAVES).to_owned(),
        10 | 11 => format!("option({})", domain(random, depth - 1)),
        12 | 13 => {
            let item = domain(random, depth - 1);
            let counts = random.pick(&["0..=2", "1..=2", "2", "0..=1", "0 | 2", "1.."]);
            let framing =
                random.pick(&["", ".joined(\"/\")", ".joined(\"a\")", ".count8", ".varcount", ".count16"]);
            format!("list({item}, {counts}){framing}")
        }
        14 => {
            let (a, b) = (parts(random, depth - 1, 2, "x"), parts(random, depth - 1, 2, "x"));
            let c = random.pick(LITERALS);
            match random.below(3) {
                0 => format!("(p: {a} | q: {b})"),
                1 => format!("(p: {a} | q: {b} | r: {c})"),
                _ => format!("(p: {c} | q: {})", random.pick(LITERALS)),
            }
        }
        _ => format!("({})", parts(random, depth - 1, 2, "x")),
    };
    match random.below(10) {
        0..=2 => format!("{inner}.{}", random.pick(FRAMES)),
        3 if random.chance(30) => format!("{inner}.{}.{}", random.pick(FRAMES), random.pick(FRAMES)),
        _ => inner,
    }
}

/// One to `most` parts, at least one of them an argument.
fn parts(random: &mut Random, depth: usize, most: usize, name: &str) -> String {
    let mut text = String::new();
    let count = 1 + random.below(most);
    for index in 0..count {
        if random.chance(30) {
            let _ = write!(text, "{} ", random.pick(LITERALS));
        }
        let _ = write!(text, "{name}{index}: {} ", domain(random, depth));
        if index > 0 && random.chance(4) {
            let _ = write!(text, "same({name}0) ");
        }
        if index == 0 && random.chance(3) {
            let _ = write!(text, "d = crc16({name}0) % 3 as u8 ");
        }
    }
    if random.chance(15) {
        let _ = write!(text, "{} ", random.pick(LITERALS));
    }
    text.trim_end().to_owned()
}

fn long_parts(random: &mut Random) -> String {
    let mut text = String::new();
    for index in 0..=random.below(2) {
        if random.chance(40) {
            let _ = write!(
                text,
                "{} ",
                random.pick(&["0x01", "0x00", "\"a\"", "0x0101", "0x7f", "0xff", "0x80"])
            );
        }
        let _ = write!(text, "a{index}: {} ", random.pick(LONG));
    }
    if random.chance(20) {
        let _ = write!(text, "{} ", random.pick(&["0x01", "0x00", "\"a\""]));
    }
    text.trim_end().to_owned()
}

/// A body with the domain of one argument replaced.
fn varied(random: &mut Random, body: &str) -> String {
    let count = (0..9).take_while(|index| body.contains(&format!("a{index}: "))).count();
    let chosen = random.below(count);
    let rows = keyplan_rows(body);
    let mut text = String::new();
    for part in rows {
        if part.starts_with(&format!("a{chosen}: ")) {
            let _ = write!(text, "a{chosen}: {} ", domain(random, 1));
        } else if random.chance(92) || part.starts_with('a') {
            let _ = write!(text, "{part} ");
        }
    }
    text.trim_end().to_owned()
}

/// The parts of a body: split where a part begins outside of every bracket.
fn keyplan_rows(body: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut depth = 0;
    let mut quoted = false;
    for word in body.split(' ') {
        let glued = parts.last().is_some_and(|last: &String| {
            depth > 0
                || quoted
                || last.ends_with(':')
                || last.ends_with('=')
                || last.ends_with('%')
                || last.ends_with(" as")
                || word == "="
                || word == "%"
                || word == "as"
        });
        for c in word.chars() {
            match c {
                '"' => quoted = !quoted,
                '(' if !quoted => depth += 1,
                ')' if !quoted => depth -= 1,
                _ => {}
            }
        }
        match parts.last_mut() {
            Some(last) if glued => {
                last.push(' ');
                last.push_str(word);
            }
            _ => parts.push(word.to_owned()),
        }
    }
    parts
}

fn plan_text(random: &mut Random) -> String {
    let mut text = "plan p; space s {\n".to_owned();
    let long = random.chance(12);
    let first = random.pick(&["", "", "0x01 ", "\"a\" ", "0x00 "]);
    let mut bodies: Vec<String> = Vec::new();
    for family in 0..2 {
        let body = match bodies.first() {
            // A second family like the first, but for one part: they meet more often.
            Some(first) if random.chance(40) => varied(random, first),
            _ if long => long_parts(random),
            _ => parts(random, 2, 3, "a"),
        };
        bodies.push(body.clone());
        let _ = write!(text, "  key k{family} = {first}{body}");
        let arguments = (0..9).take_while(|index| body.contains(&format!("a{index}: "))).count();
        for bound in 0..=arguments {
            if random.chance(45) {
                let names: Vec<String> = (0..bound).map(|index| format!("a{index}")).collect();
                let by = if bound == 0 { "all".to_owned() } else { format!("by {}", names.join(", ")) };
                let order = if random.chance(60) { " in order" } else { "" };
                let _ = write!(text, "\n    scan {by}{order}");
            }
        }
        text.push_str(";\n");
    }
    text.push('}');
    text
}

/// Values of a shape, and whether they are all.
#[expect(clippy::too_many_lines, reason = "a table over the shapes")]
fn values(shape: &Shape) -> (Vec<Value>, bool) {
    match shape {
        Shape::Int(int) => match int.range {
            IntRange::Unsigned { min, max } if max - min <= 256 => {
                ((min..=max).map(Value::Unsigned).collect(), true)
            }
            IntRange::Unsigned { max, .. } => {
                let edges = [0u128, 1, 9, 10, 97, 127, 128, 255, 256, 257, 12_336, 65_535, 65_536];
                (edges.into_iter().filter(|n| *n <= max).map(Value::Unsigned).collect(), false)
            }
            IntRange::Signed { min, max } if max - min <= 256 => {
                ((min..=max).map(Value::Signed).collect(), true)
            }
            IntRange::Signed { .. } => ([-256, -2, -1, 0, 1, 2, 255, 256].map(Value::Signed).to_vec(), false),
        },
        Shape::Bool(_) => (vec![Value::Bool(false), Value::Bool(true)], true),
        Shape::Float(_) => ([0.0, 1.0, -1.0, 0.25, -2.5, 1e300].map(Value::Float).to_vec(), false),
        Shape::Time(_) => ([0, 1, -1, 1_700_000_000_000_000_000].map(Value::Time).to_vec(), false),
        Shape::Score(_) => {
            let confirmed = |height, index| Value::Score(Score::Confirmed { height, index });
            let pending = |seconds, nanos| Value::Score(Score::Unconfirmed { seconds, nanos });
            (vec![confirmed(1, 0), confirmed(1, 1), confirmed(2, 0), pending(0, 0), pending(1, 5)], false)
        }
        Shape::Bytes { lengths, encoding } => {
            let few: &[u8] = if matches!(encoding, BytesEncoding::Bech32(_)) {
                &[0, 97]
            } else {
                &[0, 1, 48, 97, 128, 255]
            };
            (strings(lengths, few, few, 2).into_iter().map(Value::Bytes).collect(), false)
        }
        Shape::Text(text) => {
            let letters: Vec<u8> = (0..128).filter(|&byte| text.alphabet.contains(byte)).collect();
            let first: Vec<u8> = (0..128)
                .filter(|&byte| {
                    text.first.as_ref().map_or(text.alphabet.contains(byte), |first| first.contains(byte))
                })
                .collect();
            let few = |letters: &[u8]| -> Vec<u8> {
                if letters.len() <= 4 {
                    letters.to_vec()
                } else {
                    letters.iter().copied().filter(|byte| b"\x00a/1".contains(byte)).collect()
                }
            };
            let most = text.lengths.max().unwrap_or(2);
            let complete = letters.len() <= 4
                && first.len() <= 4
                && (most <= 3 || letters.len() == 1)
                && text.lengths.max().is_some();
            let list = strings(&text.lengths, &few(&first), &few(&letters), if complete { most } else { 2 });
            let mut list: Vec<Value> =
                list.into_iter().map(|bytes| Value::Text(String::from_utf8(bytes).unwrap())).collect();
            if text.alphabet.beyond_ascii() {
                list.extend(
                    ["é", "aé"].iter().filter(|t| text.admits(t)).map(|t| Value::Text((*t).to_owned())),
                );
            }
            (list, complete)
        }
        Shape::Nibbles { lengths, encoding } => {
            let all: Vec<u8> = (0..16).collect();
            let complete = lengths.max().is_some_and(|max| max <= 1);
            let few = if complete { all } else { vec![0, 1, 2, 6, 15] };
            let list = strings(lengths, &few, &few, 2);
            let even = |n: &Vec<u8>| *encoding != NibbleEncoding::Packed || n.len().is_multiple_of(2);
            (list.into_iter().filter(even).map(Value::Nibbles).collect(), complete)
        }
        Shape::Opaque(_) => {
            (vec![Value::Bytes(vec![]), Value::Bytes(vec![0]), Value::Bytes(vec![97, 1])], false)
        }
        Shape::Record(sequence) => {
            let (rows, complete) = rows(sequence, 60);
            (rows.into_iter().map(Value::Record).collect(), complete)
        }
        Shape::Choice(alternatives) => {
            let mut all = Vec::new();
            let mut complete = true;
            for (index, alternative) in alternatives.iter().enumerate() {
                let (rows, whole) = rows(&alternative.sequence, 60);
                complete &= whole;
                all.extend(rows.into_iter().map(|row| Value::Choice(index, row)));
            }
            (all, complete)
        }
        Shape::Option(inner) => {
            let (inner, complete) = values(inner);
            let some = inner.into_iter().map(|value| Value::Option(Some(Box::new(value))));
            (std::iter::once(Value::Option(None)).chain(some).collect(), complete)
        }
        Shape::List { item, counts, .. } => {
            let (items, mut complete) = values(item);
            let most = counts.max().unwrap_or(2).min(2);
            complete &= counts.max() == Some(most);
            let mut all = Vec::new();
            for count in (0..=most).filter(|&count| counts.admits(count)) {
                let mut lists: Vec<Vec<Value>> = vec![Vec::new()];
                for _ in 0..count {
                    lists = lists
                        .iter()
                        .flat_map(|list| {
                            items.iter().map(move |item| [list.clone(), vec![item.clone()]].concat())
                        })
                        .take(400)
                        .collect();
                    complete &= lists.len() < 400;
                }
                all.extend(lists.into_iter().map(Value::List));
            }
            (all, complete)
        }
        Shape::Framed { inner, .. } | Shape::Desc(inner) | Shape::HashConcat { inner, .. } => values(inner),
        Shape::Hashed { inner, .. } => (values(inner).0, false),
    }
}

fn strings(lengths: &LengthSet, first: &[u8], rest: &[u8], most: usize) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let least = lengths.min();
    for length in (least..=most.max(least)).filter(|&length| lengths.admits(length)) {
        let mut list: Vec<Vec<u8>> = vec![Vec::new()];
        for index in 0..length {
            let letters = if index == 0 { first } else { rest };
            list = list
                .iter()
                .flat_map(|text| letters.iter().map(move |&letter| [text.as_slice(), &[letter]].concat()))
                .take(300)
                .collect();
        }
        all.extend(list);
    }
    all
}

fn rows(sequence: &Sequence, most: usize) -> (Vec<Vec<Value>>, bool) {
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    let mut complete = true;
    for argument in sequence.arguments() {
        let (values, whole) = values(&argument.shape);
        complete &= whole;
        let wanted = all.len() * values.len();
        // Spread what is left out, so that the kept ones are not all alike.
        let step = wanted.div_ceil(most.max(1)).max(1);
        complete &= step == 1;
        let row = |index: usize| {
            let mut row = all[index / values.len()].clone();
            row.push(values[index % values.len()].clone());
            row
        };
        all = (0..wanted).step_by(step).map(row).collect();
    }
    (all, complete)
}

/// Logical order, written apart from the prover's.
fn logical(shape: &Shape, a: &Value, b: &Value) -> Option<Ordering> {
    Some(match (shape, a, b) {
        (Shape::Desc(inner), ..) => logical(inner, a, b)?.reverse(),
        (Shape::Framed { inner, .. } | Shape::Hashed { inner, .. } | Shape::HashConcat { inner, .. }, ..) => {
            logical(inner, a, b)?
        }
        (Shape::Record(sequence), Value::Record(a), Value::Record(b)) => logical_rows(sequence, 0, a, b)?,
        (Shape::Choice(list), Value::Choice(i, a), Value::Choice(j, b)) => {
            if i == j {
                logical_rows(&list[*i].sequence, 0, a, b)?
            } else {
                i.cmp(j)
            }
        }
        (Shape::Option(inner), Value::Option(a), Value::Option(b)) => match (a, b) {
            (Some(a), Some(b)) => logical(inner, a, b)?,
            _ => a.is_some().cmp(&b.is_some()),
        },
        (Shape::List { item, .. }, Value::List(a), Value::List(b)) => {
            for (x, y) in a.iter().zip(b) {
                let order = logical(item, x, y)?;
                if order.is_ne() {
                    return Some(order);
                }
            }
            a.len().cmp(&b.len())
        }
        (_, Value::Unsigned(a), Value::Unsigned(b)) => a.cmp(b),
        (_, Value::Signed(a), Value::Signed(b)) | (_, Value::Time(a), Value::Time(b)) => a.cmp(b),
        (_, Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (_, Value::Float(a), Value::Float(b)) => a.partial_cmp(b)?,
        (_, Value::Bytes(a) | Value::Nibbles(a), Value::Bytes(b) | Value::Nibbles(b)) => a.cmp(b),
        (_, Value::Text(a), Value::Text(b)) => a.cmp(b),
        (_, Value::Score(a), Value::Score(b)) => a.cmp(b),
        _ => return None,
    })
}

fn logical_rows(sequence: &Sequence, from: usize, a: &[Value], b: &[Value]) -> Option<Ordering> {
    for (argument, (x, y)) in sequence.arguments().zip(a.iter().zip(b)).skip(from) {
        let order = logical(&argument.shape, x, y)?;
        if order.is_ne() {
            return Some(order);
        }
    }
    Some(Ordering::Equal)
}

/// A key and its arguments.
type Row = (Vec<u8>, Vec<Value>);

/// A family with its keys.
struct Listed<'p> {
    family: &'p Family,
    keys: Vec<Row>,
    complete: bool,
}

fn list(family: &Family) -> Listed<'_> {
    let (rows, complete) = rows(&family.key, MOST_KEYS);
    let mut keys: Vec<Row> = rows
        .into_iter()
        .filter_map(|row| {
            let mut key = Vec::new();
            encode(&family.key, &row, &mut key).ok().map(|()| (key, row))
        })
        .collect();
    keys.sort_by(|a, b| a.0.cmp(&b.0));
    Listed { family, keys, complete }
}

/// What enumeration says of a statement: the length of the shortest counterexample, if there is one.
fn enumerate(statement: &Statement, all: &[Listed<'_>]) -> (Option<usize>, bool) {
    let find = |path: &str| all.iter().find(|listed| listed.family.path == path).unwrap();
    let own = find(&statement.family);
    let complete = all.iter().all(|listed| listed.complete);
    let shortest = match statement.guarantee {
        Guarantee::Disjoint => {
            // Without another family the statement is about all of them.
            let others = all.iter().filter(|listed| match &statement.other {
                Some(other) => listed.family.path == *other,
                None => listed.family.path != statement.family,
            });
            let keys: BTreeSet<&[u8]> = own.keys.iter().map(|(key, _)| key.as_slice()).collect();
            others
                .flat_map(|other| &other.keys)
                .map(|(key, _)| key)
                .filter(|key| keys.contains(key.as_slice()))
                .map(Vec::len)
                .min()
        }
        Guarantee::Unambiguous => own
            .keys
            .windows(2)
            .filter(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1)
            .map(|pair| pair[0].0.len())
            .min(),
        Guarantee::NoForeignRows => {
            let others = all.iter().filter(|listed| listed.family.path != statement.family);
            leaks(
                own,
                statement.scan.unwrap(),
                &others.flat_map(|other| &other.keys).collect::<Vec<_>>(),
                false,
            )
        }
        Guarantee::NoSiblingRows => {
            leaks(own, statement.scan.unwrap(), &own.keys.iter().collect::<Vec<_>>(), true)
        }
        Guarantee::InOrder => disorder(own, statement.scan.unwrap()),
        _ => return (None, false),
    };
    (shortest, complete)
}

/// The shortest row that a scan returns though it should not.
fn leaks(own: &Listed<'_>, bound: usize, rows: &[&Row], siblings: bool) -> Option<usize> {
    let mut rows = rows.to_vec();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    let segments = own.family.key.scanned_segments(bound);
    let mut prefixes: Vec<(Vec<u8>, &[Value])> = Vec::new();
    for (_, values) in &own.keys {
        let bound = &values[..bound];
        let mut bytes = Vec::new();
        prefix(&own.family.key, segments, bound, &mut bytes).unwrap();
        prefixes.push((bytes, bound));
    }
    prefixes.sort_by(|a, b| a.0.cmp(&b.0));
    prefixes.dedup();
    let mut best = None;
    for (prefix, bound) in prefixes {
        let from = rows.partition_point(|(key, _)| key.as_slice() < prefix.as_slice());
        for (key, values) in rows[from..].iter().take_while(|(key, _)| key.starts_with(&prefix)) {
            if !siblings || !values.starts_with(bound) {
                best = best.min(Some(key.len())).or(Some(key.len()));
            }
        }
    }
    best
}

/// The shortest of the longer keys of two rows in the wrong order, or of a row beyond the end of a range.
fn disorder(own: &Listed<'_>, bound: usize) -> Option<usize> {
    let key = &own.family.key;
    let segments = key.scanned_segments(bound);
    let mut groups: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in &own.keys {
        groups.entry(format!("{:?}", &row.1[..bound])).or_default().push(row);
    }
    let next = match key.segments().get(segments) {
        Some(Segment::Argument(argument)) => Some(argument),
        _ => None,
    };
    let mut best: Option<usize> = None;
    let mut keep = |length: usize| best = Some(best.map_or(length, |best| best.min(length)));
    for rows in groups.values() {
        for (index, (a, x)) in rows.iter().enumerate() {
            for (b, y) in rows.iter().skip(index + 1).take(48) {
                if logical_rows(key, bound, x, y) == Some(Ordering::Greater) && a < b {
                    keep(a.len().max(b.len()));
                }
            }
        }
        let Some(argument) = next else { continue };
        for (_, x) in rows.iter().step_by(1 + rows.len() / 40) {
            let mut end = Vec::new();
            prefix(key, segments + 1, &x[..=bound], &mut end).unwrap();
            for (b, y) in rows.iter().step_by(1 + rows.len() / 120) {
                let Some(order) = logical(&argument.shape, &y[bound], &x[bound]) else { continue };
                if (order != Ordering::Less) != (*b >= end) {
                    keep(b.len().max(end.len()));
                }
            }
        }
    }
    best
}

fn check_side(plan: &Plan, side: &Side, segments: Option<usize>) {
    let (_, family) = plan.find(&side.family)[0];
    let mut bytes = Vec::new();
    match segments {
        Some(segments) => prefix(&family.key, segments, &side.values, &mut bytes).unwrap(),
        None => encode(&family.key, &side.values, &mut bytes).unwrap(),
    }
    assert_eq!(bytes, side.bytes);
}

/// Every witness must encode to what it says, and show what it says.
fn check_witness(plan: &Plan, statement: &Statement, witness: &Witness) {
    let (_, family) = plan.find(&statement.family)[0];
    let segments = statement.scan.map(|bound| family.key.scanned_segments(bound));
    match witness {
        Witness::SameKey { first, second } => {
            check_side(plan, first, None);
            check_side(plan, second, None);
            assert_eq!(first.bytes, second.bytes);
            assert!(first.family != second.family || format!("{first:?}") != format!("{second:?}"));
        }
        Witness::Row { scan, row } => {
            check_side(plan, scan, segments);
            check_side(plan, row, None);
            assert!(row.bytes.starts_with(&scan.bytes));
            assert!(row.family != scan.family || !row.values.starts_with(&scan.values));
        }
        Witness::Disorder { first, second } => {
            check_side(plan, first, None);
            check_side(plan, second, None);
            assert!(first.bytes > second.bytes);
            let order = logical_rows(&family.key, statement.scan.unwrap(), &first.values, &second.values);
            assert_eq!(order, Some(Ordering::Less));
        }
        Witness::RangeEnd { end, row } => {
            check_side(plan, end, segments.map(|segments| segments + 1));
            check_side(plan, row, None);
        }
        Witness::TooLong { key, limit } => {
            check_side(plan, key, None);
            assert!(key.bytes.len() > *limit);
        }
        other => panic!("{other:?}"),
    }
}

#[derive(Default)]
struct Tally {
    verdicts: BTreeMap<(Guarantee, &'static str), usize>,
    exact: usize,
    shortest: usize,
    checked: usize,
    reasons: BTreeMap<String, usize>,
}

fn check_plan(text: &str, plan: &Plan, report: &Report, tally: &mut Tally) {
    let space = &plan.spaces[0];
    let listed: Vec<Listed<'_>> = space.families.iter().map(list).collect();
    for statement in &report.statements {
        let name = match &statement.verdict {
            Verdict::Holds => "holds",
            Verdict::Assumed(_) => "assumed",
            Verdict::Fails(_) => "fails",
            Verdict::Unknown(_) => "unknown",
        };
        *tally.verdicts.entry((statement.guarantee, name)).or_default() += 1;
        if let Verdict::Fails(witness) = &statement.verdict {
            check_witness(plan, statement, witness);
        }
        if let Verdict::Unknown(reason) = &statement.verdict {
            if std::env::var("SHOW_UNKNOWN").is_ok_and(|code| code == statement.guarantee.code()) {
                println!("unknown: {} {:?} {reason}\n{text}", statement.family, statement.scan);
            }
            *tally.reasons.entry(format!("{:?} {reason}", statement.guarantee)).or_default() += 1;
        }
        if matches!(
            statement.guarantee,
            Guarantee::DistinctNames | Guarantee::Lossless | Guarantee::Fits | Guarantee::Allotted
        ) {
            continue;
        }
        tally.checked += 1;
        let (found, complete) = enumerate(statement, &listed);
        match (&statement.verdict, found) {
            (Verdict::Holds, Some(length)) => {
                panic!("said to hold, but broken by a key of {length} bytes\n{statement:#?}\n{text}");
            }
            (Verdict::Fails(witness), None) if complete && statement.other.is_none() => {
                panic!("nothing found by enumeration\n{statement:#?}\n{witness:?}\n{text}");
            }
            (Verdict::Fails(witness), Some(length)) => {
                tally.exact += 1;
                tally.shortest += usize::from(witness.length() <= length);
            }
            _ => {}
        }
    }
}

#[test]
fn verdicts_agree_with_enumeration() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
    };
    let count = number("KEYPLAN_BRUTE_FORCE", 2_000);
    let seed = number("KEYPLAN_BRUTE_FORCE_SEED", 1);
    let mut tally = Tally::default();
    let mut plans = 0;
    let mut at = seed << 32;
    while plans < count {
        at += 1;
        let mut random = Random(at);
        let text = plan_text(&mut random);
        let compiled = keyplan_plan::compile("p.keyplan", &text, |_| Err("none".to_owned()));
        let Some(plan) = compiled.plan else {
            assert!(
                compiled.errors().all(|error| error.code.id() == "KP0210"),
                "{text}\n{:?}",
                compiled.diagnostics
            );
            continue;
        };
        plans += 1;
        if let Ok(path) = std::env::var("LAST_PLAN") {
            std::fs::write(path, &text).unwrap();
        }
        let started = std::time::Instant::now();
        let report = prove(&plan, &Options::default());
        if started.elapsed().as_millis() > 150 {
            println!("slow: {:?} {text}", started.elapsed());
        }
        check_plan(&text, &plan, &report, &mut tally);
    }
    println!("{plans} plans, {} statements checked", tally.checked);
    println!("{} refutations seen by enumeration, {} of them as short", tally.exact, tally.shortest);
    for ((guarantee, verdict), count) in &tally.verdicts {
        println!("{:8} {:8} {count}", guarantee.code(), verdict);
    }
    for (reason, count) in &tally.reasons {
        println!("{count:6} {reason}");
    }
    for guarantee in [
        Guarantee::Disjoint,
        Guarantee::Unambiguous,
        Guarantee::NoForeignRows,
        Guarantee::NoSiblingRows,
        Guarantee::InOrder,
    ] {
        for verdict in ["holds", "fails"] {
            let count = tally.verdicts.get(&(guarantee, verdict)).copied().unwrap_or(0);
            assert!(count as u64 > plans / 100, "{guarantee:?} {verdict} was reached {count} times only");
        }
    }
}

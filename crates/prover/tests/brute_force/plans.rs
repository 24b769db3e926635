//! Random plans.

use std::fmt::Write as _;

pub(crate) use keyplan_testkit::Random;

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
    "u8(62..=65).scale_compact",
    "u16(16382..=16385).scale_compact",
    "u32(1073741822..=1073741825).scale_compact",
    "u8(0..=2).scale_compact",
    "i8(-66..=-63).orderedcode",
    "i8(-2..=2).orderedcode",
    "i16(62..=65).orderedcode",
    "i16(-8194..=-8191).orderedcode",
    "u16(254..=257).orderedcode",
    "u8(0..=2).orderedcode",
    "u24(254..=257)",
    "u24(0..=2).le",
    "u40(254..=257).dec",
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
    "u16(254..=257).low(1)",
    "u16(0..=2).low(1)",
    "u24(65534..=65537).low(2)",
    "u32(510..=513).low(1)",
    "u16(254..=257).high(1)",
    "u24(254..=257).high(2)",
    "u16(48..=50).high(1)",
    "u8(0..=3).float",
    "u16(254..=257).float",
    "u64(9007199254740990..=9007199254740994).float",
    "i8(-2..=2).float",
    "i16(1..=3).float",
    "i64(-2..=1).tick9",
    "i16(-2..=1).le",
    "i8(-3..=-1)",
    "u8(0..=250).dec",
    "u8(48..=51)",
    "u8(97..=98)",
    "bool",
    "bool.tuple",
    "text(\"ab\", 0..=2)",
    "bytes(\"\\\\x00\\\\xff\", 0..=2)",
    "bytes(\"\\\\xfe-\\\\xff\", 1..=2)",
    "bytes(\"a/\", 0..=2)",
    "bytes(\"\\x01\", 0..=3)",
    "text(\"ab\", 1..=2)",
    "text(\"a\", 0..=3)",
    "text(\"01\", 1..=2)",
    "text(\"a/\", 0..=2)",
    "text(\"ab\", 0..=2).except(\"a\")",
    "text(\"ab\", 0..=2).except(\"\", \"ab\", \"ba\")",
    "text(\"a\", \"a0\", 0..=2).except(\"a0\")",
    "text(\"\\x00a\", 0..=2).except(\"a\").tuple",
    "text(\"01\", 1..=2).except(\"0\", \"1\")",
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
    "nibbles(0..=1).counted",
    "nibbles(0 | 2).counted",
    "text(\"\\x00\\x01\", 0..=2).orderedcode",
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
    "bytes(\"\\\\x01-\\\\xff\")",
    "bytes(\"^/\", 1..=9)",
    "bytes(0..=1).hex",
    "bytes(1).HEX",
    "bytes.hex",
    "bytes(0..=2).fit(1)",
    "bytes(1).fit(2)",
    "bytes(0..=1).tuple",
    "bytes.tuple",
    "bytes(0..=1).bech32(\"a\")",
    "bytes(0..=2).base58",
    "bytes(0..=1).base58check",
    "u256",
    "u256.le",
    "i256",
    "i256.signflip",
    "text",
    "text(1..)",
    "text(0..=2)",
    "text(\"^/\", 1..)",
    "text(\"^/\", 1..).except(\"a\")",
    "text(\"a-z\").except(\"a\", \"ab\")",
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
    "u64.low(3)",
    "u64.high(2)",
    "u64.float",
    "u64.ordvar",
    "u64.bitcoin_varint",
    "u64.compact_size",
    "u64.scale_compact",
    "u128.scale_compact",
    "i64.orderedcode",
    "u64.orderedcode",
    "u24",
    "u40.le",
    "u56.leb128",
    "bytes.orderedcode",
    "bytes(0..=2).orderedcode",
    "nibbles.counted",
    "nibbles(0..=9).counted",
    "u8.hashed(keccak256, 4)",
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
    "score(3..=9)",
    "score(1..=8388607).height_score",
    "score(8388608..=8388609).height_score",
    "u32.dec(10)",
    "text(\"ab\", 1..).hashed(xxh3_64)",
    "u8.hashed(sha256, 8)",
    "u8.hashed(twox_128)",
    "u8.hashed(blake2b_128, 16)",
    "u8.hashed(blake2b_256, 9)",
    "u8.hashed(blake2b_224)",
    "u8.hashed(hash160)",
    "u8(0..=3).hash_concat(siphash_24)",
    "u8(0..=3).hash_concat(hash160, 2)",
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
    "text(\"\\x01\", 250..=258).compactlen",
    "text(\"\\x00\", 0..=260).compactlen",
    "text(\"\\x01\", 60..=68).scalelen",
    "text(\"\\x00\", 0..=260).scalelen",
    "text(\"a\", 250..=258).compactlen",
    "text(\"\\x05\", 60..=70).scalelen.desc",
    "text(\"\\x01\", 254..=258).len16le",
    "text(\"\\x00\", 0..=260).len32le",
    "text(\"\\x00\\x01\", 0..=3).len16",
    "u8(126..=129)",
    "u16(254..=257)",
    "text(\"\\x01\", 255..=257).desc",
    "text(\"\\x00\", 254..=257).len16.desc",
    "text(\"\\x00\", 0..=9).memcmp",
    "text(\"\\x00\", 0..=17).memcmp",
    "text(\"\\x01\", 7..=9).memcmp",
];

/// Stands for a count of four or eight bytes, one of its forms.
const WIDE_COUNT: &str = ".count";

/// What derived parts are derived by.
const FUNCTIONS: &[&str] = &["crc16", "crc16", "crc32", "xxh3_64", "twox_64"];

/// How the number of a derived part is reduced and written.
const NUMBERS: &[&str] = &[
    "% 3 as u8",
    "% 3 as u8",
    "% 300 as u16.le",
    "% 2 as u32",
    "% 200 as u8.leb128",
    "% 300 as u16.ordvar",
    "",
];

const FRAMES: &[&str] = &[
    "len8",
    "len16",
    "len32",
    "len64",
    "len16le",
    "len32le",
    "len64le",
    "varlen",
    "compactlen",
    "scalelen",
    "orderedcode",
    "terminated",
    "escaped",
    "memcmp",
    "desc",
];

/// What may stand around anything as a hash of it.
const HASHES: &[&str] = &[
    "hashed(xxh3_64)",
    "hashed(sha256, 8)",
    "hashed(twox_64)",
    "hash_concat(twox_64)",
    "hash_concat(blake2b_128, 2)",
];

fn domain(random: &mut Random, depth: usize) -> String {
    let inner = match random.index(if depth == 0 { 10 } else { 17 }) {
        8 if random.chance(50) => random.choose(WIDE).to_owned(),
        0..=9 => random.choose(LEAVES).to_owned(),
        10 | 11 => format!("option({})", domain(random, depth - 1)),
        12 | 13 => {
            let item = domain(random, depth - 1);
            let counts = random.choose(&["0..=2", "1..=2", "2", "0..=1", "0 | 2", "1.."]);
            let framing = random.choose(&[
                "",
                ".joined(\"/\")",
                ".joined(\"a\")",
                ".count8",
                ".varcount",
                ".count16",
                ".scalecount",
                ".compactcount",
                ".count16le",
                WIDE_COUNT,
            ]);
            let framing = if framing == WIDE_COUNT {
                random.choose(&[".count32", ".count32le", ".count64", ".count64le"])
            } else {
                framing
            };
            format!("list({item}, {counts}){framing}")
        }
        14 => {
            let (a, b) = (parts(random, depth - 1, 2, "x"), parts(random, depth - 1, 2, "x"));
            let c = random.choose(LITERALS);
            match random.index(4) {
                3 => format!("(p: {} | q: {b})", random.choose(LEAVES)),
                0 => format!("(p: {a} | q: {b})"),
                1 => format!("(p: {a} | q: {b} | r: {c})"),
                _ => format!("(p: {c} | q: {})", random.choose(LITERALS)),
            }
        }
        _ => format!("({})", parts(random, depth - 1, 2, "x")),
    };
    match random.index(10) {
        0..=2 => format!("{inner}.{}", random.choose(FRAMES)),
        3 if random.chance(30) => format!("{inner}.{}.{}", random.choose(FRAMES), random.choose(FRAMES)),
        4 if random.chance(2) => format!("{inner}.{}", random.choose(HASHES)),
        _ => inner,
    }
}

/// Whether a domain is an integer of a range in its default encoding, which a copy may write as text.
fn is_plain_integer(domain: &str) -> bool {
    domain.starts_with(['u', 'i']) && domain.ends_with(')') && !domain.replace("..", "").contains('.')
}

/// One to `most` parts, at least one of them an argument.
fn parts(random: &mut Random, depth: usize, most: usize, name: &str) -> String {
    let (mut text, mut first) = (String::new(), String::new());
    let count = 1 + random.index(most);
    for index in 0..count {
        if random.chance(30) {
            let _ = write!(text, "{} ", random.choose(LITERALS));
        }
        let of = domain(random, depth);
        let _ = write!(text, "{name}{index}: {of} ");
        if index == 0 {
            first = of;
        }
        if index > 0 && random.chance(4) {
            let other = if is_plain_integer(&first) && random.chance(50) { ".dec" } else { "" };
            let _ = write!(text, "same({name}0){other} ");
        }
        if index == 0 && random.chance(3) {
            let _ = write!(text, "d = {}({name}0) {} ", random.choose(FUNCTIONS), random.choose(NUMBERS));
        } else if index == 1 && random.chance(2) {
            let _ = write!(
                text,
                "d1 = {}({name}0, {name}1) {} ",
                random.choose(FUNCTIONS),
                random.choose(NUMBERS)
            );
        }
    }
    if random.chance(15) {
        let _ = write!(text, "{} ", random.choose(LITERALS));
    }
    text.trim_end().to_owned()
}

fn long_parts(random: &mut Random) -> String {
    let mut text = String::new();
    for index in 0..=random.index(2) {
        if random.chance(40) {
            let _ = write!(
                text,
                "{} ",
                random.choose(&["0x01", "0x00", "\"a\"", "0x0101", "0x7f", "0xff", "0x80"])
            );
        }
        let _ = write!(text, "a{index}: {} ", random.choose(LONG));
    }
    if random.chance(20) {
        let _ = write!(text, "{} ", random.choose(&["0x01", "0x00", "\"a\""]));
    }
    text.trim_end().to_owned()
}

/// A body with the domain of one argument replaced.
fn varied(random: &mut Random, body: &str) -> String {
    let count = (0..9).take_while(|index| body.contains(&format!("a{index}: "))).count();
    let chosen = random.index(count);
    let rows = keyplan_rows(body);
    let mut text = String::new();
    for part in rows {
        if part.starts_with(&format!("a{chosen}: ")) {
            let _ = write!(text, "a{chosen}: {} ", domain(random, 1));
        } else if random.chance(92) || part.starts_with('a') {
            let _ = write!(text, "{part} ");
        }
    }
    // The new domain may be none that is written as text.
    text.trim_end().replace(&format!("same(a{chosen}).dec"), &format!("same(a{chosen})"))
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

/// The text of a plan. Now and then it has no meaning, such as an argument without an end before another.
pub(crate) fn plan_text(random: &mut Random) -> String {
    match random.index(40) {
        0 => module_text(random),
        1 => names_text(random),
        _ => space_text(random),
    }
}

/// A module with allotments: families in place, out of place, on a number that is taken or retired.
fn module_text(random: &mut Random) -> String {
    let mut text = "plan p; space s {\n  module m = 0x02 {\n".to_owned();
    text.push_str("    allot 0x01..=0x0f core; allot 0x10..=0x1f more;\n");
    if random.chance(50) {
        let _ =
            writeln!(text, "    retired {} \"old\";", random.choose(&["0x05", "0x15", "0x0501", "0x0203"]));
    }
    for family in 0..2 {
        let number = random.choose(&["0x01", "0x02", "0x05", "0x10", "0x15", "0x20"]);
        let allot = random.choose(&["core", "more"]);
        let body = parts(random, 1, 2, "a");
        let _ = writeln!(text, "    key k{family} = {number} {body} allot {allot};");
    }
    text.push_str("  }\n");
    if random.chance(60) {
        let front = random.choose(&["0x02", "0x0205", "0x03", ""]);
        let _ = writeln!(text, "  key loose = {front} {};", parts(random, 1, 2, "b"));
    }
    text.push('}');
    text
}

/// Names under a hash of a byte or two: they collide now and then.
fn names_text(random: &mut Random) -> String {
    let mut text = "plan p; names Name = text(\"a-z\", 1..=4) {\n".to_owned();
    for (index, letter) in ('a'..='z').enumerate().take(12 + random.index(14)) {
        let second = char::from(b'a' + u8::try_from(random.index(26)).unwrap());
        let _ = writeln!(text, "  \"{letter}{second}{}\",", if index % 2 == 0 { "x" } else { "" });
    }
    let keep = random.choose(&["1", "1", "2", "8"]);
    let _ = write!(
        text,
        "}}\nspace s {{\n  key k0 = 0x01 a0: Name.hashed(sha256, {keep}) {};\n",
        parts(random, 1, 1, "b")
    );
    let literal = random.choose(&["sha256(\"ab\", 1)", "xxh3_64(\"ab\")", "0x02"]);
    let _ = write!(text, "  key k1 = 0x02 {literal} {};\n}}", parts(random, 1, 1, "a"));
    text
}

fn space_text(random: &mut Random) -> String {
    let mut text = "plan p; space s {\n".to_owned();
    let long = random.chance(12);
    let first = random.choose(&["", "", "0x01 ", "\"a\" ", "0x00 "]);
    let mut bodies: Vec<String> = Vec::new();
    // The second family in a module of its own, so that a scan may want the rows of a module.
    let module = !first.is_empty() && random.chance(4);
    for family in 0..2 {
        let body = match bodies.first() {
            // A second family like the first, but for one part: they meet more often.
            Some(first) if random.chance(40) => varied(random, first),
            _ if long => long_parts(random),
            _ => parts(random, 2, 3, "a"),
        };
        let body = if random.chance(12) { with_part(random, &body) } else { body };
        bodies.push(body.clone());
        if family == 1 && module {
            let _ = writeln!(text, "  module m = {first}{{");
            let _ = write!(text, "  key k1 = {body}");
        } else {
            let _ = write!(text, "  key k{family} = {first}{body}");
        }
        let arguments = (0..9).take_while(|index| body.contains(&format!("a{index}: "))).count();
        for bound in 0..=arguments {
            if body.contains(&format!("part{bound} = ")) && random.chance(80) {
                let before = if bound == 0 { String::new() } else { arguments_of(bound) + ", " };
                let bare = if random.chance(30) { " bare" } else { "" };
                let _ = write!(text, "\n    scan by {before}part{bound}{bare}");
            }
            if random.chance(45) {
                let by = if bound == 0 { "all".to_owned() } else { format!("by {}", arguments_of(bound)) };
                let other = if family == 0 { "k1" } else { "k0" };
                let rest = match random.index(10) {
                    0 if module && family == 0 => " with m".to_owned(),
                    0 => format!(" with {other}"),
                    1 => " filtered".to_owned(),
                    _ => String::new(),
                };
                let order = if random.chance(60) { " in order" } else { "" };
                let _ = write!(text, "\n    scan {by}{rest}{order}");
            } else if random.chance(8) {
                let by = if bound == 0 { "all".to_owned() } else { format!("by {}", arguments_of(bound)) };
                let _ = write!(text, "\n    own {by}");
            }
            if bound > 0 && random.chance(15) {
                let order = if random.chance(40) { " in order" } else { "" };
                let _ = write!(text, "\n    scan by {} bare{order}", arguments_of(bound));
            }
            if random.chance(12) {
                let by = if bound == 0 { "all".to_owned() } else { format!("by {}", arguments_of(bound)) };
                let end = random.choose(&["0xff", "0x80", "\"a\"", "0x00", "0x01ff", "\"9\"", "\"/\""]);
                let (how, bare) = (random.choose(&["to", "through"]), bound > 0 && random.chance(30));
                let words = range_words(random, bare);
                let _ = write!(
                    text,
                    "
    scan {by}{words} {how} {end}"
                );
            }
            if bound > 0 && integer(&body, bound - 1) && random.chance(40) {
                let bare = random.chance(30);
                let words = range_words(random, bare);
                let _ = write!(text, "\n    scan by {}{words} to next", arguments_of(bound));
            }
        }
        text.push_str(";\n");
    }
    if module {
        text.push_str("  }\n");
    }
    text.push('}');
    text
}

/// What is said of a range beside its ends.
fn range_words(random: &mut Random, bare: bool) -> String {
    let filtered = if random.chance(15) { " filtered" } else { "" };
    format!("{}{filtered}", if bare { " bare" } else { "" })
}

/// The same parts with one that is derived from an argument behind it.
fn with_part(random: &mut Random, body: &str) -> String {
    let index = random.index(2);
    let name = format!("a{index}: ");
    let Some((front, rest)) = body.find(&name).map(|at| body.split_at(at)) else { return body.to_owned() };
    // One of them, and among the arguments of the key: not inside of one.
    if body.contains("part") || front.matches('(').count() != front.matches(')').count() {
        return body.to_owned();
    }
    let modulus = 2 + random.index(2);
    let function = random.choose(FUNCTIONS);
    format!("{front}part{index} = {function}(a{index}) % {modulus} as u8 {rest}")
}

fn arguments_of(bound: usize) -> String {
    (0..bound).map(|index| format!("a{index}")).collect::<Vec<_>>().join(", ")
}

/// Whether an argument is an integer by itself.
fn integer(body: &str, index: usize) -> bool {
    let name = format!("a{index}: ");
    let rest = body.split(&name).nth(1).unwrap_or_default();
    let domain = rest.split(' ').next().unwrap_or_default();
    // Those of 256 bits are bytes to the prover, and have no next one.
    if domain.contains("hashed(") || domain.contains("256") {
        return false;
    }
    let mut letters = domain.chars();
    matches!(letters.next(), Some('u' | 'i')) && matches!(letters.next(), Some('1'..='9'))
}

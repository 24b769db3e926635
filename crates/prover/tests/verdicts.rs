//! What is proved and what is refuted, by example.
#![cfg(test)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use keyplan_plan::model::Plan;
use keyplan_prover::{Engine, Guarantee, NumberFault, Options, Side, Verdict, Witness, prove};

fn plan(text: &str) -> Plan {
    let compiled = keyplan_plan::compile("p.keyplan", text, |_| Err("no imports".to_owned()));
    compiled.plan.unwrap_or_else(|| panic!("{text}: {:?}", compiled.diagnostics))
}

fn side(side: &Side) -> String {
    let mut text = String::new();
    for byte in &side.bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The verdicts on one guarantee of a space: `family[/other][@bound]: verdict`.
#[track_caller]
fn check(body: &str, guarantee: Guarantee, expected: &[&str]) {
    let plan = plan(&format!("plan p; space s {{ {body} }}"));
    let report = prove(&plan, &Options::default());
    let found: Vec<String> = report
        .statements
        .iter()
        .filter(|statement| statement.guarantee == guarantee)
        .map(|statement| {
            let mut line = statement.family.clone();
            if let Some(other) = &statement.other {
                let _ = write!(line, "/{other}");
            }
            if let Some(scan) = statement.scan {
                let _ = write!(line, "@{}", scan.bound);
            }
            let verdict = match &statement.verdict {
                Verdict::Holds => "holds".to_owned(),
                Verdict::Assumed(what) => what.to_string(),
                Verdict::Unknown(why) => format!("unknown: {why}"),
                Verdict::Fails(witness) => match &**witness {
                    Witness::SameKey { first, second } => {
                        assert_eq!(first.bytes, second.bytes);
                        side(first)
                    }
                    Witness::Row { scan, row } => format!("{} <- {}", side(scan), side(row)),
                    Witness::Disorder { first, second } => format!("{} > {}", side(first), side(second)),
                    Witness::RangeEnd { end, row } => format!("{} | {}", side(end), side(row)),
                    Witness::TooLong { key, limit } => format!("{} over {limit}", key.bytes.len()),
                    Witness::Number { number, fault, .. } => match fault {
                        NumberFault::Taken { by } => format!("{number} taken by {by}"),
                        NumberFault::Outside { allotment } => format!("{number} outside {allotment}"),
                        NumberFault::Nowhere => format!("{number} outside of all"),
                        NumberFault::Absent => "no number".to_owned(),
                        NumberFault::Retired { key, .. } => format!("{} retired", side(key)),
                    },
                    Witness::Trespass { module, key, .. } => format!("{} in {module}", side(key)),
                    other => format!("{other:?}"),
                },
            };
            format!("{line}: {verdict}")
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn families_meet_where_a_text_may_hold_what_the_other_begins_with() {
    let body =
        r#"key event = "z:" name: text("a-z:", 1..); key spent = "z:" name: text("a-z", 1..) ":spnd";"#;
    check(body, Guarantee::Disjoint, &["s.event/s.spent: 7a3a613a73706e64"]);
    let body = r#"key event = "z:" name: text("a-z", 1..); key spent = "z:" name: text("a-z", 1..) ":spnd";"#;
    check(body, Guarantee::Disjoint, &["s.event: holds", "s.spent: holds"]);
}

/// Texts that begin alike end alike only if what follows cannot go on with them.
#[test]
fn families_part_behind_a_text_that_both_must_end() {
    let pair = |a: &str, b: &str| format!(r#"key k = "z" t: text({a}) ":1"; key l = "z" t: text({b}) ":2";"#);
    check(&pair(r#""a-z", 1.."#, r#""a-z", 1.."#), Guarantee::Disjoint, &["s.k: holds", "s.l: holds"]);
    // Behind a text that may hold what follows it, either may end first.
    let body = r#"key k = "z" t: text("a:", 0..) ":"; key l = "z" t: text("a:", 0..) "a:";"#;
    check(body, Guarantee::Disjoint, &["s.k/s.l: 7a613a"]);
    let body = r#"key k = "z" t: text("ab", 0..) "c" n: u8; key l = "z" t: text("a", 0..) "bc" n: u8;"#;
    check(body, Guarantee::Disjoint, &["s.k/s.l: 7a626300"]);
}

#[test]
fn two_texts_in_a_row_have_no_end_between_them() {
    check(
        "key k = 0x03 a: text(\"a-z\", 1..) b: text(\"a-z\", 1..);",
        Guarantee::Unambiguous,
        &["s.k: 03616161"],
    );
    check(
        "key k = 0x03 a: text(\"a-z\", 1..).len8 b: text(\"a-z\", 1..);",
        Guarantee::Unambiguous,
        &["s.k: holds"],
    );
    check(
        "key k = 0x03 a: text(\"a-z\", 1..) \"|\" b: text(\"a-z\", 1..);",
        Guarantee::Unambiguous,
        &["s.k: holds"],
    );
}

#[test]
fn an_escape_before_ff_is_ambiguous() {
    check("key k = a: bytes.escaped b: bytes(0..=2);", Guarantee::Unambiguous, &["s.k: 00ff00"]);
    check("key k = a: bytes.terminated b: bytes(0..=2);", Guarantee::Unambiguous, &["s.k: holds"]);
}

#[test]
fn pool_1_also_returns_pool_10() {
    let body = "key k = \"p/\" pool: u64.dec id: bytes(20) scan by pool;";
    let plan = plan(&format!("plan p; space s {{ {body} }}"));
    let report = prove(&plan, &Options::default());
    let leak = report.statements.iter().find(|s| s.guarantee == Guarantee::NoSiblingRows).unwrap();
    let Verdict::Fails(witness) = &leak.verdict else { panic!("{leak:?}") };
    let Witness::Row { scan, row } = &**witness else { panic!("{witness:?}") };
    assert!(row.bytes.starts_with(&scan.bytes) && row.values[0] != scan.values[0]);
    let body = "key k = \"p/\" pool: u64.dec \"/\" id: bytes(20) scan by pool;";
    check(body, Guarantee::NoSiblingRows, &["s.k@1: holds"]);
}

#[test]
fn a_prefix_that_is_a_foreign_key_counts() {
    let body = "key a = 0x01 id: u8 x: u8 scan by id; key b = 0x01 id: u8;";
    check(body, Guarantee::NoForeignRows, &["s.a/s.b@1: 0100 <- 0100"]);
}

#[test]
fn order_is_numeric_bytewise_and_by_position() {
    for (domain, expected) in [
        ("u64", "holds"),
        ("i64", "ffffffffffffffff > 0000000000000000"),
        ("i64.signflip", "holds"),
        ("i64.tick9", "holds"),
        ("i64.tuple", "holds"),
        ("f64.ordered", "holds"),
        ("u64.desc", "holds"),
        ("i32.signflip.desc", "holds"),
        ("u64.dec(20)", "holds"),
        ("bytes.terminated", "holds"),
        ("bytes.memcmp", "holds"),
        ("text", "holds"),
        ("(buy: 0x00 | sell: 0x01)", "holds"),
        ("(buy: 0x01 | sell: 0x00)", "01 > 00"),
        ("time", "holds"),
        ("score", "holds"),
        ("score(3..=9)", "holds"),
        ("score(1..=8388607).height_score", "holds"),
        ("option(u8)", "holds"),
        // The end of the escape comes first, though a shorter text comes last in descending order.
        ("bytes(1..).terminated.desc", "holds"),
        ("bytes(1..).desc.escaped", "610100 > 6100"),
        // Two ways lead to the empty key: absent, and present but absent inside.
        ("option(option(bool.desc).desc)", "00 > "),
        // A length in front keeps the order where no value is longer than one that comes after it.
        ("text(\"ab\", 2).tuple.len8", "holds"),
        ("option(u8).len8", "holds"),
        ("option(u8).len8.desc", "holds"),
        ("(n: option(u8)).len8", "holds"),
        ("(l0: n: u8 | l1: n: u16).len8", "holds"),
        ("(l0: n: u16 | l1: n: u8).len8", "020000 > 0100"),
        ("(m: u8 n: option(u8)).len8", "020000 > 0101"),
        ("(x: text(\"9f\", 2..=3)).memcmp", "holds"),
        ("(x: text(\"9f\", 2..=9)).memcmp", "holds"),
    ] {
        let expected = format!("s.k@0: {expected}");
        check(&format!("key k = a: {domain} scan all in order;"), Guarantee::InOrder, &[&expected]);
    }
    check("key k = a: u8.dec scan all in order;", Guarantee::InOrder, &["s.k@0: 32 > 3130"]);
    // What is bound may hide its contents from the graph; what comes after it does not.
    let hidden = "list(text(\"a-z\", 0..), 0..).len16";
    check(&format!("key k = a: {hidden} b: u64 scan by a in order;"), Guarantee::InOrder, &["s.k@1: holds"]);
    let separated =
        |separator: &str| format!("key k = a: text(\"a-z\", 1..) \"{separator}\" b: u8 scan all in order;");
    check(&separated("/"), Guarantee::InOrder, &["s.k@0: holds"]);
    check(&separated("|"), Guarantee::InOrder, &["s.k@0: 617c00 > 61617c00"]);
}

#[test]
fn numbers_are_allotted_once_inside_their_range_and_never_again_once_retired() {
    let module = |families: &str| {
        format!(
            "module m = 0x02 {{ allot 0x01..=0x0f core; allot 0x10..=0x1f more; retired 0x05 \"old\"; {families} }}"
        )
    };
    check(
        &module(
            "key a = 0x01 id: u8 allot core; key b = 0x02 id: u8 allot more; key c = 0x05 id: u8 allot core;",
        ),
        Guarantee::Allotted,
        &["s.m.a: holds", "s.m.b: 2 outside more", "s.m.c: 020500 retired"],
    );
    check(
        &module("key a = 0x01 \"a\" id: u8 allot core; key b = 0x01 \"b\" id: u8 allot core;"),
        Guarantee::Allotted,
        &["s.m.a: 1 taken by s.m.b", "s.m.b: 1 taken by s.m.a"],
    );
}

#[test]
fn hashes_are_assumed_and_what_is_lost_is_shown() {
    let hashed = "key k = ns: text.hashed(xxh3_64) id: u64;";
    check(hashed, Guarantee::Unambiguous, &["s.k: unless xxh3_64 collides in its first 8 bytes"]);
    check(hashed, Guarantee::DistinctNames, &["s: unless xxh3_64 collides in its first 8 bytes"]);
    check("key k = id: text.hash_concat(twox_64);", Guarantee::Unambiguous, &["s.k: holds"]);
    check("key k = s: i8.saturating;", Guarantee::Lossless, &["s.k: 00"]);
    check("key k = s: i8(0..=9).saturating;", Guarantee::Lossless, &["s.k: holds"]);
    check("key k = s: u64(0..=9_007_199_254_740_992).float;", Guarantee::Lossless, &["s.k: holds"]);
    check("key k = s: u64.float;", Guarantee::Lossless, &["s.k: 4340000000000000"]);
    check("key k = s: u64(0..=16_777_215).low(3);", Guarantee::Lossless, &["s.k: holds"]);
    check("key k = s: u64.low(3);", Guarantee::Lossless, &["s.k: 000000"]);
    check("key k = s: u64.high(4);", Guarantee::Lossless, &["s.k: 00000000"]);
    check("key k = b: bytes(1..=40).fit(2);", Guarantee::Unambiguous, &["s.k: 0000"]);
    check("key k = s: score.height_score;", Guarantee::Lossless, &["s.k: 41d960cd4007e6b7"]);
    // A float tells every place in a block up to this height, and not beyond.
    check("key k = s: score(1..=8_388_607).height_score;", Guarantee::Lossless, &["s.k: holds"]);
    check("key k = s: score(0..=8_388_607).height_score;", Guarantee::Lossless, &["s.k: holds"]);
    check("key k = s: score(1..=8_388_608).height_score;", Guarantee::Lossless, &["s.k: 4160000000000001"]);
    check(
        "key k = s: score(9_000_000..=9_000_000).height_score;",
        Guarantee::Lossless,
        &["s.k: 41612a8800000001"],
    );
}

#[test]
fn a_loss_that_is_accepted_excuses_what_comes_from_it_only() {
    let accepted = |parts: &str| {
        let text = format!("plan p; space s {{ key k = {parts} scan all in order accept lossy \"known\"; }}");
        let report = prove(&plan(&text), &Options::default());
        let order = report.statements.into_iter().find(|s| s.guarantee == Guarantee::InOrder).unwrap();
        assert!(matches!(order.verdict, Verdict::Fails(_)), "{text}");
        order.accepted
    };
    assert!(accepted("0x01 a: u16.low(1)"));
    // Every value has bytes of its own, and they are out of order.
    assert!(!accepted("0x01 a: i8.float"));
    assert!(!accepted("0x01 a: u16(254..=257).low(1)"));
    // Something is lost, and something else is out of order.
    assert!(!accepted("0x01 a: i8.float b: u16.low(1)"));
}

#[test]
fn a_digest_may_meet_free_bytes() {
    let body = "key a = ns: text(\"a-z\", 1..).hashed(xxh3_64); key b = id: u64;";
    let plan = plan(&format!("plan p; space s {{ {body} }}"));
    let report = prove(&plan, &Options::default());
    let met = report.statements.iter().find(|s| s.other.is_some()).unwrap();
    let Verdict::Fails(witness) = &met.verdict else { panic!("{met:?}") };
    let Witness::SameKey { first, second } = &**witness else { panic!("{witness:?}") };
    assert_eq!((first.family.as_str(), second.family.as_str()), ("s.a", "s.b"));
    // Bytes that only a chosen text would hash to are not found: that is what is assumed.
    let body = "key a = 0x01 ns: text(\"a-z\", 1..).hashed(xxh3_64); key b = 0x010000000000000000;";
    let verdict = "s.a/s.b: unless xxh3_64 collides in its first 8 bytes";
    check(body, Guarantee::Disjoint, &[verdict]);
}

#[test]
fn a_key_has_to_fit_the_engine() {
    check("key k = a: bytes;", Guarantee::Fits, &["s.k: 65536 over 65535"]);
    // One byte too many, whatever is around the argument.
    let around = "key k = \"k\" a: bytes.len16 b: u64 c: text(\"a-z\", 3..=9).terminated;";
    check(around, Guarantee::Fits, &["s.k: 65536 over 65535"]);
    check("key k = 0x01 a: bytes(0..=40000).hex \"/\";", Guarantee::Fits, &["s.k: 65536 over 65535"]);
    check("key k = a: bytes(0..=65535);", Guarantee::Fits, &["s.k: holds"]);
    let plan = plan("plan p; space s { key k = a: bytes(0..=65535); }");
    let report = prove(&plan, &Options { engine: Engine::FoundationDb, ..Options::default() });
    let fits = report.statements.iter().find(|s| s.guarantee == Guarantee::Fits).unwrap();
    let Verdict::Fails(witness) = &fits.verdict else { panic!("{fits:?}") };
    assert_eq!(witness.length(), 10_001);
}

#[test]
fn the_order_of_declarations_does_not_matter() {
    let families = [
        "key a = \"a\" x: text(\"a-z\", 0..) scan all;",
        "key b = \"a\" x: text(\"a-c\", 1..) y: text(\"b-z\", 0..) scan by x in order;",
        "key c = x: bytes(1..=3).len8 y: u16.dec scan by x in order;",
        "key d = x: list(u8, 0..=4).count8;",
    ];
    let verdicts = |order: &[usize]| {
        let body: String = order.iter().map(|&index| families[index]).collect();
        let mut report = prove(&plan(&format!("plan p; space s {{ {body} }}")), &Options::default());
        // Where things are declared does move.
        for statement in &mut report.statements {
            statement.span = keyplan_plan::diag::Span::default();
        }
        report
    };
    let first = verdicts(&[0, 1, 2, 3]);
    assert!(first.statements.len() > 15);
    for order in [[3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
        assert_eq!(verdicts(&order), first);
    }
}

/// The most memory that this process ever had, in MiB; 0 where the system does not say.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or(0, |line| line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024)
}

/// Each of them would take more steps, nodes or stack than there are, if nothing stopped it.
#[test]
fn plans_built_to_explode_end_within_their_budget() {
    let choices = |depth: usize| {
        (0..depth).fold("text(\"a-z\", 0..)".to_owned(), |inner, _| {
            format!("(a: x: {inner} y: {inner} | b: {inner})")
        })
    };
    let deep =
        |open: &str, close: &str, depth: usize| format!("{}u8{}", open.repeat(depth), close.repeat(depth));
    let lists = (0..6).fold("text(0..=60)".to_owned(), |inner, _| format!("list({inner}, 0..=60)"));
    let many = |count: usize| {
        (0..count).fold(String::new(), |mut text, index| {
            let _ = write!(
                text,
                "key m{index} = a: text(0..) b: text(1..) \"{index}\" c: text(0..) scan by a in order;"
            );
            text
        })
    };
    for (name, body) in [
        ("deep choices", format!("key k = a: {}; key l = 0x01 a: {};", choices(9), choices(9))),
        ("deep options", format!("key k = a: {} scan all in order;", deep("option(", ")", 60))),
        ("deep frames", format!("key k = a: {} scan all in order;", deep("(x: ", ").len32", 60))),
        ("deep lists", format!("key k = a: {lists} scan all in order;")),
        ("overlapping texts", many(2_000)),
        (
            "lengths of lengths",
            "key k = a: bytes.len64 b: bytes.varlen c: bytes.len32; \
             key l = x: u8 a: bytes.varlen b: bytes.len64 c: bytes.len16;"
                .to_owned(),
        ),
        (
            "huge bounds",
            "key k = a: bytes(0..=4000000000) b: bytes(1000000..=2000000) c: text(5000000..);".to_owned(),
        ),
        (
            "huge frames",
            "key k = a: list(bytes(0..=60000).len16, 0..=60000).count16.len32.terminated.memcmp;".to_owned(),
        ),
    ] {
        let text = format!("plan p; space s {{ {body} }}");
        let compiled = keyplan_plan::compile("p.keyplan", &text, |_| Err("none".to_owned()));
        let Some(plan) = compiled.plan else {
            println!("{name}: refused by the plan language, {:?}", compiled.diagnostics[0].message);
            continue;
        };
        for steps in [100_000, Options::default().steps] {
            let started = Instant::now();
            let report = prove(&plan, &Options { steps, ..Options::default() });
            let unknown =
                report.statements.iter().filter(|s| matches!(s.verdict, Verdict::Unknown(_))).count();
            let (took, all) = (started.elapsed(), report.statements.len());
            println!("{name}: {steps} steps, {took:?}, {unknown} of {all} unknown, {} MiB", peak_mib());
            assert!(all > 0 && all < 40_000, "{name} has {all} statements");
            assert!(took < Duration::from_mins(2), "{name} took {took:?}");
            assert!(peak_mib() < 400, "{name} took {} MiB", peak_mib());
        }
    }
}

#[test]
fn a_pair_out_of_order_is_shortest_though_its_keys_have_many_readings() {
    // `[none, some("a")]` comes before `[some("")]`, and is the longer of the two.
    check(
        "key k = 0x01 a: list(option(text(\"a\", 0..=3)), 0..=2) scan all in order;",
        Guarantee::InOrder,
        &["s.k@0: 0161 > 01"],
    );
}

#[test]
fn an_ambiguity_is_the_shortest_though_a_long_text_stands_behind_it() {
    // The graph of a text in groups knows that it is not empty.
    check(
        "key k = a: list(option(text(\"a\", 0..=2)), 0 | 2).count8 b: text(\"a-z\", 1..).memcmp;",
        Guarantee::Unambiguous,
        &["s.k: 026100000000000000f8"],
    );
}

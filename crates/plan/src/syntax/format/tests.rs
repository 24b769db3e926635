use proptest::prelude::*;

use super::*;
use crate::syntax::lex;

/// Checks what a text is formatted to, and that this is left as it is.
#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(format(text), Ok(expected.to_owned()), "of {text}");
    assert_eq!(format(expected), Ok(expected.to_owned()));
}

/// Checks a text with a plan's name before it.
#[track_caller]
fn check_items(text: &str, expected: &str) {
    check(&format!("plan p;\n{text}"), &format!("plan p;\n\n{expected}"));
}

#[test]
fn a_family_has_its_clauses_below_it() {
    check_items(
        r#"space s{ /// Doc.
        hash  k=0x01 pool:u64 tick : i64 . tick9 -> proto ( "T" ) scan by pool,tick in order
        ///  A field.
        field f="x"->json accept overlap(a . b,c)"why";key l = slot=crc16(pool)%16384 as u32.le same( pool ).hex;}"#,
        r#"space s {
    /// Doc.
    hash k = 0x01 pool: u64 tick: i64.tick9
        -> proto("T")
        scan by pool, tick in order
        ///  A field.
        field f = "x" -> json
        accept overlap(a.b, c) "why";

    key l = slot = crc16(pool) % 16384 as u32.le same(pool).hex;
}
"#,
    );
}

#[test]
fn what_is_said_of_older_plans_is_formatted_as_other_clauses_are() {
    check_items(
        r#"space s{ drop  o . j   "empty";key k=0x01 a:u8 b:u8 from o . k( a=x,b = value . y , drop  z )fitting park
        from i refers  to o . j(a=b,c = value . d ,e=1) allow  break( moved,scan )"why" allow break   "all";}"#,
        r#"space s {
    drop o.j "empty";

    key k = 0x01 a: u8 b: u8
        from o.k(a = x, b = value.y, drop z) fitting park
        from i
        refers to o.j(a = b, c = value.d, e = 1)
        allow break(moved, scan) "why"
        allow break "all";
}
"#,
    );
}

#[test]
fn literals_keep_their_spelling() {
    check_items(
        r#"space s { key k = 0xaB_Cd "\u{e9}é" b"\x00" a: u64(-1_000..=0xFf) b: bytes(20|32) c: bytes(4 ..) d: x(); }"#,
        r#"space s {
    key k = 0xaB_Cd "\u{e9}é" b"\x00" a: u64(-1_000..=0xFf) b: bytes(20 | 32) c: bytes(4..) d: x();
}
"#,
    );
}

#[test]
fn parts_wrap_between_each_other() {
    check_items(
        r#"space s { key incentive_record = 0x04 "|" pool_id: u64.dec "|" uptime_index: u64.dec "|" denom: Denom "|" addr: bytes(1..=255).bech32("osmo") -> (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: u64 bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb: u64 ccccccccccccccccccccccccc: u64); }"#,
        r#"space s {
    key incentive_record = 0x04 "|" pool_id: u64.dec "|" uptime_index: u64.dec "|" denom: Denom "|"
            addr: bytes(1..=255).bech32("osmo")
        -> (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: u64 bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb: u64
            ccccccccccccccccccccccccc: u64);
}
"#,
    );
}

#[test]
fn a_line_of_exactly_the_width_is_not_wrapped() {
    let line = |name: &str| format!("space s {{\n    key {name} = 0x01 pool: u64;\n}}\n");
    let name = "n".repeat(WIDTH - "    key  = 0x01 pool: u64;".len());
    check_items(&line(&name), &line(&name));
    let longer = format!("{name}n");
    check_items(&line(&longer), &line(&longer).replace(" pool", "\n            pool"));
}

#[test]
fn a_choice_that_fits_stays_on_its_line() {
    check_items(
        "type A=(none:|some:u8 |both:(a:0x01|b:0x02));",
        "type A = (none: | some: u8 | both: (a: 0x01 | b: 0x02));\n",
    );
}

#[test]
fn a_choice_that_does_not_fit_has_a_line_for_each_alternative() {
    check_items(
        r#"space s { key accum_position = "accum/pos/" accum: (spread: 0x0B "/" pool: u64.dec | uptime: 0x0C "/" pool: u64.dec "/" index: u64.dec | other: (long_alternative_one: u64.dec | long_alternative_two: u64.dec | long_alternative_three: u64.dec)) "||" position: u64; }
        type Choice = (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: 0x01 | bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb: 0x02).len8;"#,
        r#"space s {
    key accum_position = "accum/pos/" accum: (
              spread: 0x0B "/" pool: u64.dec
            | uptime: 0x0C "/" pool: u64.dec "/" index: u64.dec
            | other: (
                    long_alternative_one: u64.dec
                  | long_alternative_two: u64.dec
                  | long_alternative_three: u64.dec
              )
        ) "||" position: u64;
}

type Choice = (
      aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: 0x01
    | bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb: 0x02
).len8;
"#,
    );
}

#[test]
fn alternatives_with_documentation_stand_below_it() {
    check_items(
        "type A = (/// One.\n///\n/// More.\none: 0x00 | /// Two.\ntwo: 0x01 | three: );",
        "type A = (
      /// One.
      ///
      /// More.
      one: 0x00
    | /// Two.
      two: 0x01
    | three:
);
",
    );
}

#[test]
fn the_documentation_of_an_argument_stands_above_it() {
    check_items(
        "space s { key k = 0x01 /// The pool.\n/// Never 0.\n pool: u64 \"/\" id: u64 named \"keyPools\" scan by pool; key v = 0x02 -> /// What is left.\nrest: u8; }",
        r#"space s {
    key k = 0x01
            /// The pool.
            /// Never 0.
            pool: u64 "/" id: u64
        named "keyPools"
        scan by pool;

    key v = 0x02
        ->
            /// What is left.
            rest: u8;
}
"#,
    );
}

#[test]
fn blank_lines_part_families_and_kinds_of_statements() {
    check(
        "// Licence.\n\n\n//! Doc.\n//! More.\nplan p;import \"a\"; import \"b\";\n\n\nimport \"c\";type A=u8;\ntype B=u8;\nnames N = text{\"a\",\n\n\n\"b\",retired \"c\"}\nspace s{\n\nmodule m=0x01{allot 1..=2 a;allot 3 b \"x\";retired 0x04 \"y\";key a=0x01;key b=0x02;}\n\n} space t { }",
        r#"// Licence.

//! Doc.
//! More.
plan p;

import "a";
import "b";

import "c";

type A = u8;
type B = u8;

names N = text {
    "a",

    "b",
    retired "c"
}

space s {
    module m = 0x01 {
        allot 1..=2 a;
        allot 3 b "x";
        retired 0x04 "y";

        key a = 0x01;
        key b = 0x02;
    }
}

space t {}
"#,
    );
}

#[test]
fn a_table_of_families_stays_one() {
    check(
        "plan p;\nspace s {\nkey a = 0x01;\nkey b = 0x02 x: u8;\n\nkey c = 0x03;\n/// Doc.\nkey d = 0x04;\nkey e = 0x05 scan all;\nkey f = 0x06;\n}",
        "plan p;

space s {
    key a = 0x01;
    key b = 0x02 x: u8;

    key c = 0x03;

    /// Doc.
    key d = 0x04;

    key e = 0x05
        scan all;

    key f = 0x06;
}
",
    );
}

#[test]
fn comments_stay_where_they_are() {
    check(
        "// first\nplan p; // name\n// before\n\n// apart\nspace s { // open\n\n// inside\nkey a = // why\n0x01 /* one */ x: /* two */ u8 // part\n// own line\n/* left */ y: bytes(/* three */ 32 /* four */, // five\n 5) // end\n// clause\nscan all; /* after */ key b = 0x01 // semicolon\n; // last\n\n// closing\n} // space\n// end",
        "// first
plan p; // name
// before

// apart
space s { // open
    // inside
    key a = // why
            0x01 /* one */ x: /* two */ u8 // part
            // own line
            /* left */ y: bytes(/* three */ 32 /* four */, // five
            5) // end
        // clause
        scan all; /* after */

    key b = 0x01 // semicolon
            ; // last

    // closing
} // space
// end
",
    );
}

#[test]
fn comments_in_a_choice_break_it() {
    check_items(
        "type A = (a: 0x01 /* stays */ | b: 0x02);\ntype B = (a: 0x01 // one\n| // two\n// three\nb: 0x02 // four\n);",
        "type A = (a: 0x01 /* stays */ | b: 0x02);
type B = (
      a: 0x01 // one
    | // two
      // three
      b: 0x02 // four
);
",
    );
}

#[test]
fn a_comment_of_several_lines_is_left_alone() {
    check_items("/* one\n   two */\ntype A = /* a\nb */ u8;", "/* one\n   two */\ntype A = /* a\nb */ u8;\n");
}

#[test]
fn line_ends_of_windows_become_plain() {
    check("// c\r\nplan p;\r\n\r\n/// d\r\ntype A = u8;\r\n", "// c\nplan p;\n\n/// d\ntype A = u8;\n");
}

#[test]
fn a_text_with_mistakes_is_refused() {
    let diagnostics = format("plan p; type A = ;").unwrap_err();
    assert_eq!(diagnostics, crate::syntax::parse(FileId(0), "plan p; type A = ;").diagnostics);
}

/// A text with everything that the language has.
const EVERYTHING: &str = r#"//! Doc.
plan p;
import "other.keyplan";
/// A type.
type A = (txid: bytes(32) vout: u32(-5..=0x10).le).len8;
type B = (/// One.
 one: 0x01 x: u8 | two: text("a-z", 1..=5) | three: (a: A | b: ) | none:);
names N = text(1..) { /// Known.
 "a", "b", retired "c", }
space s = "physical" {
    module m = 0x01 "x" sha256("n", 4) {
        allot 0x01..=0x0F core "purpose"; allot 5 other; retired 0x0C "why";
        /// A family.
        /// Two lines.
        hash h = "h:" key: u64.dec same(key).hex slot = crc16(key, a) % 16384 as u32.le list: list(option(B), 1..=4).joined("/")
            /// A field.
            field f = "f" tag: bytes(20 | 32) -> json
            field g = 0xff
            scan by key, list in order scan all retired "gone" spread  64 allot core accept overlap(m.h, z) "because";
    }
    zset z = b"\x00" member id: u64 score at: score.exact -> era: u16 body: cbor;
}
"#;

/// Texts that may be between two tokens.
fn gap() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        8 => Just(" "),
        2 => Just("\n"),
        1 => Just("\n\n\n"),
        1 => Just(" // line\n"),
        1 => Just("\n// own\n"),
        1 => Just("\n\n// apart\n\n"),
        1 => Just(" /* block */ "),
        1 => Just("\n/* own block */ "),
        1 => Just("\n/* own block */\n"),
        1 => Just(" /* of\n  lines */ "),
        1 => Just(" /* a */ /* b */\n/* c */"),
    ]
}

/// Domains, up to some depth.
fn domain() -> impl Strategy<Value = String> {
    let name = || "[a-z]{1,12}";
    let leaf = prop_oneof![
        Just("u64".to_owned()),
        Just("bytes ( 20 | 32 )".to_owned()),
        Just("text ( \"a-z\" , 3 ..= 128 ) . len8".to_owned()),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        let part = prop_oneof![
            Just("0x01".to_owned()),
            Just("\"separator\"".to_owned()),
            (name(), inner.clone()).prop_map(|(name, inner)| format!("{name} : {inner}")),
        ];
        let parts = prop::collection::vec(part, 0..5).prop_map(|parts| parts.join(" "));
        let documented = prop_oneof![4 => Just(""), 1 => Just("/// Doc.\n")];
        let alternative = (documented, name(), prop_oneof![parts.clone(), inner.clone()])
            .prop_map(|(doc, label, body)| format!("{doc} {label} : {body}"));
        prop_oneof![
            parts.prop_map(|parts| format!("( {parts} )")),
            prop::collection::vec(alternative, 2..5)
                .prop_map(|all| format!("( {} ) . len8", all.join(" | "))),
            inner.prop_map(|inner| format!("list ( {inner} , 1 ..= 4 )")),
        ]
    })
}

/// Checks what formatting promises of a text that has no mistakes.
fn check_laws(text: &str) -> Result<(), TestCaseError> {
    let once = format(text).unwrap();
    prop_assert_eq!(&format(&once).unwrap(), &once, "formatted twice, {}", text);
    let (before, after) = (lex(FileId(0), text), lex(FileId(0), &once));
    let kinds = |tokens: &[Token]| tokens.iter().map(|token| token.kind.clone()).collect::<Vec<_>>();
    prop_assert_eq!(kinds(&before.tokens), kinds(&after.tokens), "tokens of {}", once);
    let notes = |comments: &[Comment], text: &str| {
        comments.iter().map(|comment| text[comment.span.range()].to_owned()).collect::<Vec<_>>()
    };
    prop_assert_eq!(notes(&before.comments, text), notes(&after.comments, &once), "comments of {}", once);
    prop_assert!(once.lines().all(|line| line.trim_end() == line), "space at the end of a line of {}", once);
    prop_assert!(!once.contains("\n\n\n") && once.ends_with('\n'), "blank lines of {}", once);
    Ok(())
}

/// The spellings of a text's tokens.
fn spellings(text: &str) -> Vec<String> {
    lex(FileId(0), text).tokens.iter().map(|token| text[token.span.range()].to_owned()).collect()
}

/// Puts a gap before each token; documentation ends its line.
fn spread(tokens: &[String], gaps: &[&str]) -> String {
    let mut text = String::new();
    for (index, token) in tokens.iter().enumerate() {
        let gap = gaps.get(index % gaps.len().max(1)).copied().unwrap_or(" ");
        // What stands before the documentation of the file must be a comment; a gap is.
        text.push_str(gap);
        text.push_str(token);
        if token.starts_with("//") {
            text.push('\n');
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn comments_and_space_anywhere_survive(gaps in prop::collection::vec(gap(), 1..200)) {
        check_laws(&spread(&spellings(EVERYTHING), &gaps))?;
    }

    #[test]
    fn families_of_any_shape_are_formatted(
        domains in prop::collection::vec(domain(), 1..4),
        gaps in prop::collection::vec(prop_oneof![20 => Just(" "), 1 => gap()], 1..100),
    ) {
        let parts: Vec<String> = domains.iter().map(|domain| format!("argument : {domain}")).collect();
        let text = format!(
            "plan p ; type T = {} ; space s {{ key k = {} -> {} scan all ; }}",
            domains[0],
            parts.join(" "),
            domains[0],
        );
        check_laws(&spread(&spellings(&text), &gaps))?;
    }

    #[test]
    fn a_mutated_text_is_refused_or_keeps_its_tokens(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4),
        gaps in prop::collection::vec(gap(), 1..50),
    ) {
        let mut tokens = spellings(EVERYTHING);
        for (from, to) in places {
            let token = tokens.remove(from.index(tokens.len()));
            if to.index(3) > 0 {
                tokens.insert(to.index(tokens.len()), token);
            }
        }
        let text = spread(&tokens, &gaps);
        if format(&text).is_ok() {
            check_laws(&text)?;
        }
    }
}

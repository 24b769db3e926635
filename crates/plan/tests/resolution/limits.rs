//! What is too large to be looked at, or cannot be seen, ends in an answer.

use keyplan_plan::compile;

use crate::{compiled, no_imports};

#[test]
fn types_that_multiply_end_in_an_answer() {
    let mut text = String::from("type T0 = (a: u8 b: u8);");
    for i in 1..60 {
        let before = i - 1;
        text = format!("{text} type T{i} = (a: T{before} b: T{before});");
    }
    text.push_str("space s { key k = a: T59; }");
    let compiled = compile("p", &format!("plan p; {text}"), no_imports);
    let codes: Vec<&str> = compiled.diagnostics.iter().map(|d| d.code.id()).collect();
    assert_eq!(codes, ["KP0218"]);
}

#[test]
fn a_family_that_does_not_fit_is_an_error_that_names_it() {
    let letters = " \"a\"".repeat(255);
    let families: Vec<String> =
        (0..800).map(|family| format!("key k{family} = \"{family}/\"{letters};")).collect();
    let mut text = format!("space s {{ {}", families.join(" "));
    text.push_str(" key x = 0xff; key y = 0xff; }");
    let message =
        "KP0218 the plan is too large: over 200000 parts, or nested over 96 deep, in the family `s.k781`";
    assert_eq!(compiled(&text), (None, vec![message.to_owned()]));
}

#[test]
fn types_that_multiply_lose_no_family() {
    let plan_of = |levels: usize| {
        let mut text = String::new();
        for level in 0..levels {
            let next = level + 1;
            text = format!("{text} type T{level} = (a: T{next} b: T{next});");
        }
        format!("{text} type T{levels} = u8; space s {{ key k = a: T0; }}")
    };
    assert_eq!(compiled(&plan_of(13)), (Some(1), Vec::new()));
    for levels in [14, 15, 20] {
        let (families, messages) = compiled(&plan_of(levels));
        assert_eq!(families, None, "{levels}");
        assert_eq!(messages.len(), 1, "{levels}");
        assert!(messages[0].starts_with("KP0218 the plan is too large"), "{}", messages[0]);
    }
}

#[test]
fn values_members_scores_and_fields_that_do_not_fit_are_errors() {
    let mut types = String::from("type T0 = u8;");
    for level in 1..16 {
        let before = level - 1;
        types = format!("{types} type T{level} = (a: T{before} b: T{before});");
    }
    for clause in [
        "key k = 0x01 -> v: T15 w: T15;",
        "zset k = 0x01 member v: T15 w: T15 score s: u8;",
        "zset k = 0x01 member m: u8 score v: T15 w: T15;",
        "hash k = 0x01 field f = v: T15 w: T15 -> u8;",
        "hash k = 0x01 field f = \"f\" -> v: T15 w: T15;",
    ] {
        let (families, messages) = compiled(&format!("{types} space s {{ {clause} }}"));
        assert_eq!(families, None, "{clause}");
        assert_eq!(messages.len(), 1, "{clause}: {messages:?}");
        assert!(messages[0].starts_with("KP0218 the plan is too large"), "{}", messages[0]);
    }
}

#[test]
fn characters_that_cannot_be_seen_are_found_in_comments_and_strings() {
    let space = "space s { key k = 0x01 n: u8; }";
    let hidden = |mark: char| {
        let texts = [
            format!("// a{mark}b\n{space}"),
            format!("/* a{mark}b */ {space}"),
            format!("/// a{mark}b\n{space}"),
            format!("space s {{ key k = \"a{mark}b\" n: u8; }}"),
            format!("space s {{ key k = 0x01 n: u8 accept ambiguous \"a{mark}b\"; }}"),
        ];
        let found: Vec<usize> = texts
            .iter()
            .map(|text| compiled(text).1.iter().filter(|line| line.starts_with("KP0108")).count())
            .collect();
        found
    };
    for mark in
        ['\u{0}', '\u{1b}', '\u{7f}', '\u{85}', '\u{9b}', '\u{61c}', '\u{200e}', '\u{202e}', '\u{2066}']
    {
        assert_eq!(hidden(mark), [1, 1, 1, 1, 1], "{mark:?}");
    }
    // A lone carriage return hides what comes before it on a terminal.
    assert_eq!(hidden('\r'), [1, 1, 1, 1, 1]);
    for mark in ['\t', 'ä', '\u{200d}', '→'] {
        assert_eq!(hidden(mark), [0, 0, 0, 0, 0], "{mark:?}");
    }
    let lines = format!("// a comment\r\n/// documented\r\n{space}\r\n");
    assert_eq!(compiled(&lines), (Some(1), Vec::new()));
    let message = "KP0108 U+202E is a mark that turns text around: the text may look like another one";
    assert_eq!(compiled(&format!("// \u{202e}\n{space}")), (None, vec![message.to_owned()]));
}

#[test]
fn widths_and_sets_that_would_take_all_memory_are_refused() {
    for width in ["65536", "1000000000000", "18446744073709551615"] {
        let message = vec!["KP0207 `fit` writes at most 65535 bytes".to_owned()];
        assert_eq!(compiled(&format!("space s {{ key k = a: bytes.fit({width}); }}")), (None, message));
    }
    assert_eq!(compiled("space s { key k = a: bytes.fit(65535); }"), (Some(1), Vec::new()));
}

#[test]
fn many_names_and_families_take_time_in_proportion() {
    let names: Vec<String> = (0..20_000).map(|n| format!("\"n{n}\",")).collect();
    let families: Vec<String> = (0..5_000).map(|n| format!("key k{n} = \"{n}/\" a: N;")).collect();
    let text = format!("names N = text {{ {} }} space s {{ {} }}", names.join(" "), families.join(" "));
    assert_eq!(compiled(&text), (Some(5_000), Vec::new()));
}

//! What a plan may not say, and what it means when it says it well.
#![cfg(test)]

use keyplan_plan::compile;
use keyplan_plan::model::Plan;

fn no_imports(_: &str) -> Result<String, String> {
    Err("no imports".into())
}

/// The findings on a plan: code, the text that is underlined, the message.
#[track_caller]
fn check(body: &str, expected: &[(&str, &str, &str)]) {
    let text = format!("plan p;\n{body}");
    let compiled = compile("p.keyplan", &text, no_imports);
    let found: Vec<(&str, &str, &str)> = compiled
        .diagnostics
        .iter()
        .map(|d| (d.code.id(), compiled.sources.slice(d.span()), d.message.as_str()))
        .collect();
    assert_eq!(found, expected);
}

fn plan(body: &str) -> Plan {
    let compiled = compile("p.keyplan", &format!("plan p; {body}"), no_imports);
    assert_eq!(compiled.errors().collect::<Vec<_>>(), Vec::<&keyplan_plan::diag::Diagnostic>::new());
    compiled.plan.unwrap()
}

#[test]
fn names_that_nothing_declares_are_found_with_a_suggestion() {
    check(
        "space s { key k = a: Adress b: u46 c: u64.decc; } type Address = bytes(20);",
        &[
            ("KP0201", "Adress", "no domain or type is called `Adress`"),
            ("KP0201", "u46", "no domain or type is called `u46`"),
            ("KP0201", "decc", "no encoding is called `decc`"),
        ],
    );
    check(
        "space s { key k = a: u8; } type Address = bytes(20);",
        &[("KP0217", "Address", "nothing uses the type `Address`")],
    );
    let text = "plan p; space s { key k = a: Adress; } type Address = bytes(20);";
    let compiled = compile("p", text, no_imports);
    assert_eq!(compiled.diagnostics[0].notes[0].text, "did you mean `Address`?");
}

#[test]
fn a_path_is_of_one_layout() {
    check(
        "space s { hash h = 0x01 field b = 0x01 -> n: u8; module h = 0x02 { key b = 0x01; } }",
        &[("KP0202", "b", "`s.h.b` is the path of a family and of a field of `s.h`")],
    );
    check(
        "space s { module z = 0x02 { key member = 0x01; key score = 0x02; } zset z = 0x01 member a: u8 score b: score; }",
        &[
            ("KP0202", "member", "`s.z.member` is the path of a family and of the members of `s.z`"),
            ("KP0202", "score", "`s.z.score` is the path of a family and of the scores of `s.z`"),
        ],
    );
    check(
        "space s { module z = 0x02 { key fields = 0x01; } zset z = 0x01 member a: u8 score b: score; }",
        &[],
    );
}

#[test]
fn names_declared_twice_are_found() {
    check(
        "type T = u8; type T = u16; space s { key k = a: T a: T; key k = 0x01; } space s { key z = 0x00; }",
        &[
            ("KP0202", "T", "the type `T` is declared twice"),
            ("KP0202", "a", "the argument `a` is declared twice"),
            ("KP0202", "k", "the family `k` is declared twice"),
            ("KP0202", "s", "the space `s` is declared twice"),
        ],
    );
}

#[test]
fn a_type_made_of_itself_is_found() {
    check(
        "type A = (x: B); type B = list(A); space s { key k = a: A; }",
        &[("KP0203", "A", "the type `A` is made of itself")],
    );
}

#[test]
fn encodings_must_fit_their_domain() {
    check(
        "space s { key k = a: u64.tick9 b: text.bech32(\"x\") c: bytes.dec d: u64.dec.hex e: u64.dec(19) f: u8.len8(3); }",
        &[
            ("KP0207", "tick9", "`tick9` does not encode an unsigned integer"),
            ("KP0207", "bech32(\"x\")", "`bech32` does not encode text"),
            ("KP0207", "dec", "`dec` does not encode bytes"),
            ("KP0207", "hex", "`hex` does not encode an unsigned integer that is already encoded"),
            ("KP0207", "dec(19)", "`dec` cannot hold every value of its domain"),
            ("KP0206", "len8(3)", "`len8` does not take these arguments"),
        ],
    );
}

#[test]
fn numbers_that_are_all_written_as_0_are_refused() {
    let refused = "`saturating` writes every number of this domain as 0";
    check(
        "space s { key k = a: i16(-9..=-1).saturating b: i64(-5..=-5).saturating.len8 c: i16(-9..=0).saturating; }",
        &[("KP0207", "saturating", refused), ("KP0207", "saturating", refused)],
    );
}

#[test]
fn ranges_and_classes_must_hold_something() {
    check(
        "space s { key k = a: bytes(5..=2) b: u8(0..=300) c: text(\"z-a\", 1..) d: text(300..).len8 e: bytes(-1); }",
        &[
            ("KP0209", "5..=2", "no length lies in this range"),
            ("KP0209", "0..=300", "no `u8` lies in this range, or it goes beyond the type"),
            ("KP0208", "\"z-a\"", "the character class is malformed"),
            ("KP0210", "text(300..).len8", "`len8` can hold none of these values"),
            ("KP0209", "-1", "no length lies in this range"),
        ],
    );
}

#[test]
fn scans_bind_the_first_arguments() {
    check(
        "space s { key k = a: u8 b: u8 scan by b scan by a, c scan by a scan by a; }",
        &[
            ("KP0212", "b", "a scan binds the first arguments of the key, in their order"),
            ("KP0201", "c", "no argument is called `c`"),
            ("KP0212", "scan by a", "the same scan is given twice"),
        ],
    );
}

#[test]
fn an_example_of_a_prefix_is_one_that_the_scan_has() {
    let pools = |scan: &str| format!("space s {{ key pool = 0x0c pool: u64.dec \"/\" tick: u8 {scan}; }}");
    // The bytes, what is said of them, and what to do.
    let wrong = |scan: &str| {
        let text = format!("plan p;\n{}", pools(scan));
        let compiled = compile("p.keyplan", &text, no_imports);
        let [only] = compiled.diagnostics.as_slice() else { panic!("{:?}", compiled.diagnostics) };
        let notes: Vec<String> = only.notes.iter().map(|note| note.text.clone()).collect();
        (only.code.id(), compiled.sources.slice(only.span()).to_owned(), only.message.clone(), notes)
    };
    let expected = |bytes: &str, notes: [&str; 2]| {
        let message = format!("the scan has no prefix of the bytes {bytes}");
        ("KP0212", bytes.to_owned(), message, notes.map(str::to_owned).to_vec())
    };
    // What the program leaves out is the mistake of Osmosis: pool 1 and pool 10.
    assert_eq!(
        wrong("scan by pool as 0x0c31"),
        expected(
            "0x0c31",
            ["with these arguments it is 0x0c312f", "the bytes given are those of the scan with `bare`"]
        )
    );
    assert_eq!(
        wrong("scan by pool bare as 0x0c312f"),
        expected(
            "0x0c312f",
            ["with these arguments it is 0x0c31", "the bytes given are those of the scan without `bare`"]
        )
    );
    let (code, bytes, _, notes) = wrong("scan by pool as 0x0d312f");
    assert_eq!((code, bytes.as_str()), ("KP0212", "0x0d312f"));
    assert_eq!(
        notes.last().map(String::as_str),
        Some("give the bytes of a prefix as the program makes it, or change the scan")
    );

    let scans = |scan: &str| plan(&pools(scan)).spaces[0].families[0].scans[0].example.clone();
    assert_eq!(scans("scan by pool as 0x0c312f"), Some(b"\x0c1/".to_vec()));
    assert_eq!(scans("scan by pool bare as 0x0c \"10\""), Some(b"\x0c10".to_vec()));
    assert_eq!(scans("scan all as 0x0c in order"), Some(vec![0x0c]));
}

#[test]
fn clauses_belong_to_their_kind_of_family() {
    check(
        "space s { zset z = 0x01 member m: u8; key k = 0x02 score s: u8; set t = 0x03 member a: u8 member b: u8; }",
        &[
            ("KP0211", "z", "a `zset` family needs a `score` clause"),
            ("KP0211", "s: u8", "a `key` family has no `score`"),
            ("KP0211", "b: u8", "`member` is given twice"),
        ],
    );
}

#[test]
fn one_hash_is_spread_over_the_slots_of_a_cluster_at_most() {
    check(
        "space s { hash h = \"h\" field f = a: u8 spread 1; hash i = \"i\" field f = a: u8 spread 16384; }",
        &[],
    );
    let cannot = "the hash cannot be spread";
    check(
        "space s { hash h = \"h\" field f = a: u8 spread 0; hash i = \"i\" field f = a: u8 spread 16385;
            hash j = \"j\" field f = a: u8 spread -1; hash k = \"k\" id: u8 field f = a: u8 spread 2;
            hash l = \"{l}\" field f = a: u8 spread 3; set m = \"m\" member a: u8 spread 4;
            hash n = \"n\" field f = a: u8 spread 5 spread 6; }",
        &[
            ("KP0211", "0", cannot),
            ("KP0211", "16385", cannot),
            ("KP0211", "-1", cannot),
            ("KP0211", "2", cannot),
            ("KP0211", "3", cannot),
            ("KP0211", "4", "a `set` family has no `spread`"),
            ("KP0211", "6", "`spread` is given twice"),
        ],
    );
}

#[test]
fn accepted_flaws_name_families_of_the_space() {
    check(
        "space s { key a = 0x01 accept overlap(b) \"x\" accept overlap(c) \"y\" accept sloppy \"z\" accept ambiguous(b) \"w\"; key b = 0x01; }",
        &[
            ("KP0213", "accept overlap(c) \"y\"", "no other family of the space is called `c`"),
            ("KP0213", "sloppy", "no flaw is called `sloppy`"),
            ("KP0213", "accept ambiguous(b) \"w\"", "`accept ambiguous` is not written like this"),
        ],
    );
}

#[test]
fn allotments_are_bytes_and_do_not_overlap() {
    check(
        "space s { module m = 0x01 { allot 0x01..=0x0f core; allot 0x0f..=0x1f more; allot 300 x; key k = 0x01 allot cor; } allot 0x01 y; }",
        &[
            ("KP0214", "allot 0x0f..=0x1f more;", "the allotment `more` overlaps `core`"),
            ("KP0214", "allot 300 x;", "numbers are one byte: 0x00 to 0xff"),
            ("KP0201", "cor", "no allotment is called `cor`"),
            ("KP0214", "allot 0x01 y;", "numbers are allotted inside a module"),
        ],
    );
}

#[test]
fn copies_and_derived_parts_refer_to_arguments_of_their_sequence() {
    check(
        "space s { key k = same(a) a: u8 x = crc16(b) y = md5(a) z = crc16(a) as u8 w = crc16(a) % 0; }",
        &[("KP0215", "a", "no argument `a` comes before this")],
    );
    check(
        "space s { key k = a: u8 x = crc16(b); key l = a: u8 y = md5(a); key m = a: u8 z = crc16(a) as u8; key n = a: u8 w = crc16(a) % 0; key o = a: u8 v = crc16(a) as u16.dec; }",
        &[
            ("KP0215", "b", "the sequence has no argument `b`"),
            ("KP0201", "md5", "no function is called `md5`"),
            ("KP0215", "z = crc16(a) as u8", "`u8` is too narrow for values up to 65535"),
            ("KP0215", "0", "a modulus is at least 1"),
            ("KP0215", "v = crc16(a) as u16.dec", "a derived part must tell where it ends"),
        ],
    );
}

#[test]
fn a_copy_in_another_encoding_is_of_what_is_read_back() {
    let refused = "one of the two encodings of `a` loses what the other tells";
    check(
        "space s { key k = a: u8.hashed(sha256, 16) same(a).dec; key l = a: u8 same(a).hashed(sha256, 16); \
         key m = a: u64.high(2) same(a).dec; key n = 0x01 a: u64 same(a).low(1); }",
        &[
            ("KP0215", "same(a).dec", refused),
            ("KP0215", "same(a).hashed(sha256, 16)", refused),
            ("KP0215", "same(a).dec", refused),
            ("KP0215", "same(a).low(1)", refused),
        ],
    );
    // The same bytes once more, the argument after its hash, and numbers that are all told.
    check(
        "space s { key k = a: u8.hashed(sha256, 16) same(a); key l = a: u8.hash_concat(twox_64) same(a).dec; \
         key m = a: u64.low(1) same(a); key n = a: u16(254..=257).float same(a).dec; }",
        &[],
    );
}

#[test]
fn names_are_spelled_as_generated_code_needs_them() {
    check(
        "type lower = u8; space Loud { key Tick = a: lower; }",
        &[
            ("KP0216", "lower", "a type is spelled with a capital letter first, as in `PoolId`"),
            ("KP0216", "Loud", "a space is spelled with small letters, digits and `_`"),
            ("KP0216", "Tick", "a family is spelled with small letters, digits and `_`"),
        ],
    );
}

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

/// The families that a text declares, counted by its keywords.
fn compiled(text: &str) -> (Option<usize>, Vec<String>) {
    let compiled = compile("p", &format!("plan p; {text}"), no_imports);
    let families = compiled.plan.map(|plan| plan.families().count());
    (families, compiled.diagnostics.iter().map(|d| format!("{} {}", d.code.id(), d.message)).collect())
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

#[test]
fn a_scan_covers_the_literals_behind_its_arguments() {
    let plan = plan(
        "space s { key k = 0x01 a: u64.dec \"/\" b: u64.dec \"/\" c: u8 scan all scan by a scan by a, b; }",
    );
    let segments: Vec<usize> = plan.spaces[0].families[0].scans.iter().map(|scan| scan.segments).collect();
    assert_eq!(segments, [1, 3, 5]);
}

#[test]
fn a_derived_part_is_bound_last_and_right_behind_the_arguments_before_it() {
    let text = |scan: &str| {
        format!(
            "space s {{ key k = 0x01 ns: text.len8 slot = crc16(user) % 16384 as u16 \"/\" user: bytes {scan}; }}"
        )
    };
    let plan = plan(&text("scan by ns, user scan by ns, slot scan by ns, slot bare scan by ns"));
    let family = &plan.spaces[0].families[0];
    let scans: Vec<(String, String, usize, usize)> = family
        .scans
        .iter()
        .map(|scan| (scan.id.to_string(), scan.words(&family.key), scan.value_count(), scan.segments))
        .collect();
    let scan = |id: &str, words: &str, values, segments| (id.to_owned(), words.to_owned(), values, segments);
    assert_eq!(
        scans,
        [
            scan("2", "by ns, user", 2, 5),
            scan("1.1", "by ns, slot", 2, 4),
            scan("1.2", "by ns, slot bare", 2, 3),
            scan("1", "by ns", 1, 2),
        ]
    );
    // Who binds as many arguments is called, unless the part is named.
    assert_eq!(family.scan_named(&["ns", "user"]).unwrap().segments, 5);
    assert_eq!(family.scan_named(&["slot", "ns"]).unwrap().segments, 4);
    let refused = |scan: &str| compiled(&text(scan)).1.concat();
    for scan in ["scan by slot", "scan by ns, slot, user", "scan by ns, user, slot"] {
        let wanted = "a scan binds a derived part right after the arguments before it";
        assert!(refused(scan).contains(wanted), "{scan}: {}", refused(scan));
    }
    for scan in ["scan by ns, slot in order", "scan by ns, slot to next", "scan by ns, slot filtered"] {
        assert!(refused(scan).contains("a scan is not written like this"), "{scan}: {}", refused(scan));
    }
    assert!(refused("scan by ns, slot scan by ns, slot").contains("the same scan is given twice"));
}

#[test]
fn a_prefix_holds_every_argument_that_its_scan_binds() {
    let refused = |scan: &str| {
        let text = format!("space s {{ key k = 0x01 slot = crc16(c) a: u8 b: u8 c: u8 {scan}; }}");
        compiled(&text).1.concat()
    };
    for scan in ["scan by a", "scan by a, b", "scan by a, b bare", "own by a", "scan by a to next"] {
        let wanted = "the prefix of a scan ends before an argument that it binds";
        assert!(refused(scan).contains(wanted), "{scan}: {}", refused(scan));
    }
    // The part is not a value after `a`, which comes after it.
    let wanted = "a scan binds a derived part right after the arguments before it";
    assert!(refused("scan by a, slot").contains(wanted), "{}", refused("scan by a, slot"));
    for scan in ["scan all", "scan by slot", "scan by a, b, c"] {
        assert_eq!(refused(scan), "", "{scan}");
    }
}

#[test]
fn a_module_stands_before_its_families_and_a_number_behind_it() {
    let plan = plan("space s { module a = 0x01 { module b = \"x\" { key k = 0x05 n: u8; } } }");
    let family = &plan.spaces[0].families[0];
    assert_eq!(family.path, "s.a.b.k");
    assert_eq!(family.key.literal_prefix(), b"\x01x\x05");
    assert_eq!(family.number, Some(5));
    assert_eq!(plan.find("b.k").len(), 1);
    assert_eq!(plan.find("k").len(), 1);
    assert_eq!(plan.find(".k").len(), 0);
}

const BASE: &str = "type Id = u64; space s { /// Doc.
    key a = 0x01 id: Id -> json scan by id; key b = 0x02 x: (p: u8 q: u16); }";

#[test]
fn the_fingerprint_keeps_still_when_no_byte_moves() {
    let base = plan(BASE).fingerprint();
    for same in [
        "space s { key b = 0x02 x: (p: u8 q: u16); key a = 0x01 id: u64 -> json; }",
        "space other = \"s\" { key z = 0x01 n: u64 -> json accept ambiguous \"x\"; key y = 0x02 m: (r: u8 t: u16); }",
        "space s { key a = 0x01 id: u64 -> json; key b = 0x02 p: u8 q: u16; }",
        "space s { module m = 0x01 { key a = id: u64 -> json; } key b = b\"\\x02\" x: (p: u8 q: u16); }",
    ] {
        assert_eq!(plan(same).fingerprint(), base, "{same}");
    }
}

#[test]
fn the_fingerprint_moves_with_every_byte() {
    let mut seen = vec![plan(BASE).fingerprint()];
    for other in [
        "space s { key a = 0x01 id: u64.le -> json; key b = 0x02 x: (p: u8 q: u16); }",
        "space s { key a = 0x01 id: u64 -> cbor; key b = 0x02 x: (p: u8 q: u16); }",
        "space s { key a = 0x01 id: u64(0..=9) -> json; key b = 0x02 x: (p: u8 q: u16); }",
        "space s { key a = 0x03 id: u64 -> json; key b = 0x02 x: (p: u8 q: u16); }",
        "space s { key a = 0x01 id: u64 -> json; key b = 0x02 x: (p: u8 q: u16).len8; }",
        "space s { key a = 0x01 id: u64 -> json; } space t { key b = 0x02 x: (p: u8 q: u16); }",
        "space other { key a = 0x01 id: u64 -> json; key b = 0x02 x: (p: u8 q: u16); }",
        "space s = \"real\" { key a = 0x01 id: u64 -> json; key b = 0x02 x: (p: u8 q: u16); }",
        "space s { key a = 0x01 id: u64 -> json; }",
    ] {
        let fingerprint = plan(other).fingerprint();
        assert!(!seen.contains(&fingerprint), "{other}");
        seen.push(fingerprint);
    }
}

#[test]
fn spaces_that_swap_their_layouts_have_another_fingerprint() {
    let [one, other] = [
        "space a { key x = 0x01 i: u64; } space b { key y = 0x02 t: text; }",
        "space a { key y = 0x02 t: text; } space b { key x = 0x01 i: u64; }",
    ]
    .map(|text| plan(text).fingerprint());
    assert_ne!(one, other);
}

#[test]
fn no_two_spaces_are_stored_under_one_name() {
    let message = "KP0202 two spaces are stored as \"b\"".to_owned();
    for text in [
        "space a = \"b\" { key x = 0x01 i: u64; } space b { key y = 0x01 i: u64; }",
        "space b { key y = 0x01 i: u64; } space a = \"b\" { key x = 0x01 i: u64; }",
        "space a = \"b\" { key x = 0x01 i: u64; } space c = \"b\" { key y = 0x01 i: u64; }",
    ] {
        assert_eq!(compiled(text), (None, vec![message.clone()]), "{text}");
    }
    let (families, messages) =
        compiled("space a = \"b\" { key x = 0x01 i: u64; } space b = \"a\" { key y = 0x01 i: u64; }");
    assert_eq!((families, messages), (Some(2), Vec::new()));
}

/// Every encoding that the language has, in one plan.
const EVERY: &str = r#"space s {
    key ints = 0x01 a: u8 b: u16.le c: i32.signflip d: i64.tick9 e: u64.dec "/" f: u64.dec(20) g: u32.hex "/"
        h: u32.HEX "/" i: u32.hex(8) j: u32.HEX(8) k: u64.leb128 l: u64.ordvar m: u64.bitcoin_varint
        n: u64.compact_size o: i64.saturating p: u64.tuple q: u128(1..=9) r: i128(-1..=1);
    key others = 0x02 a: bool b: bool.tuple c: f64 d: f64.ordered e: f64.badger f: f64.fixed(8) g: f64.tuple
        h: time i: time.nanos j: score k: score.height_score;
    key strings = 0x03 a: bytes(20 | 32).len8 b: bytes(4).hex c: bytes(4).HEX d: bytes(20).bech32("osmo") e: bytes.fit(8)
        f: bytes.tuple g: text("a-z", 1..=9).len16 h: text.tuple i: nibbles(3) j: nibbles(3).packed
        k: nibbles(3).hex_prefix;
    key frames = 0x04 a: bytes.len8 b: bytes.len16 c: bytes.len32 d: bytes.len64 e: bytes.len64le f: bytes.varlen
        g: bytes.terminated h: bytes.escaped "x" i: bytes.memcmp j: bytes.terminated.desc
        k: text.hashed(sha256, 20) l: text("a-z", 3).hash_concat(xxh3_64);
    key groups = 0x05 a: (x: u8 y: u8) b: (p: "p" n: u8 | q: "q") c: list(u8).count8 d: list(u8, 2)
        e: list(u8).joined("/") "|" same(a) z = crc16(a) % 7 as u8 f: option(u8) -> proto("a.B");
    key opaque = 0x06 -> cbor;
    hash h = 0x07 field f = "f" -> raw field g = "g" n: u8 -> json;
    zset z = 0x08 member m: bytes(32) score at: score.height_score;
    set t = 0x09 member m: u8;
    queue u = 0x0a member m: u8 score at: score;
}"#;

#[test]
fn the_fingerprint_is_the_same_in_every_release() {
    // Databases keep it: a change here is a change of format and goes into the changelog under Bytes.
    let two = "space s = \"real\" { key a = 0x01 id: u64; } space t { key b = 0x02 n: u8; }";
    assert_eq!(
        [BASE, EVERY, two].map(|text| plan(text).fingerprint().to_string()),
        [
            "a6f249f9ae1378fcf82d21b46ac743ae",
            "06db022dfa5880bc75ee4ec47078ada2",
            "e21b554fea396d1be4f94bfb1f26127c"
        ]
    );
}

#[test]
fn what_is_said_of_older_plans_is_resolved_and_moves_no_fingerprint() {
    use keyplan_plan::dynamic::Value;
    use keyplan_plan::model::{Binding, BindingSource, BreakKind, MisfitRule};
    let text = |clauses: &str| {
        format!("plan p; space s {{ key k = 0x01 a: u8 b: text.len8 c: bytes(2) {clauses}; }}")
    };
    let model = |text: &str| {
        let compiled = keyplan_plan::compile("p.keyplan", text, |_| Err("none".to_owned()));
        assert_eq!(compiled.diagnostics, Vec::new());
        compiled.plan.unwrap()
    };
    let said = model(&text(
        r#"from o.k(a = x, b = "y", c = 0x00ff, drop z) fitting park from o.j(a = value.a)
           allow break(moved) "why" allow break "all""#,
    ));
    assert_eq!(said.fingerprint(), model(&text("")).fingerprint());
    let family = &said.spaces[0].families[0];
    let [first, second] = family.predecessors.as_slice() else { panic!("{:?}", family.predecessors) };
    let bound = |argument: &str, source| Binding { argument: argument.to_owned(), source };
    assert_eq!(first.family, "o.k");
    assert_eq!(
        first.bindings,
        [
            bound("a", BindingSource::Argument("x".to_owned())),
            bound("b", BindingSource::Constant(Value::Text("y".to_owned()))),
            bound("c", BindingSource::Constant(Value::Bytes(vec![0, 255]))),
        ]
    );
    assert_eq!((first.fitting, first.rule, &*first.dropped), (true, MisfitRule::Park, &["z".to_owned()][..]));
    assert_eq!(second.bindings, [bound("a", BindingSource::Value("a".to_owned()))]);
    assert_eq!((second.fitting, second.rule), (false, MisfitRule::Refuse));
    let kinds: Vec<&[BreakKind]> = family.allowed_breaks.iter().map(|allowed| &*allowed.kinds).collect();
    assert_eq!(kinds, [&[BreakKind::Moved][..], &BreakKind::ALL]);
}

#[test]
fn what_is_wrongly_said_of_older_plans_is_refused() {
    let said = |clauses: &str| {
        let text = format!("plan p; space s {{ key k = 0x01 a: u8 {clauses}; }}");
        let compiled = keyplan_plan::compile("p.keyplan", &text, |_| Err("none".to_owned()));
        compiled
            .diagnostics
            .into_iter()
            .map(|found| format!("{} {}", found.code, found.message))
            .collect::<Vec<_>>()
    };
    assert_eq!(said("from k(b = a)"), ["KP0201 no argument is called `b`"]);
    assert_eq!(said("from k(a = 256)"), ["KP0211 the constant is not a value of `a`"]);
    assert_eq!(said("from k(a = b, a = c)"), ["KP0211 `a` is said to come from two places"]);
    assert_eq!(said("from k from k"), ["KP0211 `from k` is given twice"]);
    assert_eq!(said("allow break(bytes) \"why\""), ["KP0211 no kind of break is called `bytes`"]);
}

#[test]
fn rows_that_are_referred_to_are_resolved_and_move_no_fingerprint() {
    use keyplan_plan::dynamic::Value;
    use keyplan_plan::model::ReferenceSource;
    let text = |clauses: &str| {
        format!(
            "plan p; space s {{ key pool = 0x03 id: u64.dec; key txo = 0x05 hash: bytes(4) index: u32; \
             zset z = 0x06 n: u8 member hash: bytes(4) score n: f64.ordered; \
             key k = 0x01 id: u32 txo: (hash: bytes(4) index: u16) -> pool: u8 body: json {clauses}; }} \
             space t {{ key other = 0x01 a: u8 b: text; }}"
        )
    };
    let model = |text: &str| {
        let compiled = keyplan_plan::compile("p.keyplan", text, |_| Err("none".to_owned()));
        assert_eq!(compiled.diagnostics, Vec::new());
        compiled.plan.unwrap()
    };
    let said = model(&text(
        r#"refers to pool refers to pool(id = value.pool) refers to txo(hash = txo.hash, index = txo.index)
           refers to other(a = 7, b = "x") refers to s.pool(id = value.body.inner.pool)"#,
    ));
    assert_eq!(said.fingerprint(), model(&text("")).fingerprint());
    let family = &said.spaces[0].families[3];
    let words: Vec<String> = family.relations.iter().map(keyplan_plan::model::Relation::words).collect();
    assert_eq!(
        words,
        [
            "refers to s.pool",
            "refers to s.pool(id = value.pool)",
            "refers to s.txo(hash = txo.hash, index = txo.index)",
            "refers to t.other(a = 7, b = \"x\")",
            "refers to s.pool(id = value.body.inner.pool)",
        ]
    );
    let sources: Vec<Vec<&ReferenceSource>> = family
        .relations
        .iter()
        .map(|relation| relation.bindings.iter().map(|reference| &reference.source).collect())
        .collect();
    let inside = ReferenceSource::Inside { argument: 1, path: vec!["inner".to_owned(), "pool".to_owned()] };
    assert_eq!(
        sources,
        [
            vec![&ReferenceSource::Key(vec![0])],
            vec![&ReferenceSource::Value(vec![0])],
            vec![&ReferenceSource::Key(vec![1, 0]), &ReferenceSource::Key(vec![1, 1])],
            vec![
                &ReferenceSource::Constant(Value::Unsigned(7)),
                &ReferenceSource::Constant(Value::Text("x".to_owned()))
            ],
            vec![&inside],
        ]
    );
}

#[test]
fn references_that_cannot_be_followed_are_refused() {
    let said = |clauses: &str| {
        let text = format!(
            "plan p; space s {{ key pool = 0x03 id: u64.dec; key by_hash = 0x04 h: bytes.hashed(xxh3_64); \
             key h4 = 0x05 h: bytes(4); key h8 = 0x07 h: bytes(8); key big = 0x06 n: u16(1000..=2000); \
             key k = 0x01 a: u8 digest: bytes.hashed(xxh3_64) \
             twice: bytes(8).hashed(xxh3_64).hash_concat(xxh3_64) h: bytes(5) -> json {clauses}; }}"
        );
        let compiled = keyplan_plan::compile("p.keyplan", &text, |_| Err("none".to_owned()));
        compiled
            .diagnostics
            .into_iter()
            .map(|found| format!("{} {}", found.code, found.message))
            .collect::<Vec<_>>()
    };
    assert_eq!(said("refers to pol"), ["KP0201 no one family of the plan is called `pol`"]);
    assert_eq!(said("refers to pool"), ["KP0211 nothing says which `id` of `s.pool` is meant"]);
    assert_eq!(said("refers to pool(ident = a)"), ["KP0201 no argument of `s.pool` is called `ident`"]);
    assert_eq!(said("refers to pool(id = b)"), ["KP0201 no argument of the key is called `b`"]);
    assert_eq!(said("refers to pool(id = a.b)"), ["KP0211 `a` has no parts"]);
    assert_eq!(said("refers to pool(id = member.b)"), ["KP0201 no argument of the key is called `member`"]);
    assert_eq!(
        said("refers to pool(id = value)"),
        ["KP0211 it does not say which part of the json is meant"]
    );
    assert_eq!(said("refers to pool(id = -1)"), ["KP0211 the constant is not a value of `id`"]);
    assert_eq!(said("refers to pool(id = a, id = a)"), ["KP0211 `id` is said to come from two places"]);
    assert_eq!(
        said("refers to pool(id = h)"),
        ["KP0211 `id` cannot come from here: it is bytes, and not an unsigned integer"]
    );
    assert_eq!(
        said("refers to pool(id = digest)"),
        ["KP0211 `id` cannot come from here: it is known by its hash only"]
    );
    assert_eq!(
        said("refers to h8(h = twice)"),
        ["KP0211 `h` cannot come from here: it is known by its hash only"]
    );
    assert_eq!(said("refers to by_hash(h = digest)"), Vec::<String>::new());
    assert_eq!(
        said("refers to h4"),
        ["KP0211 `h` of `s.h4` is not the one of `s.k`: it is 5 long, and not 4"]
    );
    assert_eq!(
        said("refers to big(n = a)"),
        ["KP0211 `n` cannot come from here: no number is in both ranges"]
    );
    assert_eq!(
        said("refers to pool(id = a) refers to pool(id = a)"),
        ["KP0211 `refers to s.pool(id = a)` is given twice"]
    );
}

/// The help of every finding on the family `key k = PARTS`.
#[track_caller]
fn check_help(parts: &str, expected: &[&str]) {
    let compiled = compile("p.keyplan", &format!("plan p; space s {{ key k = {parts}; }}"), no_imports);
    let help = compiled.diagnostics.iter().flat_map(|found| &found.notes).map(|note| note.text.as_str());
    assert_eq!(help.collect::<Vec<_>>(), expected, "{parts}");
}

#[test]
fn names_of_other_languages_are_told_by_the_name_here() {
    check_help(
        "a: uint64 b: string c: usize d: address e: bytes32 f: u72",
        &[
            "write `u64`",
            "write `text`",
            "write `u64`",
            "write `bytes(20)`",
            "write `bytes(32)`",
            "write `bytes(9)`: big-endian bytes sort as the numbers do",
        ],
    );
    check_help(
        "a: u64.varint b: u64.bigendian c: text.length_prefixed",
        &["write `.leb128`", "write `.be`", "write `.len8`"],
    );
}

#[test]
fn a_suggestion_never_has_another_number_or_byte_order() {
    let anything = "len8 to len64, varlen, compactlen, scalelen, terminated, escaped, orderedcode, memcmp, desc, hashed(…), \
                    hash_concat(…)";
    let text = format!("text may have: tuple, raw; anything: {anything}");
    check_help("a: text.len24 b: text.len24le", &[&text, &text]);
    check_help("a: text.lenn8 b: u64.decc", &["did you mean `len8`?", "did you mean `dec`?"]);
}

#[test]
fn misfits_list_what_fits() {
    let anything = "len8 to len64, varlen, compactlen, scalelen, terminated, escaped, orderedcode, memcmp, desc, hashed(…), \
                    hash_concat(…)";
    check_help("a: time.dec", &[&format!("a time may have: text9, nanos; anything: {anything}")]);
    check_help(
        "a: u64.hashed(keccak)",
        &["hash functions are: xxh3_64, twox_64, twox_128, blake2b_128, blake2b_256, sha256, keccak256, \
           blake2b_224, hash160, siphash_24"],
    );
    check_help(
        "poolID: u64 a: u8(9..=5)",
        &[
            "write `pool_id`: names become identifiers of generated code",
            "write the least number first: `u8(5..=9)`",
        ],
    );
    check_help("a: u8(1..=300)", &["write the least number first, none above 255: `u8(0..=5)`"]);
    check_help("a: bytes(20).keccak256", &["write `.hashed(keccak256)`"]);
    check_help("a: u64.be.le", &["write one of them: `.be` or `.le`"]);
    check_help("a: common.Address b: math.Int", &["write `bytes(20)`", "write `u256`"]);
}

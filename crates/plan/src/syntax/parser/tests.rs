use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::diag::SourceMap;
use crate::syntax::ast::{
    Alternative, Atom, Body, Call, CallArg, Clause, Domain, LiteralKind, Member, NameEntry, Part,
};

/// The diagnostics of a text, a line each: code, place, message, each label with the text that it underlines,
/// notes.
fn findings(text: &str) -> String {
    let mut sources = SourceMap::default();
    let file = sources.add("test.keyplan", text);
    let mut lines = String::new();
    for diagnostic in parse(file, text).diagnostics {
        let place = sources.position(diagnostic.span());
        write!(lines, "{} {}:{} {}", diagnostic.code, place.line, place.column, diagnostic.message).unwrap();
        for label in &diagnostic.labels {
            write!(lines, " [{}] {}", sources.slice(label.span), label.text).unwrap();
        }
        for note in &diagnostic.notes {
            write!(lines, " ({}: {})", note.kind.word(), note.text).unwrap();
        }
        lines.truncate(lines.trim_end().len());
        lines.push('\n');
    }
    lines
}

/// The lines of an expectation without their indentation.
fn dedented(expected: &str) -> String {
    expected.trim().lines().flat_map(|line| [line.trim(), "\n"]).collect()
}

/// Checks the diagnostics of a whole file.
#[track_caller]
fn check_file(text: &str, expected: &str) {
    let expected = dedented(expected);
    assert_eq!(findings(text), expected, "of {text}");
}

/// Checks the diagnostics of a space's members, which stand in line 2.
#[track_caller]
fn check(members: &str, expected: &str) {
    check_file(&format!("plan p; space s {{\n{members}\n}}"), expected);
}

/// Checks the tree of one statement of a space, in the short form of the functions below.
#[track_caller]
fn check_tree(statement: &str, expected: &str) {
    let parsed = parse(FileId(0), &format!("plan p; space s {{ {statement} }}"));
    assert_eq!(parsed.diagnostics, []);
    let Some(Item::Space(space)) = parsed.file.items.first() else { panic!("no space") };
    let got: String = space.members.iter().map(member).collect();
    let expected = dedented(expected);
    assert_eq!(got, expected, "of {statement}");
}

fn member(member: &Member) -> String {
    match member {
        Member::Module(it) => {
            let inner: String = it.members.iter().map(self::member).collect();
            let prefix: Vec<Part> = it.prefix.iter().cloned().map(Part::Literal).collect();
            format!("module {} {}\n{inner}end\n", it.name.text, parts(&prefix))
        }
        Member::Allot(it) => {
            let purpose = it.purpose.as_ref().map(|text| text.value.as_str());
            format!("allot {} to {} {} {purpose:?}\n", int(it.first), int(it.last), it.name.text)
        }
        Member::Retired(it) => {
            let prefix: Vec<Part> = it.prefix.iter().cloned().map(Part::Literal).collect();
            format!("retired {} {:?}\n", parts(&prefix), it.why.value)
        }
        Member::Family(it) => {
            let clauses: String = it.clauses.iter().map(clause).collect();
            format!("{:?}{} {} {}\n{clauses}", it.kind, docs(&it.doc), it.name.text, parts(&it.parts))
        }
    }
}

fn clause(clause: &Clause) -> String {
    let shown = match clause {
        Clause::Value(it) => format!("value {}", body(it)),
        Clause::Scan(it) => format!("scan {}, in order: {}", names(&it.by), it.in_order),
        Clause::Accept(it) => {
            let of: Vec<String> = it.of.iter().map(|path| names(&path.names)).collect();
            format!("accept {} of {of:?} {:?}", it.kind.text, it.why.value)
        }
        Clause::Allot(it) => format!("allot {}", it.text),
        Clause::Retired(it) => format!("retired {:?}", it.value),
        Clause::Member(it) => format!("member {}", body(it)),
        Clause::Score(it) => format!("score {}", body(it)),
        Clause::Spread(it) => format!("spread {}", int(*it)),
        Clause::Field(it) => {
            let value = it.value.as_ref().map_or("no value".to_owned(), body);
            format!("field{} {} {} {value}", docs(&it.doc), it.name.text, parts(&it.parts))
        }
    };
    shown + "\n"
}

fn docs(lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!(" {lines:?}") }
}

fn names(names: &[Ident]) -> String {
    format!("{:?}", names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>())
}

fn body(body: &Body) -> String {
    match body {
        Body::Parts(it) => parts(it),
        Body::Domain(it) => domain(it),
    }
}

fn parts(parts: &[Part]) -> String {
    format!("[{}]", parts.iter().map(part).collect::<Vec<_>>().join(" "))
}

fn part(part: &Part) -> String {
    match part {
        Part::Literal(it) => match &it.kind {
            LiteralKind::Hex(bytes) => format!("hex{bytes:02x?}"),
            LiteralKind::Text(text) => format!("{text:?}"),
            LiteralKind::Bytes(bytes) => format!("bytes{bytes:02x?}"),
            LiteralKind::Hash { function, of, keep } => {
                format!("{}{of:02x?} keep {:?}", function.text, keep.map(int))
            }
        },
        Part::Argument { name, domain: it, .. } => format!("{}: {}", name.text, domain(it)),
        Part::Same { name, encodings, .. } => format!("same {}{}", name.text, calls(encodings)),
        Part::Derived { name, function, of, modulus, domain: it, .. } => {
            let (modulus, it) = (modulus.map(int), it.as_ref().map(domain));
            format!("{} = {} of {} mod {modulus:?} as {it:?}", name.text, function.text, names(of))
        }
    }
}

fn domain(domain: &Domain) -> String {
    let atom = match &domain.atom {
        Atom::Named(it) => call(it),
        Atom::Record(it) => format!("record{}", parts(it)),
        Atom::Choice(it) => {
            let shown =
                |it: &Alternative| format!("{}{} => {}", it.label.text, docs(&it.doc), body(&it.body));
            format!("choice[{}]", it.iter().map(shown).collect::<Vec<_>>().join(", "))
        }
    };
    atom + &calls(&domain.encodings)
}

fn calls(encodings: &[Call]) -> String {
    encodings.iter().flat_map(|it| [".".to_owned(), call(it)]).collect()
}

fn call(call: &Call) -> String {
    let arg = |arg: &CallArg| match arg {
        CallArg::Text(it) => format!("{:?}", it.value),
        CallArg::Int(it) => int(*it),
        CallArg::Range { first, last, .. } => format!("{} to {:?}", int(*first), last.map(int)),
        CallArg::OneOf(it, _) => format!("one of {:?}", it.iter().copied().map(int).collect::<Vec<_>>()),
        CallArg::Domain(it) => domain(it),
    };
    let args = call.args.as_ref();
    let args = args.map(|args| format!("({})", args.iter().map(arg).collect::<Vec<_>>().join(", ")));
    call.name.text.clone() + &args.unwrap_or_default()
}

fn int(int: Int) -> String {
    format!("{}{}", if int.negative { "-" } else { "" }, int.magnitude)
}

#[test]
fn a_whole_file_is_read_in_order() {
    let text = "//! A plan.\n//!\n//!  Indented.\nplan p;\nimport \"o.keyplan\";\n/// An address.\ntype A = u8;\n\
                /// Names.\nnames N = text { /// One.\n \"a\", retired \"b\" }\nspace s = \"phys\" { }";
    let parsed = parse(FileId(0), text);
    assert_eq!(parsed.diagnostics, []);
    assert_eq!(parsed.file.doc, ["A plan.", "", " Indented."]);
    assert_eq!(parsed.file.name.map(|name| name.text), Some("p".to_owned()));
    let items: Vec<String> = parsed.file.items.iter().map(item).collect();
    assert_eq!(
        items,
        [
            "import \"o.keyplan\"",
            "type [\"An address.\"] A u8",
            "names [\"Names.\"] N text [\"One.\"] false \"a\", true \"b\"",
            "space s Some(\"phys\")",
        ]
    );
    let slices: Vec<&str> = parsed.file.items.iter().map(|item| &text[item_span(item).range()]).collect();
    assert_eq!(slices[..2], ["import \"o.keyplan\";", "type A = u8;"]);
    assert_eq!(slices[3], "space s = \"phys\" { }");
}

fn item(item: &Item) -> String {
    match item {
        Item::Import(it) => format!("import {:?}", it.path.value),
        Item::Type(it) => format!("type{} {} {}", docs(&it.doc), it.name.text, domain(&it.domain)),
        Item::Names(it) => {
            let entry = |it: &NameEntry| format!("{} {} {:?}", docs(&it.doc), it.retired, it.text.value);
            let entries: Vec<String> = it.entries.iter().map(entry).collect();
            format!("names{} {} {}{}", docs(&it.doc), it.name.text, domain(&it.domain), entries.join(","))
        }
        Item::Space(it) => {
            let physical = it.physical.as_ref().map(|text| text.value.as_str());
            format!("space{} {} {physical:?}", docs(&it.doc), it.name.text)
        }
    }
}

fn item_span(item: &Item) -> Span {
    match item {
        Item::Import(it) => it.span,
        Item::Type(it) => it.span,
        Item::Names(it) => it.span,
        Item::Space(it) => it.span,
    }
}

#[test]
fn parts_of_every_kind_are_told_apart() {
    check_tree(
        r#"key k = 0x01fF "a" b"\x00" sha256("x", 8) key: u64.dec same(key).hex same(key) slot = crc16(a, b) % 16384 as u32.le h = crc32(a);"#,
        r#"
            Key k [hex[01, ff] "a" bytes[00] sha256[78] keep Some("8") key: u64.dec same key.hex same key slot = crc16 of ["a", "b"] mod Some("16384") as Some("u32.le") h = crc32 of ["a"] mod None as None]
        "#,
    );
}

#[test]
fn domains_take_numbers_ranges_sets_texts_and_domains() {
    check_tree(
        r#"key k = a: bytes(20 | 32) b: i8(-5..=0x7F) c: bytes(4..) d: text("a-z", 3) e: list(option(A.hex), 1..=4).joined("/") f: x();"#,
        r#"
            Key k [a: bytes(one of ["20", "32"]) b: i8(-5 to Some("127")) c: bytes(4 to None) d: text("a-z", 3) e: list(option(A.hex), 1 to Some("4")).joined("/") f: x()]
        "#,
    );
}

#[test]
fn a_bar_makes_a_choice_and_its_absence_a_record() {
    check_tree(
        "key k = a: (x: bytes(20 | 32) y: u8) b: (none: | some: u8.le | /// Both.\n both: 0x01 z: u8).len8 -> (q: u8);",
        r#"
            Key k [a: record[x: bytes(one of ["20", "32"]) y: u8] b: choice[none => [], some => u8.le, both ["Both."] => [hex[01] z: u8]].len8]
            value record[q: u8]
        "#,
    );
}

#[test]
fn clauses_of_every_kind_are_kept_in_order() {
    check_tree(
        "/// Doc.\nzset k = 0x01 -> era: u16 body: cbor scan all scan by a, b in order accept overlap(x.y, z) \"why\" allot core retired \"why\" spread 64 member id: u64 score score.exact;",
        r#"
            Zset ["Doc."] k [hex[01]]
            value [era: u16 body: cbor]
            scan [], in order: false
            scan ["a", "b"], in order: true
            accept overlap of ["[\"x\", \"y\"]", "[\"z\"]"] "why"
            allot core
            retired "why"
            spread 64
            member [id: u64]
            score score.exact
        "#,
    );
}

#[test]
fn fields_have_documentation_and_values() {
    check_tree(
        "hash h = \"h\" /// Events.\n field events = \"ev\" -> json field data = \"dt:\" tag: text scan by x;",
        r#"
            Hash h ["h"]
            field ["Events."] events ["ev"] json
            field data ["dt:" tag: text] no value
            scan ["x"], in order: false
        "#,
    );
}

#[test]
fn modules_hold_allotments_retirements_and_modules() {
    check_tree(
        "module m = 0x02 \"x\" { allot 0x01..=0x0F core \"why\"; allot 5 other; retired 0x0C \"a\" \"gone\"; module n = xxh3_64(\"n\") { queue q = 0x01; } }",
        r#"
            module m [hex[02] "x"]
            allot 1 to 15 core Some("why")
            allot 5 to 5 other None
            retired [hex[0c] "a"] "gone"
            module n [xxh3_64[6e] keep None]
            Queue q [hex[01]]
            end
            end
        "#,
    );
}

#[test]
fn words_of_the_language_may_name_arguments() {
    check(
        "key key = key: u64 scan: u8 score: score member: u8 field: u8 same: u8 sha256: u8 allot: u8 in: u8;",
        "",
    );
}

#[test]
fn several_mistakes_are_each_reported_once() {
    check(
        "key a = 0x01 pool u64;
        key b = 0x1 pool: u64
        key c = 0x02 pool: u64 scna by pool;
        key d = 0x03 pool: u64.
            scan by ;
        key e = 0x03 pool: (a: u8 | b: 0x01 | : u8 | d: ) scan pol
            accept overlap(a.b, c) \"x\";
        hahs f = \"x\" field a = \"b\" -> ;
        key g = \"x\" -> (a: u8 b: u8;
        key h = ; key i = 5; key j = u64; key k = 0x01 { 0x02 }
        key l = 0x01 x: @ u8 'y' \"\\q\";
        /// dangling",
        r"
            KP0102 2:14 expected a part, a clause or `;`, found `pool` [pool] begins no part and no clause (help: an argument is written with a colon: `pool: …`)
            KP0103 3:17 bytes have an even number of hexadecimal digits [0x1]
            KP0102 3:30 expected `;` at the end of the family, found `key` [] expected `;`
            KP0102 4:32 `scna` begins no part and no clause [scna] did you mean `scan`?
            KP0102 6:13 expected an encoding, such as `be`, found `scan` [scan] expected an encoding, such as `be`
            KP0102 6:21 expected the name of an argument, found `;` [;] expected the name of an argument
            KP0102 7:47 expected the label of an alternative, found `:` [:] expected the label of an alternative
            KP0102 7:64 expected `by` or `all`, found `pol` [pol] expected `by` or `all`
            KP0102 9:9 `hahs` begins nothing inside a space [hahs] did you mean `hash`?
            KP0102 9:39 expected the layout of the field's value, found `;` [;] expected the layout of the field's value
            KP0102 10:24 `(` is never closed [(] this one has no `)` [;] expected a part or `)`
            KP0102 11:17 expected the parts of the key, found `;` [;] expected the parts of the key
            KP0102 11:27 expected a part, a clause or `;`, found `5` [5] begins no part and no clause (help: bytes are written in hexadecimal: `0x05`)
            KP0102 11:38 expected a part, a clause or `;`, found `u64` [u64] begins no part and no clause (help: an argument has a name: `name: u64`)
            KP0102 11:56 expected a clause or `;`, found `{` [{] expected a clause or `;`
            KP0101 12:25 `@` begins no token [@] not part of the language
            KP0101 12:30 a character in single quotes ['y'] strings stand in double quotes
            KP0103 12:35 there is no escape `\q` [\q]
            KP0102 13:9 documentation with nothing behind it [/// dangling] nothing is documented by this (help: a comment is written `// …`)
        ",
    );
}

#[test]
fn a_missing_semicolon_is_reported_behind_the_statement() {
    check(
        "key a = 0x01 /// Next.\n key b = 0x02 scan all allot 5 x",
        "
            KP0102 2:13 expected `;` at the end of the family, found documentation [] expected `;`
            KP0102 3:23 expected `;` at the end of the family, found `allot` [] expected `;`
            KP0102 3:33 expected `;` behind the allotment, found `}` [] expected `;`
        ",
    );
    check_file(
        "plan p type A = u8 names B = text {} space s { key a = 0x01 }",
        "
            KP0102 1:7 expected `;` behind the name of the plan, found `type` [] expected `;`
            KP0102 1:19 expected `;` behind the domain, found `names` [] expected `;`
            KP0102 1:60 expected `;` at the end of the family, found `}` [] expected `;`
        ",
    );
}

#[test]
fn a_brace_that_is_never_closed_is_pointed_at() {
    check_file(
        "plan p; space s { key a = 0x01; module m = 0x01 { key b = 0x01; }\nspace t { key a = 0x01; }",
        "
            KP0102 1:17 `{` is never closed [{] this one has no `}` [space] this cannot stand inside of it
        ",
    );
    check_file(
        "plan p; space s { module m = 0x01 {",
        "
            KP0102 1:35 `{` is never closed [{] this one has no `}` [{] nor is this one
        ",
    );
    check_file(
        "plan p; names N = text { \"a\",\ntype A = u8;",
        "
            KP0102 1:24 `{` is never closed [{] this one has no `}` [type] this cannot stand inside of it
        ",
    );
    check_file(
        "plan p; space s { } }",
        "
            KP0102 1:21 `}` closes nothing [}] there is no `{` before it
        ",
    );
}

#[test]
fn parentheses_are_closed_in_their_statement() {
    check(
        "key a = x: (y: u8; key b = x: bytes(1; key c = x: (y: u8 | z: u8; key d = x: u8); key e = x: (y: u8 5);",
        "
            KP0102 2:12 `(` is never closed [(] this one has no `)` [;] expected a part or `)`
            KP0102 2:36 `(` is never closed [(] this one has no `)` [;] expected `,` or `)`
            KP0102 2:51 `(` is never closed [(] this one has no `)` [;] expected a part, `|` or `)`
            KP0102 2:80 expected a part, a clause or `;`, found `)` [)] begins no part and no clause
            KP0102 2:101 expected a part or `)`, found `5` [5] expected a part or `)`
        ",
    );
}

#[test]
fn misspelled_words_are_read_as_what_was_meant() {
    check_file(
        "pln p; tpye A = u8; spce s { kye a = 0x01 acept leak \"x\" scan all; modul m = 0x01 { } }",
        "
            KP0102 1:1 `pln` begins nothing at the top of a file [pln] did you mean `plan`?
            KP0102 1:8 `tpye` begins nothing at the top of a file [tpye] did you mean `type`?
            KP0102 1:21 `spce` begins nothing at the top of a file [spce] did you mean `space`?
            KP0102 1:30 `kye` begins nothing inside a space [kye] did you mean `key`?
            KP0102 1:43 `acept` begins no part and no clause [acept] did you mean `accept`?
            KP0102 1:68 `modul` begins nothing inside a space [modul] did you mean `module`?
        ",
    );
    check_file(
        "plan p; structure x; space s { struct y { } key a = 0x01 limit 5 scan all; }",
        "
            KP0102 1:9 `structure` begins nothing at the top of a file [structure] expected `import`, `type`, `names`, `space` or `plan`
            KP0102 1:32 `struct` begins nothing inside a space [struct] expected `key`, `hash`, `zset`, `set`, `queue`, `module`, `allot` or `retired`
            KP0102 1:58 expected a part, a clause or `;`, found `limit` [limit] begins no part and no clause (help: an argument has a name: `name: limit`)
        ",
    );
}

#[test]
fn documentation_needs_something_behind_it() {
    check(
        "key a = 0x01 /// x\n b: u8 /// y\n scan all; /// z\n allot 1 x; /// z\n retired 0x01 \"w\"; /// end",
        "
            KP0102 2:14 documentation before a part, which has none [/// x] nothing is documented by this (help: a comment is written `// …`)
            KP0102 3:8 documentation before something that has none [/// y] nothing is documented by this (help: a comment is written `// …`)
            KP0102 4:12 documentation before `allot`, which has its purpose in quotes behind it [/// z] nothing is documented by this (help: a comment is written `// …`)
            KP0102 5:13 documentation before `retired`, which has its reason in quotes behind it [/// z] nothing is documented by this (help: a comment is written `// …`)
            KP0102 6:20 documentation with nothing behind it [/// end] nothing is documented by this (help: a comment is written `// …`)
        ",
    );
    check_file(
        "/// Plan.\nplan p; //! late\n//! late\n/// i\nimport \"x\"; names N = text { /// none\n } /// end",
        "
            KP0102 1:1 documentation before `plan`; the plan is documented with `//!` [/// Plan.] nothing is documented by this (help: a comment is written `// …`)
            KP0102 2:9 `//!` documents the file and stands first in it [//! late] nothing is documented by this
            KP0102 4:1 documentation before `import`, which has none [/// i] nothing is documented by this (help: a comment is written `// …`)
            KP0102 5:30 documentation with no name behind it [/// none] nothing is documented by this (help: a comment is written `// …`)
            KP0102 6:4 documentation with nothing behind it [/// end] nothing is documented by this (help: a comment is written `// …`)
        ",
    );
}

#[test]
fn items_and_families_stand_in_their_place() {
    check(
        "type A = u8; key a = 0x01; space t { key b = 0x01; } plan q;",
        "
            KP0102 2:1 `type` stands inside of a space [type] it belongs to the top of the file
            KP0102 2:28 `space` stands inside of a space [space] it belongs to the top of the file
            KP0102 2:54 `plan` stands inside of a space [plan] it belongs to the top of the file
        ",
    );
    check_file(
        "plan p; key a = 0x01; plan q; ; type A = u8;",
        "
            KP0102 1:9 `key` stands outside of a space [key] expected `space NAME { … }` around it
            KP0102 1:23 the plan is named twice [plan] not here
            KP0102 1:31 `;` ends nothing [;] can be left out
        ",
    );
    check_file(
        "type A = u8; plan p;",
        "
            KP0102 1:14 `plan NAME;` stands before everything but `//!` [plan] not here
        ",
    );
    check_file(
        "",
        "
            KP0106 1:1 the file does not name its plan [] expected `plan NAME;` (help: begin the file with `plan NAME;`, behind the lines of `//!` if there are any)
        ",
    );
    check_file(
        "plan ;",
        "
            KP0102 1:6 expected the name of the plan, found `;` [;] expected the name of the plan
        ",
    );
    check_file(
        "space s { }",
        "
            KP0106 1:1 the file does not name its plan [space] expected `plan NAME;` (help: begin the file with `plan NAME;`, behind the lines of `//!` if there are any)
        ",
    );
}

#[test]
fn statements_lack_what_they_need() {
    check(
        "key = 0x01; key a 0x01; key b; module m { } module n = { } allot x; allot 1..3 x; allot 1; retired 0x01; retired \"x\";",
        "
            KP0102 2:5 expected the name of the family, found `=` [=] expected the name of the family
            KP0102 2:18 expected `=` and parts behind the name of the family, found `0x01` [] expected `=`
            KP0102 2:30 expected `=` and parts behind the name of the family, found `;` [] expected `=`
            KP0102 2:40 expected `=` and a prefix behind the name of the module, found `{` [] expected `=`
            KP0102 2:56 expected the literals that the module's keys begin with, found `{` [{] expected the literals that the module's keys begin with
            KP0102 2:66 expected the number that is allotted, or the first of a range, found `x` [x] expected the number that is allotted, or the first of a range
            KP0102 2:76 expected `..=`: a range includes its end, found `..` [..] expected `..=`: a range includes its end
            KP0102 2:90 expected the name of the allotment, found `;` [;] expected the name of the allotment
            KP0102 2:104 expected the reason, a string, found `;` [;] expected the reason, a string
            KP0102 2:117 expected the reason, a string, found `;` [;] expected the reason, a string
        ",
    );
    check(
        "key a = x: bytes(1..3) y: bytes(..=3) z: bytes(b\"x\") w: bytes(1,) v: bytes(1 | ) u: u8(-) t: same s: u8. ;",
        r#"
            KP0102 2:19 expected `..=`: a range includes its end, found `..` [..] expected `..=`: a range includes its end
            KP0102 2:33 expected the first number of the range, found `..=` [..=] expected the first number of the range
            KP0102 2:48 expected a number, a range, a string or a domain, found a byte string [b"x"] expected a number, a range, a string or a domain
            KP0102 2:65 expected a number, a range, a string or a domain, found `)` [)] expected a number, a range, a string or a domain
            KP0102 2:80 expected a number, found `)` [)] expected a number
            KP0102 2:89 expected a number, found `)` [)] expected a number
            KP0102 2:106 expected an encoding, such as `be`, found `;` [;] expected an encoding, such as `be`
        "#,
    );
    check(
        "key a = x = 5; key b = x = crc16; key c = x = crc16(); key d = same(5); key e = sha256(u8); key f = sha256(\"\", x);",
        "
            KP0102 2:13 expected a function, such as `crc16`, found `5` [5] expected a function, such as `crc16`
            KP0102 2:33 expected `(` and the names of arguments behind the function, found `;` [] expected `(`
            KP0102 2:53 expected the name of an argument, found `)` [)] expected the name of an argument
            KP0102 2:69 expected the name of an argument, found `5` [5] expected the name of an argument
            KP0102 2:88 expected the constant that is hashed, found `u8` [u8] expected the constant that is hashed
            KP0102 2:112 expected how many bytes of the hash are kept, found `x` [x] expected how many bytes of the hash are kept
        ",
    );
    check(
        "key a = 0x01 scan; key b = 0x01 scan by; key c = 0x01 scan all in; key d = 0x01 accept; key e = 0x01 accept leak; key f = 0x01 allot; key g = 0x01 retired; key h = 0x01 field; key i = 0x01 field x = -> json; key j = 0x01 -> scan all; key k = 0x01 member; key l = 0x01 -> score;",
        "
            KP0102 2:18 expected `by` or `all`, found `;` [;] expected `by` or `all`
            KP0102 2:40 expected the name of an argument, found `;` [;] expected the name of an argument
            KP0102 2:66 expected `order`, found `;` [;] expected `order`
            KP0102 2:87 expected the flaw that is accepted, such as `ambiguous`, found `;` [;] expected the flaw that is accepted, such as `ambiguous`
            KP0102 2:113 expected the reason, a string, found `;` [;] expected the reason, a string
            KP0102 2:133 expected the name of an allotment, found `;` [;] expected the name of an allotment
            KP0102 2:155 expected the reason, a string, found `;` [;] expected the reason, a string
            KP0102 2:175 expected the name of the field, found `;` [;] expected the name of the field
            KP0102 2:200 expected the parts of the field's key, found `->` [->] expected the parts of the field's key
            KP0102 2:225 expected the layout of the value, found `scan` [scan] expected the layout of the value
            KP0102 2:254 expected the layout of the member, found `;` [;] expected the layout of the member
        ",
    );
    check_file(
        "plan p; import x; type = u8; type A u8; type B =; names N = text; names M = text { \"a\" \"b\", 5, retired, \"c\" } space { } space t = 5 { } space u",
        "
            KP0102 1:16 expected the path of a plan file, a string, found `x` [x] expected the path of a plan file, a string
            KP0102 1:24 expected the name of the type, found `=` [=] expected the name of the type
            KP0102 1:36 expected `=` and a domain behind the name of the type, found `u8` [] expected `=`
            KP0102 1:49 expected a domain, such as `u64`, found `;` [;] expected a domain, such as `u64`
            KP0102 1:65 expected `{` before the names, found `;` [] expected `{`
            KP0102 1:87 expected `,` between two names, found a string [] expected `,`
            KP0102 1:93 expected a name in quotes, found `5` [5] expected a name in quotes
            KP0102 1:103 expected a name in quotes, found `,` [,] expected a name in quotes
            KP0102 1:117 expected the name of the space, found `{` [{] expected the name of the space
            KP0102 1:131 expected the name that the engine knows the space by, a string, found `5` [5] expected the name that the engine knows the space by, a string
            KP0102 1:144 expected `{` before what stands inside, found the end of the file [] expected `{`
        ",
    );
}

#[test]
fn malformed_literals_are_reported_where_they_stand() {
    check(
        "key a = 0x123 0x0g 12ab \"\\q\\x80\" b\"é\" sha256(0x1); allot 0x100000000000000000000000000000000 x;",
        r#"
            KP0103 2:9 bytes have an even number of hexadecimal digits [0x123]
            KP0103 2:18 `g` is not a hexadecimal digit [g]
            KP0103 2:22 `a` is not a decimal digit [ab]
            KP0103 2:26 there is no escape `\q` [\q]
            KP0103 2:28 `\x80` is not a character; write bytes as `b"…"` [\x80]
            KP0103 2:36 only ASCII stands in a byte string; write `\xNN` [é]
            KP0103 2:58 the number does not fit 128 bits [0x100000000000000000000000000000000]
        "#,
    );
}

#[test]
fn nesting_has_a_bound() {
    let nested = |levels: usize| {
        format!("key a = x: {}y: u8{};", "(y: ".repeat(levels).trim_end_matches("y: "), ")".repeat(levels))
    };
    check(&nested(63), "");
    check(
        &nested(64),
        "
            KP0104 2:268 nested deeper than 64 levels [u8] one level too many (help: give an inner domain a name with `type`, or use fewer modules)
        ",
    );
    let modules = |levels: usize| format!("{}{}", "module m = 0x01 { ".repeat(levels), "}".repeat(levels));
    check(&modules(64), "");
    check(
        &modules(65),
        "
            KP0104 2:1169 nested deeper than 64 levels [{] one level too many (help: give an inner domain a name with `type`, or use fewer modules)
        ",
    );
}

#[test]
fn a_million_brackets_cost_no_stack() {
    for open in ["(", "x: (", "option(", "(a: | b: "] {
        let text = format!(
            "plan p; space s {{ key k = x: {}",
            open.repeat(if open == "(" { 1_000_000 } else { 100_000 })
        );
        assert_eq!(parse(FileId(0), &text).diagnostics.len(), 1, "{open}");
    }
    let text = format!("plan p; space s {{ {}", "module m = 0x01 {".repeat(100_000));
    assert_eq!(parse(FileId(0), &text).diagnostics.len(), 1);
    let text =
        format!("plan p; space s {{ key k = x: {}{}; }}", "(".repeat(1_000_000), ")".repeat(1_000_000));
    assert_eq!(parse(FileId(0), &text).diagnostics.len(), 1);
}

#[test]
fn a_hundred_mistakes_are_listed_and_the_rest_are_counted() {
    let parsed =
        parse(FileId(0), &format!("plan p; space s {{ {} }}", "key a = 5; key b = @ 0x01; ".repeat(80)));
    assert_eq!(parsed.diagnostics.len(), 101);
    let last = parsed.diagnostics.last().unwrap();
    assert_eq!((last.code, last.message.as_str()), (Code::TooManyFaults, "60 more mistakes are not shown"));
}

#[test]
fn a_file_that_is_too_large_is_refused() {
    let parsed = parse(FileId(0), &" ".repeat(super::super::MAX_SOURCE_BYTES + 1));
    assert_eq!(parsed.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::UnreadableFile]);
}

#[test]
fn tokens_from_elsewhere_give_the_same_tree() {
    let text = "plan p; space s { key a = 0x01 x: (y: u8 | z: u16) scan all; }";
    assert_eq!(parse_tokens(FileId(0), &lex(FileId(0), text).tokens), parse(FileId(0), text));
}

/// Words and punctuation from which a text is thrown together.
const SOUP: &[&str] = &[
    "plan", "space", "key", "hash", "zset", "module", "type", "names", "import", "allot", "retired", "scan",
    "by", "all", "in", "order", "accept", "member", "score", "field", "same", "sha256", "as", "x", "u64",
    "bytes", "A", "0x01", "0x1", "5", "\"t\"", "b\"t\"", "\"", ";", ":", ",", ".", "=", "|", "(", ")", "{",
    "}", "%", "-", "->", "..=", "..", "/// d\n", "//! d\n", "// c\n", "/* c */", "/*", "@", "é", "'", "\n",
    " ",
];

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        check_spans(&text);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(text) = super::super::decode_source(FileId(0), &bytes) {
            check_spans(text);
        }
    }

    #[test]
    fn no_soup_of_tokens_makes_it_panic(
        start in prop::sample::select(vec!["", "plan p; ", "plan p; space s { key k = "]),
        words in prop::collection::vec(prop::sample::select(SOUP), 0..60),
    ) {
        check_spans(&format!("{start}{}", words.join(" ")));
    }

    #[test]
    fn a_text_without_errors_has_a_name(words in prop::collection::vec(prop::sample::select(SOUP), 0..8)) {
        let parsed = parse(FileId(0), &words.join(" "));
        prop_assert!(parsed.file.name.is_some() || !parsed.diagnostics.is_empty());
    }
}

/// Parses a text, whose diagnostics must lie inside of it, in order and without repeats.
fn check_spans(text: &str) {
    let diagnostics = parse(FileId(0), text).diagnostics;
    for diagnostic in &diagnostics {
        for label in &diagnostic.labels {
            assert!(text.get(label.span.range()).is_some(), "{diagnostic:?} of {text:?}");
        }
    }
    for pair in diagnostics.windows(2) {
        assert!(pair[0].span().start <= pair[1].span().start, "{pair:?} of {text:?}");
        assert!(pair[0] != pair[1], "{pair:?} of {text:?}");
    }
}

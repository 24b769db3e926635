//! The tree of a text, in a short form.

use super::super::*;
use super::{check, dedented};
use crate::syntax::ast::{
    Alternative, Atom, Body, Call, CallArg, Clause, Domain, FromBinding, FromSource, Literal, LiteralKind,
    Member, NameEntry, Part, RangeEnd, RefersBinding, RefersSource,
};

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
            let since = it.since.as_ref().map(|text| format!(" since {:?}", text.value)).unwrap_or_default();
            format!("retired {}{since} {:?}\n", parts(&prefix), it.why.value)
        }
        Member::Rule(it) => {
            let literals: Vec<Part> = it.literals.iter().cloned().map(Part::Literal).collect();
            let number = it.number.map(int);
            let about = &it.about.text;
            format!("rule {about} {number:?} {} {} {:?}\n", names(&it.words), parts(&literals), it.why.value)
        }
        Member::Drop(it) => format!("drop {} {:?}\n", names(&it.family.names), it.why.value),
        Member::Family(it) => {
            let clauses: String = it.clauses.iter().map(clause).collect();
            format!("{:?}{} {} {}\n{clauses}", it.kind, docs(&it.doc), it.name.text, parts(&it.parts))
        }
    }
}

fn clause(clause: &Clause) -> String {
    let shown = match clause {
        Clause::Value(it) => format!("value {}", body(it)),
        Clause::Scan(it) => {
            let bytes = |literals: &[Literal]| {
                parts(&literals.iter().cloned().map(Part::Literal).collect::<Vec<_>>())
            };
            let mut words = vec![if it.own { "own" } else { "scan" }.to_owned(), names(&it.by)];
            words.extend(it.bare.then(|| "bare".to_owned()));
            words.extend(it.end.as_ref().map(|end| match end {
                RangeEnd::Next(_) => "to next".to_owned(),
                RangeEnd::Before(literals) => format!("to {}", bytes(literals)),
                RangeEnd::Through(literals) => format!("through {}", bytes(literals)),
            }));
            words.extend(it.example.as_ref().map(|example| format!("as {}", bytes(&example.literals))));
            words.extend(it.with.iter().map(|path| format!("with {}", names(&path.names))));
            words.extend(it.filtered.then(|| "filtered".to_owned()));
            let shown = words.join(" ");
            format!("{shown}, in order: {}", it.in_order)
        }
        Clause::Accept(it) => {
            let of: Vec<String> = it.of.iter().map(|path| names(&path.names)).collect();
            format!("accept {} of {of:?} {:?}", it.kind.text, it.why.value)
        }
        Clause::Allot(it) => format!("allot {}", it.text),
        Clause::Retired(it) => {
            let since = it.since.as_ref().map(|text| format!(" since {:?}", text.value)).unwrap_or_default();
            format!("retired{since} {:?}", it.why.value)
        }
        Clause::Retain(it) => {
            let unit = it.unit.as_ref().map(|unit| unit.text.as_str());
            let newest = if it.newest { " newest" } else { "" };
            format!("retain{newest} {} {unit:?} {}", int(it.amount), names(&it.arguments))
        }
        Clause::Member(it) => format!("member {}", body(it)),
        Clause::Score(it) => format!("score {}", body(it)),
        Clause::Spread(it) => format!("spread {}", int(*it)),
        Clause::Named(it) => format!("named {:?}", it.value),
        Clause::From(it) => {
            let bindings: Vec<String> = it.bindings.iter().map(binding).collect();
            let rule = it.rule.as_ref().map_or("", |rule| &rule.text);
            format!("from {} {bindings:?} fitting: {} {rule:?}", names(&it.family.names), it.fitting)
        }
        Clause::Refers(it) => {
            let bindings: Vec<String> = it.bindings.iter().map(reference).collect();
            format!("refers to {} {bindings:?}", names(&it.family.names))
        }
        Clause::AllowBreak(it) => format!("allow break {} {:?}", names(&it.kinds), it.why.value),
        Clause::Field(it) => {
            let value = it.value.as_ref().map_or("no value".to_owned(), body);
            format!("field{} {} {} {value}", docs(&it.doc), it.name.text, parts(&it.parts))
        }
    };
    shown + "\n"
}

fn binding(binding: &FromBinding) -> String {
    match binding {
        FromBinding::Dropped(name) => format!("drop {}", name.text),
        FromBinding::Bound { name, source } => match source {
            FromSource::Argument(old) => format!("{} = {}", name.text, old.text),
            FromSource::Value(old) => format!("{} = value.{}", name.text, old.text),
            FromSource::Int(number) => format!("{} = {}", name.text, int(*number)),
            FromSource::Text(text) => format!("{} = text {}", name.text, text.value),
            FromSource::Bytes(bytes, _) => format!("{} = bytes {bytes:02x?}", name.text),
        },
    }
}

fn reference(binding: &RefersBinding) -> String {
    let name = &binding.name.text;
    match &binding.source {
        RefersSource::Named(path) => {
            let dotted: Vec<&str> = path.names.iter().map(|name| name.text.as_str()).collect();
            format!("{name} = {}", dotted.join("."))
        }
        RefersSource::Int(number) => format!("{name} = {}", int(*number)),
        RefersSource::Text(text) => format!("{name} = text {}", text.value),
        RefersSource::Bytes(bytes, _) => format!("{name} = bytes {bytes:02x?}"),
    }
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
        Part::Argument { doc, name, domain: it, .. } => {
            let doc = if doc.is_empty() { String::new() } else { format!("{doc:?} ") };
            format!("{doc}{}: {}", name.text, domain(it))
        }
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
fn arguments_have_documentation_and_families_another_name() {
    check_tree(
        "key k = 0x01 /// The pool.\n pool: u64 b: u8 named \"keyPools\";",
        r#"
            Key k [hex[01] ["The pool."] pool: u64 b: u8]
            named "keyPools"
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
fn families_say_which_rows_they_refer_to() {
    check_tree(
        "key k = 0x01 refers: u8 refers to s.m.j(a = b, c = value.d, e = -1, f = \"x\", g = 0x00ff, h = m.n.o) \
         refers to i;",
        r#"
            Key k [hex[01] refers: u8]
            refers to ["s", "m", "j"] ["a = b", "c = value.d", "e = -1", "f = text x", "g = bytes [00, ff]", "h = m.n.o"]
            refers to ["i"] []
        "#,
    );
}

#[test]
fn families_say_where_their_rows_come_from() {
    check_tree(
        "drop s.old \"empty\"; key k = 0x01 a: u8 \
         from s.m.j(a = b, c = value.d, e = -1, f = \"x\", g = 0x00ff, drop h) fitting park \
         from i allow break(moved, scan) \"twice\" allow break \"once\";",
        r#"
            drop ["s", "old"] "empty"
            Key k [hex[01] a: u8]
            from ["s", "m", "j"] ["a = b", "c = value.d", "e = -1", "f = text x", "g = bytes [00, ff]", "drop h"] fitting: true "park"
            from ["i"] [] fitting: false ""
            allow break ["moved", "scan"] "twice"
            allow break [] "once"
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
fn tokens_from_elsewhere_give_the_same_tree() {
    let text = "plan p; space s { key a = 0x01 x: (y: u8 | z: u16) scan all; }";
    assert_eq!(parse_tokens(FileId(0), &lex(FileId(0), text).tokens), parse(FileId(0), text));
}

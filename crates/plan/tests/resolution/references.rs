//! What a plan says of older plans and of rows elsewhere.

use crate::compiled;

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
        let text = format!("space s {{ key k = 0x01 a: u8 {clauses}; }}");
        compiled(&text).1
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
            "space s {{ key pool = 0x03 id: u64.dec; key by_hash = 0x04 h: bytes.hashed(xxh3_64); \
             key wide = 0x08 n: u256; key h4 = 0x05 h: bytes(4); key h8 = 0x07 h: bytes(8); key big = 0x06 n: u16(1000..=2000); \
             key k = 0x01 a: u8 digest: bytes.hashed(xxh3_64) \
             raw: bytes(32) twice: bytes(8).hashed(xxh3_64).hash_concat(xxh3_64) h: bytes(5) -> json {clauses}; }}"
        );
        compiled(&text).1
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
        said("refers to wide(n = raw)"),
        ["KP0211 `n` cannot come from here: it is bytes, and not an integer of 256 bits"]
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

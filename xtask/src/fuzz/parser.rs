use keyplan_plan::compile;
use keyplan_plan::diag::{Diagnostic, FileId, SourceMap, Style, render};
use keyplan_plan::dynamic::Decoder;
use keyplan_plan::syntax::decode_source;

/// Words and marks of the language.
pub(super) const WORDS: &[&[u8]] = &[
    b"plan p;",
    b"space s { ",
    b" }",
    b"module m = 0x02 { ",
    b"key k = ",
    b"hash h = ",
    b"zset z = ",
    b"set t = ",
    b"queue q = ",
    b"type T = ",
    b"names N = text { \"a\" }",
    b"import \"self.keyplan\";",
    b"allot 0x01..=0x0F a \"b\";",
    b"retired 0x0C \"w\";",
    b"scan by a in order",
    b"scan all",
    b"field f = ",
    b"member ",
    b"score ",
    b"accept overlap(k) \"w\"",
    b"-> ",
    b"0x01 ",
    b"\"lit\" ",
    b"b\"\\x00\" ",
    b"xxh3_64(\"a\") ",
    b"a: u64 ",
    b"b: i64.tick9 ",
    b"c: text(\"a-z\", 1..=8) ",
    b"d: bytes(20 | 32).hex ",
    b"e: list(u8).count16 ",
    b"f: option(u8) ",
    b"g: (x: 0x00 | y: 0x01 z: u8) ",
    b"same(a) ",
    b"slot = crc16(a) % 16384 ",
    b".len8",
    b".desc",
    b".hashed(sha256, 20)",
    b".terminated",
    b"/// doc\n",
    b"//! doc\n",
    b"// note\n",
    b"/* note */",
    b"(",
    b")",
    b"{",
    b"}",
    b";",
    b"..=",
    b"18446744073709551616",
    b"\n\n",
    b"\r\n",
    b"\t",
    b"\xef\xbb\xbf",
];

/// Any bytes as a plan give a model or an error, and every error lies inside of the text.
///
/// # Panics
///
/// If the claim does not hold.
pub fn parser(bytes: &[u8]) {
    let text = match decode_source(FileId(0), bytes) {
        Ok(text) => text,
        Err(diagnostic) => {
            assert!(diagnostic.span().range().start <= bytes.len(), "{diagnostic:?}");
            return;
        }
    };
    // The file is there under every name that it imports, so that circles are tried; `../x` in it makes a new name each
    // time, which has to end somewhere.
    let mut left = 3;
    let compiled = compile("fuzz.keyplan", text, |_| {
        left = (left - 1).max(0);
        if left > 0 { Ok(text.to_owned()) } else { Err("enough".to_owned()) }
    });
    for diagnostic in &compiled.diagnostics {
        inside(diagnostic, &compiled.sources);
    }
    let shown = render(&compiled.diagnostics, &compiled.sources, Style::Plain);
    let ids = || compiled.diagnostics.iter().map(|diagnostic| diagnostic.code.id());
    assert!(ids().all(|id| shown.contains(id)), "a finding that is not shown: {shown}");
    match &compiled.plan {
        None => assert!(compiled.errors().next().is_some(), "no meaning, and no reason why"),
        Some(plan) => {
            assert_eq!(plan.fingerprint(), plan.fingerprint());
            let _ = Decoder::new(plan).decode(0, bytes);
        }
    }
}

fn inside(diagnostic: &Diagnostic, sources: &SourceMap) {
    for label in &diagnostic.labels {
        let source = sources.get(label.span.file);
        let text = source.and_then(|source| source.text.get(label.span.range()));
        assert!(text.is_some(), "a label outside of the text or across a character: {diagnostic:?}");
    }
}

//! Texts that are too deep, too large or thrown together: an answer, and no panic.

use proptest::prelude::*;

use super::super::*;
use super::check;

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
fn a_file_that_is_too_large_is_refused() {
    let parsed = parse(FileId(0), &" ".repeat(super::super::super::MAX_SOURCE_BYTES + 1));
    assert_eq!(parsed.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::UnreadableFile]);
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
        if let Ok(text) = super::super::super::decode_source(FileId(0), &bytes) {
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

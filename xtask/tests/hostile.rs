//! Hostile input gets an answer with a place in it, soon, and never a panic.
//!
//! The time limits here are not about speed: they are so far above what is needed that only unbounded work meets them.

use std::time::{Duration, Instant};

use keyplan_plan::compile;
use keyplan_plan::diag::{FileId, Style, render};
use keyplan_plan::dynamic::{Decoder, parse, readings};
use keyplan_plan::model::Shape;
use keyplan_plan::syntax::{MAX_SOURCE_BYTES, decode_source, format};
use xtask::fuzz::{Rng, kept};

/// The codes of what is found in a plan, each once, in order of their places.
fn codes(text: &str) -> Vec<&'static str> {
    let start = Instant::now();
    let compiled = compile("hostile.keyplan", text, |_| Ok(text.to_owned()));
    let shown = render(&compiled.diagnostics, &compiled.sources, Style::Plain);
    let _ = format(text);
    assert!(start.elapsed() < Duration::from_mins(1), "took {:?}", start.elapsed());
    assert!(shown.len() < 1 << 20, "{} bytes of findings", shown.len());
    let mut codes: Vec<_> = compiled.diagnostics.iter().map(|diagnostic| diagnostic.code.id()).collect();
    codes.dedup();
    codes
}

fn nested(open: &str, inside: &str, close: &str) -> String {
    let depth = 10_000;
    format!("plan p; space s {{ key k = 0x01 {}{inside}{}; }}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn ten_thousand_levels_of_nesting_are_a_finding() {
    assert_eq!(codes(&nested("a: (", "b: u8", ")")), ["KP0104"]);
    let lists = format!("a: {}u8{}", "list(".repeat(10_000), ")".repeat(10_000));
    assert!(codes(&nested("", &lists, "")).contains(&"KP0104"));
    assert_eq!(codes(&nested("a: (x: ", "u8", " | y: 0x01)")), ["KP0104"]);
    let modules = |depth: usize| {
        let open = (0..depth).map(|n| format!("module m{n} = 0x02 {{ ")).collect::<Vec<_>>().concat();
        format!("plan p; space s {{ {open} key k = 0x01; {} }}", "}".repeat(depth))
    };
    assert_eq!(codes(&modules(10_000)), ["KP0104"]);
}

#[test]
fn ten_thousand_encodings_in_a_row_are_a_finding() {
    let text = format!("plan p; space s {{ key k = a: bytes{}; }}", ".desc".repeat(10_000));
    assert_eq!(codes(&text), ["KP0218"]);
    let type_of = |n: usize| format!("type T{n} = T{}{};\n", n - 1, ".desc".repeat(8));
    let types = (1..90).map(type_of).collect::<Vec<_>>().concat();
    let text = format!("plan p;\ntype T0 = bytes;\n{types}space s {{ key k = a: T89; }}");
    assert_eq!(codes(&text), Vec::<&str>::new());
}

#[test]
fn types_that_double_ten_thousand_times_are_a_finding() {
    let types: Vec<_> = (1..10_000).map(|n| format!("type T{n} = (a: T{0} b: T{0});\n", n - 1)).collect();
    let text = format!("plan p;\ntype T0 = u8;\n{}space s {{ key k = a: T9999; }}", types.concat());
    let found = codes(&text);
    assert_eq!(found, ["KP0218"]);
}

#[test]
fn an_import_of_itself_is_a_finding() {
    let text = "plan p;\nimport \"hostile.keyplan\";\n";
    assert_eq!(codes(text), ["KP0205"]);
}

#[test]
fn imports_that_never_end_are_a_finding() {
    // Every name that it asks for is given this text again, one folder further up.
    let text = "plan p;\nimport \"../hostile.keyplan\";\n";
    assert!(codes(text).contains(&"KP0218"), "{:?}", codes(text));
}

#[test]
fn a_line_of_a_mebibyte_is_read_or_refused() {
    let mebibyte = 1 << 20;
    assert_eq!(codes(&"a".repeat(mebibyte)), ["KP0102"]);
    assert_eq!(codes(&"(".repeat(mebibyte)), ["KP0102"]);
    assert_eq!(codes(&format!("plan p; // {}", "x".repeat(mebibyte))), Vec::<&str>::new());
    assert_eq!(codes(&format!("plan p; space s {{ key k = \"{}", "x".repeat(mebibyte))), ["KP0101"]);
    assert_eq!(codes(&"\u{1}".repeat(mebibyte)), ["KP0101", "KP0106"]);
    let digits = format!("plan p; space s {{ key k = a: u64(0..={}); }}", "9".repeat(mebibyte));
    assert_eq!(codes(&digits), ["KP0209", "KP0103"]);
    let literal = format!("plan p; space s {{ key k = 0x{}; }}", "00".repeat(mebibyte));
    assert_eq!(codes(&literal), Vec::<&str>::new());
}

#[test]
fn a_file_that_is_too_large_is_refused_unread() {
    let bytes = vec![b' '; MAX_SOURCE_BYTES + 1];
    assert_eq!(decode_source(FileId(0), &bytes).unwrap_err().code.id(), "KP0105");
    assert_eq!(codes(&" ".repeat(MAX_SOURCE_BYTES + 1)), ["KP0105"]);
}

#[test]
fn what_is_not_utf8_is_refused_at_its_first_bad_byte() {
    let mut rng = Rng::new(5);
    for _ in 0..1_000 {
        let bytes = rng.bytes(300);
        let valid = std::str::from_utf8(&bytes).map_err(|error| error.valid_up_to());
        let read = decode_source(FileId(0), &bytes).map_err(|diagnostic| diagnostic.span().range().start);
        assert_eq!(read, valid);
    }
}

#[test]
fn long_keys_of_one_byte_get_an_answer_under_every_layout() {
    for kept in kept() {
        for byte in [0x00, 0x01, b'/', b'0', b'a', 0x7f, 0x80, 0xff] {
            for layout in kept.layouts() {
                let mut key = vec![byte; 2_000];
                let start = Instant::now();
                let _ = readings(layout, &key, 2);
                key.splice(..0, layout.literal_prefix());
                let _ = readings(layout, &key, 2);
                let time = start.elapsed();
                assert!(time < Duration::from_secs(20), "{}: {layout:?} took {time:?}", kept.path);
            }
        }
    }
}

#[test]
fn a_key_of_a_mebibyte_gets_an_answer_in_every_space() {
    let key = vec![b'a'; 1 << 20];
    for kept in kept() {
        let decoder = Decoder::new(&kept.plan);
        for space in 0..kept.plan.spaces.len() {
            let start = Instant::now();
            let _ = decoder.decode_all(space, &key, 2);
            let time = start.elapsed();
            assert!(time < Duration::from_secs(30), "{} space {space} took {time:?}", kept.path);
        }
    }
}

#[test]
fn values_nested_ten_thousand_deep_are_refused() {
    let deep = ["(".repeat(10_000), "[".repeat(10_000), "some(".repeat(10_000), "spread(".repeat(10_000)];
    let mut refused = 0;
    for kept in kept() {
        for argument in kept.layouts().iter().flat_map(|layout| layout.arguments()) {
            for text in &deep {
                match parse(&argument.shape, text) {
                    Ok(_) if is_hashed(&argument.shape) => {}
                    // Brackets are characters of a text like others.
                    Ok(value) => {
                        let shown = value.display(&argument.shape).to_string();
                        assert!(shown.contains(text.as_str()), "{}: {:?}", kept.path, argument.name);
                    }
                    Err(_) => refused += 1,
                }
            }
        }
    }
    assert_ne!(refused, 0, "no domain of the plans has brackets of its own");
}

/// Whether only a hash is kept of what is inside of a shape.
fn is_hashed(shape: &Shape) -> bool {
    matches!(shape, Shape::Hashed { .. }) || shape.children().any(is_hashed)
}

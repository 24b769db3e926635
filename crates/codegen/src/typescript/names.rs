//! From the names of a plan to those of TypeScript.

use std::fmt::Write as _;

use crate::naming::Scope;
pub(crate) use crate::naming::pascal;

/// Words that no variable may be called.
const KEYWORDS: [&str; 55] = [
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
    "bounds",
    // Functions that are there for everyone.
    "globalThis",
    "isFinite",
    "isNaN",
    "parseFloat",
    "parseInt",
];

/// `pool_id` as `poolId`.
pub(crate) fn camel(name: &str) -> String {
    small(&pascal(name))
}

/// The name of a type as that of a variable: `Tick_2` as `tick_2`.
pub(crate) fn small(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
}

/// A scope of variables: none is called like a word of the language.
pub(crate) fn variables() -> Scope {
    let mut scope = Scope::default();
    scope.reserve(KEYWORDS);
    scope
}

/// A string literal of any text.
pub(crate) fn text(text: &str) -> String {
    let mut out = String::from("'");
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte @ (b'\'' | b'\\')) => out.extend(['\\', char::from(byte)]),
            Ok(byte @ 0x20..0x7f) => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out.push('\'');
    out
}

/// A string literal with a character for each byte.
pub(crate) fn bytes(bytes: &[u8]) -> String {
    let mut out = String::from("'");
    for &byte in bytes {
        match byte {
            b'\'' | b'\\' => out.extend(['\\', char::from(byte)]),
            0x20..0x7f => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out.push('\'');
    out
}

/// Lines as a comment for tools.
pub(crate) fn doc(indent: &str, lines: &[String]) -> String {
    let lines: Vec<String> =
        lines.iter().flat_map(|line| line.split('\n')).map(|line| line.trim().replace("*/", "* /")).collect();
    match lines.as_slice() {
        [] => String::new(),
        [one] => format!("{indent}/** {one} */\n"),
        many => {
            let mut out = format!("{indent}/**\n");
            for line in many {
                let _ = writeln!(out, "{}", format!("{indent} * {line}").trim_end());
            }
            let _ = writeln!(out, "{indent} */");
            out
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_typescript_expects() {
        assert_eq!(["pool_id", "tick", "_x", "0"].map(pascal), ["PoolId", "Tick", "X", "N0"]);
        assert_eq!(["pool_id", "type", "id", "a.b"].map(camel), ["poolId", "type", "id", "aB"]);
        assert_eq!(text("a'\u{0}\u{1f600}"), r"'a\'\u0000\ud83d\ude00'");
        assert_eq!(bytes(b"a'\\\x00\xff"), r"'a\'\\\x00\xff'");
    }

    #[test]
    fn names_that_meet_are_numbered_in_their_order() {
        let mut scope = variables();
        assert_eq!(["new", "a1", "a1"].map(|name| scope.fresh(name)), ["new_2", "a1", "a1_2"]);
    }

    #[test]
    fn a_comment_cannot_be_ended_by_what_it_says() {
        assert_eq!(doc("  ", &["a */ b".to_owned()]), "  /** a * / b */\n");
    }
}

//! From the names of a plan to those of Go.

use std::fmt::Write as _;

/// Words that Go writes in capitals: those that its linters ask for.
const INITIALISMS: [&str; 37] = [
    "acl", "api", "ascii", "cpu", "css", "dns", "eof", "gid", "guid", "html", "http", "https", "id", "ip",
    "json", "qps", "ram", "rpc", "sla", "smtp", "sql", "ssh", "tcp", "tls", "ttl", "udp", "ui", "uid", "uri",
    "url", "utf8", "uuid", "vm", "xml", "xmpp", "xsrf", "xss",
];

/// Words that no variable may be called: keywords, what is declared for everyone, imports, and what generated code calls its own.
const TAKEN: [&str; 63] = [
    "break",
    "case",
    "chan",
    "const",
    "continue",
    "default",
    "defer",
    "else",
    "fallthrough",
    "for",
    "func",
    "go",
    "goto",
    "if",
    "import",
    "interface",
    "map",
    "package",
    "range",
    "return",
    "select",
    "struct",
    "switch",
    "type",
    "var",
    "append",
    "cap",
    "copy",
    "len",
    "make",
    "new",
    "nil",
    "string",
    "error",
    "true",
    "false",
    "bool",
    "byte",
    "int",
    "int64",
    "uint64",
    "uint32",
    "uint16",
    "uint8",
    "int32",
    "int16",
    "int8",
    "float64",
    "bytes",
    "errors",
    "fmt",
    "strings",
    "binary",
    "math",
    "bits",
    "time",
    "strconv",
    "dst",
    "err",
    "f",
    "k",
    "r",
    "start",
];

/// `owner_position` as `OwnerPosition`, `pool_id` as `PoolID`.
pub(crate) fn exported(name: &str) -> String {
    let mut out = String::new();
    for word in name.split(['_', '.']).filter(|word| !word.is_empty()) {
        if INITIALISMS.contains(&word) {
            out.push_str(&word.to_ascii_uppercase());
            continue;
        }
        let mut letters = word.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    if out.is_empty() || out.starts_with(|first: char| first.is_ascii_digit()) {
        out.insert(0, 'N');
    }
    out
}

/// `pool_id` as `poolID`, with `_` after it where the word means something else.
pub(crate) fn local(name: &str) -> String {
    let exported = exported(name);
    let head = name.split('_').find(|word| !word.is_empty()).unwrap_or("n");
    let rest = exported.get(head.len()..).unwrap_or_default();
    let name = format!("{head}{rest}");
    let name = if name.starts_with(|first: char| first.is_ascii_digit()) { format!("n{name}") } else { name };
    if TAKEN.contains(&name.as_str()) { format!("{name}_") } else { name }
}

/// What Go takes for a system or a processor at the end of a file's name: it leaves out the files of others.
const SYSTEMS: [&str; 42] = [
    "aix",
    "android",
    "darwin",
    "dragonfly",
    "freebsd",
    "hurd",
    "illumos",
    "ios",
    "js",
    "linux",
    "nacl",
    "netbsd",
    "openbsd",
    "plan9",
    "solaris",
    "wasip1",
    "windows",
    "zos",
    "386",
    "amd64",
    "amd64p32",
    "arm",
    "armbe",
    "arm64",
    "arm64be",
    "loong64",
    "mips",
    "mipsle",
    "mips64",
    "mips64le",
    "mips64p32",
    "mips64p32le",
    "ppc",
    "ppc64",
    "ppc64le",
    "riscv",
    "riscv64",
    "s390",
    "s390x",
    "sparc",
    "sparc64",
    "wasm",
];

/// The name of a space as that of a file, up to its first dot. Go leaves out files whose name begins with `_`, and those whose
/// last word up to there is a system.
pub(crate) fn file(space: &str) -> String {
    let name = space.trim_start_matches('_');
    let before_test = name.strip_suffix("_test").unwrap_or(name);
    let word = before_test.rsplit_once('_').map(|(_, word)| word);
    match word {
        _ if name.is_empty() => "keys".to_owned(),
        Some(word) if SYSTEMS.contains(&word) => format!("{name}_keys"),
        _ => name.to_owned(),
    }
}

/// A Go string literal of any bytes.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            0x20..0x7f => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naming::Scope;

    #[test]
    fn names_are_those_that_go_expects() {
        assert_eq!(["pool_id", "tick", "_x", "0"].map(exported), ["PoolID", "Tick", "X", "N0"]);
        assert_eq!(["rpc_node", "tx_sql", "idle"].map(exported), ["RPCNode", "TxSQL", "Idle"]);
        assert_eq!(["pool_id", "type", "id", "url_map"].map(local), ["poolID", "type_", "id", "urlMap"]);
        assert_eq!(quoted(b"a\"\x00\xff"), "\"a\\\"\\x00\\xff\"");
    }

    #[test]
    fn go_compiles_the_file_of_every_space() {
        let spaces = [
            "dex",
            "js",
            "state_windows",
            "a_js_wasm",
            "x_linux_test",
            "x_test",
            "_hidden",
            "__",
            "windows_2",
        ];
        let files = [
            "dex",
            "js",
            "state_windows_keys",
            "a_js_wasm_keys",
            "x_linux_test_keys",
            "x_test",
            "hidden",
            "keys",
            "windows_2",
        ];
        assert_eq!(spaces.map(file), files);
    }

    #[test]
    fn names_that_meet_are_numbered_in_their_order() {
        let mut scope = Scope::default();
        assert_eq!(["A1", "A1", "A1"].map(|name| scope.fresh(name)), ["A1", "A1_2", "A1_3"]);
    }
}

//! Which lines of a file of vectors are wrong.

use serde_json::json;

use super::counted;

/// A line for each, and how many there are.
pub fn vectors(file: &str, lines: usize, wrong: &[(usize, &str)]) -> String {
    let mut out = String::new();
    for (line, what) in wrong {
        put!(out, "{file}:{line}: {what}\n");
    }
    put!(out, "{}, {} wrong\n", counted(lines, "line", "lines"), wrong.len());
    out
}

/// The same as an object.
pub fn vectors_json(file: &str, lines: usize, wrong: &[(usize, &str)]) -> Vec<u8> {
    let wrong: Vec<_> = wrong.iter().map(|(line, what)| json!({"line": line, "what": what})).collect();
    format!("{}\n", json!({"file": file, "lines": lines, "wrong": wrong})).into_bytes()
}

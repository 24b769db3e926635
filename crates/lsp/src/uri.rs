//! Files as editors name them: `file:///plans/a%20b.keyplan`.

use std::fmt::Write;

/// The path of a file; other documents, such as those that were never saved, are named by their whole URI.
pub(crate) fn path_of(uri: &str) -> String {
    let Some(encoded) = uri.strip_prefix("file://") else { return uri.to_owned() };
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let escaped = (first == b'%')
            .then(|| behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok()))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(byte) = escaped {
            bytes.push(byte);
            rest = behind.get(2..).unwrap_or_default();
        } else {
            bytes.push(first);
            rest = behind;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The URI of a path.
pub(crate) fn uri_of(path: &str) -> String {
    if !path.starts_with('/') {
        return path.to_owned();
    }
    let mut out = String::from("file://");
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' => {
                out.push(char::from(byte));
            }
            byte => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_both_ways() {
        for path in ["/plans/a.keyplan", "/a b/é%.keyplan", "untitled:Untitled-1"] {
            assert_eq!(path_of(&uri_of(path)), path);
        }
        assert_eq!(path_of("file:///a%20b%zz"), "/a b%zz");
    }
}

//! JSON laid out again without being understood: numbers keep their digits and objects their order.

use serde::de::IgnoredAny;

/// `text` with a line for each element, if it is JSON.
pub fn indented(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut depth = 0usize;
    let mut tokens = Tokens::of(text)?.peekable();
    while let Some(token) = tokens.next() {
        match token {
            "{" | "[" => {
                out.push_str(token);
                // An empty object or list stays on its line.
                if let Some(close) = tokens.next_if(|next| matches!(*next, "}" | "]")) {
                    out.push_str(close);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            "}" | "]" => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push_str(token);
            }
            "," => {
                out.push(',');
                new_line(&mut out, depth);
            }
            ":" => out.push_str(": "),
            token => out.push_str(token),
        }
    }
    Some(out)
}

/// `text` without the space between its tokens, if it is JSON.
pub fn compact(text: &str) -> Option<String> {
    Tokens::of(text).map(Iterator::collect)
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
}

/// The tokens of text that is known to be JSON.
struct Tokens<'t> {
    rest: &'t str,
}

impl<'t> Tokens<'t> {
    fn of(text: &'t str) -> Option<Self> {
        serde_json::from_str::<IgnoredAny>(text).ok()?;
        Some(Self { rest: text })
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let rest = self.rest.trim_start();
        let first = rest.chars().next()?;
        let end = match first {
            '"' => {
                let mut escaped = false;
                let close = rest.char_indices().skip(1).find(|(_, c)| {
                    let closes = *c == '"' && !escaped;
                    escaped = *c == '\\' && !escaped;
                    closes
                });
                close.map_or(rest.len(), |(at, _)| at + 1)
            }
            '{' | '}' | '[' | ']' | ',' | ':' => 1,
            _ => rest
                .find(|c: char| matches!(c, '}' | ']' | ',') || c.is_ascii_whitespace())
                .unwrap_or(rest.len()),
        };
        let (token, behind) = rest.split_at_checked(end)?;
        self.rest = behind;
        Some(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_digits_stay() {
        let text = r#" {"b": 1e400, "a":["x\"y,:", {}, [ ]], "n": 123456789012345678901234567890 }"#;
        let wide = "{\n  \"b\": 1e400,\n  \"a\": [\n    \"x\\\"y,:\",\n    {},\n    []\n  ],\n  \
                    \"n\": 123456789012345678901234567890\n}";
        assert_eq!(indented(text).as_deref(), Some(wide));
        let narrow = r#"{"b":1e400,"a":["x\"y,:",{},[]],"n":123456789012345678901234567890}"#;
        assert_eq!(compact(text).as_deref(), Some(narrow));
        assert_eq!(indented("{"), None);
    }
}

//! Where somebody is: what comes after the `?` of the page's address, so that both are opened at the same places.

use std::fmt::{self, Write as _};

use crate::params::Params;

/// What of an address says which rows are shown.
const ROWS: [&str; 13] = [
    "family", "scan", "from", "to", "rev", "after", "before", "height", "space", "only", "group", "prefix",
    "limit",
];

/// Names and values, in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Address(Vec<(String, String)>);

impl Address {
    /// Reads `family=cl.tick&scan=1&a.pool_id=7`, with or without a `?` before it.
    pub(super) fn parse(text: &str) -> Self {
        let text = text.trim().trim_start_matches('?');
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (unescaped(name), unescaped(value))
        });
        Self(pairs.collect())
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name)?;
        Some(found.1.as_str()).filter(|value| !value.is_empty())
    }

    /// The same with a value in place of the one that was there; an empty one takes the name away.
    #[must_use]
    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.0.retain(|(known, _)| known != name);
        if !value.is_empty() {
            self.0.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// The same without some names; `a.` stands for all that begin so.
    #[must_use]
    pub(super) fn without(mut self, names: &[&str]) -> Self {
        let is_left_out = |known: &str| {
            names.iter().any(|name| *name == known || (name.ends_with('.') && known.starts_with(name)))
        };
        self.0.retain(|(known, _)| !is_left_out(known));
        self
    }

    /// Another view at the same height.
    pub(super) fn view(&self, name: &str) -> Self {
        Self::default().with("v", name).with("height", self.get("height").unwrap_or_default())
    }

    /// A family at the same height.
    pub(super) fn family(&self, path: &str) -> Self {
        self.view("").with("family", path)
    }

    /// What is asked for the rows.
    pub(super) fn rows(&self) -> Params {
        let is_kept = |name: &str| ROWS.contains(&name) || name.starts_with("a.");
        Params::new(self.0.iter().filter(|(name, _)| is_kept(name)).cloned().collect())
    }

    /// Some of its pairs.
    pub(super) fn only(&self, names: &[&str]) -> Params {
        Params::new(self.0.iter().filter(|(name, _)| names.contains(&name.as_str())).cloned().collect())
    }

    /// The arguments that the scan binds, in words.
    pub(super) fn bound(&self) -> Vec<(&str, &str)> {
        let all = self.0.iter();
        all.filter_map(|(name, value)| Some((name.strip_prefix("a.")?, value.as_str()))).collect()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, value)) in self.0.iter().enumerate() {
            let between = if at == 0 { "" } else { "&" };
            write!(f, "{between}{}={}", escaped(name), escaped(value))?;
        }
        Ok(())
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._*@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn unescaped(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        let digits = behind.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match (byte, digits.and_then(|two| u8::from_str_radix(two, 16).ok())) {
            (b'%', Some(escaped)) => {
                out.push(escaped);
                rest = behind.get(2..).unwrap_or_default();
            }
            (b'+', _) => out.push(b' '),
            _ => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_that_of_the_page() {
        let one = Address::parse("?family=cl.tick&scan=1&a.pool_id=7&from=%2D5&group=a+b%26");
        assert_eq!(one.get("from"), Some("-5"));
        assert_eq!(one.get("group"), Some("a b&"));
        assert_eq!(one.bound(), [("pool_id", "7")]);
        assert_eq!(Address::parse(&one.to_string()), one);
        assert_eq!(one.clone().without(&["a.", "from", "group", "scan"]).to_string(), "family=cl.tick");
        assert_eq!(one.with("family", "").get("family"), None);
        // Half an escape is text.
        assert_eq!(unescaped("100%&%zz%4"), "100%&%zz%4");
    }
}

//! What a page is asked, and why it has no answer.

use keyplan_report::key_text::{self, KeyText};

/// Names and values, as in the query of an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Params(Vec<(String, String)>);

impl Params {
    /// These pairs.
    pub const fn new(pairs: Vec<(String, String)>) -> Self {
        Self(pairs)
    }

    /// Pairs without escapes, `family=s.pool&limit=3`, as tests and the terminal write them.
    pub fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (name.to_owned(), value.to_owned())
        });
        Self(pairs.collect())
    }

    /// Adds a pair.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.0.push((name.to_owned(), value.into()));
        self
    }

    /// The value of a name, unless it is empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name)?;
        Some(found.1.as_str()).filter(|value| !value.is_empty())
    }

    /// The value of a name that must be there.
    pub fn need(&self, name: &str) -> Result<&str, Problem> {
        self.get(name).ok_or_else(|| Problem::Asked(format!("`{name}` is missing")))
    }

    /// Whether a name is there and not `0`.
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value != "0")
    }

    /// A number of at most `most`.
    pub fn number(&self, name: &str, default: usize, most: usize) -> Result<usize, Problem> {
        let Some(text) = self.get(name) else { return Ok(default) };
        let number: usize =
            text.parse().map_err(|_| Problem::Asked(format!("`{name}={text}` is not a number")))?;
        Ok(number.min(most))
    }

    /// The height that is asked for, where a database keeps several.
    pub fn height(&self) -> Result<Option<u64>, Problem> {
        let Some(text) = self.get("height") else { return Ok(None) };
        text.parse().map(Some).map_err(|_| Problem::Asked(format!("`{text}` is not a height")))
    }

    /// Bytes as hex digits.
    pub fn hex(&self, name: &str) -> Result<Option<Vec<u8>>, Problem> {
        let Some((_, text)) = self.0.iter().find(|(known, _)| known == name) else { return Ok(None) };
        let mut out = Vec::new();
        key_text::read(text.as_bytes(), KeyText::Hex, &mut out)
            .map_err(|error| Problem::Asked(format!("`{name}` is not bytes in hex: {error}")))?;
        Ok(Some(out))
    }

    /// The values of all names that begin with `front`, such as those of `a.pool_id` and `a.tick` for `a.`.
    pub fn behind<'a>(&'a self, front: &'a str) -> Vec<(&'a str, &'a str)> {
        let all = self.0.iter();
        all.filter_map(|(name, value)| Some((name.strip_prefix(front)?, value.as_str())))
            .filter(|(_, value)| !value.is_empty())
            .collect()
    }

    /// All pairs whose names are not `left_out`, in an order that does not depend on how they were typed.
    pub(crate) fn canonical(&self, left_out: &[&str]) -> String {
        let kept =
            self.0.iter().filter(|(name, value)| !left_out.contains(&name.as_str()) && !value.is_empty());
        let mut pairs: Vec<&(String, String)> = kept.collect();
        pairs.sort();
        pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
    }
}

/// Why a page has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// What was asked makes no sense.
    #[error("{0}")]
    Asked(String),
    /// There is no such thing.
    #[error("{0}")]
    Absent(String),
    /// Too much goes on at once.
    #[error("{0}")]
    Busy(String),
    /// The database could not be read.
    #[error("{0}")]
    Failed(String),
}

impl Problem {
    /// The database could not be read.
    pub(crate) fn failed(error: impl std::fmt::Display) -> Self {
        Self::Failed(error.to_string())
    }
}

//! Keys that a finding is about, as what they are made of, and the command that makes each again.

use std::fmt::Write as _;

/// The longest command that a person would paste.
const LONGEST: usize = 400;

/// How a key of a finding is made again: by which layout, and of which arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// What the caller knows the plan's file by.
    pub plan: String,
    /// The path of the family.
    pub family: String,
    /// Which layout of it.
    pub part: RecipePart,
    /// The arguments by name, as people type them.
    pub arguments: Vec<(String, String)>,
    /// How much of the layout is made.
    pub extent: RecipeExtent,
}

/// Which layout of a family a [`Recipe`] follows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecipePart {
    /// Its keys.
    Key,
    /// The field of this name.
    Field(String),
    /// Its members.
    Member,
    /// Its scores.
    Score,
}

/// How much of a layout a [`Recipe`] makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecipeExtent {
    /// All of it.
    Whole,
    /// The prefix of a scan.
    Prefix,
    /// What comes before the first argument that is not given, as at the end of a range.
    Front,
}

impl Recipe {
    /// The line that prints the bytes in a shell; `None` if it would be too long or cannot be typed.
    ///
    /// ```
    /// use keyplan_plan::diag::{Recipe, RecipeExtent, RecipePart};
    ///
    /// let recipe = Recipe {
    ///     plan: "demo.keyplan".to_owned(),
    ///     family: "s.pool".to_owned(),
    ///     part: RecipePart::Key,
    ///     arguments: vec![("a".to_owned(), "x y".to_owned())],
    ///     extent: RecipeExtent::Whole,
    /// };
    /// assert_eq!(recipe.command().as_deref(), Some("keyplan encode demo.keyplan s.pool a='x y' --unguarded"));
    /// ```
    pub fn command(&self) -> Option<String> {
        let mut words = vec!["keyplan encode".to_owned(), quoted(&self.plan)?, self.family.clone()];
        match &self.part {
            RecipePart::Key => {}
            RecipePart::Field(name) => words.push(format!("--field {name}")),
            RecipePart::Member => words.push("--member".to_owned()),
            RecipePart::Score => words.push("--score".to_owned()),
        }
        for (name, value) in &self.arguments {
            words.push(format!("{name}={}", quoted(value)?));
        }
        let flag = match self.extent {
            RecipeExtent::Whole => "--unguarded",
            RecipeExtent::Prefix => "--scan",
            RecipeExtent::Front => "--front",
        };
        words.push(flag.to_owned());
        let command = words.join(" ");
        (command.len() <= LONGEST).then_some(command)
    }
}

/// A word as a shell takes it; `None` if no shell can be given it.
fn quoted(word: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return Some(word.to_owned());
    }
    if word.contains('\0') {
        return None;
    }
    let hidden = |c: char| c.is_control() || (!c.is_ascii() && !c.is_alphanumeric());
    if !word.chars().any(hidden) {
        return Some(format!("'{}'", word.replace('\'', r"'\''")));
    }
    let mut out = String::from("$'");
    for c in word.chars() {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            c if hidden(c) => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    // Writing to a string does not fail.
                    let _ = write!(out, "\\x{byte:02x}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('\'');
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        let quoted = |word: &str| quoted(word).unwrap_or_default();
        assert_eq!(quoted("channel-1/a:b"), "channel-1/a:b");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a b'c"), r"'a b'\''c'");
        assert_eq!(quoted("a'\n\u{202e}\\"), r"$'a\'\x0a\xe2\x80\xae\\'");
        assert_eq!(super::quoted("a\0"), None);
    }
}

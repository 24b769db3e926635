use crate::diag::Span;

/// A token and where it is.
///
/// Every token is one that Rust's own lexer knows, so a macro can make them from the tokens it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is.
    pub span: Span,
}

/// What a [`Token`] is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or a word of the language; the parser tells them apart by what is around them.
    Ident(String),
    /// A decimal number.
    Int(u128),
    /// The digits after `0x`, without `_`: bytes among parts, a number in ranges.
    Hex(String),
    /// A string, escapes resolved.
    Text(String),
    /// A byte string, escapes resolved.
    Bytes(Vec<u8>),
    /// A line of `///` documentation, without the marker and the space after it.
    Doc(String),
    /// A line of `//!` documentation, without the marker and the space after it.
    FileDoc(String),
    /// `;`
    Semicolon,
    /// `:`
    Colon,
    /// `,`
    Comma,
    /// `.`
    Dot,
    /// `=`
    Equals,
    /// `|`
    Bar,
    /// `(`
    OpenParen,
    /// `)`
    CloseParen,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// `%`
    Percent,
    /// `-`
    Minus,
    /// `->`
    Arrow,
    /// `..=`
    RangeInclusive,
    /// `..`
    Range,
}

impl TokenKind {
    /// The text of a token that is always written the same way; `None` for names, literals and documentation.
    pub const fn fixed(&self) -> Option<&'static str> {
        Some(match self {
            Self::Semicolon => ";",
            Self::Colon => ":",
            Self::Comma => ",",
            Self::Dot => ".",
            Self::Equals => "=",
            Self::Bar => "|",
            Self::OpenParen => "(",
            Self::CloseParen => ")",
            Self::OpenBrace => "{",
            Self::CloseBrace => "}",
            Self::Percent => "%",
            Self::Minus => "-",
            Self::Arrow => "->",
            Self::RangeInclusive => "..=",
            Self::Range => "..",
            Self::Ident(_)
            | Self::Int(_)
            | Self::Hex(_)
            | Self::Text(_)
            | Self::Bytes(_)
            | Self::Doc(_)
            | Self::FileDoc(_) => return None,
        })
    }

    /// The token as a message names it: "`;`", "`pool`", "a string".
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Ident(name) => format!("`{}`", shortened(name)),
            Self::Int(value) => format!("`{value}`"),
            Self::Hex(digits) => format!("`0x{}`", shortened(digits)),
            Self::Text(_) => "a string".to_owned(),
            Self::Bytes(_) => "a byte string".to_owned(),
            Self::Doc(_) | Self::FileDoc(_) => "documentation".to_owned(),
            other => format!("`{}`", other.fixed().unwrap_or_default()),
        }
    }
}

/// A name of any length, cut so that a message stays a line.
pub(super) fn shortened(name: &str) -> String {
    const LONGEST: usize = 40;
    if name.chars().count() <= LONGEST {
        return name.to_owned();
    }
    let mut short: String = name.chars().take(LONGEST).collect();
    short.push('…');
    short
}

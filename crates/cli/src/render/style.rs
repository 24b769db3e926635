use std::fmt::Display;

use anstyle::{AnsiColor, Style};

/// What went wrong.
pub(crate) const ERROR: Style = AnsiColor::BrightRed.on_default().bold();
/// What went well.
pub(crate) const GOOD: Style = AnsiColor::BrightGreen.on_default().bold();
/// The name of a family or an argument.
pub(crate) const NAME: Style = AnsiColor::BrightCyan.on_default().bold();
/// What matters.
pub(crate) const STRONG: Style = Style::new().bold();
/// What is there for completeness.
pub(crate) const DIM: Style = Style::new().dimmed();

/// `text` in a style.
pub(crate) fn painted(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Text of somebody else, without the characters that would move a terminal's cursor or change its colours.
pub(crate) fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}

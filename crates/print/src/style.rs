//! Styles of text, and text that is safe to show.

use std::borrow::Cow;
use std::fmt::Display;

use anstyle::{AnsiColor, Style};
use keyplan_plan::notation::{is_hidden, visible};

/// What went wrong.
pub const ERROR: Style = AnsiColor::BrightRed.on_default().bold();
/// What went well.
pub const GOOD: Style = AnsiColor::BrightGreen.on_default().bold();
/// The name of a family or an argument.
pub const NAME: Style = AnsiColor::BrightCyan.on_default().bold();
/// What matters.
pub const STRONG: Style = Style::new().bold();
/// What is there for completeness.
pub const DIM: Style = Style::new().dimmed();

/// Stands for the two characters that begin a style on a terminal, until text is printed. It is not a character of any
/// script, so that what is not ours can be told from what is: see [`shown`].
const MARK: char = '\u{fdd0}';

/// `text` in a style.
pub fn painted(style: Style, text: impl Display) -> String {
    format!("{}{text}{}", marked(&style.render().to_string()), marked(&style.render_reset().to_string()))
}

/// Text that a renderer has styled for a terminal, and in which every other escape was made visible by it.
pub fn marked(rendered: &str) -> String {
    rendered.replace("\u{1b}[", "\u{fdd0}")
}

/// Text as it may reach a terminal: the styles of this program as a terminal takes them, or none, and every other character
/// that would act on it written as its number.
pub fn shown(text: &str, colours: bool) -> Cow<'_, str> {
    if !text.chars().any(|c| c == MARK || is_hidden(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split(MARK);
    out.push_str(&visible(pieces.next().unwrap_or_default()));
    for piece in pieces {
        let parameters = piece.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
        let (style, rest) = piece.split_at(parameters);
        match rest.strip_prefix('m') {
            Some(rest) => {
                if colours {
                    out.extend(["\u{1b}[", style, "m"]);
                }
                out.push_str(&visible(rest));
            }
            None => out.push_str(&visible(piece)),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_styles_of_this_program_reach_a_terminal() {
        let text = format!("{} \u{1b}[31m\u{9b}2J\u{202e}\r\n", painted(STRONG, "a"));
        assert_eq!(shown(&text, true), "\u{1b}[1ma\u{1b}[0m \\u{1b}[31m\\u{9b}2J\\u{202e}\\u{d}\n");
        assert_eq!(shown(&text, false), "a \\u{1b}[31m\\u{9b}2J\\u{202e}\\u{d}\n");
        assert_eq!(shown("plain\ttext\n", true), "plain\ttext\n");
        assert_eq!(shown("\u{fdd0}x\u{fdd0}", false), "x");
    }
}

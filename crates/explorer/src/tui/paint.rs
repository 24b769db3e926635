//! Colours, numbers, and text on one line. Nothing is said by a colour only.

use keyplan_plan::notation::visible;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

/// What a piece of text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Plain,
    Faint,
    Bold,
    Good,
    Warn,
    Bad,
    /// The bytes and the name of an argument: the same name has the same colour everywhere.
    Lane(String),
}

/// Text and what it is.
pub(super) type Piece = (String, Ink);

/// Which colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Theme {
    Dark,
    Light,
    /// None at all: bold, underlined and reversed text says the same.
    Plain,
}

const DARK: [Color; 6] = [
    Color::LightCyan,
    Color::LightGreen,
    Color::LightYellow,
    Color::LightMagenta,
    Color::LightBlue,
    Color::LightRed,
];
const LIGHT: [Color; 6] =
    [Color::Blue, Color::Magenta, Color::Red, Color::Cyan, Color::Green, Color::Indexed(94)];

impl Theme {
    /// The next one.
    pub(super) const fn turned(self) -> Self {
        match self {
            Self::Dark => Self::Light,
            Self::Light => Self::Plain,
            Self::Plain => Self::Dark,
        }
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Dark => "colours for a dark terminal",
            Self::Light => "colours for a light terminal",
            Self::Plain => "no colours",
        }
    }

    pub(super) fn style(self, ink: &Ink) -> Style {
        let plain = Style::new();
        let coloured = |dark: Color, light: Color| match self {
            Self::Dark => plain.fg(dark),
            Self::Light => plain.fg(light),
            Self::Plain => plain,
        };
        match ink {
            Ink::Plain => plain,
            Ink::Faint => coloured(Color::Gray, Color::DarkGray).add_modifier(Modifier::DIM),
            Ink::Bold => plain.add_modifier(Modifier::BOLD),
            Ink::Good => coloured(Color::LightGreen, Color::Green),
            Ink::Warn => coloured(Color::LightYellow, Color::Indexed(94)).add_modifier(Modifier::BOLD),
            Ink::Bad => coloured(Color::LightRed, Color::Red).add_modifier(Modifier::BOLD),
            Ink::Lane(name) => {
                let at = name.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
                let pick = |all: [Color; 6]| {
                    let at = usize::try_from(at).unwrap_or_default() % all.len();
                    all.get(at).copied().unwrap_or(Color::Reset)
                };
                coloured(pick(DARK), pick(LIGHT))
            }
        }
    }

    /// A line of a screen. All text of the terminal comes by here: what would act on it is written as its number.
    pub(super) fn line(self, pieces: &[Piece]) -> Line<'static> {
        let spans = pieces.iter().map(|(text, ink)| Span::styled(flat(text), self.style(ink)));
        Line::from(spans.collect::<Vec<_>>())
    }
}

/// The sign of a verdict, with its word where there is room.
pub(super) fn mark(word: &str) -> (&'static str, Ink) {
    match word {
        "proved" => ("✓", Ink::Good),
        "assumed" => ("≈", Ink::Plain),
        "refuted" => ("✗", Ink::Bad),
        "accepted" => ("!", Ink::Warn),
        "endless" => ("∞", Ink::Plain),
        _ => ("?", Ink::Warn),
    }
}

/// Text for one line of a screen: nothing in it moves a cursor, turns the direction of writing or ends the line.
pub(super) fn flat(text: &str) -> String {
    let shown = visible(text);
    if !shown.contains(['\n', '\r', '\t']) {
        return shown.into_owned();
    }
    shown.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t")
}

/// `412,310`
pub(super) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `61.2 MiB`
pub(super) fn bytes(bytes: u64) -> String {
    let mut unit = "B";
    let mut tenths = u128::from(bytes) * 10;
    for next in ["KiB", "MiB", "GiB", "TiB", "PiB"] {
        if tenths < 10_240 {
            break;
        }
        tenths = (tenths + 512) / 1024;
        unit = next;
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{}.{} {unit}", tenths / 10, tenths % 10) }
}

/// A share of a whole as a bar of at most `width` characters, in eighths of one.
pub(super) fn bar(part: u64, whole: u64, width: u64) -> String {
    if part == 0 || whole == 0 {
        return String::new();
    }
    let eighths = u128::from(part) * u128::from(width) * 8 / u128::from(whole);
    let full = usize::try_from(eighths / 8).unwrap_or_default();
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let last = usize::try_from(eighths % 8).unwrap_or_default();
    let end = rest.get(last).copied().unwrap_or_default();
    if full == 0 && end.is_empty() { "▏".to_owned() } else { "█".repeat(full) + end }
}

/// `41 %`
pub(super) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return String::new();
    }
    let thousandths = u128::from(part) * 1000 / u128::from(whole);
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

/// How many columns a text takes.
pub(super) fn columns(text: &str) -> usize {
    Span::raw(text).width()
}

/// A text in at most `width` columns; one that is cut ends with `…`.
pub(super) fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut room = width.saturating_sub(1);
    for c in text.chars() {
        let own = columns(c.encode_utf8(&mut [0; 4]));
        if own > room {
            break;
        }
        out.push(c);
        room -= own;
    }
    if width > 0 {
        out.push('…');
    }
    out
}

/// Pieces in lines of at most `width` columns, broken between words where there are some.
pub(super) fn wrapped(pieces: &[Piece], width: usize) -> Vec<Vec<Piece>> {
    let width = width.max(8);
    let mut lines = vec![Vec::new()];
    let mut room = width;
    for (text, ink) in pieces {
        let mut part = String::new();
        let next_line = |part: &mut String, lines: &mut Vec<Vec<Piece>>| {
            if let Some(line) = lines.last_mut() {
                line.push((std::mem::take(part), ink.clone()));
            }
            lines.push(vec![("  ".to_owned(), Ink::Plain)]);
            width - 2
        };
        for word in flat(text).split_inclusive(' ') {
            let own = columns(word.trim_end());
            if own > room && own <= width - 2 {
                room = next_line(&mut part, &mut lines);
            }
            for c in word.chars() {
                let own = columns(c.encode_utf8(&mut [0; 4]));
                if own > room && c == ' ' {
                    continue;
                }
                if own > room {
                    room = next_line(&mut part, &mut lines);
                }
                part.push(c);
                room = room.saturating_sub(own);
            }
        }
        if let Some(line) = lines.last_mut() {
            line.push((part, ink.clone()));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_units() {
        assert_eq!(number(0), "0");
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(16 << 20), "16.0 MiB");
        assert_eq!(share(1, 3), "33.3 %");
        assert_eq!(bar(1, 2, 4), "██");
        assert_eq!(bar(1, u64::MAX, 4), "▏");
        assert_eq!(bar(0, 5, 4), "");
    }

    #[test]
    fn text_stays_on_its_line() {
        assert_eq!(flat("a\nb\u{1b}[2J\u{202e}"), "a\\nb\\u{1b}[2J\\u{202e}");
        let lines = wrapped(&[("0123456789".to_owned(), Ink::Plain)], 8);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1], [("  ".to_owned(), Ink::Plain), ("89".to_owned(), Ink::Plain)]);
        let lines = wrapped(&[("one two six ten".to_owned(), Ink::Plain)], 8);
        let shown: Vec<String> =
            lines.iter().map(|line| line.iter().map(|(text, _)| text.as_str()).collect()).collect();
        assert_eq!(shown, ["one two ", "  six ", "  ten"]);
        assert_eq!(
            (cut("position", 8), cut("position", 5), cut("日本", 3)),
            ("position".into(), "posi…".into(), "日…".into())
        );
    }
}

//! Places in a text as editors count them: lines from 0, and columns in bytes or in UTF-16 units.

use keyplan_plan::diag::Span;
use serde_json::{Value, json};

/// How an editor counts columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// In bytes.
    Utf8,
    /// In units of UTF-16, which every editor can.
    Utf16,
}

impl Encoding {
    /// Its name in the protocol.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
        }
    }
}

/// A text, and where its lines begin.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    starts: Vec<usize>,
    encoding: Encoding,
}

impl Lines {
    /// The lines of a text.
    pub(crate) fn new(text: &str, encoding: Encoding) -> Self {
        let behind = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(behind).collect(), encoding }
    }

    /// How the editor counts.
    pub(crate) const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The place of a byte offset.
    pub(crate) fn position(&self, text: &str, offset: usize) -> Value {
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or_default();
        let mut end = offset.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = text.get(start..end).unwrap_or_default();
        let column = match self.encoding {
            Encoding::Utf8 => before.len(),
            Encoding::Utf16 => before.encode_utf16().count(),
        };
        json!({ "line": line, "character": column })
    }

    /// The byte offset of a place; beyond the end of a line, its end.
    pub(crate) fn offset(&self, text: &str, position: &Value) -> usize {
        let number = |name: &str| {
            let value = position.get(name).and_then(Value::as_u64).unwrap_or_default();
            usize::try_from(value).unwrap_or(usize::MAX)
        };
        let (line, column) = (number("line"), number("character"));
        let Some(start) = self.starts.get(line).copied() else { return text.len() };
        let end = self.starts.get(line.saturating_add(1)).map_or(text.len(), |next| next - 1);
        let content = text.get(start..end).unwrap_or_default();
        let mut counted = 0;
        for (at, char) in content.char_indices() {
            if counted >= column {
                return start + at;
            }
            counted += match self.encoding {
                Encoding::Utf8 => char.len_utf8(),
                Encoding::Utf16 => char.len_utf16(),
            };
        }
        end
    }

    /// A span as a range.
    pub(crate) fn range(&self, text: &str, span: Span) -> Value {
        self.range_of(text, span.start as usize, span.end as usize)
    }

    /// Two offsets as a range.
    pub(crate) fn range_of(&self, text: &str, start: usize, end: usize) -> Value {
        json!({ "start": self.position(text, start), "end": self.position(text, end) })
    }

    /// The line of an offset, from 0.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// How long a stretch is, as the editor counts.
    pub(crate) fn length(&self, stretch: &str) -> usize {
        match self.encoding {
            Encoding::Utf8 => stretch.len(),
            Encoding::Utf16 => stretch.encode_utf16().count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_as_the_editor_does() {
        let text = "a\n\"é𝄞\" b\n";
        for (encoding, column) in [(Encoding::Utf8, 9), (Encoding::Utf16, 6)] {
            let lines = Lines::new(text, encoding);
            let offset = text.find('b').unwrap();
            let place = json!({ "line": 1, "character": column });
            assert_eq!(lines.position(text, offset), place);
            assert_eq!(lines.offset(text, &place), offset);
        }
    }

    #[test]
    fn places_beyond_a_line_are_its_end() {
        let lines = Lines::new("ab\ncd", Encoding::Utf16);
        assert_eq!(lines.offset("ab\ncd", &json!({ "line": 0, "character": 99 })), 2);
        assert_eq!(lines.offset("ab\ncd", &json!({ "line": 9, "character": 0 })), 5);
        assert_eq!(lines.position("ab\ncd", 99), json!({ "line": 1, "character": 2 }));
    }
}

//! Diagnostics as a person reads them.
//!
//! The drawing is done by `annotate-snippets`, which is given only the lines that it will show, cut to a stretch
//! around the labels: what a diagnostic costs does not depend on the length of the file or of its lines.

use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::{Diagnostic, FileId, Label, Note, NoteKind, Severity, SourceMap, Span};

/// How diagnostics are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Text only.
    #[default]
    Plain,
    /// With the escape sequences that colour a terminal.
    Color,
}

/// The most labels of one diagnostic that are drawn.
const MOST_LABELS: usize = 8;
/// How many lines apart two labels may be to be in one snippet.
const MOST_LINES: usize = 200;
/// How many bytes of a line are kept on either side of its labels.
const MARGIN: usize = 800;
/// The most bytes of a line that are kept between its first label and its last.
const LONGEST_LABEL: usize = 1600;

/// Draws diagnostics, a blank line between them.
///
/// Any span is safe: one that does not lie in its file is moved to the nearest place that does. Characters that
/// would move a terminal's cursor are shown as something else.
///
/// ```
/// use keyplan_plan::diag::{SourceMap, Style, render};
/// use keyplan_plan::syntax::parse;
///
/// let mut sources = SourceMap::default();
/// let file = sources.add("a.keyplan", "plan a;\ntype Height u32;\n");
/// let parsed = parse(file, "plan a;\ntype Height u32;\n");
/// assert_eq!(
///     render(&parsed.diagnostics, &sources, Style::Plain),
///     "error[KP0102]: expected `=` and a domain after the name of the type, found `u32`
///  --> a.keyplan:2:12
///   |
/// 2 | type Height u32;
///   |            ^ expected `=`
/// "
/// );
/// ```
pub fn render(diagnostics: &[Diagnostic], sources: &SourceMap, style: Style) -> String {
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Color => Renderer::styled(),
    };
    let mut lines = Lines { sources, starts: Vec::new() };
    let drawn: Vec<String> =
        diagnostics.iter().map(|diagnostic| render_one(diagnostic, &mut lines, &renderer)).collect();
    drawn.join("\n")
}

fn render_one(diagnostic: &Diagnostic, lines: &mut Lines<'_>, renderer: &Renderer) -> String {
    let level = match diagnostic.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group =
        Group::with_title(level.primary_title(one_line(&diagnostic.message)).id(diagnostic.code.id()));
    let views = views(diagnostic, lines);
    let place = views.first().and_then(|view| view.moved.clone());
    for view in views {
        group = view.add_to(group);
    }
    let longest = diagnostic.notes.iter().map(|note| note.kind.word().len()).max().unwrap_or_default();
    for note in &diagnostic.notes {
        group = group.element(level_of(note.kind).message(note_text(note, longest)));
    }
    let mut drawn = renderer.render(&[group]);
    if let Some((drawn_place, place)) = place {
        correct_place(&mut drawn, &drawn_place, &place);
    }
    drawn.push('\n');
    drawn
}

fn level_of(kind: NoteKind) -> Level<'static> {
    match kind {
        NoteKind::Witness | NoteKind::Reproduce | NoteKind::Note => Level::NOTE.with_name(kind.word()),
        NoteKind::Help | NoteKind::Repair => Level::HELP.with_name(kind.word()),
    }
}

/// The lines of a note, moved so that the texts of all notes begin in one column.
fn note_text(note: &Note, longest: usize) -> String {
    let pad = " ".repeat(longest.saturating_sub(note.kind.word().len()));
    let lines: Vec<String> = note.text.lines().map(|line| format!("{pad}{}", one_line(line))).collect();
    lines.join("\n")
}

/// A snippet of one file.
struct View<'a> {
    path: String,
    /// The lines shown, and what is underlined in them; `None` for only the path.
    text: Option<(String, Vec<Annotation<'a>>)>,
    first_line: usize,
    /// The place of the first label as it is drawn and as it is, if they differ.
    moved: Option<(String, String)>,
}

impl<'a> View<'a> {
    fn add_to(self, group: Group<'a>) -> Group<'a> {
        match self.text {
            None => group.element(Origin::path(self.path)),
            Some((text, annotations)) => group.element(
                Snippet::source(text).path(self.path).line_start(self.first_line).annotations(annotations),
            ),
        }
    }
}

/// The snippets of a diagnostic. The first holds its primary label.
fn views<'a>(diagnostic: &Diagnostic, lines: &mut Lines<'_>) -> Vec<View<'a>> {
    let mut labels: Vec<Placed<'_>> = Vec::new();
    for (index, label) in diagnostic.labels.iter().take(MOST_LABELS).enumerate() {
        labels.extend(lines.place(label, index == 0));
    }
    let mut views = Vec::new();
    while let Some(first) = labels.first() {
        let (file, line) = (first.file, first.lines.start);
        let (here, there): (Vec<_>, Vec<_>) = labels
            .into_iter()
            .partition(|label| label.file == file && label.lines.start.abs_diff(line) <= MOST_LINES);
        labels = there;
        views.push(lines.view(file, &here));
    }
    views
}

/// A label and where it lies.
struct Placed<'d> {
    label: &'d Label,
    primary: bool,
    file: FileId,
    bytes: Range<usize>,
    /// Indices of the first line and of the one after the last.
    lines: Range<usize>,
}

/// The files, and where their lines begin once that was asked for.
struct Lines<'s> {
    sources: &'s SourceMap,
    starts: Vec<(FileId, Vec<usize>)>,
}

impl Lines<'_> {
    fn text(&self, file: FileId) -> &str {
        self.sources.get(file).map_or("", |source| source.text.as_str())
    }

    fn starts(&mut self, file: FileId) -> &[usize] {
        let known = self.starts.iter().position(|(known, _)| *known == file);
        let index = known.unwrap_or_else(|| {
            let ends = self.text(file).match_indices('\n').map(|(end, _)| end + 1);
            let starts = std::iter::once(0).chain(ends).collect();
            self.starts.push((file, starts));
            self.starts.len() - 1
        });
        self.starts.get(index).map_or(&[], |(_, starts)| starts)
    }

    /// Where a label lies, moved into its file; `None` if there is no such file.
    fn place<'d>(&mut self, label: &'d Label, primary: bool) -> Option<Placed<'d>> {
        let Span { file, start, end } = label.span;
        let text = self.sources.get(file)?.text.as_str();
        let start = boundary(text, start as usize);
        let end = boundary(text, end as usize).max(start);
        let starts = self.starts(file);
        let first = starts.partition_point(|line| *line <= start).saturating_sub(1);
        // The end of a line belongs to it: a label that ends there does not reach the next one.
        let last = starts.partition_point(|line| *line < end).saturating_sub(1).max(first);
        let lines = if last - first > MOST_LINES { first..first + 1 } else { first..last + 1 };
        Some(Placed { label, primary, file, bytes: start..end, lines })
    }

    /// The bytes of a line, without its end.
    fn line(&mut self, file: FileId, index: usize) -> Range<usize> {
        let starts = self.starts(file);
        let start = starts.get(index).copied();
        let next = starts.get(index + 1).copied();
        let text = self.text(file);
        let start = start.unwrap_or(text.len());
        let end = next.unwrap_or(text.len());
        let line = text.get(start..end).unwrap_or_default();
        start..start + line.trim_end_matches(['\n', '\r']).len()
    }

    fn view<'a>(&mut self, file: FileId, labels: &[Placed<'_>]) -> View<'a> {
        let path = self.sources.get(file).map_or(String::new(), |source| one_line(&source.name));
        let first = labels.iter().map(|label| label.lines.start).min().unwrap_or_default();
        let end = labels.iter().map(|label| label.lines.end).max().unwrap_or_default();
        let mut view = View { path, text: None, first_line: first + 1, moved: None };
        if let [only] = labels
            && only.bytes.is_empty()
            && only.label.text.is_empty()
        {
            return view;
        }
        let cuts: Vec<Cut> = (first..end).map(|index| self.cut(file, index, labels)).collect();
        let mut shown = String::new();
        let mut offsets = Vec::with_capacity(cuts.len());
        for cut in &cuts {
            offsets.push(shown.len());
            shown.push_str(self.text(file).get(cut.kept.clone()).unwrap_or_default());
            shown.push('\n');
        }
        // Where a byte of the file is in the lines shown.
        let place = |byte: usize, line: usize| {
            let cut = cuts.get(line - first).map_or(0..0, |cut| cut.kept.clone());
            let offset = offsets.get(line - first).copied().unwrap_or_default();
            offset + byte.clamp(cut.start, cut.end) - cut.start
        };
        let mut annotations = Vec::new();
        for label in labels {
            let start = place(label.bytes.start, label.lines.start);
            let end = place(label.bytes.end, label.lines.end - 1).max(start);
            let kind = if label.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let text = Some(one_line(&label.label.text)).filter(|text| !text.is_empty());
            annotations.push(kind.span(start..end).label(text));
            let hidden = cuts.get(label.lines.start - first).map_or(0, |cut| cut.hidden);
            if label.primary && hidden > 0 {
                let before = shown.get(..start).unwrap_or_default();
                let column = before.chars().rev().take_while(|char| *char != '\n').count() + 1;
                let at = |column: usize| format!("{}:{}:{column}", view.path, label.lines.start + 1);
                view.moved = Some((at(column), at(column + hidden)));
            }
        }
        view.text = Some((shown, annotations));
        view
    }

    /// What is shown of a line: all of it, a stretch around its labels, or nothing if it is far from any.
    fn cut(&mut self, file: FileId, index: usize, labels: &[Placed<'_>]) -> Cut {
        const NEAR: usize = 2;
        let line = self.line(file, index);
        let near =
            labels.iter().any(|label| index + NEAR >= label.lines.start && index <= label.lines.end + NEAR);
        if !near {
            return Cut { kept: line.start..line.start, hidden: 0 };
        }
        let on_line = labels.iter().filter(|label| label.lines.contains(&index));
        let first = on_line.clone().map(|label| label.bytes.start.clamp(line.start, line.end)).min();
        let last = on_line.map(|label| label.bytes.end.clamp(line.start, line.end)).max();
        let (first, last) = (first.unwrap_or(line.start), last.unwrap_or(line.start));
        let text = self.text(file);
        let start = boundary(text, first.saturating_sub(MARGIN)).max(line.start);
        let end = boundary(text, last.min(first + LONGEST_LABEL) + MARGIN).min(line.end);
        let hidden = text.get(line.start..start).unwrap_or_default().chars().count();
        Cut { kept: start..end, hidden }
    }
}

/// The part of a line that is shown.
struct Cut {
    /// Its bytes in the file.
    kept: Range<usize>,
    /// How many characters of the line come before it.
    hidden: usize,
}

/// The offset, or the nearest one before it that lies in the text and between two characters.
fn boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// Puts the true place after the first `-->`, which is in the line below the title.
fn correct_place(drawn: &mut String, wrong: &str, right: &str) {
    let title = drawn.find('\n').unwrap_or(drawn.len());
    let arrow = drawn.get(title..).and_then(|rest| rest.find("--> ")).map(|at| title + at);
    let Some(arrow) = arrow else { return };
    let place = drawn.get(arrow..).and_then(|rest| rest.find(wrong)).map(|at| arrow + at);
    if let Some(place) = place {
        drawn.replace_range(place..place + wrong.len(), right);
    }
}

/// Text that stays on its line and cannot command a terminal.
fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\t' => out.push_str("    "),
            _ if char.is_control() || is_invisible(char) => out.extend(char.escape_unicode()),
            _ => out.push(char),
        }
    }
    out
}

/// Characters that reorder or hide the text around them.
fn is_invisible(char: char) -> bool {
    matches!(char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Code;
    use super::*;

    fn sources(text: &str) -> SourceMap {
        let mut sources = SourceMap::default();
        sources.add("a.keyplan", text);
        sources
    }

    fn at(start: u32, end: u32) -> Span {
        Span::new(FileId(0), start, end)
    }

    #[track_caller]
    fn check(diagnostic: Diagnostic, text: &str, expected: &str) {
        assert_eq!(render(&[diagnostic], &sources(text), Style::Plain), expected);
    }

    #[test]
    fn notes_of_every_kind_stand_below_in_one_column() {
        let diagnostic = Diagnostic::new(Code::Misallotted, "two keys", at(5, 6), "this one")
            .with_note(NoteKind::Witness, "02 03\n02 04")
            .with_note(NoteKind::Reproduce, "keyplan encode")
            .with_note(NoteKind::Note, "a fact")
            .with_help("a way out")
            .with_note(NoteKind::Repair, "a cure");
        check(
            diagnostic,
            "plan a;\n",
            "error[KP0006]: two keys
 --> a.keyplan:1:6
  |
1 | plan a;
  |      ^ this one
  |
  = witness:   02 03
               02 04
  = reproduce: keyplan encode
  = note:      a fact
  = help:      a way out
  = repair:    a cure
",
        );
    }

    #[test]
    fn labels_in_other_lines_and_files_are_shown() {
        let mut sources = sources("one\ntwo\nthree\nfour\nfive\nsix\n");
        let other = sources.add("b.keyplan", "other\n");
        let diagnostic = Diagnostic::new(Code::BadSpelling, "labels", at(19, 23), "here")
            .with_label(at(4, 7), "and here")
            .with_label(Span::new(other, 0, 5), "and there");
        let once = "warning[KP0216]: labels
 --> a.keyplan:5:1
  |
2 | two
  | --- and here
...
5 | five
  | ^^^^ here
  |
 ::: b.keyplan:1:1
  |
1 | other
  | ----- and there
";
        assert_eq!(
            render(&[diagnostic.clone(), diagnostic], &sources, Style::Plain),
            format!("{once}\n{once}")
        );
    }

    #[test]
    fn a_place_in_no_file_leaves_the_message() {
        let diagnostic =
            Diagnostic::new(Code::BadImport, "lost", Span::new(FileId(9), 0, 4), "x").with_help("y");
        check(diagnostic, "", "error[KP0204]: lost\n |\n = help: y\n");
    }

    #[test]
    fn a_file_without_a_place_is_named() {
        check(
            Diagnostic::new(Code::UnreadableFile, "too large", at(0, 0), ""),
            "plan a;",
            "error[KP0105]: too large\n--> a.keyplan\n",
        );
    }

    #[test]
    fn nothing_in_the_text_commands_the_terminal() {
        let text = "a\u{1b}[31m\u{202e}\tb\n";
        let diagnostic = Diagnostic::new(Code::BadToken, "m\u{1b}[1m\nn", at(0, 1), "l\u{7}\nm")
            .with_help("h\u{9b}\r\n\tsecond");
        check(
            diagnostic,
            text,
            r"error[KP0101]: m\u{1b}[1m\u{a}n
 --> a.keyplan:1:1
  |
1 | a␛[31m�    b
  | ^ l\u{7}\u{a}m
  |
  = help: h\u{9b}
              second
",
        );
    }

    #[test]
    fn colour_is_added_and_nothing_else() {
        let diagnostic = Diagnostic::new(Code::BadToken, "m", at(0, 4), "l").with_help("h");
        let diagnostics = [diagnostic];
        let plain = render(&diagnostics, &sources("plan a;"), Style::Plain);
        let color = render(&diagnostics, &sources("plan a;"), Style::Color);
        let mut stripped = String::new();
        let mut rest = color.as_str();
        while let Some((before, escape)) = rest.split_once('\u{1b}') {
            stripped.push_str(before);
            rest = escape.split_once('m').map_or("", |(_, after)| after);
        }
        stripped.push_str(rest);
        assert!(color.contains('\u{1b}'));
        assert_eq!(stripped, plain);
    }

    #[test]
    fn a_long_line_is_cut_around_the_label_and_keeps_its_column() {
        let text = format!("plan a;\n{}pool{}\n", "é ".repeat(300_000), " é".repeat(300_000));
        let start = u32::try_from(text.find("pool").unwrap()).unwrap();
        for style in [Style::Plain, Style::Color] {
            let diagnostic = Diagnostic::new(Code::UnexpectedToken, "m", at(start, start + 4), "here");
            let drawn = render(&[diagnostic], &sources(&text), style);
            assert!(drawn.contains("a.keyplan:2:600001"), "{drawn}");
            assert!(drawn.contains("é é pool é é"), "{drawn}");
            assert!(drawn.len() < 2000, "{}", drawn.len());
        }
        let whole = Diagnostic::new(Code::UnexpectedToken, "m", at(0, u32::MAX), "here");
        assert!(render(&[whole], &sources(&text), Style::Plain).len() < 5000);
    }

    #[test]
    fn many_lines_and_labels_cost_little() {
        let text = "key a = 0x01;\n".repeat(100_000);
        let mut diagnostic = Diagnostic::new(Code::UnexpectedToken, "m", at(0, u32::MAX), "all");
        for label in 0..1000_u32 {
            diagnostic = diagnostic.with_label(at(label * 1000, label * 1000 + 5), "one");
        }
        let drawn = render(&vec![diagnostic; 100], &sources(&text), Style::Plain);
        assert!(drawn.len() < 100 * 3000, "{}", drawn.len());
    }

    proptest! {
        #[test]
        fn no_span_makes_it_panic(
            text in prop_oneof![any::<String>(), "[a-zé\t\r\n ]{0,80}", "[a\n]{0,600}", "[aé]{0,6000}"],
            spans in prop::collection::vec((0..7000_u32, 0..7000_u32, 0..3_u32), 1..6),
            label in prop_oneof![Just(String::new()), any::<String>()],
        ) {
            let mut sources = sources(&text);
            sources.add("b.keyplan", "other");
            let mut diagnostic = Diagnostic::new(Code::BadToken, label.clone(), at(0, 0), label.clone());
            diagnostic.labels.clear();
            for (start, end, file) in spans {
                diagnostic = diagnostic.with_label(Span::new(FileId(file), start, end), label.clone());
            }
            diagnostic = diagnostic.with_help(label);
            let diagnostics = [diagnostic];
            for style in [Style::Plain, Style::Color] {
                let drawn = render(&diagnostics, &sources, style);
                prop_assert!(drawn.starts_with("error[KP0101]") || style == Style::Color);
            }
        }
    }
}

//! Bytes as a picture: hex grouped by segment, a rule under each group, and below it what it is.
//!
//! A picture is lines of text in several [`Ink`]s. Its `Display` form is plain; [`Picture::painted`] gives each piece of it
//! to whoever knows colours.

use std::fmt;
use std::ops::Range;

use keyplan_plan::explain::{Piece, PieceKind};
use keyplan_plan::notation::hex;

/// What a piece of a picture is, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ink {
    /// Text like any other.
    Plain,
    /// There for completeness: literals, marks, lines.
    Dim,
    /// An argument, by its number among them: neighbours can be told apart.
    Argument(usize),
    /// What is wrong.
    Fault,
}

/// Lines of text in several inks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// The lines, each in pieces.
    pub lines: Vec<Vec<(Ink, String)>>,
}

impl Picture {
    /// The picture with each piece as `paint` makes it.
    pub fn painted(&self, paint: impl Fn(Ink, &str) -> String) -> String {
        let mut out = String::new();
        for line in &self.lines {
            for (ink, text) in line {
                out.push_str(&paint(*ink, text));
            }
            out.push('\n');
        }
        out
    }
}

impl fmt::Display for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.painted(|_, text| text.to_owned()))
    }
}

/// How many characters of a label are shown.
const LABEL: usize = 56;

/// A group of hex digits in one line.
struct Cell {
    column: usize,
    digits: String,
    label: String,
    ink: Ink,
}

impl Cell {
    fn end(&self) -> usize {
        self.column + self.digits.chars().count()
    }
}

/// Draws the bytes of `pieces`, indented by two and broken into lines of `width`.
///
/// ```
/// use keyplan_plan::{dynamic::Decoder, explain::explain};
///
/// let text = "plan demo; space s { key pool = 0x01 id: u16; }";
/// let plan = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into())).plan.expect("sound");
/// let found = explain(&Decoder::new(&plan), &[0], &[1, 0, 7]);
/// let pieces = found.readings[0].pieces(&[1, 0, 7]).expect("it was read");
/// let drawn = keyplan_report::picture::draw(&[1, 0, 7], &pieces, 80).to_string();
/// assert_eq!(drawn, "  01 0007\n  ── ────\n  │  id = 7\n  └ pool\n");
/// ```
pub fn draw(bytes: &[u8], pieces: &[Piece], width: usize) -> Picture {
    let mut out = Picture::default();
    for (index, row) in rows(bytes, pieces, width.saturating_sub(2).max(16)).iter().enumerate() {
        if index > 0 {
            out.lines.push(Vec::new());
        }
        draw_row(row, &mut out);
    }
    out
}

fn rows(bytes: &[u8], pieces: &[Piece], room: usize) -> Vec<Vec<Cell>> {
    let mut rows: Vec<Vec<Cell>> = vec![Vec::new()];
    let mut values = 0;
    for piece in pieces {
        let digits = match bytes.get(piece.span.clone()) {
            Some([]) | None => "·".to_owned(),
            Some(bytes) => hex(bytes),
        };
        let ink = match piece.kind {
            PieceKind::Literal | PieceKind::Mark => Ink::Dim,
            PieceKind::Value => {
                values += 1;
                Ink::Argument(values)
            }
        };
        let mut rest = digits.as_str();
        let mut label = shortened(&piece.label);
        loop {
            let column = rows.last().and_then(|row| row.last()).map_or(0, |cell| cell.end() + 1);
            let fits = column + rest.chars().count() <= room;
            if !fits && column > 0 {
                rows.push(Vec::new());
                continue;
            }
            // Whole bytes only: a line never ends between two digits of one.
            let (head, tail) = rest.split_at_checked(room & !1).filter(|_| !fits).unwrap_or((rest, ""));
            let cell = Cell { column, digits: head.to_owned(), label: std::mem::take(&mut label), ink };
            if let Some(row) = rows.last_mut() {
                row.push(cell);
            }
            if tail.is_empty() {
                break;
            }
            rest = tail;
        }
    }
    rows
}

fn shortened(label: &str) -> String {
    if label.chars().count() <= LABEL {
        return label.to_owned();
    }
    label.chars().take(LABEL - 1).chain(['…']).collect()
}

fn draw_row(row: &[Cell], out: &mut Picture) {
    let mut digits = Line::default();
    let mut rules = Line::default();
    for cell in row {
        digits.put(cell.column, &cell.digits, cell.ink);
        rules.put(cell.column, &"─".repeat(cell.digits.chars().count()), cell.ink);
    }
    digits.end("  ", out);
    rules.end("  ", out);
    let labelled: Vec<&Cell> = row.iter().filter(|cell| !cell.label.is_empty()).collect();
    // A label is in the first line if it ends before the next one begins; the others hang below, last first.
    let mut first = Line::default();
    let mut hanging: Vec<usize> = Vec::new();
    for (index, cell) in labelled.iter().enumerate() {
        let next = labelled.get(index + 1).map_or(usize::MAX, |next| next.column);
        if cell.column + cell.label.chars().count() < next {
            first.put(cell.column, &cell.label, cell.ink);
        } else {
            first.put(cell.column, "│", Ink::Dim);
            hanging.push(index);
        }
    }
    if !labelled.is_empty() {
        first.end("  ", out);
    }
    while let Some(last) = hanging.pop() {
        let mut line = Line::default();
        for &index in &hanging {
            if let Some(cell) = labelled.get(index) {
                line.put(cell.column, "│", Ink::Dim);
            }
        }
        if let Some(cell) = labelled.get(last) {
            line.put(cell.column, "└ ", Ink::Dim);
            line.put(cell.column + 2, &cell.label, cell.ink);
        }
        line.end("  ", out);
    }
}

/// A line that is filled from left to right.
#[derive(Default)]
struct Line {
    pieces: Vec<(Ink, String)>,
    columns: usize,
}

impl Line {
    fn put(&mut self, column: usize, text: &str, ink: Ink) {
        let space = column.saturating_sub(self.columns);
        if space > 0 {
            self.pieces.push((Ink::Plain, " ".repeat(space)));
        }
        self.pieces.push((ink, text.to_owned()));
        self.columns = column.max(self.columns) + text.chars().count();
    }

    fn end(mut self, indent: &str, out: &mut Picture) {
        self.pieces.insert(0, (Ink::Plain, indent.to_owned()));
        out.lines.push(self.pieces);
    }
}

/// Draws bytes in groups, with a caret and a note under the byte at `offset`.
pub fn caret(bytes: &[u8], groups: &[Range<usize>], offset: usize, note: &str, width: usize) -> Picture {
    let before = groups.last().map_or(0, |group| group.end);
    let one = usize::from(offset < bytes.len());
    let lens = [before..offset, offset..offset + one, offset + one..bytes.len()];
    let pieces: Vec<Piece> = groups
        .iter()
        .cloned()
        .chain(lens)
        .filter(|span| !span.is_empty())
        .map(|span| Piece { span, kind: PieceKind::Literal, name: String::new(), label: String::new() })
        .collect();
    let rows = rows(bytes, &pieces, width.saturating_sub(6).max(16));
    let mut out = Picture::default();
    let mut end = 0;
    for (index, row) in rows.iter().enumerate() {
        let mut line = Line::default();
        for cell in row {
            line.put(cell.column, &cell.digits, Ink::Plain);
            end += cell.digits.len() / 2;
        }
        let columns = line.columns;
        line.end("      ", &mut out);
        let column = match column_of(row, end, offset) {
            None if offset >= bytes.len() && index + 1 == rows.len() => columns + usize::from(columns > 0),
            None => continue,
            Some(column) => column,
        };
        let mark = format!("{} {note}", if one == 1 { "^^" } else { "^" });
        out.lines.push(vec![(Ink::Plain, " ".repeat(column + 6)), (Ink::Fault, mark)]);
    }
    out
}

/// The column of the byte at `offset` in a row that ends at byte `end`.
fn column_of(row: &[Cell], end: usize, offset: usize) -> Option<usize> {
    let total: usize = row.iter().map(|cell| cell.digits.len() / 2).sum();
    let mut at = end.saturating_sub(total);
    for cell in row {
        let len = cell.digits.len() / 2;
        if (at..at + len).contains(&offset) {
            return Some(cell.column + (offset - at) * 2);
        }
        at += len;
    }
    None
}

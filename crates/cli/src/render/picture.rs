//! Bytes as a picture: hex grouped by segment, a rule under each group, and below it what it stands for.

use anstyle::{AnsiColor, Style};

use super::{DIM, ERROR, hex, painted};
use crate::anatomy::{Piece, PieceKind};

/// How many characters of a label are shown.
const LABEL: usize = 56;

/// The colours of arguments, in turn.
const COLOURS: [AnsiColor; 4] = [AnsiColor::Cyan, AnsiColor::Yellow, AnsiColor::Magenta, AnsiColor::Green];

/// A group of hex digits in one line.
struct Cell {
    column: usize,
    digits: String,
    label: String,
    style: Style,
}

impl Cell {
    fn end(&self) -> usize {
        self.column + self.digits.chars().count()
    }
}

/// Draws the bytes of `pieces`, indented by two and broken into lines of `width`.
pub(crate) fn picture(bytes: &[u8], pieces: &[Piece], width: usize) -> String {
    let mut out = String::new();
    for (index, row) in rows(bytes, pieces, width.saturating_sub(2).max(16)).iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        draw(row, &mut out);
    }
    out
}

fn rows(bytes: &[u8], pieces: &[Piece], room: usize) -> Vec<Vec<Cell>> {
    let mut rows: Vec<Vec<Cell>> = vec![Vec::new()];
    let mut at = 0;
    let mut values = 0;
    for piece in pieces {
        let digits = match bytes.get(at..at + piece.len) {
            Some([]) | None => "·".to_owned(),
            Some(bytes) => hex(bytes),
        };
        at += piece.len;
        let style = match piece.kind {
            PieceKind::Literal | PieceKind::Mark => DIM,
            PieceKind::Value => {
                values += 1;
                let colour = COLOURS.get(values % COLOURS.len()).copied().unwrap_or(AnsiColor::Cyan);
                colour.on_default()
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
            let cell = Cell { column, digits: head.to_owned(), label: std::mem::take(&mut label), style };
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

fn draw(row: &[Cell], out: &mut String) {
    let mut digits = Line::default();
    let mut rules = Line::default();
    for cell in row {
        digits.put(cell.column, &cell.digits, cell.style);
        rules.put(cell.column, &"─".repeat(cell.digits.chars().count()), cell.style);
    }
    digits.end(out);
    rules.end(out);
    let labelled: Vec<&Cell> = row.iter().filter(|cell| !cell.label.is_empty()).collect();
    // A label stands in the first line if it ends before the next one begins; the others hang below, last first.
    let mut first = Line::default();
    let mut hanging: Vec<usize> = Vec::new();
    for (index, cell) in labelled.iter().enumerate() {
        let next = labelled.get(index + 1).map_or(usize::MAX, |next| next.column);
        if cell.column + cell.label.chars().count() < next {
            first.put(cell.column, &cell.label, cell.style);
        } else {
            first.put(cell.column, "│", DIM);
            hanging.push(index);
        }
    }
    if !labelled.is_empty() {
        first.end(out);
    }
    while let Some(last) = hanging.pop() {
        let mut line = Line::default();
        for &index in &hanging {
            if let Some(cell) = labelled.get(index) {
                line.put(cell.column, "│", DIM);
            }
        }
        if let Some(cell) = labelled.get(last) {
            line.put(cell.column, "└ ", DIM);
            line.put(cell.column + 2, &cell.label, cell.style);
        }
        line.end(out);
    }
}

/// A line that is filled from left to right.
#[derive(Default)]
struct Line {
    text: String,
    columns: usize,
}

impl Line {
    fn put(&mut self, column: usize, text: &str, style: Style) {
        self.text.push_str(&" ".repeat(column.saturating_sub(self.columns)));
        self.text.push_str(&painted(style, text));
        self.columns = column.max(self.columns) + text.chars().count();
    }

    fn end(self, out: &mut String) {
        out.push_str("  ");
        out.push_str(&self.text);
        out.push('\n');
    }
}

/// Draws bytes in groups, with a caret and a note under the byte at `offset`.
pub(crate) fn caret(bytes: &[u8], groups: &[usize], offset: usize, note: &str, width: usize) -> String {
    let before: usize = groups.iter().sum();
    let one = usize::from(offset < bytes.len());
    let lens = [offset.saturating_sub(before), one, bytes.len().saturating_sub(offset + 1)];
    let pieces: Vec<Piece> = groups
        .iter()
        .copied()
        .chain(lens)
        .filter(|len| *len > 0)
        .map(|len| Piece { len, kind: PieceKind::Literal, label: String::new() })
        .collect();
    let rows = rows(bytes, &pieces, width.saturating_sub(6).max(16));
    let mut out = String::new();
    let mut end = 0;
    for (index, row) in rows.iter().enumerate() {
        let mut line = Line::default();
        for cell in row {
            line.put(cell.column, &cell.digits, Style::new());
            end += cell.digits.len() / 2;
        }
        let columns = line.columns;
        out.push_str("    ");
        line.end(&mut out);
        let column = match column_of(row, end, offset) {
            None if offset >= bytes.len() && index + 1 == rows.len() => columns + usize::from(columns > 0),
            None => continue,
            Some(column) => column,
        };
        let mark = painted(ERROR, format!("{} {note}", if one == 1 { "^^" } else { "^" }));
        put!(out, "      {}{mark}\n", " ".repeat(column));
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

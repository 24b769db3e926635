//! A plan's text in the one form that everybody's plan has.
//!
//! The formatter prints the tokens of the text in their order and decides only what is between two of them,
//! so it can neither lose nor change one. What the parser found out ([`Mark`]s) says where lines begin; comments
//! stay between the tokens between which they stood. A decision depends on the tokens, on the comments, on whether
//! a comment begins a line and on blank lines, all of which the output keeps: formatting twice changes nothing.
//!
//! ```text
//! space s {
//!     /// Documentation.
//!     key name = 0x01 part: u64 …
//!             wrapped: u64            8 from the family
//!         scan by part                4 from the family
//!         -> value: (
//!               one: 0x00             6 from the line that opens the choice
//!             | other: 0x01           4 from it
//!         );
//! }
//! ```

use super::layout::{Mark, MarkKind, Statement};
use super::lexer::Comment;
use super::parser::{Marked, parse_marked};
use super::source::check_size;
use super::token::{Token, TokenKind};
use crate::diag::{Diagnostic, FileId};

/// The longest line, in characters, where there is a choice.
const WIDTH: usize = 110;
const INDENT: usize = 4;

/// Formats a plan's text. A text with mistakes is refused with its diagnostics, under [`FileId`] 0.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let file = FileId::default();
    check_size(file, text.len()).map_err(|diagnostic| vec![diagnostic])?;
    let Marked { parsed, tokens, comments, marks } = parse_marked(file, text);
    if !parsed.diagnostics.is_empty() {
        return Err(parsed.diagnostics);
    }
    let plan = Layout::new(text, &tokens, &comments, &marks);
    let mut printer = Printer::new(&plan);
    printer.file();
    Ok(printer.out)
}

/// What is known of a text before it is printed. Vectors over tokens are indexed as they are.
struct Layout<'a> {
    pieces: Vec<Piece<'a>>,
    /// The comments after the last token.
    last_notes: Vec<Note<'a>>,
}

/// A token, and what comes before it.
struct Piece<'a> {
    kind: &'a TokenKind,
    text: String,
    /// The comments between the token before and this one.
    notes: Vec<Note<'a>>,
    /// Whether a blank line is directly before the token.
    blank: bool,
    /// What begins with this token.
    role: Role,
    /// The index after the part that begins with this token.
    part: Option<usize>,
    /// The index after the choice that begins with this token.
    choice: Option<usize>,
    /// The index of the choice's `(`, for a `|` between its alternatives.
    bar_of: Option<usize>,
    /// Whether the token comes right after the one before it.
    glued: bool,
    /// The characters of the text up to this token, on one line; the token itself included.
    flat_end: usize,
    /// How many line ends must be in the text up to this token.
    forced_end: usize,
}

/// What a token begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Statement(Statement),
    Clause,
    /// An alternative, or its label after its documentation.
    Alternative,
    /// A token of a statement, clause or alternative after its documentation.
    Documented,
    Other,
}

/// A comment.
struct Note<'a> {
    text: &'a str,
    /// Whether it begins its line.
    own_line: bool,
    /// Whether a blank line comes before it.
    blank: bool,
    /// Whether its line ends after it.
    ends_line: bool,
}

impl Note<'_> {
    /// Whether what comes after it must begin a line.
    fn forces(&self) -> bool {
        self.text.starts_with("//") || (self.own_line && self.ends_line)
    }
}

impl<'a> Layout<'a> {
    fn new(text: &'a str, tokens: &'a [Token], comments: &[Comment], marks: &[Mark]) -> Self {
        let mut pieces: Vec<Piece<'a>> = Vec::with_capacity(tokens.len());
        let mut comments = comments.iter().peekable();
        let mut end = 0;
        for token in tokens {
            let start = token.span.start as usize;
            let mut notes = Vec::new();
            while let Some(comment) = comments.next_if(|comment| (comment.span.start as usize) < start) {
                notes.push(note(text, end, *comment));
                end = comment.span.end as usize;
            }
            pieces.push(Piece {
                kind: &token.kind,
                text: spelling(token, text),
                notes,
                blank: lines_between(text, end, start) > 1,
                role: Role::Other,
                part: None,
                choice: None,
                bar_of: None,
                glued: false,
                flat_end: 0,
                forced_end: 0,
            });
            end = token.span.end as usize;
        }
        let mut last_notes = Vec::new();
        for comment in comments {
            last_notes.push(note(text, end, *comment));
            end = comment.span.end as usize;
        }
        let mut layout = Self { pieces, last_notes };
        let groups = layout.mark(marks);
        layout.measure(&groups);
        layout
    }

    /// Gives the marks to the tokens that they begin with. Returns which tokens open records or choices.
    fn mark(&mut self, marks: &[Mark]) -> Vec<bool> {
        let mut groups = vec![false; self.pieces.len()];
        for mark in marks {
            let role = match mark.kind {
                MarkKind::Statement(kind) => Role::Statement(kind),
                MarkKind::Clause => Role::Clause,
                MarkKind::Alternative { open } => {
                    if let Some(before) = mark.start.checked_sub(1).filter(|before| *before != open)
                        && let Some(bar) = self.pieces.get_mut(before)
                    {
                        bar.bar_of = Some(open);
                    }
                    Role::Alternative
                }
                MarkKind::Part | MarkKind::Record | MarkKind::Choice => Role::Other,
            };
            if matches!(mark.kind, MarkKind::Record | MarkKind::Choice)
                && let Some(group) = groups.get_mut(mark.start)
            {
                *group = true;
            }
            let Some(piece) = self.pieces.get_mut(mark.start) else { continue };
            match mark.kind {
                MarkKind::Part => piece.part = Some(mark.end),
                MarkKind::Choice => piece.choice = Some(mark.end),
                _ => {}
            }
            if role != Role::Other {
                piece.role = role;
            }
        }
        let mut behind_doc = false;
        for piece in &mut self.pieces {
            if behind_doc && piece.role == Role::Other {
                piece.role = Role::Documented;
            }
            behind_doc = matches!(piece.kind, TokenKind::Doc(_));
        }
        groups
    }

    /// Computes what the text would be on one line, so that the width of any stretch is a subtraction.
    fn measure(&mut self, groups: &[bool]) {
        let mut flat = 0;
        let mut forced = 0;
        let mut previous: Option<&TokenKind> = None;
        for (piece, group) in self.pieces.iter_mut().zip(groups) {
            piece.glued = previous.is_some_and(|previous| is_glued(previous, piece.kind, *group));
            for note in &piece.notes {
                flat += 1 + width(note.text);
                forced += usize::from(note.own_line || note.forces() || note.text.contains('\n'));
            }
            forced += usize::from(matches!(previous, Some(TokenKind::Doc(_))));
            flat += usize::from(!piece.glued) + width(&piece.text);
            piece.flat_end = flat;
            piece.forced_end = forced;
            previous = Some(piece.kind);
        }
    }

    /// The width of the tokens from `start` to before `end` on one line, together with what sticks to them; `None`
    /// if they cannot be on one line.
    fn width(&self, start: usize, end: usize) -> Option<usize> {
        let first = self.pieces.get(start)?;
        let sticking = self.pieces.iter().skip(end);
        let sticking = sticking.take_while(|piece| piece.glued && piece.notes.is_empty()).count();
        let last = self.pieces.get((end + sticking).checked_sub(1)?)?;
        (first.forced_end == last.forced_end).then_some(last.flat_end - first.flat_end + width(&first.text))
    }
}

fn note(text: &str, end: usize, comment: Comment) -> Note<'_> {
    let range = comment.span.range();
    let lines = lines_between(text, end, range.start);
    let behind = text.get(range.end..).unwrap_or_default().trim_start_matches([' ', '\t', '\r']);
    Note {
        own_line: lines > 0 || end == 0,
        blank: lines > 1,
        ends_line: behind.is_empty() || behind.starts_with('\n'),
        text: text.get(range).unwrap_or_default(),
    }
}

/// How many lines end between two offsets, with nothing but space between them.
fn lines_between(text: &str, start: usize, end: usize) -> usize {
    text.get(start..end).unwrap_or_default().matches('\n').count()
}

/// A token as it is printed: as it was written, except for the space in documentation.
fn spelling(token: &Token, text: &str) -> String {
    let (marker, line) = match &token.kind {
        TokenKind::Doc(line) => ("///", line),
        TokenKind::FileDoc(line) => ("//!", line),
        _ => return text.get(token.span.range()).unwrap_or_default().to_owned(),
    };
    if line.is_empty() { marker.to_owned() } else { format!("{marker} {line}") }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn is_glued(previous: &TokenKind, next: &TokenKind, opens_group: bool) -> bool {
    use TokenKind as T;
    match (previous, next) {
        (T::OpenParen | T::Dot | T::Minus | T::Range | T::RangeInclusive, _)
        | (_, T::Semicolon | T::Comma | T::CloseParen | T::Dot | T::Colon | T::Range | T::RangeInclusive)
        | (T::OpenBrace, T::CloseBrace) => true,
        (T::Ident(_), T::OpenParen) => !opens_group,
        _ => false,
    }
}

/// Whether a line must begin before a token, and where.
#[derive(Clone, Copy)]
enum Place {
    /// It must: at this column, after comments at another.
    NewLine { column: usize, notes: usize },
    /// It need not; if there is another reason for one, it begins at this column.
    SameLine { column: usize },
}

/// A choice that is printed with a line for each alternative.
struct Broken {
    /// The index of its `(`.
    open: usize,
    /// The index of its `)`.
    close: usize,
    /// The column of its `)`; bars and alternatives are to the right of it.
    column: usize,
}

impl Broken {
    fn bars(&self) -> usize {
        self.column + INDENT
    }

    fn alternatives(&self) -> usize {
        self.bars() + "| ".len()
    }
}

/// Prints tokens one after the other.
struct Printer<'a> {
    layout: &'a Layout<'a>,
    out: String,
    /// The characters of the current line.
    column: usize,
    /// Where the text of the current line begins.
    indent: usize,
    /// Where the documentation is that was printed last.
    doc_column: usize,
    /// The open choices that are printed on several lines.
    broken: Vec<Broken>,
    /// For the file and every open brace, the last statement inside.
    previous: Vec<Option<Statement>>,
}

impl<'a> Printer<'a> {
    fn new(layout: &'a Layout<'a>) -> Self {
        Self {
            layout,
            out: String::new(),
            column: 0,
            indent: 0,
            doc_column: 0,
            broken: Vec::new(),
            previous: vec![None],
        }
    }

    fn file(&mut self) {
        for (index, piece) in self.layout.pieces.iter().enumerate() {
            let place = self.place(index, piece);
            self.gap(index, piece, place);
            self.token(index, piece, place);
        }
        for note in &self.layout.last_notes {
            self.note(note, 0, note.blank);
        }
        self.out.push('\n');
    }

    /// The column of the statements in the innermost braces.
    fn base(&self) -> usize {
        (self.previous.len().saturating_sub(1)) * INDENT
    }

    fn place(&self, index: usize, piece: &Piece<'_>) -> Place {
        match self.place_of_token(index, piece) {
            // Documentation of an argument has a line of its own.
            Place::SameLine { column }
                if matches!(piece.kind, TokenKind::Doc(_)) && piece.role == Role::Other =>
            {
                Place::NewLine { column, notes: column }
            }
            place => place,
        }
    }

    fn place_of_token(&self, index: usize, piece: &Piece<'_>) -> Place {
        let new_line = |column| Place::NewLine { column, notes: column };
        let before = index.checked_sub(1).and_then(|before| self.layout.pieces.get(before));
        match (piece.kind, piece.role) {
            (TokenKind::FileDoc(_), _) => return new_line(0),
            (TokenKind::CloseBrace, _) if piece.glued && piece.notes.is_empty() => {
                return Place::SameLine { column: self.base() };
            }
            (TokenKind::CloseBrace, _) => {
                let notes = self.base();
                return Place::NewLine { column: notes.saturating_sub(INDENT), notes };
            }
            (_, Role::Statement(_)) => return new_line(self.base()),
            (_, Role::Clause) => return new_line(self.base() + INDENT),
            (_, Role::Documented) => return new_line(self.doc_column),
            (_, Role::Alternative | Role::Other) => {}
        }
        let Some(choice) = self.broken.last() else {
            return Place::SameLine { column: self.base() + 2 * INDENT };
        };
        let notes = choice.alternatives();
        if index == choice.close {
            return Place::NewLine { column: choice.column, notes };
        }
        if piece.bar_of == Some(choice.open) {
            return Place::NewLine { column: choice.bars(), notes };
        }
        if index == choice.open + 1 {
            return new_line(notes);
        }
        if before.is_some_and(|before| before.bar_of == Some(choice.open)) {
            return Place::SameLine { column: notes };
        }
        Place::SameLine { column: notes + INDENT }
    }

    /// Prints what is between a token and the one before it.
    fn gap(&mut self, index: usize, piece: &Piece<'_>, place: Place) {
        let (Place::NewLine { notes: note_column, .. } | Place::SameLine { column: note_column }) = place;
        let blanks = self.blanks(index, piece);
        for (note, blank) in piece.notes.iter().zip(&blanks) {
            self.note(note, note_column, *blank);
        }
        let last = piece.notes.last();
        match place {
            Place::NewLine { column, .. } => self.new_line(column, blanks.last() == Some(&true)),
            Place::SameLine { column } => {
                let sticks = matches!(
                    piece.kind,
                    TokenKind::Semicolon
                        | TokenKind::Comma
                        | TokenKind::CloseParen
                        | TokenKind::Dot
                        | TokenKind::Colon
                );
                if last.is_some_and(Note::forces) || self.wraps(index, piece, column) {
                    self.new_line(column, false);
                } else if !(sticks || last.is_none() && piece.glued) {
                    self.push(" ");
                }
            }
        }
    }

    /// Before which of a token's comments, and before the token itself, a blank line is printed.
    fn blanks(&self, index: usize, piece: &Piece<'_>) -> Vec<bool> {
        let mut blanks: Vec<bool> = piece.notes.iter().map(|note| note.blank).collect();
        let before = index.checked_sub(1).and_then(|before| self.layout.pieces.get(before));
        let first = before.is_none_or(|before| *before.kind == TokenKind::OpenBrace);
        let required = match (piece.kind, piece.role) {
            (_, Role::Statement(kind)) => {
                blanks.push(piece.blank);
                self.requires_blank(kind, index)
            }
            (TokenKind::FileDoc(_), _) => {
                blanks.push(piece.blank);
                false
            }
            (TokenKind::CloseBrace, _) => {
                blanks.push(false);
                false
            }
            _ => return vec![false; blanks.len() + 1],
        };
        let first_line = piece.notes.iter().take_while(|note| !note.own_line).count();
        if let Some(blank) = blanks.get(first_line).copied() {
            let any = blanks.contains(&true);
            if let Some(changed) = blanks.get_mut(first_line) {
                *changed = !first && (blank || required && !any);
            }
        }
        blanks
    }

    /// Whether a blank line must be between a statement and the one before it.
    fn requires_blank(&self, kind: Statement, index: usize) -> bool {
        let Some(previous) = self.previous.last().copied().flatten() else { return false };
        match kind {
            Statement::Entry => false,
            // A table of families, one per line, stays one.
            Statement::Family if previous == kind => {
                !(self.is_one_line(index)
                    && self.before(index).is_some_and(|before| self.is_one_line(before)))
            }
            kind => kind != previous || kind == Statement::Block,
        }
    }

    /// The statement before the one at `index`.
    fn before(&self, index: usize) -> Option<usize> {
        let mut pieces = self.layout.pieces.iter().take(index);
        pieces.rposition(|piece| matches!(piece.role, Role::Statement(_)))
    }

    /// Whether the statement at `index` is one line: without documentation and clauses, and short enough.
    fn is_one_line(&self, index: usize) -> bool {
        let pieces = &self.layout.pieces;
        let is_next = |piece: &Piece<'_>| {
            matches!(piece.role, Role::Statement(_)) || *piece.kind == TokenKind::CloseBrace
        };
        let length = pieces.iter().skip(index + 1).take_while(|piece| !is_next(piece)).count() + 1;
        let has_more = pieces.iter().skip(index).take(length).any(|piece| {
            matches!(piece.kind, TokenKind::Doc(_)) || matches!(piece.role, Role::Clause | Role::Documented)
        });
        let width = self.layout.width(index, index + length);
        !has_more && width.is_some_and(|width| self.base() + width <= WIDTH)
    }

    /// Whether a part begins the next line because it does not fit the current one.
    fn wraps(&self, index: usize, piece: &Piece<'_>, column: usize) -> bool {
        let Some(end) = piece.part.filter(|_| !piece.glued && column < self.column) else { return false };
        let width = self.layout.width(index, end);
        if width.is_some_and(|width| self.column + 1 + width <= WIDTH) {
            return false;
        }
        if width.is_some_and(|width| column + width <= WIDTH) {
            return true;
        }
        // It fits no line: what can be divided inside may as well begin here, if its first tokens fit.
        let inside = self.layout.pieces.iter().take(end).skip(index + 1);
        let divisible = inside.into_iter().any(|piece| piece.part.is_some() || piece.choice.is_some());
        let head = self.layout.width(index, end.min(index + 3));
        !divisible && width.is_some() || head.is_some_and(|head| self.column + 1 + head > WIDTH)
    }

    fn token(&mut self, index: usize, piece: &Piece<'_>, place: Place) {
        if matches!(piece.kind, TokenKind::Doc(_)) && piece.role != Role::Documented {
            let (Place::NewLine { column, .. } | Place::SameLine { column }) = place;
            self.doc_column = column;
        }
        if let Some(end) = piece.choice {
            let fits = self.layout.width(index, end).is_some_and(|width| self.column + width <= WIDTH);
            if !fits {
                // In the first line of a family, its clauses would be where the alternatives are.
                let in_family = self.previous.last() == Some(&Some(Statement::Family));
                let least = if in_family { self.base() + INDENT } else { 0 };
                let close = end.saturating_sub(1);
                self.broken.push(Broken { open: index, close, column: self.indent.max(least) });
            }
        }
        self.push(&piece.text);
        match (piece.kind, piece.role) {
            (_, Role::Statement(kind)) => {
                if let Some(previous) = self.previous.last_mut() {
                    *previous = Some(kind);
                }
            }
            (TokenKind::OpenBrace, _) => self.previous.push(None),
            (TokenKind::CloseBrace, _) => {
                self.previous.pop();
            }
            _ => {}
        }
        if self.broken.last().is_some_and(|choice| choice.close == index) {
            self.broken.pop();
        }
        if piece.bar_of.is_some()
            && self.broken.last().is_some_and(|choice| piece.bar_of == Some(choice.open))
        {
            self.indent += "| ".len();
        }
    }

    fn note(&mut self, note: &Note<'_>, column: usize, blank: bool) {
        if note.own_line {
            self.new_line(column, blank);
        } else if !self.out.ends_with('(') {
            self.push(" ");
        }
        self.push(note.text);
    }

    fn new_line(&mut self, column: usize, blank: bool) {
        if !self.out.is_empty() {
            self.out.push_str(if blank { "\n\n" } else { "\n" });
        }
        self.column = 0;
        self.indent = column;
        self.push(&" ".repeat(column));
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
        match text.rsplit_once('\n') {
            Some((_, last)) => self.column = width(last),
            None => self.column += width(text),
        }
    }
}

#[cfg(test)]
mod tests;

//! Recursive descent over a slice of tokens.
//!
//! A rule that fails has reported why and returns [`Reported`]; the rule that can go on from there (a statement,
//! a clause, a group) skips to a token that it knows and does. So one run finds every mistake, and one mistake is
//! reported once.

mod clause;
mod domain;
mod evolution;
mod family;
mod item;
mod part;
mod relation;
mod scan;
#[cfg(test)]
mod tests;

use super::ast::{File, Ident, Int, Item, Text};
use super::brackets::Brackets;
use super::layout::{Mark, MarkKind};
use super::lexer::{Comment, Lexed, lex};
use super::literal;
use super::sink::Sink;
use super::source::check_size;
use super::token::{Token, TokenKind, shortened};
use crate::diag::{Code, Diagnostic, FileId, Span};

/// How deep modules, groups and the arguments of domains may be nested, together.
const MAX_DEPTH: usize = 64;

/// A tree, and what is wrong with the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// What could be read. Complete if there are no diagnostics.
    pub file: File,
    /// The mistakes, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a plan file.
pub fn parse(file: FileId, text: &str) -> Parsed {
    if let Err(diagnostic) = check_size(file, text.len()) {
        return Parsed { file: File::default(), diagnostics: vec![diagnostic] };
    }
    let Marked { parsed, .. } = parse_marked(file, text);
    parsed
}

/// What the formatter needs of a text.
pub(super) struct Marked {
    /// The tree.
    pub(super) parsed: Parsed,
    /// The text's tokens.
    pub(super) tokens: Vec<Token>,
    /// The text's comments.
    pub(super) comments: Vec<Comment>,
    /// Stretches of tokens; complete if nothing is wrong with the text.
    pub(super) marks: Vec<Mark>,
}

/// Reads a plan file whose size was checked.
pub(super) fn parse_marked(file: FileId, text: &str) -> Marked {
    let Lexed { tokens, comments, faults, mut sink } = lex(file, text);
    let end = u32::try_from(text.trim_end().len()).unwrap_or(u32::MAX);
    let mut parser = Parser::new(file, &tokens, &faults, end);
    let tree = parser.file();
    let marks = std::mem::take(&mut parser.marks);
    sink.merge(parser.sink);
    Marked { parsed: Parsed { file: tree, diagnostics: sink.finish(file) }, tokens, comments, marks }
}

/// Reads a plan from tokens that were made elsewhere, as in a macro.
pub fn parse_tokens(file: FileId, tokens: &[Token]) -> Parsed {
    let end = tokens.last().map_or(0, |token| token.span.end);
    let mut parser = Parser::new(file, tokens, &[], end);
    let tree = parser.file();
    let mut sink = Sink::default();
    sink.merge(parser.sink);
    Parsed { file: tree, diagnostics: sink.finish(file) }
}

/// Proof that a mistake was reported, or is known to follow from one that was.
#[derive(Debug)]
struct Reported;

type Parse<T> = Result<T, Reported>;

/// What is reported of a token that is where it cannot be.
#[derive(Clone, Copy)]
enum Place {
    /// The token itself is wrong.
    Here,
    /// Something is missing after the token before it.
    Behind,
}

struct Parser<'t> {
    file: FileId,
    tokens: &'t [Token],
    brackets: Brackets,
    /// Offsets of the lexer's faults, ascending.
    faults: &'t [u32],
    /// The empty span after the last character of the text that is not space.
    end: Span,
    /// The index of the current token.
    at: usize,
    depth: usize,
    sink: Sink,
    /// The token at which the last mistake was reported: a second one there would follow from it.
    reported_at: Option<usize>,
    /// Set while what is read only follows from a mistake that was reported.
    quiet: bool,
    /// Whether nesting was reported, which is done once.
    too_deep: bool,
    /// Whether a `plan` was found, well-formed or not.
    plan_seen: bool,
    /// The diagnostic about braces that are never closed.
    unclosed: Option<usize>,
    /// Items found inside a space.
    misplaced: Vec<Item>,
    /// What was read where, for the formatter.
    marks: Vec<Mark>,
}

impl<'t> Parser<'t> {
    fn new(file: FileId, tokens: &'t [Token], faults: &'t [u32], end: u32) -> Self {
        Self {
            file,
            tokens,
            brackets: Brackets::new(tokens),
            faults,
            end: Span::new(file, end, end),
            at: 0,
            depth: 0,
            sink: Sink::default(),
            reported_at: None,
            quiet: false,
            too_deep: false,
            plan_seen: false,
            unclosed: None,
            misplaced: Vec::new(),
            marks: Vec::new(),
        }
    }

    fn kind(&self) -> Option<&'t TokenKind> {
        self.nth(0)
    }

    fn nth(&self, ahead: usize) -> Option<&'t TokenKind> {
        self.tokens.get(self.at + ahead).map(|token| &token.kind)
    }

    fn word(&self) -> Option<&'t str> {
        self.nth_word(0)
    }

    fn nth_word(&self, ahead: usize) -> Option<&'t str> {
        match self.nth(ahead) {
            Some(TokenKind::Ident(word)) => Some(word),
            _ => None,
        }
    }

    fn is(&self, kind: &TokenKind) -> bool {
        self.kind() == Some(kind)
    }

    fn previous(&self) -> Option<&'t TokenKind> {
        self.at.checked_sub(1).and_then(|index| self.tokens.get(index)).map(|token| &token.kind)
    }

    /// The span of the current token, or the end of the text.
    fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |token| token.span)
    }

    fn previous_span(&self) -> Span {
        let index = self.at.checked_sub(1);
        index.and_then(|index| self.tokens.get(index)).map_or(Span::new(self.file, 0, 0), |token| token.span)
    }

    /// The stretch from `start` to the token before the current one.
    fn since(&self, start: Span) -> Span {
        start.to(self.previous_span())
    }

    fn bump(&mut self) {
        self.jump(self.at + 1);
    }

    /// Makes `index` the current token. `//!` that does not lead the file is reported on the way.
    fn jump(&mut self, index: usize) {
        self.at = index;
        if !matches!(self.kind(), Some(TokenKind::FileDoc(_))) {
            return;
        }
        self.fail(
            Place::Here,
            "`//!` documents the file and comes first in it",
            "nothing is documented by this",
        );
        while matches!(self.kind(), Some(TokenKind::FileDoc(_))) {
            self.at += 1;
        }
    }

    fn eat(&mut self, kind: &TokenKind) -> bool {
        let found = self.is(kind);
        if found {
            self.bump();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.word() == Some(word);
        if found {
            self.bump();
        }
        found
    }

    /// What `rule` reads after `kind`, or nothing if that is not the current token.
    fn behind<T>(&mut self, kind: &TokenKind, rule: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<Option<T>> {
        if self.eat(kind) { rule(self).map(Some) } else { Ok(None) }
    }

    /// Goes past `kind`, or reports that it is missing after the last token.
    fn require(&mut self, kind: &TokenKind, why: &str) -> Parse<()> {
        if self.eat(kind) {
            return Ok(());
        }
        let expected = kind.describe();
        let message = format!("expected {expected} {why}, found {}", self.found());
        Err(self.fail(Place::Behind, message, format!("expected {expected}")))
    }

    fn name(&mut self, of: &str) -> Parse<Ident> {
        let Some(word) = self.word() else {
            return Err(self.expected(of));
        };
        let name = Ident { text: word.to_owned(), span: self.span() };
        self.bump();
        Ok(name)
    }

    fn text(&mut self, what: &str) -> Parse<Text> {
        let Some(TokenKind::Text(value)) = self.kind() else {
            return Err(self.expected(what));
        };
        let text = Text { value: value.clone(), span: self.span() };
        self.bump();
        Ok(text)
    }

    /// A decimal or hexadecimal number, negative after a `-`.
    fn int(&mut self, what: &str) -> Parse<Int> {
        let start = self.span();
        let negative = self.eat(&TokenKind::Minus);
        let magnitude = match self.kind() {
            Some(TokenKind::Int(value)) => *value,
            Some(TokenKind::Hex(digits)) => u128::from_str_radix(digits, 16).unwrap_or_else(|_| {
                self.bad_literal("the number does not fit 128 bits");
                u128::MAX
            }),
            _ => return Err(self.expected(what)),
        };
        self.bump();
        Ok(Int { negative, magnitude, span: self.since(start) })
    }

    /// Notes that the tokens from `start` to before the current one are a `kind`.
    fn mark(&mut self, kind: MarkKind, start: usize) {
        self.marks.push(Mark { kind, start, end: self.at });
    }

    /// The lines of documentation before the current token, and where they begin.
    fn docs(&mut self) -> Docs {
        let docs = Docs { lines: Vec::new(), at: self.at, span: self.span() };
        let mut lines = Vec::new();
        while let Some(TokenKind::Doc(line)) = self.kind() {
            lines.push(line.clone());
            self.bump();
        }
        let span = if lines.is_empty() { docs.span } else { self.since(docs.span) };
        Docs { lines, span, ..docs }
    }

    /// How many lines of documentation are at the current token.
    fn doc_count(&self) -> usize {
        self.tokens.iter().skip(self.at).take_while(|token| matches!(token.kind, TokenKind::Doc(_))).count()
    }

    /// Reports documentation that comes before something that has none.
    fn refuse_docs(&mut self, docs: &Docs, what: &str) {
        if !docs.lines.is_empty() {
            let message = format!("documentation {what}");
            let diagnostic =
                Diagnostic::new(Code::UnexpectedToken, message, docs.span, "nothing is documented by this")
                    .with_help("a comment is written `// …`");
            self.report(diagnostic);
        }
    }

    /// What the current token is called in a message.
    fn found(&self) -> String {
        self.kind().map_or_else(|| "the end of the file".to_owned(), TokenKind::describe)
    }

    /// Reports that `what` should be at the current token.
    fn expected(&mut self, what: &str) -> Reported {
        let message = format!("expected {what}, found {}", self.found());
        self.fail(Place::Here, message, format!("expected {what}"))
    }

    /// As [`Self::expected`], with an example of what to write.
    fn expected_like(&mut self, what: &str, example: &str) -> Reported {
        let message = format!("expected {what}, found {}", self.found());
        let label = format!("expected {what}");
        let diagnostic = Diagnostic::new(Code::UnexpectedToken, message, self.span(), label)
            .with_help(format!("write `{example}`"));
        self.report_here(diagnostic)
    }

    /// Reports a mistake at the current token.
    fn fail(&mut self, place: Place, message: impl Into<String>, label: impl Into<String>) -> Reported {
        let span = match place {
            Place::Here => self.span(),
            Place::Behind => {
                let end = self.previous_span().end;
                Span::new(self.file, end, end)
            }
        };
        self.report_here(Diagnostic::new(Code::UnexpectedToken, message, span, label))
    }

    /// Reports a mistake at the current token, unless it only follows from another one.
    fn report_here(&mut self, diagnostic: Diagnostic) -> Reported {
        let first = self.previous_span().start;
        let follows = self.reported_at == Some(self.at) || self.has_fault(first, self.span().end);
        if !follows {
            self.report(diagnostic);
        }
        self.reported_at = Some(self.at);
        Reported
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if !self.quiet {
            self.sink.push(diagnostic);
        }
    }

    /// Reports that the current literal is malformed, unless the lexer did.
    fn bad_literal(&mut self, message: &str) {
        let span = self.span();
        if !self.has_fault(span.start, span.end) {
            self.report(Diagnostic::new(Code::BadLiteral, message, span, ""));
        }
    }

    /// Whether the lexer found a mistake between two offsets, both included.
    fn has_fault(&self, first: u32, last: u32) -> bool {
        let next = self.faults.partition_point(|fault| *fault < first);
        self.faults.get(next).is_some_and(|fault| *fault <= last)
    }

    /// Runs `rule` one level deeper, or reports that there are too many levels.
    fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_DEPTH {
            if !self.too_deep {
                let message = format!("nested deeper than {MAX_DEPTH} levels");
                let diagnostic = Diagnostic::new(Code::TooDeep, message, self.span(), "one level too many")
                    .with_help("give an inner domain a name with `type`, or use fewer modules");
                self.report(diagnostic);
            }
            self.too_deep = true;
            self.reported_at = Some(self.at);
            return Err(Reported);
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    /// Goes to the next token, past a whole group if one opens here.
    fn skip_tree(&mut self) {
        let past = match self.kind() {
            Some(TokenKind::OpenParen | TokenKind::OpenBrace) => self.brackets.group(self.at).close,
            _ => None,
        };
        self.jump(past.unwrap_or(self.at) + 1);
    }

    /// The bytes of the digits of the current `0x…`.
    fn hex(&mut self, digits: &str) -> Vec<u8> {
        let span = self.span();
        if !digits.len().is_multiple_of(2) && !self.has_fault(span.start, span.end) {
            let message = "bytes have an even number of hexadecimal digits";
            let help = format!("write `0x0{}`", shortened(digits));
            self.report(Diagnostic::new(Code::BadLiteral, message, span, "").with_help(help));
        }
        literal::hex_bytes(digits)
    }
}

/// Lines of documentation.
struct Docs {
    lines: Vec<String>,
    /// The index of the first.
    at: usize,
    span: Span,
}

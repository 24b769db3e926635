//! What stands behind the parts of a family.

use super::super::ast::{AcceptClause, Body, Clause, FieldClause, Ident, Path, ScanClause, Text};
use super::super::layout::MarkKind;
use super::super::nearest::nearest;
use super::super::token::{TokenKind, shortened};
use super::{Docs, Parse, Parser, Place, Reported};
use crate::diag::{Code, Diagnostic, Span};

const CLAUSE_WORDS: [&str; 8] = ["scan", "accept", "allot", "retired", "member", "score", "field", "spread"];

impl Parser<'_> {
    /// The clauses of a family and its `;`. Goes on behind every mistake.
    pub(super) fn clauses(&mut self, clauses: &mut Vec<Clause>) {
        loop {
            let docs = self.docs();
            if !self.is_field() && !docs.lines.is_empty() {
                if self.at_boundary() {
                    self.jump(docs.at);
                } else {
                    self.refuse_docs(&docs, "before something that has none");
                }
            }
            if self.eat(&TokenKind::Semicolon) {
                return;
            }
            if self.at_boundary() {
                // Reported here; the next statement begins at this token.
                let _ = self.require(&TokenKind::Semicolon, "at the end of the family");
                return;
            }
            if self.is(&TokenKind::OpenBrace) {
                self.expected("a clause or `;`");
                return self.skip_tree();
            }
            let first = docs.at;
            match self.clause(docs) {
                Ok(clause) => {
                    clauses.push(clause);
                    self.mark(MarkKind::Clause, first);
                }
                Err(Reported) => self.skip_to_clause(),
            }
        }
    }

    fn clause(&mut self, docs: Docs) -> Parse<Clause> {
        let start = self.span();
        if self.eat(&TokenKind::Arrow) {
            return self.body_of("the layout of the value").map(Clause::Value);
        }
        let was_quiet = self.quiet;
        let word = self.clause_word()?;
        self.bump();
        let clause = match word {
            "scan" => self.scan(start).map(Clause::Scan),
            "accept" => self.accept(start).map(Clause::Accept),
            "allot" => self.name("the name of an allotment").map(Clause::Allot),
            "retired" => self.text("the reason, a string").map(Clause::Retired),
            "member" => self.body_of("the layout of the member").map(Clause::Member),
            "score" => self.body_of("the layout of the score").map(Clause::Score),
            "spread" => self.int("how many buckets").map(Clause::Spread),
            _ => self.field(start, docs).map(Clause::Field),
        };
        self.quiet = was_quiet;
        clause
    }

    /// The word that the clause begins with. One that is misspelled is reported, and nothing else about its
    /// clause.
    fn clause_word(&mut self) -> Parse<&'static str> {
        let Some(word) = self.word() else {
            return Err(self.not_a_clause());
        };
        if let Some(known) = CLAUSE_WORDS.iter().find(|known| **known == word) {
            return Ok(known);
        }
        let Some(meant) = nearest(word, CLAUSE_WORDS) else {
            return Err(self.not_a_clause());
        };
        let shown = shortened(word);
        let label = format!("did you mean `{meant}`?");
        self.fail(Place::Here, format!("`{shown}` begins no part and no clause"), label);
        self.quiet = true;
        Ok(meant)
    }

    fn not_a_clause(&mut self) -> Reported {
        let message = format!("expected a part, a clause or `;`, found {}", self.found());
        let mut diagnostic =
            Diagnostic::new(Code::UnexpectedToken, message, self.span(), "begins no part and no clause");
        match self.kind() {
            Some(TokenKind::Int(value)) if *value < 256 => {
                diagnostic =
                    diagnostic.with_help(format!("bytes are written in hexadecimal: `0x{value:02x}`"));
            }
            Some(TokenKind::Ident(word)) => {
                let word = shortened(word);
                diagnostic = diagnostic.with_help(match self.nth(1) {
                    Some(TokenKind::Ident(_)) => format!("an argument is written with a colon: `{word}: …`"),
                    _ => format!("an argument has a name: `name: {word}`"),
                });
            }
            _ => {}
        }
        self.report_here(diagnostic)
    }

    fn scan(&mut self, start: Span) -> Parse<ScanClause> {
        let mut by = Vec::new();
        if self.eat_word("by") {
            by.push(self.name("the name of an argument")?);
            while self.eat(&TokenKind::Comma) {
                by.push(self.name("the name of an argument")?);
            }
        } else if !self.eat_word("all") {
            return Err(self.expected("`by` or `all`"));
        }
        let in_order = self.eat_word("in");
        if in_order && !self.eat_word("order") {
            return Err(self.expected("`order`"));
        }
        Ok(ScanClause { by, in_order, span: self.since(start) })
    }

    fn accept(&mut self, start: Span) -> Parse<AcceptClause> {
        let kind = self.name("the flaw that is accepted, such as `ambiguous`")?;
        let mut of = Vec::new();
        if self.eat(&TokenKind::OpenParen) {
            of.push(self.path()?);
            while self.eat(&TokenKind::Comma) {
                of.push(self.path()?);
            }
            self.require(&TokenKind::CloseParen, "behind the families")?;
        }
        let why = self.reason("the reason, a string")?;
        Ok(AcceptClause { kind, of, why, span: self.since(start) })
    }

    /// A string that may stand in the next line.
    pub(super) fn reason(&mut self, what: &str) -> Parse<Text> {
        let start = self.at;
        let text = self.text(what)?;
        self.mark(MarkKind::Part, start);
        Ok(text)
    }

    fn path(&mut self) -> Parse<Path> {
        let first: Ident = self.name("the name of a family")?;
        let start = first.span;
        let mut names = vec![first];
        while self.eat(&TokenKind::Dot) {
            names.push(self.name("the name of a family")?);
        }
        Ok(Path { names, span: self.since(start) })
    }

    fn field(&mut self, start: Span, docs: Docs) -> Parse<FieldClause> {
        let name = self.name("the name of the field")?;
        self.equals("and parts behind the name of the field");
        let mut parts = Vec::new();
        self.parts(&mut parts)?;
        if parts.is_empty() {
            return Err(self.expected("the parts of the field's key"));
        }
        let value =
            self.behind(&TokenKind::Arrow, |parser| parser.body_of("the layout of the field's value"))?;
        Ok(FieldClause { doc: docs.lines, name, parts, value, span: self.since(start) })
    }

    /// A layout that may not be empty.
    fn body_of(&mut self, what: &str) -> Parse<Body> {
        let start = self.at;
        let word_of_clause = self.at_clause() && self.word() != Some("score");
        if word_of_clause {
            return Err(self.expected(what));
        }
        let body = self.body()?;
        if self.at == start {
            return Err(self.expected(what));
        }
        Ok(body)
    }

    fn is_field(&self) -> bool {
        self.word() == Some("field") && self.at_clause()
    }

    /// Whether a clause begins at the current token, taken by itself.
    pub(super) fn at_clause(&self) -> bool {
        match (self.kind(), self.nth(1)) {
            (Some(TokenKind::Arrow), _) => true,
            (Some(TokenKind::Ident(word)), next) => {
                CLAUSE_WORDS.contains(&word.as_str())
                    && !matches!(next, Some(TokenKind::Colon | TokenKind::Equals | TokenKind::Dot))
            }
            _ => false,
        }
    }

    /// Goes from a mistake to the next clause of the family, or to where the family must have ended. Nothing is
    /// reported about the token found there: what is missing before it may be part of the mistake.
    pub(super) fn skip_to_clause(&mut self) {
        loop {
            let part_of_domain =
                matches!(self.previous(), Some(TokenKind::Colon | TokenKind::Comma | TokenKind::OpenParen));
            match self.kind() {
                None | Some(TokenKind::Semicolon | TokenKind::OpenBrace) => break,
                Some(_) if self.at_boundary() || (self.at_clause() && !part_of_domain) => break,
                Some(_) => self.skip_tree(),
            }
        }
        self.reported_at = Some(self.at);
    }
}

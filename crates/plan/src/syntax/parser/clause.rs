//! What comes after the parts of a family.

use super::super::ast::{
    AcceptClause, Body, Clause, FieldClause, Ident, Path, RetainClause, RetiredClause, Text,
};
use super::super::layout::MarkKind;
use super::super::nearest::nearest;
use super::super::token::{TokenKind, shortened};
use super::item::listed;
use super::part::HASHES;
use super::scan::Claim;
use super::{Docs, Parse, Parser, Place, Reported};
use crate::diag::{Code, Diagnostic, Span};
use crate::model::{domains, encodings};

/// Domains that take arguments.
const BUILT_IN_CALLS: [&str; 20] = [
    "bytes", "text", "nibbles", "option", "list", "proto", "u8", "u16", "u24", "u32", "u40", "u48", "u56",
    "u64", "u128", "i8", "i16", "i32", "i64", "i128",
];

pub(super) const CLAUSE_WORDS: [&str; 14] = [
    "scan", "own", "accept", "allot", "allow", "from", "retain", "retired", "member", "score", "field",
    "spread", "named", "refers",
];

/// What to do about something that is between two parts.
pub(super) const BETWEEN_PARTS: &str =
    "parts are written one after the other, with nothing between them: leave it out";

/// What to write instead of a word that begins no clause.
fn word_help(word: &str, next: Option<&TokenKind>) -> String {
    match next {
        _ if ["ttl", "expire", "expires", "expiry", "expiration"]
            .contains(&word.to_ascii_lowercase().as_str()) =>
        {
            "which rows are kept is said by `retain`: `retain 30 days by at`, `retain 100_000 by height`"
                .to_owned()
        }
        Some(TokenKind::Ident(_)) => format!("an argument is written with a colon: `{word}: …`"),
        Some(TokenKind::OpenParen) if !BUILT_IN_CALLS.contains(&word) => {
            format!("no hash function is called `{word}`; there are: {}", HASHES.join(", "))
        }
        Some(TokenKind::Int(_) | TokenKind::Hex(_) | TokenKind::Text(_)) => {
            format!("the clauses of a family are: `->`, {}", listed(&CLAUSE_WORDS))
        }
        _ => match encoding_of(word) {
            Some(encoding) => format!("an encoding is written after its domain and a dot: `.{encoding}`"),
            None => format!("an argument has a name: `name: {word}`"),
        },
    }
}

/// The encoding that a word is, if it is not a domain as well.
fn encoding_of(word: &str) -> Option<&'static str> {
    let known = |word: &str| encodings().iter().copied().find(|name| *name == word);
    let found = || known(word).or_else(|| known(&word.to_ascii_lowercase()));
    if domains().contains(&word) { None } else { found() }
}

impl Parser<'_> {
    /// The clauses of a family and its `;`. Goes on after every mistake.
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
            if self.kind() == Some(&TokenKind::Semicolon) {
                return Err(self.expected_like("the layout of the value", "-> amount: u64"));
            }
            return self.body_of("the layout of the value").map(Clause::Value);
        }
        let was_quiet = self.quiet;
        let word = self.clause_word()?;
        self.bump();
        let clause = match word {
            "scan" => self.scan(start, Claim::Scan).map(Clause::Scan),
            "own" => self.scan(start, Claim::Own).map(Clause::Scan),
            "accept" => self.accept(start).map(Clause::Accept),
            "allot" => self.name("the name of an allotment").map(Clause::Allot),
            "retired" => self.retired(start).map(Clause::Retired),
            "retain" => self.retain(start).map(Clause::Retain),
            "member" => self.body_of("the layout of the member").map(Clause::Member),
            "score" => self.body_of("the layout of the score").map(Clause::Score),
            "spread" => self.int("how many buckets").map(Clause::Spread),
            "named" => self.text("the name that the program has for it, a string").map(Clause::Named),
            "from" => self.from(start).map(Clause::From),
            "allow" => self.allow_break(start).map(Clause::AllowBreak),
            "refers" => self.refers(start).map(Clause::Refers),
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
        self.fail(Place::Here, format!("`{shown}` cannot begin a part or a clause"), label);
        self.quiet = true;
        Ok(meant)
    }

    fn not_a_clause(&mut self) -> Reported {
        let message = format!("expected a part, a clause or `;`, found {}", self.found());
        let diagnostic =
            Diagnostic::new(Code::UnexpectedToken, message, self.span(), "cannot begin a part or a clause");
        let diagnostic = match self.not_a_clause_help() {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        };
        self.report_here(diagnostic)
    }

    /// What to write instead of a token that cannot begin a part or a clause.
    fn not_a_clause_help(&self) -> Option<String> {
        match (self.kind()?, self.nth(1)) {
            (TokenKind::Int(value), _) if *value < 256 => {
                Some(format!("bytes are written in hexadecimal: `0x{value:02x}`"))
            }
            (TokenKind::Comma | TokenKind::Bar | TokenKind::Dot | TokenKind::Minus, _) => {
                Some(BETWEEN_PARTS.to_owned())
            }
            (TokenKind::Equals, _) => Some("a value is written after `->`".to_owned()),
            (TokenKind::Ident(word), next) => Some(word_help(&shortened(word), next)),
            _ => None,
        }
    }

    fn accept(&mut self, start: Span) -> Parse<AcceptClause> {
        let kind = self.name("the flaw that is accepted, such as `ambiguous`")?;
        let mut of = Vec::new();
        if self.eat(&TokenKind::OpenParen) {
            of.push(self.path()?);
            while self.eat(&TokenKind::Comma) {
                of.push(self.path()?);
            }
            self.require(&TokenKind::CloseParen, "after the families")?;
        }
        if !matches!(self.kind(), Some(TokenKind::Text(_))) {
            let flaw = shortened(&kind.text);
            return Err(self.expected_like("the reason, a string", &format!("accept {flaw} \"why\"")));
        }
        let why = self.reason("the reason, a string")?;
        Ok(AcceptClause { kind, of, why, span: self.since(start) })
    }

    /// `retired since "v2" "why"`
    fn retired(&mut self, start: Span) -> Parse<RetiredClause> {
        let since = self.since_when()?;
        let why = self.text("the reason, a string")?;
        Ok(RetiredClause { since, why, span: self.since(start) })
    }

    /// `since "v2"`, if it is here.
    pub(super) fn since_when(&mut self) -> Parse<Option<Text>> {
        if !self.eat_word("since") {
            return Ok(None);
        }
        self.text("since when, a string: a release, a height or a date").map(Some)
    }

    /// `retain 100_000 by height`, `retain 30 days by at`, `retain newest 10 per pool_id`
    fn retain(&mut self, start: Span) -> Parse<RetainClause> {
        let newest = self.eat_word("newest");
        let amount = self.int("how many are kept")?;
        let mut arguments = Vec::new();
        let mut unit = None;
        if newest {
            if self.eat_word("per") {
                arguments.push(self.name("the name of an argument")?);
                while self.eat(&TokenKind::Comma) {
                    arguments.push(self.name("the name of an argument")?);
                }
            }
        } else {
            if self.word().is_some_and(|word| word != "by") {
                unit = Some(self.name("a unit of time")?);
            }
            if !self.eat_word("by") {
                return Err(self.expected_like("`by` and an argument", "retain 100_000 by height"));
            }
            arguments.push(self.name("the name of an argument")?);
        }
        Ok(RetainClause { newest, amount, unit, arguments, span: self.since(start) })
    }

    /// A string that may be in the next line.
    pub(super) fn reason(&mut self, what: &str) -> Parse<Text> {
        let start = self.at;
        let text = self.text(what)?;
        self.mark(MarkKind::Part, start);
        Ok(text)
    }

    pub(super) fn path(&mut self) -> Parse<Path> {
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
        self.equals("and parts after the name of the field");
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
        self.at_clause_at(0)
    }

    /// The same of a token further on.
    pub(super) fn at_clause_at(&self, ahead: usize) -> bool {
        match (self.nth(ahead), self.nth(ahead + 1)) {
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

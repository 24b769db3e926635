//! The parts of a layout.

use super::super::ast::{Body, Ident, Literal, LiteralKind, Part};
use super::super::layout::MarkKind;
use super::super::token::{TokenKind, shortened};
use super::clause::BETWEEN_PARTS;
use super::{Parse, Parser};
use crate::diag::{Code, Diagnostic};

pub(super) const HASHES: [&str; 10] = [
    "xxh3_64",
    "twox_64",
    "twox_128",
    "blake2b_128",
    "blake2b_256",
    "sha256",
    "keccak256",
    "blake2b_224",
    "hash160",
    "siphash_24",
];

impl Parser<'_> {
    /// Parts in a row, to the first token that begins none.
    pub(super) fn parts(&mut self, parts: &mut Vec<Part>) -> Parse<()> {
        loop {
            if self.begins_part() {
                let start = self.at;
                parts.push(self.part(Vec::new())?);
                self.mark(MarkKind::Part, start);
            } else if self.doc_count() > 0 && self.begins_part_at(self.doc_count()) {
                let docs = self.docs();
                if self.nth_word(0).is_some() && self.nth(1) == Some(&TokenKind::Colon) {
                    let start = self.at;
                    parts.push(self.part(docs.lines)?);
                    self.mark(MarkKind::Part, start);
                } else {
                    self.refuse_docs(&docs, "before a part that is not an argument, which has none");
                }
            } else if !parts.is_empty() && self.is(&TokenKind::Comma) && self.begins_part_at(1) {
                let message = "parts have nothing between them, found `,`";
                let diagnostic =
                    Diagnostic::new(Code::UnexpectedToken, message, self.span(), "can be left out")
                        .with_help(BETWEEN_PARTS);
                self.report_here(diagnostic);
                self.bump();
            } else {
                return Ok(());
            }
        }
    }

    /// Parts in a row, or one domain.
    pub(super) fn body(&mut self) -> Parse<Body> {
        let one_domain = matches!(self.kind(), Some(TokenKind::Ident(_) | TokenKind::OpenParen));
        if one_domain && !self.begins_part() {
            return self.domain().map(Body::Domain);
        }
        let mut parts = Vec::new();
        self.parts(&mut parts)?;
        Ok(Body::Parts(parts))
    }

    /// Literals in a row; may be none.
    pub(super) fn literals(&mut self) -> Vec<Literal> {
        let mut literals = Vec::new();
        while self.begins_literal(0) {
            match self.literal() {
                Ok(literal) => literals.push(literal),
                Err(_) => break,
            }
        }
        literals
    }

    fn begins_part(&self) -> bool {
        self.begins_part_at(0)
    }

    pub(super) fn begins_part_at(&self, ahead: usize) -> bool {
        self.begins_literal(ahead)
            || matches!(
                (self.nth_word(ahead), self.nth(ahead + 1)),
                (Some(_), Some(TokenKind::Colon | TokenKind::Equals))
                    | (Some("same"), Some(TokenKind::OpenParen))
            )
    }

    pub(super) fn begins_literal(&self, ahead: usize) -> bool {
        match (self.nth(ahead), self.nth(ahead + 1)) {
            (Some(TokenKind::Hex(_) | TokenKind::Text(_) | TokenKind::Bytes(_)), _) => true,
            (Some(TokenKind::Ident(word)), Some(TokenKind::OpenParen)) => HASHES.contains(&word.as_str()),
            _ => false,
        }
    }

    fn part(&mut self, doc: Vec<String>) -> Parse<Part> {
        if self.begins_literal(0) {
            return self.literal().map(Part::Literal);
        }
        let start = self.span();
        if self.nth(1) == Some(&TokenKind::OpenParen) {
            return self.same();
        }
        let name = self.name("the name of an argument")?;
        if self.eat(&TokenKind::Colon) {
            let domain = self.domain()?;
            return Ok(Part::Argument { doc, name, domain, span: self.since(start) });
        }
        self.bump();
        let function = self.name("a function, such as `crc16`")?;
        let of = self.arguments()?;
        let modulus = self.behind(&TokenKind::Percent, |parser| parser.int("the modulus"))?;
        let domain = if self.eat_word("as") { Some(self.domain()?) } else { None };
        Ok(Part::Derived { name, function, of, modulus, domain, span: self.since(start) })
    }

    /// `(a, b)` after the function of a derived part.
    fn arguments(&mut self) -> Parse<Vec<Ident>> {
        self.require(&TokenKind::OpenParen, "and the names of arguments after the function")?;
        let mut names = vec![self.name("the name of an argument")?];
        while self.eat(&TokenKind::Comma) {
            names.push(self.name("the name of an argument")?);
        }
        self.require(&TokenKind::CloseParen, "after the arguments")?;
        Ok(names)
    }

    /// `same(name).encoding`
    fn same(&mut self) -> Parse<Part> {
        let start = self.span();
        self.bump();
        self.bump();
        let name = self.name("the name of an argument")?;
        self.require(&TokenKind::CloseParen, "after the argument")?;
        let encodings = self.encodings()?;
        Ok(Part::Same { name, encodings, span: self.since(start) })
    }

    fn literal(&mut self) -> Parse<Literal> {
        let start = self.span();
        let kind = match self.kind() {
            Some(TokenKind::Hex(digits)) => {
                let bytes = self.hex(digits);
                self.bump();
                LiteralKind::Hex(bytes)
            }
            Some(TokenKind::Text(value)) => {
                self.bump();
                LiteralKind::Text(value.clone())
            }
            Some(TokenKind::Bytes(value)) => {
                self.bump();
                LiteralKind::Bytes(value.clone())
            }
            _ => self.hash_literal()?,
        };
        Ok(Literal { kind, span: self.since(start) })
    }

    /// `sha256("x", 8)`
    fn hash_literal(&mut self) -> Parse<LiteralKind> {
        let function = self.name("a hash function")?;
        self.require(&TokenKind::OpenParen, "after the hash function")?;
        let of = match self.kind() {
            Some(TokenKind::Hex(digits)) => self.hex(digits),
            Some(TokenKind::Text(value)) => value.clone().into_bytes(),
            Some(TokenKind::Bytes(value)) => value.clone(),
            other => {
                let like = match other {
                    Some(TokenKind::Ident(name)) => {
                        format!("{}: bytes(20).hashed({})", shortened(name), shortened(&function.text))
                    }
                    _ => format!("{}(\"balances\")", shortened(&function.text)),
                };
                return Err(self.expected_like("the constant that is hashed", &like));
            }
        };
        self.bump();
        let what = "how many bytes of the hash are kept";
        let keep = self.behind(&TokenKind::Comma, |parser| parser.int(what))?;
        self.require(&TokenKind::CloseParen, "after the constant")?;
        Ok(LiteralKind::Hash { function, of, keep })
    }
}

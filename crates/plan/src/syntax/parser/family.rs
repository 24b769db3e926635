//! Families, allotments and retired prefixes.

use super::super::ast::{AllotDecl, FamilyDecl, FamilyKind, LiteralKind, RetiredDecl, Text};
use super::super::token::TokenKind;
use super::{Docs, Parse, Parser};

impl Parser<'_> {
    /// `key NAME = PARTS CLAUSES;`, at its first word, which is meant to be `word`.
    pub(super) fn family(&mut self, word: &str, docs: Docs) -> Parse<FamilyDecl> {
        let start = self.span();
        let kind = match word {
            "hash" => FamilyKind::Hash,
            "zset" => FamilyKind::Zset,
            "set" => FamilyKind::Set,
            "queue" => FamilyKind::Queue,
            _ => FamilyKind::Key,
        };
        self.bump();
        let name = self.name("the name of the family")?;
        self.equals("and parts behind the name of the family");
        let mut parts = Vec::new();
        let mut clauses = Vec::new();
        let read = self.parts(&mut parts);
        if read.is_ok() && parts.is_empty() && (self.at_clause() || self.is(&TokenKind::Semicolon)) {
            self.expected("the parts of the key");
        }
        if read.is_err() {
            self.skip_to_clause();
        }
        self.clauses(&mut clauses);
        Ok(FamilyDecl { doc: docs.lines, kind, name, parts, clauses, span: self.since(start) })
    }

    /// `allot 0x01..=0x0F NAME "purpose";`, at its first word.
    pub(super) fn allotment(&mut self) -> Parse<AllotDecl> {
        let start = self.span();
        self.bump();
        let first = self.int("the number that is allotted, or the first of a range")?;
        let last = match self.kind() {
            Some(TokenKind::RangeInclusive) => {
                self.bump();
                self.int("the last number of the range")?
            }
            Some(TokenKind::Range) => return Err(self.expected("`..=`: a range includes its end")),
            _ => first,
        };
        let name = self.name("the name of the allotment")?;
        let purpose = match self.kind() {
            Some(TokenKind::Text(_)) => Some(self.reason("the purpose")?),
            _ => None,
        };
        self.finish_statement("behind the allotment");
        Ok(AllotDecl { first, last, name, purpose, span: self.since(start) })
    }

    /// `retired 0x0C "why";`, at its first word.
    pub(super) fn retirement(&mut self) -> Parse<RetiredDecl> {
        let start = self.span();
        self.bump();
        let mut prefix = self.literals();
        if prefix.is_empty() {
            return Err(self.expected("the literals of the prefix that is retired"));
        }
        // The reason looks like one more literal; it is the last one.
        let why = match prefix.pop() {
            Some(last) if !prefix.is_empty() => match last.kind {
                LiteralKind::Text(value) => Some(Text { value, span: last.span }),
                _ => None,
            },
            _ => None,
        };
        let Some(why) = why else {
            return Err(self.expected("the reason, a string"));
        };
        self.finish_statement("behind the reason");
        Ok(RetiredDecl { prefix, why, span: self.since(start) })
    }
}

//! Families, allotments and retired prefixes.

use super::super::ast::{
    AllotDecl, FamilyDecl, FamilyKind, Literal, LiteralKind, RetiredDecl, RuleDecl, Text,
};
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
        self.equals("and parts after the name of the family");
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
        self.finish_statement("after the allotment");
        Ok(AllotDecl { first, last, name, purpose, span: self.since(start) })
    }

    /// `rule integers be, signflip "why";`, at its first word.
    pub(super) fn rule(&mut self) -> Parse<RuleDecl> {
        let start = self.span();
        self.bump();
        let about = self.name("what the rule is about, such as `prefix`")?;
        let number = match self.kind() {
            Some(TokenKind::Int(_)) => Some(self.int("a number")?),
            _ => None,
        };
        let mut words = Vec::new();
        while self.word().is_some() && !self.begins_literal(0) {
            words.push(self.name("a word of the rule")?);
            if !self.eat(&TokenKind::Comma) {
                break;
            }
        }
        let mut literals = self.literals();
        let Some(why) = literals.pop().and_then(as_text) else {
            return Err(self.expected("the reason, a string"));
        };
        self.finish_statement("after the reason");
        Ok(RuleDecl { about, number, words, literals, why, span: self.since(start) })
    }

    /// `retired 0x0C since "v2" "why";`, at its first word.
    pub(super) fn retirement(&mut self) -> Parse<RetiredDecl> {
        let start = self.span();
        self.bump();
        let mut prefix = self.literals();
        if prefix.is_empty() {
            return Err(self.expected("the literals of the prefix that is retired"));
        }
        let since = self.since_when()?;
        let why = match &since {
            Some(_) => self.text("the reason, a string").ok(),
            // The reason looks like one more literal; it is the last one.
            None => prefix.pop().filter(|_| !prefix.is_empty()).and_then(as_text),
        };
        let Some(why) = why else {
            return Err(self.expected("the reason, a string"));
        };
        self.finish_statement("after the reason");
        Ok(RetiredDecl { prefix, since, why, span: self.since(start) })
    }
}

/// A literal that is a string in quotes.
fn as_text(literal: Literal) -> Option<Text> {
    match literal.kind {
        LiteralKind::Text(value) => Some(Text { value, span: literal.span }),
        _ => None,
    }
}

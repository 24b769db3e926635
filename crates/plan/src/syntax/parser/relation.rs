//! Which rows a row refers to.

use super::super::ast::{Path, RefersBinding, RefersClause, RefersSource};
use super::super::token::TokenKind;
use super::{Parse, Parser};
use crate::diag::Span;

impl Parser<'_> {
    /// `refers to PATH(theirs = ours, theirs = value.name, theirs = 1)`, after its first word.
    pub(super) fn refers(&mut self, start: Span) -> Parse<RefersClause> {
        if !self.eat_word("to") {
            return Err(self.expected_like("`to` and a family", "refers to pool(pool_id = id)"));
        }
        let family = self.path()?;
        let mut bindings = Vec::new();
        if self.eat(&TokenKind::OpenParen) {
            bindings.push(self.reference()?);
            while self.eat(&TokenKind::Comma) {
                bindings.push(self.reference()?);
            }
            self.require(&TokenKind::CloseParen, "after the arguments")?;
        }
        Ok(RefersClause { family, bindings, span: self.since(start) })
    }

    fn reference(&mut self) -> Parse<RefersBinding> {
        let name = self.name("an argument of the other family's key")?;
        self.require(&TokenKind::Equals, "and where the argument comes from")?;
        let source = self.reference_source()?;
        Ok(RefersBinding { name, source })
    }

    fn reference_source(&mut self) -> Parse<RefersSource> {
        let span = self.span();
        match self.kind() {
            Some(TokenKind::Text(_)) => self.text("a constant").map(RefersSource::Text),
            Some(TokenKind::Hex(digits)) => {
                let bytes = self.hex(digits);
                self.bump();
                Ok(RefersSource::Bytes(bytes, span))
            }
            Some(TokenKind::Int(_) | TokenKind::Minus) => self.int("a number").map(RefersSource::Int),
            Some(TokenKind::Ident(_)) => {
                let mut names = vec![self.name("an argument of this family")?];
                while self.eat(&TokenKind::Dot) {
                    names.push(self.name("the name of a part")?);
                }
                Ok(RefersSource::Named(Path { names, span: self.since(span) }))
            }
            _ => Err(self.expected("an argument of this family, `value.NAME`, `member.NAME` or a constant")),
        }
    }
}

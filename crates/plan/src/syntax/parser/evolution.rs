//! What a plan says of older plans: where rows come from, what may break, what is dropped.

use super::super::ast::{AllowBreakClause, DropDecl, FromBinding, FromClause, FromSource};
use super::super::token::TokenKind;
use super::{Parse, Parser};
use crate::diag::Span;

/// What may end a `from` clause.
const RULES: [&str; 3] = ["refuse", "drop", "park"];

impl Parser<'_> {
    /// `from PATH(new = old, new = 1, new = value.name, drop old) fitting park`, after its first word.
    pub(super) fn from(&mut self, start: Span) -> Parse<FromClause> {
        let family = self.path()?;
        let mut bindings = Vec::new();
        if self.eat(&TokenKind::OpenParen) {
            bindings.push(self.binding()?);
            while self.eat(&TokenKind::Comma) {
                bindings.push(self.binding()?);
            }
            self.require(&TokenKind::CloseParen, "after the arguments")?;
        }
        let fitting = self.eat_word("fitting");
        let rule = match self.word() {
            Some(word) if RULES.contains(&word) => Some(self.name("a rule")?),
            _ => None,
        };
        Ok(FromClause { family, bindings, fitting, rule, span: self.since(start) })
    }

    fn binding(&mut self) -> Parse<FromBinding> {
        let drops = self.word() == Some("drop") && !matches!(self.nth(1), Some(TokenKind::Equals));
        if drops {
            self.bump();
            return self.name("an argument of the old family").map(FromBinding::Dropped);
        }
        let name = self.name("an argument of this family, or `drop`")?;
        self.require(&TokenKind::Equals, "and where the argument comes from")?;
        let source = self.source()?;
        Ok(FromBinding::Bound { name, source })
    }

    fn source(&mut self) -> Parse<FromSource> {
        let span = self.span();
        match self.kind() {
            Some(TokenKind::Text(_)) => self.text("a constant").map(FromSource::Text),
            Some(TokenKind::Hex(digits)) => {
                let bytes = self.hex(digits);
                self.bump();
                Ok(FromSource::Bytes(bytes, span))
            }
            Some(TokenKind::Int(_) | TokenKind::Minus) => self.int("a number").map(FromSource::Int),
            Some(TokenKind::Ident(word)) if word == "value" && self.nth(1) == Some(&TokenKind::Dot) => {
                self.bump();
                self.bump();
                self.name("an argument of the old value").map(FromSource::Value)
            }
            Some(TokenKind::Ident(_)) => self.name("an argument of the old family").map(FromSource::Argument),
            _ => Err(self.expected("an argument of the old family, `value.NAME` or a constant")),
        }
    }

    /// `allow break(moved, scan) "why"`, after its first word.
    pub(super) fn allow_break(&mut self, start: Span) -> Parse<AllowBreakClause> {
        if !self.eat_word("break") {
            return Err(self.expected("`break`"));
        }
        let mut kinds = Vec::new();
        if self.eat(&TokenKind::OpenParen) {
            kinds.push(self.name("a kind of break, such as `moved`")?);
            while self.eat(&TokenKind::Comma) {
                kinds.push(self.name("a kind of break, such as `moved`")?);
            }
            self.require(&TokenKind::CloseParen, "after the kinds")?;
        }
        let why = self.reason("the reason, a string")?;
        Ok(AllowBreakClause { kinds, why, span: self.since(start) })
    }

    /// `drop PATH "why";`, at its first word.
    pub(super) fn dropping(&mut self) -> Parse<DropDecl> {
        let start = self.span();
        self.bump();
        let family = self.path()?;
        let why = self.reason("the reason, a string")?;
        self.finish_statement("after the reason");
        Ok(DropDecl { family, why, span: self.since(start) })
    }
}

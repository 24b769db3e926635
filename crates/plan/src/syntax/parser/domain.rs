//! Domains, their encodings and their arguments.

use super::super::ast::{Alternative, Atom, Call, CallArg, Domain};
use super::super::layout::MarkKind;
use super::super::token::TokenKind;
use super::{Parse, Parser, Reported};
use crate::diag::{Code, Diagnostic};

impl Parser<'_> {
    /// `Address.hex`, `bytes(1..=255)`, `( … )`
    pub(super) fn domain(&mut self) -> Parse<Domain> {
        self.nested(|parser| {
            let start = parser.span();
            let atom = match parser.kind() {
                Some(TokenKind::OpenParen) => parser.group()?,
                Some(TokenKind::Ident(_)) => Atom::Named(parser.call("a domain")?),
                _ => return Err(parser.expected("a domain, such as `u64`")),
            };
            let encodings = parser.encodings()?;
            Ok(Domain { atom, encodings, span: parser.since(start) })
        })
    }

    /// `.hex.len8`; may be none.
    pub(super) fn encodings(&mut self) -> Parse<Vec<Call>> {
        let mut encodings = Vec::new();
        while self.eat(&TokenKind::Dot) {
            if self.at_whole_clause() {
                return Err(self.expected("an encoding, such as `be`"));
            }
            encodings.push(self.call("an encoding, such as `be`")?);
        }
        Ok(encodings)
    }

    /// Whether what comes is a clause rather than an encoding and what may follow it: the encoding is missing.
    fn at_whole_clause(&self) -> bool {
        let goes_on = self.begins_part_at(1) || self.at_clause_at(1);
        self.at_clause() && self.nth_word(1).is_some() && !goes_on
    }

    /// A record, or a choice if a `|` is directly inside.
    fn group(&mut self) -> Parse<Atom> {
        let open = self.at;
        self.bump();
        if self.brackets.group(open).has_bar {
            let mut alternatives = Vec::new();
            self.alternatives(open, &mut alternatives)?;
            self.mark(MarkKind::Choice, open);
            return Ok(Atom::Choice(alternatives));
        }
        let mut parts = Vec::new();
        let read = self.parts(&mut parts);
        let read = read.and_then(|()| self.close_paren(open, "a part or `)`"));
        read.or_else(|reported| self.skip_group(open, reported))?;
        self.mark(MarkKind::Record, open);
        Ok(Atom::Record(parts))
    }

    fn alternatives(&mut self, open: usize, alternatives: &mut Vec<Alternative>) -> Parse<()> {
        loop {
            let start = self.at;
            let read = self.alternative().map(|alternative| {
                alternatives.push(alternative);
                self.mark(MarkKind::Alternative { open }, start);
            });
            let read = read.and_then(|()| {
                if self.eat(&TokenKind::Bar) {
                    return Ok(true);
                }
                self.close_paren(open, "a part, `|` or `)`").map(|()| false)
            });
            match read {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                // The next alternative can be read if the end of the group is known.
                Err(reported) => {
                    let close = self.brackets.group(open).close;
                    if !close.is_some_and(|close| self.skip_alternative(close)) {
                        return self.skip_group(open, reported);
                    }
                }
            }
        }
    }

    /// Goes past the next `|` before `close`.
    fn skip_alternative(&mut self, close: usize) -> bool {
        while self.at < close {
            if self.eat(&TokenKind::Bar) {
                return true;
            }
            self.skip_tree();
        }
        false
    }

    fn alternative(&mut self) -> Parse<Alternative> {
        let docs = self.docs();
        let start = self.span();
        let label = self.name("the label of an alternative")?;
        self.require(&TokenKind::Colon, "after the label of an alternative")?;
        let body = self.body()?;
        Ok(Alternative { doc: docs.lines, label, body, span: self.since(start) })
    }

    /// A name and what is in parentheses after it.
    fn call(&mut self, what: &str) -> Parse<Call> {
        let name = self.name(what)?;
        let start = name.span;
        let open = self.at;
        let mut args = None;
        if self.eat(&TokenKind::OpenParen) {
            let mut given = Vec::new();
            let read = self.call_args(open, &mut given);
            read.or_else(|reported| self.skip_group(open, reported))?;
            args = Some(given);
        }
        Ok(Call { name, args, span: self.since(start) })
    }

    fn call_args(&mut self, open: usize, args: &mut Vec<CallArg>) -> Parse<()> {
        if self.eat(&TokenKind::CloseParen) {
            return Ok(());
        }
        loop {
            args.push(self.call_arg()?);
            if !self.eat(&TokenKind::Comma) {
                return self.close_paren(open, "`,` or `)`");
            }
        }
    }

    fn call_arg(&mut self) -> Parse<CallArg> {
        match self.kind() {
            Some(TokenKind::Text(_)) => self.text("a string").map(CallArg::Text),
            Some(TokenKind::Ident(_) | TokenKind::OpenParen) => self.domain().map(CallArg::Domain),
            Some(TokenKind::Int(_) | TokenKind::Hex(_) | TokenKind::Minus) => self.numbers(),
            Some(TokenKind::Range | TokenKind::RangeInclusive) => {
                let last = match self.nth(1) {
                    Some(TokenKind::Int(last)) => last.to_string(),
                    Some(TokenKind::Hex(last)) => format!("0x{last}"),
                    _ => "64".to_owned(),
                };
                Err(self.expected_like("the first number of the range", &format!("0..={last}")))
            }
            _ => Err(self.expected("a number, a range, a string or a domain")),
        }
    }

    /// `32`, `1..=255`, `4..`, `20 | 32`
    fn numbers(&mut self) -> Parse<CallArg> {
        let first = self.int("a number")?;
        match self.kind() {
            Some(TokenKind::RangeInclusive) => {
                self.bump();
                let last = self.int("the last number of the range")?;
                Ok(CallArg::Range { first, last: Some(last), span: self.since(first.span) })
            }
            Some(TokenKind::Range) => {
                if matches!(self.nth(1), Some(TokenKind::Int(_) | TokenKind::Hex(_) | TokenKind::Minus)) {
                    return Err(self.expected("`..=`: a range includes its end"));
                }
                self.bump();
                Ok(CallArg::Range { first, last: None, span: self.since(first.span) })
            }
            Some(TokenKind::Bar) => {
                let mut numbers = vec![first];
                while self.eat(&TokenKind::Bar) {
                    numbers.push(self.int("a number")?);
                }
                Ok(CallArg::OneOf(numbers, self.since(first.span)))
            }
            _ => Ok(CallArg::Int(first)),
        }
    }

    /// Goes past the `)` of the group that opened at `open`, or reports what is there instead.
    fn close_paren(&mut self, open: usize, expected: &str) -> Parse<()> {
        if self.eat(&TokenKind::CloseParen) {
            return Ok(());
        }
        if self.brackets.group(open).close.is_some() {
            return Err(self.expected(expected));
        }
        let span = self.tokens.get(open).map_or(self.end, |token| token.span);
        let diagnostic =
            Diagnostic::new(Code::UnexpectedToken, "`(` is never closed", span, "this one has no `)`")
                .with_label(self.span(), format!("expected {expected}"));
        Err(self.report_here(diagnostic))
    }

    /// After a mistake inside of a group, goes past the group if its end is known.
    fn skip_group(&mut self, open: usize, reported: Reported) -> Parse<()> {
        let close = self.brackets.group(open).close.ok_or(reported)?;
        self.jump(self.at.max(close + 1));
        Ok(())
    }
}

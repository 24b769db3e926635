//! `scan` and `own`: what is claimed of the rows after a prefix.

use super::super::ast::{Example, Literal, RangeEnd, ScanClause};
use super::super::nearest::nearest;
use super::super::token::{TokenKind, shortened};
use super::{Parse, Parser, Place};
use crate::diag::Span;

/// What may be after the arguments of a scan.
const WORDS: [&str; 7] = ["bare", "to", "through", "as", "with", "filtered", "in"];

/// Which clause it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    Scan,
    Own,
}

impl Parser<'_> {
    /// The arguments of a scan and the words after them, in any order and each once. The first word is read.
    pub(super) fn scan(&mut self, start: Span, claim: Claim) -> Parse<ScanClause> {
        let mut scan = ScanClause {
            own: claim == Claim::Own,
            by: Vec::new(),
            bare: false,
            end: None,
            example: None,
            with: Vec::new(),
            filtered: false,
            in_order: false,
            span: start,
        };
        if self.eat_word("by") {
            scan.by.push(self.name("the name of an argument")?);
            while self.eat(&TokenKind::Comma) {
                scan.by.push(self.name("the name of an argument")?);
            }
        } else if !self.eat_word("all") {
            return Err(self.expected("`by` or `all`"));
        }
        while let Some(word) = self.scan_word() {
            let again = match word {
                "bare" => scan.bare,
                "to" | "through" => scan.end.is_some(),
                "as" => scan.example.is_some(),
                "with" => !scan.with.is_empty(),
                "filtered" => scan.filtered,
                _ => scan.in_order,
            };
            if again {
                self.fail(Place::Here, format!("`{word}` is given twice"), "given already".to_owned());
            }
            self.bump();
            self.behind_scan_word(word, &mut scan)?;
        }
        scan.span = self.since(start);
        Ok(scan)
    }

    fn behind_scan_word(&mut self, word: &str, scan: &mut ScanClause) -> Parse<()> {
        match word {
            "bare" => scan.bare = true,
            "to" if self.word() == Some("next") => {
                scan.end = Some(RangeEnd::Next(self.span()));
                self.bump();
            }
            "to" => {
                scan.end = Some(RangeEnd::Before(self.bytes_of("`next`, or the bytes after the prefix")?));
            }
            "through" => scan.end = Some(RangeEnd::Through(self.bytes_of("the bytes after the prefix")?)),
            "as" => {
                let start = self.span();
                let literals = self.bytes_of("the bytes of a prefix, such as `0x0c31`")?;
                scan.example = Some(Example { literals, span: self.since(start) });
            }
            "with" => {
                scan.with.push(self.path()?);
                while self.eat(&TokenKind::Comma) {
                    scan.with.push(self.path()?);
                }
            }
            "filtered" => scan.filtered = true,
            _ => {
                if !self.eat_word("order") {
                    return Err(self.expected("`order`"));
                }
                scan.in_order = true;
            }
        }
        Ok(())
    }

    /// The next word, if it belongs to the scan. One that is nearly such a word is reported.
    fn scan_word(&mut self) -> Option<&'static str> {
        let word = self.word()?;
        if let Some(known) = WORDS.into_iter().find(|known| *known == word) {
            return Some(known);
        }
        if self.at_clause() {
            return None;
        }
        // Short words are near too many others.
        let meant = nearest(word, WORDS).filter(|meant| meant.len() > 3)?;
        let message = format!("nothing of a scan is called `{}`", shortened(word));
        self.fail(Place::Here, message, format!("did you mean `{meant}`?"));
        Some(meant)
    }

    fn bytes_of(&mut self, what: &str) -> Parse<Vec<Literal>> {
        let literals = self.literals();
        if literals.is_empty() { Err(self.expected(what)) } else { Ok(literals) }
    }
}

use keyplan_plan::diag::Span as PlanSpan;
use proc_macro2::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};

/// A plan written as tokens of Rust, as text, with where each piece of the text came from.
#[derive(Default)]
pub(crate) struct Printed {
    pub(crate) text: String,
    /// Where each token begins and ends in the text, and its place in the source; in order.
    pieces: Vec<(u32, u32, Span)>,
    /// Whether the next token follows without a space.
    joined: bool,
}

impl Printed {
    /// Prints tokens so that the plan language reads them as Rust's lexer did.
    pub(crate) fn new(tokens: TokenStream) -> Self {
        let mut text = Self::default();
        text.stream(tokens);
        text
    }

    /// The first and the last token of a stretch of the text.
    pub(crate) fn ends(&self, span: PlanSpan) -> Option<(Span, Span)> {
        let after = self.pieces.partition_point(|(_, end, _)| *end <= span.start);
        let first = self.pieces.get(after).or_else(|| self.pieces.last())?;
        let before = self.pieces.partition_point(|(start, ..)| *start < span.end);
        let last =
            before.checked_sub(1).and_then(|last| self.pieces.get(last)).filter(|last| last.0 >= first.0);
        Some((first.2, last.unwrap_or(first).2))
    }

    fn stream(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(hash) if hash.as_char() == '#' => {
                    let inner =
                        matches!(tokens.peek(), Some(TokenTree::Punct(bang)) if bang.as_char() == '!');
                    let bang = if inner { tokens.next() } else { None };
                    match tokens.peek() {
                        Some(TokenTree::Group(group)) if self.doc(group, inner, hash.span()) => {
                            tokens.next();
                        }
                        _ => {
                            self.put("#", hash.span());
                            if let Some(bang) = bang {
                                self.put("!", bang.span());
                            }
                        }
                    }
                }
                TokenTree::Punct(punct) => {
                    let character = punct.as_char();
                    self.joined |= matches!(character, ':' | ';' | ',' | '.');
                    self.put(&character.to_string(), punct.span());
                    self.joined =
                        punct.spacing() == Spacing::Joint || character == '.' || self.text.ends_with("..=");
                    if character == ';' {
                        self.text.push('\n');
                        self.joined = true;
                    }
                }
                TokenTree::Group(group) => self.group(&group),
                TokenTree::Ident(ident) => {
                    let name = ident.to_string();
                    self.put(name.strip_prefix("r#").unwrap_or(&name), ident.span());
                }
                TokenTree::Literal(literal) => self.put(&literal.to_string(), literal.span()),
            }
        }
    }

    fn group(&mut self, group: &Group) {
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None => return self.stream(group.stream()),
        };
        // `bytes(32)`, but `at: (0x00 …)`.
        self.joined |= open == "(" && self.text.ends_with(|last: char| last.is_ascii_alphanumeric());
        self.put(open, group.span_open());
        self.joined = open == "(";
        self.stream(group.stream());
        self.joined |= open == "(";
        self.put(close, group.span_close());
        if open == "{" {
            self.text.push('\n');
            self.joined = true;
        }
    }

    /// Prints documentation, which arrives as an attribute; false if it is another attribute.
    fn doc(&mut self, group: &Group, inner: bool, span: Span) -> bool {
        let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
        let [TokenTree::Ident(doc), TokenTree::Punct(_), TokenTree::Literal(text)] = tokens.as_slice() else {
            return false;
        };
        let Ok(text) = syn::parse_str::<syn::LitStr>(&text.to_string()) else { return false };
        if doc != "doc" {
            return false;
        }
        let marker = if inner { "//!" } else { "///" };
        for line in text.value().lines() {
            self.text.push('\n');
            self.joined = true;
            self.put(&format!("{marker}{line}"), span);
        }
        self.text.push('\n');
        self.joined = true;
        true
    }

    fn put(&mut self, token: &str, span: Span) {
        if !self.joined && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.joined = false;
        let offset = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
        let start = offset(&self.text);
        self.text.push_str(token);
        self.pieces.push((start, offset(&self.text), span));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(tokens: &str) -> String {
        Printed::new(tokens.parse().unwrap()).text
    }

    #[test]
    fn tokens_read_as_they_were_written() {
        assert_eq!(
            printed("key tick = 0x01 pool: u64(0..=5) at: (0x00 h: i64.be) -> proto(\"T\") scan by pool;"),
            "key tick = 0x01 pool: u64(0..=5) at: (0x00 h: i64.be) -> proto(\"T\") scan by pool;\n"
        );
        assert_eq!(printed("bytes(20 | 32) text(\"a-z\", 3..)"), "bytes(20 | 32) text(\"a-z\", 3..)");
    }

    #[test]
    fn documentation_stands_on_its_own_lines() {
        assert_eq!(
            printed("//! About.\nplan a; /// A space.\nspace s { }"),
            "\n//! About.\nplan a;\n\n/// A space.\nspace s { }\n"
        );
    }
}

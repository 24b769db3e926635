use winnow::combinator::{alt, dispatch, empty, not, opt, peek, repeat};
use winnow::error::EmptyError;
use winnow::prelude::*;
use winnow::token::{any, none_of, rest, take, take_till, take_while};

use super::sink::Sink;
use super::source::check_size;
use super::token::{Token, TokenKind};
use super::{foreign, literal};
use crate::diag::{Code, Diagnostic, FileId, Span};

/// The tokens of a text, its comments, and what was wrong with it.
#[derive(Debug)]
pub struct Lexed {
    /// The tokens, in order. Characters that begin no token are left out.
    pub tokens: Vec<Token>,
    /// The comments that are not documentation, in order.
    pub comments: Vec<Comment>,
    /// Where a mistake was found, each the offset of its first byte, in order.
    pub(super) faults: Vec<u32>,
    /// What was found.
    pub(super) sink: Sink,
}

/// A `// …` or `/* … */`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// From its first slash to its end, without space at the end.
    pub span: Span,
}

/// Splits a text into tokens. Mistakes do not stop it; a text that is too large has none.
pub fn lex(file: FileId, source: &str) -> Lexed {
    let mut lexer = Lexer {
        file,
        lexed: Lexed { tokens: Vec::new(), comments: Vec::new(), faults: Vec::new(), sink: Sink::default() },
    };
    if let Err(diagnostic) = check_size(file, source.len()) {
        lexer.lexed.sink.push(diagnostic);
        return lexer.lexed;
    }
    let mut rest = source.strip_prefix('\u{feff}').unwrap_or(source);
    while !rest.is_empty() {
        let start = source.len() - rest.len();
        let Ok((class, spelling)) = class.with_taken().parse_next(&mut rest) else { break };
        lexer.take(class, spelling, start);
    }
    lexer.lexed
}

impl Lexed {
    /// What was wrong with the text.
    pub fn into_diagnostics(self, file: FileId) -> Vec<Diagnostic> {
        self.sink.finish(file)
    }
}

/// What a stretch of text is, before its spelling is looked into.
#[derive(Clone, Debug)]
enum Class {
    Space,
    Comment,
    OpenComment,
    Doc,
    FileDoc,
    Word,
    Number,
    Text(Quotes),
    Bytes(Quotes),
    /// Text in quotes that are not those of the language, with their name.
    Odd(&'static str),
    Prefix,
    Fixed(TokenKind),
    /// `# …`, to the end of the line.
    Hash,
    /// A type with brackets, as other languages write it.
    Foreign,
    /// `=>`, which is meant to be an arrow.
    FatArrow,
    Bad,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    Closed,
    Open,
}

type Lex<T> = Result<T, EmptyError>;

/// The lexical grammar. It reads at least one character of any text that is not empty.
fn class(input: &mut &str) -> Lex<Class> {
    dispatch! { peek(any);
        ' ' | '\t' | '\r' | '\n' => take_while(1.., [' ', '\t', '\r', '\n']).value(Class::Space),
        '/' => alt((comment, bad)),
        'b' => alt((('b', quoted).map(|(_, quotes)| Class::Bytes(quotes)), word)),
        'a'..='z' | 'A'..='Z' | '_' => word,
        '0'..='9' => take_while(1.., is_word).value(Class::Number),
        '"' => quoted.map(Class::Text),
        '\'' => alt((character, odd("single", "'"), bad)),
        '`' => alt((odd("back", "`"), bad)),
        '“' | '”' | '„' | '«' | '»' | '‘' | '’' | '‹' | '›' => alt((curly, bad)),
        '#' => take_till(1.., '\n').value(Class::Hash),
        '[' => alt((bracketed, bad)),
        '=' => alt(("=>".value(Class::FatArrow), punctuation)),
        _ => alt((punctuation, bad)),
    }
    .parse_next(input)
}

fn word(input: &mut &str) -> Lex<Class> {
    let _ = take_while(1.., is_word).parse_next(input)?;
    // Rust reads a word that touches a quote as the prefix of a literal.
    alt((peek('"').value(Class::Prefix), generics.value(Class::Foreign), empty.value(Class::Word)))
        .parse_next(input)
}

/// `<u8>` after a word, with what is nested in it.
fn generics(input: &mut &str) -> Lex<()> {
    let mut depth = 0_usize;
    let mut end = 0;
    for char in input.chars().take_while(|_| input.starts_with('<')) {
        match char {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            char if depth > 0 && (is_word(char) || " ,:&[];'".contains(char)) => {}
            _ => break,
        }
        end += char.len_utf8();
        if depth == 0 {
            return take(end).void().parse_next(input);
        }
    }
    winnow::combinator::fail.parse_next(input)
}

/// `[]byte`, `[32]byte`, `[u8; 32]`
fn bracketed(input: &mut &str) -> Lex<Class> {
    let size = take_while(0.., |char| is_word(char) || " ;&".contains(char));
    ('[', size, ']', take_while(0.., is_word)).value(Class::Foreign).parse_next(input)
}

/// Text between two of the same mark, in one line.
fn odd<'i>(name: &'static str, mark: &'static str) -> impl Parser<&'i str, Class, EmptyError> {
    let inner = take_till(0.., move |char| char == '\n' || mark.contains(char));
    (mark, inner, mark).value(Class::Odd(name))
}

/// Text between quotes as word processors and languages of the world have them, in one line.
fn curly(input: &mut &str) -> Lex<Class> {
    let quotes = ['“', '”', '„', '«', '»', '‘', '’', '‹', '›', '"'];
    let inner = take_till(0.., move |char| char == '\n' || quotes.contains(&char));
    (any, inner, winnow::token::one_of(quotes)).value(Class::Odd("curly")).parse_next(input)
}

fn is_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

fn comment(input: &mut &str) -> Lex<Class> {
    let block = alt((block_comment, ("/*", rest).value(Class::OpenComment)));
    let line =
        alt((("///", not('/')).value(Class::Doc), "//!".value(Class::FileDoc), "//".value(Class::Comment)));
    alt(((line, take_till(0.., '\n')).map(|(class, _)| class), block)).parse_next(input)
}

/// A comment with the comments in it, to its end.
fn block_comment(input: &mut &str) -> Lex<Class> {
    "/*".parse_next(input)?;
    let mut depth = 1_usize;
    while depth > 0 {
        let _ = take_till(0.., ['/', '*']).parse_next(input)?;
        depth = alt(("/*".value(depth + 1), "*/".value(depth - 1), any.value(depth))).parse_next(input)?;
    }
    Ok(Class::Comment)
}

/// A string with its quotes; one that is not closed ends with its line.
fn quoted(input: &mut &str) -> Lex<Quotes> {
    '"'.parse_next(input)?;
    let plain = none_of(['"', '\\', '\n']).void();
    let escaped = ('\\', opt(none_of('\n'))).void();
    let () = repeat(0.., alt((plain, escaped))).parse_next(input)?;
    opt('"').map(|quote| quote.map_or(Quotes::Open, |_| Quotes::Closed)).parse_next(input)
}

fn character(input: &mut &str) -> Lex<Class> {
    let escaped = ('\\', none_of('\n'), take_till(0..=8, ['\'', '\n'])).void();
    ('\'', alt((escaped, none_of(['\\', '\'', '\n']).void())), '\'')
        .value(Class::Odd("single"))
        .parse_next(input)
}

fn punctuation(input: &mut &str) -> Lex<Class> {
    let several = alt((
        "..=".value(TokenKind::RangeInclusive),
        "..".value(TokenKind::Range),
        "->".value(TokenKind::Arrow),
    ));
    let one = dispatch! { any;
        ';' => empty.value(TokenKind::Semicolon),
        ':' => empty.value(TokenKind::Colon),
        ',' => empty.value(TokenKind::Comma),
        '.' => empty.value(TokenKind::Dot),
        '=' => empty.value(TokenKind::Equals),
        '|' => empty.value(TokenKind::Bar),
        '(' => empty.value(TokenKind::OpenParen),
        ')' => empty.value(TokenKind::CloseParen),
        '{' => empty.value(TokenKind::OpenBrace),
        '}' => empty.value(TokenKind::CloseBrace),
        '%' => empty.value(TokenKind::Percent),
        '-' => empty.value(TokenKind::Minus),
        _ => winnow::combinator::fail,
    };
    alt((several, one)).map(Class::Fixed).parse_next(input)
}

/// Characters that begin no token, as many as are together.
fn bad(input: &mut &str) -> Lex<Class> {
    let begins = |char: char| {
        is_word(char) || char.is_ascii_whitespace() || ";:,.=|(){}%-\"/'#[`“”„«»‘’‹›".contains(char)
    };
    (any, take_till(0.., begins)).value(Class::Bad).parse_next(input)
}

struct Lexer {
    file: FileId,
    lexed: Lexed,
}

impl Lexer {
    /// Makes a token, a comment or a diagnostic of a stretch of text.
    fn take(&mut self, class: Class, spelling: &str, start: usize) {
        let span = self.span(start, start + spelling.len());
        let line = self.span(start, start + spelling.trim_end().len());
        if matches!(
            class,
            Class::Comment
                | Class::OpenComment
                | Class::Doc
                | Class::FileDoc
                | Class::Text(_)
                | Class::Bytes(_)
                | Class::Odd(_)
                | Class::Hash
        ) {
            self.hidden(spelling, start);
        }
        match class {
            Class::Space => {}
            Class::Comment => self.lexed.comments.push(Comment { span: line }),
            Class::OpenComment => {
                let open = Span::new(span.file, span.start, span.start.saturating_add(2));
                self.fault(Code::BadToken, "the comment is not closed", open, "it begins here");
            }
            Class::Doc => self.token(TokenKind::Doc(doc_line(spelling)), line),
            Class::FileDoc => self.token(TokenKind::FileDoc(doc_line(spelling)), line),
            Class::Word => self.token(TokenKind::Ident(spelling.to_owned()), span),
            Class::Number => {
                let (kind, fault) = literal::number(spelling);
                self.literal_faults(fault, start);
                self.token(kind, span);
            }
            Class::Text(quotes) => self.text(quotes, spelling, start),
            Class::Bytes(quotes) => {
                let inner = self.unquote(quotes, spelling, 2, start);
                let (value, faults) = literal::bytes(inner);
                self.literal_faults(faults, start + 2);
                self.token(TokenKind::Bytes(value), span);
            }
            Class::Odd(name) => self.odd(name, spelling, span),
            Class::Hash => self.told(
                "`#` begins no comment",
                line,
                "not part of the language",
                "a comment is written `// …`",
            ),
            Class::Foreign => self.foreign(spelling, span),
            Class::FatArrow => {
                self.told("`=>` is not an arrow of the language", span, "not part of it", "write `->`");
                self.token(TokenKind::Arrow, span);
            }
            Class::Prefix => {
                let message = format!("`{}` is not a prefix of strings", super::token::shortened(spelling));
                self.fault(
                    Code::BadToken,
                    message,
                    span,
                    "only `b\"…\"` is; put a space between them otherwise",
                );
                self.token(TokenKind::Ident(spelling.to_owned()), span);
            }
            Class::Fixed(kind) => self.token(kind, span),
            Class::Bad => self.bad(spelling, span),
        }
    }

    fn text(&mut self, quotes: Quotes, spelling: &str, start: usize) {
        let inner = self.unquote(quotes, spelling, 1, start);
        let (value, faults) = literal::text(inner);
        self.literal_faults(faults, start + 1);
        self.token(TokenKind::Text(value), self.span(start, start + spelling.len()));
    }

    /// What is between the quotes; reports the one that is missing.
    fn unquote<'a>(&mut self, quotes: Quotes, spelling: &'a str, open: usize, start: usize) -> &'a str {
        let inner = spelling.get(open..).unwrap_or_default();
        if quotes == Quotes::Closed {
            return inner.strip_suffix('"').unwrap_or(inner);
        }
        let span = self.span(start, start + spelling.trim_end().len());
        self.lexed.faults.push(span.start);
        let diagnostic =
            Diagnostic::new(Code::BadToken, "the string is not closed", span, "a string ends in its line");
        self.lexed.sink.push(diagnostic.with_help("put `\"` where it ends"));
        inner
    }

    /// Reports characters that change how a text looks and not what it says.
    fn hidden(&mut self, spelling: &str, start: usize) {
        for (offset, char) in spelling.char_indices() {
            let rest = spelling.get(offset + char.len_utf8()..).unwrap_or_default();
            // The end of a line may be a carriage return and a line feed.
            let line_end = char == '\r' && (rest.is_empty() || rest.starts_with('\n'));
            if !is_hidden(char) || line_end {
                continue;
            }
            let code_point = u32::from(char);
            let what =
                if code_point < 0xa0 { "a control character" } else { "a mark that turns text around" };
            let span = self.span(start + offset, start + offset + char.len_utf8());
            let diagnostic = Diagnostic::new(
                Code::HiddenCharacter,
                format!("U+{code_point:04X} is {what}: the text may look like another one"),
                span,
                "cannot be seen here",
            );
            let help = format!("take it out; in a string write it as `\\u{{{code_point:x}}}`");
            self.lexed.sink.push(diagnostic.with_help(help));
        }
    }

    /// A string in quotes of another kind, read as if it stood in the right ones.
    fn odd(&mut self, name: &str, spelling: &str, span: Span) {
        let inner = {
            let mut chars = spelling.chars();
            chars.next();
            chars.next_back();
            chars.as_str()
        };
        let what = match (name, literal::text(inner).0.chars().count()) {
            ("single", 0..=1) => "a character",
            _ => "a string",
        };
        let right = super::token::shortened(inner).replace('"', "\\\"");
        self.told(
            format!("{what} in {name} quotes"),
            span,
            "strings are in double quotes",
            format!("write `\"{right}\"`"),
        );
        self.token(TokenKind::Text(literal::text(inner).0), span);
    }

    /// A type that other languages write with brackets, read as the domain that it is here.
    fn foreign(&mut self, spelling: &str, span: Span) {
        let after = self.before(spelling, span);
        let (here, span) = match &after {
            Some((word, size, span)) => (foreign::counted(word, size), *span),
            None => (foreign::bracketed(spelling), span),
        };
        let spelling = after.map_or_else(|| spelling.to_owned(), |(word, ..)| word + spelling);
        let shown = super::token::shortened(&spelling);
        let has_form = !here.contains(' ') || here.starts_with("list(");
        let help = if has_form { format!("write `{here}`") } else { format!("write {here}") };
        self.told(format!("no domain is written `{shown}`"), span, "not part of the language", help);
        let tokens = if has_form { lex(self.file, &here).tokens } else { Vec::new() };
        for token in tokens {
            self.token(token.kind, span);
        }
    }

    /// The word right before `[32]` or `[]`, what is inside of the brackets, and the span of both; the word is taken back.
    fn before(&mut self, spelling: &str, span: Span) -> Option<(String, String, Span)> {
        let size = spelling.strip_prefix('[')?.strip_suffix(']')?;
        let last = self.lexed.tokens.last().filter(|last| last.span.end == span.start)?;
        let TokenKind::Ident(word) = &last.kind else { return None };
        let found = (word.clone(), size.to_owned(), Span::new(self.file, last.span.start, span.end));
        if !size.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        self.lexed.tokens.pop();
        Some(found)
    }

    fn bad(&mut self, spelling: &str, span: Span) {
        let first = spelling.chars().next().unwrap_or_default();
        let shown = if first.is_control() || first.is_whitespace() || !first.is_ascii() {
            format!("{} (U+{:04X})", first.escape_debug(), u32::from(first))
        } else {
            first.to_string()
        };
        let message = match spelling.chars().count() {
            1 => format!("`{shown}` begins no token"),
            count => format!("{count} characters from `{shown}` on begin no token"),
        };
        let label = "not part of the language";
        match instead(first) {
            Some(help) => self.told(message, span, label, help),
            None => self.fault(Code::BadToken, message, span, label),
        }
        if first == '→' {
            self.token(TokenKind::Arrow, span);
        }
    }

    /// Reports a mistake with what to write instead.
    fn told(&mut self, message: impl Into<String>, span: Span, label: &str, help: impl Into<String>) {
        self.lexed.faults.push(span.start);
        self.lexed.sink.push(Diagnostic::new(Code::BadToken, message, span, label).with_help(help));
    }

    fn literal_faults(&mut self, faults: impl IntoIterator<Item = literal::Fault>, offset: usize) {
        for (range, message) in faults {
            let span = self.span(offset + range.start, offset + range.end);
            self.fault(Code::BadLiteral, message, span, "");
        }
    }

    fn fault(&mut self, code: Code, message: impl Into<String>, span: Span, label: &str) {
        self.lexed.faults.push(span.start);
        self.lexed.sink.push(Diagnostic::new(code, message, span, label));
    }

    fn token(&mut self, kind: TokenKind, span: Span) {
        self.lexed.tokens.push(Token { kind, span });
    }

    /// Offsets fit: larger texts were refused.
    fn span(&self, start: usize, end: usize) -> Span {
        let offset = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        Span::new(self.file, offset(start), offset(end))
    }
}

/// What to write instead of a character that begins no token, where that is known.
fn instead(char: char) -> Option<&'static str> {
    Some(match char {
        '+' | '·' | '∥' | '‖' => {
            "parts are written one after the other, with nothing between them: leave it out"
        }
        '&' | '*' => "leave it out: parts have nothing between them, and a domain is never a reference",
        '?' => "what may be absent is `option(DOMAIN)`",
        '→' | '⇒' => "write `->`",
        '–' | '—' | '−' => "write `-`",
        '…' => "write `..` for a range without an end, `..=` for one with an end",
        '≤' | '≥' | '<' | '>' => "a range is written `1..=64`",
        '[' | ']' => "write `bytes(32)` for 32 bytes, `list(DOMAIN)` for several values",
        '\'' | '`' | '“' | '”' | '„' | '«' | '»' | '‘' | '’' | '‹' | '›' => {
            "strings are in double quotes and end in their line"
        }
        char if char.is_whitespace() || matches!(char, '\u{200b}' | '\u{feff}' | '\u{2060}') => {
            "write a plain space"
        }
        _ => return None,
    })
}

/// Whether a character is a control other than a tab or the end of a line, or sets the direction of what follows it.
fn is_hidden(char: char) -> bool {
    match char {
        '\t' | '\n' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        char => char.is_control(),
    }
}

/// A line of documentation without its marker, the space after that, and space at its end.
fn doc_line(spelling: &str) -> String {
    let line = spelling.get(3..).unwrap_or_default();
    line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The tokens as `kind@start..end`, then the comments, then the diagnostics.
    fn dump(text: &str) -> String {
        let lexed = lex(FileId(0), text);
        let mut lines: Vec<String> = Vec::new();
        for token in &lexed.tokens {
            lines.push(format!("{:?} {:?}", token.kind, token.span.range()));
        }
        for comment in &lexed.comments {
            lines.push(format!("comment {:?}", comment.span.range()));
        }
        for diagnostic in lexed.into_diagnostics(FileId(0)) {
            let label = &diagnostic.labels[0];
            let (code, range) = (diagnostic.code, label.span.range());
            lines.push(format!("{code} {range:?} {}; {}", diagnostic.message, label.text).trim().to_owned());
        }
        lines.join("\n")
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(
            dump(text),
            expected.trim().lines().map(str::trim).collect::<Vec<_>>().join("\n"),
            "{text}"
        );
    }

    #[test]
    fn a_range_is_three_tokens_and_a_dot_joins_nothing() {
        check(
            "1..=255 u64.dec 4.. 0x01",
            r#"
            Int(1) 0..1
            RangeInclusive 1..4
            Int(255) 4..7
            Ident("u64") 8..11
            Dot 11..12
            Ident("dec") 12..15
            Int(4) 16..17
            Range 17..19
            Hex("01") 20..24
            "#,
        );
    }

    #[test]
    fn punctuation_takes_the_longest_token() {
        check(
            "->-%",
            "
            Arrow 0..2
            Minus 2..3
            Percent 3..4
            ",
        );
    }

    #[test]
    fn comments_nest_and_documentation_is_a_token() {
        check(
            "/// a \n////b\n//!c\n/* /* x */ */ // y\r\n//",
            r#"
            Doc("a") 0..5
            FileDoc("c") 13..17
            comment 7..12
            comment 18..31
            comment 32..36
            comment 38..40
            "#,
        );
    }

    #[test]
    fn strings_resolve_their_escapes() {
        check(
            r#""a\"b" b"\xff" b x"#,
            r#"
            Text("a\"b") 0..6
            Bytes([255]) 7..14
            Ident("b") 15..16
            Ident("x") 17..18
            "#,
        );
    }

    #[test]
    fn bad_characters_are_reported_together_and_skipped() {
        check(
            "a @$é b \u{a0}",
            r#"
            Ident("a") 0..1
            Ident("b") 7..8
            KP0101 2..6 3 characters from `@` on begin no token; not part of the language
            KP0101 9..11 `\u{a0} (U+00A0)` begins no token; not part of the language
            "#,
        );
    }

    #[test]
    fn an_open_string_ends_with_its_line() {
        check(
            "\"ab\\\nkey",
            r#"
            Text("ab") 0..4
            Ident("key") 5..8
            KP0101 0..4 the string is not closed; a string ends in its line
            KP0103 3..4 nothing comes after the backslash;
            "#,
        );
    }

    #[test]
    fn an_open_comment_is_reported_where_it_begins() {
        check("a /* /* */", "Ident(\"a\") 0..1\nKP0101 2..4 the comment is not closed; it begins here");
    }

    #[test]
    fn single_quotes_and_unknown_prefixes_are_mistakes_with_a_token() {
        check(
            r#"'x' r"y" '"#,
            r#"
            Text("x") 0..3
            Ident("r") 4..5
            Text("y") 5..8
            KP0101 0..3 a character in single quotes; strings are in double quotes
            KP0101 4..5 `r` is not a prefix of strings; only `b"…"` is; put a space between them otherwise
            KP0101 9..10 `'` begins no token; not part of the language
            "#,
        );
    }

    #[test]
    fn a_byte_order_mark_is_no_token() {
        check("\u{feff}a", "Ident(\"a\") 3..4");
    }

    proptest! {
        #[test]
        fn every_character_is_in_a_token_a_comment_a_space_or_a_diagnostic(
            text in prop_oneof![proptest::arbitrary::any::<String>(), "[a-z0-9\"'\\\\/*\r\n{}.=@é -]{0,60}"],
        ) {
            let lexed = lex(FileId(0), &text);
            let mut spans: Vec<Span> = lexed.tokens.iter().map(|token| token.span).collect();
            spans.extend(lexed.comments.iter().map(|comment| comment.span));
            spans.sort_by_key(|span| span.start);
            for pair in spans.windows(2) {
                prop_assert!(pair[0].end <= pair[1].start, "{pair:?} of {text:?}");
            }
            let open_comment = lexed.faults.last().copied();
            let reported: Vec<Span> = lexed.into_diagnostics(FileId(0)).iter().map(Diagnostic::span).collect();
            for (offset, char) in text.char_indices() {
                let offset = u32::try_from(offset).unwrap();
                let known = |span: &Span| span.start <= offset && offset < span.end;
                let covered = char.is_whitespace()
                    || (char == '\u{feff}' && offset == 0)
                    || spans.iter().any(known)
                    || reported.iter().any(known)
                    // Behind an open comment everything is part of it.
                    || open_comment.is_some_and(|start| start < offset && text[start as usize..].starts_with("/*"));
                prop_assert!(covered, "{char:?} at {offset} of {text:?}");
            }
        }
    }
}

//! Semantic tokens: what each word of a text is.

use std::collections::BTreeMap;

use keyplan_plan::diag::{FileId, Span};
use keyplan_plan::model::{domains, encodings};
use keyplan_plan::syntax::{TokenKind, lex};
use serde_json::{Value, json};

use crate::analysis::Document;
use crate::names::{Kind, names};

/// The kinds of tokens, by their place in the legend.
const KINDS: [&str; 10] = [
    "keyword",
    "type",
    "namespace",
    "class",
    "parameter",
    "property",
    "string",
    "number",
    "comment",
    "decorator",
];

/// What the numbers of tokens mean.
pub(crate) fn legend() -> Value {
    json!({ "tokenTypes": KINDS, "tokenModifiers": ["declaration", "documentation"] })
}

/// The tokens of a document, five numbers each.
pub(crate) fn tokens(document: &Document) -> Value {
    let text = document.text();
    let named: BTreeMap<u32, (Kind, bool)> = names(document.trees.get(..1).unwrap_or_default())
        .into_iter()
        .map(|name| (name.span.start, (name.kind, name.declares)))
        .collect();
    let lexed = lex(FileId(0), text);
    let mut all: Vec<(Span, usize, u32)> = Vec::new();
    let mut before: Option<&TokenKind> = None;
    for token in &lexed.tokens {
        let found = match &token.kind {
            TokenKind::Ident(word) => Some(match named.get(&token.span.start) {
                Some((kind, declares)) => (of_name(*kind), u32::from(*declares)),
                None if before == Some(&TokenKind::Dot) && encodings().contains(&word.as_str()) => (9, 0),
                None if before != Some(&TokenKind::Dot) && domains().contains(&word.as_str()) => (1, 0),
                None => (0, 0),
            }),
            TokenKind::Int(_) | TokenKind::Hex(_) => Some((7, 0)),
            TokenKind::Text(_) | TokenKind::Bytes(_) => Some((6, 0)),
            TokenKind::Doc(_) | TokenKind::FileDoc(_) => Some((8, 2)),
            _ => None,
        };
        before = Some(&token.kind);
        all.extend(found.map(|(kind, modifiers)| (token.span, kind, modifiers)));
    }
    all.extend(lexed.comments.iter().map(|comment| (comment.span, 8, 0)));
    all.sort_by_key(|(span, _, _)| span.start);
    json!({ "data": encoded(document, &all) })
}

fn of_name(kind: Kind) -> usize {
    match kind {
        Kind::Type => 1,
        Kind::Plan | Kind::Space | Kind::Module => 2,
        Kind::Family => 3,
        Kind::Argument | Kind::Label => 4,
        Kind::Field | Kind::Allotment => 5,
    }
}

/// Each token relative to the one before it; a comment over several lines is a token for each line.
fn encoded(document: &Document, tokens: &[(Span, usize, u32)]) -> Vec<usize> {
    let text = document.text();
    let (mut line, mut column) = (0, 0);
    let mut out = Vec::new();
    for (span, kind, modifiers) in tokens {
        let mut start = span.start as usize;
        for stretch in text.get(span.range()).unwrap_or_default().split_inclusive('\n') {
            let length = document.lines.length(stretch.trim_end());
            let place = document.lines.position(text, start);
            let number = |name: &str| {
                let value = place.get(name).and_then(Value::as_u64).unwrap_or_default();
                usize::try_from(value).unwrap_or_default()
            };
            let (at_line, at_column) = (number("line"), number("character"));
            start += stretch.len();
            if length == 0 {
                continue;
            }
            let relative = if at_line == line { at_column.saturating_sub(column) } else { at_column };
            let modifiers = usize::try_from(*modifiers).unwrap_or_default();
            out.extend([at_line.saturating_sub(line), relative, length, *kind, modifiers]);
            (line, column) = (at_line, at_column);
        }
    }
    out
}

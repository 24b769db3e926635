//! What can be written at the cursor.

use keyplan_plan::codec::Hash;
use keyplan_plan::diag::FileId;
use keyplan_plan::model::{AcceptKind, domains, encodings};
use keyplan_plan::syntax::{Token, TokenKind, lex};
use serde_json::{Value, json};

use crate::analysis::Document;
use crate::language::explained;
use crate::names::{Kind, names};

/// The kinds of completions of the protocol that are used.
const FUNCTION: u32 = 3;
const VARIABLE: u32 = 6;
const CLASS: u32 = 7;
const PROPERTY: u32 = 10;
const KEYWORD: u32 = 14;
const STRUCT: u32 = 22;

const ITEMS: [&str; 5] = ["plan", "import", "type", "names", "space"];
const MEMBERS: [&str; 9] = ["key", "hash", "zset", "set", "queue", "module", "allot", "retired", "drop"];
const CLAUSES: [&str; 14] = [
    "scan", "own", "accept", "allot", "allow", "from", "retain", "retired", "member", "score", "field",
    "spread", "named", "refers",
];

/// The completions at an offset.
pub(crate) fn complete(document: &Document, offset: usize) -> Value {
    let text = document.text().get(..offset).unwrap_or_default();
    let typed = text.chars().rev().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').count();
    let before = text.get(..text.len() - typed).unwrap_or_default();
    let tokens = lex(FileId(0), before).tokens;
    Value::Array(suggestions(document, &tokens, before.ends_with(char::is_whitespace), offset))
}

fn suggestions(document: &Document, tokens: &[Token], apart: bool, offset: usize) -> Vec<Value> {
    let kind = |back: usize| {
        tokens.len().checked_sub(back + 1).and_then(|at| tokens.get(at)).map(|token| &token.kind)
    };
    let word = |back: usize| match kind(back) {
        Some(TokenKind::Ident(word)) => Some(word.as_str()),
        _ => None,
    };
    match (kind(0), word(0)) {
        (Some(TokenKind::Dot), _) => words(encodings(), PROPERTY),
        (Some(TokenKind::Colon | TokenKind::Arrow), _) => of_domains(document),
        (Some(TokenKind::OpenParen), _) => match word(1) {
            Some("hashed" | "hash_concat") => words(&hashes(), FUNCTION),
            Some("overlap") => of_kind(document, Kind::Family, CLASS),
            Some("same" | "crc16" | "crc32" | "xxh3_64" | "twox_64") => arguments(document, offset),
            Some("option" | "list") => of_domains(document),
            _ => Vec::new(),
        },
        (Some(TokenKind::Equals), _) if is_type(tokens) => of_domains(document),
        (_, Some("by")) if apart => arguments(document, offset),
        (Some(TokenKind::Comma), _) if in_scan(tokens) => arguments(document, offset),
        (_, Some("scan")) if apart => words(&["by", "all"], KEYWORD),
        (_, Some("in")) if apart => words(&["order"], KEYWORD),
        (_, Some("accept")) if apart => words(&AcceptKind::ALL.map(AcceptKind::word), KEYWORD),
        (_, Some("refers")) if apart => words(&["to"], KEYWORD),
        (_, Some("to")) if apart && word(1) == Some("refers") => of_kind(document, Kind::Family, CLASS),
        (_, Some("allot")) if apart => of_kind(document, Kind::Allotment, PROPERTY),
        (None, _) => words(&ITEMS, KEYWORD),
        (
            Some(TokenKind::Semicolon | TokenKind::OpenBrace | TokenKind::CloseBrace | TokenKind::Doc(_)),
            _,
        ) => words(if depth(tokens) == 0 { &ITEMS } else { &MEMBERS }, KEYWORD),
        _ if apart && depth(tokens) > 0 => {
            let mut all = words(&CLAUSES, KEYWORD);
            all.extend(words(&["same", "in order"], KEYWORD));
            all
        }
        _ => Vec::new(),
    }
}

fn hashes() -> Vec<&'static str> {
    Hash::ALL.iter().map(|hash| hash.name()).collect()
}

/// How many braces are open.
fn depth(tokens: &[Token]) -> usize {
    tokens.iter().fold(0, |depth: usize, token| match token.kind {
        TokenKind::OpenBrace => depth + 1,
        TokenKind::CloseBrace => depth.saturating_sub(1),
        _ => depth,
    })
}

/// Whether the text ends with `type NAME =`.
fn is_type(tokens: &[Token]) -> bool {
    let word = tokens.len().checked_sub(3).and_then(|at| tokens.get(at)).map(|token| &token.kind);
    matches!(word, Some(TokenKind::Ident(word)) if word == "type" || word == "names")
}

/// Whether the text ends inside of the arguments of a scan.
fn in_scan(tokens: &[Token]) -> bool {
    let last = tokens.iter().rev().find_map(|token| match &token.kind {
        TokenKind::Ident(word) if word == "by" => Some(true),
        TokenKind::Ident(_) | TokenKind::Comma => None,
        _ => Some(false),
    });
    last == Some(true)
}

fn item(label: &str, kind: u32, detail: Option<&str>) -> Value {
    let mut out = json!({ "label": label, "kind": kind });
    if let Some(out) = out.as_object_mut() {
        if let Some(detail) = detail {
            out.insert("detail".to_owned(), json!(detail));
        }
        if let Some(text) = explained(label) {
            out.insert("documentation".to_owned(), json!({ "kind": "markdown", "value": text }));
        }
    }
    out
}

fn words(words: &[&str], kind: u32) -> Vec<Value> {
    words.iter().map(|word| item(word, kind, None)).collect()
}

fn of_domains(document: &Document) -> Vec<Value> {
    let mut all = of_kind(document, Kind::Type, STRUCT);
    all.extend(words(domains(), KEYWORD));
    all
}

/// Every declared name of a kind, once.
fn of_kind(document: &Document, kind: Kind, shown: u32) -> Vec<Value> {
    let mut texts: Vec<String> = names(&document.trees)
        .into_iter()
        .filter(|name| name.kind == kind && name.declares)
        .map(|name| name.text)
        .collect();
    texts.sort_unstable();
    texts.dedup();
    texts.iter().map(|text| item(text, shown, None)).collect()
}

/// The arguments of the key that the cursor is in, in their order.
fn arguments(document: &Document, offset: usize) -> Vec<Value> {
    let all = names(&document.trees);
    let own =
        |name: &&crate::names::Name| name.span.file == FileId(0) && (name.span.start as usize) <= offset;
    let family = all.iter().filter(own).rfind(|name| name.kind == Kind::Family && name.declares);
    let Some(family) = family else { return Vec::new() };
    let scope = format!("{}.{} key", family.scope, family.text);
    let found = all.iter().filter(|name| name.kind == Kind::Argument && name.declares && name.scope == scope);
    found.map(|name| item(&name.text, VARIABLE, None)).collect()
}

//! The outline of a document, and what can be folded.

use keyplan_plan::diag::{FileId, Span};
use keyplan_plan::syntax::ast::{Item, Member};
use keyplan_plan::syntax::lex;
use serde_json::{Value, json};

use crate::analysis::Document;

/// The kinds of symbols of the protocol that are used.
const MODULE: u32 = 2;
const CLASS: u32 = 5;
const STRUCT: u32 = 23;
const ENUM: u32 = 10;
const NAMESPACE: u32 = 3;

/// The symbols, nested as they are in the text.
pub(crate) fn symbols(document: &Document) -> Value {
    let symbol = |name: &str, detail: &str, kind: u32, span: Span, chosen: Span, children: Vec<Value>| {
        let text = document.text();
        json!({
            "name": if name.is_empty() { "?" } else { name },
            "detail": detail,
            "kind": kind,
            "range": document.lines.range(text, span),
            "selectionRange": document.lines.range(text, chosen),
            "children": children,
        })
    };
    let items = document.tree().into_iter().flat_map(|tree| &tree.items);
    let all = items.filter_map(|item| match item {
        Item::Import(_) => None,
        Item::Type(decl) => {
            Some(symbol(&decl.name.text, "type", STRUCT, decl.span, decl.name.span, Vec::new()))
        }
        Item::Names(decl) => {
            Some(symbol(&decl.name.text, "names", ENUM, decl.span, decl.name.span, Vec::new()))
        }
        Item::Space(decl) => {
            let children = members(&decl.members, &symbol);
            Some(symbol(&decl.name.text, "space", NAMESPACE, decl.span, decl.name.span, children))
        }
    });
    Value::Array(all.collect())
}

type Symbol<'a> = &'a dyn Fn(&str, &str, u32, Span, Span, Vec<Value>) -> Value;

fn members(members: &[Member], symbol: Symbol<'_>) -> Vec<Value> {
    let all = members.iter().filter_map(|member| match member {
        Member::Module(decl) => {
            let children = self::members(&decl.members, symbol);
            Some(symbol(&decl.name.text, "module", MODULE, decl.span, decl.name.span, children))
        }
        Member::Family(decl) => {
            let kind = decl.kind.keyword();
            Some(symbol(&decl.name.text, kind, CLASS, decl.span, decl.name.span, Vec::new()))
        }
        Member::Allot(_) | Member::Retired(_) | Member::Drop(_) | Member::Rule(_) => None,
    });
    all.collect()
}

/// What can be folded: everything of more than one line.
pub(crate) fn folds(document: &Document) -> Value {
    let mut all: Vec<Value> = Vec::new();
    let mut fold = |span: Span, kind: Option<&str>| {
        let (first, last) =
            (document.lines.line(span.start as usize), document.lines.line(span.end as usize));
        if first < last {
            all.push(match kind {
                Some(kind) => json!({ "startLine": first, "endLine": last, "kind": kind }),
                None => json!({ "startLine": first, "endLine": last }),
            });
        }
    };
    for item in document.tree().into_iter().flat_map(|tree| &tree.items) {
        match item {
            Item::Import(decl) => fold(decl.span, None),
            Item::Type(decl) => fold(decl.span, None),
            Item::Names(decl) => fold(decl.span, None),
            Item::Space(decl) => {
                fold(decl.span, None);
                fold_members(&decl.members, &mut fold);
            }
        }
    }
    for comment in lex(FileId(0), document.text()).comments {
        fold(comment.span, Some("comment"));
    }
    Value::Array(all)
}

fn fold_members(members: &[Member], fold: &mut dyn FnMut(Span, Option<&str>)) {
    for member in members {
        match member {
            Member::Module(decl) => {
                fold(decl.span, None);
                fold_members(&decl.members, fold);
            }
            Member::Family(decl) => fold(decl.span, None),
            Member::Allot(_) | Member::Retired(_) | Member::Drop(_) | Member::Rule(_) => {}
        }
    }
}

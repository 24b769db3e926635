//! Where a name is declared and used, across imports; and another name for it that moves no byte.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use keyplan_plan::Compiled;
use keyplan_plan::diag::{FileId, Span};
use keyplan_plan::load::ENOUGH;
use keyplan_plan::syntax::ast::Item;
use keyplan_report::files::read;
use keyplan_report::project::Project;
use serde_json::{Map, Value, json};

use crate::analysis::{Document, compile, holds};
use crate::names::{Kind, Name, names};
use crate::text::Lines;
use crate::uri::uri_of;

/// The name at an offset, and all names of the plan.
fn at(document: &Document, offset: usize) -> Option<(Name, Vec<Name>)> {
    let all = names(&document.trees);
    let name = all.iter().find(|name| holds(name.span, offset)).cloned()?;
    Some((name, all))
}

/// Where the name at an offset is declared, or the file that an import names.
pub(crate) fn definition(document: &Document, offset: usize) -> Value {
    if let Some(file) = imported(document, offset) {
        return json!({ "uri": uri_of(&file), "range": zero() });
    }
    let Some((name, all)) = at(document, offset) else { return Value::Null };
    let found = all.iter().find(|other| other.declares && other.is(&name));
    found.and_then(|found| location(document, found.span)).unwrap_or(Value::Null)
}

fn zero() -> Value {
    let start = json!({ "line": 0, "character": 0 });
    json!({ "start": start, "end": start })
}

/// The file of the import at an offset.
fn imported(document: &Document, offset: usize) -> Option<String> {
    let import = document.imports().into_iter().find(|import| holds(import.span, offset))?;
    Some(document.compiled.sources.get(import.file)?.name.clone())
}

fn location(document: &Document, span: Span) -> Option<Value> {
    let (uri, range) = place(document, span)?;
    Some(json!({ "uri": uri, "range": range }))
}

fn place(document: &Document, span: Span) -> Option<(String, Value)> {
    let source = document.compiled.sources.get(span.file)?;
    if span.file == FileId(0) {
        return Some((document.uri.clone(), document.lines.range(&source.text, span)));
    }
    let lines = Lines::new(&source.text, document.lines.encoding());
    Some((uri_of(&source.name), lines.range(&source.text, span)))
}

/// Every place of the name at an offset, in this plan and in the other plans that share the file which declares it: those
/// that are open, and those of the project.
pub(crate) fn references<'a>(
    document: &'a Document,
    others: impl Iterator<Item = &'a Document>,
    offset: usize,
    declarations: bool,
) -> Value {
    let Some((name, all)) = at(document, offset) else { return json!([]) };
    let open: Vec<&Document> = others.collect();
    let closed = closed(document, &open, &name);
    let others = open.into_iter().chain(&closed);
    let mut places = BTreeMap::new();
    for (owner, name) in everywhere(document, others, &name, &all) {
        if (declarations || !name.declares)
            && let Some((uri, range)) = place(owner, name.span)
        {
            places.insert((uri.clone(), name.span.start), json!({ "uri": uri, "range": range }));
        }
    }
    Value::Array(places.into_values().collect())
}

/// The plans of the project that no editor has open, if a name can be used in them.
fn closed(document: &Document, open: &[&Document], name: &Name) -> Vec<Document> {
    if name.kind != Kind::Type {
        return Vec::new();
    }
    let project =
        Path::new(&document.path).parent().and_then(|folder| Project::around(folder).ok().flatten());
    let Some(project) = project else { return Vec::new() };
    let is_open = |path: &str| path == document.path || open.iter().any(|open| open.path == path);
    let paths = project.plans().unwrap_or_default().into_iter();
    let paths = paths.map(|path| project.root.join(path).to_string_lossy().into_owned());
    let text = |path: &str| {
        let found = [document].into_iter().chain(open.iter().copied()).find(|open| open.path == path);
        found.map(|open| open.text().to_owned())
    };
    let read_one = |path: String| {
        let bytes = read(Path::new(&path), ENOUGH).ok()?;
        let own = String::from_utf8(bytes).ok()?;
        Some(Document::new(&uri_of(&path), 0, &own, document.lines.encoding(), text))
    };
    paths.filter(|path| !is_open(path)).filter_map(read_one).collect()
}

/// The places of a name in these documents.
fn everywhere<'a>(
    document: &'a Document,
    others: impl Iterator<Item = &'a Document>,
    name: &Name,
    all: &[Name],
) -> Vec<(&'a Document, Name)> {
    let mut found: Vec<(&Document, Name)> =
        all.iter().filter(|other| other.is(name)).map(|name| (document, name.clone())).collect();
    // Only types are seen across files.
    let declared = all.iter().find(|other| other.declares && other.is(name));
    let file = declared.and_then(|declared| document.compiled.sources.get(declared.span.file));
    if let (Kind::Type, Some(file)) = (name.kind, file) {
        for other in others {
            let Some(id) = other.compiled.sources.find(&file.name) else { continue };
            let names = names(&other.trees);
            let same = |found: &&Name| {
                found.declares && found.kind == Kind::Type && found.span.file == id && found.text == name.text
            };
            let Some(declared) = names.iter().find(same) else { continue };
            found.extend(names.iter().filter(|found| found.is(declared)).map(|name| (other, name.clone())));
        }
    }
    found
}

/// The places of the name at an offset in this file.
pub(crate) fn highlights(document: &Document, offset: usize) -> Value {
    let Some((name, all)) = at(document, offset) else { return json!([]) };
    let own = all.iter().filter(|other| other.is(&name) && other.span.file == FileId(0));
    let marked = own.map(|name| {
        json!({ "range": document.lines.range(document.text(), name.span), "kind": if name.declares { 3 } else { 2 } })
    });
    Value::Array(marked.collect())
}

/// The stretch that a rename would change; null where there is no name.
pub(crate) fn prepare(document: &Document, offset: usize) -> Value {
    at(document, offset).map_or(Value::Null, |(name, _)| {
        json!({ "range": document.lines.range(document.text(), name.span), "placeholder": name.text })
    })
}

/// The edits that give the name at an offset another spelling. They move no byte: every plan that they touch is read again
/// with them, and its fingerprint must be the same.
pub(crate) fn rename<'a>(
    document: &'a Document,
    others: impl Iterator<Item = &'a Document>,
    offset: usize,
    new: &str,
) -> Result<Value, String> {
    let (name, all) = at(document, offset).ok_or("there is no name here")?;
    check_spelling(&name, new)?;
    if let Some(taken) = all.iter().find(|other| {
        other.declares && other.kind == name.kind && other.scope == name.scope && other.text == new
    }) {
        let line = document.lines.line(taken.span.start as usize) + 1;
        return Err(format!("`{new}` is declared already, in line {line}"));
    }
    let mut edits: BTreeMap<(String, u32), (u32, Value, String)> = BTreeMap::new();
    let open: Vec<&Document> = others.collect();
    let closed = closed(document, &open, &name);
    let others = open.into_iter().chain(&closed);
    let mut owners = BTreeMap::from([(document.uri.as_str(), document)]);
    for (owner, place_of) in everywhere(document, others, &name, &all) {
        let Some((uri, range)) = place(owner, place_of.span) else { continue };
        let text = spelled(document, &place_of, new);
        edits.insert((uri, place_of.span.start), (place_of.span.end, range, text));
        owners.insert(&owner.uri, owner);
    }
    for owner in owners.into_values() {
        let of_file = |why: &str| {
            if owner.uri == document.uri { why.to_owned() } else { format!("in `{}`: {why}", owner.path) }
        };
        keeps_bytes(owner, &edits).map_err(of_file)?;
    }
    let mut changes: Map<String, Value> = Map::new();
    for ((uri, _), (_, range, text)) in edits {
        let edit = json!({ "range": range, "newText": text });
        if let Some(list) = changes.entry(uri).or_insert_with(|| json!([])).as_array_mut() {
            list.push(edit);
        }
    }
    Ok(json!({ "changes": changes }))
}

/// The text that takes the place of a name. An engine knows a space by its name, so the old one is kept for it.
fn spelled(document: &Document, name: &Name, new: &str) -> String {
    let physical = name.kind == Kind::Space
        && document.tree().into_iter().flat_map(|tree| &tree.items).any(|item| {
            matches!(item, Item::Space(space) if space.name.span == name.span && space.physical.is_none())
        });
    if physical { format!("{new} = \"{}\"", name.text) } else { new.to_owned() }
}

fn check_spelling(name: &Name, new: &str) -> Result<(), String> {
    let rest = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let first = new.chars().next().ok_or("a name is not empty")?;
    let good = match name.kind {
        Kind::Type => first.is_ascii_uppercase() && new.chars().all(|c| c.is_ascii_alphanumeric()),
        _ => {
            (first.is_ascii_lowercase() || first == '_')
                && new.chars().all(|c| rest(c) && !c.is_ascii_uppercase())
        }
    };
    let wanted = match name.kind {
        Kind::Type => "a capital letter first, then letters and digits, as in `PoolId`",
        _ => "small letters, digits and `_`, as in `pool_id`",
    };
    if good { Ok(()) } else { Err(format!("this is spelled with {wanted}")) }
}

/// Whether the plan means the same bytes after the edits. A plan without a meaning cannot be compared and is refused.
fn keeps_bytes(
    document: &Document,
    edits: &BTreeMap<(String, u32), (u32, Value, String)>,
) -> Result<(), &'static str> {
    let before =
        document.plan().ok_or("the plan has mistakes; cure them first, so that a rename can be checked")?;
    let files: BTreeSet<&str> = edits.keys().map(|(uri, _)| uri.as_str()).collect();
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for (index, source) in document.compiled.sources.files().iter().enumerate() {
        let uri = if index == 0 { document.uri.clone() } else { uri_of(&source.name) };
        let mut text = source.text.clone();
        if files.contains(uri.as_str()) {
            for ((_, start), (end, _, new)) in edits.iter().rev().filter(|((owner, _), _)| *owner == uri) {
                let (start, end) = (*start as usize, *end as usize);
                if text.get(start..end).is_some() {
                    text.replace_range(start..end, new);
                }
            }
        }
        texts.insert(source.name.clone(), text);
    }
    let text = texts.get(&document.path).cloned().unwrap_or_default();
    let Compiled { plan, .. } = compile(&document.path, &text, |path| texts.get(path).cloned());
    match plan {
        Some(after) if after.fingerprint() == before.fingerprint() => Ok(()),
        Some(_) => Err("the bytes of the plan would change"),
        None => Err("the plan would have mistakes"),
    }
}

//! The resolved plan as JSON: what other tools build on.
//!
//! Every object that may be one of several things says which in `kind`. Bytes are hex, integers beyond 2⁵³ are strings, and a
//! limit that does not exist is `null`. Within a version, names are added and none changes its meaning; `schema.json` is the
//! JSON Schema.

mod shape;

use keyplan_plan::Compiled;
use keyplan_plan::diag::Diagnostic;
use keyplan_plan::model::{
    Accept, Family, FamilyKind, Field, Keep, Module, Plan, Relation, Retention, Retired, Scan, ScanEnd, Space,
};
use serde_json::{Value as Json, json};

use crate::prove::prove;
use shape::{sequence, shape};

/// The version of the form.
pub const VERSION: u64 = 1;

/// The JSON Schema of the form.
pub const SCHEMA: &str = include_str!("schema.json");

/// The model of a plan that checks, as text.
pub fn generate(compiled: &Compiled) -> Result<String, Vec<Diagnostic>> {
    let errors: Vec<Diagnostic> = compiled.errors().cloned().collect();
    let Some(plan) = compiled.plan.as_ref().filter(|_| errors.is_empty()) else { return Err(errors) };
    let path = compiled.sources.files().first().map_or("", |file| file.name.as_str());
    prove(plan, path)?;
    Ok(format!("{:#}\n", of_plan(plan)))
}

/// The model of a plan.
pub fn of_plan(plan: &Plan) -> Json {
    json!({
        "keyplan": "model",
        "version": VERSION,
        "name": plan.name,
        "doc": plan.doc,
        "fingerprint": plan.fingerprint().to_string(),
        "types": plan.types.iter().map(|ty| json!({"name": ty.name, "doc": ty.doc, "shape": shape(&ty.shape)})).collect::<Vec<_>>(),
        "names": plan.names.iter().map(|set| json!({
            "name": set.name,
            "doc": set.doc,
            "names": set.names.iter().map(|name| json!({"text": name.text, "doc": name.doc, "retired": name.retired})).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "spaces": plan.spaces.iter().map(space).collect::<Vec<_>>(),
    })
}

fn space(space: &Space) -> Json {
    json!({
        "name": space.name,
        "engine_name": space.engine_name(),
        "doc": space.doc,
        "modules": space.modules.iter().map(module).collect::<Vec<_>>(),
        "retired": space.retired.iter().map(retired).collect::<Vec<_>>(),
        "families": space.families.iter().map(family).collect::<Vec<_>>(),
    })
}

fn module(module: &Module) -> Json {
    json!({
        "name": module.name,
        "path": module.path,
        "doc": module.doc,
        "prefix": hex(&module.prefix),
        "parent": module.parent.map(|id| id.0),
        "allotments": module.allotments.iter().map(|one| json!({
            "name": one.name, "purpose": one.purpose, "first": one.first, "last": one.last,
        })).collect::<Vec<_>>(),
        "retired": module.retired.iter().map(retired).collect::<Vec<_>>(),
    })
}

fn retired(retired: &Retired) -> Json {
    json!({"prefix": hex(&retired.prefix), "why": retired.why})
}

fn family(family: &Family) -> Json {
    json!({
        "kind": match family.kind {
            FamilyKind::Key => "key",
            FamilyKind::Hash => "hash",
            FamilyKind::Zset => "zset",
            FamilyKind::Set => "set",
            FamilyKind::Queue => "queue",
        },
        "name": family.name,
        "path": family.path,
        "named": family.real_name,
        "doc": family.doc,
        "module": family.module.map(|id| id.0),
        "number": family.number,
        "allotment": family.allotment,
        "key": sequence(&family.key),
        "value": family.value.as_ref().map(sequence),
        "fields": family.fields.iter().map(field).collect::<Vec<_>>(),
        "member": family.member.as_ref().map(sequence),
        "score": family.score.as_ref().map(sequence),
        "spread": family.spread,
        "scans": family.scans.iter().map(scan).collect::<Vec<_>>(),
        "accepts": family.accepts.iter().map(accept).collect::<Vec<_>>(),
        "retired": family.retired,
        "retired_since": family.retired_since,
        "retain": family.retention.as_ref().map(retention),
        "relations": family.relations.iter().map(relation).collect::<Vec<_>>(),
    })
}

fn retention(of: &Retention) -> Json {
    let keep = match of.keep {
        Keep::Within(size) => json!({"kind": "within", "size": size.to_string()}),
        Keep::Newest { count, first } => json!({"kind": "newest", "count": count, "first": first}),
    };
    json!({"bound": of.bound, "keep": keep})
}

fn field(field: &Field) -> Json {
    json!({"name": field.name, "doc": field.doc, "key": sequence(&field.key), "value": field.value.as_ref().map(sequence)})
}

fn scan(scan: &Scan) -> Json {
    let (end, stop) = match &scan.end {
        ScanEnd::Prefix => ("prefix", None),
        ScanEnd::Next => ("next", None),
        ScanEnd::Before(bytes) => ("before", Some(hex(bytes))),
        ScanEnd::Through(bytes) => ("through", Some(hex(bytes))),
    };
    let with = scan.with.iter().flat_map(|company| &company.families);
    json!({
        "bound": scan.bound,
        "part": scan.part.as_ref().map(|part| part.segment),
        "segments": scan.segments,
        "in_order": scan.in_order,
        "bare": scan.bare,
        "end": end,
        "stop": stop,
        "with": with.collect::<Vec<_>>(),
        "filtered": scan.filtered,
        "own": scan.own,
        "example": scan.example.as_deref().map(hex),
    })
}

/// A row that rows refer to, each argument of its key with the source as the plan has it.
fn relation(relation: &Relation) -> Json {
    let bindings = relation
        .bindings
        .iter()
        .map(|reference| json!({"argument": reference.argument, "source": reference.spelled}));
    json!({"family": relation.family, "bindings": bindings.collect::<Vec<_>>()})
}

fn accept(accept: &Accept) -> Json {
    json!({"kind": accept.kind.word(), "of": accept.of, "why": accept.why})
}

fn hex(bytes: &[u8]) -> String {
    keyplan_plan::notation::hex(bytes)
}

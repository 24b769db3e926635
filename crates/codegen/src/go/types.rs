//! Declarations of types: records, choices, digests and name sets.

use std::fmt::Write as _;

use keyplan_codec::Hash;
use keyplan_plan::model::{Segment, Shape};

use super::encode::{Body, is_numbered};
use super::names::{exported, local, quoted};
use super::tree::{Constant, Inside, Row, Tree};
use super::value::choice_of;
use super::{Go, comment, empty};
use crate::about::one_line;
use crate::regular::hash_function;

impl<'p> Go<'p> {
    /// Declares the type of a record or choice. Those of the plan's own types belong to no space.
    pub(crate) fn declare(&mut self, tree: &Tree<'p>, about: &[String]) {
        let mut out = String::new();
        let go = &tree.go;
        let doc = |first: String| {
            let mut lines = vec![first, String::new()];
            lines.extend(about.iter().cloned());
            comment("", &lines)
        };
        match &tree.inside {
            Inside::Record(row) => {
                let doc = doc(format!("{go} is several arguments in a row."));
                let _ = writeln!(out, "{doc}{}", self.struct_of(go, row));
            }
            Inside::Enum(constants) => {
                let doc = doc(format!("{go} is one of several names."));
                let held = enum_type(constants.len());
                let _ = writeln!(out, "{doc}type {go} {held}\n");
                for (index, Constant { go: constant, of }) in constants.iter().enumerate() {
                    let about = if of.doc.is_empty() {
                        vec![format!("{constant} is `{}`.", of.label)]
                    } else {
                        let mut about = vec![format!("{constant} is `{}`:", of.label)];
                        about.extend(of.doc.iter().cloned());
                        about
                    };
                    let _ = writeln!(out, "{}const {constant} {go} = {index}\n", comment("", &about));
                }
            }
            Inside::Choice(variants) => {
                let names: Vec<&str> = variants.iter().map(|variant| variant.go.as_str()).collect();
                let doc = doc(format!("{go} is one of {}.", names.join(", ")));
                let _ = writeln!(out, "{doc}type {go} interface {{\n\tis{go}()\n\tval() val\n}}\n");
                for (index, variant) in variants.iter().enumerate() {
                    let mut about =
                        vec![format!("{} is the alternative `{}`.", variant.go, variant.of.label)];
                    about.extend(variant.of.doc.iter().cloned());
                    let declared = self.struct_of(&variant.go, &variant.row);
                    let values = self.values_of(&variant.row, "k", 1);
                    let (about, receiver) =
                        (comment("", &about), if variant.row.fields.is_empty() { "" } else { "k " });
                    let _ = writeln!(
                        out,
                        "{about}{declared}\n{}\n",
                        empty(&format!("func ({}) is{go}()", variant.go))
                    );
                    let _ = writeln!(
                        out,
                        "func ({receiver}{}) val() val {{\n\treturn val{{i: {index}, l: {values}}}\n}}\n",
                        variant.go
                    );
                }
                let _ = writeln!(out, "func {}(v val) {go} {{\n\tswitch v.i {{", choice_of(go));
                for (index, variant) in variants.iter().enumerate() {
                    let made = self.struct_from(&variant.go, &variant.row, "v", 2);
                    let last = index + 1 == variants.len();
                    let case = if last { "default:".to_owned() } else { format!("case {index}:") };
                    let _ = writeln!(out, "\t{case}\n\t\treturn {made}");
                }
                out.push_str("\t}\n}\n\n");
            }
            _ => {}
        }
        self.shared.push_str(&out);
    }

    /// The struct of a layout, each field after a line that shows its layout.
    pub(crate) fn struct_of(&self, go: &str, row: &Row<'p>) -> String {
        if row.fields.is_empty() {
            return format!("type {go} struct{{}}\n");
        }
        let mut out = format!("type {go} struct {{\n");
        let arguments = row.sequence.segments().iter().filter_map(|segment| match segment {
            Segment::Argument(argument) => Some(argument),
            _ => None,
        });
        for ((name, tree), argument) in row.fields.iter().zip(arguments) {
            let text = one_line(self.sources.slice(argument.span));
            let mut about = vec![format!("{name} is written as `{}`.", text.replace('`', "'"))];
            if !argument.doc.is_empty() {
                about.push(String::new());
                about.extend(argument.doc.iter().cloned());
            }
            let _ = writeln!(out, "{}\t{name} {}", comment("\t", &about), tree.go);
        }
        out.push_str("}\n");
        out
    }

    /// The type of a hashed argument: its digest, and the function that makes it.
    pub(crate) fn digest(&mut self, go: &str, shape: &Shape, (hash, keep): (Hash, usize), of: &Tree<'p>) {
        let mut out = format!(
            "// {go} is the {hash} digest of an argument, which is all that its key holds.\ntype {go} [{keep}]byte\n\n"
        );
        let make = self.scope.fresh(&format!("New{go}"));
        let mut body = Body::new(go, &format!("{go}{{}}"));
        self.put(&mut body, of, "arg", "");
        let fallible = body.code.contains("f = ");
        let (result, tail) = if fallible { (format!("({go}, error)"), ", nil") } else { (go.to_owned(), "") };
        let _ = writeln!(
            out,
            "// {make} hashes an argument{}.\nfunc {make}(arg {}) {result} {{\n\tvar room [64]byte\n\tdst := room[:0]\n{}\tdigest := {}(dst)\n\treturn {go}(*(*[{keep}]byte)(digest[:{keep}])){tail}\n}}\n",
            if fallible { ", or refuses one outside of its domain" } else { "" },
            of.go,
            body.finish(),
            hash_function(hash),
        );
        let (_, known) = self.known(shape);
        if known != "nil" {
            let _ = writeln!(
                out,
                "// Name returns the known name that the digest is of, if it is one.\nfunc (d {go}) Name() (string, bool) {{\n\tv := digestVal(d[:], {known})\n\treturn string(v.b), v.i == 1\n}}\n"
            );
        }
        self.shared.push_str(&out);
    }

    /// The plan's name sets: a text type with a constant for each name.
    pub(crate) fn name_sets(&mut self) {
        let sets: Vec<_> = self.plan.names.iter().map(std::sync::Arc::clone).collect();
        let mut out = String::new();
        for set in sets {
            let go = self.set_name(&set.name);
            let mut about = vec![format!("{go} is a text of which some values are known.")];
            about.extend(set.doc.iter().cloned());
            let _ = writeln!(out, "{}type {go} string\n", comment("", &about));
            for name in &set.names {
                let words: String =
                    name.text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
                let constant = self.scope.fresh(&format!("{go}{}", exported(&words)));
                let mut about = vec![format!("{constant} is {}.", quoted(name.text.as_bytes()))];
                about.extend(name.doc.iter().cloned());
                if name.retired {
                    about.push(String::new());
                    about.push("Deprecated: no longer written.".to_owned());
                }
                let _ = writeln!(
                    out,
                    "{}const {constant} {go} = {}\n",
                    comment("", &about),
                    quoted(name.text.as_bytes())
                );
            }
        }
        self.shared.push_str(&out);
    }

    /// `pool uint64, tick int64`, with the names of the parameters.
    pub(crate) fn parameters(&self, row: &Row<'p>, count: usize) -> (String, Vec<String>) {
        let mut scope = crate::naming::Scope::default();
        let mut names = Vec::new();
        let mut text = Vec::new();
        for ((_, tree), argument) in row.fields.iter().zip(row.sequence.arguments()).take(count) {
            let mut name = local(argument.name.as_deref().unwrap_or("value"));
            if self.hidden.contains(name.as_str()) || is_numbered(&name) {
                name.push('_');
            }
            let name = scope.fresh(&name);
            text.push(format!("{name} {}", tree.go));
            names.push(name);
        }
        (text.join(", "), names)
    }
}

/// The least type that has a number for each of so many names.
const fn enum_type(count: usize) -> &'static str {
    match count {
        0..=0x100 => "uint8",
        0x101..=0x1_0000 => "uint16",
        _ => "uint32",
    }
}

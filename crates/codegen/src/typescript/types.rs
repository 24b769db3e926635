//! The type of each argument.

use std::fmt::Write as _;

use keyplan_plan::model::{Argument, BytesEncoding, FloatEncoding, Sequence, Shape, TextShape};

use super::TypeScript;
use super::names::{camel, doc, pascal, text};
use crate::about::one_line;
use crate::naming::Scope;

/// The property of each argument of a layout, in order. That of a choice's alternative may not be called like its tag.
pub(crate) fn properties(sequence: &Sequence, tagged: bool) -> Vec<String> {
    let mut scope = Scope::default();
    if tagged {
        scope.reserve(["kind"]);
    }
    sequence.arguments().map(|argument| scope.fresh(&camel(argument_name(argument)))).collect()
}

pub(crate) fn argument_name(argument: &Argument) -> &str {
    argument.name.as_deref().unwrap_or("value")
}

/// Whether a choice is only names.
pub(crate) fn is_labels(shape: &Shape) -> bool {
    matches!(shape, Shape::Choice(all) if all.iter().all(|one| one.sequence.argument_count() == 0))
}

impl TypeScript<'_> {
    /// The type of an argument; composites that are a type of the plan are called by its name.
    pub(crate) fn type_of(&self, shape: &Shape, named: Option<&str>) -> String {
        match shape {
            Shape::Int(int) if int.ty.bits <= 32 => "number".to_owned(),
            Shape::Int(_) | Shape::Time(_) | Shape::Bytes { encoding: BytesEncoding::Wide { .. }, .. } => {
                "bigint".to_owned()
            }
            Shape::Bool(_) => "boolean".to_owned(),
            // What is not a number is told by its bits.
            Shape::Float(FloatEncoding::Badger) => "number | NanBits".to_owned(),
            Shape::Float(_) => "number".to_owned(),
            Shape::Score { encoding, .. } if encoding.is_float() => "number".to_owned(),
            Shape::Score { .. } => "Score".to_owned(),
            Shape::Bytes { .. } | Shape::Nibbles { .. } | Shape::Opaque(_) | Shape::Hashed { .. } => {
                "Uint8Array".to_owned()
            }
            Shape::Text(TextShape { names: Some(set), .. }) => self.type_name(&set.name),
            Shape::Text(_) => "string".to_owned(),
            Shape::Record(_) | Shape::Choice(_) => {
                let own = self.plan.types.iter().find(|ty| Some(ty.name.as_str()) == named);
                match own.filter(|ty| ty.shape == *shape) {
                    Some(ty) => self.type_name(&ty.name),
                    None => self.composite(shape),
                }
            }
            // One `null` is not enough.
            Shape::Option(inner) if inner.optional().is_some() => {
                format!("readonly [{}] | null", self.type_of(inner, named))
            }
            Shape::Option(inner) => format!("{} | null", self.type_of(inner, named)),
            Shape::List { item, .. } => {
                let item = self.type_of(item, named);
                if item.contains(' ') { format!("readonly ({item})[]") } else { format!("readonly {item}[]") }
            }
            Shape::Framed { inner, .. } | Shape::Desc(inner) | Shape::HashConcat { inner, .. } => {
                self.type_of(inner, named)
            }
        }
    }

    fn composite(&self, shape: &Shape) -> String {
        match shape {
            Shape::Record(sequence) => self.object(sequence, None),
            Shape::Choice(all) if is_labels(shape) => {
                all.iter().map(|one| text(&one.label)).collect::<Vec<_>>().join(" | ")
            }
            Shape::Choice(all) => {
                let all: Vec<String> =
                    all.iter().map(|one| self.object(&one.sequence, Some(&one.label))).collect();
                all.join(" | ")
            }
            _ => "never".to_owned(),
        }
    }

    fn object(&self, sequence: &Sequence, tag: Option<&str>) -> String {
        let mut members: Vec<String> =
            tag.into_iter().map(|tag| format!("readonly kind: {}", text(tag))).collect();
        for (name, argument) in properties(sequence, tag.is_some()).iter().zip(sequence.arguments()) {
            let ty = self.type_of(&argument.shape, argument.type_name.as_deref());
            members.push(format!("readonly {name}: {ty}"));
        }
        if members.is_empty() {
            return "Record<string, never>".to_owned();
        }
        format!("{{ {} }}", members.join("; "))
    }

    /// The interface of a layout, each property after a line that shows its layout.
    pub(crate) fn interface(&self, name: &str, sequence: &Sequence) -> String {
        if sequence.argument_count() == 0 {
            return format!("export type {name} = Record<string, never>;\n");
        }
        let mut out = format!("export interface {name} {{\n");
        for (property, argument) in properties(sequence, false).iter().zip(sequence.arguments()) {
            let written = one_line(self.sources.slice(argument.span));
            let about = match argument.shape {
                Shape::Hashed { hash, .. } => format!("The {hash} digest of `{written}`."),
                Shape::Time(_) => format!("Nanoseconds since 1970, written as `{written}`."),
                _ => format!("Written as `{written}`."),
            };
            let ty = self.type_of(&argument.shape, argument.type_name.as_deref());
            let mut lines = argument.doc.clone();
            lines.push(about);
            let _ = writeln!(out, "{}  readonly {property}: {ty};", doc("  ", &lines));
        }
        out.push_str("}\n");
        out
    }

    /// The plan's own records and choices, and its name sets.
    pub(crate) fn declared_types(&mut self) -> String {
        let mut out = String::new();
        for ty in self.plan.types.iter().filter(|ty| ty.shape.rows().next().is_some()) {
            let name = self.type_name(&ty.name);
            let mut about = vec![format!("The type `{}` of the plan.", ty.name)];
            about.extend(ty.doc.iter().cloned());
            if let Shape::Choice(all) = &ty.shape {
                about.extend(
                    all.iter()
                        .filter(|one| !one.doc.is_empty())
                        .map(|one| format!("- `{}`: {}", one.label, one.doc.join(" "))),
                );
            }
            let _ = writeln!(out, "{}export type {name} = {};\n", doc("", &about), self.composite(&ty.shape));
        }
        for set in &self.plan.names {
            let name = self.type_name(&set.name);
            let mut about = vec![format!("A text of which some values are known, the names `{}`.", set.name)];
            about.extend(set.doc.iter().cloned());
            let known: Vec<String> = set.names.iter().map(|one| text(&one.text)).collect();
            let known = if known.is_empty() { "never".to_owned() } else { known.join(" | ") };
            let _ = writeln!(
                out,
                "{}export type {name} = {known} | (string & Record<never, never>);\n",
                doc("", &about)
            );
            for one in &set.names {
                let constant = self.scope.fresh(&format!("{}{}", camel(&set.name), pascal(&one.text)));
                let mut about = vec![format!("The name {}.", text(&one.text))];
                about.extend(one.doc.iter().cloned());
                if one.retired {
                    about.push("@deprecated no longer written".to_owned());
                }
                let _ = writeln!(out, "{}export const {constant} = {};\n", doc("", &about), text(&one.text));
            }
        }
        out
    }
}

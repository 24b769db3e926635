//! One layout: its type, both directions, its table, its digests.

use std::fmt::Write as _;

use keyplan_plan::model::{Extent, Sequence, Shape};

use super::TypeScript;
use super::encode::Body;
use super::names::{doc, pascal, small, text};
use super::types::{argument_name, properties};
use crate::guard::Guard;
use crate::regular::hash_function;
use crate::runtime::Runtime as _;

/// The greatest number up to which a `number` is exact.
const MAX_SAFE: u64 = (1 << 53) - 1;

/// A layout that was made: what vectors call it, and its names.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) path: String,
    /// Its type.
    pub(crate) name: String,
    pub(crate) encode: String,
    pub(crate) unguarded: Option<String>,
    pub(crate) decode: String,
    /// Whether there is a function that reads it without a search.
    straight: bool,
}

impl Part {
    /// The table of the layout. No name of a plan has a `$`.
    pub(crate) fn layout(&self) -> String {
        layout_name(&self.name)
    }
}

pub(crate) fn layout_name(name: &str) -> String {
    format!("$layout{name}")
}

impl TypeScript<'_> {
    /// The type of a layout, both directions, and its table.
    pub(crate) fn part(
        &mut self,
        name: &str,
        path: &str,
        sequence: &Sequence,
        about: &[String],
        guard: &Guard,
    ) -> Part {
        let _ = writeln!(self.out, "{}{}", doc("", about), self.interface(name, sequence));
        self.lengths(name, sequence);
        let encode = self.scope.fresh(&format!("encode{name}"));
        let unguarded = guard.is_needed().then(|| self.scope.fresh(&format!("encode{name}Unguarded")));
        let decode = self.scope.fresh(&format!("decode{name}"));
        let straight = self.straight(sequence);
        let part = Part {
            path: path.to_owned(),
            name: name.to_owned(),
            encode,
            unguarded,
            decode,
            straight: straight.is_some(),
        };
        self.encoder(&part, sequence, guard);
        self.decoder(&part, straight.as_deref());
        let layout = self.layout(sequence, false, 0);
        let _ =
            writeln!(self.layouts, "/** @internal */\nexport const {}: Layout = {layout};\n", part.layout());
        self.digests(name, path, sequence);
        self.parts.push(part.clone());
        part
    }

    fn lengths(&mut self, name: &str, sequence: &Sequence) {
        let (wanted, about, size) = match (sequence.extent(), sequence.width().max) {
            (Extent::Fixed(size), _) => ("Len", "The length in bytes", size),
            (_, Some(most)) if u64::try_from(most).is_ok_and(|most| most <= MAX_SAFE) => {
                ("MaxLen", "The greatest length in bytes", most)
            }
            _ => return,
        };
        let constant = self.scope.fresh(&format!("{}{wanted}", small(name)));
        let _ =
            writeln!(self.out, "/** {about} of {{@link {name}}}. */\nexport const {constant} = {size};\n");
    }

    fn encoder(&mut self, part: &Part, sequence: &Sequence, guard: &Guard) {
        let mut body = Body::new(1);
        let fields: Vec<String> =
            properties(sequence, false).iter().map(|name| format!("key.{name}")).collect();
        self.put_row(&mut body, sequence, sequence.segments().len(), &fields, "");
        let (name, path) = (&part.name, text(&part.path));
        let key = if fields.is_empty() { format!("_key: {name} = {{}}") } else { format!("key: {name}") };
        let function = part.unguarded.as_ref().unwrap_or(&part.encode);
        let about = match &part.unguarded {
            Some(_) => "The bytes, even if they can also be read as something else.",
            None if fields.is_empty() => "The bytes.",
            None => "The bytes; throws a {@link KeyError} for an argument outside of its domain.",
        };
        let code = &body.code;
        let _ = writeln!(
            self.out,
            "/** {about} */\nexport function {function}({key}): Bytes {{\n  const w = opened({path});\n{code}  return closed(w);\n}}\n"
        );
        if part.unguarded.is_none() {
            return;
        }
        let others: Vec<String> = guard
            .others
            .iter()
            .map(|(path, name)| format!("[{}, {}]", text(path), layout_name(name)))
            .collect();
        let _ = writeln!(
            self.out,
            "/**\n * The bytes; throws a {{@link KeyError}} for an argument outside of its domain, and for arguments whose bytes can also be read\n * as something else: that is the flaw which the plan accepts.\n */\nexport function {}(key: {name}{}): Bytes {{\n  const bytes = {function}(key);\n  guardKey({}, {path}, bytes, key, {}, [{}]);\n  return bytes;\n}}\n",
            part.encode,
            if fields.is_empty() { " = {}" } else { "" },
            part.layout(),
            guard.own,
            others.join(", ")
        );
    }

    fn decoder(&mut self, part: &Part, straight: Option<&str>) {
        let (name, path, layout) = (&part.name, text(&part.path), part.layout());
        let mut read = format!("readKey({layout}, {path}, b) as {name}");
        if let Some(body) = straight {
            let _ = writeln!(self.out, "function $read{name}(b: Uint8Array): {name} | null {{\n{body}}}\n");
            read = format!("$read{name}(b) ?? ({read})");
        }
        let _ = writeln!(
            self.out,
            "/** Reads what is exactly the bytes; throws a {{@link KeyError}} that says which segment and which byte are at fault. */\nexport function {}(key: Uint8Array): {name} {{\n  const b = plainBytes(key);\n  return {read};\n}}\n",
            part.decode
        );
    }

    /// The decoder for those that try several layouts, which does not throw.
    pub(crate) fn attempt(&mut self, part: &Part) {
        let (name, layout) = (&part.name, part.layout());
        let mut read = format!("tryKey({layout}, b) as {name} | null");
        if part.straight {
            read = format!("$read{name}(b) ?? ({read})");
        }
        let _ = writeln!(
            self.out,
            "function $try{name}(b: Uint8Array): {name} | null {{\n  return {read};\n}}\n"
        );
    }

    /// A function that hashes for every argument of which only the digest is written.
    fn digests(&mut self, owner: &str, path: &str, sequence: &Sequence) {
        for argument in sequence.arguments() {
            let hint = format!("{owner}{}", pascal(argument_name(argument)));
            self.digest(&hint, path, &argument.shape, argument.type_name.as_deref());
        }
    }

    fn digest(&mut self, hint: &str, path: &str, shape: &Shape, named: Option<&str>) {
        if let Shape::Hashed { hash, keep, inner, .. } = shape {
            let function = self.scope.fresh(&format!("{}Digest", small(hint)));
            let ty = self.type_of(inner, named);
            let mut body = Body::new(1);
            self.put(&mut body, inner, "arg", "");
            let _ = writeln!(
                self.out,
                "/** The {hash} digest of an argument, which is all that its key holds. */\nexport function {function}(arg: {ty}): Bytes {{\n  const w = opened({});\n{}  return {}(closed(w)).slice(0, {keep});\n}}\n",
                text(path),
                body.code,
                hash_function(*hash)
            );
            let known = self.known(shape);
            if known != "[]" {
                let function = self.scope.fresh(&format!("{}Name", small(hint)));
                let _ = writeln!(
                    self.out,
                    "/** The known name that a digest is of, if it is one. */\nexport function {function}(digest: Uint8Array): string | undefined {{\n  return knownName({known}, digest);\n}}\n"
                );
            }
            return;
        }
        for (label, row) in shape.labelled() {
            self.digests(&format!("{hint}{}", label.map(pascal).unwrap_or_default()), path, row);
        }
        if let Some(inner) = shape.inner() {
            self.digest(hint, path, inner, named);
        }
    }
}

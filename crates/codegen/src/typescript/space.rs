//! Spaces: one union and one decoder for all families.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use keyplan_plan::model::{AcceptKind, Space};

use super::TypeScript;
use super::names::{bytes, doc, pascal, small, text};
use super::part::Part;

impl TypeScript<'_> {
    pub(crate) fn space(&mut self, space: &Space) {
        let any = self.scope.fresh(&format!("{}Key", pascal(&space.name)));
        let (decode, encode) =
            (self.scope.fresh(&format!("decode{any}")), self.scope.fresh(&format!("encode{any}")));
        let parts: Vec<Part> = space.families.iter().map(|family| self.family(family)).collect();
        let mut about = vec![format!(
            "Any key of the space `{}`, which engines call `{}`.",
            space.name,
            space.engine_name()
        )];
        if !space.doc.is_empty() {
            about.push(String::new());
            about.extend(space.doc.iter().cloned());
        }
        let mut union = String::new();
        let mut cases = String::new();
        for part in &parts {
            let (tag, name) = (text(&part.path), &part.name);
            let _ = write!(union, "\n  | {{ readonly family: {tag}; readonly key: {name} }}");
            let _ = writeln!(cases, "    case {tag}:\n      return {}(key.key);", part.encode);
        }
        let union = if union.is_empty() { " never".to_owned() } else { union };
        let _ = writeln!(self.out, "{}export type {any} ={union};\n", doc("", &about));
        if !parts.is_empty() {
            let _ = writeln!(
                self.out,
                "/** The bytes of any key of the space. */\nexport function {encode}(key: {any}): Bytes {{\n  switch (key.family) {{\n{cases}  }}\n}}\n"
            );
        }
        self.decode_any(space, &parts, &any, &decode);
        let disjoint =
            space.families.iter().all(|family| family.accepted(AcceptKind::Overlap).next().is_none());
        self.spaces.push((decode, disjoint, parts));
    }

    /// The decoder of a space: families by their first byte, the longest literal first.
    fn decode_any(&mut self, space: &Space, parts: &[Part], any: &str, decode: &str) {
        let mut order: Vec<(Vec<u8>, &Part)> =
            space.families.iter().map(|family| family.key.literal_prefix()).zip(parts).collect();
        order.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        let firsts: BTreeSet<u8> = order.iter().filter_map(|(prefix, _)| prefix.first().copied()).collect();
        let mut by_byte: BTreeMap<u8, String> = BTreeMap::new();
        let mut bare = String::new();
        for (prefix, part) in &order {
            let tag = text(&part.path);
            let local = small(&part.name);
            let test = if prefix.is_empty() {
                format!("const {local}$ = $try{}(b);", part.name)
            } else {
                format!("const {local}$ = hasPrefix(b, 0, {}) ? $try{}(b) : null;", bytes(prefix), part.name)
            };
            let found = format!("if ({local}$ !== null) return {{ family: {tag}, key: {local}$ }};");
            for byte in firsts.iter().filter(|byte| prefix.first().is_none_or(|first| first == *byte)) {
                let _ = writeln!(by_byte.entry(*byte).or_default(), "      {test}\n      {found}");
            }
            if prefix.is_empty() {
                let _ = writeln!(bare, "  {test}\n  {found}");
            }
        }
        let mut body = String::new();
        if !by_byte.is_empty() {
            body.push_str("  switch (b[0]) {\n");
            for (byte, tries) in &by_byte {
                let _ = writeln!(body, "    case 0x{byte:02x}: {{\n{tries}      break;\n    }}");
            }
            body.push_str("  }\n");
        }
        body.push_str(&bare);
        let layouts: Vec<String> =
            parts.iter().map(|part| format!("[{}, {}]", text(&part.path), part.layout())).collect();
        let _ = writeln!(
            self.out,
            "/** Finds the family of a key of the space and reads it; throws the {{@link KeyError}} of the family that gets furthest. */\nexport function {decode}(key: Uint8Array): {any} {{\n  const b = plainBytes(key);\n{body}  throw nearest({}, b, [{}]);\n}}\n",
            text(&space.name),
            layouts.join(", ")
        );
    }
}

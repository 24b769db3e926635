//! The module's own test: its vectors both ways, and damaged keys.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::names::text;
use super::{TypeScript, declared};
use crate::shake;

/// What the test needs beside the runtime.
pub(crate) const TESTING: &str = include_str!("runtime/vectors.ts");

/// What is imported from the module, since it must be the same or is there anyway.
pub(crate) const IMPORTED: [&str; 6] = ["KeyError", "compareBytes", "fromHex", "toHex", "Bytes", "Layout"];

impl TypeScript<'_> {
    /// The text of the test of the module at `path`, without its header.
    pub(crate) fn test(&self, module: &str) -> String {
        let mut table = String::from("const parts: VectorParts = {\n");
        let mut names: Vec<String> = Vec::new();
        for part in &self.parts {
            let unguarded = part.unguarded.as_ref().unwrap_or(&part.encode);
            let _ = writeln!(
                table,
                "  {}: {{\n    layout: {},\n    encode: (key) => {}(key as {}),\n    unguarded: (key) => {unguarded}(key as {}),\n    decode: {},\n  }},",
                text(&part.path),
                part.layout(),
                part.encode,
                part.name,
                part.name,
                part.decode,
            );
            names.extend([part.layout(), part.encode.clone(), part.decode.clone()]);
            names.extend(part.unguarded.clone());
            names.push(format!("type {}", part.name));
        }
        table.push_str("};\n\nconst spaces: VectorSpaces = {\n");
        for (decode, disjoint, parts) in &self.spaces {
            for part in parts {
                let path = text(&part.path);
                let _ = writeln!(table, "  {path}: {{ decode: {decode}, disjoint: {disjoint} }},");
            }
            names.push(decode.clone());
        }
        table.push_str("};\n\nconst scans: VectorScans = {\n");
        for (words, function, call) in &self.scanned_by {
            let _ = writeln!(table, "  {}: {call},", text(words));
            names.push(function.clone());
        }
        table.push_str("};\n\nawait runVectors(parts, spaces, scans);\n");
        let mut texts: Vec<&'static str> = vec![TESTING];
        texts.extend(super::RUNTIME);
        // What is imported is not looked into.
        let own = |text: &'static str| {
            let names = declared(text);
            if names.iter().any(|name| IMPORTED.contains(name)) { BTreeSet::new() } else { names }
        };
        let needed = shake::needed(&texts, &table, own);
        names.extend(["KeyError", "compareBytes", "fromHex", "toHex"].map(str::to_owned));
        names.extend(["type Bytes", "type Layout"].map(str::to_owned));
        let code = format!("{}\n\n{table}", needed.join("\n\n"));
        names.retain(|name| {
            let bare = name.trim_start_matches("type ");
            shake::words(&code.replace('$', "")).any(|word| word == bare.trim_start_matches('$'))
        });
        names.sort();
        names.dedup();
        format!("import {{\n  {},\n}} from './{module}.js';\n\n{code}", names.join(",\n  "))
    }
}

//! Spaces: one decoder for all families.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use keyplan_plan::model::{AcceptKind, Space};

use super::names::{exported, quoted};
use super::{Go, comment, empty};

impl<'p> Go<'p> {
    pub(crate) fn space(&mut self, space: &'p Space) {
        let any = self.scope.fresh(&format!("{}Key", exported(&space.name)));
        let mut about = vec![format!(
            "{any} is any key of the space `{}`, which engines call `{}`.",
            space.name,
            space.engine_name()
        )];
        if !space.doc.is_empty() {
            about.push(String::new());
            about.extend(space.doc.iter().cloned());
        }
        let _ = writeln!(
            self.out,
            "{}type {any} interface {{\n\tAppendTo(dst []byte) ([]byte, error)\n\tFamily() string\n\tis{any}()\n}}\n",
            comment("", &about)
        );
        self.decode_any(space, &any);
        let disjoint =
            space.families.iter().all(|family| family.accepted(AcceptKind::Overlap).next().is_none());
        let paths = space.families.iter().map(|family| family.path.clone()).collect();
        let decode = self.derived(&any, "Decode{}");
        self.spaces.push((decode, disjoint, paths));
        for family in &space.families {
            self.family(family);
            let go = self.families.get(family.path.as_str()).cloned().unwrap_or_default();
            let path = quoted(family.path.as_bytes());
            let _ = writeln!(
                self.out,
                "// Family returns the path of the family in the plan.\nfunc ({go}) Family() string {{\n\treturn {path}\n}}\n\n{}\n",
                empty(&format!("func ({go}) is{any}()"))
            );
        }
    }

    /// The decoder of a space: families by their first byte, the longest literal first.
    fn decode_any(&mut self, space: &'p Space, any: &str) {
        let name = |go: &Self, path: &str| go.families.get(path).cloned().unwrap_or_default();
        let decode = self.derived(any, "Decode{}");
        // Every family's name is given before anything is called by it.
        for family in &space.families {
            let go = name(self, &family.path);
            self.derived(&go, "{}Prefix");
            self.derived(&go, "Decode{}");
        }
        let mut order: Vec<(Vec<u8>, usize)> = space
            .families
            .iter()
            .enumerate()
            .map(|(index, family)| (family.key.literal_prefix(), index))
            .collect();
        order.sort_by(|(a, i), (b, j)| b.len().cmp(&a.len()).then(i.cmp(j)));
        let mut by_byte: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
        let firsts: BTreeSet<u8> = order.iter().filter_map(|(prefix, _)| prefix.first().copied()).collect();
        for (prefix, index) in &order {
            for byte in firsts.iter().filter(|byte| prefix.first().is_none_or(|first| first == *byte)) {
                by_byte.entry(*byte).or_default().push(*index);
            }
        }
        let bare: Vec<usize> =
            order.iter().filter(|(prefix, _)| prefix.is_empty()).map(|(_, index)| *index).collect();
        let tries = |go: &Self, indent: &str, list: &[usize]| {
            let mut out = String::new();
            for family in list.iter().filter_map(|index| space.families.get(*index)) {
                let name = name(go, &family.path);
                let (prefix, decode) = (go.known_name(&name, "{}Prefix"), go.known_name(&name, "Decode{}"));
                let test = if family.key.literal_prefix().is_empty() {
                    String::new()
                } else {
                    format!("if hasPrefix(key, {prefix}) {{\n{indent}\t")
                };
                let close = if test.is_empty() { String::new() } else { format!("{indent}}}\n") };
                let inner = if test.is_empty() { indent.to_owned() } else { format!("{indent}\t") };
                let _ = write!(
                    out,
                    "{indent}{test}if k, err := {decode}(key); err == nil {{\n{inner}\treturn k, nil\n{inner}}}\n{close}"
                );
            }
            out
        };
        let mut body = String::new();
        if !by_byte.is_empty() {
            body.push_str("\tif len(key) > 0 {\n\t\tswitch key[0] {\n");
            for (byte, list) in &by_byte {
                let _ = write!(body, "\t\tcase 0x{byte:02x}:\n{}", tries(self, "\t\t\t", list));
            }
            body.push_str("\t\t}\n\t}\n");
        }
        body.push_str(&tries(self, "\t", &bare));
        let paths: Vec<String> = space.families.iter().map(|family| quoted(family.path.as_bytes())).collect();
        let layouts: Vec<String> =
            space.families.iter().map(|family| format!("&layout{}", name(self, &family.path))).collect();
        let _ = writeln!(
            self.out,
            "// {decode} finds the family of a key of the space and reads it. The error is that of the family that gets furthest.\nfunc {decode}(key []byte) ({any}, error) {{\n{body}\treturn nil, nearest({}, key, []string{{{}}}, []*layout{{{}}})\n}}\n",
            quoted(space.name.as_bytes()),
            paths.join(", "),
            layouts.join(", ")
        );
    }
}

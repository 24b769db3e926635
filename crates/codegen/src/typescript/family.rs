//! Families: the type of a key, and everything that hangs on it.

use std::fmt::Write as _;

use keyplan_plan::model::{Family, FamilyKind, Segment, Sequence, Shape};

use super::TypeScript;
use super::names::{bytes, doc, pascal, small, text};
use super::part::{Part, layout_name};
use crate::about::{self, about};
use crate::guard::Guard;

impl TypeScript<'_> {
    pub(crate) fn family(&mut self, family: &Family) -> Part {
        let name = self.families.get(family.path.as_str()).cloned().unwrap_or_default();
        let guard = Guard::of_family(family, &self.families);
        self.prefix(&name, family);
        let about = self.about(family);
        let part = self.part(&name, &family.path, &family.key, &about, &guard);
        self.attempt(&part);
        self.scans(family, &name);
        if let Some(value) = &family.value {
            self.value(&format!("{name}Value"), &format!("{} value", family.path), value);
        }
        match family.kind {
            FamilyKind::Key => {}
            FamilyKind::Hash => self.fields(family, &name),
            FamilyKind::Zset | FamilyKind::Set | FamilyKind::Queue => {
                if let Some(member) = &family.member {
                    self.value(&format!("{name}Member"), &format!("{} member", family.path), member);
                }
                if let Some(score) = &family.score {
                    self.value(&format!("{name}Score"), &format!("{} score", family.path), score);
                }
            }
        }
        part
    }

    fn prefix(&mut self, name: &str, family: &Family) {
        let prefix = family.key.literal_prefix();
        let constant = self.scope.fresh(&format!("{}Prefix", small(name)));
        let list: Vec<String> = prefix.iter().map(|byte| format!("0x{byte:02x}")).collect();
        let _ = writeln!(
            self.out,
            "/** What every key of `{}` begins with: {}. */\nexport const {constant}: Bytes = /* @__PURE__ */ Uint8Array.of({});\n",
            family.path,
            bytes(&prefix).replace("*/", "* /"),
            list.join(", ")
        );
    }

    fn about(&self, family: &Family) -> Vec<String> {
        let first = format!("A key of the family `{}`.", family.path);
        about(first, "@deprecated", family, self.report, self.sources)
    }

    /// The type of a value, member or score. One that has only a codec is only named.
    fn value(&mut self, wanted: &str, path: &str, sequence: &Sequence) {
        let name = self.scope.fresh(wanted);
        if let [Segment::Argument(argument)] = sequence.segments()
            && let (None, Shape::Opaque(opaque)) = (&argument.name, &argument.shape)
        {
            let constant = self.scope.fresh(&format!("{}Codec", small(&name)));
            let _ = writeln!(
                self.out,
                "/** What `{path}` is written in; the plan says no more of it. */\nexport const {constant} = {};\n",
                text(&opaque.name())
            );
            return;
        }
        self.part(&name, path, sequence, &[format!("What the plan calls `{path}`.")], &Guard::default());
    }

    fn fields(&mut self, family: &Family, owner: &str) {
        if let Some(spread) = family.spread {
            let constant = self.scope.fresh(&format!("{}Spread", small(owner)));
            let _ = writeln!(
                self.out,
                "/** How many buckets the hash is spread over on a cluster of servers. */\nexport const {constant} = {spread};\n"
            );
        }
        let names: Vec<(String, String)> = family
            .fields
            .iter()
            .map(|field| {
                (
                    format!("{} field {}", family.path, field.name),
                    self.scope.fresh(&format!("{owner}{}Field", pascal(&field.name))),
                )
            })
            .collect();
        let mut parts = Vec::new();
        for (field, (path, name)) in family.fields.iter().zip(&names) {
            let about = about::of_field(format!("The field `{}` of `{}`.", field.name, family.path), field);
            let part = self.part(name, path, &field.key, &about, &Guard::of_field(family, name, &names));
            self.attempt(&part);
            parts.push(part);
            if let Some(value) = &field.value {
                self.value(&format!("{owner}{}Value", pascal(&field.name)), &format!("{path} value"), value);
            }
        }
        self.any_field(family, owner, &parts);
    }

    /// The union of the fields of a hash, and its decoder.
    fn any_field(&mut self, family: &Family, owner: &str, parts: &[Part]) {
        let any = self.scope.fresh(&format!("{owner}Field"));
        let decode = self.scope.fresh(&format!("decode{any}"));
        let mut union = String::new();
        let mut body = String::new();
        for (field, part) in family.fields.iter().zip(parts) {
            let (tag, name) = (text(&field.name), &part.name);
            let _ = write!(union, "\n  | {{ readonly field: {tag}; readonly key: {name} }}");
            let _ = writeln!(
                body,
                "  const {0}$ = $try{name}(b);\n  if ({0}$ !== null) return {{ field: {tag}, key: {0}$ }};",
                small(name)
            );
        }
        let union = if union.is_empty() { " never".to_owned() } else { union };
        let layouts: Vec<String> =
            parts.iter().map(|part| format!("[{}, {}]", text(&part.path), layout_name(&part.name))).collect();
        let about = doc("", &[format!("Any field of `{}`.", family.path)]);
        let _ = writeln!(self.out, "{about}export type {any} ={union};\n");
        let _ = writeln!(
            self.out,
            "/** Reads the name of a field. */\nexport function {decode}(name: Uint8Array): {any} {{\n  const b = plainBytes(name);\n{body}  throw nearest({}, b, [{}]);\n}}\n",
            text(&format!("{} field", family.path)),
            layouts.join(", ")
        );
    }
}

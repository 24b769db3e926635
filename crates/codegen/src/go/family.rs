//! Families: the struct of a key, and everything that hangs on it.

use std::fmt::Write as _;

use keyplan_plan::model::{Extent, Family, FamilyKind, Segment, Sequence, Shape};

use super::decode::Returns;
use super::encode::Body;
use super::names::{exported, quoted};
use super::tree::Row;
use super::{Go, Part, comment, empty};
use crate::about::{self, about};
use crate::guard::Guard;
use crate::runtime::Runtime as _;

impl<'p> Go<'p> {
    pub(crate) fn family(&mut self, family: &'p Family) {
        let go = self.families.get(family.path.as_str()).cloned().unwrap_or_default();
        let guard = Guard::of_family(family, &self.families);
        let row = self.row(&go, &family.key);
        let prefix = quoted(&family.key.literal_prefix());
        let constant = self.derived(&go, "{}Prefix");
        let _ = writeln!(
            self.out,
            "// {constant} is what every key of `{}` begins with.
const {constant} = {prefix}
",
            family.path
        );
        let about = self.about(&go, family);
        self.part(&go, &family.path, &row, &about, &guard);
        self.scans(family, &go, &row);
        if let Some(value) = &family.value {
            self.value(&format!("{go}Value"), &format!("{} value", family.path), value);
        }
        match family.kind {
            FamilyKind::Key => {}
            FamilyKind::Hash => self.fields(family, &go),
            FamilyKind::Zset | FamilyKind::Set | FamilyKind::Queue => {
                if let Some(member) = &family.member {
                    self.value(&format!("{go}Member"), &format!("{} member", family.path), member);
                }
                if let Some(score) = &family.score {
                    self.value(&format!("{go}Score"), &format!("{} score", family.path), score);
                }
            }
        }
    }

    /// The struct of a layout by itself: nothing hangs on it.
    pub(crate) fn bare_part(&mut self, go: &str, path: &str, sequence: &'p Sequence, about: &[String]) {
        let row = self.row(go, sequence);
        self.part(go, path, &row, about, &Guard::default());
    }

    fn about(&self, go: &str, family: &Family) -> Vec<String> {
        let first = format!("{go} is a key of the family `{}`.", family.path);
        about(first, "Deprecated:", family, self.report, self.sources)
    }

    /// The type of a value, member or score. One that has only a codec is only named.
    fn value(&mut self, wanted: &str, path: &str, sequence: &'p Sequence) {
        let go = self.scope.fresh(wanted);
        if let [Segment::Argument(argument)] = sequence.segments()
            && let (None, Shape::Opaque(opaque)) = (&argument.name, &argument.shape)
        {
            let (name, constant) = (quoted(opaque.name().as_bytes()), self.derived(&go, "{}Codec"));
            let _ = writeln!(
                self.out,
                "// {constant} is what `{path}` is written in; the plan says no more of it.\nconst {constant} = {name}\n"
            );
            return;
        }
        let row = self.row(&go, sequence);
        let about = vec![format!("{go} is `{path}`.")];
        self.part(&go, path, &row, &about, &Guard::default());
        self.values.push((path.to_owned(), go));
    }

    fn fields(&mut self, family: &'p Family, go: &str) {
        if let Some(spread) = family.spread {
            let constant = self.derived(go, "{}Spread");
            let _ = writeln!(
                self.out,
                "// {constant} is how many buckets the hash is spread over on a cluster of servers.\nconst {constant} = {spread}\n"
            );
        }
        let names: Vec<(String, String)> = family
            .fields
            .iter()
            .map(|field| {
                (
                    format!("{} field {}", family.path, field.name),
                    self.scope.fresh(&format!("{go}{}Field", exported(&field.name))),
                )
            })
            .collect();
        let any = self.scope.fresh(&format!("{go}Field"));
        for (field, (path, name)) in family.fields.iter().zip(&names) {
            let row = self.row(name, &field.key);
            let about =
                about::of_field(format!("{name} is the field `{}` of `{}`.", field.name, family.path), field);
            self.part(name, path, &row, &about, &Guard::of_field(family, name, &names));
            let _ = writeln!(self.out, "{}\n", empty(&format!("func ({name}) is{any}()")));
            if let Some(value) = &field.value {
                self.value(&format!("{go}{}Value", exported(&field.name)), &format!("{path} value"), value);
            }
        }
        let list: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
        let _ = writeln!(
            self.out,
            "// {any} is any field of `{}`: {}.\ntype {any} interface {{\n\tAppendTo(dst []byte) ([]byte, error)\n\tis{any}()\n}}\n",
            family.path,
            list.join(", ")
        );
        let mut body = String::new();
        for name in &list {
            let decode = self.derived(name, "Decode{}");
            let _ = writeln!(body, "\tif k, err := {decode}(b); err == nil {{\n\t\treturn k, nil\n\t}}");
        }
        let decode = self.derived(&any, "Decode{}");
        let paths: Vec<String> = names.iter().map(|(path, _)| quoted(path.as_bytes())).collect();
        let layouts: Vec<String> = list.iter().map(|name| format!("&layout{name}")).collect();
        let _ = writeln!(
            self.out,
            "// {decode} reads the name of a field.\nfunc {decode}(b []byte) ({any}, error) {{\n{body}\treturn nil, nearest({}, b, []string{{{}}}, []*layout{{{}}})\n}}\n",
            quoted(format!("{} field", family.path).as_bytes()),
            paths.join(", "),
            layouts.join(", ")
        );
    }

    /// The struct of a layout, both directions, and its table.
    fn part(&mut self, go: &str, path: &str, row: &Row<'p>, about: &[String], guard: &Guard) {
        let declared = self.struct_of(go, row);
        let _ = writeln!(self.out, "{}{declared}", comment("", about));
        let (extent, width) = (row.sequence.extent(), row.sequence.width());
        let (len, max_len) = (self.derived(go, "{}Len"), self.derived(go, "{}MaxLen"));
        let decode = self.derived(go, "Decode{}");
        match (extent, width.max) {
            (Extent::Fixed(size), _) => {
                let _ = writeln!(self.out, "// {len} is the length in bytes.\nconst {len} = {size}\n");
            }
            // The greatest number stands for what is greater still.
            (_, Some(most)) if most < usize::MAX => {
                let _ = writeln!(
                    self.out,
                    "// {max_len} is the greatest length in bytes.\nconst {max_len} = {most}\n"
                );
            }
            _ => {}
        }
        let mut body = Body::new(path, "dst[:start]");
        let fields: Vec<String> = row.fields.iter().map(|(name, _)| format!("k.{name}")).collect();
        self.put_row(&mut body, row, row.sequence.segments().len(), &fields, "");
        let fallible = body.code.contains("f = ");
        let receiver = if row.fields.is_empty() { String::new() } else { "k ".to_owned() };
        let body = body.finish();
        let guarded = guard.is_needed();
        let method = if guarded { "AppendUnguarded" } else { "AppendTo" };
        let doc = match (guarded, fallible) {
            (true, _) => "appends the bytes, even if they can also be read as something else.",
            (false, true) => {
                "appends the bytes, or refuses an argument outside of its domain and appends nothing."
            }
            (false, false) => "appends the bytes. The error is always nil.",
        };
        let _ = writeln!(
            self.out,
            "// {method} {doc}\nfunc ({receiver}{go}) {method}(dst []byte) ([]byte, error) {{\n{body}\treturn dst, nil\n}}\n"
        );
        if guarded {
            self.guarded(go, path, guard);
        }
        if let (Extent::Fixed(size), false, false) = (extent, fallible, guarded) {
            let receiver = if row.fields.is_empty() { "k " } else { &receiver };
            let _ = writeln!(
                self.out,
                "// Key returns the bytes as an array.\nfunc ({receiver}{go}) Key() (key [{size}]byte) {{\n\t_, _ = k.AppendTo(key[:0])\n\treturn key\n}}\n"
            );
        }
        let room = match (extent, width.max) {
            (Extent::Fixed(size), _) => size,
            (_, Some(most)) => most.min(128),
            _ => width.min.saturating_add(32).min(128),
        };
        let _ = writeln!(
            self.out,
            "// Bytes returns the bytes in a new slice.\nfunc (k {go}) Bytes() ([]byte, error) {{\n\treturn k.AppendTo(make([]byte, 0, {room}))\n}}\n"
        );
        let _ = writeln!(
            self.out,
            "// AppendBinary does the same as AppendTo.\nfunc (k {go}) AppendBinary(dst []byte) ([]byte, error) {{\n\treturn k.AppendTo(dst)\n}}\n"
        );
        let _ = writeln!(
            self.out,
            "// MarshalBinary does the same as Bytes.\nfunc (k {go}) MarshalBinary() ([]byte, error) {{\n\treturn k.Bytes()\n}}\n"
        );
        let (but, from) = if row.fields.iter().any(|(_, tree)| tree.holds_slices()) {
            (", and keeps no part of key", "append([]byte(nil), key...)")
        } else {
            ("", "key")
        };
        let _ = writeln!(
            self.out,
            "// UnmarshalBinary does the same as {decode}{but}.\nfunc (k *{go}) UnmarshalBinary(key []byte) (err error) {{\n\t*k, err = {decode}({from})\n\treturn err\n}}\n"
        );
        self.decoder(go, path, row, &decode);
        let layout = self.layout(row.sequence, false, 0);
        let _ = writeln!(self.out, "var layout{go} = {layout}\n");
        self.parts.push(Part { path: path.to_owned(), go: go.to_owned(), guarded });
    }

    fn guarded(&mut self, go: &str, path: &str, guard: &Guard) {
        let quote = |text: &String| quoted(text.as_bytes());
        let names: Vec<String> = guard.others.iter().map(|(name, _)| quote(name)).collect();
        let layouts: Vec<String> = guard.others.iter().map(|(_, go)| format!("&layout{go}")).collect();
        let (names, layouts) = if names.is_empty() {
            ("nil".to_owned(), "nil".to_owned())
        } else {
            (format!("[]string{{{}}}", names.join(", ")), format!("[]*layout{{{}}}", layouts.join(", ")))
        };
        let _ = writeln!(
            self.out,
            "// AppendTo appends the bytes, or refuses arguments whose bytes can also be read as something else: that is the flaw\n// which the plan accepts.\nfunc (k {go}) AppendTo(dst []byte) ([]byte, error) {{\n\tstart := len(dst)\n\tdst, err := k.AppendUnguarded(dst)\n\tif err == nil {{\n\t\terr = layout{go}.guard({}, dst[start:], k.vals(), {}, {names}, {layouts})\n\t}}\n\tif err != nil {{\n\t\treturn dst[:start], err\n\t}}\n\treturn dst, nil\n}}\n",
            quoted(path.as_bytes()),
            guard.own,
        );
    }

    fn decoder(&mut self, go: &str, path: &str, row: &Row<'p>, decode: &str) {
        let values = self.values_of(row, "k", 1);
        let made = self.struct_from(go, row, "v", 1);
        let unused = row.fields.is_empty();
        let _ = writeln!(
            self.out,
            "func ({}{go}) vals() []val {{\n\treturn {values}\n}}\n",
            if unused { "" } else { "k " }
        );
        let _ = writeln!(
            self.out,
            "func from{go}({} val) {go} {{\n\treturn {made}\n}}\n",
            if unused { "_" } else { "v" }
        );
        let returns = Returns::of(row);
        let (head, call, result) = match returns {
            Returns::Both => {
                ("(key []byte) (k {go}, ok bool)", "k, ok := read{go}(key); ok", format!("({go}, error)"))
            }
            Returns::Whether => {
                ("(key []byte, k *{go}) bool", "read{go}(key, &k)", format!("(k {go}, err error)"))
            }
        };
        let straight = self.straight(row, returns);
        let (quick, result) = if let Some(body) = &straight {
            let _ = writeln!(self.out, "func read{go}{} {{\n{body}}}\n", head.replace("{go}", go));
            let call = call.replace("{go}", go);
            (format!("\tif {call} {{\n\t\treturn k, nil\n\t}}\n"), result)
        } else {
            (String::new(), format!("({go}, error)"))
        };
        let _ = writeln!(
            self.out,
            "// {decode} reads what is exactly key, or says which segment and which byte are at fault.\nfunc {decode}(key []byte) {result} {{\n{quick}\tvalues, err := layout{go}.read({}, key)\n\tif err != nil {{\n\t\treturn {go}{{}}, err\n\t}}\n\treturn from{go}(val{{l: values}}), nil\n}}\n",
            quoted(path.as_bytes())
        );
    }
}

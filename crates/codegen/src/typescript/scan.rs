//! Declared scans: a function for each that is proved, with bounds on the next argument where the rows are in its order.

use std::fmt::Write as _;

use keyplan_plan::model::{Family, Scan};

use super::TypeScript;
use super::encode::Body;
use super::names::{camel, doc, pascal, small, text, variables};
use super::types::{argument_name, properties};
use crate::scan::{called, next_bound, rows};

impl TypeScript<'_> {
    pub(crate) fn scans(&mut self, family: &Family, name: &str) {
        for (scan, ordered) in called(self.report, family) {
            self.scan(family, name, scan, ordered);
        }
    }

    fn scan(&mut self, family: &Family, name: &str, scan: &Scan, ordered: bool) {
        let layout = scan.layout(&family.key);
        let bound = || layout.arguments().take(scan.value_count());
        let names: Vec<&str> = bound().map(argument_name).collect();
        let suffix: String = names.iter().map(|name| pascal(name)).collect();
        let owner = small(name);
        let bare = if scan.bare { "Bare" } else { "" };
        let wanted =
            if names.is_empty() { format!("{owner}All") } else { format!("{owner}By{suffix}{bare}") };
        let function = self.scope.fresh(&wanted);
        let mut scope = variables();
        scope.reserve(self.declared.iter().map(String::as_str));
        // What the bytes are written into.
        scope.reserve(["w"]);
        let mut parameters = Vec::new();
        let mut variables = Vec::new();
        for argument in bound() {
            let variable = scope.fresh(&camel(argument_name(argument)));
            let ty = self.type_of(&argument.shape, argument.type_name.as_deref());
            parameters.push(format!("{variable}: {ty}"));
            variables.push(variable);
        }
        let mut body = Body::new(1);
        self.put_row(&mut body, layout, scan.segments, &variables, "");
        let path = text(&family.path);
        let mut about = vec![format!("The range of {}.", rows(family, scan, ordered))];
        let (result, keep) = if scan.filtered {
            about.push("Other rows lie between them: `contains` tells which are its own.".to_owned());
            ("FilteredRange", format!("filtered((b) => $try{name}(b) !== null, "))
        } else {
            ("Range", String::new())
        };
        let close = if scan.filtered { ")" } else { "" };
        let next = next_bound(family, scan).filter(|_| ordered);
        let next = next.and_then(|whole| Some((whole, family.key.arguments().nth(scan.bound)?)));
        self.tested(family, name, scan, &function, next.is_some());
        let Some((whole, argument)) = next else {
            let _ = writeln!(
                self.out,
                "{}export function {function}({}): {result} {{\n  const w = opened({path});\n{}  return {keep}prefixRange(closed(w)){close};\n}}\n",
                doc("", &about),
                parameters.join(", "),
                body.code
            );
            return;
        };
        let ty = self.type_of(&argument.shape, argument.type_name.as_deref());
        parameters.push(format!("bounds: Bounds<{ty}> = {{}}"));
        about.push(format!("The bounds are on `{}`.", argument_name(argument)));
        let mut bound = Body::new(2);
        self.put(&mut bound, &argument.shape, "next$", argument_name(argument));
        let _ = writeln!(
            self.out,
            "{}export function {function}({}): {result} {{\n  const w = opened({path});\n{}  const prefix$ = closed(w);\n  const range$ = bounded(prefixRange(prefix$), bounds, {whole}, (next$) => {{\n    const w = opened({path});\n    putBytes(w, prefix$);\n{}    return closed(w);\n  }});\n  return {keep}range${close};\n}}\n",
            doc("", &about),
            parameters.join(", "),
            body.code,
            bound.code
        );
    }

    /// Has the module's own test call a scan with the arguments of a row and perhaps a derived part, and bound it by the next of them.
    fn tested(&mut self, family: &Family, name: &str, scan: &Scan, function: &str, bounded: bool) {
        let properties = properties(&family.key, false);
        let key = |property: &String| format!("(key as {name}).{property}");
        let mut given: Vec<String> = properties.iter().take(scan.bound).map(key).collect();
        let mut takes = if given.is_empty() { "" } else { "key" };
        if let Some(part) = scan.part.as_ref().and_then(|part| part.prefix.arguments().last()) {
            let big = self.type_of(&part.shape, None) == "bigint";
            given.push(format!("{}(derived)", if big { "BigInt" } else { "Number" }));
            takes = if takes.is_empty() { "_key, _bound, derived" } else { "key, _bound, derived" };
        } else if let Some(next) = properties.get(scan.bound).filter(|_| bounded) {
            given.push(format!("boundsOf(bound, {})", key(next)));
            takes = "key, bound";
        }
        let words = format!("{} {}", family.path, scan.words(&family.key));
        let call = format!("({takes}) => {function}({})", given.join(", "));
        self.scanned_by.push((words, function.to_owned(), call));
    }
}

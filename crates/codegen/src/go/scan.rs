//! Declared scans: a function for each that is proved, and bounds on the next argument where the rows are in its order.

use std::fmt::Write as _;

use keyplan_plan::model::{Family, Scan};

use super::Go;
use super::encode::Body;
use super::names::exported;
use super::tree::Row;
use crate::scan::{called, next_bound, rows};

impl<'p> Go<'p> {
    pub(crate) fn scans(&mut self, family: &'p Family, go: &str, row: &Row<'p>) {
        for (scan, ordered) in called(self.report, family) {
            self.scan(family, go, row, scan, ordered);
        }
    }

    fn scan(&mut self, family: &'p Family, go: &str, row: &Row<'p>, scan: &'p Scan, ordered: bool) {
        let names: Vec<&str> = scan
            .layout(&family.key)
            .arguments()
            .take(scan.value_count())
            .map(|argument| argument.name.as_deref().unwrap_or("value"))
            .collect();
        let suffix: String = names.iter().map(|name| exported(name)).collect();
        let bare = if scan.bare { "Bare" } else { "" };
        let wanted = if names.is_empty() { format!("{go}All") } else { format!("{go}By{suffix}{bare}") };
        let function = self.scope.fresh(&wanted);
        let scanned = self.scanned(row, scan);
        let (parameters, variables) = self.parameters(&scanned, scan.value_count());
        let mut body = Body::new(
            &family.path,
            if ordered && next_bound(family, scan).is_some() { "r" } else { "Range{}" },
        );
        self.put_row(&mut body, &scanned, scan.segments, &variables, "");
        let mut doc = format!("// {function} is the range of {}.", rows(family, scan, ordered));
        if scan.filtered {
            doc.push_str(" Other rows lie between them:\n// Contains tells which are its own.");
        }
        let body = body.finish();
        let bounded = next_bound(family, scan).filter(|_| ordered);
        self.tested(family, go, &scanned, scan, &function, bounded.is_some());
        let Some(whole) = bounded else {
            if scan.filtered {
                return self.filtered(family, go, &function, &doc, &parameters, &body);
            }
            let _ = writeln!(
                self.out,
                "{doc}\nfunc {function}({parameters}) (Range, error) {{\n\tvar dst []byte\n{body}\treturn prefixRange(dst), nil\n}}\n"
            );
            return;
        };
        let ty = self.scope.fresh(&format!("{function}Range"));
        let _ = writeln!(
            self.out,
            "// {ty} is a range of keys of `{}`, which may be narrowed by the next argument.\ntype {ty} struct {{\n\tRange\n\tprefix []byte\n}}\n",
            family.path
        );
        let _ = writeln!(
            self.out,
            "{doc}\nfunc {function}({parameters}) (r {ty}, err error) {{\n\tvar dst []byte\n{body}\treturn {ty}{{prefixRange(dst), dst}}, nil\n}}\n"
        );
        if scan.filtered {
            self.keeps(go, &ty);
        }
        self.narrowed(family, row, scan, &ty, whole);
    }

    /// Has the package's own test call a scan with the arguments of a row and perhaps a derived part, and bound it by the next of them.
    fn tested(
        &mut self,
        family: &Family,
        go: &str,
        row: &Row<'p>,
        scan: &Scan,
        function: &str,
        bounded: bool,
    ) {
        let fields = || row.fields.iter().map(|(name, _)| format!("k.{name}"));
        let mut given: Vec<String> = fields().take(scan.bound).collect();
        if let Some((_, tree)) = row.fields.get(scan.bound).filter(|_| scan.part.is_some()) {
            given.push(self.argument_of(tree, "derived", 0));
        }
        let call = format!("{function}({})", given.join(", "));
        let key = format!("k := from{go}(val{{l: values}})\n");
        let body = if bounded {
            let next = fields().nth(scan.bound).unwrap_or_default();
            let mut cases = String::new();
            for (word, method) in [("from", "From"), ("after", "After"), ("to", "To"), ("through", "Through")]
            {
                let _ = write!(cases, "\t\tcase \"{word}\":\n\t\t\tr, err = r.{method}({next})\n");
            }
            format!(
                "\t\t{key}\t\tr, err := {call}\n\t\tif err != nil {{\n\t\t\treturn r.Range, err\n\t\t}}\n\t\tswitch bound {{\n{cases}\t\t}}\n\t\treturn r.Range, err\n"
            )
        } else {
            let key = if scan.bound == 0 { String::new() } else { format!("\t\t{key}") };
            if scan.filtered {
                format!("{key}\t\tr, err := {call}\n\t\treturn r.Range, err\n")
            } else {
                format!("{key}\t\treturn {call}\n")
            }
        };
        self.scanned_by.push((format!("{} {}", family.path, scan.words(&family.key)), body));
    }

    /// The row of a scan's prefix: of a scan that binds a derived part, with that part as an argument.
    fn scanned(&mut self, row: &Row<'p>, scan: &'p Scan) -> Row<'p> {
        let Some(part) = &scan.part else { return row.clone() };
        let mut fields: Vec<_> = row.fields.iter().take(scan.bound).cloned().collect();
        if let Some(argument) = part.prefix.arguments().nth(scan.bound) {
            let name = exported(argument.name.as_deref().unwrap_or("value"));
            fields.push((name, self.tree("", &argument.shape, None)));
        }
        Row { sequence: &part.prefix, fields }
    }

    /// A scan between whose rows there are others, and which nothing narrows.
    fn filtered(
        &mut self,
        family: &Family,
        go: &str,
        function: &str,
        doc: &str,
        parameters: &str,
        body: &str,
    ) {
        let ty = self.scope.fresh(&format!("{function}Range"));
        let body = body.replace("return Range{}, ", &format!("return {ty}{{}}, "));
        let _ = writeln!(
            self.out,
            "// {ty} is a range of keys of `{}` with other rows between them.\ntype {ty} struct {{\n\tRange\n}}\n\n{doc}\nfunc {function}({parameters}) ({ty}, error) {{\n\tvar dst []byte\n{body}\treturn {ty}{{prefixRange(dst)}}, nil\n}}\n",
            family.path
        );
        self.keeps(go, &ty);
    }

    fn keeps(&mut self, go: &str, ty: &str) {
        let decode = self.derived(go, "Decode{}");
        let _ = writeln!(
            self.out,
            "// Contains tells whether key lies in the range and is a key of the family.\nfunc (r {ty}) Contains(key []byte) bool {{\n\tif !r.Range.Contains(key) {{\n\t\treturn false\n\t}}\n\t_, err := {decode}(key)\n\treturn err == nil\n}}\n"
        );
    }

    fn narrowed(&mut self, family: &'p Family, row: &Row<'p>, scan: &Scan, ty: &str, whole: bool) {
        let Some((_, tree)) = row.fields.get(scan.bound) else { return };
        let label = family
            .key
            .arguments()
            .nth(scan.bound)
            .and_then(|argument| argument.name.clone())
            .unwrap_or_default();
        let mut body = Body::new(&family.path, "nil");
        self.put(&mut body, tree, "next", &label);
        let _ = writeln!(
            self.out,
            "func (r {ty}) bound(next {}) ([]byte, error) {{\n\tdst := append([]byte{{}}, r.prefix...)\n{}\treturn dst, nil\n}}\n",
            tree.go,
            body.finish()
        );
        let bounds = [
            (
                "From",
                "whose next argument is next or above",
                "\t\tr.Start = bound\n\t\tr.Range = narrowed(r.Range)\n".to_owned(),
            ),
            (
                "After",
                "whose next argument is above next",
                format!("\t\tr.Range = startAfter(r.Range, bound, {whole})\n"),
            ),
            (
                "To",
                "whose next argument is below next",
                "\t\tr.End = bound\n\t\tr.Range = narrowed(r.Range)\n".to_owned(),
            ),
            (
                "Through",
                "whose next argument is next or below",
                format!("\t\tr.Range = endThrough(r.Range, bound, {whole})\n"),
            ),
        ];
        for (name, what, set) in bounds {
            let _ = writeln!(
                self.out,
                "// {name} keeps only the rows {what}.\nfunc (r {ty}) {name}(next {}) ({ty}, error) {{\n\tbound, err := r.bound(next)\n\tif err == nil {{\n{set}\t}}\n\treturn r, err\n}}\n",
                tree.go
            );
        }
    }
}

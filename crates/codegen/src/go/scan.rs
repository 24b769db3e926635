//! Declared scans: a function for each that is proved, and bounds on the next argument where the rows are in its order.

use std::fmt::Write as _;

use keyplan_plan::model::{Family, Scan};

use super::Go;
use super::encode::Body;
use super::names::exported;
use super::tree::Row;
use crate::prove::{is_exact, is_ordered};
use crate::scan::next_bound;

impl<'p> Go<'p> {
    pub(crate) fn scans(&mut self, family: &'p Family, go: &str, row: &Row<'p>) {
        let mut seen = std::collections::BTreeSet::new();
        for scan in &family.scans {
            let part = scan.part.as_ref().map(|part| part.segment);
            if is_exact(self.report, family, scan) && seen.insert((scan.bound, part, scan.bare)) {
                self.scan(family, go, row, scan);
            }
        }
    }

    fn scan(&mut self, family: &'p Family, go: &str, row: &Row<'p>, scan: &'p Scan) {
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
        let words = scan.words(&family.key);
        let ordered = is_ordered(self.report, family, scan);
        let scanned = self.scanned(row, scan);
        let (parameters, variables) = self.parameters(&scanned, scan.value_count());
        let mut body = Body::new(
            &family.path,
            if ordered && next_bound(family, scan).is_some() { "r" } else { "Range{}" },
        );
        self.put_row(&mut body, &scanned, scan.segments, &variables, "");
        let order = if ordered { ", in the order of the other arguments" } else { "" };
        let mut doc = format!("// {function} is the range of the rows of `{}` {words}{order}.", family.path);
        if scan.filtered {
            doc.push_str(" Other rows lie between them:\n// Contains tells which are its own.");
        }
        let body = body.finish();
        let bounded = next_bound(family, scan).filter(|_| ordered);
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
        let _ = writeln!(
            self.out,
            "// Contains tells whether key lies in the range and is a key of the family.\nfunc (r {ty}) Contains(key []byte) bool {{\n\tvar k {go}\n\treturn r.Range.Contains(key) && k.UnmarshalBinary(key) == nil\n}}\n"
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
            "func (r {ty}) bound(next {}) ([]byte, error) {{\n\tdst := append([]byte(nil), r.prefix...)\n{}\treturn dst, nil\n}}\n",
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

//! Declared scans: a function for each that is proved, and bounds on the next argument where the rows are in its order.

use std::fmt::Write as _;

use keyplan_plan::model::{
    BytesEncoding, Extent, Family, FloatEncoding, IntEncoding, Scan, ScoreEncoding, Segment, Shape,
};

use super::Go;
use super::encode::Body;
use super::names::exported;
use super::tree::Row;
use crate::prove::{is_exact, is_ordered};

impl<'p> Go<'p> {
    pub(crate) fn scans(&mut self, family: &'p Family, go: &str, row: &Row<'p>) {
        let mut seen = std::collections::BTreeSet::new();
        for scan in &family.scans {
            if is_exact(self.report, family, scan) && seen.insert(scan.bound) {
                self.scan(family, go, row, scan);
            }
        }
    }

    fn scan(&mut self, family: &'p Family, go: &str, row: &Row<'p>, scan: &Scan) {
        let names: Vec<&str> = family
            .key
            .arguments()
            .take(scan.bound)
            .map(|argument| argument.name.as_deref().unwrap_or("value"))
            .collect();
        let suffix: String = names.iter().map(|name| exported(name)).collect();
        let wanted = if names.is_empty() { format!("{go}All") } else { format!("{go}By{suffix}") };
        let function = self.scope.fresh(&wanted);
        let words = if names.is_empty() { "all".to_owned() } else { format!("by {}", names.join(", ")) };
        let ordered = is_ordered(self.report, family, scan);
        let (parameters, variables) = Self::parameters(row, scan.bound);
        let mut body = Body::new(
            &family.path,
            if ordered && self.bounds(family, scan).is_some() { "r" } else { "Range{}" },
        );
        self.put_row(&mut body, row, scan.segments, &variables, "");
        let order = if ordered { ", in the order of the other arguments" } else { "" };
        let doc = format!("// {function} is the range of the rows of `{}` {words}{order}.", family.path);
        let body = body.finish();
        let Some(whole) = self.bounds(family, scan).filter(|_| ordered) else {
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
        self.narrowed(family, row, scan, &ty, whole);
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

    /// Whether the argument after the prefix can bound the scan, and whether nothing comes after it.
    #[expect(clippy::unused_self, reason = "beside the others")]
    fn bounds(&self, family: &Family, scan: &Scan) -> Option<bool> {
        let Some(Segment::Argument(argument)) = family.key.segments().get(scan.segments) else { return None };
        let last = scan.segments + 1 == family.key.segments().len();
        let fixed = matches!(argument.shape.extent(), Extent::Fixed(_));
        match &argument.shape {
            Shape::Int(int) => {
                let ordered = match int.encoding {
                    IntEncoding::Be => !int.ty.signed,
                    IntEncoding::SignFlip
                    | IntEncoding::Tick9
                    | IntEncoding::DecPadded(_)
                    | IntEncoding::HexPadded(..) => true,
                    _ => false,
                };
                (ordered && fixed).then_some(false)
            }
            Shape::Bool(_)
            | Shape::Time(_)
            | Shape::Score(ScoreEncoding::Exact)
            | Shape::Float(FloatEncoding::Ordered) => Some(false),
            Shape::Bytes { encoding: BytesEncoding::Raw, .. } if fixed => Some(false),
            Shape::Bytes { encoding: BytesEncoding::Raw, .. } if last => Some(true),
            Shape::Text(text) if !text.tuple && last => Some(true),
            _ => None,
        }
    }
}

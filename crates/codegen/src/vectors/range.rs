//! The bounds of declared scans, as the encoder for plans known at run time has them.

use keyplan_plan::dynamic::{Value, prefix};
use keyplan_plan::model::{Family, Plan, Scan};
use keyplan_plan::notation::{hex, write_json, write_string};
use keyplan_prover::Report;

use crate::scan::{called, next_bound};

/// A bound on the argument after those that a scan binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// It is this or above.
    From,
    /// It is above this.
    After,
    /// It is below this.
    To,
    /// It is this or below.
    Through,
}

impl Bound {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::From, Self::After, Self::To, Self::Through];

    /// The word in a line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::From => "from",
            Self::After => "after",
            Self::To => "to",
            Self::Through => "through",
        }
    }
}

/// The keys of a scan: from the first on, up to but without the second; to the end if there is none.
pub type Bounds = (Vec<u8>, Option<Vec<u8>>);

/// The range of the rows that share the arguments which a scan binds with `row`, and whose next argument is bounded by that of
/// `row`; `None` if the arguments are refused, or nothing bounds the scan.
pub fn scan_range(family: &Family, scan: &Scan, row: &[Value], bound: Option<Bound>) -> Option<Bounds> {
    let mut start = Vec::new();
    scan.write(&family.key, row.get(..scan.bound)?, &mut start).ok()?;
    let end = end_of(&start);
    let Some(bound) = bound else { return Some((start, end)) };
    let whole = next_bound(family, scan)?;
    let mut at = Vec::new();
    prefix(&family.key, scan.segments + 1, row.get(..=scan.bound)?, &mut at).ok()?;
    // What comes after all keys with this argument.
    let behind = if whole { Some([at.as_slice(), &[0]].concat()) } else { end_of(&at) };
    Some(match bound {
        Bound::From => (at, end),
        // Nothing is above it.
        Bound::After => behind.map_or_else(|| (at.clone(), Some(at.clone())), |behind| (behind, end)),
        Bound::To => (start, Some(at)),
        Bound::Through => (start, behind.or(end)),
    })
}

/// The least key above all that begin with `prefix`.
fn end_of(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut end = prefix.get(..=last)?.to_vec();
    *end.last_mut()? += 1;
    Some(end)
}

/// The lines about the scans of a family that can be called, over rows with these arguments.
pub(super) fn lines(plan: &Plan, report: &Report, path: &str, rows: &[Vec<Value>]) -> Vec<String> {
    let Some((_, family)) = plan.families().find(|(_, family)| family.path == path) else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    for (scan, ordered) in called(report, family) {
        // A value that is derived from a row's arguments is no argument of a row.
        if scan.part.is_some() {
            continue;
        }
        let bounded = ordered && next_bound(family, scan).is_some();
        let bounds = Bound::ALL.iter().filter(|_| bounded).copied().map(Some);
        let bounds: Vec<Option<Bound>> = std::iter::once(None).chain(bounds).collect();
        for row in rows {
            lines.extend(bounds.iter().map(|bound| line(family, scan, row, *bound)));
        }
    }
    lines
}

/// One claim about a scan as a line of JSON.
pub(super) fn line(family: &Family, scan: &Scan, row: &[Value], bound: Option<Bound>) -> String {
    let range = scan_range(family, scan, row, bound);
    let mut out = Vec::from(*b"{\"part\":");
    write_string(&mut out, &family.path);
    out.extend_from_slice(b",\"scan\":");
    write_string(&mut out, &scan.words(&family.key));
    let result = if range.is_some() { "range" } else { "refused" };
    out.extend_from_slice(format!(",\"result\":\"{result}\",\"args\":").as_bytes());
    write_json(&mut out, &family.key, row);
    if let Some(bound) = bound {
        out.extend_from_slice(format!(",\"bound\":\"{}\"", bound.word()).as_bytes());
    }
    if let Some((start, end)) = range {
        out.extend_from_slice(format!(",\"start\":\"{}\"", hex(&start)).as_bytes());
        if let Some(end) = end {
            out.extend_from_slice(format!(",\"end\":\"{}\"", hex(&end)).as_bytes());
        }
    }
    out.push(b'}');
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use keyplan_plan::compile;
    use keyplan_plan::dynamic::encode;

    use super::*;
    use crate::prove::prove;

    fn order(a: &Value, b: &Value) -> Ordering {
        match (a, b) {
            (Value::Unsigned(a), Value::Unsigned(b)) => a.cmp(b),
            (Value::Signed(a), Value::Signed(b)) | (Value::Time(a), Value::Time(b)) => a.cmp(b),
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
            (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_bound_keeps_exactly_the_rows_that_it_says() {
        let mut bounded = 0;
        for next in [
            "u64",
            "u16(3..=900)",
            "i32.signflip",
            "i64.tick9",
            "u64.dec(20)",
            "u32.HEX(8)",
            "bool",
            "time",
            "f64.ordered",
            "bytes(3)",
            "bytes",
            "text",
        ] {
            let open = matches!(next, "bytes" | "text");
            let tail = if open { "" } else { " c: u8" };
            let text = format!(
                "plan demo; space s {{ key row = 0xff a: u8 b: {next}{tail} scan all in order scan by a in order; }}"
            );
            let compiled = compile("demo.keyplan", &text, |_| Err("no imports".into()));
            let plan = compiled.plan.as_ref().unwrap();
            let report =
                prove(plan, "demo.keyplan").unwrap_or_else(|findings| panic!("{next}: {findings:#?}"));
            let family = &plan.spaces[0].families[0];
            let rows = super::super::edges(&family.key);
            for (scan, ordered) in called(&report, family) {
                assert!(ordered, "{next}");
                for row in &rows {
                    for bound in Bound::ALL {
                        let Some((start, end)) = scan_range(family, scan, row, Some(bound)) else { continue };
                        bounded += 1;
                        for other in &rows {
                            let mut key = Vec::new();
                            encode(&family.key, other, &mut key).unwrap();
                            let found = start <= key && end.as_ref().is_none_or(|end| key < *end);
                            let order = order(&other[scan.bound], &row[scan.bound]);
                            let wanted = other[..scan.bound] == row[..scan.bound]
                                && match bound {
                                    Bound::From => order.is_ge(),
                                    Bound::After => order.is_gt(),
                                    Bound::To => order.is_lt(),
                                    Bound::Through => order.is_le(),
                                };
                            assert_eq!(found, wanted, "{next} {bound:?} {row:?} {other:?}");
                        }
                    }
                }
            }
        }
        assert!(bounded > 500, "{bounded}");
    }
}

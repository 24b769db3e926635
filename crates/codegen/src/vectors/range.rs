//! The bounds of declared scans, as the encoder for plans known at run time has them.

use keyplan_plan::dynamic::{Value, prefix};
use keyplan_plan::model::{Family, Plan, Scan, Shape};
use keyplan_plan::notation::{hex, write_json, write_string};
use keyplan_prover::Report;

use super::domain;
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

/// What a scan is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'r> {
    /// The arguments of a row, of which the scan binds the first.
    pub row: &'r [Value],
    /// The value of the derived part that the scan binds after them, if it binds one.
    pub derived: Option<u128>,
    /// By what the argument after those that are bound is limited: by that of the row.
    pub bound: Option<Bound>,
}

/// The range of the rows that share what a scan binds, and whose next argument is bounded by that of the row; `None` if the arguments
/// are refused, or nothing bounds the scan.
pub fn scan_range(family: &Family, scan: &Scan, asked: Asked<'_>) -> Option<Bounds> {
    let Asked { row, derived, bound } = asked;
    let mut values = row.get(..scan.bound)?.to_vec();
    values.extend(derived.map(Value::Unsigned));
    let mut start = Vec::new();
    scan.write(&family.key, &values, &mut start).ok()?;
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
        if let Some(part) = scan.part.as_ref().and_then(|part| part.prefix.arguments().last()) {
            lines.extend(by_part(family, scan, &part.shape, rows));
            continue;
        }
        let bounded = ordered && next_bound(family, scan).is_some();
        let bounds = Bound::ALL.iter().filter(|_| bounded).copied().map(Some);
        let bounds: Vec<Option<Bound>> = std::iter::once(None).chain(bounds).collect();
        for row in rows {
            let asked = |bound: &Option<Bound>| Asked { row, derived: None, bound: *bound };
            lines.extend(bounds.iter().map(|bound| line(family, scan, asked(bound))));
        }
    }
    lines
}

/// The lines about a scan that binds a derived part: by the part of each row, and with the first row by every edge of the part.
fn by_part(family: &Family, scan: &Scan, part: &Shape, rows: &[Vec<Value>]) -> Vec<String> {
    let number = |value: Value| if let Value::Unsigned(number) = value { Some(number) } else { None };
    let (inside, outside) = (domain::inside(part), domain::outside(part));
    let edges: Vec<u128> = inside.into_iter().chain(outside).filter_map(number).collect();
    let own = |row: &[Value]| scan.values_of(&family.key, row).and_then(|mut values| number(values.pop()?));
    // A row that is refused has no part: that of another shows whether the scan refuses it too.
    let of_rows = rows.iter().filter_map(|row| Some((row, own(row).or(edges.first().copied())?)));
    let of_edges = rows.first().into_iter().flat_map(|row| edges.iter().map(move |edge| (row, *edge)));
    of_rows
        .chain(of_edges)
        .map(|(row, part)| line(family, scan, Asked { row, derived: Some(part), bound: None }))
        .collect()
}

/// One claim about a scan as a line of JSON.
pub(super) fn line(family: &Family, scan: &Scan, asked: Asked<'_>) -> String {
    let range = scan_range(family, scan, asked);
    let mut out = Vec::from(*b"{\"part\":");
    write_string(&mut out, &family.path);
    out.extend_from_slice(b",\"scan\":");
    write_string(&mut out, &scan.words(&family.key));
    let result = if range.is_some() { "range" } else { "refused" };
    out.extend_from_slice(format!(",\"result\":\"{result}\",\"args\":").as_bytes());
    write_json(&mut out, &family.key, asked.row);
    if let Some(derived) = asked.derived {
        out.extend_from_slice(format!(",\"derived\":\"{derived}\"").as_bytes());
    }
    if let Some(bound) = asked.bound {
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
                        let asked = Asked { row, derived: None, bound: Some(bound) };
                        let Some((start, end)) = scan_range(family, scan, asked) else { continue };
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

//! What can bound a declared scan, for every language.

use std::collections::BTreeSet;

use keyplan_plan::model::{
    BytesEncoding, Extent, Family, FloatEncoding, IntEncoding, Scan, ScoreEncoding, Segment, Shape,
};
use keyplan_prover::Report;

use crate::prove::{is_exact, is_ordered};

/// The scans of a family that there is a function for, and whether each claims an order that is proved. Of two that bind the
/// same, the first.
pub(crate) fn called<'f>(report: &Report, family: &'f Family) -> Vec<(&'f Scan, bool)> {
    let mut seen = BTreeSet::new();
    let exact = family.scans.iter().filter(|scan| is_exact(report, family, scan));
    let first = exact
        .filter(|scan| seen.insert((scan.bound, scan.part.as_ref().map(|part| part.segment), scan.bare)));
    first.map(|scan| (scan, is_ordered(report, family, scan))).collect()
}

/// What a scan returns, in words.
pub(crate) fn rows(family: &Family, scan: &Scan, ordered: bool) -> String {
    let words = scan.words(&family.key);
    let (rows, others) = if words == "all" {
        (format!("all rows of `{}`", family.path), "their")
    } else {
        (format!("the rows of `{}` {words}", family.path), "the other")
    };
    if ordered { format!("{rows}, in the order of {others} arguments") } else { rows }
}

/// Whether the argument after the prefix of a scan can bound it, and whether nothing comes after it.
pub(crate) fn next_bound(family: &Family, scan: &Scan) -> Option<bool> {
    if scan.part.is_some() {
        return None;
    }
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
        | Shape::Score { encoding: ScoreEncoding::Exact, .. }
        | Shape::Float(FloatEncoding::Ordered) => Some(false),
        Shape::Bytes { encoding: BytesEncoding::Raw, .. } if fixed => Some(false),
        Shape::Bytes { encoding: BytesEncoding::Raw, .. } if last => Some(true),
        Shape::Text(text) if !text.tuple && last => Some(true),
        _ => None,
    }
}

use keyplan_plan::diag::{Diagnostic, Severity};
use keyplan_plan::model::{BytesEncoding, Family, Plan, Scan, Segment, Sequence, Shape};
use keyplan_prover::{Guarantee, Options, Report, Verdict, diagnose};

/// Proves a plan as `keyplan check` does, and gives the report, or what is wrong: guarantees that are refuted, or neither
/// proved nor refuted, and that nothing in the plan accepts; and flaws that it accepts and does not have. `path` is what
/// the plan's file is known by.
///
/// What `keyplan check` warns of does not stop a program from being compiled.
pub fn prove(plan: &Plan, path: &str) -> Result<Report, Vec<Diagnostic>> {
    let options = Options::default();
    let report = keyplan_prover::prove(plan, &options);
    let mut findings = diagnose(plan, &report, &options, path);
    findings.retain(|finding| finding.severity() == Severity::Error);
    if findings.is_empty() { Ok(report) } else { Err(findings) }
}

/// Whether a scan returns exactly its rows.
pub(crate) fn is_exact(report: &Report, family: &Family, scan: &Scan) -> bool {
    // The rows of a scan with company are of several types, and a claim is nothing to call.
    scan.is_called()
        && scan.with.is_empty()
        && holds(report, family, scan, Guarantee::NoForeignRows)
        && holds(report, family, scan, Guarantee::NoSiblingRows)
}

/// Whether a scan claims an order and the rows come in it.
pub(crate) fn is_ordered(report: &Report, family: &Family, scan: &Scan) -> bool {
    scan.in_order && holds(report, family, scan, Guarantee::InOrder)
}

/// Whether the order of all keys of a family is proved to be that of its arguments, and theirs that of their Rust types.
pub(crate) fn orders_keys(report: &Report, family: &Family) -> bool {
    let whole = family
        .scans
        .iter()
        .any(|scan| scan.bound == 0 && scan.is_called() && is_ordered(report, family, scan));
    whole && compares(&family.key)
}

fn holds(report: &Report, family: &Family, scan: &Scan, guarantee: Guarantee) -> bool {
    let mut about = report.statements.iter().filter(|statement| {
        statement.guarantee == guarantee && statement.family == family.path && statement.scan == Some(scan.id)
    });
    about.clone().next().is_some()
        && about.all(|statement| matches!(statement.verdict, Verdict::Holds | Verdict::Assumed(_)))
}

/// Whether the logical order of every argument is the one that its Rust type has.
fn compares(sequence: &Sequence) -> bool {
    sequence.segments().iter().all(|segment| match segment {
        Segment::Argument(argument) => compares_alike(&argument.shape),
        _ => true,
    })
}

fn compares_alike(shape: &Shape) -> bool {
    match shape {
        // Its type in Rust is its bytes in two's complement, in which negative numbers come last.
        Shape::Bytes { encoding: BytesEncoding::Wide { signed: true, .. }, .. } => false,
        Shape::Int(_) | Shape::Bool(_) | Shape::Bytes { .. } | Shape::Text(_) | Shape::Time(_) => true,
        Shape::Framed { inner, .. } => compares_alike(inner),
        _ => false,
    }
}

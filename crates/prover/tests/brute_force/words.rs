//! Words of a plan that change no byte: `named`, `shown`, `as` and `accept`.
//!
//! A plan is written once more with them. It must be the same plan with the same verdicts, and what it accepts must be what
//! its words say.

use std::fmt::Write as _;

use keyplan_plan::diag::{Code, Diagnostic};
use keyplan_plan::dynamic::{Value, encode_one, prefix};
use keyplan_plan::model::{AcceptKind, Family, LengthSet, Plan, Scan, Segment, Sequence, Shape};
use keyplan_prover::{Guarantee, Options, Report, Statement, Verdict, accepted_by, found, prove};

use crate::enumeration::Listed;
use crate::plans::Random;

/// What an argument may be shown as.
const TIMES: &[&str] = &["seconds", "millis", "micros", "nanos"];
const BYTES: &[&str] = &["reversed", "bech32(\"a\")", "eip55"];

/// The words that were written, by the name that the tally gives them.
pub(crate) type Written = Vec<&'static str>;

/// A piece of text, and the byte of the plan before which it goes.
type Insertion = (usize, String);

/// Writes a plan again with words that change no byte, and compares. An error says what differs, with the new text.
pub(crate) fn check_words(
    random: &mut Random,
    text: &str,
    plan: &Plan,
    report: &Report,
    listed: &[Listed<'_>],
) -> Result<Written, String> {
    let (worded, written) = with_words(random, text, plan, listed);
    compare(&worded, &written, plan, report, listed).map_err(|what| format!("{what}\n{worded}"))?;
    check_refused(random, text, listed)?;
    Ok(written)
}

/// An example that no row of the family begins with is not a prefix of its scan, and the plan is refused for it.
fn check_refused(random: &mut Random, text: &str, listed: &[Listed<'_>]) -> Result<(), String> {
    for Listed { family, keys, complete } in listed {
        // A part may have values that no row has.
        let scans = family.scans.iter().filter(|scan| scan.part.is_none());
        for scan in scans.filter(|_| *complete && !keys.is_empty()) {
            let (_, row) = &keys[random.index(keys.len())];
            let Some(mut wrong) = example(family, scan, row) else { continue };
            let last = wrong.len() - 1;
            wrong[last] = wrong[last].wrapping_add(1);
            if keys.iter().any(|(_, row)| example(family, scan, row).as_ref() == Some(&wrong)) {
                continue;
            }
            let mut wronged = text.to_owned();
            wronged.insert_str(scan.span.range().end, &format!(" as 0x{}", hex(&wrong)));
            let compiled = keyplan_plan::compile("p.keyplan", &wronged, |_| Err("none".to_owned()));
            if !compiled.errors().any(|error| error.code == Code::BadScan) {
                return Err(format!("the scan has no such prefix, and nothing is said\n{wronged}"));
            }
        }
    }
    Ok(())
}

fn with_words(random: &mut Random, text: &str, plan: &Plan, listed: &[Listed<'_>]) -> (String, Written) {
    let mut insertions: Vec<Insertion> = Vec::new();
    let mut written = Written::new();
    for Listed { family, keys, .. } in listed {
        let before = insertions.len();
        shown(random, &family.key, &mut insertions);
        written.extend(std::iter::repeat_n("shown", insertions.len() - before));
        for scan in &family.scans {
            let row = keys.get(random.index(keys.len().max(1)));
            let example = row.filter(|_| random.chance(50)).and_then(|(_, row)| example(family, scan, row));
            if let Some(example) = example {
                written.push("as");
                insertions.push((scan.span.range().end, format!(" as 0x{}", hex(&example))));
            }
        }
        let mut clauses = String::new();
        if random.chance(30) {
            written.push("named");
            let _ = write!(clauses, " named \"key of {}\"", family.path);
        }
        for kind in AcceptKind::ALL {
            if random.chance(30) && !(kind == AcceptKind::Overlap && plan.families().count() < 2) {
                written.push("accept");
                let _ =
                    write!(clauses, " accept {}{} \"known\"", kind.word(), of(random, kind, family, plan));
            }
        }
        let name = family.name_span.range().end;
        let end = text[name..].find(";\n").unwrap_or_else(|| panic!("no end: {text}"));
        insertions.push((name + end, clauses));
    }
    insertions.sort_by_key(|(at, _)| *at);
    let mut worded = text.to_owned();
    for (at, piece) in insertions.iter().rev() {
        worded.insert_str(*at, piece);
    }
    (worded, written)
}

/// The families that an `accept` is about.
fn of(random: &mut Random, kind: AcceptKind, family: &Family, plan: &Plan) -> String {
    let others = |itself: bool| {
        plan.families().map(|(_, other)| other).filter(move |other| itself || other.path != family.path)
    };
    let mut named = match kind {
        AcceptKind::Overlap => others(false).collect::<Vec<_>>(),
        AcceptKind::Leak if random.chance(70) => others(true).collect(),
        _ => return String::new(),
    };
    named.drain(..random.index(named.len()));
    let named: Vec<&str> = named.into_iter().map(Family::local_path).collect();
    format!("({})", named.join(", "))
}

/// A prefix that a scan really has, if it has a byte.
fn example(family: &Family, scan: &Scan, row: &[Value]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let bound = row.get(..scan.bound)?;
    match &scan.part {
        None => prefix(&family.key, scan.segments, bound, &mut bytes).ok()?,
        // The part is the last argument of its prefix, and any of its values is one that a program may give.
        Some(part) => {
            let mut values = bound.to_vec();
            values.push(Value::Unsigned(0));
            prefix(&part.prefix, part.prefix.segments().len(), &values, &mut bytes).ok()?;
        }
    }
    Some(bytes).filter(|bytes| !bytes.is_empty())
}

fn shown(random: &mut Random, sequence: &Sequence, insertions: &mut Vec<Insertion>) {
    for segment in sequence.segments() {
        let Segment::Argument(argument) = segment else { continue };
        let forms = match argument.shape.values() {
            Shape::Int(_) => TIMES,
            Shape::Bytes { lengths, .. } if LengthSet::admits(lengths, 20) => BYTES,
            Shape::Bytes { .. } => &BYTES[..2],
            Shape::Record(inner) => {
                shown(random, inner, insertions);
                continue;
            }
            _ => continue,
        };
        if random.chance(30) {
            insertions.push((argument.span.range().end, format!(".shown({})", random.choose(forms))));
        }
    }
}

/// The words that a plan has, by the name that the tally gives them.
fn words_of(plan: &Plan) -> Written {
    fn shown(sequence: &Sequence) -> usize {
        let inside = |shape: &Shape| match shape {
            Shape::Record(inner) => shown(inner),
            _ => 0,
        };
        let own = |argument: &keyplan_plan::model::Argument| usize::from(argument.shown.is_some());
        sequence.arguments().map(|argument| own(argument) + inside(argument.shape.values())).sum()
    }
    let mut words = Written::new();
    for (_, family) in plan.families() {
        words.extend(std::iter::repeat_n("shown", shown(&family.key)));
        words.extend(family.scans.iter().filter_map(|scan| scan.example.is_some().then_some("as")));
        words.extend(family.real_name.is_some().then_some("named"));
        words.extend(family.accepts.iter().map(|_| "accept"));
    }
    words
}

fn sorted(mut words: Written) -> Written {
    words.sort_unstable();
    words
}

fn compare(
    text: &str,
    written: &Written,
    without: &Plan,
    report: &Report,
    listed: &[Listed<'_>],
) -> Result<(), String> {
    let compiled = keyplan_plan::compile("p.keyplan", text, |_| Err("none".to_owned()));
    let plan = compiled.plan.ok_or_else(|| format!("no plan any more: {:?}", compiled.diagnostics))?;
    if plan.fingerprint() != without.fingerprint() {
        return Err("another fingerprint".to_owned());
    }
    if sorted(words_of(&plan)) != sorted(written.clone()) {
        return Err(format!("{written:?} were written, and {:?} are read", words_of(&plan)));
    }
    let again = prove(&plan, &Options::default());
    if again.statements.len() != report.statements.len() {
        return Err("other statements".to_owned());
    }
    for (before, after) in report.statements.iter().zip(&again.statements) {
        let said =
            |s: &Statement| (s.guarantee, s.family.clone(), s.other.clone(), s.scan, s.verdict.clone());
        if said(before) != said(after) {
            return Err(format!("another verdict: {before:?}\nthen {after:?}"));
        }
        check_accepted(&plan, &again, after, listed)?;
    }
    check_needless(&plan, &again)
}

/// Whether the words of a plan accept the flaw of a statement; `None` where that depends on what encodings lose.
fn accepts(plan: &Plan, statement: &Statement) -> Option<bool> {
    let family = |path: &str| plan.families().map(|(_, family)| family).find(|family| family.path == path);
    let Some(own) = family(&statement.of) else { return Some(false) };
    let has = |kind: AcceptKind| own.accepts.iter().any(|accept| accept.kind == kind);
    let names = |of: &Family, kind: AcceptKind, other: &str| {
        of.accepts.iter().any(|accept| accept.kind == kind && accept.of.iter().any(|path| path == other))
    };
    let all = own.accepts.iter().any(|accept| accept.kind == AcceptKind::Leak && accept.of.is_empty());
    Some(match (statement.guarantee, statement.other.as_deref()) {
        (Guarantee::Unambiguous, _) if has(AcceptKind::Ambiguous) => true,
        (Guarantee::InOrder, _) if has(AcceptKind::Unordered) => true,
        (Guarantee::Unambiguous | Guarantee::InOrder, _) if has(AcceptKind::Lossy) => return None,
        (Guarantee::Unambiguous | Guarantee::InOrder | Guarantee::DistinctNames, _)
        | (Guarantee::Disjoint | Guarantee::NoForeignRows, None) => false,
        (Guarantee::Disjoint, Some(other)) => {
            names(own, AcceptKind::Overlap, other)
                || family(other).is_some_and(|other| names(other, AcceptKind::Overlap, &own.path))
        }
        (Guarantee::NoForeignRows, Some(other)) => all || names(own, AcceptKind::Leak, other),
        (Guarantee::NoSiblingRows, _) => all || names(own, AcceptKind::Leak, &own.path),
        (Guarantee::NoMissingRows, _) => has(AcceptKind::Missing),
        (Guarantee::Allotted, _) => has(AcceptKind::Misallotted),
        (Guarantee::Lossless, _) => has(AcceptKind::Lossy),
        (Guarantee::Fits, _) => has(AcceptKind::Oversize),
        (Guarantee::KeepsOut, _) => has(AcceptKind::Trespass),
        (guarantee, _) => panic!("nobody says here what accepts {guarantee:?}"),
    })
}

fn check_accepted(
    plan: &Plan,
    report: &Report,
    statement: &Statement,
    listed: &[Listed<'_>],
) -> Result<(), String> {
    let flawed = is_flawed(statement);
    match accepts(plan, statement) {
        Some(accepts) if statement.accepted == (accepts && flawed) => Ok(()),
        Some(accepts) => Err(format!("accepted should be {}: {statement:?}", accepts && flawed)),
        None if !statement.accepted => Ok(()),
        // By what is lost: then something is, and no two keys meet by anything else.
        None => {
            let lossy = |s: &Statement| {
                s.guarantee == Guarantee::Lossless && s.family == statement.family && is_flawed(s)
            };
            if !flawed || !report.statements.iter().any(lossy) {
                return Err(format!("nothing is lost: {statement:?}"));
            }
            let own = listed.iter().find(|listed| listed.family.path == statement.family);
            match own.filter(|_| statement.guarantee == Guarantee::Unambiguous) {
                Some(own) if meet_by_themselves(own) => Err(format!("not by loss: {statement:?}")),
                _ => Ok(()),
            }
        }
    }
}

/// Whether two rows have one key though the bytes of one of their arguments differ.
fn meet_by_themselves(listed: &Listed<'_>) -> bool {
    let pieces = |row: &[Value]| -> Vec<Vec<u8>> {
        let arguments = listed.family.key.arguments().zip(row);
        arguments
            .map(|(argument, value)| {
                let mut bytes = Vec::new();
                encode_one(&argument.shape, value, &mut bytes).unwrap_or_default();
                bytes
            })
            .collect()
    };
    listed.keys.windows(2).any(|pair| pair[0].0 == pair[1].0 && pieces(&pair[0].1) != pieces(&pair[1].1))
}

fn is_flawed(statement: &Statement) -> bool {
    matches!(statement.verdict, Verdict::Fails(_) | Verdict::Unknown(_))
}

/// No flaw that is accepted is told as one, and no `accept` under which a flaw is kept is said not to be needed.
fn check_needless(plan: &Plan, report: &Report) -> Result<(), String> {
    let found = found(plan, report, &Options::default(), "p.keyplan");
    for statement in report.statements.iter().filter(|statement| statement.accepted) {
        let accept = accepted_by(plan, statement);
        let accept = accept.ok_or_else(|| format!("accepted by nothing: {statement:?}"))?;
        let needless = |said: &Diagnostic| {
            let here = said.labels.first().is_some_and(|label| label.span == accept.span);
            here && said.code == Code::NeedlessAccept && accept.of.len() < 2
        };
        if found.iter().any(|found| needless(&found.diagnostic)) {
            return Err(format!("said not to be needed, but it keeps {statement:?}"));
        }
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

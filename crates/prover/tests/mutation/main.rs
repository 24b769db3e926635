//! The five plans with one thing wrong in each of their families: what enumeration then finds, the prover must find.
#![cfg(test)]

#[path = "../brute_force/enumeration.rs"]
mod enumeration;
mod values;
#[path = "../brute_force/witness.rs"]
mod witness;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use keyplan_plan::codec::LenWidth;
use keyplan_plan::model::{BytesEncoding, Family, Frame, LengthSet, Plan, Segment, Sequence, Shape};
use keyplan_prover::{Guarantee, Options, Report, Verdict, prove};

use enumeration::{Found, Listed, enumerate, list};
use witness::check_witness;

/// The five plans, and the successors and relatives of some of them.
const PLANS: [&str; 9] = [
    "cardano",
    "cardano_redb",
    "cardano_store",
    "cosmwasm",
    "onesat",
    "onesat_v2",
    "osmosis_cl",
    "paw",
    "paw_v2",
];

/// The guarantees that enumeration has a say in.
const CHECKED: [Guarantee; 4] =
    [Guarantee::Disjoint, Guarantee::Unambiguous, Guarantee::NoForeignRows, Guarantee::NoSiblingRows];

fn plan(name: &str) -> Plan {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    let path: PathBuf = folder.join(name).with_extension("keyplan");
    let text = std::fs::read_to_string(&path).unwrap();
    let import = |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
    keyplan_plan::compile(name, &text, import).plan.unwrap()
}

/// A layout with one thing changed, and what that is.
type Mutant = (&'static str, Sequence);

fn mutants(key: &Sequence) -> Vec<Mutant> {
    let segments = key.segments();
    let mut all = Vec::new();
    for (index, segment) in segments.iter().enumerate() {
        let with = |changed: Option<Segment>| {
            let mut segments = segments.to_vec();
            match changed {
                Some(changed) => segments[index] = changed,
                None => drop(segments.remove(index)),
            }
            Sequence::new(segments)
        };
        let behind = segments.get(index + 1);
        match segment {
            Segment::Literal(_) if index > 0 && matches!(segments[index - 1], Segment::Argument(_)) => {
                all.push(("separator removed", with(None)));
            }
            Segment::Argument(argument) => match (&argument.shape, behind) {
                (Shape::Text(text), Some(Segment::Literal(literal))) => {
                    // An alphabet that holds what stands behind.
                    let mut text = text.clone();
                    let byte = literal.bytes[0];
                    text.alphabet = text.alphabet.with_range(byte, byte);
                    let mut argument = argument.clone();
                    argument.shape = Shape::Text(text);
                    all.push(("alphabet swapped", with(Some(Segment::Argument(argument)))));
                }
                (Shape::Bytes { lengths, encoding: BytesEncoding::Raw }, Some(_))
                    if lengths.fixed().is_some() =>
                {
                    let lengths = LengthSet::Range { min: 0, max: lengths.min() };
                    let mut argument = argument.clone();
                    argument.shape = Shape::Bytes { lengths, encoding: BytesEncoding::Raw };
                    all.push(("width let go", with(Some(Segment::Argument(argument)))));
                }
                (Shape::Framed { frame: Frame::Len(length), inner }, _) => {
                    let mut bare = argument.clone();
                    bare.shape = (**inner).clone();
                    all.push(("length removed", with(Some(Segment::Argument(bare)))));
                    if *length != LenWidth::L8 {
                        let mut short = argument.clone();
                        let inner = inner.clone();
                        short.shape = Shape::Framed { frame: Frame::Len(LenWidth::L8), inner };
                        all.push(("length shortened", with(Some(Segment::Argument(short)))));
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
    all
}

/// The plan with one space only, in which one family has another key.
fn mutated(plan: &Plan, space: usize, family: usize, key: Sequence) -> Plan {
    let mut plan = plan.clone();
    let mut space = plan.spaces.swap_remove(space);
    let changed = &mut space.families[family];
    for scan in &mut changed.scans {
        let scanned = key.scanned_segments(scan.bound);
        scan.segments = if scan.bare { scanned.min(key.bare_segments(scan.bound)) } else { scanned };
    }
    changed.key = key;
    plan.spaces = vec![space];
    plan
}

#[derive(Debug, Default, PartialEq)]
struct Count {
    mutants: usize,
    /// Statements that enumeration breaks.
    broken: usize,
    /// Statements that held before and are refuted now.
    changed: usize,
}

fn check(
    report: &Report,
    before: &Report,
    plan: &Plan,
    path: &str,
    listed: &[Listed<'_>],
    count: &mut Count,
) {
    let about = |other: &Option<String>| other.as_deref() == Some(path);
    for statement in &report.statements {
        let known = listed.iter().any(|listed| listed.family.path == statement.family);
        if !known || (statement.family != path && !about(&statement.other)) {
            continue;
        }
        if let Verdict::Fails(witness) = &statement.verdict {
            check_witness(plan, statement, witness);
        }
        if !CHECKED.contains(&statement.guarantee) {
            continue;
        }
        let (found, _) = enumerate(statement, listed);
        let fails = matches!(statement.verdict, Verdict::Fails(_));
        if let Some(Found { length, at_an_end: false }) = found {
            count.broken += 1;
            assert!(fails, "broken by a key of {length} bytes\n{statement:#?}");
        }
        let held = before.statements.iter().any(|old| {
            let same = (old.guarantee, &old.family, old.scan)
                == (statement.guarantee, &statement.family, statement.scan);
            same && matches!(old.verdict, Verdict::Holds | Verdict::Assumed(_))
        });
        count.changed += usize::from(fails && held);
    }
}

#[test]
fn what_a_mutation_breaks_is_refuted() {
    let mut counts: BTreeMap<&'static str, Count> = BTreeMap::new();
    for name in PLANS {
        let plan = plan(name);
        let before = prove(&plan, &Options::default());
        let mut of_plan = 0;
        for (space, of) in plan.spaces.iter().enumerate() {
            for (index, family) in of.families.iter().enumerate() {
                // Copies and what is derived name other segments by their place.
                if !family.key.is_plain() {
                    continue;
                }
                for (what, key) in mutants(&family.key) {
                    let plan = mutated(&plan, space, index, key);
                    let families: &[Family] = &plan.spaces[0].families;
                    let listed: Vec<Listed<'_>> = families.iter().map(list).collect();
                    let report = prove(&plan, &Options::default());
                    let count = counts.entry(what).or_default();
                    count.mutants += 1;
                    of_plan += 1;
                    check(&report, &before, &plan, &family.path, &listed, count);
                }
            }
        }
        println!("{name}: {of_plan} mutants");
        assert!(of_plan > 0, "{name} has no mutants");
    }
    println!("{counts:#?}");
    // A shorter length only takes values away, so that nothing breaks.
    for what in ["separator removed", "alphabet swapped", "length removed", "width let go"] {
        assert!(counts[what].broken > 0, "{what}: {:?}", counts[what]);
    }
    assert_eq!(counts["length shortened"].broken, counts["length shortened"].changed);
}

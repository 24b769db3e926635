//! Generated code against the dynamic path: the same keys, the same arguments, the same refusals.

mod arguments;
mod generate;
mod laws;
mod scans;
mod show;

use keyplan::codec::Fault;
use keyplan::laws::{Part, PlanTypes, Read, TypeEntry};
use keyplan::plan::compile;
use keyplan::plan::dynamic::{Decoder, Failure, encode, readings};
use keyplan::plan::model::{AcceptKind, Family, Plan, Sequence, Shape};
use keyplan::typed::{KeyError, KeyFault, PlanText};

pub(crate) use arguments::{Agreed, agree_on_arguments, loses};
pub(crate) use generate::Random;
pub(crate) use laws::keep_the_laws;
pub(crate) use show::shown;

/// Compiles the plan that types were made of.
pub(crate) fn plan(text: &PlanText) -> Plan {
    let load = |path: &str| {
        let file = text.files.iter().find(|(name, _)| *name == path);
        file.map(|(_, text)| (*text).to_owned()).ok_or_else(|| format!("{path} was not compiled in"))
    };
    let compiled = compile(text.files[0].0, text.text(), load);
    compiled.plan.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
}

/// The layout that a type was made of.
pub(crate) fn layout_of<'p>(plan: &'p Plan, entry: &TypeEntry) -> (&'p Family, &'p Sequence) {
    let family = plan.families().map(|(_, family)| family).find(|family| family.path == entry.family);
    let family = family.unwrap_or_else(|| panic!("the plan has no family {}", entry.family));
    let field = |name: &str| family.fields.iter().find(|field| field.name == name);
    let layout = match entry.part {
        Part::Key => Some(&family.key),
        Part::Value => family.value.as_ref(),
        Part::Member => family.member.as_ref(),
        Part::Score => family.score.as_ref(),
        Part::Field(name) => field(name).map(|field| &field.key),
        Part::FieldValue(name) => field(name).and_then(|field| field.value.as_ref()),
        part => panic!("{part:?} is not known"),
    };
    (family, layout.unwrap_or_else(|| panic!("{} has no {:?}", entry.family, entry.part)))
}

/// Nothing that the plan declares is missing among its types.
pub(crate) fn nothing_is_missing(plan: &Plan, types: &PlanTypes) {
    let mut expected = Vec::new();
    for (_, family) in plan.families() {
        let mut part = |of: Part, layout: Option<&Sequence>| {
            expected.extend(layout.map(|_| (family.path.as_str(), of)));
        };
        part(Part::Key, Some(&family.key));
        part(Part::Value, family.value.as_ref());
        part(Part::Member, family.member.as_ref());
        part(Part::Score, family.score.as_ref());
        for field in &family.fields {
            let entry = types.types.iter().find_map(|entry| match entry.part {
                Part::Field(name) if entry.family == family.path && name == field.name => Some(name),
                _ => None,
            });
            let name = entry.unwrap_or_else(|| panic!("{} has no field {}", family.path, field.name));
            part(Part::Field(name), Some(&field.key));
            part(Part::FieldValue(name), field.value.as_ref());
        }
    }
    let mut found: Vec<(&str, Part)> = types.types.iter().map(|entry| (entry.family, entry.part)).collect();
    let order = |entry: &(&str, Part)| format!("{entry:?}");
    expected.sort_by_key(order);
    found.sort_by_key(order);
    assert_eq!(found, expected, "the types of `{}`", plan.name);
    let spaces: Vec<&str> = types.spaces.iter().map(|space| space.name).collect();
    let names: Vec<&str> = plan.spaces.iter().map(|space| space.name.as_str()).collect();
    assert_eq!(spaces, names, "every space of `{}` has its enum", plan.name);
}

/// Compares the two on random arguments of every type, in their domain and outside of it, on the keys that they make
/// and on keys that are nearly right.
pub(crate) fn compare(types: &PlanTypes, rounds: usize) {
    let plan = &plan(&types.plan);
    nothing_is_missing(plan, types);
    compare_keys(plan, types, rounds);
    let mut random = Random::new(0xa9);
    let mut counts = Agreed::default();
    for entry in types.types {
        let (family, layout) = layout_of(plan, entry);
        for _ in 0..rounds {
            let Some(values) = random.values(layout) else { continue };
            counts.add(agree_on_arguments(family, layout, entry, &values));
            // Of two arguments that are refused, either may be named.
            let is_sound = encode(layout, &values, &mut Vec::new()).is_ok();
            let mut spoiled = values;
            if random.spoil(layout, &mut spoiled) && is_sound {
                counts.add(agree_on_arguments(family, layout, entry, &spoiled));
            }
        }
    }
    counts.all_seen(&plan.name);
}

fn compare_keys(plan: &Plan, types: &PlanTypes, rounds: usize) {
    let decoder = Decoder::new(plan);
    let mut random = Random::new(0x5eed);
    for (index, space) in plan.spaces.iter().enumerate() {
        let read = types.spaces[index].read;
        for family in &space.families {
            for round in 0..rounds {
                let Some(values) = random.values(&family.key) else { continue };
                let mut key = Vec::new();
                if encode(&family.key, &values, &mut key).is_err() {
                    continue;
                }
                let made = read(&key).unwrap_or_else(|error| {
                    panic!("{} with {values:?} makes {key:02x?}, which is refused: {error}", family.path)
                });
                agree(&decoder, index, &key, Ok(made));
                for near in random.neighbours(&key, round) {
                    agree(&decoder, index, &near, read(&near));
                }
            }
        }
        agree(&decoder, index, &[], read(&[]));
    }
}

fn agree(decoder: &Decoder<'_>, space: usize, key: &[u8], typed: Result<(&'static str, Read), KeyError>) {
    match (decoder.decode(space, key), typed) {
        (Ok(read), Ok((path, typed))) => {
            let family = read.family;
            assert_eq!(path, family.path, "the family of {key:02x?}");
            assert_eq!(typed.shown, shown(&family.name, &family.key, &read.values), "of {key:02x?}");
            assert_eq!(typed.bytes.as_deref(), Ok(key), "{} is not written as it was read", typed.shown);
            guarded(decoder.plan(), family, &read.values, key, typed);
        }
        (Err(miss), Err(error)) => {
            let nearest = miss.nearest();
            let Some((path, failure)) = nearest.first() else { return };
            if failure.exhausted {
                return;
            }
            let same =
                nearest.iter().any(|(path, failure)| *path == error.family && same_fault(&error, failure));
            // The dynamic path does not look into the elements of a list that it gives up.
            let further = error.offset().is_some_and(|offset| offset > failure.offset);
            // The typed path does not say how far a reading of an argument got once another one fits.
            let passed = nearest.iter().any(|(path, failure)| {
                *path == error.family
                    && error.offset() == Some(failure.offset)
                    && holds_composite(decoder.plan(), error.family)
            });
            assert!(same || further || passed, "{key:02x?}: {path}: {miss}, but {error}");
        }
        (Ok(read), Err(error)) => {
            panic!("{key:02x?} is {:?} of {}, but {error}", read.values, read.family.path)
        }
        (Err(miss), Ok((_, typed))) => panic!("{key:02x?} is {}, but {miss}", typed.shown),
    }
}

/// The encoder refuses exactly the keys that have another reading which the plan accepts.
fn guarded(plan: &Plan, family: &Family, values: &[keyplan::plan::dynamic::Value], key: &[u8], typed: Read) {
    let ambiguous = family.accepted(AcceptKind::Ambiguous).next().is_some()
        && readings(&family.key, key, 8).is_ok_and(|all| all.readings.iter().any(|other| other != values));
    let overlaps = family.accepted(AcceptKind::Overlap).flat_map(|accept| &accept.of).any(|path| {
        let other = plan.families().find(|(_, other)| other.path == *path).unwrap().1;
        readings(&other.key, key, 1).is_ok()
    });
    match typed.guarded {
        Ok(bytes) => {
            assert_eq!(bytes, key);
            assert!(!ambiguous && !overlaps, "{} has another reading", typed.shown);
        }
        Err(KeyError { fault: KeyFault::OtherReading(other), .. }) => {
            assert!(ambiguous || overlaps, "{} is refused for {}", typed.shown, other.as_str());
        }
        Err(error) => panic!("{} is refused: {error}", typed.shown),
    }
}

/// Whether an argument of the key of a family is a record or a choice, or holds one, which may be read in several ways.
fn holds_composite(plan: &Plan, path: &str) -> bool {
    fn within(shape: &Shape) -> bool {
        shape.rows().next().is_some() || shape.children().any(within)
    }
    let family = plan.families().map(|(_, family)| family).find(|family| family.path == path);
    family.is_some_and(|family| family.key.shapes().any(within))
}

/// Whether the fault and its offset are the same. What has to be copied out of a key, and is too long for it, is
/// refused for its length before anything else.
fn same_fault(error: &KeyError, failure: &Failure) -> bool {
    let KeyFault::Bytes(bytes) = error.fault else { return false };
    let too_long = matches!(bytes.fault, Fault::Length { .. });
    too_long
        || (bytes.fault == failure.fault
            && bytes.offset == failure.offset
            && error.segment == failure.segment)
}

//! Generated code against the dynamic path: the same keys, the same arguments, the same refusals.

mod generate;
mod show;

use std::path::PathBuf;

use keyplan::codec::Fault;
use keyplan::plan::compile;
use keyplan::plan::dynamic::{Decoder, Failure, encode, readings};
use keyplan::plan::model::{AcceptKind, Family, Plan};
use keyplan::typed::{KeyError, KeyFault};

pub(crate) use generate::Random;
pub(crate) use show::shown;

/// What generated code makes of a key.
pub(crate) struct Typed {
    pub(crate) family: &'static str,
    pub(crate) shown: String,
    pub(crate) again: Result<Vec<u8>, KeyError>,
    pub(crate) guarded: Result<Vec<u8>, KeyError>,
}

/// How generated code reads a key of one space.
pub(crate) type Read = fn(&[u8]) -> Result<Typed, KeyError>;

/// `(space, reader)` for each space of a module that `plan!` made.
#[macro_export]
macro_rules! readers {
    ($module:path { $($space:ident)* }) => {{
        use $module as module;
        [$((stringify!($space), (|key: &[u8]| {
            let read = module::$space::Key::decode(key)?;
            let (mut again, mut guarded) = (Vec::new(), Vec::new());
            Ok($crate::agree::Typed {
                family: read.family(),
                shown: read.to_string(),
                again: read.encode_unguarded_into(&mut again).map(|()| again),
                guarded: read.encode_into(&mut guarded).map(|()| guarded),
            })
        }) as $crate::agree::Read)),*]
    }};
}

/// Reads a plan; `folder` is relative to the crate.
pub(crate) fn plan(folder: &str, file: &str) -> Plan {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder);
    let load = |path: &str| std::fs::read_to_string(folder.join(path)).map_err(|error| error.to_string());
    let compiled = compile(file, &load(file).unwrap(), load);
    compiled.plan.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
}

/// Compares the two on random keys of every family, and on keys that are nearly right.
pub(crate) fn compare(plan: &Plan, readers: &[(&str, Read)], rounds: usize) {
    let names: Vec<&str> = plan.spaces.iter().map(|space| space.name.as_str()).collect();
    assert_eq!(readers.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names, "every space is compared");
    let decoder = Decoder::new(plan);
    let mut random = Random::new(0x5eed);
    for (index, space) in plan.spaces.iter().enumerate() {
        let read = readers[index].1;
        for family in &space.families {
            for round in 0..rounds {
                let Some(values) = random.values(&family.key) else { continue };
                let mut key = Vec::new();
                if encode(&family.key, &values, &mut key).is_err() {
                    continue;
                }
                let typed = read(&key).unwrap_or_else(|error| {
                    panic!("{} with {values:?} makes {key:02x?}, which is refused: {error}", family.path)
                });
                agree(&decoder, index, &key, Ok(typed));
                for near in random.neighbours(&key, round) {
                    agree(&decoder, index, &near, read(&near));
                }
            }
        }
        agree(&decoder, index, &[], read(&[]));
    }
}

fn agree(decoder: &Decoder<'_>, space: usize, key: &[u8], typed: Result<Typed, KeyError>) {
    match (decoder.decode(space, key), typed) {
        (Ok(read), Ok(typed)) => {
            let family = read.family;
            assert_eq!(typed.family, family.path, "the family of {key:02x?}");
            assert_eq!(typed.shown, shown(&family.name, &family.key, &read.values), "of {key:02x?}");
            assert_eq!(typed.again.as_deref(), Ok(key), "{} is not written as it was read", typed.shown);
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
            assert!(same || further, "{key:02x?}: {path}: {miss}, but {error}");
        }
        (Ok(read), Err(error)) => {
            panic!("{key:02x?} is {:?} of {}, but {error}", read.values, read.family.path)
        }
        (Err(miss), Ok(typed)) => panic!("{key:02x?} is {}, but {miss}", typed.shown),
    }
}

/// The encoder refuses exactly the keys that have another reading which the plan accepts.
fn guarded(plan: &Plan, family: &Family, values: &[keyplan::plan::dynamic::Value], key: &[u8], typed: Typed) {
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

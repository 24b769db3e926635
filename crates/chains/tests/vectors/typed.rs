//! The same lines on the typed path: what `keyplan::plan!` made of a plan is made of the arguments of a line, and must
//! have its bytes; and it must read those bytes as the dynamic path does, and write what it read as the same bytes.

use keyplan::laws::{Part, PlanTypes, TypeEntry, Window};
use keyplan::plan::dynamic::{Decoded, Value as Dynamic};
use keyplan::plan::model::{Family, Sequence};
use keyplan::typed::{KeyError, KeyFault};

use crate::agree::{agree_on_arguments, shown};
use crate::same;

/// The types of one plan.
#[derive(Clone, Copy)]
pub(crate) struct Types(&'static PlanTypes);

impl Types {
    pub(crate) fn new(types: &'static PlanTypes) -> Self {
        Self(types)
    }

    /// The type of a part: `cl.tick`, `cl.tick value`, `store.output field data`.
    fn entry(self, path: &str) -> Result<&'static TypeEntry, String> {
        let mut types = self.0.types.iter();
        types.find(|entry| part_path(entry) == path).ok_or_else(|| format!("no type of {path} is known"))
    }

    /// Makes a part of its arguments: it has the bytes, or the error, of the dynamic path.
    pub(crate) fn make(
        self,
        path: &str,
        family: &Family,
        layout: &Sequence,
        values: &[Dynamic],
    ) -> Result<(), String> {
        agree_on_arguments(family, layout, self.entry(path)?, values);
        Ok(())
    }

    /// Checks that a key is read as one of `readings`, and written again as it was. The encoder refuses it if it has
    /// another reading which the plan accepts, and only then.
    pub(crate) fn key(self, space: &str, key: &[u8], readings: &[Decoded<'_>]) -> Result<(), String> {
        let (path, typed) =
            self.read(space, key)?.map_err(|error| format!("the types of `{space}`: {error}"))?;
        let known = readings.iter().any(|reading| {
            let family = reading.family;
            family.path == path && shown(&family.name, &family.key, &reading.values) == typed.shown
        });
        if !known {
            return Err(format!("the types of `{space}` read {}", typed.shown));
        }
        same(path, &typed.bytes.map_err(|error| error.to_string())?, key)?;
        match typed.guarded {
            Ok(bytes) => same(path, &bytes, key),
            Err(KeyError { fault: KeyFault::OtherReading(_), .. }) if readings.len() > 1 => Ok(()),
            Err(error) => Err(format!("{} is refused: {error}", typed.shown)),
        }
    }

    /// Checks that no family of a space reads a key.
    pub(crate) fn refuse(self, space: &str, key: &[u8]) -> Result<(), String> {
        match self.read(space, key)? {
            Ok((_, typed)) => Err(format!("the types of `{space}` read {}", typed.shown)),
            Err(_) => Ok(()),
        }
    }

    fn read(
        self,
        space: &str,
        key: &[u8],
    ) -> Result<Result<(&'static str, keyplan::laws::Read), KeyError>, String> {
        let entry = self.0.spaces.iter().find(|entry| entry.name == space);
        Ok((entry.ok_or_else(|| format!("no types of the space `{space}` are known"))?.read)(key))
    }

    /// Checks that a part is read as one of `readings`, or refused if there are none, and written again as it was.
    pub(crate) fn part(
        self,
        path: &str,
        name: &str,
        layout: &Sequence,
        readings: &[Vec<Dynamic>],
        bytes: &[u8],
    ) -> Result<(), String> {
        match ((self.entry(path)?.read)(bytes), readings) {
            (Ok(typed), [_, ..]) => {
                // A codec that the plan does not look into has no arguments to show.
                let bare = layout.arguments().all(|argument| argument.name.is_none());
                let known = readings.iter().any(|values| {
                    bare && matches!(values[..], [Dynamic::Bytes(_)])
                        || typed.shown == shown(name, layout, values)
                });
                if !known {
                    return Err(format!("the type of {path} reads {}", typed.shown));
                }
                same(path, &typed.bytes.map_err(|error| error.to_string())?, bytes)
            }
            (Err(_), []) => Ok(()),
            (Ok(typed), []) => Err(format!("the type of {path} reads {}", typed.shown)),
            (Err(error), _) => Err(format!("the type of {path}: {error}")),
        }
    }

    /// Checks the bytes that a typed scan begins with. One that returns other rows too has no function.
    pub(crate) fn prefix(self, family: &Family, bound: &[Dynamic], bytes: &[u8]) -> Result<(), String> {
        let mut scans = self.0.scans.iter();
        let scan = scans.find(|scan| scan.family == family.path && scan.bound == bound.len() && !scan.bare);
        let Some(scan) = scan else {
            let leaks = family.accepted(keyplan::plan::model::AcceptKind::Leak).next().is_some();
            return if leaks { Ok(()) } else { Err(format!("{} has no such typed scan", family.path)) };
        };
        let rows = (scan.rows)(bound, &Window::default()).map_err(|misfit| misfit.to_string())?;
        same(&format!("the typed scan of {}", family.path), &rows.prefix, bytes)
    }
}

/// What a type is called in a plan's words.
fn part_path(entry: &TypeEntry) -> String {
    let family = entry.family;
    match entry.part {
        Part::Key => family.to_owned(),
        Part::Value => format!("{family} value"),
        Part::Member => format!("{family} member"),
        Part::Score => format!("{family} score"),
        Part::Field(name) => format!("{family} field {name}"),
        Part::FieldValue(name) => format!("{family} field {name} value"),
        part => panic!("{part:?} is not known"),
    }
}

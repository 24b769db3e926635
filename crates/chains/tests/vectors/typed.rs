//! The same lines on the typed path: what `keyplan::plan!` made of a plan must read their bytes as the dynamic path
//! does, and write what it read as the same bytes.

use keyplan::plan::dynamic::{Decoded, Value as Dynamic};
use keyplan::plan::model::Sequence;
use keyplan::typed::{HashField, Key, KeyError, KeyFault, ScoredKey, SetKey, Value};

use crate::agree::{Read, shown};
use crate::same;

/// What the types of one plan make of bytes.
#[derive(Default)]
pub(crate) struct Types {
    spaces: Vec<(&'static str, Read)>,
    parts: Vec<(String, ReadPart)>,
    scans: Vec<(&'static str, Prefix)>,
}

/// How the type of a value, field, member or score reads bytes: as the text of its arguments, and written again.
type ReadPart = fn(&[u8]) -> Result<(String, Vec<u8>), KeyError>;

/// The bytes that a typed scan begins with, from the arguments that it binds.
pub(crate) type Prefix = fn(&[Dynamic]) -> Vec<u8>;

impl Types {
    /// The enum over the families of each space, as `readers!` gives it.
    pub(crate) fn new(spaces: &[(&'static str, Read)]) -> Self {
        Self { spaces: spaces.to_vec(), ..Self::default() }
    }

    /// The values of a family.
    pub(crate) fn value<K: Key>(mut self) -> Self {
        self.parts.push((format!("{} value", K::FAMILY), |bytes| read(K::Value::decode(bytes)?)));
        self
    }

    /// The members of a family.
    pub(crate) fn member<K: SetKey>(mut self) -> Self {
        self.parts.push((format!("{} member", K::FAMILY), |bytes| read(K::Member::decode(bytes)?)));
        self
    }

    /// The members and scores of a family.
    pub(crate) fn ranked<K: ScoredKey>(mut self) -> Self {
        self.parts.push((format!("{} score", K::FAMILY), |bytes| read(K::Score::decode(bytes)?)));
        self.member::<K>()
    }

    /// A field of a family and its value; `F` is the field's type with any lifetime.
    pub(crate) fn field<K: Key, F: HashField>(mut self, name: &str, field: ReadPart) -> Self {
        let path = format!("{} field {name}", K::FAMILY);
        self.parts.push((format!("{path} value"), |bytes| read(F::FieldValue::decode(bytes)?)));
        self.parts.push((path, field));
        self
    }

    /// A scan of a family.
    pub(crate) fn scan(mut self, path: &'static str, prefix: Prefix) -> Self {
        self.scans.push((path, prefix));
        self
    }

    /// Checks that a key is read as one of `readings`, and written again as it was. The encoder refuses it if it has
    /// another reading which the plan accepts, and only then.
    pub(crate) fn key(&self, space: &str, key: &[u8], readings: &[Decoded<'_>]) -> Result<(), String> {
        let Some(typed) = self.read(space, key) else { return Ok(()) };
        let typed = typed.map_err(|error| format!("the types of `{space}`: {error}"))?;
        let known = readings.iter().any(|reading| {
            let family = reading.family;
            family.path == typed.family && shown(&family.name, &family.key, &reading.values) == typed.shown
        });
        if !known {
            return Err(format!("the types of `{space}` read {}", typed.shown));
        }
        same(typed.family, &typed.again.map_err(|error| error.to_string())?, key)?;
        match typed.guarded {
            Ok(bytes) => same(typed.family, &bytes, key),
            Err(KeyError { fault: KeyFault::OtherReading(_), .. }) if readings.len() > 1 => Ok(()),
            Err(error) => Err(format!("{} is refused: {error}", typed.shown)),
        }
    }

    /// Checks that no family of a space reads a key.
    pub(crate) fn refuse(&self, space: &str, key: &[u8]) -> Result<(), String> {
        match self.read(space, key) {
            Some(Ok(typed)) => Err(format!("the types of `{space}` read {}", typed.shown)),
            _ => Ok(()),
        }
    }

    fn read(&self, space: &str, key: &[u8]) -> Option<Result<crate::agree::Typed, KeyError>> {
        let (_, read) = self.spaces.iter().find(|(name, _)| *name == space)?;
        Some(read(key))
    }

    /// Checks that a part is read as `values`, or refused if there are none, and written again as it was.
    pub(crate) fn part(
        &self,
        path: &str,
        name: &str,
        layout: &Sequence,
        values: Option<&[Dynamic]>,
        bytes: &[u8],
    ) -> Result<(), String> {
        let Some((_, read)) = self.parts.iter().find(|(known, _)| known == path) else {
            return if self.spaces.is_empty() { Ok(()) } else { Err(format!("no type of {path} is known")) };
        };
        match (read(bytes), values) {
            (Ok((text, again)), Some(values)) => {
                // A codec that the plan does not look into has no arguments to show.
                let bare = matches!(values, [Dynamic::Bytes(_)])
                    && layout.arguments().all(|argument| argument.name.is_none());
                if !bare && text != shown(name, layout, values) {
                    return Err(format!("the type of {path} reads {text}"));
                }
                same(path, &again, bytes)
            }
            (Err(_), None) => Ok(()),
            (Ok((text, _)), None) => Err(format!("the type of {path} reads {text}")),
            (Err(error), Some(_)) => Err(format!("the type of {path}: {error}")),
        }
    }

    /// Checks the bytes that a typed scan begins with, if the scan is one of those that are known.
    pub(crate) fn prefix(&self, path: &str, bound: &[Dynamic], bytes: &[u8]) -> Result<(), String> {
        let mut scans = self.scans.iter().filter(|(known, _)| *known == path);
        scans.try_for_each(|(_, prefix)| same(&format!("the typed scan of {path}"), &prefix(bound), bytes))
    }
}

/// Adds the values of many families.
macro_rules! values {
    ($types:expr, $($module:ident { $($key:ident)* })*) => {
        $types $($(.value::<$module::$key>())*)*
    };
}
pub(crate) use values;

/// Adds the fields of a hash.
macro_rules! fields {
    ($types:expr, $($key:ident { $($name:literal $field:ident)* })*) => {
        $types $($(.field::<$key, $field>($name, |bytes| $crate::typed::field::<$field>(bytes)))*)*
    };
}
pub(crate) use fields;

/// What a part is read as, and what it is written as again.
fn read<'v>(part: impl Value<'v>) -> Result<(String, Vec<u8>), KeyError> {
    Ok((part.to_string(), part.to_vec()?))
}

/// How the type of a field reads bytes.
pub(crate) fn field<'v, F: Value<'v>>(bytes: &'v [u8]) -> Result<(String, Vec<u8>), KeyError> {
    read(F::decode(bytes)?)
}

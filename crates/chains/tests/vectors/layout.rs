//! What the modules ask of a plan: bytes from arguments, arguments from bytes, the prefix of a scan.

use std::path::PathBuf;

use keyplan::laws::PlanTypes;
use keyplan::plan::compile;
use keyplan::plan::dynamic::{Decoded, Decoder, Value, encode, prefix, readings};
use keyplan::plan::model::{AcceptKind, Family, Plan, Sequence, Space};

use crate::agree::loses;
use crate::same;
use crate::typed::Types;

/// An argument by its name in the plan.
pub(crate) type Args<'a> = &'a [(&'a str, Value)];

/// One plan file.
pub(crate) struct Layout {
    plan: &'static Plan,
    decoder: Decoder<'static>,
    types: Option<Types>,
}

/// How many readings of one key are looked at.
const READINGS: usize = 64;

impl Layout {
    /// Reads a plan below `plans/`. A plan that is not clean fails the test that opens it.
    pub(crate) fn open(file: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../plans");
        let load = |path: &str| std::fs::read_to_string(folder.join(path)).map_err(|error| error.to_string());
        let compiled = compile(file, &load(file).unwrap(), load);
        let findings: Vec<String> = compiled
            .diagnostics
            .iter()
            .map(|finding| {
                let at = compiled.sources.position(finding.span());
                let name = compiled.sources.get(finding.span().file).map_or("", |source| &source.name);
                format!("{name}:{}:{}: {}", at.line, at.column, finding.message)
            })
            .collect();
        let Some(plan) = compiled.plan.filter(|_| findings.is_empty()) else {
            panic!("{}", findings.join("\n"))
        };
        let plan: &'static Plan = Box::leak(Box::new(plan));
        Self { plan, decoder: Decoder::new(plan), types: None }
    }

    /// The same, with the types that were made of the plan: what is checked is checked on their path too.
    pub(crate) fn typed(self, types: &'static PlanTypes) -> Self {
        Self { types: Some(Types::new(types)), ..self }
    }

    /// The types, for what is to be checked on their path too.
    fn on_types(&self, check: impl FnOnce(&Types) -> Result<(), String>) -> Result<(), String> {
        self.types.as_ref().map_or(Ok(()), check)
    }

    /// Checks both directions: `args` make exactly `bytes`, and `bytes` are read as `args` and nothing else. Where the
    /// plan accepts a flaw, readings that it speaks of may be there too.
    pub(crate) fn key(&self, path: &str, args: Args<'_>, bytes: &[u8]) -> Result<(), String> {
        let (space, family) = self.family(path)?;
        let values = ordered(&family.key, args)?;
        same(path, &encoded(&family.key, &values)?, bytes)?;
        self.on_types(|types| types.make(&family.path, family, &family.key, &values))?;
        let all = self.readings(&space.name, bytes)?;
        let own = all.iter().filter(|reading| reading.family.path == family.path);
        if !own.clone().any(|reading| agrees(&family.key, &reading.values, &values, bytes)) {
            return Err(format!(
                "{path}: {values:?} is not among the readings {:?}",
                own.collect::<Vec<_>>()
            ));
        }
        for reading in &all {
            let other = reading.family;
            let accepted = if other.path == family.path {
                agrees(&family.key, &reading.values, &values, bytes)
                    || family.accepted(AcceptKind::Ambiguous).next().is_some()
            } else {
                overlaps(family, other) || overlaps(other, family)
            };
            if !accepted {
                return Err(format!("{path}: also read as `{}` with {:?}", other.path, reading.values));
            }
        }
        self.on_types(|types| types.key(&space.name, bytes, &all))
    }

    /// The key that `args` make, whatever else it may be read as.
    pub(crate) fn encode(&self, path: &str, args: Args<'_>) -> Result<Vec<u8>, String> {
        let (_, family) = self.family(path)?;
        let values = ordered(&family.key, args)?;
        self.on_types(|types| types.make(&family.path, family, &family.key, &values))?;
        encoded(&family.key, &values)
    }

    /// Checks that a scan the plan claims, with `args` bound, covers exactly the keys that begin with `bytes`.
    pub(crate) fn scan(&self, path: &str, args: Args<'_>, bytes: &[u8]) -> Result<(), String> {
        same(&format!("the scan of {path}"), &self.scanned(path, args)?, bytes)
    }

    /// The prefix of a scan that the plan claims, with `args` bound.
    pub(crate) fn scanned(&self, path: &str, args: Args<'_>) -> Result<Vec<u8>, String> {
        let (_, family) = self.family(path)?;
        let scan = family.scan_by(args.len());
        let scan = scan.ok_or_else(|| format!("{path} has no scan by {} argument(s)", args.len()))?;
        let mut values = Vec::new();
        for (argument, (name, value)) in family.key.arguments().zip(args) {
            if argument.name.as_deref() != Some(*name) {
                return Err(format!("the scan of {path} is not by `{name}`"));
            }
            values.push(value.clone());
        }
        let mut out = Vec::new();
        prefix(&family.key, scan.segments, &values, &mut out).map_err(|error| format!("{path}: {error}"))?;
        self.on_types(|types| types.prefix(family, &values, &out))?;
        Ok(out)
    }

    /// Everything that `bytes` may be read as in a space, by the plan's name or the engine's.
    pub(crate) fn readings(&self, space: &str, bytes: &[u8]) -> Result<Vec<Decoded<'static>>, String> {
        let index = self.space(space)?;
        let found = self.decoder.decode_all(index, bytes, READINGS).map_err(|miss| miss.to_string())?;
        if found.more { Err(format!("more than {READINGS} readings")) } else { Ok(found.readings) }
    }

    /// Reads `bytes` in a space, insists that there is one reading, and that it makes the same bytes again.
    pub(crate) fn read(&self, space: &str, bytes: &[u8]) -> Result<Decoded<'static>, String> {
        let mut found = self.readings(space, bytes)?;
        let reading = found.pop().ok_or("there is no reading")?;
        if let Some(other) = found.pop() {
            return Err(format!("read as `{}` and as `{}`", reading.family.path, other.family.path));
        }
        same(&reading.family.path, &encoded(&reading.family.key, &reading.values)?, bytes)?;
        let (space, family) = self.family(&reading.family.path)?;
        self.on_types(|types| {
            types.make(&family.path, family, &family.key, &reading.values)?;
            types.key(&space.name, bytes, std::slice::from_ref(&reading))
        })?;
        Ok(reading)
    }

    /// Checks that no family of a space makes `bytes`.
    pub(crate) fn refuses(&self, space: &str, bytes: &[u8]) -> Result<(), String> {
        let index = self.space(space)?;
        if let Ok(reading) = self.decoder.decode(index, bytes) {
            return Err(format!("read as `{}` with {:?}", reading.family.path, reading.values));
        }
        self.on_types(|types| types.refuse(&self.plan.spaces[index].name, bytes))
    }

    /// Checks both directions for a value of a family.
    pub(crate) fn value(&self, path: &str, args: Args<'_>, bytes: &[u8]) -> Result<(), String> {
        let layout = self.value_layout(path)?;
        let values = ordered(layout, args)?;
        same(path, &encoded(layout, &values)?, bytes)?;
        let (_, family) = self.family(path)?;
        self.on_types(|types| types.make(&format!("{} value", family.path), family, layout, &values))?;
        let read = self.read_value(path, bytes)?;
        if agrees(layout, &read, &values, bytes) {
            Ok(())
        } else {
            Err(format!("the value of {path} is read as {read:?}"))
        }
    }

    /// Reads a value of a family, insists that there is one reading, and that it makes the same bytes again.
    pub(crate) fn read_value(&self, path: &str, bytes: &[u8]) -> Result<Vec<Value>, String> {
        let layout = self.value_layout(path)?;
        let (_, family) = self.family(path)?;
        let part = format!("{} value", family.path);
        let mut found = match readings(layout, bytes, 2) {
            Ok(found) => found.readings,
            Err(failure) => {
                self.on_types(|types| types.part(&part, &family.name, layout, &[], bytes))?;
                return Err(format!("the value of {path}: {failure}"));
            }
        };
        let read = found.pop().ok_or("there is no reading")?;
        if let Some(other) = found.pop() {
            return Err(format!("the value of {path} is read as {read:?} and as {other:?}"));
        }
        same(path, &encoded(layout, &read)?, bytes)?;
        self.on_types(|types| {
            types.make(&part, family, layout, &read)?;
            types.part(&part, &family.name, layout, std::slice::from_ref(&read), bytes)
        })?;
        Ok(read)
    }

    /// Checks both directions for the type of a field, its value, a member or a score, which `path` names in the
    /// family.
    pub(crate) fn part(
        &self,
        family: &Family,
        (path, name): (&str, &str),
        layout: &Sequence,
        values: &[Value],
        bytes: &[u8],
    ) -> Result<(), String> {
        let path = format!("{} {path}", family.path);
        let found = readings(layout, bytes, READINGS).map_err(|failure| failure.to_string())?.readings;
        self.on_types(|types| {
            types.make(&path, family, layout, values)?;
            types.part(&path, name, layout, &found, bytes)
        })
    }

    /// The family that `path` names.
    pub(crate) fn family(&self, path: &str) -> Result<(&'static Space, &'static Family), String> {
        match self.plan.find(path)[..] {
            [found] => Ok(found),
            _ => Err(format!("`{path}` does not name one family of `{}`", self.plan.name)),
        }
    }

    fn value_layout(&self, path: &str) -> Result<&'static Sequence, String> {
        self.family(path)?.1.value.as_ref().ok_or_else(|| format!("the plan gives {path} no value"))
    }

    fn space(&self, name: &str) -> Result<usize, String> {
        let mut spaces = self.plan.spaces.iter();
        spaces
            .position(|space| space.name == name || space.engine_name == name)
            .ok_or_else(|| format!("`{}` has no space `{name}`", self.plan.name))
    }
}

/// An unsigned argument.
pub(crate) fn uint(n: impl Into<u128>) -> Value {
    Value::Unsigned(n.into())
}

/// A signed argument.
pub(crate) fn int(n: impl Into<i128>) -> Value {
    Value::Signed(n.into())
}

/// A byte string.
pub(crate) fn bytes(bytes: impl Into<Vec<u8>>) -> Value {
    Value::Bytes(bytes.into())
}

/// A text.
pub(crate) fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

fn encoded(layout: &Sequence, values: &[Value]) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    encode(layout, values, &mut out).map_err(|error| error.to_string())?;
    Ok(out)
}

/// The arguments in the order of the layout; each must be given, once, and no other.
fn ordered(layout: &Sequence, args: Args<'_>) -> Result<Vec<Value>, String> {
    let names: Vec<&str> =
        layout.arguments().map(|argument| argument.name.as_deref().unwrap_or_default()).collect();
    let values: Option<Vec<Value>> = names
        .iter()
        .map(|name| args.iter().find(|(given, _)| given == name).map(|(_, value)| value.clone()))
        .collect();
    let values = values.filter(|values| values.len() == args.len());
    values.ok_or_else(|| {
        format!(
            "the arguments are {names:?}, given were {:?}",
            args.iter().map(|arg| arg.0).collect::<Vec<_>>()
        )
    })
}

/// Whether a reading is what was written: the same values, but for what an encoding loses, and the same bytes again.
fn agrees(layout: &Sequence, read: &[Value], written: &[Value], bytes: &[u8]) -> bool {
    let same = layout
        .arguments()
        .zip(read.iter().zip(written))
        .all(|(argument, (read, written))| read == written || loses(&argument.shape));
    same && encoded(layout, read).as_deref() == Ok(bytes)
}

/// Whether `family` says that it may make keys of `other`.
fn overlaps(family: &Family, other: &Family) -> bool {
    family.accepted(AcceptKind::Overlap).any(|accept| accept.of.contains(&other.path))
}

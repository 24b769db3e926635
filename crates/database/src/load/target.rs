//! Rows as they are read, on their way into batches.

use keyplan_plan::dynamic::{Decoder, encode, other_key};
use keyplan_plan::model::{Family, Opaque, Plan, Space};
use keyplan_plan::notation::{arguments_from_json, assignments, hex};
use keyplan_report::key_text::{self, KeyText};
use keyplan_report::row::opaque;
use keyplan_report::structure::{is_structured, row_key};
use keyplan_report::values::bytes_of;
use keyplan_store::Store;
use keyplan_store::engine::{Batch, Capabilities, Durability, Engine};
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::names::Names;
use super::strict::{Members, tree};
use crate::error::{Context as _, Result, bail, refused};
use crate::find;
use crate::structure::refuse_structured;

/// The members that a line may have.
/// `decoded` is for people: a dump has it beside a value that only its bytes make again.
const KNOWN: [&str; 7] = ["space", "key", "family", "args", "value", "base64", "decoded"];

/// Where rows go.
pub(super) struct Target<'s, 'p, E: Engine> {
    store: &'s Store<E>,
    plan: &'p Plan,
    decoder: Decoder<'p>,
    limits: Capabilities,
    names: Names<'p>,
    allow_unknown: bool,
    /// The row before, if the next one must not have its key.
    last: Option<(usize, Vec<u8>, Vec<u8>)>,
    /// Rows that are not committed yet.
    pub(super) batch: Batch<E>,
    /// Rows read so far.
    pub(super) rows: u64,
}

impl<'s, 'p, E: Engine> Target<'s, 'p, E> {
    /// Rows into a store, of which `rows` were read before.
    pub(super) fn new(
        store: &'s Store<E>,
        plan: &'p Plan,
        names: Names<'p>,
        allow_unknown: bool,
        rows: u64,
    ) -> Self {
        let limits = store.engine().capabilities();
        let (decoder, batch) = (Decoder::new(plan), Batch::new());
        Self { store, plan, decoder, limits, names, allow_unknown, last: None, batch, rows }
    }

    /// Takes a row of the space at `index`, unless it is none of the plan.
    pub(super) fn row(&mut self, index: usize, key: Vec<u8>, value: Vec<u8>) -> Result<()> {
        let Some(space) = self.plan.spaces.get(index) else { bail!("there is no such space") };
        self.admit(index, space, &key)?;
        self.limits.admit::<E>(key.len(), value.len())?;
        if let Some((before, last, other)) = &self.last
            && (*before, last) == (index, &key)
            && *other != value
        {
            bail!(
                "the key {} comes twice with two values: what it was dumped from keeps several values of a key, and \
                 `{}` keeps one",
                hex(&key),
                space.name
            );
        }
        self.last = Some((index, key.clone(), value.clone()));
        self.batch.put(self.store.space(space.engine_name())?, key, value);
        self.rows += 1;
        Ok(())
    }

    /// Makes the rows of the batch durable.
    pub(super) fn commit(&mut self, durability: Durability) -> Result<()> {
        Ok(self.store.commit(std::mem::take(&mut self.batch), durability)?)
    }

    /// Refuses a key that no family makes or that is retired, unless such keys are wanted.
    fn admit(&self, index: usize, space: &Space, key: &[u8]) -> Result<()> {
        if self.allow_unknown {
            return Ok(());
        }
        let whose = if is_structured(space) { row_key(key) } else { Some(key) };
        let Some(whose) = whose else {
            bail!("{} is not a row of structures; --allow-unknown writes it", hex(key));
        };
        let retired = space.retired.iter().chain(space.modules.iter().flat_map(|module| &module.retired));
        if let Some(retired) = retired.into_iter().find(|retired| whose.starts_with(&retired.prefix)) {
            bail!(
                "{} is under the prefix 0x{}, which is retired ({}); --allow-unknown writes it",
                hex(key),
                hex(&retired.prefix),
                retired.why
            );
        }
        match self.decoder.decode(index, whose) {
            Ok(read) => match &read.family.retired {
                None => Ok(()),
                Some(why) => bail!(
                    "{} is a key of `{}`, which is retired ({why}); --allow-unknown writes it",
                    hex(key),
                    read.family.path
                ),
            },
            Err(miss) => bail!("{}: {miss}; --allow-unknown writes it", hex(key)),
        }
    }

    /// Takes the row of a line.
    pub(super) fn line(&mut self, line: &[u8]) -> Result<()> {
        let members = Members::read(line).map_err(|why| refused!("{why}"))?;
        if let Some(other) = members.names().find(|name| !KNOWN.contains(name)) {
            bail!("a row has no `{other}`; it has: {}", KNOWN.join(", "));
        }
        let (index, family, key) = self.key(&members)?;
        let value = value(family, &members)?;
        self.row(index, key, value)
    }

    /// The index of the row's space, its family if it is given, and its key.
    fn key(&mut self, members: &Members<'_>) -> Result<(usize, Option<&'p Family>, Vec<u8>)> {
        if let Some(key) = members.get("key") {
            let space = members.get("space").ok_or_else(|| refused!("`key` needs `space`"))?;
            if members.get("family").is_some() || members.get("args").is_some() {
                bail!("`key` is written instead of `family` and `args`");
            }
            let index = self.names.index(&text(space, "space")?)?;
            return Ok((index, None, hex_of(key, "key")?));
        }
        let family = members.get("family").ok_or_else(|| refused!("there is neither `family` nor `key`"))?;
        let (index, family) = find::family(self.plan, &text(family, "family")?)?;
        refuse_structured(self.plan, index, family)?;
        let given = match members.get("args").map(parsed).transpose()? {
            None => Map::new(),
            Some(Json::Object(given)) => given,
            Some(_) => bail!("`args` is an object with the arguments"),
        };
        let values = arguments_from_json(&family.key, &given).with_context(|| "`args`".to_owned())?;
        let mut key = Vec::new();
        encode(&family.key, &values, &mut key)?;
        if !family.accepts.is_empty()
            && let Some(other) = other_key(&self.decoder, index, family, &values, &key)
        {
            bail!(
                "{} can also be read as {} {}; write it as `key` if you mean that",
                hex(&key),
                other.owner,
                assignments(other.sequence, &other.values)
            );
        }
        Ok((index, Some(family), key))
    }
}

/// The bytes of a row's value: hex or base64 in a string, an object with its arguments, or the JSON that it is.
fn value(family: Option<&Family>, members: &Members<'_>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match (members.get("value"), members.get("base64")) {
        (Some(value), None) if value.get().starts_with('"') => bytes = hex_of(value, "value")?,
        (Some(value), None) => {
            let layout = family.and_then(|family| family.value.as_ref());
            let layout = layout.ok_or_else(|| refused!("the value has no layout: write its bytes as hex"))?;
            if opaque(layout) == Some(&Opaque::Json) {
                return Ok(value.get().as_bytes().to_vec());
            }
            bytes = bytes_of(layout, value.get()).map_err(|why| refused!("`value`: {why}"))?;
        }
        (None, Some(value)) => {
            key_text::read(text(value, "base64")?.as_bytes(), KeyText::Base64, &mut bytes)
                .with_context(|| "`base64`".to_owned())?;
        }
        (Some(_), Some(_)) => bail!("`base64` is written instead of `value`"),
        (None, None) => bail!("there is neither `value` nor `base64`"),
    }
    Ok(bytes)
}

fn parsed(text: &RawValue) -> Result<Json> {
    tree(text).map_err(|why| refused!("{why}"))
}

fn text(json: &RawValue, name: &str) -> Result<String> {
    serde_json::from_str(json.get()).map_err(|_| refused!("`{name}` is a text"))
}

fn hex_of(json: &RawValue, name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    key_text::read(text(json, name)?.as_bytes(), KeyText::Hex, &mut bytes)
        .with_context(|| format!("`{name}`"))?;
    Ok(bytes)
}

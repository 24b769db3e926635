use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use keyplan_plan::dynamic::{Decoder, encode, other_key};
use keyplan_plan::model::{Family, Plan};
use keyplan_plan::notation::arguments_from_json;
use keyplan_store::engine::{Batch, Durability, Engine, SpaceId};
use keyplan_store::{Access, Store, StoreError};
use serde_json::{Map, Value as Json};

use super::binary::{self, FIRST};
use super::position::Position;
use super::structure::refuse_structured;
use super::{Database, on_engine};
use crate::args::InputFormat;
use crate::args::db::Load;
use crate::command::{Outcome, find};
use crate::input;
use crate::key_text;
use crate::render::{self, Output, Progress};

/// The longest line that is read.
const MAX_LINE: u64 = 1 << 30;

/// A batch is written when it holds this many bytes, however few its rows are.
const BATCH_BYTES: u64 = 16 * 1024 * 1024;

/// How long the end of a load may take to move rows to where opening finds them at once.
const SETTLE: Duration = Duration::from_secs(60);

/// Writes rows from a file or from standard input.
pub(super) fn run(args: &Load, out: &mut Output) -> Result<Outcome> {
    let (from, size): (Box<dyn BufRead>, _) = if args.input == "-" {
        (Box::new(BufReader::with_capacity(1 << 18, io::stdin())), None)
    } else {
        let unreadable =
            |error: io::Error| anyhow!("cannot read `{}`: {}", args.input, input::reason(&error));
        let file = File::open(&args.input).map_err(unreadable)?;
        let size = file.metadata().map_err(unreadable)?.len();
        (Box::new(BufReader::with_capacity(1 << 18, file)), Some(size))
    };
    let (database, plan) = Database::open(&args.target, Access::ReadWrite)?;
    on_engine!(&database, store => load(store, &plan, args, from, size, out))
}

fn load<E: Engine>(
    store: &Store<E>,
    plan: &Plan,
    args: &Load,
    from: Box<dyn BufRead>,
    size: Option<u64>,
    out: &mut Output,
) -> Result<Outcome> {
    let directory = &args.target.directory;
    let left = if args.resume { Position::read(directory)? } else { None };
    let left = left.unwrap_or_default();
    let mut source = Source::new(from, store, plan)?;
    let mut target =
        Target { store, plan, decoder: Decoder::new(plan), batch: Batch::new(), rows: left.rows };
    let progress = Progress::bytes("loading; when interrupted, --resume goes on", size);
    let (mut unit, mut read, mut bytes) = (0_u64, 0_u64, Vec::new());
    let mut applied = left.unit;
    let claimed = loop {
        match source.next(&mut bytes) {
            Ok(Step::Unit) => unit += 1,
            Ok(Step::End { claimed }) => break claimed,
            Err(error) => return Err(stopped(&error, &source, unit + 1, applied)),
        }
        read += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        progress.set(read);
        if unit <= left.unit {
            if unit == left.unit && !left.is_of(&bytes) {
                bail!(
                    "{} {unit} is not what the interrupted load read there: this is another input",
                    source.unit()
                );
            }
            continue;
        }
        if let Err(error) = source.apply(&bytes, &mut target) {
            return Err(stopped(&error, &source, unit, applied));
        }
        if target.batch.len() >= args.batch.max(1) || target.batch.bytes() >= BATCH_BYTES {
            // The place is kept only once the rows before it are on the disk.
            target.commit(Durability::SyncData)?;
            Position::behind(unit, target.rows, &bytes).write(directory)?;
            applied = unit;
        }
    };
    if unit < left.unit {
        bail!("the input has {unit} {}s, and the interrupted load had read {}", source.unit(), left.unit);
    }
    target.commit(Durability::SyncAll)?;
    let rows = target.rows;
    if claimed.is_some_and(|claimed| claimed != rows) {
        bail!("the dump says that it has {} rows, and {rows} were read", claimed.unwrap_or_default());
    }
    Position::remove(directory)?;
    match store.shutdown(SETTLE) {
        // Everything is on the disk all the same.
        Err(StoreError::Engine(keyplan_store::engine::Error::Deadline { .. })) | Ok(()) => {}
        Err(error) => return Err(error.into()),
    }
    progress.end();
    out.line(&render::loaded(rows, left.rows))?;
    Ok(Outcome::Clean)
}

/// Says where a load stopped, and how it goes on.
fn stopped(error: &anyhow::Error, source: &Source, unit: u64, applied: u64) -> anyhow::Error {
    let what = source.unit();
    let kept = match applied {
        0 => "nothing was written".to_owned(),
        _ => format!("everything up to {what} {applied} is written, and --resume goes on behind it"),
    };
    anyhow!("{what} {unit}: {error:#}; {kept}")
}

/// What came of reading on.
enum Step {
    /// A unit.
    Unit,
    /// The end, with the number of rows if the input says it.
    End { claimed: Option<u64> },
}

/// Where rows come from.
enum Source {
    Lines(Box<dyn BufRead>),
    Blocks { from: Box<dyn BufRead>, spaces: Vec<SpaceId> },
}

impl Source {
    fn new<E: Engine>(mut from: Box<dyn BufRead>, store: &Store<E>, plan: &Plan) -> Result<Self> {
        if from.fill_buf()?.first() != Some(&FIRST) {
            return Ok(Self::Lines(from));
        }
        let head = binary::read_head(&mut from)?;
        let ours: keyplan_store::PlanFingerprint = plan.fingerprint().into();
        if head.fingerprint != ours {
            bail!("the dump was made under plan {}, and the database has {ours}", head.fingerprint);
        }
        let spaces = head.spaces.iter().map(|name| store.space(name)).collect::<Result<_, StoreError>>()?;
        Ok(Self::Blocks { from, spaces })
    }

    /// What a unit of it is called.
    const fn unit(&self) -> &'static str {
        match self {
            Self::Lines(_) => "line",
            Self::Blocks { .. } => "block",
        }
    }

    /// Reads the next unit.
    fn next(&mut self, bytes: &mut Vec<u8>) -> Result<Step> {
        match self {
            Self::Blocks { from, .. } => Ok(match binary::read_block(from, bytes)? {
                None => Step::Unit,
                claimed => Step::End { claimed },
            }),
            Self::Lines(from) => {
                bytes.clear();
                let found = from.take(MAX_LINE).read_until(b'\n', bytes)?;
                if u64::try_from(found).unwrap_or(u64::MAX) >= MAX_LINE {
                    bail!("it is over {MAX_LINE} bytes long");
                }
                Ok(if found == 0 { Step::End { claimed: None } } else { Step::Unit })
            }
        }
    }

    fn apply<E: Engine>(&self, bytes: &[u8], target: &mut Target<'_, '_, E>) -> Result<()> {
        match self {
            Self::Lines(_) if bytes.trim_ascii().is_empty() => Ok(()),
            Self::Lines(_) => target.line(bytes),
            Self::Blocks { spaces, .. } => binary::read_rows(bytes, |space, key, value| {
                let space = usize::try_from(space).ok().and_then(|index| spaces.get(index));
                let space = space.ok_or_else(|| anyhow!("it names a space that the dump does not have"))?;
                target.put(*space, key.to_vec(), value.to_vec());
                Ok(())
            }),
        }
    }
}

/// Where rows go.
struct Target<'s, 'p, E: Engine> {
    store: &'s Store<E>,
    plan: &'p Plan,
    decoder: Decoder<'p>,
    batch: Batch<E>,
    rows: u64,
}

impl<E: Engine> Target<'_, '_, E> {
    fn put(&mut self, space: SpaceId, key: Vec<u8>, value: Vec<u8>) {
        self.batch.put(space, key, value);
        self.rows += 1;
    }

    fn commit(&mut self, durability: Durability) -> Result<()> {
        Ok(self.store.commit(std::mem::take(&mut self.batch), durability)?)
    }

    fn line(&mut self, line: &[u8]) -> Result<()> {
        let object: Map<String, Json> = serde_json::from_slice(line)?;
        let known = ["space", "key", "family", "args", "value", "base64"];
        if let Some(other) = object.keys().find(|name| !known.contains(&name.as_str())) {
            bail!("a row has no `{other}`; it has: {}", known.join(", "));
        }
        let (index, family, key) = self.key(&object)?;
        let value = value(family, &object)?;
        let space = self.plan.spaces.get(index).map_or("", |space| space.engine_name());
        let space = self.store.space(space)?;
        self.put(space, key, value);
        Ok(())
    }

    /// The index of the row's space, its family if it is given, and its key.
    fn key(&self, object: &Map<String, Json>) -> Result<(usize, Option<&Family>, Vec<u8>)> {
        if let Some(key) = object.get("key") {
            let space = object.get("space").ok_or_else(|| anyhow!("`key` needs `space`"))?;
            if object.contains_key("family") || object.contains_key("args") {
                bail!("`key` stands in place of `family` and `args`");
            }
            let index = input::space(self.plan, text(space, "space")?)?;
            return Ok((index, None, hex(key, "key")?));
        }
        let family = object.get("family").ok_or_else(|| anyhow!("there is neither `family` nor `key`"))?;
        let (index, family) = find::family(self.plan, text(family, "family")?)?;
        refuse_structured(self.plan, index, family)?;
        let empty = Map::new();
        let given = match object.get("args") {
            None => &empty,
            Some(Json::Object(given)) => given,
            Some(_) => bail!("`args` is an object with the arguments"),
        };
        let values = arguments_from_json(&family.key, given).context("`args`")?;
        let mut key = Vec::new();
        encode(&family.key, &values, &mut key)?;
        if !family.accepts.is_empty()
            && let Some(other) = other_key(&self.decoder, index, family, &values, &key)
        {
            bail!(
                "{} can also be read as {} {}; write it as `key` if it is meant",
                render::hex(&key),
                other.owner,
                render::assignments(other.sequence, &other.values)
            );
        }
        Ok((index, Some(family), key))
    }
}

fn value(family: Option<&Family>, object: &Map<String, Json>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match (object.get("value"), object.get("base64")) {
        (Some(Json::Object(given)), None) => {
            let layout = family.and_then(|family| family.value.as_ref());
            let layout = layout.ok_or_else(|| anyhow!("the value has no layout: write its bytes"))?;
            let values = arguments_from_json(layout, given).context("`value`")?;
            encode(layout, &values, &mut bytes)?;
        }
        (Some(value), None) => bytes = hex(value, "value")?,
        (None, Some(value)) => {
            key_text::read(text(value, "base64")?.as_bytes(), InputFormat::Base64, &mut bytes)
                .context("`base64`")?;
        }
        (Some(_), Some(_)) => bail!("`base64` stands in place of `value`"),
        (None, None) => bail!("there is neither `value` nor `base64`"),
    }
    Ok(bytes)
}

fn text<'j>(json: &'j Json, name: &str) -> Result<&'j str> {
    json.as_str().ok_or_else(|| anyhow!("`{name}` is a text"))
}

fn hex(json: &Json, name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    key_text::read(text(json, name)?.as_bytes(), InputFormat::Hex, &mut bytes)
        .with_context(|| format!("`{name}`"))?;
    Ok(bytes)
}

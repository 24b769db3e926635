//! 1Sat: hashes, sorted sets, sets and queues, and the rows that Badger keeps them in.

use std::sync::LazyLock;

use keyplan::codec::{HeightScore, Score};
use keyplan::plan::dynamic::{Value, encode, readings};
use keyplan::plan::model::{Family, Field, Sequence, Shape};
use serde_json::{Map, Value as Json};

use crate::layout::{Layout, bytes, int, text, uint};
use crate::{Outcome, Source, Vector, Verdict, same};

static SEED: LazyLock<Layout> =
    LazyLock::new(|| Layout::open("onesat.keyplan").typed(&keyplan_chains::onesat::document::TYPES));
static CODE: LazyLock<Layout> = LazyLock::new(|| {
    Layout::open("upstream/onesat.keyplan").typed(&keyplan_chains::upstream::onesat_upstream::TYPES)
});

/// Keys of the store: the file's family and the plans', without the space.
const KEYS: &[(&str, &str)] = &[
    ("event", "sorted_sets.event"),
    ("event_spent", "sorted_sets.event_spent"),
    ("log", "sorted_sets.log"),
    ("merkle_state", "sorted_sets.merkle_state"),
    ("topic_outputs", "sorted_sets.topics.topic_outputs"),
    ("topic_txs", "sorted_sets.topics.topic_txs"),
    ("queue", "queues.work_queue"),
    ("token_queue", "queues.token_queue"),
    ("set", "sets.named_set"),
    ("out_hash", "hashes.out_hash"),
    ("satoshis", "hashes.satoshis"),
    ("spends", "hashes.spends"),
    ("progress", "hashes.progress"),
];

/// Names and values of fields: the file's families, the hash, and its field.
const FIELDS: &[(&str, &str, &str, &str)] = &[
    ("out_field_ev", "", "out_hash", "events"),
    ("out_field_ms", "value_ms", "out_hash", "merkle"),
    ("out_field_dt", "", "out_hash", "data"),
    ("out_field_dp", "value_deps", "out_hash", "deps"),
    ("out_field_in", "value_inputs", "out_hash", "inputs"),
    ("", "value_sats", "satoshis", "outpoint"),
    ("", "value_progress_height", "progress", "subscription"),
    ("", "value_progress_height", "progress", "owner"),
    ("peer_interaction_field", "value_peer_interaction", "progress", "peer"),
];

/// Families whose members are outpoints.
const OUTPOINTS: &[&str] = &["event", "event_spent", "merkle_state", "topic_outputs", "token_queue"];

/// Families whose members are ranked.
const RANKED: &[&str] =
    &["event", "event_spent", "log", "merkle_state", "topic_outputs", "topic_txs", "queue", "token_queue"];

/// Rows of Badger: the file's family and the plan's, without the space. Some were laid out differently once.
const ROWS: &[(&str, &str)] = &[
    ("badger_kv", "kv"),
    ("badger_set_member", "set_member"),
    ("badger_hash_field", "hash_field"),
    ("badger_zset_score", "zset_score"),
    ("badger_zset_member", "zset_member"),
];

/// Scans over the rows of one structure.
const SCANS: &[(&str, &str)] = &[
    ("badger_scan_set", "set_member"),
    ("badger_scan_hash", "hash_field"),
    ("badger_scan_zset_score", "zset_score"),
    ("badger_scan_zset_member", "zset_member"),
];

pub(crate) fn check(line: &Vector) -> Outcome {
    match line.source {
        Source::Seed => in_store(&SEED, "store", line)?,
        Source::Code => code(line)?,
        Source::Both => {
            in_store(&SEED, "store", line)?;
            code(line)?;
        }
    }
    Ok(Verdict::Passed)
}

/// A line under the code's plan: as the code is now or, where it has changed, as it was with the document.
fn code(line: &Vector) -> Result<(), String> {
    match line.family.as_str() {
        "event" | "event_spent" => one_of(in_store(&CODE, "store", line), in_store(&CODE, "store_v0", line)),
        family if family.contains("_zset_") => {
            one_of(in_badger("badger", line), in_badger("badger_v0", line))
        }
        family if family.starts_with("badger_") => in_badger("badger", line),
        _ => in_store(&CODE, "store", line),
    }
}

/// What holds of one layout only: a line that fits both would tell them apart no more.
fn one_of(now: Result<(), String>, then: Result<(), String>) -> Result<(), String> {
    match (now, then) {
        (Ok(()), Err(_)) | (Err(_), Ok(())) => Ok(()),
        (Ok(()), Ok(())) => Err("made now and then".to_owned()),
        (Err(now), Err(then)) => Err(format!("now, {now}; then, {then}")),
    }
}

fn in_store(layout: &Layout, space: &str, line: &Vector) -> Result<(), String> {
    let (name, expected) = (line.family.as_str(), line.bytes()?);
    if KEYS.iter().any(|(family, _)| *family == name) {
        let family = family(layout, space, name)?;
        return layout.key(&family.path, &named(&family.key, &line.args)?, expected);
    }
    let mut known = false;
    for (field_name, value_name, hash, field) in FIELDS {
        let hash = family(layout, space, hash)?;
        let field = hash.fields.iter().find(|known| known.name == *field).ok_or("no such field")?;
        if *field_name == name {
            let path = format!("field {}", field.name);
            part(layout, hash, (&path, &field.name), &field.key, &line.args, expected)?;
            field_is_read(hash, field, expected)?;
        } else if *value_name == name {
            let path = format!("field {} value", field.name);
            let value = field.value.as_ref().ok_or("the field has no value")?;
            part(layout, hash, (&path, &field.name), value, &line.args, expected)?;
        } else {
            continue;
        }
        known = true;
    }
    match name {
        _ if known => Ok(()),
        "txid_prefix" => {
            let family = family(layout, space, "out_hash")?;
            layout.scan(&family.path, &[("txid_le", bytes(line.hex("txid_le")?))], expected)
        }
        "outpoint" => OUTPOINTS.iter().try_for_each(|name| {
            let family = family(layout, space, name)?;
            let members = family.member.as_ref().ok_or("no members")?;
            part(layout, family, ("member", "member"), members, &line.args, expected)
        }),
        "height_score" => {
            let height = u32::try_from(line.uint("height")?).map_err(|error| error.to_string())?;
            let index = u64::try_from(line.uint("idx")?).map_err(|error| error.to_string())?;
            ranks(layout, space, Score::Confirmed { height, index }, expected)
        }
        "height_score_unconfirmed" => {
            let clock = u64::try_from(line.uint("unix_nanos")?).map_err(|error| error.to_string())?;
            let nanos = u32::try_from(clock % 1_000_000_000).map_err(|error| error.to_string())?;
            ranks(layout, space, Score::Unconfirmed { seconds: clock / 1_000_000_000, nanos }, expected)
        }
        _ => Err("no such family is known".to_owned()),
    }
}

fn in_badger(space: &str, line: &Vector) -> Result<(), String> {
    let (name, expected) = (line.family.as_str(), line.bytes()?);
    if name == "badger_score_bytes" {
        let (_, row) = CODE.family(&format!("{space}.zset_member"))?;
        let score = row.value.as_ref().ok_or("the row has no value")?;
        return exchange(&CODE, row, ("value", &row.name), score, &[float(line)?], expected);
    }
    if let Some((_, row)) = SCANS.iter().find(|(family, _)| *family == name) {
        return CODE.scan(&format!("{space}.{row}"), &[("key", bytes(line.hex("key")?))], expected);
    }
    let Some((_, row)) = ROWS.iter().find(|(family, _)| *family == name) else {
        return Err("no such family is known".to_owned());
    };
    let path = format!("{space}.{row}");
    let mut args = Vec::new();
    for argument in CODE.family(&path)?.1.key.arguments() {
        let name = argument.name.as_deref().unwrap_or_default();
        args.push((name, if name == "score" { float(line)? } else { bytes(line.hex(name)?) }));
    }
    CODE.key(&path, &args, expected)
}

/// The score of a line, given by its bits so that every NaN and both zeros can be.
fn float(line: &Vector) -> Result<Value, String> {
    let bits = u64::from_str_radix(line.text("f64_bits")?, 16).map_err(|error| error.to_string())?;
    Ok(Value::Float(f64::from_bits(bits)))
}

/// The family of the plan that the file calls `name`.
fn family(layout: &Layout, space: &str, name: &str) -> Result<&'static Family, String> {
    let known = KEYS.iter().find(|(family, _)| *family == name);
    let (_, path) = known.ok_or_else(|| format!("no family `{name}` is known"))?;
    // Only what has changed since is in the space of the former layout.
    let family =
        layout.family(&format!("{space}.{path}")).or_else(|_| layout.family(&format!("store.{path}")));
    Ok(family?.1)
}

/// Checks every ranked family: a place makes these bytes, and they are read back as its float.
fn ranks(layout: &Layout, space: &str, place: Score, expected: &[u8]) -> Result<(), String> {
    let float = Value::Float(HeightScore::float(place).map_err(|error| error.to_string())?);
    RANKED.iter().try_for_each(|name| {
        let family = family(layout, space, name)?;
        let score = family.score.as_ref().ok_or("no scores")?;
        same("the place", &encoded(score, &[Value::Score(place)])?, expected)?;
        let name = ("score", "score");
        layout.part(family, name, score, &[Value::Score(place)], expected)?;
        exchange(layout, family, name, score, std::slice::from_ref(&float), expected)
    })
}

/// Checks that the bytes of a field's name are read as this kind of field: the only one, or one that the plan accepts.
fn field_is_read(hash: &Family, field: &Field, expected: &[u8]) -> Result<(), String> {
    let kinds: Vec<&str> = hash
        .fields
        .iter()
        .filter(|kind| readings(&kind.key, expected, 1).is_ok())
        .map(|kind| kind.name.as_str())
        .collect();
    match kinds[..] {
        [only] if only == field.name => Ok(()),
        [_, _, ..] if kinds.contains(&field.name.as_str()) && !hash.accepts.is_empty() => Ok(()),
        _ => Err(format!("the field is read as {kinds:?}")),
    }
}

/// Checks both directions for a part of a structure: a field's name, a value, a member.
fn part(
    plan: &Layout,
    family: &Family,
    name: (&str, &str),
    layout: &'static Sequence,
    args: &Map<String, Json>,
    expected: &[u8],
) -> Result<(), String> {
    let values: Vec<Value> = named(layout, args)?.into_iter().map(|(_, value)| value).collect();
    exchange(plan, family, name, layout, &values, expected)
}

/// `values` make exactly these bytes, and these bytes are read as `values`. The part has a path and a name.
fn exchange(
    plan: &Layout,
    family: &Family,
    name: (&str, &str),
    layout: &Sequence,
    values: &[Value],
    expected: &[u8],
) -> Result<(), String> {
    same("the part", &encoded(layout, values)?, expected)?;
    let found = readings(layout, expected, 64).map_err(|failure| failure.to_string())?.readings;
    // Compared as text, which tells a zero from minus zero; a NaN has the bytes of a number and is read as that.
    let lost = matches!(values, [Value::Float(float)] if float.is_nan());
    let read = |values: &[Value]| format!("{values:?}");
    if lost || found.iter().any(|reading| read(reading) == read(values)) {
        plan.part(family, name, layout, values, expected)
    } else {
        Err(format!("{values:?} is not among the readings {found:?}"))
    }
}

fn encoded(layout: &Sequence, values: &[Value]) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    encode(layout, values, &mut out).map_err(|error| error.to_string())?;
    Ok(out)
}

/// The arguments of a layout from those of a line, which has all of them and no others.
fn named(layout: &'static Sequence, args: &Map<String, Json>) -> Result<Vec<(&'static str, Value)>, String> {
    if layout.argument_count() != args.len() {
        return Err(format!(
            "{} arguments are given, the layout has {}",
            args.len(),
            layout.argument_count()
        ));
    }
    layout
        .arguments()
        .map(|argument| {
            let name = argument.name.as_deref().unwrap_or_default();
            let json = args.get(name).ok_or_else(|| format!("there is no argument `{name}`"))?;
            Ok((name, value(&argument.shape, json)?))
        })
        .collect()
}

fn value(shape: &'static Shape, json: &Json) -> Result<Value, String> {
    Ok(match (shape, json) {
        // Seconds, whose fraction the code has rounded off before it writes them.
        (Shape::Int(number), Json::String(seconds)) if number.ty.signed => {
            let seconds: f64 = seconds.parse().map_err(|_| format!("`{seconds}` is not a number"))?;
            let whole = format!("{seconds:.0}").parse::<i128>().map_err(|error| error.to_string())?;
            int(whole)
        }
        (Shape::Int(_), json) => uint(crate::uint(json)?),
        (Shape::Text(_), Json::String(value)) => text(value),
        (Shape::Bytes { .. }, Json::String(digits)) => bytes(crate::hex(digits)?),
        (Shape::List { item, .. }, Json::Array(items)) => {
            Value::List(items.iter().map(|json| value(item, json)).collect::<Result<_, _>>()?)
        }
        (Shape::Record(layout), Json::Object(args)) => {
            Value::Record(named(layout, args)?.into_iter().map(|(_, value)| value).collect())
        }
        (shape, json) => return Err(format!("`{json}` is not {}", shape.kind())),
    })
}

#[test]
fn each_pattern_of_events_has_one_reading() {
    let (owner, token) = ("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", format!("{}_0", "1".repeat(64)));
    let events = [
        ("own", format!("own:{owner}")),
        ("txid", format!("txid:{}", "1".repeat(64))),
        ("id", format!("id:{token}")),
        ("id", format!("id:{}i7", "ab".repeat(32))),
        ("sym", "sym:PEPE".to_owned()),
        ("p2pkh", format!("p2pkh:{owner}:{token}")),
        ("cos", format!("cos:{owner}:{token}")),
        ("ltm", format!("ltm:{token}")),
        ("pow20", format!("pow20:{token}")),
        ("list", format!("list:{token}")),
        ("list_by_seller", format!("list:{owner}:{token}")),
    ];
    for (name, event) in events {
        let read = SEED.read("events", event.as_bytes()).unwrap();
        assert_eq!(read.family.name, name, "{event}");
    }
}

//! The Cardano state store: Dolos.

use std::sync::LazyLock;

use keyplan::plan::dynamic::Value;
use serde_json::Value as Json;

use crate::layout::{Layout, bytes, text, uint};
use crate::{Outcome, Vector, Verdict, hex, same};

static SEED: LazyLock<Layout> =
    LazyLock::new(|| Layout::open("cardano.keyplan").typed(&keyplan_chains::cardano::document::TYPES));
static CODE: LazyLock<Layout> =
    LazyLock::new(|| Layout::open("upstream/dolos.keyplan").typed(&keyplan_chains::upstream::dolos::TYPES));

/// What has no bytes: how the store's methods behave.
const BEHAVIOUR: &[&str] = &["dolos.eq_asymmetry", "dolos.behaviour", "dolos.delta", "dolos.defect"];

pub(crate) fn check(line: &Vector) -> Outcome {
    if line.bytes.is_none() {
        return behaviour(line);
    }
    match line.family.as_str() {
        "dolos.chainpoint_bytes40" => bytes40(line)?,
        "dolos.cursor_key" => cursor_key(line)?,
        "dolos.cursor_value" => cursor_value(line)?,
        "dolos.cursor_decode" => cursor_decode(line)?,
        "dolos.utxo_key" => utxo_key(line)?,
        "dolos.utxo_value" => utxo_value(line)?,
        "dolos.utxo_value_decode" => utxo_value_decode(line)?,
        "dolos.datum_value" => datum_value(line)?,
        "dolos.ns_hash" => ns_hash(line)?,
        "dolos.entity_key" => entity_key(line)?,
        "dolos.full_range" => full_range(line)?,
        "dolos.dim_hash" => dim_hash(line)?,
        "dolos.xxh3_64_be" => archive_key("address", line.hex("input_hex")?, line.bytes()?)?,
        "dolos.tag_key_hash" => archive_key(line.text("dim")?, line.hex("key_hex")?, line.bytes()?)?,
        "dolos.store_dump" => store_dump(line)?,
        "dolos.index_dump" => index_dump(line)?,
        _ => return Err("no such family is known".to_owned()),
    }
    Ok(Verdict::Passed)
}

/// A point of the chain, as the bincode form and the 40-byte form both name it.
fn point(line: &Vector) -> Result<Value, String> {
    Ok(match line.text("variant")? {
        "Origin" => Value::Choice(0, vec![]),
        "Slot" => Value::Choice(1, vec![uint(line.uint("slot")?)]),
        "Specific" => Value::Choice(2, vec![uint(line.uint("slot")?), bytes(line.hex("hash")?)]),
        other => return Err(format!("no such point: {other}")),
    })
}

/// A point as the code prints it.
fn printed_point(print: &str) -> Result<Value, String> {
    if print == "Origin" {
        return Ok(Value::Choice(0, vec![]));
    }
    let slot: u64 = print
        .split(['(', ',', ')'])
        .nth(1)
        .and_then(|slot| slot.parse().ok())
        .ok_or_else(|| format!("no slot in {print}"))?;
    Ok(match print.split('"').nth(1) {
        Some(digits) => Value::Choice(2, vec![uint(slot), bytes(hex(digits)?)]),
        None => Value::Choice(1, vec![uint(slot)]),
    })
}

fn bytes40(line: &Vector) -> Result<(), String> {
    let key = line.bytes()?;
    CODE.key("wal.entry", &[("point", point(line)?)], key)?;
    // What the code reads back is one of the readings, though not always what was written.
    let back = [printed_point(line.text("reads_back_as")?)?];
    let readings = CODE.readings("wal", key)?;
    if readings.iter().any(|reading| reading.values == back) {
        return Ok(());
    }
    Err(format!("{back:?} is not among the readings"))
}

fn cursor_key(line: &Vector) -> Result<(), String> {
    for layout in [&*SEED, &*CODE] {
        let (space, _) = layout.family("cursor.cursor")?;
        if space.engine_name != line.text("keyspace")? {
            return Err(format!("the plan calls the keyspace {:?}", space.engine_name));
        }
        layout.key("cursor.cursor", &[], line.bytes()?)?;
    }
    Ok(())
}

fn cursor_value(line: &Vector) -> Result<(), String> {
    for layout in [&*SEED, &*CODE] {
        layout.value("cursor.cursor", &[("point", point(line)?)], line.bytes()?)?;
    }
    Ok(())
}

/// The code refuses what is short or unknown, but takes a point with bytes after it; the plan refuses those too.
fn cursor_decode(line: &Vector) -> Result<(), String> {
    let value = line.bytes()?;
    let printed = line.arg("result")?.get("ok").and_then(Json::as_str).map(printed_point).transpose()?;
    for layout in [&*SEED, &*CODE] {
        let read = |len: usize| layout.read_value("cursor.cursor", &value[..len]).ok();
        let point = (0..=value.len()).find_map(|len| Some((len, read(len)?)));
        let agrees = match (&printed, &point) {
            (None, None) => true,
            // One length makes a point, and with any byte more there is none.
            (Some(printed), Some((len, read_point))) => {
                *read_point == [printed.clone()] && (len + 1..=value.len()).all(|len| read(len).is_none())
            }
            _ => false,
        };
        if !agrees {
            return Err(format!("read as {point:?}"));
        }
    }
    Ok(())
}

fn utxo_key(line: &Vector) -> Result<(), String> {
    let args = [("tx_hash", bytes(line.hex("tx_hash")?)), ("index", uint(line.uint("index")?))];
    SEED.key("utxos.utxo", &args, line.bytes()?)?;
    CODE.key("utxos.utxo", &args, line.bytes()?)?;
    CODE.scan("utxos.utxo", &args[..1], &line.bytes()?[..32])
}

fn utxo_value(line: &Vector) -> Result<(), String> {
    let args = [("era", uint(line.uint("era")?)), ("body", bytes(line.hex("cbor_hex")?))];
    SEED.value("utxos.utxo", &args, line.bytes()?)?;
    CODE.value("utxos.utxo", &args, line.bytes()?)
}

fn utxo_value_decode(line: &Vector) -> Result<(), String> {
    let expected = match line.arg("result")? {
        Json::Null => None,
        result => {
            let field = |name: &str| result.get(name).ok_or_else(|| format!("the result has no `{name}`"));
            let body = hex(field("cbor_hex")?.as_str().unwrap_or_default())?;
            Some(vec![uint(crate::uint(field("era")?)?), bytes(body)])
        }
    };
    for layout in [&*SEED, &*CODE] {
        let read = layout.read_value("utxos.utxo", line.bytes()?).ok();
        if read != expected {
            return Err(format!("read as {read:?}"));
        }
    }
    Ok(())
}

fn datum_value(line: &Vector) -> Result<(), String> {
    let args = [("refcount", uint(line.uint("refcount")?)), ("datum", bytes(line.hex("datum_hex")?))];
    CODE.value("datums.datum", &args, line.bytes()?)
}

fn ns_hash(line: &Vector) -> Result<(), String> {
    let ns = ("ns", text(line.text("ns")?));
    for layout in [&*SEED, &*CODE] {
        layout.scan("entities.entity", std::slice::from_ref(&ns), line.bytes()?)?;
        let key = [line.bytes()?, &[7; 32]].concat();
        layout.key("entities.entity", &[ns.clone(), ("key", bytes([7; 32]))], &key)?;
    }
    Ok(())
}

/// The code cuts a key or fills it up; the document knows keys of 32 bytes only.
fn entity_key(line: &Vector) -> Result<(), String> {
    let key = line.hex("key_hex")?;
    let args = [("ns", text(line.text("ns")?)), ("key", bytes(key.clone()))];
    CODE.key("entities.entity", &args, line.bytes()?)?;
    if key.len() == 32 {
        return SEED.key("entities.entity", &args, line.bytes()?);
    }
    match SEED.encode("entities.entity", &args) {
        Ok(_) => Err(format!("the document's plan takes a key of {} bytes", key.len())),
        Err(_) => Ok(()),
    }
}

fn full_range(line: &Vector) -> Result<(), String> {
    let ns = ("ns", text(line.text("ns")?));
    for layout in [&*SEED, &*CODE] {
        layout.key("entities.entity", &[ns.clone(), ("key", bytes([0; 32]))], line.bytes()?)?;
        layout.key("entities.entity", &[ns.clone(), ("key", bytes([0xff; 32]))], &line.hex("end_hex")?)?;
    }
    Ok(())
}

fn dim_hash(line: &Vector) -> Result<(), String> {
    let (prefix, dim) = (line.text("prefix")?, line.text("dim")?);
    if line.text("preimage")? != format!("{prefix}:{dim}") {
        return Err("what is hashed is not the prefix, a colon and the dimension".to_owned());
    }
    let space = match prefix {
        "utxo" => "state_tags",
        "block" => "archive_tags",
        "exact" => "exact",
        other => return Err(format!("no such prefix: {other}")),
    };
    CODE.scan(&format!("{space}.{dim}"), &[], line.bytes()?)
}

/// The eight bytes that a looked-up key has in the archive's tags.
fn archive_key(dim: &str, key: Vec<u8>, expected: &[u8]) -> Result<(), String> {
    let path = format!("archive_tags.{dim}");
    let key = [("key", bytes(key)), ("slot", uint(77u8))];
    let prefix = [&*CODE.scanned(&path, &[])?, expected].concat();
    CODE.scan(&path, &key[..1], &prefix)?;
    CODE.key(&path, &key, &[&*prefix, &[0, 0, 0, 0, 0, 0, 0, 77]].concat())
}

fn store_dump(line: &Vector) -> Result<(), String> {
    let keyspace = line.text("keyspace")?;
    let value = line.hex("value_hex")?;
    for layout in [&*SEED, &*CODE] {
        let row = layout.read(keyspace, line.bytes()?)?;
        let read = layout.read_value(&row.family.path, &value)?;
        let holds = match (keyspace, &*row.values, &*read) {
            ("state-cursor", [], [Value::Choice(2, point)]) => point[0] == uint(77u8),
            ("state-utxos", [Value::Bytes(hash), Value::Unsigned(_)], [era, Value::Bytes(body)]) => {
                hash.len() == 32 && *era == uint(6u8) && body.len() == 4
            }
            // A name that no list knows is read back as its hash.
            ("state-entities", [ns, Value::Bytes(key)], [Value::Bytes(body)]) => {
                let known = [text("accounts"), text("pools")].contains(ns);
                key.len() == 32 && (known || (body.is_empty() && matches!(ns, Value::Digest(_))))
            }
            _ => false,
        };
        if !holds {
            return Err(format!("read as {:?} and {read:?}", row.values));
        }
    }
    Ok(())
}

fn index_dump(line: &Vector) -> Result<(), String> {
    let row = CODE.read(line.text("keyspace")?, line.bytes()?)?;
    CODE.value(&row.family.path, &[], &line.hex("value_hex")?)?;
    if !line.text("ops")?.contains("asset 11*28||TOK;") {
        return Err("no such run is known".to_owned());
    }
    let asset = |name: &[u8]| bytes([&[0x11; 28], name].concat());
    let txo = |byte: u8| Value::Record(vec![bytes([byte; 32]), uint(0u8)]);
    let expected = [[asset(b"TOK"), txo(1)], [asset(b"TOKEN"), txo(2)]];
    if row.family.path == "state_tags.asset" && expected.iter().any(|values| *row.values == values[..]) {
        return Ok(());
    }
    Err(format!("read as `{}` with {:?}", row.family.path, row.values))
}

/// Some of what the code does shows in the plan, and is checked here all the same.
fn behaviour(line: &Vector) -> Outcome {
    match line.family.as_str() {
        // A label of another width than eight is dropped by the code; the plan refuses it.
        "dolos.tag_key_hash" => {
            let path = format!("archive_tags.{}", line.text("dim")?);
            let args = [("key", bytes(line.hex("key_hex")?)), ("slot", uint(0u8))];
            if let Ok(key) = CODE.encode(&path, &args) {
                return Err(format!("made {}", const_hex::encode(key)));
            }
        }
        // A query for TOK finds the rows of TOKEN: the prefix of its scan begins their keys.
        "dolos.defect" if line.text("what")?.starts_with("state-tags prefix overlap") => {
            let lookup = |name: &[u8]| ("lookup", bytes([&[0x11; 28], name].concat()));
            let txo = ("txo", Value::Record(vec![bytes([2; 32]), uint(0u8)]));
            let scan = CODE.scanned("state_tags.asset", &[lookup(b"TOK")])?;
            let row = CODE.encode("state_tags.asset", &[lookup(b"TOKEN"), txo])?;
            same("the beginning of TOKEN's row", &row[..scan.len()], &scan)?;
        }
        family if BEHAVIOUR.contains(&family) => {}
        _ => return Err("no such behaviour is known".to_owned()),
    }
    Ok(Verdict::Behaviour)
}

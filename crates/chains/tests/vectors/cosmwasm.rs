//! CosmWasm: the length-prefix scheme, cw-storage-plus, cosmwasm-storage, storey.

use std::sync::LazyLock;

use keyplan::plan::dynamic::{Decoded, Value};
use keyplan_chains::cosmwasm::{
    ComposeError, MAX_COMPONENT, compose, decompose, decompose_all, to_length_prefixed,
    to_length_prefixed_nested,
};
use serde_json::Value as Json;

use crate::layout::{Layout, bytes, int, text, uint};
use crate::{Outcome, Vector, Verdict, hex, same};

static SEED: LazyLock<Layout> =
    LazyLock::new(|| Layout::open("cosmwasm.keyplan").typed(&keyplan_chains::cosmwasm::TYPES));
static CODE: LazyLock<Layout> = LazyLock::new(|| {
    Layout::open("upstream/cosmwasm.keyplan").typed(&keyplan_chains::upstream::cosmwasm_upstream::TYPES)
});

/// What has no bytes: queries, ranges, and what the libraries get wrong.
const BEHAVIOUR: &[&str] =
    &["cw.defect", "cw.index_query", "cw.snapshot_query", "cw.order", "cw.range", "cw.decode_fault"];

pub(crate) fn check(line: &Vector) -> Outcome {
    if line.bytes.is_none() {
        return behaviour(line);
    }
    match line.family.as_str() {
        "cw.length_prefixed" => length_prefixed(line)?,
        "cw.nested" => composed(&components(line)?, &[], line.bytes()?)?,
        "cw.namespace_with_key" => composed(&components(line)?, &line.hex("key_hex")?, line.bytes()?)?,
        "cw.length_limit" => length_limit(line)?,
        "cw.last_key_limit" => last_key_limit(line)?,
        "cw.distinct_pair" => distinct_pair(line)?,
        "cw.intkey" | "storey.intkey" => drop(element(&line.args.clone().into(), line.bytes()?)?),
        "cw.prefix_elem" => prefix_elem(line)?,
        "cw.map_key" => map_key(line)?,
        "cw.item_key" => {
            CODE.key("item.item", &[("namespace", bytes(line.hex("ns_hex")?))], line.bytes()?)?;
        }
        "cw.collision" => collision(line)?,
        "cw.deque" | "cw.snapshot_item" => drop(row(line)?),
        "cw.snapshot_map" => snapshot_map(line)?,
        "cw.indexed_map" => indexed_map(line)?,
        "cw.legacy_storage" => legacy(line)?,
        "cw.decode_fault" => decode_fault(line)?,
        "storey.layout" => storey_layout(line)?,
        "storey.length_limit" => storey_limit(line)?,
        _ => return Err("no such family is known".to_owned()),
    }
    Ok(Verdict::Passed)
}

fn components(line: &Vector) -> Result<Vec<Vec<u8>>, String> {
    let list = line.arg("components_hex")?.as_array().ok_or("the components are not a list")?;
    list.iter().map(|component| hex(component.as_str().unwrap_or_default())).collect()
}

/// Checks a composed key under the plan, at its depth, and by the functions of the library.
fn composed(namespace: &[Vec<u8>], key: &[u8], expected: &[u8]) -> Result<(), String> {
    let list = Value::List(namespace.iter().map(|component| bytes(&**component)).collect());
    SEED.key("contract.entry", &[("namespace", list.clone()), ("key", bytes(key))], expected)?;
    let prefix = expected.strip_suffix(key).ok_or("the key is not at the end")?;
    SEED.scan("contract.entry", &[("namespace", list)], prefix)?;

    let names: &[&str] = match namespace.len() {
        1 => &["namespace"],
        _ => &["first", "second", "third"],
    };
    if let Some(space) = ["bare", "one", "two", "three"].get(namespace.len()) {
        let mut args: Vec<_> =
            names.iter().copied().zip(namespace.iter().map(|part| bytes(&**part))).collect();
        SEED.scan(&format!("{space}.entry"), &args, prefix)?;
        args.push(("key", bytes(key)));
        SEED.key(&format!("{space}.entry"), &args, expected)?;
    }

    let borrowed: Vec<&[u8]> = namespace.iter().map(Vec::as_slice).collect();
    same("compose", &compose(&borrowed, key).map_err(|error| error.to_string())?, expected)?;
    same("the prefix", &to_length_prefixed_nested(&borrowed).map_err(|error| error.to_string())?, prefix)?;
    let parts = decompose(expected, namespace.len()).map_err(|error| error.to_string())?;
    if !parts.components().eq(borrowed.iter().copied()) || parts.key() != key {
        return Err(format!("taken apart as {parts:?}"));
    }
    let splits = decompose_all(expected).count();
    let readings = SEED.readings("contract", expected)?.len();
    if splits != readings || !decompose_all(expected).any(|split| split == parts) {
        return Err(format!("{splits} splits, but {readings} readings"));
    }
    Ok(())
}

fn length_prefixed(line: &Vector) -> Result<(), String> {
    let component = line.hex("component_hex")?;
    let prefixed = to_length_prefixed(&component).map_err(|error| error.to_string())?;
    same("to_length_prefixed", &prefixed, line.bytes()?)?;
    composed(&[component], &[], line.bytes()?)
}

/// Makes a key of one component and compares its beginning and its length.
fn long(component: Vec<u8>, key: Vec<u8>, line: &Vector) -> Result<(), String> {
    let raw = compose(&[&component], &key).map_err(|error| error.to_string())?;
    same("the beginning", raw.get(..line.bytes()?.len()).unwrap_or_default(), line.bytes()?)?;
    if raw.len() as u128 != line.uint("out_len")? {
        return Err(format!("{} bytes long", raw.len()));
    }
    SEED.key("one.entry", &[("namespace", bytes(component)), ("key", bytes(key))], &raw)
}

fn length_limit(line: &Vector) -> Result<(), String> {
    long(vec![b'a'; length(line, "component_len")?], Vec::new(), line)
}

fn last_key_limit(line: &Vector) -> Result<(), String> {
    long(b"m".to_vec(), vec![b'a'; length(line, "last_key_len")?], line)
}

fn length(line: &Vector, name: &str) -> Result<usize, String> {
    usize::try_from(line.uint(name)?).map_err(|_| format!("`{name}` is too large"))
}

fn distinct_pair(line: &Vector) -> Result<(), String> {
    for (name, expected) in [("a", line.bytes()?), ("b", &line.hex("b_hex")?)] {
        let (namespace, key) = line.text(name)?.split_once('|').ok_or("the pair has no `|`")?;
        composed(&[namespace.into()], key.as_bytes(), expected)?;
    }
    if line.bytes()? == line.hex("b_hex")? { Err("the keys are the same".to_owned()) } else { Ok(()) }
}

/// The map over an element's type, and the element as its key.
fn typed(element: &Json) -> Result<(String, Value), String> {
    let field = |name: &str| element.get(name).ok_or_else(|| format!("the element has no `{name}`"));
    let kind = field("type")?.as_str().unwrap_or_default();
    let string = |name: &str| Ok::<_, String>(field(name)?.as_str().unwrap_or_default());
    Ok(match kind {
        "str" | "String" | "Addr" => ("elements.by_text".to_owned(), text(string("value")?)),
        "bytes" => ("elements.by_bytes".to_owned(), bytes(hex(string("value_hex")?)?)),
        "[u8;4]" => ("elements.by_array4".to_owned(), bytes(hex(string("value_hex")?)?)),
        // The wrappers are written like the plain types.
        number => {
            let plain = number.to_lowercase().replace("int", if number.starts_with('I') { "i" } else { "" });
            let value = if plain.starts_with('i') {
                int(crate::int(field("value")?)?)
            } else {
                uint(crate::uint(field("value")?)?)
            };
            (format!("elements.by_{plain}"), value)
        }
    })
}

/// Checks that an element is written as `expected`, and read back from it; returns the bytes.
fn element(element: &Json, expected: &[u8]) -> Result<Vec<u8>, String> {
    let (path, value) = typed(element)?;
    let key = [&*CODE.scanned(&path, &[])?, expected].concat();
    CODE.key(&path, &[("key", value)], &key)?;
    Ok(expected.to_vec())
}

/// The bytes of an element, checked both ways.
fn element_bytes(of: &Json) -> Result<Vec<u8>, String> {
    let (path, value) = typed(of)?;
    let prefix = CODE.scanned(&path, &[])?;
    let key = CODE.encode(&path, &[("key", value)])?;
    element(of, key.get(prefix.len()..).unwrap_or_default())
}

/// An element that is not the last of its key: after an empty namespace, before an empty rest.
fn prefix_elem(line: &Vector) -> Result<(), String> {
    let first = element_bytes(&line.args.clone().into())?;
    let expected = [&[0, 0], line.bytes()?].concat();
    let args = [("namespace", bytes([])), ("first", bytes(first)), ("key", bytes([]))];
    CODE.scan("map2.entry", &args[..2], &expected)?;
    CODE.key("map2.entry", &args, &expected)
}

/// A map's key: every element but the last after its length, whatever their number.
fn map_key(line: &Vector) -> Result<(), String> {
    let elements = line.arg("key")?.as_array().ok_or("the key is not a list")?;
    let mut namespace = vec![line.text("ns")?.as_bytes().to_vec()];
    for element in elements {
        namespace.push(element_bytes(element)?);
    }
    let last = namespace.pop().unwrap_or_default();
    composed(&namespace, &last, line.bytes()?)?;

    let names = ["namespace", "first", "second"].into_iter();
    let mut args: Vec<_> = names.zip(namespace.iter().map(|part| bytes(&**part))).collect();
    args.push(("key", bytes(last)));
    if elements.len() > 3 {
        return Ok(());
    }
    CODE.key(&format!("map{}.entry", elements.len()), &args, line.bytes()?)
}

/// Two containers in one store make these bytes: the plan has to read them as both.
fn collision(line: &Vector) -> Result<(), String> {
    let key = line.bytes()?;
    let readings = CODE.readings("shared", key)?;
    for reading in &readings {
        let args: Vec<_> = reading.family.key.arguments().zip(&reading.values).collect();
        let named: Vec<_> = args
            .iter()
            .map(|(arg, value)| (arg.name.as_deref().unwrap_or_default(), (*value).clone()))
            .collect();
        CODE.key(&reading.family.path, &named, key)?;
    }
    let has = |path: &str, values: &[Value]| {
        readings.iter().any(|reading| reading.family.path == path && reading.values == values)
    };
    let mut known = has("shared.item", &[bytes(key)]);
    if line.args.contains_key("deque_ns") {
        let ns = bytes(line.text("deque_ns")?);
        known &= has("shared.element", &[ns, uint(0u8)]);
        known &= has("shared.map", &[bytes(line.text("map_ns")?), bytes(line.hex("map_key_hex")?)]);
    }
    if line.args.contains_key("map2_key_hex") {
        known &= has("shared.pair_map", &[bytes("p"), bytes("a"), bytes(5u64.to_be_bytes())]);
        known &= has("shared.map", &[bytes("p"), bytes(line.hex("map2_key_hex")?)]);
    }
    if !known || readings.len() < 2 {
        return Err(format!("read as {readings:?}"));
    }
    Ok(())
}

/// A row of the contract whose names are known, with its value.
struct Row {
    reading: Decoded<'static>,
    value: Vec<Value>,
}

/// Reads a row of the contract in the one way that there is.
fn row(line: &Vector) -> Result<Row, String> {
    let reading = CODE.read("contract", line.bytes()?)?;
    let value = CODE.read_value(&reading.family.path, &line.hex("value_hex")?)?;
    let expected = match reading.family.name.as_str() {
        "queued" | "queue_head" | "queue_tail" => Some("deque"),
        "stake_checkpoint" | "vote_checkpoint" => Some("checkpoints"),
        "total_change" => Some("changelog0"),
        "stake_change" => Some("changelog1"),
        "vote_change" => Some("changelog2"),
        "person" | "person_by_age" | "stake" => Some("map1"),
        "token" | "vote" => Some("map2"),
        "person_by_name" | "token_by_owner" => Some("multi_index1"),
        "person_by_name_age" => Some("multi_index2"),
        "config" | "total" => Some("item"),
        _ => None,
    };
    // The container's own layout reads it too, and says the same of its namespace.
    let space = expected.ok_or_else(|| format!("`{}` is not part of any run", reading.family.path))?;
    CODE.read(space, line.bytes()?)?;
    Ok(Row { reading, value })
}

/// The heights in the keys are those at which something was done.
fn snapshot_map(line: &Vector) -> Result<(), String> {
    let row = row(line)?;
    let (ops, name) = (line.text("ops")?, row.reading.family.name.as_str());
    let Some((_, run)) =
        [("EveryBlock", "stake"), ("Selected", "vote")].iter().find(|(run, _)| ops.starts_with(run))
    else {
        return Err("no such run is known".to_owned());
    };
    let known = match (name.strip_prefix(run), row.reading.values.last()) {
        (Some(""), _) => true,
        (Some("_change"), Some(Value::Unsigned(height))) => ops.contains(&format!("@{height}")),
        (Some("_checkpoint"), Some(Value::Unsigned(height))) => {
            ops.contains(&format!("add_checkpoint {height}"))
        }
        _ => false,
    };
    if known { Ok(()) } else { Err(format!("read as `{name}` with {:?}", row.reading.values)) }
}

/// The value of an index row is the length of the primary key, which is at the end of the key.
fn indexed_map(line: &Vector) -> Result<(), String> {
    let row = row(line)?;
    let space = match row.reading.family.name.as_str() {
        "person_by_name" | "token_by_owner" => "multi_index1",
        "person_by_name_age" => "multi_index2",
        _ => return Ok(()),
    };
    let index = CODE.read(space, line.bytes()?)?;
    let Some(Value::Bytes(pk)) = index.values.last() else {
        return Err("the row has no primary key".to_owned());
    };
    if row.value == [uint(pk.len() as u128)] {
        return Ok(());
    }
    Err(format!("the primary key has {} bytes, the value says {:?}", pk.len(), row.value))
}

fn legacy(line: &Vector) -> Result<(), String> {
    let value = line.text("value_utf8")?.as_bytes();
    let raw = line.bytes()?;
    let front = decompose(raw, 1).map_err(|error| error.to_string())?;
    let namespace = front.components().next().unwrap_or_default();
    let ns = ("namespace", bytes(namespace));
    let (path, args) = match namespace {
        b"config" | b"seq" => ("singleton.singleton", vec![ns]),
        b"data" => ("bucket.entry", vec![ns, ("key", bytes("maria"))]),
        b"pre" => ("bucket.entry", vec![ns, ("key", bytes("x"))]),
        b"ns1" => {
            let args = vec![("first", bytes("ns1")), ("second", bytes("ns2")), ("key", bytes("k"))];
            ("multilevel.entry", args)
        }
        other => return Err(format!("namespace {other:?} is not part of the run")),
    };
    CODE.key(path, &args, raw)?;
    CODE.read_value(path, value)?;
    Ok(())
}

/// Raw keys that are not of the type: the library panics or fails, the plan refuses them.
fn decode_fault(line: &Vector) -> Result<(), String> {
    let raw = line.bytes()?;
    let types: Vec<&str> = line.text("type")?.trim_matches(['(', ')']).split(',').collect();
    let elements: Vec<Vec<u8>> = match types.len() {
        1 => vec![raw.to_vec()],
        _ => match CODE.read("map2", &[&[0, 0], raw].concat()) {
            Ok(reading) => reading.values.into_iter().skip(1).filter_map(into_bytes).collect(),
            Err(_) => return Ok(()),
        },
    };
    for (kind, element) in types.iter().zip(&elements) {
        let path = match *kind {
            "String" => "elements.by_text",
            "u8" => "elements.by_u8",
            "u64" => "elements.by_u64",
            "[u8;4]" => "elements.by_array4",
            other => return Err(format!("no such type: {other}")),
        };
        let key = [&*CODE.scanned(path, &[])?, element].concat();
        if CODE.refuses("elements", &key).is_ok() {
            return Ok(());
        }
    }
    Err(format!("taken apart as {elements:?}"))
}

fn into_bytes(value: Value) -> Option<Vec<u8>> {
    match value {
        Value::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}

/// A row below the byte that the run gives its container, at the place that the run names.
fn storey_layout(line: &Vector) -> Result<(), String> {
    let reading = CODE.read("storey", line.bytes()?)?;
    CODE.read_value(&reading.family.path, &line.hex("value_hex")?)?;
    let (ops, name) = (line.text("ops")?, reading.family.local_path());
    let words: Vec<&str> = ops.split(' ').collect();
    // `foo/bar=4`, or `''=2` for the empty text.
    let place: Vec<String> = words
        .last()
        .and_then(|word| word.split_once('='))
        .map(|(place, _)| place.replace('\'', "").split('/').map(str::to_owned).collect())
        .unwrap_or_default();
    let given: Vec<String> = reading
        .values
        .iter()
        .map(|value| match value {
            Value::Text(text) => text.clone(),
            Value::Unsigned(n) => n.to_string(),
            other => format!("{other:?}"),
        })
        .collect();
    let row = |number: &String| ["1", "2"].contains(&number.as_str());
    let holds = match (words[0], name, &*given) {
        ("0", "item", []) | ("5", "meta.column_last" | "meta.column_len", []) => true,
        ("1", "by_text", given)
        | ("2", "by_number", given)
        | ("3", "by_text_text", given)
        | ("4", "by_number_text", given) => given == place,
        ("5", "column", [number]) => row(number),
        ("6", "column_by_text", [outer, number]) => outer == words[2] && row(number),
        ("6", "meta.column_by_text_last" | "meta.column_by_text_len", [outer]) => outer == words[2],
        _ => false,
    };
    if holds { Ok(()) } else { Err(format!("read as `{name}` with {given:?}")) }
}

/// One byte of length: the library lets it wrap, the plan refuses what does not fit.
fn storey_limit(line: &Vector) -> Result<(), String> {
    let len = length(line, "outer_key_len")?;
    let raw_len = length(line, "raw_len")?;
    let args = [("outer", text("k".repeat(len))), ("inner", text("k".repeat(raw_len - 2 - len)))];
    if len > 255 {
        let raw = [line.bytes()?, &vec![b'k'; raw_len - line.bytes()?.len()]].concat();
        let wrapped = CODE.read("storey", &raw)?;
        if wrapped.values[0] != text("k".repeat(len % 256)) {
            return Err(format!("the wrapped key is read as {:?}", wrapped.values));
        }
        return match CODE.encode("storey.by_text_text", &args) {
            Ok(_) => Err(format!("an outer key of {len} bytes is taken")),
            Err(_) => Ok(()),
        };
    }
    let raw = CODE.encode("storey.by_text_text", &args)?;
    let shown = line.bytes()?.len().min(2 + len);
    same("the beginning", &raw[..shown], &line.bytes()?[..shown])?;
    if raw.len() != raw_len {
        return Err(format!("{} bytes long", raw.len()));
    }
    CODE.key("storey.by_text_text", &args, &raw)
}

/// Some of what the libraries do shows in the plan, and is checked here all the same.
fn behaviour(line: &Vector) -> Outcome {
    match line.family.as_str() {
        // The library panics; here the component is refused by name.
        "cw.length_limit" => {
            let component = vec![b'a'; length(line, "component_len")?];
            let refused = compose(&[&component], &[]);
            if refused != Err(ComposeError::TooLong { component: 0, len: component.len() }) {
                return Err(format!("{} bytes, over {MAX_COMPONENT}, are taken", component.len()));
            }
            if SEED.encode("one.entry", &[("namespace", bytes(component)), ("key", bytes([]))]).is_ok() {
                return Err("the plan takes the component".to_owned());
            }
        }
        // Elements before the last sort by length first.
        "cw.order" if line.args.contains_key("ascending") => {
            let pairs = line.arg("ascending")?.as_array().ok_or("no list")?;
            let mut keys = Vec::new();
            for pair in pairs {
                let part = |index: usize| bytes(pair[index].as_str().unwrap_or_default());
                let ns = ("namespace", bytes(line.text("ns")?));
                keys.push(CODE.encode("map2.entry", &[ns, ("first", part(0)), ("key", part(1))])?);
            }
            if !keys.is_sorted() {
                return Err("the keys do not come in that order".to_owned());
            }
        }
        // Two keys of the library are one: the first cannot be made here.
        "storey.collision" => {
            let args = [("outer", text("k".repeat(256))), ("inner", text("z"))];
            if CODE.encode("storey.by_text_text", &args).is_ok() {
                return Err("an outer key of 256 bytes is taken".to_owned());
            }
        }
        family if BEHAVIOUR.contains(&family) => {}
        _ => return Err("no such behaviour is known".to_owned()),
    }
    Ok(Verdict::Behaviour)
}

//! PAW: the exchange, the compute marketplace and the oracle.
//!
//! The file names a family as the plans do: `dex.pool` is `state.dex.pool` in the document's plan, and
//! `dex.keeper.pool` in the code's, where a module has a space of its own.

use std::sync::LazyLock;

use keyplan::plan::dynamic::{Value, readings};
use keyplan::plan::model::{Sequence, Shape};
use keyplan_chains::{paw, upstream};

use crate::layout::{Layout, bytes, int, text, uint};
use crate::{Outcome, Source, Vector, Verdict, same};

static SEED: LazyLock<Layout> = LazyLock::new(|| Layout::open("paw.keyplan").typed(&paw::TYPES));
static CODE: LazyLock<Layout> =
    LazyLock::new(|| Layout::open("upstream/paw.keyplan").typed(&upstream::paw_upstream::TYPES));

type Args = Vec<(&'static str, Value)>;

pub(crate) fn check(line: &Vector) -> Outcome {
    match line.source {
        Source::Seed => seed(line)?,
        Source::Code => code(line)?,
        Source::Both => {
            seed(line)?;
            code(line)?;
        }
    }
    Ok(Verdict::Passed)
}

/// A line under the document's plan.
fn seed(line: &Vector) -> Result<(), String> {
    let expected = line.bytes()?;
    match line.family.as_str() {
        "dex.scan_liquidity_by_pool" => {
            SEED.scan("state.dex.liquidity", &[("pool_id", uint(line.uint("pool_id")?))], expected)
        }
        "dex.pool_by_tokens" => pair_in_a_row(line.text("token_a")?, line.text("token_b")?, expected),
        name => {
            let path = format!("state.{name}");
            SEED.key(&path, &args(&SEED, &path, line)?, expected)
        }
    }
}

/// The pair of the document, which nothing parts: every split of the key is a reading.
fn pair_in_a_row(token_a: &str, token_b: &str, expected: &[u8]) -> Result<(), String> {
    let pair = [text(token_a), text(token_b)];
    let named = [("token_a", pair[0].clone()), ("token_b", pair[1].clone())];
    same("the pair", &SEED.encode("state.dex.pool_by_tokens", &named)?, expected)?;
    let (_, family) = SEED.family("state.dex.pool_by_tokens")?;
    let found = readings(&family.key, expected, 1024).map_err(|failure| failure.to_string())?;
    let splits = format!("{token_a}{token_b}").chars().count() + 1;
    if found.more || found.readings.len() != splits || !found.readings.contains(&pair.to_vec()) {
        return Err(format!("{} readings, {splits} splits", found.readings.len()));
    }
    Ok(())
}

/// A line under the code's plan.
fn code(line: &Vector) -> Result<(), String> {
    let expected = line.bytes()?;
    match line.family.split('.').collect::<Vec<_>>()[..] {
        ["dex", "scan_liquidity_by_pool"] => {
            CODE.scan("dex.keeper.liquidity", &[("pool_id", uint(line.uint("pool_id")?))], expected)
        }
        ["oracle", "keeper", "scan_price_snapshots"] => {
            CODE.scan("oracle.keeper.price_snapshot", &[("asset", text(line.text("asset")?))], expected)
        }
        // Constants that the module's types declare and its keeper does not use.
        [module, "types", name] => CODE.key(&format!("declared.{module}.{name}"), &[], expected),
        // One keeper of nonces in every module's store. It puts the module's name for a sender that is not given.
        ["shared", "nonce", name] => {
            let (module, sender) = (line.text("module")?, line.text("sender")?);
            let sender = if sender.is_empty() { module } else { sender };
            let channel = text(line.text("channel")?);
            let args = [("channel", channel), ("sender", text(sender))];
            CODE.key(&format!("{module}.{name}"), &args, expected)
        }
        // The smaller token goes first, whatever the order in which they are given.
        ["dex", "pool_by_tokens"] => {
            let (a, b) = (line.text("token_a")?, line.text("token_b")?);
            let args = [("token_a", text(a.min(b))), ("token_b", text(a.max(b)))];
            CODE.key("dex.keeper.pool_by_tokens", &args, expected)
        }
        // Above 255 the subtraction from 255 wraps, and the code cuts the result to 255: the rank of reputation 0.
        ["compute", "keeper", "provider_by_reputation"] => {
            let reputation = line.uint("reputation")?;
            let reputation = if reputation > 255 { 0 } else { reputation };
            let args = [("reputation", uint(reputation)), ("addr", bytes(line.hex("addr")?))];
            CODE.key("compute.keeper.provider_by_reputation", &args, expected)
        }
        [module, "keeper", name] | [module, name] => {
            let inside = format!("{module}.keeper.{name}");
            let path = if CODE.family(&inside).is_ok() { inside } else { format!("{module}.{name}") };
            CODE.key(&path, &args(&CODE, &path, line)?, expected)
        }
        _ => Err("no such family is known".to_owned()),
    }
}

/// The arguments of a line for the family at `path`, read as the kinds that the plan says they are.
fn args(layout: &Layout, path: &str, line: &Vector) -> Result<Args, String> {
    let key = &layout.family(path)?.1.key;
    let (given, used) = (line.args.len(), names(key));
    if given != used {
        return Err(format!("{given} arguments are given, {path} has {used}"));
    }
    row(key, line)
}

fn row(layout: &'static Sequence, line: &Vector) -> Result<Args, String> {
    layout
        .arguments()
        .map(|argument| {
            let name = argument.name.as_deref().unwrap_or_default();
            Ok((name, value(&argument.shape, name, line)?))
        })
        .collect()
}

fn value(shape: &'static Shape, name: &str, line: &Vector) -> Result<Value, String> {
    Ok(match shape {
        Shape::Int(number) if number.ty.signed => int(line.int(name)?),
        Shape::Int(_) => uint(line.uint(name)?),
        Shape::Text(_) => text(line.text(name)?),
        Shape::Bytes { .. } => bytes(line.hex(name)?),
        Shape::Desc(inner) => value(inner, name, line)?,
        // The line does not know of records: their arguments are among the others.
        Shape::Record(sequence) => {
            Value::Record(row(sequence, line)?.into_iter().map(|(_, value)| value).collect())
        }
        other => return Err(format!("`{name}` is {}", other.kind())),
    })
}

/// How many arguments a layout takes from a line.
fn names(layout: &Sequence) -> usize {
    let count = |shape: &Shape| if let Shape::Record(inner) = shape { names(inner) } else { 1 };
    layout.arguments().map(|argument| count(&argument.shape)).sum()
}

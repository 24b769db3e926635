use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use keyplan_store::engine::{Durability, Fjall, FjallSettings};
use keyplan_store::structure::{
    Command, Embedded, End, RangeQuery, ScoreRange, Search, SetScore, StructureRead as _, Structures as _,
};
use keyplan_store::{Schema, Store};

use crate::data::{member, score, timed};
use crate::{Figures, Result};

fn open(directory: &Path) -> Result<Embedded<Fjall>> {
    let text = "plan bench; space things { hash thing = key: bytes field any = field: bytes -> raw; }";
    let compiled = keyplan_plan::compile("bench.keyplan", text, |_| Err("no imports".into()));
    let schema = Schema::of(&compiled).ok_or("the plan has no meaning")?;
    let store = Store::open_or_create(Fjall::open(directory, FjallSettings::default())?, &schema)?;
    Ok(Embedded::open(Arc::new(store), "things")?)
}

pub(crate) fn run(directory: &Path, members: usize) -> Result<Figures> {
    let mut figures = Figures::new();
    let structures = open(directory)?;
    let half = members / 2;
    timed(&mut figures, "hash_set", half, || {
        (0..half).try_for_each(|n| {
            structures.hash_set(b"h:sats", &member(n), &n.to_be_bytes())?;
            Ok(())
        })
    })?;
    timed(&mut figures, "hash_get", half, || {
        (0..half).try_for_each(|n| {
            black_box(structures.hash_get(b"h:sats", &member(n.wrapping_mul(7919) % half))?);
            Ok(())
        })
    })?;
    timed(&mut figures, "set_add", half, || {
        (0..half).try_for_each(|n| {
            structures.set_add(b"s:list", &member(n))?;
            Ok(())
        })
    })?;
    timed(&mut figures, "set_contains", half, || {
        (0..half).try_for_each(|n| {
            black_box(structures.set_contains(b"s:list", &member(n.wrapping_mul(7919) % half))?);
            Ok(())
        })
    })?;
    timed(&mut figures, "zset_add", half, || {
        (0..half).try_for_each(|n| {
            structures.zset_add(b"z:own", &member(n), SetScore::Number(score(n)))?;
            Ok(())
        })
    })?;
    let batch = |first: usize, command: &dyn for<'m> Fn(usize, &'m [u8; 36]) -> Command<'m>| -> Result<()> {
        let made: Vec<[u8; 36]> = (first..first + 100).map(member).collect();
        let commands: Vec<Command<'_>> =
            made.iter().enumerate().map(|(at, member)| command(first + at, member)).collect();
        structures.apply(&commands, Durability::Buffer)?;
        Ok(())
    };
    let rest = || (half..members - 99).step_by(100);
    let batched = rest().count() * 100;
    timed(&mut figures, "hash_set_100", batched, || {
        rest().try_for_each(|first| {
            batch(first, &|_, field| Command::HashSet { key: b"h:sats", field, value: &[0; 8] })
        })
    })?;
    timed(&mut figures, "set_add_100", batched, || {
        rest().try_for_each(|first| batch(first, &|_, member| Command::SetAdd { key: b"s:list", member }))
    })?;
    timed(&mut figures, "zset_add_100", batched, || {
        rest().try_for_each(|first| {
            batch(first, &|n, member| Command::ZsetAdd {
                key: b"z:own",
                member,
                score: SetScore::Number(score(n)),
            })
        })
    })?;
    timed(&mut figures, "range_100", 1_000, || {
        (0..1_000_usize).try_for_each(|n| {
            let scores = ScoreRange::from(score(n));
            let query = RangeQuery { scores, limit: Some(100), ..RangeQuery::default() };
            black_box(structures.zset_range(b"z:own", &query)?);
            Ok(())
        })
    })?;
    let pop = |structures: &Embedded<Fjall>| -> Result<()> {
        (0..1_000).try_for_each(|_| {
            black_box(structures.zset_pop(b"z:own", End::Min, 1)?);
            Ok(())
        })
    };
    timed(&mut figures, "pop_min_first", 1_000, || pop(&structures))?;
    for _ in 0..99 {
        pop(&structures)?;
    }
    timed(&mut figures, "pop_min_after_100k", 1_000, || pop(&structures))?;
    drop(structures);
    let structures = open(directory)?;
    timed(&mut figures, "pop_min_reopened", 1_000, || pop(&structures))?;
    Ok(figures)
}

/// A search over ten sets, with the time that it takes; what it reads is counted by a test.
pub(crate) fn search(directory: &Path, members: u32) -> Result<Vec<(&'static str, &'static str, f64)>> {
    let structures = open(directory)?;
    let keys: Vec<Vec<u8>> = (0..10).map(|set| format!("z:set{set}").into_bytes()).collect();
    for (set, key) in (0..).zip(&keys) {
        for first in (0..members).step_by(5_000) {
            let made: Vec<u32> = (first..(first + 5_000).min(members)).map(|n| n * 10 + set).collect();
            let names: Vec<[u8; 4]> = made.iter().map(|n| n.to_be_bytes()).collect();
            let commands: Vec<Command<'_>> = made
                .iter()
                .zip(&names)
                .map(|(n, member)| Command::ZsetAdd { key, member, score: SetScore::confirmed(*n, 0) })
                .collect();
            structures.apply(&commands, Durability::Buffer)?;
        }
    }
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let search = Search { limit: Some(100), ..Search::of(&keys) };
    let begun = Instant::now();
    for _ in 0..100 {
        let page = search.run(&*structures.snapshot()?, None)?;
        if page.hits.len() != 100 {
            return Err("the search has not found a hundred".into());
        }
    }
    Ok(vec![("search_10_sets_limit_100", "us", begun.elapsed().as_secs_f64() * 1e4)])
}

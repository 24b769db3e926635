use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

use keyplan_codec::{Be, EncodeError, LenPrefix, LenWidth, ScoreExact, Segment as _};
use keyplan_store::Direction;
use keyplan_store::engine::{Engine as _, Error, Fjall, FjallBytes, FjallSettings};
use keyplan_store::structure::{Search, SearchMode, SearchToken, SetScore, Structures as _};

use crate::Result;
use crate::counted::Counted;
use crate::ours;

const SETS: u32 = 10;
const LIMIT: usize = 100;

/// The member of a set at a place: one in three is in every set, the others in one.
const fn member(set: u32, at: u32) -> u32 {
    if at.is_multiple_of(3) { at * SETS } else { at * SETS + set }
}

/// The rows of ten sorted sets in the order of their bytes, as `plans/structures.keyplan` declares them: heads, scores by
/// member, members by score. Going through the commands would take an hour for the same.
fn rows(
    keys: &[Vec<u8>],
    members: u32,
) -> impl Iterator<Item = std::result::Result<(FjallBytes, FjallBytes), Error>> {
    let all = move |set: u32, key: &[u8]| {
        let key = key.to_vec();
        (0..members).map(move |at| (key.clone(), member(set, at)))
    };
    let sets = move || (0..SETS).zip(keys.to_vec());
    let heads = keys.iter().map(move |key| {
        let mut value = vec![3, 1];
        Be::<u64>::new().encode(u64::from(members), &mut value)?;
        Ok(([&[2], &key[..]].concat(), value))
    });
    let scores = sets().flat_map(move |(set, key)| all(set, &key)).map(|(key, member)| {
        let mut row = prefix(5, &key)?;
        row.extend_from_slice(&member.to_be_bytes());
        Ok((row, score(member)?))
    });
    let order = sets().flat_map(move |(set, key)| all(set, &key)).map(|(key, member)| {
        let mut row = prefix(6, &key)?;
        row.extend(score(member)?);
        row.extend_from_slice(&member.to_be_bytes());
        Ok((row, Vec::new()))
    });
    heads.chain(scores).chain(order).map(|row: std::result::Result<(Vec<u8>, Vec<u8>), EncodeError>| {
        let (key, value) = row.map_err(|source| Error::Engine { source: Box::new(source) })?;
        Ok((key.into(), value.into()))
    })
}

fn prefix(tag: u8, key: &[u8]) -> std::result::Result<Vec<u8>, EncodeError> {
    let mut row = vec![tag];
    LenPrefix { width: LenWidth::Varint }.encode(key, &mut row)?;
    Ok(row)
}

fn score(member: u32) -> std::result::Result<Vec<u8>, EncodeError> {
    let mut bytes = vec![1];
    if let SetScore::Place(place) = SetScore::confirmed(member, 0) {
        ScoreExact.encode(place, &mut bytes)?;
    }
    Ok(bytes)
}

/// One page of a hundred over ten sets in each mode: what the engine gave out for it, and how long it took.
pub(crate) fn run(directory: &Path, members: u32) -> Result<Vec<String>> {
    let counted = Counted::new(Fjall::open(directory, FjallSettings::default())?);
    let counts = counted.counts().clone();
    let structures = ours::open(counted)?;
    let keys: Vec<Vec<u8>> = (0..SETS).map(|set| format!("z:set{set}").into_bytes()).collect();
    structures.store().engine().ingest(structures.space(), rows(&keys, members))?;
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let mut lines = Vec::new();
    for (name, mode) in [
        ("union", SearchMode::Union),
        ("difference", SearchMode::Difference),
        ("intersection", SearchMode::Intersection),
    ] {
        let (mut rows, mut lookups, mut micros) = (0, 0, f64::INFINITY);
        for direction in [Direction::Ascending, Direction::Descending] {
            let search = Search { mode, direction, limit: Some(LIMIT), ..Search::of(&keys) };
            let mut token: Option<Vec<u8>> = None;
            // The first page and the second, which must not read what the first has read.
            for _ in 0..2 {
                counts.rows.store(0, Ordering::Relaxed);
                counts.lookups.store(0, Ordering::Relaxed);
                let begun = Instant::now();
                let page = search.run(&*structures.snapshot()?, token.as_deref())?;
                micros = micros.min(begun.elapsed().as_secs_f64() * 1e6);
                if page.hits.len() != LIMIT {
                    return Err(format!("a {name} has found {} of {LIMIT}", page.hits.len()).into());
                }
                rows = rows.max(counts.rows.load(Ordering::Relaxed));
                lookups = lookups.max(counts.lookups.load(Ordering::Relaxed));
                token = page.next.map(SearchToken::into_bytes);
            }
        }
        lines.push(format!(
            "{{\"search\": \"{name}\", \"sets\": {SETS}, \"members\": {members}, \"limit\": {LIMIT}, \"rows\": {rows}, \"lookups\": {lookups}, \"us\": {micros:.1}}}"
        ));
    }
    Ok(lines)
}

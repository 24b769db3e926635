//! Searches over several sorted sets.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use keyplan_store::engine::{Durability, Memory};
use keyplan_store::structure::{
    Command, Embedded, Hit, Kind, Pair, QueueItem, QueueSize, RangeQuery, Rows, ScoreRange, Scored, Search,
    SearchMode, SearchPage, SetScore, StructureError, StructureRead, Structures,
};
use keyplan_store::{Direction, Store};

use crate::embedded::schema;
use crate::support::Random;

fn memory() -> Embedded<Memory> {
    let store = Store::create(Memory::new(), &schema()).unwrap();
    Embedded::open(Arc::new(store), "things").unwrap()
}

type Sets = BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, SetScore>>;

/// What a search finds, said plainly.
fn expected(search: &Search<'_>, sets: &Sets) -> Vec<Hit> {
    let empty = BTreeMap::new();
    let sets: Vec<_> = search.keys.iter().map(|key| sets.get(*key).unwrap_or(&empty)).collect();
    let directed = |a: &Hit, b: &Hit| {
        let order = a.score.order(b.score).then_with(|| a.member.cmp(&b.member));
        if search.direction == Direction::Ascending { order } else { order.reverse() }
    };
    let members: BTreeSet<&Vec<u8>> = match search.mode {
        SearchMode::Union => sets.iter().flat_map(|set| set.keys()).collect(),
        SearchMode::Intersection => {
            sets[0].keys().filter(|member| sets.iter().all(|set| set.contains_key(*member))).collect()
        }
        SearchMode::Difference => {
            sets[0].keys().filter(|member| !sets[1..].iter().any(|set| set.contains_key(*member))).collect()
        }
    };
    let mut hits: Vec<Hit> = members
        .into_iter()
        .filter_map(|member| {
            let looked_at = if search.mode == SearchMode::Union { sets.len() } else { 1 };
            sets[..looked_at]
                .iter()
                .enumerate()
                .filter_map(|(set, members)| {
                    Some(Hit { member: member.clone(), score: *members.get(member)?, set })
                })
                .filter(|hit| search.scores.contains(hit.score))
                .min_by(directed)
        })
        .collect();
    hits.sort_by(directed);
    hits
}

fn all_pages(search: &Search<'_>, read: &dyn StructureRead, limit: usize) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut token: Option<Vec<u8>> = None;
    loop {
        let search = Search { limit: Some(limit), ..*search };
        let SearchPage { hits: found, next } = search.run(read, token.as_deref()).unwrap();
        assert!(found.len() <= limit && (next.is_none() || found.len() == limit));
        hits.extend(found);
        match next {
            Some(next) => token = Some(next.into_bytes()),
            None => return hits,
        }
    }
}

#[test]
fn a_search_finds_what_sets_of_members_would() {
    let mut random = Random::new(7);
    for round in 0..200 {
        let structures = memory();
        let mut sets = Sets::new();
        let keys: Vec<Vec<u8>> = (0..4_u8).map(|set| vec![b'z', set]).collect();
        // Sometimes a set is far larger than another, so that the small one is read instead.
        let sizes = [*random.pick(&[0, 3, 12, 60]), *random.pick(&[1, 5, 20]), 12, *random.pick(&[0, 30])];
        for (key, size) in keys.iter().zip(sizes) {
            for _ in 0..size {
                let member = vec![u8::try_from(random.below(40)).unwrap()];
                // The same member often has another score in another set.
                let score = SetScore::Number(f64::from(u32::try_from(random.below(6)).unwrap()));
                structures.zset_add(key, &member, score).unwrap();
                sets.entry(key.clone()).or_default().insert(member, score);
            }
        }
        let count = 1 + usize::try_from(random.below(4)).unwrap();
        let asked: Vec<&[u8]> = keys.iter().take(count).map(Vec::as_slice).collect();
        for mode in [SearchMode::Union, SearchMode::Intersection, SearchMode::Difference] {
            for direction in [Direction::Ascending, Direction::Descending] {
                for scores in [
                    ScoreRange::ALL,
                    ScoreRange::between(1.0, 3.0),
                    ScoreRange { min: Bound::Excluded(1.0.into()), max: Bound::Excluded(4.0.into()) },
                ] {
                    let search = Search { mode, direction, scores, ..Search::of(&asked) };
                    let expected = expected(&search, &sets);
                    let whole = search.run(&structures, None).unwrap();
                    assert_eq!(
                        whole,
                        SearchPage { hits: expected.clone(), next: None },
                        "{round} {search:?}"
                    );
                    for limit in [1, 3, 7] {
                        assert_eq!(all_pages(&search, &structures, limit), expected, "{round} {search:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_token_belongs_to_its_question() {
    let structures = memory();
    for member in 0..5_u8 {
        structures.zset_add(b"a", &[member], 1.0.into()).unwrap();
        structures.zset_add(b"b", &[member], 1.0.into()).unwrap();
    }
    let search = Search { limit: Some(2), ..Search::of(&[b"a", b"b"]) };
    let token = search.run(&structures, None).unwrap().next.unwrap().into_bytes();
    let said =
        |search: Search<'_>, token: &[u8]| search.run(&structures, Some(token)).unwrap_err().to_string();
    let other = "the page token points outside of the range";
    assert_eq!(said(Search { direction: Direction::Descending, ..search }, &token), other);
    assert_eq!(said(Search { mode: SearchMode::Difference, ..search }, &token), other);
    assert_eq!(said(Search { keys: &[b"ab"], ..search }, &token), other);
    assert_eq!(said(Search { scores: ScoreRange::from(1.0), ..search }, &token), other);
    for length in 0..token.len() {
        assert_eq!(said(search, &token[..length]), "the page token is damaged");
    }
    assert_eq!(Search { limit: Some(9), ..search }.run(&structures, Some(&token)).unwrap().hits.len(), 3);
    assert_eq!(Search::of(&[]).run(&structures, None).unwrap(), SearchPage::default());
}

/// Counts the rows that a search reads: those that come in order, and those that are asked for and are there.
#[derive(Debug)]
struct Counting<'r> {
    read: &'r dyn StructureRead,
    rows: AtomicU64,
    lookups: AtomicU64,
}

impl StructureRead for Counting<'_> {
    fn zset_rows(
        &self,
        key: &[u8],
        scores: &ScoreRange,
        direction: Direction,
        after: Option<&Scored>,
    ) -> Result<Rows<'_, Scored>, StructureError> {
        let rows = self.read.zset_rows(key, scores, direction, after)?;
        Ok(Box::new(rows.inspect(|_| {
            self.rows.fetch_add(1, Ordering::Relaxed);
        })))
    }

    fn zset_score_each(&self, places: &[(&[u8], &[u8])]) -> Result<Vec<Option<SetScore>>, StructureError> {
        let scores = self.read.zset_score_each(places)?;
        let found = scores.iter().flatten().count();
        self.lookups.fetch_add(found as u64, Ordering::Relaxed);
        Ok(scores)
    }

    fn zset_count(&self, key: &[u8]) -> Result<u64, StructureError> {
        self.rows.fetch_add(1, Ordering::Relaxed);
        self.read.zset_count(key)
    }

    fn kind(&self, _: &[u8]) -> Result<Option<Kind>, StructureError> {
        unreachable!()
    }
    fn keys(&self, _: Kind, _: &[u8]) -> Result<Rows<'_, Vec<u8>>, StructureError> {
        unreachable!()
    }
    fn get(&self, _: &[u8]) -> Result<Option<Vec<u8>>, StructureError> {
        unreachable!()
    }
    fn get_many(&self, _: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>, StructureError> {
        unreachable!()
    }
    fn scan(&self, _: &[u8]) -> Result<Rows<'_, Pair>, StructureError> {
        unreachable!()
    }
    fn set_contains(&self, _: &[u8], _: &[u8]) -> Result<bool, StructureError> {
        unreachable!()
    }
    fn set_contains_many(&self, _: &[u8], _: &[&[u8]]) -> Result<Vec<bool>, StructureError> {
        unreachable!()
    }
    fn set_members(&self, _: &[u8]) -> Result<Rows<'_, Vec<u8>>, StructureError> {
        unreachable!()
    }
    fn set_count(&self, _: &[u8]) -> Result<u64, StructureError> {
        unreachable!()
    }
    fn hash_get(&self, _: &[u8], _: &[u8]) -> Result<Option<Vec<u8>>, StructureError> {
        unreachable!()
    }
    fn hash_get_many(&self, _: &[u8], _: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>, StructureError> {
        unreachable!()
    }
    fn hash_get_each(&self, _: &[(&[u8], &[u8])]) -> Result<Vec<Option<Vec<u8>>>, StructureError> {
        unreachable!()
    }
    fn hash_all(&self, _: &[u8]) -> Result<Rows<'_, Pair>, StructureError> {
        unreachable!()
    }
    fn hash_count(&self, _: &[u8]) -> Result<u64, StructureError> {
        unreachable!()
    }
    fn zset_score(&self, _: &[u8], _: &[u8]) -> Result<Option<SetScore>, StructureError> {
        unreachable!()
    }
    fn zset_sum(&self, _: &[u8], _: &ScoreRange) -> Result<f64, StructureError> {
        unreachable!()
    }
    fn zset_rank(&self, _: &[u8], _: &[u8], _: Direction) -> Result<Option<u64>, StructureError> {
        unreachable!()
    }
    fn zset_range(&self, _: &[u8], _: &RangeQuery) -> Result<Vec<Scored>, StructureError> {
        unreachable!()
    }
    fn queue_size(&self, _: &[u8]) -> Result<QueueSize, StructureError> {
        unreachable!()
    }
    fn queue_peek(&self, _: &[u8], _: usize) -> Result<Vec<Scored>, StructureError> {
        unreachable!()
    }
    fn queue_item(&self, _: &[u8], _: &[u8]) -> Result<Option<QueueItem>, StructureError> {
        unreachable!()
    }
    fn queue_items(&self, _: &[u8]) -> Result<Rows<'_, QueueItem>, StructureError> {
        unreachable!()
    }

    fn queue_dead(&self, _: &[u8]) -> Result<Rows<'_, QueueItem>, StructureError> {
        unreachable!()
    }
}

#[test]
fn a_search_over_large_sets_reads_what_it_returns() {
    const SETS: u32 = 10;
    const MEMBERS: u32 = 10_000;
    let structures = memory();
    let keys: Vec<Vec<u8>> = (0..SETS).map(|set| format!("z:{set}").into_bytes()).collect();
    for (set, key) in (0..SETS).zip(&keys) {
        // All sets share a third of their members.
        let shared = |member: u32| member.is_multiple_of(3);
        let members: Vec<[u8; 4]> = (0..MEMBERS)
            .map(|member| member * SETS + if shared(member) { 0 } else { set })
            .map(u32::to_be_bytes)
            .collect();
        for chunk in members.chunks(5_000) {
            let commands: Vec<Command<'_>> = chunk
                .iter()
                .map(|member| {
                    let score = SetScore::confirmed(u32::from_be_bytes(*member), 0);
                    Command::ZsetAdd { key, member, score }
                })
                .collect();
            structures.apply(&commands, Durability::Buffer).unwrap();
        }
    }
    let asked: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let view = structures.snapshot().unwrap();
    for mode in [SearchMode::Union, SearchMode::Difference, SearchMode::Intersection] {
        for direction in [Direction::Ascending, Direction::Descending] {
            let counting = Counting { read: &*view, rows: AtomicU64::new(0), lookups: AtomicU64::new(0) };
            let asked = if mode == SearchMode::Intersection { &asked[..2] } else { &asked };
            let search = Search { mode, direction, limit: Some(100), ..Search::of(asked) };
            let page = search.run(&counting, None).unwrap();
            assert_eq!(page.hits.len(), 100);
            let first = counting.rows.load(Ordering::Relaxed) + counting.lookups.load(Ordering::Relaxed);
            assert!(first < 1_000, "{mode:?} {direction:?}: {first}");
            let next = page.next.unwrap();
            search.run(&counting, Some(next.as_bytes())).unwrap();
            let both = counting.rows.load(Ordering::Relaxed) + counting.lookups.load(Ordering::Relaxed);
            assert!(both - first < 1_000, "{mode:?} {direction:?}: {both} for two pages");
        }
    }
}

//! KP0001: two families of a space never make the same key.

use keyplan_plan::dynamic::{Value, encode};
use keyplan_plan::model::Shape;

use crate::automaton::{Arena, Drawing, Precision};
use crate::guarantee::chance::{CHANCE, Half, MOST_CHANCES, Odds, odds};
use crate::guarantee::digest::{SAFE_DIGEST, grounded, not_realised};
use crate::guarantee::listed;
use crate::guarantee::preimage::Preimages;
use crate::layout::Layout;
use crate::least::with;
use crate::product::search::Search;
use crate::product::{Budget, Goal, MOST_OTHERWISE, Outcome, Product};
use crate::proof::{Assumption, Reason, Side, Verdict, Witness};
use crate::reader::{Effort, read, rewritten};
use crate::sample;

/// How many words are tried as witnesses.
const MOST_WORDS: usize = 12;

/// How many sampled keys are tried as witnesses.
const MOST_SAMPLES: usize = 256;

/// Decides whether no key is of both layouts.
pub(crate) fn disjoint(arena: &mut Arena, a: &Layout<'_>, b: &Layout<'_>, budget: &mut Budget) -> Verdict {
    if a.apart(b) {
        return Verdict::Holds;
    }
    let (Some(left), Some(right)) = (&a.drawing, &b.drawing) else {
        let undrawn = if a.drawing.is_none() { a } else { b };
        return Verdict::Unknown(undrawn.undrawn());
    };
    if arena.part_early(left.start, right.start) {
        return Verdict::Holds;
    }
    let verdict = match attempt(arena, (a, left), (b, right), budget) {
        Verdict::Unknown(Reason::NotRealised { .. }) if left.coarse || right.coarse => {
            let (Some(left), Some(right)) = (a.fine(arena), b.fine(arena)) else {
                return Verdict::Unknown(not_realised(&[left, right]));
            };
            attempt(arena, (a, &left), (b, &right), budget)
        }
        verdict => verdict,
    };
    match verdict {
        Verdict::Unknown(reason) => listed::disjoint(a, b, budget)
            .or_else(|| drawn_otherwise(arena, a, b, budget))
            .unwrap_or(Verdict::Unknown(reason)),
        verdict => verdict,
    }
}

/// The same by drawings that see other things.
fn drawn_otherwise(
    arena: &mut Arena,
    a: &Layout<'_>,
    b: &Layout<'_>,
    budget: &mut Budget,
) -> Option<Verdict> {
    if !a.is_loose() && !b.is_loose() {
        return None;
    }
    budget.with_at_most(MOST_OTHERWISE, |budget| {
        Precision::OTHERS.into_iter().find_map(|precision| {
            let (left, right) = (a.drawn(arena, precision)?, b.drawn(arena, precision)?);
            match attempt(arena, (a, &left), (b, &right), budget) {
                Verdict::Unknown(_) => None,
                verdict => Some(verdict),
            }
        })
    })
}

fn attempt(
    arena: &mut Arena,
    (a, left): (&Layout<'_>, &Drawing),
    (b, right): (&Layout<'_>, &Drawing),
    budget: &mut Budget,
) -> Verdict {
    let outcome = Product::new(arena, Goal::Meet).meeting(left.start, right.start, budget);
    if outcome == Outcome::Never {
        return Verdict::Holds;
    }
    if budget.is_spent() {
        return Verdict::Unknown(Reason::TooManySteps);
    }
    if left.measured || right.measured {
        return Verdict::Unknown(not_realised(&[left, right]));
    }
    let mut search = Search::of_two(arena, Goal::Meet, left.start, right.start);
    let effort = &mut Effort::new();
    let mut by_digest: Vec<Vec<u8>> = Vec::new();
    let known = &Preimages::of(&[a.sequence, b.sequence]);
    for _ in 0..MOST_WORDS {
        let Some(found) = search.next() else { break };
        for first in read(a.sequence, &found.common, 1, effort) {
            let first = known.named(a.sequence, first, effort);
            for second in read(b.sequence, &found.common, 1, effort) {
                let second = known.named(b.sequence, second, effort);
                if grounded(&first) && grounded(&second) {
                    if let Some(witness) = witness(a, &first, b, &second) {
                        budget.spend(search.cost() + effort.used());
                        return Verdict::Fails(Box::new(witness));
                    }
                } else {
                    by_digest.push(found.common.clone());
                    if let Some(witness) =
                        ground(a, &first, b, known, effort).or_else(|| ground(b, &second, a, known, effort))
                    {
                        budget.spend(search.cost() + effort.used());
                        return Verdict::Fails(Box::new(witness));
                    }
                }
            }
        }
        // A copy, a derived part or a hash that does not fit may do so when it is written again.
        let again = |layout: &Layout<'_>, other: &Layout<'_>, effort: &mut Effort| {
            let rows = rewritten(layout.sequence, &found.common, 2, effort);
            rows.iter().filter(|row| grounded(row)).find_map(|row| shared(layout, row, other, known, effort))
        };
        if let Some(witness) = again(a, b, effort).or_else(|| again(b, a, effort)) {
            budget.spend(search.cost() + effort.used());
            return Verdict::Fails(Box::new(witness));
        }
    }
    budget.spend(search.cost() + effort.used());
    if let Some(witness) = sampled(a, b, known, effort).or_else(|| sampled(b, a, known, effort)) {
        return Verdict::Fails(Box::new(witness));
    }
    if outcome == Outcome::Exhausted {
        return Verdict::Unknown(Reason::TooManySteps);
    }
    let narrowest = a.hashes().chain(b.hashes()).min_by_key(|&(hash, keep)| (keep, hash));
    match narrowest {
        // Only a digest that hits given bytes makes them meet.
        Some((hash, keep)) if !by_digest.is_empty() && keep >= SAFE_DIGEST => {
            by_chance((a, b), &by_digest, known, Assumption { hash, keep }, budget)
        }
        _ => Verdict::Unknown(not_realised(&[left, right])),
    }
}

/// What is known of words that hold digests: nobody hits so many bytes by chance, or some argument does.
fn by_chance(
    (a, b): (&Layout<'_>, &Layout<'_>),
    words: &[Vec<u8>],
    known: &Preimages,
    assumption: Assumption,
    budget: &mut Budget,
) -> Verdict {
    let mut open = false;
    for word in words.iter().take(MOST_CHANCES) {
        let effort = &mut Effort::new();
        for first in read(a.sequence, word, 1, effort) {
            for second in read(b.sequence, word, 1, effort) {
                let one = Half { sequence: a.sequence, values: &first, bytes: word };
                let two = Half { sequence: b.sequence, values: &second, bytes: word };
                // Where no digest decides, it is something else that was not found.
                open |= one.places().is_empty() && two.places().is_empty();
                for (half, other, own, layout) in [(one, two, a, b), (two, one, b, a)] {
                    if half.places().is_empty() {
                        continue;
                    }
                    let fits = &mut |bytes: &[u8]| {
                        effort.is_spent() || !read(layout.sequence, bytes, 1, effort).is_empty()
                    };
                    match odds(half, word.len(), &other.places(), fits, budget) {
                        Odds::Safe => {}
                        Odds::Open => open = true,
                        Odds::Met(rows) => {
                            let found = rows.iter().find_map(|row| shared(own, row, layout, known, effort));
                            if let Some(witness) = found {
                                return Verdict::Fails(Box::new(witness));
                            }
                            open = true;
                        }
                    }
                }
            }
        }
    }
    if open {
        Verdict::Unknown(Reason::NotRealised { loose: vec![CHANCE] })
    } else {
        Verdict::Assumed(assumption)
    }
}

fn witness(a: &Layout<'_>, first: &[Value], b: &Layout<'_>, second: &[Value]) -> Option<Witness> {
    let first = Side::key(a.path, a.sequence, first)?;
    let second = Side::key(b.path, b.sequence, second)?;
    // The family that comes first by path is shown first, whichever way it was found.
    if second.family < first.family {
        Witness::same_key(second, first)
    } else {
        Witness::same_key(first, second)
    }
}

/// Puts real arguments in place of digests, and looks whether the other layout still makes the key.
fn ground(
    a: &Layout<'_>,
    values: &[Value],
    b: &Layout<'_>,
    known: &Preimages,
    effort: &mut Effort,
) -> Option<Witness> {
    let rows = known.grounded(a.sequence, values, effort);
    if let Some(witness) = rows.iter().find_map(|row| shared(a, row, b, known, effort)) {
        return Some(witness);
    }
    let columns: Vec<Vec<Value>> = a
        .sequence
        .arguments()
        .zip(values)
        .map(|(argument, value)| {
            if crate::guarantee::digest::holds_digest(value) {
                sample::values(&argument.shape)
            } else {
                vec![value.clone()]
            }
        })
        .collect();
    sample::combine(&columns, MOST_SAMPLES).iter().find_map(|row| shared(a, row, b, known, effort))
}

fn sampled(a: &Layout<'_>, b: &Layout<'_>, known: &Preimages, effort: &mut Effort) -> Option<Witness> {
    sample::rows(a.sequence, MOST_SAMPLES).iter().find_map(|row| shared(a, row, b, known, effort))
}

/// The key of an argument list, if the other layout makes it too, from real arguments.
fn shared(
    a: &Layout<'_>,
    row: &[Value],
    b: &Layout<'_>,
    known: &Preimages,
    effort: &mut Effort,
) -> Option<Witness> {
    let mut key = Vec::new();
    encode(a.sequence, row, &mut key).ok()?;
    if !b.sequence.width().admits(key.len()) || !key.starts_with(&b.literal) {
        return None;
    }
    read(b.sequence, &key, 2, effort).into_iter().find_map(|other| {
        let other = named(b, known.named(b.sequence, other, effort), row, &key)?;
        witness(a, row, b, &other)
    })
}

/// The values with each digest replaced by an argument that has it: one of the other side's, or a sampled one.
fn named(layout: &Layout<'_>, values: Vec<Value>, hints: &[Value], key: &[u8]) -> Option<Vec<Value>> {
    if grounded(&values) {
        return Some(values);
    }
    let mut named = values.clone();
    for (index, argument) in layout.sequence.arguments().enumerate() {
        if !values.get(index).is_some_and(crate::guarantee::digest::holds_digest) {
            continue;
        }
        let Shape::Hashed { .. } = argument.shape else { return None };
        let candidates = hints.iter().cloned().chain(sample::values(&argument.shape));
        let fits = candidates.filter(grounded_value).find(|candidate| {
            let row = with(&values, index, (*candidate).clone());
            let mut out = Vec::new();
            encode(layout.sequence, &row, &mut out).is_ok() && out == key
        })?;
        named = with(&named, index, fits);
    }
    Some(named)
}

fn grounded_value(value: &Value) -> bool {
    !crate::guarantee::digest::holds_digest(value)
}

//! KP0002: two different argument lists of a family never make the same key.

use std::collections::BTreeMap;

use keyplan_plan::dynamic::{Value, encode};
use keyplan_plan::model::{Sequence, Shape};

use crate::automaton::{Arena, Drawing, Precision};
use crate::guarantee::ambiguous::delimited::{Ends, told_by_length};
use crate::guarantee::ambiguous::twins::twin_keys;
use crate::guarantee::digest::{holds_digest, not_realised, unless};
use crate::guarantee::listed;
use crate::guarantee::lossy::law::loses;
use crate::layout::Layout;
use crate::product::search::Search;
use crate::product::{Budget, Goal, MOST_OTHERWISE, Outcome, Product};
use crate::proof::{Reason, Side, Verdict, Witness};
use crate::reader::{Effort, alone, read};
use crate::sample;

const MOST_WORDS: usize = 12;

/// Decides whether every key has one argument list, apart from what a lossy encoding merges.
pub(crate) fn injective(arena: &mut Arena, layout: &Layout<'_>, budget: &mut Budget) -> Verdict {
    let Some(drawing) = &layout.drawing else { return Verdict::Unknown(layout.undrawn()) };
    let verdict = match attempt(arena, layout, drawing, budget) {
        Verdict::Unknown(Reason::NotRealised { .. }) if drawing.coarse => match layout.fine(arena) {
            Some(drawing) => attempt(arena, layout, &drawing, budget),
            None => Verdict::Unknown(not_realised(&[drawing])),
        },
        verdict => verdict,
    };
    match verdict {
        Verdict::Unknown(_) if (Ends { arena, budget }).is_read_once(layout.sequence) => Verdict::Holds,
        Verdict::Unknown(_) if told_by_length(arena, layout.sequence.segments(), 0, budget) => {
            unless(drawing.hashes.iter().copied())
        }
        Verdict::Unknown(reason) => {
            // What an encoding merges is said elsewhere.
            let listed = if merges(layout) { None } else { listed::injective(layout, budget) };
            listed
                .or_else(|| twin_keys(arena, layout, budget).map(|witness| Verdict::Fails(Box::new(witness))))
                .or_else(|| drawn_otherwise(arena, layout, budget))
                .unwrap_or(Verdict::Unknown(reason))
        }
        verdict => verdict,
    }
}

/// The same by drawings that see other things.
fn drawn_otherwise(arena: &mut Arena, layout: &Layout<'_>, budget: &mut Budget) -> Option<Verdict> {
    if !layout.is_loose() {
        return None;
    }
    budget.with_at_most(MOST_OTHERWISE, |budget| {
        Precision::OTHERS.into_iter().find_map(|precision| {
            let drawing = layout.drawn(arena, precision)?;
            match attempt(arena, layout, &drawing, budget) {
                Verdict::Unknown(_) => None,
                verdict => Some(verdict),
            }
        })
    })
}

/// Whether an encoding merges values.
fn merges(layout: &Layout<'_>) -> bool {
    layout.sequence.arguments().any(|argument| loses(&argument.shape))
}

pub(crate) fn attempt(
    arena: &mut Arena,
    layout: &Layout<'_>,
    drawing: &Drawing,
    budget: &mut Budget,
) -> Verdict {
    let outcome = Product::new(arena, Goal::Meet).ambiguity(drawing.start, budget);
    let contents = drawing.hidden.iter().all(|shape| contents_injective(arena, shape, budget, 0));
    if outcome == Outcome::Never && contents {
        return unless(drawing.hashes.iter().copied());
    }
    if budget.is_spent() {
        return Verdict::Unknown(Reason::TooManySteps);
    }
    if drawing.measured {
        return Verdict::Unknown(not_realised(&[drawing]));
    }
    let mut search = Search::of_one(arena, Goal::Meet, drawing.start);
    let effort = &mut Effort::new();
    for _ in 0..MOST_WORDS {
        let Some(found) = search.next() else { break };
        let mut word = found.common;
        word.extend(found.first);
        let found = two_readings(layout, &word, effort);
        budget.spend(search.cost() + effort.used());
        if let Some(witness) = found {
            return Verdict::Fails(Box::new(witness));
        }
    }
    if let Some(witness) = sampled(layout) {
        return Verdict::Fails(Box::new(witness));
    }
    Verdict::Unknown(match outcome {
        Outcome::Exhausted => Reason::TooManySteps,
        Outcome::Never => Reason::Contents,
        Outcome::Perhaps => not_realised(&[drawing]),
    })
}

/// Whether contents that are drawn as plain bytes have one reading.
pub(crate) fn contents_injective(arena: &mut Arena, shape: &Shape, budget: &mut Budget, depth: u32) -> bool {
    if depth > 8 {
        return false;
    }
    let sequence: Sequence = alone(shape);
    let layout = Layout::new(arena, "contents", &sequence, std::collections::BTreeSet::new());
    let Some(drawing) = &layout.drawing else { return false };
    Product::new(arena, Goal::Meet).ambiguity(drawing.start, budget) == Outcome::Never
        && drawing.hidden.iter().all(|shape| contents_injective(arena, shape, budget, depth + 1))
}

fn two_readings(layout: &Layout<'_>, word: &[u8], effort: &mut Effort) -> Option<Witness> {
    let all = read(layout.sequence, word, 4, effort);
    // Whatever a digest stands for, it is the same on both sides.
    let all: Vec<Vec<Value>> = all.into_iter().filter_map(|values| with_arguments(layout, values)).collect();
    let [first, second, ..] = all.as_slice() else { return None };
    let side = |values: &[Value]| Side::key(layout.path, layout.sequence, values);
    Witness::same_key(side(first)?, side(second)?)
}

/// Values with an argument in place of each digest: the simplest one.
fn with_arguments(layout: &Layout<'_>, mut values: Vec<Value>) -> Option<Vec<Value>> {
    for (argument, value) in layout.sequence.arguments().zip(&mut values) {
        if holds_digest(value) {
            *value = sample::values(&argument.shape).into_iter().find(|value| !holds_digest(value))?;
        }
    }
    Some(values)
}

/// Two sampled argument lists with one key, the shortest of those, where no lossy encoding is the reason.
fn sampled(layout: &Layout<'_>) -> Option<Witness> {
    if merges(layout) {
        return None;
    }
    let mut seen: BTreeMap<Vec<u8>, Vec<Value>> = BTreeMap::new();
    let mut best: Option<Witness> = None;
    for row in sample::rows(layout.sequence, 2_000) {
        let mut key = Vec::new();
        if encode(layout.sequence, &row, &mut key).is_err() {
            continue;
        }
        match seen.get(&key) {
            Some(other) if *other != row => {
                if best.as_ref().is_some_and(|best| best.length() <= key.len()) {
                    continue;
                }
                let side = |values: &[Value]| Side::key(layout.path, layout.sequence, values);
                best = Witness::same_key(side(other)?, side(&row)?).or(best);
            }
            _ => {
                seen.insert(key, row);
            }
        }
    }
    best
}

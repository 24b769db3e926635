//! Rows with other bound arguments in a part of what begins with a prefix: between its start and an end.
//!
//! That some row begins with the prefix of another scan says little of a range, which may end before it. Here one graph is
//! read twice: the one side up to the end of the prefix and then along whatever lies in the range, the other side as a whole
//! row. The two part before the prefix ends, because their bound arguments differ there.

use keyplan_plan::dynamic::Value;

use crate::automaton::{Arena, ByteSet, Drawing, END, NodeId, Numbers, Precision, UNLIMITED};
use crate::guarantee::ambiguous::law::contents_injective;
use crate::guarantee::digest::{grounded, not_realised, unless};
use crate::guarantee::leak::law::Scanned;
use crate::guarantee::lossy::law::lossless;
use crate::guarantee::missing::law::Piece;
use crate::product::search::Search;
use crate::product::{Budget, Detour, Goal, MOST_OTHERWISE, Outcome, Product};
use crate::proof::{Reason, Side, Verdict, Witness};
use crate::reader::{Effort, read};
use crate::sure::front;

const MOST_WORDS: usize = 12;

/// How many bytes at either end of a row are tried as the end of a prefix.
const NEAR: usize = 128;

/// Decides whether no key with other bound arguments is made of a prefix of the scan and one of the pieces; `shown` makes a
/// witness of bound arguments and such a key.
pub(crate) fn beside(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    pieces: &[Piece],
    shown: &dyn Fn(&[Value], Side) -> Option<Witness>,
    budget: &mut Budget,
) -> Verdict {
    if pieces.is_empty() {
        return Verdict::Holds;
    }
    if lossless(arena, scanned.layout.path, &scanned.prefix()).is_some() {
        // What an encoding merges is one path of the graph.
        return Verdict::Unknown(Reason::NotRealised { loose: vec!["an encoding loses information"] });
    }
    let Some(drawing) = &scanned.layout.drawing else { return Verdict::Unknown(scanned.layout.undrawn()) };
    let way = drawn(arena, pieces);
    let verdict = match attempt(arena, scanned, drawing, way, shown, budget) {
        Verdict::Unknown(Reason::NotRealised { .. }) if drawing.coarse => match scanned.layout.fine(arena) {
            Some(drawing) => attempt(arena, scanned, &drawing, way, shown, budget),
            None => Verdict::Unknown(not_realised(&[drawing])),
        },
        verdict => verdict,
    };
    if !matches!(verdict, Verdict::Unknown(_)) || !scanned.layout.is_loose() {
        return verdict;
    }
    let otherwise = budget.with_at_most(MOST_OTHERWISE, |budget| {
        Precision::OTHERS.into_iter().find_map(|precision| {
            let drawing = scanned.layout.drawn(arena, precision)?;
            match attempt(arena, scanned, &drawing, way, shown, budget) {
                Verdict::Unknown(_) => None,
                verdict => Some(verdict),
            }
        })
    });
    otherwise.unwrap_or(verdict)
}

/// The pieces as a graph.
fn drawn(arena: &mut Arena, pieces: &[Piece]) -> NodeId {
    let anything = arena.run(ByteSet::FULL, Numbers::range(0, UNLIMITED), END, false);
    let ways = pieces.iter().map(|piece| match piece {
        Piece::Exactly(bytes) => arena.literal(bytes, END),
        Piece::Begins(bytes, None) => arena.literal(bytes, anything),
        Piece::Begins(bytes, Some((first, last))) => {
            let rest = arena.byte(ByteSet::range(*first, *last), anything);
            arena.literal(bytes, rest)
        }
    });
    let ways = ways.collect();
    arena.split(ways, false)
}

fn attempt(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    drawing: &Drawing,
    way: NodeId,
    shown: &dyn Fn(&[Value], Side) -> Option<Witness>,
    budget: &mut Budget,
) -> Verdict {
    let detour = Detour { stop: scanned.stop(), way };
    let outcome = Product::new(arena, Goal::Meet).beside(drawing.start, detour, budget);
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
    let mut search = Search::beside(arena, drawing.start, detour);
    let effort = &mut Effort::new();
    for _ in 0..MOST_WORDS {
        let Some(found) = search.next() else { break };
        let found = realised(scanned, &found.common, shown, effort);
        budget.spend(search.cost() + effort.used());
        if let Some(witness) = found {
            return Verdict::Fails(Box::new(witness));
        }
    }
    Verdict::Unknown(match outcome {
        Outcome::Exhausted => Reason::TooManySteps,
        Outcome::Never => Reason::Contents,
        Outcome::Perhaps => not_realised(&[drawing]),
    })
}

/// Finds bound arguments in whose range a row lies, though it is not theirs.
fn realised(
    scanned: Scanned<'_, '_>,
    row: &[u8],
    shown: &dyn Fn(&[Value], Side) -> Option<Witness>,
    effort: &mut Effort,
) -> Option<Witness> {
    let layout = scanned.layout;
    let rows = read(layout.sequence, row, 4, effort);
    let prefix = scanned.prefix();
    let width = prefix.width();
    let near = row.len().min(NEAR);
    let far = row.len().saturating_sub(NEAR).max(near + 1)..=row.len();
    for cut in (0..=near).chain(far).filter(|&cut| !rows.is_empty() && width.admits(cut)) {
        for bound in read(&prefix, front(row, cut), 4, effort) {
            for values in &rows {
                if values.starts_with(&bound) || !grounded(&bound) || !grounded(values) {
                    continue;
                }
                let side = Side::key(layout.path, layout.sequence, values);
                if let Some(witness) = side.and_then(|side| shown(&bound, side)) {
                    return Some(witness);
                }
            }
        }
    }
    None
}

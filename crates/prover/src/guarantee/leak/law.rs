//! KP0003 and KP0004: a scan returns its own rows and no others.

use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{Scan, ScanEnd, Sequence};

use crate::automaton::{Arena, Drawing, Precision};
use crate::beginning::beginning;
use crate::guarantee::ambiguous::delimited::Ends;
use crate::guarantee::ambiguous::law::contents_injective;
use crate::guarantee::ambiguous::twins::twin_rows;
use crate::guarantee::chance::{CHANCE, Half, MOST_CHANCES, Odds, odds};
use crate::guarantee::digest::{SAFE_DIGEST, grounded, not_realised, unless};
use crate::guarantee::listed;
use crate::guarantee::lossy::law::lossless;
use crate::guarantee::overlap::law::disjoint;
use crate::guarantee::preimage::Preimages;
use crate::layout::Layout;
use crate::least::least_value;
use crate::product::search::Search;
use crate::product::{Budget, Goal, MOST_OTHERWISE, Outcome, Product};
use crate::proof::{Assumption, Reason, Side, Verdict, Witness};
use crate::reader::{Effort, read, rewritten};
use crate::sample;
use crate::sure::{self, Sure as _};

const MOST_WORDS: usize = 12;
const MOST_SAMPLES: usize = 200;

/// How many words that are not keys are mended.
const MOST_MENDED: usize = 4;

/// A scan of a layout.
#[derive(Clone, Copy)]
pub(crate) struct Scanned<'a, 'p> {
    pub(crate) layout: &'a Layout<'p>,
    pub(crate) scan: &'a Scan,
}

impl Scanned<'_, '_> {
    pub(crate) fn stop(self) -> u32 {
        sure::mark(self.scan.segments)
    }

    /// The layout of only the prefix.
    pub(crate) fn prefix(self) -> Sequence {
        self.scan.prefix(self.layout.sequence)
    }

    /// The literals at the front of the prefix.
    pub(crate) fn literal(self) -> Vec<u8> {
        self.prefix().literal_prefix()
    }

    /// The leak that two argument lists with one key are, if they differ in a bound argument.
    pub(crate) fn leak_of(self, witness: &Witness) -> Option<Witness> {
        let Witness::SameKey { first, second } = witness else { return None };
        self.leak(self.side(&self.bound_of(&first.values)?)?, second.clone())
    }

    /// The values by which a row of the family is scanned.
    fn bound_of(self, row: &[Value]) -> Option<Vec<Value>> {
        let arguments = self.layout.sequence.arguments_before(self.scan.segments);
        match self.scan.part {
            Some(_) => self.scan.values_of(self.layout.sequence, row),
            // The marks of a range may bind fewer than the scan.
            None => row.get(..arguments).map(<[Value]>::to_vec),
        }
    }

    /// The witness that a row is, for the scan by other values.
    pub(crate) fn leak(self, scan: Side, row: Side) -> Option<Witness> {
        let own =
            row.family == scan.family && self.scan.owns(self.layout.sequence, &scan.values, &row.values);
        (!own && row.bytes.starts_with(&scan.bytes)).then_some(Witness::Row { scan, row })
    }

    /// The prefix of bound arguments.
    pub(crate) fn side(self, values: &[Value]) -> Option<Side> {
        let layout = self.scan.layout(self.layout.sequence);
        Side::prefix(self.layout.path, layout, self.scan.segments, values)
    }
}

/// Decides whether no key of `other` begins with a prefix of the scan.
pub(crate) fn foreign(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    other: &Layout<'_>,
    budget: &mut Budget,
) -> Verdict {
    let (Some(left), Some(right)) = (&scanned.layout.drawing, &other.drawing) else {
        let undrawn = if scanned.layout.drawing.is_none() { scanned.layout } else { other };
        return Verdict::Unknown(undrawn.undrawn());
    };
    let verdict = match attempt(arena, scanned, left, Other::Family(other, right), budget) {
        Verdict::Unknown(Reason::NotRealised { .. }) if left.coarse || right.coarse => {
            let (Some(left), Some(right)) = (scanned.layout.fine(arena), other.fine(arena)) else {
                return Verdict::Unknown(not_realised(&[left, right]));
            };
            attempt(arena, scanned, &left, Other::Family(other, &right), budget)
        }
        verdict => verdict,
    };
    match verdict {
        Verdict::Unknown(reason) if scanned.scan.end == ScanEnd::Prefix => {
            listed::leaks(scanned, other, budget)
                .or_else(|| drawn_otherwise(arena, scanned, Some(other), budget))
                .unwrap_or(Verdict::Unknown(reason))
        }
        verdict => verdict,
    }
}

/// The same by drawings that see other things; without another family, of the rows of its own.
fn drawn_otherwise(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    other: Option<&Layout<'_>>,
    budget: &mut Budget,
) -> Option<Verdict> {
    if !scanned.layout.is_loose() && !other.is_some_and(Layout::is_loose) {
        return None;
    }
    budget.with_at_most(MOST_OTHERWISE, |budget| {
        Precision::OTHERS.into_iter().find_map(|precision| {
            let drawing = scanned.layout.drawn(arena, precision)?;
            let verdict = match other {
                Some(other) => {
                    let right = other.drawn(arena, precision)?;
                    attempt(arena, scanned, &drawing, Other::Family(other, &right), budget)
                }
                None => attempt(arena, scanned, &drawing, Other::Same, budget),
            };
            match verdict {
                Verdict::Unknown(_) => None,
                verdict => Some(verdict),
            }
        })
    })
}

/// Decides whether no key of `other` is left when the rows that are not of the scan's family are dropped.
///
/// Every key of the family begins with a prefix of the scan, that of its own arguments: a row of another family is taken
/// for one of this exactly if the two share a key.
pub(crate) fn foreign_if_filtered(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    other: &Layout<'_>,
    budget: &mut Budget,
) -> Verdict {
    match disjoint(arena, scanned.layout, other, budget) {
        Verdict::Fails(witness) => match *witness {
            Witness::SameKey { first, second } => {
                let (own, row) = if first.family == other.path { (second, first) } else { (first, second) };
                let scan = scanned.bound_of(&own.values).and_then(|bound| scanned.side(&bound));
                match scan.and_then(|scan| scanned.leak(scan, row)) {
                    Some(witness) => Verdict::Fails(Box::new(witness)),
                    None => Verdict::Unknown(Reason::NotRealised { loose: Vec::new() }),
                }
            }
            _ => Verdict::Unknown(Reason::NotRealised { loose: Vec::new() }),
        },
        verdict => verdict,
    }
}

/// Decides whether no key of the family with other bound arguments begins with a prefix of the scan.
pub(crate) fn siblings(arena: &mut Arena, scanned: Scanned<'_, '_>, budget: &mut Budget) -> Verdict {
    match begin_alike(arena, scanned, budget) {
        Verdict::Unknown(reason) if scanned.scan.end == ScanEnd::Prefix => {
            let listed = listed::leaks(scanned, scanned.layout, budget);
            listed.unwrap_or_else(|| match twin_bound(arena, scanned, budget) {
                Some(witness) => Verdict::Fails(Box::new(witness)),
                None => Verdict::Unknown(reason),
            })
        }
        verdict => verdict,
    }
}

/// The scan by one of two lists of bound arguments with the same bytes, and a row of the other.
fn twin_bound(arena: &mut Arena, scanned: Scanned<'_, '_>, budget: &mut Budget) -> Option<Witness> {
    let layout = scanned.layout;
    let (a, b) = twin_rows(arena, layout.sequence, scanned.scan.bound, budget)?;
    let scan = scanned.side(&scanned.bound_of(&a)?)?;
    scanned.leak(scan, Side::key(layout.path, layout.sequence, &b)?)
}

/// The same by the graph.
fn begin_alike(arena: &mut Arena, scanned: Scanned<'_, '_>, budget: &mut Budget) -> Verdict {
    let verdict = told_apart(arena, scanned, budget);
    match (&verdict, lossless(arena, scanned.layout.path, &scanned.prefix())) {
        (Verdict::Holds | Verdict::Assumed(_), Some(Verdict::Fails(witness))) => {
            match merged(arena, scanned, &witness) {
                Some(witness) => Verdict::Fails(Box::new(witness)),
                None => {
                    Verdict::Unknown(Reason::NotRealised { loose: vec!["an encoding loses information"] })
                }
            }
        }
        (Verdict::Holds | Verdict::Assumed(_), Some(unknown @ Verdict::Unknown(_))) => unknown,
        _ => verdict,
    }
}

/// A row of one of two bound arguments that a lossy encoding writes alike, for the scan by the other.
fn merged(arena: &mut Arena, scanned: Scanned<'_, '_>, witness: &Witness) -> Option<Witness> {
    let Witness::SameKey { first, second } = witness else { return None };
    let sequence = scanned.layout.sequence;
    let bound = sequence.arguments_before(scanned.scan.segments);
    let mut row = second.values.get(..bound)?.to_vec();
    for argument in sequence.arguments().skip(row.len()) {
        row.push(least_value(arena, &argument.shape)?);
    }
    let mut values = first.values.clone();
    if scanned.scan.part.is_some() {
        // What is derived from the row's own arguments is bound with them.
        *values.last_mut()? = scanned.bound_of(&row)?.pop()?;
    }
    scanned.leak(scanned.side(&values)?, Side::key(scanned.layout.path, sequence, &row)?)
}

/// The same, apart from what a lossy encoding merges.
fn told_apart(arena: &mut Arena, scanned: Scanned<'_, '_>, budget: &mut Budget) -> Verdict {
    let Some(drawing) = &scanned.layout.drawing else { return Verdict::Unknown(scanned.layout.undrawn()) };
    let verdict = match attempt(arena, scanned, drawing, Other::Same, budget) {
        Verdict::Unknown(Reason::NotRealised { .. }) if drawing.coarse => match scanned.layout.fine(arena) {
            Some(drawing) => attempt(arena, scanned, &drawing, Other::Same, budget),
            None => Verdict::Unknown(not_realised(&[drawing])),
        },
        verdict => verdict,
    };
    let front = scanned.layout.sequence.segments().get(..scanned.scan.segments);
    match verdict {
        Verdict::Unknown(_) if front.is_some_and(|front| Ends { arena, budget }.are_delimited(front)) => {
            Verdict::Holds
        }
        Verdict::Unknown(reason) => {
            drawn_otherwise(arena, scanned, None, budget).unwrap_or(Verdict::Unknown(reason))
        }
        verdict => verdict,
    }
}

/// Whose rows are looked for.
#[derive(Clone, Copy)]
enum Other<'a, 'p> {
    Family(&'a Layout<'p>, &'a Drawing),
    /// The scan's own family, with other bound arguments.
    Same,
}

fn attempt(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    drawing: &Drawing,
    other: Other<'_, '_>,
    budget: &mut Budget,
) -> Verdict {
    let stop = scanned.stop();
    let goal = Goal::Prefix { stop };
    let outcome = match other {
        Other::Family(_, right) => Product::new(arena, goal).meeting(drawing.start, right.start, budget),
        Other::Same => Product::new(arena, goal).siblings(drawing.start, stop, budget),
    };
    let told_apart = match other {
        Other::Family(..) => true,
        Other::Same => drawing.hidden.iter().all(|shape| contents_injective(arena, shape, budget, 0)),
    };
    if outcome == Outcome::Never && told_apart {
        return match other {
            Other::Family(..) => Verdict::Holds,
            Other::Same => unless(drawing.hashes.iter().copied()),
        };
    }
    if budget.is_spent() {
        return Verdict::Unknown(Reason::TooManySteps);
    }
    let drawings = match other {
        Other::Family(_, right) => vec![drawing, right],
        Other::Same => vec![drawing],
    };
    if drawings.iter().any(|drawing| drawing.measured) {
        return Verdict::Unknown(not_realised(&drawings));
    }
    let mut search = match other {
        Other::Family(_, right) => Search::of_two(arena, goal, drawing.start, right.start),
        Other::Same => Search::of_one(arena, goal, drawing.start),
    };
    let prefix = scanned.prefix();
    let layout = match other {
        Other::Family(layout, _) => layout,
        Other::Same => scanned.layout,
    };
    let effort = &mut Effort::new();
    let known = &Preimages::of(&[scanned.layout.sequence, layout.sequence]);
    let mut realiser = Realiser { scanned, prefix: &prefix, layout, known, by_digest: Vec::new() };
    let mut words = Vec::new();
    for _ in 0..MOST_WORDS {
        let Some(found) = search.next() else { break };
        let cut = found.common.len();
        let mut row = found.common;
        row.extend(found.second);
        let found = realiser.realise(&row, Some(cut), effort);
        budget.spend(search.cost() + effort.used());
        if let Some(witness) = found {
            return Verdict::Fails(Box::new(witness));
        }
        words.push((row, cut));
    }
    for (word, cut) in words.iter().take(MOST_MENDED) {
        let again = realiser.grounded(word, *cut, effort);
        let again = again.into_iter().chain(written_again(scanned, &prefix, layout, word, *cut, effort));
        for (row, cut) in again {
            if let Some(witness) = realiser.realise(&row, Some(cut), effort) {
                return Verdict::Fails(Box::new(witness));
            }
        }
        if let Some(witness) = begun(arena, scanned, &prefix, layout, word.get(..*cut), effort) {
            return Verdict::Fails(Box::new(witness));
        }
    }
    for (row, cut) in words.into_iter().take(MOST_MENDED) {
        for row in mended(arena, layout, &row, effort) {
            if let Some(witness) = realiser.realise(&row, Some(cut), effort) {
                return Verdict::Fails(Box::new(witness));
            }
        }
    }
    for values in sample::rows(layout.sequence, MOST_SAMPLES) {
        if effort.is_spent() {
            break;
        }
        let Some(side) = Side::key(layout.path, layout.sequence, &values) else { continue };
        if let Some(witness) = realiser.realise(&side.bytes, None, effort) {
            return Verdict::Fails(Box::new(witness));
        }
    }
    if outcome == Outcome::Exhausted {
        return Verdict::Unknown(Reason::TooManySteps);
    }
    if outcome == Outcome::Never {
        return Verdict::Unknown(Reason::Contents);
    }
    let hashes = scanned.layout.hashes().chain(layout.hashes());
    match hashes.min_by_key(|&(hash, keep)| (keep, hash)) {
        Some((hash, keep)) if !realiser.by_digest.is_empty() && keep >= SAFE_DIGEST => {
            realiser.by_chance(Assumption { hash, keep }, budget)
        }
        _ => Verdict::Unknown(not_realised(&drawings)),
    }
}

/// A row that begins with a prefix, put together from its front.
fn begun(
    arena: &mut Arena,
    scanned: Scanned<'_, '_>,
    prefix: &Sequence,
    layout: &Layout<'_>,
    front: Option<&[u8]>,
    effort: &mut Effort,
) -> Option<Witness> {
    let front = front?;
    let bound = read(prefix, front, 2, effort);
    let values = beginning(arena, layout.sequence, front, effort).filter(|_| !bound.is_empty())?;
    let row = Side::key(layout.path, layout.sequence, &values)?;
    bound.iter().filter(|bound| grounded(bound)).find_map(|bound| {
        let scan = scanned.side(bound)?;
        grounded(&row.values).then(|| scanned.leak(scan, row.clone())).flatten()
    })
}

/// Keys made of a word that is not a key, each with where a prefix of it ends: a copy, a derived part or a hash that does not fit is
/// written again, first in the prefix and then in the row.
fn written_again(
    scanned: Scanned<'_, '_>,
    prefix: &Sequence,
    layout: &Layout<'_>,
    word: &[u8],
    cut: usize,
    effort: &mut Effort,
) -> Vec<(Vec<u8>, usize)> {
    let (front, rest) = word.split_at_checked(cut).sure("a prefix of the word");
    let mut fronts: Vec<Vec<u8>> = vec![front.to_vec()];
    let bound = rewritten(prefix, front, 4, effort).into_iter();
    fronts.extend(bound.filter_map(|values| Some(scanned.side(&values)?.bytes)));
    let mut found = Vec::new();
    for front in fronts {
        let word = [front.as_slice(), rest].concat();
        for values in rewritten(layout.sequence, &word, 4, effort) {
            found.extend(
                Side::key(layout.path, layout.sequence, &values).map(|side| (side.bytes, front.len())),
            );
        }
    }
    found
}

/// Keys that begin like a word that is not a key: as many of its first arguments as can be read, and after them the
/// shortest others. The word may fail at a checksum or at a copy, which are free in the graph.
fn mended(arena: &mut Arena, layout: &Layout<'_>, word: &[u8], effort: &mut Effort) -> Vec<Vec<u8>> {
    let segments = layout.sequence.segments();
    let mut found = Vec::new();
    for count in (1..segments.len()).rev() {
        let front = Sequence::new(sure::front(segments, count).to_vec());
        let width = front.width();
        for cut in (0..=word.len().min(128)).rev().filter(|&cut| width.admits(cut)) {
            for mut row in read(&front, sure::front(word, cut), 2, effort) {
                for argument in layout.sequence.arguments().skip(row.len()) {
                    row.extend(least_value(arena, &argument.shape));
                }
                found.extend(Side::key(layout.path, layout.sequence, &row).map(|side| side.bytes));
            }
        }
        if !found.is_empty() || effort.is_spent() {
            break;
        }
    }
    found
}

/// Turns words of the graph into witnesses.
struct Realiser<'a, 'p> {
    scanned: Scanned<'a, 'p>,
    prefix: &'a Sequence,
    /// The layout of the rows.
    layout: &'a Layout<'p>,
    known: &'a Preimages,
    /// Words that are no witnesses only because nobody knows whose digests they hold, each with where the prefix ends.
    by_digest: Vec<(Vec<u8>, usize)>,
}

impl Realiser<'_, '_> {
    /// Up to four argument lists that are written as `bytes`, with the arguments of digests where they are known.
    fn read(&self, sequence: &Sequence, bytes: &[u8], effort: &mut Effort) -> Vec<Vec<Value>> {
        let rows = read(sequence, bytes, 4, effort).into_iter();
        rows.map(|values| self.known.named(sequence, values, effort)).collect()
    }

    /// Words with the digests of arguments that are known, in the prefix and in the rest; each with where the prefix ends.
    fn grounded(&self, word: &[u8], cut: usize, effort: &mut Effort) -> Vec<(Vec<u8>, usize)> {
        let split = word.split_at_checked(cut).filter(|_| !self.by_digest.is_empty());
        let Some((front, rest)) = split else { return Vec::new() };
        let mut found = Vec::new();
        for values in read(self.prefix, front, 1, effort).iter().filter(|values| !grounded(values)) {
            for values in self.known.grounded(self.prefix, values, effort) {
                let Some(side) = self.scanned.side(&values) else { continue };
                let cut = side.bytes.len();
                found.push(([side.bytes.as_slice(), rest].concat(), cut));
            }
        }
        found.push((word.to_vec(), cut));
        let rows = found.iter().flat_map(|(word, cut)| {
            let rows = self.read(self.layout.sequence, word, effort).into_iter();
            let rows = rows.filter(|values| !grounded(values));
            let rows = rows.flat_map(|values| self.known.grounded(self.layout.sequence, &values, effort));
            rows.filter_map(|values| Side::key(self.layout.path, self.layout.sequence, &values))
                .map(|side| (side.bytes, *cut))
                .collect::<Vec<_>>()
        });
        let rows: Vec<(Vec<u8>, usize)> = rows.collect();
        found.extend(rows);
        found
    }

    /// What is known of words that hold digests: nobody hits so many bytes by chance, or some argument does.
    fn by_chance(&self, assumption: Assumption, budget: &mut Budget) -> Verdict {
        let mut open = false;
        for (word, cut) in self.by_digest.iter().take(MOST_CHANCES) {
            let effort = &mut Effort::new();
            let Some((front, rest)) = word.split_at_checked(*cut) else { continue };
            let rows = self.read(self.layout.sequence, word, effort);
            let bounds = self.read(self.prefix, front, effort);
            let row = |values| Half { sequence: self.layout.sequence, values, bytes: word };
            let bound = |values| Half { sequence: self.prefix, values, bytes: front };
            for (values, own) in
                rows.iter().take(2).flat_map(|row| bounds.iter().take(2).map(move |bound| (row, bound)))
            {
                let (row, bound) = (row(values), bound(own));
                let fits = &mut |word: &[u8]| {
                    effort.is_spent()
                        || !read(self.prefix, word.get(..*cut).unwrap_or_default(), 1, effort).is_empty()
                };
                let mut met = Vec::new();
                let mut all = Vec::new();
                if row.places().keys().any(|place| place < cut) {
                    all.push(odds(row, *cut, &bound.places(), fits, budget));
                }
                if let Some(Odds::Met(rows)) = all.last() {
                    met.extend(rows.iter().filter_map(|values| {
                        let row = Side::key(self.layout.path, self.layout.sequence, values)?;
                        let bounds = self.read(self.prefix, row.bytes.get(..*cut)?, effort);
                        bounds.into_iter().find_map(|bound| self.witness(&bound, row.clone()))
                    }));
                }
                let fits = &mut |front: &[u8]| {
                    effort.is_spent()
                        || !read(self.layout.sequence, &[front, rest].concat(), 1, effort).is_empty()
                };
                if !bound.places().is_empty() {
                    all.push(odds(bound, *cut, &row.places(), fits, budget));
                    if let Some(Odds::Met(bounds)) = all.last() {
                        met.extend(bounds.iter().filter_map(|bound| {
                            let scan = self.scanned.side(bound)?;
                            let word = [scan.bytes.as_slice(), rest].concat();
                            let rows = self.read(self.layout.sequence, &word, effort);
                            let rows = rows.iter().flat_map(|row| self.whole(row, effort));
                            let rows: Vec<Side> = rows.collect();
                            rows.into_iter().find_map(|row| self.witness(bound, row))
                        }));
                    }
                }
                if let Some(witness) = met.into_iter().next() {
                    return Verdict::Fails(Box::new(witness));
                }
                // Where no digest decides, it is something else that was not found.
                open |= all.is_empty() || all.iter().any(|odds| !matches!(odds, Odds::Safe));
            }
        }
        if open {
            Verdict::Unknown(Reason::NotRealised { loose: vec![CHANCE] })
        } else {
            Verdict::Assumed(assumption)
        }
    }

    /// A row with an argument for each of its digests.
    fn whole(&self, values: &[Value], effort: &mut Effort) -> Vec<Side> {
        let sequence = self.layout.sequence;
        let rows = if grounded(values) {
            vec![values.to_vec()]
        } else {
            self.known.grounded(sequence, values, effort)
        };
        rows.iter().filter_map(|values| Side::key(self.layout.path, sequence, values)).collect()
    }

    /// The witness that a row is, for the scan by these arguments.
    fn witness(&self, bound: &[Value], row: Side) -> Option<Witness> {
        if !grounded(bound) || !grounded(&row.values) {
            return None;
        }
        self.scanned.leak(self.scanned.side(bound)?, row)
    }

    /// Finds bound arguments whose prefix a row begins with, though the row is not theirs.
    fn realise(&mut self, row: &[u8], cut: Option<usize>, effort: &mut Effort) -> Option<Witness> {
        let (scanned, layout) = (self.scanned, self.layout);
        let rows = self.read(layout.sequence, row, effort);
        if rows.is_empty() {
            return None;
        }
        let width = self.prefix.width();
        // Near either end of a long row: the prefix of a witness ends there.
        let near = row.len().min(128);
        let far = row.len().saturating_sub(128).max(near + 1)..=row.len();
        let all = (0..=near).chain(far).filter(|&cut| width.admits(cut));
        for cut in cut.into_iter().chain(all) {
            let front = row.get(..cut).unwrap_or_default();
            if !width.admits(cut) {
                continue;
            }
            for bound in self.read(self.prefix, front, effort) {
                let same = |values: &[Value]| {
                    layout.path == scanned.layout.path
                        && scanned.scan.owns(scanned.layout.sequence, &bound, values)
                };
                for values in rows.iter().filter(|values| !same(values)) {
                    if !grounded(&bound) || !grounded(values) {
                        if self.by_digest.len() < MOST_WORDS {
                            self.by_digest.push((row.to_vec(), cut));
                        }
                        continue;
                    }
                    let row = Side::key(layout.path, layout.sequence, values)?;
                    let witness = scanned.leak(scanned.side(&bound)?, row);
                    if witness.is_some() {
                        return witness;
                    }
                }
            }
        }
        None
    }
}

//! Every guarantee of a plan, decided.

mod foreign;

use std::collections::{BTreeMap, BTreeSet};

use keyplan_plan::Engine;
use keyplan_plan::diag::Span;
use keyplan_plan::model::{AcceptKind, Family, Plan, Scan, ScanEnd, Sequence, Space};
use keyplan_plan::order::{sort, sort_by};

use crate::automaton::Arena;
use crate::guarantee::Guarantee;
use crate::guarantee::ambiguous::law::injective;
use crate::guarantee::leak::law::{Scanned, siblings};
use crate::guarantee::lossy::law::{lossless, might_lose};
use crate::guarantee::misallotted::law::allotted;
use crate::guarantee::missing::law::{siblings_in_range, whole_in_range};
use crate::guarantee::name_collision::law::Names;
use crate::guarantee::overlap::law::disjoint;
use crate::guarantee::oversize::law::fits;
use crate::guarantee::trespass::law::keeps_out;
use crate::guarantee::unordered::law::{behind_next, ordered};
use crate::layout::Layout;
use crate::lossless_twin::lossless_twin;
use crate::product::Budget;
use crate::proof::{LeftOut, More, Reason, Report, Statement, Verdict, Witness};
use crate::sure::Sure as _;

/// The steps that each family of a space adds to those of the options: what suffices for a plan of some families must not
/// run out in the middle of a larger one.
const STEPS_PER_FAMILY: u64 = 50_000;

/// How many overlaps of a family are looked for once every family that it meets has one: they have one cause, and many
/// families that all meet would make a finding for every two of them.
const MOST_OVERLAPS: usize = 4;

/// Why a family is there: the order gives places of the families that it was made of.
const PLACE: &str = "the place of a family";

/// What is asked of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The engine that the keys must fit.
    pub engine: Engine,
    /// The most steps that all proofs together may take, and some more for each family; what is left over then is
    /// unknown.
    pub steps: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { engine: Engine::Fjall, steps: 20_000_000 }
    }
}

/// Decides every guarantee of a plan.
///
/// The report is the same whatever the order of declarations, on every machine.
pub fn prove(plan: &Plan, options: &Options) -> Report {
    prove_some(plan, options, None).0
}

/// As [`prove`], only what is about `families` (all if there are none), by their paths; and the steps that it took.
pub(crate) fn prove_some(
    plan: &Plan,
    options: &Options,
    families: Option<&BTreeSet<String>>,
) -> (Report, u64) {
    let count = u64::try_from(plan.families().count()).unwrap_or(u64::MAX);
    let given = options.steps.saturating_add(count.saturating_mul(STEPS_PER_FAMILY));
    let mut budget = Budget { steps: given };
    let mut statements = Vec::new();
    let mut left_out = Vec::new();
    let mut spaces: Vec<&Space> = plan.spaces.iter().collect();
    sort_by(&mut spaces, |a, b| a.name.cmp(&b.name));
    for space in spaces {
        let mut prover = Prover {
            space,
            options,
            budget,
            arena: Arena::new(),
            statements: Vec::new(),
            only: families,
            skipped: 0,
        };
        prover.space();
        budget = prover.budget;
        if prover.skipped > 0 {
            left_out.push(LeftOut { space: space.name.clone(), pairs: prover.skipped });
        }
        sort_by(&mut prover.statements, |a, b| {
            let key = |s: &Statement| (s.guarantee, s.family.clone(), s.other.clone(), s.scan);
            key(a).cmp(&key(b))
        });
        statements.extend(prover.statements);
    }
    let steps = given.saturating_sub(budget.steps);
    (Report { statements, left_out, steps }, steps)
}

struct Prover<'p> {
    space: &'p Space,
    options: &'p Options,
    budget: Budget,
    arena: Arena,
    statements: Vec<Statement>,
    /// The families that are asked about, if not all.
    only: Option<&'p BTreeSet<String>>,
    /// Pairs of families that were not compared, because both are known to meet others.
    skipped: u64,
}

impl<'p> Prover<'p> {
    fn space(&mut self) {
        let mut families: Vec<&'p Family> = self.space.families.iter().collect();
        sort_by(&mut families, |a, b| a.path.cmp(&b.path));
        let layouts: Vec<Layout<'p>> = families
            .iter()
            .map(|family| Layout::new(&mut self.arena, &family.path, &family.key, marks(family)))
            .collect();
        let order = by_literal(&layouts);
        for (family, layout) in families.iter().zip(&layouts) {
            if !self.asked(family) {
                self.scans(family, layout, &layouts, &order, None);
                continue;
            }
            self.unambiguous(family, layout, family.name_span);
            self.lossless(family, &family.path, &family.key, family.name_span);
            let verdict = fits(&family.path, &family.key, self.options.engine.longest_key());
            self.say(family, Guarantee::Fits, verdict, family.name_span);
            if let Some(verdict) = allotted(&mut self.arena, self.space, family, layout, &mut self.budget) {
                self.say(family, Guarantee::Allotted, verdict, family.name_span);
            }
            let trespass = keeps_out(&mut self.arena, self.space, family, layout, &mut self.budget);
            if let Some((verdict, module)) = trespass {
                let statement = self.say(family, Guarantee::KeepsOut, verdict, family.name_span);
                statement.other = module.map(|module| module.path.clone());
            }
            let ambiguous = self.ambiguity(layout);
            self.scans(family, layout, &layouts, &order, ambiguous.as_ref());
            self.parts(family);
        }
        // Last, because a space of many families that meet may take all the steps that there are.
        self.disjoint(&families, &layouts, &order);
        let mut names = Names::default();
        for family in &families {
            names.add(&family.key);
        }
        if names.any() {
            self.statements.push(Statement {
                guarantee: Guarantee::DistinctNames,
                space: self.space.name.clone(),
                family: self.space.name.clone(),
                of: self.space.name.clone(),
                other: None,
                scan: None,
                more: More::default(),
                verdict: names.verdict(),
                accepted: false,
                span: self.space.span,
            });
        }
    }

    /// Whether a family is asked about.
    fn asked(&self, family: &Family) -> bool {
        self.only.is_none_or(|only| only.contains(&family.path))
    }

    /// Two argument lists of a layout with one key, if that was just found.
    fn ambiguity(&self, layout: &Layout<'_>) -> Option<Witness> {
        let own = self.statements.iter().rev().take_while(|statement| statement.family == layout.path);
        let found = own.filter(|statement| statement.guarantee == Guarantee::Unambiguous);
        found.into_iter().find_map(|statement| match &statement.verdict {
            Verdict::Fails(witness) => Some((**witness).clone()),
            _ => None,
        })
    }

    fn say(&mut self, family: &Family, guarantee: Guarantee, verdict: Verdict, span: Span) -> &mut Statement {
        let accepted = guarantee.accepted_as().is_some_and(|kind| family.accepted(kind).next().is_some());
        self.statements.push(Statement {
            guarantee,
            space: self.space.name.clone(),
            family: family.path.clone(),
            of: family.path.clone(),
            other: None,
            scan: None,
            more: More::default(),
            accepted: accepted && !matches!(verdict, Verdict::Holds | Verdict::Assumed(_)),
            verdict,
            span,
        });
        self.statements.last_mut().sure("it was just added")
    }

    /// As [`Prover::say`], of a scan.
    fn say_of_scan(
        &mut self,
        family: &Family,
        scan: &Scan,
        guarantee: Guarantee,
        verdict: Verdict,
    ) -> &mut Statement {
        let statement = self.say(family, guarantee, verdict, scan.span);
        statement.scan = Some(scan.id);
        statement
    }

    /// One statement for each pair that is not proved apart, and one for each family without such a pair. When the
    /// steps have run out, one for each family that was not compared with all others.
    ///
    /// Of families that meet many others not every pair is looked at: none is left out that would be the first of one of
    /// its two families, and none of a family whose overlaps the plan accepts.
    fn disjoint(&mut self, families: &[&Family], layouts: &[Layout<'_>], order: &Order) {
        let mut flawed: BTreeSet<usize> = BTreeSet::new();
        let mut left: BTreeSet<usize> = BTreeSet::new();
        let mut overlaps = vec![0_usize; families.len()];
        let near = layouts.iter().enumerate().flat_map(|(a, layout)| {
            order.near(layouts, &layout.literal).into_iter().filter(move |&b| b > a).map(move |b| (a, b))
        });
        for (a, b) in near {
            let layout = |index: usize| layouts.get(index).sure(PLACE);
            let family = |index: usize| *families.get(index).sure(PLACE);
            let (first, second, family, other) = (layout(a), layout(b), family(a), family(b));
            if !self.asked(family) && !self.asked(other) {
                continue;
            }
            if self.budget.is_spent() {
                let known = left.contains(&a) && left.contains(&b);
                if !known && !first.apart(second) {
                    left.extend([a, b]);
                }
                continue;
            }
            let found = |index: usize| *overlaps.get(index).sure(PLACE);
            if found(a).min(found(b)) > 0 && found(a).max(found(b)) >= MOST_OVERLAPS {
                self.skipped += u64::from(!first.apart(second));
                continue;
            }
            let verdict = disjoint(&mut self.arena, first, second, &mut self.budget);
            if verdict == Verdict::Holds {
                continue;
            }
            let accepts = |family: &Family, other: &Family| {
                family.accepted(AcceptKind::Overlap).any(|accept| accept.of.contains(&other.path))
            };
            let accepted = accepts(family, other) || accepts(other, family);
            flawed.extend([a, b]);
            if !accepted && matches!(verdict, Verdict::Fails(_)) {
                for index in [a, b] {
                    *overlaps.get_mut(index).sure(PLACE) += 1;
                }
            }
            self.statements.push(Statement {
                guarantee: Guarantee::Disjoint,
                space: self.space.name.clone(),
                family: family.path.clone(),
                of: family.path.clone(),
                other: Some(other.path.clone()),
                scan: None,
                more: More::default(),
                accepted: accepted && !matches!(verdict, Verdict::Assumed(_)),
                verdict,
                span: family.name_span,
            });
        }
        for (index, family) in families.iter().enumerate() {
            if !self.asked(family) {
                continue;
            }
            if left.contains(&index) {
                let verdict = Verdict::Unknown(Reason::TooManySteps);
                // `accept overlap` names the families that it is about.
                self.say(family, Guarantee::Disjoint, verdict, family.name_span).accepted = false;
            } else if !flawed.contains(&index) {
                self.say(family, Guarantee::Disjoint, Verdict::Holds, family.name_span);
            }
        }
    }

    /// Ambiguity, and what lossy encodings add to it.
    fn unambiguous(&mut self, family: &Family, layout: &Layout<'_>, span: Span) {
        let verdict = injective(&mut self.arena, layout, &mut self.budget);
        let lossy = lossless(&mut self.arena, layout.path, layout.sequence);
        let (verdict, lossy) = match (verdict, lossy) {
            // Two arguments with one encoding make one key.
            (Verdict::Holds | Verdict::Assumed(_), Some(Verdict::Fails(witness))) => {
                (Verdict::Fails(witness), true)
            }
            (Verdict::Holds | Verdict::Assumed(_), Some(unknown @ Verdict::Unknown(_))) => (unknown, true),
            // There may be more to it than what is lost: that is not accepted with the loss.
            (Verdict::Unknown(_), Some(Verdict::Fails(witness))) => (Verdict::Fails(witness), false),
            (verdict, _) => (verdict, false),
        };
        let statement = self.say(family, Guarantee::Unambiguous, verdict, span);
        layout.path.clone_into(&mut statement.family);
        statement.accepted |= lossy && family.accepted(AcceptKind::Lossy).next().is_some();
    }

    fn lossless(&mut self, family: &Family, path: &str, sequence: &Sequence, span: Span) {
        let kept = || might_lose(sequence).then_some(Verdict::Holds);
        let Some(verdict) = lossless(&mut self.arena, path, sequence).or_else(kept) else { return };
        path.clone_into(&mut self.say(family, Guarantee::Lossless, verdict, span).family);
    }

    /// The scans of a family; of one that is not asked about, only what they return of those that are.
    fn scans(
        &mut self,
        family: &Family,
        layout: &Layout<'_>,
        layouts: &[Layout<'_>],
        order: &Order,
        ambiguous: Option<&Witness>,
    ) {
        let asked = self.asked(family);
        for scan in &family.scans {
            let scanned = Scanned { layout, scan };
            let (verdict, other, more) = self.foreign_rows(family, scanned, layouts, order).told();
            let statement = self.say_of_scan(family, scan, Guarantee::NoForeignRows, verdict);
            statement.other = other;
            statement.more = more;
            only_named_leaks(family, statement);
            if !asked {
                continue;
            }
            let is_range = scan.end != ScanEnd::Prefix;
            let verdict = if is_range {
                siblings_in_range(&mut self.arena, scanned, &mut self.budget)
            } else {
                match siblings(&mut self.arena, scanned, &mut self.budget) {
                    // Two argument lists with one key are siblings too, where they differ in a bound argument.
                    Verdict::Unknown(reason) => ambiguous
                        .and_then(|witness| scanned.leak_of(witness))
                        .map_or(Verdict::Unknown(reason), |witness| Verdict::Fails(Box::new(witness))),
                    verdict => verdict,
                }
            };
            only_named_leaks(family, self.say_of_scan(family, scan, Guarantee::NoSiblingRows, verdict));
            if is_range {
                let verdict = whole_in_range(&mut self.arena, scanned, &mut self.budget);
                self.say_of_scan(family, scan, Guarantee::NoMissingRows, verdict);
            }
            if scan.in_order {
                let verdict = ordered(&mut self.arena, scanned, &mut self.budget);
                let by_loss = matches!(verdict, Verdict::Fails(_) | Verdict::Unknown(_))
                    && family.accepted(AcceptKind::Lossy).next().is_some()
                    && self.ordered_but_for_loss(layout, scan);
                self.say_of_scan(family, scan, Guarantee::InOrder, verdict).accepted |= by_loss;
            }
        }
    }

    /// Whether a scan would be in order if no encoding lost anything.
    fn ordered_but_for_loss(&mut self, layout: &Layout<'_>, scan: &Scan) -> bool {
        let twin = lossless_twin(layout.sequence);
        let layout = Layout::new(&mut self.arena, layout.path, &twin, layout.marks.clone());
        let scanned = Scanned { layout: &layout, scan };
        ordered(&mut self.arena, scanned, &mut self.budget) == Verdict::Holds
    }

    /// The fields of a hash, members and scores: layouts of their own, each beside the others of its family only.
    fn parts(&mut self, family: &Family) {
        let fields: Vec<(String, &Sequence, Span)> =
            family.fields.iter().map(|field| (family.path_of(&field.name), &field.key, field.span)).collect();
        let mut arena = Arena::new();
        let layouts: Vec<Layout<'_>> = fields
            .iter()
            .map(|(path, sequence, _)| Layout::new(&mut arena, path, sequence, BTreeSet::new()))
            .collect();
        std::mem::swap(&mut arena, &mut self.arena);
        for (index, (layout, (_, sequence, span))) in layouts.iter().zip(&fields).enumerate() {
            self.unambiguous(family, layout, *span);
            self.lossless(family, layout.path, sequence, *span);
            for other in layouts.iter().skip(index + 1) {
                let verdict = disjoint(&mut self.arena, layout, other, &mut self.budget);
                let (first, second) =
                    if layout.path < other.path { (layout, other) } else { (other, layout) };
                // Fields of one hash are readings of one key: whoever accepts that it is ambiguous accepts this.
                let accepted = family.accepted(AcceptKind::Ambiguous).next().is_some();
                let statement = self.say(family, Guarantee::Disjoint, verdict, *span);
                first.path.clone_into(&mut statement.family);
                statement.other = Some(second.path.to_owned());
                // `accept overlap` names families, not fields.
                statement.accepted =
                    accepted && matches!(statement.verdict, Verdict::Fails(_) | Verdict::Unknown(_));
            }
        }
        if let Some(member) = &family.member {
            let path = family.path_of("member");
            let layout = Layout::new(&mut self.arena, &path, member, BTreeSet::new());
            self.unambiguous(family, &layout, family.name_span);
            self.lossless(family, &path, member, family.name_span);
        }
        if let Some(score) = &family.score {
            self.lossless(family, &family.path_of("score"), score, family.name_span);
        }
        std::mem::swap(&mut arena, &mut self.arena);
    }
}

/// Takes back that a leak is accepted, if what accepts leaks names other families.
fn only_named_leaks(family: &Family, statement: &mut Statement) {
    let of = statement.other.as_deref().unwrap_or(&family.path);
    statement.accepted &= family.accepted_leak(of).is_some();
}

/// How much a verdict matters among several of one statement.
fn rank(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Holds => 0,
        Verdict::Assumed(_) => 1,
        Verdict::Unknown(Reason::TooManySteps) => 2,
        Verdict::Unknown(_) => 3,
        Verdict::Fails(_) => 4,
    }
}

/// The segments before which the proofs of a family look.
fn marks(family: &Family) -> BTreeSet<usize> {
    let mut marks = BTreeSet::new();
    for scan in &family.scans {
        marks.insert(scan.segments);
        if scan.end == ScanEnd::Next {
            marks.insert(family.key.scanned_segments(scan.bound.saturating_sub(1)));
        }
        if scan.in_order {
            marks.extend(behind_next(&family.key, scan.segments));
        }
    }
    marks
}

/// Layouts by their literal prefixes, so that only those that can meet are compared.
struct Order {
    /// The layouts by their exact literal prefix.
    exact: BTreeMap<Vec<u8>, Vec<usize>>,
}

fn by_literal(layouts: &[Layout<'_>]) -> Order {
    let mut exact: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
    for (index, layout) in layouts.iter().enumerate() {
        exact.entry(layout.literal.clone()).or_default().push(index);
    }
    Order { exact }
}

impl Order {
    /// The layouts whose literal prefix begins with `prefix`, or that `prefix` begins with; ascending.
    fn near(&self, layouts: &[Layout<'_>], prefix: &[u8]) -> Vec<usize> {
        let mut near: Vec<usize> = (0..prefix.len())
            .filter_map(|length| self.exact.get(prefix.get(..length)?))
            .flatten()
            .copied()
            .collect();
        let behind =
            self.exact.range(prefix.to_vec()..).take_while(|(literal, _)| literal.starts_with(prefix));
        near.extend(behind.flat_map(|(_, indices)| indices));
        sort(&mut near);
        debug_assert!(near.iter().all(|&index| index < layouts.len()));
        near
    }
}

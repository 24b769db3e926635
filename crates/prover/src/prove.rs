use std::collections::{BTreeMap, BTreeSet};

use keyplan_plan::Engine;
use keyplan_plan::diag::Span;
use keyplan_plan::model::{AcceptKind, Family, Plan, Scan, Sequence, Space};

use crate::automaton::Arena;
use crate::laws::disjoint::disjoint;
use crate::laws::injective::injective;
use crate::laws::ordered::{behind_next, ordered};
use crate::laws::scannable::{Scanned, foreign, siblings};
use crate::layout::Layout;
use crate::lossless_twin::lossless_twin;
use crate::product::Budget;
use crate::proof::{Guarantee, Reason, Report, Statement, Verdict};
use crate::rules::allotted::allotted;
use crate::rules::distinct_names::Names;
use crate::rules::fits::fits;
use crate::rules::lossless::lossless;

/// What is asked of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The engine that the keys must fit.
    pub engine: Engine,
    /// The most steps that all proofs together may take; what is left over then is unknown.
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
    let mut budget = Budget { steps: options.steps };
    let mut statements = Vec::new();
    let mut spaces: Vec<&Space> = plan.spaces.iter().collect();
    spaces.sort_by(|a, b| a.name.cmp(&b.name));
    for space in spaces {
        let mut prover = Prover { space, options, budget, arena: Arena::new(), statements: Vec::new() };
        prover.space();
        budget = prover.budget;
        prover.statements.sort_by(|a, b| {
            let key = |s: &Statement| (s.guarantee, s.family.clone(), s.other.clone(), s.scan);
            key(a).cmp(&key(b))
        });
        statements.extend(prover.statements);
    }
    Report { statements }
}

struct Prover<'p> {
    space: &'p Space,
    options: &'p Options,
    budget: Budget,
    arena: Arena,
    statements: Vec<Statement>,
}

impl<'p> Prover<'p> {
    fn space(&mut self) {
        let mut families: Vec<&'p Family> = self.space.families.iter().collect();
        families.sort_by(|a, b| a.path.cmp(&b.path));
        let layouts: Vec<Layout<'p>> = families
            .iter()
            .map(|family| Layout::new(&mut self.arena, &family.path, &family.key, marks(family)))
            .collect();
        let order = by_literal(&layouts);
        for (family, layout) in families.iter().zip(&layouts) {
            self.unambiguous(family, layout, family.name_span);
            self.lossless(family, &family.path, &family.key, family.name_span);
            let verdict = fits(&family.path, &family.key, self.options.engine.longest_key());
            self.say(family, Guarantee::Fits, verdict, family.name_span);
            if let Some(verdict) = allotted(&mut self.arena, self.space, family, layout, &mut self.budget) {
                self.say(family, Guarantee::Allotted, verdict, family.name_span);
            }
            self.scans(family, layout, &layouts, &order);
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
                other: None,
                scan: None,
                verdict: names.verdict(),
                accepted: false,
                span: self.space.span,
            });
        }
    }

    fn say(&mut self, family: &Family, guarantee: Guarantee, verdict: Verdict, span: Span) {
        let accepted = guarantee.accepted_as().is_some_and(|kind| family.accepted(kind).next().is_some());
        self.statements.push(Statement {
            guarantee,
            space: self.space.name.clone(),
            family: family.path.clone(),
            other: None,
            scan: None,
            accepted: accepted && !matches!(verdict, Verdict::Holds | Verdict::Assumed(_)),
            verdict,
            span,
        });
    }

    /// One statement for each pair that is not proved apart, and one for each family without such a pair. When the
    /// steps have run out, one for each family that was not compared with all others.
    fn disjoint(&mut self, families: &[&Family], layouts: &[Layout<'_>], order: &Order) {
        let mut flawed: BTreeSet<usize> = BTreeSet::new();
        let mut left: BTreeSet<usize> = BTreeSet::new();
        for (a, b) in order.pairs(layouts) {
            let (Some(first), Some(second)) = (layouts.get(a), layouts.get(b)) else { continue };
            if self.budget.is_spent() {
                let known = left.contains(&a) && left.contains(&b);
                if !known && !first.apart(second) {
                    left.extend([a, b]);
                }
                continue;
            }
            let verdict = disjoint(&mut self.arena, first, second, &mut self.budget);
            if verdict == Verdict::Holds {
                continue;
            }
            let (Some(family), Some(other)) = (families.get(a), families.get(b)) else { continue };
            let accepts = |family: &Family, other: &Family| {
                family.accepted(AcceptKind::Overlap).any(|accept| accept.of.contains(&other.path))
            };
            let accepted = accepts(family, other) || accepts(other, family);
            flawed.extend([a, b]);
            self.statements.push(Statement {
                guarantee: Guarantee::Disjoint,
                space: self.space.name.clone(),
                family: family.path.clone(),
                other: Some(other.path.clone()),
                scan: None,
                accepted: accepted && !matches!(verdict, Verdict::Assumed(_)),
                verdict,
                span: family.name_span,
            });
        }
        for (index, family) in families.iter().enumerate() {
            if left.contains(&index) {
                let verdict = Verdict::Unknown(Reason::TooManySteps);
                self.say(family, Guarantee::Disjoint, verdict, family.name_span);
                // `accept overlap` names the families that it is about.
                if let Some(statement) = self.statements.last_mut() {
                    statement.accepted = false;
                }
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
            (verdict, _) => (verdict, false),
        };
        self.say(family, Guarantee::Unambiguous, verdict, span);
        if let Some(statement) = self.statements.last_mut() {
            layout.path.clone_into(&mut statement.family);
            statement.accepted |= lossy && family.accepted(AcceptKind::Lossy).next().is_some();
        }
    }

    fn lossless(&mut self, family: &Family, path: &str, sequence: &Sequence, span: Span) {
        let Some(verdict) = lossless(&mut self.arena, path, sequence) else { return };
        self.say(family, Guarantee::Lossless, verdict, span);
        if let Some(statement) = self.statements.last_mut() {
            path.clone_into(&mut statement.family);
        }
    }

    fn scans(&mut self, family: &Family, layout: &Layout<'_>, layouts: &[Layout<'_>], order: &Order) {
        let ambiguous = self.statements.iter().rev().find_map(|statement| match &statement.verdict {
            Verdict::Fails(witness)
                if statement.guarantee == Guarantee::Unambiguous && statement.family == layout.path =>
            {
                Some((**witness).clone())
            }
            _ => None,
        });
        let ambiguous = ambiguous.as_ref();
        for scan in &family.scans {
            let scanned = Scanned { layout, scan };
            let near = order.near(layouts, &scanned.literal());
            let mut near: Vec<&Layout<'_>> =
                near.into_iter().filter_map(|index| layouts.get(index)).collect();
            near.retain(|other| other.path != layout.path);
            // Those with the shortest keys first: once no other has a shorter one, the witness is a shortest.
            near.sort_by_key(|other| other.sequence.width().min);
            let mut worst = Verdict::Holds;
            let mut other = None;
            for candidate in near {
                let length = candidate.sequence.width().min;
                if matches!(&worst, Verdict::Fails(witness) if witness.length() <= length) {
                    break;
                }
                if self.budget.is_spent() {
                    if rank(&worst) < rank(&Verdict::Unknown(Reason::TooManySteps)) {
                        worst = Verdict::Unknown(Reason::TooManySteps);
                        other = Some(candidate.path.to_owned());
                    }
                    break;
                }
                let verdict = foreign(&mut self.arena, scanned, candidate, &mut self.budget);
                let shorter = match (&verdict, &worst) {
                    (Verdict::Fails(new), Verdict::Fails(old)) => new.length() < old.length(),
                    _ => rank(&verdict) > rank(&worst),
                };
                if shorter {
                    worst = verdict;
                    other = Some(candidate.path.to_owned());
                }
            }
            let scan_statement = |prover: &mut Self, guarantee, verdict, other| {
                prover.say(family, guarantee, verdict, scan.span);
                if let Some(statement) = prover.statements.last_mut() {
                    statement.scan = Some(scan.bound);
                    statement.other = other;
                }
            };
            scan_statement(self, Guarantee::NoForeignRows, worst, other);
            let verdict = match siblings(&mut self.arena, scanned, &mut self.budget) {
                // Two argument lists with one key are siblings too, where they differ in a bound argument.
                Verdict::Unknown(reason) => ambiguous
                    .and_then(|witness| scanned.leak_of(witness))
                    .map_or(Verdict::Unknown(reason), |witness| Verdict::Fails(Box::new(witness))),
                verdict => verdict,
            };
            scan_statement(self, Guarantee::NoSiblingRows, verdict, None);
            if scan.in_order {
                let verdict = ordered(&mut self.arena, scanned, &mut self.budget);
                let by_loss = matches!(verdict, Verdict::Fails(_) | Verdict::Unknown(_))
                    && family.accepted(AcceptKind::Lossy).next().is_some()
                    && self.ordered_but_for_loss(layout, scan);
                scan_statement(self, Guarantee::InOrder, verdict, None);
                if let Some(statement) = self.statements.last_mut() {
                    statement.accepted |= by_loss;
                }
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
        let fields: Vec<(String, &Sequence, Span)> = family
            .fields
            .iter()
            .map(|field| (format!("{}.{}", family.path, field.name), &field.key, field.span))
            .collect();
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
                self.say(family, Guarantee::Disjoint, verdict, *span);
                if let Some(statement) = self.statements.last_mut() {
                    // `accept overlap` names families, not fields.
                    statement.accepted = false;
                    first.path.clone_into(&mut statement.family);
                    statement.other = Some(second.path.to_owned());
                    statement.accepted =
                        accepted && matches!(statement.verdict, Verdict::Fails(_) | Verdict::Unknown(_));
                }
            }
        }
        let named = |name: &str| format!("{}.{name}", family.path);
        if let Some(member) = &family.member {
            let path = named("member");
            let layout = Layout::new(&mut self.arena, &path, member, BTreeSet::new());
            self.unambiguous(family, &layout, family.name_span);
            self.lossless(family, &path, member, family.name_span);
        }
        if let Some(score) = &family.score {
            self.lossless(family, &named("score"), score, family.name_span);
        }
        std::mem::swap(&mut arena, &mut self.arena);
    }
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
        if scan.in_order {
            marks.extend(behind_next(&family.key, scan.segments));
        }
    }
    marks
}

/// Layouts by their literal prefixes, so that only those that can meet are compared.
struct Order {
    /// The indices of the layouts, by literal prefix.
    sorted: Vec<usize>,
    /// The layouts by their exact literal prefix.
    exact: BTreeMap<Vec<u8>, Vec<usize>>,
}

fn by_literal(layouts: &[Layout<'_>]) -> Order {
    let mut sorted: Vec<usize> = (0..layouts.len()).collect();
    let literal = |index: usize| layouts.get(index).map(|layout| layout.literal.as_slice());
    sorted.sort_by(|&a, &b| literal(a).cmp(&literal(b)).then(a.cmp(&b)));
    let mut exact: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
    for (index, layout) in layouts.iter().enumerate() {
        exact.entry(layout.literal.clone()).or_default().push(index);
    }
    Order { sorted, exact }
}

impl Order {
    /// The pairs of which one literal prefix begins with the other, the lesser index first.
    fn pairs(&self, layouts: &[Layout<'_>]) -> Vec<(usize, usize)> {
        let literal = |index: usize| layouts.get(index).map_or(&[][..], |layout| layout.literal.as_slice());
        let mut ancestors: Vec<usize> = Vec::new();
        let mut pairs = Vec::new();
        for &index in &self.sorted {
            while ancestors.last().is_some_and(|&last| !literal(index).starts_with(literal(last))) {
                ancestors.pop();
            }
            pairs.extend(ancestors.iter().map(|&other| (other.min(index), other.max(index))));
            ancestors.push(index);
        }
        pairs.sort_unstable();
        pairs
    }

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
        near.sort_unstable();
        debug_assert!(near.iter().all(|&index| index < layouts.len()));
        near
    }
}

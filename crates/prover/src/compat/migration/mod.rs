//! KP0031 to KP0035: a database can be carried from one plan to the next.
//!
//! [`prove_migration`] derives the mapping of two plans and decides, for each family of the old one, five obligations.
//! A refutation has keys that were really encoded; what is neither proved nor refuted is unknown.

mod derive;
pub(crate) mod diagnosis;
mod injective;
mod takes;
mod total;

use std::collections::BTreeSet;
use std::fmt;

use keyplan_plan::diag::{Code, Span};
use keyplan_plan::mapping::{Course, Mapping, Passage, Place, Route};
use keyplan_plan::model::{Family, MisfitRule, Plan, Sequence};

use self::derive::Derived;
use super::families::{all_retired, reserved};
use crate::automaton::Arena;
use crate::guarantee::Guarantee;
use crate::guarantee::overlap::law::disjoint;
use crate::layout::Layout;
use crate::product::Budget;
use crate::proof::{Assumption, Report, Side, Statement, Verdict, Witness};
use crate::prove::{Options, prove};
use crate::sure::Sure as _;

/// The steps that all products of a migration may take.
const STEPS: u64 = 10_000_000;

/// Why a route is there.
const ROUTE: &str = "a route of the mapping";

/// What must hold before rows are carried from one plan to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Obligation {
    /// Every old key has a new one.
    Total,
    /// Two old keys never become one.
    Injective,
    /// An old key tells its arguments.
    Readable,
    /// No new key is an old key that may still be there.
    Apart,
    /// Every row is moved, kept, retired or dropped by name.
    Complete,
}

impl Obligation {
    /// Every obligation.
    pub const ALL: [Self; 5] = [Self::Total, Self::Injective, Self::Readable, Self::Apart, Self::Complete];

    /// The word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Injective => "injective",
            Self::Readable => "readable",
            Self::Apart => "apart",
            Self::Complete => "complete",
        }
    }

    /// The code of a finding about it.
    pub const fn code(self) -> Code {
        match self {
            Self::Total => Code::NoNewKey,
            Self::Injective => Code::MergedKeys,
            Self::Readable => Code::UnreadableKey,
            Self::Apart => Code::CrossingKeys,
            Self::Complete => Code::UnspokenFamily,
        }
    }
}

/// What was decided of an obligation.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// It holds.
    Proved,
    /// It holds unless a hash collides.
    Assumed(Assumption),
    /// It does not hold.
    Refuted(Box<Counterexample>),
    /// Neither.
    Unknown(String),
}

/// What shows that an obligation does not hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Counterexample {
    /// An old key without a new one.
    Refused {
        /// The old key.
        old: Option<Side>,
        /// Why it has none.
        why: String,
    },
    /// Two old keys with one new key.
    Merged {
        /// The one.
        first: Side,
        /// The other.
        second: Side,
        /// The key that they would share.
        new: Vec<u8>,
    },
    /// An old key with two readings.
    TwoReadings {
        /// The one.
        first: Side,
        /// The other.
        second: Side,
    },
    /// A new key that is an old one.
    Crossing {
        /// The new key.
        new: Side,
        /// The old one, with the same bytes.
        old: Side,
    },
    /// A family that nobody speaks of.
    Unspoken {
        /// One of its keys.
        example: Option<Side>,
        /// What is missing.
        why: String,
    },
}

/// One obligation of one family, and what was decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Duty {
    /// The obligation.
    pub obligation: Obligation,
    /// The path of the old family.
    pub from: String,
    /// The path of the new family, if there is one.
    pub to: Option<String>,
    /// What was decided.
    pub decision: Decision,
    /// What the plan says is to become of rows for which it does not hold.
    pub rule: Option<MisfitRule>,
    /// For [`Obligation::Apart`]: whether the old rows stay where they are for good.
    pub lasting: bool,
    /// Where the new plan speaks of it.
    pub span: Span,
}

impl Duty {
    /// Whether a person must look at it: it is not proved, and the plan does not say what becomes of such rows.
    ///
    /// A key that crosses one which is moved too is not a finding: its rows go by a place of their own.
    pub fn is_finding(&self) -> bool {
        let proved = matches!(self.decision, Decision::Proved | Decision::Assumed(_));
        !proved && self.rule.is_none() && (self.obligation != Obligation::Apart || self.lasting)
    }

    /// Whether no row may be touched while it is open.
    ///
    /// Rows without a new key, and keys with several readings, are found by looking at the rows.
    pub fn blocks(&self) -> bool {
        let proved = matches!(self.decision, Decision::Proved | Decision::Assumed(_));
        let hopeless = matches!(&self.decision, Decision::Refuted(found)
            if matches!(**found, Counterexample::Refused { old: None, .. }));
        let always = matches!(self.obligation, Obligation::Injective | Obligation::Complete);
        !proved && (hopeless || always || self.lasting)
    }
}

/// A mapping with what was decided of it.
#[derive(Clone, Debug, PartialEq)]
pub struct MigrationProof {
    /// How rows become rows of the new plan.
    pub mapping: Mapping,
    /// What was decided, by family of the old plan.
    pub duties: Vec<Duty>,
}

impl MigrationProof {
    /// What a person must look at.
    pub fn findings(&self) -> impl Iterator<Item = &Duty> {
        self.duties.iter().filter(|duty| duty.is_finding())
    }

    /// What keeps rows from being touched.
    pub fn blockers(&self) -> impl Iterator<Item = &Duty> {
        self.duties.iter().filter(|duty| duty.blocks())
    }
}

/// Derives how rows under `old` become rows under `new`, and decides what must hold for it.
///
/// ```
/// use keyplan_prover::{Decision, Obligation, Options, prove_migration};
///
/// let plan = |text| keyplan_plan::compile("p.keyplan", text, |_| Err("none".into())).plan.expect("sound");
/// let old = plan("plan p; space s { key pool = 0x03 id: u64.dec; }");
/// let new = plan("plan p; space s { key pool = 0x13 id: u64; }");
/// let proof = prove_migration(&old, &new, &Options::default());
/// assert_eq!(proof.findings().count(), 0);
/// ```
pub fn prove_migration(old: &Plan, new: &Plan, options: &Options) -> MigrationProof {
    let Derived { mut mapping, gaps } = derive::derive(old, new);
    let reports = (prove(old, options), prove(new, options));
    let mut prover = Prover {
        old,
        new,
        reports: (&reports.0, &reports.1),
        budget: Budget { steps: STEPS },
        duties: Vec::new(),
    };
    for index in 0..mapping.routes.len() {
        let gap = gaps.iter().find(|gap| gap.route == index);
        let staged = prover.route(&mapping, index, gap);
        let route = mapping.routes.get_mut(index).sure(ROUTE);
        route.readable = matches!(prover.readable(route), Decision::Proved | Decision::Assumed(_));
        if let Course::Moved(passage) = &mut route.course {
            passage.staged = staged;
        }
    }
    MigrationProof { duties: prover.duties, mapping }
}

struct Prover<'p> {
    old: &'p Plan,
    new: &'p Plan,
    reports: (&'p Report, &'p Report),
    budget: Budget,
    duties: Vec<Duty>,
}

impl Prover<'_> {
    /// Decides the obligations of one route; gives whether its rows must go by a place of their own.
    fn route(&mut self, mapping: &Mapping, index: usize, gap: Option<&derive::Gap>) -> bool {
        let route = mapping.routes.get(index).sure(ROUTE);
        let from = &route.from.path;
        if let Some(gap) = gap {
            let (obligation, found) = match gap.kind {
                derive::GapKind::Arguments => {
                    (Obligation::Total, Counterexample::Refused { old: None, why: gap.why.clone() })
                }
                derive::GapKind::Family => {
                    let example = total::example(self.old, &route.from);
                    (Obligation::Complete, Counterexample::Unspoken { example, why: gap.why.clone() })
                }
            };
            let decision = Decision::Refuted(Box::new(found));
            self.say((from, gap.to.as_ref(), gap.span), obligation, decision, None);
            return false;
        }
        let to = match &route.course {
            Course::Moved(passage) => Some(&passage.to),
            Course::Kept { to } => Some(to),
            Course::Retired { .. } | Course::Dropped { .. } | Course::Unspoken => None,
        };
        let span =
            to.and_then(|to| to.find(self.new)).map(|(_, family)| family.name_span).unwrap_or_default();
        let about = (from.as_str(), to, span);
        self.say(about, Obligation::Complete, Decision::Proved, None);
        let readable = self.readable(route);
        if let Course::Dropped { .. } = route.course {
            // A row is deleted only if it can be of nothing else.
            self.say(about, Obligation::Readable, readable, None);
            return false;
        }
        let Course::Moved(passage) = &route.course else { return false };
        let said = (passage.rule != MisfitRule::Refuse).then_some(passage.rule);
        let total = total::total(self.old, self.new, route, passage);
        self.say(about, Obligation::Total, total, said);
        let injective = injective::injective(self.old, self.new, self.reports.1, mapping, index);
        self.say(about, Obligation::Injective, injective, None);
        // A key with several readings is never deleted, and never guessed.
        let parked = (passage.rule == MisfitRule::Park).then_some(MisfitRule::Park);
        self.say(about, Obligation::Readable, readable, parked);
        let stays = |route: &Route| matches!(route.course, Course::Retired { .. });
        let lasting = match self.apart(mapping, passage, stays) {
            Decision::Proved | Decision::Assumed(_) => self.off_reserved(passage),
            found => found,
        };
        if !matches!(lasting, Decision::Proved | Decision::Assumed(_)) {
            self.say(about, Obligation::Apart, lasting, None).lasting = true;
            return true;
        }
        let apart = self.apart(mapping, passage, |_| true);
        let staged = apart != Decision::Proved;
        self.say(about, Obligation::Apart, apart, None);
        staged
    }

    fn say(
        &mut self,
        (from, to, span): (&str, Option<&Place>, Span),
        obligation: Obligation,
        decision: Decision,
        rule: Option<MisfitRule>,
    ) -> &mut Duty {
        let (from, to) = (from.to_owned(), to.map(|to| to.path.clone()));
        self.duties.push(Duty { obligation, from, to, decision, rule, lasting: false, span });
        self.duties.last_mut().sure("it was just added")
    }

    /// Whether a key of the old family has one reading in its space.
    fn readable(&self, route: &Route) -> Decision {
        let path = route.from.path.as_str();
        let about = |statement: &&Statement| {
            let part = statement.of == path && statement.family != path;
            match statement.guarantee {
                Guarantee::Unambiguous => statement.family == path || part,
                Guarantee::Disjoint => {
                    statement.family == path || statement.other.as_deref() == Some(path) || part
                }
                Guarantee::DistinctNames | Guarantee::Lossless => statement.family == path,
                _ => false,
            }
        };
        let mut found = Vec::new();
        let mut asked = BTreeSet::new();
        for statement in self.reports.0.statements.iter().filter(about) {
            asked.insert(statement.guarantee);
            found.push(&statement.verdict);
        }
        if !asked.contains(&Guarantee::Unambiguous) || !asked.contains(&Guarantee::Disjoint) {
            return Decision::Unknown("nothing was proved of the old layout".to_owned());
        }
        worst(&found, |first, second| Counterexample::TwoReadings { first, second })
    }

    /// Whether no new key of a passage lies under a prefix that both plans keep reserved: rows of earlier plans may be there, and stay.
    fn off_reserved(&mut self, passage: &Passage) -> Decision {
        let Some((space, family)) = passage.to.find(self.new) else {
            return Decision::Unknown("the new family is not there".to_owned());
        };
        let old = self.old.spaces.iter().filter(|old| old.engine_name() == space.engine_name());
        let name_of = |prefix: &[u8]| format!("the retired prefix {}", super::Hex(prefix));
        let kept = all_retired(space);
        let stays = |prefix: &[u8]| kept.iter().any(|kept| prefix.starts_with(&kept.prefix));
        let others = old.flat_map(all_retired).filter(|entry| stays(&entry.prefix));
        let others = others.map(|entry| (name_of(&entry.prefix), reserved(&entry.prefix)));
        let others: Vec<(String, Sequence)> = others.collect();
        let name = format!("{} (new)", family.path);
        let mut arena = Arena::new();
        let layout = Layout::new(&mut arena, &name, &family.key, BTreeSet::new());
        let mut verdicts = Vec::new();
        for (title, sequence) in &others {
            let other = Layout::new(&mut arena, title, sequence, BTreeSet::new());
            verdicts.push(disjoint(&mut arena, &layout, &other, &mut self.budget));
        }
        crossing(&verdicts, &name, family)
    }

    /// Whether no new key of a passage is a key of some families of the old plan in the same place.
    fn apart(&mut self, mapping: &Mapping, passage: &Passage, of: impl Fn(&Route) -> bool) -> Decision {
        let Some((space, family)) = passage.to.find(self.new) else {
            return Decision::Unknown("the new family is not there".to_owned());
        };
        let name = format!("{} (new)", family.path);
        let mut arena = Arena::new();
        let layout = Layout::new(&mut arena, &name, &family.key, BTreeSet::new());
        let place = space.engine_name();
        let mut verdicts = Vec::new();
        for route in mapping.routes.iter().filter(|route| of(route)) {
            let Some((_, other)) =
                route.from.find(self.old).filter(|(space, _)| space.engine_name() == place)
            else {
                continue;
            };
            let other = Layout::new(&mut arena, &other.path, &other.key, BTreeSet::new());
            verdicts.push(disjoint(&mut arena, &layout, &other, &mut self.budget));
        }
        crossing(&verdicts, &name, family)
    }
}

/// Verdicts on whether the keys of a family of the new plan, which is called `name` in them, are none of the old plan's.
fn crossing(verdicts: &[Verdict], name: &str, family: &Family) -> Decision {
    let verdicts: Vec<&Verdict> = verdicts.iter().collect();
    worst(&verdicts, |first, second| {
        let (mut new, old) = if first.family == name { (first, second) } else { (second, first) };
        new.family.clone_from(&family.path);
        Counterexample::Crossing { new, old }
    })
}

/// The worst of several verdicts as a decision.
fn worst(verdicts: &[&Verdict], shown: impl Fn(Side, Side) -> Counterexample) -> Decision {
    let fails = verdicts.iter().find_map(|verdict| match verdict {
        Verdict::Fails(witness) => Some(witness),
        _ => None,
    });
    if let Some(witness) = fails {
        return match witness.as_ref() {
            Witness::SameKey { first, second } => {
                Decision::Refuted(Box::new(shown(first.clone(), second.clone())))
            }
            _ => Decision::Unknown("refuted without two keys".to_owned()),
        };
    }
    let unknown = verdicts.iter().find_map(|verdict| match verdict {
        Verdict::Unknown(reason) => Some(reason.to_string()),
        _ => None,
    });
    if let Some(reason) = unknown {
        return Decision::Unknown(reason);
    }
    let assumed = verdicts.iter().find_map(|verdict| match verdict {
        Verdict::Assumed(assumption) => Some(assumption.clone()),
        _ => None,
    });
    assumed.map_or(Decision::Proved, Decision::Assumed)
}

impl fmt::Display for Duty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.obligation.word(), self.from)?;
        if let Some(to) = &self.to {
            write!(f, " -> {to}")?;
        }
        match &self.decision {
            Decision::Proved => f.write_str(": proved"),
            Decision::Assumed(assumption) => write!(f, ": proved {assumption}"),
            Decision::Unknown(why) => write!(f, ": unknown, {why}"),
            Decision::Refuted(found) => write!(f, ": refuted, {found}"),
        }
    }
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |bytes: &[u8]| super::Hex(bytes).to_string();
        match self {
            Self::Refused { old: Some(old), why } => write!(f, "{} has no new key: {why}", hex(&old.bytes)),
            Self::Refused { old: None, why } => write!(f, "no key has a new one: {why}"),
            Self::Merged { first, second, new } => {
                write!(f, "{} and {} become {}", hex(&first.bytes), hex(&second.bytes), hex(new))
            }
            Self::TwoReadings { first, second } if first.family == second.family => {
                write!(f, "{} has two readings", hex(&first.bytes))
            }
            Self::TwoReadings { first, second } => {
                write!(f, "{} is of {} and of {}", hex(&first.bytes), first.family, second.family)
            }
            Self::Crossing { new, old } => {
                write!(f, "{} is also a key of old {}", hex(&new.bytes), old.family)
            }
            Self::Unspoken { example: Some(example), why } => write!(f, "{}: {why}", hex(&example.bytes)),
            Self::Unspoken { example: None, why } => f.write_str(why),
        }
    }
}

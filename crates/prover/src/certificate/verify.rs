//! A certificate checked against a plan.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use keyplan_plan::Engine;
use keyplan_plan::codec::Hash;
use keyplan_plan::dynamic::readings;
use keyplan_plan::model::{
    AcceptKind, Allotment, Family, Literal, Plan, ScanEnd, ScanId, Segment, Sequence, Shape,
};

use super::pruned::{Pruned, pruned};
use super::reason::{Layouts, not_its_own, retired_prefixes};
use super::witness::{Fault, Key, Keys, collide, hex};
use super::{Apart, By, Certificate, Certified, FORMAT, Ground, Ruling};
use crate::guarantee::Guarantee;
use crate::guarantee::lossy::law::{loses, might_lose};
use crate::guarantee::missing::law::range_of;
use crate::proof::{Report, Statement, Verdict, Witness};
use crate::prove::{Options, prove};

/// The most steps that a certificate may allow what is proved again: ten times as many as a proof takes by default. The
/// budget of a check is not the certificate's to set.
pub const MOST_STEPS: u64 = 200_000_000;

/// A certificate that was found to be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// How many statements there are.
    pub statements: usize,
    /// Those for which there was nothing to check, so that the prover was asked again, as `KP0005 s.k`.
    pub recomputed: Vec<String>,
}

/// Why a certificate is not one of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejected {
    /// It is written in another version of the format.
    Format {
        /// The version.
        found: u32,
    },
    /// It is of another plan.
    Plan {
        /// The plan's name and fingerprint.
        expected: String,
        /// Those of the certificate.
        found: String,
    },
    /// The values have other schemas.
    Schemas {
        /// The hash of the plan's.
        expected: String,
        /// That of the certificate.
        found: String,
    },
    /// It names an engine that does not exist.
    Engine(String),
    /// It asks for more steps than a check takes.
    Steps {
        /// The steps.
        found: u64,
        /// The most that a check takes.
        most: u64,
    },
    /// The plan makes a statement necessary that is not there.
    Missing(String),
    /// A statement is there twice, or is about something that the plan does not have.
    Surplus(String),
    /// A statement is not right.
    Wrong {
        /// The statement.
        statement: String,
        /// What is wrong.
        why: &'static str,
    },
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format { found } => write!(f, "format {found} where {FORMAT} is read"),
            Self::Plan { expected, found } => write!(f, "a certificate of {found}, not of {expected}"),
            Self::Schemas { expected, found } => {
                write!(f, "schemas of values with the hash {found}, and the plan's have {expected}")
            }
            Self::Engine(name) => write!(f, "there is no engine {name:?}"),
            Self::Steps { found, most } => {
                write!(f, "it allows proofs of {found} steps, and a check takes at most {most}")
            }
            Self::Missing(statement) => write!(f, "{statement}: missing"),
            Self::Surplus(statement) => write!(f, "{statement}: not asked of this plan"),
            Self::Wrong { statement, why } => write!(f, "{statement}: {why}"),
        }
    }
}

impl std::error::Error for Rejected {}

/// Checks a certificate against a plan, statement by statement.
pub fn verify(certificate: &Certificate, plan: &Plan) -> Result<Verified, Rejected> {
    if certificate.format != FORMAT {
        return Err(Rejected::Format { found: certificate.format });
    }
    let name = |name: &str, fingerprint: &str| format!("`{name}` ({fingerprint})");
    let expected = name(&plan.name, &plan.fingerprint().to_string());
    let found = name(&certificate.plan, &certificate.fingerprint);
    if expected != found {
        return Err(Rejected::Plan { expected, found });
    }
    let schemas = plan.schemas.digest();
    if certificate.schemas != schemas {
        let name = |digest: Option<String>| digest.unwrap_or_else(|| "none".to_owned());
        return Err(Rejected::Schemas { expected: name(schemas), found: name(certificate.schemas.clone()) });
    }
    let engine = Engine::ALL.into_iter().find(|engine| engine.name() == certificate.engine);
    let engine = engine.ok_or_else(|| Rejected::Engine(certificate.engine.clone()))?;
    if certificate.steps > MOST_STEPS {
        return Err(Rejected::Steps { found: certificate.steps, most: MOST_STEPS });
    }
    let options = Options { engine, steps: certificate.steps };
    let checker = Checker { layouts: Layouts::new(plan), options, again: OnceCell::new() };
    checker.complete(certificate)?;
    let mut recomputed = Vec::new();
    for statement in &certificate.statements {
        let wrong = |why| Rejected::Wrong { statement: shown(statement), why };
        if checker.check(statement).map_err(wrong)? == Basis::Product {
            recomputed.push(shown(statement));
        }
    }
    let expected = pruned(plan, &certificate.statements);
    let shown = |pruned: &Pruned| format!("`{}` of {}", pruned.rule, pruned.family);
    if let Some(missing) = expected.iter().find(|rule| !certificate.pruned.contains(rule)) {
        let named = certificate.pruned.iter().any(|other| other.family == missing.family);
        let why = "it does not rest on these statements, or they do not hold";
        let wrong = Rejected::Wrong { statement: shown(missing), why };
        return Err(if named { wrong } else { Rejected::Missing(shown(missing)) });
    }
    if certificate.pruned.len() != expected.len() {
        let surplus = certificate.pruned.iter().find(|rule| !expected.contains(rule));
        return Err(Rejected::Surplus(surplus.or(certificate.pruned.last()).map(shown).unwrap_or_default()));
    }
    Ok(Verified { statements: certificate.statements.len(), recomputed })
}

fn shown(statement: &Certified) -> String {
    let other = statement.other.as_ref().map(|other| format!(" and {other}")).unwrap_or_default();
    let scan = statement.scan.map(|bound| match statement.nth {
        0 => format!(", scan by {bound}"),
        nth => format!(", scan by {bound} ({nth})"),
    });
    let scan = scan.unwrap_or_default();
    format!("{} {}{other}{scan}", statement.code, statement.family)
}

/// What a statement was found to rest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basis {
    /// What the certificate gives.
    Given,
    /// The prover, asked again.
    Product,
}

/// A code, a space, a family, another, a scan.
type Subject = (String, String, String, Option<String>, Option<ScanId>);

struct Checker<'p> {
    layouts: Layouts<'p>,
    options: Options,
    again: OnceCell<Report>,
}

impl Checker<'_> {
    fn again(&self) -> &Report {
        self.again.get_or_init(|| prove(self.layouts.plan(), &self.options))
    }

    /// What the prover says of the same thing.
    fn said_again(&self, statement: &Certified) -> Option<&Statement> {
        self.again().statements.iter().find(|other| {
            other.guarantee.code() == statement.code
                && other.space == statement.space
                && other.family == statement.family
                && other.other == statement.other
                && other.scan == statement.scan_id()
        })
    }

    /// Whether every statement that the plan makes necessary is there once, and no other.
    fn complete(&self, certificate: &Certificate) -> Result<(), Rejected> {
        let mut found: BTreeSet<Subject> = BTreeSet::new();
        let mut paired: BTreeSet<(&str, &str)> = BTreeSet::new();
        let mut names: BTreeMap<Subject, String> = BTreeMap::new();
        for statement in &certificate.statements {
            let mut subject = subject(statement);
            // Of which family a scan returns rows, and which module a key lies in, is part of the verdict.
            if [Guarantee::NoForeignRows.code(), Guarantee::KeepsOut.code()]
                .contains(&statement.code.as_str())
            {
                subject.3 = None;
            }
            if statement.code == Guarantee::Disjoint.code() && statement.other.is_some() {
                paired.insert((&statement.space, &statement.family));
                paired.extend(statement.other.as_deref().map(|other| (statement.space.as_str(), other)));
            }
            names.insert(subject.clone(), shown(statement));
            if !found.insert(subject) {
                return Err(Rejected::Surplus(shown(statement)));
            }
        }
        let families: BTreeSet<(&str, &str)> = self
            .layouts
            .plan()
            .families()
            .map(|(space, family)| (space.name.as_str(), family.path.as_str()))
            .collect();
        let mut pairs = false;
        for needed in self.needed() {
            let alone = needed.0 == Guarantee::Disjoint.code() && needed.3.is_none();
            if alone && paired.contains(&(&needed.1, &needed.2)) && !found.contains(&needed) {
                pairs = true;
                continue;
            }
            if !found.remove(&needed) {
                return Err(Rejected::Missing(format!("{} {}", needed.0, needed.2)));
            }
        }
        // What is left are pairs of families that are not apart. Which ones there are only the prover can tell.
        let mut left = found.clone();
        if pairs || !left.is_empty() {
            for statement in &self.again().statements {
                let both = statement.other.as_deref().filter(|_| statement.guarantee == Guarantee::Disjoint);
                let Some(other) = both.filter(|other| families.contains(&(statement.space.as_str(), *other)))
                else {
                    continue;
                };
                let (code, other) = (statement.guarantee.code().to_owned(), Some(other.to_owned()));
                let subject = (code, statement.space.clone(), statement.family.clone(), other, None);
                if !left.remove(&subject) {
                    return Err(Rejected::Missing(format!("{} {}", subject.0, subject.2)));
                }
            }
        }
        match left.first() {
            Some(subject) => Err(Rejected::Surplus(names.remove(subject).unwrap_or_default())),
            None => Ok(()),
        }
    }

    /// The statements that the plan makes necessary, whatever their verdicts.
    fn needed(&self) -> BTreeSet<Subject> {
        let mut all = BTreeSet::new();
        for space in &self.layouts.plan().spaces {
            let mut need = |guarantee: Guarantee, path: &str, other: Option<String>, scan: Option<ScanId>| {
                all.insert((guarantee.code().to_owned(), space.name.clone(), path.to_owned(), other, scan));
            };
            let owned = space.modules.iter().any(|module| !module.prefix.is_empty());
            let retires =
                !space.retired.is_empty() || space.modules.iter().any(|module| !module.retired.is_empty());
            for family in &space.families {
                let path = family.path.as_str();
                let module = family.module.and_then(|id| space.modules.get(id.0));
                need(Guarantee::Disjoint, path, None, None);
                need(Guarantee::Fits, path, None, None);
                if owned {
                    need(Guarantee::KeepsOut, path, None, None);
                }
                if retires || module.is_some_and(|module| !module.allotments.is_empty()) {
                    need(Guarantee::Allotted, path, None, None);
                }
                for scan in &family.scans {
                    need(Guarantee::NoForeignRows, path, None, Some(scan.id));
                    need(Guarantee::NoSiblingRows, path, None, Some(scan.id));
                    if scan.end != ScanEnd::Prefix {
                        need(Guarantee::NoMissingRows, path, None, Some(scan.id));
                    }
                    if scan.in_order {
                        need(Guarantee::InOrder, path, None, Some(scan.id));
                    }
                }
                let fields = family.fields.iter().map(|field| (field.name.as_str(), &field.key));
                let member = family.member.iter().map(|member| ("member", member));
                let parts: Vec<(String, &Sequence)> =
                    fields.chain(member).map(|(name, sequence)| (family.path_of(name), sequence)).collect();
                for (path, sequence) in parts
                    .iter()
                    .map(|(path, sequence)| (path.as_str(), *sequence))
                    .chain([(path, &family.key)])
                {
                    need(Guarantee::Unambiguous, path, None, None);
                    if lossy(sequence) {
                        need(Guarantee::Lossless, path, None, None);
                    }
                }
                if family.score.as_ref().is_some_and(lossy) {
                    need(Guarantee::Lossless, &family.path_of("score"), None, None);
                }
                for (index, field) in family.fields.iter().enumerate() {
                    for other in family.fields.iter().skip(index + 1) {
                        let mut two = [family.path_of(&field.name), family.path_of(&other.name)];
                        two.sort();
                        let [first, second] = two;
                        need(Guarantee::Disjoint, &first, Some(second), None);
                    }
                }
            }
            if space.families.iter().any(|family| hashed(&family.key)) {
                need(Guarantee::DistinctNames, &space.name, None, None);
            }
        }
        all
    }

    fn check(&self, statement: &Certified) -> Result<Basis, &'static str> {
        let guarantee = Guarantee::ALL.into_iter().find(|guarantee| guarantee.code() == statement.code);
        let guarantee = guarantee.ok_or("there is no such guarantee")?;
        let basis = match &statement.verdict {
            Ruling::Holds(ground) => self.grounded(statement, guarantee, ground, None)?,
            Ruling::Assumed { hash, keep, ground } => {
                self.grounded(statement, guarantee, ground, Some((hash, *keep)))?
            }
            Ruling::Fails(keys) => self.refuted(statement, guarantee, keys)?,
            Ruling::Unknown(_) => self.asked_again(statement)?,
        };
        match self.accepts(statement, guarantee) {
            Some(accepted) if accepted == statement.accepted => Ok(basis),
            Some(true) => Err("the plan accepts it"),
            Some(false) => Err("the plan does not accept it"),
            None => self.asked_again(statement),
        }
    }

    /// Whether the plan accepts a flaw; `None` if that depends on what causes it, or on what else is flawed.
    fn accepts(&self, statement: &Certified, guarantee: Guarantee) -> Option<bool> {
        if matches!(statement.verdict, Ruling::Holds(_) | Ruling::Assumed { .. }) {
            return Some(false);
        }
        let (space, path) = (statement.space.as_str(), statement.family.as_str());
        let Some((family, _)) = self.layouts.find(space, path) else { return Some(false) };
        let has = |kind: AcceptKind| family.accepted(kind).next().is_some();
        match guarantee {
            Guarantee::Disjoint => {
                let Some(other) = statement.other.as_deref() else { return Some(false) };
                let (beside, _) = self.layouts.find(space, other)?;
                // Fields of one hash are readings of one key.
                if family.path != path || beside.path != other {
                    return Some(has(AcceptKind::Ambiguous));
                }
                let names = |one: &Family, other: &Family| {
                    one.accepted(AcceptKind::Overlap).any(|accept| accept.of.contains(&other.path))
                };
                Some(names(family, beside) || names(beside, family))
            }
            Guarantee::Unambiguous if has(AcceptKind::Ambiguous) => Some(true),
            Guarantee::Unambiguous if has(AcceptKind::Lossy) => {
                self.layouts.only_loses(space, path).then_some(true)
            }
            Guarantee::InOrder if !has(AcceptKind::Unordered) && has(AcceptKind::Lossy) => None,
            Guarantee::NoForeignRows => {
                let other = statement.other.as_deref()?;
                if family.accepted_leak(other).is_none() {
                    return Some(false);
                }
                // A leak that is accepted is named only where no other is.
                let front = self.layouts.front(space, path, statement.scan_id())?;
                let mut others = self.layouts.others(space, path, None)?;
                others.retain(|(other, _)| family.accepted_leak(other).is_none());
                let apart = others
                    .iter()
                    .all(|(_, bytes)| front.literals_differ(bytes) || front.apart(bytes, true).is_some());
                apart.then_some(true)
            }
            Guarantee::NoSiblingRows => Some(family.accepted_leak(&family.path).is_some()),
            guarantee => Some(guarantee.accepted_as().is_some_and(has)),
        }
    }

    fn asked_again(&self, statement: &Certified) -> Result<Basis, &'static str> {
        let said = self.said_again(statement).ok_or("the prover makes no such statement")?;
        let same = match (&statement.verdict, &said.verdict) {
            (Ruling::Holds(_), Verdict::Holds) => true,
            (Ruling::Assumed { hash, keep, .. }, Verdict::Assumed(assumption)) => {
                *hash == assumption.hash.name() && *keep == assumption.keep
            }
            (Ruling::Fails(keys), Verdict::Fails(witness)) => {
                let scan = statement.scan_id();
                let scan = scan.and_then(|id| self.layouts.scan(&statement.space, &statement.family, id));
                *keys == Keys::new(&self.layouts, witness, scan)
            }
            (Ruling::Unknown(why), Verdict::Unknown(reason)) => *why == reason.to_string(),
            _ => false,
        };
        if same && said.accepted == statement.accepted {
            Ok(Basis::Product)
        } else {
            Err("the prover says otherwise")
        }
    }

    /// A statement that holds, perhaps unless a hash collides.
    fn grounded(
        &self,
        statement: &Certified,
        guarantee: Guarantee,
        ground: &Ground,
        assumed: Option<(&String, usize)>,
    ) -> Result<Basis, &'static str> {
        let (space, path) = (statement.space.as_str(), statement.family.as_str());
        match (ground, guarantee) {
            (Ground::Product, _) => self.asked_again(statement),
            _ if self.layouts.is_range(space, path, statement.scan_id()) => {
                Err("a range has no short reason")
            }
            (Ground::Apart(apart), Guarantee::Disjoint | Guarantee::NoForeignRows) if assumed.is_none() => {
                let front =
                    self.layouts.front(space, path, statement.scan_id()).ok_or("there is no such layout")?;
                let others = self.layouts.others(space, path, statement.other.as_deref());
                let mut reasons = unrepeated(apart)?;
                for (other, bytes) in others.ok_or("there is no such layout")? {
                    if front.literals_differ(&bytes) {
                        continue;
                    }
                    let by = reasons.remove(other.as_str()).ok_or("a layout is not shown to be apart")?;
                    if !front.holds(&bytes, statement.scan.is_some(), by) {
                        return Err("two layouts are not apart in the way that is given");
                    }
                }
                if reasons.is_empty() { Ok(Basis::Given) } else { Err("a reason is given for nothing") }
            }
            (Ground::Apart(apart), Guarantee::KeepsOut) if assumed.is_none() => {
                let known = self.layouts.kept_out(space, path);
                let (own, prefixes) = known.ok_or("there is no such layout")?;
                let mut reasons = unrepeated(apart)?;
                for (module, prefix) in prefixes {
                    if prefix.literals_differ(&own) {
                        continue;
                    }
                    let by = reasons.remove(module.as_str()).ok_or("a prefix is not shown to be apart")?;
                    if !prefix.holds(&own, true, by) {
                        return Err("a prefix is not apart in the way that is given");
                    }
                }
                if reasons.is_empty() { Ok(Basis::Given) } else { Err("a reason is given for nothing") }
            }
            (Ground::Apart(apart), Guarantee::Allotted) if assumed.is_none() => {
                let known = self.layouts.retired(space, path);
                let (own, prefixes) = known.ok_or("the number is not allotted as the module says")?;
                let mut reasons = unrepeated(apart)?;
                for (retired, prefix) in prefixes {
                    if prefix.literals_differ(&own) {
                        continue;
                    }
                    let by = reasons.remove(retired.as_str()).ok_or("a prefix is not shown to be apart")?;
                    if !prefix.holds(&own, true, by) {
                        return Err("a prefix is not apart in the way that is given");
                    }
                }
                if reasons.is_empty() { Ok(Basis::Given) } else { Err("a reason is given for nothing") }
            }
            (Ground::Sorted, Guarantee::InOrder) if assumed.is_none() => {
                let id = statement.scan_id().ok_or("there is no such scan")?;
                if self.layouts.sorted(space, path, id) {
                    Ok(Basis::Given)
                } else {
                    Err("an argument is not known to sort by its bytes")
                }
            }
            (Ground::Digests, Guarantee::DistinctNames) => {
                let narrowest = self.digests(space)?;
                match (assumed, narrowest) {
                    (None, None) => Ok(Basis::Given),
                    (Some((hash, keep)), Some(found))
                        if (hash.as_str(), keep) == (found.0.name(), found.1) =>
                    {
                        Ok(Basis::Given)
                    }
                    _ => Err("the hashes that must not collide are others"),
                }
            }
            (Ground::Marked, Guarantee::Unambiguous | Guarantee::NoSiblingRows) => {
                let hashes = self
                    .layouts
                    .marked(space, path, statement.scan_id())
                    .ok_or("an argument has no marked end")?;
                let narrowest = self.narrowest(space, path);
                match (assumed, narrowest) {
                    (None, _) if hashes.is_empty() => Ok(Basis::Given),
                    (Some((hash, keep)), Some(found))
                        if (hash.as_str(), keep) == (found.0.name(), found.1) =>
                    {
                        Ok(Basis::Given)
                    }
                    _ => Err("the hashes that must not collide are others"),
                }
            }
            (Ground::Short, Guarantee::Fits) if assumed.is_none() => {
                let (_, sequence) = self.layouts.find(space, path).ok_or("there is no such layout")?;
                let limit = self.options.engine.longest_key();
                let fits = sequence.longest().is_some_and(|longest| longest <= limit);
                if fits { Ok(Basis::Given) } else { Err("a key may be longer than the engine allows") }
            }
            _ => Err("a reason of another kind is needed"),
        }
    }

    /// Of the hashes of a space's keys that also take names which are not known, the one that collides most easily.
    fn digests(&self, space: &str) -> Result<Option<(Hash, usize)>, &'static str> {
        let space = self.layouts.plan().spaces.iter().find(|candidate| candidate.name == space);
        let space = space.ok_or("there is no such space")?;
        let (mut known, mut free) = (Vec::new(), Vec::new());
        for family in &space.families {
            each_constant(&family.key, &mut |literal| {
                if let Some((hash, name)) = &literal.hashed {
                    known.push((*hash, literal.bytes.clone(), name.clone()));
                }
            });
            each_shape(&family.key, &mut |shape| {
                if let Shape::Hashed { hash, keep, known: names, .. } = shape {
                    free.push((*hash, *keep));
                    let names =
                        names.iter().map(|(digest, name)| (digest.clone(), name.text.clone().into_bytes()));
                    known.extend(names.map(|(digest, name)| (*hash, digest, name)));
                }
            });
        }
        let mut names: BTreeMap<(Hash, Vec<u8>), Vec<u8>> = BTreeMap::new();
        for (hash, digest, name) in known {
            if !hash.digest(&name).starts_with(&digest) {
                return Err("a name has another digest");
            }
            if names.insert((hash, digest), name.clone()).is_some_and(|other| other != name) {
                return Err("two names have one digest");
            }
        }
        Ok(free.into_iter().min_by_key(|&(hash, keep)| (keep, hash)))
    }

    /// The hash of a layout that collides most easily.
    fn narrowest(&self, space: &str, path: &str) -> Option<(Hash, usize)> {
        let (_, sequence) = self.layouts.find(space, path)?;
        let mut all = Vec::new();
        each_shape(sequence, &mut |shape| {
            if let Shape::Hashed { hash, keep, .. } = shape {
                all.push((*hash, *keep));
            }
        });
        all.into_iter().min_by_key(|&(hash, keep)| (keep, hash))
    }

    fn refuted(
        &self,
        statement: &Certified,
        guarantee: Guarantee,
        keys: &Keys,
    ) -> Result<Basis, &'static str> {
        if *keys == Keys::Product {
            return self.asked_again(statement);
        }
        let shown = self.shows(statement, guarantee, keys);
        if shown == Some(true) { Ok(Basis::Given) } else { Err("the keys do not show it") }
    }

    /// Whether keys, encoded again, refute a statement.
    fn shows(&self, statement: &Certified, guarantee: Guarantee, keys: &Keys) -> Option<bool> {
        let (space, path) = (statement.space.as_str(), statement.family.as_str());
        let layout = |key: &Key| self.layouts.find(space, &key.family).map(|(_, sequence)| sequence);
        let own = |key: &Key| key.family == path;
        let whole = |key: &Key| key.whole(layout(key)?);
        let limit = self.options.engine.longest_key();
        Some(match (guarantee, keys) {
            (Guarantee::Disjoint, Keys::Same(a, b)) => {
                let names = BTreeSet::from([a.family.as_str(), b.family.as_str()]);
                let both = BTreeSet::from([path, statement.other.as_deref()?]);
                names == both && Witness::same_key(whole(a)?, whole(b)?).is_some()
            }
            (Guarantee::Unambiguous | Guarantee::Lossless, Keys::Same(a, b)) => {
                own(a) && own(b) && Witness::same_key(whole(a)?, whole(b)?).is_some()
            }
            (Guarantee::NoForeignRows | Guarantee::NoSiblingRows, Keys::Row(scan, row)) => {
                let claim = self.layouts.scan(space, path, statement.scan_id()?)?;
                let other = statement.other.as_deref().unwrap_or(path);
                let foreign = guarantee == Guarantee::NoForeignRows;
                let found = whole(row)?;
                // A row that the program drops, or that it wants, refutes nothing.
                let dropped = foreign && claim.filtered && readings(layout(scan)?, &found.bytes, 1).is_err();
                own(scan)
                    && row.family == other
                    && foreign == (other != path)
                    && !(foreign && claim.wants(other))
                    && !dropped
                    && claim.end == ScanEnd::Prefix
                    && {
                        let front = scan.scanned(layout(scan)?, claim)?;
                        let own = !foreign && claim.owns(layout(scan)?, &front.values, &found.values);
                        !own && found.bytes.starts_with(&front.bytes)
                    }
            }
            (
                Guarantee::NoForeignRows | Guarantee::NoSiblingRows | Guarantee::NoMissingRows,
                Keys::Range(start, row),
            ) => {
                let claim = self.layouts.scan(space, path, statement.scan_id()?)?;
                let other = statement.other.as_deref().unwrap_or(path);
                let begin = start.scanned(layout(start)?, claim)?;
                let (begin, end) = range_of(path, layout(start)?, claim, &begin.values)?;
                let (foreign, missing) =
                    (guarantee == Guarantee::NoForeignRows, guarantee == Guarantee::NoMissingRows);
                let found = whole(row)?;
                let belongs = row.family == path && found.values.starts_with(&begin.values);
                let dropped = foreign && claim.filtered && readings(layout(start)?, &found.bytes, 1).is_err();
                own(start)
                    && !dropped
                    && row.family == other
                    && foreign == (other != path)
                    && !(foreign && claim.wants(other))
                    && missing == belongs
                    && Witness::range(begin, end, found).is_some()
            }
            (Guarantee::InOrder, Keys::Disorder(a, b)) => {
                let sequence = layout(a)?;
                own(a) && own(b) && Witness::disorder(sequence, statement.scan?, whole(a)?, whole(b)?)
                    .is_some_and(|witness| matches!(&witness, Witness::Disorder { first, .. } if hex(&first.bytes) == a.bytes))
            }
            (Guarantee::InOrder, Keys::RangeEnd(end, row)) => {
                let sequence = layout(end)?;
                let claim = self.layouts.scan(space, path, statement.scan_id()?)?;
                let front = end.front(sequence, claim.segments + 1)?;
                own(end)
                    && own(row)
                    && Witness::range_end(sequence, claim.bound, front, whole(row)?).is_some()
            }
            (Guarantee::Allotted, Keys::Number { number, fault }) => {
                self.misallotted(statement, *number, fault)?
            }
            (Guarantee::DistinctNames, Keys::Digest { first, second, digest }) => {
                !digest.is_empty() && collide(first, second, digest)
            }
            (Guarantee::KeepsOut, Keys::Trespass { module, prefix, key }) => {
                let (family, _) = self.layouts.find(space, path)?;
                let space = self.layouts.plan().spaces.iter().find(|other| other.name == space)?;
                let named = not_its_own(space, family).into_iter().find(|other| other.path == *module)?;
                own(key)
                    && statement.other.as_deref() == Some(module)
                    && hex(&named.prefix) == *prefix
                    && whole(key)?.bytes.starts_with(&named.prefix)
            }
            (Guarantee::Fits, Keys::TooLong { key, limit: said }) => {
                own(key) && *said == limit && whole(key)?.bytes.len() > limit
            }
            _ => false,
        })
    }

    fn misallotted(&self, statement: &Certified, number: u8, fault: &Fault) -> Option<bool> {
        let space = self.layouts.plan().spaces.iter().find(|space| space.name == statement.space)?;
        let (family, sequence) = self.layouts.find(&statement.space, &statement.family)?;
        let module = family.module.and_then(|id| space.modules.get(id.0));
        Some(match fault {
            Fault::Taken(by) => {
                let (other, _) = self.layouts.find(&statement.space, by)?;
                let both = |family: &Family| family.number == Some(number);
                other.path != family.path && other.module == family.module && both(family) && both(other)
            }
            Fault::Outside(name) => {
                let allotment = module?.allotments.iter().find(|allotment| allotment.name == *name);
                family.number == Some(number)
                    && family.allotment.as_ref() == Some(name)
                    && !allotment.is_some_and(|allotment| allotment.contains(number))
            }
            Fault::Nowhere => {
                let all = &module?.allotments;
                let outside = |allotment: &Allotment| number < allotment.first || allotment.last < number;
                family.number == Some(number) && !all.is_empty() && all.iter().all(outside)
            }
            Fault::Absent => number == 0 && family.number.is_none() && !module?.allotments.is_empty(),
            Fault::Retired(prefix, key) => {
                let retired = retired_prefixes(space).into_iter().find(|retired| hex(retired) == *prefix)?;
                key.family == family.path
                    && retired.last().copied().unwrap_or_default() == number
                    && key.whole(sequence)?.bytes.starts_with(retired)
            }
        })
    }
}

/// The reasons by what they are about, which is never the same.
fn unrepeated(apart: &[Apart]) -> Result<BTreeMap<&str, By>, &'static str> {
    let mut reasons: BTreeMap<&str, By> = BTreeMap::new();
    for apart in apart {
        if reasons.insert(apart.other.as_str(), apart.by).is_some() {
            return Err("a layout is told apart twice");
        }
    }
    Ok(reasons)
}

fn subject(statement: &Certified) -> Subject {
    let Certified { code, space, family, other, .. } = statement;
    (code.clone(), space.clone(), family.clone(), other.clone(), statement.scan_id())
}

fn lossy(sequence: &Sequence) -> bool {
    might_lose(sequence) || sequence.arguments().any(|argument| loses(&argument.shape))
}

/// Whether a constant or an argument of a layout is hashed.
fn hashed(sequence: &Sequence) -> bool {
    let mut any = false;
    each_constant(sequence, &mut |literal| any |= literal.hashed.is_some());
    each_shape(sequence, &mut |shape| any |= matches!(shape, Shape::Hashed { .. }));
    any
}

/// Looks at every literal of a layout, at any depth.
fn each_constant(sequence: &Sequence, look: &mut dyn FnMut(&Literal)) {
    let mut in_row = |sequence: &Sequence| {
        for segment in sequence.segments() {
            if let Segment::Literal(literal) = segment {
                look(literal);
            }
        }
    };
    in_row(sequence);
    each_shape(sequence, &mut |shape| shape.rows().for_each(&mut in_row));
}

/// Looks at every shape of a layout, at any depth.
fn each_shape(sequence: &Sequence, look: &mut dyn FnMut(&Shape)) {
    for segment in sequence.segments() {
        match segment {
            Segment::Argument(argument) => each_inner(&argument.shape, look),
            Segment::Same(same) => each_inner(&same.shape, look),
            Segment::Literal(_) | Segment::Derived(_) => {}
        }
    }
}

fn each_inner(shape: &Shape, look: &mut dyn FnMut(&Shape)) {
    look(shape);
    shape.rows().for_each(|row| each_shape(row, look));
    if let Some(inner) = shape.inner() {
        each_inner(inner, look);
    }
}

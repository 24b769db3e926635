//! Verdicts against enumeration: random small plans, every value, every key.
//!
//! A plan has two families that meet more often than not: one to three arguments in a row with literals, copies and derived
//! parts between them, nested up to twice. Nineteen domains in twenty have a few values, so that all keys can be listed; they lie where
//! an encoding changes its form (254 to 257, -66 to -63, 16,382 to 16,385 …). The others are as wide as real plans have them:
//! whole integers, text and bytes without a bound, floats, times, digests; one plan in eight has texts of some hundred characters,
//! for the arithmetic of lengths. Lists have up to two elements, or no bound. Nothing is left out because it is hard to decide.
//! One plan in ten is proved again with words that change no byte: names, display forms, example prefixes, accepted flaws.
//!
//! | variable | |
//! |---|---|
//! | `KEYPLAN_BRUTE_FORCE` | how many plans are tried; a soak sets it to 1000000 |
//! | `KEYPLAN_BRUTE_FORCE_SEED` | where they begin: each seed has plans of its own |
//! | `KEYPLAN_BRUTE_FORCE_THREADS` | how many threads share them; the plans are the same for each number |
//! | `KEYPLAN_BRUTE_FORCE_UNKNOWN` | if set, every statement that is left unknown is printed with its plan |
//!
//! With `--nocapture` the counts are printed, what is left unknown with the shortest plan for each reason, and a long run tells
//! on standard error how far it is.
#![cfg(test)]

mod enumeration;
mod gaps;
mod kinds;
mod plans;
mod shortest;
mod values;
mod witness;
mod words;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use keyplan_plan::dynamic::readings;
use keyplan_plan::model::{Family, Plan, Sequence};
use keyplan_prover::{Guarantee, Options, Report, Statement, Verdict, Witness, prove};

use enumeration::{Found, Listed, enumerate, list};
use gaps::Gaps;
use plans::{Random, plan_text};
use shortest::may_be_longer;
use witness::check_witness;
use words::check_words;

/// After how many plans a thread says how far it is.
const PROGRESS: u64 = 5_000;

/// How many statements in ten thousand may be unknown: of families with realistic bounds, and of all.
///
/// The bounds of a family are realistic if its longest key fits the engine, which is what KP0010 asks: no database holds the
/// others. What a family without such bounds may do is said by keys of a length that nobody ever writes.
const MOST_UNKNOWN: u64 = 10;
const MOST_UNKNOWN_OF_ALL: u64 = 30;

/// How many plans in a hundred are proved again with words that change no byte.
const WORDED: usize = 10;

/// How many bytes of a digest are enough for no two of the listed values to share them.
const SURE_DIGEST: usize = 8;

/// How many keys of a family are read back.
const MOST_READ: usize = 8;

/// How many plans lie between two seeds.
const SEED_BITS: u32 = 32;

#[derive(Default)]
struct Tally {
    plans: u64,
    /// Statements that enumeration has a say in.
    checked: u64,
    /// Refutations that enumeration found too, and how many of them must be shortest ones.
    found: u64,
    shortest: u64,
    verdicts: BTreeMap<(Guarantee, &'static str), u64>,
    /// Statements about families with realistic bounds, and how many of them are unknown.
    realistic: [u64; 2],
    kinds: BTreeMap<&'static str, usize>,
    gaps: Gaps,
    disagreements: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.plans += other.plans;
        self.checked += other.checked;
        self.found += other.found;
        self.shortest += other.shortest;
        self.disagreements.extend(other.disagreements);
        for (own, others) in self.realistic.iter_mut().zip(other.realistic) {
            *own += others;
        }
        for (key, count) in other.verdicts {
            *self.verdicts.entry(key).or_default() += count;
        }
        for (key, count) in other.kinds {
            *self.kinds.entry(key).or_default() += count;
        }
        self.gaps.add(other.gaps);
    }

    fn disagree(&mut self, what: &str, statement: &Statement, text: &str) {
        let disagreement = format!("{what}\n{statement:?}\n{text}\n");
        // At once: a long run may be ended before its time.
        eprintln!("{disagreement}");
        self.disagreements.push(disagreement);
    }

    fn print(&self) {
        println!("{} plans, {} statements checked", self.plans, self.checked);
        println!(
            "{} refutations found by enumeration too, {} of them shortest ones",
            self.found, self.shortest
        );
        for ((guarantee, verdict), count) in &self.verdicts {
            println!("{:8} {verdict:8} {count}", guarantee.code());
        }
        for (kind, count) in &self.kinds {
            println!("{count:8} {kind}");
        }
        let (unknown, all) = (self.gaps.count(), self.verdicts.values().sum::<u64>());
        println!(
            "{unknown} of {all} statements are unknown, {} in a million",
            unknown * 1_000_000 / all.max(1)
        );
        let [bounded, open] = self.realistic;
        println!(
            "{open} of {bounded} about families with realistic bounds, {} in a million",
            open * 1_000_000 / bounded.max(1)
        );
        self.gaps.print();
    }

    /// Every kind of segment and both verdicts of every guarantee must have come up, and often.
    fn assert_reach(&self) {
        // A construct that is new to the language has to be generated here too.
        let known = |kind: &&&str| kinds::KINDS.contains(*kind) || kinds::FORMS.contains(*kind);
        let unlisted: Vec<&&str> = self.kinds.keys().filter(|kind| !known(kind)).collect();
        assert!(unlisted.is_empty(), "not in the list of kinds: {unlisted:?}");
        for form in kinds::FORMS {
            let count = self.kinds.get(form).copied().unwrap_or(0);
            assert!(count > 0 || self.plans < 10_000, "`{form}` was never reached");
        }
        for kind in kinds::KINDS {
            let count = self.kinds.get(kind).copied().unwrap_or(0);
            assert!(count as u64 >= self.plans / 1_000, "`{kind}` was reached {count} times only");
        }
        let good = |guarantee| if guarantee == Guarantee::DistinctNames { "assumed" } else { "holds" };
        for guarantee in Guarantee::ALL {
            for verdict in [good(guarantee), "fails"] {
                let count = self.verdicts.get(&(guarantee, verdict)).copied().unwrap_or(0);
                assert!(count >= self.plans / 500, "{guarantee:?} {verdict} was reached {count} times only");
            }
        }
    }
}

fn check_plan(text: &str, random: &mut Random, plan: &Plan, report: &Report, tally: &mut Tally) {
    let space = &plan.spaces[0];
    let listed: Vec<Listed<'_>> = space.families.iter().map(list).collect();
    if random.chance(WORDED) {
        match check_words(random, text, plan, report, &listed) {
            Ok(written) => {
                for word in written {
                    *tally.kinds.entry(word).or_default() += 1;
                }
            }
            Err(what) => tally.disagree(&what, &report.statements[0], text),
        }
    }
    for family in &space.families {
        kinds::count(&family.key, &mut tally.kinds);
        kinds::count_scans(family, &mut tally.kinds);
        // Where nothing can be lost there is nothing to say.
        let lossy = |s: &Statement| s.guarantee == Guarantee::Lossless && s.family == family.path;
        let keeps_all = !report.statements.iter().any(lossy);
        if let Some(what) = listed.iter().find_map(|listed| {
            (listed.family.path == family.path).then(|| misread(listed, report, keeps_all)).flatten()
        }) {
            tally.disagree(&what, &report.statements[0], text);
        }
        if keeps_all {
            *tally.verdicts.entry((Guarantee::Lossless, "holds")).or_default() += 1;
        }
    }
    for statement in &report.statements {
        let name = match &statement.verdict {
            Verdict::Holds => "holds",
            Verdict::Assumed(_) => "assumed",
            Verdict::Fails(_) => "fails",
            Verdict::Unknown(_) => "unknown",
        };
        *tally.verdicts.entry((statement.guarantee, name)).or_default() += 1;
        if let Verdict::Fails(witness) = &statement.verdict {
            let shown = catch_unwind(AssertUnwindSafe(|| check_witness(plan, statement, witness)));
            if shown.is_err() {
                tally.disagree("the witness does not show what it says", statement, text);
            }
            // What the family cannot have made is dropped: only a key of both is left.
            let scan = statement.scan.and_then(|id| plan.find(&statement.family)[0].1.scan(id));
            let filtered =
                statement.guarantee == Guarantee::NoForeignRows && scan.is_some_and(|s| s.filtered);
            if filtered && !overlap(report, statement) {
                tally.disagree("the row would be dropped", statement, text);
            }
            for more in &statement.more.leaks {
                if catch_unwind(AssertUnwindSafe(|| check_witness(plan, statement, more))).is_err() {
                    tally.disagree("another witness does not show what it says", statement, text);
                }
            }
        }
        let realistic = is_realistic(report, statement);
        tally.realistic[0] += u64::from(realistic);
        if let Verdict::Unknown(reason) = &statement.verdict {
            tally.realistic[1] += u64::from(realistic);
            let place = if realistic { "realistic" } else { "without bounds" };
            tally.gaps.note(statement, format!("{reason} ({place})"), text);
        }
        if matches!(
            statement.guarantee,
            Guarantee::DistinctNames | Guarantee::Lossless | Guarantee::Allotted | Guarantee::KeepsOut
        ) {
            continue;
        }
        tally.checked += 1;
        let (found, complete) = enumerate(statement, &listed);
        match (&statement.verdict, found) {
            (verdict, Some(Found { length, .. })) if is_sure(verdict) => {
                tally.disagree(
                    &format!("said to hold, but broken by a key of {length} bytes"),
                    statement,
                    text,
                );
            }
            (Verdict::Fails(_), None)
                if complete && statement.other.is_none() && statement.guarantee != Guarantee::Fits =>
            {
                tally.disagree("said to fail, but nothing is found by enumeration", statement, text);
            }
            (Verdict::Fails(witness), Some(Found { length, at_an_end })) => {
                tally.found += 1;
                let families: Vec<&Family> = space.families.iter().collect();
                // Rows in the wrong order are shown rather than a shorter end of a range.
                let alike = at_an_end == matches!(**witness, Witness::RangeEnd { .. });
                if alike && may_be_longer(statement, &families).is_none() {
                    tally.shortest += 1;
                    let own = witness.length();
                    if own > length {
                        tally.disagree(&format!("{own} bytes where {length} suffice"), statement, text);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Whether no listed key may break a statement: so much of a hash never collides among the few values that are listed.
fn is_sure(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Holds => true,
        Verdict::Assumed(assumption) => assumption.keep >= SURE_DIGEST,
        _ => false,
    }
}

/// What is wrong with the readings of some keys of a family: each has one, and of an unambiguous family this is the arguments
/// that the key was made of.
fn misread(listed: &Listed<'_>, report: &Report, keeps_all: bool) -> Option<String> {
    let family = listed.family;
    let proved = report.statements.iter().any(|statement| {
        statement.guarantee == Guarantee::Unambiguous
            && statement.family == family.path
            && statement.verdict == Verdict::Holds
    });
    let proved = proved && is_read_back(&family.key);
    let step = (listed.keys.len() / MOST_READ).max(1);
    listed.keys.iter().step_by(step).find_map(|(key, row)| {
        let read = match readings(&family.key, key, if proved { 2 } else { 1 }) {
            Ok(read) => read,
            // Of a layout without bounds, which is refuted: each zero may be in another element.
            Err(failure) if failure.exhausted && !proved => return None,
            Err(failure) => return Some(format!("{key:02x?} of {row:?} is not read: {failure}")),
        };
        let wrong = proved && (read.readings.len() != 1 || (keeps_all && read.readings[0] != *row));
        wrong.then(|| format!("{key:02x?} of {row:?} is read as {:?}", read.readings))
    })
}

/// Whether every argument is read back as it was given: a digest is not, nor bytes that were filled, nor a score of a server.
fn is_read_back(sequence: &Sequence) -> bool {
    let mut found = BTreeMap::new();
    kinds::count(sequence, &mut found);
    !["hashed", "fit", "height_score"].iter().any(|kind| found.contains_key(kind))
}

/// Whether every key of the families that a statement is about fits the engine.
fn is_realistic(report: &Report, statement: &Statement) -> bool {
    let fits = |family: &String| {
        report.statements.iter().any(|other| {
            other.guarantee == Guarantee::Fits && other.family == *family && other.verdict == Verdict::Holds
        })
    };
    std::iter::once(&statement.family).chain(&statement.other).all(fits)
}

/// Whether the two families of a statement are shown to share a key.
fn overlap(report: &Report, leak: &Statement) -> bool {
    let pair = |s: &Statement| [Some(s.family.clone()), s.other.clone()];
    let [own, other] = pair(leak);
    report.statements.iter().any(|statement| {
        statement.guarantee == Guarantee::Disjoint
            && matches!(statement.verdict, Verdict::Fails(_))
            && (pair(statement) == [own.clone(), other.clone()]
                || pair(statement) == [other.clone(), own.clone()])
    })
}

/// Tries every `step`th plan from `at` on, `count` of them.
fn try_plans(mut at: u64, step: u64, count: u64) -> Tally {
    let mut tally = Tally::default();
    while tally.plans < count {
        let mut random = Random(at);
        let text = plan_text(&mut random);
        at += step;
        let compiled = keyplan_plan::compile("p.keyplan", &text, |_| Err("none".to_owned()));
        let Some(plan) = compiled.plan else {
            // A part without an end before another, which the plan language itself refuses.
            let expected = compiled.errors().all(|error| error.code.id() == "KP0210");
            assert!(expected, "{text}\n{:?}", compiled.diagnostics);
            continue;
        };
        let report = prove(&plan, &Options::default());
        check_plan(&text, &mut random, &plan, &report, &mut tally);
        tally.plans += 1;
        if tally.plans.is_multiple_of(PROGRESS) {
            let wrong = tally.disagreements.len();
            eprintln!("{} of {count} plans of this thread, {wrong} disagreements", tally.plans);
        }
    }
    tally
}

#[test]
fn verdicts_agree_with_enumeration() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
    };
    let count = number("KEYPLAN_BRUTE_FORCE", 10_000);
    let first = number("KEYPLAN_BRUTE_FORCE_SEED", 1) << SEED_BITS;
    let threads = number("KEYPLAN_BRUTE_FORCE_THREADS", 2).max(1);
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|thread| {
                let share = count / threads + u64::from(thread < count % threads);
                scope.spawn(move || try_plans(first + thread, threads, share))
            })
            .collect();
        for part in parts {
            tally.add(part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
    });
    tally.print();
    let shown = tally.disagreements.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(shown.is_empty(), "{} disagreements\n{shown}", tally.disagreements.len());
    if count >= 2_000 {
        let (unknown, all) = (tally.gaps.count(), tally.verdicts.values().sum::<u64>());
        assert!(unknown * 10_000 <= MOST_UNKNOWN_OF_ALL * all, "{unknown} of {all} statements are unknown");
        let [bounded, open] = tally.realistic;
        assert!(
            open * 10_000 <= MOST_UNKNOWN * bounded,
            "{open} of {bounded} statements about families with realistic bounds are unknown"
        );
        tally.assert_reach();
    }
}

//! Plans made up at random, which have every kind of argument: what is made of them is of one mind with the encoder and the decoder
//! for plans known at run time, in every language.

use std::fmt::Write as _;
use std::thread;

use keyplan_plan::diag::Severity;
use keyplan_plan::model::Plan;
use keyplan_plan::{Compiled, compile};
use keyplan_prover::{Guarantee, Options, Report, Verdict, diagnose, prove};
use keyplan_testkit::{DOMAINS, Random, SEPARATORS};

use crate::made::{fresh, lines};
use crate::{go, model, typescript};

/// How many packages of a run are compiled together.
const BATCH: usize = 20;
/// How many plans are the spaces of one package: what a package costs a compiler is also its runtime.
const PLANS: usize = 25;
/// How many families each plan has.
const FAMILIES: usize = 3;
/// How often claims of a family are taken back.
const TRIES: usize = 8;
/// How many argument lists are made up for each layout, beside those at the edges of their domains.
const LISTS: usize = 12;

/// Derived parts, but for the argument.
const DERIVED: &[(&str, &str)] = &[
    ("crc16", " % 16384"),
    ("crc16", " % 16384 as u16.le"),
    ("crc32", ""),
    ("xxh3_64", " % 1000 as u64.leb128"),
];

/// What the families of a space hold: rows of keys and of structures are not in one.
#[derive(Clone, Copy)]
enum Holding {
    Values,
    Structures,
}

/// A family and what is claimed of it.
struct Claimed {
    /// The family but for its claims.
    text: String,
    /// Flaws that it has.
    accepts: Vec<&'static str>,
    /// Its scans in words, and whether they are in order.
    scans: Vec<(String, bool)>,
}

impl Claimed {
    fn written(&self) -> String {
        let mut text = self.text.clone();
        for flaw in &self.accepts {
            write!(text, "\n        accept {flaw} \"made at random\"").unwrap();
        }
        for (words, in_order) in &self.scans {
            write!(text, "\n        scan {words}{}", if *in_order { " in order" } else { "" }).unwrap();
        }
        text
    }

    /// Takes back what does not hold; `None` if something does not that a family cannot do without.
    fn corrected(mut self, plan: &Plan, report: &Report) -> Option<Self> {
        let family = plan.families().next()?.1;
        for statement in &report.statements {
            if statement.accepted || matches!(statement.verdict, Verdict::Holds | Verdict::Assumed(_)) {
                continue;
            }
            let words = statement.scan.and_then(|id| family.scan(id)).map(|scan| scan.words(&family.key));
            match (statement.guarantee, words) {
                (Guarantee::Unambiguous, _) => self.accepts.push("ambiguous"),
                (Guarantee::Lossless, _) => self.accepts.push("lossy"),
                (Guarantee::InOrder, Some(of)) => {
                    for (words, in_order) in &mut self.scans {
                        *in_order &= *words != of;
                    }
                }
                (_, Some(of)) => self.scans.retain(|(words, _)| *words != of),
                _ => return None,
            }
        }
        self.accepts.sort_unstable();
        self.accepts.dedup();
        Some(self)
    }

    /// The family as it holds; `None` if it does not compile, or nothing is known of it.
    fn held(mut self) -> Option<String> {
        for _ in 0..TRIES {
            let written = self.written();
            let compiled = compiled(&format!("plan one;\nspace s {{\n{written};\n}}\n"));
            if compiled.errors().next().is_some() {
                // Of some arguments there is no order, and of some derived parts no scan.
                self.scans.pop()?;
                continue;
            }
            let plan = compiled.plan?;
            let options = Options::default();
            let report = prove(&plan, &options);
            let findings = diagnose(&plan, &report, &options, "one.keyplan");
            if findings.iter().all(|finding| finding.severity() != Severity::Error) {
                return Some(written);
            }
            self = self.corrected(&plan, &report)?;
        }
        None
    }
}

struct Families(Random);

impl Families {
    fn below(&mut self, n: usize) -> usize {
        self.0.index(n)
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        self.0.choose(list)
    }

    /// The word for a family, and what it holds.
    fn holds(&mut self, holding: Holding) -> (&'static str, String) {
        let (one, two) = (self.of(DOMAINS), self.of(DOMAINS));
        match (holding, self.below(4)) {
            (Holding::Values, 0) => ("key", "\n        -> u64".to_owned()),
            (Holding::Values, 1) => ("key", "\n        -> (n: u32.leb128 rest: raw)".to_owned()),
            (Holding::Values, 2) => ("key", format!("\n        -> x: {one}")),
            (Holding::Values, _) => ("key", String::new()),
            (Holding::Structures, 0) => ("set", format!("\n        member m: {one}")),
            (Holding::Structures, 1) => {
                ("zset", format!("\n        member x: u16 m: {one}\n        score at: f64.ordered"))
            }
            (Holding::Structures, 2) => {
                ("queue", format!("\n        member m: {one}\n        score at: score"))
            }
            (Holding::Structures, _) => (
                "hash",
                format!("\n        field a = \"a\" x: {one} -> json\n        field b = \"b\" -> y: {two}"),
            ),
        }
    }

    /// A family whose flaws are accepted, and of which everything is claimed that holds. `None` if there is none of it.
    fn family(&mut self, number: usize, holding: Holding) -> Option<String> {
        let mut key = format!(" family{number} = 0x{number:02x}");
        let count = 1 + self.below(4);
        let (derived, place) = (self.below(12), self.below(count));
        let (function, rest) = self.0.choose(DERIVED);
        let part = format!(" slot = {function}(a{}){rest}", count - 1);
        for argument in 0..count {
            let (separator, domain) = (self.of(SEPARATORS), self.of(DOMAINS));
            let separator = if argument == 0 { "" } else { separator };
            // Before the argument that it is derived from, it can be bound by its value.
            let part = if derived < 2 && argument == place { part.as_str() } else { "" };
            write!(key, "{part} {separator} a{argument}: {domain}").unwrap();
        }
        match derived {
            2 | 3 => key.push_str(&part),
            4 | 5 => key.push_str(" same(a0)"),
            6 | 7 => key.push_str(" \"!\""),
            _ => {}
        }
        let (kind, holds) = self.holds(holding);
        let text = format!("    /// Family {number}.\n    {kind}{key}{holds}");
        let by = |count: usize| (0..count).map(|argument| format!("a{argument}")).collect::<Vec<_>>();
        let mut scans = vec![("all".to_owned(), true)];
        scans.extend((1..count.min(3)).map(|bound| (format!("by {}", by(bound).join(", ")), true)));
        if derived < 2 {
            let mut bound = by(place);
            bound.push("slot".to_owned());
            scans.push((format!("by {}", bound.join(", ")), false));
        }
        Claimed { text, accepts: Vec::new(), scans }.held()
    }
}

fn compiled(text: &str) -> Compiled {
    compile("one.keyplan", text, |_| Err("there are no imports".to_owned()))
}

/// How many plans at random a run makes, and with which seed: `KEYPLAN_GENERATE` and `KEYPLAN_GENERATE_SEED` for long runs.
fn wanted() -> (usize, u64) {
    let of = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let plans = of("KEYPLAN_GENERATE").and_then(|plans: u64| usize::try_from(plans).ok());
    (plans.unwrap_or(200), of("KEYPLAN_GENERATE_SEED").unwrap_or(21))
}

/// Plans at random in batches, each with its name. Each is a space of its own, and many of them are one plan, in which the same
/// names are met again.
fn at_random(mut judge: impl FnMut(Vec<(String, Compiled)>)) {
    let (plans, seed) = wanted();
    let mut random = Families(Random(seed));
    let packages = plans.div_ceil(PLANS);
    let mut batch = Vec::new();
    for number in 0..packages {
        let mut text = format!("plan random{number};\n");
        for space in 0..PLANS.min(plans - number * PLANS) {
            writeln!(text, "space s{space} {{").unwrap();
            let holding = if random.below(3) == 0 { Holding::Structures } else { Holding::Values };
            let mut families = 0;
            while families < FAMILIES {
                if let Some(family) = random.family(families, holding) {
                    text.push_str(&family);
                    text.push_str(";\n");
                    families += 1;
                }
            }
            text.push_str("}\n");
        }
        batch.push((format!("random{number}"), compiled(&text)));
        if batch.len() == BATCH || number + 1 == packages {
            judge(std::mem::take(&mut batch));
        }
    }
}

#[test]
fn every_language_is_of_one_mind_with_the_dynamic_path_on_plans_at_random() {
    let schema = model::schema();
    at_random(|plans| {
        let (module, project) = (fresh("go-random"), fresh("typescript-random"));
        let (mut packages, mut tests) = (Vec::new(), Vec::new());
        for (name, compiled) in plans {
            let lines = lines(&compiled, LISTS);
            go::package(&module, &name, &compiled, &lines);
            tests.push(typescript::module(&project, &name, &compiled, &lines));
            model::fits(&schema, &name, &compiled);
            packages.push(name);
        }
        thread::scope(|scope| {
            scope.spawn(|| {
                go::accepted(&module);
                // No vector is of these, and their generics are a third of the time that all takes to compile.
                for package in &packages {
                    std::fs::remove_file(module.join(package).join("cosmos.keyplan.go")).unwrap();
                }
                go::of_one_mind(&module, &packages);
            });
            scope.spawn(|| typescript::judged(&project, &tests));
        });
    });
}

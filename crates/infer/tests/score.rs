//! Drafts of databases that were filled from every plan of the repository, compared with those plans.
//!
//! `cargo test -p keyplan-infer --test score -- --nocapture` prints what is recovered, family by family.
#![cfg(test)]
#![expect(clippy::cast_precision_loss, reason = "counts are far below 2⁵³")]

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use keyplan_infer::{Options, infer, known_plans};
use keyplan_plan::codec::Score;
use keyplan_plan::dynamic::{Decoder, Value, encode, encode_one};
use keyplan_plan::model::{Family, FamilyKind, IntRange, LengthSet, Plan, Segment, Sequence, Shape};
use keyplan_plan::notation::Notation;
use keyplan_store::engine::{Batch, Durability, Engine, Memory, Space};
use keyplan_store::source::EngineSource;
use keyplan_testkit::Random;

/// What one argument's values are like, fixed for a family.
#[derive(Clone)]
struct Habit {
    least: u128,
    range: u128,
    words: Vec<String>,
}

impl Habit {
    fn new(random: &mut Random) -> Self {
        let (least, range) = match random.below(4) {
            0 => (1, u128::from(random.between(5, 40))),
            1 => (1, u128::from(random.between(100, 5_000))),
            2 => (u128::from(random.between(100_000, 20_000_000)), u128::from(random.between(200, 100_000))),
            _ => (0, u128::from(random.between(2, 2_000_000))),
        };
        let count = random.between(12, 150);
        let words = (0..count).map(|_| word(random)).collect();
        Self { least, range, words }
    }
}

fn word(random: &mut Random) -> String {
    let length = random.between(3, 14);
    let style = random.below(8);
    (0..length)
        .map(|at| match style {
            0 if at > 2 => char::from(b'0' + u8::try_from(random.below(10)).unwrap()),
            1 if at == 3 => '-',
            2 => char::from(b'A' + u8::try_from(random.below(26)).unwrap()),
            _ => char::from(b'a' + u8::try_from(random.below(26)).unwrap()),
        })
        .collect()
}

struct Maker<'r> {
    random: &'r mut Random,
    habits: BTreeMap<usize, Habit>,
    next: usize,
}

impl Maker<'_> {
    fn habit(&mut self) -> Habit {
        self.next += 1;
        let random = &mut *self.random;
        self.habits.entry(self.next).or_insert_with(|| Habit::new(random)).clone()
    }

    fn sequence(&mut self, sequence: &Sequence) -> Vec<Value> {
        sequence.arguments().map(|argument| self.shape(&argument.shape)).collect()
    }

    fn length(&mut self, lengths: &LengthSet) -> usize {
        if let Some(fixed) = lengths.fixed() {
            return fixed;
        }
        if let LengthSet::OneOf(all) = lengths {
            return all[usize::try_from(self.random.below(all.len() as u64)).unwrap()];
        }
        // Lengths of one argument are not all alike, and not all different.
        let least = lengths.min();
        if least <= 20 && lengths.max() == Some(255) {
            return if self.random.below(3) == 0 { 32 } else { 20 };
        }
        let most = lengths.max().unwrap_or(usize::MAX).min(least + 24);
        usize::try_from(self.random.between(least.max(1) as u64, most.max(1) as u64)).unwrap()
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| u8::try_from(self.random.below(256)).unwrap()).collect()
    }

    fn shape(&mut self, shape: &Shape) -> Value {
        let habit = self.habit();
        match shape {
            Shape::Int(int) => {
                let n = habit.least + u128::from(self.random.below(u64::try_from(habit.range).unwrap() + 1));
                match int.range {
                    IntRange::Unsigned { min, max } => {
                        let span = (max - min).saturating_add(1);
                        Value::Unsigned(if n > max || n < min { min + n % span } else { n })
                    }
                    IntRange::Signed { min, max } => {
                        let n = i128::try_from(n).unwrap();
                        let sign = if habit.least == 1 && self.random.below(2) == 0 { -1 } else { 1 };
                        Value::Signed((n * sign).clamp(min, max))
                    }
                }
            }
            Shape::Bool(_) => Value::Bool(self.random.below(2) == 0),
            Shape::Float(_) => {
                Value::Float(f64::from(u32::try_from(self.random.below(1 << 20)).unwrap()) / 8.0)
            }
            Shape::Time(_) => {
                Value::Time(1_700_000_000_000_000_000 + i128::from(self.random.below(1_u64 << 50)))
            }
            Shape::Score { .. } => Value::Score(Score::Confirmed {
                height: 800_000 + u32::try_from(self.random.below(10_000)).unwrap(),
                index: self.random.below(2_000),
            }),
            Shape::Bytes { lengths, .. } => {
                let length = self.length(lengths);
                Value::Bytes(self.bytes(length))
            }
            Shape::Text(text) => {
                let names: Vec<&str> =
                    text.names.iter().flat_map(|set| &set.names).map(|name| name.text.as_str()).collect();
                if !names.is_empty() {
                    let at = usize::try_from(self.random.below(names.len() as u64)).unwrap();
                    return Value::Text(names[at].to_owned());
                }
                for _ in 0..20 {
                    let at = usize::try_from(self.random.below(habit.words.len() as u64)).unwrap();
                    let value = Value::Text(habit.words[at].clone());
                    if encode_one(shape, &value, &mut Vec::new()).is_ok() {
                        return value;
                    }
                }
                // An alphabet of its own: base 58 and the like.
                let letters: Vec<u8> = (b'!'..=b'~').filter(|byte| text.alphabet.contains(*byte)).collect();
                let length = self.length(&text.lengths);
                let letter = |_| {
                    let at = usize::try_from(self.random.below(letters.len() as u64)).unwrap();
                    char::from(letters[at])
                };
                Value::Text((0..length).map(letter).collect())
            }
            Shape::Nibbles { lengths, .. } => {
                let length = self.length(lengths);
                Value::Nibbles(self.bytes(length).into_iter().map(|byte| byte & 15).collect())
            }
            Shape::Opaque(_) => Value::Bytes(self.bytes(4)),
            Shape::Record(sequence) => Value::Record(self.sequence(sequence)),
            Shape::Choice(alternatives) => {
                let at = usize::try_from(self.random.below(alternatives.len() as u64)).unwrap();
                Value::Choice(at, self.sequence(&alternatives[at].sequence))
            }
            Shape::Option(inner) => Value::Option(Some(Box::new(self.shape(inner)))),
            Shape::List { item, counts, .. } => {
                let count = counts.min().max(1);
                Value::List((0..count).map(|_| self.shape(item)).collect())
            }
            Shape::Framed { inner, .. }
            | Shape::Desc(inner)
            | Shape::Hashed { inner, .. }
            | Shape::HashConcat { inner, .. } => self.shape(inner),
        }
    }
}

/// Where the pieces of a key end, but for its own end; literals side by side are one piece.
fn ends(sequence: &Sequence, values: &[Value], from: usize, out: &mut BTreeSet<usize>) -> usize {
    let mut values = values.iter();
    let mut at = from;
    for segment in sequence.segments() {
        match segment {
            Segment::Literal(literal) => at += literal.bytes.len(),
            Segment::Argument(argument) => {
                out.insert(at);
                let value = values.next().unwrap();
                match (&argument.shape, value) {
                    (Shape::Record(inner), Value::Record(values)) => at = ends(inner, values, at, out),
                    (Shape::Choice(all), Value::Choice(which, values)) => {
                        at = ends(&all[*which].sequence, values, at, out);
                    }
                    (shape, value) => {
                        let mut bytes = Vec::new();
                        encode_one(shape, value, &mut bytes).unwrap();
                        at += bytes.len();
                    }
                }
                out.insert(at);
            }
            _ => {}
        }
    }
    at
}

/// Database rows of one family, with where their pieces end.
type Truth = BTreeMap<(usize, Vec<u8>), (String, BTreeSet<usize>)>;

fn keys_of(plan: &Plan, random: &mut Random) -> Truth {
    let mut truth = Truth::new();
    let mut twice = BTreeSet::new();
    for (at, space) in plan.spaces.iter().enumerate() {
        if space.families.iter().any(|family| family.kind != FamilyKind::Key) {
            continue;
        }
        for family in &space.families {
            let wanted = if family.key.argument_count() == 0 { 1 } else { random.between(40, 400) };
            let mut habits = BTreeMap::new();
            for _ in 0..wanted {
                let mut maker = Maker { random, habits, next: 0 };
                let values = maker.sequence(&family.key);
                habits = maker.habits;
                let mut key = Vec::new();
                if encode(&family.key, &values, &mut key).is_err() {
                    continue;
                }
                let mut pieces = BTreeSet::new();
                let end = ends(&family.key, &values, 0, &mut pieces);
                pieces.remove(&0);
                pieces.remove(&end);
                let row = (at, key);
                if truth.get(&row).is_some_and(|(path, _)| *path != family.path) {
                    twice.insert(row.clone());
                }
                truth.insert(row, (family.path.clone(), pieces));
            }
        }
    }
    for row in twice {
        truth.remove(&row);
    }
    truth
}

#[derive(Default)]
struct Tally {
    families: usize,
    exact: usize,
    keys: usize,
    read: usize,
    right: f64,
    drawn: f64,
    there: f64,
    claims: usize,
}

impl Tally {
    fn f1(&self) -> f64 {
        2.0 * self.right / (self.drawn + self.there)
    }

    fn add(&mut self, other: &Self) {
        self.families += other.families;
        self.exact += other.exact;
        self.keys += other.keys;
        self.read += other.read;
        self.right += other.right;
        self.drawn += other.drawn;
        self.there += other.there;
        self.claims += other.claims;
    }
}

fn score(plan: &Plan, seed: u64) -> Tally {
    let mut random = Random(seed);
    let truth = keys_of(plan, &mut random);
    let mut tally = Tally::default();
    if truth.is_empty() {
        return tally;
    }
    let mut engine = Memory::new();
    let ids: Vec<_> =
        plan.spaces.iter().map(|s| engine.create_space(&Space::map(&s.name)).unwrap()).collect();
    let mut batch = Batch::new();
    for (space, key) in truth.keys() {
        batch.put(ids[*space], key.clone(), Vec::new());
    }
    engine.commit(batch, Durability::Buffer).unwrap();
    let options = Options::default().draft(true);
    let found = infer(&EngineSource::new(engine), &options, |_| ControlFlow::Continue(())).unwrap();
    let draft = found.draft.unwrap();
    let drafted = keyplan_plan::compile("draft", &draft.text, |_| Err(String::new())).plan.unwrap();
    tally.claims = drafted.families().map(|(_, family)| family.scans.len()).sum();
    let decoder = Decoder::new(&drafted);

    // Which keys each family of the plan and of the draft has.
    let mut ours: BTreeMap<String, BTreeSet<&(usize, Vec<u8>)>> = BTreeMap::new();
    let mut theirs: BTreeMap<String, BTreeSet<&(usize, Vec<u8>)>> = BTreeMap::new();
    let mut pieces: BTreeMap<&str, (f64, f64, f64, usize)> = BTreeMap::new();
    for (row, (path, cuts)) in &truth {
        theirs.entry(path.clone()).or_default().insert(row);
        tally.keys += 1;
        let name = &plan.spaces[row.0].name;
        let index = drafted.spaces.iter().position(|space| space.engine_name() == name).unwrap();
        let Ok(read) = decoder.decode(index, &row.1) else { continue };
        tally.read += 1;
        ours.entry(read.family.path.clone()).or_default().insert(row);
        let mut drawn = BTreeSet::new();
        let end = ends(&read.family.key, &read.values, 0, &mut drawn);
        drawn.remove(&0);
        drawn.remove(&end);
        let entry = pieces.entry(path).or_default();
        entry.0 += drawn.intersection(cuts).count() as f64;
        entry.1 += drawn.len() as f64;
        entry.2 += cuts.len() as f64;
        entry.3 += 1;
    }
    for (right, drawn, there, keys) in pieces.values() {
        tally.right += right / *keys as f64;
        tally.drawn += drawn / *keys as f64;
        tally.there += there / *keys as f64;
    }
    let exact: BTreeSet<&BTreeSet<_>> = ours.values().collect();
    for (path, keys) in &theirs {
        tally.families += 1;
        let is_exact = exact.contains(keys);
        tally.exact += usize::from(is_exact);
        let family = plan.find(path)[0].1;
        report(plan, family, is_exact, pieces.get(path.as_str()), keys, &ours, &drafted);
    }
    tally
}

fn report(
    plan: &Plan,
    family: &Family,
    is_exact: bool,
    cuts: Option<&(f64, f64, f64, usize)>,
    keys: &BTreeSet<&(usize, Vec<u8>)>,
    ours: &BTreeMap<String, BTreeSet<&(usize, Vec<u8>)>>,
    drafted: &Plan,
) {
    if std::env::var("SHOW").is_err() {
        return;
    }
    let f1 = cuts.map_or(
        0.0,
        |(right, drawn, there, _)| {
            if drawn + there == 0.0 { 1.0 } else { 2.0 * right / (drawn + there) }
        },
    );
    println!(
        "  {} {f1:.2} {} = {}",
        if is_exact { "exact" } else { "  -  " },
        family.path,
        Notation::of(plan).parts(&family.key)
    );
    if !is_exact || f1 < 0.99 {
        for (path, theirs) in
            ours.iter().filter(|(_, theirs)| theirs.iter().any(|key| keys.contains(key))).take(4)
        {
            let shown = drafted.find(path)[0].1;
            println!(
                "              {} of {}: {}",
                theirs.len(),
                keys.len(),
                Notation::of(drafted).parts(&shown.key)
            );
        }
    }
}

#[test]
fn drafts_recover_the_plans_of_the_repository() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_116);
    let only = std::env::var("PLAN").unwrap_or_default();
    let mut all = Tally::default();
    for known in known_plans() {
        if !known.path.contains(&only) {
            continue;
        }
        let tally = score(&known.plan, seed);
        if tally.families == 0 {
            continue;
        }
        println!(
            "{:36} {:3} of {:3} families exact, boundaries F1 {:.3}, {} of {} keys read, {} claims",
            known.path,
            tally.exact,
            tally.families,
            tally.f1(),
            tally.read,
            tally.keys,
            tally.claims
        );
        all.add(&tally);
    }
    println!(
        "{:36} {:3} of {:3} families exact, boundaries F1 {:.3}, {} of {} keys read, {} claims",
        "all",
        all.exact,
        all.families,
        all.f1(),
        all.read,
        all.keys,
        all.claims
    );
    assert_eq!((all.read, all.claims), (all.keys, 0));
    assert!(all.exact * 10 >= all.families * 8, "{} of {} families", all.exact, all.families);
    assert!(all.f1() >= 0.9, "F1 {}", all.f1());
}

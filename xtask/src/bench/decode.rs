//! Decoding under a plan that is known at run time: the number of families must not matter.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use keyplan_plan::compile;
use keyplan_plan::dynamic::{Decoder, encode};
use keyplan_plan::model::Plan;
use xtask::fuzz::{Arbitrary, Rng};

use super::{Effort, Goal, Group, Measurement};

pub(super) struct Decode;

/// The layouts that both plans are made of, after a prefix of two bytes.
const LAYOUTS: [&str; 10] = [
    "id: u64",
    "pool: u64 tick: i64.tick9",
    "owner: bytes(20)",
    "owner: bytes(20).hex \"/\" id: u64.dec",
    "denom: text(\"a-zA-Z\", \"a-zA-Z0-9/:._-\", 3..=16) \"|\" height: u64",
    "name: text(0..=12).len8 id: u32",
    "txid: bytes(32) vout: u32",
    "base: u64.dec \"/\" quote: u64.dec",
    "namespace: bytes(0..=12).len16 key: bytes(0..=12)",
    "side: (buy: 0x00 | sell: 0x01) price: u128 order: u64",
];

const FEW: usize = LAYOUTS.len();
const MANY: usize = 300;
const KEYS: u32 = 1_000_000;

/// Keys that are timed in one go. Short enough that what disturbs one turn seldom disturbs the same keys in all turns.
const TURN: usize = 10_000;

impl Group for Decode {
    fn name(&self) -> &'static str {
        "decode"
    }

    fn measure(&self, effort: Effort) -> Result<Vec<Measurement>> {
        let (few, many) = (plan(FEW)?, plan(MANY)?);
        let (few_keys, many_keys) = keys(&few, &many)?;
        let turns = match effort {
            Effort::Quick => 5,
            Effort::Full => 25,
        };
        let (few, many) = race((&few, &few_keys), (&many, &many_keys), turns);
        let each = |time: Duration| time.as_secs_f64() * 1e9 / f64::from(KEYS);
        Ok(vec![Measurement {
            name: format!("{MANY} ÷ {FEW} families"),
            value: many.as_secs_f64() / few.as_secs_f64(),
            goal: Goal::AtMost(1.3),
            unit: "× the time",
            compared_with: format!(
                "the same {KEYS} keys of {FEW} layouts, spread over {FEW} families: {:.0} ns per key against {:.0} ns",
                each(many),
                each(few)
            ),
        }])
    }
}

/// A plan with this many families, which take turns with the layouts.
fn plan(families: usize) -> Result<Plan> {
    let mut text = String::from("plan bench;\nspace s {\n");
    for (number, layout) in LAYOUTS.iter().cycle().take(families).enumerate() {
        // Writing to a string does not fail.
        let _ = writeln!(text, "    key f{number} = 0x{number:04x} {layout};");
    }
    text.push_str("}\n");
    let compiled = compile("bench.keyplan", &text, |_| Err("no imports".to_owned()));
    let why = compiled.errors().map(|error| error.message.clone()).collect::<Vec<_>>().join("; ");
    compiled.plan.with_context(|| format!("the plan of the benchmark does not compile: {why}"))
}

/// Keys after each other in one buffer, so that reading them costs the same on both sides.
#[derive(Default)]
struct Keys {
    bytes: Vec<u8>,
    spans: Vec<(usize, usize)>,
}

impl Keys {
    fn push(&mut self, write: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        let start = self.bytes.len();
        if !write(&mut self.bytes) {
            self.bytes.truncate(start);
            return false;
        }
        self.spans.push((start, self.bytes.len()));
        true
    }

    fn decode(&self, decoder: &Decoder<'_>, turn: usize) -> Duration {
        let spans = self.spans.iter().skip(turn * TURN).take(TURN);
        let start = Instant::now();
        for &(from, to) in spans {
            let key = self.bytes.get(from..to).unwrap_or_default();
            let _ = black_box(decoder.decode(0, black_box(key)));
        }
        start.elapsed()
    }
}

/// The same arguments as keys of both plans: of the one family that has the layout, and of any of those that have it.
fn keys(few: &Plan, many: &Plan) -> Result<(Keys, Keys)> {
    let mut rng = Rng::new(11);
    let (mut few_keys, mut many_keys) = (Keys::default(), Keys::default());
    let space = |plan: &'_ Plan| plan.spaces.first().map(|space| space.families.clone()).unwrap_or_default();
    let (few, many) = (space(few), space(many));
    for _ in 0..KEYS {
        let layout = rng.below(FEW);
        let other = layout + FEW * rng.below(MANY / FEW);
        let (narrow, wide) = few.get(layout).zip(many.get(other)).context("a family is missing")?;
        // Some of what is made from noise cannot be encoded; then there is more noise.
        loop {
            let noise = rng.bytes(64);
            let values = Arbitrary::new(&noise).values(&narrow.key);
            if few_keys.push(|out| encode(&narrow.key, &values, out).is_ok()) {
                many_keys.push(|out| encode(&wide.key, &values, out).is_ok());
                break;
            }
        }
    }
    Ok((few_keys, many_keys))
}

/// The best time of each side for all keys, with the sides taking turns over the same stretch of keys.
fn race(few: (&Plan, &Keys), many: (&Plan, &Keys), turns: usize) -> (Duration, Duration) {
    let (few_decoder, many_decoder) = (Decoder::new(few.0), Decoder::new(many.0));
    let (mut few_time, mut many_time) = (Duration::ZERO, Duration::ZERO);
    for stretch in 0..few.1.spans.len().div_ceil(TURN) {
        let (mut few_best, mut many_best) = (Duration::MAX, Duration::MAX);
        for _ in 0..turns {
            few_best = few_best.min(few.1.decode(&few_decoder, stretch));
            many_best = many_best.min(many.1.decode(&many_decoder, stretch));
        }
        few_time += few_best;
        many_time += many_best;
    }
    (few_time, many_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_of_the_benchmark_makes_keys_that_decode() {
        let plan = plan(MANY).unwrap();
        let decoder = Decoder::new(&plan);
        let mut rng = Rng::new(1);
        for family in &plan.spaces[0].families {
            let mut key = Vec::new();
            while encode(&family.key, &Arbitrary::new(&rng.bytes(64)).values(&family.key), &mut key).is_err()
            {
                key.clear();
            }
            assert_eq!(
                decoder.decode(0, &key).map(|read| read.family.name.as_str()),
                Ok(family.name.as_str())
            );
        }
    }
}

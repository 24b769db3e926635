//! Inputs that the targets begin with. They follow the plans: a new family is tried without anybody's doing.

use keyplan_plan::dynamic::encode;
use keyplan_plan::model::Sequence;

use super::{Arbitrary, Kept, Rng, kept};

/// The texts of the plans, and each family in a small plan of its own.
pub(super) fn texts() -> Vec<Vec<u8>> {
    let whole = kept().iter().map(|kept| kept.text.clone());
    let alone = kept().iter().flat_map(|kept| {
        let names = kept.plan.types.iter().map(|named| named.name.as_str());
        let types = names.map(|name| format!("type {name} = bytes(4);\n")).collect::<Vec<_>>().concat();
        let families = kept.plan.families().filter_map(|(_, family)| kept.text.get(family.span.range()));
        families.map(move |family| format!("plan p;\n{types}space s {{\n    {family}\n}}\n"))
    });
    whole.chain(alone).map(String::into_bytes).collect()
}

/// For each layout, the choice of it and bytes that it makes.
pub(super) fn keys() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(2);
    let with_key = |(start, layout): (Vec<u8>, &Sequence)| {
        let noise = rng.bytes(256);
        let mut input = start;
        let values = Arbitrary::new(&noise).values(layout);
        // What was written before a refusal is as good a start.
        let _ = encode(layout, &values, &mut input);
        input
    };
    layouts().map(with_key).collect()
}

/// For each layout, the choice of it and bytes to make arguments from.
pub(super) fn noise() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(3);
    layouts().map(|(start, _)| [start, rng.bytes(96)].concat()).collect()
}

/// For each layout, the choice of an argument and its value as text.
pub(super) fn values() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(4);
    let mut inputs = Vec::new();
    for (plan, kept) in kept().iter().enumerate() {
        let layouts = kept.layouts();
        for (index, argument) in layouts.iter().flat_map(|layout| layout.arguments()).enumerate() {
            let noise = rng.bytes(96);
            let value = Arbitrary::new(&noise).value(&argument.shape);
            let text = value.display(&argument.shape).to_string();
            inputs.push([choice(plan, index).as_slice(), &[0], text.as_bytes()].concat());
        }
    }
    inputs
}

fn layouts() -> impl Iterator<Item = (Vec<u8>, &'static Sequence)> {
    let of_plan = |(plan, kept): (usize, &'static Kept)| {
        let layouts = kept.layouts().into_iter().enumerate();
        layouts.map(move |(index, layout)| (choice(plan, index).to_vec(), layout))
    };
    kept().iter().enumerate().flat_map(of_plan)
}

/// The bytes by which [`Arbitrary::pick`] comes to a plan and to something in it.
fn choice(plan: usize, index: usize) -> [u8; 4] {
    let bytes = |number: usize| u16::try_from(number).unwrap_or_default().to_be_bytes();
    let ([a, b], [c, d]) = (bytes(plan), bytes(index));
    [a, b, c, d]
}

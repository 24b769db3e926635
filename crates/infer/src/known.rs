//! The plans that come with the program, tried on a database.

use std::path::Path;

use keyplan_plan::dynamic::Decoder;
use keyplan_plan::load::load;
use keyplan_plan::model::{Family, FamilyKind, Plan, Segment, Space};
use serde::Serialize;

use crate::fit::evenly;

/// The plans, by the path that they have in the repository.
const PLANS: [(&str, &str); 14] = [
    ("plans/osmosis_cl.keyplan", include_str!("../plans/osmosis_cl.keyplan")),
    ("plans/cosmwasm.keyplan", include_str!("../plans/cosmwasm.keyplan")),
    ("plans/cardano.keyplan", include_str!("../plans/cardano.keyplan")),
    ("plans/cardano_redb.keyplan", include_str!("../plans/cardano_redb.keyplan")),
    ("plans/cardano_store.keyplan", include_str!("../plans/cardano_store.keyplan")),
    ("plans/paw.keyplan", include_str!("../plans/paw.keyplan")),
    ("plans/paw_v2.keyplan", include_str!("../plans/paw_v2.keyplan")),
    ("plans/onesat.keyplan", include_str!("../plans/onesat.keyplan")),
    ("plans/onesat_v2.keyplan", include_str!("../plans/onesat_v2.keyplan")),
    ("plans/upstream/osmosis_cl.keyplan", include_str!("../plans/upstream/osmosis_cl.keyplan")),
    ("plans/upstream/cosmwasm.keyplan", include_str!("../plans/upstream/cosmwasm.keyplan")),
    ("plans/upstream/dolos.keyplan", include_str!("../plans/upstream/dolos.keyplan")),
    ("plans/upstream/onesat.keyplan", include_str!("../plans/upstream/onesat.keyplan")),
    ("plans/upstream/paw.keyplan", include_str!("../plans/upstream/paw.keyplan")),
];

/// What the plans import beside each other.
const PARTS: [(&str, &str); 4] = [
    ("plans/paw/house.keyplan", include_str!("../plans/paw/house.keyplan")),
    ("plans/paw/compute.keyplan", include_str!("../plans/paw/compute.keyplan")),
    ("plans/paw/dex.keyplan", include_str!("../plans/paw/dex.keyplan")),
    ("plans/paw/oracle.keyplan", include_str!("../plans/paw/oracle.keyplan")),
];

/// The least share of keys that a known plan must explain to be named.
pub const NAMED: f64 = 0.9;
/// How many bits of a key a plan must foretell, on average, to be more than a wildcard.
const FORETOLD: f64 = 8.0;
/// How many bits of all its keys together a space must foretell if it does not have the name of the source's: few keys fit anything.
const FORETOLD_IN_ALL: f64 = 64.0;
/// How many keys of a space are tried.
const TRIED: usize = 2_000;

/// How well a known plan fits a source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KnownFit {
    /// The plan's name.
    pub plan: String,
    /// Its path in the repository.
    pub path: String,
    /// The share of the keys that were tried which it explains, 0 to 1: of all spaces, or of those below if it fits some only.
    pub share: f64,
    /// Whether there are spaces of the source that it does not fit.
    pub in_part: bool,
    /// Which space of the plan each space of the source is.
    pub spaces: Vec<KnownSpace>,
}

/// How well a space of a known plan fits one of the source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KnownSpace {
    /// The space of the plan.
    pub space: String,
    /// The space of the source.
    pub source_space: String,
    /// How many keys were tried.
    pub tried: u64,
    /// How many of them it explains.
    pub explained: u64,
    /// How many families of it were seen.
    pub families: usize,
}

/// A plan that comes with the program.
#[derive(Debug)]
pub struct KnownPlan {
    /// Its path in the repository.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
    /// What it means.
    pub plan: Plan,
}

/// Every plan that comes with the program.
pub fn known_plans() -> Vec<KnownPlan> {
    let fetch = |path: &str| {
        let name = Path::new(path).file_name();
        let whole = PLANS.iter().chain(&PARTS).find(|(known, _)| *known == path);
        // What they import is in the folder above.
        let imported = || PLANS.iter().find(|(known, _)| Path::new(known).file_name() == name);
        let found = whole.or_else(imported);
        found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| "there is no such plan".to_owned())
    };
    let compiled = |(path, text): &(&'static str, &'static str)| {
        let plan = load(path, fetch).ok()?.plan?;
        Some(KnownPlan { path, text, plan })
    };
    PLANS.iter().filter_map(compiled).collect()
}

/// Tries every known plan on some keys of each space; those that explain most come first. Where no plan fits the source as a
/// whole, as with a node whose stores are of many modules, those that fit some of its spaces are named for these.
pub(crate) fn try_known(spaces: &[(String, Vec<&[u8]>)]) -> Vec<KnownFit> {
    let plans = known_plans();
    let whole = try_whole(&plans, spaces);
    if whole.is_empty() && spaces.len() > 1 { try_in_part(&plans, spaces) } else { whole }
}

/// The plan that fits each space best, if one does.
fn try_in_part(plans: &[KnownPlan], spaces: &[(String, Vec<&[u8]>)]) -> Vec<KnownFit> {
    let decoders: Vec<Decoder<'_>> = plans.iter().map(|known| Decoder::new(&known.plan)).collect();
    let mut fits: Vec<Vec<KnownSpace>> = plans.iter().map(|_| Vec::new()).collect();
    for (name, keys) in spaces {
        let keys = evenly(keys, TRIED);
        let mut best: Option<(f64, usize, KnownSpace)> = None;
        for (index, (known, decoder)) in plans.iter().zip(&decoders).enumerate() {
            let Some((fit, bits)) = best_space(decoder, &known.plan, name, &keys) else { continue };
            let is_called =
                known.plan.spaces.iter().any(|space| {
                    space.name == fit.space && (space.engine_name() == name || space.name == *name)
                });
            let share = ratio(fit.explained, fit.tried);
            let each = bits / f64::from(u32::try_from(fit.explained.max(1)).unwrap_or(u32::MAX));
            let enough = is_called && share > 0.0 || bits >= FORETOLD_IN_ALL;
            let rank = share + each / 4096.0;
            let better = best.as_ref().is_none_or(|(most, _, _)| *most < rank);
            if share >= NAMED && each >= FORETOLD && enough && better {
                best = Some((rank, index, fit));
            }
        }
        if let Some((_, index, fit)) = best
            && let Some(bound) = fits.get_mut(index)
        {
            bound.push(fit);
        }
    }
    let named = plans.iter().zip(fits).filter(|(_, bound)| !bound.is_empty()).map(|(known, bound)| {
        let sum = |of: fn(&KnownSpace) -> u64| bound.iter().map(of).sum::<u64>();
        let share = ratio(sum(|space| space.explained), sum(|space| space.tried));
        let (plan, path) = (known.plan.name.clone(), known.path.to_owned());
        KnownFit { plan, path, share, in_part: bound.len() < spaces.len(), spaces: bound }
    });
    let mut named: Vec<KnownFit> = named.collect();
    named.sort_by(|a, b| b.spaces.len().cmp(&a.spaces.len()).then(b.share.total_cmp(&a.share)));
    named
}

fn try_whole(plans: &[KnownPlan], spaces: &[(String, Vec<&[u8]>)]) -> Vec<KnownFit> {
    let total: usize = spaces.iter().map(|(_, keys)| keys.len().min(TRIED)).sum();
    let mut fits: Vec<(f64, KnownFit)> = Vec::new();
    for known in plans {
        let decoder = Decoder::new(&known.plan);
        let (mut bound, mut explained, mut bits) = (Vec::new(), 0_u64, 0.0);
        for (name, keys) in spaces {
            let keys = evenly(keys, TRIED);
            let Some((fit, foretold)) = best_space(&decoder, &known.plan, name, &keys) else { continue };
            explained += fit.explained;
            bits += foretold;
            bound.push(fit);
        }
        let tried = u64::try_from(total).unwrap_or(u64::MAX).max(1);
        let share = ratio(explained, tried);
        let each = bits / f64::from(u32::try_from(explained.max(1)).unwrap_or(u32::MAX));
        if share >= NAMED && each >= FORETOLD {
            let (plan, path) = (known.plan.name.clone(), known.path.to_owned());
            let fit = KnownFit { plan, path, share, in_part: false, spaces: bound };
            fits.push((share + each / 4096.0, fit));
        }
    }
    fits.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    fits.into_iter().map(|(_, fit)| fit).collect()
}

/// The share that `part` is of `whole`.
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    let float = |n: u64| {
        f64::from(u32::try_from(n >> 20).unwrap_or(u32::MAX)) * 1_048_576.0
            + f64::from(u32::try_from(n & 0xf_ffff).unwrap_or_default())
    };
    if whole == 0 { 0.0 } else { float(part) / float(whole) }
}

/// The space of the plan that explains most keys, with the bits that it foretells of them all. One of the same name goes first.
fn best_space(decoder: &Decoder<'_>, plan: &Plan, name: &str, keys: &[&[u8]]) -> Option<(KnownSpace, f64)> {
    let mut best: Option<(KnownSpace, f64)> = None;
    for (index, space) in plan.spaces.iter().enumerate() {
        if space.families.iter().any(|family| family.kind != FamilyKind::Key) {
            continue;
        }
        let is_called = space.engine_name() == name || space.name == name;
        let found = try_space(decoder, index, space, is_called, name, keys);
        let rank = |(fit, bits): &(KnownSpace, f64)| (fit.explained, bits.to_bits());
        if is_called {
            return Some(found);
        }
        if best.as_ref().is_none_or(|best| rank(best) < rank(&found)) {
            best = Some(found);
        }
    }
    best.filter(|(fit, _)| fit.explained > 0)
}

fn try_space(
    decoder: &Decoder<'_>,
    index: usize,
    space: &Space,
    is_called: bool,
    name: &str,
    keys: &[&[u8]],
) -> (KnownSpace, f64) {
    let mut seen = std::collections::BTreeSet::new();
    let (mut explained, mut bits) = (0, 0.0);
    for key in keys {
        let Ok(read) = decoder.decode(index, key) else { continue };
        explained += 1;
        bits += foretold(read.family) + if is_called { 16.0 } else { 0.0 };
        seen.insert(read.family.path.as_str());
    }
    let fit = KnownSpace {
        space: space.name.clone(),
        source_space: name.to_owned(),
        tried: u64::try_from(keys.len()).unwrap_or(u64::MAX),
        explained,
        families: seen.len(),
    };
    (fit, bits)
}

/// How many bits of a key its family foretells: its literals.
fn foretold(family: &Family) -> f64 {
    let literal = |segment: &Segment| match segment {
        Segment::Literal(literal) => literal.bytes.len(),
        _ => 0,
    };
    let bytes: usize = family.key.segments().iter().map(literal).sum();
    8.0 * crate::bits::float(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_plan_compiles() {
        assert_eq!(known_plans().len(), PLANS.len());
        assert!((ratio(1, 4) - 0.25).abs() < 1e-12);
        assert!((ratio(3 << 30, 4 << 30) - 0.75).abs() < 1e-12);
    }
}

//! Where the components of a key end, when nobody says how many there are.
//!
//! A key is `length (2) | component` any number of times and then raw bytes. The lengths fix where each component
//! ends, so the only question is how many there are. What tells: names of collections are readable and shared by many
//! keys, and one collection has keys of one form.

use std::collections::BTreeMap;

use keyplan_codec::{Delimited, LenPrefix, LenWidth};

use keyplan_plan::notation::printable;

/// How many components are taken off one key at most.
const MOST: usize = 16;

/// One way to split a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The lengths of the components, without their two bytes of length.
    pub components: Vec<usize>,
    /// How likely it is, compared with the other splits of the key.
    pub score: i32,
}

/// The bytes of each component of a key under a split, and of the raw part after them.
pub fn component_bytes<'k>(key: &'k [u8], split: &Split) -> (Vec<&'k [u8]>, &'k [u8]) {
    let mut at = 0;
    let mut components = Vec::new();
    for len in &split.components {
        components.push(key.get(at + 2..at + 2 + len).unwrap_or_default());
        at += len + 2;
    }
    (components, key.get(at..).unwrap_or_default())
}

/// The splits of each key, the likeliest first.
pub fn ranked(keys: &[&[u8]]) -> Vec<Vec<Split>> {
    let mut shared: BTreeMap<&[u8], usize> = BTreeMap::new();
    for key in keys {
        if let Some(namespace) = component(key, 0) {
            *shared.entry(namespace).or_default() += 1;
        }
    }
    let mut all: Vec<Vec<Split>> = keys.iter().map(|key| splits(key, &shared)).collect();
    // A collection has keys of one form: what most of them look like counts for the others.
    let mut forms: BTreeMap<(&[u8], usize), i32> = BTreeMap::new();
    for (key, splits) in keys.iter().zip(&all) {
        if let (Some(namespace), Some(best)) = (component(key, 0), splits.first()) {
            *forms.entry((namespace, best.components.len())).or_default() += 1;
        }
    }
    for (key, splits) in keys.iter().zip(&mut all) {
        let Some(namespace) = component(key, 0) else { continue };
        let total = shared.get(namespace).copied().and_then(|n| i32::try_from(n).ok()).unwrap_or(1);
        for split in splits.iter_mut() {
            let alike = forms.get(&(namespace, split.components.len())).copied().unwrap_or_default();
            split.score += alike * 6 / total.max(1);
        }
        sort(splits);
    }
    all
}

fn sort(splits: &mut [Split]) {
    splits.sort_by_key(|split| (std::cmp::Reverse(split.score), split.components.len()));
}

/// The component at `at`, if there is one.
fn component(key: &[u8], at: usize) -> Option<&[u8]> {
    let rest = key.get(at..)?;
    let extent = LenPrefix { width: LenWidth::L16 }.extent(rest).ok()?;
    rest.get(2..extent)
}

fn splits(key: &[u8], shared: &BTreeMap<&[u8], usize>) -> Vec<Split> {
    let mut split = Split { components: Vec::new(), score: 0 };
    let mut all = vec![Split { score: raw_score(key), ..split.clone() }];
    let mut at = 0;
    while let Some(part) = component(key, at).filter(|_| split.components.len() < MOST) {
        split.score += match split.components.len() {
            0 => namespace_score(part, shared.get(part).copied().unwrap_or(1)),
            _ => component_score(part),
        };
        split.components.push(part.len());
        at += part.len() + 2;
        let rest = key.get(at..).unwrap_or_default();
        all.push(Split { score: split.score + rest_score(rest), ..split.clone() });
    }
    sort(&mut all);
    all
}

/// A key that is all raw: the name of a single item, most often.
fn raw_score(key: &[u8]) -> i32 {
    match printable(key) {
        Some(_) if !key.is_empty() => 14,
        _ => 0,
    }
}

fn namespace_score(part: &[u8], keys: usize) -> i32 {
    let common = match keys {
        0 | 1 => 0,
        2 | 3 => 2,
        4..16 => 4,
        _ => 6,
    };
    match printable(part) {
        Some("") => -20,
        Some(_) => 10 + common,
        None => -10 + common,
    }
}

fn component_score(part: &[u8]) -> i32 {
    match (part.len(), printable(part)) {
        (0, _) => -8,
        (_, Some(_)) => 4,
        (1 | 2 | 4 | 8 | 16 | 20 | 32, None) => 3,
        (_, None) => 0,
    }
}

fn rest_score(rest: &[u8]) -> i32 {
    match (rest.len(), printable(rest)) {
        (0, _) => -1,
        (_, Some(_)) => 3,
        (1 | 2 | 4 | 8 | 16 | 20 | 32, None) => 2,
        (_, None) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(keys: &[&[u8]]) -> Vec<Vec<usize>> {
        ranked(keys).into_iter().map(|splits| splits[0].components.clone()).collect()
    }

    #[test]
    fn an_item_is_one_raw_name() {
        assert_eq!(best(&[b"contract_info", b"config"]), [vec![], vec![]] as [Vec<usize>; 2]);
    }

    #[test]
    fn a_map_has_its_name_before_the_raw_key() {
        assert_eq!(best(&[b"\0\x07balanceosmo1alice"]), [[7]]);
        assert_eq!(
            best(&[b"\0\x05votes\0\0\0\0\0\0\0\x07"]),
            [[5]],
            "a number is not a row of empty components"
        );
    }

    #[test]
    fn a_map_of_pairs_has_two_components() {
        assert_eq!(best(&[b"\0\x09allowance\0\x05aliceb"]), [[9, 5]]);
    }

    #[test]
    fn one_collection_has_keys_of_one_form() {
        // The last key by itself could also be a pair of 0 bytes and 1 byte: its siblings settle it.
        let keys: [&[u8]; 4] =
            [b"\0\x04pool\0\x01a", b"\0\x04pool\0\x02bcd", b"\0\x04pool\0\x03efg", b"\0\x04pool\0\0"];
        let got = best(&keys);
        assert_eq!(got[1], [4, 2]);
        assert_eq!(got[2], [4, 3]);
    }

    #[test]
    fn any_bytes_have_a_split() {
        for key in [b"".as_slice(), b"\0", b"\0\0", b"\xff\xff\xff"] {
            assert!(!ranked(&[key])[0].is_empty(), "{key:?}");
        }
    }
}

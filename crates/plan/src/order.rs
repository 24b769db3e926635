//! Lists put in order by one sort, whatever they hold.
//!
//! The standard library's sort is made again for every type and every comparison, five kilobytes of code each: a tenth of the module that
//! browsers load. Here places are sorted, by a comparison that is called through a pointer, and the list is then laid out as they say.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Puts a list in its own order. Items that are equal stay as they are.
pub fn sort<T: Ord>(items: &mut Vec<T>) {
    sort_by(items, T::cmp);
}

/// Puts a list in the order of a key.
pub fn sort_by_key<T, K: Ord>(items: &mut Vec<T>, key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Puts a list in the order of a comparison. Items that are equal stay as they are.
///
/// ```
/// let mut words = vec!["ten", "a", "of", "b"];
/// keyplan_plan::order::sort_by(&mut words, |a, b| a.len().cmp(&b.len()));
/// assert_eq!(words, ["a", "b", "of", "ten"]);
/// ```
pub fn sort_by<T>(items: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    let places = sorted(items.len(), &|a, b| match (items.get(a), items.get(b)) {
        (Some(a), Some(b)) => compare(a, b),
        _ => Ordering::Equal,
    });
    let mut taken: Vec<Option<T>> = items.drain(..).map(Some).collect();
    items.extend(places.into_iter().filter_map(|place| taken.get_mut(place).and_then(Option::take)));
}

/// A set, filled item by item: to collect one sorts first, by a sort of its own.
pub fn set<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    set.extend(items);
    set
}

/// A map, filled in the same way; of two values of one key the last counts.
pub fn map<K: Ord, V>(items: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    map.extend(items);
    map
}

/// The places of a list of this length, in the order of what is there.
fn sorted(length: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..length).collect();
    places.sort_by(|a, b| compare(*a, *b));
    places
}

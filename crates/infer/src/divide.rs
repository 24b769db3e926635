//! Keys of a space into families: by the bytes that tag them, and by shape.

use std::collections::{BTreeMap, BTreeSet};

use crate::bits::{FAMILY, choice, float};
use crate::fit::{Fitted, admits, evenly, fit};
use crate::guess::{Frame, Guess, Kind};
use crate::search::{Layout, Piece, common_prefix, search};

/// How deep groups are divided.
const DEPTH: usize = 12;
/// The most tags at one place.
const TAGS: usize = 64;
/// The most parts of a division by shape that are tried.
const PARTS: usize = 24;
/// How many keys of a part decide its shape.
const SHAPED: usize = 48;
/// How many keys a part needs to have a shape of its own.
const ENOUGH: usize = 4;

/// Keys of one layout.
#[derive(Debug)]
pub(crate) struct Group<'k> {
    pub(crate) layout: Layout,
    pub(crate) keys: Vec<&'k [u8]>,
}

/// Divides the keys of a space, in order and each once, into families.
pub(crate) fn divide<'k>(keys: &[&'k [u8]]) -> Vec<Group<'k>> {
    let mut groups = Vec::new();
    divide_into(keys, Place::default(), &mut groups);
    groups.sort_by(|a, b| a.keys.first().cmp(&b.keys.first()));
    groups
}

/// Where in the keys a division is.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    depth: usize,
    /// How many tags of one byte were found before.
    tags: usize,
    /// Whether words were found before.
    words: bool,
    /// How many bytes of the keys are known to be a literal.
    literal: usize,
}

fn divide_into<'k>(keys: &[&'k [u8]], place: Place, groups: &mut Vec<Group<'k>>) {
    if keys.is_empty() {
        return;
    }
    let deeper = Place { depth: place.depth + 1, ..place };
    if place.depth < DEPTH && keys.len() > 1 {
        if let Some((parts, place)) = tagged(keys, deeper) {
            for (literal, part) in parts {
                // Texts at the very beginning of keys have not been told apart yet.
                let place = if literal == 0 && deeper.literal == 0 { deeper } else { place };
                divide_into(&part, Place { literal: place.literal.max(literal), ..place }, groups);
            }
            return;
        }
        let whole = fit(keys, place.literal);
        if let Some(parts) = by_shape(keys, &whole, place.literal) {
            let depth = deeper.depth.max(DEPTH - 4);
            for part in parts {
                divide_into(&part, Place { depth, tags: 9, words: true, ..place }, groups);
            }
            return;
        }
        accept(whole, deeper, groups);
    } else {
        let whole = fit(keys, place.literal);
        accept(whole, deeper, groups);
    }
}

/// Keeps a layout, and divides what it does not fit.
fn accept<'k>(fitted: Fitted<'k>, place: Place, groups: &mut Vec<Group<'k>>) {
    let Fitted { layout, keys, misfits } = fitted;
    if keys.is_empty() {
        // Nothing fits: the keys are kept as bytes, each group once.
        groups.push(Group { layout: search(&evenly(&misfits, 2), place.literal), keys: misfits });
        return;
    }
    // What was found for more keys than it fits may be told more closely of those.
    let again =
        (!misfits.is_empty()).then(|| fit(&keys, place.literal)).filter(|again| again.misfits.is_empty());
    let layout = again.map_or(layout, |again| again.layout);
    groups.push(Group { layout, keys });
    if !misfits.is_empty() && place.depth < 2 * DEPTH {
        divide_into(&misfits, place, groups);
    }
}

/// Keys of a part, and how many bytes of them are literal.
type Parts<'k> = Vec<(usize, Vec<&'k [u8]>)>;

/// Division by what comes first in the keys and says what they are.
fn tagged<'k>(keys: &[&'k [u8]], place: Place) -> Option<(Parts<'k>, Place)> {
    if let Some(parts) = namespaces(keys, place) {
        return Some((parts, Place { tags: 9, words: true, ..place }));
    }
    if let Some(parts) = tag_bytes(keys, place) {
        let words = place.words || place.tags > 0;
        return Some((parts, Place { tags: place.tags + 1, words, ..place }));
    }
    words(keys, place).map(|parts| (parts, Place { words: true, tags: 9, ..place }))
}

/// One byte that takes few values: the numbers of modules and families.
fn tag_bytes<'k>(keys: &[&'k [u8]], place: Place) -> Option<Parts<'k>> {
    if place.tags > 1 {
        return None;
    }
    let common = common_prefix(keys);
    let at = common.len();
    if is_length(keys, at) {
        return None;
    }
    // Zeros before it, or sign bytes, belong to a number.
    let filler = |byte: &u8| matches!(byte, 0x00 | 0xff | 0x80);
    if common.iter().rev().take_while(|byte| filler(byte)).count() >= 1 && at >= 1 {
        return None;
    }
    let is_text = |key: &[u8]| {
        let printable = |byte: &u8| matches!(byte, b' '..=b'~');
        let after = key.get(at..).unwrap_or_default();
        after.first().is_some_and(printable) && after.iter().skip(1).take(2).all(printable)
    };
    let mut parts: BTreeMap<Option<Option<u8>>, Vec<&[u8]>> = BTreeMap::new();
    for key in keys {
        let tag = if is_text(key) { None } else { Some(key.get(at).copied()) };
        parts.entry(tag).or_default().push(key);
    }
    let is_word_like = parts.keys().filter(|tag| tag.is_some()).count() == 0;
    if parts.len() < 2 || is_word_like || parts.len() > TAGS || !is_scarce(parts.len(), keys.len()) {
        return None;
    }
    // Texts among a few numbers may be numbers by chance; by themselves they decide nothing.
    let literal = |tag: Option<Option<u8>>| if let Some(Some(_)) = tag { at + 1 } else { 0 };
    Some(parts.into_iter().map(|(tag, keys)| (literal(tag), keys)).collect())
}

/// Whether the byte at a place is the length of a text after it, or of all that differs in length.
fn is_length(keys: &[&[u8]], at: usize) -> bool {
    let framed: Option<Vec<(usize, &[u8])>> = keys
        .iter()
        .map(|key| {
            let rest = key.get(at..)?;
            Frame::Len8.split(rest).map(|(_, content)| (rest.len() - content.len(), content))
        })
        .collect();
    let Some(framed) = framed else { return false };
    let lengths: BTreeSet<usize> = framed.iter().map(|(_, content)| content.len()).collect();
    let others: BTreeSet<usize> = framed.iter().map(|(other, _)| *other).collect();
    let is_text = framed.iter().all(|(_, text)| text.iter().all(|byte| matches!(byte, b' '..=b'~')));
    lengths.len() >= 3 && (is_text || others.len() == 1)
}

/// Whether so many values of a byte among so many keys are far fewer than chance gives.
fn is_scarce(values: usize, keys: usize) -> bool {
    let expected = 256.0 * (1.0 - (255.0_f64 / 256.0).powf(float(keys)));
    float(values) <= expected * 0.5
}

/// Whether so many words among so many keys are names of families rather than values.
fn are_names(words: usize, keys: usize) -> bool {
    words <= TAGS && float(words) <= 1.5 * float(keys).sqrt()
}

/// Names with their length in two bytes before them, as CosmWasm writes namespaces.
fn namespaces<'k>(keys: &[&'k [u8]], place: Place) -> Option<Parts<'k>> {
    if place.tags > 1 || place.words {
        return None;
    }
    let mut parts: BTreeMap<Option<&[u8]>, Vec<&'k [u8]>> = BTreeMap::new();
    for key in keys {
        let name = Frame::Len16.split(key).map(|(_, name)| name);
        let name = name.filter(|name| !name.is_empty() && name.iter().all(u8::is_ascii_graphic));
        parts.entry(name).or_default().push(key);
    }
    let framed = keys.len() - parts.get(&None).map_or(0, Vec::len);
    let names = parts.len() - usize::from(parts.contains_key(&None));
    let is_so = names >= 1 && parts.len() >= 2 && framed * 2 > keys.len() && are_names(names, framed);
    let literal = |name: Option<&[u8]>| name.map_or(0, |name| name.len() + 2);
    is_so.then(|| parts.into_iter().map(|(name, keys)| (literal(name), keys)).collect())
}

/// Words before a separator, at the beginning of the keys.
fn words<'k>(keys: &[&'k [u8]], place: Place) -> Option<Parts<'k>> {
    let common = common_prefix(keys);
    let start = common.len() - common.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let mut parts: BTreeMap<&[u8], Vec<&'k [u8]>> = BTreeMap::new();
    let (mut named, mut numbered) = (0_usize, 0_usize);
    for key in keys {
        let rest = key.get(start..).unwrap_or_default();
        let mark = rest.iter().take_while(|byte| byte.is_ascii_punctuation()).count();
        let letters = rest.iter().skip(mark).take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let ended = rest.get(mark + letters).is_none_or(|byte| !byte.is_ascii_alphanumeric());
        named += usize::from(letters > 1 && ended && mark + letters < rest.len());
        numbered += usize::from(rest.iter().skip(mark).take(letters).any(u8::is_ascii_digit) && letters > 8);
        numbered += usize::from(rest.get(mark).is_some_and(u8::is_ascii_digit));
        // What ends a word is part of it: `nonce/` is not `nonce_`.
        let end = (mark + letters + 1).min(rest.len());
        parts.entry(rest.get(..end).unwrap_or_default()).or_default().push(key);
    }
    // A word that goes on after an underscore is still the first.
    let goes_on =
        place.words && place.literal == start && common.get(..start).is_some_and(|head| head.ends_with(b"_"));
    let first = goes_on || (!place.words && place.tags == 0);
    let is_so = parts.len() >= 2
        && named * 10 >= keys.len() * 7
        && numbered * 2 < keys.len()
        && are_names(parts.len(), keys.len());
    if is_so && first {
        return Some(parts.into_iter().map(|(word, keys)| (start + word.len(), keys)).collect());
    }
    // Later only another separator after the same word tells families apart.
    if !place.words {
        return None;
    }
    let at = common.len();
    let mut marks: BTreeMap<Option<u8>, Vec<&'k [u8]>> = BTreeMap::new();
    for key in keys {
        let mark = key.get(at).copied().filter(u8::is_ascii_punctuation);
        marks.entry(mark).or_default().push(key);
    }
    let is_so = marks.len() >= 2 && !marks.contains_key(&None) && marks.len() <= 4;
    is_so.then(|| marks.into_values().map(|keys| (at + 1, keys)).collect())
}

/// Division into parts whose layouts differ, if that describes the keys more shortly.
fn by_shape<'k>(keys: &[&'k [u8]], whole: &Fitted<'k>, literal: usize) -> Option<Vec<Vec<&'k [u8]>>> {
    // A layout without open pieces that fits every key says all there is to say.
    let is_open = |piece: &Piece| match &piece.guess {
        Guess::Bytes(lengths) => lengths.fixed().is_none(),
        guess => matches!(guess, Guess::Text { .. } | Guess::Framed(..)),
    };
    if whole.misfits.is_empty() && !whole.layout.pieces.iter().any(is_open) {
        return None;
    }
    let left = fit_cost(&whole.misfits);
    let bar = FAMILY + whole.total() + left;
    let mut best: Option<(f64, Vec<Vec<&[u8]>>)> = None;
    for parts in divisions(keys) {
        let Some(clusters) = clusters(parts, literal) else { continue };
        let mut cost = 0.0;
        for cluster in &clusters {
            let fitted = fit(cluster, literal);
            cost += FAMILY + fitted.total() + fit_cost(&fitted.misfits);
            cost += float(cluster.len()) * (choice(keys.len()) - choice(cluster.len()));
        }
        if best.as_ref().is_none_or(|(bits, _)| cost < *bits) {
            best = Some((cost, clusters));
        }
    }
    best.filter(|(cost, _)| *cost < bar * 0.97 - 40.0).map(|(_, parts)| parts)
}

/// What keys that fit nothing cost, roughly.
fn fit_cost(misfits: &[&[u8]]) -> f64 {
    misfits.iter().map(|key| 8.0 * float(key.len())).sum::<f64>()
}

/// Ways in which keys may be parted.
fn divisions<'k>(keys: &[&'k [u8]]) -> Vec<Vec<Vec<&'k [u8]>>> {
    let at = common_prefix(keys).len();
    let mut divisions = vec![
        part_by(keys, |key| usize::from(key.get(at).copied().unwrap_or_default())),
        part_by(keys, <[u8]>::len),
        part_by(keys, |key| usize::from(key.get(at..).unwrap_or_default().iter().all(u8::is_ascii_graphic))),
    ];
    // What is left after a name with its length before it.
    let after_name = |key: &[u8]| {
        Frame::Len16.split(key).map_or(usize::MAX, |(header, name)| (key.len() - header - name.len()).min(8))
    };
    divisions.push(part_by(keys, after_name));
    for separator in *b":/|_-." {
        let count = |key: &[u8]| (key.split(|byte| *byte == separator).count() - 1).min(6);
        divisions.push(part_by(keys, count));
    }
    divisions.retain(|parts| parts.len() >= 2 && parts.len() <= PARTS);
    divisions
}

fn part_by<'k>(keys: &[&'k [u8]], of: impl Fn(&[u8]) -> usize) -> Vec<Vec<&'k [u8]>> {
    let mut parts: BTreeMap<usize, Vec<&[u8]>> = BTreeMap::new();
    for key in keys {
        parts.entry(of(key)).or_default().push(key);
    }
    parts.into_values().collect()
}

/// Parts of the same shape joined; `None` if all have one.
fn clusters(parts: Vec<Vec<&[u8]>>, literal: usize) -> Option<Vec<Vec<&[u8]>>> {
    let mut clusters: BTreeMap<Vec<Kind>, (Layout, Vec<&[u8]>)> = BTreeMap::new();
    let mut small: Vec<&[u8]> = Vec::new();
    for part in parts {
        if part.len() < ENOUGH {
            small.extend(part);
            continue;
        }
        let layout = search(&evenly(&part, SHAPED), literal);
        clusters.entry(layout.shape()).or_insert_with(|| (layout, Vec::new())).1.extend(part);
    }
    // Too few to have a shape: they go where they fit.
    let mut left = Vec::new();
    for key in small {
        match clusters.values_mut().find(|(layout, _)| fits(layout, key, literal)) {
            Some((_, keys)) => keys.push(key),
            None => left.push(key),
        }
    }
    if clusters.len() + usize::from(!left.is_empty()) < 2 {
        return None;
    }
    let mut all: Vec<Vec<&[u8]>> = clusters.into_values().map(|(_, keys)| keys).collect();
    if !left.is_empty() {
        all.push(left);
    }
    for cluster in &mut all {
        cluster.sort_unstable();
    }
    Some(all)
}

/// Whether a key is of a layout, whatever its literals are: those of a part are longer than those of the whole.
fn fits(layout: &Layout, key: &[u8], literal: usize) -> bool {
    let loose = |piece: &Piece| match &piece.guess {
        Guess::Literal(bytes) if bytes.len() > literal => {
            let same = key.get(..bytes.len()).unwrap_or_default();
            Piece { guess: Guess::Literal(same.to_vec()), cut: piece.cut }
        }
        _ => piece.clone(),
    };
    let first = layout.pieces.first().map(loose);
    let pieces = first.into_iter().chain(layout.pieces.iter().skip(1).cloned()).collect();
    admits(&Layout { bits: layout.bits, pieces }, key)
}

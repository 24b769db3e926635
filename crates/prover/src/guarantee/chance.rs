//! How likely it is that a digest has the bytes that make two keys meet.
//!
//! Two families that meet only where a digest is some given eight bytes are taken not to meet. Where a few of its bytes decide,
//! because the others are free on the other side or come after the prefix of a scan, some argument has such a digest, and among many
//! rows there are such: it is looked for.

use std::collections::BTreeMap;

use keyplan_plan::codec::Hash;
use keyplan_plan::dynamic::{Form, Value, encode};
use keyplan_plan::model::{BytesEncoding, IntRange, LengthSet, Sequence, Shape};

use super::digest::holds_digest;
use super::preimage::in_row;
use crate::product::Budget;
use crate::sample;

/// So many bits are not hit by chance: those of [`SAFE_DIGEST`](super::digest::SAFE_DIGEST) bytes.
const SAFE_BITS: f64 = 64.0;

/// Up to how many bits an argument with such a digest is looked for.
const MOST_BITS: f64 = 16.0;

/// How many arguments are tried for each that should do.
const TRIES: f64 = 4.0;

/// How many arguments with such a digest are tried as witnesses.
const MOST_MET: usize = 2;

/// Of how many words it is asked.
pub(crate) const MOST_CHANCES: usize = 4;

/// Why what may be hit by chance is not proved.
pub(crate) const CHANCE: &str = "a part of a hash may have any bytes";

/// One side of two keys that may meet: the arguments of its bytes, some of them digests.
#[derive(Clone, Copy)]
pub(crate) struct Half<'a> {
    pub(crate) sequence: &'a Sequence,
    pub(crate) values: &'a [Value],
    pub(crate) bytes: &'a [u8],
}

impl Half<'_> {
    /// The places of the bytes that digests have, each with its hash and where the digest begins.
    pub(crate) fn places(self) -> BTreeMap<usize, (Hash, usize)> {
        let mut hashes: Vec<Hash> = Vec::new();
        let mut values = self.values.to_vec();
        in_row(self.sequence, &mut values, &mut |digest| {
            hashes.push(digest.hash);
            None
        });
        let mut all = BTreeMap::new();
        for (nth, hash) in hashes.into_iter().enumerate() {
            let (mut values, mut count) = (self.values.to_vec(), 0_usize);
            in_row(self.sequence, &mut values, &mut |digest| {
                count += 1;
                (count == nth + 1).then(|| Value::Digest(digest.bytes.iter().map(|byte| !byte).collect()))
            });
            let mut other = Vec::new();
            if encode(self.sequence, &values, &mut other).is_err() || other.len() != self.bytes.len() {
                continue;
            }
            let pairs = self.bytes.iter().zip(&other).enumerate();
            let places: Vec<usize> = pairs.filter(|(_, (a, b))| a != b).map(|(place, _)| place).collect();
            let start = places.first().copied().unwrap_or_default();
            all.extend(places.into_iter().map(|place| (place, (hash, start))));
        }
        all
    }

    /// The same row with other arguments in place of its digests, and its bytes.
    fn others(self, most: usize) -> impl Iterator<Item = (Vec<Value>, Vec<u8>)> {
        let mut columns: Vec<(usize, Vec<Value>)> = Vec::new();
        for (index, (argument, value)) in self.sequence.arguments().zip(self.values).enumerate() {
            if holds_digest(value) {
                columns.push((index, many(&argument.shape, most)));
            }
        }
        let count = columns.iter().map(|(_, column)| column.len()).max().unwrap_or_default();
        let (sequence, base) = (self.sequence.clone(), self.values.to_vec());
        (0..count.min(most)).filter_map(move |nth| {
            let mut values = base.clone();
            for (index, column) in &columns {
                *values.get_mut(*index)? = column.get(nth.checked_rem(column.len())?)?.clone();
            }
            let mut bytes = Vec::new();
            encode(&sequence, &values, &mut bytes).ok().map(|()| (values, bytes))
        })
    }
}

/// What becomes of two keys that only a digest keeps apart.
pub(crate) enum Odds {
    /// So many bytes have to be the right ones that none is taken to have them.
    Safe,
    /// With these arguments the two may meet.
    Met(Vec<Vec<Value>>),
    /// Some may, but none was found.
    Open,
}

/// Whether a digest of `half` makes it meet what `fits` takes; only the bytes before `end` matter, and those at `digests` are of
/// a hash on the other side too.
pub(crate) fn odds(
    half: Half<'_>,
    end: usize,
    digests: &BTreeMap<usize, (Hash, usize)>,
    fits: &mut dyn FnMut(&[u8]) -> bool,
    budget: &mut Budget,
) -> Odds {
    let mut allowed: BTreeMap<usize, Vec<bool>> = BTreeMap::new();
    let mut bits = 0.0;
    for (place, digest) in half.places().into_iter().filter(|&(place, _)| place < end) {
        if let Some(other) = digests.get(&place) {
            // One hash of one argument is the same on both sides; two hashes are not.
            bits += if *other == digest { 0.0 } else { 8.0 };
            continue;
        }
        let mut bytes = half.bytes.to_vec();
        let takes: Vec<bool> = (0..=u8::MAX)
            .map(|byte| {
                if let Some(slot) = bytes.get_mut(place) {
                    *slot = byte;
                }
                fits(&bytes)
            })
            .collect();
        let count = u16::try_from(takes.iter().filter(|&&takes| takes).count()).unwrap_or(256).max(1);
        bits += (256.0 / f64::from(count)).log2();
        budget.spend(256);
        allowed.insert(place, takes);
        if bits >= SAFE_BITS {
            break;
        }
    }
    if bits >= SAFE_BITS {
        return Odds::Safe;
    }
    if bits > MOST_BITS || budget.is_spent() {
        return Odds::Open;
    }
    let most = (TRIES * bits.exp2()).ceil().clamp(64.0, 300_000.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 64 and 300,000")]
    let most = most as usize;
    let fit = |(_, bytes): &(Vec<Value>, Vec<u8>)| {
        bytes.len() == half.bytes.len()
            && allowed.iter().all(|(place, takes)| {
                let byte = bytes.get(*place).copied().unwrap_or_default();
                takes.get(usize::from(byte)) == Some(&true)
            })
    };
    for most in [most.div_ceil(64), most.div_ceil(8), most] {
        let mut tried = 0_u64;
        let others = half.others(most).inspect(|_| tried += 1);
        let found: Vec<Vec<Value>> = others.filter(fit).map(|(values, _)| values).take(MOST_MET).collect();
        budget.spend(tried);
        if !found.is_empty() {
            return Odds::Met(found);
        }
    }
    Odds::Open
}

/// Many values of a shape, the simplest first.
fn many(shape: &Shape, most: usize) -> Vec<Value> {
    let mut all = sample::values(shape);
    let more: Vec<Value> = match shape {
        Shape::Int(int) => match int.range {
            IntRange::Unsigned { min, max } => (min..=max).take(most).map(Value::Unsigned).collect(),
            IntRange::Signed { min, max } => (min..=max).take(most).map(Value::Signed).collect(),
        },
        Shape::Bytes { lengths, encoding } => {
            let letters: Vec<u8> = match encoding {
                BytesEncoding::Class(class) => (0..=u8::MAX).filter(|&byte| class.contains(byte)).collect(),
                _ => (0..=u8::MAX).collect(),
            };
            words(&letters, lengths, most).into_iter().map(Value::Bytes).collect()
        }
        Shape::Text(text) => {
            let letters: Vec<u8> = (0x20..0x7f).filter(|&byte| text.alphabet.contains(byte)).collect();
            let words = words(&letters, &text.lengths, most).into_iter();
            words.filter_map(|word| String::from_utf8(word).ok()).map(Value::Text).collect()
        }
        Shape::List { .. } => {
            shape.form_of_elements(1).into_iter().flat_map(|form| of_form(form, most)).collect()
        }
        shape => {
            let forms = shape.forms().into_iter().flatten();
            // Where nothing is there is no other value.
            let forms = forms.filter(|form| form.row().is_some() || form.count() > 0);
            forms.flat_map(|form| of_form(form, most)).collect()
        }
    };
    all.extend(more);
    all.truncate(most.max(sample::values(shape).len()));
    all
}

/// Many values of a form, of which each has other parts.
fn of_form(form: Form<'_>, most: usize) -> impl Iterator<Item = Value> {
    let columns: Vec<Vec<Value>> = form.shapes().map(|shape| many(shape, most)).collect();
    let count = columns.iter().map(Vec::len).max().unwrap_or(1);
    (0..count).filter_map(move |nth| {
        let part = |column: &Vec<Value>| column.get(nth.checked_rem(column.len())?).cloned();
        form.value(columns.iter().map(part).collect::<Option<_>>()?)
    })
}

/// Strings of letters, shorter ones first.
fn words(letters: &[u8], lengths: &LengthSet, most: usize) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    let least = lengths.min();
    for length in (least..=least.saturating_add(8)).filter(|&length| lengths.admits(length)) {
        let mut left = 0_usize;
        loop {
            // The last letters first, so that a long string varies too.
            let mut word = vec![letters.first().copied().unwrap_or_default(); length];
            let mut rest = left;
            for slot in word.iter_mut().rev() {
                let Some(letter) = rest.checked_rem(letters.len()).and_then(|at| letters.get(at)) else {
                    break;
                };
                *slot = *letter;
                rest = rest.checked_div(letters.len()).unwrap_or_default();
            }
            if rest > 0 || all.len() >= most || letters.is_empty() {
                break;
            }
            all.push(word);
            if length == 0 {
                break;
            }
            left += 1;
        }
    }
    all
}

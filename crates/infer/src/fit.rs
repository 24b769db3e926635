//! A layout found on some keys of a group, fitted to all of them.

use crate::bits::{Bits, choice, float};
use crate::class::Class;
use crate::cut::Cut;
use crate::guess::{Guess, Seen};
use crate::read::{Readers, read};
use crate::search::{KEYS, Layout, Piece, search};

/// How often keys that do not fit are added to those that are looked at closely.
const ROUNDS: usize = 3;
/// How many of them at a time.
const ADDED: usize = 32;

/// A layout, the keys that it fits, and those that it does not.
#[derive(Debug)]
pub(crate) struct Fitted<'k> {
    pub(crate) layout: Layout,
    pub(crate) keys: Vec<&'k [u8]>,
    pub(crate) misfits: Vec<&'k [u8]>,
}

impl Fitted<'_> {
    /// What the layout and all its keys cost.
    pub(crate) fn total(&self) -> f64 {
        self.layout.bits.total()
    }
}

/// Finds a layout of some keys, and fits it to all.
pub(crate) fn fit<'k>(keys: &[&'k [u8]], literal: usize) -> Fitted<'k> {
    let mut close: Vec<&[u8]> = evenly(keys, KEYS);
    let mut best: Option<Fitted<'k>> = None;
    for _ in 0..ROUNDS {
        let fitted = refit(&search(&close, literal), keys);
        let misfits = evenly(&fitted.misfits, ADDED);
        let is_better = best.as_ref().is_none_or(|best| fitted.misfits.len() < best.misfits.len());
        if is_better {
            best = Some(fitted);
        }
        if misfits.is_empty() || !is_better {
            break;
        }
        close.extend(misfits);
    }
    best.unwrap_or_else(|| refit(&Layout::default(), keys))
}

/// Whether a key is one of the layout.
pub(crate) fn admits(layout: &Layout, key: &[u8]) -> bool {
    let mut rest = key;
    for piece in &layout.pieces {
        let Some((cut, after)) = piece.cut.split(rest) else { return false };
        if !is_readable(piece, cut) || !is_like(&piece.guess, cut) {
            return false;
        }
        rest = after;
    }
    rest.is_empty()
}

/// Whether a piece is of the kind that was guessed.
fn is_like(guess: &Guess, cut: &[u8]) -> bool {
    match guess {
        Guess::Literal(bytes) => bytes == cut,
        Guess::Int { width, .. } => *width == cut.len(),
        Guess::Dec => {
            !cut.is_empty()
                && cut.iter().all(u8::is_ascii_digit)
                && (cut.len() == 1 || cut.first() != Some(&b'0'))
        }
        Guess::DecPadded(width) => *width == cut.len() && cut.iter().all(u8::is_ascii_digit),
        Guess::Hex { .. } => cut.len().is_multiple_of(2) && cut.iter().all(u8::is_ascii_hexdigit),
        Guess::Bech32 { hrp, .. } => cut.starts_with(hrp.as_bytes()),
        Guess::Time => cut.len() == 29,
        Guess::Text { class, .. } => cut.iter().all(|byte| class.has(*byte)),
        Guess::Bytes(lengths) => lengths.fixed().is_none_or(|length| length == cut.len()),
        Guess::Framed(_, inner) => is_like(inner, cut),
    }
}

/// Up to `most` of the keys, at even distances.
pub(crate) fn evenly<'k>(keys: &[&'k [u8]], most: usize) -> Vec<&'k [u8]> {
    if keys.len() <= most {
        return keys.to_vec();
    }
    let at = |place: usize| keys.get(place * keys.len() / most).copied();
    (0..most).filter_map(at).collect()
}

/// Reads every piece of all the keys again, where the layout cuts it.
fn refit<'k>(layout: &Layout, keys: &[&'k [u8]]) -> Fitted<'k> {
    let mut states: Vec<(&'k [u8], &'k [u8])> = keys.iter().map(|key| (*key, *key)).collect();
    let mut misfits: Vec<&'k [u8]> = Vec::new();
    let mut fitted = Layout::default();
    for piece in &layout.pieces {
        let mut inside = Vec::with_capacity(states.len());
        let mut after = Vec::with_capacity(states.len());
        for (key, rest) in states {
            match piece.cut.split(rest).filter(|(cut, _)| is_readable(piece, cut)) {
                Some((cut, rest)) => {
                    inside.push(cut);
                    after.push((key, rest));
                }
                None => misfits.push(key),
            }
        }
        states = after;
        let (bits, guess) = read_again(piece, &inside);
        fitted.bits = fitted.bits.and(bits);
        fitted.pieces.push(Piece { guess, cut: piece.cut });
    }
    let (whole, longer): (Vec<_>, Vec<_>) = states.into_iter().partition(|(_, rest)| rest.is_empty());
    misfits.extend(longer.into_iter().map(|(key, _)| key));
    misfits.sort_unstable();
    Fitted { layout: fitted, keys: whole.into_iter().map(|(key, _)| key).collect(), misfits }
}

fn is_readable(piece: &Piece, cut: &[u8]) -> bool {
    match (&piece.guess, piece.cut.readers()) {
        (Guess::Literal(bytes), _) => bytes == cut,
        (_, Readers::TextBefore(_)) => Class::of([cut]).is_some(),
        (_, Readers::Digits) => {
            let zero = cut.len() > 1 && cut.starts_with(b"0");
            let padded = matches!(&piece.guess, Guess::DecPadded(width) if *width == cut.len());
            (!zero || padded) && str::from_utf8(cut).is_ok_and(|digits| digits.parse::<u64>().is_ok())
        }
        (_, Readers::All) => true,
    }
}

fn read_again(piece: &Piece, inside: &[&[u8]]) -> (Bits, Guess) {
    let same = |bits: Bits| (bits, piece.guess.clone());
    match (&piece.guess, piece.cut) {
        (Guess::Literal(bytes), _) => same(Bits::new(4.0 + 8.0 * float(bytes.len()), 0.0)),
        _ if inside.is_empty() => same(Bits::default()),
        (Guess::Framed(frame, _), Cut::Framed(_)) => {
            let lengths = Seen::of(inside.iter().map(|piece| piece.len()));
            let length_bits = float(inside.len()) * choice(lengths.span());
            read(inside, Readers::All, true).map_or_else(
                || same(Bits::default()),
                |(bits, guess)| {
                    (bits.and(Bits::new(0.0, length_bits)), Guess::Framed(*frame, Box::new(guess)))
                },
            )
        }
        (_, cut) => {
            // Keys that are alone in their kind may read as something else than many of them did.
            read(inside, cut.readers(), false).unwrap_or_else(|| same(Bits::default()))
        }
    }
}

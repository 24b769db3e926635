//! What a draft is not sure of, and why.

use crate::divide::Group;
use crate::guess::Guess;

/// Fewer keys than this show little.
const FEW: usize = 8;

/// What is unsure of each group of a space.
pub(crate) fn unsure(groups: &[Group<'_>]) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = groups.iter().map(alone).collect();
    for (at, group) in groups.iter().enumerate() {
        let shape = group.layout.shape();
        let sibling = |other: &Group<'_>| !shape.is_empty() && other.layout.shape() == shape;
        let count = groups.iter().filter(|other| sibling(other)).count();
        if count > 1
            && let Some(notes) = all.get_mut(at)
        {
            notes.push(format!(
                "{count} families of this space have this shape: they may be one, with what tells them apart as an argument"
            ));
        }
    }
    all
}

fn alone(group: &Group<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let count = group.keys.len();
    if count == 1 {
        notes.push(
            "one key only: all of it was taken for a constant, but for a number with leading zeros"
                .to_owned(),
        );
    } else if count < FEW {
        notes.push(format!("{count} keys only"));
    }
    for piece in &group.layout.pieces {
        notes.extend(of_guess(&piece.guess));
    }
    notes.dedup();
    notes
}

fn of_guess(guess: &Guess) -> Option<String> {
    match guess {
        Guess::Framed(_, inner) => of_guess(inner),
        Guess::Bytes(lengths) => Some(match lengths.fixed() {
            Some(length) if length >= 16 => {
                format!("the {length} bytes look random: a hash, or several values side by side")
            }
            Some(length) => {
                format!("nothing was found in {length} bytes: a number, a hash or several values")
            }
            None => "nothing was found in bytes of different lengths".to_owned(),
        }),
        Guess::Text { .. } => Some("the characters of a text are those that were seen, by kind".to_owned()),
        _ => None,
    }
}

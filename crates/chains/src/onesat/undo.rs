use keyplan::codec::Score;
use keyplan::typed::List;
use keyplan_store::structure::{QueueState, ScoreKind, SetScore, StructureError, StructureRead};

use super::OneSatError;
use super::error::malformed;
use super::tx::Change;
use crate::onesat_v2::Undone;
use crate::onesat_v2::store::hashes::UndoTransactionValue;

/// What takes changes back, the last first: what is there now where they write.
pub(super) fn inverse(read: &dyn StructureRead, changes: &[Change]) -> Result<Vec<Change>, OneSatError> {
    let mut fields: Vec<(&[u8], &[u8])> = Vec::new();
    let mut members: Vec<(&[u8], &[u8])> = Vec::new();
    for change in changes {
        match change {
            Change::Field { key, field, .. } | Change::NoField { key, field } => fields.push((key, field)),
            Change::Member { key, member, .. } | Change::NoMember { key, member } => {
                members.push((key, member));
            }
            Change::Item { .. } | Change::NoItem { .. } => {}
        }
    }
    let mut values = read.hash_get_each(&fields)?.into_iter();
    let mut scores = read.zset_score_each(&members)?.into_iter();
    let mut undo = Vec::with_capacity(changes.len());
    for change in changes {
        match change {
            Change::Field { key, field, .. } | Change::NoField { key, field } => {
                let (key, field) = (key.clone(), field.clone());
                undo.push(match values.next().ok_or_else(too_few)? {
                    Some(value) => Change::Field { key, field, value },
                    None => Change::NoField { key, field },
                });
            }
            Change::Member { key, member, .. } | Change::NoMember { key, member } => {
                let (key, member) = (key.clone(), member.clone());
                undo.push(match scores.next().ok_or_else(too_few)? {
                    Some(score) => Change::Member { key, member, score },
                    None => Change::NoMember { key, member },
                });
            }
            Change::Item { key, item, .. } | Change::NoItem { key, item } => {
                let found = read.queue_item(key, item)?;
                let (key, item) = (key.clone(), item.clone());
                match found.map(|found| (found.state, found.score)) {
                    Some((QueueState::Waiting, score)) => undo.push(Change::Item { key, item, score }),
                    // What a worker holds, or has given up, is the worker's.
                    Some(_) => {}
                    None => undo.push(Change::NoItem { key, item }),
                }
            }
        }
    }
    undo.reverse();
    Ok(undo)
}

/// Without an answer it is not known what a change replaces. Taking that for nothing would make a rollback remove it.
fn too_few() -> StructureError {
    StructureError::Answer { what: "fewer values than were asked for".to_owned() }
}

/// Writes what takes a transaction back.
pub(super) fn encode(undo: &[Change]) -> Result<Vec<u8>, OneSatError> {
    let undone = undo.iter().map(|change| {
        Ok(match change {
            Change::Field { key, field, value } => Undone::Field { key, field, value },
            Change::NoField { key, field } => Undone::NoField { key, field },
            Change::Member { key, member, score } => Undone::Member { key, at: place(key, *score)?, member },
            Change::NoMember { key, member } => Undone::NoMember { key, member },
            Change::Item { key, item, score } => Undone::Item { key, at: place(key, *score)?, item },
            Change::NoItem { key, item } => Undone::NoItem { key, item },
        })
    });
    let undone = undone.collect::<Result<Vec<_>, StructureError>>()?;
    Ok(UndoTransactionValue { changes: List::new(&undone) }.to_vec()?)
}

/// The place of a score. Under the layout that this is kept in, every score is one, unless another program has written it.
fn place(key: &[u8], score: SetScore) -> Result<Score, StructureError> {
    match score {
        SetScore::Place(place) => Ok(place),
        SetScore::Number(_) => Err(StructureError::WrongScores {
            key: key.to_vec(),
            given: ScoreKind::Place,
            found: ScoreKind::Number,
        }),
    }
}

pub(super) fn decode(value: &[u8]) -> Result<Vec<Change>, OneSatError> {
    let value = UndoTransactionValue::decode(value).map_err(malformed("what a transaction has replaced"))?;
    Ok(value
        .changes
        .iter()
        .map(|undone| match undone {
            Undone::Field { key, field, value } => {
                Change::Field { key: key.to_vec(), field: field.to_vec(), value: value.to_vec() }
            }
            Undone::NoField { key, field } => Change::NoField { key: key.to_vec(), field: field.to_vec() },
            Undone::Member { key, at, member } => {
                Change::Member { key: key.to_vec(), member: member.to_vec(), score: SetScore::Place(at) }
            }
            Undone::NoMember { key, member } => {
                Change::NoMember { key: key.to_vec(), member: member.to_vec() }
            }
            Undone::Item { key, at, item } => {
                Change::Item { key: key.to_vec(), item: item.to_vec(), score: SetScore::Place(at) }
            }
            Undone::NoItem { key, item } => Change::NoItem { key: key.to_vec(), item: item.to_vec() },
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_that_is_no_place_is_refused_and_not_kept_as_another() {
        let (key, member) = (b"z:e".to_vec(), b"m".to_vec());
        let number = Change::Member { key, member, score: SetScore::Number(7.0) };
        assert_eq!(
            encode(&[number]).unwrap_err().to_string(),
            "the members of key 0x7a3a65 are ranked by numbers, not by places"
        );
        let (key, member) = (b"z:e".to_vec(), b"m".to_vec());
        let at = Score::Confirmed { height: 850_000, index: 12 };
        let place = Change::Member { key, member, score: SetScore::Place(at) };
        let kept = encode(std::slice::from_ref(&place)).unwrap();
        assert_eq!(decode(&kept).unwrap(), [place]);
    }
}

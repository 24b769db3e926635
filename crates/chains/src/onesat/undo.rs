use keyplan::codec::Score;
use keyplan::typed::List;
use keyplan_store::structure::{QueueState, SetScore, StructureRead};

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
                undo.push(match values.next().flatten() {
                    Some(value) => Change::Field { key, field, value },
                    None => Change::NoField { key, field },
                });
            }
            Change::Member { key, member, .. } | Change::NoMember { key, member } => {
                let (key, member) = (key.clone(), member.clone());
                undo.push(match scores.next().flatten() {
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

/// Writes what takes a transaction back.
pub(super) fn encode(undo: &[Change]) -> Result<Vec<u8>, OneSatError> {
    let undone: Vec<Undone<'_>> = undo
        .iter()
        .map(|change| match change {
            Change::Field { key, field, value } => Undone::Field { key, field, value },
            Change::NoField { key, field } => Undone::NoField { key, field },
            Change::Member { key, member, score } => Undone::Member { key, at: place(*score), member },
            Change::NoMember { key, member } => Undone::NoMember { key, member },
            Change::Item { key, item, score } => Undone::Item { key, at: place(*score), item },
            Change::NoItem { key, item } => Undone::NoItem { key, item },
        })
        .collect();
    Ok(UndoTransactionValue { changes: List::new(&undone) }.to_vec()?)
}

/// The place of a score. Under the layout that this is kept in, every score is one.
const fn place(score: SetScore) -> Score {
    match score {
        SetScore::Place(place) => place,
        SetScore::Number(_) => Score::Confirmed { height: 0, index: 0 },
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

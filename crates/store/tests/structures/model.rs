//! What structures are, said plainly.

use std::collections::{BTreeMap, BTreeSet};

use keyplan_store::Direction;
use keyplan_store::structure::{
    Claimed, Command, End, Kind, Now, QueueItem, QueueSize, QueueState, Reply, ScoreRange, Scored, SetScore,
};

/// Everything, by key. What is empty is not there.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Model {
    pub(crate) things: BTreeMap<Vec<u8>, Thing>,
    // Receipts outlive the items.
    receipts: BTreeMap<Vec<u8>, u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Thing {
    Value(Vec<u8>),
    Set(BTreeSet<Vec<u8>>),
    Hash(BTreeMap<Vec<u8>, Vec<u8>>),
    Zset(BTreeMap<Vec<u8>, SetScore>),
    Queue(BTreeMap<Vec<u8>, Item>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) score: SetScore,
    pub(crate) attempts: u32,
    pub(crate) state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Waiting,
    Claimed { until: u64, receipt: u64, again: bool },
    Dead,
}

/// Why the model refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    WrongKind,
    WrongScores,
    NotANumber,
}

impl Thing {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Value(_) => Kind::Value,
            Self::Set(_) => Kind::Set,
            Self::Hash(_) => Kind::Hash,
            Self::Zset(_) => Kind::Zset,
            Self::Queue(_) => Kind::Queue,
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Value(_) => false,
            Self::Set(members) => members.is_empty(),
            Self::Hash(fields) => fields.is_empty(),
            Self::Zset(members) => members.is_empty(),
            Self::Queue(items) => items.is_empty(),
        }
    }
}

/// Members in order, from one end.
pub(crate) fn in_order(members: &BTreeMap<Vec<u8>, SetScore>, direction: Direction) -> Vec<Scored> {
    let mut order: Vec<Scored> =
        members.iter().map(|(member, score)| Scored { member: member.clone(), score: *score }).collect();
    order.sort_by(|a, b| a.score.order(b.score).then_with(|| a.member.cmp(&b.member)));
    if direction == Direction::Descending {
        order.reverse();
    }
    order
}

fn checked(score: SetScore) -> Result<SetScore, Refused> {
    score.checked().map_err(|_| Refused::NotANumber)
}

fn same_kind<'s>(
    mut scores: impl Iterator<Item = &'s SetScore>,
    given: impl IntoIterator<Item = SetScore>,
) -> Result<(), Refused> {
    let Some(found) = scores.next() else { return Ok(()) };
    if given.into_iter().all(|given| given.kind() == found.kind()) {
        Ok(())
    } else {
        Err(Refused::WrongScores)
    }
}

pub(crate) fn ends(scores: &ScoreRange) -> Vec<SetScore> {
    [scores.min, scores.max]
        .into_iter()
        .filter_map(|bound| match bound {
            std::ops::Bound::Included(score) | std::ops::Bound::Excluded(score) => Some(score),
            std::ops::Bound::Unbounded => None,
        })
        .collect()
}

impl Model {
    /// What a command gives back; nothing is changed if it is refused.
    pub(crate) fn apply(&mut self, command: &Command<'_>) -> Result<Reply, Refused> {
        let key = command.key();
        let mut model = self.clone();
        let reply = model.run(command)?;
        if model.things.get(key).is_some_and(Thing::is_empty) {
            model.things.remove(key);
        }
        *self = model;
        Ok(reply)
    }

    fn zset(&mut self, key: &[u8]) -> Result<&mut BTreeMap<Vec<u8>, SetScore>, Refused> {
        match self.things.entry(key.to_vec()).or_insert_with(|| Thing::Zset(BTreeMap::new())) {
            Thing::Zset(members) => Ok(members),
            _ => Err(Refused::WrongKind),
        }
    }

    fn queue(&mut self, key: &[u8]) -> Result<&mut BTreeMap<Vec<u8>, Item>, Refused> {
        match self.things.entry(key.to_vec()).or_insert_with(|| Thing::Queue(BTreeMap::new())) {
            Thing::Queue(items) => Ok(items),
            _ => Err(Refused::WrongKind),
        }
    }

    fn run(&mut self, command: &Command<'_>) -> Result<Reply, Refused> {
        match *command {
            Command::Put { key, value } => {
                let old = self.things.insert(key.to_vec(), Thing::Value(value.to_vec()));
                match old {
                    None => Ok(Reply::Changed(true)),
                    Some(Thing::Value(_)) => Ok(Reply::Changed(false)),
                    Some(_) => Err(Refused::WrongKind),
                }
            }
            Command::Delete { key } => match self.things.remove(key) {
                None => Ok(Reply::Changed(false)),
                Some(Thing::Value(_)) => Ok(Reply::Changed(true)),
                Some(_) => Err(Refused::WrongKind),
            },
            Command::SetAdd { key, member } => {
                match self.things.entry(key.to_vec()).or_insert_with(|| Thing::Set(BTreeSet::new())) {
                    Thing::Set(members) => Ok(Reply::Changed(members.insert(member.to_vec()))),
                    _ => Err(Refused::WrongKind),
                }
            }
            Command::SetRemove { key, member } => match self.things.get_mut(key) {
                None => Ok(Reply::Changed(false)),
                Some(Thing::Set(members)) => Ok(Reply::Changed(members.remove(member))),
                Some(_) => Err(Refused::WrongKind),
            },
            Command::HashSet { key, field, value } => {
                match self.things.entry(key.to_vec()).or_insert_with(|| Thing::Hash(BTreeMap::new())) {
                    Thing::Hash(fields) => {
                        Ok(Reply::Changed(fields.insert(field.to_vec(), value.to_vec()).is_none()))
                    }
                    _ => Err(Refused::WrongKind),
                }
            }
            Command::HashDelete { key, field } => match self.things.get_mut(key) {
                None => Ok(Reply::Changed(false)),
                Some(Thing::Hash(fields)) => Ok(Reply::Changed(fields.remove(field).is_some())),
                Some(_) => Err(Refused::WrongKind),
            },
            Command::ZsetAdd { key, member, score } => {
                let score = checked(score)?;
                let members = self.zset(key)?;
                same_kind(members.values(), [score])?;
                Ok(Reply::Changed(members.insert(member.to_vec(), score).is_none()))
            }
            Command::ZsetRemove { key, member } => {
                Ok(Reply::Changed(self.zset(key)?.remove(member).is_some()))
            }
            Command::ZsetIncrement { key, member, by } => {
                let members = self.zset(key)?;
                same_kind(members.values(), [SetScore::Number(0.0)])?;
                let old = match members.get(member) {
                    Some(SetScore::Number(number)) => *number,
                    _ => 0.0,
                };
                let SetScore::Number(sum) = checked(SetScore::Number(old + by))? else { unreachable!() };
                members.insert(member.to_vec(), SetScore::Number(sum));
                Ok(Reply::Number(sum))
            }
            Command::ZsetPop { key, end, count } => {
                let members = self.zset(key)?;
                let direction = if end == End::Min { Direction::Ascending } else { Direction::Descending };
                let taken: Vec<Scored> = in_order(members, direction).into_iter().take(count).collect();
                for scored in &taken {
                    members.remove(&scored.member);
                }
                Ok(Reply::Members(taken))
            }
            Command::ZsetRemoveRange { key, scores } => {
                for end in ends(&scores) {
                    checked(end)?;
                }
                let members = self.zset(key)?;
                same_kind(members.values(), ends(&scores))?;
                let before = members.len();
                members.retain(|_, score| !scores.contains(*score));
                Ok(Reply::Count((before - members.len()) as u64))
            }
            _ => self.run_on_queue(command),
        }
    }

    fn run_on_queue(&mut self, command: &Command<'_>) -> Result<Reply, Refused> {
        let key = command.key();
        let receipt = self.receipts.get(key).copied().unwrap_or(0) + 1;
        let items = self.queue(key)?;
        let held = |item: &Item, given: u64| match item.state {
            State::Claimed { receipt, again, .. } if receipt == given => Some(again),
            _ => None,
        };
        match *command {
            Command::QueuePush { member, score, .. } => {
                let score = checked(score)?;
                same_kind(items.values().map(|item| &item.score), [score])?;
                let new = Item { score, attempts: 0, state: State::Waiting };
                let Some(item) = items.get_mut(member) else {
                    items.insert(member.to_vec(), new);
                    return Ok(Reply::Changed(true));
                };
                match &mut item.state {
                    State::Waiting => item.score = score,
                    State::Claimed { again, .. } => {
                        *again = true;
                        item.score = score;
                    }
                    State::Dead => *item = new,
                }
                Ok(Reply::Changed(false))
            }
            Command::QueueClaim { claim, .. } => {
                let Now::Millis(now) = claim.now else { panic!("the model has no clock") };
                for item in items.values_mut() {
                    if let State::Claimed { until, again, .. } = item.state
                        && until <= now
                    {
                        if again {
                            item.attempts = 0;
                        }
                        let over = !again && claim.attempts.is_some_and(|most| item.attempts >= most);
                        item.state = if over { State::Dead } else { State::Waiting };
                    }
                }
                let waiting = items.iter().filter(|(_, item)| item.state == State::Waiting);
                let waiting = waiting.map(|(member, item)| (member.clone(), item.score)).collect();
                let mut claimed = Vec::new();
                for scored in in_order(&waiting, Direction::Ascending).into_iter().take(claim.count) {
                    let item = items.get_mut(&scored.member).unwrap();
                    item.attempts += 1;
                    item.state = State::Claimed { until: now + claim.lease_millis(), receipt, again: false };
                    let (attempts, score) = (item.attempts, item.score);
                    claimed.push(Claimed { member: scored.member, score, attempts, receipt });
                }
                if !claimed.is_empty() {
                    self.receipts.insert(key.to_vec(), receipt);
                }
                Ok(Reply::Claimed(claimed))
            }
            Command::QueueAcknowledge { member, receipt, .. } => {
                let Some(item) = items.get_mut(member) else { return Ok(Reply::Changed(false)) };
                match held(item, receipt) {
                    None => return Ok(Reply::Changed(false)),
                    Some(true) => *item = Item { attempts: 0, state: State::Waiting, ..item.clone() },
                    Some(false) => drop(items.remove(member)),
                }
                Ok(Reply::Changed(true))
            }
            Command::QueueRelease { member, receipt, .. } => {
                let Some(item) = items.get_mut(member) else { return Ok(Reply::Changed(false)) };
                let Some(again) = held(item, receipt) else { return Ok(Reply::Changed(false)) };
                if again {
                    item.attempts = 0;
                }
                item.state = State::Waiting;
                Ok(Reply::Changed(true))
            }
            Command::QueueBury { member, receipt, .. } => {
                let Some(item) = items.get_mut(member) else { return Ok(Reply::Changed(false)) };
                match held(item, receipt) {
                    None => return Ok(Reply::Changed(false)),
                    Some(true) => *item = Item { attempts: 0, state: State::Waiting, ..item.clone() },
                    Some(false) => item.state = State::Dead,
                }
                Ok(Reply::Changed(true))
            }
            Command::QueueRestore { member, score, attempts, state, .. } => {
                let score = checked(score)?;
                same_kind(items.values().map(|item| &item.score), [score])?;
                let state = match state {
                    QueueState::Waiting => State::Waiting,
                    QueueState::Claimed { until } => State::Claimed { until, receipt: 0, again: false },
                    QueueState::Dead => State::Dead,
                };
                Ok(Reply::Changed(items.insert(member.to_vec(), Item { score, attempts, state }).is_none()))
            }
            Command::QueueRemove { member, .. } => Ok(Reply::Changed(items.remove(member).is_some())),
            ref other => panic!("the model does not know {other:?}"),
        }
    }

    pub(crate) fn size(&self, key: &[u8]) -> QueueSize {
        let mut size = QueueSize::default();
        if let Some(Thing::Queue(items)) = self.things.get(key) {
            for item in items.values() {
                match item.state {
                    State::Waiting => size.waiting += 1,
                    State::Claimed { .. } => size.claimed += 1,
                    State::Dead => size.dead += 1,
                }
            }
        }
        size
    }
}

impl Item {
    pub(crate) fn shown(&self, member: &[u8]) -> QueueItem {
        let state = match self.state {
            State::Waiting => QueueState::Waiting,
            State::Claimed { until, .. } => QueueState::Claimed { until },
            State::Dead => QueueState::Dead,
        };
        QueueItem { member: member.to_vec(), score: self.score, attempts: self.attempts, state }
    }
}

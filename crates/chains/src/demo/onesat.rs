//! The 1Sat indexer: outputs with what their parsers found, events, spends, progress, and a queue of work.

use crate::five::store::{hashes, queues, sets, sorted_sets};
use keyplan::store::raw::structure::{Command, SetScore};
use keyplan::typed::{Key, Value};

use super::error::Result;
use super::fill::Filler;

/// How many outputs are applied in one step.
const STEP: u64 = 250;

/// Changes for each output: its two fields, its value, two events; of some a spend, a place in a queue.
const ROWS_AN_OUTPUT: u64 = 6;

const TOKEN: &str = "ae59f3b898ec61acbdb6cc7a245fabeded0c094bf046f35206a3aec60ef88127_0";

/// Writes about `rows` members and fields.
pub(super) fn fill(filler: &mut Filler<'_>, rows: u64) -> Result<()> {
    let mut step = Step::default();
    step.changes.push(Change::Add(sets::NamedSet { name: "bsv21:whitelist" }.to_vec()?, TOKEN.into()));
    let progress = hashes::Progress.to_vec()?;
    let subscription = hashes::ProgressSubscriptionField { subscription_id: "bsv21" };
    let height = hashes::ProgressSubscriptionValue { height: 850_000 };
    step.changes.push(Change::Field(progress, subscription.to_vec()?, height.to_vec()?));
    for number in 0..rows / ROWS_AN_OUTPUT {
        step.output(filler, number)?;
        if (number + 1).is_multiple_of(STEP) {
            step.apply(filler)?;
        }
    }
    step.apply(filler)
}

/// Changes that become visible together.
#[derive(Default)]
struct Step {
    changes: Vec<Change>,
}

enum Change {
    Field(Vec<u8>, Vec<u8>, Vec<u8>),
    Add(Vec<u8>, Vec<u8>),
    Rank(Vec<u8>, Vec<u8>, SetScore),
    Push(Vec<u8>, Vec<u8>, SetScore),
}

impl Step {
    /// An output of a transaction in one of the last blocks, with everything that its parsers write.
    fn output(&mut self, filler: &mut Filler<'_>, number: u64) -> Result<()> {
        let (txid_le, vout) = (filler.random.bytes::<32>(), u32::try_from(filler.random.below(3))?);
        let (height, idx) = (849_000 + u32::try_from(number / 200)?, number % 200);
        let at = SetScore::confirmed(height, idx);
        let owner = owner(filler.random.below(500));
        let events = format!("[\"own:{owner}\",\"id:{TOKEN}\"]");
        let out = hashes::OutHash { txid_le, vout }.to_vec()?;
        self.field(&out, &hashes::OutHashEventsField, events.as_bytes())?;
        let merkle = hashes::OutHashMerkleValue { height, idx }.to_vec()?;
        self.field(&out, &hashes::OutHashMerkleField, &merkle)?;
        let satoshis =
            hashes::SatoshisOutpointValue { satoshis: 1 + filler.random.below(10_000) }.to_vec()?;
        self.field(&hashes::Satoshis.to_vec()?, &hashes::SatoshisOutpointField { txid_le, vout }, &satoshis)?;
        let member = sorted_sets::EventMember { txid_le, vout }.to_vec()?;
        for event in [format!("own:{owner}"), format!("id:{TOKEN}")] {
            let key = sorted_sets::Event { event: &event }.to_vec()?;
            self.changes.push(Change::Rank(key, member.clone(), at));
            if number.is_multiple_of(5) {
                let spent = sorted_sets::EventSpent { event: &event }.to_vec()?;
                self.changes.push(Change::Rank(spent, member.clone(), at));
            }
        }
        if number.is_multiple_of(5) {
            let value = hashes::SpendsOutpointValue { spend_txid_le: filler.random.bytes() }.to_vec()?;
            self.field(&hashes::Spends.to_vec()?, &hashes::SpendsOutpointField { txid_le, vout }, &value)?;
        }
        if number.is_multiple_of(10) {
            let key = queues::TokenQueue { token_id: TOKEN }.to_vec()?;
            let member = queues::TokenQueueMember { txid_le, vout }.to_vec()?;
            self.changes.push(Change::Push(key, member, at));
        }
        Ok(())
    }

    fn field<'f>(&mut self, key: &[u8], field: &impl Value<'f>, value: &[u8]) -> Result<()> {
        self.changes.push(Change::Field(key.to_vec(), field.to_vec()?, value.to_vec()));
        Ok(())
    }

    fn apply(&mut self, filler: &mut Filler<'_>) -> Result<()> {
        let commands: Vec<Command<'_>> = self.changes.iter().map(Change::command).collect();
        filler.apply(<hashes::OutHash as Key>::SPACE, &commands)?;
        self.changes.clear();
        Ok(())
    }
}

impl Change {
    fn command(&self) -> Command<'_> {
        match self {
            Self::Field(key, field, value) => Command::HashSet { key, field, value },
            Self::Add(key, member) => Command::SetAdd { key, member },
            Self::Rank(key, member, score) => Command::ZsetAdd { key, member, score: *score },
            Self::Push(key, member, score) => Command::QueuePush { key, member, score: *score },
        }
    }
}

/// The address of one of a few hundred owners.
fn owner(number: u64) -> String {
    const ALPHABET: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let mut random = super::random::Random::new(number);
    let letters =
        (0..33).filter_map(|_| usize::try_from(random.below(58)).ok().and_then(|at| ALPHABET.get(at)));
    std::iter::once('1').chain(letters.map(|byte| char::from(*byte))).collect()
}

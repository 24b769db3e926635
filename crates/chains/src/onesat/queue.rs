use keyplan::codec::Score;
use keyplan_store::structure::{Claim, QueueItem, QueueSize, SetScore, Structures};

use super::layout::{member_of, read_outpoint, read_txid};
use super::names::QueueName;
use super::{OneSat, OneSatError, Outpoint, Txid};

/// What waits in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Job {
    /// A transaction, of a subscription.
    Transaction(Txid),
    /// An output, of a token.
    Output(Outpoint),
}

/// A job that a worker holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The job.
    pub job: Job,
    /// Its place in the chain.
    pub at: SetScore,
    /// How often it was claimed, this time included.
    pub attempts: u32,
    /// What shows that this worker holds it.
    pub receipt: u64,
}

impl Job {
    fn bytes(self) -> Vec<u8> {
        match self {
            Self::Transaction(txid) => txid.to_vec(),
            Self::Output(outpoint) => member_of(outpoint).to_vec(),
        }
    }

    fn read(queue: QueueName<'_>, bytes: &[u8]) -> Result<Self, OneSatError> {
        if queue.holds_outputs() {
            read_outpoint(bytes).map(Self::Output)
        } else {
            read_txid(bytes).map(Self::Transaction)
        }
    }
}

impl<S: Structures> OneSat<S> {
    /// Puts a transaction into the queue of a subscription. Returns whether it is new there.
    pub fn push_transaction(&self, subscription: &str, txid: Txid, at: Score) -> Result<bool, OneSatError> {
        let key = self.layout().queue(QueueName::Subscription(subscription))?;
        Ok(self.structures().queue_push(&key, &txid, self.layout().score(at)?)?)
    }

    /// Puts an output into the queue of a token. Returns whether it is new there.
    pub fn push_output(&self, token: &str, outpoint: Outpoint, at: Score) -> Result<bool, OneSatError> {
        let key = self.layout().queue(QueueName::Token(token))?;
        Ok(self.structures().queue_push(&key, &member_of(outpoint), self.layout().score(at)?)?)
    }

    /// Takes the first jobs for one worker, for a time.
    pub fn claim(&self, queue: QueueName<'_>, claim: Claim) -> Result<Vec<Held>, OneSatError> {
        let key = self.layout().queue(queue)?;
        let claimed = self.structures().queue_claim(&key, claim)?;
        claimed
            .into_iter()
            .map(|item| {
                let job = Job::read(queue, &item.member)?;
                Ok(Held { job, at: item.score, attempts: item.attempts, receipt: item.receipt })
            })
            .collect()
    }

    /// Removes a job that is done. Returns whether the worker still held it.
    pub fn acknowledge(&self, queue: QueueName<'_>, held: &Held) -> Result<bool, OneSatError> {
        let key = self.layout().queue(queue)?;
        Ok(self.structures().queue_acknowledge(&key, &held.job.bytes(), held.receipt)?)
    }

    /// Gives a job back. Returns whether the worker still held it.
    pub fn release(&self, queue: QueueName<'_>, held: &Held) -> Result<bool, OneSatError> {
        let key = self.layout().queue(queue)?;
        Ok(self.structures().queue_release(&key, &held.job.bytes(), held.receipt)?)
    }

    /// Gives a job up. Returns whether the worker still held it.
    pub fn bury(&self, queue: QueueName<'_>, held: &Held) -> Result<bool, OneSatError> {
        let key = self.layout().queue(queue)?;
        Ok(self.structures().queue_bury(&key, &held.job.bytes(), held.receipt)?)
    }

    /// How many jobs wait, are held, and were given up.
    pub fn queue_size(&self, queue: QueueName<'_>) -> Result<QueueSize, OneSatError> {
        Ok(self.structures().queue_size(&self.layout().queue(queue)?)?)
    }

    /// The first jobs that wait.
    pub fn queue_peek(&self, queue: QueueName<'_>, count: usize) -> Result<Vec<Job>, OneSatError> {
        let waiting = self.structures().queue_peek(&self.layout().queue(queue)?, count)?;
        waiting.iter().map(|scored| Job::read(queue, &scored.member)).collect()
    }

    /// The jobs that were given up, with how often they were claimed.
    pub fn queue_dead(&self, queue: QueueName<'_>) -> Result<Vec<(Job, u32)>, OneSatError> {
        let key = self.layout().queue(queue)?;
        let dead = self.structures().queue_dead(&key)?;
        dead.map(|item| {
            let QueueItem { member, attempts, .. } = item?;
            Ok((Job::read(queue, &member)?, attempts))
        })
        .collect()
    }
}

//! The compute marketplace: those who run jobs, what they have staked, jobs and the money held in between.

use keyplan::store::collection::Nonces;
use keyplan::store::engine::Engine;
use keyplan::store::{Batch, Read};
use keyplan::typed::Raw;

use super::chain::{PARTS, passed, share_of, sum, value};
use super::layout::paw_chain::state::compute;
use super::{Module, Packet, Paw, PawError};

/// What governance sets for the marketplace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComputeParams {
    /// The least that a provider stakes.
    pub min_stake: u128,
    /// The part of its stake that a provider loses with a job that fails, in parts per million.
    pub slash: u32,
}

impl Default for ComputeParams {
    fn default() -> Self {
        Self { min_stake: 1_000, slash: 100_000 }
    }
}

/// Who offers to run jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provider {
    /// What it has staked.
    pub stake: u128,
    /// How many jobs it is running.
    pub running: u64,
    /// How many it has done.
    pub done: u64,
    /// How many have failed.
    pub failed: u64,
}

/// How far a job has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Nobody runs it yet.
    Pending,
    /// This provider runs it.
    Running(Vec<u8>),
    /// This provider has done it, and was paid.
    Done(Vec<u8>),
    /// The requester has its money back.
    Refunded,
    /// This provider has failed, and the requester has its money back.
    Failed(Vec<u8>),
}

/// A job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Who asked for it.
    pub requester: Vec<u8>,
    /// The nonce that it was asked for with.
    pub nonce: u64,
    /// How far it has come.
    pub state: JobState,
}

impl<E: Engine> Paw<E> {
    /// Sets the parameters of the marketplace.
    pub fn set_compute_params(&self, params: ComputeParams) -> Result<(), PawError> {
        let ComputeParams { min_stake, slash } = params;
        self.atomically(|batch| Ok(batch.put(&compute::Params, &compute::ParamsValue { min_stake, slash })?))
    }

    /// The parameters of the marketplace.
    pub fn compute_params(&self) -> Result<ComputeParams, PawError> {
        params(&self.0.snapshot()?)
    }

    /// Registers a provider with its stake.
    pub fn register_provider(&self, addr: &[u8], stake: u128) -> Result<(), PawError> {
        self.atomically(|batch| {
            if batch.contains(&compute::Provider { addr })? {
                return Err(PawError::Registered);
            }
            enough(batch, stake)?;
            put_provider(batch, addr, Provider { stake, running: 0, done: 0, failed: 0 })
        })
    }

    /// Adds to a provider's stake and returns the sum.
    pub fn add_stake(&self, addr: &[u8], amount: u128) -> Result<u128, PawError> {
        self.atomically(|batch| {
            let had = provider(batch, addr)?;
            let stake = sum(had.stake, amount)?;
            put_provider(batch, addr, Provider { stake, ..had })?;
            Ok(stake)
        })
    }

    /// Takes a part of a provider's stake out; at least what governance asks for stays.
    pub fn withdraw_stake(&self, addr: &[u8], amount: u128) -> Result<u128, PawError> {
        self.atomically(|batch| {
            let had = provider(batch, addr)?;
            let stake = had.stake.checked_sub(amount);
            let stake = stake.ok_or(PawError::TooFew { have: had.stake, wanted: amount })?;
            enough(batch, stake)?;
            put_provider(batch, addr, Provider { stake, ..had })?;
            Ok(stake)
        })
    }

    /// Takes a provider out, which runs no job, and returns its stake.
    pub fn retire_provider(&self, addr: &[u8]) -> Result<u128, PawError> {
        self.atomically(|batch| {
            let had = provider(batch, addr)?;
            if had.running > 0 {
                return Err(PawError::Busy { running: had.running });
            }
            batch.delete(&compute::Provider { addr })?;
            Ok(had.stake)
        })
    }

    /// A provider, if it is registered.
    pub fn provider(&self, addr: &[u8]) -> Result<Option<Provider>, PawError> {
        found_provider(&self.0.snapshot()?, addr)
    }

    /// All providers, by address.
    pub fn providers(&self) -> Result<Vec<(Vec<u8>, Provider)>, PawError> {
        let mut all = Vec::new();
        self.0.snapshot()?.scan(compute::Provider::all()).each(|key, value| {
            all.push((key.addr.to_vec(), provider_of(value)));
        })?;
        Ok(all)
    }

    /// Asks for a job: the nonce, the request, its escrow and its status are one step.
    pub fn request(&self, requester: &[u8], nonce: u64, fee: u128) -> Result<u64, PawError> {
        self.atomically(|batch| {
            Nonces.advance(batch, &compute::NonceTracker { addr: requester }, nonce)?;
            requested(batch, requester, nonce, fee)
        })
    }

    /// Asks for a job on behalf of another chain: the nonce is the packet's.
    pub fn receive_request(&self, packet: &Packet<'_>, requester: &[u8], fee: u128) -> Result<u64, PawError> {
        self.atomically(|batch| {
            passed(batch, Module::Compute, packet)?;
            requested(batch, requester, packet.nonce, fee)
        })
    }

    /// The last nonce of an account.
    pub fn nonce_of(&self, addr: &[u8]) -> Result<Option<u64>, PawError> {
        Ok(Nonces.last(&self.0.snapshot()?, &compute::NonceTracker { addr })?)
    }

    /// Gives a pending job to a provider whose stake is still what governance asks for.
    pub fn assign(&self, request: u64, addr: &[u8]) -> Result<(), PawError> {
        self.atomically(|batch| {
            if state(batch, request)? != Some(JobState::Pending) {
                return Err(PawError::NotPending { request });
            }
            let had = provider(batch, addr)?;
            enough(batch, had.stake)?;
            let running = had.running.checked_add(1).ok_or(PawError::Overflow)?;
            put_provider(batch, addr, Provider { running, ..had })?;
            put_state(batch, request, compute::JobStatusValueStatus::Running { provider: addr })
        })
    }

    /// Settles a job with its result and returns what was held for it, which is now the provider's.
    pub fn complete(&self, request: u64, addr: &[u8], result: &[u8]) -> Result<u128, PawError> {
        self.atomically(|batch| {
            if state(batch, request)? != Some(JobState::Running(addr.to_vec())) {
                return Err(PawError::NotRunning { request });
            }
            let had = provider(batch, addr)?;
            let done = had.done.saturating_add(1);
            put_provider(batch, addr, Provider { running: had.running.saturating_sub(1), done, ..had })?;
            put_state(batch, request, compute::JobStatusValueStatus::Done { provider: addr })?;
            batch.put(&compute::Result { request_id: request }, &Raw(result))?;
            released(batch, request)
        })
    }

    /// Gives up a job that nobody runs, and returns what was held for it, which is the requester's again.
    pub fn refund(&self, request: u64) -> Result<u128, PawError> {
        self.atomically(|batch| {
            if state(batch, request)? != Some(JobState::Pending) {
                return Err(PawError::NotPending { request });
            }
            put_state(batch, request, compute::JobStatusValueStatus::Refunded)?;
            released(batch, request)
        })
    }

    /// Ends a job that its provider has not done, and takes a part of the provider's stake. Returns what was held for the job, and
    /// what the provider has lost; both are the requester's.
    pub fn fail(&self, request: u64) -> Result<(u128, u128), PawError> {
        self.atomically(|batch| {
            let Some(JobState::Running(addr)) = state(batch, request)? else {
                return Err(PawError::NotRunning { request });
            };
            let had = provider(batch, &addr)?;
            let lost = share_of(had.stake, params(batch)?.slash.into(), PARTS)?.min(had.stake);
            let after = Provider {
                stake: had.stake.saturating_sub(lost),
                running: had.running.saturating_sub(1),
                failed: had.failed.saturating_add(1),
                ..had
            };
            put_provider(batch, &addr, after)?;
            put_state(batch, request, compute::JobStatusValueStatus::Failed { provider: &addr })?;
            Ok((released(batch, request)?, lost))
        })
    }

    /// What is held for a job.
    pub fn escrow(&self, request: u64) -> Result<Option<u128>, PawError> {
        let key = compute::Escrow { request_id: request };
        value(&self.0.snapshot()?, &key, |value| value.amount)
    }

    /// A job: who asked for it, and how far it has come.
    pub fn job(&self, request: u64) -> Result<Option<Job>, PawError> {
        let view = self.0.snapshot()?;
        let Some(state) = state(&view, request)? else { return Ok(None) };
        let key = compute::Request { request_id: request };
        value(&view, &key, |value| Job { requester: value.requester.to_vec(), nonce: value.nonce, state })
    }

    /// What a job has produced.
    pub fn result(&self, request: u64) -> Result<Option<Vec<u8>>, PawError> {
        let key = compute::Result { request_id: request };
        value(&self.0.snapshot()?, &key, |value| value.0.to_vec())
    }
}

fn params<R: Read>(read: &R) -> Result<ComputeParams, PawError> {
    let set = value(read, &compute::Params, |value| ComputeParams {
        min_stake: value.min_stake,
        slash: value.slash,
    })?;
    Ok(set.unwrap_or_default())
}

/// Refuses a stake below what governance asks for.
fn enough<R: Read>(read: &R, stake: u128) -> Result<(), PawError> {
    let wanted = params(read)?.min_stake;
    if stake < wanted { Err(PawError::TooFew { have: stake, wanted }) } else { Ok(()) }
}

fn provider_of(value: compute::ProviderValue) -> Provider {
    let compute::ProviderValue { stake, running, done, failed } = value;
    Provider { stake, running, done, failed }
}

fn found_provider<R: Read>(read: &R, addr: &[u8]) -> Result<Option<Provider>, PawError> {
    value(read, &compute::Provider { addr }, provider_of)
}

fn provider<R: Read>(read: &R, addr: &[u8]) -> Result<Provider, PawError> {
    found_provider(read, addr)?.ok_or(PawError::NotRegistered)
}

fn put_provider<E: Engine>(
    batch: &mut Batch<'_, E>,
    addr: &[u8],
    provider: Provider,
) -> Result<(), PawError> {
    let Provider { stake, running, done, failed } = provider;
    let value = compute::ProviderValue { stake, running, done, failed };
    Ok(batch.put(&compute::Provider { addr }, &value)?)
}

/// Writes a request, its escrow and its status, and returns its number.
fn requested<E: Engine>(
    batch: &mut Batch<'_, E>,
    requester: &[u8],
    nonce: u64,
    fee: u128,
) -> Result<u64, PawError> {
    let request_id = value(batch, &compute::RequestCount, |value| value.next)?.unwrap_or(1);
    let next = request_id.checked_add(1).ok_or(PawError::Overflow)?;
    batch.put(&compute::RequestCount, &compute::RequestCountValue { next })?;
    batch.put(&compute::Request { request_id }, &compute::RequestValue { nonce, requester })?;
    batch.put(&compute::Escrow { request_id }, &compute::EscrowValue { amount: fee })?;
    put_state(batch, request_id, compute::JobStatusValueStatus::Pending)?;
    Ok(request_id)
}

fn state<R: Read>(read: &R, request: u64) -> Result<Option<JobState>, PawError> {
    use compute::JobStatusValueStatus as Status;
    value(read, &compute::JobStatus { request_id: request }, |value| match value.status {
        Status::Pending => JobState::Pending,
        Status::Running { provider } => JobState::Running(provider.to_vec()),
        Status::Done { provider } => JobState::Done(provider.to_vec()),
        Status::Refunded => JobState::Refunded,
        Status::Failed { provider } => JobState::Failed(provider.to_vec()),
    })
}

fn put_state<E: Engine>(
    batch: &mut Batch<'_, E>,
    request: u64,
    status: compute::JobStatusValueStatus<'_>,
) -> Result<(), PawError> {
    let key = compute::JobStatus { request_id: request };
    Ok(batch.put(&key, &compute::JobStatusValue { status })?)
}

/// Takes what is held for a request.
fn released<E: Engine>(batch: &mut Batch<'_, E>, request: u64) -> Result<u128, PawError> {
    let key = compute::Escrow { request_id: request };
    let held = value(batch, &key, |value| value.amount)?;
    batch.delete(&key)?;
    Ok(held.unwrap_or(0))
}

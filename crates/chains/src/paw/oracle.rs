//! The price oracle: validators and those who act for them, commitments and votes, prices, missed votes and what they cost.

use core::ops::ControlFlow;
use std::collections::BTreeMap;

use keyplan::store::engine::Engine;
use keyplan::store::raw::{Removed, Steps};
use keyplan::store::{Batch, Read};
use keyplan::typed::List;

use super::chain::{PARTS, passed, share_of, sum, value};
use super::layout::paw_chain;
use super::layout::paw_chain::Quote;
use super::layout::paw_chain::state::oracle;
use super::{Module, Packet, Paw, PawError};

/// Prices by token.
type Prices = Vec<(String, u128)>;

/// What governance sets for the oracle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OracleParams {
    /// The part of its weight that a validator loses when it has missed too many votes, in parts per million.
    pub slash: u32,
    /// How many votes a validator may miss.
    pub max_misses: u64,
    /// How many heights an average price reaches back.
    pub twap_window: u64,
}

impl Default for OracleParams {
    fn default() -> Self {
        Self { slash: 10_000, max_misses: 50, twap_window: 1_000 }
    }
}

/// A validator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validator {
    /// The weight of its votes.
    pub power: u64,
    /// Whether it has missed too many votes and may not vote.
    pub jailed: bool,
}

/// What a validator has lost so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slashing {
    /// When it lost something last.
    pub height: u64,
    /// How often.
    pub count: u64,
    /// How much of its weight, in all.
    pub lost: u64,
}

/// A validator that has just missed too many votes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slashed {
    /// The validator.
    pub validator: Vec<u8>,
    /// What it has lost.
    pub lost: u64,
}

/// Who has stopped the oracle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The account.
    pub by: Vec<u8>,
    /// When.
    pub height: u64,
    /// Why.
    pub why: String,
}

/// The hash by which a validator commits itself to prices: of the salt, and of what [`Paw::reveal`] writes.
pub fn commitment(salt: &[u8; 32], height: u64, prices: &[Quote<'_>]) -> Result<[u8; 32], PawError> {
    let mut bytes = salt.to_vec();
    oracle::AggregateVoteValue { height, prices: List::new(prices) }.encode_into(&mut bytes)?;
    let hash = oracle::PrevoteValueCommitment::of(&bytes);
    Ok(hash.map_err(|error| error.of("state.oracle.prevote value"))?.digest())
}

impl<E: Engine> Paw<E> {
    /// Sets the parameters of the oracle.
    pub fn set_oracle_params(&self, params: OracleParams) -> Result<(), PawError> {
        let OracleParams { slash, max_misses, twap_window } = params;
        let value = oracle::ParamsValue { slash, max_misses, twap_window };
        self.atomically(|batch| Ok(batch.put(&oracle::Params, &value)?))
    }

    /// The parameters of the oracle.
    pub fn oracle_params(&self) -> Result<OracleParams, PawError> {
        params(&self.0.snapshot()?)
    }

    /// Registers a validator with its weight.
    pub fn register_validator(&self, addr: &[u8], power: u64) -> Result<(), PawError> {
        self.atomically(|batch| {
            if found(batch, addr)?.is_some() {
                return Err(PawError::Registered);
            }
            put_validator(batch, addr, None, Some(Validator { power, jailed: false }))
        })
    }

    /// Changes the weight of a validator.
    pub fn set_power(&self, addr: &[u8], power: u64) -> Result<(), PawError> {
        self.atomically(|batch| {
            let had = found(batch, addr)?.ok_or(PawError::NotRegistered)?;
            put_validator(batch, addr, Some(had), Some(Validator { power, ..had }))
        })
    }

    /// Lets a jailed validator vote again, with what it has left.
    pub fn unjail(&self, addr: &[u8]) -> Result<(), PawError> {
        self.atomically(|batch| {
            let had = found(batch, addr)?.ok_or(PawError::NotRegistered)?;
            put_validator(batch, addr, Some(had), Some(Validator { jailed: false, ..had }))
        })
    }

    /// Takes a validator out, and everything that stands for it but what it has lost.
    pub fn retire_validator(&self, addr: &[u8]) -> Result<(), PawError> {
        self.atomically(|batch| {
            let had = found(batch, addr)?.ok_or(PawError::NotRegistered)?;
            put_validator(batch, addr, Some(had), None)?;
            batch.delete(&oracle::FeederDelegation { addr })?;
            batch.delete(&oracle::MissCounter { addr })?;
            batch.delete(&oracle::AggregateVote { addr })?;
            batch.delete(&oracle::Prevote { addr })?;
            batch.delete(&oracle::Vote { addr })?;
            batch.delete(&oracle::Delegate { addr })?;
            for from in handed_to(batch, addr)? {
                batch.delete(&oracle::Delegate { addr: &from })?;
            }
            Ok(())
        })
    }

    /// A validator, if it is registered.
    pub fn validator(&self, addr: &[u8]) -> Result<Option<Validator>, PawError> {
        found(&self.0.snapshot()?, addr)
    }

    /// What the weights of all validators add up to.
    pub fn total_power(&self) -> Result<u64, PawError> {
        total(&self.0.snapshot()?)
    }

    /// Lets an account vote in a validator's place.
    pub fn delegate_feeder(&self, validator: &[u8], feeder: &[u8]) -> Result<(), PawError> {
        self.atomically(|batch| {
            found(batch, validator)?.ok_or(PawError::NotRegistered)?;
            let key = oracle::FeederDelegation { addr: validator };
            Ok(batch.put(&key, &oracle::FeederDelegationValue { feeder })?)
        })
    }

    /// Takes that back.
    pub fn revoke_feeder(&self, validator: &[u8]) -> Result<(), PawError> {
        self.atomically(|batch| Ok(batch.delete(&oracle::FeederDelegation { addr: validator })?))
    }

    /// The account that votes in a validator's place, if there is one.
    pub fn feeder_of(&self, validator: &[u8]) -> Result<Option<Vec<u8>>, PawError> {
        feeder(&self.0.snapshot()?, validator)
    }

    /// Lets the weight of a validator count for another's votes. Weight is handed on once: neither may the other have handed on its
    /// own, nor this one have got any.
    pub fn delegate_power(&self, validator: &[u8], to: &[u8]) -> Result<(), PawError> {
        self.atomically(|batch| {
            for addr in [validator, to] {
                found(batch, addr)?.ok_or(PawError::NotRegistered)?;
            }
            let refused = validator == to
                || batch.contains(&oracle::Delegate { addr: to })?
                || !handed_to(batch, validator)?.is_empty();
            if refused {
                return Err(PawError::Delegated);
            }
            Ok(batch.put(&oracle::Delegate { addr: validator }, &oracle::DelegateValue { to })?)
        })
    }

    /// Takes that back.
    pub fn take_back_power(&self, validator: &[u8]) -> Result<(), PawError> {
        self.atomically(|batch| Ok(batch.delete(&oracle::Delegate { addr: validator })?))
    }

    /// Commits a validator to prices that it will show at a height, by their [`commitment`]. `by` is the validator or its feeder.
    pub fn prevote(&self, validator: &[u8], by: &[u8], hash: [u8; 32], height: u64) -> Result<(), PawError> {
        self.atomically(|batch| {
            may_vote(batch, validator, by)?;
            let commitment = oracle::PrevoteValueCommitment::from_digest(hash);
            let value = oracle::PrevoteValue { height, commitment };
            Ok(batch.put(&oracle::Prevote { addr: validator }, &value)?)
        })
    }

    /// Shows the prices of a commitment of an earlier height: they are counted at this one.
    pub fn reveal(
        &self,
        validator: &[u8],
        by: &[u8],
        salt: &[u8; 32],
        prices: &[Quote<'_>],
        height: u64,
    ) -> Result<(), PawError> {
        let hash = commitment(salt, height, prices)?;
        self.atomically(|batch| {
            may_vote(batch, validator, by)?;
            let key = oracle::Prevote { addr: validator };
            let (since, committed) = value(batch, &key, |value| (value.height, value.commitment.digest()))?
                .ok_or(PawError::Commitment)?;
            if committed != hash {
                return Err(PawError::Commitment);
            }
            if height <= since {
                return Err(PawError::TooSoon { height: since });
            }
            batch.delete(&key)?;
            voted(batch, validator, prices, height, oracle::VoteValueKind::Shown)
        })
    }

    /// Votes openly for prices at a height. `by` is the validator or its feeder.
    pub fn vote(
        &self,
        validator: &[u8],
        by: &[u8],
        prices: &[Quote<'_>],
        height: u64,
    ) -> Result<(), PawError> {
        self.atomically(|batch| {
            may_vote(batch, validator, by)?;
            voted(batch, validator, prices, height, oracle::VoteValueKind::Open)
        })
    }

    /// The last vote of a validator: its height, and its prices by token.
    pub fn votes_of(&self, validator: &[u8]) -> Result<Option<(u64, Prices)>, PawError> {
        let key = oracle::AggregateVote { addr: validator };
        value(&self.0.snapshot()?, &key, |value| {
            let prices = value.prices.iter().map(|quote| (quote.denom.to_owned(), quote.price));
            (value.height, prices.collect())
        })
    }

    /// Makes the median of a height's votes, each with its weight, the price of a token, and returns it. The average price is kept up in
    /// the same step.
    pub fn settle_price(&self, height: u64, denom: &str) -> Result<Option<u128>, PawError> {
        self.atomically(|batch| {
            not_paused(batch)?;
            let weights = weights(batch)?;
            let mut votes = Vec::new();
            batch.scan(oracle::VoteAt::by_height_denom(height, denom)?).each(|key, value| {
                votes.push((value.price, weights.get(key.addr).copied().unwrap_or(0)));
            })?;
            votes.sort_unstable();
            let all: u128 = votes.iter().map(|(_, weight)| *weight).sum();
            let mut counted = 0;
            let median = votes.iter().find(|(_, weight)| {
                counted += *weight;
                counted > all / 2
            });
            let Some(price) = median.map(|(price, _)| *price).filter(|_| all > 0) else { return Ok(None) };
            put_price(batch, denom, price, height)?;
            Ok(Some(price))
        })
    }

    /// Takes a price over from another chain: the nonce of the packet is used in the step that it protects.
    pub fn receive_price(
        &self,
        packet: &Packet<'_>,
        denom: &str,
        price: u128,
        height: u64,
    ) -> Result<(), PawError> {
        self.atomically(|batch| {
            not_paused(batch)?;
            passed(batch, Module::Oracle, packet)?;
            put_price(batch, denom, price, height)
        })
    }

    /// The price of a token, and the height that it is of.
    pub fn price(&self, denom: &str) -> Result<Option<(u128, u64)>, PawError> {
        value(&self.0.snapshot()?, &oracle::Price { denom }, |value| (value.price, value.height))
    }

    /// The average price of a token at a height: every price counts for as long as it was valid.
    ///
    /// It reaches back over the heights that governance has set. What lies before them is forgotten as one average, since there is one
    /// row per token.
    pub fn twap(&self, denom: &str, height: u64) -> Result<Option<u128>, PawError> {
        let Some(twap) = twap(&self.0.snapshot()?, denom)? else { return Ok(None) };
        let until = height.max(twap.last);
        let sum = sum(twap.sum, times(twap.price, until - twap.last)?)?;
        Ok(Some(sum.checked_div((until - twap.since).into()).unwrap_or(twap.price)))
    }

    /// Ends a period of votes, once per height: whoever has not voted at it has missed one, and whoever has missed too many loses weight and is
    /// jailed. Returns those.
    pub fn end_period(&self, height: u64) -> Result<Vec<Slashed>, PawError> {
        self.atomically(|batch| {
            not_paused(batch)?;
            let params = params(batch)?;
            let mut voters = Vec::new();
            batch.scan(oracle::Validator::all()).each(|key, value| {
                let validator = validator_of(value);
                if !validator.jailed {
                    voters.push((key.addr.to_vec(), validator));
                }
            })?;
            let mut slashed = Vec::new();
            for (addr, validator) in voters {
                let addr = addr.as_slice();
                let voted = value(batch, &oracle::Vote { addr }, |value| value.height)?;
                if voted == Some(height) || batch.contains(&oracle::Delegate { addr })? {
                    continue;
                }
                let misses = misses(batch, addr)?.saturating_add(1);
                if misses <= params.max_misses {
                    batch.put(&oracle::MissCounter { addr }, &oracle::MissCounterValue { count: misses })?;
                    continue;
                }
                batch.delete(&oracle::MissCounter { addr })?;
                let lost = share_of(validator.power.into(), params.slash.into(), PARTS)?;
                let lost = u64::try_from(lost).unwrap_or(u64::MAX).min(validator.power);
                let after = Validator { power: validator.power - lost, jailed: true };
                put_validator(batch, addr, Some(validator), Some(after))?;
                let had = slashing(batch, addr)?;
                let value = oracle::SlashingValue {
                    height,
                    count: had.map_or(0, |had| had.count).saturating_add(1),
                    lost: had.map_or(0, |had| had.lost).saturating_add(lost),
                };
                batch.put(&oracle::Slashing { addr }, &value)?;
                slashed.push(Slashed { validator: addr.to_vec(), lost });
            }
            Ok(slashed)
        })
    }

    /// How many votes a validator has missed.
    pub fn misses(&self, validator: &[u8]) -> Result<u64, PawError> {
        misses(&self.0.snapshot()?, validator)
    }

    /// What a validator has lost, if anything.
    pub fn slashing(&self, validator: &[u8]) -> Result<Option<Slashing>, PawError> {
        slashing(&self.0.snapshot()?, validator)
    }

    /// Removes votes that are older than the plan keeps them, in steps.
    pub fn prune_votes(&self, height: u64, steps: &Steps) -> Result<Removed, PawError> {
        let to_the_end = |_: &Removed| ControlFlow::Continue(());
        let now = Some(i128::from(height));
        Ok(self.0.prune::<oracle::VoteAt<'_>>(&paw_chain::PLAN, now, steps, to_the_end)?)
    }

    /// Stops the oracle.
    pub fn pause(&self, by: &[u8], why: &str, height: u64) -> Result<(), PawError> {
        let value = oracle::EmergencyPauseValue { height, by, why };
        self.atomically(|batch| Ok(batch.put(&oracle::EmergencyPause, &value)?))
    }

    /// Lets the oracle go on.
    pub fn resume(&self) -> Result<(), PawError> {
        self.atomically(|batch| Ok(batch.delete(&oracle::EmergencyPause)?))
    }

    /// Who has stopped the oracle, if somebody has.
    pub fn paused(&self) -> Result<Option<Pause>, PawError> {
        value(&self.0.snapshot()?, &oracle::EmergencyPause, |value| Pause {
            by: value.by.to_vec(),
            height: value.height,
            why: value.why.to_owned(),
        })
    }
}

fn params<R: Read>(read: &R) -> Result<OracleParams, PawError> {
    let set = value(read, &oracle::Params, |value| {
        let oracle::ParamsValue { slash, max_misses, twap_window } = value;
        OracleParams { slash, max_misses, twap_window }
    })?;
    Ok(set.unwrap_or_default())
}

fn validator_of(value: oracle::ValidatorValue) -> Validator {
    Validator { power: value.power, jailed: value.jailed == oracle::ValidatorValueJailed::Yes }
}

fn found<R: Read>(read: &R, addr: &[u8]) -> Result<Option<Validator>, PawError> {
    value(read, &oracle::Validator { addr }, validator_of)
}

fn total<R: Read>(read: &R) -> Result<u64, PawError> {
    Ok(value(read, &oracle::TotalPower, |value| value.power)?.unwrap_or(0))
}

/// Changes a validator, and the sum of all weights with it.
fn put_validator<E: Engine>(
    batch: &mut Batch<'_, E>,
    addr: &[u8],
    before: Option<Validator>,
    after: Option<Validator>,
) -> Result<(), PawError> {
    let power = |validator: Option<Validator>| validator.map_or(0, |validator| validator.power);
    let sum = total(batch)?.saturating_sub(power(before)).checked_add(power(after));
    batch.put(&oracle::TotalPower, &oracle::TotalPowerValue { power: sum.ok_or(PawError::Overflow)? })?;
    let key = oracle::Validator { addr };
    let Some(Validator { power, jailed }) = after else { return Ok(batch.delete(&key)?) };
    let jailed = if jailed { oracle::ValidatorValueJailed::Yes } else { oracle::ValidatorValueJailed::No };
    Ok(batch.put(&key, &oracle::ValidatorValue { power, jailed })?)
}

fn feeder<R: Read>(read: &R, validator: &[u8]) -> Result<Option<Vec<u8>>, PawError> {
    value(read, &oracle::FeederDelegation { addr: validator }, |value| value.feeder.to_vec())
}

fn misses<R: Read>(read: &R, addr: &[u8]) -> Result<u64, PawError> {
    Ok(value(read, &oracle::MissCounter { addr }, |value| value.count)?.unwrap_or(0))
}

fn slashing<R: Read>(read: &R, addr: &[u8]) -> Result<Option<Slashing>, PawError> {
    value(read, &oracle::Slashing { addr }, |value| {
        let oracle::SlashingValue { height, count, lost } = value;
        Slashing { height, count, lost }
    })
}

/// The validators whose weight counts for this one.
fn handed_to<R: Read>(read: &R, to: &[u8]) -> Result<Vec<Vec<u8>>, PawError> {
    let mut from = Vec::new();
    read.scan(oracle::Delegate::all()).each(|key, value| {
        if value.to == to {
            from.push(key.addr.to_vec());
        }
    })?;
    Ok(from)
}

/// The weight of every validator that may vote, with what others have handed to it.
fn weights<R: Read>(read: &R) -> Result<BTreeMap<Vec<u8>, u128>, PawError> {
    let mut handed: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    read.scan(oracle::Delegate::all()).each(|key, value| {
        handed.insert(key.addr.to_vec(), value.to.to_vec());
    })?;
    let mut weights: BTreeMap<Vec<u8>, u128> = BTreeMap::new();
    read.scan(oracle::Validator::all()).each(|key, value| {
        let validator = validator_of(value);
        if !validator.jailed {
            let to = handed.get(key.addr).map_or(key.addr, Vec::as_slice);
            *weights.entry(to.to_vec()).or_default() += u128::from(validator.power);
        }
    })?;
    Ok(weights)
}

fn not_paused<R: Read>(read: &R) -> Result<(), PawError> {
    if read.contains(&oracle::EmergencyPause)? { Err(PawError::Paused) } else { Ok(()) }
}

/// Refuses a vote while the oracle is paused, of a validator that is not registered, is jailed or has handed its weight on, and by
/// an account that may not act for it.
fn may_vote<R: Read>(read: &R, validator: &[u8], by: &[u8]) -> Result<(), PawError> {
    not_paused(read)?;
    if found(read, validator)?.is_none_or(|validator| validator.jailed) {
        return Err(PawError::NotRegistered);
    }
    if by != validator && feeder(read, validator)?.is_none_or(|feeder| feeder != by) {
        return Err(PawError::NotTheFeeder);
    }
    if read.contains(&oracle::Delegate { addr: validator })? {
        return Err(PawError::Delegated);
    }
    Ok(())
}

fn voted<E: Engine>(
    batch: &mut Batch<'_, E>,
    validator: &[u8],
    prices: &[Quote<'_>],
    height: u64,
    kind: oracle::VoteValueKind,
) -> Result<(), PawError> {
    for Quote { denom, price } in prices {
        let key = oracle::VoteAt { height, denom, addr: validator };
        // A second vote at a height takes the place of the first; a token that is named twice in one does not.
        if prices.iter().filter(|other| other.denom == *denom).count() > 1 {
            return Err(PawError::Twice);
        }
        batch.put(&key, &oracle::VoteAtValue { price: *price })?;
    }
    let value = oracle::AggregateVoteValue { height, prices: List::new(prices) };
    batch.put(&oracle::AggregateVote { addr: validator }, &value)?;
    Ok(batch.put(&oracle::Vote { addr: validator }, &oracle::VoteValue { height, kind })?)
}

fn times(price: u128, heights: u64) -> Result<u128, PawError> {
    price.checked_mul(heights.into()).ok_or(PawError::Overflow)
}

fn twap<R: Read>(read: &R, denom: &str) -> Result<Option<oracle::TwapValue>, PawError> {
    value(read, &oracle::Twap { denom }, |value| value)
}

/// Writes a price and carries the average on. A price of an earlier height than the last is refused.
fn put_price<E: Engine>(
    batch: &mut Batch<'_, E>,
    denom: &str,
    price: u128,
    height: u64,
) -> Result<(), PawError> {
    batch.put(&oracle::Price { denom }, &oracle::PriceValue { height, price })?;
    let key = oracle::Twap { denom };
    let Some(had) = twap(batch, denom)? else {
        return Ok(batch.put(&key, &oracle::TwapValue { since: height, last: height, price, sum: 0 })?);
    };
    if height < had.last {
        return Err(PawError::TooSoon { height: had.last });
    }
    let mut sum = sum(had.sum, times(had.price, height - had.last)?)?;
    let mut since = had.since;
    let window = params(batch)?.twap_window.max(1);
    if height - since > window {
        sum = share_of(sum, window.into(), (height - since).into())?;
        since = height - window;
    }
    Ok(batch.put(&key, &oracle::TwapValue { since, last: height, price, sum })?)
}

//! Random operations against a model that knows nothing of keys: plain maps, and the rules written down once more.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use keyplan::store::Error;
use keyplan::store::engine::Engine;
use keyplan_chains::paw::{
    ComputeParams, Inside, JobState, Module, OracleParams, Packet, Paw, PawError, Quote, Swap,
};
use keyplan_testkit::Random;

const TOKENS: [&str; 4] = ["upaw", "usdc", "uatom", "upa"];
const CHANNELS: [&str; 2] = ["channel-0", "channel-1"];
const SENDERS: [&str; 3] = ["a", "a/b", "b"];

fn amount(random: &mut Random) -> u128 {
    u128::from(match random.below(4_u64) {
        0 => random.below(3_u64),
        1 => random.below(2_000),
        _ => random.below(1_000_000),
    })
}

fn account(n: u64) -> Vec<u8> {
    let byte = u8::try_from(n).unwrap() + 1;
    if n.is_multiple_of(2) { vec![byte; 20] } else { vec![byte; 32] }
}

/// What came of an operation, in a form that the model can say too.
fn told<T: Debug>(done: Result<T, PawError>) -> Result<String, String> {
    match done {
        Ok(done) => Ok(format!("{done:?}")),
        Err(PawError::Store(Error::Replayed { .. })) => Err("Replayed".into()),
        Err(PawError::Store(Error::Locked { .. })) => Err("Locked".into()),
        Err(PawError::Store(other)) => panic!("{other}"),
        Err(other) => {
            let text = format!("{other:?}");
            Err(text.split([' ', '{', '(']).next().unwrap_or_default().to_owned())
        }
    }
}

type Told = Result<String, String>;

#[expect(clippy::unnecessary_wraps, reason = "the other side of `refused`")]
fn done<T: Debug>(value: T) -> Told {
    Ok(format!("{value:?}"))
}

fn refused(why: &str) -> Told {
    Err(why.to_owned())
}

#[derive(Clone, Default)]
struct Pool {
    tokens: (String, String),
    reserves: (u128, u128),
    shares: BTreeMap<Vec<u8>, u128>,
    put: BTreeMap<Vec<u8>, (u128, u128)>,
    acted: BTreeMap<Vec<u8>, u64>,
    fees: BTreeMap<String, u128>,
    halted: Option<u64>,
    lock: Option<u64>,
}

#[derive(Clone, Default)]
struct Validator {
    power: u64,
    jailed: bool,
    misses: u64,
    voted: Option<u64>,
    feeder: Option<Vec<u8>>,
    to: Option<Vec<u8>>,
}

#[derive(Default)]
struct Model {
    pools: BTreeMap<u64, Pool>,
    protocol: BTreeMap<String, u128>,
    jobs: BTreeMap<u64, (u128, JobState)>,
    nonces: BTreeMap<Vec<u8>, u64>,
    packets: BTreeMap<(u8, String, String), u64>,
    providers: BTreeMap<Vec<u8>, (u128, u64, u64, u64)>,
    validators: BTreeMap<Vec<u8>, Validator>,
    votes: BTreeMap<(u64, String), BTreeMap<Vec<u8>, u128>>,
    prices: BTreeMap<String, (u128, u64)>,
    lost: BTreeMap<Vec<u8>, (u64, u64)>,
    paused: bool,
}

impl Model {
    fn open(&self, pool: u64, height: u64) -> Result<&Pool, String> {
        let found = self.pools.get(&pool).ok_or("NoPool")?;
        if found.lock.is_some_and(|until| height <= until) {
            return Err("Entered".into());
        }
        if found.halted.is_some_and(|until| height <= until) {
            return Err("Halted".into());
        }
        Ok(found)
    }

    fn add(&mut self, pool: u64, who: &[u8], a: u128, b: u128, height: u64) -> Told {
        let found = self.open(pool, height)?;
        if found.acted.get(who).is_some_and(|last| height <= *last) {
            return refused("TooSoon");
        }
        let all: u128 = found.shares.values().sum();
        let minted = if all == 0 {
            (a * b).isqrt()
        } else if found.reserves.0 == 0 || found.reserves.1 == 0 {
            return refused("Overflow");
        } else {
            (a * all / found.reserves.0).min(b * all / found.reserves.1)
        };
        if minted == 0 {
            return refused("TooFew");
        }
        let found = self.pools.get_mut(&pool).unwrap();
        found.acted.insert(who.to_vec(), height);
        *found.shares.entry(who.to_vec()).or_default() += minted;
        let put = found.put.entry(who.to_vec()).or_default();
        *put = (put.0 + a, put.1 + b);
        found.reserves = (found.reserves.0 + a, found.reserves.1 + b);
        done(minted)
    }

    fn remove(&mut self, pool: u64, who: &[u8], shares: u128, height: u64) -> Told {
        let found = self.open(pool, height)?;
        if found.acted.get(who).is_some_and(|last| height <= *last) {
            return refused("TooSoon");
        }
        let all: u128 = found.shares.values().sum();
        let have = found.shares.get(who).copied().unwrap_or(0);
        if shares == 0 || have < shares {
            return refused("TooFew");
        }
        let worth = (found.reserves.0 * shares / all, found.reserves.1 * shares / all);
        let found = self.pools.get_mut(&pool).unwrap();
        found.acted.insert(who.to_vec(), height);
        found.reserves = (found.reserves.0 - worth.0, found.reserves.1 - worth.1);
        let left = have - shares;
        if left == 0 {
            found.shares.remove(who);
            found.put.remove(who);
        } else {
            found.shares.insert(who.to_vec(), left);
            let put = found.put.entry(who.to_vec()).or_default();
            *put = (put.0 * left / have, put.1 * left / have);
        }
        done(worth)
    }

    fn swap(&mut self, swap: &Swap<'_>, height: u64) -> Result<u128, String> {
        let found = self.open(swap.pool, height)?;
        let first = found.tokens.0 == swap.token_in;
        if !first && found.tokens.1 != swap.token_in {
            return Err("OtherToken".into());
        }
        let (into, from) = if first { found.reserves } else { (found.reserves.1, found.reserves.0) };
        let fee = (swap.amount_in * 3_000 / 1_000_000 + 1).min(swap.amount_in);
        let protocol = fee / 10;
        let paid = swap.amount_in - fee;
        let out = (from * paid).checked_div(into + paid).unwrap_or(0);
        if out < swap.min_out.max(1) {
            return Err("TooFew".into());
        }
        if out > from * 3 / 10 {
            return Err("Drained".into());
        }
        let found = self.pools.get_mut(&swap.pool).unwrap();
        found.reserves = if first { (into + paid, from - out) } else { (from - out, into + paid) };
        *found.fees.entry(swap.token_in.to_owned()).or_default() += fee - protocol;
        *self.protocol.entry(swap.token_in.to_owned()).or_default() += protocol;
        Ok(out)
    }

    fn pass(&mut self, module: u8, packet: &Packet<'_>) -> Result<(), String> {
        let key = (module, packet.channel.to_owned(), packet.sender.to_owned());
        if self.packets.get(&key).is_some_and(|last| packet.nonce <= *last) {
            return Err("Replayed".into());
        }
        self.packets.insert(key, packet.nonce);
        Ok(())
    }

    fn ask(&mut self, fee: u128) -> u64 {
        let request = self.jobs.len() as u64 + 1;
        self.jobs.insert(request, (fee, JobState::Pending));
        request
    }

    fn may_vote(&self, validator: &[u8], by: &[u8]) -> Result<(), String> {
        if self.paused {
            return Err("Paused".into());
        }
        let found = self.validators.get(validator).filter(|found| !found.jailed).ok_or("NotRegistered")?;
        if by != validator && found.feeder.as_deref() != Some(by) {
            return Err("NotTheFeeder".into());
        }
        if found.to.is_some() { Err("Delegated".into()) } else { Ok(()) }
    }

    fn settle(&mut self, height: u64, denom: &str) -> Told {
        if self.paused {
            return refused("Paused");
        }
        let mut each = Vec::new();
        for (addr, price) in self.votes.get(&(height, denom.to_owned())).into_iter().flatten() {
            let own = |of: &Validator| if of.jailed { 0 } else { of.power };
            let handed = self.validators.values().filter(|of| of.to.as_ref() == Some(addr)).map(own);
            let mine = self.validators.get(addr).filter(|of| of.to.is_none()).map_or(0, own);
            let weight: u64 = handed.sum::<u64>() + mine;
            // As many votes as its weight has units: the median is the one in the middle.
            each.extend(std::iter::repeat_n(*price, usize::try_from(weight).unwrap()));
        }
        each.sort_unstable();
        let Some(price) = each.get(each.len() / 2).copied() else { return done(None::<u128>) };
        if self.prices.get(denom).is_some_and(|(_, last)| height < *last) {
            return refused("TooSoon");
        }
        self.prices.insert(denom.to_owned(), (price, height));
        done(Some(price))
    }

    fn end(&mut self, height: u64) -> Result<Vec<(Vec<u8>, u64)>, String> {
        if self.paused {
            return Err("Paused".into());
        }
        let mut gone = Vec::new();
        for (addr, found) in &mut self.validators {
            if found.jailed || found.to.is_some() || found.voted == Some(height) {
                continue;
            }
            found.misses += 1;
            if found.misses > 2 {
                let lost = found.power / 4;
                (found.misses, found.jailed, found.power) = (0, true, found.power - lost);
                let had = self.lost.entry(addr.clone()).or_default();
                *had = (had.0 + 1, had.1 + lost);
                gone.push((addr.clone(), lost));
            }
        }
        Ok(gone)
    }
}

/// Runs random operations on the chain and on the model, and compares what they say after each and what is there at the end. The chain
/// is opened again now and then.
#[expect(
    clippy::too_many_lines,
    reason = "a table: one arm for each operation and what the model says of it"
)]
pub(crate) fn random_operations_agree<E: Engine>(mut open: impl FnMut() -> Paw<E>, seed: u64, steps: u64) {
    let mut random = Random(seed);
    let mut model = Model::default();
    let mut chain = open();
    chain.set_compute_params(ComputeParams { min_stake: 1_000, slash: 200_000 }).unwrap();
    let params = OracleParams { slash: 250_000, max_misses: 2, twap_window: 50 };
    chain.set_oracle_params(params).unwrap();
    let mut height = 1;
    let mut reached = BTreeSet::new();
    for step in 0..steps {
        height += random.below(2);
        if random.below(400) == 0 {
            drop(chain);
            chain = open();
        }
        let pool = random.below(4) + 1;
        let (who, other) = (account(random.below(4)), account(random.below(4)));
        let token = TOKENS[usize::try_from(random.below(4)).unwrap()];
        let request = random.below(model.jobs.len() as u64 + 2);
        let packet = Packet {
            channel: CHANNELS[usize::try_from(random.below(2)).unwrap()],
            sender: SENDERS[usize::try_from(random.below(3)).unwrap()],
            nonce: random.below(step / 10 + 3),
        };
        let kind = random.below(32);
        let (found, wanted): (Told, Told) = match kind {
            0 => {
                let second = TOKENS[usize::try_from(random.below(4)).unwrap()];
                let (a, b) = if token < second { (token, second) } else { (second, token) };
                let pair = (a.to_owned(), b.to_owned());
                let wanted = if a == b {
                    refused("OneToken")
                } else if model.pools.values().any(|pool| pool.tokens == pair) {
                    refused("PoolExists")
                } else {
                    let number = model.pools.len() as u64 + 1;
                    model.pools.insert(number, Pool { tokens: pair, ..Pool::default() });
                    done(number)
                };
                (told(chain.create_pool(token, second)), wanted)
            }
            1..=4 => {
                let (a, b) = (amount(&mut random), amount(&mut random));
                (told(chain.add_liquidity(pool, &who, a, b, height)), model.add(pool, &who, a, b, height))
            }
            5 | 6 => {
                let most = model.pools.get(&pool).and_then(|pool| pool.shares.get(&who)).copied();
                let shares = match random.below(3) {
                    0 => amount(&mut random),
                    1 => most.unwrap_or(1),
                    _ => most.unwrap_or(3) / 2,
                };
                let found = chain.remove_liquidity(pool, &who, shares, height);
                (told(found), model.remove(pool, &who, shares, height))
            }
            7..=10 => {
                let swap = Swap {
                    pool,
                    token_in: token,
                    amount_in: amount(&mut random),
                    min_out: amount(&mut random) / 500,
                };
                if kind == 10 {
                    let found = chain.receive_swap(&packet, &swap, height).map(|swapped| swapped.out);
                    let before = model.packets.clone();
                    let wanted = model.pass(1, &packet).and_then(|()| model.swap(&swap, height));
                    if wanted.is_err() {
                        model.packets = before;
                    }
                    (told(found), wanted.and_then(done))
                } else {
                    let found = chain.swap(&swap, height).map(|swapped| swapped.out);
                    (told(found), model.swap(&swap, height).and_then(done))
                }
            }
            11 => {
                let until = height + random.below(3);
                let wanted = match model.pools.get_mut(&pool) {
                    None => refused("NoPool"),
                    Some(found) if found.lock.is_some_and(|until| height <= until) => refused("Locked"),
                    Some(found) => {
                        found.lock = Some(until);
                        done(())
                    }
                };
                // It stays inside, as whoever crashes does.
                (told(chain.enter(pool, &who, height, until).map(Inside::stay)), wanted)
            }
            12 => {
                let until = height + random.below(3);
                let wanted = model.pools.get_mut(&pool).map(|pool| pool.halted = Some(until));
                (told(chain.trip_breaker(pool, until)), wanted.map_or(refused("NoPool"), done))
            }
            13 => {
                let wanted = match model.pools.get_mut(&pool) {
                    None => refused("NoPool"),
                    Some(found) if found.shares.is_empty() => refused("TooFew"),
                    Some(found) => {
                        let a = found.fees.remove(&found.tokens.0).unwrap_or(0);
                        let b = found.fees.remove(&found.tokens.1).unwrap_or(0);
                        found.reserves = (found.reserves.0 + a, found.reserves.1 + b);
                        done((a, b))
                    }
                };
                (told(chain.compound_fees(pool)), wanted)
            }
            14 => {
                let wanted = model.protocol.remove(token).unwrap_or(0);
                (told(chain.collect_protocol_fees(token)), done(wanted))
            }
            15 => {
                let stake = amount(&mut random);
                let wanted = if model.providers.contains_key(&who) {
                    refused("Registered")
                } else if stake < 1_000 {
                    refused("TooFew")
                } else {
                    model.providers.insert(who.clone(), (stake, 0, 0, 0));
                    done(())
                };
                (told(chain.register_provider(&who, stake)), wanted)
            }
            16 => {
                let amount = amount(&mut random);
                let wanted = match model.providers.get_mut(&who) {
                    None => refused("NotRegistered"),
                    Some(had) if had.0 < amount || had.0 - amount < 1_000 => refused("TooFew"),
                    Some(had) => {
                        had.0 -= amount;
                        done(had.0)
                    }
                };
                (told(chain.withdraw_stake(&who, amount)), wanted)
            }
            17 => {
                let wanted = match model.providers.get(&who).copied() {
                    None => refused("NotRegistered"),
                    Some((_, running, ..)) if running > 0 => refused("Busy"),
                    Some((stake, ..)) => {
                        model.providers.remove(&who);
                        done(stake)
                    }
                };
                (told(chain.retire_provider(&who)), wanted)
            }
            18 => {
                let (nonce, fee) = (random.below(step / 10 + 3), amount(&mut random));
                let wanted = if model.nonces.get(&who).is_some_and(|last| nonce <= *last) {
                    refused("Replayed")
                } else {
                    model.nonces.insert(who.clone(), nonce);
                    done(model.ask(fee))
                };
                (told(chain.request(&who, nonce, fee)), wanted)
            }
            19 => {
                let fee = amount(&mut random);
                let wanted = model.pass(0, &packet).and_then(|()| done(model.ask(fee)));
                (told(chain.receive_request(&packet, &who, fee)), wanted)
            }
            20 | 21 => {
                let pending = model.jobs.get(&request).is_some_and(|job| job.1 == JobState::Pending);
                let wanted = match model.providers.get_mut(&who) {
                    _ if !pending => refused("NotPending"),
                    None => refused("NotRegistered"),
                    Some(had) if had.0 < 1_000 => refused("TooFew"),
                    Some(had) => {
                        had.1 += 1;
                        model.jobs.get_mut(&request).unwrap().1 = JobState::Running(who.clone());
                        done(())
                    }
                };
                (told(chain.assign(request, &who)), wanted)
            }
            22 => {
                let wanted = match model.jobs.get_mut(&request) {
                    Some(job) if job.1 == JobState::Running(who.clone()) => {
                        job.1 = JobState::Done(who.clone());
                        let had = model.providers.get_mut(&who).unwrap();
                        (had.1, had.2) = (had.1 - 1, had.2 + 1);
                        done(job.0)
                    }
                    _ => refused("NotRunning"),
                };
                (told(chain.complete(request, &who, b"result")), wanted)
            }
            23 => {
                let wanted = match model.jobs.get_mut(&request) {
                    Some((held, state @ JobState::Running(_))) => {
                        let JobState::Running(by) = state.clone() else { unreachable!() };
                        let had = model.providers.get_mut(&by).unwrap();
                        let lost = had.0 / 5;
                        *had = (had.0 - lost, had.1 - 1, had.2, had.3 + 1);
                        *state = JobState::Failed(by);
                        done((*held, lost))
                    }
                    _ => refused("NotRunning"),
                };
                (told(chain.fail(request)), wanted)
            }
            24 => {
                let wanted = match model.jobs.get_mut(&request) {
                    Some((held, state @ JobState::Pending)) => {
                        *state = JobState::Refunded;
                        done(*held)
                    }
                    _ => refused("NotPending"),
                };
                (told(chain.refund(request)), wanted)
            }
            25 => {
                let power = random.below(50);
                match random.below(3) {
                    0 => {
                        let wanted = match model.validators.get_mut(&who) {
                            None => refused("NotRegistered"),
                            Some(had) => {
                                had.jailed = false;
                                done(())
                            }
                        };
                        (told(chain.unjail(&who)), wanted)
                    }
                    1 => {
                        let wanted = if model.validators.contains_key(&who) {
                            refused("Registered")
                        } else {
                            let new = Validator { power, ..Validator::default() };
                            model.validators.insert(who.clone(), new);
                            done(())
                        };
                        (told(chain.register_validator(&who, power)), wanted)
                    }
                    _ => {
                        let wanted = if model.validators.remove(&who).is_some() {
                            for had in model.validators.values_mut() {
                                had.to = had.to.take().filter(|to| *to != who);
                            }
                            done(())
                        } else {
                            refused("NotRegistered")
                        };
                        (told(chain.retire_validator(&who)), wanted)
                    }
                }
            }
            26 | 27 => {
                let (price, by) = (amount(&mut random), if random.below(3) == 0 { &other } else { &who });
                let wanted = model.may_vote(&who, by).and_then(|()| {
                    model.validators.get_mut(&who).unwrap().voted = Some(height);
                    model.votes.entry((height, token.to_owned())).or_default().insert(who.clone(), price);
                    done(())
                });
                (told(chain.vote(&who, by, &[Quote { price, denom: token }], height)), wanted)
            }
            28 => {
                let wanted = match model.validators.get_mut(&who) {
                    None => refused("NotRegistered"),
                    Some(had) => {
                        had.feeder = Some(other.clone());
                        done(())
                    }
                };
                (told(chain.delegate_feeder(&who, &other)), wanted)
            }
            29 => {
                let there = |addr: &Vec<u8>| model.validators.contains_key(addr);
                let wanted = if !there(&who) || !there(&other) {
                    refused("NotRegistered")
                } else if who == other
                    || model.validators[&other].to.is_some()
                    || model.validators.values().any(|had| had.to.as_ref() == Some(&who))
                {
                    refused("Delegated")
                } else {
                    model.validators.get_mut(&who).unwrap().to = Some(other.clone());
                    done(())
                };
                (told(chain.delegate_power(&who, &other)), wanted)
            }
            30 if random.below(4) == 0 => {
                model.paused = !model.paused;
                let found = if model.paused { chain.pause(&who, "why", height) } else { chain.resume() };
                (told(found), done(()))
            }
            30 => {
                let found = chain
                    .end_period(height)
                    .map(|lost| lost.into_iter().map(|lost| (lost.validator, lost.lost)).collect::<Vec<_>>());
                (told(found), model.end(height).and_then(done))
            }
            _ => (told(chain.settle_price(height, token)), model.settle(height, token)),
        };
        assert_eq!(found, wanted, "operation {kind} in step {step} with seed {seed}");
        reached.insert((kind, found.map(|_| ())));
    }
    // Every operation has passed at least once: the comparison is of more than refusals.
    if steps >= 5_000 {
        let missing: Vec<u64> = (0..32).filter(|kind| !reached.contains(&(*kind, Ok(())))).collect();
        assert_eq!(missing, [0_u64; 0]);
    }
    agrees(&open_after(chain, open), &model);
}

/// The chain once more, from what is on the disk.
fn open_after<E: Engine>(chain: Paw<E>, mut open: impl FnMut() -> Paw<E>) -> Paw<E> {
    drop(chain);
    open()
}

/// Compares everything that can be read.
fn agrees<E: Engine>(chain: &Paw<E>, model: &Model) {
    for (number, pool) in &model.pools {
        let found = chain.pool(*number).unwrap();
        assert_eq!((found.reserve_a, found.reserve_b), pool.reserves);
        assert_eq!(found.shares, pool.shares.values().sum::<u128>());
        let shares: Vec<(Vec<u8>, u128)> = pool.shares.clone().into_iter().collect();
        let mut theirs = chain.shares(*number).unwrap();
        theirs.sort();
        assert_eq!(theirs, shares);
        for (who, put) in &pool.put {
            assert_eq!(chain.liquidity_of(*number, who).unwrap(), *put);
        }
        for token in TOKENS {
            let fees = pool.fees.get(token).copied().unwrap_or(0);
            let protocol = model.protocol.get(token).copied().unwrap_or(0);
            assert_eq!(chain.fees(*number, token).unwrap(), (fees, protocol));
        }
        assert_eq!(chain.breaker(*number).unwrap(), pool.halted);
        assert_eq!(chain.pool_of(&pool.tokens.1, &pool.tokens.0).unwrap(), Some(*number));
    }
    assert_eq!(chain.pools().unwrap().len(), model.pools.len());
    for (request, (held, state)) in &model.jobs {
        assert_eq!(chain.job(*request).unwrap().unwrap().state, *state);
        let open = matches!(state, JobState::Pending | JobState::Running(_));
        assert_eq!(chain.escrow(*request).unwrap(), open.then_some(*held));
    }
    for (addr, (stake, running, done, failed)) in &model.providers {
        let found = chain.provider(addr).unwrap().unwrap();
        assert_eq!(
            (found.stake, found.running, found.done, found.failed),
            (*stake, *running, *done, *failed)
        );
    }
    assert_eq!(chain.providers().unwrap().len(), model.providers.len());
    for ((module, channel, sender), nonce) in &model.packets {
        let module = [Module::Compute, Module::Dex, Module::Oracle][usize::from(*module)];
        let replay = chain.receive_packet(module, &Packet { channel, sender, nonce: *nonce });
        assert!(matches!(replay, Err(PawError::Store(Error::Replayed { last, .. })) if last == *nonce));
    }
    for (addr, had) in &model.validators {
        let found = chain.validator(addr).unwrap().unwrap();
        assert_eq!((found.power, found.jailed), (had.power, had.jailed));
        assert_eq!(chain.misses(addr).unwrap(), had.misses);
        assert_eq!(chain.feeder_of(addr).unwrap(), had.feeder);
    }
    let all: u64 = model.validators.values().map(|had| had.power).sum();
    assert_eq!(chain.total_power().unwrap(), all);
    for (addr, (count, lost)) in &model.lost {
        let found = chain.slashing(addr).unwrap().unwrap();
        assert_eq!((found.count, found.lost), (*count, *lost));
    }
    for token in TOKENS {
        assert_eq!(chain.price(token).unwrap(), model.prices.get(token).copied());
    }
    assert_eq!(chain.paused().unwrap().is_some(), model.paused);
}

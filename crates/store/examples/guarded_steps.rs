//! Steps on a server that happen once and one after the other, as `docs/guide/keep-a-registry.md` shows them.

use std::time::Duration;

use keyplan_store::engine::Durability;
use keyplan_store::structure::Redis;
use keyplan_store::typed::structure::{LockField, Locks, Nonces, NumberField, Step};

keyplan::plan! {
    plan bridge;

    space bridge {
        hash nonce = "nonce:{" channel: u32.dec "}"
            field sender = sender: u64 -> last: u64;
        set packet = "packet:{" channel: u32.dec "}"
            member digest: u64;
        hash lock = "lock:{" pool: u32.dec "}"
            field holder = "holder" -> token: u64 until: u64 owner: bytes;
    }
}

use bridge::bridge::{
    Lock, LockHolderField, LockHolderValue, Nonce, NonceSenderField, NonceSenderValue, Packet, PacketMember,
};

impl NumberField for NonceSenderField {
    fn value_of(last: u64) -> NonceSenderValue {
        NonceSenderValue { last }
    }
    fn number_of(value: NonceSenderValue) -> u64 {
        value.last
    }
}

impl<'v> LockField<'v> for LockHolderField {
    fn value_of(token: u64, until: u64, owner: &'v [u8]) -> LockHolderValue<'v> {
        LockHolderValue { token, until, owner }
    }
    fn held_of(value: LockHolderValue<'v>) -> (u64, u64, &'v [u8]) {
        (value.token, value.until, value.owner)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (sender, nonce, digest) = (5, 1, 0x0123_4567_89ab_cdef);
    let redis = Redis::connect("redis://localhost")?;
    let nonces = Nonces::<Nonce>::on(&redis)?;
    Step::update(&redis, Durability::Buffer, |step| {
        nonces.advance(step, &Nonce { channel: 1 }, NonceSenderField { sender }, nonce)?; // Error::Replayed
        step.set_add(&Packet { channel: 1 }, &PacketMember { digest })
    })?;
    let locks = Locks::<Lock>::on(&redis)?;
    let inside = locks.hold(&Lock { pool: 7 }, LockHolderField {}, b"swap", Duration::from_secs(5))?; // Error::Locked
    let mut step = Step::new();
    locks.require(&mut step, &Lock { pool: 7 }, LockHolderField {}, inside.held())?; // and what must happen inside
    step.apply(&redis, Durability::Buffer)?;
    Ok(())
}

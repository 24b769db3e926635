//! The PAW chain: jobs and those who run them, pools and the shares in them, prices and those who vote on them.

use crate::five::state::{compute, dex, oracle};
use keyplan::typed::{Proto, Raw};

use super::error::Result;
use super::fill::Filler;
use super::message::Message;

const DENOMS: [&str; 6] =
    ["upaw", "uatom", "uosmo", "uusdc", "ibc/27394FB092D2ECCD", "factory/paw1demo/gold"];

/// Writes about `rows` rows.
pub(super) fn fill(filler: &mut Filler<'_>, rows: u64) -> Result<()> {
    exchange(filler, rows / 2)?;
    marketplace(filler, rows / 3)?;
    prices(filler, rows / 6)
}

fn exchange(filler: &mut Filler<'_>, rows: u64) -> Result<()> {
    let mut pool_id = 0;
    for (index, token_a) in DENOMS.iter().enumerate() {
        for token_b in DENOMS.iter().skip(index + 1) {
            pool_id += 1;
            let pool =
                Message::new().number(1, pool_id).bytes(2, token_a.as_bytes()).bytes(3, token_b.as_bytes());
            filler.put(&dex::Pool { pool_id }, &Proto(pool.as_bytes()))?;
            filler.put(&dex::PoolByTokens { token_a, token_b }, &dex::PoolByTokensValue { pool_id })?;
            filler.put(&dex::PoolLpFee { pool_id, token: token_a }, &Raw(b"250"))?;
        }
    }
    let pools = pool_id;
    filler.put(&dex::PoolCount, &dex::PoolCountValue { next_pool_id: pools + 1 })?;
    for _ in 0..rows / 3 {
        let (pool_id, addr) = (1 + filler.random.below(pools), filler.random.bytes::<20>());
        let (shares, height) = (filler.random.below(1 << 40), filler.random.below(4_000_000));
        filler.put(&dex::Liquidity { pool_id, addr: &addr }, &Raw(shares.to_string().as_bytes()))?;
        filler.put(&dex::LiquidityShare { pool_id, addr: &addr }, &Raw(shares.to_string().as_bytes()))?;
        let action = dex::LastLiquidityActionValue { height };
        filler.put(&dex::LastLiquidityAction { pool_id, addr: &addr }, &action)?;
    }
    Ok(())
}

fn marketplace(filler: &mut Filler<'_>, rows: u64) -> Result<()> {
    for request_id in 1..=rows / 3 {
        let addr = filler.random.bytes::<20>();
        let request = Message::new().number(1, request_id).account(2, &addr).bytes(5, b"ipfs://demo");
        filler.put(&compute::Request { request_id }, &Proto(request.as_bytes()))?;
        let escrow = Message::new().number(1, request_id).decimal(4, filler.random.below(1 << 30));
        filler.put(&compute::Escrow { request_id }, &Proto(escrow.as_bytes()))?;
        filler.put(&compute::JobStatus { request_id }, &Raw(b"completed"))?;
        if request_id.is_multiple_of(50) {
            let provider = Message::new().account(1, &addr);
            filler.put(&compute::Provider { addr: &addr }, &Proto(provider.as_bytes()))?;
            filler.put(
                &compute::NonceTracker { addr: &addr },
                &compute::NonceTrackerValue { nonce: request_id },
            )?;
        }
    }
    for channel in 0..4 {
        let channel_id = format!("channel-{channel}");
        let key = compute::IbcPacketNonce { channel_id: &channel_id, sender: "osmo1relayer" };
        filler.put(&key, &compute::IbcPacketNonceValue { nonce: 1_000 + channel })?;
    }
    Ok(())
}

fn prices(filler: &mut Filler<'_>, rows: u64) -> Result<()> {
    for denom in DENOMS {
        let price = filler.random.below(1 << 30);
        filler.put(&oracle::Price { denom }, &Proto(Message::new().decimal(2, price).as_bytes()))?;
        filler.put(&oracle::Twap { denom }, &Raw(price.to_string().as_bytes()))?;
    }
    for _ in 0..rows / 3 {
        let (addr, vote) = (filler.random.bytes::<20>(), filler.random.bytes::<32>());
        filler.put(&oracle::Validator { addr: &addr }, &Raw(b"bonded"))?;
        filler.put(&oracle::AggregateVote { addr: &addr }, &Raw(&vote))?;
        let count = filler.random.below(20);
        filler.put(&oracle::MissCounter { addr: &addr }, &oracle::MissCounterValue { count })?;
    }
    Ok(())
}

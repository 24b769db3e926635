//! The keys of `paw_v2` with values of their own, and what the operations need beside them.

use keyplan::store::collection::{LockKey, NumberKey};

keyplan::plan! {
    plan paw_chain;

    /// The bytes of an account or validator address.
    type Address = bytes(20 | 32);
    /// A token's denomination, as the chain admits it.
    type Denom = text("a-zA-Z", "a-zA-Z0-9/:._-", 3..=128);
    /// One end of an IBC channel.
    type Channel = text("a-zA-Z0-9._+#[]<>-", 8..=64);
    /// Who sent an IBC packet, in the words of the other chain.
    type Sender = text(1..=256);
    /// What a validator says that a token is worth.
    type Quote = (price: u128 denom: Denom.len8);

    space state {
        rule prefix 2 "the byte of the module and the byte of the family";
        rule integers be "rows sort by number";
        rule bytes raw "an address is its bytes, not its text";
        rule separators 0x00 "a length tells where a text ends, or a byte that no text here has";
        rule documented "a key without a sentence is nobody's";

        /// The compute marketplace.
        module compute = 0x01 {
            allot 0x01..=0x0F core "parameters and primary entities";
            allot 0x10..=0x1F secondary "indices and lookups";
            allot 0x20..=0x2F cross_module "IBC and relayer support";
            allot 0x30..=0xFF extensions "whatever only this module needs";
            retired 0x28 "nonces of IBC packets with a slash between channel and sender";

            /// What governance has set.
            key params = 0x01 -> min_stake: u128 slash: u32
                allot core;
            /// Who asked for a job.
            key request = 0x02 request_id: u64 -> nonce: u64 requester: Address
                scan all in order
                allot core;
            /// Who offers to run jobs: what is staked, and how the jobs went.
            key provider = 0x03 addr: Address -> stake: u128 running: u64 done: u64 failed: u64
                scan all in order
                allot core;
            /// What is held for a job.
            key escrow = 0x04 request_id: u64 -> amount: u128
                scan all in order
                allot core;
            /// How far a job has come, and who runs it.
            key job_status = 0x05 request_id: u64
                -> status: (
                    pending: 0x00
                  | running: 0x01 provider: Address
                  | done: 0x02 provider: Address
                  | refunded: 0x03
                  | failed: 0x04 provider: Address
                )
                scan all in order
                allot core;
            /// The last nonce of an account.
            key nonce_tracker = 0x06 addr: Address -> nonce: u64
                scan all in order
                allot core;
            /// What a job has produced.
            key result = 0x07 request_id: u64 -> raw
                scan all in order
                allot core;
            /// The number that the next request will get.
            key request_count = 0x08 -> next: u64
                allot core;
            /// The highest nonce of a sender on a channel.
            key ibc_packet_nonce = 0x20 channel_id: Channel.len8 sender: Sender -> nonce: u64
                scan all
                scan by channel_id in order
                allot cross_module;
        }

        /// The exchange.
        module dex = 0x02 {
            allot 0x01..=0x0F core "parameters and primary entities";
            allot 0x10..=0x1F secondary "indices and lookups";
            allot 0x20..=0x2F cross_module "IBC and relayer support";
            allot 0x30..=0xFF extensions "whatever only this module needs";
            retired 0x03 "pairs of tokens with nothing between them";
            retired 0x16 "nonces of IBC packets with a slash between channel and sender";

            /// A pool: its tokens, what is in it, and how many shares there are.
            key pool = 0x01 pool_id: u64
                -> reserve_a: u128 reserve_b: u128 shares: u128 token_a: Denom.len8 token_b: Denom
                scan all in order
                allot core;
            /// The number that the next pool will get.
            key pool_count = 0x02 -> next: u64
                allot core;
            /// What an account has put into a pool and not taken out.
            key liquidity = 0x04 pool_id: u64 addr: Address -> a: u128 b: u128
                scan all in order
                scan by pool_id in order
                allot core;
            /// What governance has set.
            key params = 0x05 -> swap_fee: u32 protocol_part: u32 max_drain: u32 flash_loan_blocks: u64
                allot core;
            /// The height until which trading is halted.
            key circuit_breaker = 0x06 pool_id: u64 -> until: u64
                scan all in order
                allot core;
            /// The height at which an account last changed its liquidity.
            key last_liquidity_action = 0x07 pool_id: u64 addr: Address -> height: u64
                scan all in order
                scan by pool_id in order
                allot core;
            /// Who is inside a pool, so that nobody enters it a second time.
            key reentrancy_lock = 0x08 pool_id: u64 -> until: u64 owner: bytes(1..=64)
                scan all in order
                allot core;
            /// Fees of a pool for those who provide liquidity.
            key pool_lp_fee = 0x09 pool_id: u64 token: Denom -> amount: u128
                scan all in order
                scan by pool_id in order
                allot core;
            /// Fees for the protocol.
            key protocol_fee = 0x0A token: Denom -> amount: u128
                scan all in order
                allot core;
            /// The share of a pool that an account owns.
            key liquidity_share = 0x0B pool_id: u64 addr: Address -> amount: u128
                scan all in order
                scan by pool_id in order
                allot core;
            /// The pool of two tokens, the lesser one first.
            key pool_by_tokens = 0x10 token_a: Denom.len8 token_b: Denom -> pool_id: u64
                scan all
                scan by token_a in order
                allot secondary;
            /// The highest nonce of a sender on a channel.
            key ibc_packet_nonce = 0x20 channel_id: Channel.len8 sender: Sender -> nonce: u64
                scan all
                scan by channel_id in order
                allot cross_module;
        }

        /// The price oracle.
        module oracle = 0x03 {
            allot 0x01..=0x0F core "parameters and primary entities";
            allot 0x10..=0x1F secondary "indices and lookups";
            allot 0x20..=0x2F cross_module "IBC and relayer support";
            allot 0x30..=0xFF extensions "whatever only this module needs";
            retired 0x0C "counted among the numbers in use, but no entry says what it holds";
            retired 0x0D "nonces of IBC packets with a slash between channel and sender";

            /// What governance has set.
            key params = 0x01 -> slash: u32 max_misses: u64 twap_window: u64
                allot core;
            /// The price of a token that is valid now.
            key price = 0x02 denom: Denom -> height: u64 price: u128
                scan all in order
                allot core;
            /// Validators that take part, and the weight of their votes.
            key validator = 0x03 addr: Address -> power: u64 jailed: (no: 0x00 | yes: 0x01)
                scan all in order
                allot core;
            /// The account that a validator lets vote in its place.
            key feeder_delegation = 0x04 addr: Address -> feeder: Address
                scan all in order
                allot core;
            /// How many votes a validator has missed.
            key miss_counter = 0x05 addr: Address -> count: u64
                scan all in order
                allot core;
            /// All prices that a validator has shown last.
            key aggregate_vote = 0x06 addr: Address -> height: u64 prices: list(Quote, 1..=64)
                scan all in order
                allot core;
            /// The hash by which a validator commits itself to prices before it shows them.
            key prevote = 0x07 addr: Address -> height: u64 commitment: bytes.hashed(sha256)
                scan all in order
                allot core;
            /// The vote that a validator has made last, and how it was made.
            key vote = 0x08 addr: Address -> height: u64 kind: (open: 0x00 | shown: 0x01)
                scan all in order
                allot core;
            /// The validator that another lets its weight count for.
            key delegate = 0x09 addr: Address -> to: Address
                scan all in order
                allot core;
            /// What a validator has lost by missing votes.
            key slashing = 0x0A addr: Address -> height: u64 count: u64 lost: u64
                scan all in order
                allot core;
            /// The sum of a token's prices over heights: since when, up to when, and the price since then.
            key twap = 0x0B denom: Denom -> since: u64 last: u64 price: u128 sum: u128
                scan all in order
                allot core;
            /// Who has stopped the oracle, when and why.
            key emergency_pause = 0x0E -> height: u64 by: Address.len8 why: text(0..=256)
                allot core;
            /// What the weights of all validators add up to. In the chain's code this shares its key with the pause.
            key total_power = 0x0F -> power: u64
                allot core;
            /// The highest nonce of a sender on a channel.
            key ibc_packet_nonce = 0x20 channel_id: Channel.len8 sender: Sender -> nonce: u64
                scan all
                scan by channel_id in order
                allot cross_module;
            /// What validators have voted for, by height.
            key vote_at = 0x30 height: u64 denom: Denom 0x00 addr: Address -> price: u128
                scan all in order
                scan by height
                scan by height, denom
                allot extensions
                retain 100_000 by height;
        }
    }
}

use paw_chain::state::{compute, dex, oracle};

/// Families whose value is a nonce.
macro_rules! nonces {
    ($($key:ty => $value:path),* $(,)?) => {$(
        impl NumberKey for $key {
            fn value_of(nonce: u64) -> $value {
                $value { nonce }
            }
            fn number_of(value: $value) -> u64 {
                value.nonce
            }
        }
    )*};
}

nonces! {
    compute::NonceTracker<'_> => compute::NonceTrackerValue,
    compute::IbcPacketNonce<'_> => compute::IbcPacketNonceValue,
    dex::IbcPacketNonce<'_> => dex::IbcPacketNonceValue,
    oracle::IbcPacketNonce<'_> => oracle::IbcPacketNonceValue,
}

impl<'v> LockKey<'v> for dex::ReentrancyLock {
    fn value_of(owner: &'v [u8], until: u64) -> dex::ReentrancyLockValue<'v> {
        dex::ReentrancyLockValue { until, owner }
    }
    fn held_of(value: dex::ReentrancyLockValue<'v>) -> (&'v [u8], u64) {
        (value.owner, value.until)
    }
}

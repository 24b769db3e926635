//! A token contract as its chain sees it: balances below one component, allowances below two, settings below none.

use crate::five::{bare, one, two};
use keyplan::typed::Raw;

use super::error::Result;
use super::fill::Filler;
use super::hex;

/// Writes about `rows` rows.
pub(super) fn fill(filler: &mut Filler<'_>, rows: u64) -> Result<()> {
    filler.put(
        &bare::Entry { key: b"contract_info" },
        &Raw(br#"{"contract":"crates.io:cw20-base","version":"2.0.0"}"#),
    )?;
    filler.put(
        &bare::Entry { key: b"token_info" },
        &Raw(br#"{"name":"Demo","symbol":"DEMO","decimals":6,"total_supply":"1000000000000"}"#),
    )?;
    for number in 0..rows {
        let holder = address(filler);
        let amount = format!("\"{}\"", filler.random.below(1 << 45));
        if number % 4 == 3 {
            let spender = address(filler);
            let allowance = format!("{{\"allowance\":{amount},\"expires\":{{\"never\":{{}}}}}}");
            let key = two::Entry { first: b"allowance", second: holder.as_bytes(), key: spender.as_bytes() };
            filler.put(&key, &Raw(allowance.as_bytes()))?;
        } else {
            let key = one::Entry { namespace: b"balance", key: holder.as_bytes() };
            filler.put(&key, &Raw(amount.as_bytes()))?;
        }
    }
    Ok(())
}

/// A text of the length that addresses have.
fn address(filler: &mut Filler<'_>) -> String {
    format!("osmo1{}", hex(&filler.random.bytes::<19>()))
}

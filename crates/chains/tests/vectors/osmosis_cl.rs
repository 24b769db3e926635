//! Osmosis concentrated liquidity.

use std::sync::LazyLock;

use keyplan::plan::dynamic::Value;
use keyplan_chains::{osmosis_cl, upstream};

use crate::layout::{Layout, bytes, int, text, uint};
use crate::{Outcome, Source, Vector, Verdict, same};

static SEED: LazyLock<Layout> =
    LazyLock::new(|| Layout::open("osmosis_cl.keyplan").typed(&osmosis_cl::TYPES));
static CODE: LazyLock<Layout> = LazyLock::new(|| {
    Layout::open("upstream/osmosis_cl.keyplan").typed(&upstream::osmosis_cl_upstream::TYPES)
});

/// Keys: the file's family, the plan's, and the arguments that both name alike.
const KEYS: &[(&str, &str, &[&str])] = &[
    ("tick", "cl.tick", &["pool_id", "tick"]),
    ("address_pool_position", "cl.address_pool_position", &["addr", "pool_id", "position_id"]),
    ("pool", "cl.pool", &["pool_id"]),
    ("incentive_record", "cl.incentive_record", &["pool_id", "uptime_index", "denom", "addr"]),
    ("incentive_record_by_id", "cl.incentive_record_by_id", &["pool_id", "uptime_index", "incentive_id"]),
    ("position", "cl.position", &["position_id"]),
    ("pool_position", "cl.pool_position", &["pool_id", "position_id"]),
    ("accum_acc_spread", "cl.accum.acc_spread", &["pool_id"]),
    ("accum_acc_uptime", "cl.accum.acc_uptime", &["pool_id", "uptime_index"]),
    ("accum_pos_spread", "cl.accum.pos_spread", &["pool_id", "position_id"]),
    ("accum_pos_uptime", "cl.accum.pos_uptime", &["pool_id", "uptime_index", "position_id"]),
    ("position_to_lock", "cl.position_to_lock", &["position_id"]),
    ("full_range_liquidity", "cl.full_range_liquidity", &["pool_id"]),
    ("balancer_full_range", "cl.balancer_full_range", &["cl_pool_id", "balancer_pool_id", "uptime_index"]),
    ("lock_to_position", "cl.lock_to_position", &["lock_id"]),
    ("code_next_global_position_id", "cl.next_global_position_id", &[]),
    ("code_next_global_incentive_record_id", "cl.next_global_incentive_record_id", &[]),
    ("code_total_liquidity", "cl.total_liquidity", &["denom"]),
    ("code_pool_hook", "cl.pool_hook", &["pool_id", "action"]),
    ("code_incentive_accum_migration_threshold", "cl.incentive_accum_migration_threshold", &[]),
    ("code_spread_accum_migration_threshold", "cl.spread_accum_migration_threshold", &[]),
];

/// Prefixes of scans that the plan claims.
const SCANS: &[(&str, &str, &[&str])] = &[
    ("scan_tick_by_pool", "cl.tick", &["pool_id"]),
    ("scan_positions_by_address", "cl.address_pool_position", &["addr"]),
    ("scan_positions_by_address_pool", "cl.address_pool_position", &["addr", "pool_id"]),
    ("scan_pool_position", "cl.pool_position", &["pool_id"]),
    ("code_pool_hook_prefix", "cl.pool_hook", &["pool_id"]),
];

/// Scans whose family has another name in the code's plan.
const INCENTIVE_SCANS: &[(&str, &[&str])] = &[
    ("scan_incentives_by_pool", &["pool_id"]),
    ("scan_incentives_by_pool_uptime", &["pool_id", "uptime_index"]),
];

pub(crate) fn check(line: &Vector) -> Outcome {
    let (seed, code) = (&*SEED, &*CODE);
    match line.source {
        Source::Seed => check_under(seed, "cl.incentive_record", line)?,
        Source::Code => check_under(code, "cl.incentive_record_by_id", line)?,
        Source::Both => {
            check_under(seed, "cl.incentive_record", line)?;
            check_under(code, "cl.incentive_record_by_id", line)?;
        }
    }
    Ok(Verdict::Passed)
}

fn check_under(layout: &Layout, incentives: &str, line: &Vector) -> Result<(), String> {
    let family = line.family.as_str();
    let expected = line.bytes()?;
    if let Some((_, path, names)) = KEYS.iter().find(|(name, ..)| *name == family) {
        if line.args.contains_key("bech32") && !expected.ends_with(line.text("bech32")?.as_bytes()) {
            return Err("the key does not end with the address as text".to_owned());
        }
        return layout.key(path, &args(line, names)?, expected);
    }
    if let Some((_, path, names)) = SCANS.iter().find(|(name, ..)| *name == family) {
        return layout.scan(path, &args(line, names)?, expected);
    }
    if let Some((_, names)) = INCENTIVE_SCANS.iter().find(|(name, _)| *name == family) {
        return layout.scan(incentives, &args(line, names)?, expected);
    }
    match family {
        // A tick as it is after its pool's prefix, which is how the code keeps it in a prefix store.
        "tick_index" => {
            let pool = ("pool_id", uint(0u8));
            let mut key = layout.scanned("cl.tick", std::slice::from_ref(&pool))?;
            key.extend_from_slice(expected);
            layout.key("cl.tick", &[pool, ("tick", int(line.int("tick")?))], &key)
        }
        // What the code refuses, and what it takes although no tick is written so.
        "tick_index_decode_reject" | "tick_index_decode_lenient" => {
            let mut key = layout.scanned("cl.tick", &[("pool_id", uint(0u8))])?;
            key.extend_from_slice(expected);
            layout.refuses("cl", &key)
        }
        // The code asks whether a pool has positions without the separator; it selects the same rows.
        "code_prefix_pool_position_no_sep" => {
            let scan = layout.scanned("cl.pool_position", &args(line, &["pool_id"])?)?;
            same("the scan of cl.pool_position", &scan, &[expected, b"|"].concat())
        }
        _ => Err("no such family is known".to_owned()),
    }
}

fn args<'a>(line: &Vector, names: &[&'a str]) -> Result<Vec<(&'a str, Value)>, String> {
    let value = |name: &'a str| {
        let value = match name {
            "addr" => bytes(line.hex(name)?),
            "denom" | "action" => text(line.text(name)?),
            "tick" => int(line.int(name)?),
            _ => uint(line.uint(name)?),
        };
        Ok((name, value))
    };
    names.iter().map(|name| value(name)).collect()
}

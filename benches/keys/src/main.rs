//! Makes and reads keys many times, for an instruction counter or a clock to watch.
//!
//! - `keys list` prints what can be run, one `LAYOUT-DIRECTION-AUTHOR` a line;
//! - `keys run NAME COUNT` runs one of them; `empty` is the loop alone. The difference of two runs, divided by that of
//!   their counts, is what one key costs;
//! - `keys time BURSTS` prints a line `NAME NANOSECONDS ALLOCATIONS` for each: the median of so many bursts, and
//!   what one key takes from the allocator.
//!
//! `ours` is what `keyplan::plan!` makes; `hand` is what one would write for that layout alone into an array, with the
//! same checks; the others are crates, each with the shape of the same arguments that it is made for.

mod allocations;
mod bytekey;
mod cw;
mod fdb;
mod format;
mod hand;
mod ours;
mod store_key;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ours::{Entity, Outpoint, Position, Tick, User};

/// The arguments of one key of each layout.
pub struct Samples {
    tick: Tick,
    position: Position,
    entity: Entity,
    outpoint: Outpoint,
    user: User<'static>,
}

/// One thing to run.
struct Case {
    name: &'static str,
    run: fn(&Samples, u64),
}

/// Runs `one` so many times.
#[inline(never)]
fn repeat<T>(count: u64, mut one: impl FnMut() -> T) {
    for _ in 0..count {
        // By reference: to move a result costs what its size says, which is not what is measured.
        black_box(&one());
    }
}

/// Cases of an author: functions `…_encode` from arguments, and `…_decode` from what `…_sample` makes of them.
macro_rules! cases {
    ($($author:ident { $($layout:ident $direction:ident $function:ident $(of $sample:ident)?;)* })*) => {
        &[$($(Case {
            name: concat!(stringify!($layout), "-", stringify!($direction), "-", stringify!($author)),
            run: |samples, count| cases!(@run $author $layout $function samples count $($sample)?),
        },)*)*]
    };
    (@run $author:ident $layout:ident $function:ident $samples:ident $count:ident) => {
        repeat($count, || $author::$function(black_box(&$samples.$layout)))
    };
    (@run $author:ident $layout:ident $function:ident $samples:ident $count:ident $sample:ident) => {{
        let key = $author::$sample(&$samples.$layout);
        let key: &[u8] = key.as_ref();
        repeat($count, || $author::$function(black_box(key)))
    }};
}

const CASES: &[Case] = cases! {
    ours {
        tick encode tick_encode;
        tick decode tick_decode of tick_encode;
        position encode position_encode;
        position decode position_decode of position_sample;
        entity encode entity_encode;
        entity decode entity_decode of entity_encode;
        outpoint encode outpoint_encode;
        outpoint decode outpoint_decode of outpoint_encode;
        user encode user_encode;
        user decode user_decode of user_sample;
    }
    hand {
        tick encode tick_encode;
        tick decode tick_decode of tick_encode;
        position encode position_encode;
        position decode position_decode of position_sample;
        entity encode entity_encode;
        entity decode entity_decode of entity_encode;
        outpoint encode outpoint_encode;
        outpoint decode outpoint_decode of outpoint_encode;
        user encode user_encode;
        user decode user_decode of user_sample;
    }
    cw {
        tick encode tick_encode;
        tick decode tick_decode of tick_sample;
        position encode position_encode;
        position decode position_decode of position_sample;
        entity encode entity_encode;
        entity decode entity_decode of entity_sample;
        outpoint encode outpoint_encode;
        outpoint decode outpoint_decode of outpoint_sample;
        user encode user_encode;
        user decode user_decode of user_sample;
    }
    store_key {
        tick encode tick_encode;
        tick decode tick_decode of tick_encode;
        position encode position_encode;
        position decode position_decode of position_encode;
        entity encode entity_encode;
        entity decode entity_decode of entity_encode;
        outpoint encode outpoint_encode;
        outpoint decode outpoint_decode of outpoint_encode;
        user encode user_encode;
        user decode user_decode of user_encode;
    }
    fdb {
        tick encode tick_encode;
        tick decode tick_decode of tick_encode;
        position encode position_encode;
        position decode position_decode of position_encode;
        entity encode entity_encode;
        entity decode entity_decode of entity_encode;
        outpoint encode outpoint_encode;
        outpoint decode outpoint_decode of outpoint_encode;
        user encode user_encode;
        user decode user_decode of user_encode;
    }
    bytekey {
        tick encode tick_encode;
        tick decode tick_decode of tick_encode;
        position encode position_encode;
        position decode position_decode of position_encode;
        entity encode entity_encode;
        entity decode entity_decode of entity_encode;
        outpoint encode outpoint_encode;
        outpoint decode outpoint_decode of outpoint_encode;
        user encode user_encode;
    }
    format {
        tick encode tick_encode;
        tick decode tick_decode of tick_encode;
        position encode position_encode;
        position decode position_decode of position_encode;
        entity encode entity_encode;
        outpoint encode outpoint_encode;
        user encode user_encode;
    }
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let txid = [0xab; 32];
    let samples = black_box(Samples {
        tick: Tick { pool: 7, tick: -3 },
        position: Position { owner: [0xab; 20], pool: 1066, id: 4_000_000 },
        entity: Entity { ns: [7; 8], key: txid },
        outpoint: Outpoint { txid, vout: 9 },
        user: User { first: 7, name: "uosmo/ibc-transfer", second: 9 },
    });
    match arguments[..] {
        ["list"] => CASES.iter().for_each(|case| println!("{}", case.name)),
        ["run", name, count] => {
            let Ok(count) = count.parse() else { return ExitCode::from(2) };
            if name == "empty" {
                repeat(count, || 0u8);
                return ExitCode::SUCCESS;
            }
            let Some(case) = CASES.iter().find(|case| case.name == name) else { return ExitCode::from(2) };
            (case.run)(&samples, count);
        }
        ["time", bursts] => {
            let Ok(bursts) = bursts.parse() else { return ExitCode::from(2) };
            for case in CASES {
                let (nanoseconds, allocations) = timed(case, &samples, bursts);
                println!("{} {nanoseconds:.1} {allocations:.2}", case.name);
            }
        }
        _ => return ExitCode::from(2),
    }
    ExitCode::SUCCESS
}

/// The median time of one turn, in nanoseconds, and how often it asks the allocator for room.
fn timed(case: &Case, samples: &Samples, bursts: usize) -> (f64, f64) {
    let burst = |turns: u64| {
        let start = Instant::now();
        (case.run)(samples, turns);
        start.elapsed()
    };
    // Long enough for the clock, and short enough that other work on the machine interrupts few of them: a burst of
    // milliseconds is interrupted every time, and its median then measures the other work.
    let mut turns = 16;
    while turns < 1 << 14 && burst(turns) < Duration::from_micros(50) {
        turns *= 2;
    }
    let mut times: Vec<f64> = (0..bursts).map(|_| burst(turns).as_nanos() as f64 / turns as f64).collect();
    times.sort_by(f64::total_cmp);
    // The sample that is decoded is made once a run: two runs tell it from the turns.
    let counted = |turns| allocations::during(|| (case.run)(samples, turns));
    let allocations = (counted(2 * turns) - counted(turns)) as f64 / turns as f64;
    (times[bursts / 2], allocations)
}

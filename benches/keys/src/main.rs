//! Makes and reads keys many times, for an instruction counter or a clock to watch.
//!
//! - `keys list` prints what can be run, one `LAYOUT-DIRECTION-AUTHOR` a line;
//! - `keys run NAME COUNT` runs one of them; `empty` is only the loop. The difference of two runs, divided by that of
//!   their counts, is what one key costs;
//! - `keys time BURSTS` prints a line `NAME NANOSECONDS ALLOCATIONS` for each: the median of so many bursts, and
//!   what one key takes from the allocator.
//!
//! `ours` is what `keyplan::plan!` makes; `hand` is what one would write for that one layout into an array, with the
//! same checks; the others are crates, each with the shape of the same arguments that it is made for. Each is called out
//! of line; `inlined_ours` and `inlined_hand` are the same functions as a part of the loop.

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

/// Calls `one`, which is not inlined into the loop then.
#[inline(never)]
fn called<'a, A: ?Sized, T>(one: impl Fn(&'a A) -> T, of: &'a A) -> T {
    one(of)
}

/// Has `one` inlined into the loop.
#[inline(always)]
fn inlined<'a, A: ?Sized, T>(one: impl Fn(&'a A) -> T, of: &'a A) -> T {
    one(of)
}

/// Cases of an author: functions `…_encode` from arguments, and `…_decode` from what `…_sample` makes of them.
macro_rules! cases {
    ($how:ident $author:ident as $name:literal { $($layout:ident $direction:ident $function:ident $(of $sample:ident)?;)* }) => {
        &[$(Case {
            name: concat!(stringify!($layout), "-", stringify!($direction), "-", $name),
            run: |samples, count| cases!(@run $how $author $layout $function samples count $($sample)?),
        },)*]
    };
    (@run $how:ident $author:ident $layout:ident $function:ident $samples:ident $count:ident) => {
        repeat($count, || $how($author::$function, black_box(&$samples.$layout)))
    };
    (@run $how:ident $author:ident $layout:ident $function:ident $samples:ident $count:ident $sample:ident) => {{
        let key = $author::$sample(&$samples.$layout);
        let key: &[u8] = key.as_ref();
        repeat($count, || $how($author::$function, black_box(key)))
    }};
}

/// Cases of an author who writes into arrays.
macro_rules! in_place {
    ($how:ident $author:ident as $name:literal) => {
        cases! { $how $author as $name {
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
        } }
    };
}

/// Cases of an author whose keys are all vectors.
macro_rules! on_the_heap {
    ($author:ident as $name:literal) => {
        cases! { called $author as $name {
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
        } }
    };
}

const CASES: &[&[Case]] = &[
    in_place!(called ours as "ours"),
    in_place!(called hand as "hand"),
    in_place!(inlined ours as "inlined_ours"),
    in_place!(inlined hand as "inlined_hand"),
    on_the_heap!(store_key as "store_key"),
    on_the_heap!(fdb as "fdb"),
    cases! { called cw as "cw" {
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
    } },
    cases! { called bytekey as "bytekey" {
        tick encode tick_encode;
        tick decode tick_decode of tick_encode;
        position encode position_encode;
        position decode position_decode of position_encode;
        entity encode entity_encode;
        entity decode entity_decode of entity_encode;
        outpoint encode outpoint_encode;
        outpoint decode outpoint_decode of outpoint_encode;
        user encode user_encode;
    } },
    cases! { called format as "format" {
        tick encode tick_encode;
        tick decode tick_decode of tick_encode;
        position encode position_encode;
        position decode position_decode of position_encode;
        entity encode entity_encode;
        outpoint encode outpoint_encode;
        user encode user_encode;
    } },
];

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
        ["list"] => CASES.iter().copied().flatten().for_each(|case| println!("{}", case.name)),
        ["run", name, count] => {
            let Ok(count) = count.parse() else { return ExitCode::from(2) };
            if name == "empty" {
                repeat(count, || 0u8);
                return ExitCode::SUCCESS;
            }
            let Some(case) = CASES.iter().copied().flatten().find(|case| case.name == name) else { return ExitCode::from(2) };
            (case.run)(&samples, count);
        }
        ["time", bursts] => {
            let Ok(bursts) = bursts.parse() else { return ExitCode::from(2) };
            for case in CASES.iter().copied().flatten() {
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

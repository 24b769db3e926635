//! What a key of a real chain means, and where a broken one breaks: `explain_key [HEX]`.

use std::error::Error;
use std::path::Path;

use keyplan_plan::dynamic::Decoder;
use keyplan_plan::explain::explain;

/// A tick of pool 7 as Osmosis writes it: what a node's operator finds in a log.
const TICK: &str = "01000000000000000705ffffffffffffff9c";

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let given = std::env::args()
        .nth(1)
        .filter(|word| word.len() % 2 == 0 && word.bytes().all(|b| b.is_ascii_hexdigit()));
    let key = bytes(given.as_deref().unwrap_or(TICK))?;
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plans/upstream");
    let fetch = |path: &str| std::fs::read(plans.join(path)).map_err(|error| error.to_string());
    let plan = keyplan_plan::load::load("osmosis_cl.keyplan", fetch)?.plan.ok_or("the plan has findings")?;
    let decoder = Decoder::new(&plan);
    let spaces: Vec<usize> = (0..plan.spaces.len()).collect();

    let found = explain(&decoder, &spaces, &key);
    for reading in &found.readings {
        println!("{}", reading.decoded.family.path);
        for piece in reading.pieces(&key).ok_or("it was read")? {
            println!("  bytes {:>2} to {:>2}  {}", piece.span.start, piece.span.end, piece.label);
        }
    }
    if given.is_none() {
        let read: Vec<&str> =
            found.readings.iter().map(|reading| reading.decoded.family.path.as_str()).collect();
        assert_eq!(read, ["cl.tick"]);
    }

    // The same key, cut: the nearest family, and the byte at which it breaks.
    let cut = key.split_last().ok_or("a key has a byte")?.1;
    for nearest in explain(&decoder, &spaces, cut).nearest.iter().take(1) {
        println!("cut, it is not a key: {} breaks at byte {}", nearest.family.path, nearest.failure.offset);
    }
    Ok(())
}

fn bytes(hex: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let digits = (0..hex.len()).step_by(2).map(|at| hex.get(at..at + 2).unwrap_or_default());
    Ok(digits.map(|two| u8::from_str_radix(two, 16)).collect::<Result<_, _>>()?)
}

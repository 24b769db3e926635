//! Walks over everything in a database and prints what there was, for `cargo xtask bench sources`:
//! `walk PATH [KIND]`, with a kind such as `lsm` where it is not to be recognised.

#![expect(clippy::print_stdout, reason = "the numbers are what the program is for")]

use std::path::Path;
use std::process::ExitCode;

use keyplan_sources::{Kind, Options, SourceError, open};
use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, SpaceId};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(path) = arguments.first() else { return ExitCode::from(2) };
    let kind = arguments.get(1).and_then(|word| Kind::of_word(word));
    match walked(Path::new(path), kind) {
        Ok((rows, bytes)) => {
            println!("rows {rows} bytes {bytes}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{error}");
            ExitCode::from(2)
        }
    }
}

/// How many rows there are, and the bytes of their keys and values.
fn walked(path: &Path, kind: Option<Kind>) -> Result<(u64, u64), SourceError> {
    let mut options = Options::default();
    options.kind = kind;
    let source = open(path, &options)?;
    let view = source.view()?;
    let (mut rows, mut bytes) = (0_u64, 0_u64);
    for (number, _) in (0..).zip(source.spaces()) {
        let mut walk = view.walk(SpaceId(number), KeyRange::ALL, Direction::Ascending)?;
        while let Some(row) = walk.next()? {
            rows += 1;
            bytes += u64::try_from(row.key.len() + row.value.len()).unwrap_or(0);
        }
    }
    Ok((rows, bytes))
}

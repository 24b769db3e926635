//! Drafts a plan of a million keys that are made as they are read, and says how long it took and how much memory.
//!
//! `cargo run --release -p keyplan-infer --example million [KEYS]`

use std::ops::ControlFlow;
use std::time::Instant;

use keyplan_infer::{Options, infer};
use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, Space, SpaceId};
use keyplan_store::source::{RowRef, Source, SourceError, View, Walk};

/// Keys of four families, in order.
#[derive(Clone, Copy, Debug)]
struct Keys(u64);

impl Source for Keys {
    fn kind(&self) -> &'static str {
        "made up"
    }

    fn spaces(&self) -> Vec<Space> {
        vec![Space::map("s")]
    }

    fn view(&self) -> Result<Box<dyn View>, SourceError> {
        Ok(Box::new(*self))
    }
}

impl View for Keys {
    fn walk(&self, _: SpaceId, _: KeyRange<'_>, _: Direction) -> Result<Box<dyn Walk>, SourceError> {
        Ok(Box::new(Made { keys: self.0, at: 0, key: Vec::new() }))
    }
}

struct Made {
    keys: u64,
    at: u64,
    key: Vec<u8>,
}

impl Walk for Made {
    fn next(&mut self) -> Result<Option<RowRef<'_>>, SourceError> {
        let quarter = self.keys / 4;
        if quarter == 0 || self.at >= quarter * 4 {
            return Ok(None);
        }
        let (family, n) = (self.at / quarter, self.at % quarter);
        self.at += 1;
        self.key.clear();
        match family {
            0 => {
                self.key.push(1);
                self.key.extend_from_slice(&(n / 100).to_be_bytes());
                self.key.extend_from_slice(&(n % 100).to_be_bytes());
            }
            1 => {
                self.key.push(2);
                let mut hash = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                for _ in 0..4 {
                    hash = (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                    self.key.extend_from_slice(&hash.to_be_bytes());
                }
            }
            2 => self.key.extend_from_slice(format!("\u{3}|{n:07}|uosmo{}", n % 13).as_bytes()),
            _ => {
                self.key.push(4);
                self.key.extend_from_slice(&n.to_be_bytes());
            }
        }
        Ok(Some(RowRef { key: &self.key, value: &[] }))
    }
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let keys = std::env::args().nth(1).map_or(Ok(1_000_000), |keys| keys.parse())?;
    let start = Instant::now();
    let found = infer(&Keys(keys), &Options::default().draft(true), |_| ControlFlow::Continue(()))?;
    let took = start.elapsed();
    let draft = found.draft.ok_or("no draft")?;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: unknown");
    println!("{}", draft.text);
    println!("{} of {} keys in {:.2} s; {}", draft.explained_keys(), draft.keys(), took.as_secs_f64(), peak);
    Ok(())
}

//! The codec's segments against code written by hand for one layout, in instructions.

use std::path::PathBuf;

use anyhow::Result;

use super::callgrind::instructions;
use super::{Effort, Goal, Group, Measurement, program};
use crate::tool::Tool;

pub(super) struct Codec;

/// The layouts of `crates/codec/examples/instructions.rs`.
const LAYOUTS: [&str; 3] = ["tick", "outpoint", "entity"];

impl Group for Codec {
    fn name(&self) -> &'static str {
        "codec"
    }

    fn measure(&self, effort: Effort) -> Result<Vec<Measurement>> {
        Tool::Valgrind.need()?;
        let count = match effort {
            Effort::Quick => 10_000,
            Effort::Full => 100_000,
        };
        let program = PathBuf::from(program("examples/instructions")?);
        let empty = instructions(&program, &["empty"], count)?;
        let mut lines = Vec::new();
        for layout in LAYOUTS {
            for direction in ["encode", "decode"] {
                let each = |author: &str| -> Result<f64> {
                    let name = format!("{layout}-{direction}-{author}");
                    Ok(instructions(&program, &[&name], count)? - empty)
                };
                let (ours, hand) = (each("ours")?, each("hand")?);
                lines.push(Measurement {
                    name: format!("{direction} {layout}"),
                    value: ours / hand,
                    goal: Goal::AtMost(1.2),
                    unit: "× instructions",
                    compared_with: format!(
                        "code written by hand: {ours:.0} instructions a key against {hand:.0}"
                    ),
                });
            }
        }
        Ok(lines)
    }
}

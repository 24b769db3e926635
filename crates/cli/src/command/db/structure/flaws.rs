//! What a plan does not make, in a space of structures.

use anyhow::Result;
use keyplan_plan::dynamic::{Decoded, Decoder, readings};
use keyplan_plan::model::{Plan, Sequence};
use keyplan_report::structure::{KINDS, kind};
use keyplan_store::Direction;
use keyplan_store::structure::{Kind, ScoreRange, StructureRead};

use crate::command::Flaw;

/// Reads everything in a space, calls `flawed` with the key and the part that is wrong, and returns how much was read.
pub(in super::super) fn verify(
    read: &dyn StructureRead,
    plan: &Plan,
    index: usize,
    mut progress: impl FnMut(u64),
    mut flawed: impl FnMut(&[u8], &[u8], Option<&Decoded<'_>>, Flaw) -> Result<()>,
) -> Result<u64> {
    let families = Decoder::new(plan);
    let mut done = 0_u64;
    for held in KINDS {
        for key in read.keys(held, &[])? {
            let key = key?;
            done += 1;
            progress(done);
            let decoded = match families.decode(index, &key) {
                Ok(decoded) if kind(decoded.family.kind) == held => decoded,
                Ok(decoded) => {
                    let why = format!("it is a {held} where the plan has a {}", kind(decoded.family.kind));
                    flawed(&key, &[], Some(&decoded), Flaw::Unknown(why))?;
                    continue;
                }
                Err(miss) => {
                    flawed(&key, &[], None, Flaw::Unknown(miss.to_string()))?;
                    continue;
                }
            };
            let mut inside = |bytes: &[u8], value: Option<&[u8]>| -> Result<()> {
                done += 1;
                progress(done);
                match fault(&decoded, held, bytes, value) {
                    Some(why) => flawed(&key, value.unwrap_or(bytes), Some(&decoded), Flaw::Value(why)),
                    None => Ok(()),
                }
            };
            match held {
                Kind::Value => inside(&[], read.get(&key)?.as_deref())?,
                Kind::Hash => {
                    for pair in read.hash_all(&key)? {
                        let (field, value) = pair?;
                        inside(&field, Some(&value))?;
                    }
                }
                Kind::Set => {
                    for member in read.set_members(&key)? {
                        inside(&member?, None)?;
                    }
                }
                Kind::Zset => {
                    for scored in read.zset_rows(&key, &ScoreRange::default(), Direction::Ascending, None)? {
                        inside(&scored?.member, None)?;
                    }
                }
                Kind::Queue => {
                    let waiting = usize::try_from(read.queue_size(&key)?.waiting)?;
                    for scored in read.queue_peek(&key, waiting)? {
                        inside(&scored.member, None)?;
                    }
                    for item in read.queue_dead(&key)? {
                        inside(&item?.member, None)?;
                    }
                }
            }
        }
    }
    Ok(done)
}

/// Why a value, a field with its value, or a member is not one of the plan.
fn fault(decoded: &Decoded<'_>, kind: Kind, bytes: &[u8], value: Option<&[u8]>) -> Option<String> {
    let misfit = |layout: Option<&Sequence>, bytes: &[u8], what: &str| {
        readings(layout?, bytes, 1).err().map(|failure| format!("{what}: {failure}"))
    };
    match kind {
        Kind::Value => misfit(decoded.family.value.as_ref(), value?, "value"),
        Kind::Hash => match decoded.family.decode_field(bytes) {
            None => Some(format!("no field is written as {}", crate::render::hex(bytes))),
            Some((field, _)) => misfit(field.value.as_ref(), value?, &format!("field {}", field.name)),
        },
        Kind::Set | Kind::Zset | Kind::Queue => misfit(decoded.family.member.as_ref(), bytes, "member"),
    }
}

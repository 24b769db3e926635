//! What a plan does not make, in a space of structures.

use keyplan_plan::dynamic::{Decoded, Decoder};
use keyplan_plan::model::{Plan, Sequence};
use keyplan_plan::notation::hex;
use keyplan_store::Direction;
use keyplan_store::structure::{Kind, ScoreRange, SetScore, StructureRead};

use super::{Flaw, Queues, Review, VerifyError};
use crate::look::{Looked, look, look_at_score};
use crate::structure::{KINDS, kind};

/// Reads everything in a space, and tells `review` what is wrong.
pub(super) fn verify(
    read: &dyn StructureRead,
    plan: &Plan,
    index: usize,
    queues: Queues,
    review: &mut Review<'_>,
) -> Result<(), VerifyError> {
    let families = Decoder::new(plan);
    let space = plan.spaces.get(index).map_or("", |space| space.name.as_str());
    for held in KINDS {
        for key in read.keys(held, &[])? {
            let key = key?;
            review.count()?;
            let decoded = match families.decode_all(index, &key, 2) {
                Ok(mut all) => {
                    if all.readings.len() > 1 {
                        review.ambiguous();
                    }
                    all.readings.swap_remove(0)
                }
                Err(miss) => {
                    review.take(space, None, &key, &[], &Flaw::Unknown(miss.to_string()))?;
                    continue;
                }
            };
            if kind(decoded.family.kind) != held {
                let why = format!("it is a {held} where the plan has a {}", kind(decoded.family.kind));
                review.take(space, Some(&decoded), &key, &[], &Flaw::Unknown(why))?;
                continue;
            }
            let mut under = Under { space, key: &key, decoded: &decoded, review };
            under.all(read, held, queues)?;
        }
    }
    Ok(())
}

/// What lies under one key.
struct Under<'a, 'r, 'o> {
    space: &'a str,
    key: &'a [u8],
    decoded: &'a Decoded<'a>,
    review: &'r mut Review<'o>,
}

impl Under<'_, '_, '_> {
    fn all(&mut self, read: &dyn StructureRead, held: Kind, queues: Queues) -> Result<(), VerifyError> {
        let key = self.key;
        let family = self.decoded.family;
        match held {
            Kind::Value => {
                let value = read.get(key)?.unwrap_or_default();
                self.bytes(family.value.as_ref(), &value, "value")?;
            }
            Kind::Hash => {
                for pair in read.hash_all(key)? {
                    let (field, value) = pair?;
                    match family.decode_field(&field) {
                        None => {
                            self.review.count()?;
                            let why = format!("no field is written as {}", hex(&field));
                            self.flaw(&value, why)?;
                        }
                        Some((known, _)) => {
                            let title = format!("field {}", known.name);
                            self.bytes(known.value.as_ref(), &value, &title)?;
                        }
                    }
                }
            }
            Kind::Set => {
                for member in read.set_members(key)? {
                    self.bytes(family.member.as_ref(), &member?, "member")?;
                }
            }
            Kind::Zset => {
                for scored in read.zset_rows(key, &ScoreRange::default(), Direction::Ascending, None)? {
                    let scored = scored?;
                    self.bytes(family.member.as_ref(), &scored.member, "member")?;
                    self.score(&scored.member, scored.score)?;
                }
            }
            Kind::Queue => self.queue(read, queues)?,
        }
        Ok(())
    }

    fn queue(&mut self, read: &dyn StructureRead, queues: Queues) -> Result<(), VerifyError> {
        let size = read.queue_size(self.key)?;
        for scored in read.queue_peek(self.key, usize::try_from(size.waiting)?)? {
            if queues == Queues::Seen {
                self.bytes(self.decoded.family.member.as_ref(), &scored.member, "member")?;
            }
            self.score(&scored.member, scored.score)?;
        }
        for item in read.queue_dead(self.key)? {
            let item = item?;
            if queues == Queues::Seen {
                self.bytes(self.decoded.family.member.as_ref(), &item.member, "member")?;
            }
            self.score(&item.member, item.score)?;
        }
        let unseen = match queues {
            Queues::Seen => "items that workers hold",
            Queues::Rows => "scores of items that workers hold",
        };
        self.review.unseen(unseen, size.claimed);
        Ok(())
    }

    /// Looks at bytes, if the plan has a layout for them.
    fn bytes(&mut self, layout: Option<&Sequence>, bytes: &[u8], title: &str) -> Result<(), VerifyError> {
        self.review.count()?;
        match layout.map_or(Looked::Sound, |layout| look(layout, bytes)) {
            Looked::Sound => Ok(()),
            Looked::Unsound(why) => self.flaw(bytes, format!("{title}: {why}")),
            Looked::Unseen(what) => {
                self.review.unseen(what, 1);
                Ok(())
            }
        }
    }

    fn score(&mut self, member: &[u8], score: SetScore) -> Result<(), VerifyError> {
        let layout = self.decoded.family.score.as_ref();
        match layout.map_or(Looked::Sound, |layout| look_at_score(layout, score)) {
            Looked::Sound => Ok(()),
            Looked::Unsound(why) => self.flaw(member, why),
            Looked::Unseen(what) => {
                self.review.unseen(what, 1);
                Ok(())
            }
        }
    }

    fn flaw(&mut self, bytes: &[u8], why: String) -> Result<(), VerifyError> {
        self.review.take(self.space, Some(self.decoded), self.key, bytes, &Flaw::Value(why))
    }
}

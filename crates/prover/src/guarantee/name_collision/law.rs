//! KP0008: hashed names do not collide among those known.

use keyplan_plan::codec::Hash;
use keyplan_plan::model::{Segment, Sequence, Shape};
use keyplan_plan::order::sort;

use crate::proof::{Assumption, Verdict, Witness};

/// A constant or a known name under a hash.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hashed {
    pub(crate) hash: Hash,
    pub(crate) keep: usize,
    pub(crate) digest: Vec<u8>,
    pub(crate) name: Vec<u8>,
}

/// What of a layout is hashed: constants and known names, and the hashes that also take names that are not known.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) known: Vec<Hashed>,
    pub(crate) free: Vec<(Hash, usize)>,
}

impl Names {
    /// Adds those of a layout.
    pub(crate) fn add(&mut self, sequence: &Sequence) {
        for segment in sequence.segments() {
            match segment {
                Segment::Literal(literal) => {
                    if let Some((hash, name)) = &literal.hashed {
                        self.known.push(Hashed {
                            hash: *hash,
                            keep: literal.bytes.len(),
                            digest: literal.bytes.clone(),
                            name: name.clone(),
                        });
                    }
                }
                Segment::Argument(argument) => self.shape(&argument.shape),
                Segment::Same(same) => self.shape(&same.shape),
                Segment::Derived(_) => {}
            }
        }
    }

    fn shape(&mut self, shape: &Shape) {
        if let Shape::Hashed { hash, keep, known, .. } = shape {
            self.free.push((*hash, *keep));
            self.known.extend(known.iter().map(|(digest, name)| Hashed {
                hash: *hash,
                keep: *keep,
                digest: digest.clone(),
                name: name.text.clone().into_bytes(),
            }));
        }
        if let Some(inner) = shape.inner() {
            self.shape(inner);
        }
        for row in shape.rows() {
            self.add(row);
        }
    }

    /// Whether anything is hashed.
    pub(crate) fn any(&self) -> bool {
        !self.known.is_empty() || !self.free.is_empty()
    }

    /// Decides whether the known names have digests of their own; names that are not known are assumed to.
    pub(crate) fn verdict(mut self) -> Verdict {
        sort(&mut self.known);
        self.known.dedup();
        for pair in self.known.windows(2) {
            if let [a, b] = pair
                && (a.hash, a.keep, &a.digest) == (b.hash, b.keep, &b.digest)
            {
                return Verdict::Fails(Box::new(Witness::Digest {
                    first: a.name.clone(),
                    second: b.name.clone(),
                    digest: a.digest.clone(),
                }));
            }
        }
        match self.free.into_iter().min_by_key(|&(hash, keep)| (keep, hash)) {
            Some((hash, keep)) => Verdict::Assumed(Assumption { hash, keep }),
            None => Verdict::Holds,
        }
    }
}

//! Short reasons, read off the model: lengths, bytes at fixed places, and marks at the ends of arguments.
//!
//! Nothing here knows of graphs or products. A reason that is not found here says nothing.

use std::collections::BTreeMap;

use keyplan_plan::codec::{Alphabet, Hash};
use keyplan_plan::model::{
    BytesEncoding, Family, Framing, IntEncoding, Module, NibbleEncoding, Plan, Scan, ScanEnd, ScanId,
    Segment, Sequence, Shape, Space, Width,
};

use super::By;
use super::ends::{End, bytes_merge, float_merges, int_merges, score_merges};
use super::order::row_order;
use super::witness::hex;
use crate::sure::{Sure as _, rest};

/// How many bytes from either end are looked at.
const REACH: usize = 96;

/// The layouts of a plan by their paths.
pub(super) struct Layouts<'p> {
    plan: &'p Plan,
    /// By space and path: families, their fields, members and scores.
    all: BTreeMap<(&'p str, String), (&'p Family, &'p Sequence)>,
}

impl<'p> Layouts<'p> {
    pub(super) fn new(plan: &'p Plan) -> Self {
        let mut all = BTreeMap::new();
        for (space, family) in plan.families() {
            let space = space.name.as_str();
            all.insert((space, family.path.clone()), (family, &family.key));
            for field in &family.fields {
                all.insert((space, family.path_of(&field.name)), (family, &field.key));
            }
            let parts = [("member", &family.member), ("score", &family.score)];
            for (name, sequence) in parts {
                if let Some(sequence) = sequence {
                    all.entry((space, family.path_of(name))).or_insert((family, sequence));
                }
            }
        }
        Self { plan, all }
    }

    pub(super) fn plan(&self) -> &'p Plan {
        self.plan
    }

    /// The layout at a path, and the family that it belongs to.
    pub(super) fn find(&self, space: &str, path: &str) -> Option<(&'p Family, &'p Sequence)> {
        let key = self.all.range((space, path.to_owned())..).next()?;
        ((key.0.0, key.0.1.as_str()) == (space, path)).then_some(*key.1)
    }

    /// A layout in whichever space it is.
    pub(super) fn anywhere(&self, path: &str) -> Option<(&'p Family, &'p Sequence)> {
        self.all.iter().find(|((_, other), _)| other == path).map(|(_, found)| *found)
    }

    /// A scan of a family.
    pub(super) fn scan(&self, space: &str, path: &str, id: ScanId) -> Option<&'p Scan> {
        let (family, _) = self.find(space, path)?;
        family.scan(id)
    }

    /// Whether a scan is a range with an end of its own.
    pub(super) fn is_range(&self, space: &str, path: &str, id: Option<ScanId>) -> bool {
        id.and_then(|id| self.scan(space, path, id)).is_some_and(|scan| scan.end != ScanEnd::Prefix)
    }

    /// The bytes at the ends of a layout, or of the prefix of one of its scans.
    pub(super) fn front(&self, space: &str, path: &str, scan: Option<ScanId>) -> Option<Distance> {
        let (_, sequence) = self.find(space, path)?;
        let segments = match scan {
            Some(id) => self.scan(space, path, id)?.segments,
            None => sequence.segments().len(),
        };
        Some(Distance::of(sequence.segments().get(..segments)?))
    }

    /// What a layout must be apart from: one other, or all other families of the space.
    pub(super) fn others(
        &self,
        space: &str,
        path: &str,
        other: Option<&str>,
    ) -> Option<Vec<(String, Distance)>> {
        if let Some(other) = other {
            let (_, sequence) = self.find(space, other)?;
            return Some(vec![(other.to_owned(), Distance::of(sequence.segments()))]);
        }
        let space = self.plan.spaces.iter().find(|candidate| candidate.name == space)?;
        let mut families: Vec<&Family> = space.families.iter().filter(|family| family.path != path).collect();
        families.sort_by(|a, b| a.path.cmp(&b.path));
        let others =
            families.into_iter().map(|family| (family.path.clone(), Distance::of(family.key.segments())));
        Some(others.collect())
    }

    /// The bytes of a family, and of the prefixes that it has to keep out of.
    pub(super) fn kept_out(&self, space: &str, path: &str) -> Option<(Distance, Vec<(String, Distance)>)> {
        let space = self.plan.spaces.iter().find(|candidate| candidate.name == space)?;
        let family = space.families.iter().find(|family| family.path == path)?;
        let prefixes = not_its_own(space, family).into_iter();
        let prefixes = prefixes.map(|module| (module.path.clone(), Distance::of_literal(&module.prefix)));
        Some((Distance::of(family.key.segments()), prefixes.collect()))
    }

    /// The bytes of a family whose number is allotted as its module says, and of the prefixes that were retired, by their
    /// hex; `None` if the number is not.
    pub(super) fn retired(&self, space: &str, path: &str) -> Option<(Distance, Vec<(String, Distance)>)> {
        let space = self.plan.spaces.iter().find(|candidate| candidate.name == space)?;
        let family = space.families.iter().find(|family| family.path == path)?;
        if !numbered(space, family) {
            return None;
        }
        let mut prefixes = BTreeMap::new();
        // What is kept to read old rows has the prefix that was retired with it.
        if family.retired.is_none() {
            for prefix in retired_prefixes(space) {
                prefixes.insert(hex(prefix), Distance::of_literal(prefix));
            }
        }
        Some((Distance::of(family.key.segments()), prefixes.into_iter().collect()))
    }

    /// Whether the rows of a scan are in order by what is known of each encoding.
    pub(super) fn sorted(&self, space: &str, path: &str, id: ScanId) -> bool {
        let Some((family, sequence)) = self.find(space, path) else { return false };
        let Some(scan) = family.scan(id) else { return false };
        let free = sequence.arguments_before(scan.segments) == scan.bound;
        free && row_order(sequence.segments(), scan.segments).is_some()
    }

    /// The hashes that must not collide for every argument of a layout, or of the prefix of a scan, to have one
    /// reading; `None` if that cannot be told at a glance.
    pub(super) fn marked(&self, space: &str, path: &str, scan: Option<ScanId>) -> Option<Vec<(Hash, usize)>> {
        let (_, sequence) = self.find(space, path)?;
        let mut reader = Reader::default();
        let shown = match scan {
            None => reader.marked(sequence.segments(), true),
            Some(id) => {
                let scan = self.scan(space, path, id)?;
                reader.marked(sequence.segments().get(..scan.segments)?, false)
            }
        };
        shown.then_some(reader.hashes)
    }

    /// Whether nothing but what an encoding loses can give two argument lists of a layout one key.
    pub(super) fn only_loses(&self, space: &str, path: &str) -> bool {
        let mut reader = Reader { forgives_loss: true, ..Reader::default() };
        self.find(space, path).is_some_and(|(_, sequence)| reader.marked(sequence.segments(), true))
    }
}

/// Whether a family of a module that allots numbers has one of its own, in the allotment that it names or, if it names none,
/// in any.
fn numbered(space: &Space, family: &Family) -> bool {
    let module =
        family.module.map(|id| space.modules.get(id.0).sure("the module of a family is of its space"));
    let allotments = module.map(|module| module.allotments.as_slice()).unwrap_or_default();
    if allotments.is_empty() {
        return true;
    }
    let Some(number) = family.number else { return false };
    let inside = allotments.iter().any(|allotment| {
        let named = family.allotment.as_ref().is_none_or(|name| allotment.name == *name);
        named && allotment.first <= number && number <= allotment.last
    });
    let taken = space.families.iter().any(|other| {
        other.path != family.path && other.module == family.module && other.number == Some(number)
    });
    inside && !taken
}

/// The prefixes that must not come back in a space.
pub(super) fn retired_prefixes(space: &Space) -> Vec<&[u8]> {
    let modules = space.modules.iter().flat_map(|module| &module.retired);
    space.retired.iter().chain(modules).map(|retired| retired.prefix.as_slice()).collect()
}

/// The modules with bytes of their own that a family is not in. Of two with one prefix, its own counts as the owner if
/// it was declared first.
pub(super) fn not_its_own<'p>(space: &'p Space, family: &Family) -> Vec<&'p Module> {
    let mut inside = Vec::new();
    let mut next = family.module;
    while let Some(id) = next {
        inside.push(id.0);
        next = space.modules.get(id.0).and_then(|module| module.parent);
    }
    let mut all = Vec::new();
    for (index, module) in space.modules.iter().enumerate() {
        let outer = module.parent.and_then(|id| space.modules.get(id.0));
        let owns = module.prefix.len() > outer.map_or(0, |outer| outer.prefix.len());
        let own = family.module.and_then(|id| space.modules.get(id.0));
        let twin = own.is_some_and(|own| own.prefix == module.prefix);
        let later = inside.iter().min().is_some_and(|&outermost| index > outermost);
        if owns && !inside.contains(&index) && !(twin && later) {
            all.push(module);
        }
    }
    all
}

/// What is known of the bytes of a layout at a glance.
pub(super) struct Distance {
    width: Width,
    literal: Vec<u8>,
    /// What each of the first bytes may be, and each of the last, the last first.
    start: Vec<Alphabet>,
    end: Vec<Alphabet>,
}

impl Distance {
    pub(super) fn of(segments: &[Segment]) -> Self {
        let literals = segments.iter().map_while(|segment| match segment {
            Segment::Literal(literal) => Some(literal.bytes.as_slice()),
            _ => None,
        });
        let width =
            segments.iter().fold(Width::exactly(0), |row, segment| row.then(Width::of_segment(segment)));
        Self {
            width,
            literal: literals.flatten().copied().collect(),
            start: places(segments.iter(), false),
            end: places(segments.iter().rev(), true),
        }
    }

    /// A prefix of which every byte is known.
    fn of_literal(bytes: &[u8]) -> Self {
        let mut start: Vec<Alphabet> = bytes.iter().map(|&byte| Alphabet::EMPTY.with(byte)).collect();
        start.truncate(REACH);
        Self { width: Width::exactly(bytes.len()), literal: bytes.to_vec(), start, end: Vec::new() }
    }

    pub(super) fn literals_differ(&self, other: &Self) -> bool {
        self.literal.iter().zip(&other.literal).any(|(a, b)| a != b)
    }

    /// How this layout is told apart from another; for a prefix, from every key that begins with it.
    pub(super) fn apart(&self, other: &Self, prefix: bool) -> Option<By> {
        let at = |a: &[Alphabet], b: &[Alphabet]| a.iter().zip(b).position(|(a, b)| disjoint(*a, *b));
        if self.holds(other, prefix, By::Length) {
            return Some(By::Length);
        }
        let end = || if prefix { None } else { at(&self.end, &other.end).map(By::End) };
        at(&self.start, &other.start).map(By::Start).or_else(end)
    }

    /// Whether the two are told apart in this way.
    pub(super) fn holds(&self, other: &Self, prefix: bool, by: By) -> bool {
        let at = |a: &[Alphabet], b: &[Alphabet], offset: usize| {
            a.get(offset).zip(b.get(offset)).is_some_and(|(a, b)| disjoint(*a, *b))
        };
        match by {
            By::Length => {
                other.width.max.is_some_and(|max| max < self.width.min)
                    || (!prefix && self.width.max.is_some_and(|max| max < other.width.min))
            }
            By::Start(offset) => at(&self.start, &other.start, offset),
            By::End(offset) => !prefix && at(&self.end, &other.end, offset),
        }
    }
}

fn disjoint(a: Alphabet, b: Alphabet) -> bool {
    a.bits().iter().zip(b.bits()).all(|(a, b)| a & b == 0)
}

/// What the bytes at one end may be, as far as their places are fixed and they are always there.
fn places<'m>(segments: impl Iterator<Item = &'m Segment>, backwards: bool) -> Vec<Alphabet> {
    let mut all = Vec::new();
    for segment in segments {
        if all.len() >= REACH {
            break;
        }
        if let Segment::Literal(literal) = segment {
            let mut bytes: Vec<Alphabet> =
                literal.bytes.iter().map(|&byte| Alphabet::EMPTY.with(byte)).collect();
            if backwards {
                bytes.reverse();
            }
            all.extend(bytes);
            continue;
        }
        let class = match segment {
            Segment::Argument(argument) => class(&argument.shape),
            Segment::Same(same) => class(&same.shape),
            Segment::Derived(_) | Segment::Literal(_) => Alphabet::UTF8,
        };
        all.extend(std::iter::repeat_n(class, Width::of_segment(segment).min.min(REACH)));
        if !matches!(End::of_segment(segment), End::Fixed(_)) {
            break;
        }
    }
    all.truncate(REACH);
    all
}

/// What the first byte of segments in a row may be, if there is always one.
pub(super) fn first_byte(segments: &[Segment]) -> Option<Alphabet> {
    places(segments.iter(), false).into_iter().next()
}

/// Every byte that a shape may hold; all of them where that takes thought.
pub(super) fn class(shape: &Shape) -> Alphabet {
    let every = Alphabet::UTF8;
    let hex = Alphabet::EMPTY.with_range(b'0', b'9').with_range(b'a', b'f').with_range(b'A', b'F');
    match shape {
        Shape::Int(int) => match int.encoding {
            IntEncoding::Dec if int.ty.signed => Alphabet::EMPTY.with_range(b'0', b'9').with(b'-'),
            IntEncoding::Dec | IntEncoding::DecPadded(_) => Alphabet::EMPTY.with_range(b'0', b'9'),
            IntEncoding::Hex(_) | IntEncoding::HexPadded(..) => hex,
            _ => every,
        },
        Shape::Bytes { encoding: BytesEncoding::Hex(_), .. } => hex,
        Shape::Bytes { encoding: BytesEncoding::Class(class), .. } => *class,
        Shape::Text(text) if !text.tuple => match text.first {
            Some(first) => union(first, text.alphabet),
            None => text.alphabet,
        },
        Shape::Nibbles { encoding: NibbleEncoding::Unpacked, .. } => Alphabet::EMPTY.with_range(0, 15),
        Shape::Option(inner) => class(inner),
        Shape::List { item, framing: Framing::Joined(separator), .. } => {
            separator.iter().fold(class(item), |all, &byte| all.with(byte))
        }
        Shape::List { item, framing: Framing::ToEnd, .. } => class(item),
        Shape::Record(sequence) => row_class(sequence),
        Shape::Choice(alternatives) => alternatives
            .iter()
            .fold(Alphabet::EMPTY, |all, alternative| union(all, row_class(&alternative.sequence))),
        Shape::Desc(inner) => {
            let inner = class(inner);
            (0..=255u8)
                .filter(|&byte| inner.contains(byte))
                .fold(Alphabet::EMPTY, |all, byte| all.with(!byte))
        }
        _ => every,
    }
}

fn row_class(sequence: &Sequence) -> Alphabet {
    sequence.segments().iter().fold(Alphabet::EMPTY, |all, segment| match segment {
        Segment::Literal(literal) => literal.bytes.iter().fold(all, |all, &byte| all.with(byte)),
        Segment::Argument(argument) => union(all, class(&argument.shape)),
        Segment::Same(same) => union(all, class(&same.shape)),
        Segment::Derived(_) => Alphabet::UTF8,
    })
}

pub(super) fn union(a: Alphabet, b: Alphabet) -> Alphabet {
    let ([a, b, c, d], [e, f, g, h]) = (a.bits(), b.bits());
    Alphabet::from_bits([a | e, b | f, c | g, d | h])
}

/// Whether the alternatives of a choice begin with literals of which none is the front of another.
pub(super) fn told_apart(shape: &Shape) -> bool {
    let Shape::Choice(alternatives) = shape else { return true };
    let literals: Vec<Vec<u8>> =
        alternatives.iter().map(|alternative| alternative.sequence.literal_prefix()).collect();
    literals.iter().enumerate().all(|(index, literal)| {
        literals.iter().skip(index + 1).all(|other| literal.iter().zip(other).any(|(a, b)| a != b))
    })
}

/// Reads layouts, and notes the hashes that it takes not to collide.
#[derive(Default)]
struct Reader {
    hashes: Vec<(Hash, usize)>,
    /// Whether values that a lossy encoding merges count as one.
    forgives_loss: bool,
}

impl Reader {
    /// Whether the segments can be read from left to right in one way: every argument has one reading, and its end is
    /// known before what follows is read. At the end of a key the last arguments may also be found from the end.
    fn marked(&mut self, segments: &[Segment], to_the_end: bool) -> bool {
        segments.iter().enumerate().all(|(index, segment)| match segment {
            // What was read before decides these bytes.
            Segment::Literal(_) | Segment::Same(_) => true,
            Segment::Derived(_) => End::of_segment(segment).is_marked(),
            Segment::Argument(argument) => {
                let behind = rest(segments, index + 1);
                let separated = || match behind.first() {
                    Some(Segment::Literal(literal)) => {
                        literal.bytes.first().is_some_and(|&byte| !class(&argument.shape).contains(byte))
                    }
                    _ => false,
                };
                let from_behind =
                    || to_the_end && behind.iter().all(|next| matches!(End::of_segment(next), End::Fixed(_)));
                let ended = match End::of_shape(&argument.shape) {
                    End::Fixed(_) | End::Own => true,
                    End::Unless(byte) => first_byte(behind).is_some_and(|first| !first.contains(byte)),
                    End::Open => false,
                };
                self.one_reading(&argument.shape) && (ended || separated() || from_behind())
            }
        })
    }

    /// Whether two different values of a shape never have the same bytes. Hashes are noted, and taken not to collide.
    fn one_reading(&mut self, shape: &Shape) -> bool {
        match shape {
            Shape::Int(int) => self.forgives_loss || !int_merges(int.encoding),
            Shape::Float(encoding) => self.forgives_loss || !float_merges(*encoding),
            Shape::Score { heights, encoding } => self.forgives_loss || !score_merges(*heights, *encoding),
            Shape::Bytes { encoding, .. } => self.forgives_loss || !bytes_merge(encoding),
            Shape::Bool(_) | Shape::Time(_) | Shape::Text(_) | Shape::Nibbles { .. } | Shape::Opaque(_) => {
                true
            }
            Shape::Record(sequence) => self.marked(sequence.segments(), true),
            Shape::Choice(alternatives) => {
                told_apart(shape)
                    && alternatives
                        .iter()
                        .all(|alternative| self.marked(alternative.sequence.segments(), true))
            }
            Shape::Option(inner) => Width::of_shape(inner).min > 0 && self.one_reading(inner),
            Shape::List { item, counts, framing } => {
                let holds = match framing {
                    Framing::Counted(_) => End::of_shape(item).is_marked(),
                    Framing::ToEnd => End::of_shape(item).is_marked() && Width::of_shape(item).min > 0,
                    Framing::Joined(separator) => {
                        let apart = separator.first().is_some_and(|&byte| !class(item).contains(byte));
                        apart && (Width::of_shape(item).min > 0 || counts.min() > 0)
                    }
                };
                holds && self.one_reading(item)
            }
            Shape::Framed { inner, .. } | Shape::Desc(inner) | Shape::HashConcat { inner, .. } => {
                self.one_reading(inner)
            }
            Shape::Hashed { hash, keep, inner, .. } => {
                self.hashes.push((*hash, *keep));
                self.one_reading(inner)
            }
        }
    }
}

//! A file looked through before it is mapped: LMDB trusts what is in it.
//!
//! Every page that the newest transaction reaches is read once. Its number, its bounds, its nodes and their order are
//! checked, what each tree says of itself is counted, and no page may be reached twice, or be free as well. Bytes
//! of a key or a value that were changed in place are found by the sum of all rows that each commit keeps, and by the digest of
//! all pages, if the database was sealed.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::time::Instant;

use xxhash_rust::xxh3::Xxh3;

use crate::FILE;
use crate::tally::{KEY, Recorded, Seed};

/// What is in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The number of the last transaction.
    pub(crate) transaction: u64,
    /// The checksum of all pages that it reaches.
    pub(crate) digest: u128,
    /// The sum of its rows.
    pub(crate) sum: u128,
}

/// Why a file was not looked through.
#[derive(Debug)]
pub(crate) enum Failure {
    Io(io::Error),
    /// What is wrong, with the name of the file.
    Damaged(String),
    /// There was no time for it.
    Late,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == ErrorKind::UnexpectedEof { damaged("is cut off") } else { Self::Io(error) }
    }
}

fn damaged(what: impl std::fmt::Display) -> Failure {
    Failure::Damaged(format!("{FILE} {what}"))
}

fn wrong(page: u64, what: &str) -> Failure {
    damaged(format_args!("has a page {page} {what}"))
}

const BRANCH: u16 = 0x01;
const LEAF: u16 = 0x02;
const OVERFLOW: u16 = 0x04;
const META: u16 = 0x08;
const DIRTY: u16 = 0x10;
const FIXED: u16 = 0x20;
const INSIDE: u16 = 0x40;

/// What the data of a node is: the number of a page, the record of a tree, several values.
const ELSEWHERE: u16 = 0x01;
const TREE: u16 = 0x02;
const SEVERAL: u16 = 0x04;

/// Of the flags of a tree: a key may have several values.
const SORTED_VALUES: u16 = 0x04;
/// Of the flags of a tree: its keys are in another order than that of their bytes.
const OTHER_ORDERS: u16 = 0x02 | 0x08 | 0x10 | 0x20 | 0x40;
/// Of these, the values of a key are.
const OTHER_ORDERS_OF_VALUES: u16 = 0x10 | 0x20 | 0x40;
/// All values of the tree have one size.
const FIXED_VALUES: u16 = 0x10;
/// Its keys are numbers of the machine, as those of the tree of free pages.
const BY_NUMBER: u16 = 0x08;

const PAGE_HEADER: usize = 16;
const NODE_HEADER: usize = 8;
/// `pad (4) | flags (2) | depth (2) | branch pages (8) | leaf pages (8) | overflow pages (8) | entries (8) | root (8)`.
const RECORD: usize = 48;
/// No page.
const NONE: u64 = u64::MAX;
/// As deep as the engine's cursors go.
const DEEPEST: u16 = 32;
/// Pages are looked through between two looks at the clock.
const AT_ONCE: u64 = 1024;

/// The flags in the record of a tree; `None` of bytes that are not a record.
pub(crate) fn flags(record: &[u8]) -> Option<u16> {
    if record.len() == RECORD { u16_at(record, 4) } else { None }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

/// What a tree says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    flags: u16,
    depth: u16,
    counts: Counts,
    root: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    branches: u64,
    leaves: u64,
    overflows: u64,
    entries: u64,
}

impl Record {
    fn read(bytes: &[u8]) -> Option<Self> {
        let counts = Counts {
            branches: u64_at(bytes, 8)?,
            leaves: u64_at(bytes, 16)?,
            overflows: u64_at(bytes, 24)?,
            entries: u64_at(bytes, 32)?,
        };
        Some(Self { flags: u16_at(bytes, 4)?, depth: u16_at(bytes, 6)?, counts, root: u64_at(bytes, 40)? })
    }
}

/// `magic (4) | version (4) | address (8) | bytes of the map (8) | record of free pages | record of the trees | last page (8) |
/// transaction (8)`, after the header of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Meta {
    page_bytes: usize,
    free: Record,
    main: Record,
    last_page: u64,
    transaction: u64,
}

const META_BYTES: usize = PAGE_HEADER + 24 + 2 * RECORD + 16;
const MAGIC: u32 = 0xbeef_c0de;
const VERSION: u32 = 1;

impl Meta {
    fn read(bytes: &[u8], number: u64) -> Result<Self, Failure> {
        let whole = || -> Option<Self> {
            let body = bytes.get(PAGE_HEADER..)?;
            let known = u64_at(bytes, 0)? == number && u16_at(bytes, 10)? & META != 0;
            if !known || u32_at(body, 0)? != MAGIC || u32_at(body, 4)? != VERSION {
                return None;
            }
            let (free, main) = (body.get(24..)?, body.get(24 + RECORD..)?);
            let page_bytes = usize::try_from(u32_at(free, 0)?).ok()?;
            let end = 24 + 2 * RECORD;
            Some(Self {
                page_bytes,
                free: Record::read(free)?,
                main: Record::read(main)?,
                last_page: u64_at(body, end)?,
                transaction: u64_at(body, end + 8)?,
            })
        };
        whole().ok_or_else(|| wrong(number, "that does not describe an LMDB database"))
    }
}

/// What the newest transaction of a file reaches.
pub(crate) fn inspect(file: &File, deadline: Option<Instant>) -> Result<Found, Failure> {
    let mut first = [0; META_BYTES];
    read_at(file, 0, &mut first)?;
    let one = Meta::read(&first, 0)?;
    let size = one.page_bytes;
    if !size.is_power_of_two() || !(512..=65_536).contains(&size) {
        return Err(wrong(0, "that says that pages have a size which they cannot have"));
    }
    let mut second = [0; META_BYTES];
    read_at(file, size as u64, &mut second)?;
    let two = Meta::read(&second, 1)?;
    // Transactions write them in turns; a new database has two that are alike.
    let turns = match (one.transaction, two.transaction) {
        (0, 0) => true,
        (one, two) if one > two => one - two == 1 && one % 2 == 0,
        (one, two) => two - one == 1 && two % 2 == 1,
    };
    if !turns || two.page_bytes != size {
        return Err(damaged(
            "describes the database twice, and not as transactions do that follow each other",
        ));
    }
    let (meta, bytes) = if two.transaction > one.transaction { (two, &second) } else { (one, &first) };
    let pages = file.metadata()?.len() / size as u64;
    let words =
        usize::try_from(pages / 64 + 1).map_err(|_| damaged("is larger than this machine's memory"))?;
    let mut walk = Walk {
        file,
        size,
        pages,
        last_page: meta.last_page,
        seen: vec![0; words],
        free_behind: HashSet::new(),
        digest: Xxh3::new(),
        sum: 0,
        recorded: None,
        deadline,
        read: 0,
    };
    walk.take(0)?;
    walk.take(1)?;
    walk.digest.update(bytes.get(PAGE_HEADER + 24..).unwrap_or_default());
    walk.tree(meta.main, Holds::Trees)?;
    walk.tree(meta.free, Holds::FreePages)?;
    let (transaction, sum) = (meta.transaction, walk.sum);
    if let Some(recorded) = walk.recorded.filter(|recorded| recorded.transaction >= transaction) {
        let kinds = SORTED_VALUES | OTHER_ORDERS;
        let plain = meta.main.flags & kinds == 0 && meta.free.flags & kinds == BY_NUMBER;
        if !plain || (recorded != Recorded { transaction, sum }) {
            return Err(damaged("has other rows than were committed, by their checksum"));
        }
    }
    Ok(Found { transaction, digest: walk.digest.digest128(), sum })
}

fn read_at(mut file: &File, offset: u64, into: &mut [u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(into)
}

/// What is in the leaves of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// Rows, and the records of other trees.
    Trees,
    /// Rows of a tree.
    Rows(Seed),
    /// The values of one key, as keys.
    Values(Seed),
    /// Numbers of pages, by transaction.
    FreePages,
}

struct Walk<'f> {
    file: &'f File,
    size: usize,
    /// How many there are in the file.
    pages: u64,
    last_page: u64,
    /// A bit for each page that was reached, or is free.
    seen: Vec<u64>,
    /// Pages that are free and were never written.
    free_behind: HashSet<u64>,
    digest: Xxh3,
    sum: u128,
    /// What the last commit said of the sum.
    recorded: Option<Recorded>,
    deadline: Option<Instant>,
    read: u64,
}

/// A branch on the way down: its page, its number, and how many of its nodes were taken.
struct Step {
    page: Vec<u8>,
    number: u64,
    taken: usize,
}

/// How far the keys of a tree have come.
#[derive(Default)]
struct Order {
    /// The last key, or the bound that a branch says.
    last: Vec<u8>,
    /// Whether the next key may be equal to it.
    bound: bool,
    begun: bool,
}

impl Order {
    fn key(&mut self, key: &[u8]) -> bool {
        let fits = !self.begun || key > &*self.last || (self.bound && key == &*self.last);
        self.set(key, false);
        fits
    }

    fn bound(&mut self, key: &[u8]) -> bool {
        let fits = !self.begun || key > &*self.last;
        self.set(key, true);
        fits
    }

    fn set(&mut self, key: &[u8], bound: bool) {
        self.last.clear();
        self.last.extend_from_slice(key);
        (self.bound, self.begun) = (bound, true);
    }
}

impl Walk<'_> {
    /// Marks a page; refuses one that is not there, or was met before.
    fn take(&mut self, page: u64) -> Result<(), Failure> {
        if page > self.last_page || page >= self.pages {
            return Err(wrong(page, "that is after its end"));
        }
        if self.mark(page) { Ok(()) } else { Err(wrong(page, "that is used twice")) }
    }

    fn mark(&mut self, page: u64) -> bool {
        let word = usize::try_from(page / 64).ok().and_then(|at| self.seen.get_mut(at));
        let bit = 1 << (page % 64);
        word.is_some_and(|word| {
            let new = *word & bit == 0;
            *word |= bit;
            new
        })
    }

    /// Reads a page of a tree.
    fn page(&mut self, number: u64) -> Result<Vec<u8>, Failure> {
        self.take(number)?;
        let mut page = vec![0; self.size];
        read_at(self.file, number * self.size as u64, &mut page)?;
        self.digest.update(&page);
        self.read += 1;
        if self.read.is_multiple_of(AT_ONCE) && self.deadline.is_some_and(|end| Instant::now() > end) {
            return Err(Failure::Late);
        }
        if u64_at(&page, 0) != Some(number) {
            return Err(wrong(number, "that is another page"));
        }
        Ok(page)
    }

    /// Looks through a tree, and compares what is in it with its record.
    fn tree(&mut self, record: Record, holds: Holds) -> Result<(), Failure> {
        let mut found = Counts::default();
        if record.root == NONE {
            return if record.depth == 0 && record.counts == found {
                Ok(())
            } else {
                Err(damaged("has a tree without pages that says that it has some"))
            };
        }
        if record.depth == 0 || record.depth > DEEPEST {
            return Err(damaged(format_args!("has a tree of {} levels", record.depth)));
        }
        let mut order = Order::default();
        let ordered = holds != Holds::FreePages && record.flags & OTHER_ORDERS == 0;
        let mut way: Vec<Step> = Vec::new();
        let mut next = Some(record.root);
        loop {
            let Some(number) = next.take() else {
                let Some(step) = way.last_mut() else { break };
                let nodes = Nodes::of(&step.page, step.number, false)?;
                if step.taken == nodes.count {
                    way.pop();
                    continue;
                }
                let node = nodes.get(step.taken)?;
                // The first of a branch bounds nothing.
                if step.taken > 0 && ordered && !order.bound(node.key) {
                    return Err(wrong(step.number, "whose keys are out of order"));
                }
                step.taken += 1;
                next = Some(node.below());
                continue;
            };
            let page = self.page(number)?;
            let level = u16::try_from(way.len() + 1).unwrap_or(u16::MAX);
            let kind = u16_at(&page, 10).unwrap_or_default() & !DIRTY;
            match kind {
                BRANCH if level < record.depth => {
                    found.branches += 1;
                    let least = if holds == Holds::FreePages { 1 } else { 2 };
                    if Nodes::of(&page, number, true)?.count < least {
                        return Err(wrong(number, "with fewer pages below than it must have"));
                    }
                    way.push(Step { page, number, taken: 0 });
                }
                _ if level != record.depth => {
                    return Err(wrong(number, "that is not what belongs at its place"));
                }
                LEAF => {
                    found.leaves += 1;
                    self.leaf(&page, number, record, holds, &mut found, ordered.then_some(&mut order))?;
                }
                _ => {
                    let (true, Holds::Values(of)) = (kind == LEAF | FIXED, holds) else {
                        return Err(wrong(number, "that is not what belongs at its place"));
                    };
                    found.leaves += 1;
                    found.entries += self.fixed(&page, number, of)?;
                }
            }
        }
        if found == record.counts {
            Ok(())
        } else {
            Err(damaged(format_args!("has a tree of {found:?} that says {:?}", record.counts)))
        }
    }

    fn leaf(
        &mut self,
        page: &[u8],
        number: u64,
        record: Record,
        holds: Holds,
        found: &mut Counts,
        mut order: Option<&mut Order>,
    ) -> Result<(), Failure> {
        let nodes = Nodes::of(page, number, true)?;
        if nodes.count == 0 {
            return Err(wrong(number, "without rows"));
        }
        for at in 0..nodes.count {
            let node = nodes.get(at)?;
            if order.as_deref_mut().is_some_and(|order| !order.key(node.key)) {
                return Err(wrong(number, "whose keys are out of order"));
            }
            let mut elsewhere = None;
            match (node.flags, holds) {
                (0, _) => found.entries += 1,
                (ELSEWHERE, Holds::Trees | Holds::Rows(_) | Holds::FreePages) => {
                    found.entries += 1;
                    elsewhere = Some(self.overflow(&node, number, found)?);
                }
                (TREE, Holds::Trees) if node.data.len() == RECORD => {
                    found.entries += 1;
                    let below = Record::read(node.data).ok_or_else(|| wrong(number, "that is cut off"))?;
                    self.tree(below, Holds::Rows(Seed::new(node.key, below.flags)))?;
                    continue;
                }
                (flags, Holds::Rows(of)) if flags & SEVERAL != 0 && record.flags & SORTED_VALUES != 0 => {
                    found.entries += self.values(&node, number, record, of.key(node.key))?;
                    continue;
                }
                _ => return Err(wrong(number, "with a row of no kind")),
            }
            let value = elsewhere.as_deref().unwrap_or(node.data);
            match holds {
                Holds::Trees => self.plain(node.key, value, number)?,
                Holds::Rows(of) => self.row(of.key(node.key), value),
                Holds::Values(of) => self.row(of, node.key),
                Holds::FreePages => self.free(node.key, value, number)?,
            }
        }
        Ok(())
    }

    fn row(&mut self, of: Seed, value: &[u8]) {
        self.sum = self.sum.wrapping_add(of.value(value));
    }

    /// A row of the main tree: what the last commit said of all others, or of no concern.
    fn plain(&mut self, key: &[u8], value: &[u8], number: u64) -> Result<(), Failure> {
        if Recorded::resembles(key, value) {
            self.recorded = Recorded::read(value).filter(|_| key == KEY);
            if self.recorded.is_none() {
                return Err(wrong(number, "whose checksum of all rows is not as it was written"));
            }
        }
        Ok(())
    }

    /// The data of a node that has pages of its own.
    fn overflow(&mut self, node: &Node<'_>, number: u64, found: &mut Counts) -> Result<Vec<u8>, Failure> {
        let first = u64_at(node.data, 0).ok_or_else(|| wrong(number, "that is cut off"))?;
        let page = self.page(first)?;
        let count = u64::from(u32_at(&page, 12).unwrap_or_default());
        let needed = (node.size + PAGE_HEADER).div_ceil(self.size) as u64;
        let kind = u16_at(&page, 10).unwrap_or_default() & !DIRTY;
        if kind != OVERFLOW || count != needed {
            return Err(wrong(first, "that does not have the value which is said to be there"));
        }
        for more in 1..count {
            self.take(first.saturating_add(more))?;
        }
        let mut data = page.get(PAGE_HEADER..).unwrap_or_default().to_vec();
        let rest = data.len();
        data.resize(node.size.max(rest), 0);
        let tail = data.get_mut(rest..).unwrap_or_default();
        read_at(self.file, (first + 1) * self.size as u64, tail)?;
        self.digest.update(tail);
        found.overflows += count;
        data.truncate(node.size);
        Ok(data)
    }

    /// Counts the values of one key.
    fn values(&mut self, node: &Node<'_>, number: u64, record: Record, of: Seed) -> Result<u64, Failure> {
        let other = record.flags & OTHER_ORDERS_OF_VALUES;
        if node.flags == SEVERAL | TREE {
            let below = Record::read(node.data).filter(|_| node.data.len() == RECORD);
            let below = below.ok_or_else(|| wrong(number, "that is cut off"))?;
            if record.flags & FIXED_VALUES == 0 && below.flags != 0 {
                return Err(wrong(number, "with a row of no kind"));
            }
            self.tree(Record { flags: below.flags | other, ..below }, Holds::Values(of))?;
            return Ok(below.counts.entries);
        }
        let kind = u16_at(node.data, 10).unwrap_or_default() & !DIRTY;
        if node.flags != SEVERAL || kind & !FIXED != LEAF | INSIDE {
            return Err(wrong(number, "with a row of no kind"));
        }
        if kind & FIXED != 0 {
            return self.fixed(node.data, number, of);
        }
        let values = Nodes::of(node.data, number, false)?;
        let mut order = Order::default();
        for at in 0..values.count {
            let value = values.get(at)?;
            if value.flags != 0 || (other == 0 && !order.key(value.key)) {
                return Err(wrong(number, "with values that are out of order"));
            }
            self.row(of, value.key);
        }
        if values.count == 0 {
            Err(wrong(number, "with a key without values"))
        } else {
            Ok(values.count as u64)
        }
    }

    /// Counts the values of a page in which all have one size.
    fn fixed(&mut self, page: &[u8], number: u64, of: Seed) -> Result<u64, Failure> {
        let whole = || -> Option<(usize, &[u8])> {
            let (size, lower) = (usize::from(u16_at(page, 8)?), usize::from(u16_at(page, 12)?));
            let count = lower.checked_sub(PAGE_HEADER)? / 2;
            let values = page.get(PAGE_HEADER..PAGE_HEADER.checked_add(count.checked_mul(size)?)?)?;
            (count > 0 && size > 0).then_some((size, values))
        };
        let (size, values) = whole().ok_or_else(|| wrong(number, "whose bounds are wrong"))?;
        let mut count = 0;
        for value in values.chunks_exact(size) {
            self.row(of, value);
            count += 1;
        }
        Ok(count)
    }

    /// Numbers of pages that are free: the row of a transaction, as their count and them, the highest first.
    fn free(&mut self, key: &[u8], data: &[u8], number: u64) -> Result<(), Failure> {
        let count = u64_at(data, 0).and_then(|count| usize::try_from(count).ok());
        let listed = count.and_then(|count| data.get(8..count.checked_add(1)?.checked_mul(8)?));
        let Some(listed) = listed.filter(|_| key.len() == 8) else {
            return Err(wrong(number, "with a list of free pages that is cut off"));
        };
        let mut above = NONE;
        for page in listed.chunks_exact(8).filter_map(|bytes| u64_at(bytes, 0)) {
            let new = if page < self.pages { self.mark(page) } else { self.free_behind.insert(page) };
            if !new || page >= above || page > self.last_page {
                return Err(wrong(page, "that is said to be free, and is not"));
            }
            above = page;
        }
        Ok(())
    }
}

/// The nodes of a page, whose bounds have been checked.
struct Nodes<'p> {
    page: &'p [u8],
    number: u64,
    branch: bool,
    count: usize,
    upper: usize,
}

/// `low (2) | high (2) | flags (2) | bytes of the key (2) | key | data`. In a branch the first three are the number of a page.
struct Node<'p> {
    low: u16,
    high: u16,
    flags: u16,
    key: &'p [u8],
    data: &'p [u8],
    /// Bytes of the data, wherever it is.
    size: usize,
}

impl Node<'_> {
    fn below(&self) -> u64 {
        u64::from(self.low) | u64::from(self.high) << 16 | u64::from(self.flags) << 32
    }
}

impl<'p> Nodes<'p> {
    /// The nodes of a page: `number (8) | pad (2) | flags (2) | lower (2) | upper (2) | offsets of nodes (2 each) … nodes`. They
    /// fill the page from `upper` to its end, which is compared if it is asked for.
    fn of(page: &'p [u8], number: u64, compared: bool) -> Result<Self, Failure> {
        let refused = || wrong(number, "whose bounds are wrong");
        let header = || Some((u16_at(page, 10)?, u16_at(page, 12)?, u16_at(page, 14)?));
        let (flags, lower, upper) = header().ok_or_else(refused)?;
        let (lower, upper) = (usize::from(lower), usize::from(upper));
        if lower < PAGE_HEADER || lower % 2 != 0 || lower > upper || upper > page.len() {
            return Err(refused());
        }
        let count = (lower - PAGE_HEADER) / 2;
        let nodes = Self { page, number, branch: flags & BRANCH != 0, count, upper };
        if compared {
            let mut taken = 0;
            for at in 0..count {
                let node = nodes.get(at)?;
                taken += (NODE_HEADER + node.key.len() + node.data.len()).next_multiple_of(2);
            }
            if taken != page.len() - upper {
                return Err(wrong(number, "whose rows are not as long as it says"));
            }
        }
        Ok(nodes)
    }

    fn get(&self, at: usize) -> Result<Node<'p>, Failure> {
        self.node(at).ok_or_else(|| wrong(self.number, "with a row that reaches out of it"))
    }

    fn node(&self, at: usize) -> Option<Node<'p>> {
        let offset = usize::from(u16_at(self.page, PAGE_HEADER + 2 * at)?);
        if offset < self.upper {
            return None;
        }
        let node = self.page.get(offset..)?;
        let (low, high) = (u16_at(node, 0)?, u16_at(node, 2)?);
        let (flags, key) = (u16_at(node, 4)?, usize::from(u16_at(node, 6)?));
        let rest = node.get(NODE_HEADER..)?;
        let (key, rest) = (rest.get(..key)?, rest.get(key..)?);
        let said = usize::try_from(u32::from(low) | u32::from(high) << 16).ok()?;
        let size = if self.branch { 0 } else { said };
        let here = if !self.branch && flags & ELSEWHERE != 0 { 8 } else { size };
        Some(Node { low, high, flags, key, data: rest.get(..here)?, size })
    }
}

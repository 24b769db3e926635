//! A table: its format, its index, and its blocks one at a time, each checked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use keyplan_store::source::SourceError;

use super::block::{Block, BlockFault, Entries};
use super::bytes::{Bytes, little, wide};
use super::cache::{Cache, Cached};
use super::checksum::{Checksum, of_place};
use super::compression::{self, Fault, MAX_BLOCK};
use super::edit::TableFile;
use super::files::{self, Descriptors, Identity};
use super::footer::{BLOCK_TRAILER, Footer, FooterFault, Handle, LONG, is_leveldb_magic};
use super::index::{Index, IndexForm};
use super::key::{self, RANGE_DELETION, Trailer};
use super::tombstone::Tombstone;
use super::value_block::ValueBlocks;

/// A table of a version.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) file: TableFile,
    pub(crate) path: PathBuf,
    identity: Identity,
    form: OnceLock<Form>,
    shared: Arc<Shared>,
}

/// What all tables of a database share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) descriptors: Arc<Descriptors>,
    pub(crate) cache: Cache,
    /// Whether the files are Pebble's.
    pub(crate) pebble: bool,
}

/// What a table says about itself.
#[derive(Debug)]
pub(crate) struct Form {
    footer: Footer,
    index: Handle,
    entries: IndexForm,
    pub(crate) two_levels: bool,
    /// Stands for the sequence number of every entry, in a table that was written outside of the database.
    pub(crate) sequence: Option<u64>,
    range_deletions: Vec<Handle>,
    pub(crate) values: Option<ValueBlocks>,
}

impl Form {
    /// Whether the values of rows begin with a byte that says where they are.
    pub(crate) fn has_value_prefix(&self) -> bool {
        self.footer.pebble.is_some_and(|version| version >= 3)
    }

    /// The trailer of an entry as the merge sees it.
    pub(crate) fn trailer(&self, stored: Trailer) -> Trailer {
        let marked = self.footer.pebble.is_some_and(|version| version >= 4);
        let trailer = if marked { stored.without_obsolete_mark() } else { stored };
        self.sequence.map_or(trailer, |sequence| trailer.at(sequence))
    }
}

impl Table {
    /// Opens the table's file, which must be there and of the right size, so that it stays readable.
    pub(crate) fn open(directory: &Path, file: TableFile, shared: &Arc<Shared>) -> Result<Self, SourceError> {
        let known = shared.descriptors.known(file.number).filter(|(_, identity)| identity.size == file.size);
        let (path, identity) = if let Some(known) = known {
            known
        } else {
            let path = files::table_path(directory, file.number);
            let identity = shared.descriptors.open(file.number, &path)?;
            (path, identity)
        };
        if identity.size != file.size {
            let what = format!("the table has {} bytes, and the manifest says {}", identity.size, file.size);
            return Err(SourceError::damaged(&path, identity.size.min(file.size), what));
        }
        Ok(Self { file, path, identity, form: OnceLock::new(), shared: Arc::clone(shared) })
    }

    /// Whether a key lies between the table's first and its last entry.
    pub(crate) fn spans(&self, key: &[u8]) -> bool {
        self.file.smallest.key.as_slice() <= key && key <= self.file.largest.key.as_slice()
    }

    /// Whether it is a table of LevelDB, which knows no range deletions.
    pub(crate) fn is_leveldb(&self) -> Result<bool, SourceError> {
        let mut magic = Vec::new();
        let length = self.file.size.min(8);
        self.read_at(self.file.size - length, usize::try_from(length).unwrap_or(8), &mut magic)?;
        Ok(is_leveldb_magic(&magic))
    }

    /// The table's format, read once.
    pub(crate) fn form(&self) -> Result<&Form, SourceError> {
        if let Some(form) = self.form.get() {
            return Ok(form);
        }
        let form = self.read_form()?;
        Ok(self.form.get_or_init(|| form))
    }

    fn read_form(&self) -> Result<Form, SourceError> {
        let length = self.file.size.min(LONG as u64);
        let mut tail = Vec::new();
        self.read_at(self.file.size - length, usize::try_from(length).unwrap_or(LONG), &mut tail)?;
        let at = self.file.size - length;
        let footer = Footer::read(&tail, self.file.size).map_err(|fault| match fault {
            FooterFault::Damaged(what) => SourceError::damaged(&self.path, at, what),
            FooterFault::Unsupported(what) => SourceError::unsupported(&self.path, what),
        })?;
        let metaindex = self.read_block(&footer, footer.metaindex)?;
        let mut meta = BTreeMap::new();
        self.each_entry(&metaindex, footer.metaindex, |name, value| {
            meta.insert(name.to_vec(), value.to_vec());
            Ok(())
        })?;
        self.form_of(footer, &meta)
    }

    fn form_of(&self, footer: Footer, meta: &BTreeMap<Vec<u8>, Vec<u8>>) -> Result<Form, SourceError> {
        let broken =
            || SourceError::damaged(&self.path, footer.metaindex.offset, "a broken entry of the metaindex");
        let handle = |name: &str| match meta.get(name.as_bytes()) {
            None => Ok(None),
            Some(value) => Handle::read(&mut Bytes::new(value)).map(Some).ok_or_else(broken),
        };
        if meta.contains_key(&b"pebble.range_key"[..]) {
            return Err(SourceError::unsupported(&self.path, "a table with range keys"));
        }
        if meta.contains_key(&b"rocksdb.compression_dict"[..]) {
            return Err(SourceError::unsupported(&self.path, "compression with a dictionary"));
        }
        let index = match footer.index {
            Some(index) => index,
            None => handle("rocksdb.index")?.ok_or_else(broken)?,
        };
        let properties = match handle("rocksdb.properties")? {
            None => BTreeMap::new(),
            Some(place) => self.properties(&footer, place)?,
        };
        let number = |name: &str| properties.get(name.as_bytes()).and_then(|value| little(value));
        let varint =
            |name: &str| properties.get(name.as_bytes()).and_then(|value| Bytes::new(value).varint());
        let kind = number("rocksdb.block.based.table.index.type").unwrap_or(0);
        if kind > 3 {
            return Err(SourceError::unsupported(&self.path, format!("an index of kind {kind}")));
        }
        let entries = IndexForm {
            user_keys: varint("rocksdb.index.key.is.user.key") == Some(1),
            delta: varint("rocksdb.index.value.is.delta.encoded") == Some(1),
            more: kind == 3 || footer.pebble.is_some(),
        };
        let values = match meta.get(&b"pebble.value_index"[..]) {
            None => None,
            Some(entry) => Some(
                ValueBlocks::read(entry, |place| self.read_raw(&footer, place))
                    .map_err(|error| error.unwrap_or_else(broken))?,
            ),
        };
        let external = number("rocksdb.external_sst_file.version").unwrap_or(0);
        let range_deletions = ["rocksdb.range_del2", "rocksdb.range_del"];
        Ok(Form {
            index,
            entries,
            two_levels: kind == 2,
            sequence: self.sequence(external, number("rocksdb.external_sst_file.global_seqno")),
            range_deletions: range_deletions
                .into_iter()
                .filter_map(|name| handle(name).transpose())
                .collect::<Result<_, _>>()?,
            values,
            footer,
        })
    }

    /// The sequence number of a table that was taken in as a whole: its entries have none of their own.
    fn sequence(&self, external: u64, global: Option<u64>) -> Option<u64> {
        let (smallest, largest) = self.file.sequences?;
        if self.shared.pebble {
            return (smallest == largest).then_some(largest);
        }
        (external >= 2).then(|| global.filter(|&global| global != 0).unwrap_or(largest))
    }

    /// The properties, whose check counts with the global sequence number as it was written at first: zero.
    fn properties(&self, footer: &Footer, place: Handle) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, SourceError> {
        let raw = match self.read_raw(footer, place) {
            Err(error @ SourceError::Damaged { .. }) => {
                self.with_sequence_zeroed(footer, place).ok_or(error)?
            }
            read => read?,
        };
        let block = Block::new(raw).map_err(|fault| self.fault(place, fault))?;
        let mut out = BTreeMap::new();
        self.each_entry(&block, place, |name, value| {
            out.insert(name.to_vec(), value.to_vec());
            Ok(())
        })?;
        Ok(out)
    }

    fn with_sequence_zeroed(&self, footer: &Footer, place: Handle) -> Option<Vec<u8>> {
        const NAME: &[u8] = b"rocksdb.external_sst_file.global_seqno";
        let mut stored = Vec::new();
        let length = self.stored_length(place).ok()?;
        self.read_at(place.offset, length, &mut stored).ok()?;
        let size = usize::try_from(place.size).ok()?;
        let original = stored.get(..size)?.to_vec();
        // Names may share their beginnings, so that the entry is looked for as one.
        let block = Block::new(original.clone()).ok().filter(|_| stored.get(size) == Some(&0))?;
        let mut entries = Entries::default();
        while entries.next(&block).ok()? {
            if entries.key == NAME && entries.value.len() == 8 {
                stored.get_mut(entries.value.clone())?.fill(0);
                return self.check(footer, place, &stored).is_ok().then_some(original);
            }
        }
        None
    }

    /// The range deletions, bounded by the first and the last entry of the table.
    pub(crate) fn tombstones(&self) -> Result<Vec<Tombstone>, SourceError> {
        let form = self.form()?;
        let mut out = Vec::new();
        let Some(&place) = form.range_deletions.first() else { return Ok(out) };
        let block = self.read_block(&form.footer, place)?;
        self.each_entry(&block, place, |start, end| {
            let (start, trailer) = key::split(start)
                .filter(|(_, trailer)| form.trailer(*trailer).kind() == RANGE_DELETION)
                .ok_or_else(|| {
                    SourceError::damaged(&self.path, place.offset, "no range deletion where one belongs")
                })?;
            out.push(Tombstone {
                start: start.to_vec(),
                end: end.to_vec(),
                sequence: form.trailer(trailer).sequence(),
                smallest: Some(self.file.smallest.clone()),
                largest: Some(self.file.largest.clone()),
            });
            Ok(())
        })?;
        Ok(out)
    }

    fn each_entry(
        &self,
        block: &Block,
        place: Handle,
        mut each: impl FnMut(&[u8], &[u8]) -> Result<(), SourceError>,
    ) -> Result<(), SourceError> {
        let mut entries = Entries::default();
        while entries.next(block).map_err(|fault| self.fault(place, fault))? {
            each(&entries.key, block.slice(entries.value.clone()))?;
        }
        Ok(())
    }

    /// The index, or the upper of its two levels.
    pub(crate) fn index(&self) -> Result<Arc<Index>, SourceError> {
        self.index_at(self.form()?.index)
    }

    /// The index, or a part of it, at a place.
    pub(crate) fn index_at(&self, place: Handle) -> Result<Arc<Index>, SourceError> {
        let name = (self.file.number, place.offset);
        if let Some(Cached::Index(index)) = self.shared.cache.get(name) {
            return Ok(index);
        }
        let form = self.form()?;
        let block = self.read_block(&form.footer, place)?;
        let index = Index::new(&block, form.entries).map_err(|fault| self.fault(place, fault))?;
        let index = Arc::new(index);
        self.shared.cache.put(name, Cached::Index(Arc::clone(&index)), index.weight());
        Ok(index)
    }

    /// A block of entries, for a walk: it is not kept.
    pub(crate) fn block(&self, place: Handle) -> Result<Arc<Block>, SourceError> {
        self.read_block(&self.form()?.footer, place).map(Arc::new)
    }

    /// A block of entries, for a single row: it is kept for the next one.
    pub(crate) fn kept_block(&self, place: Handle) -> Result<Arc<Block>, SourceError> {
        let name = (self.file.number, place.offset);
        if let Some(Cached::Block(block)) = self.shared.cache.get(name) {
            return Ok(block);
        }
        let block = self.block(place)?;
        self.shared.cache.put(name, Cached::Block(Arc::clone(&block)), block.len());
        Ok(block)
    }

    /// A value that Pebble put apart from its row.
    pub(crate) fn value_at(&self, handle: &[u8], at: Handle) -> Result<Vec<u8>, SourceError> {
        let broken = || SourceError::damaged(&self.path, at.offset, "a value that is in no block of values");
        let form = self.form()?;
        let values = form.values.as_ref().ok_or_else(broken)?;
        let (place, range) = values.find(handle).ok_or_else(broken)?;
        let bytes = self.read_raw(&form.footer, place)?;
        bytes.get(range).map(<[u8]>::to_vec).ok_or_else(broken)
    }

    fn read_block(&self, footer: &Footer, place: Handle) -> Result<Block, SourceError> {
        Block::new(self.read_raw(footer, place)?).map_err(|fault| self.fault(place, fault))
    }

    /// The bytes of a block, checked and made whole.
    fn read_raw(&self, footer: &Footer, place: Handle) -> Result<Vec<u8>, SourceError> {
        let length = self.stored_length(place)?;
        let mut stored = Vec::new();
        self.read_at(place.offset, length, &mut stored)?;
        self.check(footer, place, &stored)?;
        let size = length - usize::try_from(BLOCK_TRAILER).unwrap_or(5);
        let compression = stored.get(size).copied().unwrap_or(0);
        stored.truncate(size);
        if compression == 0 {
            return Ok(stored);
        }
        compression::decompress(compression, footer.sizes, &stored).map_err(|fault| match fault {
            Fault::Damaged(what) => SourceError::damaged(&self.path, place.offset, what),
            Fault::Unsupported(what) => SourceError::unsupported(&self.path, what),
            Fault::TooLarge => {
                let what = format!("a block of more than {MAX_BLOCK} bytes when made whole");
                SourceError::damaged(&self.path, place.offset, what)
            }
        })
    }

    /// The length of a block with what is after it, if it lies in the file.
    fn stored_length(&self, place: Handle) -> Result<usize, SourceError> {
        let damaged = |what: String| SourceError::damaged(&self.path, place.offset.min(self.file.size), what);
        let end = place.size.checked_add(BLOCK_TRAILER).and_then(|length| place.offset.checked_add(length));
        if end.is_none_or(|end| end > self.file.size) {
            return Err(damaged("a block that is not in the file".to_owned()));
        }
        usize::try_from(place.size + BLOCK_TRAILER)
            .ok()
            .filter(|&length| length <= MAX_BLOCK)
            .ok_or_else(|| damaged(format!("a block of more than {MAX_BLOCK} bytes")))
    }

    fn check(&self, footer: &Footer, place: Handle, stored: &[u8]) -> Result<(), SourceError> {
        let Some((body, check)) = stored.split_last_chunk::<4>() else {
            return Err(SourceError::damaged(&self.path, place.offset, "a block without a check"));
        };
        let computed = footer.checksum.over(body).wrapping_add(of_place(footer.base, place.offset));
        if footer.checksum != Checksum::None && computed != super::bytes::u32_le(*check) {
            return Err(SourceError::damaged(
                &self.path,
                place.offset,
                "a block that does not fit its check",
            ));
        }
        Ok(())
    }

    /// The fault of a block as an error with its place.
    pub(crate) fn fault(&self, place: Handle, fault: BlockFault) -> SourceError {
        match fault {
            BlockFault::Damaged(what) => SourceError::damaged(&self.path, place.offset, what),
            BlockFault::Unsupported(what) => SourceError::unsupported(&self.path, what),
        }
    }

    fn read_at(&self, offset: u64, length: usize, out: &mut Vec<u8>) -> Result<(), SourceError> {
        let file = self.shared.descriptors.file(self.file.number, &self.path, self.identity)?;
        debug_assert!(wide(length) <= self.file.size);
        files::read_at(&file, &self.path, offset, length, out)
    }
}

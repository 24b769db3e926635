use std::collections::BTreeMap;

use crate::cache::FamilyStatistics;
use crate::engine::{Batch, Durability, Engine, KeyRange, Setting, Snapshot as _, Space, SpaceId, SpaceKind};
use crate::error::StoreError;
use crate::migrate::MigrationMark;
use crate::schema::{PlanFile, PlanFingerprint, Schema};

/// The space that a store keeps its metadata in.
pub const META_SPACE: &str = "keyplan-meta";

/// The newest format of the metadata.
pub const FORMAT: u32 = 1;

/// The layout of the metadata, as a plan.
pub const META_PLAN: &str = r#"//! What a store knows of itself.
plan keyplan_meta;

space meta = "keyplan-meta" {
    /// The version of these rows.
    key format = "format" -> version: u32;
    /// The engine that made the database.
    key engine = "engine" -> name: text;
    /// The fingerprint of the plan.
    key fingerprint = "fingerprint" -> fingerprint: bytes(16);
    /// The files of the plan, the root at 0.
    key file = "file" index: u32 -> name: text.len16 text: text;
    /// The spaces of the plan, in its order: whether a key has several values, and the name.
    key space = "space" index: u32 -> multimap: bool name: text;
    /// The settings at creation: whether one is fixed, and its value.
    key setting = "setting/" name: text -> fixed: bool value: text;
    /// Where a migration is, while the database is in the middle of one.
    key migration = "migration"
        -> version: u8 phase: u8 migration: bytes(8) from: bytes(16) to: bytes(16) space: u32 done: u64
            last: (none: 0x00 | some: 0x01 key: bytes);
    /// The plan to come: its files, as `file` has them later.
    key migration_file = "migration/file/" index: u32 -> name: text.len16 text: text;
    /// What must be in a space of the plan to come.
    key migration_expected = "migration/expected/" space: text -> rows: u64 sum: u64;
    /// Reads of a family through the row cache, in the run that ended last: those that it answered, those that went to the
    /// engine, and the rows that had to give way.
    key reads = "reads/" space: text(0..=255).len8 family: text -> hits: u64 misses: u64 evictions: u64;
    /// Names that are known for digests.
    key name = "name/" scope: text(0..=255).len8 digest: bytes -> name: text;
}
"#;

/// What rows of reads begin with.
pub(crate) const READS: &[u8] = b"reads/";

/// A row of the metadata: key and value.
type MetaRow = (Vec<u8>, Vec<u8>);

/// What a database knows of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// The version of the metadata.
    pub format: u32,
    /// The name of the engine that made the database.
    pub engine: String,
    /// The fingerprint of the plan.
    pub fingerprint: PlanFingerprint,
    /// The files of the plan, the root first.
    pub files: Vec<PlanFile>,
    /// The spaces of the plan.
    pub spaces: Vec<Space>,
    /// The settings at creation.
    pub settings: Vec<Setting>,
    /// The names that are known for digests, by what they are names of.
    pub names: BTreeMap<(String, Vec<u8>), String>,
    /// The migration that the database is in the middle of.
    pub migration: Option<MigrationMark>,
    /// The reads of each family through the row cache, in the run that ended last; empty if there was no cache.
    pub reads: Vec<FamilyStatistics>,
}

impl Meta {
    /// The metadata of a new database.
    pub(crate) fn new<E: Engine>(engine: &E, schema: &Schema) -> Self {
        Self {
            format: FORMAT,
            engine: engine.name().to_owned(),
            fingerprint: schema.fingerprint,
            files: schema.files.clone(),
            spaces: schema.spaces.clone(),
            settings: engine.settings(),
            names: BTreeMap::new(),
            migration: None,
            reads: Vec::new(),
        }
    }

    /// The text of the plan's root file: with [`Meta::import`] it is all that compiling it takes.
    ///
    /// ```
    /// # use keyplan_store::{Schema, Store, engine::Memory};
    /// # let text = "plan demo; space cl { key tick = 0x01 pool: u64; }";
    /// # let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
    /// # let store = Store::create(Memory::new(), &Schema::of(&compiled).expect("sound"))?;
    /// let meta = store.meta().expect("a store that was created has a plan in it");
    /// let plan = keyplan_plan::compile(meta.plan_name(), meta.plan_text(), |path| meta.import(path));
    /// assert_eq!(plan.plan.expect("sound").name, "demo");
    /// # Ok::<(), keyplan_store::StoreError>(())
    /// ```
    pub fn plan_text(&self) -> &str {
        self.files.first().map_or("", |file| &file.text)
    }

    /// The name of the plan's root file.
    pub fn plan_name(&self) -> &str {
        self.files.first().map_or("", |file| &file.name)
    }

    /// The text of a file that the plan imports, or why there is none.
    pub fn import(&self, name: &str) -> Result<String, String> {
        let found = self.files.iter().find(|file| file.name == name);
        found.map(|file| file.text.clone()).ok_or_else(|| format!("`{name}` is not in the database"))
    }

    /// The schema that the database was made with.
    pub fn schema(&self) -> Schema {
        let (files, spaces) = (self.files.clone(), self.spaces.clone());
        Schema { files, fingerprint: self.fingerprint, spaces, families: Vec::new() }
    }

    /// Reads the metadata; `None` if the database has none.
    pub fn read<E: Engine>(engine: &E) -> Result<Option<Self>, StoreError> {
        let Some(space) = engine.space(META_SPACE) else { return Ok(None) };
        let snapshot = engine.snapshot()?;
        let Some(format) = snapshot.get(space, b"format")? else { return Ok(None) };
        let format = number(&format).ok_or_else(|| damaged("format"))?;
        if format > FORMAT {
            return Err(StoreError::Format { found: format, known: FORMAT });
        }
        let mut rows = Rows::default();
        for row in snapshot.range(space, KeyRange::ALL)? {
            let (key, value) = row?;
            rows.take(&key, &value).ok_or_else(|| damaged(&String::from_utf8_lossy(&key)))?;
        }
        rows.finish(format).map(Some)
    }

    /// Writes everything that a new database is marked with, in one step.
    pub(crate) fn write<E: Engine>(&self, engine: &E, space: SpaceId) -> Result<(), StoreError> {
        let mut batch = Batch::<E>::new();
        let mut put = |key: Vec<u8>, value: Vec<u8>| batch.put(space, key, value);
        put(b"format".to_vec(), self.format.to_be_bytes().to_vec());
        put(b"engine".to_vec(), self.engine.clone().into_bytes());
        for (key, value) in self.plan_rows()? {
            put(key, value);
        }
        for setting in &self.settings {
            let value = [&[u8::from(setting.fixed)], setting.value.as_bytes()].concat();
            put([b"setting/", setting.name.as_bytes()].concat(), value);
        }
        Ok(engine.commit(batch, Durability::SyncAll)?)
    }

    /// The rows that say which plan the database has.
    pub(crate) fn plan_rows(&self) -> Result<Vec<MetaRow>, StoreError> {
        let mut rows = Vec::new();
        let mut put = |key: Vec<u8>, value: Vec<u8>| rows.push((key, value));
        put(b"fingerprint".to_vec(), self.fingerprint.0.to_vec());
        for (index, file) in (0_u32..).zip(&self.files) {
            let length = u16::try_from(file.name.len()).map_err(|_| damaged("file"))?;
            let value = [&length.to_be_bytes(), file.name.as_bytes(), file.text.as_bytes()].concat();
            put([b"file".as_slice(), &index.to_be_bytes()].concat(), value);
        }
        for (index, space) in (0_u32..).zip(&self.spaces) {
            let value = [&[u8::from(space.kind == SpaceKind::Multimap)], space.name.as_bytes()].concat();
            put([b"space".as_slice(), &index.to_be_bytes()].concat(), value);
        }
        Ok(rows)
    }

    /// The rows of reads through the row cache, to be put in place of those that are there.
    pub(crate) fn reads_rows(reads: &[FamilyStatistics]) -> Vec<MetaRow> {
        let rows = reads.iter().filter_map(|read| {
            let length = u8::try_from(read.space.len()).ok()?;
            let family = read.family.as_deref().unwrap_or_default();
            let key = [READS, &[length], read.space.as_bytes(), family.as_bytes()].concat();
            Some((key, [read.hits, read.misses, read.evictions].map(u64::to_be_bytes).concat()))
        });
        rows.collect()
    }

    /// The row of a known name.
    pub(crate) fn name_row(scope: &str, digest: &[u8]) -> Result<Vec<u8>, StoreError> {
        let length = u8::try_from(scope.len()).map_err(|_| damaged(scope))?;
        Ok([b"name/".as_slice(), &[length], scope.as_bytes(), digest].concat())
    }

    /// Refuses settings that are fixed at creation and asked for otherwise.
    pub(crate) fn check_settings(&self, asked: &[Setting]) -> Result<(), StoreError> {
        for asked in asked.iter().filter(|setting| setting.fixed) {
            let recorded =
                self.settings.iter().find(|recorded| recorded.fixed && recorded.name == asked.name);
            if let Some(recorded) = recorded.filter(|recorded| recorded.value != asked.value) {
                return Err(StoreError::SettingChanged {
                    name: asked.name.clone(),
                    recorded: recorded.value.clone(),
                    asked: asked.value.clone(),
                });
            }
        }
        Ok(())
    }
}

/// Rows of the metadata as they are read.
#[derive(Default)]
struct Rows {
    engine: Option<String>,
    fingerprint: Option<PlanFingerprint>,
    files: Vec<PlanFile>,
    spaces: Vec<Space>,
    settings: Vec<Setting>,
    names: BTreeMap<(String, Vec<u8>), String>,
    migration: Option<MigrationMark>,
    reads: Vec<FamilyStatistics>,
}

impl Rows {
    /// Takes in a row; `None` if it is malformed. Rows that are not known are left to later versions.
    fn take(&mut self, key: &[u8], value: &[u8]) -> Option<()> {
        if key == b"engine" {
            self.engine = Some(text(value)?);
        } else if key == b"fingerprint" {
            self.fingerprint = Some(PlanFingerprint(value.try_into().ok()?));
        } else if key == b"migration" {
            self.migration = Some(MigrationMark::decode(value)?);
        } else if let Some(name) = key.strip_prefix(b"setting/") {
            let (&fixed, value) = value.split_first()?;
            self.settings.push(Setting { name: text(name)?, value: text(value)?, fixed: flag(fixed)? });
        } else if let Some(rest) = key.strip_prefix(b"name/") {
            let (&length, rest) = rest.split_first()?;
            let (scope, digest) = rest.split_at_checked(length.into())?;
            self.names.insert((text(scope)?, digest.to_vec()), text(value)?);
        } else if let Some(rest) = key.strip_prefix(READS) {
            let (&length, rest) = rest.split_first()?;
            let (space, family) = rest.split_at_checked(length.into())?;
            let (hits, value) = value.split_first_chunk()?;
            let (misses, value) = value.split_first_chunk()?;
            self.reads.push(FamilyStatistics {
                space: text(space)?,
                family: Some(text(family)?).filter(|family| !family.is_empty()),
                hits: u64::from_be_bytes(*hits),
                misses: u64::from_be_bytes(*misses),
                evictions: value.try_into().ok().map(u64::from_be_bytes)?,
            });
        } else if let Some(index) = key.strip_prefix(b"file") {
            // Rows come by index, so that one that is missing shows here.
            in_turn(index, self.files.len())?;
            let (length, rest) = value.split_first_chunk::<2>()?;
            let (name, file) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
            self.files.push(PlanFile { name: text(name)?, text: text(file)? });
        } else if let Some(index) = key.strip_prefix(b"space") {
            in_turn(index, self.spaces.len())?;
            let (&multimap, name) = value.split_first()?;
            let kind = if flag(multimap)? { SpaceKind::Multimap } else { SpaceKind::Map };
            self.spaces.push(Space { kind, ..Space::map(text(name)?) });
        }
        Some(())
    }

    fn finish(self, format: u32) -> Result<Meta, StoreError> {
        if self.files.is_empty() {
            return Err(damaged("file"));
        }
        Ok(Meta {
            format,
            engine: self.engine.ok_or_else(|| damaged("engine"))?,
            fingerprint: self.fingerprint.ok_or_else(|| damaged("fingerprint"))?,
            files: self.files,
            spaces: self.spaces,
            settings: self.settings,
            names: self.names,
            migration: self.migration,
            reads: self.reads,
        })
    }
}

fn damaged(row: &str) -> StoreError {
    StoreError::Metadata { row: row.to_owned() }
}

fn text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

fn number(bytes: &[u8]) -> Option<u32> {
    bytes.try_into().ok().map(u32::from_be_bytes)
}

const fn flag(byte: u8) -> Option<bool> {
    match byte {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

fn in_turn(index: &[u8], expected: usize) -> Option<()> {
    (usize::try_from(number(index)?).ok()? == expected).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Memory;
    use keyplan_plan::dynamic::{Decoder, readings};

    fn meta() -> Meta {
        Meta {
            format: FORMAT,
            engine: "memory".into(),
            fingerprint: PlanFingerprint([7; 16]),
            files: vec![
                PlanFile { name: "a.keyplan".into(), text: "plan a;".into() },
                PlanFile { name: "lib/b.keyplan".into(), text: String::new() },
            ],
            spaces: vec![Space::map("one"), Space::multimap("two")],
            settings: vec![Setting::fixed("memtable", &64), Setting::per_open("workers", &2)],
            names: BTreeMap::new(),
            migration: None,
            reads: Vec::new(),
        }
    }

    fn written(meta: &Meta) -> (Memory, SpaceId) {
        let mut engine = Memory::new();
        let space = engine.create_space(&Space::map(META_SPACE)).unwrap();
        meta.write(&engine, space).unwrap();
        (engine, space)
    }

    #[test]
    fn metadata_reads_back_as_written() {
        let (engine, _) = written(&meta());
        assert_eq!(Meta::read(&engine).unwrap(), Some(meta()));
        assert_eq!(meta().import("lib/b.keyplan"), Ok(String::new()));
        assert_eq!(meta().import("c"), Err("`c` is not in the database".into()));
    }

    #[test]
    fn every_row_is_one_of_the_metadata_s_own_plan() {
        let compiled = keyplan_plan::compile("meta.keyplan", META_PLAN, |_| Err("no imports".into()));
        assert_eq!(compiled.diagnostics, []);
        let plan = compiled.plan.unwrap();
        let decoder = Decoder::new(&plan);
        let (engine, space) = written(&meta());
        let mut batch = Batch::new();
        batch.put(space, Meta::name_row("namespaces", &[1, 2, 3]).unwrap(), b"accounts".as_slice());
        for (key, value) in Meta::reads_rows(&reads()) {
            batch.put(space, key, value);
        }
        engine.commit(batch, Durability::Buffer).unwrap();
        let mut families = Vec::new();
        for row in engine.snapshot().unwrap().range(space, KeyRange::ALL).unwrap() {
            let (key, value) = row.unwrap();
            let read = decoder.decode(0, &key).unwrap();
            assert!(readings(read.family.value.as_ref().unwrap(), &value, 1).is_ok(), "{}", read.family.path);
            families.push(read.family.name.clone());
        }
        families.dedup();
        assert_eq!(
            families,
            ["engine", "file", "fingerprint", "format", "name", "reads", "setting", "space"]
        );
    }

    fn reads() -> Vec<FamilyStatistics> {
        let mut reads = vec![FamilyStatistics::default(); 2];
        for (at, read) in (1..).zip(&mut reads) {
            (read.space, read.hits, read.misses, read.evictions) = ("one".into(), at, 2 * at, 3 * at);
        }
        reads[1].family = Some("one.row".into());
        reads
    }

    #[test]
    fn reads_are_read_back_as_they_were_counted() {
        let (engine, space) = written(&meta());
        let mut batch = Batch::new();
        for (key, value) in Meta::reads_rows(&reads()) {
            batch.put(space, key, value);
        }
        engine.commit(batch, Durability::Buffer).unwrap();
        assert_eq!(Meta::read(&engine).unwrap().unwrap().reads, reads());
    }

    #[test]
    fn a_malformed_row_is_named() {
        for (key, value) in [
            (&b"format"[..], &[1][..]),
            (b"fingerprint", &[1; 15]),
            (b"file\0\0\0\0", &[0, 9, b'x']),
            (b"file\0\0\0\x09", &[0, 0]),
            (b"space\0\0\0\0", &[2]),
            (b"setting/x", &[]),
            (b"name/\x09x", b"y"),
            (b"reads/\x01xy", &[0; 23]),
        ] {
            let (engine, space) = written(&meta());
            let mut batch = Batch::new();
            batch.put(space, key, value);
            engine.commit(batch, Durability::Buffer).unwrap();
            let row = String::from_utf8_lossy(key).into_owned();
            let read = Meta::read(&engine);
            assert!(
                matches!(&read, Err(StoreError::Metadata { row: found }) if *found == row),
                "{row}: {read:?}"
            );
        }
    }

    #[test]
    fn a_later_format_is_refused_by_number() {
        let (engine, _) = written(&Meta { format: 2, ..meta() });
        let refused = Meta::read(&engine).unwrap_err();
        assert_eq!(refused.to_string(), "the database has format 2; this version reads up to 1");
    }
}

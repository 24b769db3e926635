use std::ops::{Bound, RangeBounds};

use keyplan::codec::{DecodeError, Fault};
use keyplan::typed::{KeyError, KeyFault};
use keyplan_store::engine::{Engine, KeyRange, Snapshot as _, SpaceId, SpaceKind};
use keyplan_store::{RangeOf, Store};

use super::cursor::Cursor;
use super::entities::{Entity, EntityNs};
use super::schema::{CURSOR_TABLE, OWN_TABLES, StateSchema, UTXO_TABLE};
use super::{EntityKey, StateError, cursor, entities, undo, utxos};

/// Where the rows of a state store are.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) cursor: SpaceId,
    pub(super) utxos: SpaceId,
    /// None in a database of another program that is only read.
    pub(super) undo: Option<SpaceId>,
    cursor_key: &'static [u8],
    places: Places,
    // In the order of the plan: undo records name spaces by their place here.
    spaces: Vec<(String, SpaceId, SpaceKind)>,
}

#[derive(Debug)]
enum Places {
    /// All namespaces in one space, each below the hash of its name.
    Hashed(SpaceId),
    /// A space for each.
    Tables,
}

/// The key of the cursor in a layout of tables: the number 0 in two bytes, as redb writes it.
const TABLE_CURSOR: &[u8] = &[0, 0];

impl Layout {
    pub(super) fn hashed<E: Engine>(store: &Store<E>) -> Result<Self, StateError> {
        let space = |name: &str| store.space(name);
        let (cursor, utxos, entities) =
            (space(cursor::SPACE)?, space(utxos::SPACE)?, space(entities::SPACE)?);
        let undo = space(undo::SPACE).ok();
        let mut spaces = vec![
            (cursor::SPACE.to_owned(), cursor, SpaceKind::Map),
            (utxos::SPACE.to_owned(), utxos, SpaceKind::Map),
            (entities::SPACE.to_owned(), entities, SpaceKind::Map),
        ];
        spaces.extend(undo.map(|undo| (undo::SPACE.to_owned(), undo, SpaceKind::Map)));
        let cursor_key = <Cursor as keyplan::typed::Key>::PREFIX;
        Ok(Self { cursor, utxos, undo, cursor_key, places: Places::Hashed(entities), spaces })
    }

    pub(super) fn tables<E: Engine>(store: &Store<E>, schema: &StateSchema) -> Result<Self, StateError> {
        let cursor = store.space(CURSOR_TABLE)?;
        let utxos = store.space(UTXO_TABLE)?;
        let undo = store.space(undo::SPACE)?;
        let mut spaces = vec![
            (CURSOR_TABLE.to_owned(), cursor, SpaceKind::Map),
            (UTXO_TABLE.to_owned(), utxos, SpaceKind::Map),
            (undo::SPACE.to_owned(), undo, SpaceKind::Map),
        ];
        for (name, kind) in schema.tables() {
            spaces.push((name.clone(), store.space(name)?, *kind));
        }
        let undo = Some(undo);
        Ok(Self { cursor, utxos, undo, cursor_key: TABLE_CURSOR, places: Places::Tables, spaces })
    }

    pub(super) const fn cursor_key(&self) -> &'static [u8] {
        self.cursor_key
    }

    /// The space of all entities, where namespaces are hashed.
    pub(super) const fn hashed_entities(&self) -> Option<SpaceId> {
        match self.places {
            Places::Hashed(space) => Some(space),
            Places::Tables => None,
        }
    }

    /// Where a namespace is. A hashed one is anywhere by its name; a table must be in the schema.
    pub(super) fn place(&self, namespace: &str) -> Result<Place, StateError> {
        match self.places {
            Places::Hashed(space) => {
                let ns = EntityNs::of(namespace);
                let ns = ns.map_err(|error| StateError::unwritable(error.of(Entity::FAMILY)))?;
                Ok(Place { space, ns: Some(ns), kind: SpaceKind::Map })
            }
            Places::Tables => {
                let mut namespaces = self.spaces.iter().skip(OWN_TABLES);
                let found = namespaces.find(|(name, ..)| name == namespace);
                let &(_, space, kind) =
                    found.ok_or_else(|| StateError::NoNamespace { name: namespace.to_owned() })?;
                Ok(Place { space, ns: None, kind })
            }
        }
    }

    /// Where a namespace is whose keys have one value.
    pub(super) fn single(&self, namespace: &str) -> Result<Place, StateError> {
        let place = self.place(namespace)?;
        match place.kind {
            SpaceKind::Map => Ok(place),
            SpaceKind::Multimap => Err(wrong_kind(namespace, "one value", "several values")),
        }
    }

    /// All spaces, with how many values their keys have.
    pub(super) fn spaces(&self) -> impl Iterator<Item = (SpaceId, SpaceKind)> {
        self.spaces.iter().map(|(_, space, kind)| (*space, *kind))
    }

    pub(super) fn name(&self, space: SpaceId) -> &str {
        self.spaces.iter().find(|(_, id, _)| *id == space).map_or("", |(name, ..)| name)
    }

    /// The number of a space in the plan.
    pub(super) fn number(&self, space: SpaceId) -> Option<u16> {
        let at = self.spaces.iter().position(|(_, id, _)| *id == space)?;
        u16::try_from(at).ok()
    }

    /// The space of a number.
    pub(super) fn numbered(&self, number: u16) -> Option<SpaceId> {
        self.spaces.get(usize::from(number)).map(|(_, space, _)| *space)
    }

    pub(super) fn kind(&self, space: SpaceId) -> SpaceKind {
        self.spaces.iter().find(|(_, id, _)| *id == space).map_or(SpaceKind::Map, |(.., kind)| *kind)
    }
}

#[cold]
pub(super) fn wrong_kind(namespace: &str, expected: &'static str, found: &'static str) -> StateError {
    StateError::NamespaceKind { name: namespace.to_owned(), expected, found }
}

/// Where the entities of one namespace are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) space: SpaceId,
    /// The hash that its keys begin with, where there is one.
    pub(super) ns: Option<EntityNs>,
    pub(super) kind: SpaceKind,
}

/// The key of an entity's row.
#[derive(Clone, Copy)]
pub(super) enum RowKey {
    Hashed([u8; Entity::LEN]),
    Plain([u8; 32]),
}

impl AsRef<[u8]> for RowKey {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Hashed(key) => key,
            Self::Plain(key) => key,
        }
    }
}

impl Place {
    #[inline]
    pub(super) fn key(self, key: &EntityKey) -> RowKey {
        match self.ns {
            Some(ns) => RowKey::Hashed(Entity { ns, key: key.0 }.encode()),
            None => RowKey::Plain(key.0),
        }
    }

    /// Reads the key of a row in the place.
    #[inline]
    pub(super) fn decode(self, key: &[u8]) -> Result<EntityKey, Box<KeyError>> {
        match self.ns {
            Some(_) => Entity::decode(key).map(|entity| EntityKey(entity.key)).map_err(Box::new),
            None => key.try_into().map(EntityKey).map_err(|_| Box::new(not_32(key.len()))),
        }
    }

    /// The rows of a range of keys.
    pub(super) fn range<E: Engine>(
        self,
        snapshot: &E::Snapshot,
        keys: &impl RangeBounds<EntityKey>,
    ) -> Result<RangeOf<E>, StateError> {
        let Some(ns) = self.ns else {
            let range = KeyRange { start: plain(keys.start_bound()), end: plain(keys.end_bound()) };
            return Ok(snapshot.range(self.space, range)?);
        };
        let mut scan = Entity::by_ns(ns);
        scan = match keys.start_bound() {
            Bound::Included(start) => scan.from(start.0),
            Bound::Excluded(start) => scan.after(start.0),
            Bound::Unbounded => scan,
        };
        scan = match keys.end_bound() {
            Bound::Included(end) => scan.through(end.0),
            Bound::Excluded(end) => scan.to(end.0),
            Bound::Unbounded => scan,
        };
        let (start, end) = scan.range();
        Ok(snapshot.range(self.space, KeyRange { start, end })?)
    }
}

fn plain(bound: Bound<&EntityKey>) -> Bound<&[u8]> {
    bound.map(|key| key.0.as_slice())
}

#[cold]
fn not_32(found: usize) -> KeyError {
    let error = match 32_usize.checked_sub(found) {
        Some(missing) => DecodeError::new(found, Fault::Short { missing }),
        None => DecodeError::new(32, Fault::Trailing { extra: found.saturating_sub(32) }),
    };
    KeyError { family: "entity", segment: "key", fault: KeyFault::Bytes(error) }
}

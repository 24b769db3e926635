use std::collections::BTreeSet;
use std::fmt::Write as _;

use keyplan_store::engine::SpaceKind;
use keyplan_store::{META_SPACE, Meta, Schema};

use super::layout::wrong_kind;

use super::{Namespace, PLAN, StateError, undo};

/// The name under which the plan of the hashed layout is recorded, and under which others import it.
const STORE_PLAN: &str = "cardano_store.keyplan";

/// The spaces of a layout with a table for every namespace, other than those of the namespaces.
pub(super) const CURSOR_TABLE: &str = "cursor";
pub(super) const UTXO_TABLE: &str = "utxos";

/// How many spaces such a layout has before those of the namespaces: the cursor, the outputs, the undo records.
pub(super) const OWN_TABLES: usize = 3;

/// The namespaces of a store in which each has a table of its own, as on redb.
///
/// ```
/// use keyplan_chains::cardano::{Namespace, StateSchema};
///
/// let schema = StateSchema::new().single(Namespace::POOLS).multi("pool_delegators");
/// assert_eq!(schema.namespaces().collect::<Vec<_>>(), ["pool_delegators", "pools"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateSchema {
    // By name, so that the order in which they are declared makes no difference.
    namespaces: Vec<(String, SpaceKind)>,
}

impl StateSchema {
    /// No namespaces.
    pub const fn new() -> Self {
        Self { namespaces: Vec::new() }
    }

    /// The namespaces of Dolos's document and of its code, and the delegators of each pool as several values.
    pub fn document() -> Self {
        let single = [
            Namespace::ACCOUNTS,
            Namespace::ACCOUNT_EPOCHS,
            Namespace::POOLS,
            Namespace::EPOCHS,
            Namespace::DREPS,
            Namespace::GOV,
            Namespace::PROPOSALS,
            Namespace::ASSETS,
            Namespace::DATUMS,
            Namespace::ERAS,
            Namespace::REWARDS,
            Namespace::STAKES,
            Namespace::PENDING_MIRS,
            Namespace::PENDING_REWARDS,
        ];
        single.into_iter().fold(Self::new(), Self::single).multi("pool_delegators")
    }

    /// Adds a namespace whose keys have one value.
    #[must_use]
    pub fn single(self, name: &str) -> Self {
        self.with(name, SpaceKind::Map)
    }

    /// Adds a namespace whose keys have several values.
    #[must_use]
    pub fn multi(self, name: &str) -> Self {
        self.with(name, SpaceKind::Multimap)
    }

    /// The names, in order.
    pub fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.namespaces.iter().map(|(name, _)| name.as_str())
    }

    /// The namespaces that a database has, and these with those that it lacks after them, in an order that keeps the
    /// numbers of its spaces: undo records name spaces by them. `None` if the database has no plan, or another one.
    pub(super) fn with_recorded(&self, meta: Option<&Meta>) -> Result<Option<(Self, Self)>, StateError> {
        let Some(meta) = meta else { return Ok(None) };
        let tables = meta.spaces.iter().skip(OWN_TABLES);
        let recorded = Self { namespaces: tables.map(|space| (space.name.clone(), space.kind)).collect() };
        if recorded.schema().map(|schema| schema.fingerprint).ok() != Some(meta.fingerprint) {
            return Ok(None);
        }
        let mut all = recorded.clone();
        for (name, kind) in &self.namespaces {
            match recorded.namespaces.iter().find(|(known, _)| known == name) {
                Some((_, found)) if found == kind => {}
                Some((_, found)) => return Err(wrong_kind(name, values(*kind), values(*found))),
                None => all.namespaces.push((name.clone(), *kind)),
            }
        }
        Ok(Some((recorded, all)))
    }

    fn with(mut self, name: &str, kind: SpaceKind) -> Self {
        self.namespaces.push((name.to_owned(), kind));
        self.namespaces.sort_by(|(a, _), (b, _)| a.cmp(b));
        self
    }

    pub(super) fn tables(&self) -> &[(String, SpaceKind)] {
        &self.namespaces
    }

    /// The schema of the store: its plan is written here, because the namespaces are known only now.
    pub(super) fn schema(&self) -> Result<Schema, StateError> {
        self.check()?;
        let text = self.plan();
        let compiled = keyplan::plan::compile("cardano_tables.keyplan", &text, |path| {
            if path == STORE_PLAN { Ok(PLAN.text().to_owned()) } else { Err(format!("there is no `{path}`")) }
        });
        let schema = Schema::of(&compiled);
        let mut schema = schema.ok_or_else(|| refused(&text, "the plan with it does not compile"))?;
        for (name, kind) in &self.namespaces {
            if *kind == SpaceKind::Multimap {
                schema = schema.with_multimap(name);
            }
        }
        Ok(schema)
    }

    fn check(&self) -> Result<(), StateError> {
        let reserved = [CURSOR_TABLE, UTXO_TABLE, undo::SPACE, META_SPACE];
        for (name, _) in &self.namespaces {
            if name.is_empty() {
                return Err(refused(name, "it is empty"));
            }
            if reserved.contains(&name.as_str()) {
                return Err(refused(name, "the store has a table of that name"));
            }
        }
        let mut seen = BTreeSet::new();
        match self.namespaces.iter().find(|(name, _)| !seen.insert(name)) {
            Some((name, _)) => Err(refused(name, "it is declared twice")),
            None => Ok(()),
        }
    }

    fn plan(&self) -> String {
        let mut text = format!(
            "//! The state of a Cardano node, with a table for every namespace.\n\
             plan cardano_tables;\n\n\
             import types \"{STORE_PLAN}\";\n\n\
             /// The chain's position.\n\
             space cursor = \"{CURSOR_TABLE}\" {{\n    key cursor = 0x0000\n        -> point: ChainPoint;\n}}\n\n\
             /// The set of unspent outputs.\n\
             space utxos = \"{UTXO_TABLE}\" {{\n    key utxo = tx_hash: bytes(32) index: u32\n        \
             -> era: u16 body: cbor\n        scan all in order\n        scan by tx_hash in order;\n}}\n\n\
             /// What the last commits replaced.\n\
             space undo = \"{}\" {{\n    key undo = block: u64 part: u32\n        \
             -> before: Position after: Position replaced: list(Replaced.varlen)\n        \
             scan all in order\n        scan by block in order;\n}}\n",
            undo::SPACE,
        );
        for (at, (name, kind)) in self.namespaces.iter().enumerate() {
            let family = match kind {
                SpaceKind::Map => "key entity = key: bytes(32)\n        -> cbor\n        scan all in order;",
                SpaceKind::Multimap => {
                    "set entity = key: bytes(32)\n        member value: cbor\n        scan all in order;"
                }
            };
            // A number makes the identifier unique; the name says what it is.
            let word: String =
                name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            let word = word.to_ascii_lowercase();
            // Writing to a string does not fail.
            let _ = write!(text, "\nspace ns{at}_{word} = {name:?} {{\n    {family}\n}}\n");
        }
        text
    }
}

const fn values(kind: SpaceKind) -> &'static str {
    match kind {
        SpaceKind::Map => "one value",
        SpaceKind::Multimap => "several values",
    }
}

#[cold]
fn refused(name: &str, why: &'static str) -> StateError {
    StateError::NamespaceName { name: name.to_owned(), why }
}

/// The schema of the layout in which namespaces are hashed: that of the plan which the types are made from.
pub(super) fn hashed() -> Schema {
    let files = vec![keyplan_store::PlanFile { name: STORE_PLAN.to_owned(), text: PLAN.text().to_owned() }];
    Schema { files, ..Schema::from(&PLAN) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_of_the_types_is_that_of_their_plan() {
        let compiled = keyplan::plan::compile(STORE_PLAN, PLAN.text(), |_| Err("no imports".into()));
        assert_eq!(Schema::of(&compiled), Some(hashed()));
    }

    #[test]
    fn every_name_makes_a_plan_that_can_be_read_back() {
        let names = [
            "accounts",
            "account-epochs",
            "account_epochs",
            "ns",
            "key",
            "\"quoted\" \\ \n\u{e9}",
            "Ünïcode",
        ];
        let schema = names.into_iter().fold(StateSchema::new(), StateSchema::single).multi("many");
        let spaces = schema.schema().unwrap().spaces;
        let mut expected: Vec<&str> = vec!["cursor", "utxos", "keyplan-undo"];
        expected.extend(schema.namespaces());
        assert_eq!(spaces.iter().map(|space| space.name.as_str()).collect::<Vec<_>>(), expected);
        let kinds: Vec<SpaceKind> = spaces.iter().map(|space| space.kind).collect();
        assert_eq!(kinds.iter().filter(|kind| **kind == SpaceKind::Multimap).count(), 1);
    }

    #[test]
    fn names_without_a_place_are_refused() {
        let why = |schema: StateSchema| schema.schema().unwrap_err().to_string();
        assert_eq!(why(StateSchema::new().single("")), "`` cannot be a namespace: it is empty");
        assert_eq!(
            why(StateSchema::new().single("utxos")),
            "`utxos` cannot be a namespace: the store has a table of that name"
        );
        assert_eq!(
            why(StateSchema::new().single("pools").multi("pools")),
            "`pools` cannot be a namespace: it is declared twice"
        );
    }
}

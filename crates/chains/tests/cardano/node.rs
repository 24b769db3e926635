//! The store under traits with the method sets of a node's own state store and writer.
//!
//! A node that has such traits puts them on our store with what is here and no more: nothing is copied but what the
//! traits' own types ask for, no namespace is looked up twice, and no error has to be taken apart.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use keyplan_chains::cardano::{
    ChainPoint, Config, Entities, EntityKey, StateEngine, StateStore, StateWriter, TxoRef, Utxos,
};

use crate::support::{Kind, OnFjall, Place, key, slot, txo};

type Value = Vec<u8>;

/// What the node's functions return when they fail.
#[derive(Debug, PartialEq)]
enum NodeError {
    NoNamespace(&'static str),
    Unsupported,
    Internal(String),
}

/// An output as the node shares it between its parts.
#[derive(Clone, Debug, PartialEq)]
struct NodeOutput(u16, Vec<u8>);

/// What a block does to the unspent outputs: the node owns and shares the bodies.
#[derive(Default)]
struct NodeDelta {
    produced: HashMap<TxoRef, Arc<NodeOutput>>,
    consumed: HashMap<TxoRef, Arc<NodeOutput>>,
    recovered: HashMap<TxoRef, Arc<NodeOutput>>,
    undone: HashMap<TxoRef, Arc<NodeOutput>>,
}

trait NodeWriter: Send + Sync {
    fn set_cursor(&self, point: ChainPoint) -> Result<(), NodeError>;
    fn write_entity(&self, ns: &'static str, key: &EntityKey, value: &Value) -> Result<(), NodeError>;
    fn delete_entity(&self, ns: &'static str, key: &EntityKey) -> Result<(), NodeError>;
    fn apply_utxoset(&self, delta: &NodeDelta) -> Result<(), NodeError>;
    fn commit(self) -> Result<(), NodeError>;

    fn save_entity(&self, ns: &'static str, key: &EntityKey, value: Option<&Value>) -> Result<(), NodeError> {
        match value {
            Some(value) => self.write_entity(ns, key, value),
            None => self.delete_entity(ns, key),
        }
    }
}

trait NodeStore: Clone + Send + Sync {
    type EntityIter: Iterator<Item = Result<(EntityKey, Value), NodeError>>;
    type EntityValueIter: Iterator<Item = Result<Value, NodeError>>;
    type UtxoIter: Iterator<Item = Result<(TxoRef, Arc<NodeOutput>), NodeError>>;
    type Writer: NodeWriter;

    fn read_cursor(&self) -> Result<Option<ChainPoint>, NodeError>;
    fn start_writer(&self) -> Result<Self::Writer, NodeError>;
    fn read_entities(&self, ns: &'static str, keys: &[&EntityKey]) -> Result<Vec<Option<Value>>, NodeError>;
    fn iter_entities(&self, ns: &'static str, range: Range<EntityKey>)
    -> Result<Self::EntityIter, NodeError>;
    fn iter_entity_values(
        &self,
        ns: &'static str,
        key: &EntityKey,
    ) -> Result<Self::EntityValueIter, NodeError>;
    fn get_utxos(&self, refs: Vec<TxoRef>) -> Result<HashMap<TxoRef, Arc<NodeOutput>>, NodeError>;
    fn iter_utxos(&self) -> Result<Self::UtxoIter, NodeError>;
    fn amount_of_utxos(&self) -> Result<u64, NodeError>;
}

fn of(ns: &'static str) -> impl FnOnce(keyplan_chains::cardano::StateError) -> NodeError {
    move |error| {
        if error.is_no_namespace() {
            NodeError::NoNamespace(ns)
        } else if error.is_unsupported() {
            NodeError::Unsupported
        } else {
            NodeError::Internal(error.to_string())
        }
    }
}

/// The node's writer is shared, so it has a lock, as the node's own has.
struct Writer<E: StateEngine>(Mutex<StateWriter<E>>);

impl<E: StateEngine> NodeWriter for Writer<E> {
    fn set_cursor(&self, point: ChainPoint) -> Result<(), NodeError> {
        self.0.lock().unwrap().set_cursor(point);
        Ok(())
    }

    fn write_entity(&self, ns: &'static str, key: &EntityKey, value: &Value) -> Result<(), NodeError> {
        self.0.lock().unwrap().write_entity(ns, key, value).map_err(of(ns))
    }

    fn delete_entity(&self, ns: &'static str, key: &EntityKey) -> Result<(), NodeError> {
        self.0.lock().unwrap().delete_entity(ns, key).map_err(of(ns))
    }

    fn apply_utxoset(&self, delta: &NodeDelta) -> Result<(), NodeError> {
        let mut writer = self.0.lock().unwrap();
        for (txo, output) in delta.produced.iter().chain(&delta.recovered) {
            writer.put_utxo(txo, output.0, &output.1).map_err(of("utxos"))?;
        }
        for txo in delta.consumed.keys().chain(delta.undone.keys()) {
            writer.delete_utxo(txo);
        }
        Ok(())
    }

    fn commit(self) -> Result<(), NodeError> {
        self.0.into_inner().unwrap().commit().map_err(of(""))
    }
}

struct EntityIter<E: StateEngine>(Entities<E>, &'static str);

impl<E: StateEngine> Iterator for EntityIter<E> {
    type Item = Result<(EntityKey, Value), NodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.0.next()?;
        Some(row.map(|(key, value)| (key, value.to_vec())).map_err(of(self.1)))
    }
}

struct UtxoIter<E: StateEngine>(Utxos<E>);

impl<E: StateEngine> Iterator for UtxoIter<E> {
    type Item = Result<(TxoRef, Arc<NodeOutput>), NodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let shared = |(txo, output): (TxoRef, keyplan_chains::cardano::Output<_>)| {
            (txo, Arc::new(NodeOutput(output.era(), output.cbor().to_vec())))
        };
        Some(self.0.next()?.map(shared).map_err(of("utxos")))
    }
}

struct Values<E: StateEngine>(E::Values);

impl<E: StateEngine> Iterator for Values<E> {
    type Item = Result<Value, NodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let value = self.0.next()?;
        Some(value.map(|value| value.to_vec()).map_err(|error| NodeError::Internal(error.to_string())))
    }
}

impl<E: StateEngine> NodeStore for StateStore<E> {
    type EntityIter = EntityIter<E>;
    type EntityValueIter = Values<E>;
    type UtxoIter = UtxoIter<E>;
    type Writer = Writer<E>;

    fn read_cursor(&self) -> Result<Option<ChainPoint>, NodeError> {
        self.snapshot().and_then(|snapshot| snapshot.read_cursor()).map_err(of("cursor"))
    }

    fn start_writer(&self) -> Result<Writer<E>, NodeError> {
        Self::start_writer(self).map(|writer| Writer(Mutex::new(writer))).map_err(of(""))
    }

    fn read_entities(&self, ns: &'static str, keys: &[&EntityKey]) -> Result<Vec<Option<Value>>, NodeError> {
        let found = Self::read_entities(self, ns, keys).map_err(of(ns))?;
        Ok(found.into_iter().map(|value| value.map(|value| value.to_vec())).collect())
    }

    fn iter_entities(&self, ns: &'static str, range: Range<EntityKey>) -> Result<EntityIter<E>, NodeError> {
        Self::iter_entities(self, ns, range).map(|rows| EntityIter(rows, ns)).map_err(of(ns))
    }

    fn iter_entity_values(&self, ns: &'static str, key: &EntityKey) -> Result<Values<E>, NodeError> {
        Self::iter_entity_values(self, ns, key).map(Values).map_err(of(ns))
    }

    fn get_utxos(&self, refs: Vec<TxoRef>) -> Result<HashMap<TxoRef, Arc<NodeOutput>>, NodeError> {
        let found = Self::get_utxos(self, &refs).map_err(of("utxos"))?;
        let shared = |(txo, output): (TxoRef, keyplan_chains::cardano::Output<_>)| {
            (txo, Arc::new(NodeOutput(output.era(), output.cbor().to_vec())))
        };
        Ok(found.into_iter().map(shared).collect())
    }

    fn iter_utxos(&self) -> Result<UtxoIter<E>, NodeError> {
        Self::iter_utxos(self).map(UtxoIter).map_err(of("utxos"))
    }

    fn amount_of_utxos(&self) -> Result<u64, NodeError> {
        let mut count = 0;
        for row in NodeStore::iter_utxos(self)? {
            row?;
            count += 1;
        }
        Ok(count)
    }
}

/// A block through the node's traits, on any store that has them.
fn follow<S: NodeStore>(store: &S) {
    let body = Arc::new(NodeOutput(6, vec![0x80]));
    let writer = store.start_writer().unwrap();
    writer.write_entity("accounts", &key(1), &b"one".to_vec()).unwrap();
    writer.save_entity("accounts", &key(2), Some(&b"two".to_vec())).unwrap();
    let produced = HashMap::from([(txo(1, 0), body.clone()), (txo(1, 1), body.clone())]);
    writer.apply_utxoset(&NodeDelta { produced, ..NodeDelta::default() }).unwrap();
    writer.set_cursor(slot(1)).unwrap();
    writer.commit().unwrap();

    let writer = store.start_writer().unwrap();
    writer.save_entity("accounts", &key(1), None).unwrap();
    let consumed = HashMap::from([(txo(1, 0), body.clone())]);
    writer.apply_utxoset(&NodeDelta { consumed, ..NodeDelta::default() }).unwrap();
    writer.set_cursor(slot(2)).unwrap();
    writer.commit().unwrap();

    assert_eq!(store.read_cursor().unwrap(), Some(slot(2)));
    let found = store.read_entities("accounts", &[&key(2), &key(1)]).unwrap();
    assert_eq!(found, [Some(b"two".to_vec()), None]);
    let rows: Vec<_> = store.iter_entities("accounts", key(0)..key(3)).unwrap().collect();
    assert_eq!(rows, [Ok((key(2), b"two".to_vec()))]);
    let unspent = store.get_utxos(vec![txo(1, 0), txo(1, 1)]).unwrap();
    assert_eq!(unspent, HashMap::from([(txo(1, 1), body)]));
    assert_eq!(store.amount_of_utxos().unwrap(), 1);
    assert_eq!(store.iter_entity_values("accounts", &key(2)).err(), Some(NodeError::Unsupported));
}

#[test]
fn a_node_s_own_traits_fit_on_every_engine() {
    follow(&OnFjall::open(&Place::new(), Config::node()));
    follow(&crate::support::OnMemory::open(&Place::new(), Config::node()));
    let redb = crate::support::OnRedb::open(&Place::new(), Config::node());
    follow(&redb);
    let missing = NodeStore::read_entities(&redb, "no-such-thing", &[&key(1)]);
    assert_eq!(missing, Err(NodeError::NoNamespace("no-such-thing")));
}

#[test]
fn a_commit_larger_than_the_usual_limit_is_a_setting() {
    let place = Place::new();
    let commit = |config: Config| {
        let store = OnFjall::open(&place, config);
        let mut writer = store.start_writer().unwrap();
        writer.write_entity("pools", &key(1), &[7; 4096]).unwrap();
        writer.commit()
    };
    commit(Config::node()).unwrap();
    let refused = commit(Config { batch_bytes: Some(1024), ..Config::node() }).unwrap_err();
    assert!(refused.to_string().contains("1024"), "{refused}");
}

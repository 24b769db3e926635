//! Which node has which slot.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use redis::Value;

use super::answer::{array, bytes, count, unexpected};
use super::link::{Dial, Fault, said};
use super::node::Node;
use super::slot::SLOTS;
use super::wire::{Target, write};
use crate::structure::StructureError;

/// The nodes of a server or a cluster.
#[derive(Debug)]
pub(super) struct Topology {
    dial: Arc<Dial>,
    seeds: Vec<Arc<Node>>,
    map: RwLock<Arc<Map>>,
    refreshing: Mutex<()>,
    asked: AtomicUsize,
}

#[derive(Debug, Default)]
struct Map {
    nodes: BTreeMap<(String, u16), Arc<Node>>,
    /// For each slot its master; empty if there is one server only.
    slots: Vec<Option<Arc<Node>>>,
}

impl Topology {
    /// Finds the nodes, and shows that one of them answers.
    pub(super) fn open(dial: &Arc<Dial>) -> Result<Self, StructureError> {
        let seeds: Vec<_> =
            dial.settings.seeds.iter().map(|(host, port)| Node::new(dial, host.clone(), *port)).collect();
        let nodes = seeds.iter().map(|node| ((node.host.clone(), node.port), Arc::clone(node))).collect();
        let map = RwLock::new(Arc::new(Map { nodes, slots: Vec::new() }));
        let topology = Self {
            dial: Arc::clone(dial),
            seeds,
            map,
            refreshing: Mutex::new(()),
            asked: AtomicUsize::new(0),
        };
        if topology.is_cluster() {
            topology.refresh()?;
        } else {
            for node in &topology.seeds {
                match ask(node, &[b"PING"])? {
                    Value::SimpleString(_) => {}
                    other => return Err(unexpected("an answer to PING", &other)),
                }
            }
        }
        Ok(topology)
    }

    pub(super) fn is_cluster(&self) -> bool {
        self.dial.settings.cluster
    }

    /// The node that a command must go to, if it is known.
    pub(super) fn node(&self, target: &Target) -> Option<Arc<Node>> {
        match target {
            Target::Node(node) => Some(Arc::clone(node)),
            Target::Slot(_) if !self.is_cluster() => self.seeds.first().cloned(),
            Target::Slot(slot) => self.map().slots.get(usize::from(*slot))?.clone(),
        }
    }

    /// The node at an address that another one named.
    pub(super) fn named(&self, host: String, port: u16) -> Arc<Node> {
        let known = self.map().nodes.get(&(host.clone(), port)).cloned();
        known.unwrap_or_else(|| Node::new(&self.dial, host, port))
    }

    /// The nodes that together hold every key, each once.
    pub(super) fn masters(&self) -> Vec<Arc<Node>> {
        if !self.is_cluster() {
            return self.seeds.clone();
        }
        let mut masters: Vec<Arc<Node>> = Vec::new();
        for node in self.map().slots.iter().flatten() {
            if !masters.iter().any(|known| Arc::ptr_eq(known, node)) {
                masters.push(Arc::clone(node));
            }
        }
        masters
    }

    /// Learns from any node that answers which of them has which slot.
    pub(super) fn refresh(&self) -> Result<(), StructureError> {
        let before = self.map();
        let guard = self.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&before, &self.map()) {
            // Someone else did it while this waited.
            return Ok(());
        }
        let mut last = None;
        let nodes: Vec<_> = before.nodes.values().chain(&self.seeds).collect();
        // Another one is asked first each time: the one that was may be the one that does not answer.
        let first = self.asked.fetch_add(1, Ordering::Relaxed) % nodes.len().max(1);
        for node in nodes.iter().cycle().skip(first).take(nodes.len()) {
            match ask(node, &[b"CLUSTER", b"SLOTS"]).and_then(|slots| self.read(node, slots, &before)) {
                Ok(map) => {
                    *self.map.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(map);
                    drop(guard);
                    return Ok(());
                }
                // A node that answers and says no tells more than one that cannot be reached.
                Err(error) if matches!(last, Some(StructureError::Refused { .. })) => drop(error),
                Err(error) => last = Some(error),
            }
        }
        drop(guard);
        Err(last.unwrap_or_else(|| Fault::Unreachable("there is no node".to_owned(), None).into()))
    }

    fn map(&self) -> Arc<Map> {
        Arc::clone(&self.map.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads `[[first, last, [host, port, …], [replica's host, port, …]…]…]`.
    fn read(&self, asked: &Node, answer: Value, before: &Map) -> Result<Map, StructureError> {
        let mut map = Map { nodes: BTreeMap::new(), slots: vec![None; usize::from(SLOTS)] };
        for range in array(answer)? {
            let mut parts = array(range)?.into_iter();
            let mut slot = || {
                let found = parts.next().unwrap_or_default();
                let slot = u16::try_from(count(&found)?).ok().filter(|slot| *slot < SLOTS);
                slot.ok_or_else(|| unexpected("a slot", &found))
            };
            let (first, last) = (slot()?, slot()?);
            let mut master = None;
            for place in parts {
                let mut place = array(place)?.into_iter();
                let host = match place.next().unwrap_or_default() {
                    Value::Nil => String::new(),
                    host => String::from_utf8_lossy(&bytes(host)?).into_owned(),
                };
                // A node that does not know its own name is where it was asked.
                let host = if host.is_empty() { asked.host.clone() } else { host };
                let port = place.next().unwrap_or_default();
                let port = u16::try_from(count(&port)?).map_err(|_| unexpected("a port", &port))?;
                let address = (host, port);
                let node = before.nodes.get(&address).cloned();
                let node = node.unwrap_or_else(|| Node::new(&self.dial, address.0.clone(), port));
                let node = Arc::clone(map.nodes.entry(address).or_insert(node));
                master.get_or_insert(node);
            }
            for place in map.slots.iter_mut().take(usize::from(last) + 1).skip(usize::from(first)) {
                place.clone_from(&master);
            }
        }
        Ok(map)
    }
}

/// One command to one node, once.
fn ask(node: &Arc<Node>, words: &[&[u8]]) -> Result<Value, StructureError> {
    let mut bytes = Vec::new();
    write(&mut bytes, words);
    let mut lease = node.lease()?;
    lease.link.send(&bytes)?;
    let answer = lease.link.receive()?;
    lease.finish();
    match answer {
        Value::ServerError(error) => Err(StructureError::Refused { what: said(&error) }),
        answer => Ok(answer),
    }
}

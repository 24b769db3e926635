//! Batches of commands to the nodes they belong to, and back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::{ServerError, ServerErrorKind, Value};

use super::link::{Dial, Fault, said};
use super::node::{Lease, Node};
use super::script;
use super::settings::RedisSettings;
use super::topology::Topology;
use super::wire::{Batch, Target, write};
use crate::structure::StructureError;

/// A server or a cluster that batches of commands are sent to.
#[derive(Debug)]
pub(super) struct Client {
    topology: Topology,
    dial: Arc<Dial>,
}

/// Whether a command may be sent twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It only reads: it is sent again if the connection breaks.
    Read,
    /// It changes something: if the connection breaks, it may have been done.
    Write,
}

/// What came of a command.
pub(super) type Outcome = Result<Value, Failure>;

/// Why a command has no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server said no.
    Server(ServerError),
    /// Something on the way to it.
    Error(StructureError),
    /// A command before it on the same connection has none, and says why.
    Unanswered,
}

impl Failure {
    /// The error to report, if the server's own was not of interest.
    pub(super) fn error(self) -> StructureError {
        match self {
            Self::Server(error) => StructureError::Refused { what: said(&error) },
            Self::Error(error) => error,
            Self::Unanswered => StructureError::Connection {
                what: "a command before this one has no answer".to_owned(),
                source: None,
            },
        }
    }
}

/// The commands of a batch that go over one connection.
struct Group {
    node: Arc<Node>,
    asking: bool,
    commands: Vec<usize>,
    lease: Option<Lease>,
    loads: bool,
    waits: bool,
}

/// A command that was certainly not done, or that may be done twice, and is sent again.
struct Again {
    at: usize,
    to: Option<(Arc<Node>, bool)>,
    why: Failure,
}

/// What a round of sending and receiving leaves to do.
#[derive(Default)]
struct Rest {
    again: Vec<Again>,
    /// The nodes have changed.
    moved: bool,
    /// It takes time for this to get better.
    slow: bool,
}

/// How often commands are sent again at once, before this waits a little each time.
const AT_ONCE: u32 = 8;

impl Client {
    pub(super) fn open(settings: RedisSettings) -> Result<Self, StructureError> {
        let dial = Arc::new(Dial::new(settings)?);
        Ok(Self { topology: Topology::open(&dial)?, dial })
    }

    pub(super) fn settings(&self) -> &RedisSettings {
        &self.dial.settings
    }

    pub(super) fn is_cluster(&self) -> bool {
        self.topology.is_cluster()
    }

    /// The nodes that together hold every key.
    pub(super) fn masters(&self) -> Vec<Arc<Node>> {
        self.topology.masters()
    }

    /// Sends a command that only reads.
    pub(super) fn read(&self, batch: &Batch) -> Outcome {
        self.run(batch, Effect::Read).pop().unwrap_or(Err(Failure::Unanswered))
    }

    /// Sends commands in one round trip, and returns what came of each.
    ///
    /// What was certainly not done is tried again while [`RedisSettings::patience`] lasts.
    pub(super) fn run(&self, batch: &Batch, effect: Effect) -> Vec<Outcome> {
        if batch.is_empty() {
            return Vec::new();
        }
        let mut start = None;
        let mut outcomes: Vec<Option<Outcome>> = std::iter::repeat_with(|| None).take(batch.len()).collect();
        let mut rest = Rest::default();
        let mut groups = self.groups((0..batch.len()).map(|at| (at, None)), batch, &mut rest);
        let mut pause = Pause::new();
        for round in 0_u32.. {
            self.round(&mut groups, batch, effect, &mut outcomes, &mut rest);
            let done = std::mem::take(&mut rest);
            if done.again.is_empty() {
                break;
            }
            let slow = done.slow || round >= AT_ONCE;
            let tried = start.get_or_insert_with(Instant::now).elapsed();
            if slow && tried >= self.settings().patience {
                for again in done.again {
                    set(&mut outcomes, again.at, Err(again.why));
                }
                break;
            }
            if slow {
                pause.wait();
            }
            if done.moved && self.is_cluster() {
                // If no node answers now, one may in the next round.
                let _ = self.topology.refresh();
            }
            let again = done.again.into_iter().map(|again| (again.at, again.to));
            groups = self.groups(again, batch, &mut rest);
        }
        outcomes.into_iter().map(|outcome| outcome.unwrap_or(Err(Failure::Unanswered))).collect()
    }

    /// Sorts commands by the connection they go over. Connections are taken in the order of nodes, so that two batches
    /// never wait for each other's.
    fn groups(
        &self,
        commands: impl Iterator<Item = (usize, Option<(Arc<Node>, bool)>)>,
        batch: &Batch,
        rest: &mut Rest,
    ) -> Vec<Group> {
        let group = |node: Arc<Node>, asking, commands| Group {
            node,
            asking,
            commands,
            lease: None,
            loads: false,
            waits: false,
        };
        if !self.is_cluster()
            && let Some(node) = self.topology.node(&Target::Slot(0))
        {
            return vec![group(node, false, commands.map(|(at, _)| at).collect())];
        }
        let mut groups: BTreeMap<(String, u16, bool), Group> = BTreeMap::new();
        for (at, to) in commands {
            let to = to.or_else(|| Some((self.topology.node(batch.target(at)?)?, false)));
            let Some((node, asking)) = to else {
                let why = Fault::Unreachable("a slot of the cluster has no master".to_owned(), None);
                rest.again.push(Again { at, to: None, why: Failure::Error(why.into()) });
                rest.moved = true;
                rest.slow = true;
                continue;
            };
            let name = (node.host.clone(), node.port, asking);
            groups.entry(name).or_insert_with(|| group(node, asking, Vec::new())).commands.push(at);
        }
        groups.into_values().collect()
    }

    /// Sends every group, then receives the answers of every group.
    fn round(
        &self,
        groups: &mut Vec<Group>,
        batch: &Batch,
        effect: Effect,
        outcomes: &mut [Option<Outcome>],
        rest: &mut Rest,
    ) {
        for group in groups.iter_mut() {
            match group.node.lease() {
                Ok(lease) => group.lease = Some(lease),
                Err(fault) => group.fail(0, fault, effect, outcomes, rest),
            }
        }
        let replicas = if effect == Effect::Write { self.settings().replicas } else { 0 };
        for group in groups.iter_mut() {
            if let Err(fault) = group.send(batch, replicas, self.settings().timeout) {
                group.lease = None;
                group.fail(0, fault, effect, outcomes, rest);
            }
        }
        for mut group in groups.drain(..) {
            let Some(mut lease) = group.lease.take() else { continue };
            match self.receive(&group, &mut lease, effect, outcomes, rest) {
                Ok(()) => lease.finish(),
                Err((answered, fault)) => {
                    drop(lease);
                    group.fail(answered, fault, effect, outcomes, rest);
                }
            }
        }
    }

    /// Receives the answers of a group, or tells how many there were before it went wrong.
    fn receive(
        &self,
        group: &Group,
        lease: &mut Lease,
        effect: Effect,
        outcomes: &mut [Option<Outcome>],
        rest: &mut Rest,
    ) -> Result<(), (usize, Fault)> {
        if group.loads {
            for _ in 0..script::COUNT {
                if let Value::ServerError(error) = lease.link.receive().map_err(|fault| (0, fault))? {
                    return Err((0, Fault::Refused(format!("scripts: {}", said(&error)))));
                }
            }
            lease.link.scripts = true;
        }
        for (index, at) in group.commands.iter().enumerate() {
            if group.asking {
                lease.link.receive().map_err(|fault| (index, fault))?;
            }
            match lease.link.receive().map_err(|fault| (index, fault))? {
                Value::ServerError(error) => self.said_no(*at, error, lease, outcomes, rest),
                value => set(outcomes, *at, Ok(value)),
            }
        }
        if group.waits && effect == Effect::Write {
            let answer = lease.link.receive().map_err(|fault| (0, fault))?;
            let asked = self.settings().replicas;
            if !matches!(answer, Value::Int(count) if count >= i64::from(asked)) {
                let what = format!(
                    "the write was done, but fewer than {asked} replicas have it: it may be lost with its master"
                );
                // A group is made with its first command.
                if let Some(first) = group.commands.first() {
                    set(outcomes, *first, Err(Failure::Error(StructureError::Refused { what })));
                }
            }
        }
        if lease.link.has_more() {
            // It cannot be told which answer is whose: none of them counts.
            return Err((0, Fault::Garbage("the server sent more answers than it was asked for".to_owned())));
        }
        Ok(())
    }

    /// Decides whether a command that was refused is sent again, and where to.
    fn said_no(
        &self,
        at: usize,
        error: ServerError,
        lease: &mut Lease,
        outcomes: &mut [Option<Outcome>],
        rest: &mut Rest,
    ) {
        let cluster = self.is_cluster();
        let to = match error.kind() {
            Some(kind @ (ServerErrorKind::Moved | ServerErrorKind::Ask)) if cluster => {
                let asking = kind == ServerErrorKind::Ask;
                rest.moved |= !asking;
                error
                    .details()
                    .and_then(address)
                    .map(|(host, port)| (self.topology.named(host, port), asking))
            }
            Some(ServerErrorKind::NoScript) => {
                // They were flushed meanwhile.
                lease.link.scripts = false;
                None
            }
            Some(ServerErrorKind::BusyLoading | ServerErrorKind::MasterDown) => {
                rest.slow = true;
                None
            }
            Some(ServerErrorKind::TryAgain | ServerErrorKind::ClusterDown | ServerErrorKind::ReadOnly)
                if cluster =>
            {
                rest.slow = true;
                rest.moved = true;
                None
            }
            _ => return set(outcomes, at, Err(Failure::Server(error))),
        };
        rest.again.push(Again { at, to, why: Failure::Server(error) });
    }
}

impl Group {
    /// Sends the commands, and before and after them what they need.
    fn send(&mut self, batch: &Batch, replicas: u32, timeout: Duration) -> Result<(), Fault> {
        let Some(lease) = &mut self.lease else { return Ok(()) };
        self.loads = batch.has_scripts() && !lease.link.scripts;
        self.waits = replicas > 0;
        if !self.loads && !self.waits && self.commands.len() == batch.len() && !self.asking {
            return lease.link.send(batch.bytes());
        }
        let mut bytes = Vec::new();
        if self.loads {
            for script in script::all() {
                write(&mut bytes, &[b"SCRIPT", b"LOAD", script.text()]);
            }
        }
        for at in &self.commands {
            if self.asking {
                write(&mut bytes, &[b"ASKING"]);
            }
            bytes.extend_from_slice(batch.command(*at));
        }
        if self.waits {
            // The server gives up before this does.
            let millis = (timeout / 2).as_millis().max(1).to_string();
            write(&mut bytes, &[b"WAIT", replicas.to_string().as_bytes(), millis.as_bytes()]);
        }
        lease.link.send(&bytes)
    }

    /// Decides about the commands that have no answer.
    fn fail(
        &self,
        answered: usize,
        fault: Fault,
        effect: Effect,
        outcomes: &mut [Option<Outcome>],
        rest: &mut Rest,
    ) {
        let again = match &fault {
            Fault::Unreachable(..) => true,
            Fault::Broken(..) => effect == Effect::Read,
            Fault::Late(_) | Fault::Garbage(_) | Fault::Refused(_) => false,
        };
        let mut why = Some(Failure::Error(fault.into()));
        for at in self.commands.iter().skip(answered) {
            let why = why.take().unwrap_or(Failure::Unanswered);
            if again {
                rest.again.push(Again { at: *at, to: None, why });
                rest.slow = true;
                rest.moved = true;
            } else {
                set(outcomes, *at, Err(why));
            }
        }
    }
}

fn set(outcomes: &mut [Option<Outcome>], at: usize, outcome: Outcome) {
    if let Some(place) = outcomes.get_mut(at) {
        *place = Some(outcome);
    }
}

/// The address in `slot host:port`.
fn address(details: &str) -> Option<(String, u16)> {
    let (_, address) = details.trim().split_once(' ')?;
    let (host, port) = address.rsplit_once(':')?;
    let port = port.parse().ok()?;
    (!host.is_empty()).then(|| (host.trim_matches(['[', ']']).to_owned(), port))
}

/// Waits that become longer, and differ between clients.
struct Pause(Duration);

impl Pause {
    const fn new() -> Self {
        Self(Duration::from_millis(5))
    }

    fn wait(&mut self) {
        const LONGEST: Duration = Duration::from_millis(500);
        let noise = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |time| time.subsec_nanos() / 64 % 512);
        std::thread::sleep(self.0 / 2 + self.0 * noise / 1024);
        self.0 = (self.0 * 2).min(LONGEST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirection_names_a_node() {
        assert_eq!(address("3999 127.0.0.1:6381"), Some(("127.0.0.1".to_owned(), 6381)));
        assert_eq!(address("3999 [::1]:6381"), Some(("::1".to_owned(), 6381)));
        assert_eq!(["3999", "3999 :1", "3999 h:x", ""].map(address), [None, None, None, None]);
    }
}

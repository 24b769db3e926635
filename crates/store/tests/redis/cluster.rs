//! A cluster of three masters and three replicas.

use std::time::{Duration, Instant};

use crate::server::{Server, free_port};

pub(crate) struct Cluster {
    pub(crate) servers: Vec<Server>,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        let servers: Vec<Server> = (0..6).map(|_| node()).collect();
        let bus: Vec<u16> = servers.iter().map(|server| bus_port(server.port)).collect();
        for (at, server) in servers.iter().enumerate() {
            if at > 0 {
                let first = servers[0].port.to_string();
                tell(server, &["CLUSTER", "MEET", "127.0.0.1", &first, &bus[0].to_string()]);
            }
            if at < 3 {
                let (low, high) = [(0, 5460), (5461, 10922), (10923, 16383)][at];
                tell(server, &["CLUSTER", "ADDSLOTSRANGE", &low.to_string(), &high.to_string()]);
            }
        }
        let ids: Vec<String> = servers.iter().map(|server| tell(server, &["CLUSTER", "MYID"])).collect();
        until("the nodes know one another", || {
            servers.iter().all(|server| {
                let nodes = tell(server, &["CLUSTER", "NODES"]);
                ids.iter().all(|id| nodes.contains(id.as_str())) && !nodes.contains("handshake")
            })
        });
        for at in 3..6 {
            until("a replica follows", || {
                let told: redis::RedisResult<String> =
                    ask(&servers[at], &["CLUSTER", "REPLICATE", &ids[at - 3]]);
                told.is_ok()
            });
        }
        let cluster = Self { servers };
        cluster.await_replicas();
        cluster
    }

    /// The URL, with some of the nodes.
    pub(crate) fn url(&self) -> String {
        format!("redis-cluster://{},{}", self.servers[0].address(), self.servers[4].address())
    }

    fn await_replicas(&self) {
        until("every slot has a master and a replica", || {
            self.servers.iter().enumerate().all(|(at, server)| {
                let state = tell(server, &["CLUSTER", "INFO"]);
                let slots: redis::Value = ask(server, &["CLUSTER", "SLOTS"]).unwrap();
                let redis::Value::Array(slots) = slots else { return false };
                let whole = slots.len() == 3
                    && slots
                        .iter()
                        .all(|range| matches!(range, redis::Value::Array(parts) if parts.len() == 4));
                let linked =
                    at < 3 || tell(server, &["INFO", "replication"]).contains("master_link_status:up");
                state.contains("cluster_state:ok") && whole && linked
            })
        });
    }
}

fn node() -> Server {
    for _ in 0..5 {
        let port = free_port().unwrap();
        let texts = [port.to_string(), bus_port(port).to_string()];
        let started = Server::start_with(
            port,
            &[
                "--port",
                &texts[0],
                "--cluster-port",
                &texts[1],
                "--cluster-enabled",
                "yes",
                "--cluster-node-timeout",
                "1000",
                "--repl-diskless-sync-delay",
                "0",
            ],
        );
        match started {
            Ok(server) => return server,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => panic!("{error}"),
            Err(_) => {}
        }
    }
    panic!("no port for a node of a cluster");
}

/// The port that the nodes talk over: from the range that no port of a program's choice comes from.
fn bus_port(port: u16) -> u16 {
    10_000 + port % 20_000
}

fn ask<T: redis::FromRedisValue>(server: &Server, words: &[&str]) -> redis::RedisResult<T> {
    let client = redis::Client::open(format!("redis://{}", server.address()))?;
    let mut connection = client.get_connection_with_timeout(Duration::from_secs(5))?;
    let mut command = redis::cmd(words[0]);
    for word in &words[1..] {
        command.arg(*word);
    }
    command.query(&mut connection)
}

pub(crate) fn tell(server: &Server, words: &[&str]) -> String {
    ask(server, words).unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_mins(1), "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(50));
    }
}

use std::fmt;
use std::time::Duration;

use keyplan_plan::model::Plan;
use redis::ConnectionInfo;

use super::names::Spread;
use crate::structure::StructureError;

/// The variable of the environment that holds the URL of a server.
pub const URL_VARIABLE: &str = "KEYPLAN_URL";

/// Where a server is, and how it is used.
///
/// The address is a URL:
///
/// | URL | |
/// |---|---|
/// | `redis://user:password@host:6379/0` | one server, and a database of it; everything but the host can be left out |
/// | `rediss://host` | the same with TLS |
/// | `redis-cluster://user:password@a:6379,b:6379` | a cluster, with some of its nodes: the others are found |
/// | `rediss-cluster://a,b` | the same with TLS |
#[derive(Clone)]
pub struct RedisSettings {
    pub(super) seeds: Vec<(String, u16)>,
    pub(super) cluster: bool,
    pub(super) tls: bool,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    pub(super) database: i64,
    pub(super) connect_timeout: Duration,
    pub(super) timeout: Duration,
    pub(super) patience: Duration,
    pub(super) connections: usize,
    pub(super) largest_answer: u64,
    pub(super) replicas: u32,
    pub(super) shared_queues: Vec<Vec<u8>>,
    pub(super) spread: Spread,
    pub(super) roots: Option<Vec<u8>>,
    pub(super) identity: Option<(Vec<u8>, Vec<u8>)>,
}

impl RedisSettings {
    /// Settings for the server that a URL names.
    pub fn new(url: &str) -> Result<Self, StructureError> {
        let (scheme, rest) = url.split_once("://").ok_or_else(|| unusable("the URL has no scheme"))?;
        let (cluster, tls) = match scheme {
            "redis" => (false, false),
            "rediss" => (false, true),
            "redis-cluster" => (true, false),
            "rediss-cluster" => (true, true),
            _ => {
                return Err(unusable(
                    "the URL has none of the schemes redis, rediss, redis-cluster and rediss-cluster",
                ));
            }
        };
        let (who, place) = rest.rsplit_once('@').map_or((None, rest), |(who, place)| (Some(who), place));
        let (hosts, path) = place.split_once('/').map_or((place, ""), |(hosts, path)| (hosts, path));
        // No part of the URL is shown: what looks like a host may be a password whose `@` was forgotten.
        let no_host = || {
            unusable(format!(
                "what follows `{scheme}://` is not `HOST:PORT/DATABASE`, or that after `USER:PASSWORD@`"
            ))
        };
        if who.is_some_and(|who| who.contains(['/', '?', '#'])) {
            return Err(no_host());
        }
        let mut seeds = Vec::new();
        let mut settings = None;
        for host in hosts.split(',') {
            if host.is_empty() {
                return Err(unusable("the URL has no host"));
            }
            let url = match who {
                Some(who) => format!("redis://{who}@{host}/{path}"),
                None => format!("redis://{host}/{path}"),
            };
            let info: ConnectionInfo = url.parse().map_err(|_| no_host())?;
            let redis::ConnectionAddr::Tcp(host, port) = info.addr() else { return Err(no_host()) };
            seeds.push((host.clone(), *port));
            settings = Some(info.redis_settings().clone());
        }
        if !cluster && seeds.len() > 1 {
            return Err(unusable("several hosts are a cluster: its scheme is redis-cluster"));
        }
        let settings = settings.ok_or_else(|| unusable("the URL has no host"))?;
        if cluster && settings.db() != 0 {
            return Err(unusable("a cluster has no databases but 0"));
        }
        if settings.username().is_some() && settings.password().is_none() {
            return Err(unusable("the URL has a user and no password"));
        }
        Ok(Self {
            seeds,
            cluster,
            tls,
            user: settings.username().map(str::to_owned),
            password: settings.password().map(str::to_owned),
            database: settings.db(),
            connect_timeout: Duration::from_secs(2),
            timeout: Duration::from_secs(5),
            patience: Duration::from_secs(20),
            connections: 16,
            largest_answer: 1 << 30,
            replicas: 0,
            shared_queues: Vec::new(),
            spread: Spread::default(),
            roots: None,
            identity: None,
        })
    }

    /// Settings for the server that the variable [`URL_VARIABLE`] of the environment names: a password in an argument is
    /// seen by everybody who lists processes.
    pub fn from_environment() -> Result<Self, StructureError> {
        match std::env::var(URL_VARIABLE) {
            Ok(url) => Self::new(&url),
            Err(_) => Err(unusable(format!("the variable `{URL_VARIABLE}` is not set"))),
        }
    }

    /// How long making a connection may take: 2 seconds by default.
    #[must_use]
    pub const fn connect_timeout(mut self, time: Duration) -> Self {
        self.connect_timeout = time;
        self
    }

    /// How long the answer to a command may take, after that to the one before it: 5 seconds by default.
    #[must_use]
    pub const fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time;
        self
    }

    /// How long a command is tried again that was certainly not done: 20 seconds by default.
    ///
    /// Such are commands for a server that cannot be reached, and for a cluster that is choosing another master. A read
    /// is tried again too if the connection breaks; a write is not, for it may have been done.
    #[must_use]
    pub const fn patience(mut self, time: Duration) -> Self {
        self.patience = time;
        self
    }

    /// How many connections to a node may be open at a time, at least 1: 16 by default.
    #[must_use]
    pub const fn connections(mut self, most: usize) -> Self {
        self.connections = if most == 0 { 1 } else { most };
        self
    }

    /// How many bytes an answer may have: 1 GiB by default. A longer one is an error, and ends the connection.
    #[must_use]
    pub const fn largest_answer(mut self, bytes: u64) -> Self {
        self.largest_answer = bytes;
        self
    }

    /// How many replicas must have a write before it is acknowledged: none by default.
    ///
    /// Without this, a master that fails takes with it what it acknowledged within about the last second. With one
    /// replica for each master and `1` here, a write that was acknowledged is on the replica that takes over.
    #[must_use]
    pub const fn replicas(mut self, count: u32) -> Self {
        self.replicas = count;
        self
    }

    /// Declares that keys with a prefix are queues that another program uses too, such as `q:` of 1Sat.
    ///
    /// Items that wait in such a queue are a sorted set under the queue's own key. Any other queue has a mark there.
    #[must_use]
    pub fn shared_queues(mut self, prefix: impl Into<Vec<u8>>) -> Self {
        self.shared_queues.push(prefix.into());
        self
    }

    /// Takes over what a plan declares: the hashes that are spread over buckets, such as `h:sats` of 1Sat in a cluster.
    ///
    /// A field of such a hash `key` lies in the hash `key{n}`, where `n` is the CRC-16 of the field modulo the number of
    /// buckets; so each bucket has a slot of its own. The number cannot be changed while there are fields.
    #[must_use]
    pub fn plan(mut self, plan: &Plan) -> Self {
        for family in plan.spaces.iter().flat_map(|space| &space.families) {
            if let (Some(buckets), Some(key)) = (family.spread, family.key.constant()) {
                self.spread.insert(key, buckets);
            }
        }
        self
    }

    /// The certificates that a server's own must come from, as PEM: those of the system by default.
    #[must_use]
    pub fn tls_roots(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.roots = Some(pem.into());
        self
    }

    /// A certificate and its key that the client shows, as PEM.
    #[must_use]
    pub fn tls_identity(mut self, certificate: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        self.identity = Some((certificate.into(), key.into()));
        self
    }

    pub(super) fn check(&self) -> Result<(), StructureError> {
        if self.timeout.is_zero() || self.connect_timeout.is_zero() {
            return Err(unusable("a timeout of 0"));
        }
        Ok(())
    }
}

impl fmt::Debug for RedisSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisSettings")
            .field("seeds", &self.seeds)
            .field("cluster", &self.cluster)
            .field("tls", &self.tls)
            .field("user", &self.user)
            .field("timeout", &self.timeout)
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}

#[cold]
pub(super) fn unusable(what: impl Into<String>) -> StructureError {
    StructureError::Settings { what: what.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, expected: &str) {
        let found = match RedisSettings::new(url) {
            Ok(found) => format!(
                "{:?} cluster {} tls {} user {:?} password {:?} database {}",
                found.seeds, found.cluster, found.tls, found.user, found.password, found.database
            ),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{url}");
    }

    #[test]
    fn a_url_names_hosts_user_and_database() {
        check("redis://h", r#"[("h", 6379)] cluster false tls false user None password None database 0"#);
        check(
            "rediss://u:p%40s@h:1/2",
            r#"[("h", 1)] cluster false tls true user Some("u") password Some("p@s") database 2"#,
        );
        check(
            "redis-cluster://:pw@a:1,b:2",
            r#"[("a", 1), ("b", 2)] cluster true tls false user None password Some("pw") database 0"#,
        );
        check(
            "redis://[::1]:5",
            r#"[("::1", 5)] cluster false tls false user None password None database 0"#,
        );
    }

    #[test]
    fn a_url_that_cannot_be_used_is_named_without_its_password() {
        check("localhost", "settings that cannot be used: the URL has no scheme");
        check("redis://", "settings that cannot be used: the URL has no host");
        for url in
            ["redis://:secret@h:x", "redis://u:secret", "redis://u:p@secret/word", "redis://h/0?x=secret:y@:"]
        {
            let what = "what follows `redis://` is not `HOST:PORT/DATABASE`, or that after `USER:PASSWORD@`";
            check(url, &format!("settings that cannot be used: {what}"));
        }
        check(
            "redis://a,b",
            "settings that cannot be used: several hosts are a cluster: its scheme is redis-cluster",
        );
        check("redis-cluster://a/3", "settings that cannot be used: a cluster has no databases but 0");
        check("redis://u@h", "settings that cannot be used: the URL has a user and no password");
        check(
            "http://h",
            "settings that cannot be used: \
             the URL has none of the schemes redis, rediss, redis-cluster and rediss-cluster",
        );
        let shown = format!("{:?}", RedisSettings::new("redis://u:secret@h").unwrap());
        assert!(!shown.contains("secret"), "{shown}");
    }
}

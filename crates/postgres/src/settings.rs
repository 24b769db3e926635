use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use keyplan_store::engine::kit::unescaped;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

/// Where a database is, and how it is used.
///
/// The address is a URL, `postgres://user:password@host:5432/database`; everything but the host can be left out, and
/// several hosts can be named (`host1,host2`), of which the one that takes writes is found. After a `?` may be the
/// options of PostgreSQL's own clients, and two of this one:
///
/// | option | |
/// | --- | --- |
/// | `schema=NAME` | the schema that holds the tables, `keyplan` by default |
/// | `sslmode=disable` or `require` | without or with TLS; by default, TLS is used for every host but this machine |
/// | `sslrootcert=FILE` | the certificates, as PEM, that the server's must come from: those of the system by default |
///
/// With TLS the server's certificate and its name are always checked.
#[derive(Clone)]
pub struct PostgresSettings {
    pub(crate) config: Config,
    pub(crate) replica: Option<Config>,
    pub(crate) schema: String,
    pub(crate) roots: Option<Vec<u8>>,
    pub(crate) connections: usize,
    pub(crate) snapshots: usize,
    pub(crate) snapshot_age: Duration,
    pub(crate) limit: Duration,
    pub(crate) patience: Duration,
    pub(crate) batch_bytes: u64,
    pub(crate) alone: bool,
}

/// Settings that name no database.
///
/// No part of a URL is ever shown: what looks like a host may be a password whose `@` was forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError(String);

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}

impl PostgresSettings {
    /// Settings for the database that a URL names.
    pub fn new(url: &str) -> Result<Self, SettingsError> {
        let mut own = Own::default();
        let config = own.parse(url)?;
        let schema = own.schema.unwrap_or_else(|| "keyplan".to_owned());
        checked_schema(&schema)?;
        Ok(Self {
            config,
            replica: None,
            schema,
            roots: own.roots,
            connections: 4,
            snapshots: 32,
            snapshot_age: Duration::from_mins(5),
            limit: Duration::from_mins(1),
            patience: Duration::from_secs(20),
            batch_bytes: 64 << 20,
            alone: false,
        })
    }

    /// Reads snapshots from a replica, which this URL names, as far as it has what this handle committed: if it has not
    /// come that far, the snapshot is taken from the primary.
    pub fn read_url(mut self, url: &str) -> Result<Self, SettingsError> {
        let mut own = Own::default();
        let mut replica = own.parse(url)?;
        replica.target_session_attrs(TargetSessionAttrs::Any);
        self.replica = Some(replica);
        Ok(self)
    }

    /// The schema that holds the tables: `keyplan` by default. A name of 1 to 63 bytes.
    #[must_use]
    pub fn schema(mut self, name: &str) -> Self {
        name.clone_into(&mut self.schema);
        self
    }

    /// The certificates that a server's own must come from, as PEM: those of the system by default.
    #[must_use]
    pub fn tls_roots(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.roots = Some(pem.into());
        self
    }

    /// How many snapshots may be open at a time, each with a connection of its own: 32 by default.
    #[must_use]
    pub const fn snapshots(mut self, most: usize) -> Self {
        self.snapshots = if most == 0 { 1 } else { most };
        self
    }

    /// The age at which a snapshot ends: 5 minutes by default. An open one keeps the server from giving back old rows.
    #[must_use]
    pub const fn snapshot_age(mut self, age: Duration) -> Self {
        self.snapshot_age = age;
        self
    }

    /// How long one call may take: 60 seconds by default.
    #[must_use]
    pub const fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// How long a server that cannot be reached is tried again, where nothing can have been done: 20 seconds by default.
    #[must_use]
    pub const fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The most bytes of keys and values in one batch: 64 MiB by default.
    #[must_use]
    pub const fn batch_bytes(mut self, bytes: u64) -> Self {
        self.batch_bytes = bytes;
        self
    }

    /// The only writer: opening fences every earlier writer, and any later one fences this.
    #[must_use]
    pub const fn alone(mut self) -> Self {
        self.alone = true;
        self
    }

    /// What is connected to, for people: hosts, database and schema, and never a user or a password.
    pub fn shown(&self) -> String {
        let hosts: Vec<String> = self.config.get_hosts().iter().map(shown_host).collect();
        let database = self.config.get_dbname().unwrap_or("");
        format!("postgres://{}/{database}?schema={}", hosts.join(","), self.schema)
    }

    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        checked_schema(&self.schema)
    }

    /// What TLS is spoken with.
    pub(crate) fn tls(&self) -> Result<ClientConfig, SettingsError> {
        let mut roots = RootCertStore::empty();
        if let Some(pem) = &self.roots {
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate =
                    certificate.map_err(|_| unusable("the certificates of the server are not PEM"))?;
                roots.add(certificate).map_err(|_| unusable("a certificate cannot be a root"))?;
            }
        } else {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|_| unusable("TLS cannot be spoken"))?;
        Ok(config.with_root_certificates(roots).with_no_client_auth())
    }
}

/// The options of a URL that are not PostgreSQL's own.
#[derive(Default)]
struct Own {
    schema: Option<String>,
    roots: Option<Vec<u8>>,
}

impl Own {
    fn parse(&mut self, url: &str) -> Result<Config, SettingsError> {
        let not_a_url = || {
            unusable(
                "the URL is not `postgres://USER:PASSWORD@HOST:PORT/DATABASE?OPTIONS`; letters such as `@` and `/` in a \
                 password are written `%40` and `%2F`",
            )
        };
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(unusable("the URL has none of the schemes postgres and postgresql"));
        }
        let (base, options) = url.split_once('?').map_or((url, ""), |(base, options)| (base, options));
        let mut kept = Vec::new();
        let mut mode = None;
        for option in options.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            match name {
                "schema" => self.schema = Some(unescaped(value).ok_or_else(not_a_url)?),
                "sslrootcert" => {
                    let path = unescaped(value).ok_or_else(not_a_url)?;
                    let read = std::fs::read(Path::new(&path));
                    self.roots =
                        Some(read.map_err(|_| unusable("the file that `sslrootcert` names cannot be read"))?);
                }
                "sslmode" => {
                    mode = Some(match value {
                        "disable" => SslMode::Disable,
                        "require" | "verify-ca" | "verify-full" => SslMode::Require,
                        _ => return Err(unusable("`sslmode` is `disable` or `require`")),
                    });
                }
                _ => kept.push(option),
            }
        }
        let rest = if kept.is_empty() { base.to_owned() } else { format!("{base}?{}", kept.join("&")) };
        let mut config: Config = rest.parse().map_err(|_| not_a_url())?;
        if config.get_hosts().is_empty() {
            return Err(unusable("the URL has no host"));
        }
        let here = config.get_hosts().iter().all(is_here);
        config.ssl_mode(mode.unwrap_or(if here { SslMode::Disable } else { SslMode::Require }));
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(5));
        }
        if config.get_application_name().is_none() {
            config.application_name("keyplan");
        }
        // A page and a lookup go by the index, whatever the planner thinks of a table that was never analysed.
        let options = config.get_options().unwrap_or("").to_owned();
        config.options(format!(
            "{options} -c enable_seqscan=off -c enable_bitmapscan=off -c enable_hashjoin=off -c enable_mergejoin=off \
             -c jit=off -c standard_conforming_strings=on"
        ));
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        Ok(config)
    }
}

fn unusable(what: &str) -> SettingsError {
    SettingsError(format!("settings that cannot be used: {what}"))
}

fn checked_schema(name: &str) -> Result<(), SettingsError> {
    if name.is_empty() || name.len() > 63 || name.contains('\0') || name.starts_with("pg_") {
        return Err(unusable("the name of a schema has 1 to 63 bytes, and does not begin with `pg_`"));
    }
    Ok(())
}

fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

fn shown_host(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    }
}

impl fmt::Debug for PostgresSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSettings")
            .field("at", &self.shown())
            .field("replica", &self.replica.is_some())
            .field("snapshots", &self.snapshots)
            .field("snapshot_age", &self.snapshot_age)
            .field("limit", &self.limit)
            .field("alone", &self.alone)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, expected: &str) {
        let found = match PostgresSettings::new(url) {
            Ok(found) => format!("{} {:?}", found.shown(), found.config.get_ssl_mode()),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{url}");
    }

    #[test]
    fn a_url_names_hosts_database_and_schema() {
        check("postgres://u:p@h/d", "postgres://h/d?schema=keyplan Require");
        check("postgresql://h?schema=my%20one", "postgres://h/?schema=my one Require");
        check("postgres://u@127.0.0.1:5433/d", "postgres://127.0.0.1/d?schema=keyplan Disable");
        check("postgres://u@localhost/d?sslmode=require", "postgres://localhost/d?schema=keyplan Require");
        check(
            "postgres://u@a,b/d?sslmode=disable&connect_timeout=3",
            "postgres://a,b/d?schema=keyplan Disable",
        );
    }

    #[test]
    fn a_url_that_cannot_be_used_is_named_without_its_password() {
        let form = "the URL is not `postgres://USER:PASSWORD@HOST:PORT/DATABASE?OPTIONS`; letters such as `@` and `/` in \
                    a password are written `%40` and `%2F`";
        check("postgres://u:secret@h:port/d", &format!("settings that cannot be used: {form}"));
        check("postgres://h/d?secret=1", &format!("settings that cannot be used: {form}"));
        check(
            "redis://secret",
            "settings that cannot be used: the URL has none of the schemes postgres and postgresql",
        );
        check("postgres:///d", "settings that cannot be used: the URL has no host");
        check(
            "postgres://h/d?sslmode=maybe",
            "settings that cannot be used: `sslmode` is `disable` or `require`",
        );
        check(
            "postgres://h/d?schema=pg_x",
            "settings that cannot be used: the name of a schema has 1 to 63 bytes, and does not begin with `pg_`",
        );
        let settings = PostgresSettings::new("postgres://u:secret@h/d").expect("a URL");
        let settings = settings.read_url("postgres://u:secret@i/d").expect("a URL");
        assert!(!format!("{settings:?}").contains("secret"));
    }
}

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use keyplan_store::engine::kit::unescaped;
use slatedb::object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, S3ConditionalPut};
use slatedb::object_store::local::LocalFileSystem;
use slatedb::object_store::memory::InMemory;
use slatedb::object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};

/// Where a database is, and how it is used.
///
/// | URL | |
/// | --- | --- |
/// | `s3://BUCKET/PATH` | a bucket of S3, or of what speaks like it; it must know conditional puts, which opening tries |
/// | `file:///PATH` | a directory |
/// | `memory://NAME` | the memory of this process |
///
/// Credentials, region and endpoint of S3 come from the environment, under the names that Amazon's own tools use
/// (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT_URL`, …), and from options after a `?`:
/// `region`, `endpoint`, `access_key_id`, `secret_access_key`, `session_token`, `allow_http=true`.
#[derive(Clone)]
pub struct SlateSettings {
    place: Place,
    given: Option<Arc<dyn ObjectStore>>,
    pub(crate) flush_interval: Duration,
    pub(crate) memory_cache: u64,
    pub(crate) disk_cache: Option<(PathBuf, u64)>,
    pub(crate) table_bytes: u64,
    pub(crate) batch_bytes: u64,
    pub(crate) limit: Duration,
    pub(crate) poll_interval: Duration,
    pub(crate) snapshot_age: Duration,
    pub(crate) expected_epoch: Option<u64>,
}

#[derive(Clone)]
enum Place {
    S3 { bucket: String, path: String, options: Vec<(AmazonS3ConfigKey, String)> },
    File { path: PathBuf },
    Memory { name: String },
}

/// Settings that name no database.
///
/// No part of a URL is shown: what looks like a path may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError(String);

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}

fn unusable(what: &str) -> SettingsError {
    SettingsError(format!("settings that cannot be used: {what}"))
}

impl SlateSettings {
    /// Settings for the database that a URL names.
    pub fn new(url: &str) -> Result<Self, SettingsError> {
        let (scheme, rest) = url.split_once("://").ok_or_else(|| unusable("the URL has no scheme"))?;
        let (rest, options) = rest.split_once('?').map_or((rest, ""), |(rest, options)| (rest, options));
        let options = options.split('&').filter(|option| !option.is_empty());
        let place = match scheme {
            "s3" => {
                let (bucket, path) = rest.split_once('/').unwrap_or((rest, ""));
                if bucket.is_empty() || bucket.contains('@') {
                    return Err(unusable("what follows `s3://` is not `BUCKET/PATH`"));
                }
                Place::S3 {
                    bucket: bucket.to_owned(),
                    path: path.trim_matches('/').to_owned(),
                    options: options.map(s3_option).collect::<Result<_, _>>()?,
                }
            }
            "file" if rest.starts_with('/') => Place::File { path: PathBuf::from(rest) },
            "file" => return Err(unusable("the path after `file://` begins with `/`")),
            "memory" => Place::Memory { name: rest.to_owned() },
            _ => return Err(unusable("the URL has none of the schemes s3, file and memory")),
        };
        Ok(Self {
            place,
            given: None,
            flush_interval: Duration::from_millis(100),
            memory_cache: 256 << 20,
            disk_cache: None,
            table_bytes: 64 << 20,
            batch_bytes: 64 << 20,
            limit: Duration::from_mins(1),
            poll_interval: Duration::from_secs(10),
            snapshot_age: Duration::from_mins(30),
            expected_epoch: None,
        })
    }

    /// Uses this object store in place of the one that the URL names; the path is still the URL's.
    #[must_use]
    pub fn object_store(mut self, store: Arc<dyn ObjectStore>) -> Self {
        self.given = Some(store);
        self
    }

    /// The object store that the database is in, for what is not a database: nothing is made there.
    pub fn storage(&self) -> Result<Arc<dyn ObjectStore>, SettingsError> {
        self.store(false)
    }

    /// How often what was committed is written out: 100 ms by default. A durable commit waits as long, and each time
    /// costs one put request.
    #[must_use]
    pub const fn flush_interval(mut self, interval: Duration) -> Self {
        self.flush_interval = interval;
        self
    }

    /// How many bytes of blocks are kept in memory: 256 MiB by default.
    #[must_use]
    pub const fn memory_cache(mut self, bytes: u64) -> Self {
        self.memory_cache = bytes;
        self
    }

    /// Keeps up to so many bytes of objects in a directory.
    #[must_use]
    pub fn disk_cache(mut self, directory: impl Into<PathBuf>, bytes: u64) -> Self {
        self.disk_cache = Some((directory.into(), bytes));
        self
    }

    /// How many bytes are gathered in memory before they become a table: 64 MiB by default.
    #[must_use]
    pub const fn table_bytes(mut self, bytes: u64) -> Self {
        self.table_bytes = bytes;
        self
    }

    /// The most bytes of keys and values in one batch: 64 MiB by default.
    #[must_use]
    pub const fn batch_bytes(mut self, bytes: u64) -> Self {
        self.batch_bytes = bytes;
        self
    }

    /// How long one call may take: 60 seconds by default. Storage that cannot be reached is tried again until then.
    #[must_use]
    pub const fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// How old the state may be that a reader in another process is given: 10 seconds by default.
    #[must_use]
    pub const fn poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = interval;
        self
    }

    /// The age at which a snapshot of a *reader* ends: 30 minutes by default. The writer's own have no end.
    #[must_use]
    pub const fn snapshot_age(mut self, age: Duration) -> Self {
        self.snapshot_age = age;
        self
    }

    /// Opens for writing only if the writer before was this one: two that take turns to fence each other end so.
    #[must_use]
    pub const fn expected_epoch(mut self, epoch: u64) -> Self {
        self.expected_epoch = Some(epoch);
        self
    }

    /// What is opened, for people: never a credential.
    pub fn shown(&self) -> String {
        match &self.place {
            Place::S3 { bucket, path, .. } => format!("s3://{bucket}/{path}"),
            Place::File { path } => format!("file://{}", path.display()),
            Place::Memory { name } => format!("memory://{name}"),
        }
    }

    /// The path of the database in its object store.
    pub(crate) fn path(&self) -> &str {
        match &self.place {
            Place::S3 { path, .. } if !path.is_empty() => path,
            _ => "keyplan",
        }
    }

    pub(crate) const fn is_file(&self) -> bool {
        matches!(self.place, Place::File { .. })
    }

    /// The object store, made if it is a directory that is not there and `create` is set.
    pub(crate) fn store(&self, create: bool) -> Result<Arc<dyn ObjectStore>, SettingsError> {
        if let Some(store) = &self.given {
            return Ok(store.clone());
        }
        Ok(match &self.place {
            Place::Memory { name } => {
                // Handles of this process on one name share it.
                static NAMED: Mutex<BTreeMap<String, Arc<InMemory>>> = Mutex::new(BTreeMap::new());
                let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
                named.entry(name.clone()).or_default().clone()
            }
            Place::File { path } => {
                if create {
                    std::fs::create_dir_all(path).map_err(|_| unusable("the directory cannot be made"))?;
                }
                let store = LocalFileSystem::new_with_prefix(path);
                Arc::new(store.map_err(|_| unusable("the directory cannot be opened"))?.with_fsync(true))
            }
            Place::S3 { bucket, options, .. } => {
                // The client takes the implementation of TLS that the process has chosen. One that has chosen none gets
                // the one that the rest of keyplan uses; another thread may have been first.
                let _ = rustls::crypto::ring::default_provider().install_default();
                let retry = RetryConfig {
                    backoff: BackoffConfig::default(),
                    max_retries: 3,
                    retry_timeout: Duration::from_secs(20),
                };
                let client = ClientOptions::new()
                    .with_timeout(Duration::from_secs(20))
                    .with_connect_timeout(Duration::from_secs(5));
                let client = if self.allows_http() { client.with_allow_http(true) } else { client };
                let mut builder = AmazonS3Builder::from_env()
                    .with_bucket_name(bucket)
                    .with_conditional_put(S3ConditionalPut::ETagMatch)
                    .with_client_options(client)
                    .with_retry(retry);
                for (key, value) in options {
                    builder = builder.with_config(*key, value);
                }
                Arc::new(builder.build().map_err(|_| unusable("the options for S3 do not name a store"))?)
            }
        })
    }

    fn allows_http(&self) -> bool {
        let Place::S3 { options, .. } = &self.place else { return false };
        let said = |key: &AmazonS3ConfigKey| matches!(key, AmazonS3ConfigKey::Client(_));
        options.iter().any(|(key, value)| said(key) && value == "true")
            || std::env::var("AWS_ALLOW_HTTP").is_ok_and(|value| value == "true")
    }
}

fn s3_option(option: &str) -> Result<(AmazonS3ConfigKey, String), SettingsError> {
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    let known = ["region", "endpoint", "access_key_id", "secret_access_key", "session_token", "allow_http"];
    if !known.contains(&name) {
        return Err(unusable(
            "the options are region, endpoint, access_key_id, secret_access_key, session_token and allow_http",
        ));
    }
    let key = name.parse().map_err(|_| unusable("an option for S3 is not known"))?;
    let value = unescaped(value).ok_or_else(|| unusable("an option has a `%` that no two digits follow"))?;
    Ok((key, value))
}

impl fmt::Debug for SlateSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlateSettings")
            .field("at", &self.shown())
            .field("flush_interval", &self.flush_interval)
            .field("memory_cache", &self.memory_cache)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, expected: &str) {
        let found = match SlateSettings::new(url) {
            Ok(found) => format!("{} in {}", found.shown(), found.path()),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{url}");
    }

    #[test]
    fn a_url_names_a_place() {
        check("s3://b/p/q/", "s3://b/p/q in p/q");
        check("s3://b", "s3://b/ in keyplan");
        check("file:///tmp/x", "file:///tmp/x in keyplan");
        check("memory://m", "memory://m in keyplan");
        check(
            "s3://b/p?region=r&endpoint=http%3A%2F%2F127.0.0.1%3A1&access_key_id=i&secret_access_key=s&allow_http=true",
            "s3://b/p in p",
        );
    }

    #[test]
    fn a_url_that_cannot_be_used_shows_no_secret() {
        check("s3://", "settings that cannot be used: what follows `s3://` is not `BUCKET/PATH`");
        check(
            "s3://key:secret@b/p",
            "settings that cannot be used: what follows `s3://` is not `BUCKET/PATH`",
        );
        check("secret", "settings that cannot be used: the URL has no scheme");
        check(
            "http://secret",
            "settings that cannot be used: the URL has none of the schemes s3, file and memory",
        );
        check("file://secret", "settings that cannot be used: the path after `file://` begins with `/`");
        check(
            "s3://b/p?secret=1",
            "settings that cannot be used: the options are region, endpoint, access_key_id, secret_access_key, \
             session_token and allow_http",
        );
        let settings = SlateSettings::new("s3://b/p?secret_access_key=hush").unwrap();
        assert!(!format!("{settings:?}").contains("hush"));
    }
}

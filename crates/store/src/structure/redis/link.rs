//! One connection to a node.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::{ServerErrorKind, Value};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::settings::{RedisSettings, unusable};
use super::wire::write;
use crate::structure::StructureError;

/// What a connection needs to be made.
#[derive(Debug)]
pub(super) struct Dial {
    pub(super) settings: RedisSettings,
    tls: Option<Arc<ClientConfig>>,
}

impl Dial {
    pub(super) fn new(settings: RedisSettings) -> Result<Self, StructureError> {
        settings.check()?;
        let tls = if settings.tls { Some(Arc::new(tls(&settings)?)) } else { None };
        Ok(Self { settings, tls })
    }
}

/// Why nothing, or nothing sensible, came back.
#[derive(Debug)]
pub(super) enum Fault {
    /// There is no connection: nothing was sent.
    Unreachable(String, Option<io::Error>),
    /// The connection broke.
    Broken(String, Option<io::Error>),
    /// The answer did not come in time.
    Late(Duration),
    /// What came is not an answer.
    Garbage(String),
    /// The server does not let us in.
    Refused(String),
}

impl From<Fault> for StructureError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Unreachable(what, source) | Fault::Broken(what, source) => {
                Self::Connection { what, source: source.map(Into::into) }
            }
            Fault::Late(limit) => Self::Timeout { limit },
            Fault::Garbage(what) => Self::Answer { what },
            Fault::Refused(what) => Self::Refused { what },
        }
    }
}

/// One connection to a node.
pub(super) struct Link {
    stream: Stream,
    parser: redis::Parser,
    timeout: Duration,
    largest_answer: u64,
    used: Instant,
    /// Whether the scripts were loaded over it.
    pub(super) scripts: bool,
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

/// A connection that was not used for this long is looked at before it is used again.
const IDLE: Duration = Duration::from_millis(10);

impl Link {
    /// Connects, and says who we are.
    pub(super) fn connect(dial: &Dial, host: &str, port: u16) -> Result<Self, Fault> {
        let settings = &dial.settings;
        let mut socket = dial_tcp(host, port, settings.connect_timeout)?;
        let unreachable = |error| Fault::Unreachable(format!("{host}:{port}"), Some(error));
        socket.set_nodelay(true).map_err(unreachable)?;
        socket.set_read_timeout(Some(settings.timeout)).map_err(unreachable)?;
        socket.set_write_timeout(Some(settings.timeout)).map_err(unreachable)?;
        let stream = match &dial.tls {
            None => Stream::Plain(socket),
            Some(config) => {
                let name = ServerName::try_from(host.to_owned())
                    .map_err(|_| Fault::Unreachable(format!("`{host}` is not a name for TLS"), None))?;
                let mut connection = ClientConnection::new(Arc::clone(config), name)
                    .map_err(|error| unreachable(io::Error::other(error)))?;
                connection.complete_io(&mut socket).map_err(|error| {
                    let what =
                        format!("{host}:{port} makes no TLS connection; a server without TLS is `redis://`");
                    Fault::Unreachable(what, Some(no_handshake(error, settings.timeout)))
                })?;
                Stream::Tls(Box::new(StreamOwned::new(connection, socket)))
            }
        };
        let mut link = Self {
            stream,
            parser: redis::Parser::new(),
            timeout: settings.timeout,
            largest_answer: settings.largest_answer,
            used: Instant::now(),
            scripts: false,
        };
        // Nothing of the caller's was sent when this fails.
        link.introduce(settings).map_err(|fault| match fault {
            Fault::Broken(what, None) => Fault::Unreachable(format!("{host}:{port}: {what}"), None),
            Fault::Broken(_, source) => Fault::Unreachable(format!("{host}:{port}"), source),
            other => other,
        })?;
        Ok(link)
    }

    /// Whether it can be used, as far as can be seen without asking the server.
    pub(super) fn is_usable(&self) -> bool {
        if self.used.elapsed() < IDLE {
            return true;
        }
        let socket = match &self.stream {
            Stream::Plain(socket) => socket,
            Stream::Tls(stream) => stream.get_ref(),
        };
        if socket.set_nonblocking(true).is_err() {
            return false;
        }
        // The server has nothing to say that was not asked for: bytes are as bad as an end.
        let silent = matches!(socket.peek(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        silent && socket.set_nonblocking(false).is_ok()
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let sent = match &mut self.stream {
            Stream::Plain(socket) => socket.write_all(bytes),
            Stream::Tls(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        };
        sent.map_err(|error| self.fault("while commands were sent", error))
    }

    /// The next answer, which may be an error.
    pub(super) fn receive(&mut self) -> Result<Value, Fault> {
        let mut reader = Bounded {
            stream: &mut self.stream,
            timeout: self.timeout,
            pieces: 0,
            since: None,
            left: self.largest_answer,
            fault: None,
        };
        let answer = self.parser.parse_value(&mut reader);
        answer.map_err(|error| match reader.fault.take() {
            Some(BoundedFault::Io(error)) => self.fault("while an answer was awaited", error),
            Some(BoundedFault::Long) => {
                Fault::Garbage(format!("it is longer than {} bytes", self.largest_answer))
            }
            None => Fault::Garbage(shortened(&error.to_string())),
        })
    }

    /// Whether the server has sent more than was asked for: then no answer can be told from another.
    pub(super) fn has_more(&mut self) -> bool {
        // What came with the last answer is in the parser; it is not asked to wait for anything.
        self.parser.parse_value(Nothing).is_ok()
    }

    /// Notes that it was in use until now.
    pub(super) fn rest(&mut self) {
        self.used = Instant::now();
    }

    fn fault(&self, when: &str, error: io::Error) -> Fault {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Fault::Late(self.timeout),
            _ => Fault::Broken(format!("the connection broke {when}"), Some(error)),
        }
    }

    fn introduce(&mut self, settings: &RedisSettings) -> Result<(), Fault> {
        let mut bytes = Vec::new();
        let mut asked = Vec::new();
        if let Some(password) = &settings.password {
            match &settings.user {
                Some(user) => write(&mut bytes, &[b"AUTH", user.as_bytes(), password.as_bytes()]),
                None => write(&mut bytes, &[b"AUTH", password.as_bytes()]),
            }
            asked.push("the password");
        }
        if settings.database != 0 {
            write(&mut bytes, &[b"SELECT", settings.database.to_string().as_bytes()]);
            asked.push("the database");
        }
        if asked.is_empty() {
            return Ok(());
        }
        self.send(&bytes)?;
        for what in asked {
            match self.receive()? {
                Value::Okay => {}
                // It will let us in when it has read its data: nothing was sent, and it is tried again.
                Value::ServerError(error) if error.kind() == Some(ServerErrorKind::BusyLoading) => {
                    return Err(Fault::Broken(said(&error), None));
                }
                Value::ServerError(error) => return Err(Fault::Refused(format!("{what}: {}", said(&error)))),
                _ => return Err(Fault::Garbage(format!("it is not an answer to {what}"))),
            }
        }
        Ok(())
    }
}

/// An error of a handshake in words: the system says only that it would have to wait.
fn no_handshake(error: io::Error, limit: Duration) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            io::Error::new(io::ErrorKind::TimedOut, format!("no answer to a TLS handshake within {limit:?}"))
        }
        _ => error,
    }
}

/// What the server said, in its own words.
pub(super) fn said(error: &redis::ServerError) -> String {
    match error.details() {
        Some(details) => shortened(&format!("{} {details}", error.code())),
        None => shortened(error.code()),
    }
}

fn shortened(text: &str) -> String {
    const SHOWN: usize = 200;
    if text.len() > SHOWN { text.chars().take(SHOWN).chain("…".chars()).collect() } else { text.to_owned() }
}

/// A reader that has nothing now, and does not say that it has ended.
struct Nothing;

impl Read for Nothing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }
}

/// A reader of one answer that gives up if it takes too long or is too long.
struct Bounded<'l> {
    stream: &'l mut Stream,
    timeout: Duration,
    pieces: u32,
    since: Option<Instant>,
    left: u64,
    fault: Option<BoundedFault>,
}

enum BoundedFault {
    Io(io::Error),
    Long,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = loop {
            // Most answers come in one piece, which the socket's own timeout bounds: the clock is for those that drip.
            if self.pieces == 1 {
                self.since = Some(Instant::now());
            }
            self.pieces = self.pieces.saturating_add(1);
            if self.since.is_some_and(|since| since.elapsed() > self.timeout) {
                break Err(io::ErrorKind::TimedOut.into());
            }
            let result = match self.stream {
                Stream::Plain(socket) => socket.read(buffer),
                Stream::Tls(stream) => stream.read(buffer),
            };
            if !matches!(&result, Err(error) if error.kind() == io::ErrorKind::Interrupted) {
                break result;
            }
        };
        let fault = match result {
            Ok(0) if !buffer.is_empty() => BoundedFault::Io(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                let left = u64::try_from(read).ok().and_then(|read| self.left.checked_sub(read));
                match left {
                    Some(left) => {
                        self.left = left;
                        return Ok(read);
                    }
                    None => BoundedFault::Long,
                }
            }
            Err(error) => BoundedFault::Io(error),
        };
        self.fault = Some(fault);
        Err(io::ErrorKind::Other.into())
    }
}

fn dial_tcp(host: &str, port: u16, timeout: Duration) -> Result<TcpStream, Fault> {
    let unreachable = |error| Fault::Unreachable(format!("{host}:{port}"), error);
    // Without the port: of a URL in which `@HOST` was forgotten it is the password.
    let no_name = |error| Fault::Unreachable(format!("host `{host}`"), Some(error));
    let addresses = (host, port).to_socket_addrs().map_err(no_name)?;
    let mut last = None;
    for address in addresses {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = Some(error),
        }
    }
    Err(unreachable(last))
}

fn tls(settings: &RedisSettings) -> Result<ClientConfig, StructureError> {
    let mut roots = RootCertStore::empty();
    match &settings.roots {
        Some(pem) => {
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate =
                    certificate.map_err(|error| unusable(format!("certificates for TLS: {error}")))?;
                roots
                    .add(certificate)
                    .map_err(|error| unusable(format!("a certificate for TLS: {error}")))?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        return Err(unusable("there is no certificate that a server's own could come from"));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(format!("TLS: {error}")))?
        .with_root_certificates(roots);
    let Some((certificate, key)) = &settings.identity else { return Ok(builder.with_no_client_auth()) };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate).collect();
    let chain = chain.map_err(|error| unusable(format!("the client's certificate: {error}")))?;
    let key =
        PrivateKeyDer::from_pem_slice(key).map_err(|error| unusable(format!("the client's key: {error}")))?;
    builder
        .with_client_auth_cert(chain, key)
        .map_err(|error| unusable(format!("the client's certificate: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The port of a URL in which `@HOST` was forgotten is a password of digits.
    #[test]
    fn a_host_without_an_address_is_named_without_its_port() {
        let fault = dial_tcp("no-such-host.invalid", 12345, Duration::from_secs(1)).map(drop).unwrap_err();
        let said = StructureError::from(fault).to_string();
        assert!(said.starts_with("the server cannot be reached: host `no-such-host.invalid`"), "{said}");
        assert!(!said.contains("12345"), "{said}");
    }
}

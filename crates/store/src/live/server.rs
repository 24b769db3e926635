use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io;
use std::net::Shutdown;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::wire::{self, CLOSE, DONE, Fields, GET, HELLO, NEXT, OPEN, REFUSED, put_bytes, put_number};
use super::{CONNECTIONS, SOCKET, is_own, reached};
use crate::engine::{Engine, Error, Snapshot, SpaceId, SpaceKind};
use crate::error::StoreError;
use crate::store::Store;

/// How long a peer may say nothing.
const IDLE: Duration = Duration::from_mins(5);
/// How long a peer may take to say who it is, and to take an answer.
const SOON: Duration = Duration::from_secs(30);
/// How many walks a connection may have open.
const WALKS: usize = 64;
/// How many bytes and rows an answer has, but for one row that is longer.
const PAGE_BYTES: usize = 256 << 10;
const PAGE_ROWS: u32 = 2048;

/// A store answers for as long as this is held, and the socket goes with it.
///
/// The store stays open as long, too.
#[derive(Debug)]
pub struct Answering {
    path: PathBuf,
    listener: Arc<UnixListener>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    peers: Mutex<BTreeMap<u64, UnixStream>>,
}

impl Shared {
    fn peers(&self) -> MutexGuard<'_, BTreeMap<u64, UnixStream>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: Engine> Store<E> {
    /// Answers tools of the same user that want to read this store while it is open, through a socket in its directory; see
    /// [`live`](crate::live).
    ///
    /// Refused where the engine has no directory, or somebody answers there already.
    pub fn answer(self: &Arc<Self>) -> Result<Answering, StoreError> {
        let directory = self
            .engine()
            .directory()
            .ok_or(Error::Unsupported { engine: E::NAME, what: "directory to answer from" })?
            .to_owned();
        let failed = |source| Error::Io { doing: "opening the socket", source };
        let listener = Arc::new(listen(&directory).map_err(failed)?);
        let shared = Arc::new(Shared::default());
        let (store, taken, known) = (Arc::clone(self), Arc::clone(&listener), Arc::clone(&shared));
        let thread = thread::Builder::new()
            .name("keyplan-live".to_owned())
            .spawn(move || accept(&store, &taken, &known))
            .map_err(failed)?;
        Ok(Answering { path: directory.join(SOCKET), listener, shared, thread: Some(thread) })
    }
}

impl Answering {
    /// Where the socket is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        let _ = std::fs::remove_file(&self.path);
        // Wakes whoever waits for a connection, and whoever waits for a question.
        let _ = rustix::net::shutdown(&*self.listener, rustix::net::Shutdown::Both);
        for peer in self.shared.peers().values() {
            let _ = peer.shutdown(Shutdown::Both);
        }
        if let Some(thread) = self.thread.take()
            && cfg!(target_os = "linux")
        {
            let _ = thread.join();
        }
    }
}

/// A socket that nobody but this user can open. One that an earlier process left is taken away.
fn listen(directory: &Path) -> io::Result<UnixListener> {
    let path = directory.join(SOCKET);
    if let Ok(found) = path.symlink_metadata() {
        if !found.file_type().is_socket() {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                format!("`{}` is not a socket", path.display()),
            ));
        }
        if reached(directory, SOCKET, |path| UnixStream::connect(path)).is_ok() {
            return Err(io::Error::new(io::ErrorKind::AddrInUse, "somebody answers there already"));
        }
        std::fs::remove_file(&path)?;
    }
    // It has its name once it has its mode, so that there is no moment at which others could open it.
    let own = format!("{SOCKET}.{}", std::process::id());
    let _ = std::fs::remove_file(directory.join(&own));
    let listener = reached(directory, &own, |path| UnixListener::bind(path))?;
    let named = std::fs::set_permissions(directory.join(&own), Permissions::from_mode(0o600))
        .and_then(|()| std::fs::rename(directory.join(&own), &path));
    if let Err(error) = named {
        let _ = std::fs::remove_file(directory.join(&own));
        return Err(error);
    }
    Ok(listener)
}

fn accept<E: Engine>(store: &Arc<Store<E>>, listener: &UnixListener, shared: &Arc<Shared>) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    for number in 0_u64.. {
        let accepted = listener.accept();
        if shared.stop.load(Ordering::Acquire) {
            break;
        }
        threads.retain(|thread| !thread.is_finished());
        let Ok((stream, _)) = accepted else {
            // Out of files or the like: it passes, and must not be asked for again at once.
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        if !is_own(&stream) {
            continue;
        }
        let mut stream = stream;
        let _ = stream.set_write_timeout(Some(SOON)).and_then(|()| stream.set_read_timeout(Some(SOON)));
        if threads.len() >= CONNECTIONS {
            let _ = refuse(&mut stream, &format!("{CONNECTIONS} others look at this store: try again later"));
            continue;
        }
        let Ok(known) = stream.try_clone() else { continue };
        shared.peers().insert(number, known);
        if shared.stop.load(Ordering::Acquire) {
            break;
        }
        let (store, own) = (Arc::clone(store), Arc::clone(shared));
        let spawned = thread::Builder::new().name("keyplan-live-peer".to_owned()).spawn(move || {
            // What goes wrong with a peer ends with it.
            let _ = serve(&store, &mut stream);
            drop(store);
            own.peers().remove(&number);
        });
        match spawned {
            Ok(thread) => threads.push(thread),
            Err(_) => drop(shared.peers().remove(&number)),
        }
    }
    for peer in shared.peers().values() {
        let _ = peer.shutdown(Shutdown::Both);
    }
    for thread in threads {
        let _ = thread.join();
    }
}

fn refuse(stream: &mut UnixStream, why: &str) -> io::Result<()> {
    let mut body = vec![REFUSED];
    body.extend_from_slice(why.as_bytes());
    wire::send(stream, &body)
}

/// Answers one peer until it goes.
fn serve<E: Engine>(store: &Store<E>, stream: &mut UnixStream) -> io::Result<()> {
    let first = match wire::receive(stream, HELLO.len()) {
        Ok(Some(first)) if first == HELLO => first,
        Ok(None) => return Ok(()),
        _ => return refuse(stream, "this is a store of keyplan, and that is not a question that it knows"),
    };
    drop(first);
    stream.set_read_timeout(Some(IDLE))?;
    let engine = store.engine();
    let snapshot = match engine.snapshot() {
        Ok(snapshot) => snapshot,
        Err(error) => return refuse(stream, &error.to_string()),
    };
    wire::send(stream, &greeting(engine)?)?;
    let first = engine.first_space();
    let mut peer = Peer { snapshot, first, walks: BTreeMap::new(), next: 0 };
    loop {
        let question = match wire::receive(stream, wire::QUESTION) {
            Ok(Some(question)) => question,
            Ok(None) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return refuse(stream, &error.to_string());
            }
            Err(error) => return Err(error),
        };
        match peer.answer(&question) {
            Some(Ok(body)) => wire::send(stream, &body)?,
            Some(Err(why)) => refuse(stream, &why)?,
            None => return refuse(stream, "that is not a question that this store knows"),
        }
    }
}

/// The engine, its files and its spaces.
fn greeting<E: Engine>(engine: &E) -> io::Result<Vec<u8>> {
    let mut body = vec![DONE];
    put_bytes(&mut body, engine.name().as_bytes())?;
    body.extend_from_slice(&engine.statistics().disk_bytes.unwrap_or_default().to_be_bytes());
    let spaces = engine.spaces();
    put_number(&mut body, u32::try_from(spaces.len()).map_err(|_| wire::broken("too many spaces"))?);
    for space in spaces {
        body.push(u8::from(space.kind == SpaceKind::Multimap));
        put_bytes(&mut body, space.name.as_bytes())?;
    }
    Ok(body)
}

/// One peer, and the moment that it sees.
struct Peer<S: Snapshot> {
    snapshot: S,
    first: u32,
    walks: BTreeMap<u32, S::Range>,
    next: u32,
}

impl<S: Snapshot> Peer<S> {
    /// `None` if it is not a question; an error if it has no answer.
    fn answer(&mut self, question: &[u8]) -> Option<Result<Vec<u8>, String>> {
        let mut fields = Fields(question);
        match fields.byte()? {
            GET => {
                let (space, key) = (self.space(fields.number()?), fields.bytes()?);
                fields.end()?;
                Some(self.get(space, key))
            }
            OPEN => {
                let (space, range) = (self.space(fields.number()?), fields.range()?);
                fields.end()?;
                if self.walks.len() >= WALKS {
                    return Some(Err(format!("a connection has at most {WALKS} walks open")));
                }
                Some(self.snapshot.range(space, range.borrow()).map_err(|error| error.to_string()).map(
                    |walk| {
                        self.next = self.next.wrapping_add(1);
                        self.walks.insert(self.next, walk);
                        let mut body = vec![DONE];
                        put_number(&mut body, self.next);
                        body
                    },
                ))
            }
            NEXT => {
                let (walk, from_back) = (fields.number()?, fields.byte()?);
                fields.end()?;
                Some(self.page(walk, from_back != 0))
            }
            CLOSE => {
                let walk = fields.number()?;
                fields.end()?;
                self.walks.remove(&walk);
                Some(Ok(vec![DONE]))
            }
            _ => None,
        }
    }

    fn space(&self, place: u32) -> SpaceId {
        SpaceId(self.first.wrapping_add(place))
    }

    fn get(&self, space: SpaceId, key: &[u8]) -> Result<Vec<u8>, String> {
        let found = self.snapshot.get(space, key).map_err(|error| error.to_string())?;
        let mut body = vec![DONE, u8::from(found.is_some())];
        if let Some(value) = found {
            put_bytes(&mut body, &value).map_err(|error| error.to_string())?;
        }
        fits(body)
    }

    /// Rows of a walk from either end, and whether that was all.
    fn page(&mut self, number: u32, from_back: bool) -> Result<Vec<u8>, String> {
        let walk = self.walks.get_mut(&number).ok_or_else(|| format!("there is no walk {number}"))?;
        let mut body = vec![DONE, 0, 0, 0, 0, 0];
        let mut rows = 0_u32;
        let mut ended = false;
        while rows < PAGE_ROWS && body.len() < PAGE_BYTES {
            let row = if from_back { walk.next_back() } else { walk.next() };
            let Some(row) = row else {
                ended = true;
                break;
            };
            let (key, value) = match row {
                Ok(row) => row,
                Err(error) => {
                    self.walks.remove(&number);
                    return Err(error.to_string());
                }
            };
            put_bytes(&mut body, &key)
                .and_then(|()| put_bytes(&mut body, &value))
                .map_err(|error| error.to_string())?;
            rows += 1;
        }
        if ended {
            self.walks.remove(&number);
        }
        let head = [u8::from(ended)].into_iter().chain(rows.to_be_bytes());
        for (place, byte) in body.iter_mut().skip(1).zip(head) {
            *place = byte;
        }
        fits(body)
    }
}

fn fits(body: Vec<u8>) -> Result<Vec<u8>, String> {
    if body.len() > wire::ANSWER {
        return Err("the row is longer than any answer".to_owned());
    }
    Ok(body)
}

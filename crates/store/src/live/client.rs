use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::wire::{
    self, ANSWER, CLOSE, DONE, Fields, GET, HELLO, NEXT, OPEN, put_bytes, put_number, put_range,
};
use super::{SOCKET, is_own, own, reached};
use crate::engine::kit::{Ages, Ticket};
use crate::engine::{
    Batch, Capabilities, Durability, Engine, Error, KeyRange, Numbers, RowRange, Setting, SharedBytes,
    Snapshot, Space, SpaceId, SpaceKind, Statistics,
};

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_mins(1);

/// A store that another process of this user has open and answers for. It is read, and never written.
#[derive(Debug)]
pub struct Live {
    directory: PathBuf,
    name: &'static str,
    disk_bytes: u64,
    spaces: Vec<Space>,
    numbers: Numbers,
    ages: Ages,
}

impl Live {
    /// Asks the store in a directory; `None` if nobody answers there.
    pub fn connect(directory: impl AsRef<Path>) -> Result<Option<Self>, Error> {
        let directory = directory.as_ref();
        let Some((_, greeting)) = dial(directory)? else { return Ok(None) };
        let (name, disk_bytes, spaces) = greeted(&greeting).ok_or_else(unknown)?;
        let name = ["fjall", "redb", "lmdb"].into_iter().find(|known| *known == name).unwrap_or(Self::NAME);
        let directory = directory.to_owned();
        Ok(Some(Self {
            directory,
            name,
            disk_bytes,
            spaces,
            numbers: Numbers::default(),
            ages: Ages::default(),
        }))
    }
}

fn failed(source: io::Error) -> Error {
    Error::Unavailable { doing: "asking the process that has the database open", source: Box::new(source) }
}

fn unknown() -> Error {
    failed(wire::broken("it answers with something that is not an answer"))
}

/// Opens a connection, which sees one moment.
fn dial(directory: &Path) -> Result<Option<(UnixStream, Vec<u8>)>, Error> {
    let Ok(found) = directory.join(SOCKET).symlink_metadata() else { return Ok(None) };
    if !found.file_type().is_socket() {
        return Ok(None);
    }
    // One that somebody else has put there is not asked.
    if found.uid() != own() {
        return Ok(None);
    }
    let mut stream = match reached(directory, SOCKET, |path| UnixStream::connect(path)) {
        Ok(stream) => stream,
        // A process that ended without a word has left it behind.
        Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => {
            return Ok(None);
        }
        Err(error) => return Err(failed(error)),
    };
    if !is_own(&stream) {
        return Ok(None);
    }
    stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
    let greeting = asked(&mut stream, HELLO)?;
    Ok(Some((stream, greeting)))
}

/// Asks, and gives what comes after a good answer.
fn asked(stream: &mut UnixStream, question: &[u8]) -> Result<Vec<u8>, Error> {
    // A peer that refuses may have closed before all was sent: what it said counts.
    let sent = wire::send(stream, question);
    let answer = wire::receive(stream, ANSWER).and_then(|answer| {
        answer.ok_or_else(|| {
            io::Error::new(io::ErrorKind::UnexpectedEof, "it has gone, or waited too long for a question")
        })
    });
    let mut answer = match (sent, answer) {
        (_, Ok(answer)) => answer,
        (Err(error), _) | (_, Err(error)) => return Err(failed(error)),
    };
    match answer.first() {
        Some(&DONE) => {
            answer.remove(0);
            Ok(answer)
        }
        Some(_) => {
            let why = String::from_utf8_lossy(answer.get(1..).unwrap_or_default()).into_owned();
            Err(failed(io::Error::other(why)))
        }
        None => Err(unknown()),
    }
}

fn greeted(answer: &[u8]) -> Option<(String, u64, Vec<Space>)> {
    let mut fields = Fields(answer);
    let name = fields.text()?;
    let (disk_bytes, rest) = fields.0.split_first_chunk()?;
    fields.0 = rest;
    let mut spaces = Vec::new();
    for _ in 0..fields.number()? {
        let kind = if fields.byte()? == 1 { SpaceKind::Multimap } else { SpaceKind::Map };
        spaces.push(Space { kind, ..Space::map(fields.text()?) });
    }
    fields.end()?;
    Some((name, u64::from_be_bytes(*disk_bytes), spaces))
}

/// One connection, shared by what reads the same moment.
#[derive(Debug)]
struct Link {
    stream: Mutex<UnixStream>,
    ticket: Ticket,
}

impl Link {
    fn ask(&self, question: &[u8]) -> Result<Vec<u8>, Error> {
        asked(&mut self.stream.lock().unwrap_or_else(PoisonError::into_inner), question)
    }
}

impl Engine for Live {
    type Buffer = SharedBytes;
    type Snapshot = LiveSnapshot;

    const NAME: &'static str = "live";

    fn name(&self) -> &'static str {
        self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { multimap: true, ..Capabilities::PLAIN }
    }

    fn first_space(&self) -> u32 {
        self.numbers.first()
    }

    fn spaces(&self) -> Vec<Space> {
        self.spaces.clone()
    }

    /// Finds a space; none is made.
    fn create_space(&mut self, space: &Space) -> Result<SpaceId, Error> {
        let found = self.spaces.iter().find(|known| known.name == space.name).ok_or(Error::Closed)?;
        if found.kind != space.kind {
            return Err(Error::SpaceKind {
                space: space.name.clone(),
                expected: space.kind.word(),
                found: found.kind.word(),
            });
        }
        self.space(&space.name).ok_or(Error::Closed)
    }

    fn snapshot(&self) -> Result<LiveSnapshot, Error> {
        let gone = || failed(io::Error::new(io::ErrorKind::NotConnected, "it has ended"));
        let (stream, _) = dial(&self.directory)?.ok_or_else(gone)?;
        let link = Link { stream: Mutex::new(stream), ticket: self.ages.open(None) };
        Ok(LiveSnapshot { link: Arc::new(link), numbers: self.numbers, count: self.spaces.len() })
    }

    fn commit(&self, _: Batch<Self>, _: Durability) -> Result<(), Error> {
        Err(Error::Closed)
    }

    fn sync(&self) -> Result<(), Error> {
        Ok(())
    }

    fn checkpoint(&self, _: Duration) -> Result<(), Error> {
        Ok(())
    }

    fn compact(&self) -> Result<(), Error> {
        Err(Error::Closed)
    }

    fn shutdown(&self, _: Duration) -> Result<(), Error> {
        Ok(())
    }

    fn statistics(&self) -> Statistics {
        let (open_snapshots, oldest_snapshot) = self.ages.oldest();
        let disk_bytes = (self.disk_bytes > 0).then_some(self.disk_bytes);
        Statistics { disk_bytes, open_snapshots, oldest_snapshot, ..Statistics::default() }
    }

    fn settings(&self) -> Vec<Setting> {
        Vec::new()
    }

    fn directory(&self) -> Option<&Path> {
        Some(&self.directory)
    }
}

/// A point in time of a [`Live`]: a connection.
#[derive(Clone, Debug)]
pub struct LiveSnapshot {
    link: Arc<Link>,
    numbers: Numbers,
    count: usize,
}

impl LiveSnapshot {
    /// The place of a space in the list of the other process.
    fn place(&self, space: SpaceId) -> Result<u32, Error> {
        let place = self.numbers.index(space);
        let place =
            Some(place).filter(|place| *place < self.count).and_then(|place| u32::try_from(place).ok());
        place.ok_or(Error::NoSpace { number: space.0 })
    }
}

impl Snapshot for LiveSnapshot {
    type Bytes = SharedBytes;
    type Range = LiveRange;

    fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<SharedBytes>, Error> {
        let mut question = vec![GET];
        put_number(&mut question, self.place(space)?);
        put_bytes(&mut question, key).map_err(failed)?;
        let answer = self.link.ask(&question)?;
        let mut fields = Fields(&answer);
        match fields.byte() {
            Some(0) => Ok(None),
            Some(1) => Ok(Some(fields.bytes().ok_or_else(unknown)?.into())),
            _ => Err(unknown()),
        }
    }

    fn range(&self, space: SpaceId, range: KeyRange<'_>) -> Result<LiveRange, Error> {
        let mut question = vec![OPEN];
        put_number(&mut question, self.place(space)?);
        put_range(&mut question, range).map_err(failed)?;
        let answer = self.link.ask(&question)?;
        let walk = Fields(&answer).number().ok_or_else(unknown)?;
        let link = Arc::clone(&self.link);
        Ok(LiveRange { link, walk: Some(walk), front: VecDeque::new(), back: VecDeque::new() })
    }

    fn age(&self) -> Duration {
        self.link.ticket.age()
    }
}

type Row = (SharedBytes, SharedBytes);

/// Rows of a [`LiveSnapshot`], fetched a page at a time.
pub struct LiveRange {
    link: Arc<Link>,
    /// The walk of the other process, until it has given all that it had.
    walk: Option<u32>,
    // Fetched from the front, ascending; fetched from the back, descending.
    front: VecDeque<Row>,
    back: VecDeque<Row>,
}

impl LiveRange {
    fn fetch(&mut self, from_back: bool) -> Result<(), Error> {
        let Some(walk) = self.walk else { return Ok(()) };
        // The first error ends it.
        self.walk = None;
        let mut question = vec![NEXT];
        put_number(&mut question, walk);
        question.push(u8::from(from_back));
        let answer = self.link.ask(&question)?;
        let (ended, rows) = paged(&answer).ok_or_else(unknown)?;
        if !ended {
            self.walk = Some(walk);
        }
        let into = if from_back { &mut self.back } else { &mut self.front };
        *into = rows;
        Ok(())
    }
}

fn paged(answer: &[u8]) -> Option<(bool, VecDeque<Row>)> {
    let mut fields = Fields(answer);
    let ended = fields.byte()? != 0;
    let mut rows = VecDeque::new();
    for _ in 0..fields.number()? {
        rows.push_back((fields.bytes()?.into(), fields.bytes()?.into()));
    }
    fields.end()?;
    // A page without rows that is not the end would be asked for again without end.
    (ended || !rows.is_empty()).then_some((ended, rows))
}

impl Iterator for LiveRange {
    type Item = Result<Row, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.front.is_empty()
            && let Err(error) = self.fetch(false)
        {
            self.back.clear();
            return Some(Err(error));
        }
        self.front.pop_front().or_else(|| self.back.pop_back()).map(Ok)
    }
}

impl DoubleEndedIterator for LiveRange {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.back.is_empty()
            && let Err(error) = self.fetch(true)
        {
            self.front.clear();
            return Some(Err(error));
        }
        self.back.pop_front().or_else(|| self.front.pop_back()).map(Ok)
    }
}

impl RowRange for LiveRange {
    type Bytes = SharedBytes;
}

impl Drop for LiveRange {
    fn drop(&mut self) {
        if let Some(walk) = self.walk {
            let mut question = vec![CLOSE];
            put_number(&mut question, walk);
            // If nobody hears it, the walk has ended with its process.
            let _ = self.link.ask(&question);
        }
    }
}

impl fmt::Debug for LiveRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveRange").field("walk", &self.walk).finish_non_exhaustive()
    }
}

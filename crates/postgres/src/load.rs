//! Rows in ascending order, by `COPY`.

use std::pin::Pin;
use std::sync::PoisonError;

use bytes::{BufMut as _, Bytes, BytesMut};
use deadpool_postgres::Object;
use futures_util::SinkExt as _;
use keyplan_store::engine::{Engine as _, Error, SharedBytes, SpaceId, kit};
use tokio_postgres::CopyInSink;

use crate::commit::Writer;
use crate::engine::Postgres;
use crate::failure::Failure;
use crate::layout::Table;

/// How many bytes of rows one transaction of a load has, and how many are sent at once.
const TRANSACTION: usize = 64 << 20;
const SENT: usize = 1 << 20;

type Row = (SharedBytes, SharedBytes);

impl Postgres {
    /// Loads rows in transactions of some size: the caller is told if it fails, and rows may stay.
    pub(crate) fn load(
        &self,
        space: SpaceId,
        mut rows: impl Iterator<Item = Result<Row, Error>>,
    ) -> Result<u64, Error> {
        let table = self.table(space)?;
        let writer = self.writable()?;
        let mut next = rows.next().transpose()?;
        let mut count = 0_u64;
        let mut last: Option<SharedBytes> = None;
        while let Some(first) = next.take() {
            let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
            if self.is_closed() {
                return Err(Error::Closed);
            }
            if Self::is_lost(&writer) {
                return Err(Error::Poisoned { source: None });
            }
            let (more, loaded) = self.load_some(&mut writer, &table, first, &mut last, &mut rows)?;
            count = count.saturating_add(loaded);
            next = more;
        }
        self.sync()?;
        Ok(count)
    }

    /// One transaction of a load, and the row that the next one begins with.
    fn load_some(
        &self,
        writer: &mut Writer,
        table: &Table,
        first: Row,
        last: &mut Option<SharedBytes>,
        rows: &mut impl Iterator<Item = Result<Row, Error>>,
    ) -> Result<(Option<Row>, u64), Error> {
        let link = &self.link;
        let capabilities = self.capabilities();
        let (id, number, epoch) = Self::next(writer);
        let begun = link.wait(async {
            let client = link.connection(&link.writes).await?;
            client.batch_execute("BEGIN; SET LOCAL synchronous_commit = off").await?;
            let begin = client.prepare_cached(&self.layout.begin).await?;
            let until = writer.until(&client, link, &self.layout).await?;
            client.execute(&begin, &[&id, &number, &epoch, &until]).await?;
            // Where nothing is at or after the first row, no row of the load can be there already: nobody else writes now.
            let beyond = client.prepare_cached(&table.beyond).await?;
            let beyond: bool = client.query_one(&beyond, &[&&first.0[..]]).await?.try_get(0)?;
            let copy = if beyond {
                client
                    .batch_execute(
                        "CREATE TEMP TABLE keyplan_load (k bytea NOT NULL, v bytea NOT NULL) ON COMMIT DROP",
                    )
                    .await?;
                "COPY keyplan_load (k, v) FROM STDIN BINARY"
            } else {
                &table.copy
            };
            let sink: CopyInSink<Bytes> = client.copy_in(copy).await?;
            Ok((client, Box::pin(sink), beyond))
        });
        let (client, sink, beyond) = match begun {
            Ok(begun) => begun,
            // The transaction ends with its connection; its number was not used.
            Err(failure) if failure.is_unknown() => {
                self.conclude(writer, Err(failure))?;
                return Err(Error::Poisoned { source: None });
            }
            Err(failure) => return Err(failure.of("beginning a load")),
        };
        let mut copy =
            Copy { engine: self, sink, buffer: BytesMut::with_capacity(SENT + (64 << 10)), bytes: 0 };
        copy.buffer.put_slice(b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0");
        let mut row = Some(first);
        let mut loaded = 0_u64;
        let filled = loop {
            let Some((key, value)) = row.take() else { break Ok(None) };
            if last.as_ref().is_some_and(|last| *last >= key) {
                break Err(kit::unsorted(&key));
            }
            let put =
                capabilities.admit::<Self>(key.len(), value.len()).and_then(|()| copy.row(&key, &value));
            if let Err(error) = put {
                break Err(error);
            }
            loaded += 1;
            *last = Some(key);
            row = match rows.next().transpose() {
                Ok(row) => row,
                Err(error) => break Err(error),
            };
            if copy.bytes >= TRANSACTION {
                break Ok(row);
            }
        };
        let more = match filled {
            Ok(more) => more,
            Err(error) => {
                // The connection is given up, and the transaction with it.
                drop(copy);
                drop(Object::take(client));
                return Err(error);
            }
        };
        let ended = copy.end();
        let done = ended.and_then(|()| {
            link.block_on(async {
                if beyond {
                    let merge = format!(
                        "INSERT INTO {} (k, v) SELECT k, v FROM keyplan_load ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v",
                        table.quoted
                    );
                    client.execute(&merge, &[]).await?;
                }
                Ok::<(), Failure>(client.batch_execute("COMMIT").await?)
            })
        });
        if done.is_err() {
            drop(Object::take(client));
        } else {
            self.note_position(&client);
        }
        self.conclude(writer, done)?;
        Ok((more, loaded))
    }
}

/// Rows on their way to a server.
struct Copy<'e> {
    engine: &'e Postgres,
    sink: Pin<Box<CopyInSink<Bytes>>>,
    buffer: BytesMut,
    bytes: usize,
}

impl Copy<'_> {
    fn row(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.buffer.put_i16(2);
        for field in [key, value] {
            // The limits of a row are far below.
            self.buffer.put_i32(i32::try_from(field.len()).unwrap_or(i32::MAX));
            self.buffer.put_slice(field);
        }
        self.bytes = self.bytes.saturating_add(key.len()).saturating_add(value.len());
        if self.buffer.len() >= SENT {
            let sent = self.buffer.split().freeze();
            let done = self.engine.link.wait(async { Ok(self.sink.send(sent).await?) });
            done.map_err(|failure| failure.of("loading"))?;
        }
        Ok(())
    }

    fn end(mut self) -> Result<(), Failure> {
        self.buffer.put_i16(-1);
        let sent = self.buffer.split().freeze();
        self.engine.link.block_on(async {
            self.sink.send(sent).await?;
            self.sink.as_mut().finish().await?;
            Ok(())
        })
    }
}

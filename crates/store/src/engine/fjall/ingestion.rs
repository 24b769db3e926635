use fjall::{Keyspace, OwnedWriteBatch, PersistMode};

use super::failure::{failed_commit, guarded};
use super::{Fjall, FjallBytes};
use crate::engine::{Capabilities, Engine as _, Error, unsorted};

impl Fjall {
    /// Writes ascending rows into tables of their own, past journal and memory.
    pub(super) fn ingest_into(
        &self,
        keyspace: &Keyspace,
        rows: impl IntoIterator<Item = Result<(FjallBytes, FjallBytes), Error>>,
    ) -> Result<u64, Error> {
        let capabilities = self.capabilities();
        // It flushes what the space holds in memory, and no batch may be in a table before it is in a synced journal.
        self.sync()?;
        let mut ingestion = guarded(&self.path, || keyspace.start_ingestion())?;
        let mut last: Option<(FjallBytes, FjallBytes)> = None;
        let mut count = 0_u64;
        for row in rows {
            let (key, value) = row?;
            check(&capabilities, &key, &value)?;
            if last.as_ref().is_some_and(|(last, _)| *last >= key) {
                return Err(unsorted(&key));
            }
            last = Some((key.clone(), value.clone()));
            guarded(&self.path, || ingestion.write(key.0, value.0))?;
            count += 1;
        }
        if count > 0 {
            let database = self.database()?;
            self.gate.apply(database, &self.keyspaces, || guarded(&self.path, || ingestion.finish()))?;
        }
        if let Some((key, value)) = last {
            // Once more through the journal: journals then reach at least as far as tables do, and one that does not is
            // known to have lost batches.
            let mut batch = OwnedWriteBatch::with_capacity(self.database()?.clone(), 1)
                .durability(Some(PersistMode::SyncAll));
            batch.insert(keyspace, key.0, value.0);
            let commit = || guarded(&self.path, || batch.commit()).map_err(failed_commit);
            self.gate.apply(self.database()?, &self.keyspaces, commit)?;
        }
        Ok(count)
    }
}

fn check(capabilities: &Capabilities, key: &[u8], value: &[u8]) -> Result<(), Error> {
    capabilities.admit::<Fjall>(key.len(), value.len())
}

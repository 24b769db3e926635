use fjall::Keyspace;

use super::failure::guarded;
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
        let mut ingestion = guarded(&self.path, || keyspace.start_ingestion())?;
        let mut last: Option<FjallBytes> = None;
        let mut count = 0_u64;
        for row in rows {
            let (key, value) = row?;
            check(&capabilities, &key, &value)?;
            if last.as_ref().is_some_and(|last| *last >= key) {
                return Err(unsorted(&key));
            }
            last = Some(key.clone());
            guarded(&self.path, || ingestion.write(key.0, value.0))?;
            count += 1;
        }
        if count > 0 {
            let database = self.database()?;
            self.gate.apply(database, &self.keyspaces, || guarded(&self.path, || ingestion.finish()))?;
        }
        Ok(count)
    }
}

fn check(capabilities: &Capabilities, key: &[u8], value: &[u8]) -> Result<(), Error> {
    capabilities.admit::<Fjall>(key.len(), value.len())
}

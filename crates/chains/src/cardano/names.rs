use keyplan_store::engine::Batch;
use keyplan_store::{RecordedName, StoreError};

use super::layout::Place;
use super::store::{Inner, NAMESPACES};
use super::{StateEngine, StateError};

/// The namespaces that a writer has used so far, with their places: few, and mostly the same one again.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<(String, Place)>);

impl Names {
    /// Finds the place of a namespace, and refuses a name whose hash is that of another.
    #[inline]
    pub(super) fn place<E: StateEngine>(
        &mut self,
        store: &Inner<E>,
        namespace: &str,
    ) -> Result<Place, StateError> {
        match self.0.iter().find(|(name, _)| name == namespace) {
            Some((_, place)) => Ok(*place),
            None => self.add(store, namespace),
        }
    }

    /// Records the names of the hashes, in the batch of their rows: rows whose name is not known cannot be.
    pub(super) fn record<E: StateEngine>(
        &self,
        store: &Inner<E>,
        batch: &mut Batch<E>,
    ) -> Result<Vec<RecordedName>, StateError> {
        let mut recorded = Vec::new();
        for (name, place) in &self.0 {
            if let Some(ns) = place.ns {
                recorded.extend(store.store.record_name_in(batch, NAMESPACES, &ns.digest(), name)?);
            }
        }
        Ok(recorded)
    }

    #[cold]
    fn add<E: StateEngine>(&mut self, store: &Inner<E>, namespace: &str) -> Result<Place, StateError> {
        let place = store.layout.place(namespace)?;
        if let Some(ns) = place.ns {
            let here = self.0.iter().find(|(_, known)| known.ns == place.ns).map(|(name, _)| name.clone());
            let known = here.or_else(|| store.store.known_name(NAMESPACES, &ns.digest()));
            let known = known.or_else(|| ns.name().map(str::to_owned));
            if let Some(known) = known.filter(|known| known != namespace) {
                let (scope, name) = (NAMESPACES.to_owned(), namespace.to_owned());
                return Err(StoreError::NameCollision { scope, name, known }.into());
            }
        }
        self.0.push((namespace.to_owned(), place));
        Ok(place)
    }
}

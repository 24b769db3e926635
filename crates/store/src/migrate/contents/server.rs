//! What a server holds, read and written.

use super::super::structured::has_structures;
use super::super::survey::Survey;
use super::super::{Migration, MigrationError};
use super::fit::exact;
use super::thing::KINDS;
use super::{NewSpaces, OldSpace};
use crate::engine::{Engine, Snapshot as _};
use crate::structure::{StructureRead, Structures};

/// The key on a server that says which copy it is in the middle of.
pub(super) const SERVER_MARK: &[u8] = b"keyplan:migration";

impl Migration<'_> {
    /// The only old space of structures, which the keys of a server are of.
    pub(crate) fn server_space(&self) -> Result<usize, MigrationError> {
        let mut found = self.old.spaces.iter().enumerate().filter(|(_, space)| has_structures(space));
        match (found.next(), found.next()) {
            (Some((index, _)), None) => Ok(index),
            _ => Err(MigrationError::ServerSpaces),
        }
    }

    /// The only new space of structures, which the keys of a server are of.
    pub(crate) fn new_server_space(&self) -> Result<&str, MigrationError> {
        let mut found = self.new.spaces.iter().filter(|space| has_structures(space));
        match (found.next(), found.next()) {
            (Some(space), None) => Ok(space.engine_name()),
            _ => Err(MigrationError::ServerSpaces),
        }
    }

    /// Reads everything on a server and writes nothing: what a copy of it would hold.
    pub fn survey_server(
        &self,
        from: &dyn StructureRead,
        to: Option<&dyn Structures>,
        mut progress: impl FnMut(u64),
    ) -> Result<Survey, MigrationError> {
        let mut survey = self.empty_survey();
        self.survey_things(&[(self.server_space()?, from)], exact(to), &mut survey, &mut progress)?;
        Ok(survey)
    }

    /// Copies what the keys of a server hold, in the old plan's only space of structures, to another server.
    ///
    /// `survey` is of the server that is read. A copy that was interrupted is gone on with by doing it again.
    pub fn copy_between_servers(
        &self,
        from: &dyn StructureRead,
        to: &dyn Structures,
        survey: &Survey,
        park: bool,
        mut progress: impl FnMut(u64),
    ) -> Result<(), MigrationError> {
        let space = self.server_space()?;
        self.to_server(&[(space, from)], to, survey, park, &mut progress)
    }

    /// Copies the structures of a database to a server, whose keys are of the new plan's only space of structures.
    ///
    /// A server has no place for rows of other spaces, or for what is set aside: the former are refused by the name of
    /// their space, and the latter stay where they are. A copy that was interrupted is gone on with by doing it again.
    pub fn copy_to_server<S: Engine>(
        &self,
        from: &S,
        to: &dyn Structures,
        survey: &Survey,
        park: bool,
        mut progress: impl FnMut(u64),
    ) -> Result<(), MigrationError> {
        for space in self.old.spaces.iter().filter(|space| !has_structures(space)) {
            let Some(id) = from.space(space.engine_name()) else { continue };
            let mut rows = from.snapshot()?.range(id, crate::engine::KeyRange::ALL)?;
            if rows.next().transpose()?.is_some() {
                return Err(MigrationError::ServerRows { space: space.name.clone() });
            }
        }
        let views = self.views(from)?;
        let old: Vec<OldSpace<'_>> =
            views.iter().map(|(index, view)| (*index, view as &dyn StructureRead)).collect();
        self.to_server(&old, to, survey, park, &mut progress)
    }

    fn to_server(
        &self,
        from: &[OldSpace<'_>],
        to: &dyn Structures,
        survey: &Survey,
        park: bool,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), MigrationError> {
        if survey.open_rows() > 0 && !park {
            return Err(MigrationError::Unfit { rows: survey.open_rows() });
        }
        let name = self.new_server_space()?;
        match to.get(SERVER_MARK)? {
            Some(mark) if mark == self.id => {}
            Some(_) => return Err(MigrationError::OtherCopy),
            None => {
                for kind in KINDS {
                    if to.keys(kind, &[])?.next().transpose()?.is_some() {
                        return Err(MigrationError::NotEmpty);
                    }
                }
                to.put(SERVER_MARK, &self.id)?;
            }
        }
        let spaces = NewSpaces::from([(name.to_owned(), to)]);
        self.write_things(from, &spaces, &mut |_, _| Ok(()), progress)?;
        Self::compare_things(&spaces, survey)?;
        to.delete(SERVER_MARK)?;
        Ok(())
    }
}

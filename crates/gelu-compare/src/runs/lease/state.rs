use crate::error::Place;
use crate::files::rename;
use crate::{Error, Result};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a folder is called that nobody holds, and one that somebody does.
const FREE: &str = "free-";
const HELD: &str = "lease-";
/// How often a folder is listed that shows no state before that is believed, and how long after the
/// last time: a list may miss a folder that is renamed while it is read.
const LISTS: u32 = 5;
const BETWEEN_LISTS: Duration = Duration::from_millis(10);

/// A state folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct State {
    pub(super) generation: u32,
    pub(super) held: bool,
}

impl State {
    /// Those that a folder shows. It has one; of several, which repairs may leave, the last counts.
    pub(super) fn all(folder: &Path) -> Result<Vec<Self>> {
        let mut states = Vec::new();
        for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
            let name = entry.map_err(Error::io("list", folder))?.file_name();
            let Some(name) = name.to_str() else { continue };
            states.extend([(FREE, false), (HELD, true)].into_iter().find_map(|(prefix, held)| {
                let generation = name.strip_prefix(prefix)?.parse().ok()?;
                Some(Self { generation, held })
            }));
        }
        Ok(states)
    }

    pub(super) fn of(folder: &Path) -> Result<Option<Self>> {
        Ok(Self::all(folder)?.into_iter().max())
    }

    /// Makes the state folder of a folder that has none: a new one, or one that was copied without
    /// its empty folders. Another process may do the same, before or after this one's is taken; so
    /// whoever has taken one looks whether it [prevails](Self::prevails).
    pub(super) fn restored(folder: &Path) -> Result<Self> {
        for _ in 0..LISTS {
            std::thread::sleep(BETWEEN_LISTS);
            if let Some(state) = Self::of(folder)? {
                return Ok(state);
            }
        }
        // The records of sessions are numbered like their leases.
        let generation = crate::runs::provenance::records(folder)?.last().copied().unwrap_or(0);
        let state = Self { generation, held: false };
        let path = state.path(folder);
        match fs::create_dir(&path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                Err(Error::io("create the folder", path)(error))
            }
            _ => Ok(state),
        }
    }

    /// Whether this state, which has just been taken, is the only one once older free ones are its
    /// scratch. Where it is not, it has to go.
    ///
    /// Of two that take a state each, whoever lists the folder last sees the other's, since both list
    /// it after they have renamed. So at most one of them prevails. A free one that is older than this
    /// was restored needlessly; if somebody takes it before it is moved, that one sees this.
    pub(super) fn prevails(self, folder: &Path) -> Result<bool> {
        let mut alone = true;
        for other in Self::all(folder)?.into_iter().filter(|other| *other != self) {
            if other.held || other.generation >= self.generation {
                alone = false;
            } else {
                let _ = rename(other.path(folder), self.path(folder).join(other.name()));
            }
        }
        Ok(alone)
    }

    /// The one of its next holder.
    pub(super) fn next(self, folder: &Path) -> Result<Self> {
        match self.generation.checked_add(1) {
            Some(generation) => Ok(Self { generation, held: true }),
            None => {
                let problem = "has a number that no lease comes to";
                Err(Error::data(self.path(folder), Place::File, problem, "remove the folder"))
            }
        }
    }

    pub(super) fn path(self, folder: &Path) -> PathBuf {
        folder.join(self.name())
    }

    fn name(self) -> String {
        format!("{}{:04}", if self.held { HELD } else { FREE }, self.generation)
    }
}

/// The state folder that a new run's folder begins with.
pub(in crate::runs) fn create_state(run: &Path) -> Result<()> {
    let path = State { generation: 0, held: false }.path(run);
    fs::create_dir(&path).map_err(Error::io("create the folder", path))
}

use crate::error::Place;
use crate::files::rename;
use crate::{Error, Result};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The prefixes of the state folders of free and of held folders.
const FREE: &str = "free-";
const HELD: &str = "lease-";
/// The number of times to list a folder without a state folder before the absence counts, and the pause before each.
/// A list may miss a folder that is renamed at the same time.
const LISTS: u32 = 5;
const BETWEEN_LISTS: Duration = Duration::from_millis(10);

/// A state folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct State {
    pub(super) generation: u32,
    pub(super) held: bool,
}

impl State {
    /// Returns the state folders of a folder. Usually there is one. Repairs may leave several; then the last counts.
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

    /// Creates the state folder of a folder that has none, such as a new folder or a copy without empty folders.
    /// Another process may do the same, before or after this one's is taken. So after taking a state, check whether
    /// it [prevails](Self::prevails).
    pub(super) fn restored(folder: &Path) -> Result<Self> {
        for _ in 0..LISTS {
            std::thread::sleep(BETWEEN_LISTS);
            if let Some(state) = Self::of(folder)? {
                return Ok(state);
            }
        }
        // The records of sessions have the numbers of their leases.
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

    /// Returns whether this state, which the caller has just taken, is the folder's only one. Moves older free states
    /// into this state's folder. If it returns `false`, the caller must remove this state.
    ///
    /// If two processes have taken one state each, the process that lists the folder last sees the other's state,
    /// because both list the folder after their renames. So at most one of the states prevails. An older free state
    /// was restored needlessly. If another process takes it before this one moves it, the other process sees this
    /// state.
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

    /// Returns the state of the next holder.
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

/// Creates the first state folder in a new run's folder.
pub(in crate::runs) fn create_state(run: &Path) -> Result<()> {
    let path = State { generation: 0, held: false }.path(run);
    fs::create_dir(&path).map_err(Error::io("create the folder", path))
}

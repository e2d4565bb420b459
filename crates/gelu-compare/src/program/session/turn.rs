//! Turns: only one judge of a session works at a time.

use super::Ledger;
use crate::output::complain;
use crate::program::{ProgramRecipe, ProgramSpec};
use crate::runs::{Claim, Durable, Lease, Plan, Spec, Watch};
use crate::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// The right to judge in a session, and to write its ledger. It ends with the process, however that ends.
pub(super) struct Turn {
    lease: Lease,
    file: PathBuf,
}

impl Turn {
    /// Waits until no other judge of the session is working.
    ///
    /// # Errors
    ///
    /// Returns an error if the session's folder cannot be created or written to.
    pub(super) fn take(file: &Path, folder: &Path) -> Result<Self> {
        let place = folder.join("turn");
        fs::create_dir_all(&place).map_err(Error::io("create the folder", &place))?;
        let silence = Duration::from_secs(Plan::<ProgramRecipe>::default_lease(&place));
        let (mut watch, mut is_said) = (Watch::default(), false);
        loop {
            match Lease::claim(&place, &mut watch, silence)? {
                // A relative file name must become absolute, because its folder may be empty.
                Claim::Held(lease, _) => {
                    let file = std::path::absolute(file).map_err(Error::io("find", file))?;
                    return Ok(Self { lease, file });
                }
                Claim::Busy(Some(holder)) if !is_said => {
                    is_said = true;
                    complain(&format!(
                        "{}: waiting for {holder}, which judges in this session\n",
                        ProgramSpec::TOOL
                    ));
                }
                Claim::Busy(_) => std::thread::sleep(PAUSE),
            }
        }
    }

    /// Writes the ledger in one step.
    ///
    /// # Errors
    ///
    /// Returns an error if the ledger cannot be written, or if another judge has taken over.
    pub(super) fn write(&self, ledger: &Ledger) -> Result<()> {
        let placed = self.lease.place("ledger.toml", &self.file, ledger.to_toml(), Durable::Yes);
        placed.map_err(|error| match self.lease.is_lost() {
            true => Error::Failed(format!(
                "{}: this judge was silent for so long that another one has taken over; run the same command again",
                self.file.display()
            )),
            false => error,
        })
    }
}

use super::comparison::to_toml;
use super::lease::{Claim, Durable, Lease, Watch};
use super::{Comparison, HasBegun, Plan, Recipe};
use crate::error::Place;
use crate::{Error, Result};
use std::fs;
use std::time::{Duration, Instant};

/// The folder for the lease of a process that extends the comparison.
const PLAN: &str = "plan";
/// The pause between attempts to take the lease, and the maximum time for writing the file.
const PAUSE: Duration = Duration::from_millis(10);
const TURN: Duration = Duration::from_secs(60);

impl<R: Recipe> Comparison<R> {
    /// Extends the comparison as `asked`. Processes do this one after the other, so that none overwrites another's
    /// additions.
    pub(super) fn widen(&self, asked: &Plan<R>, has_begun: HasBegun<R>) -> Result<Plan<R>> {
        let place = self.path().join(PLAN);
        fs::create_dir_all(&place).map_err(Error::io("create the folder", &place))?;
        let (mut watch, began) = (Watch::default(), Instant::now());
        loop {
            let there = self.plan()?;
            let widened = self.widened(&there, asked, has_begun)?;
            match Lease::claim(&place, &mut watch, there.silence())? {
                Claim::Held(lease, _) => {
                    // From here on no other process changes the comparison.
                    let there = self.plan()?;
                    let widened = self.widened(&there, asked, has_begun)?;
                    let text = to_toml(&widened);
                    if widened == there {
                        return Ok(there);
                    }
                    match lease.place("comparison.toml", &self.file(), text, Durable::Yes) {
                        // This process was frozen for so long that another has taken its turn.
                        Err(_) if lease.is_lost() => {}
                        placed => return placed.map(|()| widened),
                    }
                }
                Claim::Busy(_) if widened == there => return Ok(there),
                Claim::Busy(holder) if began.elapsed() > TURN + 2 * there.silence() => {
                    let who =
                        holder.map_or_else(|| "another process".to_owned(), |h| h.to_string());
                    let problem =
                        format!("{who} is about to widen it, and does not come to an end");
                    return Err(Error::data(self.path(), Place::File, problem, "stop it"));
                }
                Claim::Busy(_) => std::thread::sleep(PAUSE),
            }
        }
    }
}

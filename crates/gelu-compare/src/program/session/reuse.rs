//! Reuses runs of the incumbent from earlier judgements.

use super::{Judging, Ledger, Side, folder_of};
use crate::names::printable;
use crate::output::complain;
use crate::program::{DeviceNames, ProgramRecipe, ProgramSpec};
use crate::runs::{Comparison, Recipe, RunFolder, RunKey, Spec, Stage};
use crate::setting::Setting;
use crate::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The incumbent and its runs.
pub(super) struct Incumbent {
    side: Side,
    /// The folders of judgements that may have runs of the incumbent, with its command in each.
    places: Vec<(PathBuf, String)>,
    /// Whether the incumbent was a kept change, rather than the session's first program.
    was_kept: bool,
}

impl Incumbent {
    /// Returns the incumbent of a session, or `None` before the first judgement.
    pub(super) fn of(ledger: &Ledger, file: &Path) -> Option<Self> {
        let side = ledger.incumbent()?.clone();
        let places = ledger.of_incumbent().into_iter();
        let place = |(number, command): (u64, &str)| (folder_of(file, number), command.to_owned());
        Some(Self {
            places: places.map(place).collect(),
            was_kept: ledger.kept().any(|entry| entry.change.is(&side)),
            side,
        })
    }

    /// Returns whether `side` is the incumbent.
    pub(super) fn is(&self, side: &Side) -> bool {
        self.side.is(side)
    }
}

impl Judging {
    /// Copies existing runs of the incumbent into the folder of the judgement. Returns how many of the first seeds
    /// have a run then.
    pub(super) fn reuse(&self, incumbent: &Incumbent, command: &str, out: &Path) -> Result<u64> {
        let plan = self.decided.plan(&self.recipe, &DeviceNames::default(), out)?;
        let runs = out.join("runs");
        fs::create_dir_all(&runs).map_err(Error::io("create the folder", &runs))?;
        let mut reused = 0;
        for seed in 1..=plan.recipe.design().schedule().seeds {
            let Some(spec) = plan.spec(&key(command, seed)) else { break };
            let complete = |(folder, command): &(PathBuf, String)| complete(folder, command, seed);
            let Some(from) = incumbent.places.iter().find_map(complete) else { break };
            RunFolder::create_from(&runs, &spec, &from)?;
            reused = seed;
        }
        if reused > 0 {
            complain(&format!(
                "{}: {}\n{0}: `{}` {}, and {reused} of its runs are used again\n",
                ProgramSpec::TOOL,
                plan.recipe.design().prospect(),
                printable(command),
                if incumbent.was_kept {
                    "is what was kept last"
                } else {
                    "is what it was at first"
                }
            ));
        }
        Ok(reused)
    }
}

fn key(command: &str, seed: u64) -> RunKey {
    RunKey { setting: Setting::new([(ProgramRecipe::COMMAND, command)]), seed, stage: Stage::Only }
}

/// Returns the complete run of a command in the folder of a judgement.
fn complete(folder: &Path, command: &str, seed: u64) -> Option<RunFolder> {
    let folder = Comparison::<ProgramRecipe>::open(folder).ok()?;
    let spec = folder.plan().ok()?.spec(&key(command, seed))?;
    let run = RunFolder::at(&folder.runs().join(spec.folder_name()));
    run.status().ok().filter(|file| file.status.is_complete()).map(|_| run)
}

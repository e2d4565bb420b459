use super::numbers::{count, whole};
use crate::comparison::Rule;
use crate::measure::UntilDecided;
use crate::runs::{Comparison, Plan, Recipe};
use crate::{Error, Result};
use clap::Args;
use std::path::Path;

/// Flags for the number of seeds, and for how long a comparison waits for a silent worker.
#[derive(Clone, Debug, Default, Args)]
pub struct Seeds {
    /// Runs per setting, with the seeds 1 to N [default: 8, or the recipe's number; more if these cannot decide]
    #[arg(long, value_name = "N", value_parser = count::<u64>)]
    seeds: Option<u64>,
    /// Add seeds until every comparison is decided; the test checks after every seed
    #[arg(long, conflicts_with = "seeds")]
    until_decided: bool,
    /// Stop adding seeds after N [default: 20]
    #[arg(long, value_name = "N", conflicts_with = "seeds", value_parser = count::<u64>)]
    max_seeds: Option<u64>,
    /// Seconds without a sign of life after which a worker on another host loses its run [default: 60, and 120 on a
    /// network file system]
    #[arg(long, value_name = "SECONDS", value_parser = whole::<u64>(1..=crate::runs::LONGEST_LEASE))]
    lease: Option<u64>,
}

impl Seeds {
    /// Changes `seeds` and `until` to what the flags ask for.
    pub fn change(&self, seeds: &mut u64, until: &mut Option<UntilDecided>) {
        *seeds = self.seeds.unwrap_or(*seeds);
        *until = match (self.seeds, self.until_decided) {
            (Some(_), _) => None,
            (None, true) => until.or_else(|| Some(UntilDecided::default())),
            (None, false) => *until,
        };
        if let (Some(until), Some(max_seeds)) = (until, self.max_seeds) {
            until.max_seeds = max_seeds;
        }
    }

    /// Raises `seeds` to the smallest number that can decide a comparison, unless `--seeds` is given. If the
    /// comparison in the folder `out` was planned with fewer seeds, `seeds` stays unchanged.
    pub fn raise<R: Recipe>(&self, rule: &Rule, seeds: &mut u64, out: &Path) {
        let fewest = rule.fewest_seeds();
        if self.seeds.is_some() || rule.schedule.until_decided || *seeds >= fewest {
            return;
        }
        let there = Comparison::<R>::open(out).and_then(|folder| folder.plan());
        if there.map_or(fewest, |there| there.recipe.design().seeds) >= fewest {
            *seeds = fewest;
        }
    }

    /// Returns the first flag that sets the number of seeds, or `None` if there is none.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [("--seeds", self.seeds.is_some()), ("--max-seeds", self.max_seeds.is_some())];
        given.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag))
    }

    /// Checks that `--max-seeds` is given only if the comparison adds seeds until it is decided.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] if `--max-seeds` is given and `until` is `None`.
    pub fn check(&self, until: Option<UntilDecided>) -> Result<()> {
        match (self.max_seeds, until) {
            (Some(_), None) => Err(Error::Usage(
                "--max-seeds says when deciding is given up; it goes with --until-decided"
                    .to_owned(),
            )),
            _ => Ok(()),
        }
    }

    /// Returns how long a lease in the folder `out` lasts, in seconds.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] if `--lease` differs from the lease of the comparison that is already there, because
    /// its workers use that one.
    pub fn lease<R: Recipe>(&self, out: &Path) -> Result<u64> {
        let there = Comparison::<R>::open(out).and_then(|folder| folder.plan());
        match (self.lease, there) {
            (Some(asked), Ok(there)) if there.lease_seconds != asked => Err(Error::Usage(format!(
                "--lease is {asked}, and {} was made with {}, which its workers go by; leave --lease out, or stop \
                 them all and change lease_seconds in its comparison.toml",
                out.display(),
                there.lease_seconds
            ))),
            (Some(asked), _) => Ok(asked),
            (None, _) => Ok(Plan::<R>::default_lease(out)),
        }
    }
}

use crate::comparison::reported_epoch;
use crate::measure::EpochMetrics;
use crate::runs::{RunSnapshot, Snapshot};

/// Returns the reported epoch of a run, and the run's results by column; `None` before an epoch is finished. Tools
/// that describe a run by the last values of its measures would otherwise show the last epoch, even if another one is
/// reported.
pub(super) fn reported<'a>(
    snapshot: &Snapshot,
    run: &'a RunSnapshot,
) -> Option<(&'a EpochMetrics, Vec<(&'a str, f64)>)> {
    let epoch = reported_epoch(snapshot, run)?;
    let declared =
        |name: &str| snapshot.design.measures.iter().any(|measure| measure.column == name);
    Some((epoch, epoch.measured().filter(|(name, _)| declared(name)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Reported;
    use crate::testing::{example, without_epochs};

    #[test]
    fn what_is_reported_is_of_the_epoch_that_counts() {
        let mut snapshot = example();
        snapshot.runs[0].epochs[2].set("valid_loss", 0.001);
        let found = |snapshot: &Snapshot| {
            let (epoch, measures) = reported(snapshot, &snapshot.runs[0]).unwrap();
            let loss = measures.iter().find(|(name, _)| *name == "valid_loss");
            (epoch.epoch, measures.len(), loss.unwrap().1)
        };
        let last = snapshot.runs[0].epochs[11].get("valid_loss").unwrap();
        assert_eq!(found(&snapshot), (12, 6, last));
        snapshot.design.reported = Reported::BestEpoch;
        assert_eq!(found(&snapshot), (3, 6, 0.001));
        let waiting = without_epochs();
        assert!(reported(&waiting, &waiting.runs[0]).is_none());
    }
}

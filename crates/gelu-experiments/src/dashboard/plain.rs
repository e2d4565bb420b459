use crate::runs::{ComparisonSnapshot, EpochMetrics, RunSnapshot, RunStatus};
use std::fmt::Write;

/// Tells a comparison in lines: one per finished epoch, one when a run ends. Given successive
/// snapshots, it says everything once.
#[derive(Debug, Default)]
pub struct PlainReporter {
    /// Of each run: how many epochs were told, and whether its end was.
    told: Vec<(usize, bool)>,
}

impl PlainReporter {
    /// A reporter that will tell everything from the beginning.
    pub fn new() -> Self {
        Self::default()
    }

    /// A reporter that takes what is there already as told.
    pub fn after(snapshot: &ComparisonSnapshot) -> Self {
        let told = |run: &RunSnapshot| (run.epochs.len(), run.status.is_over());
        Self { told: snapshot.runs.iter().map(told).collect() }
    }

    /// What is new since the last call, as whole lines.
    pub fn lines(&mut self, snapshot: &ComparisonSnapshot) -> String {
        let (mut lines, count) = (String::new(), snapshot.runs.len());
        self.told.resize(count, (0, false));
        for (index, (run, told)) in snapshot.runs.iter().zip(&mut self.told).enumerate() {
            let head =
                format!("[{:>width$}/{count}] {}", index + 1, run.key, width = digits(count));
            for epoch in run.epochs.iter().skip(told.0) {
                let line = epoch_line(epoch, run.epochs_planned);
                writeln!(lines, "{head}  {line}").expect("writing to memory cannot fail");
            }
            told.0 = told.0.max(run.epochs.len());
            let ended = match &run.status {
                RunStatus::Finished if run.seconds > 0.0 => {
                    let pace = run.seconds / run.epochs.len().max(1) as f64;
                    Some(format!("finished, {pace:.2} s an epoch"))
                }
                status if status.is_over() => Some(status.to_string()),
                _ => None,
            };
            // A run that failed before is taken up again.
            told.1 &= run.status.is_over();
            if let Some(ended) = ended.filter(|_| !told.1) {
                writeln!(lines, "{head}  {ended}").expect("writing to memory cannot fail");
                told.1 = true;
            }
        }
        lines
    }
}

/// One finished epoch in words: `epoch  3/10  train loss 0.1234  valid loss 0.1321  …`.
pub fn epoch_line(epoch: &EpochMetrics, planned: usize) -> String {
    let mut line = format!("epoch {:>width$}/{planned}", epoch.epoch, width = digits(planned));
    let losses = [
        ("train loss", Some(epoch.train_loss)),
        ("valid loss", epoch.valid_loss),
        ("test loss", epoch.test_loss),
    ];
    for (name, loss) in losses.into_iter().filter_map(|(name, loss)| Some((name, loss?))) {
        line.push_str(&format!("  {name} {loss:.4}"));
    }
    for (name, error) in [("valid error", epoch.valid_error), ("test error", epoch.test_error)] {
        if let Some(error) = error {
            line.push_str(&format!("  {name} {:.2} %", error * 100.0));
        }
    }
    line
}

fn digits(number: usize) -> usize {
    number.to_string().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::{example, without_epochs};

    #[test]
    fn every_epoch_and_every_end_is_told_once() {
        let snapshot = example();
        let mut reporter = PlainReporter::new();
        let mut half = snapshot.clone();
        for run in &mut half.runs {
            run.epochs.truncate(3);
            run.status = RunStatus::Running;
        }
        let mut text = reporter.lines(&half);
        text += &reporter.lines(&half);
        text += &reporter.lines(&snapshot);
        text += &reporter.lines(&snapshot);
        let epochs: usize = snapshot.runs.iter().map(|run| run.epochs.len()).sum();
        assert_eq!(text.matches("  epoch ").count(), epochs);
        assert_eq!(text.matches("finished, 2.00 s an epoch").count(), 22);
        assert_eq!(text.matches("diverged in epoch 5").count(), 2);
        let first =
            "[ 1/24] gelu lr 0.001 dropout 0 seed 1  epoch  1/12  train loss 0.4559  valid loss";
        assert!(text.starts_with(first), "{text}");
    }

    #[test]
    fn what_was_there_before_is_not_told() {
        let snapshot = example();
        assert_eq!(PlainReporter::after(&snapshot).lines(&snapshot), "");
        let all = PlainReporter::after(&without_epochs()).lines(&snapshot);
        assert!(all.contains("[12/24]"), "{all}");
    }
}

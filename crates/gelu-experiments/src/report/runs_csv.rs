use crate::comparison::{label, reported_epoch};
use crate::measure::EpochMetrics;
use crate::runs::{ComparisonSnapshot, RunSnapshot, RunStatus, Stage};
use serde::Serialize;

/// One line per run. The measures are those of the epoch that is reported.
#[derive(Serialize)]
struct Line<'a> {
    experiment: &'a str,
    data: &'a str,
    synthetic: bool,
    device: &'a str,
    activation: &'a str,
    label: String,
    learning_rate: f64,
    dropout: f64,
    seed: u64,
    stage: Stage,
    status: &'a str,
    reason: Option<&'a str>,
    diverged_in_epoch: Option<usize>,
    epochs: usize,
    epochs_planned: usize,
    seconds: f64,
    reported_epoch: Option<usize>,
    batch_loss: Option<f64>,
    train_loss: Option<f64>,
    train_error: Option<f64>,
    valid_loss: Option<f64>,
    valid_error: Option<f64>,
    test_loss: Option<f64>,
    test_error: Option<f64>,
    folder: &'a str,
}

/// Every planned run as tidy CSV, one line each, with everything that tells it from the runs of other
/// comparisons; a cell is empty where there is no such value.
pub fn runs_csv(snapshot: &ComparisonSnapshot) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for run in &snapshot.runs {
        writer.serialize(line(snapshot, run)).expect("writing to memory cannot fail");
    }
    writer.into_inner().expect("writing to memory cannot fail")
}

fn line<'a>(snapshot: &'a ComparisonSnapshot, run: &'a RunSnapshot) -> Line<'a> {
    let (reason, diverged_in_epoch) = match &run.status {
        RunStatus::Failed { reason } => (Some(reason.as_str()), None),
        RunStatus::Diverged { epoch } => (None, Some(*epoch)),
        _ => (None, None),
    };
    let reported = reported_epoch(snapshot, run);
    let measure = |of: fn(&EpochMetrics) -> Option<f64>| reported.and_then(of);
    Line {
        experiment: &snapshot.experiment,
        data: &snapshot.data,
        synthetic: snapshot.synthetic,
        device: &snapshot.device,
        activation: &run.key.activation,
        label: label(&run.key.activation),
        learning_rate: run.key.learning_rate,
        dropout: run.key.dropout,
        seed: run.key.seed,
        stage: run.key.stage,
        status: run.status.word(),
        reason,
        diverged_in_epoch,
        epochs: run.epochs.len(),
        epochs_planned: run.epochs_planned,
        seconds: run.seconds,
        reported_epoch: reported.map(|epoch| epoch.epoch),
        batch_loss: measure(|epoch| Some(epoch.batch_loss)),
        train_loss: measure(|epoch| Some(epoch.train_loss)),
        train_error: measure(|epoch| epoch.train_error),
        valid_loss: measure(|epoch| epoch.valid_loss),
        valid_error: measure(|epoch| epoch.valid_error),
        test_loss: measure(|epoch| epoch.test_loss),
        test_error: measure(|epoch| epoch.test_error),
        folder: &run.folder,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::example;

    #[test]
    fn every_run_is_a_line_with_the_epoch_that_is_reported() {
        let snapshot = example();
        let text = String::from_utf8(runs_csv(&snapshot)).unwrap();
        let mut lines = text.lines();
        assert!(lines.next().unwrap().starts_with("experiment,data,synthetic,device,activation,"));
        assert_eq!(lines.clone().count(), snapshot.runs.len());
        let diverged = lines.clone().filter(|line| line.contains(",diverged,,5,4,12,")).count();
        assert_eq!(diverged, 2, "{text}");
        let first = lines.next().unwrap();
        let last = snapshot.runs[0].epochs.last().unwrap();
        assert!(
            first.contains(&format!(",12,{},{},", last.batch_loss, last.train_loss)),
            "{first}"
        );
    }
}

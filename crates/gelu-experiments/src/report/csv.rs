use crate::comparison::reported_epoch;
use crate::runs::{ComparisonSnapshot, Stage};
use serde::Serialize;

/// One line per run and epoch.
#[derive(Serialize)]
struct Line<'a> {
    activation: &'a str,
    learning_rate: f64,
    dropout: f64,
    seed: u64,
    stage: Stage,
    status: &'a str,
    epoch: usize,
    /// Whether the run's results are those of this epoch.
    reported: bool,
    current_learning_rate: f64,
    batch_loss: f64,
    train_loss: f64,
    train_error: Option<f64>,
    valid_loss: Option<f64>,
    valid_error: Option<f64>,
    test_loss: Option<f64>,
    test_error: Option<f64>,
    experiment: &'a str,
    data: &'a str,
    synthetic: bool,
    device: &'a str,
    folder: &'a str,
}

/// Every epoch of every run as tidy CSV; a cell is empty where the recipe has no such measure.
pub fn csv(snapshot: &ComparisonSnapshot) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for run in &snapshot.runs {
        let reported = reported_epoch(snapshot, run).map(|epoch| epoch.epoch);
        for epoch in &run.epochs {
            let line = Line {
                activation: &run.key.activation,
                learning_rate: run.key.learning_rate,
                dropout: run.key.dropout,
                seed: run.key.seed,
                stage: run.key.stage,
                status: run.status.word(),
                epoch: epoch.epoch,
                reported: reported == Some(epoch.epoch),
                current_learning_rate: epoch.learning_rate,
                batch_loss: epoch.batch_loss,
                train_loss: epoch.train_loss,
                train_error: epoch.train_error,
                valid_loss: epoch.valid_loss,
                valid_error: epoch.valid_error,
                test_loss: epoch.test_loss,
                test_error: epoch.test_error,
                experiment: &snapshot.experiment,
                data: &snapshot.data,
                synthetic: snapshot.synthetic,
                device: &snapshot.device,
                folder: &run.folder,
            };
            writer.serialize(line).expect("writing to memory cannot fail");
        }
    }
    writer.into_inner().expect("writing to memory cannot fail")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Reported;
    use crate::report::example::example;

    #[test]
    fn every_epoch_of_every_run_is_a_line() {
        let snapshot = example();
        let text = String::from_utf8(csv(&snapshot)).unwrap();
        let epochs: usize = snapshot.runs.iter().map(|run| run.epochs.len()).sum();
        assert_eq!(text.lines().count(), epochs + 1);
        assert!(text.starts_with("activation,learning_rate,dropout,seed,stage,status,epoch,"));
    }

    #[test]
    fn the_epoch_that_counts_is_marked() {
        let mut snapshot = example();
        for run in &mut snapshot.runs {
            run.epochs[2].valid_loss = Some(0.001);
        }
        // The epochs that are marked, one a run.
        let marked = |snapshot: &ComparisonSnapshot| -> Vec<usize> {
            let bytes = csv(snapshot);
            let mut reader = csv::Reader::from_reader(bytes.as_slice());
            let rows = reader.deserialize::<std::collections::HashMap<String, String>>();
            let counts = rows.map(Result::unwrap).filter(|row| row["reported"] == "true");
            counts.map(|row| row["epoch"].parse().unwrap()).collect()
        };
        let lengths: Vec<usize> = snapshot.runs.iter().map(|run| run.epochs.len()).collect();
        assert_eq!(marked(&snapshot), lengths);
        snapshot.reported = Reported::BestEpoch;
        assert_eq!(marked(&snapshot), vec![3; lengths.len()]);
    }

    #[test]
    fn tuning_and_final_runs_can_be_told_apart() {
        let mut snapshot = example();
        snapshot.runs[0].key.stage = Stage::Tuning;
        snapshot.runs[1].key.stage = Stage::Final;
        let text = String::from_utf8(csv(&snapshot)).unwrap();
        let rows = |stage| text.lines().filter(|line| line.contains(stage)).count();
        assert_eq!([",1,tuning,", ",1,final,", ",only,"].map(rows)[..2], [12, 12]);
    }
}

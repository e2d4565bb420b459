use crate::comparison::reported_epoch;
use crate::runs::{RunSnapshot, Snapshot, Stage};
use crate::setting::{Axis, Value};
use serde::Serialize;

/// The columns after the measures of an epoch.
#[derive(Serialize)]
struct Rest<'a> {
    experiment: &'a str,
    data: &'a str,
    synthetic: bool,
    device: &'a str,
    folder: &'a str,
}

/// Returns every epoch of every run as tidy CSV, one line each. A cell is empty if the epoch lacks the measure.
pub fn csv(snapshot: &Snapshot) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    let measures = snapshot.columns();
    let settings: Vec<&str> = snapshot.design.axes.iter().map(|axis| axis.column()).collect();
    let before = ["seed", "stage", "status", "epoch", "reported"];
    let behind = ["experiment", "data", "synthetic", "device", "folder"];
    // An epoch may have a value for an axis along which runs differ, such as a learning rate.
    let current = measures.iter().map(|name| match settings.contains(name) {
        true => format!("current_{name}"),
        false => (*name).to_owned(),
    });
    let named = measure_columns(current, &[&settings[..], &before, &behind].concat());
    let header = settings.iter().copied().chain(before).chain(named.iter().map(String::as_str));
    writer.write_record(header.chain(behind)).expect("writing to memory cannot fail");
    for run in &snapshot.runs {
        let reported = reported_epoch(snapshot, run).map(|epoch| epoch.epoch);
        for epoch in &run.epochs {
            let values: Vec<Option<f64>> = measures.iter().map(|name| epoch.get(name)).collect();
            let what: (u64, Stage, &str, usize, bool) = (
                run.key.seed,
                run.key.stage,
                run.status.word(),
                epoch.epoch,
                reported == Some(epoch.epoch),
            );
            let rest = Rest {
                experiment: &snapshot.design.name,
                data: &snapshot.data,
                synthetic: snapshot.synthetic,
                device: &snapshot.device,
                folder: &run.folder,
            };
            let line = (setting(snapshot, run), what, values, rest);
            writer.serialize(line).expect("writing to memory cannot fail");
        }
    }
    writer.into_inner().expect("writing to memory cannot fail")
}

/// Returns names of measures that are unique among other columns: a measure with the name of another column, such as
/// `seed` or `status`, becomes `metric_seed`.
pub(super) fn measure_columns(
    measures: impl Iterator<Item = String>,
    others: &[&str],
) -> Vec<String> {
    let measures: Vec<String> = measures.collect();
    let mut named: Vec<String> = Vec::with_capacity(measures.len());
    for measure in &measures {
        let mut name = measure.clone();
        while others.contains(&name.as_str())
            || named.contains(&name)
            || name != *measure && measures.contains(&name)
        {
            name = format!("metric_{name}");
        }
        named.push(name);
    }
    named
}

/// Returns a run's value for every axis as typed, each on one line.
pub(super) fn setting(snapshot: &Snapshot, run: &RunSnapshot) -> Vec<Option<String>> {
    let value = |axis: &Axis| run.key.setting.get(&axis.name).map(Value::to_string);
    snapshot.design.axes.iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Reported;
    use crate::testing::example;

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
            run.epochs[2].set("valid_loss", 0.001);
        }
        // The marked epochs, one per run.
        let marked = |snapshot: &Snapshot| -> Vec<usize> {
            let bytes = csv(snapshot);
            let mut reader = csv::Reader::from_reader(bytes.as_slice());
            let rows = reader.deserialize::<std::collections::HashMap<String, String>>();
            let counts = rows.map(Result::unwrap).filter(|row| row["reported"] == "true");
            counts.map(|row| row["epoch"].parse().unwrap()).collect()
        };
        let lengths: Vec<usize> = snapshot.runs.iter().map(|run| run.epochs.len()).collect();
        assert_eq!(marked(&snapshot), lengths);
        snapshot.design.reported = Reported::BestEpoch;
        assert_eq!(marked(&snapshot), vec![3; lengths.len()]);
    }

    #[test]
    fn no_two_columns_have_one_name_whatever_measures_are_called() {
        let mut snapshot = example();
        let taken = [
            "seed",
            "stage",
            "status",
            "epoch",
            "reported",
            "folder",
            "device",
            "data",
            "synthetic",
            "experiment",
            "label",
            "reason",
            "epochs",
            "epochs_planned",
            "seconds",
            "reported_epoch",
            "diverged_in_epoch",
            "activation",
            "dropout",
            "metric_seed",
            "current_dropout",
        ];
        for name in taken {
            snapshot.runs[0].epochs.iter_mut().for_each(|epoch| epoch.set(name, 0.5));
        }
        for table in [csv(&snapshot), crate::report::runs_csv(&snapshot)] {
            let header = csv::Reader::from_reader(table.as_slice()).headers().unwrap().clone();
            let mut names: Vec<&str> = header.iter().collect();
            assert!(names.contains(&"metric_metric_seed") && names.contains(&"metric_status"));
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{header:?}");
        }
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

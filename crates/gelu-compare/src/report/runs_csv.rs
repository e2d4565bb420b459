use super::csv::{measure_columns, setting};
use crate::comparison::{best_groups, reported_epoch};
use crate::runs::{RunSnapshot, RunStatus, Snapshot, Stage};
use crate::setting::Role;
use serde::Serialize;
use std::collections::HashSet;

/// A line of the table. The measures are those of the reported epoch.
#[derive(Serialize)]
struct Line<'a> {
    experiment: &'a str,
    data: &'a str,
    synthetic: bool,
    device: &'a str,
    setting: Vec<Option<String>>,
    seed: u64,
    stage: Stage,
    status: &'a str,
    reason: Option<&'a str>,
    diverged_in_epoch: Option<usize>,
    epochs: usize,
    epochs_planned: usize,
    seconds: f64,
    reported_epoch: Option<usize>,
    counts: bool,
    measures: Vec<Option<f64>>,
    folder: &'a str,
}

/// Returns every run as tidy CSV, one line each, with everything that distinguishes it from the runs of other
/// comparisons. A cell is empty if there is no value.
pub fn runs_csv(snapshot: &Snapshot) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    let axes: Vec<&str> = snapshot.design.axes.iter().map(|axis| axis.column()).collect();
    let measures: Vec<&str> =
        snapshot.columns().into_iter().filter(|name| !axes.contains(name)).collect();
    let compared = Role::Compared.of(&snapshot.design.axes).count();
    let before = ["experiment", "data", "synthetic", "device", "label"];
    let of_run = [
        "seed",
        "stage",
        "status",
        "reason",
        "diverged_in_epoch",
        "epochs",
        "epochs_planned",
        "seconds",
        "reported_epoch",
        "counts",
    ];
    let others = [&before[..], &axes, &of_run, &["folder"]].concat();
    let named = measure_columns(measures.iter().map(|name| (*name).to_owned()), &others);
    let mut header = before[..4].to_vec();
    header.extend(&axes[..compared]);
    header.push("label");
    header.extend(&axes[compared..]);
    header.extend(of_run);
    header.extend(named.iter().map(String::as_str));
    header.push("folder");
    writer.write_record(header).expect("writing to memory cannot fail");
    let counting = counting(snapshot);
    for run in &snapshot.runs {
        let line = Line {
            counts: counting.contains(run.folder.as_str()),
            ..line(snapshot, run, compared, &measures)
        };
        writer.serialize(line).expect("writing to memory cannot fail");
    }
    writer.into_inner().expect("writing to memory cannot fail")
}

/// Returns the folders of the runs that verdicts use: those of the plan, with the tuned values that were chosen.
fn counting(snapshot: &Snapshot) -> HashSet<&str> {
    let groups = best_groups(snapshot).into_iter();
    let groups = groups.filter(|group| group.planned && group.stage != Stage::Tuning);
    groups.flat_map(|group| group.runs).map(|run| run.folder.as_str()).collect()
}

fn line<'a>(
    snapshot: &'a Snapshot,
    run: &'a RunSnapshot,
    compared: usize,
    measures: &[&str],
) -> Line<'a> {
    let (reason, diverged_in_epoch) = match &run.status {
        RunStatus::Failed { reason } => (Some(reason.as_str()), None),
        RunStatus::Diverged { epoch } => (None, Some(*epoch)),
        _ => (None, None),
    };
    let reported = reported_epoch(snapshot, run);
    let mut setting = setting(snapshot, run);
    let arm = run.key.setting.of_role(&snapshot.design.axes, Role::Compared);
    setting.insert(compared, Some(snapshot.label(&arm)));
    Line {
        experiment: &snapshot.design.name,
        data: &snapshot.data,
        synthetic: snapshot.synthetic,
        device: &snapshot.device,
        setting,
        seed: run.key.seed,
        stage: run.key.stage,
        status: run.status.word(),
        reason,
        diverged_in_epoch,
        epochs: run.epochs.len(),
        epochs_planned: run.epochs_planned,
        seconds: run.seconds,
        reported_epoch: reported.map(|epoch| epoch.epoch),
        counts: false,
        measures: measures.iter().map(|name| reported?.get(name)).collect(),
        folder: &run.folder,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::example;

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
            first.contains(&format!(
                ",12,true,{},{},",
                last.get("batch_loss").unwrap(),
                last.get("train_loss").unwrap()
            )),
            "{first}"
        );
    }

    #[test]
    fn runs_of_the_chosen_values_count() {
        let mut snapshot = example();
        let beside =
            snapshot.runs.iter_mut().find(|run| run.folder == "gelu-lr0.001-dropout0-seed2");
        beside.unwrap().planned = false;
        // No run of this setting is of the plan.
        for run in snapshot.runs.iter_mut().filter(|run| run.folder.starts_with("relu-lr")) {
            run.planned &= !run.folder.contains("-dropout0.5-");
        }
        let table = runs_csv(&snapshot);
        let mut reader = csv::Reader::from_reader(table.as_slice());
        let header = reader.headers().unwrap().clone();
        let place = |name: &str| header.iter().position(|column| column == name).unwrap();
        let [counts, rate, folder] = ["counts", "learning_rate", "folder"].map(place);
        for row in reader.records().map(Result::unwrap) {
            let is_planned = &row[folder] != "gelu-lr0.001-dropout0-seed2"
                && !(row[folder].starts_with("relu") && row[folder].contains("-dropout0.5-"));
            let expected = &row[rate] == "0.001" && is_planned;
            assert_eq!(&row[counts], if expected { "true" } else { "false" }, "{}", &row[folder]);
        }
    }
}

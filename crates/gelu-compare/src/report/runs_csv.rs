use super::csv::{measure_columns, setting};
use crate::comparison::reported_epoch;
use crate::runs::{ComparisonSnapshot, RunSnapshot, RunStatus, Stage};
use crate::setting::Role;
use serde::Serialize;

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
    measures: Vec<Option<f64>>,
    folder: &'a str,
}

/// Returns every run as tidy CSV, one line each, with everything that distinguishes it from the runs of other
/// comparisons. A cell is empty if there is no value.
pub fn runs_csv(snapshot: &ComparisonSnapshot) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    let axes: Vec<&str> = snapshot.axes.iter().map(|axis| axis.column()).collect();
    let measures: Vec<&str> =
        snapshot.columns().into_iter().filter(|name| !axes.contains(name)).collect();
    let compared = Role::Compared.of(&snapshot.axes).count();
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
    for run in &snapshot.runs {
        let line = line(snapshot, run, compared, &measures);
        writer.serialize(line).expect("writing to memory cannot fail");
    }
    writer.into_inner().expect("writing to memory cannot fail")
}

fn line<'a>(
    snapshot: &'a ComparisonSnapshot,
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
    let arm = run.key.setting.of_role(&snapshot.axes, Role::Compared);
    setting.insert(compared, Some(snapshot.label(&arm)));
    Line {
        experiment: &snapshot.experiment,
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
                ",12,{},{},",
                last.get("batch_loss").unwrap(),
                last.get("train_loss").unwrap()
            )),
            "{first}"
        );
    }
}

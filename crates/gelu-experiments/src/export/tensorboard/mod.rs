//! One event file a run: its measures by epoch, and its settings as hyperparameters.

mod message;
mod record;

use super::reported::{measures, reported};
use crate::comparison::label;
use crate::measure::{Metric, Split};
use crate::runs::{ComparisonSnapshot, RunSnapshot};
use crate::{Error, Result};
use message::{Event, Setting};
use record::frame;
use std::fs;
use std::path::Path;

/// TensorBoard shows the part of a name before the slash as a group.
fn tag(metric: Metric, split: Split) -> String {
    format!("{metric}/{split}")
}

/// Writes a folder for each run that has finished an epoch, and counts them.
pub(super) fn write(snapshot: &ComparisonSnapshot, folder: &Path) -> Result<usize> {
    let mut written = 0;
    for run in snapshot.runs.iter().filter(|run| !run.epochs.is_empty()) {
        let folder = folder.join(&run.folder);
        fs::create_dir_all(&folder).map_err(Error::io("create the folder", &folder))?;
        // One name, so that an export made again replaces the last one.
        let path = folder.join("events.out.tfevents.0.gelu");
        crate::files::write_atomically(&path, events(snapshot, run))?;
        written += 1;
    }
    Ok(written)
}

fn events(snapshot: &ComparisonSnapshot, run: &RunSnapshot) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut put = |event: Event| bytes.extend(frame(&event.encoded()));
    put(Event::version());
    put(Event::settings(&settings(snapshot, run)));
    let seconds_an_epoch = run.seconds / run.epochs.len() as f64;
    let mut scalars = |epoch: usize, scalars: &[(String, f64)]| {
        put(Event::scalars(seconds_an_epoch * epoch as f64, epoch, scalars));
    };
    for epoch in &run.epochs {
        let mut all = vec![
            ("learning_rate".to_owned(), epoch.learning_rate),
            ("loss/batch".to_owned(), epoch.batch_loss),
        ];
        all.extend(measures(epoch, tag));
        scalars(epoch.epoch, &all);
    }
    if let Some((epoch, reported)) = reported(snapshot, run) {
        scalars(epoch.epoch, &reported);
    }
    bytes
}

fn settings(snapshot: &ComparisonSnapshot, run: &RunSnapshot) -> Vec<(&'static str, Setting)> {
    let key = &run.key;
    let text = |text: &str| Setting::Text(text.to_owned());
    vec![
        ("experiment", text(&snapshot.experiment)),
        ("activation", Setting::Text(label(&key.activation))),
        ("learning_rate", Setting::Number(key.learning_rate)),
        ("dropout", Setting::Number(key.dropout)),
        ("seed", Setting::Number(key.seed as f64)),
        ("stage", text(key.stage.word().unwrap_or("only"))),
        ("status", text(run.status.word())),
        ("synthetic_data", Setting::Text(snapshot.synthetic.to_string())),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::example;

    #[test]
    fn every_run_with_an_epoch_has_its_file_and_a_second_export_replaces_it() {
        let folder = tempfile::tempdir().unwrap();
        let snapshot = example();
        let read = || {
            fs::read(
                folder.path().join(&snapshot.runs[0].folder).join("events.out.tfevents.0.gelu"),
            )
        };
        assert_eq!(write(&snapshot, folder.path()).unwrap(), snapshot.runs.len());
        let first = read().unwrap();
        write(&snapshot, folder.path()).unwrap();
        assert_eq!(read().unwrap(), first);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), snapshot.runs.len());
    }
}

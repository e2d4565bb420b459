//! Writes one event file per run: the measures by epoch, and the settings as hyperparameters. Event files store
//! measures as 32-bit numbers, with seven digits.

mod message;
mod record;

use super::reported::reported;
use crate::measure::Split;
use crate::runs::{RunSnapshot, Snapshot};
use crate::{Error, Result};
use message::{Event, Setting};
use record::frame;
use std::fs;
use std::path::Path;

/// Returns the name of a measure in TensorBoard, which shows the part before the slash as a group.
fn tag(column: &str) -> String {
    match (Split::of_name(column), column.strip_prefix("batch_")) {
        (_, Some(quantity)) => format!("{quantity}/batch"),
        ((Some(split), quantity), _) => format!("{quantity}/{split}"),
        ((None, quantity), _) => quantity.to_owned(),
    }
}

/// Writes a folder for each run that has finished an epoch. Returns the number of these runs.
pub(super) fn write(snapshot: &Snapshot, folder: &Path) -> Result<usize> {
    let mut written = 0;
    for run in snapshot.runs.iter().filter(|run| !run.epochs.is_empty()) {
        let folder = folder.join(&run.folder);
        fs::create_dir_all(&folder).map_err(Error::io("create the folder", &folder))?;
        // The name is fixed, so that a repeated export replaces the last one.
        let path = folder.join("events.out.tfevents.0.gelu");
        crate::files::write_atomically(&path, events(snapshot, run))?;
        written += 1;
    }
    Ok(written)
}

fn events(snapshot: &Snapshot, run: &RunSnapshot) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut put = |event: Event| bytes.extend(frame(&event.encoded()));
    put(Event::version());
    put(Event::settings(&settings(snapshot, run)));
    let seconds_an_epoch = run.seconds / run.epochs.len() as f64;
    let mut scalars = |epoch: usize, scalars: &[(String, f64)]| {
        put(Event::scalars(seconds_an_epoch * epoch as f64, epoch, scalars));
    };
    for epoch in &run.epochs {
        let all: Vec<(String, f64)> =
            epoch.measured().map(|(name, value)| (tag(name), value)).collect();
        scalars(epoch.epoch, &all);
    }
    if let Some((epoch, reported)) = reported(snapshot, run) {
        let named = |(name, value): (&str, f64)| (format!("reported/{name}"), value);
        scalars(epoch.epoch, &reported.into_iter().map(named).collect::<Vec<_>>());
    }
    bytes
}

fn settings(snapshot: &Snapshot, run: &RunSnapshot) -> Vec<(String, Setting)> {
    let key = &run.key;
    let text = |text: &str| Setting::Text(text.to_owned());
    let mut all = vec![("experiment".to_owned(), text(&snapshot.design.name))];
    for axis in &snapshot.design.axes {
        let Some(value) = key.setting.get(&axis.name) else { continue };
        // If one value of an axis is text, all are: next to `1a2b3c`, `12e45` is not a number.
        let numbers = axis.values.iter().all(|value| value.as_number().is_some());
        let value = match value.as_number().filter(|_| numbers) {
            Some(number) => Setting::Number(number),
            None => Setting::Text(axis.label(value)),
        };
        all.push((axis.column().to_owned(), value));
    }
    all.extend([
        ("seed".to_owned(), Setting::Number(key.seed as f64)),
        ("stage".to_owned(), text(key.stage.word().unwrap_or("only"))),
        ("status".to_owned(), text(run.status.word())),
        ("synthetic_data".to_owned(), Setting::Text(snapshot.synthetic.to_string())),
    ]);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::example;

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
        let has = |text: &[u8]| first.windows(text.len()).any(|part| part == text);
        assert!(has(b"GELU"), "a setting is named by its label");
        write(&snapshot, folder.path()).unwrap();
        assert_eq!(read().unwrap(), first);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), snapshot.runs.len());
    }
}

use super::*;
use crate::environment::here;
use gelu_compare::extension::extend;
use gelu_compare::runs::{RunFolder, RunSnapshot, RunStatus, Spec};
use gelu_learner::networks::{
    Networks, NoiseMetrics, Outcomes, ReadRun, TestGroups, set_noise, set_outcomes,
};
use std::fs;

fn snapshot(folder: &RunFolder) -> RunSnapshot {
    extend(&[&Networks]);
    folder.snapshot(&spec(), SILENCE)
}

#[test]
fn measures_under_noise_are_read_back() {
    let (_parent, folder) = folder();
    assert_eq!(snapshot(&folder).extras.get::<ReadRun>(), None);
    let noise = NoiseMetrics { amplitude: 0.2, test_loss: 1.0 / 3.0, test_error: Some(0.1) };
    let saved = [noise, NoiseMetrics { test_error: None, ..noise }];
    set_noise(&claim(&folder), &saved).unwrap();
    assert_eq!(snapshot(&folder).extras.get::<ReadRun>().unwrap().noise, saved);
}

/// Returns outcomes at `epoch` of four test examples, `wrong` of which are wrong.
fn outcomes(epoch: usize, wrong: usize) -> Outcomes {
    let bits = (0..4).map(|example| example < wrong).collect();
    Outcomes::of_errors(epoch, TestGroups::of_sizes([3, 1]), bits)
}

/// Returns the outcomes that a snapshot has read.
fn read_outcomes(run: &RunSnapshot) -> Option<&Outcomes> {
    run.extras.get::<ReadRun>()?.outcomes.as_ref()
}

/// Finishes a run with a quarter of the test examples wrong after every epoch; returns the number of epochs.
fn finished(folder: &RunFolder) -> usize {
    let planned = spec().training.epochs;
    let mut epochs = epochs(planned);
    epochs.iter_mut().for_each(|epoch| epoch.set("test_error", 0.25));
    let run = claim(folder);
    run.keep_metrics(&epochs).unwrap();
    run.set_status(RunStatus::Finished, 9.0).unwrap();
    planned
}

#[test]
fn outcomes_are_read_back_with_the_run_they_are_of() {
    let (_parent, folder) = folder();
    let last = finished(&folder);
    let read = snapshot(&folder);
    assert_eq!((read_outcomes(&read), read.warnings.len()), (None, 0), "older runs have none");
    set_outcomes(&claim(&folder), &outcomes(last, 1)).unwrap();
    assert_eq!(read_outcomes(&snapshot(&folder)), Some(&outcomes(last, 1)));
    for other in [outcomes(last - 1, 1), outcomes(last, 2)] {
        set_outcomes(&claim(&folder), &other).unwrap();
        let read = snapshot(&folder);
        assert_eq!((read_outcomes(&read), &read.status), (None, &RunStatus::Finished));
        assert!(read.warnings[0].contains("outcomes.bin"), "{:?}", read.warnings);
    }
}

#[test]
fn outcomes_that_are_damaged_are_a_warning_and_those_of_an_unfinished_run_are_not_read() {
    let (_parent, folder) = folder();
    let last = finished(&folder);
    set_outcomes(&claim(&folder), &outcomes(last, 1)).unwrap();
    fs::write(folder.file("outcomes.bin"), "half").unwrap();
    let read = snapshot(&folder);
    assert_eq!(
        (read_outcomes(&read), &read.status, read.epochs.len()),
        (None, &RunStatus::Finished, last)
    );
    assert!(read.warnings[0].contains("outcomes.bin: is cut short"), "{:?}", read.warnings);
    claim(&folder).set_status(RunStatus::Interrupted, 9.0).unwrap();
    let read = snapshot(&folder);
    assert_eq!((read_outcomes(&read), read.warnings.len()), (None, 0));
}

/// Returns the text with one cell of its first record replaced.
fn with_cell(text: &str, column: &str, value: &str) -> String {
    let mut lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let place = lines[0].iter().position(|name| *name == column).unwrap();
    lines[1][place] = value;
    lines.iter().map(|cells| cells.join(",") + "\n").collect()
}

#[test]
fn values_that_nothing_measures_are_warnings_with_their_line() {
    let (_parent, folder) = folder();
    let run = claim(&folder);
    run.publish_metrics(&epochs(2)).unwrap();
    let noise = NoiseMetrics { amplitude: 0.2, test_loss: 0.5, test_error: Some(0.1) };
    set_noise(&run, &[noise]).unwrap();
    drop(run);
    for (file, column, values) in [
        ("metrics.csv", "train_loss", ["NaN", "inf", "-inf"]),
        ("metrics.csv", "test_loss", ["NaN", "inf", "-inf"]),
        ("metrics.csv", "learning_rate", ["NaN", "inf", "-inf"]),
        ("metrics.csv", "valid_error", ["NaN", "-0.1", "1.1"]),
        ("metrics.csv", "train_error", ["inf", "1e308", "-1"]),
        ("noise.csv", "amplitude", ["NaN", "inf", "-0.2"]),
        ("noise.csv", "test_loss", ["NaN", "NaN", "nan"]),
        ("noise.csv", "test_error", ["NaN", "2", "-1e-9"]),
    ] {
        let whole = fs::read_to_string(folder.file(file)).unwrap();
        for value in values {
            fs::write(folder.file(file), with_cell(&whole, column, value)).unwrap();
            let read = snapshot(&folder);
            let expected = format!("{file}: line 2: {column} cannot be ");
            assert!(read.warnings[0].contains(&expected), "{value}: {:?}", read.warnings);
            assert!(file == "noise.csv" || read.epochs.is_empty());
        }
        fs::write(folder.file(file), whole).unwrap();
    }
    assert!(snapshot(&folder).warnings.is_empty());
}

#[test]
fn a_status_that_cannot_be_is_a_warning() {
    let (_parent, folder) = folder();
    let planned = spec().training.epochs;
    let run = claim(&folder);
    run.set_file("model.bpk", b"weights").unwrap();
    run.keep_metrics(&epochs(planned)).unwrap();
    drop(run);
    for status in [
        r#"{"state":"finished","seconds":-1.0}"#,
        r#"{"state":"finished","seconds":1e300}"#,
        r#"{"state":"finished","seconds":1e999}"#,
        r#"{"state":"finished","seconds":null}"#,
        r#"{"state":"diverged","epoch":0,"seconds":1.0}"#,
        r#"{"state":"diverged","epoch":-1,"seconds":1.0}"#,
        r#"{"state":"diverged","epoch":18446744073709551616,"seconds":1.0}"#,
    ] {
        fs::write(folder.file("status.json"), status).unwrap();
        let read = snapshot(&folder);
        assert_eq!((read.status, read.seconds), (RunStatus::Finished, 0.0), "{status}");
        assert!(read.warnings[0].contains("status.json: "), "{:?}", read.warnings);
    }
}

#[test]
fn files_and_lines_of_absurd_length_are_short_warnings() {
    let (_parent, folder) = folder();
    claim(&folder).publish_metrics(&epochs(2)).unwrap();
    let long = "7".repeat(1 << 20);
    let text = fs::read_to_string(folder.file("metrics.csv")).unwrap();
    fs::write(folder.file("metrics.csv"), with_cell(&text, "train_loss", &long)).unwrap();
    fs::write(folder.file("status.json"), format!("{{\"state\":\"{long}\",\"seconds\":1}}"))
        .unwrap();
    fs::File::create(folder.file("noise.csv")).unwrap().set_len(1 << 40).unwrap();
    let warnings = snapshot(&folder).warnings;
    for (file, warning) in ["metrics.csv", "status.json", "noise.csv"].iter().zip(&warnings) {
        assert!(warning.contains(file) && warning.chars().count() < 600, "{warning}");
    }
    assert_eq!(warnings.len(), 3, "{warnings:?}");
}

#[test]
fn a_specification_that_nothing_can_be_computed_from_is_refused() {
    let (_parent, folder) = folder();
    let text = spec().to_toml();
    for (honest, evil) in [
        ("learning_rate = 0.001", "learning_rate = nan"),
        ("learning_rate = 0.001", "learning_rate = 1e308"),
        ("learning_rate = 0.001", "learning_rate = -1.0"),
        ("dropout = 0.0", "dropout = inf"),
        ("epochs = ", "epochs = 9223372036854775807 # "),
        ("width = ", "width = 9223372036854775807 # "),
        ("depth = ", "depth = 9223372036854775807 # "),
        ("epsilon = ", "epsilon = 1e-300 # "),
    ] {
        assert!(text.contains(honest), "{honest}: {text}");
        fs::write(folder.file("run.toml"), text.replace(honest, evil)).unwrap();
        let error = folder.spec::<RunSpec>().unwrap_err().to_string();
        assert!(error.contains("run.toml: "), "{evil}: {error}");
    }
}

#[test]
fn a_finished_run_is_finished_whatever_became_of_its_status() {
    let (_parent, folder) = folder();
    let planned = spec().training.epochs;
    let run = claim(&folder);
    run.set_file("model.bpk", b"weights").unwrap();
    run.keep_metrics(&epochs(planned)).unwrap();
    run.set_status(RunStatus::Finished, 9.0).unwrap();
    drop(run);
    fs::write(folder.file("status.json"), "").unwrap();
    assert_eq!(snapshot(&folder).status, RunStatus::Finished);
    assert_eq!(claim(&folder).status().status, RunStatus::Finished);
}

#[test]
fn a_finished_run_that_lost_epochs_is_not_counted_as_finished() {
    let (_parent, folder) = folder();
    let run = claim(&folder);
    run.publish_metrics(&epochs(3)).unwrap();
    run.set_status(RunStatus::Finished, 9.0).unwrap();
    let read = snapshot(&folder);
    assert_eq!(read.status, RunStatus::Interrupted);
    assert!(read.warnings[0].contains("holds 3 of"), "{:?}", read.warnings);
}

#[cfg(feature = "flex")]
#[test]
fn every_session_says_what_it_ran_on_and_how_it_ended() {
    let (_parent, folder) = folder();
    let here = here(&"flex".parse().unwrap(), 1);
    let run = claim(&folder);
    run.begin_session(&here, 0).unwrap();
    assert_eq!(folder.provenance().unwrap()[0].outcome, None);
    run.end_session(&RunStatus::Interrupted, 4).unwrap();
    drop(run);
    let run = claim(&folder);
    run.begin_session(&here, 4).unwrap();
    fs::write(run.log_file(), "one\nout of memory \u{1b}[31m\n").unwrap();
    run.end_troubled_session(&RunStatus::Failed { reason: "x".into() }, 4).unwrap();
    let sessions = folder.provenance().unwrap();
    assert_eq!(sessions.len(), 2);
    assert_eq!((sessions[0].epochs_before, sessions[0].epochs_after), (0, Some(4)));
    assert_eq!(sessions[0].environment, here);
    assert_eq!(sessions[1].outcome.as_deref(), Some("failed"));
    assert_eq!(sessions[1].log, ["one", "out of memory \\u001b[31m"]);
    assert!(folder.file("worker.log").exists());
    assert_eq!(snapshot(&folder).provenance, sessions);
}

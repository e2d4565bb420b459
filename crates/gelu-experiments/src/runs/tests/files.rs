use super::*;
use crate::Error;
use crate::environment::here;
use crate::measure::{NoiseMetrics, Outcomes, TestGroups};
use std::fs;

fn snapshot(folder: &RunFolder) -> RunSnapshot {
    folder.snapshot(&spec(), SILENCE)
}

#[test]
fn what_a_process_left_that_was_killed_while_it_made_the_folder_is_removed() {
    let parent = tempfile::tempdir().unwrap();
    let name = spec().folder_name();
    let others = format!(".new-{}-abcdef", RunSpec { seed: 2, ..spec() }.folder_name());
    for left in [&format!(".new-{name}-abcdef"), &others] {
        fs::create_dir(parent.path().join(left)).unwrap();
        fs::write(parent.path().join(left).join("run.toml"), "vers").unwrap();
    }
    RunFolder::create(parent.path(), &spec()).unwrap();
    assert_eq!(names(parent.path()), [others, name]);
}

#[test]
fn metrics_survive_being_written_and_read_to_the_last_bit() {
    let (_parent, folder) = folder();
    claim(&folder).publish_metrics(&epochs(3)).unwrap();
    assert_eq!(*snapshot(&folder).epochs, epochs(3));
}

#[test]
fn measures_under_noise_are_read_back() {
    let (_parent, folder) = folder();
    assert_eq!(snapshot(&folder).noise, []);
    let noise = NoiseMetrics { amplitude: 0.2, test_loss: 1.0 / 3.0, test_error: Some(0.1) };
    claim(&folder).set_noise(&[noise, NoiseMetrics { test_error: None, ..noise }]).unwrap();
    let read = snapshot(&folder).noise;
    assert_eq!((read.len(), read[0], read[1].test_error), (2, noise, None));
}

/// Of four test examples, `wrong` of which are wrong, at `epoch`.
fn outcomes(epoch: usize, wrong: usize) -> Outcomes {
    let bits = (0..4).map(|example| example < wrong).collect();
    Outcomes::of_errors(epoch, TestGroups::of_sizes([3, 1]), bits)
}

/// A run that is finished, with a quarter of the test examples wrong after every epoch.
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
    assert_eq!((read.outcomes, read.warnings.len()), (None, 0), "older runs have none");
    claim(&folder).set_outcomes(&outcomes(last, 1)).unwrap();
    assert_eq!(snapshot(&folder).outcomes.as_deref(), Some(&outcomes(last, 1)));
    for other in [outcomes(last - 1, 1), outcomes(last, 2)] {
        claim(&folder).set_outcomes(&other).unwrap();
        let read = snapshot(&folder);
        assert_eq!((read.outcomes, read.status), (None, RunStatus::Finished));
        assert!(read.warnings[0].contains("outcomes.bin"), "{:?}", read.warnings);
    }
}

#[test]
fn outcomes_that_are_damaged_are_a_warning_and_those_of_an_unfinished_run_are_not_read() {
    let (_parent, folder) = folder();
    let last = finished(&folder);
    claim(&folder).set_outcomes(&outcomes(last, 1)).unwrap();
    fs::write(folder.file("outcomes.bin"), "half").unwrap();
    let read = snapshot(&folder);
    assert_eq!((read.outcomes, read.status, read.epochs.len()), (None, RunStatus::Finished, last));
    assert!(read.warnings[0].contains("outcomes.bin: is cut short"), "{:?}", read.warnings);
    claim(&folder).set_status(RunStatus::Interrupted, 9.0).unwrap();
    let read = snapshot(&folder);
    assert_eq!((read.outcomes, read.warnings.len()), (None, 0));
}

#[test]
fn the_last_two_checkpoints_are_kept() {
    let (_parent, folder) = folder();
    let run = claim(&folder);
    assert_eq!(folder.checkpoint().unwrap().0, None);
    for (epoch, content) in [(1, "one"), (2, "two"), (3, "three")] {
        run.commit_checkpoint(epoch, &epochs(epoch), write_model(content)).unwrap();
    }
    let (checkpoint, damaged) = folder.checkpoint().unwrap();
    let checkpoint = checkpoint.unwrap();
    assert_eq!((checkpoint.epoch, &checkpoint.metrics), (3, &epochs(3)));
    assert_eq!(fs::read_to_string(checkpoint.path.join("model.bpk")).unwrap(), "three");
    assert!(damaged.is_empty());
    assert!(folder.file("checkpoint-0002").exists() && !folder.file("checkpoint-0001").exists());
    run.clear_checkpoints().unwrap();
    assert_eq!(folder.checkpoint().unwrap().0, None);
}

#[test]
fn a_damaged_checkpoint_falls_back_to_the_one_before() {
    let damages: &[fn(&Path)] = &[
        |path| fs::write(path.join("model.bpk"), "twO").unwrap(),
        |path| fs::write(path.join("model.bpk"), "tw").unwrap(),
        |path| fs::remove_file(path.join("model.bpk")).unwrap(),
        |path| fs::write(path.join("metrics.csv"), "").unwrap(),
        |path| fs::write(path.join("SHA256SUMS"), "").unwrap(),
        |path| fs::remove_file(path.join("SHA256SUMS")).unwrap(),
        |path| fs::write(path.join("SHA256SUMS"), "0  ../../../etc/passwd\n").unwrap(),
    ];
    for (index, damage) in damages.iter().enumerate() {
        let (_parent, folder) = folder();
        let run = claim(&folder);
        run.commit_checkpoint(1, &epochs(1), write_model("one")).unwrap();
        run.commit_checkpoint(2, &epochs(2), write_model("two")).unwrap();
        damage(&folder.file("checkpoint-0002"));
        let (checkpoint, damaged) = folder.checkpoint().unwrap();
        assert_eq!(checkpoint.unwrap().epoch, 1, "damage {index}");
        assert!(damaged[0].to_string().contains("checkpoint-0002"), "{}", damaged[0]);
        run.discard_checkpoints_after(1).unwrap();
        assert!(folder.checkpoint().unwrap().1.is_empty());
    }
}

#[test]
fn a_checkpoint_can_be_checked_with_the_tools_of_the_system() {
    let (_parent, folder) = folder();
    claim(&folder).commit_checkpoint(1, &epochs(1), write_model("one")).unwrap();
    let checked = std::process::Command::new("sha256sum")
        .args(["--check", "--strict", "SHA256SUMS"])
        .current_dir(folder.file("checkpoint-0001"))
        .output();
    match checked {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => eprintln!("skipped: there is no sha256sum here: {error}"),
    }
}

#[test]
fn failed_or_half_checkpoint_is_never_seen() {
    let (_parent, folder) = folder();
    let run = claim(&folder);
    run.commit_checkpoint(1, &epochs(1), write_model("one")).unwrap();
    let refuse = |_: &Path| Err(Error::Usage("disk full".to_owned()));
    assert!(run.commit_checkpoint(2, &epochs(2), refuse).is_err());
    assert_eq!(folder.checkpoint().unwrap().0.unwrap().epoch, 1);
    run.commit_checkpoint(3, &epochs(3), write_model("three")).unwrap();
    assert_eq!(folder.checkpoint().unwrap().0.unwrap().epoch, 3);
    drop(run);
    assert_eq!(names(&folder.file("free-0001")), [""; 0], "nothing half done is left over");
}

#[test]
fn running_without_a_living_process_is_interrupted() {
    let (_parent, folder) = folder();
    assert_eq!(snapshot(&folder).status, RunStatus::Waiting);
    let run = claim(&folder);
    run.set_status(RunStatus::Running, 1.5).unwrap();
    let running = snapshot(&folder);
    assert_eq!((running.status, running.seconds), (RunStatus::Running, 1.5));
    drop(run);
    assert_eq!(snapshot(&folder).status, RunStatus::Interrupted);
}

#[test]
fn a_damaged_file_is_a_warning_and_the_others_still_count() {
    let (_parent, folder) = folder();
    let run = claim(&folder);
    run.publish_metrics(&epochs(2)).unwrap();
    run.set_status(RunStatus::Interrupted, 1.0).unwrap();
    drop(run);
    fs::write(folder.file("status.json"), "{\"state\":\"fin").unwrap();
    let read = snapshot(&folder);
    assert_eq!((read.status, read.epochs.len()), (RunStatus::Interrupted, 2));
    assert!(read.warnings[0].contains("status.json"), "{:?}", read.warnings);

    let text = fs::read_to_string(folder.file("metrics.csv")).unwrap().replace("\n2,", "\n3,");
    fs::write(folder.file("metrics.csv"), text).unwrap();
    let warnings = snapshot(&folder).warnings;
    assert!(warnings[0].contains("line 3") && warnings[0].contains("epoch 3"), "{warnings:?}");
    assert_eq!(warnings.len(), 2);
}

/// The text with one cell of its first record replaced.
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
    run.set_noise(&[noise]).unwrap();
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
fn epochs_that_are_doubled_or_out_of_order_are_warnings() {
    let (_parent, folder) = folder();
    claim(&folder).publish_metrics(&epochs(3)).unwrap();
    let text = fs::read_to_string(folder.file("metrics.csv")).unwrap();
    let [header, one, two, three] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    for (lines, place) in [
        ([header, one, one, two], "line 3: epoch 1 stands where 2"),
        ([header, two, one, three], "line 2: epoch 2 stands where 1"),
        ([header, one, three, two], "line 3: epoch 3 stands where 2"),
    ] {
        fs::write(folder.file("metrics.csv"), lines.join("\n")).unwrap();
        let warnings = snapshot(&folder).warnings;
        assert!(warnings[0].contains(place), "{warnings:?}");
    }
}

#[test]
fn a_status_that_cannot_be_is_a_warning() {
    let (_parent, folder) = folder();
    let planned = spec().training.epochs;
    let run = claim(&folder);
    run.set_model(b"weights").unwrap();
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
fn what_a_terminal_would_obey_does_not_come_out_of_a_file() {
    let (_parent, folder) = folder();
    let written = r#"{"state":"failed","reason":"\u001b[2Jred\u009b\u202e\nline","seconds":1.0}"#;
    fs::write(folder.file("status.json"), written).unwrap();
    let expected = RunStatus::Failed { reason: r"\u001b[2Jred\u009b\u202e\u000aline".into() };
    assert_eq!(snapshot(&folder).status, expected);
}

#[test]
fn a_finished_run_is_finished_whatever_became_of_its_status() {
    let (_parent, folder) = folder();
    let planned = spec().training.epochs;
    let run = claim(&folder);
    run.set_model(b"weights").unwrap();
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

#[test]
fn no_file_is_private_to_its_writer_and_none_is_open_to_all() {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let (parent, folder) = folder();
        fs::write(parent.path().join("file"), "").unwrap();
        fs::create_dir(parent.path().join("folder")).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (file, dir) = (mode(&parent.path().join("file")), mode(&parent.path().join("folder")));
        let run = claim(&folder);
        run.commit_checkpoint(1, &epochs(1), write_model("one")).unwrap();
        run.set_status(RunStatus::Running, 0.0).unwrap();
        assert_eq!(mode(folder.path()), dir);
        let mut seen = 0;
        let mut unseen = vec![folder.path().to_path_buf()];
        while let Some(path) = unseen.pop() {
            seen += 1;
            match path.is_dir() {
                true => {
                    assert_eq!(mode(&path), dir, "{}", path.display());
                    unseen.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
                }
                false => assert_eq!(mode(&path), file, "{}", path.display()),
            }
        }
        assert!(seen > 8, "{seen}");
    }
}

use super::*;
use crate::Error;
use crate::environment::Environment;
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
    assert_eq!(snapshot(&folder).epochs, epochs(3));
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
    epochs.iter_mut().for_each(|epoch| epoch.test_error = Some(0.25));
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
    let here = Environment::here(&"flex".parse().unwrap(), 1);
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
    assert_eq!(sessions[1].log, ["one", "out of memory \\u{1b}[31m"]);
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

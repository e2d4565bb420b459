use super::*;
use crate::Error;
use std::fs;

fn snapshot(folder: &RunFolder) -> RunSnapshot {
    folder.snapshot(&spec(), SILENCE)
}

#[test]
fn what_a_process_left_that_was_killed_while_it_made_the_folder_is_removed() {
    let parent = tempfile::tempdir().unwrap();
    let name = spec().folder_name();
    let mut other = spec();
    other.seed = 2;
    let others = format!(".new-{}-abcdef", other.folder_name());
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
fn a_checkpoint_of_files_holds_these_alone_whatever_it_overwrites() {
    let (_parent, folder) = folder();
    let run = claim(&folder);
    for (epoch, model) in
        ["of one", "two", "", "the fourth", "v", "six", "seven"].iter().enumerate()
    {
        let epoch = epoch + 1;
        // Some epochs have a file that others have not.
        let more: &[(&str, &[u8])] =
            if epoch % 3 == 1 { &[("outcomes.bin", b"right")] } else { &[] };
        let files = [&[("model.bpk", model.as_bytes())], more].concat();
        run.commit_files(epoch, &epochs(epoch), &files).unwrap();
        let (checkpoint, damaged) = folder.checkpoint().unwrap();
        let checkpoint = checkpoint.unwrap();
        assert!(damaged.is_empty(), "{damaged:?}");
        assert_eq!((checkpoint.epoch, &checkpoint.metrics), (epoch, &epochs(epoch)));
        assert_eq!(fs::read_to_string(checkpoint.path.join("model.bpk")).unwrap(), *model);
        let mut expected = vec!["SHA256SUMS", "metrics.csv", "model.bpk"];
        expected.extend(more.iter().map(|(name, _)| name));
        assert_eq!(names(&checkpoint.path), expected);
        let kept =
            names(folder.path()).iter().filter(|name| name.starts_with("checkpoint")).count();
        assert_eq!(kept, epoch.min(2));
    }
    drop(run);
    assert_eq!(names(&folder.file("free-0001")), [""; 0], "nothing is left over");
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
fn epochs_that_are_doubled_or_out_of_order_are_warnings() {
    let (_parent, folder) = folder();
    claim(&folder).publish_metrics(&epochs(3)).unwrap();
    let text = fs::read_to_string(folder.file("metrics.csv")).unwrap();
    let [header, one, two, three] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    for (lines, place) in [
        ([header, one, one, two], "line 3: expected epoch 2, found epoch 1"),
        ([header, two, one, three], "line 2: expected epoch 1, found epoch 2"),
        ([header, one, three, two], "line 3: expected epoch 2, found epoch 3"),
    ] {
        fs::write(folder.file("metrics.csv"), lines.join("\n")).unwrap();
        let warnings = snapshot(&folder).warnings;
        assert!(warnings[0].contains(place), "{warnings:?}");
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

use super::examples::{claim, die, die_in_session, folder};
use crate::files::steps::steps;
use crate::measure::EpochMetrics;
use crate::runs::{Environment, RunStatus, Spec};
use std::fs;

fn epochs(count: usize) -> Vec<EpochMetrics> {
    (1..=count).map(|epoch| EpochMetrics::new(epoch).with("test_error", 0.5)).collect()
}

#[test]
fn only_the_deaths_in_the_epoch_under_way_count() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, spec) = folder(parent.path());
    for done in 0..3 {
        claim(&folder, &spec).publish_metrics(&epochs(done)).unwrap();
        die_in_session(&folder, &spec, done, "boom");
    }
    let deaths = || claim(&folder, &spec).deaths_in_this_epoch().unwrap();
    assert_eq!(deaths().iter().map(|death| death.epochs_before).collect::<Vec<_>>(), [2]);
    die_in_session(&folder, &spec, 2, "boom");
    let deaths = deaths();
    assert_eq!(deaths.len(), 2);
    assert!(deaths.iter().all(|death| death.log == ["boom"]));
}

#[test]
fn a_session_that_has_ended_has_not_died_though_its_process_did() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, spec) = folder(parent.path());
    let run = claim(&folder, &spec);
    run.begin_session(&Environment::of_this_machine(), 0).unwrap();
    run.end_session(&RunStatus::Interrupted, 1).unwrap();
    die(run);
    die_in_session(&folder, &spec, 1, "");
    let run = claim(&folder, &spec);
    let outcomes: Vec<_> =
        run.folder().provenance().unwrap().into_iter().map(|session| session.outcome).collect();
    assert_eq!(outcomes, [Some("interrupted".to_owned()), Some("died".to_owned())]);
}

#[test]
fn each_holder_has_files_of_its_own_and_an_old_one_is_the_first() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, spec) = folder(parent.path());
    fs::write(folder.file("told.jsonl"), "old").unwrap();
    for stranger in ["told-x.jsonl", "told-1.jsonl", "told-0001.json", "told-0000.jsonl"] {
        fs::write(folder.file(stranger), "").unwrap();
    }
    let first = claim(&folder, &spec);
    let own = first.place_own("told.jsonl", "first").unwrap();
    assert_eq!(own, folder.file("told-0001.jsonl"));
    die(first);
    let second = claim(&folder, &spec);
    let found = second.generations("told.jsonl").unwrap();
    assert_eq!(found, [folder.file("told.jsonl"), folder.file("told-0001.jsonl")]);
    // The version of a later holder must not appear.
    fs::write(folder.file("told-0003.jsonl"), "").unwrap();
    assert_eq!(second.generations("told.jsonl").unwrap().len(), 2);
    let made = second.place_own_folder("kept", |kept| {
        fs::write(kept.join("state"), "1").map_err(crate::Error::io("write", kept))
    });
    assert_eq!(fs::read_to_string(made.unwrap().join("state")).unwrap(), "1");
}

#[test]
fn the_end_of_a_run_is_on_the_disk_and_its_beginning_need_not_be() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, spec) = folder(parent.path());
    let run = claim(&folder, &spec);
    let finished = steps(|| {
        run.keep_metrics(&epochs(1)).unwrap();
        run.set_status(RunStatus::Finished, 1.0).unwrap();
    });
    let (run_name, runs) = (spec.folder_name(), parent.path().file_name().unwrap());
    let folders = [format!("sync {run_name}"), format!("sync {}", runs.to_string_lossy())];
    let files =
        ["sync metrics.csv", "rename metrics.csv", "sync status.json", "rename status.json"];
    assert_eq!(finished[..4], files);
    assert_eq!(&finished[4..], if cfg!(unix) { &folders[..] } else { &[] });
    let begun = steps(|| run.set_status(RunStatus::Running, 1.0).unwrap());
    assert_eq!(begun, ["rename status.json"]);
    // A trained network cannot be derived from other files.
    let network = steps(|| run.set_file("model.bpk", b"weights").unwrap());
    let all = ["sync model.bpk", "rename model.bpk", &folders[0]];
    assert_eq!(network, if cfg!(unix) { &all[..] } else { &all[..2] });
}

#[test]
fn a_checkpoint_is_on_the_disk_before_it_has_its_name() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, spec) = folder(parent.path());
    let run = claim(&folder, &spec);
    let write = |path: &std::path::Path| {
        fs::write(path.join("x"), "1").map_err(crate::Error::io("write", path))
    };
    let steps = steps(|| run.commit_checkpoint(1, &epochs(1), write).unwrap());
    let renamed = steps.iter().position(|step| step == "rename checkpoint-0001").unwrap();
    let before = &steps[..renamed];
    for file in ["sync x", "sync metrics.csv", "sync SHA256SUMS"] {
        assert!(before.contains(&file.to_owned()), "{file}: {steps:?}");
    }
    if cfg!(unix) {
        assert!(before.last().unwrap().ends_with("-checkpoint"), "the folder itself: {steps:?}");
        assert!(steps[renamed + 1..].contains(&format!("sync {}", spec.folder_name())));
    }
}

#[test]
fn a_checkpoint_that_overwrites_another_is_on_the_disk_before_it_has_its_name() {
    let parent = tempfile::tempdir().unwrap();
    let (folder, spec) = folder(parent.path());
    let run = claim(&folder, &spec);
    for epoch in 1..=5 {
        // The fourth is the first that finds files to overwrite, and the fifth has another one.
        let name = if epoch == 5 { "y" } else { "x" };
        let files: [(&str, &[u8]); 1] = [(name, b"1")];
        let steps = steps(|| run.commit_files(epoch, &epochs(epoch), &files).unwrap());
        let renamed = format!("rename checkpoint-{epoch:04}");
        let renamed = steps.iter().position(|step| *step == renamed).unwrap();
        for file in [name, "metrics.csv", "SHA256SUMS"] {
            assert!(steps[..renamed].contains(&format!("sync {file}")), "{file}: {steps:?}");
        }
        if cfg!(unix) {
            let of_folder = steps[..renamed].contains(&"sync spare".to_owned());
            assert_eq!(of_folder, epoch != 4, "where its names are new: {steps:?}");
            assert!(steps[renamed + 1..].contains(&format!("sync {}", spec.folder_name())));
        }
    }
}

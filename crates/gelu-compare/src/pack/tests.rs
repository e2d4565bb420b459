use super::*;
use crate::comparison::SnapshotReader;
use crate::program::ProgramRecipe;
use crate::runs::Snapshot;
use crate::runs::examples::{plan, specs};
use crate::runs::{Comparison, RunStatus};
use std::fs::{self, File};
use std::io::{Cursor, Write};
use std::path::Path;
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Creates a comparison with a finished run of two epochs and a run that diverged in its first epoch; they have
/// different metrics.
fn folder(parent: &Path) {
    let (made, _) = Comparison::create(parent, &plan(), |_, _| false).unwrap();
    let files = [
        (
            "{\"state\":\"finished\",\"seconds\":0.1}",
            "epoch,test_error,lr,valid_error\n1,0.30000000000000004,,\n2,1e-300,0.5,\n",
        ),
        ("{\"state\":\"diverged\",\"epoch\":1,\"seconds\":2.0}", "epoch,test_error\n"),
    ];
    for (spec, (status, metrics)) in specs().iter().zip(files) {
        let run = made.run(spec).unwrap();
        fs::write(run.file("status.json"), status).unwrap();
        fs::write(run.file("metrics.csv"), metrics).unwrap();
        fs::write(
            run.file("provenance-0003.json"),
            "{\"host\":\"a\",\"started\":\"now\",\"epochs_before\":0}",
        )
        .unwrap();
        fs::write(run.file("model.bpk"), vec![7; 100_000]).unwrap();
        fs::create_dir(run.file("checkpoint-0001")).unwrap();
    }
}

fn snapshot(folder: &Path) -> Snapshot {
    let mut snapshot = SnapshotReader::<ProgramRecipe>::open(folder).unwrap().snapshot();
    // A leftover checkpoint of a complete run causes a warning, and the packed file does not contain it.
    snapshot.runs.iter_mut().for_each(|run| run.warnings.clear());
    snapshot.warnings.clear();
    snapshot
}

fn packed() -> (TempDir, Snapshot) {
    let parent = tempfile::tempdir().unwrap();
    folder(&parent.path().join("whole"));
    let snapshot = snapshot(&parent.path().join("whole"));
    let packed = pack(&parent.path().join("whole"), &snapshot, None).unwrap();
    assert_eq!((packed.runs, packed.left_out), (2, 0));
    assert!(packed.bytes.len() < 10_000, "networks stay behind");
    fs::write(parent.path().join("it.zip"), packed.bytes).unwrap();
    (parent, snapshot)
}

#[test]
fn a_packed_comparison_says_what_its_folder_said() {
    let (parent, before) = packed();
    let (file, restored) = (parent.path().join("it.zip"), parent.path().join("again"));
    unpack(&file, &restored).unwrap();
    assert_eq!(snapshot(&restored), before);
    assert_eq!(before.runs[0].epochs.last().unwrap().get("test_error"), Some(1e-300));
    assert!(matches!(before.runs[1].status, RunStatus::Diverged { epoch: 1 }));
    let opened = open(&file).unwrap();
    assert!(opened.is_packed() && is_packed(&file) && !is_packed(&restored));
    assert_eq!(snapshot(opened.path()), before);
    let table = scores(&file).unwrap().expect("a packed comparison has a table of scores");
    assert_eq!(String::from_utf8(table).unwrap().lines().count(), 3);
    assert!(scores(&restored).unwrap().is_none());
    // The temporary folder goes with the value, and `open` returns a folder that is not packed unchanged.
    let place = opened.path().to_path_buf();
    drop(opened);
    assert!(!place.exists());
    assert_eq!(open(&restored).unwrap().path(), restored);
    // Packing the restored folder gives the same file.
    let again = pack(&restored, &before, None).unwrap();
    assert_eq!(fs::read(file).unwrap(), again.bytes);
}

#[test]
fn a_packed_comparison_goes_on_once_its_folder_is_restored() {
    let (parent, _) = packed();
    let (file, beside) = (parent.path().join("it.zip"), parent.path().join("it"));
    let restored = |file: &Path| crate::cli::restored(file.to_path_buf()).unwrap();
    assert_eq!(restored(&file), beside);
    let (_, there) = Comparison::create(&beside, &plan(), |_, _| false).unwrap();
    assert_eq!(there, plan());
    assert_eq!(restored(&file), beside);
    let error = unpack(&file, &beside).unwrap_err().to_string();
    assert!(error.contains("exists already"), "{error}");
}

#[test]
fn a_run_that_is_not_over_is_left_out() {
    let parent = tempfile::tempdir().unwrap();
    folder(parent.path());
    let run = &snapshot(parent.path()).runs[1].folder;
    fs::remove_file(parent.path().join("runs").join(run).join("status.json")).unwrap();
    let packed = pack(parent.path(), &snapshot(parent.path()), None).unwrap();
    assert_eq!((packed.runs, packed.left_out), (1, 1));
}

/// Writes a zip with the given entries.
fn archive(path: &Path, entries: &[(&str, &str)]) {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    fs::write(path, writer.finish().unwrap().into_inner()).unwrap();
}

#[test]
fn files_of_anybody_are_refused_with_their_place_and_leave_nothing_behind() {
    let parent = tempfile::tempdir().unwrap();
    let (file, out) = (parent.path().join("it.zip"), parent.path().join("out"));
    let run = |name: &str| {
        format!(r#"[{{"run": "{name}", "settings": {{}}, "status": {{}}, "sessions": []}}]"#)
    };
    let refusal = || unpack(&file, &out).unwrap_err().to_string();
    fs::write(&file, "no zip").unwrap();
    assert!(refusal().contains("is not a packed comparison"), "{}", refusal());
    archive(&file, &[("holiday.jpg", "")]);
    assert!(refusal().contains("is not a packed comparison"), "{}", refusal());
    for name in ["../up", "/etc", ".hidden", "", "a/b", "a\\\\b"] {
        archive(&file, &[("comparison.toml", ""), ("runs.json", &run(name))]);
        assert!(refusal().contains("cannot be the name of a run's folder"), "{}", refusal());
    }
    archive(&file, &[("comparison.toml", ""), ("runs.json", "[{]")]);
    assert!(refusal().contains("runs.json"), "{}", refusal());
    let table = ("metrics.csv", "run,epoch\nb,1\n");
    archive(&file, &[("comparison.toml", ""), ("runs.json", &run("a")), table]);
    assert!(refusal().contains("lines of `b`"), "{}", refusal());
    archive(
        &file,
        &[("comparison.toml", ""), ("runs.json", &run("a")), ("metrics.csv", "epoch\n1\n")],
    );
    assert!(refusal().contains("the first column is not `run`"), "{}", refusal());
    // A file that is cut short anywhere is an error, and `unpack` removes what it has written.
    let (whole, _) = packed();
    let bytes = fs::read(whole.path().join("it.zip")).unwrap();
    for length in (0..bytes.len()).step_by(37) {
        File::create(&file).unwrap().write_all(&bytes[..length]).unwrap();
        assert!(unpack(&file, &out).is_err() && !out.exists(), "{length} of {} bytes", bytes.len());
    }
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
}

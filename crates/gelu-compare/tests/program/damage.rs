//! Folders of runs with files that are damaged, half-written, in the way, or impossible.

use super::processes::{
    Process, ends, epochs_of, hold, leases, paced, release, status, wait_for_held, with,
};
use gelu_compare::testing::{results, wait};
use std::fs;

const RUNNING: &str = "{\"state\":\"running\",\"seconds\":1.0}";

#[test]
fn half_written_files_are_never_trusted() {
    let sandbox = paced();
    let arguments = with("compare", "out", &[]);
    sandbox.run(&arguments).success();
    let run = sandbox.runs("out").remove(0);
    let whole = results(&run);

    // A state that a kill can leave: a partial checkpoint in the lease, a table that lacks epochs, and a status that
    // says running.
    fs::write(run.join("metrics.csv"), "epoch,test_error\n1,0.5\n").unwrap();
    fs::write(run.join("status.json"), RUNNING).unwrap();
    let free = fs::read_dir(&run).unwrap().map(|entry| entry.unwrap().path());
    let free = free.into_iter().find(|path| path.to_string_lossy().contains("/free-")).unwrap();
    fs::create_dir(free.join("3-checkpoint")).unwrap();
    fs::write(free.join("3-checkpoint/x"), "0.").unwrap();
    sandbox.run(&arguments).success();
    assert!(results(&run) == whole, "the run is carried out anew to the same result");
    assert_eq!(ends(&run), 2);

    // A state that no kill leaves: a complete checkpoint that is damaged.
    fs::write(run.join("status.json"), RUNNING).unwrap();
    fs::create_dir(run.join("checkpoint-0001")).unwrap();
    for part in ["x", "ballast", "metrics.csv", "SHA256SUMS"] {
        fs::write(run.join("checkpoint-0001").join(part), "damaged").unwrap();
    }
    sandbox.run(&arguments).success();
    assert!(results(&run) == whole, "a damaged checkpoint is left out");
    assert_eq!(ends(&run), 3);
    assert!(!run.join("checkpoint-0001").exists(), "no checkpoint is left over");
}

#[test]
fn one_damaged_run_stops_nobody() {
    let sandbox = paced();
    let arguments = with("compare", "out", &["--compare", "rate=3.6,3.7,3.8"]);
    sandbox.run(&arguments).success();
    let runs = sandbox.runs("out");
    let whole: Vec<_> = runs.iter().map(|run| results(run)).collect();
    fs::write(runs[0].join("status.json"), "{\"state\":").unwrap();
    fs::write(runs[1].join("metrics.csv"), "neither,this\n1,2\n").unwrap();
    for command in [["report", "out"], ["watch", "out"]] {
        let process = Process::start(&mut sandbox.command(&command));
        // `watch` waits for runs that are not over, as the damaged ones may not be.
        wait("both warnings", || {
            let said = process.said();
            said.contains("status.json") && said.contains("metrics.csv")
        });
    }
    let again = sandbox.run(&arguments).success();
    assert!(!again.contains(" rate 3.8 "), "what is finished stays so: {again}");
    let mended: Vec<_> = runs.iter().map(|run| results(run)).collect();
    assert!(mended == whole);
    let report = sandbox.run(&["report", "out"]);
    assert!(!report.stderr().contains("status.json"), "{}", report.stderr());
    report.success();
}

#[test]
fn a_run_whose_checkpoints_cannot_be_removed_is_finished_all_the_same() {
    let sandbox = paced();
    hold(&sandbox, 1);
    let arguments = with("compare", "out", &["--set", "epochs=2", "--jobs", "1", "--plain"]);
    let process = Process::start(&mut sandbox.command(&arguments));
    wait_for_held(&sandbox, 1);
    // The program renames files before it deletes them. These files block the new names, so it cannot. There are more
    // of them than the run uses.
    let lease = leases(&sandbox.runs("out")[0]).remove(0);
    for number in 0..400 {
        fs::write(lease.join(format!("{number}-discarded")), "").unwrap();
    }
    release(&sandbox);
    process.ended().success();
    let run = sandbox.runs("out").remove(0);
    assert!(run.join("checkpoint-0002").exists(), "the test has not prevented its removal");
    let warning = "checkpoint-0002: is left over from a run that is complete; remove it";
    // The warning comes from a command that looks when no process holds the run any more, which may be after the end
    // of the comparison.
    let said = sandbox.run(&["report", "out"]).stderr();
    assert!(said.contains("gelu-compare: warning: ") && said.contains(warning), "{said}");
    assert!(status(&run).contains("finished"), "{}", status(&run));
    assert_eq!(epochs_of(&run), 2);
    let log = fs::read_to_string(run.join("worker.log")).unwrap();
    assert!(log.contains("cannot remove") && log.contains("checkpoint-0002"), "{log}");
    // After the user has followed the advice, the warning is gone.
    for checkpoint in ["checkpoint-0001", "checkpoint-0002"] {
        fs::remove_dir_all(run.join(checkpoint)).unwrap();
    }
    let again = sandbox.run(&arguments);
    assert_eq!((again.code(), again.stderr().as_str()), (0, ""));
}

/// Each impossible number in a run's files gives a warning about the run, and nothing panics.
#[test]
fn numbers_that_nothing_measures_are_warnings() {
    let sandbox = paced();
    sandbox.run(&["compare", "--seeds", "2", "--set", "epochs=1", "--out", "made"]).success();
    let run = sandbox.runs("made")[0].clone();
    let metrics = fs::read_to_string(run.join("metrics.csv")).unwrap();
    let (header, record) = metrics.trim_end().split_once('\n').unwrap();
    let (measures, _) = record.rsplit_once(',').unwrap();
    let with = |value: &str| format!("{header}\n{measures},{value}\n");
    let seconds = |value: &str| format!(r#"{{"state":"finished","seconds":{value}}}"#);
    for (file, content) in [
        ("metrics.csv", with("NaN")),
        ("metrics.csv", with("-inf")),
        ("metrics.csv", format!("{metrics}{record}\n")),
        ("status.json", seconds("-1.0")),
        ("status.json", seconds("1e300")),
    ] {
        let path = run.join(file);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &content).unwrap();
        for command in [["report", "made"], ["runs", "made"]] {
            let outcome = sandbox.run(&command);
            let said = outcome.stdout() + &outcome.stderr();
            let warned = said.contains(&format!("{file}: ")) && !said.contains("panicked");
            assert!(outcome.code() == 0 && warned, "{command:?}, {content}: {said}");
        }
        fs::write(&path, whole).unwrap();
    }
}

//! Tests that kill the program and start it again.

use crate::support::document::{Document, EpochMetrics};
use crate::support::{Sandbox, outcomes, results_of, small, snapshot};
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Waits for a condition to become true.
#[track_caller]
fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn killed_and_resumed_runs_end_as_if_never_killed() {
    let sandbox = Sandbox::new();
    ends_as_if_never_killed(&sandbox, |out| {
        small("gelu,relu", "8", &["--dropout", "0.5", "--probe", "--out", out])
    });
}

#[test]
fn a_formula_is_learned_as_if_never_killed() {
    ends_as_if_never_killed(&Sandbox::new(), |out| {
        let what = ["compare", "symbolic", "--activations", "gelu,relu", "--seeds", "1"];
        let how = ["--formulas", "sine-cosine", "--epochs", "16", "--out", out];
        [&what[..], &how].concat()
    });
}

#[test]
fn pictures_and_mirror_images_take_turns_as_if_never_killed() {
    let sandbox = Sandbox::new();
    sandbox.run(&["data", "synth", "cifar10", "data", "--train", "60", "--test", "10"]).success();
    ends_as_if_never_killed(&sandbox, |out| {
        let what = ["compare", "airbench-small", "--data", "data", "--activations", "gelu,relu"];
        let how = ["--seeds", "1", "--epochs", "8", "--batch-size", "10", "--out", out];
        [&what[..], &how].concat()
    });
}

#[test]
fn the_network_of_the_best_epoch_is_kept_however_often_a_run_was_killed() {
    let sandbox = Sandbox::new();
    let recipe = include_str!("../../recipes/digits.toml");
    let best = "selection = \"valid-loss\"\nreported = \"best-epoch\"";
    fs::write(sandbox.path("best.toml"), recipe.replace("selection = \"valid-error\"", best))
        .unwrap();
    let more = ["--recipe", "best.toml", "--learning-rates", "1e-2", "--dropout", "0", "--out"];
    ends_as_if_never_killed(&sandbox, |out| small("gelu,relu", "8", &[&more[..], &[out]].concat()));

    // The saved network is the one that the table reports, and not that of the last epoch.
    let document = sandbox.run(&["report", "pieces", "--json"]).success();
    let document: Document = serde_json::from_str(&document).unwrap();
    let evaluated = sandbox.run(&["eval", "pieces", "--json"]).success();
    let evaluated: serde_json::Value = serde_json::from_str(&evaluated).unwrap();
    let snapshot = snapshot(&sandbox.path("pieces"));
    let mut earlier = 0;
    for (run, evaluation) in document.runs.iter().zip(evaluated.as_array().unwrap()) {
        let loss = |epoch: &&EpochMetrics| epoch.valid_loss.unwrap();
        let best = run.epochs.iter().min_by(|a, b| loss(a).total_cmp(&loss(b))).unwrap();
        assert_eq!(evaluation["activation"], run.activation);
        assert_eq!(evaluation["valid_loss"].as_f64(), best.valid_loss);
        assert_eq!(evaluation["test_loss"].as_f64(), best.test_loss);
        let read = snapshot
            .runs
            .iter()
            .find(|read| {
                let key = &read.key;
                (key.setting.text("activation"), key.seed) == (run.activation.clone(), run.seed)
                    && key.setting.number("lr") == run.learning_rate
            })
            .unwrap();
        let outcomes = outcomes(read).unwrap();
        assert_eq!((outcomes.epoch(), Some(outcomes.mean())), (best.epoch, best.test_error));
        earlier += usize::from(best.epoch < run.epochs.len());
    }
    assert!(earlier > 0, "somewhere the last epoch is not the best");
}

/// Runs a comparison without interruption, and again with repeated kills, and compares all files.
#[track_caller]
fn ends_as_if_never_killed<'a>(sandbox: &Sandbox, arguments: impl Fn(&'a str) -> Vec<&'a str>) {
    sandbox.run(&arguments("whole")).success();

    // Killed repeatedly, each time after some progress.
    let folder = sandbox.path("pieces");
    let epochs = || -> usize {
        let runs = fs::read_dir(folder.join("runs")).into_iter().flatten().flatten();
        let lines = |path| fs::read_to_string(path).map_or(0, |text: String| text.lines().count());
        runs.map(|run| lines(run.path().join("metrics.csv"))).sum()
    };
    let mut kills = 0;
    for _ in 0..4 {
        let before = epochs();
        let mut process = sandbox
            .command(&arguments("pieces"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_for("progress", || epochs() > before || process.try_wait().unwrap().is_some());
        kills += usize::from(process.try_wait().unwrap().is_none());
        process.kill().unwrap();
        process.wait().unwrap();
    }
    assert!(kills >= 2, "the comparison was killed in the middle {kills} times");
    sandbox.run(&arguments("pieces")).success();

    let (whole, pieces) = (sandbox.runs("whole"), sandbox.runs("pieces"));
    assert_eq!((whole.len(), pieces.len()), (2, 2));
    for (whole, pieces) in whole.iter().zip(&pieces) {
        assert!(results_of(whole) == results_of(pieces), "{} differs", pieces.display());
        let left: Vec<_> = fs::read_dir(pieces).unwrap().map(|e| e.unwrap().file_name()).collect();
        let checkpoint = left.iter().find(|name| name.to_string_lossy().starts_with("checkpoint"));
        assert_eq!(checkpoint, None, "no checkpoint is left over");
    }
}

#[test]
fn half_written_files_are_never_trusted() {
    let sandbox = Sandbox::new();
    let arguments = small("gelu", "3", &[]);
    sandbox.run(&arguments).success();
    let run = sandbox.runs("results/digits").remove(0);
    let whole = results_of(&run);
    let running = "{\"state\":\"running\",\"seconds\":1.0}";

    // A state that a kill can leave: a partial checkpoint in the lease, and a status that says running.
    fs::remove_file(run.join("model.bpk")).unwrap();
    fs::remove_file(run.join("outcomes.bin")).unwrap();
    fs::write(run.join("status.json"), running).unwrap();
    let free = fs::read_dir(&run).unwrap().map(|entry| entry.unwrap().path());
    let free = free.into_iter().find(|path| path.to_string_lossy().contains("/free-")).unwrap();
    fs::create_dir(free.join("3-checkpoint")).unwrap();
    fs::write(free.join("3-checkpoint/model.bpk"), "half").unwrap();
    sandbox.run(&arguments).success();
    assert!(results_of(&run) == whole, "the run is trained anew to the same result");

    // A state that no kill leaves: a complete checkpoint that is damaged.
    fs::remove_file(run.join("model.bpk")).unwrap();
    fs::write(run.join("status.json"), running).unwrap();
    fs::create_dir(run.join("checkpoint-0001")).unwrap();
    for part in ["model.bpk", "optimizer.bpk", "scheduler.bpk", "metrics.csv"] {
        fs::write(run.join("checkpoint-0001").join(part), "damaged").unwrap();
    }
    sandbox.run(&arguments).success();
    assert!(results_of(&run) == whole, "a damaged checkpoint is left out");
}

#[test]
fn one_damaged_run_stops_nobody() {
    let sandbox = Sandbox::new();
    sandbox.run(&small("gelu,relu", "2", &[])).success();
    let runs = sandbox.runs("results/digits");
    fs::write(runs[0].join("status.json"), "{\"state\":").unwrap();
    fs::write(runs[1].join("noise.csv"), "neither,this\n1,2\n").unwrap();
    for command in [["report", "results/digits"], ["watch", "results/digits"]] {
        let outcome = sandbox.run(&command);
        assert_eq!(outcome.code(), 0, "{}", outcome.stderr());
        let said = outcome.stderr();
        assert!(said.contains("status.json") && said.contains("noise.csv"), "{said}");
    }
    let again = sandbox.run(&small("gelu,relu", "2", &[]));
    assert_eq!(again.code(), 0, "{}", again.stderr());
    assert!(!again.stdout().contains("epoch 1/2"), "what is finished stays so: {}", again.stdout());
}

#[test]
fn a_run_whose_checkpoints_cannot_be_removed_is_finished_all_the_same() {
    let sandbox = Sandbox::new();
    // Slow enough that the following steps come before its end.
    let arguments =
        ["compare", "--seeds", "1", "--activations", "gelu", "--epochs", "2", "--plain"];
    let arguments = [&arguments[..], &["--batch-size", "2", "--out", "out"]].concat();
    let mut command = sandbox.command(&arguments);
    let process = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lease = || Some(sandbox.runs("out").first()?.join("lease-0001"));
    wait_for("the run to be taken", || {
        lease().is_some_and(|lease| lease.join("worker.log").exists())
    });
    // The program renames files before it deletes them. These files block the new names, so it cannot. There are more
    // of them than the run uses, and few enough to be written before it ends.
    let lease = lease().unwrap();
    for number in 0..400 {
        fs::write(lease.join(format!("{number}-discarded")), "").unwrap();
    }
    let ended = process.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{said}");
    let run = sandbox.runs("out").remove(0);
    let left = run.join("checkpoint-0002");
    assert!(left.exists(), "the test has not prevented its removal");
    let warning = "checkpoint-0002: is left over from a run that is complete; remove it";
    // The warning comes from a command that looks when no process holds the run any more, which may be after the end
    // of the comparison.
    let said = sandbox.run(&["report", "out"]).stderr();
    assert!(said.contains("gelu: warning: ") && said.contains(warning), "{said}");
    let status = fs::read_to_string(run.join("status.json")).unwrap();
    assert!(status.contains("finished"), "{status}");
    let log = fs::read_to_string(run.join("worker.log")).unwrap();
    assert!(log.contains("cannot remove") && log.contains("checkpoint-0002"), "{log}");
    // After the user has followed the advice, the warning is gone.
    for checkpoint in ["checkpoint-0001", "checkpoint-0002"] {
        fs::remove_dir_all(run.join(checkpoint)).unwrap();
    }
    let again = sandbox.run(&arguments);
    assert_eq!((again.code(), again.stderr().as_str()), (0, ""));
}

#[test]
fn another_recipe_into_the_same_folder_is_refused_and_a_wider_one_joins() {
    let sandbox = Sandbox::new();
    sandbox.run(&small("gelu", "2", &[])).success();
    let before = fs::read(sandbox.path("results/digits/comparison.toml")).unwrap();
    let said = sandbox.run(&small("gelu", "3", &[])).refused(1, "training.epochs is 2 there and 3");
    assert!(said.contains("--out"), "{said}");
    sandbox.run(&small("relu", "2", &[])).refused(1, "activation has gelu there");
    assert_eq!(fs::read(sandbox.path("results/digits/comparison.toml")).unwrap(), before);
    let wider = sandbox.run(&small("gelu,relu", "2", &["--plain"])).success();
    assert!(wider.contains("relu lr 0.001 dropout 0.3 seed 1  epoch 2/2"), "{wider}");
    assert!(!wider.contains("gelu lr 0.001 dropout 0.3 seed 1  epoch"), "{wider}");
    assert_eq!(sandbox.runs("results/digits").len(), 2);
}

#[cfg(unix)]
#[test]
fn a_termination_request_ends_with_130_and_loses_nothing_finished() {
    let sandbox = Sandbox::new();
    let arguments = small("gelu", "5000", &[]);
    let process = sandbox.command(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let process = process.unwrap();
    let metrics = || {
        let run = sandbox.runs("results/digits").into_iter().next()?;
        fs::read_to_string(run.join("metrics.csv")).ok()
    };
    wait_for("the third epoch", || {
        sandbox.path("results/digits/runs").exists()
            && metrics().is_some_and(|text| text.lines().count() > 3)
    });
    let id = process.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let output = process.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("interrupted; everything finished so far is saved in results/digits"),
        "{said}"
    );
    assert!(metrics().unwrap().lines().count() > 3);
    assert!(sandbox.path("results/digits/results.json").exists());
}

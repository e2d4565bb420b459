//! Networks of several kinds are the same, to the bit, however often their program was killed. gelu-compare's tests have
//! what a killed process does to the files of a run.

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
    let more =
        ["--recipe", "best.toml", "--learning-rates", "1e-2", "--dropout", "0", "--probe", "--out"];
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

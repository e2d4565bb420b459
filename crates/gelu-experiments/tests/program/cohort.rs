//! Runs that train as one program are, to the byte, those that train alone.

use crate::support::{Sandbox, results_of};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Two formulas of different shapes, and activations of each.
fn formulas<'a>(out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["compare", "symbolic", "--activations", "gelu,relu,tanh"];
    arguments.extend(["--formulas", "runge,wave=sin(3*x)*y", "--seeds", "3", "--jobs", "1"]);
    arguments.extend(["--train-limit", "250", "--out", out]);
    arguments.extend(more);
    arguments
}

/// Classes, with dropout and two learning rates.
fn digits<'a>(out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["compare", "digits", "--activations", "gelu,relu", "--seeds", "2"];
    arguments.extend(["--dropout", "0.5,0", "--learning-rates", "1e-2,1e-3", "--jobs", "1"]);
    arguments.extend(["--train-limit", "300", "--out", out]);
    arguments.extend(more);
    arguments
}

/// The largest number of runs that trained as one, as the runs' sessions say.
fn largest_cohort(run: &Path) -> u64 {
    let sessions = gelu_compare::runs::RunFolder::at(run).provenance().unwrap();
    let of = |session: &gelu_compare::runs::Provenance| {
        session.environment.0.get("cohort").and_then(serde_json::Value::as_u64).unwrap_or(1)
    };
    sessions.iter().map(of).max().unwrap()
}

#[track_caller]
fn are_the_same(sandbox: &Sandbox, expected: &str, found: &str) {
    let (expected, found) = (sandbox.runs(expected), sandbox.runs(found));
    assert_eq!(expected.len(), found.len());
    assert!(expected.len() > 3);
    for (expected, found) in expected.iter().zip(&found) {
        assert_eq!(expected.file_name(), found.file_name());
        assert!(results_of(expected) == results_of(found), "{}", found.display());
    }
}

#[test]
fn runs_of_a_cohort_are_those_that_train_alone() {
    let sandbox = Sandbox::new();
    for (kind, arguments) in
        [("f", formulas as fn(&'static str, &[&'static str]) -> _), ("d", digits)]
    {
        let (alone, together) = match kind {
            "f" => ("f-alone", "f-together"),
            _ => ("d-alone", "d-together"),
        };
        sandbox.run(&arguments(alone, &["--epochs", "3", "--cohort", "1"])).success();
        sandbox.run(&arguments(together, &["--epochs", "3", "--cohort", "5"])).success();
        are_the_same(&sandbox, alone, together);
        let sizes =
            |out| -> Vec<u64> { sandbox.runs(out).iter().map(|run| largest_cohort(run)).collect() };
        assert!(sizes(alone).iter().all(|&size| size == 1));
        assert_eq!(sizes(together).into_iter().max(), Some(5));
    }
}

#[test]
fn a_killed_cohort_goes_on_as_another_or_alone() {
    let sandbox = Sandbox::new();
    sandbox.run(&digits("whole", &["--epochs", "6", "--cohort", "1"])).success();
    let folder = sandbox.path("pieces");
    let epochs = || -> usize {
        let runs = fs::read_dir(folder.join("runs")).into_iter().flatten().flatten();
        let lines = |path| fs::read_to_string(path).map_or(0, |text: String| text.lines().count());
        runs.map(|run| lines(run.path().join("metrics.csv"))).sum()
    };
    let mut kills = 0;
    for cohort in ["4", "3", "1", "16"] {
        let before = epochs();
        let mut process = sandbox
            .command(&digits("pieces", &["--epochs", "6", "--cohort", cohort]))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while epochs() == before && process.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "an epoch takes no minute");
            std::thread::sleep(Duration::from_millis(5));
        }
        kills += usize::from(process.try_wait().unwrap().is_none());
        process.kill().unwrap();
        process.wait().unwrap();
    }
    assert!(kills > 2, "it is killed while it trains");
    sandbox.run(&digits("pieces", &["--epochs", "6", "--cohort", "2"])).success();
    are_the_same(&sandbox, "whole", "pieces");
}

#[cfg(unix)]
#[test]
fn a_cohort_that_is_asked_to_end_publishes_all_its_epochs() {
    let sandbox = Sandbox::new();
    let asked = digits("ended", &["--epochs", "5000", "--cohort", "4"]);
    let process = sandbox.command(&asked).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut process = process.unwrap();
    let published = |run: &Path| {
        let table = fs::read_to_string(run.join("metrics.csv"));
        table.map_or(0, |table| table.lines().count().saturating_sub(1))
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    let is_begun = || {
        let runs = if sandbox.path("ended/runs").exists() { sandbox.runs("ended") } else { vec![] };
        runs.iter().filter(|run| published(run) > 2).count() == 4
    };
    while !is_begun() {
        assert!(Instant::now() < deadline, "three epochs of four runs take no minute");
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = process.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(process.wait().unwrap().code(), Some(130));
    let trained = sandbox.runs("ended").into_iter().map(|run| {
        let sessions = gelu_compare::runs::RunFolder::at(&run).provenance().unwrap();
        let trained = sessions.last().and_then(|session| session.epochs_after).unwrap();
        assert_eq!(published(&run), trained, "{}", run.display());
        trained
    });
    let trained: Vec<usize> = trained.collect();
    assert!(trained.len() == 4 && trained[0] > 2, "{trained:?}");
    // The request may come between two of them.
    let (least, most) = (trained.iter().min().unwrap(), trained.iter().max().unwrap());
    assert!(most - least <= 1, "{trained:?}");
}

#[test]
fn a_run_that_diverges_ends_and_the_others_go_on() {
    let sandbox = Sandbox::new();
    let rates = ["--epochs", "3", "--learning-rates", "3e-3,1e30"];
    for (out, cohort) in [("alone", "1"), ("together", "8")] {
        let more = [&rates[..], &["--cohort", cohort]].concat();
        sandbox.run(&formulas(out, &more));
    }
    let (alone, together) = (sandbox.runs("alone"), sandbox.runs("together"));
    assert_eq!((alone.len(), together.len()), (36, 36));
    let mut diverged = 0;
    for (alone, together) in alone.iter().zip(&together) {
        let status = |run: &Path| {
            let file = gelu_compare::runs::RunFolder::at(run).status().unwrap();
            file.status.to_string()
        };
        assert_eq!(status(alone), status(together), "{}", together.display());
        match status(alone).contains("diverged") {
            true => diverged += 1,
            false => assert!(results_of(alone) == results_of(together), "{}", together.display()),
        }
    }
    assert_eq!(diverged, 18);
}

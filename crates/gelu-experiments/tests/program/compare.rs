//! End-to-end tests of `gelu compare` with the real program.

use crate::support::document::{Document, EpochMetrics};
use crate::support::{Sandbox, results_of, small};
use gelu_compare::comparison::Verdict;
use gelu_compare::comparison::statistics::Schedule;
use gelu_learner::networks::NoiseMetrics;
use std::fs;

/// Returns the arguments for both activations and three epochs.
fn both<'a>(more: &[&'a str]) -> Vec<&'a str> {
    small("gelu,relu", "3", more)
}

#[test]
fn comparison_trains_reports_and_repeats_nothing() {
    let sandbox = Sandbox::new();
    let text = sandbox.run(&both(&["--plain"])).success();
    for expected in ["epoch 3/3", "SYNTHETIC DATA", "GELU", "ReLU", "Results in results/digits"] {
        assert!(text.contains(expected), "{expected:?} is missing in:\n{text}");
    }
    for name in ["results.json", "results.csv", "table.md", "curves.svg", "curves.png"] {
        assert!(sandbox.path("results/digits").join(name).exists(), "{name} is missing");
    }
    let runs = sandbox.runs("results/digits");
    let made: Vec<_> =
        runs.iter().map(|r| fs::metadata(r.join("model.bpk")).unwrap().modified()).collect();
    let again = sandbox.run(&both(&["--plain"])).success();
    assert!(!again.contains("epoch 1/3"), "finished runs are not repeated:\n{again}");
    let now: Vec<_> =
        runs.iter().map(|r| fs::metadata(r.join("model.bpk")).unwrap().modified()).collect();
    assert!(made.iter().zip(&now).all(|(a, b)| a.as_ref().unwrap() == b.as_ref().unwrap()));
}

#[test]
fn json_is_one_document_and_nothing_else() {
    let sandbox = Sandbox::new();
    let arguments = both(&["--json", "--dropout", "0,0.5"]);
    let text = sandbox.run(&arguments).success();
    let document: Document = serde_json::from_str(&text).unwrap();
    assert_eq!(document.schema, "gelu-comparison/5");
    assert!(document.data.synthetic);
    assert_eq!((document.runs.len(), document.arms.len()), (4, 4));
    for run in &document.runs {
        assert_eq!((run.status.as_str(), run.epochs.len()), ("finished", 3));
        let (first, last) = (&run.epochs[0], &run.epochs[2]);
        assert!(last.train_loss < first.train_loss, "{} learns: {run:?}", run.activation);
        for error in [last.train_error, last.valid_error, last.test_error] {
            assert!((0.0..=1.0).contains(&error.unwrap()), "errors are fractions");
        }
    }
    assert_eq!(text, fs::read_to_string(sandbox.path("results/digits/results.json")).unwrap());
}

#[test]
fn one_seed_is_one_result_whatever_runs_beside_it() {
    let sandbox = Sandbox::new();
    sandbox.run(&both(&["--out", "a", "--jobs", "1", "--dropout", "0.3"])).success();
    sandbox.run(&both(&["--out", "b", "--jobs", "2", "--dropout", "0.3"])).success();
    for (a, b) in sandbox.runs("a").iter().zip(&sandbox.runs("b")) {
        assert_eq!(a.file_name(), b.file_name());
        assert!(results_of(a) == results_of(b), "{} differs", a.display());
    }
}

#[test]
fn activations_with_one_seed_start_from_the_same_weights() {
    let sandbox = Sandbox::new();
    // With a learning rate that is practically 0 from the first batch on, the first epoch leaves the initial weights
    // unchanged.
    let recipe = include_str!("../../recipes/digits.toml");
    let falling = "schedule = { kind = \"steps\", after = [0.0], factor = 1e-60 }\noptimizer = ";
    fs::write(sandbox.path("frozen.toml"), recipe.replace("optimizer = ", falling)).unwrap();
    sandbox.run(&small("gelu,relu", "1", &["--recipe", "frozen.toml", "--dropout", "0"])).success();
    let weights: Vec<_> =
        sandbox.runs("results/digits").iter().map(|run| results_of(run).1).collect();
    assert_eq!(weights.len(), 2);
    assert!(weights[0] == weights[1]);
}

#[test]
fn the_same_setting_twice_is_one_setting() {
    let sandbox = Sandbox::new();
    let arguments = small(
        "relu,relu",
        "1",
        &["--learning-rates", "1e-3,0.001", "--dropout", "0,0.0", "--json"],
    );
    let document: Document = serde_json::from_str(&sandbox.run(&arguments).success()).unwrap();
    assert_eq!((document.runs.len(), document.arms.len()), (1, 1));
    let runs: Vec<_> = document.arms.iter().map(|a| (a.finished, a.edge)).collect();
    assert_eq!(runs, [(1, None)]);
}

#[test]
fn seeds_are_added_until_every_comparison_is_decided() {
    let sandbox = Sandbox::new();
    // ReLU next to a network that hardly learns; the test decides at the first possible seed.
    let arguments = [
        "compare",
        "--train-limit",
        "600",
        "--epochs",
        "4",
        "--activations",
        "relu,soi,relu",
        "--until-decided",
        "--max-seeds",
        "15",
        "--json",
    ];
    let text = sandbox.run(&arguments).success();
    let document: Document = serde_json::from_str(&text).unwrap();
    let [difference] = &document.differences[..] else { panic!("{:?}", document.differences) };
    let seeds = document.runs.iter().map(|run| run.seed).max();
    assert_eq!(document.criterion.schedule, Schedule::until_decided(15));
    match difference.finding.verdict {
        Verdict::Undecided => assert_eq!((difference.finding.seeds, seeds), (15, Some(15))),
        _ => assert_eq!(Some(difference.finding.seeds as u64), seeds),
    }
    assert!(document.runs.iter().all(|run| run.status == "finished"));
    // A second call gives the same result and trains nothing.
    assert_eq!(sandbox.run(&arguments).success(), text);
}

#[test]
fn seeds_that_are_added_to_the_planned_ones_have_their_price() {
    let sandbox = Sandbox::new();
    let words = ["compare", "--activations", "gelu,relu", "--epochs", "1", "--train-limit", "600"];
    let compare = |seeds: &str| -> Document {
        let arguments = [&words[..], &["--seeds", seeds, "--json"]].concat();
        serde_json::from_str(&sandbox.run(&arguments).success()).unwrap()
    };
    let first = compare("2");
    assert_eq!((first.criterion.schedule, first.criterion.alpha), (Schedule::fixed(2), 0.05));
    let further = compare("3");
    let added: Vec<u64> = further.criterion.added_seeds.iter().map(|added| added.seeds).collect();
    assert_eq!((further.criterion.schedule, added), (Schedule::fixed(2), vec![3]));
    assert!(further.criterion.added_seeds[0].at.ends_with('Z'));
    let finding = &further.differences[0].finding;
    // 0.05 · (1 + ½ · (1 − 2/3)).
    assert_eq!(finding.seeds, 3);
    assert!((finding.alpha_spent - 0.05 * (1.0 + 0.5 / 3.0)).abs() < 1e-12, "{finding:?}");
    assert!(finding.sentence.contains("2 seeds were planned"), "{}", finding.sentence);
    assert!(finding.sentence.contains("rises from 5% to 5.83%"), "{}", finding.sentence);
    // Asking for the planned number resumes with all seeds there are.
    assert_eq!(compare("2").criterion, further.criterion);
    let late = [&words[..], &["--until-decided"]].concat();
    sandbox.run(&late).refused(1, "its 2 seeds were planned to be judged once");
}

#[test]
fn a_run_beside_the_plan_is_shown_and_changes_no_verdict() {
    let sandbox = Sandbox::new();
    let limit = ["--epochs", "1", "--train-limit", "600"];
    let words = ["compare", "--activations", "gelu,relu", "--seeds", "2"];
    sandbox.run(&[&words[..], &limit].concat()).success();
    let report = || -> Document {
        let text = sandbox.run(&["report", "results/digits", "--json"]).success();
        serde_json::from_str(&text).unwrap()
    };
    let before = report();
    for (rate, seed) in [("0.01", "1"), ("0.001", "9")] {
        let beside = ["train", "--activation", "relu", "--learning-rate", rate, "--seed", seed];
        sandbox.run(&[&beside[..], &limit].concat()).success();
    }
    let after = report();
    assert_eq!((before.runs.len(), after.runs.len()), (4, 6));
    assert_eq!(after.runs.iter().filter(|run| !run.planned).count(), 2);
    assert_eq!(after.differences, before.differences);
    let edges: Vec<_> = after.arms.iter().map(|entry| entry.edge).collect();
    assert_eq!(edges, [None, None], "no rate was chosen");
    let text = sandbox.run(&["report", "results/digits"]).success();
    assert!(text.contains("2 of 6 runs are not in the plan"), "{text}");
}

#[test]
fn a_part_of_the_report_that_fails_is_named_at_the_end() {
    let sandbox = Sandbox::new();
    sandbox.run(&both(&[])).success();
    let curves = sandbox.path("results/digits/curves.png");
    fs::remove_file(&curves).unwrap();
    fs::create_dir(&curves).unwrap();
    fs::remove_file(sandbox.path("results/digits/results.json")).unwrap();
    let ended = sandbox.run(&both(&["--plain"]));
    assert!(ended.stdout().contains("GELU") && ended.stdout().contains("curves.svg"));
    ended.refused(1, "curves.png");
    assert!(sandbox.path("results/digits/results.json").exists());
}

#[test]
fn diverged_runs_are_marked_and_the_others_go_on() {
    let sandbox = Sandbox::new();
    let document: Document = serde_json::from_str(
        &sandbox.run(&both(&["--learning-rates", "1e-3,1e30", "--json"])).success(),
    )
    .unwrap();
    for run in &document.runs {
        let expected = if run.learning_rate > 1.0 { "diverged" } else { "finished" };
        assert_eq!(run.status, expected, "{run:?}");
        assert_eq!(run.diverged_in_epoch.is_some(), run.learning_rate > 1.0);
    }
    assert!(document.arms.iter().all(|entry| entry.best_learning_rate == 1e-3));
}

#[test]
fn eval_says_what_learnable_gelus_have_learned() {
    let sandbox = Sandbox::new();
    sandbox.run(&small("gelu,learnable-gelu", "1", &["--plain"])).success();
    let text = sandbox.run(&["eval", "results/digits", "--json"]).success();
    let evaluated: serde_json::Value = serde_json::from_str(&text).unwrap();
    let [gelu, learnable] = evaluated.as_array().unwrap().as_slice() else { panic!("{text}") };
    assert!(gelu.get("learned").is_none());
    let layers = learnable["learned"].as_array().unwrap();
    assert_eq!((layers.len(), layers[7]["layer"].as_str()), (8, Some("hidden.7")));
    for layer in layers {
        let of = |name: &str, end: &str| layer[name][end].as_f64().unwrap();
        assert!(of("mean", "lowest") < of("mean", "highest"), "it has learned: {layer}");
        assert!(of("standard_deviation", "lowest") > 0.0);
    }
    let table = sandbox.run(&["eval", "results/digits"]).success();
    assert!(table.contains("hidden.7") && table.contains('σ'), "{table}");
}

#[test]
fn eval_adds_noise_to_what_was_measured_before() {
    let sandbox = Sandbox::new();
    sandbox.run(&small("gelu", "1", &["--plain"])).success();
    let measured = |amplitudes: &str| {
        let table = sandbox.run(&["eval", "results/digits", "--noise", amplitudes]).success();
        let (_, noisy) = table.split_once("Under noise from Unif[-a, a]\n").expect(&table);
        let rows = noisy.lines().filter(|line| line.contains("GELU")).count();
        assert_eq!(rows, amplitudes.split(',').count(), "{table}");
        let text = sandbox.run(&["report", "results/digits", "--json"]).success();
        serde_json::from_str::<Document>(&text).unwrap().runs.remove(0).noise
    };
    let before = measured("0,1");
    let after = measured("2,1");
    assert_eq!(after.iter().map(|point| point.amplitude).collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
    assert_eq!(after[..2], before);
}

#[test]
fn noise_is_a_function_of_the_amplitude_alone() {
    let sandbox = Sandbox::new();
    let recipe = include_str!("../../recipes/digits.toml");
    let noisy = format!("{recipe}\n[noise]\namplitudes = [1.0, 0.3]\n");
    fs::write(sandbox.path("noisy.toml"), noisy).unwrap();
    let recipe = ["--recipe", "noisy.toml", "--dropout", "0", "--json"];
    let text = sandbox.run(&small("gelu", "1", &recipe)).success();
    let trained = serde_json::from_str::<Document>(&text).unwrap().runs.remove(0).noise;
    let evaluated = |amplitudes: &str| -> Vec<NoiseMetrics> {
        let text =
            sandbox.run(&["eval", "results/digits", "--json", "--noise", amplitudes]).success();
        let all: serde_json::Value = serde_json::from_str(&text).unwrap();
        serde_json::from_value(all[0]["noise"].clone()).unwrap()
    };
    let [one, third] = trained[..] else { panic!("{trained:?}") };
    assert_eq!((one.amplitude, third.amplitude), (1.0, 0.3));
    assert_ne!(one.test_loss, third.test_loss);
    assert_eq!(evaluated("1"), [one]);
    assert_eq!(evaluated("0,1")[1], one);
    assert_eq!(evaluated("2,0.3,0,1")[1..], [third, evaluated("0")[0], one]);
}

#[test]
fn report_eval_and_watch_read_finished_runs() {
    let sandbox = Sandbox::new();
    let document: Document =
        serde_json::from_str(&sandbox.run(&both(&["--json"])).success()).unwrap();
    let folder = "results/digits";

    let reported = sandbox.run(&["report", folder, "--out", "again", "--json"]).success();
    assert_eq!(serde_json::from_str::<Document>(&reported).unwrap(), document);
    assert!(sandbox.path("again/curves.png").exists());

    let evaluated = sandbox.run(&["eval", folder, "--json"]).success();
    let evaluated: serde_json::Value = serde_json::from_str(&evaluated).unwrap();
    for (evaluation, run) in evaluated.as_array().unwrap().iter().zip(&document.runs) {
        let last = run.epochs.last().unwrap();
        assert_eq!(
            evaluation["test_loss"].as_f64(),
            last.test_loss,
            "the saved model is the trained one"
        );
        assert_eq!(evaluation["valid_error"].as_f64(), last.valid_error);
    }

    let watched = sandbox.run(&["watch", folder, "--plain"]).success();
    assert_eq!(watched.matches("  epoch ").count(), 6);
    sandbox.run(&["watch", folder, "--picture", "picture.svg"]).success();
    assert!(fs::read_to_string(sandbox.path("picture.svg")).unwrap().starts_with("<svg"));

    fs::remove_file(sandbox.runs(folder)[1].join("model.bpk")).unwrap();
    let said = sandbox.run(&["eval", folder]).refused(1, "model.bpk, is not kept with it");
    assert!(
        said.contains(sandbox.runs(folder)[1].file_name().unwrap().to_str().unwrap()),
        "{said}"
    );
}

#[test]
fn train_makes_the_same_run_as_compare() {
    let sandbox = Sandbox::new();
    sandbox.run(&both(&["--plain"])).success();
    let mut arguments = vec!["train", "--epochs", "3", "--train-limit", "600", "--out", "single"];
    arguments.extend(["--activation", "relu"]);
    let text = sandbox.run(&arguments).success();
    assert!(text.contains("relu lr 0.001 dropout 0.3 seed 1: finished"), "{text}");
    let single = &sandbox.runs("single")[0];
    let compared = sandbox.path("results/digits/runs").join(single.file_name().unwrap());
    assert!(results_of(single) == results_of(&compared));
    sandbox.run(&["report", "single"]).success();
}

#[test]
fn train_says_what_the_epoch_measured_that_counts() {
    let sandbox = Sandbox::new();
    let recipe = include_str!("../../recipes/digits.toml");
    let best = "selection = \"valid-error\"\nreported = \"best-epoch\"";
    fs::write(sandbox.path("best.toml"), recipe.replace("selection = \"valid-error\"", best))
        .unwrap();
    let mut arguments = vec!["train", "--recipe", "best.toml", "--epochs", "4", "--out", "single"];
    // At such a high rate, any epoch may be the best.
    arguments.extend(["--train-limit", "600", "--learning-rate", "0.1"]);
    let text = sandbox.run(&arguments).success();
    let report = sandbox.run(&["report", "single", "--json"]).success();
    let run = serde_json::from_str::<Document>(&report).unwrap().runs.remove(0);
    let counts = &run.epochs[run.reported_epoch.unwrap() - 1];
    let error = |epoch: &EpochMetrics| epoch.valid_error.unwrap();
    let lowest = run.epochs.iter().map(error).fold(f64::INFINITY, f64::min);
    assert_eq!(counts.valid_error, Some(lowest));
    let line = text.lines().find(|line| line.starts_with("epoch ")).unwrap();
    assert!(line.starts_with(&format!("epoch {}/4 ", counts.epoch)), "{text}");
    let error = format!("test error {:.2} %", counts.test_error.unwrap() * 100.0);
    assert!(line.contains(&error) && line.ends_with("(of 4, the best by valid-error)"), "{text}");
}

#[test]
fn recipes_can_be_files() {
    let sandbox = Sandbox::new();
    let recipe = include_str!("../../recipes/digits.toml").replace("depth = 8", "depth = 2");
    fs::write(sandbox.path("mine.toml"), recipe.replace("name = \"digits\"", "name = \"mine\""))
        .unwrap();
    let text = sandbox.run(&both(&["--recipe", "mine.toml"])).success();
    assert!(text.contains("Results in results/mine"), "{text}");
}

#[test]
fn probes_say_what_the_layers_do_and_change_nothing_else() {
    let sandbox = Sandbox::new();
    sandbox.run(&both(&["--out", "plain"])).success();
    let text = sandbox.run(&both(&["--out", "probed", "--probe"])).success();
    assert!(text.contains("layers.csv, ") && text.contains("layers.svg"), "{text}");
    let metrics = |out: &str| -> Vec<String> {
        let of = |run: &std::path::PathBuf| fs::read_to_string(run.join("metrics.csv")).unwrap();
        sandbox.runs(out).iter().map(of).collect()
    };
    for (plain, probed) in metrics("plain").iter().zip(metrics("probed")) {
        assert_eq!(plain.lines().count(), 4);
        for (plain, probed) in plain.lines().zip(probed.lines()) {
            let layers = probed.strip_prefix(plain).expect("the same numbers stand before");
            // Eight measures of eight layers.
            assert_eq!(layers.matches(',').count(), 64, "{probed}");
        }
    }
    let layers = fs::read_to_string(sandbox.path("probed/layers.csv")).unwrap();
    let of = |name: &str| -> Vec<f64> {
        let lines = layers.lines().filter(|line| line.contains(&format!(",{name},")));
        lines.map(|line| line.split(',').nth(6).unwrap().parse().unwrap()).collect()
    };
    // GELU's eight layers, then ReLU's: about half of a ReLU's outputs are 0, and none of a GELU's.
    let zeros = of("zeros");
    assert!(zeros[..8].iter().all(|share| *share < 0.01), "{zeros:?}");
    assert!(zeros[8..].iter().all(|share| (0.3..0.9).contains(share)), "{zeros:?}");
    assert!(of("gradient").iter().all(|norm| *norm > 0.0));
    assert!(of("rank").iter().all(|rank| (1.0..=128.0).contains(rank)));
    let page = fs::read_to_string(sandbox.path("probed/report.html")).unwrap();
    assert!(page.contains("What the layers do") && page.contains("id=\"layers\""));
    assert!(
        page.contains(" --probe") && !page.contains("recipe.toml"),
        "the command needs no file"
    );
    let plain = fs::read_to_string(sandbox.path("plain/report.html")).unwrap();
    assert!(!plain.contains("What the layers do") && !sandbox.path("plain/layers.csv").exists());
}

//! Tests of programs with their own networks, started as a user would start them: the examples, which `cargo test`
//! builds.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "programs/keys.rs"]
mod keys;

#[path = "programs/resume.rs"]
mod resume;

use gelu_compare::testing::{Sandbox, results};
use gelu_learner::{Setting, Trained};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::Value;
use std::fs;
use std::io::Read;

const POINTS: [&str; 6] = [
    "--compare",
    "activation=gelu,mine=max(x,0)*tanh(x)",
    "--tune",
    "learning_rate=0.01",
    "--seeds",
    "1",
];

fn with<'a>(command: &'a str, out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&[command, "--out", out], more].concat()
}

#[test]
fn a_run_that_was_killed_ends_with_the_same_bits() {
    let sandbox = Sandbox::of_example("own_network");
    sandbox.run(&with("compare", "whole", &POINTS)).success();
    sandbox.run(&with("submit", "pieces", &POINTS)).success();
    sandbox.killed_workers("pieces", 6);
    sandbox.run(&["work", "pieces"]).success();
    sandbox.are_equal("whole", "pieces");
}

/// Each device gets a worker; on the CPU, two workers share one device.
#[test]
fn several_devices_train_side_by_side_to_the_same_numbers() {
    let sandbox = Sandbox::of_example("own_network");
    sandbox.run(&with("compare", "one", &POINTS)).success();
    let devices = [&POINTS[..], &["--devices", "flex,flex"]].concat();
    sandbox.run(&with("compare", "two", &devices)).success();
    sandbox.are_equal("one", "two");
    let refused = |more: &[&str], why: &str| {
        sandbox.run(&with("compare", "no", &[&POINTS[..], more].concat())).refused(2, why);
    };
    refused(&["--devices", "flex,flex:1"], "no index");
    refused(&["--device", "flex", "--devices", "flex,flex"], "cannot be used with");
}

/// The program of the page *From PyTorch* learns sin(3a)·b, whose mean square over the test points is near 1/4.
#[test]
fn the_program_of_from_pytorch_trains() {
    let sandbox = Sandbox::of_example("from_pytorch");
    sandbox.run(&with("train", "one", &["--set", "activation=tanh"])).success();
    let report = sandbox.run(&["report", "one", "--json"]).success();
    let report: Value = serde_json::from_str(&report).unwrap();
    let epochs = report["runs"][0]["epochs"].as_array().unwrap();
    assert_eq!(epochs.len(), 10);
    assert!(epochs[9]["test_loss"].as_f64().unwrap() < 0.05, "{}", epochs[9]);
}

#[test]
fn so_does_one_whose_batcher_draws_on_the_device_and_whose_best_epoch_counts() {
    let sandbox = Sandbox::of_example("own_sequences");
    let more = ["--seeds", "2", "--best-epoch", "--select", "valid_accuracy"];
    sandbox.run(&with("compare", "whole", &more)).success();
    sandbox.run(&with("submit", "pieces", &more)).success();
    sandbox.killed_workers("pieces", 6);
    sandbox.run(&["work", "pieces"]).success();
    sandbox.are_equal("whole", "pieces");
    let report = sandbox.run(&["report", "pieces", "--json"]).success();
    let report: Value = serde_json::from_str(&report).unwrap();
    // Higher accuracy is better, so the best epoch is that of the highest accuracy.
    for run in report["runs"].as_array().unwrap() {
        let accuracy = |epoch: &Value| epoch["valid_accuracy"].as_f64().unwrap();
        let epochs = run["epochs"].as_array().unwrap();
        let best = epochs.iter().map(accuracy).fold(0.0, f64::max);
        let reported = run["reported_epoch"].as_u64().unwrap() as usize;
        assert_eq!(accuracy(&epochs[reported - 1]), best);
        // The network's one activation layer is probed.
        let zeros = epochs[0]["layer_1_zeros"].as_f64().unwrap();
        assert_eq!(zeros > 0.1, run["activation"] == "relu", "{zeros}");
        assert!(epochs[0]["layer_1_gradient"].as_f64().unwrap() > 0.0);
        assert!(epochs[0].get("layer_2_zeros").is_none());
    }
}

#[test]
fn several_workers_and_jobs_come_to_the_same_bits_as_one() {
    let sandbox = Sandbox::of_example("own_network");
    let compare = |out, jobs| {
        sandbox.run(&with(
            "compare",
            out,
            &[&POINTS[..4], &["--seeds", "2", "--jobs", jobs]].concat(),
        ))
    };
    compare("one", "1").success();
    compare("two", "2").success();
    sandbox.are_equal("one", "two");
    sandbox.run(&with("submit", "workers", &[&POINTS[..4], &["--seeds", "2"]].concat())).success();
    let workers = [0, 1].map(|_| sandbox.command(&["work", "workers"]).spawn().unwrap());
    for mut worker in workers {
        assert!(worker.wait().unwrap().success());
    }
    sandbox.are_equal("one", "workers");
}

#[test]
fn one_run_by_hand_is_that_of_the_comparison() {
    let sandbox = Sandbox::of_example("own_network");
    sandbox.run(&with("compare", "all", &POINTS)).success();
    let set = ["--set", "activation=mine=max(x,0)*tanh(x)", "--set", "learning_rate=0.01"];
    let said = sandbox.run(&with("train", "one", &set)).success();
    assert!(said.contains("epoch 10  ") && said.contains("finished"), "{said}");
    let one = &sandbox.runs("one")[0];
    let same = sandbox.path("all/runs").join(one.file_name().unwrap());
    assert!(results(one) == results(&same));
    sandbox.run(&["train", "--set", "depth=3"]).refused(2, "no axis depth; there are: activation");
    sandbox.run(&["train", "--set", "learning_rate=1e-2,1e-3"]).refused(2, "given several values");
    sandbox.run(&["compare", "--device", "abacus"]).refused(2, "there are: flex");
}

#[test]
fn one_of_burns_schedulers_goes_on_where_it_was() {
    let sandbox = Sandbox::of_example("odd_network");
    let more = ["--compare", "fault=scheduled,none", "--each", "epochs=400", "--seeds", "1"];
    sandbox.run(&with("compare", "whole", &more)).success();
    sandbox.run(&with("submit", "pieces", &more)).success();
    sandbox.killed_workers("pieces", 3);
    sandbox.run(&["work", "pieces"]).success();
    sandbox.are_equal("whole", "pieces");
    let report = sandbox.run(&["report", "pieces", "--json"]).success();
    let report: Value = serde_json::from_str(&report).unwrap();
    let mut runs = report["runs"].as_array().unwrap().iter();
    let scheduled = runs.find(|run| run["fault"] == "scheduled").unwrap();
    let rates: Vec<f64> = scheduled["epochs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|epoch| epoch["learning_rate"].as_f64().unwrap())
        .collect();
    // The last batch of 400 epochs is at the end of half a cosine.
    assert!(rates.is_sorted_by(|a, b| a > b), "{rates:?}");
    assert!((rates[199] - 5e-3).abs() < 1e-5 && rates[399] < 1e-6, "{rates:?}");
}

#[test]
fn burns_display_has_the_terminal_where_there_is_one() {
    let sandbox = Sandbox::of_example("odd_network");
    let size = PtySize { rows: 40, cols: 120, ..PtySize::default() };
    let in_terminal = |arguments: &[&str]| {
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(sandbox.command(&[]).get_program());
        command.args(arguments);
        command.cwd(sandbox.path(""));
        command.env("TERM", "xterm-256color");
        let mut process = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut output = pair.master.try_clone_reader().unwrap();
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // When a terminal closes, reading it is an error.
            let _ = output.read_to_end(&mut bytes);
            bytes
        });
        assert!(process.wait().unwrap().success());
        drop(pair.master);
        String::from_utf8_lossy(&reader.join().unwrap()).into_owned()
    };
    let train = |epochs, out| ["train", "--set", epochs, "--out", out];
    // Burn draws ten times per second, so a short run may end before the first drawing.
    let drawn = ["epochs=20", "epochs=200", "epochs=2000", "epochs=20000"]
        .into_iter()
        .find(|epochs| {
            let screen = in_terminal(&train(epochs, epochs));
            assert!(screen.contains("\u{1b}[?1049h") && screen.contains("finished"), "{screen}");
            assert!(!screen.contains("epoch 20  "), "{screen}");
            screen.contains("Accuracy")
        })
        .expect("a measure is drawn in one of them");
    let lines = sandbox.run(&train(drawn, "lines")).success();
    let last = drawn.trim_start_matches("epochs=");
    assert!(lines.contains(&format!("epoch {last}  ")), "{lines}");
    let plain = in_terminal(&[&train("epochs=20", "plain")[..], &["--plain"]].concat());
    assert!(plain.contains("epoch 20  ") && !plain.contains("\u{1b}["), "{plain}");
    sandbox.are_equal("lines", drawn);
}

#[test]
fn what_test_examples_were_made_of_is_kept() {
    let sandbox = Sandbox::of_example("odd_network");
    sandbox.run(&["compare", "--seeds", "1", "--out", "odd"]).success();
    let run = &sandbox.runs("odd")[0];
    let outcomes = fs::read(run.join("outcomes.bin")).unwrap();
    let head =
        String::from_utf8_lossy(&outcomes[..outcomes.iter().position(|b| *b == b'\n').unwrap()]);
    assert!(head.contains(r#""measure":"test-error","epoch":3,"groups":[[1,40]]"#), "{head}");
}

#[test]
fn what_cannot_be_trained_is_said_in_words() {
    let sandbox = Sandbox::of_example("odd_network");
    for (fault, said) in [
        ("batch", "the batch size is 0; it has to be at least 1"),
        ("no-batch", "the batch size is missing; write .train(Loader::new(…).batch_size(64))"),
        ("large-batch", "a batch of 201 is larger than the data set for .train(…)"),
        ("train", "the data set for .train(…) has no examples"),
        ("valid", "the data set for .valid(…) has no examples"),
        ("test", "the data set for .test(…) has no examples"),
        ("epochs", "num_epochs is 0"),
        ("rate", "the learning rate is -1; it has to be a number, at least 0"),
        ("stops-unreported", "valid_f1 is never reported; reported are: learning_rate"),
        ("asks", "this program asks for an unknown axis `depth`; there are: fault, epochs"),
        ("many-losses", "the loss of a batch has 3 numbers"),
        ("no-test", "test_error is never reported"),
    ] {
        let set = format!("fault={fault}");
        let said_then = sandbox.run(&["train", "--set", &set, "--out", fault]);
        let code = said_then.code();
        assert!(code == 1 || code == 2, "{fault}: {code}");
        said_then.refused(code, said);
        let compare = ["compare", "--compare", &format!("fault=none,{fault}"), "--seeds", "1"];
        sandbox.run(&[&compare[..], &["--out", "all"]].concat()).refused(1, said);
        fs::remove_dir_all(sandbox.path("all")).unwrap();
    }
}

#[test]
fn a_measure_and_a_value_that_are_not_there_are_named() {
    let odd = Sandbox::of_example("odd_network");
    odd.run(&["compare", "--metric", "test_f1", "--seeds", "1", "--out", "a"])
        .refused(1, "test_f1 is never reported; reported are: learning_rate, train_loss");
    odd.run(&["compare", "--each", "epochs=many", "--seeds", "1", "--out", "b"])
        .refused(1, "epochs is many: it has to be a whole number, at least 0");
    let points = Sandbox::of_example("own_network");
    let unknown = points.run(&["compare", "--compare", "activation=gelu,gelo", "--seeds", "1"]);
    let said = unknown.refused(1, "gelo");
    assert!(said.contains("relu") && said.contains("name=x*tanh(x)"), "{said}");
}

#[test]
fn a_loss_that_is_no_number_from_the_first_step_is_a_run_that_diverged() {
    let sandbox = Sandbox::of_example("odd_network");
    let trained = sandbox.run(&["train", "--set", "fault=nan"]);
    let why = trained.stderr();
    assert!(why.contains("train_loss is no finite number in epoch 1"), "{why}");
    assert!(why.contains("lower the learning rate"), "{why}");
    let said = trained.success();
    assert!(said.contains("diverged in epoch 1"), "{said}");
}

#[test]
fn draws_differ_by_epoch_and_part_and_by_nothing_else() {
    let sandbox = Sandbox::of_example("odd_network");
    // Returns three numbers per epoch: the mean of the random losses in training, and those on two splits.
    let drawn = |fault: &str| {
        let set = format!("fault={fault}");
        sandbox.run(&["train", "--set", &set, "--out", fault]).success();
        let table = fs::read_to_string(sandbox.runs(fault)[0].join("metrics.csv")).unwrap();
        let columns: Vec<&str> = table.lines().next().unwrap().split(',').collect();
        let column = |name: &str| {
            let place = columns.iter().position(|column| *column == name).unwrap();
            let cell = |line: &str| line.split(',').nth(place).unwrap().to_owned();
            table.lines().skip(1).map(cell).collect::<Vec<String>>()
        };
        ["train_loss", "valid_loss", "test_loss"].map(column)
    };
    let [trained, valid, test] = drawn("draws");
    for drawn in [&trained, &valid, &test] {
        assert_eq!(drawn.len(), 3);
        assert!(drawn[0] != drawn[1] && drawn[1] != drawn[2] && drawn[0] != drawn[2], "{drawn:?}");
    }
    // More validation examples do not change the random numbers elsewhere.
    let [as_trained, as_valid, as_test] = drawn("draws-more");
    assert_eq!(as_trained, trained);
    assert_eq!(as_test, test);
    assert_ne!(as_valid, valid);
}

#[test]
fn what_train_prints_begins_with_what_decides() {
    let sandbox = Sandbox::of_example("own_sequences");
    let said = sandbox.run(&["train", "--set", "epochs=1"]).success();
    let line = said.lines().find(|line| line.starts_with("epoch 1")).unwrap();
    assert!(line.starts_with("epoch 1  test accuracy "), "{line}");
    // `compare` takes the same flag as `train` for one value.
    let more = ["--set", "epochs=1", "--set", "activation=gelu,relu", "--seeds", "1"];
    sandbox.run(&with("compare", "set", &more)).refused(2, "nothing is compared");
}

#[test]
fn a_network_that_changes_its_shape_is_not_gone_on_from() {
    let sandbox = Sandbox::of_example("odd_network");
    let more = ["--compare", "fault=grows,none", "--each", "epochs=2000", "--seeds", "1"];
    sandbox.run(&with("submit", "grown", &more)).success();
    sandbox.killed_workers("grown", 1);
    sandbox
        .run(&["train", "--set", "fault=grows", "--set", "epochs=2000", "--out", "grown"])
        .refused(1, "the network that is built now is not the one that was saved after epoch");
}

#[test]
fn a_line_per_epoch_fits_and_begins_with_what_decides() {
    let sandbox = Sandbox::of_example("own_sequences");
    let said = sandbox.run(&["train", "--set", "epochs=2", "--plain"]).success();
    let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("epoch ")).collect();
    assert_eq!(lines.len(), 2);
    for line in lines {
        assert!(line.chars().count() <= 100, "{line}");
        assert!(line.split("  ").nth(1).unwrap().starts_with("test accuracy "), "{line}");
    }
}

#[test]
fn the_best_network_predicts_and_its_error_is_exactly_the_recorded_one() {
    let sandbox = Sandbox::of_example("predict");
    sandbox.run(&["predict", "3", "0"]).refused(1, "results/predict");
    sandbox.run(&["compare", "--seeds", "2"]).success();
    let said = sandbox.run(&["predict", "3", "0"]).success();
    let lines: Vec<&str> = said.lines().collect();
    let [run, class, error, header, of_inside, of_outside] = lines.as_slice() else {
        panic!("{said}")
    };
    // The point is the centre of the ellipse.
    assert_eq!(*class, "inside");
    assert!(sandbox.run(&["predict", "3.9", "4"]).success().contains("outside"));
    let (found, recorded) = error.split_once(", recorded ").unwrap();
    assert_eq!(found.strip_prefix("test error "), Some(recorded));
    // The table of classes gives the same error, and its rows have the same errors as the report.
    assert!(header.trim_start().starts_with("inside  outside"), "{header}");
    let table = Trained::best(sandbox.path("results/predict")).unwrap().confusion().unwrap();
    assert_eq!(table.names(), ["inside", "outside"]);
    assert!(of_inside.starts_with("inside ") && of_outside.starts_with("outside"), "{said}");
    let wrong = table.count(0, 1) + table.count(1, 0);
    assert_eq!(wrong as f64 / 1024.0, recorded.parse::<f64>().unwrap());
    // The run is the one with the lowest validation error in results.json.
    let report = fs::read_to_string(sandbox.path("results/predict/results.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let last = |run: &Value| run["epochs"].as_array().unwrap().last().unwrap().clone();
    let error = |run: &Value, column: &str| last(run)[column].as_f64().unwrap();
    let runs = report["runs"].as_array().unwrap();
    let lowest = runs.iter().map(|run| error(run, "valid_error")).fold(f64::INFINITY, f64::min);
    let best = runs.iter().find(|r| run.ends_with(r["folder"].as_str().unwrap())).unwrap();
    assert_eq!(error(best, "valid_error"), lowest);
    assert_eq!(Some(error(best, "test_error_inside")), table.error(0));
    assert_eq!(Some(error(best, "test_error_outside")), table.error(1));
    assert_eq!(recorded.parse::<f64>().unwrap(), error(best, "test_error"));

    // With `--primary`, the error of a class decides, in the unit of the overall error.
    let by_class = ["--primary", "test_error_inside", "--seeds", "2"];
    let said = sandbox.run(&with("compare", "by-class", &by_class)).success();
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("points of test error inside"), "{said}");

    // The same run, found by its values and its seed.
    let folder = sandbox.path("results/predict");
    let best = Trained::best(&folder).unwrap();
    let same = Trained::of(&folder, best.setting(), best.seed()).unwrap();
    assert_eq!(same.folder(), best.folder());
    let gelu = Setting::new([("activation", "gelu")]);
    let several = Trained::of(&folder, &gelu, 1).unwrap_err().to_string();
    assert!(several.contains("2 finished runs have gelu, seed 1"), "{several}");
    let none = Trained::of(&folder, &gelu, 9).unwrap_err().to_string();
    assert!(none.contains("no finished run has gelu, seed 9"), "{none}");
}

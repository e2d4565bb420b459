//! Tests of formulas that a network learns.

use crate::support::{self, Sandbox, outcomes, results_of, snapshot};
use serde_json::Value;
use std::fs;

/// Returns the arguments for two formulas and a few epochs.
fn small<'a>(out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["compare", "symbolic", "--activations", "gelu,relu", "--seeds", "2"];
    arguments.extend(["--formulas", "runge,wave=sin(3*x)*y", "--train-limit", "300"]);
    arguments.extend(["--out", out]);
    arguments.extend(more);
    arguments
}

fn document(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    serde_json::from_str(&sandbox.run(arguments).success()).unwrap()
}

#[test]
fn every_formula_has_its_verdict_and_every_point_its_outcome() {
    let sandbox = Sandbox::new();
    sandbox.run(&small("s", &["--epochs", "3", "--plain"])).success();
    let found = document(&sandbox, &["report", "s", "--json"]);
    assert_eq!(found["criterion"]["primary"], "test-rmse");
    assert_eq!(found["data"]["synthetic"], true);
    let differences = found["differences"].as_array().unwrap();
    let at: Vec<&str> = differences.iter().map(|d| d["formula"].as_str().unwrap()).collect();
    assert_eq!(at, ["runge=1/(1+25*x^2)", "wave=sin(3*x)*y"]);
    let said = differences[1]["sentence"].as_str().unwrap();
    assert!(said.starts_with("ReLU and GELU"), "{said}");
    assert!(differences[1]["wider_interval"]["low"].is_number(), "{said}");

    let snapshot = snapshot(&sandbox.path("s"));
    assert_eq!(snapshot.runs.len(), 8);
    let of_network = document(&sandbox, &["eval", "s", "--json"]);
    for (run, network) in snapshot.runs.iter().zip(of_network.as_array().unwrap()) {
        let last = run.epochs.last().unwrap();
        let of = |column: &str| last.get(column).unwrap();
        assert_eq!(of("test_rmse"), of("test_loss").sqrt());
        assert!(of("test_outside") > 0.0 && of("test_outside") != of("test_rmse"), "{last:?}");
        assert_eq!(last.get("train_outside"), None);
        let outcomes = outcomes(run).unwrap();
        assert_eq!((outcomes.measure(), outcomes.groups().examples()), ("test-rmse", 2_000));
        assert!((outcomes.mean() - of("test_rmse")).abs() < 1e-5 * outcomes.mean());
        for column in ["test_rmse", "test_outside"] {
            // A number read from JSON may be off by its last bit.
            let ratio = network[column].as_f64().unwrap() / of(column);
            assert!((ratio - 1.0).abs() < 1e-15, "{column}: {ratio}");
        }
        assert_eq!(network["formula"], run.key.setting.text("formula"));
    }
    let table = sandbox.run(&["eval", "s"]).success();
    assert!(table.contains("test RMSE") && table.contains("wave"), "{table}");
    for figure in ["curves.svg", "forest.svg"] {
        let drawn = fs::read_to_string(sandbox.path(&format!("s/{figure}"))).unwrap();
        assert!(drawn.contains("formula wave") && drawn.contains("formula runge"), "{figure}");
    }
}

/// Without a hidden layer, the network is the best line through x², which is the constant 1/3. So the error inside is
/// the deviation, √(4/45). Outside, the mean of (x² − 1/3)² over 1 < |x| ≤ 2 is 31/5 − 14/9 + 1/9 = 4.7556, whose
/// root is 7.314 deviations.
#[test]
fn errors_are_those_of_the_best_line_where_the_network_is_one() {
    let sandbox = Sandbox::new();
    let recipe = include_str!("../../recipes/symbolic.toml");
    assert!(recipe.contains("depth = 4"));
    fs::write(sandbox.path("line.toml"), recipe.replace("depth = 4", "depth = 0")).unwrap();
    let what = ["--recipe", "line.toml", "--formulas", "square=x^2", "--activations", "gelu"];
    let how = ["--seeds", "3", "--epochs", "40", "--learning-rates", "1e-2", "--out", "line"];
    sandbox.run(&[&["compare"], &what[..], &how].concat()).success();
    let snapshot = support::snapshot(&sandbox.path("line"));
    for run in &snapshot.runs {
        let last = run.epochs.last().unwrap();
        let of = |column: &str| last.get(column).unwrap();
        // With 2,000 points, the standard error of either is about 1%.
        assert!((of("test_rmse") - 1.0).abs() < 0.04, "{last:?}");
        assert!((of("test_outside") - 7.314).abs() < 0.25, "{last:?}");
    }
    // In the unit of the formula.
    let value = document(&sandbox, &["predict", "line", "-0.7", "--json"])["value"].as_f64();
    assert!((value.unwrap() - 1.0 / 3.0).abs() < 0.05, "{value:?}");
    for input in ["0.7,0.1", "x", "inf", ""] {
        sandbox.run(&["predict", "line", input]).refused(2, "is not 1 number");
    }
    sandbox.run(&["predict", "line", "0.7", "--loss"]).refused(2, "was not trained on one");
}

#[test]
fn one_run_is_that_of_a_comparison() {
    let sandbox = Sandbox::new();
    sandbox.run(&small("whole", &["--epochs", "3"])).success();
    let alone = ["train", "symbolic", "--formula", "wave=sin(3*x)*y", "--train-limit", "300"];
    let alone = [&alone[..], &["--epochs", "3", "--seed", "2", "--out", "alone"]].concat();
    sandbox.run(&alone).success();
    let alone = sandbox.runs("alone").remove(0);
    let whole = sandbox.runs("whole");
    let same = whole.iter().find(|run| run.file_name() == alone.file_name()).unwrap();
    assert!(results_of(same) == results_of(&alone));
}

#[test]
fn what_cannot_be_learned_is_refused_before_anything_is_trained() {
    let sandbox = Sandbox::new();
    for (arguments, message) in [
        (
            &["symbolic", "--formulas", "rung"][..],
            "unknown formula `rung`; did you mean `runge`? There are: sine, two-",
        ),
        (&["symbolic", "--formulas", "f=x*{b=1}"], "no constants to learn"),
        (&["symbolic", "--formulas", "f=ln(x)"], "the formula f=ln(x) is NaN at [-0."),
        (&["symbolic", "--formulas", "f=1+0*x"], "there is nothing to learn"),
        (&["symbolic", "--formulas", "f=x,f=x^2"], "the name `f` is used twice"),
        (&["symbolic", "--dropout", "0.5"], "drops nothing"),
        (&["symbolic", "--validation", "5"], "has a validation part of its own"),
        (&["symbolic", "--data", "."], "leave --data out"),
        (&["symbolic", "--selection", "valid-error"], "predicts no classes"),
        (&["digits", "--formulas", "f=x"], "are learned at points"),
        (&["digits", "--formulas", "runge"], "no formulas are learned here"),
    ] {
        sandbox.run(&[&["compare"], arguments].concat()).refused(2, message);
    }
    assert!(!sandbox.path("results").exists());
}

//! Tests of your own activations on the command line and in recipes, with the real program.

use crate::support::document::Document;
use crate::support::{Sandbox, results_of, small};
use std::fs;

const MISH: &str = "mine=x*tanh(ln(1+exp(x)))";

#[test]
fn formula_is_trained_drawn_and_part_of_the_run() {
    let sandbox = Sandbox::new();
    let text = sandbox.run(&small(&format!("gelu,{MISH}"), "3", &["--plain"])).success();
    assert!(text.contains("mine lr 0.001"), "{text}");
    let folder = sandbox.path("results/digits");
    let document: Document =
        serde_json::from_str(&fs::read_to_string(folder.join("results.json")).unwrap()).unwrap();
    let names: Vec<&str> = document.arms.iter().map(|entry| entry.activation.as_str()).collect();
    assert_eq!(names, ["gelu", MISH]);
    let epochs = &document.runs[1].epochs;
    assert!(epochs[2].train_loss < epochs[0].train_loss, "it learns: {epochs:?}");
    let figure = fs::read_to_string(folder.join("figure-1.svg")).unwrap();
    assert!(figure.contains("mine = x*tanh(ln(1+exp(x)))"));
    let table = fs::read_to_string(folder.join("table.md")).unwrap();
    assert!(table.contains("| mine "), "{table}");

    // Spaces do not make another run, but another formula does.
    let spaced = small("gelu,mine = x * tanh( ln(1 + exp(x)) )", "3", &["--plain"]);
    let again = sandbox.run(&spaced).success();
    assert!(!again.contains("epoch 1/3"), "{again}");
    let before = sandbox.runs("results/digits").len();
    sandbox.run(&small("mine=x*tanh(ln(2+exp(x)))", "1", &["--out", "other"])).success();
    assert_eq!((before, sandbox.runs("other").len()), (2, 1));
    let name = sandbox.runs("other")[0].file_name().unwrap().to_owned();
    assert!(name.to_str().unwrap().starts_with("mine-lr0.001"), "{name:?}");
    assert_ne!(sandbox.runs("results/digits")[1].file_name().unwrap(), name);
}

#[test]
fn formula_and_recipe_give_the_same_run_and_the_built_in_function_the_same_curve() {
    let sandbox = Sandbox::new();
    let recipe = include_str!("../../recipes/digits.toml");
    let recipe = recipe.replace(r#"["gelu", "relu", "elu"]"#, r#"["mine=max(x, 0)", "relu"]"#);
    fs::write(sandbox.path("mine.toml"), recipe).unwrap();
    let shared = ["--seeds", "1", "--train-limit", "600", "--epochs", "2", "--json"];
    let from_file = [&["compare", "--recipe", "mine.toml", "--out", "file"], &shared[..]].concat();
    let document: Document = serde_json::from_str(&sandbox.run(&from_file).success()).unwrap();
    let from_line = ["compare", "--activations", "mine=max(x,0)", "--out", "line"];
    sandbox.run(&[&from_line, &shared[..]].concat()).success();
    let [file, line] = ["file", "line"].map(|out| {
        let runs = sandbox.runs(out);
        results_of(runs.iter().find(|run| run.to_string_lossy().contains("mine-")).unwrap())
    });
    assert!(file == line);
    let loss = |index: usize| document.runs[index].epochs[1].train_loss;
    assert!((loss(0) - loss(1)).abs() < 1e-3 * loss(1), "{} and {}", loss(0), loss(1));
}

#[test]
fn wrong_formulas_are_refused_with_a_caret_under_the_place() {
    let sandbox = Sandbox::new();
    for (activations, expected) in [
        ("gelu,mine=x*tnh(x)", "  mine=x*tnh(x)\n         ^^^"),
        ("gelu,mine=x*tnh(x)", "unknown function `tnh`; there are: exp, ln,"),
        ("mine=x*y", "unknown name `y`"),
        ("mine=(x", "a bracket is not closed"),
        ("gelu=x*x", "already names an activation, GELU"),
        ("a=x*2,a=x*3", "the name `a` is used twice"),
    ] {
        sandbox.run(&small(activations, "1", &[])).refused(2, expected);
    }
    let recipe = include_str!("../../recipes/digits.toml");
    let recipe = recipe.replace(r#"["gelu", "relu", "elu"]"#, r#"["gelu", "mine=x*tnh(x)"]"#);
    fs::write(sandbox.path("mine.toml"), recipe).unwrap();
    let said = sandbox.run(&["compare", "--recipe", "mine.toml"]).refused(2, "mine.toml");
    assert!(said.contains("unknown function `tnh`") && said.contains("^^^"), "{said}");
    assert!(!sandbox.path("results").exists());
}

#[test]
fn runs_of_a_program_with_more_activations_can_be_shown() {
    let sandbox = Sandbox::new();
    sandbox.run(&small("gelu", "1", &[])).success();
    let run = sandbox.runs("results/digits")[0].clone();
    for file in [run.join("run.toml"), sandbox.path("results/digits/comparison.toml")] {
        let text = fs::read_to_string(&file).unwrap();
        // The name of the program stays `gelu`.
        let mut text = text.replace("\"gelu\"", "\"snake\"");
        for name in ["tool", "program"] {
            text = text.replace(&format!("{name} = \"snake\""), &format!("{name} = \"gelu\""));
        }
        fs::write(&file, text).unwrap();
    }
    let text = sandbox.run(&["report", "results/digits"]).success();
    assert!(text.contains("snake"), "{text}");
    sandbox.run(&["eval", run.to_str().unwrap()]).refused(2, "unknown activation `snake`");
}

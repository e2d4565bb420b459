//! Tests of `gelu verdict`: the command of `gelu-compare`, with the usual names of activations.

use crate::support::Sandbox;
use std::fmt::Write;
use std::fs;

#[test]
fn activations_have_their_labels_in_words_and_pictures_and_their_names_in_json() {
    let sandbox = Sandbox::new();
    let mut table = "activation,seed,error\n".to_owned();
    for seed in 1..=8 {
        writeln!(table, "gelu-tanh,{seed},0.0{seed}\nrelu,{seed},0.1{seed}{seed}").unwrap();
    }
    fs::write(sandbox.path("scores.csv"), table).unwrap();
    let judge = ["verdict", "scores.csv", "--compare", "activation", "--metric", "error"];
    let text = sandbox.run(&[&judge[..], &["--forest", "forest.svg"]].concat()).success();
    assert!(text.contains("GELU (tanh) beats ReLU by 0.1"), "{text}");
    assert!(text.contains("error − that of GELU (tanh); left: better"), "{text}");
    assert!(fs::read_to_string(sandbox.path("forest.svg")).unwrap().contains(">\nReLU"));
    let json = sandbox.run(&[&judge[..], &["--json"]].concat()).success();
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    let found = &document["differences"][0];
    assert_eq!((&found["arm"], &found["baseline"]), (&"relu".into(), &"gelu-tanh".into()));
    assert!(found["sentence"].as_str().unwrap().starts_with("GELU (tanh) beats ReLU"), "{json}");
}

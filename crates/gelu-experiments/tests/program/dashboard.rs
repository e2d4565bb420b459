//! What only this program shows in a terminal, and its runs by hand. gelu-compare's tests have all else that a terminal
//! shows and does.

#[path = "../../../gelu-compare/tests/program/terminal.rs"]
#[allow(dead_code, reason = "gelu-compare's tests use all of it")]
mod terminal;

use crate::support::{PROGRAM, small};
use gelu_compare::testing::{Sandbox, wait};
use std::fs;
use std::path::Path;
use terminal::Terminal;

fn program() -> Sandbox {
    Sandbox::of(Path::new(PROGRAM))
}

#[test]
fn the_dashboard_names_the_data_and_the_activations_and_counts_all_epochs() {
    let sandbox = program();
    let endless = small("gelu,relu", "5000", &["--dropout", "0,0.5"]);
    let terminal = Terminal::start(&sandbox, &endless);
    terminal.expect(&["SYNTHETIC DATA", "● GELU", "▲ ReLU", "▶", "/20000 epochs", "dropout 0"]);
    terminal.expect(&["lines: train   symbols: valid"]);
    terminal.press("d");
    terminal.expect(&["dropout 0.5"]);
    terminal.press("q");
    terminal.expect(&["The epochs under way are lost"]);
    terminal.press("y");
    terminal.expect(&["interrupted; everything finished so far is saved"]);
    assert_eq!(terminal.end(), (130, true));
}

/// A run by hand has a display of its own, which must not outlive the terminal.
#[test]
fn a_run_by_hand_ends_with_its_terminal_unless_it_keeps_going() {
    for (more, code, outcome) in [
        (&["--epochs", "5000"][..], 130, "interrupted"),
        (&["--epochs", "40", "--keep-going"], 0, "finished"),
    ] {
        let sandbox = program();
        let train = ["train", "digits", "--train-limit", "500"];
        let terminal = Terminal::start(&sandbox, &[&train[..], more].concat());
        let read = |name: &str| {
            let run = sandbox.runs("results/digits").into_iter().next();
            run.and_then(|run| fs::read_to_string(run.join(name)).ok()).unwrap_or_default()
        };
        wait("the second epoch", || read("metrics.csv").lines().count() > 2);
        assert_eq!(terminal.close(), code, "{more:?}: {}", read("status.json"));
        assert!(read("status.json").contains(outcome), "{more:?}: {}", read("status.json"));
    }
}

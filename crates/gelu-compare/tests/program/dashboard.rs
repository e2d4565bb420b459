//! The dashboard in a terminal, as a user at the keyboard sees it.

use super::processes::{epochs, paced, signal, status, with};
use super::terminal::Terminal;
use crate::scripted;
use gelu_compare::testing::{Sandbox, wait};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Makes runs so long that no test waits for their end.
const ENDLESS: [&str; 4] = ["--set", "epochs=1000000", "--each", "pause=20,21"];

/// Starts a comparison of two settings that no test waits for.
fn endless(sandbox: &Sandbox) -> Terminal {
    Terminal::start(sandbox, &with("compare", "out", &ENDLESS))
}

/// Creates a finished comparison of two settings.
fn finished() -> Sandbox {
    let sandbox = paced();
    sandbox.run(&with("compare", "out", &["--set", "epochs=3"])).success();
    sandbox
}

/// Checks that every run that was begun is interrupted, so that its epoch under way was finished.
#[track_caller]
fn assert_interrupted(sandbox: &Sandbox) {
    let runs = sandbox.runs("out");
    assert!(!runs.is_empty());
    for run in runs {
        assert!(status(&run).contains("interrupted"), "{}: {}", run.display(), status(&run));
    }
}

#[test]
fn dashboard_shows_the_comparison_obeys_keys_and_gives_the_screen_back() {
    let sandbox = paced();
    let terminal = endless(&sandbox);
    terminal.expect(&["● 3.7", "▲ 3.8", "▶", "epoch", "pause 20", "lines: train   symbols: valid"]);
    let is_curve = |c: char| ('\u{2801}'..='\u{28ff}').contains(&c);
    terminal.wait("curves", || terminal.text().contains(is_curve));
    terminal.press("d");
    terminal.expect(&["pause 21"]);
    // The other quantity, in logarithms.
    terminal.press("\t");
    terminal.press("l");
    terminal.expect(&["ballast 0 · log", "lines: test"]);
    terminal.press("h");
    terminal.expect(&["logarithmic scale"]);
    terminal.press("x");

    terminal.resize(40, 120);
    terminal
        .wait("a wider picture", || terminal.text().lines().any(|line| line.chars().count() > 100));

    terminal.press("q");
    terminal.expect(&["The epochs under way are lost"]);
    terminal.press("n");
    terminal.press("q");
    terminal.expect(&["The epochs under way are lost"]);
    terminal.press("y");
    terminal.expect(&["interrupted; everything finished so far is saved"]);
    assert_eq!(terminal.end(), (130, true));
}

/// Presses keys while the first of two commands runs. A request to end at once would kill it.
#[track_caller]
fn finishes_what_is_under_way(press: impl Fn(&Terminal)) {
    let sandbox =
        scripted("touch began; while [ ! -e go ]; do sleep 0.02; done; echo '{\"error\": 0.'$1'}'");
    let compare = ["compare", "sh train.sh {x}", "--compare", "x=1,2", "--metric", "error"];
    let terminal =
        Terminal::start(&sandbox, &[&compare[..], &["--seeds", "1", "--out", "out"]].concat());
    wait("the command", || sandbox.path("began").exists());
    terminal.expect(&["▶", "last epoch"]);
    press(&terminal);
    terminal.expect(&["stopping after this epoch"]);
    // The request is on its way to the worker.
    std::thread::sleep(Duration::from_millis(200));
    std::fs::write(sandbox.path("go"), "").unwrap();
    terminal.expect(&["interrupted; everything finished so far is saved"]);
    assert_eq!(terminal.end(), (130, true));
    let runs = sandbox.runs("out");
    assert_eq!(runs.len(), 1, "the other run was not begun");
    assert!(status(&runs[0]).contains("finished"), "{}", status(&runs[0]));
}

#[test]
fn stopping_finishes_and_saves_what_is_under_way() {
    finishes_what_is_under_way(|terminal| {
        terminal.press("s");
        terminal.expect(&["Finish and save the epochs under way"]);
        terminal.press("y");
    });
}

#[test]
fn control_c_finishes_and_saves_what_is_under_way() {
    finishes_what_is_under_way(|terminal| terminal.press("\u{3}"));
}

#[test]
fn a_signal_gives_the_screen_back() {
    let sandbox = paced();
    let terminal = endless(&sandbox);
    terminal.expect(&["3.7", "▶"]);
    signal("TERM", &terminal.process_id().to_string());
    terminal.expect(&["interrupted"]);
    assert_eq!(terminal.end(), (130, true));
}

#[test]
fn a_terminal_that_goes_away_ends_the_comparison_and_nothing_spins() {
    let train = ["train", "--out", "out", "--set", "epochs=1000000", "--set", "pause=20"];
    for arguments in [with("compare", "out", &ENDLESS), train.to_vec()] {
        let sandbox = paced();
        let terminal = Terminal::start(&sandbox, &arguments);
        wait("the second epoch", || epochs(&sandbox, "out") >= 2);
        assert_eq!(terminal.close(), 130, "{arguments:?}");
        assert_interrupted(&sandbox);
    }
}

#[test]
fn a_comparison_that_keeps_going_is_finished_without_its_terminal() {
    let sandbox = paced();
    let slow = ["--set", "epochs=60", "--set", "pause=20"];
    let arguments = [&with("compare", "out", &slow)[..], &["--keep-going"]].concat();
    let terminal = Terminal::start(&sandbox, &arguments);
    wait("the second epoch", || epochs(&sandbox, "out") >= 2);
    assert_eq!(terminal.close(), 0);
    assert!(sandbox.path("out/results.json").exists());
    assert_eq!(epochs(&sandbox, "out"), 120);
}

#[test]
fn a_run_that_keeps_going_is_finished_without_its_terminal() {
    let sandbox = paced();
    let slow = ["--set", "epochs=60", "--set", "pause=20", "--keep-going"];
    let terminal = Terminal::start(&sandbox, &[&["train", "--out", "out"], &slow[..]].concat());
    wait("the second epoch", || epochs(&sandbox, "out") >= 2);
    assert_eq!(terminal.close(), 0);
    let status = status(&sandbox.runs("out")[0]);
    assert!(status.contains("finished"), "{status}");
}

#[test]
fn watching_ends_with_its_terminal() {
    let sandbox = finished();
    let terminal = Terminal::start(&sandbox, &["watch", "out"]);
    terminal.expect(&["q leave"]);
    // It waits for the end of the program.
    terminal.close();
}

#[test]
fn watching_finished_runs_shows_them_until_one_leaves() {
    let sandbox = finished();
    let terminal = Terminal::start(&sandbox, &["watch", "out"]);
    terminal.expect(&["● 3.7", "1/1", "6/6 epochs", "done", "q leave"]);
    terminal.press("q");
    assert_eq!(terminal.end(), (0, true));
}

#[test]
fn no_key_is_lost_while_the_window_is_dragged_to_another_size() {
    let sandbox = finished();
    let terminal = Terminal::start(&sandbox, &["watch", "out"]);
    terminal.expect(&["q leave"]);
    terminal.resize(32, 101);
    let (dragging, dragged) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let shown = &terminal;
        scope.spawn(move || {
            let sizes = [(30, 100), (31, 100), (32, 101), (31, 101)];
            for (rows, cols) in sizes.into_iter().cycle() {
                shown.resize_for_program(rows, cols);
                let pause = Duration::from_micros(300);
                if dragged.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
            }
        });
        for round in 0..100 {
            for (key, open) in [("h", true), ("x", false)] {
                terminal.press(key);
                terminal.wait(&format!("{key} of round {round}"), || {
                    terminal.text().contains("logarithmic scale") == open
                });
            }
        }
        // A failing test drops it too, so the thread ends.
        drop(dragging);
    });
    terminal.press("q");
    assert_eq!(terminal.end(), (0, true));
}

//! Tests of the dashboard in a pseudo-terminal, as a user at the keyboard sees it.

use crate::support::{PROGRAM, Sandbox, small};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}

/// A terminal in which the program runs.
struct Terminal {
    screen: Arc<Mutex<vt100::Parser>>,
    keyboard: Box<dyn Write + Send>,
    master: Box<dyn MasterPty + Send>,
    process: Box<dyn Child + Send + Sync>,
    /// Whether the screen is no longer read.
    closed: Arc<AtomicBool>,
}

impl Terminal {
    fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(PROGRAM);
        command.args(arguments);
        command.cwd(sandbox.path(""));
        command.env("TERM", "xterm-256color");
        let process = pair.slave.spawn_command(command).unwrap();
        let screen = Arc::new(Mutex::new(vt100::Parser::new(cells(24), cells(80), 1000)));
        let (mut output, shown) = (pair.master.try_clone_reader().unwrap(), screen.clone());
        let closed = Arc::new(AtomicBool::new(false));
        let end = closed.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                shown.lock().unwrap().process(&bytes[..read]);
                if end.load(Ordering::SeqCst) {
                    return;
                }
            }
        });
        let keyboard = pair.master.take_writer().unwrap();
        Self { screen, keyboard, master: pair.master, process, closed }
    }

    /// Closes the window: the terminal is gone, and the program keeps running.
    fn close(self) -> Box<dyn Child + Send + Sync> {
        self.closed.store(true, Ordering::SeqCst);
        self.process
    }

    fn text(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    fn resize(&self, rows: u16, cols: u16) {
        self.screen.lock().unwrap().screen_mut().set_size(cells(rows), cells(cols));
        self.master.resize(PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }).unwrap();
    }

    /// Waits until the screen shows all of `texts`.
    #[track_caller]
    fn expect(&self, texts: &[&str]) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !texts.iter().all(|text| self.text().contains(text)) {
            assert!(Instant::now() < deadline, "expected {texts:?} on:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns the exit code, and whether the program restored the screen.
    fn end(mut self) -> (u32, bool) {
        let code = self.process.wait().unwrap().exit_code();
        std::thread::sleep(Duration::from_millis(200));
        let screen = self.screen.lock().unwrap();
        (code, !screen.screen().alternate_screen() && !screen.screen().hide_cursor())
    }
}

/// Returns the arguments of a comparison that runs for a long time.
fn endless() -> Vec<&'static str> {
    small("gelu,relu", "5000", &["--dropout", "0,0.5"])
}

#[test]
fn dashboard_shows_the_comparison_obeys_keys_and_gives_the_screen_back() {
    let sandbox = Sandbox::new();
    let mut terminal = Terminal::start(&sandbox, &endless());
    terminal.expect(&[
        "SYNTHETIC DATA",
        "● GELU",
        "▲ ReLU",
        "▶",
        "epoch",
        "/20000 epochs",
        "dropout 0",
    ]);
    terminal.expect(&["lines: train   symbols: valid"]);
    assert!(terminal.text().chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)), "curves");
    terminal.press("d");
    terminal.expect(&["dropout 0.5"]);
    terminal.press("\t");
    terminal.press("l");
    terminal.expect(&["log", " %"]);
    terminal.press("h");
    terminal.expect(&["logarithmic scale"]);
    terminal.press("x");

    terminal.resize(40, 120);
    let wide = || terminal.text().lines().any(|line| line.chars().count() > 100);
    let deadline = Instant::now() + Duration::from_secs(20);
    while !wide() {
        assert!(Instant::now() < deadline, "resized:\n{}", terminal.text());
        std::thread::sleep(Duration::from_millis(20));
    }

    terminal.press("q");
    terminal.expect(&["The epochs under way are lost"]);
    terminal.press("n");
    terminal.press("q");
    terminal.expect(&["The epochs under way are lost"]);
    terminal.press("y");
    terminal.expect(&["interrupted; everything finished so far is saved"]);
    assert_eq!(terminal.end(), (130, true));
}

#[test]
fn stopping_after_the_epoch_saves_it() {
    let sandbox = Sandbox::new();
    let mut terminal = Terminal::start(&sandbox, &endless());
    terminal.expect(&["▶", "last epoch", "symbols: valid"]);
    terminal.press("s");
    terminal.expect(&["Finish and save the epochs under way"]);
    terminal.press("y");
    terminal.expect(&["interrupted; everything finished so far is saved"]);
    assert_eq!(terminal.end(), (130, true));
    let status = |run: &std::path::PathBuf| std::fs::read_to_string(run.join("status.json"));
    let statuses: Vec<String> =
        sandbox.runs("results/digits").iter().filter_map(|run| status(run).ok()).collect();
    assert_eq!(statuses.iter().filter(|text| text.contains("interrupted")).count(), statuses.len());
    assert!(!statuses.is_empty());
}

#[test]
fn control_c_finishes_the_epochs_under_way() {
    let sandbox = Sandbox::new();
    let mut terminal = Terminal::start(&sandbox, &endless());
    terminal.expect(&["▶", "last epoch", "symbols: valid"]);
    terminal.press("\u{3}");
    terminal.expect(&["interrupted; everything finished so far is saved"]);
    assert_eq!(terminal.end(), (130, true));
    for run in sandbox.runs("results/digits") {
        let status = std::fs::read_to_string(run.join("status.json")).unwrap();
        assert!(status.contains("interrupted"), "the epoch was finished: {status}");
    }
}

#[test]
fn a_terminal_that_goes_away_ends_the_comparison_and_nothing_spins() {
    for arguments in [endless(), vec!["train", "--epochs", "5000", "--train-limit", "600"]] {
        let sandbox = Sandbox::new();
        let terminal = Terminal::start(&sandbox, &arguments);
        wait_for_metrics(&sandbox);
        let mut process = terminal.close();
        let deadline = Instant::now() + Duration::from_secs(60);
        let code = loop {
            if let Some(status) = process.try_wait().unwrap() {
                break status.exit_code();
            }
            assert!(Instant::now() < deadline, "{arguments:?} goes on without a terminal");
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(code, 130, "{arguments:?}");
        let statuses: Vec<String> = sandbox
            .runs("results/digits")
            .iter()
            .filter_map(|run| std::fs::read_to_string(run.join("status.json")).ok())
            .collect();
        assert!(statuses.iter().all(|text| text.contains("interrupted")), "{statuses:?}");
    }
}

#[test]
fn watching_ends_with_its_terminal() {
    let sandbox = Sandbox::new();
    sandbox.run(&small("gelu", "1", &[])).success();
    let terminal = Terminal::start(&sandbox, &["watch", "results/digits"]);
    terminal.expect(&["q leave"]);
    let mut process = terminal.close();
    let deadline = Instant::now() + Duration::from_secs(30);
    while process.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "watch goes on without a terminal");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_comparison_that_keeps_going_is_finished_without_its_terminal() {
    let sandbox = Sandbox::new();
    let arguments = small("gelu", "60", &["--keep-going"]);
    let terminal = Terminal::start(&sandbox, &arguments);
    wait_for_metrics(&sandbox);
    let mut process = terminal.close();
    assert_eq!(process.wait().unwrap().exit_code(), 0);
    assert!(sandbox.path("results/digits/results.json").exists());
}

#[test]
fn a_run_that_keeps_going_is_finished_without_its_terminal() {
    let sandbox = Sandbox::new();
    let arguments = ["train", "digits", "--epochs", "60", "--train-limit", "500", "--keep-going"];
    let terminal = Terminal::start(&sandbox, &arguments);
    wait_for_metrics(&sandbox);
    let mut process = terminal.close();
    let status = process.wait().unwrap();
    let run = &sandbox.runs("results/digits")[0];
    let said = std::fs::read_to_string(run.join("status.json")).unwrap();
    assert!(status.success(), "{status:?}: {said}");
    assert!(said.contains("finished"), "{said}");
}

/// Waits until an epoch is finished.
#[track_caller]
fn wait_for_metrics(sandbox: &Sandbox) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let begun = || {
        let runs = std::fs::read_dir(sandbox.path("results/digits/runs")).into_iter().flatten();
        runs.flatten().any(|run| {
            let metrics = std::fs::read_to_string(run.path().join("metrics.csv"));
            metrics.is_ok_and(|text| text.lines().count() > 2)
        })
    };
    while !begun() {
        assert!(Instant::now() < deadline, "no epoch was finished");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_signal_gives_the_screen_back() {
    let sandbox = Sandbox::new();
    let terminal = Terminal::start(&sandbox, &endless());
    terminal.expect(&["GELU", "▶"]);
    let id = terminal.process.process_id().unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    terminal.expect(&["interrupted"]);
    assert_eq!(terminal.end(), (130, true));
}

#[test]
fn watching_finished_runs_shows_them_until_one_leaves() {
    let sandbox = Sandbox::new();
    sandbox.run(&small("gelu,relu", "3", &[])).success();
    let mut terminal = Terminal::start(&sandbox, &["watch", "results/digits"]);
    terminal.expect(&["● GELU", "1/1", "6/6 epochs", "done", "q leave"]);
    terminal.press("q");
    assert_eq!(terminal.end(), (0, true));
}

#[test]
fn no_key_is_lost_while_the_window_is_dragged_to_another_size() {
    let sandbox = Sandbox::new();
    sandbox.run(&small("gelu", "1", &[])).success();
    let mut terminal = Terminal::start(&sandbox, &["watch", "results/digits"]);
    terminal.expect(&["q leave"]);
    terminal.resize(32, 101);
    let (dragging, dragged) = mpsc::channel::<()>();
    let Terminal { screen, keyboard, master, .. } = &mut terminal;
    let (screen, master) = (&*screen, Mutex::new(master));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let sizes = [(30, 100), (31, 100), (32, 101), (31, 101)];
            for (rows, cols) in sizes.into_iter().cycle() {
                let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
                master.lock().unwrap().resize(size).unwrap();
                if dragged.recv_timeout(Duration::from_micros(300))
                    != Err(RecvTimeoutError::Timeout)
                {
                    break;
                }
            }
        });
        for round in 0..100 {
            for (key, open) in [("h", true), ("x", false)] {
                keyboard.write_all(key.as_bytes()).unwrap();
                let text = || screen.lock().unwrap().screen().contents();
                let deadline = Instant::now() + Duration::from_secs(60);
                while text().contains("logarithmic scale") != open {
                    let late = Instant::now() > deadline;
                    assert!(!late, "{key} was not heard in round {round}:\n{}", text());
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }
        // A failing test drops it too, so the thread ends.
        drop(dragging);
    });
    terminal.press("q");
    assert_eq!(terminal.end(), (0, true));
}

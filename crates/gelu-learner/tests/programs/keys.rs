use gelu_compare::testing::Sandbox;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use std::fs;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// Burn's display polls for keys in a way that crossterm alone does not answer.
#[test]
fn keys_reach_burns_display() {
    let sandbox = Sandbox::of_example("odd_network");
    let pair =
        native_pty_system().openpty(PtySize { rows: 40, cols: 120, ..PtySize::default() }).unwrap();
    let mut command = CommandBuilder::new(sandbox.command(&[]).get_program());
    command.args(["train", "--set", "epochs=1000000", "--out", "one"]);
    command.cwd(sandbox.path(""));
    command.env("TERM", "xterm-256color");
    let mut process = pair.slave.spawn_command(command).unwrap();
    let mut output = pair.master.try_clone_reader().unwrap();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = output.read_to_end(&mut bytes);
    });
    let mut keyboard = pair.master.take_writer().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    // The first key opens the question whether to quit, the second stops the training.
    let ended = loop {
        for key in [b"q", b"s"] {
            keyboard.write_all(key).unwrap();
            std::thread::sleep(Duration::from_millis(300));
        }
        match process.try_wait().unwrap() {
            None if Instant::now() < deadline => {}
            ended => break ended,
        }
    };
    if ended.is_none() {
        process.kill().unwrap();
    }
    assert!(ended.is_some(), "no key has stopped the training");
    let status = fs::read_to_string(sandbox.runs("one")[0].join("status.json")).unwrap();
    assert!(status.contains("interrupted"), "{status}");
}

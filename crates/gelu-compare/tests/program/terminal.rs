//! A terminal for tests, in which a program runs as at a user's keyboard.

use gelu_compare::testing::{Sandbox, wait};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}

fn size(rows: u16, cols: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

/// What a terminal shows, and all that the program has written to it.
struct Shown {
    screen: vt100::Parser,
    written: Vec<u8>,
}

pub(crate) struct Terminal {
    shown: Arc<Mutex<Shown>>,
    keyboard: Mutex<Box<dyn Write + Send>>,
    master: Mutex<Box<dyn MasterPty + Send>>,
    process: Process,
    /// Whether the screen is no longer read.
    closed: Arc<AtomicBool>,
}

/// The program in a terminal. It does not outlive the test, even if the test fails.
struct Process(Box<dyn Child + Send + Sync>);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    #[track_caller]
    fn code(mut self) -> u32 {
        wait("the end of the program", || self.0.try_wait().unwrap().is_some());
        self.0.wait().unwrap().exit_code()
    }
}

impl Terminal {
    /// Starts the program of a sandbox in a terminal of 24 rows and 80 columns.
    pub(crate) fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let pair = native_pty_system().openpty(size(24, 80)).unwrap();
        let mut command = CommandBuilder::new(sandbox.command(&[]).get_program());
        command.args(arguments);
        command.cwd(sandbox.folder.path());
        command.env("TERM", "xterm-256color");
        let process = Process(pair.slave.spawn_command(command).unwrap());
        let screen = vt100::Parser::new(cells(24), cells(80), 1000);
        let shown = Arc::new(Mutex::new(Shown { screen, written: Vec::new() }));
        let (mut output, reader) = (pair.master.try_clone_reader().unwrap(), shown.clone());
        let closed = Arc::new(AtomicBool::new(false));
        let end = closed.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                let mut shown = reader.lock().unwrap();
                shown.screen.process(&bytes[..read]);
                shown.written.extend_from_slice(&bytes[..read]);
                if end.load(Ordering::SeqCst) {
                    return;
                }
            }
        });
        let keyboard = Mutex::new(pair.master.take_writer().unwrap());
        Self { shown, keyboard, master: Mutex::new(pair.master), process, closed }
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.process.0.process_id().unwrap()
    }

    /// Returns the text on the screen.
    pub(crate) fn text(&self) -> String {
        self.shown.lock().unwrap().screen.screen().contents()
    }

    /// Returns all that the program has written, with its control sequences.
    pub(crate) fn written(&self) -> Vec<u8> {
        self.shown.lock().unwrap().written.clone()
    }

    pub(crate) fn press(&self, keys: &str) {
        let mut keyboard = self.keyboard.lock().unwrap();
        keyboard.write_all(keys.as_bytes()).unwrap();
        keyboard.flush().unwrap();
    }

    pub(crate) fn resize(&self, rows: u16, cols: u16) {
        self.shown.lock().unwrap().screen.screen_mut().set_size(cells(rows), cells(cols));
        self.resize_for_program(rows, cols);
    }

    /// Tells the program that the window has another size, and shows what it draws in the window as it was.
    pub(crate) fn resize_for_program(&self, rows: u16, cols: u16) {
        self.master.lock().unwrap().resize(size(rows, cols)).unwrap();
    }

    /// Waits until the screen shows all of `texts`.
    #[track_caller]
    pub(crate) fn expect(&self, texts: &[&str]) {
        let seen = || texts.iter().all(|text| self.text().contains(text));
        self.wait(&format!("{texts:?}"), seen);
    }

    /// Waits until a condition holds. If it never does, the test fails with what the screen shows.
    #[track_caller]
    pub(crate) fn wait(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(120);
        while !holds() {
            let late = Instant::now() > deadline;
            assert!(!late, "expected {what} on:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Closes the window while the program runs, and returns the code with which it ends.
    #[track_caller]
    pub(crate) fn close(self) -> u32 {
        let Self { process, closed, keyboard, master, .. } = self;
        closed.store(true, Ordering::SeqCst);
        drop((keyboard, master));
        process.code()
    }

    /// Returns the exit code, and whether the program restored the screen.
    #[track_caller]
    pub(crate) fn end(self) -> (u32, bool) {
        let Self { process, shown, .. } = self;
        let code = process.code();
        let is_restored = || {
            let shown = shown.lock().unwrap();
            !shown.screen.screen().alternate_screen() && !shown.screen.screen().hide_cursor()
        };
        // The last bytes may not have been read yet.
        let deadline = Instant::now() + Duration::from_secs(5);
        while !is_restored() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        (code, is_restored())
    }
}

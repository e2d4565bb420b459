//! Requests to stop: Ctrl-C, termination requests, notices that the time is up, and terminals that go away.

use crate::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The requests so far. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    requests: Arc<AtomicUsize>,
    noticed: Arc<AtomicBool>,
    hung_up: Arc<AtomicBool>,
}

impl Signals {
    /// Starts to listen for Ctrl-C, termination requests, notices (SIGUSR1) and hang-ups of this process.
    ///
    /// # Errors
    ///
    /// Returns an error if the handlers cannot be installed.
    pub fn listen() -> Result<Self> {
        let signals = Self::default();
        let heard = signals.clone();
        spawn(move |what| match what {
            SignalMeaning::Request => heard.request(),
            SignalMeaning::Notice => heard.noticed.store(true, Ordering::SeqCst),
            SignalMeaning::HangUp => heard.hung_up.store(true, Ordering::SeqCst),
        })?;
        Ok(signals)
    }

    /// Returns how often an end was requested: 1 means to finish the current epoch, 2 or more to end now. Notices
    /// count as a request to finish the epoch; they add nothing to other requests.
    pub fn requests(&self) -> usize {
        let noticed = usize::from(self.noticed.load(Ordering::SeqCst));
        self.requests.load(Ordering::SeqCst).max(noticed)
    }

    /// Returns whether the terminal is gone.
    pub fn hung_up(&self) -> bool {
        self.hung_up.load(Ordering::SeqCst)
    }

    /// Requests an end, as Ctrl-C does.
    pub fn request(&self) {
        self.requests.fetch_add(1, Ordering::SeqCst);
    }
}

/// The meaning of a signal.
enum SignalMeaning {
    Request,
    #[cfg_attr(not(unix), expect(dead_code, reason = "there is no such signal elsewhere"))]
    Notice,
    #[cfg_attr(not(unix), expect(dead_code, reason = "there is no such signal elsewhere"))]
    HangUp,
}

#[cfg(unix)]
fn spawn(hear: impl Fn(SignalMeaning) + Send + 'static) -> Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
    use std::io::IsTerminal;
    let signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGUSR1, SIGHUP]);
    let mut signals = signals.map_err(|error| cannot_listen(&error))?;
    let thread = std::thread::Builder::new().name("signals".to_owned());
    // This is determined now, because a terminal that is gone no longer counts as one.
    let (output, errors) = (std::io::stdout().is_terminal(), std::io::stderr().is_terminal());
    let listen = move || {
        for signal in signals.forever() {
            hear(match signal {
                SIGHUP => {
                    forget_terminal(output, errors);
                    SignalMeaning::HangUp
                }
                SIGUSR1 => SignalMeaning::Notice,
                _ => SignalMeaning::Request,
            });
        }
    };
    thread.spawn(listen).map(drop).map_err(|error| cannot_listen(&error))
}

/// Redirects further output for the terminal to nowhere, because libraries panic when they cannot write to it.
#[cfg(unix)]
fn forget_terminal(output: bool, errors: bool) {
    let Ok(nowhere) = std::fs::File::options().write(true).open("/dev/null") else { return };
    if output {
        let _ = nix::unistd::dup2_stdout(&nowhere);
    }
    if errors {
        let _ = nix::unistd::dup2_stderr(&nowhere);
    }
}

#[cfg(not(unix))]
fn spawn(hear: impl Fn(SignalMeaning) + Send + 'static) -> Result<()> {
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, flag.clone())
        .map_err(|error| cannot_listen(&error))?;
    let thread = std::thread::Builder::new().name("signals".to_owned());
    let listen = move || loop {
        std::thread::sleep(std::time::Duration::from_millis(50));
        if flag.swap(false, Ordering::SeqCst) {
            hear(SignalMeaning::Request);
        }
    };
    thread.spawn(listen).map(drop).map_err(|error| cannot_listen(&error))
}

fn cannot_listen(error: &std::io::Error) -> Error {
    Error::Failed(format!("cannot listen for Ctrl-C: {error}"))
}

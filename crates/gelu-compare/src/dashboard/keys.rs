use super::app::Action;
use crate::{Error, Result};
use crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use std::time::Duration;

/// The time to wait for a key before checking anything else.
const PATIENCE: Duration = Duration::from_millis(50);
/// The time to poll Crossterm for events that it already has. With a timeout of 0, Crossterm does not look.
const GLANCE: Duration = Duration::from_millis(1);

/// The keyboard of a terminal that may go away. Crossterm does not report that a terminal is gone, so this type polls
/// the terminal itself first.
#[derive(Debug)]
pub(super) struct Keys {
    #[cfg(unix)]
    terminal: std::fs::File,
    hung_up: bool,
    /// Whether Crossterm may have read more keys than were passed on.
    pending: bool,
}

impl Keys {
    pub(super) fn new() -> Result<Self> {
        #[cfg(unix)]
        {
            use std::io::IsTerminal;
            use std::os::fd::AsFd;
            let failed = || Error::io("read keys from", "the terminal");
            // Crossterm chooses the terminal in the same way.
            let terminal = match std::io::stdin().is_terminal() {
                true => std::io::stdin().as_fd().try_clone_to_owned().map(Into::into),
                false => std::fs::File::open("/dev/tty"),
            };
            Ok(Self { terminal: terminal.map_err(failed())?, hung_up: false, pending: false })
        }
        #[cfg(not(unix))]
        Ok(Self { hung_up: false, pending: false })
    }

    /// Returns whether the terminal is gone.
    pub(super) fn hung_up(&self) -> bool {
        self.hung_up
    }

    /// Waits a moment for a key, and handles keys with `press` until one leads to an action. Returns that action.
    pub(super) fn wait(&mut self, mut press: impl FnMut(KeyEvent) -> Action) -> Result<Action> {
        let failed = || Error::io("read keys from", "the terminal");
        let patience = if self.pending { Duration::ZERO } else { PATIENCE };
        self.await_key(patience)?;
        if self.hung_up {
            return Ok(Action::None);
        }
        while event::poll(GLANCE).map_err(failed())? {
            let action = match event::read().map_err(failed())? {
                Event::Key(key) if key.kind == KeyEventKind::Press => press(key),
                Event::Resize(..) => Action::Redraw,
                _ => Action::None,
            };
            if action != Action::None {
                self.pending = true;
                return Ok(action);
            }
        }
        self.pending = false;
        Ok(Action::None)
    }

    /// Waits until a key can be read, but no longer than `patience`.
    #[cfg(unix)]
    fn await_key(&mut self, patience: Duration) -> Result<()> {
        use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
        use std::os::fd::AsFd;
        let mut asked = [PollFd::new(self.terminal.as_fd(), PollFlags::POLLIN)];
        let timeout = PollTimeout::try_from(patience).expect("a moment is short");
        match poll(&mut asked, timeout) {
            // A signal, such as a change of the window's size.
            Err(nix::Error::EINTR) => return Ok(()),
            Err(errno) => {
                return Err(Error::io("read keys from", "the terminal")(errno.into()));
            }
            Ok(_) => {}
        }
        let found = asked[0].revents().unwrap_or(PollFlags::empty());
        let gone = PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL;
        self.hung_up |= found.intersects(gone);
        Ok(())
    }

    #[cfg(not(unix))]
    fn await_key(&mut self, patience: Duration) -> Result<()> {
        event::poll(patience).map(drop).map_err(Error::io("read keys from", "the terminal"))
    }
}

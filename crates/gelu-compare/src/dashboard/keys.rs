use super::app::Action;
use crate::{Error, Result};
use crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use std::time::Duration;

/// How long keys are waited for before anything else is looked at.
const PATIENCE: Duration = Duration::from_millis(50);
/// How long Crossterm is asked for what it has. With no time at all it does not look.
const GLANCE: Duration = Duration::from_millis(1);

/// The keyboard, as long as there is one. Crossterm does not say that a terminal is gone, so the
/// terminal itself is asked first.
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
            // As crossterm chooses.
            let terminal = match std::io::stdin().is_terminal() {
                true => std::io::stdin().as_fd().try_clone_to_owned().map(Into::into),
                false => std::fs::File::open("/dev/tty"),
            };
            Ok(Self { terminal: terminal.map_err(failed())?, hung_up: false, pending: false })
        }
        #[cfg(not(unix))]
        Ok(Self { hung_up: false, pending: false })
    }

    /// Whether the terminal was found to be gone.
    pub(super) fn hung_up(&self) -> bool {
        self.hung_up
    }

    /// Waits a moment for a key, and passes on all that were pressed until something has to be done.
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

    /// Waits until something can be read, but no longer than that.
    #[cfg(unix)]
    fn await_key(&mut self, patience: Duration) -> Result<()> {
        use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
        use std::os::fd::AsFd;
        let mut asked = [PollFd::new(self.terminal.as_fd(), PollFlags::POLLIN)];
        let timeout = PollTimeout::try_from(patience).expect("a moment is short");
        match poll(&mut asked, timeout) {
            // A signal, a change of the window's size for example.
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

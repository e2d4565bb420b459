use crate::Result;
use crate::session::Session;
use gelu_compare::runs::Spec;
use gelu_compare::worker::{Control, Redirected};

/// Redirects standard error into the run's log while Burn's display fills the terminal. Without this, a library's
/// message after the terminal is gone would cause a panic during a panic.
pub(super) struct RedirectedStderr {
    log: Option<Redirected>,
    control: Control,
}

impl RedirectedStderr {
    pub(super) fn of<S: Spec>(session: &Session<S>) -> Result<Self> {
        let log = Redirected::to(&session.run.log_file())?;
        Ok(Self { log: Some(log), control: session.control.clone() })
    }
}

impl Drop for RedirectedStderr {
    fn drop(&mut self) {
        if self.control.has_no_terminal()
            && let Some(log) = self.log.take()
        {
            log.until_exit();
        }
    }
}

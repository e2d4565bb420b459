use crate::Result;
use std::path::Path;

/// Standard error goes into a run's log for as long as this lives: what a panic, an abort or a
/// library says last is then found with the run it happened in.
#[derive(Debug)]
pub struct Redirected {
    #[cfg(unix)]
    before: std::os::fd::OwnedFd,
}

impl Redirected {
    /// From now on into that file, which is made where there is none.
    ///
    /// # Errors
    ///
    /// When the file cannot be written, or the system lets nothing be redirected.
    #[cfg(unix)]
    pub fn to(path: &Path) -> Result<Self> {
        use crate::Error;
        let file = std::fs::File::options().create(true).append(true).open(path);
        let file = file.map_err(Error::io("create", path))?;
        use std::os::fd::AsFd;
        let failed = |error| Error::io("redirect output to", path)(error);
        // Closed in whatever this process starts: a program may leave others behind, and who reads what is said here
        // would hear from them for as long as they live.
        let before = std::io::stderr().as_fd().try_clone_to_owned().map_err(failed)?;
        nix::unistd::dup2_stderr(&file).map_err(|errno| failed(errno.into()))?;
        Ok(Self { before })
    }

    /// There is no such thing here.
    ///
    /// # Errors
    ///
    /// None.
    #[cfg(not(unix))]
    pub fn to(_path: &Path) -> Result<Self> {
        Ok(Self {})
    }

    /// Standard error goes there until the process ends.
    pub fn for_good(self) {
        #[cfg(unix)]
        std::mem::forget(self);
    }
}

#[cfg(unix)]
impl Drop for Redirected {
    fn drop(&mut self) {
        // Where this fails, the log goes on being written to; nothing is lost.
        let _ = nix::unistd::dup2_stderr(&self.before);
    }
}

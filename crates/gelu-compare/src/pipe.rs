//! The output of a process, read without waiting for the process or for its children that inherited the output.

use std::io;
use std::time::Duration;

/// The reading end of a process's output. Dropping it closes it, even if processes still have the other end open.
#[derive(Debug)]
pub(crate) struct Pipe {
    end: Option<system::End>,
}

/// The result of one reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// This number of bytes; there may be more.
    Bytes(usize),
    /// There is nothing to read, but a process may still write.
    Nothing,
    /// Everything was read, and no process can write any more.
    End,
}

/// An upper limit, in bytes, for the size of a pipe. Pipes have at most 1 MiB on Linux, unless root sets more, and
/// 64 KiB elsewhere.
const LARGEST_PIPE: usize = 16 << 20;
/// The time to wait for the end of an output on systems where only the end proves that everything was read.
#[cfg(not(unix))]
const END: Duration = Duration::from_secs(10);

impl Pipe {
    /// Creates the reading end of an output that was requested with [`Stdio::piped`](std::process::Stdio::piped).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not allow reading without waiting.
    pub(crate) fn of(output: impl system::Output) -> io::Result<Self> {
        system::End::of(output).map(|end| Self { end: Some(end) })
    }

    /// Passes the available output to `take`, at most 64 KiB.
    ///
    /// # Errors
    ///
    /// Returns the system's errors.
    pub(crate) fn read(&mut self, take: impl FnOnce(&[u8])) -> io::Result<Reading> {
        let Some(end) = &mut self.end else { return Ok(Reading::End) };
        let read = end.read(take)?;
        if read == Reading::End {
            self.end = None;
        }
        Ok(read)
    }

    /// Passes the rest of the output to `take`. Call it after the process has ended: by then its output is in the
    /// pipe, so that no timeout is needed. It does not wait for other processes that have the pipe open; on other
    /// systems than Unix, end those first.
    ///
    /// # Errors
    ///
    /// Returns the system's errors, and on other systems than Unix an error if the end does not come.
    pub(crate) fn read_rest(&mut self, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        #[cfg(not(unix))]
        let until = std::time::Instant::now() + END;
        let mut left = LARGEST_PIPE;
        loop {
            match self.read(&mut take)? {
                Reading::End => return Ok(()),
                // Anything beyond a pipe's size was written after the process had ended.
                Reading::Bytes(count) if count >= left => return Ok(()),
                Reading::Bytes(count) => left -= count,
                #[cfg(unix)]
                Reading::Nothing => return Ok(()),
                #[cfg(not(unix))]
                Reading::Nothing if std::time::Instant::now() > until => {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, "it does not end"));
                }
                #[cfg(not(unix))]
                Reading::Nothing => wait(&[&*self], Duration::from_millis(1)),
            }
        }
    }

    /// Returns whether everything was read and no process can write any more.
    pub(crate) fn is_at_its_end(&self) -> bool {
        self.end.is_none()
    }
}

/// Waits until there is something to read, for at most `limit`.
pub(crate) fn wait(pipes: &[&Pipe], limit: Duration) {
    system::wait(pipes, limit);
}

#[cfg(unix)]
mod system {
    use super::{Pipe, Reading};
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::fs::File;
    use std::io::{self, ErrorKind, Read};
    use std::os::fd::{AsFd, OwnedFd};
    use std::time::Duration;

    pub(crate) trait Output: Into<OwnedFd> {}
    impl<T: Into<OwnedFd>> Output for T {}

    #[derive(Debug)]
    pub(super) struct End(File);

    impl End {
        pub(super) fn of(output: impl Output) -> io::Result<Self> {
            let file = File::from(output.into());
            // The flag applies to this end only: writers still wait while the pipe is full.
            let flags = OFlag::from_bits_retain(fcntl(&file, FcntlArg::F_GETFL)?);
            fcntl(&file, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
            Ok(Self(file))
        }

        pub(super) fn read(&mut self, take: impl FnOnce(&[u8])) -> io::Result<Reading> {
            let mut bytes = [0; 1 << 16];
            loop {
                match self.0.read(&mut bytes) {
                    Ok(0) => return Ok(Reading::End),
                    Ok(count) => {
                        take(&bytes[..count]);
                        return Ok(Reading::Bytes(count));
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        return Ok(Reading::Nothing);
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }

    pub(super) fn wait(pipes: &[&Pipe], limit: Duration) {
        let ends = pipes.iter().filter_map(|pipe| pipe.end.as_ref());
        let mut ends: Vec<_> =
            ends.map(|end| PollFd::new(end.0.as_fd(), PollFlags::POLLIN)).collect();
        // A signal ends the wait early; callers then call again.
        let _ = poll(&mut ends, PollTimeout::try_from(limit).unwrap_or(PollTimeout::ZERO));
    }
}

/// Other systems cannot read without waiting, so a separate thread waits.
#[cfg(not(unix))]
mod system {
    use super::{Pipe, Reading};
    use std::io::{self, Read};
    use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
    use std::time::Duration;

    /// The capacity of the queue of unread portions. A process that prints faster has to wait.
    const WAITING: usize = 16;

    pub(crate) trait Output: Read + Send + 'static {}
    impl<T: Read + Send + 'static> Output for T {}

    #[derive(Debug)]
    pub(super) struct End(Receiver<Vec<u8>>);

    impl End {
        pub(super) fn of(mut output: impl Output) -> io::Result<Self> {
            let (send, receive) = sync_channel(WAITING);
            let pass_on = move || {
                let mut bytes = vec![0; 1 << 16];
                while let Ok(count @ 1..) = output.read(&mut bytes) {
                    if send.send(bytes[..count].to_vec()).is_err() {
                        return;
                    }
                }
            };
            std::thread::Builder::new().name("output".to_owned()).spawn(pass_on)?;
            Ok(Self(receive))
        }

        pub(super) fn read(&mut self, take: impl FnOnce(&[u8])) -> io::Result<Reading> {
            match self.0.try_recv() {
                Ok(bytes) => {
                    take(&bytes);
                    Ok(Reading::Bytes(bytes.len()))
                }
                Err(TryRecvError::Empty) => Ok(Reading::Nothing),
                Err(TryRecvError::Disconnected) => Ok(Reading::End),
            }
        }
    }

    pub(super) fn wait(_pipes: &[&Pipe], limit: Duration) {
        std::thread::sleep(limit.min(Duration::from_millis(2)));
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn shell(script: &str) -> (std::process::Child, Pipe) {
        let mut command = Command::new("sh");
        let mut process =
            command.args(["-c", script]).stdout(Stdio::piped()).spawn().expect("sh starts");
        let pipe = Pipe::of(process.stdout.take().expect("it is piped")).expect("a pipe is one");
        (process, pipe)
    }

    #[test]
    fn what_a_process_printed_is_read_though_another_keeps_its_output_open() {
        let (mut process, mut pipe) = shell("sleep 60 & echo $!; printf last");
        process.wait().unwrap();
        let mut text = Vec::new();
        pipe.read_rest(|bytes| text.extend_from_slice(bytes)).unwrap();
        assert!(!pipe.is_at_its_end());
        let text = String::from_utf8(text).unwrap();
        let (child, last) = text.split_once('\n').unwrap();
        assert_eq!(last, "last");
        assert!(Command::new("kill").arg(child).status().unwrap().success());
    }

    #[test]
    fn a_process_left_behind_that_prints_without_end_is_not_read_without_end() {
        let (mut process, mut pipe) = shell("sh -c 'echo $$; exec yes' &");
        process.wait().unwrap();
        wait(&[&pipe], std::time::Duration::from_secs(60));
        let (mut text, mut count) = (Vec::new(), 0);
        pipe.read_rest(|bytes| {
            count += bytes.len();
            text.extend_from_slice(&bytes[..bytes.len().min(20)]);
        })
        .unwrap();
        assert!(count <= LARGEST_PIPE, "{count}");
        let text = String::from_utf8(text).unwrap();
        let child = text.lines().find(|line| line.parse::<u32>().is_ok()).unwrap();
        assert!(Command::new("kill").arg(child).status().unwrap().success());
    }
}

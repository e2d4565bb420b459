//! What a process prints, read without waiting for it or for whatever inherited its output.

use std::io;
use std::time::Duration;

/// The reading end of a process's output. Dropping it closes it, whoever has the other end open.
#[derive(Debug)]
pub(crate) struct Pipe {
    end: Option<system::End>,
}

/// What a reading came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// That many bytes; there may be more.
    Bytes(usize),
    /// Nothing is there, and somebody may still write.
    Nothing,
    /// All was read, and nobody can write any more.
    End,
}

/// No pipe holds more: 1 MiB on Linux, unless root asks for more, and 64 KiB elsewhere.
const LARGEST_PIPE: usize = 16 << 20;
/// How long the end of an output is waited for where only the end proves that all was read.
#[cfg(not(unix))]
const END: Duration = Duration::from_secs(10);

impl Pipe {
    /// Of an output that was asked for with [`Stdio::piped`](std::process::Stdio::piped).
    ///
    /// # Errors
    ///
    /// When the system does not let it be read without waiting.
    pub(crate) fn of(output: impl system::Output) -> io::Result<Self> {
        system::End::of(output).map(|end| Self { end: Some(end) })
    }

    /// Hands over what is there, 64 KiB at most.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub(crate) fn read(&mut self, take: impl FnOnce(&[u8])) -> io::Result<Reading> {
        let Some(end) = &mut self.end else { return Ok(Reading::End) };
        let read = end.read(take)?;
        if read == Reading::End {
            self.end = None;
        }
        Ok(read)
    }

    /// Hands over what the process has printed, once it has ended. No clock has a say in it: what it printed is in the
    /// pipe by then. Who else has the pipe open is not waited for; elsewhere than on Unix such processes have to be
    /// ended before.
    ///
    /// # Errors
    ///
    /// What the system says, and elsewhere than on Unix that the end does not come.
    pub(crate) fn read_rest(&mut self, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        #[cfg(not(unix))]
        let until = std::time::Instant::now() + END;
        let mut left = LARGEST_PIPE;
        loop {
            match self.read(&mut take)? {
                Reading::End => return Ok(()),
                // What comes now was not in the pipe when the process ended.
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

    /// Whether all was read, and nobody can write any more.
    pub(crate) fn is_at_its_end(&self) -> bool {
        self.end.is_none()
    }
}

/// Waits until there is something to read, for that long at most.
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
            // Of this end alone: whoever writes still waits where the pipe is full.
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
        // A signal ends it early, and then it is called again.
        let _ = poll(&mut ends, PollTimeout::try_from(limit).unwrap_or(PollTimeout::ZERO));
    }
}

/// Other systems do not read without waiting, so a thread of its own waits.
#[cfg(not(unix))]
mod system {
    use super::{Pipe, Reading};
    use std::io::{self, Read};
    use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
    use std::time::Duration;

    /// Portions that wait to be read; a process that prints faster waits.
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

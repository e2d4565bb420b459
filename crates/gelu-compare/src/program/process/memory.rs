//! Detects whether the system has killed a program because memory ran out.

use super::group::{is_killed, said};
use std::process::ExitStatus;

/// The numbers of processes that the system and this container have killed because memory ran out; `None` if unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MemoryKills(Option<[u64; 2]>);

impl MemoryKills {
    /// Returns the current numbers.
    pub(super) fn now() -> Self {
        let count = |file: &str| -> Option<u64> {
            let text = std::fs::read_to_string(file).ok()?;
            let line = text.lines().find_map(|line| line.strip_prefix("oom_kill "))?;
            line.trim().parse().ok()
        };
        let all = ["/proc/vmstat", "/sys/fs/cgroup/memory.events"].map(count);
        Self(all.iter().any(Option::is_some).then(|| all.map(Option::unwrap_or_default)))
    }

    /// Returns in words how a program ended, and whether it was killed because memory ran out. `self` is from before
    /// its start.
    pub(super) fn explain(self, now: Self, status: ExitStatus) -> String {
        let ended = format!("it ended with {}", said(status));
        match (self.0, now.0) {
            _ if !is_killed(status) => ended,
            (Some(before), Some(now))
                if now.iter().zip(before).any(|(now, before)| *now > before) =>
            {
                format!("{ended}: the system killed it, because memory ran out")
            }
            (Some(_), Some(_)) => ended,
            _ => {
                format!("{ended}; this system does not say whether that was because memory ran out")
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn a_program_that_was_killed_for_memory_is_said_to_have_been() {
        let kills = |system, container| MemoryKills(Some([system, container]));
        let [killed, shell, failed] = [9, 137 << 8, 1 << 8].map(ExitStatus::from_raw);
        let said = |now: MemoryKills, status| kills(3, 0).explain(now, status);
        assert!(
            said(kills(4, 0), killed)
                .ends_with("signal 9: the system killed it, because memory ran out")
        );
        assert!(said(kills(3, 1), shell).contains("137: the system killed it"));
        assert_eq!(said(kills(3, 0), killed), "it ended with signal 9");
        assert_eq!(said(kills(4, 1), failed), "it ended with exit code 1");
        assert!(said(MemoryKills(None), killed).contains("does not say whether"));
        if cfg!(target_os = "linux") {
            assert_ne!(MemoryKills::now(), MemoryKills(None));
        }
    }
}

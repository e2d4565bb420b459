//! The identity and name of the machine that a process runs on.

use std::fs;

/// Returns the identity of the running kernel and the process namespace (a container). Processes with the same
/// identity can see each other's locks and processes, so they can trust the kernel's locks. Between other processes
/// only a heartbeat counts.
pub fn identity() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    let boot = boot.map_or_else(|_| name(), |id| id.trim().to_owned());
    let namespace = fs::read_link("/proc/self/ns/pid");
    let namespace = namespace.map_or_else(|_| String::new(), |link| link.display().to_string());
    format!("{boot} {namespace}").trim().to_owned()
}

/// Returns this host's name, for display.
pub fn name() -> String {
    #[cfg(unix)]
    let name = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").ok();
    name.unwrap_or_else(|| "unknown".to_owned())
}

//! Which machine a process is on, as far as locks are concerned.

use std::fs;

/// Tells apart what cannot see each other's locks and processes: the running kernel and the
/// process namespace (a container). Two processes with the same identity can trust the kernel's
/// locks; of any others only a heartbeat is believed.
pub fn identity() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    let boot = boot.map_or_else(|_| name(), |id| id.trim().to_owned());
    let namespace = fs::read_link("/proc/self/ns/pid");
    let namespace = namespace.map_or_else(|_| String::new(), |link| link.display().to_string());
    format!("{boot} {namespace}").trim().to_owned()
}

/// This host's name, for people.
pub fn name() -> String {
    #[cfg(unix)]
    let name = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").ok();
    name.unwrap_or_else(|| "unknown".to_owned())
}

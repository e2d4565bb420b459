//! The process keeps memory that it frees, unless the environment says otherwise.

#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use gelu_kernels::keep_memory;
use std::hint::black_box;
use std::process::Command;

/// Returns the number of page faults of this process that did not read from a disk.
fn faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The second field is the program's name, in brackets, and may contain anything.
    let fields = stat.rsplit(") ").next().unwrap();
    fields.split(' ').nth(7).unwrap().parse().unwrap()
}

/// Allocates, writes and frees memory, as a training step does.
fn step() {
    black_box(vec![1.0f32; 10_000_000]);
}

#[test]
fn the_next_step_finds_what_the_last_one_freed() {
    assert!(keep_memory());
    step();
    let before = faults();
    (0..5).for_each(|_| step());
    let new = faults() - before;
    assert!(new < 5000, "{new} pages in five steps of 9766");
}

#[test]
fn the_environment_has_the_last_word() {
    const CHILD: &str = "GELU_TESTS_CHILD";
    if std::env::var_os(CHILD).is_some() {
        assert!(!keep_memory());
        return;
    }
    for (name, value) in [("MALLOC_TOP_PAD_", "0"), ("GLIBC_TUNABLES", "glibc.malloc.check=0")] {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "the_environment_has_the_last_word"]);
        let status = child.env(CHILD, "1").env(name, value).status().unwrap();
        assert!(status.success(), "{name}");
    }
}

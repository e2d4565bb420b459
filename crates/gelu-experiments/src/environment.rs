//! What a process computes with and on: a part of where every number comes from.

use crate::device::DeviceName;
use gelu_compare::runs::Environment;
use serde_json::Value;

/// Version of Burn that this program is built with (checked against the manifest by a test).
const BURN: &str = "0.22.1";

/// Program, build and machine of this process, training on `device` with so many threads.
pub fn here(device: &DeviceName, threads: usize) -> Environment {
    let mut here = Environment::of_this_machine();
    let commit = option_env!("GELU_COMMIT").filter(|commit| !commit.is_empty());
    let all: [(&str, Option<Value>); 7] = [
        ("program", Some(env!("CARGO_PKG_VERSION").into())),
        ("commit", commit.map(Into::into)),
        ("burn", Some(BURN.into())),
        ("features", Some(features().into())),
        ("device", Some(device.to_string().into())),
        ("processor", Some(processor().into())),
        ("instructions", Some(instructions().into())),
    ];
    for (name, value) in all {
        here.0.extend(value.map(|value| (name.to_owned(), value)));
    }
    here.0.insert("threads".to_owned(), threads.into());
    here
}

fn features() -> Vec<String> {
    let mut features: Vec<String> =
        DeviceName::backends().iter().map(|backend| (*backend).to_owned()).collect();
    for (name, present) in
        [("fusion", cfg!(feature = "fusion")), ("autotune", cfg!(feature = "autotune"))]
    {
        features.extend(present.then(|| name.to_owned()));
    }
    features
}

/// What the system calls the processor.
fn processor() -> String {
    let known = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    known.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

#[cfg(target_arch = "x86_64")]
fn instructions() -> &'static str {
    let avx512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl");
    match (avx512, is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")) {
        (true, _) => "avx512",
        (false, true) => "avx2",
        _ => "sse2",
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn instructions() -> &'static str {
    std::env::consts::ARCH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_burn_is_the_manifests() {
        let manifest = include_str!("../../../Cargo.toml");
        assert!(manifest.contains(&format!("burn = {{ version = \"{BURN}\"")), "{BURN}");
    }

    #[cfg(feature = "flex")]
    #[test]
    fn a_commit_that_is_not_all_of_the_program_is_said_to_be() {
        let mut here = here(&"flex".parse().unwrap(), 1);
        let mut said = |commit: Option<&str>| {
            here.0.remove("commit");
            here.0.extend(commit.map(|commit| ("commit".to_owned(), commit.into())));
            here.commit_in_words()
        };
        assert_eq!(said(None), None);
        assert_eq!(said(Some("728985b80709")).unwrap(), "commit 728985b80709");
        let changed = said(Some("728985b80709+")).unwrap();
        assert_eq!(changed, "commit 728985b80709 with uncommitted changes");
    }

    #[cfg(feature = "flex")]
    #[test]
    fn other_instructions_compute_other_bits_and_another_host_does_not() {
        let here = here(&"flex".parse().unwrap(), 1);
        let mut other = here.clone();
        other.0.insert("host".to_owned(), "elsewhere".into());
        other.0.insert("threads".to_owned(), 2.into());
        assert_eq!(here.arithmetic(), other.arithmetic());
        other.0.insert("instructions".to_owned(), "older".into());
        assert_eq!(other.arithmetic().unwrap(), "flex with older");
        assert_ne!(here.arithmetic(), other.arithmetic());
    }
}

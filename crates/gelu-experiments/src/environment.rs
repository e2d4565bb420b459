//! What a process computes with and on: a part of where every number comes from.

use crate::device::DeviceName;
use serde::{Deserialize, Serialize};

/// Version of Burn that this program is built with (checked against the manifest by a test).
const BURN: &str = "0.22.1";

/// Program, build and machine of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of this program.
    pub program: String,
    /// Commit it was built from, with `+` where files had changed since; absent outside a
    /// repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Version of Burn.
    pub burn: String,
    /// Cargo features of the build that numbers can depend on.
    pub features: Vec<String>,
    /// The device trained on, as `--device` names it.
    pub device: String,
    /// The processor's model.
    pub processor: String,
    /// The widest vector instructions that matrix products may use: results differ in their last
    /// digits between processors that differ here.
    pub instructions: String,
    /// Threads that a run may use.
    pub threads: usize,
    /// The host's name.
    pub host: String,
}

impl Environment {
    /// That of this process, training on `device` with so many threads.
    pub fn here(device: &DeviceName, threads: usize) -> Self {
        Self {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            commit: option_env!("GELU_COMMIT").filter(|commit| !commit.is_empty()).map(Into::into),
            burn: BURN.to_owned(),
            features: features(),
            device: device.to_string(),
            processor: processor(),
            instructions: instructions().to_owned(),
            threads,
            host: gelu_compare::host::name(),
        }
    }

    /// The commit in words, `None` outside a repository.
    pub fn commit_in_words(&self) -> Option<String> {
        let commit = self.commit.as_deref()?;
        Some(match commit.strip_suffix('+') {
            Some(commit) => format!("commit {commit} with uncommitted changes"),
            None => format!("commit {commit}"),
        })
    }

    /// What a run's last bits depend on, as `flex with avx512`.
    pub fn arithmetic(&self) -> String {
        let backend = self.device.split(':').next().unwrap_or_default();
        format!("{backend} with {}", self.instructions)
    }
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
        let mut here = Environment::here(&"flex".parse().unwrap(), 1);
        let mut said = |commit: Option<&str>| {
            here.commit = commit.map(str::to_owned);
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
        let here = Environment::here(&"flex".parse().unwrap(), 1);
        let mut other = here.clone();
        (other.host, other.threads) = ("elsewhere".to_owned(), here.threads + 1);
        assert_eq!(here.arithmetic(), other.arithmetic());
        other.instructions = "older".to_owned();
        assert_eq!(other.arithmetic(), "flex with older");
        assert_ne!(here.arithmetic(), other.arithmetic());
    }
}

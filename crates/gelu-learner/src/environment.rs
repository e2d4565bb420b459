//! The software and hardware that a process computes with; runs record them.

use gelu_compare::runs::Environment;

/// The version of Burn that this crate is built with (a test compares it with the manifest).
const BURN: &str = "0.22.1";

/// Returns the environment of this process: Burn, the machine, the device's name and the number of threads.
pub fn here(device: &str, threads: usize) -> Environment {
    let mut here = Environment::of_this_machine();
    let all = [
        ("burn", BURN.into()),
        ("device", device.into()),
        ("processor", processor().into()),
        ("instructions", instructions().into()),
        ("threads", threads.into()),
    ];
    here.0.extend(all.map(|(name, value)| (name.to_owned(), value)));
    here
}

/// Returns the system's name of the processor.
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

    #[test]
    fn other_instructions_compute_other_bits_and_another_host_does_not() {
        let here = here("flex", 1);
        let mut other = here.clone();
        other.0.insert("host".to_owned(), "elsewhere".into());
        other.0.insert("threads".to_owned(), 2.into());
        assert_eq!(here.arithmetic(), other.arithmetic());
        other.0.insert("instructions".to_owned(), "older".into());
        assert_eq!(other.arithmetic().unwrap(), "flex with older");
        assert_ne!(here.arithmetic(), other.arithmetic());
    }
}

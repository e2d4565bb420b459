//! The software and hardware that a process computes with; runs record them.

use gelu_compare::runs::Environment;
use gelu_learner::device::DeviceName;
use serde_json::Value;

/// Returns the environment of this process: program, build, machine, device and number of threads.
pub fn here(device: &DeviceName, threads: usize) -> Environment {
    let mut here = gelu_learner::environment::here(&device.to_string(), threads);
    let commit = option_env!("GELU_COMMIT").filter(|commit| !commit.is_empty());
    let all: [(&str, Option<Value>); 3] = [
        ("program", Some(env!("CARGO_PKG_VERSION").into())),
        ("commit", commit.map(Into::into)),
        ("features", Some(features().into())),
    ];
    for (name, value) in all {
        here.0.extend(value.map(|value| (name.to_owned(), value)));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

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
}

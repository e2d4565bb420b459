//! Tests of the program on a GPU, or on a software GPU: on the device that `BURN_DEVICE` names.
//!
//! ```text
//! BURN_DEVICE=vulkan cargo test --release -p gelu-experiments --features wgpu,vulkan --test gpu
//! ```

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "program/support/mod.rs"]
mod support;

use support::document::Document;
use support::{Outcome, Sandbox, small};

fn device() -> String {
    std::env::var("BURN_DEVICE").unwrap_or_else(|_| "wgpu".to_owned())
}

/// On Linux, neither Vulkan nor OpenGL, which wgpu falls back to, finds a driver if these variables point nowhere.
#[test]
#[cfg(target_os = "linux")]
fn a_device_that_is_not_there_is_said_before_anything_is_made() {
    let device = device();
    if !matches!(device.as_str(), "wgpu" | "vulkan" | "webgpu") {
        eprintln!("skipped: {device} is not found through Vulkan");
        return;
    }
    let sandbox = Sandbox::new();
    let without_driver = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        for found_by in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "__EGL_VENDOR_LIBRARY_FILENAMES"] {
            command.env(found_by, "/nowhere");
        }
        Outcome(command.output().unwrap())
    };
    let refused = without_driver(&small("gelu,relu", "1", &["--device", &device, "--out", "out"]));
    let said = refused.refused(1, &format!("device {device}: "));
    assert!(said.contains("vulkaninfo"), "{said}");
    assert!(!sandbox.path("out").exists(), "a folder was made");

    let listed = |listing: String| {
        let line = listing.lines().find(|line| line.starts_with(&device)).map(str::to_owned);
        line.unwrap()
    };
    assert!(listed(without_driver(&["devices"]).success()).contains("none answers: "));
    assert!(listed(sandbox.run(&["devices"]).success()).contains("ready: "));
}

#[test]
fn two_activations_are_trained() {
    let device = device();
    let sandbox = Sandbox::new();
    let more = [
        "--device",
        &device,
        "--learning-rates",
        "1e-3",
        "--dropout",
        "0",
        "--out",
        "out",
        "--json",
    ];
    let compare = || -> Document {
        serde_json::from_str(&sandbox.run(&small("gelu,relu", "2", &more)).success()).unwrap()
    };
    let trained = compare();
    assert_eq!(trained.device, device);
    assert_eq!(trained.runs.len(), 2);
    for run in &trained.runs {
        let [first, second] = &run.epochs[..] else { panic!("{:?}", run.epochs) };
        // Guessing has a loss of ln 10.
        assert!(first.train_loss < 2.3 && second.train_loss < first.train_loss, "{:?}", run.epochs);
    }
    assert_eq!(compare(), trained, "what is there is not trained again");
}

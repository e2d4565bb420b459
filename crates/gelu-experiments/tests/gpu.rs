//! The program on a GPU, or on one that is made of the processor: whatever device `BURN_DEVICE` names.
//!
//! ```text
//! BURN_DEVICE=vulkan cargo test --release -p gelu-experiments --features wgpu,vulkan --test gpu
//! ```

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use support::document::Document;
use support::{Sandbox, small};

#[test]
fn two_activations_are_trained() {
    let device = std::env::var("BURN_DEVICE").unwrap_or_else(|_| "wgpu".to_owned());
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
        // ln 10 is what guessing gets.
        assert!(first.train_loss < 2.3 && second.train_loss < first.train_loss, "{:?}", run.epochs);
    }
    assert_eq!(compare(), trained, "what is there is not trained again");
}

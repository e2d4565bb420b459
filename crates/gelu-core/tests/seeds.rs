//! Tests of `device.seed`. They are in a file of their own because tests of one file share the
//! device's generator.
//!
//! ```text
//! cargo test --release --test seeds
//! ```

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use burn::tensor::{Device, Tensor};
use gelu_core::random::{DropoutMask, Key};
use gelu_core::{HiddenLayerConfig, StochasticGelu, functional};

#[test]
fn masks_are_those_of_the_devices_seed() {
    let device = Device::default().autodiff();
    let x = Tensor::<2>::ones([2, 4], &device);
    let config = HiddenLayerConfig::new(4, 64).with_dropout(0.5);
    // A layer creates its weights on first use.
    let run = |seed| {
        device.seed(seed);
        let layer = config.init(&device);
        [0; 3].map(|_| layer.forward(x.clone()).into_data())
    };
    let first = run(11);
    assert_ne!(first[0], first[1]);
    assert_eq!(first, run(11));
    assert_ne!(first, run(12));
    device.seed(11);
    let map = |x: &Tensor<2>| StochasticGelu::new().forward(x.clone() * 0.01).into_data();
    let first = [map(&x), map(&x), map(&x)];
    assert!(first[0] != first[1] || first[1] != first[2]);
    device.seed(11);
    assert_eq!(first, [map(&x), map(&x), map(&x)]);
}

/// Prints a dropout mask, for the next test.
#[test]
#[ignore = "run by `processes_that_set_no_seed_drop_different_elements`"]
fn one_process_mask() {
    let device = Device::default().autodiff();
    let mask = DropoutMask::new(0.5, Key::next(&device));
    let y = functional::dropout(Tensor::<1>::ones([64], &device), mask);
    println!("mask: {:?}", y.into_data().try_to_vec::<f32>().unwrap());
}

#[test]
fn processes_that_set_no_seed_drop_different_elements() {
    let masks = [0; 2].map(|_| {
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "one_process_mask", "--ignored", "--nocapture"])
            .output()
            .unwrap();
        let output = String::from_utf8(child.stdout).unwrap();
        let mask = output.lines().find_map(|line| line.split_once("mask: "));
        mask.unwrap_or_else(|| panic!("no mask in {output}")).1.to_owned()
    });
    assert_ne!(masks[0], masks[1]);
}

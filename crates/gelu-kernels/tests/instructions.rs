//! `GELU_SIMD` chooses instructions, and an unavailable choice is an error.

use std::process::Command;

/// The test that the child processes below run.
#[test]
fn a_function() {
    let mut y = [0.0; 2];
    gelu_kernels::gelu(&[-3.0, 1.0], &mut y);
    for (y, exact) in y.into_iter().zip([-0.004_049_694, 0.841_344_8]) {
        assert!((y - exact).abs() <= 1e-7 * exact.abs(), "{y} {exact}");
    }
}

/// Runs the test above with these instructions. Returns whether it passed, and its output.
fn with(instructions: &str) -> (bool, String) {
    let program = std::env::current_exe().expect("this program");
    let child = Command::new(program)
        .args(["--exact", "a_function", "--nocapture"])
        .env("GELU_SIMD", instructions)
        .output()
        .expect("it runs");
    let said = [child.stdout, child.stderr].concat();
    (child.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn those_that_are_there_compute_and_others_are_refused() {
    for instructions in ["", "portable", "PORTABLE"] {
        let (computed, said) = with(instructions);
        assert!(computed, "{instructions}: {said}");
    }
    for instructions in ["avx3", "portabel", "portable,avx2"] {
        let (computed, said) = with(instructions);
        assert!(!computed, "{instructions}");
        let refusal = format!("GELU_SIMD={instructions} names no instruction set that is there");
        assert!(said.contains(&refusal) && said.contains("`portable`"), "{said}");
    }
}

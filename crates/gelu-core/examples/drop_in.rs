//! Replaces `burn::nn::Gelu` by `GeluLayer` in one line, and shows what that changes.
//!
//! ```text
//! cargo run --release --example drop_in
//! ```
//!
//! The program compares both derivatives with the derivative of Φ(x)·x itself, in double precision.

use burn::nn::Gelu;
use burn::tensor::{Device, Tensor};
use gelu_core::GeluLayer;
use gelu_core::functional::Unit;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let points = [-5.5, -3.0, -0.751_791_5, 0.5, 2.0];
    let device = Device::default().autodiff();
    let slopes = |forward: &dyn Fn(Tensor<1>) -> Tensor<1>| {
        let x = Tensor::<1>::from_floats(points, &device).require_grad();
        let gradients = forward(x.clone()).sum().backward();
        x.grad(&gradients).map(|slope| slope.into_data().iter::<f64>().collect::<Vec<f64>>())
    };
    let (burn, ours) = (Gelu::new(), GeluLayer::new());
    let burn = slopes(&|x| burn.forward(x)).ok_or("x is tracked")?;
    let ours = slopes(&|x| ours.forward(x)).ok_or("x is tracked")?;
    println!("{:>12} {:>22} {:>22}", "x", "burn::nn::Gelu′", "GeluLayer′");
    for ((x, burn), ours) in points.into_iter().zip(burn).zip(ours) {
        let exact = Unit::Gelu.derivative(f64::from(x as f32));
        let off = |slope: f64| format!("{slope:.6e} ({:.0e})", ((slope - exact) / exact).abs());
        println!("{x:>12} {:>22} {:>22}", off(burn), off(ours));
        assert!(((ours - exact) / exact).abs() < 1e-7, "GeluLayer′({x}) is exact to f32");
    }
    println!("in brackets: relative distance from the exact derivative");
    Ok(())
}

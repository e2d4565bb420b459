//! Measures the memory that a deep stack of activations keeps for its backward pass.
//!
//! ```text
//! cargo run --release --bin memory -- [LAYERS]
//! ```
//!
//! It measures the peak of allocated bytes in the forward and backward pass of a stack (32 layers by default) on 2^20
//! f32 values, and prints it per layer in tensors of that size. The difference between two depths removes the memory
//! that one layer needs temporarily.

use burn::nn::{Dropout, DropoutConfig};
use burn::tensor::{Device, Distribution, Tensor};
use gelu_core::functional::{self, Unit};
use gelu_core::random::{DropoutMask, Key};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const ELEMENTS: usize = 1 << 20;

type Layer = (&'static str, Box<dyn Fn(Tensor<2>) -> Tensor<2>>);

fn main() {
    let layers = match std::env::args().nth(1).map(|text| text.parse::<usize>()) {
        None => 32,
        Some(Ok(layers)) if layers > 0 => layers,
        Some(_) => {
            eprintln!("usage: memory [LAYERS], a positive number");
            std::process::exit(2);
        }
    };
    let device = Device::default().autodiff();
    let bias = Tensor::<1>::zeros([1 << 10], &device);
    let kinds: [Layer; 6] = [
        ("GELU", Box::new(functional::gelu)),
        ("Burn's GELU", Box::new(burn::tensor::activation::gelu)),
        ("tanh form", Box::new(functional::gelu_tanh)),
        ("Burn's tanh form", Box::new(burn::tensor::activation::gelu_approximate)),
        ("bias, GELU, dropout 0.5", {
            let bias = bias.clone();
            Box::new(move |x| {
                let dropout = DropoutMask::new(0.5, Key::next(&x.device()));
                functional::bias_activation_dropout(x, bias.clone(), Unit::Gelu, Some(dropout))
            })
        }),
        ("Burn's of the three", {
            let dropout: Dropout = DropoutConfig::new(0.5).init();
            Box::new(move |x| {
                let biased = x + bias.clone().unsqueeze();
                dropout.forward(burn::tensor::activation::gelu(biased))
            })
        }),
    ];
    println!("{:<26} {:>18}", "layer", "tensors per layer");
    for (name, layer) in kinds {
        let deep = peak(&layer, 2 * layers, &device);
        let shallow = peak(&layer, layers, &device);
        let bytes = (deep as f64 - shallow as f64) / layers as f64;
        println!("{name:<26} {:>18.2}", bytes / (4 * ELEMENTS) as f64);
    }
}

/// Returns the peak of allocated bytes above the allocation at the start.
fn peak(layer: &dyn Fn(Tensor<2>) -> Tensor<2>, depth: usize, device: &Device) -> usize {
    let x = Tensor::<2>::random([1 << 10, ELEMENTS >> 10], Distribution::Normal(0.0, 1.0), device);
    let x = x.require_grad();
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let y = (0..depth).fold(x, |x, _| layer(x));
    drop(y.sum().backward());
    ALLOCATOR.peak_usage() - before
}

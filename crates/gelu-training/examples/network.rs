//! Trains a network of two layers without tensors, on slices only. The network learns which points
//! of the plane lie within a ring.
//!
//! ```text
//! cargo run --release --example network
//! ```

use gelu_kernels::random::Draw;
use gelu_kernels::{Pass, Unit};
use gelu_training::kernels::linear::Sizes;
use gelu_training::kernels::{AdamStep, adam};

const POINTS: usize = 512;
const NEURONS: usize = 32;
const STEPS: usize = 600;

/// A parameter with its moments.
struct Parameter {
    values: Vec<f32>,
    moments: [Vec<f32>; 2],
}

impl Parameter {
    fn new(values: Vec<f32>) -> Self {
        let moments = [(); 2].map(|()| vec![0.0; values.len()]);
        Self { values, moments }
    }

    fn step(&mut self, mut gradient: Vec<f32>, step: AdamStep) {
        let [first, second] = &mut self.moments;
        adam(&self.values, &mut gradient, first, second, step);
        self.values = gradient;
    }
}

fn main() {
    let uniforms = |step, count| Draw { seed: 1, step }.uniforms(count);
    let around_0 = |step, count, size: f32| -> Vec<f32> {
        uniforms(step, count).into_iter().map(|u| (2.0 * u - 1.0) * size).collect()
    };
    let x = around_0(0, 2 * POINTS, 2.0);
    let inside: Vec<f32> = x
        .chunks_exact(2)
        .map(|point| f32::from((0.8..1.6).contains(&point[0].hypot(point[1]))))
        .collect();
    let mut weight = Parameter::new(around_0(1, 2 * NEURONS, 1.0));
    let mut bias = Parameter::new(vec![0.0; NEURONS]);
    let mut outer = Parameter::new(around_0(2, NEURONS, 0.3));
    let first = Sizes { batch: POINTS, inputs: 2, outputs: NEURONS };
    let last = Sizes { batch: POINTS, inputs: NEURONS, outputs: 1 };
    for time in 1..=STEPS {
        let product = first.forward(&x, &weight.values);
        let layer = Pass::new(Unit::Gelu).with(&bias.values, None);
        let hidden = layer.map(&product);
        let scores = last.forward(&hidden, &outer.values);
        // The gradient of the logistic loss.
        let gradient: Vec<f32> = scores
            .iter()
            .zip(&inside)
            .map(|(score, inside)| {
                (Unit::Sigmoid.value(f64::from(*score)) as f32 - inside) / POINTS as f32
            })
            .collect();
        let mut of_hidden = last.input_gradient(&outer.values, &gradient);
        let of_outer = last.weight_gradient(&hidden, &gradient);
        let of_bias = layer.scale_in_place(&product, &mut of_hidden);
        let of_weight = first.weight_gradient(&x, &of_hidden);
        let step = AdamStep::new(time, 0.02);
        weight.step(of_weight, step);
        bias.step(of_bias, step);
        outer.step(of_outer, step);
        if time % 100 == 0 {
            let right = scores.iter().zip(&inside).filter(|(s, i)| (**s > 0.0) == (**i > 0.5));
            let share = right.count() as f64 / POINTS as f64;
            println!("step {time}: {:.1} % right", 100.0 * share);
            assert!(time < STEPS || share > 0.9, "it has learned the ring");
        }
    }
}

//! Two-dimensional convolution and its gradients, by definition or by [Winograd's method](Method).
//!
//! Every element of a result is summed in the same order, for any number of threads, and for any instruction set
//! with a fused multiply-add.

#![allow(
    clippy::manual_memcpy,
    clippy::needless_range_loop,
    reason = "loops over lanes are what becomes vectors"
)]

mod axis;
mod correlation;
mod frame;
mod geometry;
mod method;
mod panels;
mod parts;
mod weights;
mod winograd;

pub use geometry::Geometry;
pub use method::Method;

use crate::kernels::checks::expect_length;
use crate::kernels::written::written;
use gelu_kernels::Level;
use winograd::Kernels;

/// Returns the convolution, `[batch, outputs, height, width]`. Subnormal inputs count as 0, because processors
/// multiply them in slow microcode.
///
/// `input` is `[batch, channels, height, width]`, `weight` is `[outputs, channels, kernel height, kernel width]`,
/// and `bias` is `[outputs]` or empty.
///
/// # Panics
///
/// If the length of a slice does not match the sizes; if the kernel, strides, dilations or channels are 0; or if
/// the sizes are larger than memory. All checks come before any work.
pub fn convolve(geometry: &Geometry, input: &[f32], weight: &[f32], bias: &[f32]) -> Vec<f32> {
    convolve_at(Level::best(), Method::best(), geometry, input, weight, bias)
}

fn convolve_at(
    level: Level,
    method: Method,
    geometry: &Geometry,
    input: &[f32],
    weight: &[f32],
    bias: &[f32],
) -> Vec<f32> {
    let [images, weights, results] = geometry.lengths();
    expect("input", input, images, geometry);
    expect("weight", weight, weights, geometry);
    if !bias.is_empty() {
        expect("bias", bias, geometry.channels[1], geometry);
    }
    let [depth, kernel] = [geometry.depth(), geometry.kernel.iter().product()];
    let write = |output: &mut [_]| match method.of(geometry) {
        Method::Direct => {
            let at = |output: usize, channel: usize, tap: usize| {
                weight[output * depth + channel * kernel + tap]
            };
            geometry.forward().run(level, input, at, bias, output);
        }
        Method::Winograd => {
            let kernels = Kernels { weight, step: [depth, kernel], rotated: false };
            geometry.forward_squares().run(level, input, kernels, bias, output);
        }
    };
    // SAFETY: the results of the correlation are all elements, and it writes each of them.
    unsafe { written(results, write) }
}

#[track_caller]
fn expect(argument: &str, numbers: &[f32], expected: usize, geometry: &Geometry) {
    expect_length(argument, numbers.len(), expected, format_args!("as {geometry:?} says"));
}

/// Returns the gradient for the input, in its shape. Subnormal gradients count as 0.
///
/// # Panics
///
/// In the same cases as [`convolve`].
pub fn input_gradient(geometry: &Geometry, weight: &[f32], gradient: &[f32]) -> Vec<f32> {
    input_gradient_at(Level::best(), Method::best(), geometry, weight, gradient)
}

fn input_gradient_at(
    level: Level,
    method: Method,
    geometry: &Geometry,
    weight: &[f32],
    gradient: &[f32],
) -> Vec<f32> {
    let [images, weights, results] = geometry.lengths();
    expect("weight", weight, weights, geometry);
    expect("gradient", gradient, results, geometry);
    let [depth, kernel] = [geometry.depth(), geometry.kernel.iter().product()];
    let write = |result: &mut [_]| match method.of(geometry) {
        Method::Direct => {
            for (correlation, places) in geometry.backward() {
                let at = |channel: usize, output: usize, tap: usize| {
                    weight[output * depth + channel * kernel + places[tap]]
                };
                correlation.run(level, gradient, at, &[], result);
            }
        }
        Method::Winograd => {
            let kernels = Kernels { weight, step: [kernel, depth], rotated: true };
            geometry.backward_squares().run(level, gradient, kernels, &[], result);
        }
    };
    // SAFETY: the results of all phases of the stride are all elements, and each correlation writes its results.
    unsafe { written(images, write) }
}

/// Returns the gradient for the weight. Subnormal inputs and gradients count as 0.
///
/// # Panics
///
/// In the same cases as [`convolve`].
pub fn weight_gradient(geometry: &Geometry, input: &[f32], gradient: &[f32]) -> Vec<f32> {
    weight_gradient_at(Level::best(), Method::best(), geometry, input, gradient)
}

fn weight_gradient_at(
    level: Level,
    method: Method,
    geometry: &Geometry,
    input: &[f32],
    gradient: &[f32],
) -> Vec<f32> {
    let [images, _, results] = geometry.lengths();
    expect("input", input, images, geometry);
    expect("gradient", gradient, results, geometry);
    match method.of_weights(geometry) {
        Method::Direct => weights::gradient(geometry, level, input, gradient),
        Method::Winograd => {
            geometry.forward_squares().weight_gradient(level, geometry.batch, input, gradient)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, frequency: f64) -> Vec<f32> {
        (0..count).map(|i| (i as f64 * frequency).sin() as f32).collect()
    }

    /// Returns the result and both gradients by definition, in f64.
    fn defined(geometry: &Geometry, x: &[f32], w: &[f32], dy: &[f32]) -> [Vec<f64>; 3] {
        let Geometry { batch, channels: [inputs, outputs], input, output, kernel, .. } = *geometry;
        let place = |axis: usize, o: usize, k: usize| {
            let place = (o * geometry.stride[axis] + k * geometry.dilation[axis])
                .checked_sub(geometry.padding[axis]);
            place.filter(|&place| place < input[axis])
        };
        let mut found = [dy.len(), x.len(), w.len()].map(|length| vec![0.0; length]);
        for (picture, o, c) in (0..batch)
            .flat_map(|n| (0..outputs).flat_map(move |o| (0..inputs).map(move |c| (n, o, c))))
        {
            for (y, ky) in (0..output[0]).flat_map(|y| (0..kernel[0]).map(move |k| (y, k))) {
                let Some(down) = place(0, y, ky) else { continue };
                for (z, kz) in (0..output[1]).flat_map(|z| (0..kernel[1]).map(move |k| (z, k))) {
                    let Some(right) = place(1, z, kz) else { continue };
                    let at_y = ((picture * outputs + o) * output[0] + y) * output[1] + z;
                    let at_x = ((picture * inputs + c) * input[0] + down) * input[1] + right;
                    let at_w = ((o * inputs + c) * kernel[0] + ky) * kernel[1] + kz;
                    let [x, w, dy] = [x[at_x], w[at_w], dy[at_y]].map(f64::from);
                    found[0][at_y] += x * w;
                    found[1][at_x] += dy * w;
                    found[2][at_w] += x * dy;
                }
            }
        }
        found
    }

    /// Sizes of all kinds: batch, channels before and after, then pairs for input, kernel, stride, dilation and
    /// padding.
    const SIZES: [([usize; 3], [[usize; 2]; 5]); 21] = [
        ([2, 3, 4], [[5, 6], [3, 3], [1, 1], [1, 1], [1, 1]]),
        ([3, 7, 13], [[9, 8], [3, 3], [1, 1], [1, 1], [0, 0]]),
        ([1, 40, 33], [[16, 17], [3, 3], [1, 1], [1, 1], [1, 1]]),
        ([9, 34, 35], [[8, 8], [3, 3], [1, 1], [1, 1], [1, 1]]),
        ([2, 45, 50], [[7, 5], [3, 3], [1, 1], [1, 1], [2, 2]]),
        ([2, 64, 33], [[4, 3], [1, 1], [1, 1], [1, 1], [0, 0]]),
        ([2, 5, 3], [[9, 9], [1, 1], [2, 2], [1, 1], [0, 0]]),
        ([2, 5, 30], [[32, 33], [3, 3], [2, 2], [1, 1], [1, 1]]),
        ([2, 3, 2], [[10, 9], [5, 4], [3, 2], [1, 2], [4, 3]]),
        ([2, 3, 2], [[6, 6], [3, 3], [1, 1], [3, 2], [1, 2]]),
        ([2, 3, 2], [[3, 3], [3, 3], [1, 1], [1, 1], [5, 4]]),
        ([1, 1, 1], [[1, 1], [3, 3], [1, 1], [1, 1], [1, 1]]),
        ([1, 1, 1], [[1, 9], [3, 3], [2, 1], [1, 2], [1, 0]]),
        ([1, 300, 2], [[2, 1], [3, 3], [1, 1], [1, 1], [1, 1]]),
        ([5, 32, 36], [[6, 6], [3, 3], [1, 1], [1, 1], [0, 0]]),
        ([2, 32, 33], [[4, 6], [3, 3], [1, 1], [1, 1], [3, 4]]),
        ([3, 16, 21], [[9, 8], [3, 3], [1, 1], [1, 1], [1, 1]]),
        ([1, 32, 33], [[258, 2], [3, 3], [1, 1], [1, 1], [1, 1]]),
        ([33, 32, 40], [[5, 5], [3, 3], [1, 1], [1, 1], [1, 1]]),
        ([0, 3, 4], [[5, 6], [3, 3], [1, 1], [1, 1], [1, 1]]),
        ([0, 32, 36], [[6, 6], [3, 3], [1, 1], [1, 1], [1, 1]]),
    ];

    fn geometries() -> impl Iterator<Item = Geometry> {
        SIZES.into_iter().map(
            |([batch, inputs, outputs], [input, kernel, stride, dilation, padding])| {
                let output = [0, 1].map(|axis| {
                    let reach = dilation[axis] * (kernel[axis] - 1) + 1;
                    (input[axis] + 2 * padding[axis] - reach) / stride[axis] + 1
                });
                let channels = [inputs, outputs];
                Geometry { batch, channels, input, output, kernel, stride, dilation, padding }
            },
        )
    }

    /// Returns the input, the weight and the result's gradient.
    fn given(geometry: &Geometry) -> [Vec<f32>; 3] {
        let weights = geometry.depth() * geometry.channels[1];
        [
            numbers(geometry.batch * geometry.input_size(), 0.37),
            numbers(weights, 0.53),
            numbers(geometry.batch * geometry.output_size(), 0.71),
        ]
    }

    #[test]
    fn results_and_gradients_are_those_of_the_definition_on_every_level() {
        for geometry in geometries() {
            let [x, w, dy] = given(&geometry);
            let expected = defined(&geometry, &x, &w, &dy);
            for method in [Method::Direct, Method::Winograd] {
                let mut fused = None;
                for level in Level::available() {
                    let found = [
                        convolve_at(level, method, &geometry, &x, &w, &[]),
                        input_gradient_at(level, method, &geometry, &w, &dy),
                        weight_gradient_at(level, method, &geometry, &x, &dy),
                    ];
                    for (what, (found, expected)) in found.iter().zip(&expected).enumerate() {
                        assert_eq!(found.len(), expected.len());
                        let scale = expected.iter().fold(1.0f64, |scale, x| scale.max(x.abs()));
                        for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
                            let error = (f64::from(*found) - expected).abs();
                            assert!(
                                error <= 3e-6 * scale,
                                "{method:?} {level:?} {geometry:?} {what} {place}: {error:e}"
                            );
                        }
                    }
                    if level.fuses() {
                        assert!(
                            *fused.get_or_insert_with(|| found.clone()) == found,
                            "{geometry:?}"
                        );
                    }
                }
            }
        }
    }

    /// Returns normally distributed numbers.
    fn drawn(count: usize, seed: u64) -> Vec<f32> {
        let mut state = seed;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
        };
        let normal = |(a, b): (f64, f64)| {
            ((-2.0 * a.ln()).sqrt() * (b * std::f64::consts::TAU).cos()) as f32
        };
        (0..count).map(|_| normal((uniform(), uniform()))).collect()
    }

    #[test]
    fn a_layer_as_wide_as_a_networks_errs_in_the_seventh_digit() {
        let geometry = Geometry {
            batch: 1,
            channels: [192, 192],
            input: [16, 16],
            output: [16, 16],
            kernel: [3, 3],
            stride: [1, 1],
            dilation: [1, 1],
            padding: [1, 1],
        };
        let x = drawn(geometry.input_size(), 1);
        let w: Vec<f32> = drawn(192 * geometry.depth(), 2);
        let w: Vec<f32> = w.iter().map(|w| w / (geometry.depth() as f32).sqrt()).collect();
        let dy = drawn(geometry.output_size(), 3);
        let expected = defined(&geometry, &x, &w, &dy);
        // For such a layer, PyTorch 2.15's f32 differs from its f64 by 7.2e-7, 2.2e-7 and 5.5e-7 (root mean
        // square). These are below our limits only for the input's gradient.
        let limits = [4.6e-7, 4.6e-7, 3.2e-7];
        for method in [Method::Direct, Method::Winograd] {
            let level = Level::best();
            let found = [
                convolve_at(level, method, &geometry, &x, &w, &[]),
                input_gradient_at(level, method, &geometry, &w, &dy),
                weight_gradient_at(level, method, &geometry, &x, &dy),
            ];
            let errors = [0, 1, 2].map(|what| {
                let squares = |(sum, all): (f64, f64), (found, exact): (&f32, &f64)| {
                    (sum + (f64::from(*found) - exact).powi(2), all + exact * exact)
                };
                let both = found[what].iter().zip(&expected[what]);
                let (error, all) = both.fold((0.0, 0.0), squares);
                (error / all).sqrt()
            });
            println!("{method:?}: {errors:?}");
            for (error, limit) in errors.iter().zip(limits) {
                assert!(*error <= limit, "{method:?} {errors:?}, at most {limits:?}");
            }
        }
    }

    /// LLVM may keep a tile in memory instead of registers, which makes a level many times slower than one with
    /// fewer instructions.
    #[cfg(not(debug_assertions))]
    #[test]
    fn no_level_is_far_slower_than_one_that_knows_fewer_instructions() {
        let size = [64, 16, 16];
        let geometry = Geometry {
            batch: 2,
            channels: [size[0]; 2],
            input: [size[1], size[2]],
            output: [size[1], size[2]],
            kernel: [3, 3],
            stride: [1, 1],
            dilation: [1, 1],
            padding: [1, 1],
        };
        let [x, w, dy] = given(&geometry);
        let time = |level: Level, method: Method, gradient: bool| {
            let once = || {
                let begin = std::time::Instant::now();
                match gradient {
                    true => weight_gradient_at(level, method, &geometry, &x, &dy),
                    false => convolve_at(level, method, &geometry, &x, &w, &[]),
                };
                begin.elapsed().as_secs_f64()
            };
            (0..15).map(|_| once()).fold(f64::INFINITY, f64::min)
        };
        for (method, gradient) in [Method::Direct, Method::Winograd]
            .map(|method| [(method, false), (method, true)])
            .concat()
        {
            let times: Vec<f64> =
                Level::available().into_iter().map(|level| time(level, method, gradient)).collect();
            println!("{method:?}, gradient {gradient}: {times:?}");
            for pair in times.windows(2) {
                assert!(pair[0] <= 3.0 * pair[1], "{method:?} {gradient}: {times:?}");
            }
        }
    }

    #[test]
    fn a_picture_by_itself_has_the_bits_that_it_has_among_others() {
        for geometry in geometries() {
            let [x, w, dy] = given(&geometry);
            let alone = Geometry { batch: 1, ..geometry };
            for method in [Method::Direct, Method::Winograd] {
                for level in Level::available() {
                    let value = |of, x| convolve_at(level, method, of, x, &w, &[]);
                    let gradient = |of, dy| input_gradient_at(level, method, of, &w, dy);
                    let both = [value(&geometry, &x), gradient(&geometry, &dy)];
                    let each = [
                        x.chunks(geometry.input_size()).flat_map(|x| value(&alone, x)).collect(),
                        dy.chunks(geometry.output_size())
                            .flat_map(|dy| gradient(&alone, dy))
                            .collect::<Vec<f32>>(),
                    ];
                    assert!(both == each, "{method:?} {level:?} {geometry:?}");
                }
            }
        }
    }

    #[test]
    fn the_bias_is_added_to_every_number_of_its_channel() {
        for geometry in geometries() {
            let [x, w, _] = given(&geometry);
            let bias = numbers(geometry.channels[1], 0.9);
            let without = convolve(&geometry, &x, &w, &[]);
            let with = convolve(&geometry, &x, &w, &bias);
            let planes = geometry.output_plane().max(1);
            for (index, (with, without)) in with.iter().zip(without).enumerate() {
                let expected = without + bias[index / planes % bias.len()];
                assert!((with - expected).abs() <= 1e-4, "{geometry:?}");
            }
        }
    }

    #[test]
    fn a_weight_gradient_of_tiny_numbers_has_the_bits_of_usual_ones() {
        for geometry in geometries() {
            let [x, _, dy] = given(&geometry);
            let times = |numbers: &[f32], exponent: i32| -> Vec<f32> {
                numbers.iter().map(|number| number * 2f32.powi(exponent)).collect()
            };
            let usual = weight_gradient(&geometry, &x, &dy);
            // Some products of two of these numbers are subnormal, but no sum that counts is.
            let tiny = weight_gradient(&geometry, &times(&x, -60), &times(&dy, -45));
            for (tiny, usual) in times(&tiny, 105).iter().zip(&usual) {
                assert!(tiny == usual || usual.abs() < 1e-5, "{geometry:?}: {tiny} for {usual}");
            }
        }
    }

    #[test]
    fn subnormal_inputs_and_gradients_count_as_0() {
        for (kernel, padding) in [([3, 3], [1, 1]), ([1, 1], [0, 0])] {
            let geometry = Geometry {
                batch: 2,
                channels: [3, 4],
                input: [5, 6],
                output: [5, 6],
                kernel,
                stride: [1, 1],
                dilation: [1, 1],
                padding,
            };
            let (input, output) = (2 * geometry.input_size(), 2 * geometry.output_size());
            let (tiny, large) = (vec![1e-40; input.max(output)], vec![1e30; input.max(output)]);
            let weight = vec![1e30; geometry.depth() * 4];
            let result = convolve(&geometry, &tiny[..input], &weight, &[]);
            assert!(result.iter().all(|&x| x == 0.0), "{kernel:?}");
            let result = input_gradient(&geometry, &weight, &tiny[..output]);
            assert!(result.iter().all(|&x| x == 0.0), "{kernel:?}");
            for (x, dy) in [(&tiny, &large), (&large, &tiny)] {
                let result = weight_gradient(&geometry, &x[..input], &dy[..output]);
                assert!(result.iter().all(|&x| x == 0.0), "{kernel:?}");
            }
        }
    }
}

//! Wrong sizes and lengths panic before any work, and the message names the argument. For all valid sizes, functions
//! write every number of their results.

#![allow(unsafe_code, reason = "an allocator that marks what nothing has written")]

use gelu_kernels::{Level, Unit};
use gelu_training::kernels::attention::CausalAttention;
use gelu_training::kernels::batch_norm::{Buffers, Norm, Statistics};
use gelu_training::kernels::convolution::{Geometry, convolve, input_gradient, weight_gradient};
use gelu_training::kernels::linear::Sizes;
use gelu_training::kernels::row_norm::RowNorm;
use gelu_training::kernels::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The bits of a NaN that no arithmetic produces.
const MARK: u32 = 0x7FC0_BEEF;

/// The system's allocator, which fills new memory with marks.
struct Marking;

// SAFETY: every call goes to the system's allocator. Only the contents of new memory differ, and no code has read
// them yet.
unsafe impl GlobalAlloc for Marking {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the safety contract of this function.
        unsafe {
            let start = System.alloc(layout);
            if !start.is_null() && layout.align() >= align_of::<u32>() {
                (0..layout.size() / 4).for_each(|place| start.cast::<u32>().add(place).write(MARK));
            }
            start
        }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the safety contract of this function.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static MARKING: Marking = Marking;

thread_local! {
    static EXPECTS_PANIC: Cell<bool> = const { Cell::new(false) };
}

/// Returns the message of a panic in `work`.
fn refusal<T>(work: impl FnOnce() -> T) -> Option<String> {
    static QUIET: std::sync::Once = std::sync::Once::new();
    QUIET.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !EXPECTS_PANIC.get() {
                usual(panic);
            }
        }));
    });
    EXPECTS_PANIC.set(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    EXPECTS_PANIC.set(false);
    let said = result.err()?;
    let text = said.downcast_ref::<String>().cloned();
    Some(text.unwrap_or_else(|| said.downcast_ref::<&str>().expect("a sentence").to_string()))
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % limit
    }

    fn numbers(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.below(2001) as f32 / 1000.0 - 1.0).collect()
    }

    /// Returns numbers of a wrong length, anything but `count`.
    fn other_than(&mut self, count: usize) -> Vec<f32> {
        let others = [count + 1, 2 * count + 3, count.saturating_sub(1), 0];
        let others: Vec<_> = others.into_iter().filter(|&other| other != count).collect();
        vec![0.5; others[self.below(others.len())]]
    }

    fn geometry(&mut self) -> Geometry {
        // Some of these use Winograd's method, which needs 16 or more channels.
        let (wide, square) = (self.below(3) == 0, self.below(2) == 0);
        let mut pair = |least: usize, most: usize| [(); 2].map(|()| least + self.below(most));
        Geometry {
            channels: if wide { pair(16, 20) } else { pair(1, 8) },
            input: pair(0, 13),
            output: pair(0, 13),
            kernel: if square { [3, 3] } else { pair(1, 5) },
            stride: if square { [1, 1] } else { pair(1, 20) },
            dilation: if square { [1, 1] } else { pair(1, 3) },
            padding: pair(0, 7),
            batch: self.below(4),
        }
    }
}

/// Returns the numbers of elements in images, weights and results.
fn counts(of: &Geometry) -> [usize; 3] {
    let plane = |[height, width]: [usize; 2]| height * width;
    let [inputs, outputs] = of.channels;
    [
        of.batch * inputs * plane(of.input),
        inputs * outputs * plane(of.kernel),
        of.batch * outputs * plane(of.output),
    ]
}

fn is_written(what: &dyn std::fmt::Debug, results: &[&[f32]]) {
    for (index, result) in results.iter().enumerate() {
        let marks = result.iter().filter(|number| number.to_bits() == MARK).count();
        assert_eq!(marks, 0, "result {index} of {what:?}");
    }
}

#[test]
fn every_number_of_a_result_was_written() {
    let mut random = Random(1);
    for _ in 0..300 {
        let of = random.geometry();
        let [x, w, dy] = counts(&of).map(|count| random.numbers(count));
        let bias = if random.below(2) == 0 { vec![] } else { random.numbers(of.channels[1]) };
        let results = [
            convolve(&of, &x, &w, &bias),
            input_gradient(&of, &w, &dy),
            weight_gradient(&of, &x, &dy),
        ];
        let lengths = results.each_ref().map(Vec::len);
        assert_eq!(lengths, [dy.len(), x.len(), w.len()], "{of:?}");
        is_written(&of, &results.each_ref().map(|result| &result[..]));

        let of =
            Sizes { batch: random.below(300), inputs: random.below(90), outputs: random.below(90) };
        let counts = [of.batch * of.inputs, of.inputs * of.outputs, of.batch * of.outputs];
        let [x, w, dy] = counts.map(|count| random.numbers(count));
        let results = [of.forward(&x, &w), of.input_gradient(&w, &dy), of.weight_gradient(&x, &dy)];
        is_written(&of, &results.each_ref().map(|result| &result[..]));

        let [batch, length] = [random.below(3), random.below(40)];
        let of = CausalAttention {
            batch,
            length,
            heads: 1 + random.below(3),
            size: 1 + random.below(20),
        };
        let qkv = random.numbers(3 * batch * length * of.heads * of.size);
        let (out, weights) = of.forward(Level::best(), &qkv);
        let gradient = of.gradient(Level::best(), &qkv, &weights, &out);
        is_written(&of, &[&out, &weights, &gradient]);

        let size = [random.below(9), random.below(9)];
        let x = match size.contains(&0) {
            true => vec![],
            false => random.numbers(random.0 as usize % 6 * size[0] * size[1]),
        };
        let pooled = max_pool(&x, size);
        is_written(&size, &[&pooled, &max_pool_gradient(&x, size, &pooled)]);

        let [columns, rows] = [1 + random.below(50), random.below(30)];
        let gamma = random.numbers(columns);
        let x = random.numbers(gamma.len() * rows);
        let norm = RowNorm { gamma: &gamma, epsilon: 1e-5, centred: rows % 2 == 0 };
        is_written(&x.len(), &[&norm.forward(Level::best(), &x)]);
    }
}

/// An argument's name, and work that has to panic because of this argument.
type Wrong<'a> = (&'a str, Box<dyn FnOnce() + 'a>);

#[test]
fn a_length_that_does_not_fit_is_refused_by_its_name() {
    let mut random = Random(2);
    for _ in 0..30 {
        let of = random.geometry();
        let [x, w, dy] = counts(&of).map(|count| random.numbers(count));
        let [other_x, other_w, other_dy] = counts(&of).map(|count| random.other_than(count));
        let other_bias = vec![0.5; of.channels[1] + 1 + random.below(3)];
        let linear = Sizes { batch: 1 + random.below(9), inputs: 1 + random.below(9), outputs: 5 };
        let a = random.numbers(linear.batch * linear.inputs);
        let [b, c] = [linear.inputs * 5, linear.batch * 5].map(|count| random.numbers(count));
        let [no_a, no_b, no_c] = [&a, &b, &c].map(|numbers| random.other_than(numbers.len()));
        let heads = CausalAttention { batch: 1, length: 1 + random.below(5), heads: 2, size: 3 };
        let [qkv, out, p] = [18, 6, 2 * heads.length].map(|each| vec![0.5f32; each * heads.length]);
        let [no_qkv, no_out, no_p] =
            [&qkv, &out, &p].map(|numbers| random.other_than(numbers.len()));
        let [one, three, four] = [1, 3, 4].map(|count| vec![0.5f32; count]);
        let norm = Norm { batch: 1, plane: 2, gamma: &[1.0; 2], beta: &[0.0; 2], epsilon: 1e-5 };
        let [mean, variance] = [&[0.0, 0.0][..], &[1.0, 1.0][..]];
        let differentiate = |x: &[f32], by: Statistics<'_>, dy: &[f32]| {
            norm.differentiate(Level::best(), x, by, &mut dy.to_vec(), Unit::Relu);
        };
        let rows = RowNorm { gamma: &[1.0; 2], epsilon: 1e-5, centred: true };
        let (level, step) = (Level::best(), AdamStep::new(1, 0.1));
        let sgd_step =
            SgdStep { rate: 0.1, momentum: 0.9, taken_up: 1.0, nesterov: false, weight_decay: 0.0 };
        let adam_of = |g: usize, m: usize, v: usize, max: usize| {
            let [mut g, mut m, mut v, mut max] = [g, m, v, max].map(|count| vec![0.5f32; count]);
            amsgrad(&[1.0; 4], &mut g, &mut m, &mut v, &mut max, step);
        };
        macro_rules! wrong {
            ($(($name:literal, $work:expr)),* $(,)?) => {
                vec![$(($name, Box::new(|| { let _ = $work; }) as Box<dyn FnOnce() + '_>)),*]
            };
        }
        let all: Vec<Wrong<'_>> = wrong![
            ("input", convolve(&of, &other_x, &w, &[])),
            ("weight", convolve(&of, &x, &other_w, &[])),
            ("bias", convolve(&of, &x, &w, &other_bias)),
            ("weight", input_gradient(&of, &other_w, &dy)),
            ("gradient", input_gradient(&of, &w, &other_dy)),
            ("input", weight_gradient(&of, &other_x, &dy)),
            ("gradient", weight_gradient(&of, &x, &other_dy)),
            ("x", linear.forward(&no_a, &b)),
            ("weight", linear.forward(&a, &no_b)),
            ("weight", linear.input_gradient(&no_b, &c)),
            ("gradient", linear.input_gradient(&b, &no_c)),
            ("x", linear.weight_gradient(&no_a, &c)),
            ("gradient", linear.weight_gradient(&a, &no_c)),
            ("qkv", heads.forward(level, &no_qkv)),
            ("qkv", heads.gradient(level, &no_qkv, &p, &out)),
            ("weights", heads.gradient(level, &qkv, &no_p, &out)),
            ("gradient", heads.gradient(level, &qkv, &p, &no_out)),
            ("x", norm.apply(level, Buffers::InPlace(&mut [0.5; 6]), None, Unit::Relu)),
            (
                "x",
                norm.apply(
                    level,
                    Buffers::Apart { x: &three, out: &mut [0.5; 4] },
                    None,
                    Unit::Relu
                )
            ),
            (
                "out",
                norm.apply(
                    level,
                    Buffers::Apart { x: &four, out: &mut [0.5; 3] },
                    None,
                    Unit::Relu
                )
            ),
            (
                "beta",
                Norm { beta: &[0.0], ..norm }.apply(
                    level,
                    Buffers::InPlace(&mut [0.5; 4]),
                    None,
                    Unit::Relu
                )
            ),
            ("mean", differentiate(&four, Statistics { mean: &one, variance }, &four)),
            ("variance", differentiate(&four, Statistics { mean, variance: &one }, &four)),
            ("gradient", differentiate(&four, Statistics { mean, variance }, &three)),
            ("x", rows.forward(level, &three)),
            ("x", RowNorm { gamma: &[], ..rows }.forward(level, &three)),
            ("gradient", rows.differentiate(level, &four, &mut [0.5; 6])),
            ("x", max_pool(&three, [2, 2])),
            ("x", max_pool(&three, [0, 2])),
            ("gradient", max_pool_gradient(&four, [2, 2], &three)),
            ("values", sum_of_channels(&three, 2, 2)),
            ("values", sum_of_channels(&three, 0, 2)),
            ("values", sum_of_channels(&three, 3, 0)),
            ("gradient", adam_of(3, 4, 4, 4)),
            ("moment_1", adam_of(4, 5, 4, 4)),
            ("moment_2", adam_of(4, 4, 3, 4)),
            ("maximum", adam_of(4, 4, 4, 5)),
            ("gradient", sgd(&four, &mut [0.5; 3], &mut [0.5; 4], sgd_step)),
            ("velocity", sgd(&four, &mut [0.5; 4], &mut [0.5; 5], sgd_step)),
        ];
        for (index, (name, work)) in all.into_iter().enumerate() {
            let said = refusal(work).unwrap_or_else(|| panic!("{index}: `{name}` was accepted"));
            let is_named = said.starts_with(&format!("`{name}` ")) && said.contains("expected");
            assert!(is_named, "{index}, `{name}`: {said}");
        }
    }
}

#[test]
fn sizes_and_parameters_that_mean_nothing_are_refused() {
    let of = Geometry {
        batch: 1,
        channels: [1, 1],
        input: [4, 4],
        output: [4, 4],
        kernel: [3, 3],
        stride: [1, 1],
        dilation: [1, 1],
        padding: [1, 1],
    };
    let huge = usize::MAX / 3 + 1;
    for (of, expected) in [
        (Geometry { stride: [0, 1], ..of }, "`stride` is [0, 1], expected at least 1"),
        (Geometry { dilation: [1, 0], ..of }, "`dilation` is [1, 0], expected at least 1"),
        (Geometry { kernel: [0, 3], ..of }, "`kernel` is [0, 3], expected at least 1"),
        (Geometry { channels: [0, 2], ..of }, "`channels` is [0, 2], expected at least 1"),
        (Geometry { channels: [2, 0], ..of }, "`channels` is [2, 0], expected at least 1"),
        (Geometry { batch: huge, input: [1, 3], ..of }, "`input` of sizes "),
        (Geometry { batch: 0, input: [huge, 3], ..of }, "`input` of sizes "),
        (Geometry { kernel: [huge, 3], ..of }, "`weight` of sizes "),
        (Geometry { output: [huge, 3], ..of }, "`output` of sizes "),
        (Geometry { stride: [huge, 1], ..of }, "`output and stride` of sizes "),
        (Geometry { dilation: [huge, 1], ..of }, "`kernel and dilation` of sizes "),
        (Geometry { padding: [huge, 1], ..of }, "`padding` of sizes "),
        (Geometry { padding: [1 << 40, 1 << 40], ..of }, "`a picture with its padding"),
    ] {
        for work in [
            &|| convolve(&of, &[1.0; 16], &[1.0; 9], &[]) as _,
            &|| input_gradient(&of, &[1.0; 9], &[1.0; 16]) as _,
            &|| weight_gradient(&of, &[1.0; 16], &[1.0; 16]),
        ] as [&dyn Fn() -> Vec<f32>; 3]
        {
            let said = refusal(work).expect("it is refused");
            assert!(said.starts_with(expected), "{of:?}: {said}");
        }
    }
    let alpha = Unit::Celu { alpha: -1.0 };
    let norm = Norm { batch: 1, plane: 1, gamma: &[1.0], beta: &[0.0], epsilon: 1e-5 };
    let level = Level::best();
    let rows = RowNorm { gamma: &[1.0], epsilon: -1.0, centred: true };
    let adam_of = |time, beta, epsilon| {
        AdamStep::of(time, 0.1, [beta, 0.999], epsilon, EpsilonPlace::Outside);
    };
    let huge_attention = CausalAttention { batch: 1 << 40, length: 1 << 30, heads: 1, size: 1 };
    let celu = "the alpha of `celu` is a number from 1e-18 to 1e18, got `-1`";
    let refused: [(&str, &dyn Fn()); 14] = [
        (celu, &|| drop(norm.apply(level, Buffers::InPlace(&mut [1.0]), None, alpha))),
        ("`batch` is 0 and `plane` 1, expected at least 1", &|| {
            drop(Norm { batch: 0, ..norm }.apply(
                level,
                Buffers::InPlace(&mut []),
                None,
                Unit::Relu,
            ));
        }),
        ("`epsilon` is NaN, expected", &|| {
            let norm = Norm { epsilon: f64::NAN, ..norm };
            drop(norm.apply(level, Buffers::InPlace(&mut [1.0]), None, Unit::Relu));
        }),
        ("`epsilon` is -1, expected", &|| drop(rows.forward(level, &[1.0]))),
        ("`time` is 0, expected at least 1", &|| _ = AdamStep::new(0, 0.1)),
        ("`beta_1` is 1, expected a number in [0, 1)", &|| adam_of(1, 1.0, 1e-8)),
        ("`epsilon` is inf, expected", &|| adam_of(1, 0.9, f64::INFINITY)),
        ("`heads` is [0], expected at least 1", &|| {
            _ = CausalAttention { batch: 1, length: 1, heads: 0, size: 1 }.forward(level, &[]);
        }),
        ("`size` is [0], expected at least 1", &|| {
            _ = CausalAttention { batch: 1, length: 1 << 20, heads: 1, size: 0 }
                .forward(level, &[]);
        }),
        ("`attention` of sizes", &|| _ = huge_attention.forward(level, &[])),
        ("`a matrix of a linear layer` of sizes", &|| {
            drop(Sizes { batch: 1 << 32, inputs: 0, outputs: 1 << 32 }.forward(&[], &[]));
        }),
        ("there is no memory for a result of", &|| {
            drop(Sizes { batch: 1 << 28, inputs: 0, outputs: 1 << 28 }.forward(&[], &[]));
        }),
        ("`a plane` of sizes", &|| drop(max_pool(&[], [1 << 40, 1 << 40]))),
        ("there is no memory for a result of", &|| drop(sum_of_channels(&[], 1 << 55, 0))),
    ];
    for (expected, work) in refused {
        let said = refusal(work).unwrap_or_else(|| panic!("accepted: {expected}"));
        assert!(said.starts_with(expected), "{expected}: {said}");
    }
}

//! Wrong lengths panic before any work, and the message names the argument. Functions write every number of their
//! results.

#![allow(unsafe_code, reason = "an allocator that marks what nothing has written")]

use gelu_kernels::random::Draw;
use gelu_kernels::*;
use std::alloc::{GlobalAlloc, Layout, System};
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

/// Returns the message of a panic in `work`.
fn refusal<T>(work: impl FnOnce() -> T) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(work)).err()?;
    let text = panic.downcast_ref::<String>().cloned();
    Some(text.unwrap_or_else(|| panic.downcast_ref::<&str>().expect("a sentence").to_string()))
}

#[test]
fn every_number_of_a_result_was_written() {
    let (halves, draw) =
        (|columns| Halves::of(&[3, 2 * columns], GateHalf::Last), Draw { seed: 1, step: 2 });
    // The lengths are around those of a block and of a thread's chunk, and rows end within blocks and chunks.
    for columns in [0, 1, 31, 32, 33, 333, 1024, 1025, 5500, 16_384] {
        let x: Vec<f32> = (0..6 * columns).map(|i| (i as f32 * 0.37).sin()).collect();
        let pass = Pass::new(Unit::Gelu).with(&x[..columns], None);
        let y = gated(Unit::Silu, halves(columns), &x);
        let (dx, sums) = pass.scale(&x, &x);
        let (dgates, dvalues) = gated_pair_backward(Unit::Gelu, &y, &y, &y);
        let results = [
            Pass::new(Unit::Gelu).map(&x),
            pass.map(&x),
            dx,
            sums,
            stochastic_map(&x, &x, draw),
            gated_backward(Unit::Silu, halves(columns), &x, &y),
            gated_pair(Unit::Gelu, &y, &y),
            dgates,
            dvalues,
            y,
        ];
        for (index, result) in results.iter().enumerate() {
            let marks = result.iter().filter(|number| number.to_bits() == MARK).count();
            assert_eq!(marks, 0, "result {index} of {columns} columns");
        }
    }
}

#[test]
fn a_length_that_does_not_fit_is_refused_by_its_name() {
    let [three, four, five] = [3, 4, 5].map(|count| vec![0.5f32; count]);
    let (pass, halves) = (Pass::new(Unit::Gelu), Halves::of(&[4], GateHalf::First));
    let draw = Draw { seed: 1, step: 1 };
    let pair = |values: &[f32], dy: &[f32]| gated_pair_backward(Unit::Silu, &four, values, dy);
    let all: [(&str, &dyn Fn()); 16] = [
        ("out", &|| pass.map_into(&four, &mut [0.5; 5])),
        ("dy", &|| _ = pass.scale_in_place(&four, &mut [0.5; 5])),
        ("dy", &|| _ = pass.scale(&four, &three)),
        ("dy", &|| _ = pass.scale_into(&four, &five, &mut [0.5; 4])),
        ("out", &|| _ = pass.scale_into(&four, &four, &mut [0.5; 3])),
        ("y", &|| _ = stochastic_map(&four, &three, draw)),
        ("shape", &|| _ = Halves::of(&[2, 3], GateHalf::First)),
        ("shape", &|| _ = Halves::of(&[1], GateHalf::First)),
        ("shape", &|| _ = Halves::of(&[], GateHalf::First)),
        ("x", &|| _ = gated(Unit::Silu, halves, &three)),
        ("x", &|| _ = gated_backward(Unit::Silu, halves, &three, &three)),
        ("dy", &|| _ = gated_backward(Unit::Silu, halves, &four, &three)),
        ("values", &|| _ = gated_pair(Unit::Silu, &four, &five)),
        ("values", &|| _ = pair(&three, &four)),
        ("dy", &|| _ = pair(&four, &five)),
        ("gradient", &|| slices::backward(Unit::Gelu, &four, &mut [0.5; 3])),
    ];
    for (index, (name, work)) in all.into_iter().enumerate() {
        let panic = refusal(work).unwrap_or_else(|| panic!("{index}: `{name}` was accepted"));
        let is_named = panic.starts_with(&format!("`{name}` ")) && panic.contains("expected");
        assert!(is_named, "{index}, `{name}`: {panic}");
    }
}

#[test]
fn parameters_that_mean_nothing_are_refused() {
    let alpha = Unit::Celu { alpha: -1.0 };
    let halves = Halves::of(&[2], GateHalf::First);
    let refused: [&dyn Fn(); 5] = [
        &|| _ = Pass::<f32>::new(alpha),
        &|| _ = gated(alpha, halves, &[1.0, 2.0]),
        &|| _ = gated_pair(alpha, &[1.0], &[2.0]),
        &|| _ = gated_backward(alpha, halves, &[1.0; 2], &[2.0]),
        &|| _ = gated_pair_backward(alpha, &[1.0], &[2.0], &[1.0]),
    ];
    for (index, work) in refused.into_iter().enumerate() {
        let panic = refusal(work).unwrap_or_else(|| panic!("{index} was accepted"));
        let expected = "the alpha of `celu` is a number from 1e-18 to 1e18, got `-1`";
        assert!(panic.starts_with(expected), "{index}: {panic}");
    }
}

//! Running a formula over a slice with the widest instructions the CPU has.
//!
//! The body is one plain loop; compiled once for each instruction set, the compiler vectorises it.
//! As it adds and multiplies without fusing, every instruction set gives the same bits.

#![allow(unsafe_code, reason = "functions compiled for an instruction set are unsafe to call")]

/// Replaces every value by `f` of it, computed in f64 and rounded once.
pub(crate) fn map(values: &mut [f32], f: impl Fn(f64) -> f64 + Copy) {
    dispatch(
        #[inline(always)]
        || {
            for value in values.iter_mut() {
                *value = f(f64::from(*value)) as f32;
            }
        },
    );
}

/// Replaces every `factor` by `factor · f(x)`, computed in f64 and rounded once.
pub(crate) fn scale(factors: &mut [f32], x: &[f32], f: impl Fn(f64) -> f64 + Copy) {
    dispatch(
        #[inline(always)]
        || {
            for (factor, x) in factors.iter_mut().zip(x) {
                *factor = (f64::from(*factor) * f(f64::from(*x))) as f32;
            }
        },
    );
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
fn dispatch(body: impl FnMut()) {
    #[target_feature(enable = "avx512f,avx2,fma")]
    fn avx512(mut body: impl FnMut()) {
        body();
    }
    #[target_feature(enable = "avx2,fma")]
    fn avx2(mut body: impl FnMut()) {
        body();
    }
    fn baseline(mut body: impl FnMut()) {
        body();
    }
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the instructions that the function is compiled for were just detected.
        unsafe { avx512(body) }
    } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the instructions that the function is compiled for were just detected.
        unsafe { avx2(body) }
    } else {
        baseline(body)
    }
}

#[cfg(not(all(target_arch = "x86_64", feature = "std")))]
fn dispatch(mut body: impl FnMut()) {
    body();
}

//! The formulas on plain numbers.
//!
//! | folder or file | what | arithmetic | for |
//! |---|---|---|---|
//! | [`single`] | GELU, its tanh form | f32 with a fused multiply-add | f32 |
//! | [`normal`] | GELU, normal CDF | f64, rounded by the caller | 16-bit floats |
//! | [`logistic`] | tanh and sigmoid GELU, SiLU | f64, rounded by the caller | f32, 16-bit floats |
//! | [`elu`], [`cauchy`] | ELU, the Cauchy unit | f64, rounded by the caller | f32, 16-bit floats |
//! | [`wide`] | all | f64 with errors carried where they would grow | f64 |
//!
//! What is worked on in f64 and rounded once is nearly correctly rounded everywhere and has no
//! slow region, since no f32 is subnormal in f64. All give the same bits on every processor: they
//! add, multiply and divide only, and [`real`] supplies the fused operation where there is none.
//! They are free of branches and calls, so that the loops of [`kernel`] over them vectorise.
//!
//! The errors stand in one table, `tests/accuracy/bounds.rs`, and are measured there.

pub(crate) mod cauchy;
pub(crate) mod elu;
mod exp;
pub(crate) mod formula;
#[cfg(feature = "flex")]
pub(crate) mod kernel;
pub(crate) mod logistic;
pub(crate) mod normal;
pub(crate) mod philox;
mod real;
pub(crate) mod single;
pub(crate) mod wide;

/// `Σ coefficients[k]·v^k`.
#[inline(always)]
fn horner<const N: usize>(coefficients: &[f64; N], v: f64) -> f64 {
    let mut sum = coefficients[N - 1];
    let mut index = N - 1;
    while index > 0 {
        index -= 1;
        sum = sum * v + coefficients[index];
    }
    sum
}

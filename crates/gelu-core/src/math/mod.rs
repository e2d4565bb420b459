//! The formulas on plain numbers, in double precision.
//!
//! | file | functions | worst error after rounding to f32 |
//! |---|---|---|
//! | [`normal`] | GELU and its derivative | 0.51 ULP, derivative 0.51 ULP |
//! | [`logistic`] | tanh and sigmoid GELU, SiLU | 0.51 ULP |
//! | [`elu`] | ELU, α = 1 | 0.51 ULP |
//!
//! An f32, f16 or bf16 is widened, worked on in f64 and rounded once: that is nearly correctly
//! rounded everywhere, has no slow region (no f32 input or output is subnormal in f64), and is the
//! same to the last bit on every CPU, since only IEEE additions, multiplications and divisions are
//! used. The functions are free of branches and calls, so that a loop over them vectorises. f64
//! tensors go through [`wide`], which needs more than double precision inside.

pub(crate) mod elu;
mod exp;
pub(crate) mod logistic;
pub(crate) mod normal;
pub(crate) mod slice;
pub(crate) mod wide;

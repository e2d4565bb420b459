//! Random numbers that are computed again wherever they are needed, instead of being stored.
//!
//! Number `i` of a sequence depends on its [`Draw`] and on `i` alone, and is the same on every
//! processor. The generator is Philox4x32-10 (Salmon et al., SC 2011), which passes BigCrush.

mod draw;
mod mask;
#[doc(hidden)]
pub mod philox;

pub use draw::Draw;
pub use mask::Mask;

/// Returns a random number as a multiple of 2⁻²⁴ in [0, 1).
#[inline(always)]
pub(crate) fn uniform(number: u32) -> f32 {
    (number >> 8) as f32 * (1.0 / 16_777_216.0)
}

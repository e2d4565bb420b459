//! Random numbers that are drawn again where they are needed instead of being stored.
//!
//! Number `i` of a sequence is a function of its [`Draw`] and of `i` alone (Philox4x32-10: Salmon et
//! al., SC 2011; passes BigCrush), the same on every processor.

mod draw;
mod mask;
#[doc(hidden)]
pub mod philox;

pub use draw::Draw;
pub use mask::Mask;

/// A random number as a multiple of 2⁻²⁴ in [0, 1).
#[inline(always)]
pub(crate) fn uniform(number: u32) -> f32 {
    (number >> 8) as f32 * (1.0 / 16_777_216.0)
}

//! Random numbers that are drawn again where they are needed instead of being stored.
//!
//! Number `i` of a sequence is a function of its [`Key`] and of `i` alone (Philox4x32-10: Salmon et
//! al., SC 2011; passes BigCrush), the same on every backend. What differs is where a key comes
//! from: [`Key::next`] takes one from the device's own generator, which `Device::seed` sets and
//! which starts elsewhere in every process that does not; [`Key::known`] is the caller's choice.

mod dropout_mask;
mod key;
pub(crate) mod philox;

pub use dropout_mask::DropoutMask;
pub(crate) use dropout_mask::Mask;
#[cfg(feature = "cubecl-backend")]
pub(crate) use dropout_mask::kept_scale;
#[cfg(feature = "cubecl-backend")]
pub(crate) use key::WORDS;
pub use key::{Draw, Key};

/// A random number as a multiple of 2⁻²⁴ in [0, 1).
#[inline(always)]
pub(crate) fn uniform(number: u32) -> f32 {
    (number >> 8) as f32 * (1.0 / 16_777_216.0)
}

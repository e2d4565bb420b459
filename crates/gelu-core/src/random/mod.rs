//! Random numbers that are drawn again where they are needed instead of being stored.
//!
//! Number `i` of a sequence is a function of its [`Key`] and of `i` alone (Philox4x32-10: Salmon et
//! al., SC 2011; passes BigCrush), the same on every backend. What differs is where a key comes
//! from: [`Key::next`] takes one from the device's own generator, which `Device::seed` sets and
//! which starts elsewhere in every process that does not; [`Key::known`] is the caller's choice.

mod dropout_mask;
mod key;

pub use dropout_mask::DropoutMask;
pub(crate) use dropout_mask::mask_of;
pub use gelu_kernels::random::Draw;
pub use key::Key;
#[cfg(feature = "cubecl-backend")]
pub(crate) use key::WORDS;
pub(crate) use key::draw_of;
#[doc(hidden)]
pub use key::words;

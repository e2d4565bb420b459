//! Random numbers that are computed again wherever they are needed, instead of being stored.
//!
//! Number `i` of a sequence depends on its [`Key`] and on `i` alone, and is the same on every
//! backend. The generator is Philox4x32-10 (Salmon et al., SC 2011), which passes BigCrush. There
//! are two sources of keys: [`Key::next`] takes one from the device's own generator, which
//! `Device::seed` sets and which otherwise starts differently in every process; with [`Key::known`]
//! you choose the key.

mod dropout_mask;
mod key;
#[cfg(feature = "std")]
mod tape;

pub use dropout_mask::DropoutMask;
pub(crate) use dropout_mask::mask_of;
pub use gelu_kernels::random::Draw;
pub use key::Key;
#[cfg(feature = "cubecl-backend")]
pub(crate) use key::WORDS;
pub(crate) use key::draw_of;
#[doc(hidden)]
pub use key::words;
#[cfg(feature = "std")]
pub use tape::{note_keys, play_keys};

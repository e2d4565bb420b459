//! Complete programs to copy from; each other file in this folder is one.

/// The code of the repository's README, compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// The code of the book's chapter on gelu-core.
#[cfg(doctest)]
#[doc = include_str!("../docs/src/reference/core.md")]
pub struct Core;

/// The code of the book's chapter on replacing parts of `burn::nn`.
#[cfg(doctest)]
#[doc = include_str!("../docs/src/how-to/from-burn.md")]
pub struct FromBurn;

/// The code of the book's chapter on gelu-kernels.
#[cfg(doctest)]
#[doc = include_str!("../docs/src/reference/kernels.md")]
pub struct Kernels;

/// The code of the book's chapter on gelu-training.
#[cfg(doctest)]
#[doc = include_str!("../docs/src/reference/training.md")]
pub struct Training;

/// The code of the book's chapter on gelu-models.
#[cfg(doctest)]
#[doc = include_str!("../docs/src/reference/models.md")]
pub struct Models;

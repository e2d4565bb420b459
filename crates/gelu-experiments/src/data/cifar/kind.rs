//! The two CIFAR data sets, and the shape of their images.

use crate::data::Images;

/// Rows and columns of an image.
pub const SIDE: usize = 32;
/// Number of channels: red, green and blue.
pub const CHANNELS: usize = 3;
/// Bytes of an image.
pub const PICTURE: usize = CHANNELS * SIDE * SIDE;
/// Number of coarse classes of CIFAR-100.
pub const COARSE_CLASSES: usize = 20;

/// One of the two data sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cifar {
    /// CIFAR-10, with ten classes.
    Ten,
    /// CIFAR-100, with a hundred classes in twenty coarse ones.
    Hundred,
}

impl Cifar {
    /// Returns the name in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ten => "cifar10",
            Self::Hundred => "cifar100",
        }
    }

    /// Returns the number of (fine) classes.
    pub fn classes(self) -> usize {
        match self {
            Self::Ten => 10,
            Self::Hundred => 100,
        }
    }

    /// Returns the bytes per record.
    pub fn record(self) -> usize {
        match self {
            Self::Ten => PICTURE + 1,
            Self::Hundred => PICTURE + 2,
        }
    }

    /// Returns the name of the folder in the authors' archive.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Ten => "cifar-10-batches-bin",
            Self::Hundred => "cifar-100-binary",
        }
    }

    /// Returns the names of the training files, in order.
    pub fn train_files(self) -> &'static [&'static str] {
        match self {
            Self::Ten => &[
                "data_batch_1.bin",
                "data_batch_2.bin",
                "data_batch_3.bin",
                "data_batch_4.bin",
                "data_batch_5.bin",
            ],
            Self::Hundred => &["train.bin"],
        }
    }

    /// Returns the name of the test file.
    pub fn test_file(self) -> &'static str {
        match self {
            Self::Ten => "test_batch.bin",
            Self::Hundred => "test.bin",
        }
    }
}

pub(super) fn no_images() -> Images {
    Images { pixels: Vec::new(), channels: CHANNELS, height: SIDE, width: SIDE, labels: Vec::new() }
}

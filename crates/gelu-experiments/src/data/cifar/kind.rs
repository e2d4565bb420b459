//! Which CIFAR, and the shape of its pictures.

use crate::data::Images;

/// Rows and columns of a picture.
pub const SIDE: usize = 32;
/// Red, green and blue.
pub const CHANNELS: usize = 3;
/// Bytes of a picture.
pub const PICTURE: usize = CHANNELS * SIDE * SIDE;
/// Coarse classes of CIFAR-100.
pub const COARSE_CLASSES: usize = 20;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cifar {
    /// Ten classes.
    Ten,
    /// A hundred classes in twenty coarse ones.
    Hundred,
}

impl Cifar {
    /// The name recipes call it by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ten => "cifar10",
            Self::Hundred => "cifar100",
        }
    }

    /// Number of (fine) classes.
    pub fn classes(self) -> usize {
        match self {
            Self::Ten => 10,
            Self::Hundred => 100,
        }
    }

    /// Bytes of a record.
    pub fn record(self) -> usize {
        match self {
            Self::Ten => PICTURE + 1,
            Self::Hundred => PICTURE + 2,
        }
    }

    /// The folder that the archive of the authors unpacks to.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Ten => "cifar-10-batches-bin",
            Self::Hundred => "cifar-100-binary",
        }
    }

    /// Names of the training files, in order.
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

    /// Name of the test file.
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

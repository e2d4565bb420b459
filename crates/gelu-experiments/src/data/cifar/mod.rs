//! CIFAR-10 and CIFAR-100: colour pictures of 32×32 pixels, in the authors' binary version or as
//! folders of PNG files.
//!
//! The folders are `train/CLASS/*.png` and `test/CLASS/*.png`, or a level of coarse classes deeper:
//! what Burn's own data set crate keeps in its cache, `burn-dataset/cifar10` and `cifar100` in the
//! user's cache folder.
//!
//! Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009.

mod binary;
pub(super) mod picture_folder;

pub use binary::{Records, parse, read_file, to_bytes, write_synthetic};
pub use picture_folder::{decode, encode};

use super::{ImageSet, Images};
use crate::Result;
use std::path::{Path, PathBuf};

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

/// Whether the set is in `folder` in either form, or in the folder below it that its archive
/// unpacks to.
pub fn is_present(cifar: Cifar, folder: &Path) -> bool {
    binary::is_present(cifar, folder) || picture_folder::find(cifar, folder).is_some()
}

/// Reads the set in `folder`, or in the folder below it that its archive unpacks to: the binary
/// files, or else the folders of pictures.
///
/// # Errors
///
/// When it is there in neither form, a file is damaged, or a class is out of range.
pub fn read(cifar: Cifar, folder: &Path) -> Result<ImageSet> {
    match picture_folder(cifar, folder) {
        Some(pictures) => picture_folder::read(cifar, &pictures),
        None => binary::read(cifar, folder),
    }
}

/// The folder of the set's pictures in or below `folder`; `None` where it is not there, or there in
/// the binary version, which takes no decoding.
pub fn picture_folder(cifar: Cifar, folder: &Path) -> Option<PathBuf> {
    let binary = binary::is_present(cifar, folder);
    picture_folder::find(cifar, folder).filter(|_| !binary)
}

fn no_images() -> Images {
    Images { pixels: Vec::new(), channels: CHANNELS, height: SIDE, width: SIDE, labels: Vec::new() }
}

//! CIFAR-10 and CIFAR-100: colour images of 32×32 pixels, in the authors' binary version or as folders of PNG files.
//!
//! The folders are `train/CLASS/*.png` and `test/CLASS/*.png`, or the same below a level of coarse classes. The
//! latter is the layout of the cache of Burn's own data set crate, `burn-dataset/cifar10` and `cifar100` in the
//! user's cache folder.
//!
//! Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009.

mod binary;
mod kind;
mod picture_folder;

pub use binary::{Records, parse, read_file, to_bytes, write_synthetic};
pub use kind::{CHANNELS, COARSE_CLASSES, Cifar, PICTURE, SIDE};

use super::ImageSet;
use crate::Result;
use std::path::{Path, PathBuf};

/// Returns whether the set is in `folder` in either form, or in the archive's folder below it.
pub fn is_present(cifar: Cifar, folder: &Path) -> bool {
    binary::is_present(cifar, folder) || picture_folder::find(cifar, folder).is_some()
}

/// Reads the set in `folder`, or in the archive's folder below it: the binary files, or otherwise the folders of
/// images.
///
/// # Errors
///
/// If the set exists in neither form, a file is damaged, or a class is out of range.
pub fn read(cifar: Cifar, folder: &Path) -> Result<ImageSet> {
    match picture_folder(cifar, folder) {
        Some(pictures) => picture_folder::read(cifar, &pictures),
        None => binary::read(cifar, folder),
    }
}

/// Returns the folder of the set's images in or below `folder`. `None` if it is not there, or if the binary version
/// is there, which needs no decoding.
pub fn picture_folder(cifar: Cifar, folder: &Path) -> Option<PathBuf> {
    let binary = binary::is_present(cifar, folder);
    picture_folder::find(cifar, folder).filter(|_| !binary)
}

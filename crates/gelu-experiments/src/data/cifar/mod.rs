//! CIFAR-10 and CIFAR-100: colour pictures of 32×32 pixels, in the authors' binary version or as
//! folders of PNG files.
//!
//! The folders are `train/CLASS/*.png` and `test/CLASS/*.png`, or a level of coarse classes deeper:
//! what Burn's own data set crate keeps in its cache, `burn-dataset/cifar10` and `cifar100` in the
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

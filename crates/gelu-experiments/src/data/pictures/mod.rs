//! Folders of PNG and JPEG files with one folder per class: either `DIR/train/CLASS/*`, `DIR/test/CLASS/*` and
//! optionally `DIR/val/CLASS/*`, under any usual names, or `DIR/CLASS/*`, where a fifth of each class is for test.

mod decode;
mod pixels;

pub use decode::decode;

use super::files::{entries, read_bytes};
use super::own::checks::{ORDER_SEED, check_classes, check_file, name_of};
use super::own::table::part_of;
use super::{ImageSet, Images, synthetic};
use crate::{Error, Result};
use gelu_compare::error::Place;
use pixels::Pixels;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Version of the reader; increase it when the same files give another set or an error.
pub const VERSION: u32 = 4;

/// The names of the two split folders in sets that this program reads by name.
pub(super) const PARTS: [&str; 2] = ["train", "test"];
const EXTENSIONS: [&str; 3] = ["png", "jpg", "jpeg"];
/// Without split folders, one image in this many is a test image.
const TEST_SHARE: usize = 5;
/// Images whose sides have this many pixels or fewer are used without scaling.
const SMALL: u32 = 64;
/// The suggested side for larger images, or images of several sizes, in a first comparison.
const SCALED: usize = 32;

/// A file and the number of its class.
type Labelled = (PathBuf, u8);

/// The name of a class and the folder of its images.
pub(super) type ClassFolder = (String, PathBuf);

/// The files of each split, before decoding.
#[derive(Debug)]
pub struct Folders {
    root: PathBuf,
    parts: [Vec<Labelled>; 2],
    /// The names of the class folders, sorted; a class's number is its index here.
    pub classes: Vec<String>,
    /// The number of images, at the end of the training images, that come from a validation folder.
    pub set_aside: usize,
    /// Sentences about how the folders were read.
    pub notes: Vec<String>,
}

impl Folders {
    /// Finds the files below `root`.
    ///
    /// # Errors
    ///
    /// If `root` is not a folder, there are fewer than two classes or more than 256, a class has no image, a test
    /// class is not a training class, a file's name is neither PNG nor JPEG, or images are outside the folders of
    /// classes.
    pub fn find(root: &Path) -> Result<Self> {
        if root.is_file() {
            let problem = "is a file, and images are read from folders";
            let advice = "name the folder that holds a folder of images for each class";
            return Err(Error::data(root, Place::File, problem, advice));
        }
        if !root.is_dir() {
            let advice = "name the folder that holds a folder of images for each class";
            return Err(Error::data(root, Place::File, "there is no such folder", advice));
        }
        let folders = entries(root, true)?;
        check_no_pictures(root, "lies outside the folders of the classes")?;
        let Some(parts) = parts(root, &folders)? else { return Self::of_one(root) };
        for part in parts.iter().flatten() {
            check_no_pictures(&root.join(part), "lies outside the folders of the classes")?;
        }
        Self::of_named(root, parts)
    }

    /// Finds the images in folders of classes, and takes a fifth for test.
    fn of_one(root: &Path) -> Result<Self> {
        let classes = classes_in(root)?;
        let mut order = order();
        let mut train = labelled(class_folders(root)?, &classes)?;
        let test: Vec<_> =
            train.iter_mut().map(|class| split_off(class, &mut order)).collect::<Result<_>>()?;
        let parts = [mixed(train, &mut order), mixed(test, &mut order)];
        let notes = vec![format!("a fifth of each class, {} images, is tested on", parts[1].len())];
        Ok(Self { root: root.to_path_buf(), parts, classes, set_aside: 0, notes })
    }

    /// Finds the images in split folders: training, validation and test.
    fn of_named(root: &Path, [train, valid, test]: [Option<&String>; 3]) -> Result<Self> {
        let folder = |part: Option<&String>| part.map(|part| root.join(part));
        let train = folder(train).unwrap_or_default();
        let classes = classes_in(&train)?;
        // If there is only one other folder, it is the test set.
        let (valid, test) = match test {
            Some(_) => (valid, test),
            None => (None, valid),
        };
        let own = |part: Option<&String>| match folder(part) {
            Some(folder) => class_folders(&folder),
            None => Ok(Vec::new()),
        };
        let mut set = Self::of_parts(root, class_folders(&train)?, own(test)?)?;
        let validation = mixed(labelled(own(valid)?, &classes)?, &mut order());
        set.set_aside = validation.len();
        set.parts[0].extend(validation);
        let called =
            |part: Option<&String>| gelu_compare::names::excerpt(part.map_or("", String::as_str));
        set.notes.push(match valid {
            Some(_) => format!("{} chooses and {} is tested on", called(valid), called(test)),
            None => format!("{} is tested on", called(test)),
        });
        Ok(set)
    }

    /// Returns the images of two splits, shuffled in a fixed order, so that any range of a split has all classes.
    /// Classes are numbered in the order of `train`.
    ///
    /// # Errors
    ///
    /// If a class has no image, a test class is not a training class, or a file's name is neither PNG nor JPEG.
    pub(super) fn of_parts(
        root: &Path,
        train: Vec<ClassFolder>,
        test: Vec<ClassFolder>,
    ) -> Result<Self> {
        let classes: Vec<String> = train.iter().map(|(name, _)| name.clone()).collect();
        let part = |folders| Ok(mixed(labelled(folders, &classes)?, &mut order()));
        let parts = [part(train)?, part(test)?];
        Ok(Self { root: root.to_path_buf(), parts, classes, set_aside: 0, notes: Vec::new() })
    }

    /// Returns the side to which the images should be scaled; `None` if all are small and of the same size.
    ///
    /// # Errors
    ///
    /// If a file is not an image.
    pub fn suggested_size(&self) -> Result<Option<usize>> {
        let mut first = None;
        for (path, _) in self.parts.iter().flatten() {
            check_file(path)?;
            let size = decode::shown_size(path, &read_bytes(path)?)?;
            if *first.get_or_insert(size) != size || size.0.max(size.1) > SMALL {
                return Ok(Some(SCALED));
            }
        }
        Ok(None)
    }

    /// Returns the smaller side of the first image.
    ///
    /// # Errors
    ///
    /// If the first file is not an image.
    pub fn first_size(&self) -> Result<usize> {
        let (path, _) = self.parts[0].first().expect("every class has images");
        let (width, height) = decode::shown_size(path, &read_bytes(path)?)?;
        Ok(width.min(height) as usize)
    }

    /// Returns the number of training images, including those set aside for validation.
    pub fn training(&self) -> usize {
        self.parts[0].len()
    }

    /// Decodes the images: grey if all are grey, otherwise red, green and blue. With `size`, the largest square in
    /// the centre of each image is scaled to that side; without it, all images must have the same size.
    ///
    /// # Errors
    ///
    /// If a file cannot be decoded, has another size than the first one, a test image is also a training image, or
    /// all together take more than 2 GiB.
    pub fn read(&self, size: Option<usize>) -> Result<ImageSet> {
        let [train, test] = self.decoded(size)?;
        check_apart([&train, &test], [&self.parts[0], &self.parts[1]])?;
        let (name, synthetic) = (name_of(&self.root), synthetic::is_marked(&self.root));
        ImageSet::new(&name, Some(self.root.clone()), synthetic, self.classes.len(), train, test)
    }

    /// Decodes the images of both splits like [`Self::read`], but allows an image to be in both.
    pub(super) fn decoded(&self, size: Option<usize>) -> Result<[Images; 2]> {
        let mut pixels = Pixels::new(size);
        for (path, _) in self.parts.iter().flatten() {
            check_file(path)?;
            pixels.push(path, &read_bytes(path)?)?;
        }
        let (channels, height, width) = (pixels.channels(), pixels.height, pixels.width);
        let mut train = pixels.planes();
        let test = train.split_off(self.parts[0].len() * channels * height * width);
        let images = |pixels, part: &[Labelled]| {
            let labels = part.iter().map(|&(_, label)| label).collect();
            Images { pixels, channels, height, width, labels }
        };
        Ok([images(train, &self.parts[0]), images(test, &self.parts[1])])
    }
}

/// Returns the random numbers that shuffle a split.
fn order() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(ORDER_SEED)
}

fn mixed(classes: Vec<Vec<Labelled>>, order: &mut ChaCha8Rng) -> Vec<Labelled> {
    let mut files: Vec<Labelled> = classes.into_iter().flatten().collect();
    files.shuffle(order);
    files
}

/// Returns the folders in `folder` with their names, sorted by name.
fn class_folders(folder: &Path) -> Result<Vec<ClassFolder>> {
    let folders = entries(folder, true)?.into_iter();
    Ok(folders.map(|name| (name.clone(), folder.join(name))).collect())
}

/// Reads one image, of class 0: grey if it is grey, otherwise red, green and blue; with `size`, scaled like
/// [`Folders::read`].
///
/// # Errors
///
/// If the file cannot be read or decoded.
pub fn read_one(path: &Path, size: Option<usize>) -> Result<Images> {
    check_file(path)?;
    let mut pixels = Pixels::new(size);
    pixels.push(path, &read_bytes(path)?)?;
    let (channels, height, width) = (pixels.channels(), pixels.height, pixels.width);
    Ok(Images { pixels: pixels.planes(), channels, height, width, labels: vec![0] })
}

/// Returns the files of each class, by name; empty for a class without a folder in this split.
fn labelled(folders: Vec<ClassFolder>, classes: &[String]) -> Result<Vec<Vec<Labelled>>> {
    let mut files = vec![Vec::new(); classes.len()];
    for (name, place) in folders {
        let Some(label) = classes.iter().position(|class| *class == name) else {
            let problem = "there is no such class among the training images";
            return Err(Error::data(place, Place::File, problem, "rename or remove it"));
        };
        if let Some(deeper) = entries(&place, true)?.first() {
            let problem = "is a folder in that of a class, and its images would be left out";
            let advice = "move them into the class's folder, or remove it";
            return Err(Error::data(place.join(deeper), Place::File, problem, advice));
        }
        let pictures = entries(&place, false)?;
        if pictures.is_empty() {
            return Err(Error::data(
                place,
                Place::File,
                "holds no image",
                "every class needs some",
            ));
        }
        for picture in pictures {
            let path = place.join(picture);
            if !is_picture(&path) {
                let problem = "is neither .png nor .jpg nor .jpeg";
                return Err(Error::data(path, Place::File, problem, "convert or remove it"));
            }
            files[label].push((path, label as u8));
        }
    }
    Ok(files)
}

/// Returns whether a file's name is that of a PNG or JPEG.
fn is_picture(path: &Path) -> bool {
    let extension = path.extension().and_then(|text| text.to_str()).unwrap_or_default();
    EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Checks that there are no images in a folder that is not a class's.
fn check_no_pictures(folder: &Path, problem: &str) -> Result<()> {
    let files = entries(folder, false)?.into_iter().map(|name| folder.join(name));
    match files.into_iter().find(|path| is_picture(path)) {
        None => Ok(()),
        Some(path) => {
            let advice = "move it into the folder of its class, or remove it";
            Err(Error::data(path, Place::File, problem, advice))
        }
    }
}

/// Returns the names of the classes in a folder.
fn classes_in(folder: &Path) -> Result<Vec<String>> {
    let classes = entries(folder, true)?;
    if classes.is_empty() {
        let advice = "name the folder that holds a folder of images for each class";
        return Err(Error::data(folder, Place::File, "holds no folder", advice));
    }
    check_classes(folder, classes.len()).map(|()| classes)
}

/// Returns the folders of the training, validation and test splits, under any usual names; `None` if the folders are
/// classes.
fn parts<'f>(root: &Path, folders: &'f [String]) -> Result<Option<[Option<&'f String>; 3]>> {
    let mut parts = [None; 3];
    let mut others = Vec::new();
    for folder in folders {
        match part_of(folder) {
            Some(part) => match parts[part].replace(folder) {
                None => {}
                Some(first) => {
                    let problem = format!("{} and {} are two folders of one part", first, folder);
                    return Err(Error::data(
                        root,
                        Place::File,
                        problem,
                        "put their images together",
                    ));
                }
            },
            None => others.push(folder),
        }
    }
    let found = parts.iter().flatten().count();
    match (parts[0], &others[..]) {
        (Some(_), []) if found > 1 => Ok(Some(parts)),
        (Some(_), [other, ..]) if found > 1 => {
            let problem = "is no part of the data, and is next to train and test";
            let advice =
                "its images belong into train, to be trained on, or into val, to choose by";
            Err(Error::data(root.join(other), Place::File, problem, advice))
        }
        (train, _) if train.is_some() || found > 1 => {
            let named =
                gelu_compare::names::excerpts(parts.iter().flatten().map(|part| part.as_str()));
            let problem = format!("{named} would be read as classes");
            let advice = "images in parts need a folder to train on, train, and one to test on, test; without such folders \
                          a fifth of each class is tested on";
            Err(Error::data(root, Place::File, problem, advice))
        }
        _ => Ok(None),
    }
}

/// Checks that no test image is also a training image, because the error on it would say nothing about new images.
fn check_apart(images: [&Images; 2], parts: [&[Labelled]; 2]) -> Result<()> {
    let features = images[0].features().max(1);
    let pictures = |part: usize| images[part].pixels.chunks_exact(features).zip(parts[part]);
    let trained: HashMap<&[u8], &Path> =
        pictures(0).map(|(picture, (path, _))| (picture, path.as_path())).collect();
    let mut twice = Vec::new();
    for (picture, (path, _)) in pictures(1) {
        twice.extend(trained.get(picture).map(|first| (first.display(), path)));
    }
    let Some((first, path)) = twice.first() else { return Ok(()) };
    let problem = format!(
        "is the same image as {first}, which is trained on; there are {} such test images",
        twice.len()
    );
    Err(Error::data(path, Place::File, problem, "remove one of the two"))
}

/// Splits the test images off a class without a test folder.
fn split_off(class: &mut Vec<Labelled>, order: &mut ChaCha8Rng) -> Result<Vec<Labelled>> {
    if let [(path, _)] = &class[..] {
        let place = path.parent().unwrap_or(path);
        let advice = "every class needs one to train on and one to test on";
        return Err(Error::data(place, Place::File, "holds one image", advice));
    }
    class.shuffle(order);
    Ok(class.split_off(class.len() - class.len().div_ceil(TEST_SHARE)))
}

#[cfg(test)]
mod tests;

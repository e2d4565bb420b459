//! Folders of image files, `train/CLASS/*.png` and `test/CLASS/*.png`; the classes may be in folders of coarse
//! classes.

use super::kind::{CHANNELS, Cifar, SIDE};
use crate::data::ImageSet;
use crate::data::files::entries;
use crate::data::pictures::{ClassFolder, Folders, PARTS};
use crate::data::synthetic;
use crate::{Error, Result};
use gelu_compare::error::Place;
use std::path::{Path, PathBuf};

/// Returns the folder with the splits: `folder`, or the folder with the set's name below it.
pub(super) fn find(cifar: Cifar, folder: &Path) -> Option<PathBuf> {
    let places = [folder.to_path_buf(), folder.join(cifar.name())];
    places.into_iter().find(|place| PARTS.iter().all(|part| place.join(part).is_dir()))
}

/// Reads the images below `folder`. Classes are numbered in the order of their names, as in the binary version.
///
/// # Errors
///
/// If there are more or fewer classes than the set has, the images are not 32×32 pixels in colour, or [`Folders`]
/// fails.
pub(super) fn read(cifar: Cifar, folder: &Path) -> Result<ImageSet> {
    let [train, test] = PARTS.map(|part| class_folders(&folder.join(part)));
    let train = train?;
    let refuse = |problem: String, advice: &str| {
        Err(Error::data(folder.join(PARTS[0]), Place::File, problem, advice))
    };
    if train.len() != cifar.classes() {
        let (found, name, expected) = (train.len(), cifar.name(), cifar.classes());
        return refuse(
            format!("holds {found} folders of images, {name} has {expected} classes"),
            "there must be a folder of images for each class",
        );
    }
    // The original set has images that occur in both splits.
    let [train, test] = Folders::of_parts(folder, train, test?)?.decoded(None)?;
    if [train.channels, train.height, train.width] != [CHANNELS, SIDE, SIDE] {
        let kind = if train.channels == CHANNELS { "colour" } else { "grey" };
        return refuse(
            format!("its images are {kind} and have {}×{} pixels", train.width, train.height),
            "those of CIFAR are colour images of 32×32 pixels: copy them again",
        );
    }
    let location = Some(folder.to_path_buf());
    let synthetic = synthetic::is_marked(folder);
    ImageSet::new(cifar.name(), location, synthetic, cifar.classes(), train, test)
}

/// Returns the folders of the classes with their names, sorted by name: the folders in `folder`, or one level deeper.
fn class_folders(folder: &Path) -> Result<Vec<ClassFolder>> {
    let mut classes = Vec::new();
    for name in entries(folder, true)? {
        let place = folder.join(&name);
        let inner = entries(&place, true)?;
        match inner.is_empty() {
            true => classes.push((name, place)),
            false => classes.extend(inner.into_iter().map(|name| (name.clone(), place.join(name)))),
        }
    }
    classes.sort();
    Ok(classes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Images;
    use crate::data::cifar::PICTURE;
    use crate::data::synthetic::pictures;
    use std::fs;

    fn save(picture: &[u8], path: &Path) {
        let plane = SIDE * SIDE;
        let at = |x, y| [0, 1, 2].map(|c| picture[c * plane + y as usize * SIDE + x as usize]);
        let picture =
            image::RgbImage::from_fn(SIDE as u32, SIDE as u32, |x, y| image::Rgb(at(x, y)));
        picture.save(path).unwrap();
    }

    fn write(folder: &Path, part: &str, images: &Images, class: impl Fn(u8) -> String) {
        for (index, label) in images.labels.iter().enumerate() {
            let folder = folder.join(part).join(class(*label));
            fs::create_dir_all(&folder).unwrap();
            let picture = &images.pixels[index * PICTURE..][..PICTURE];
            save(picture, &folder.join(format!("{index}.png")));
        }
    }

    /// Returns a folder and set with every class; the names of the folders sort like the classes.
    fn folder() -> (tempfile::TempDir, ImageSet) {
        let place = tempfile::tempdir().unwrap();
        let mut set = pictures::generate(Cifar::Ten, 30, 20);
        for part in [&mut set.train, &mut set.test] {
            (0..).zip(&mut part.labels).for_each(|(index, label)| *label = index % 10);
        }
        for (part, images) in PARTS.into_iter().zip([&set.train, &set.test]) {
            write(&place.path().join("cifar10"), part, images, |class| format!("class-{class}"));
        }
        (place, set)
    }

    fn problem(folder: &Path) -> String {
        super::super::read(Cifar::Ten, folder).unwrap_err().to_string()
    }

    fn pairs(images: &Images) -> Vec<(u8, &[u8])> {
        let mut pairs: Vec<_> =
            images.labels.iter().copied().zip(images.pixels.chunks_exact(PICTURE)).collect();
        pairs.sort();
        pairs
    }

    #[test]
    fn folders_of_pictures_are_read_in_a_mixed_order_that_stays() {
        let (place, set) = folder();
        assert!(super::super::is_present(Cifar::Ten, place.path()));
        let read = super::super::read(Cifar::Ten, place.path()).unwrap();
        assert_eq!((pairs(&read.train), pairs(&read.test)), (pairs(&set.train), pairs(&set.test)));
        assert!(!read.train.labels.is_sorted());
        let inside = super::super::read(Cifar::Ten, &place.path().join("cifar10")).unwrap();
        assert_eq!(inside.source.fingerprint, read.source.fingerprint);
        assert!(!read.source.synthetic);
    }

    #[test]
    fn classes_may_lie_in_coarse_ones() {
        let (place, set) = folder();
        let flat = super::super::read(Cifar::Ten, place.path()).unwrap();
        let train = place.path().join("cifar10/train");
        // Classes 0 to 4 go to a folder that sorts after that of 5 to 9.
        for class in 0..10 {
            let coarse = train.join(if class < 5 { "z-coarse" } else { "a-coarse" });
            fs::create_dir_all(&coarse).unwrap();
            let name = format!("class-{class}");
            fs::rename(train.join(&name), coarse.join(&name)).unwrap();
        }
        let read = super::super::read(Cifar::Ten, place.path()).unwrap();
        assert_eq!(pairs(&read.train), pairs(&set.train));
        assert_eq!(read.train, flat.train, "in the same order");
    }

    #[test]
    fn what_is_wrong_with_the_folders_is_said() {
        let (place, _) = folder();
        let root = place.path().join("cifar10");
        fs::create_dir_all(root.join("test/class-x")).unwrap();
        assert!(problem(place.path()).contains("class-x: there is no such class among"));
        fs::remove_dir(root.join("test/class-x")).unwrap();
        fs::write(root.join("train/class-3/x.png"), b"GIF89a").unwrap();
        assert!(problem(place.path()).contains("x.png: no PNG or JPEG can be read"));
        fs::remove_dir_all(root.join("train/class-3")).unwrap();
        assert!(
            problem(place.path()).contains("holds 9 folders of images, cifar10 has 10 classes")
        );
        fs::create_dir(root.join("train/class-3")).unwrap();
        assert!(problem(place.path()).contains("class-3: holds no image"));
    }

    #[test]
    fn pictures_of_another_size_or_grey_are_refused() {
        let (place, _) = folder();
        let train = place.path().join("cifar10/train/class-3");
        image::RgbImage::new(33, 32).save(train.join("x.png")).unwrap();
        assert!(problem(place.path()).contains("has 33×32 pixels"), "{}", problem(place.path()));
        let (place, set) = folder();
        for (part, images) in PARTS.into_iter().zip([&set.train, &set.test]) {
            for (index, label) in images.labels.iter().enumerate() {
                let class = place.path().join(format!("cifar10/{part}/class-{label}"));
                image::GrayImage::new(32, 32).save(class.join(format!("{index}.png"))).unwrap();
            }
        }
        let said = problem(place.path());
        assert!(said.contains("train: its images are grey and have 32×32 pixels"), "{said}");
    }
}

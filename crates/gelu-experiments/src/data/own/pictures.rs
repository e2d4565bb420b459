//! Folders of PNG and JPEG files, a folder a class: `DIR/train/CLASS/*` and `DIR/test/CLASS/*`, or
//! `DIR/CLASS/*`, of which a fifth of each class is the test part.

use super::checks::{ORDER_SEED, check_classes, check_file, name_of};
use crate::data::cifar::picture_folder::entries;
use crate::data::idx::read_bytes;
use crate::data::{ImageSet, Images, synthetic};
use crate::error::Place;
use crate::{Error, Result};
use image::imageops::FilterType;
use image::{DynamicImage, ImageReader, Limits};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// Raised when the same files become another set.
pub const VERSION: u32 = 1;

const PARTS: [&str; 2] = ["train", "test"];
const EXTENSIONS: [&str; 3] = ["png", "jpg", "jpeg"];
/// Where there is one part, every fifth picture of a class is a test picture.
const TEST_SHARE: usize = 5;
/// No picture of this program is larger; nor takes decoding one more memory.
const LARGEST_SIDE: u32 = 4096;
const MOST_MEMORY: u64 = 256 << 20;
/// All pictures together, in bytes.
const MOST_PIXELS: usize = 2 << 30;

/// A file and the number of its class.
type Labelled = (PathBuf, u8);

/// Which files make which part; nothing is decoded yet.
#[derive(Debug)]
pub struct Folders {
    root: PathBuf,
    parts: [Vec<Labelled>; 2],
    /// The names of the folders, sorted: a class's number is its place here.
    pub classes: Vec<String>,
}

impl Folders {
    /// Looks what is there.
    ///
    /// # Errors
    ///
    /// When the place is no folder, there are fewer than two classes or more than 256, a class has no picture,
    /// a test class is no training class, or a file is neither PNG nor JPEG by its name.
    pub fn find(root: &Path) -> Result<Self> {
        if !root.is_dir() {
            let advice = "name the folder that holds a folder of pictures for each class";
            return Err(Error::data(root, Place::File, "there is no such folder", advice));
        }
        let folders = entries(root, true)?;
        let split = PARTS.iter().all(|part| folders.iter().any(|name| name == part));
        if split && let Some(other) = folders.iter().find(|name| !PARTS.contains(&name.as_str())) {
            let advice = "its pictures belong into train: `validation = N` of a recipe sets some of those aside";
            let problem = "is neither train nor test, and lies beside them";
            return Err(Error::data(root.join(other), Place::File, problem, advice));
        }
        let train = if split { root.join(PARTS[0]) } else { root.to_path_buf() };
        let classes = entries(&train, true)?;
        if classes.is_empty() {
            let advice = "name the folder that holds a folder of pictures for each class";
            return Err(Error::data(train, Place::File, "holds no folder", advice));
        }
        check_classes(&train, classes.len())?;
        let mut files = labelled(&train, &classes)?;
        let mut order = ChaCha8Rng::seed_from_u64(ORDER_SEED);
        let test = match split {
            true => labelled(&root.join(PARTS[1]), &classes)?,
            false => {
                files.iter_mut().map(|class| split_off(class, &mut order)).collect::<Result<_>>()?
            }
        };
        let mut mixed = |classes: Vec<Vec<Labelled>>| {
            let mut files: Vec<Labelled> = classes.into_iter().flatten().collect();
            files.shuffle(&mut order);
            files
        };
        let parts = [mixed(files), mixed(test)];
        Ok(Self { root: root.to_path_buf(), parts, classes })
    }

    /// Decodes the pictures: grey if all are, else red, green and blue. With `size`, the largest square in the
    /// middle of each is scaled to that side; without, they have to be of one size.
    ///
    /// # Errors
    ///
    /// When a file cannot be decoded, has another size than the first one, or all together take more than 2 GiB.
    pub fn read(&self, size: Option<usize>) -> Result<ImageSet> {
        let mut pixels = Pixels { size, ..Pixels::default() };
        let [train, test] = &self.parts;
        for (path, _) in train.iter().chain(test) {
            check_file(path)?;
            pixels.push(path, &read_bytes(path)?)?;
        }
        let (channels, height, width) = (pixels.channels(), pixels.height, pixels.width);
        let mut train_pixels = pixels.planes();
        let test_pixels = train_pixels.split_off(train.len() * channels * height * width);
        let images = |pixels, part: &[Labelled]| {
            let labels = part.iter().map(|&(_, label)| label).collect();
            Images { pixels, channels, height, width, labels }
        };
        ImageSet::new(
            &name_of(&self.root),
            Some(self.root.clone()),
            synthetic::is_marked(&self.root),
            self.classes.len(),
            images(train_pixels, train),
            images(test_pixels, test),
        )
    }
}

/// The files of each class, by name; none for a class that has no folder in this part.
fn labelled(folder: &Path, classes: &[String]) -> Result<Vec<Vec<Labelled>>> {
    let mut files = vec![Vec::new(); classes.len()];
    for name in entries(folder, true)? {
        let place = folder.join(&name);
        let Some(label) = classes.iter().position(|class| *class == name) else {
            let problem = "there is no such class among the training pictures";
            return Err(Error::data(place, Place::File, problem, "rename or remove it"));
        };
        let pictures = entries(&place, false)?;
        if pictures.is_empty() {
            return Err(Error::data(
                place,
                Place::File,
                "holds no picture",
                "every class needs some",
            ));
        }
        for picture in pictures {
            let path = place.join(picture);
            let extension = path.extension().and_then(|text| text.to_str()).unwrap_or_default();
            if !EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known)) {
                let problem = "is neither .png nor .jpg nor .jpeg";
                return Err(Error::data(path, Place::File, problem, "convert or remove it"));
            }
            files[label].push((path, label as u8));
        }
    }
    Ok(files)
}

/// The test pictures of a class that is in one part.
fn split_off(class: &mut Vec<Labelled>, order: &mut ChaCha8Rng) -> Result<Vec<Labelled>> {
    if let [(path, _)] = &class[..] {
        let place = path.parent().unwrap_or(path);
        let advice = "every class needs one to train on and one to test on";
        return Err(Error::data(place, Place::File, "holds one picture", advice));
    }
    class.shuffle(order);
    Ok(class.split_off(class.len() - class.len().div_ceil(TEST_SHARE)))
}

/// Pictures of one size, one behind the other.
#[derive(Default)]
struct Pixels {
    size: Option<usize>,
    height: usize,
    width: usize,
    /// Red, green and blue of every pixel.
    interleaved: Vec<u8>,
    coloured: bool,
}

impl Pixels {
    fn push(&mut self, path: &Path, bytes: &[u8]) -> Result<()> {
        let refuse =
            |problem: String, advice: &str| Err(Error::data(path, Place::File, problem, advice));
        let decoded = decode(path, bytes)?;
        self.coloured |= decoded.color().has_color();
        let picture = match self.size {
            Some(side) => {
                middle(&decoded).resize_exact(side as u32, side as u32, FilterType::Triangle)
            }
            None => decoded,
        };
        let (height, width) = (picture.height() as usize, picture.width() as usize);
        if self.interleaved.is_empty() {
            (self.height, self.width) = (height, width);
        }
        if (self.height, self.width) != (height, width) {
            return refuse(
                format!(
                    "has {width}×{height} pixels, the pictures before it {}×{}",
                    self.width, self.height
                ),
                "`size = N` in the recipe's data scales all to N×N",
            );
        }
        if self.interleaved.len() + 3 * height * width > MOST_PIXELS {
            return refuse(
                "with it the pictures take more than 2 GiB".to_owned(),
                "`size = N` in the recipe's data makes them smaller",
            );
        }
        self.interleaved.extend(picture.into_rgb8().into_raw());
        Ok(())
    }

    fn channels(&self) -> usize {
        if self.coloured { 3 } else { 1 }
    }

    /// Each picture's channels one behind the other.
    fn planes(self) -> Vec<u8> {
        let mut planes = Vec::with_capacity(self.interleaved.len() / 3 * self.channels());
        for picture in self.interleaved.chunks_exact((3 * self.height * self.width).max(1)) {
            for channel in 0..self.channels() {
                planes.extend(picture.iter().skip(channel).step_by(3));
            }
        }
        planes
    }
}

/// The largest square in the middle of a picture.
fn middle(picture: &DynamicImage) -> DynamicImage {
    let (width, height) = (picture.width(), picture.height());
    let side = width.min(height);
    picture.crop_imm((width - side) / 2, (height - side) / 2, side, side)
}

/// A PNG or JPEG, whatever its name says; `path` is what errors call it.
///
/// # Errors
///
/// When it is neither, damaged, or larger than 4096 pixels a side.
pub fn decode(path: &Path, bytes: &[u8]) -> Result<DynamicImage> {
    let damaged = |error: image::ImageError| {
        // Those of decoders have line breaks, and may quote what the file holds.
        let said: String = error
            .to_string()
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(200)
            .collect();
        let problem = format!("no PNG or JPEG can be read: {}", said.trim_end());
        Error::data(path, Place::File, problem, "copy it again, or remove it")
    };
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(Error::io("read", path))?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(LARGEST_SIDE);
    limits.max_image_height = Some(LARGEST_SIDE);
    limits.max_alloc = Some(MOST_MEMORY);
    reader.limits(limits);
    reader.decode().map_err(damaged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{GrayImage, ImageFormat, Luma, Rgb, RgbImage};
    use std::fs;

    fn save(path: &Path, picture: &DynamicImage) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        picture.save(path).unwrap();
    }

    fn grey(width: u32, height: u32, value: u8) -> DynamicImage {
        GrayImage::from_pixel(width, height, Luma([value])).into()
    }

    fn read(root: &Path, size: Option<usize>) -> Result<ImageSet> {
        Folders::find(root)?.read(size)
    }

    fn refused(root: &Path, size: Option<usize>) -> String {
        read(root, size).unwrap_err().to_string()
    }

    #[test]
    fn classes_are_folders_and_a_fifth_of_each_is_tested_on() {
        let folder = tempfile::tempdir().unwrap();
        for (class, count, value) in [("b", 10, 50), ("a", 4, 10)] {
            for index in 0..count {
                save(
                    &folder.path().join(class).join(format!("{index}.png")),
                    &grey(5, 3, value + index),
                );
            }
        }
        let set = read(folder.path(), None).unwrap();
        assert_eq!(
            (set.train.channels, set.train.height, set.train.width, set.classes),
            (1, 3, 5, 2)
        );
        assert_eq!((set.train.len(), set.test.len()), (11, 3));
        let mut values = Vec::new();
        for part in [&set.train, &set.test] {
            for (picture, &label) in part.pixels.chunks(15).zip(&part.labels) {
                assert_eq!(label == 0, picture[0] < 50, "a comes before b");
                values.push(picture[0]);
            }
        }
        values.sort_unstable();
        assert_eq!(values, (10..14).chain(50..60).collect::<Vec<u8>>(), "each is in one part");
        assert_eq!(set, read(folder.path(), None).unwrap());
    }

    #[test]
    fn parts_are_folders_too_and_one_coloured_picture_makes_all_so() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        save(&at("train/a/1.png"), &grey(2, 2, 7));
        save(&at("train/b/1.png"), &RgbImage::from_pixel(2, 2, Rgb([1, 2, 3])).into());
        save(&at("test/a/1.png"), &grey(2, 2, 9));
        let set = read(folder.path(), None).unwrap();
        let expected: [&[u8]; 2] = [&[7; 12], &[1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]];
        for (picture, &label) in set.train.pixels.chunks(12).zip(&set.train.labels) {
            assert_eq!(picture, expected[usize::from(label)]);
        }
        assert_eq!(set.test.pixels, [9; 12]);
        assert_eq!(set.source.name, name_of(folder.path()));

        fs::create_dir(at("val")).unwrap();
        assert!(refused(folder.path(), None).contains("val: is neither train nor test"));
    }

    #[test]
    fn the_middle_of_a_picture_is_scaled() {
        let folder = tempfile::tempdir().unwrap();
        let stripes =
            GrayImage::from_fn(8, 4, |x, _| Luma([if (2..6).contains(&x) { 200 } else { 0 }]));
        for class in ["a", "b"] {
            for index in 0..2 {
                save(
                    &folder.path().join(class).join(format!("{index}.png")),
                    &stripes.clone().into(),
                );
            }
        }
        save(&folder.path().join("a/large.jpg"), &grey(30, 20, 200));
        assert!(refused(folder.path(), None).contains("`size = N`"));
        let set = read(folder.path(), Some(2)).unwrap();
        assert_eq!((set.train.height, set.train.width), (2, 2));
        assert!(
            set.train.pixels.iter().all(|&pixel| pixel.abs_diff(200) <= 2),
            "{:?}",
            set.train.pixels
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert!(refused(&at("nowhere"), None).contains("nowhere: there is no such folder"));
        assert!(refused(folder.path(), None).contains("holds no folder"));
        save(&at("a/1.png"), &grey(2, 2, 7));
        assert!(refused(folder.path(), None).contains("all examples are of one class"));
        fs::create_dir(at("b")).unwrap();
        assert!(refused(folder.path(), None).contains("b: holds no picture"));
        save(&at("b/1.png"), &grey(2, 2, 7));
        assert!(refused(folder.path(), None).contains("a: holds one picture"));
        save(&at("a/2.png"), &grey(2, 2, 7));
        save(&at("b/2.png"), &grey(2, 2, 7));
        fs::write(at("b/notes.txt"), "mine").unwrap();
        assert!(refused(folder.path(), None).contains("notes.txt: is neither .png"));
        fs::remove_file(at("b/notes.txt")).unwrap();
        let mut jpeg = Vec::new();
        grey(2, 2, 7).write_to(&mut Cursor::new(&mut jpeg), ImageFormat::Jpeg).unwrap();
        fs::write(at("b/2.png"), &jpeg).unwrap();
        assert!(read(folder.path(), None).is_ok(), "what a file is goes by its content");
        fs::write(at("b/2.png"), &jpeg[..jpeg.len() / 3]).unwrap();
        assert!(refused(folder.path(), None).contains("2.png: no PNG or JPEG can be read"));
    }
}

//! The binary version of CIFAR.
//!
//! ```text
//! CIFAR-10 record:  class | 1024 red | 1024 green | 1024 blue            3,073 bytes
//! CIFAR-100 record: coarse class | class | 1024 red | 1024 green | …     3,074 bytes
//! ```
//!
//! A file consists only of records; each plane is row-major. CIFAR-10 has five training files of 10,000 records and a
//! test file; CIFAR-100 has one file of 50,000 and one of 10,000. The reader accepts any other number of whole
//! records. Files may be gzipped.

use super::kind::{COARSE_CLASSES, Cifar, PICTURE, no_images};
use crate::data::files::read_bytes;
use crate::data::{ImageSet, Images, synthetic};
use crate::{Error, Result};
use gelu_compare::error::Place;
use std::path::{Path, PathBuf};

impl Cifar {
    /// Returns the path of a file in `folder` or in the archive's folder below it, plain or gzipped.
    fn find(self, folder: &Path, name: &str) -> Option<PathBuf> {
        let inside = [folder.to_path_buf(), folder.join(self.folder())];
        let names = [name.to_owned(), format!("{name}.gz")];
        let mut paths = inside.iter().flat_map(|f| names.iter().map(move |n| f.join(n)));
        paths.find(|path| path.exists())
    }

    fn require(self, folder: &Path, name: &str) -> Result<PathBuf> {
        self.find(folder, name).ok_or_else(|| {
            let problem = match folder.is_dir() {
                true => format!("{name} is not in it, nor in {} below it", self.folder()),
                false => "there is no such folder".to_owned(),
            };
            let advice = "unpack the binary version of CIFAR there, or folders train and test with \
                          a folder of PNG files for each class";
            Error::data(folder, Place::File, problem, advice)
        })
    }
}

/// The content of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Records {
    /// The images with their (fine) classes.
    pub images: Images,
    /// The coarse class of each image; empty for CIFAR-10.
    pub coarse: Vec<u8>,
}

/// Returns whether all files of the set are in `folder`, or in the archive's folder below it.
pub(super) fn is_present(cifar: Cifar, folder: &Path) -> bool {
    let found = |name: &str| cifar.find(folder, name).is_some();
    cifar.train_files().iter().all(|name| found(name)) && found(cifar.test_file())
}

/// Reads the set in `folder`, or in the archive's folder below it.
///
/// # Errors
///
/// If a file is missing or does not consist of whole records, or a class is out of range.
pub(super) fn read(cifar: Cifar, folder: &Path) -> Result<ImageSet> {
    let mut train = no_images();
    for name in cifar.train_files() {
        let records = read_file(cifar, &cifar.require(folder, name)?)?;
        train.pixels.extend(records.images.pixels);
        train.labels.extend(records.images.labels);
    }
    let test_path = cifar.require(folder, cifar.test_file())?;
    let test = read_file(cifar, &test_path)?.images;
    let synthetic = test_path.parent().is_some_and(synthetic::is_marked);
    let location = Some(folder.to_path_buf());
    ImageSet::new(cifar.name(), location, synthetic, cifar.classes(), train, test)
}

/// Reads one file.
///
/// # Errors
///
/// If the file cannot be read or does not consist of whole records, or a class is out of range.
pub fn read_file(cifar: Cifar, path: &Path) -> Result<Records> {
    parse(cifar, path, &read_bytes(path)?)
}

/// Parses the content of one file; error messages name `path`.
///
/// # Errors
///
/// If the content does not consist of whole records, or a class is out of range.
pub fn parse(cifar: Cifar, path: &Path, bytes: &[u8]) -> Result<Records> {
    let record = cifar.record();
    let over = bytes.len() % record;
    if bytes.is_empty() || over != 0 {
        let other = match cifar {
            Cifar::Ten => Cifar::Hundred,
            Cifar::Hundred => Cifar::Ten,
        };
        let advice = match !bytes.is_empty() && bytes.len().is_multiple_of(other.record()) {
            true => format!("it has the size of a {} file", other.name()),
            false => "it is cut short or no CIFAR binary: copy it again".to_owned(),
        };
        let problem = format!(
            "{} bytes are not whole records of {record} bytes ({over} are left over)",
            bytes.len()
        );
        return Err(Error::data(path, Place::Byte((bytes.len() - over) as u64), problem, advice));
    }
    let mut images = no_images();
    let mut coarse = Vec::new();
    for (index, bytes) in bytes.chunks_exact(record).enumerate() {
        let class_below = |what: &str, class: u8, classes: usize| match usize::from(class) < classes
        {
            true => Ok(class),
            false => Err(Error::data(
                path,
                Place::Item(index),
                format!("{what} {class} is not below {classes}"),
                format!("this is no {} file, or a damaged one", cifar.name()),
            )),
        };
        let (labels, pixels) = bytes.split_at(record - PICTURE);
        if let [group, _] = labels {
            coarse.push(class_below("coarse class", *group, COARSE_CLASSES)?);
        }
        let class = labels[labels.len() - 1];
        images.labels.push(class_below("class", class, cifar.classes())?);
        images.pixels.extend(pixels);
    }
    Ok(Records { images, coarse })
}

/// Returns images as the content of a file. `coarse` gives the coarse class of a class; CIFAR-10 has none.
///
/// # Panics
///
/// If the images do not have the shape 3×32×32.
pub fn to_bytes(cifar: Cifar, images: &Images, coarse: impl Fn(u8) -> u8) -> Vec<u8> {
    assert_eq!(images.features(), PICTURE, "a CIFAR image is 3×32×32");
    let mut bytes = Vec::with_capacity(images.len() * cifar.record());
    for (&label, pixels) in images.labels.iter().zip(images.pixels.chunks_exact(PICTURE)) {
        match cifar {
            Cifar::Ten => bytes.push(label),
            Cifar::Hundred => bytes.extend([coarse(label), label]),
        }
        bytes.extend(pixels);
    }
    bytes
}

/// Writes generated images in the files of CIFAR, marked as synthetic. The training images are spread over the
/// training files. Five consecutive classes share a coarse class.
///
/// # Errors
///
/// If the folder contains anything else, there are fewer training images than files, or a file cannot be written.
pub fn write_synthetic(cifar: Cifar, folder: &Path, set: &ImageSet) -> Result<()> {
    let files = cifar.train_files();
    if set.train.len() < files.len() || set.test.is_empty() {
        let problem = format!(
            "{} needs at least {} training images and one test image",
            cifar.name(),
            files.len()
        );
        return Err(Error::Usage(problem));
    }
    let sizes = [&set.train, &set.test].map(Images::len);
    synthetic::begin(folder, &format!("{}, {} and {}", set.source.name, sizes[0], sizes[1]))?;
    let write = |name: &str, part: &Images| {
        let bytes = to_bytes(cifar, part, |class| class / 5);
        gelu_compare::files::write_atomically(&folder.join(name), bytes)
    };
    let each = set.train.len() / files.len();
    let mut rest = set.train.clone();
    for name in files[1..].iter().rev() {
        let (first, last) = rest.split_last(each);
        write(name, &last)?;
        rest = first;
    }
    write(files[0], &rest)?;
    write(cifar.test_file(), &set.test)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synthetic::pictures;
    use std::fs;

    fn file(cifar: Cifar, count: usize) -> Vec<u8> {
        to_bytes(cifar, &pictures::generate(cifar, count, 1).train, |class| class / 5)
    }

    fn problem(cifar: Cifar, bytes: &[u8]) -> String {
        parse(cifar, Path::new("x.bin"), bytes).unwrap_err().to_string()
    }

    #[test]
    fn written_sets_are_read_back_in_order_and_marked_synthetic() {
        for (cifar, count) in [(Cifar::Ten, 23), (Cifar::Hundred, 7)] {
            let folder = tempfile::tempdir().unwrap();
            let set = pictures::generate(cifar, count, 4);
            write_synthetic(cifar, folder.path(), &set).unwrap();
            assert!(is_present(cifar, folder.path()));
            let read_back = read(cifar, folder.path()).unwrap();
            assert!(read_back.source.synthetic);
            assert_eq!((&read_back.train, &read_back.test), (&set.train, &set.test));
            assert_eq!(read_back.source.fingerprint, set.source.fingerprint);
        }
    }

    #[test]
    fn a_record_is_laid_out_as_published() {
        let mut record = vec![6];
        record.extend((0..PICTURE).map(|i| (i / 1024 * 50 + i % 32) as u8));
        let images = parse(Cifar::Ten, Path::new("x"), &record).unwrap().images;
        assert_eq!((&images.labels[..], images.features()), (&[6][..], 3072));
        // The planes follow each other; the second row begins after 32 bytes.
        assert_eq!(
            [0, 31, 32, 1024, 2048, 3071].map(|i| images.pixels[i]),
            [0, 31, 0, 50, 100, 131]
        );

        record.insert(0, 19);
        let records = parse(Cifar::Hundred, Path::new("x"), &record).unwrap();
        assert_eq!((records.coarse, records.images.labels), (vec![19], vec![6]));
    }

    #[test]
    fn damage_is_named_with_its_place() {
        let ten = file(Cifar::Ten, 10);
        assert!(problem(Cifar::Ten, &ten[..4000]).contains("byte 3073: 4000 bytes are not whole"));
        assert!(problem(Cifar::Ten, &[]).contains("0 bytes are not whole records"));
        assert!(problem(Cifar::Hundred, &ten).contains("size of a cifar10 file"));
        let mut wrong = ten;
        wrong[3 * 3073] = 10;
        assert!(problem(Cifar::Ten, &wrong).contains("item 3: class 10 is not below 10"));
        let mut wrong = file(Cifar::Hundred, 3);
        wrong[3074] = 20;
        assert!(
            problem(Cifar::Hundred, &wrong).contains("item 1: coarse class 20 is not below 20")
        );
        wrong[3074] = 0;
        wrong[3075] = 100;
        assert!(problem(Cifar::Hundred, &wrong).contains("item 1: class 100 is not below 100"));
    }

    #[test]
    fn missing_files_are_named_and_real_ones_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join(Cifar::Ten.folder());
        let set = pictures::generate(Cifar::Ten, 10, 2);
        write_synthetic(Cifar::Ten, &inner, &set).unwrap();
        assert_eq!(
            read(Cifar::Ten, folder.path()).unwrap().train,
            set.train,
            "the archive's folder"
        );
        write_synthetic(Cifar::Ten, &inner, &set).unwrap();

        fs::remove_file(inner.join(synthetic::MARK)).unwrap();
        let refused = write_synthetic(Cifar::Ten, &inner, &set).unwrap_err().to_string();
        assert!(refused.contains("is not empty"), "{refused}");
        fs::remove_file(inner.join("data_batch_3.bin")).unwrap();
        let error = read(Cifar::Ten, folder.path()).unwrap_err().to_string();
        assert!(error.contains("data_batch_3.bin is not in it"), "{error}");
    }
}

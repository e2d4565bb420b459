//! MNIST: 60,000 + 10,000 handwritten digits of 28×28 pixels in four IDX files.
//!
//! LeCun, Cortes and Burges; CC BY-SA 3.0. Any other set in the same layout reads too.

use super::own::checks;
use super::{ImageSet, Images, idx};
use crate::error::Place;
use crate::{Error, Result};
use md5::Md5;
use sha2::Digest;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};

/// Number of classes.
pub const CLASSES: usize = 10;
/// A folder with a file of this name holds generated data.
pub const SYNTHETIC_MARK: &str = "SYNTHETIC";

/// One of the four files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MnistFile {
    /// Its canonical name, without `.gz`.
    pub name: &'static str,
    /// MD5 of the canonical uncompressed content.
    pub md5: &'static str,
    /// Its length.
    pub length: u64,
}

/// The four files: training images, training labels, test images, test labels.
pub const FILES: [MnistFile; 4] = [
    MnistFile {
        name: "train-images-idx3-ubyte",
        md5: "6bbc9ace898e44ae57da46a324031adb",
        length: 47_040_016,
    },
    MnistFile {
        name: "train-labels-idx1-ubyte",
        md5: "a25bea736e30d166cdddb491f175f624",
        length: 60_008,
    },
    MnistFile {
        name: "t10k-images-idx3-ubyte",
        md5: "2646ac647ad5339dbf082846283269ea",
        length: 7_840_016,
    },
    MnistFile {
        name: "t10k-labels-idx1-ubyte",
        md5: "27ae3e4e09519cfbb04c329615203637",
        length: 10_008,
    },
];

impl MnistFile {
    /// Whether `content` (uncompressed) is the canonical one.
    pub fn is_canonical(&self, content: &[u8]) -> bool {
        let digest: String = Md5::digest(content).iter().map(|b| format!("{b:02x}")).collect();
        digest == self.md5
    }

    /// Where it is in `folder`, under either spelling (`-idx` or `.idx`), plain or gzipped.
    pub fn find(&self, folder: &Path) -> Option<PathBuf> {
        let dotted = self.name.replace("-idx", ".idx");
        let names = [self.name, &dotted].map(|name| [name.to_owned(), format!("{name}.gz")]);
        names.into_iter().flatten().map(|name| folder.join(name)).find(|path| path.exists())
    }

    fn require(&self, folder: &Path) -> Result<PathBuf> {
        let path = self.find(folder).ok_or_else(|| {
            let problem = match folder.is_dir() {
                true => format!("{} is not in it (nor .gz, nor spelt with .idx)", self.name),
                false => "there is no such folder".to_owned(),
            };
            let advice = "`gelu data fetch mnist` downloads MNIST; --data DIR names another folder";
            Error::data(folder, Place::File, problem, advice)
        })?;
        checks::check_file(&path).map(|()| path)
    }
}

/// Whether all four files are in `folder`.
pub fn is_present(folder: &Path) -> bool {
    FILES.iter().all(|file| file.find(folder).is_some())
}

/// Reads the four files of a folder.
///
/// # Errors
///
/// When one is missing or damaged; see [`idx::read`].
pub fn read(folder: &Path) -> Result<ImageSet> {
    let [train, test] = parts(folder, CLASSES)?;
    let synthetic = folder.join(SYNTHETIC_MARK).exists();
    ImageSet::new("mnist", Some(folder.to_path_buf()), synthetic, CLASSES, train, test)
}

/// Reads pictures of one's own in files of these names: a set called as its folder, with as many classes as the
/// largest label says.
///
/// # Errors
///
/// As [`read`], and when there is one class.
pub fn read_own(folder: &Path) -> Result<ImageSet> {
    let [train, test] = parts(folder, checks::MOST_CLASSES)?;
    let classes = [&train, &test].into_iter().flat_map(|part| &part.labels).max();
    let classes = classes.map_or(0, |&label| usize::from(label) + 1);
    checks::check_classes(folder, classes)?;
    let synthetic = folder.join(SYNTHETIC_MARK).exists();
    let name = checks::name_of(folder);
    ImageSet::new(&name, Some(folder.to_path_buf()), synthetic, classes, train, test)
}

/// The two parts that the four files hold.
fn parts(folder: &Path, classes: usize) -> Result<[Images; 2]> {
    let [train_images, train_labels, test_images, test_labels] = &FILES;
    let part = |images: &MnistFile, labels: &MnistFile| -> Result<Images> {
        idx::read(&images.require(folder)?, &labels.require(folder)?, classes)
    };
    let (train, test) = std::thread::scope(|scope| {
        let test = scope.spawn(|| part(test_images, test_labels));
        (part(train_images, train_labels), test.join())
    });
    Ok([train?, test.unwrap_or_else(|panic| resume_unwind(panic))?])
}

/// What is to be said about one file of a folder.
#[derive(Debug)]
pub struct FileReport {
    /// Which of the four.
    pub file: MnistFile,
    /// Where it was found.
    pub path: Option<PathBuf>,
    /// How many items it holds and whether they are the canonical ones, or what is wrong.
    pub finding: Result<Finding>,
}

/// What a sound file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Pictures or labels.
    pub items: usize,
    /// Whether the content is byte for byte the canonical MNIST.
    pub canonical: bool,
}

/// Looks at all four files of a folder, and goes on after a damaged one.
pub fn check(folder: &Path) -> Vec<FileReport> {
    FILES
        .iter()
        .map(|&file| FileReport { file, path: file.find(folder), finding: inspect(file, folder) })
        .collect()
}

fn inspect(file: MnistFile, folder: &Path) -> Result<Finding> {
    let path = file.require(folder)?;
    let items = match file.name.contains("images") {
        true => {
            let (pixels, height, width) = idx::read_images(&path)?;
            pixels.len() / (height * width)
        }
        false => idx::read_labels(&path, CLASSES)?.len(),
    };
    Ok(Finding { items, canonical: file.is_canonical(&idx::read_bytes(&path)?) })
}

/// Writes a set as the four files of MNIST, gzipped, and marks the folder as synthetic where the
/// set is.
///
/// # Errors
///
/// When a file cannot be written.
pub fn write(folder: &Path, set: &ImageSet) -> Result<()> {
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;
    std::fs::create_dir_all(folder).map_err(Error::io("create the folder", folder))?;
    let mark = folder.join(SYNTHETIC_MARK);
    if set.source.synthetic {
        // First, so that no generated file ever lies here unmarked.
        let text =
            format!("The files here were generated: `{}` of this program.\n", set.source.name);
        crate::files::write_atomically(&mark, text)?;
    }
    let contents = [
        idx::images_to_bytes(&set.train),
        idx::labels_to_bytes(&set.train.labels),
        idx::images_to_bytes(&set.test),
        idx::labels_to_bytes(&set.test.labels),
    ];
    for (file, content) in FILES.iter().zip(contents) {
        let path = folder.join(format!("{}.gz", file.name));
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let packed = encoder.write_all(&content).and_then(|()| encoder.finish());
        crate::files::write_atomically(&path, packed.map_err(Error::io("compress", &path))?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::digits;
    use std::fs;

    #[test]
    fn written_digits_read_back_marked_synthetic_under_every_spelling() {
        let folder = tempfile::tempdir().unwrap();
        let set = digits::generate(20, 5);
        write(folder.path(), &set).unwrap();
        let read_back = read(folder.path()).unwrap();
        assert!(read_back.source.synthetic);
        assert_eq!((&read_back.train, &read_back.test), (&set.train, &set.test));

        for file in FILES {
            let packed = folder.path().join(format!("{}.gz", file.name));
            let plain = folder.path().join(file.name.replace("-idx", ".idx"));
            fs::write(plain, idx::read_bytes(&packed).unwrap()).unwrap();
            fs::remove_file(packed).unwrap();
        }
        assert_eq!(read(folder.path()).unwrap().source, read_back.source);
    }

    #[test]
    fn missing_folder_and_missing_file_say_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let error = read(&folder.path().join("nowhere")).unwrap_err().to_string();
        assert!(error.contains("no such folder") && error.contains("gelu data fetch"), "{error}");
        let error = read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("train-images-idx3-ubyte is not in it"), "{error}");
    }

    #[test]
    fn check_reports_every_file_of_a_damaged_folder() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &digits::generate(20, 5)).unwrap();
        fs::remove_file(folder.path().join("train-labels-idx1-ubyte.gz")).unwrap();
        fs::write(folder.path().join("t10k-images-idx3-ubyte.gz"), [0, 0, 8, 3]).unwrap();
        let findings: Vec<_> = check(folder.path()).into_iter().map(|r| r.finding).collect();
        assert_eq!(*findings[0].as_ref().unwrap(), Finding { items: 20, canonical: false });
        assert!(findings[1].as_ref().unwrap_err().to_string().contains("not in it"));
        assert!(findings[2].as_ref().unwrap_err().to_string().contains("byte 4"));
        assert_eq!(findings[3].as_ref().unwrap().items, 5);
    }
}

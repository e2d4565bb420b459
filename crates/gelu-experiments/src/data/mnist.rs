//! MNIST: 60,000 + 10,000 handwritten digits of 28×28 pixels in four IDX files.
//!
//! LeCun, Cortes and Burges; CC BY-SA 3.0. The reader accepts any other set in the same layout.

use super::files::{entries, read_bytes};
use super::own::checks;
use super::{ImageSet, Images, idx};
use crate::{Error, Result};
use gelu_compare::error::Place;
use md5::Md5;
use sha2::Digest;
use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};

/// Number of classes.
pub const CLASSES: usize = 10;
/// The name of a file that marks the data of its folder as generated.
pub const SYNTHETIC_MARK: &str = "SYNTHETIC";

/// One of the four files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MnistFile {
    /// The canonical name, without `.gz`.
    pub name: &'static str,
    /// MD5 of the canonical uncompressed content.
    pub md5: &'static str,
    /// The length of the canonical uncompressed content.
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
    /// Returns whether `content` (uncompressed) is the canonical one.
    pub fn is_canonical(&self, content: &[u8]) -> bool {
        let digest: String = Md5::digest(content).iter().map(|b| format!("{b:02x}")).collect();
        digest == self.md5
    }

    /// Returns the path of the file in `folder`, under either spelling (`-idx` or `.idx`), plain or gzipped.
    pub fn find(&self, folder: &Path) -> Option<PathBuf> {
        let dotted = self.name.replace("-idx", ".idx");
        let names = [self.name, &dotted].map(|name| [name.to_owned(), format!("{name}.gz")]);
        names.into_iter().flatten().map(|name| folder.join(name)).find(|path| path.exists())
    }

    fn require(&self, folder: &Path, advice: &str) -> Result<PathBuf> {
        let path = self.find(folder).ok_or_else(|| {
            let problem = match folder.is_dir() {
                true => format!("{} is not in it (nor .gz, nor spelt with .idx)", self.name),
                false if folder.is_file() => "is a file, not a folder".to_owned(),
                false => "there is no such folder".to_owned(),
            };
            Error::data(folder, Place::File, problem, advice)
        })?;
        checks::check_file(&path).map(|()| path)
    }
}

/// Returns whether all four files are in `folder`.
pub fn is_present(folder: &Path) -> bool {
    FILES.iter().all(|file| file.find(folder).is_some())
}

/// Reads the four files of a folder.
///
/// # Errors
///
/// If a file is missing or damaged; see [`idx::read`].
pub fn read(folder: &Path) -> Result<ImageSet> {
    let [train, test] = parts(folder, CLASSES)?;
    let synthetic = folder.join(SYNTHETIC_MARK).exists();
    ImageSet::new("mnist", Some(folder.to_path_buf()), synthetic, CLASSES, train, test)
}

/// Reads the user's own images in files with these names, or in EMNIST's files. The set is named after its folder,
/// and the largest label determines the number of classes. If no label is 0, as in EMNIST's letters, the labels count
/// from 1.
///
/// # Errors
///
/// If [`read`] would fail, there is only one class, or the folder has the files of several sets.
pub fn read_own(folder: &Path) -> Result<ImageSet> {
    let paths = match emnist(folder)? {
        Some(paths) => paths,
        None => required(folder, OWN)?,
    };
    let mut parts = read_parts(&paths, checks::MOST_CLASSES)?;
    let labels = || parts.iter().flat_map(|part| part.labels.iter().copied());
    if labels().min() == Some(1) {
        parts.iter_mut().flat_map(|part| &mut part.labels).for_each(|label| *label -= 1);
    }
    let largest = parts.iter().flat_map(|part| &part.labels).max();
    let classes = largest.map_or(0, |&label| usize::from(label) + 1);
    checks::check_classes(folder, classes)?;
    let synthetic = folder.join(SYNTHETIC_MARK).exists();
    let name = checks::name_of(folder);
    let [train, test] = parts;
    ImageSet::new(&name, Some(folder.to_path_buf()), synthetic, classes, train, test)
}

/// Advice for a missing file, of MNIST and of the user's own images in such files.
const FETCH: &str = "`gelu data fetch mnist` downloads MNIST; --data DIR names another folder";
const OWN: &str = "idx stands for four files with the names that MNIST's have; images in folders, one for each class, are \
                   compared on by `gelu compare --images DIR`";

/// Returns the paths of the four files of a folder.
fn required(folder: &Path, advice: &str) -> Result<[PathBuf; 4]> {
    let [a, b, c, d] = FILES.map(|file| file.require(folder, advice));
    Ok([a?, b?, c?, d?])
}

/// Returns the paths of the four files of one of EMNIST's six sets, `emnist-SET-train-images-idx3-ubyte` and so on,
/// plain or gzipped; `None` if there are none.
fn emnist(folder: &Path) -> Result<Option<[PathBuf; 4]>> {
    const ENDS: [&str; 4] = [
        "-train-images-idx3-ubyte",
        "-train-labels-idx1-ubyte",
        "-test-images-idx3-ubyte",
        "-test-labels-idx1-ubyte",
    ];
    let Ok(names) = entries(folder, false) else { return Ok(None) };
    let set_of = |name: &String| {
        let name = name.strip_suffix(".gz").unwrap_or(name);
        let set = ENDS.iter().find_map(|end| name.strip_suffix(end))?;
        set.starts_with("emnist").then(|| set.to_owned())
    };
    let sets: BTreeSet<String> = names.iter().filter_map(set_of).collect();
    let refuse =
        |problem: String, advice: &str| Err(Error::data(folder, Place::File, problem, advice));
    match &Vec::from_iter(sets)[..] {
        [] => Ok(None),
        [set] => {
            let found = ENDS.map(|end| {
                let name = format!("{set}{end}");
                names.iter().find(|known| known.strip_suffix(".gz").unwrap_or(known) == name)
            });
            match found {
                [Some(a), Some(b), Some(c), Some(d)] => {
                    Ok(Some([a, b, c, d].map(|name| folder.join(name))))
                }
                _ => {
                    let missing = ENDS.iter().zip(found).find(|(_, name)| name.is_none());
                    let end = missing.map_or("", |(end, _)| *end);
                    refuse(
                        format!("{set}{end} is not in it (nor .gz)"),
                        "copy the four files of the set into it",
                    )
                }
            }
        }
        sets => refuse(
            format!("holds {} sets: {}", sets.len(), sets.join(", ")),
            "copy the four files of one of them into a folder of their own",
        ),
    }
}

/// Reads the two splits in the four files of a folder.
fn parts(folder: &Path, classes: usize) -> Result<[Images; 2]> {
    read_parts(&required(folder, FETCH)?, classes)
}

/// Reads the two splits in four files: training images, training labels, test images, test labels.
fn read_parts(
    [images, labels, test_images, test_labels]: &[PathBuf; 4],
    classes: usize,
) -> Result<[Images; 2]> {
    for path in [images, labels, test_images, test_labels] {
        checks::check_file(path)?;
    }
    let (train, test) = std::thread::scope(|scope| {
        let test = scope.spawn(|| idx::read(test_images, test_labels, classes));
        (idx::read(images, labels, classes), test.join())
    });
    Ok([train?, test.unwrap_or_else(|panic| resume_unwind(panic))?])
}

/// The result of checking one file of a folder.
#[derive(Debug)]
pub struct FileReport {
    /// The file that was checked.
    pub file: MnistFile,
    /// The path of the file, if it was found.
    pub path: Option<PathBuf>,
    /// The number of items in the file and whether they are the canonical ones, or the problem.
    pub finding: Result<Finding>,
}

/// The content of an intact file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Number of images or labels.
    pub items: usize,
    /// Whether the content is byte for byte the canonical MNIST.
    pub canonical: bool,
}

/// Checks all four files of a folder, and continues after a damaged one.
pub fn check(folder: &Path) -> Vec<FileReport> {
    FILES
        .iter()
        .map(|&file| FileReport { file, path: file.find(folder), finding: inspect(file, folder) })
        .collect()
}

fn inspect(file: MnistFile, folder: &Path) -> Result<Finding> {
    let path = file.require(folder, FETCH)?;
    let items = match file.name.contains("images") {
        true => {
            let (pixels, height, width) = idx::read_images(&path)?;
            pixels.len() / (height * width)
        }
        false => idx::read_labels(&path, CLASSES)?.len(),
    };
    Ok(Finding { items, canonical: file.is_canonical(&read_bytes(&path)?) })
}

/// Writes a set as the four files of MNIST, gzipped, and marks the folder as synthetic if the set is.
///
/// # Errors
///
/// If a file cannot be written.
pub fn write(folder: &Path, set: &ImageSet) -> Result<()> {
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;
    std::fs::create_dir_all(folder).map_err(Error::io("create the folder", folder))?;
    if set.source.synthetic && !super::synthetic::is_marked(folder) {
        // The mark comes first, so that no generated file is ever here without it.
        super::synthetic::mark(folder, &set.source.name)?;
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
        gelu_compare::files::write_atomically(
            &path,
            packed.map_err(Error::io("compress", &path))?,
        )?;
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
            fs::write(plain, read_bytes(&packed).unwrap()).unwrap();
            fs::remove_file(packed).unwrap();
        }
        assert_eq!(read(folder.path()).unwrap().source, read_back.source);
    }

    /// The files of EMNIST's letters: other names, `test` instead of `t10k`, and labels from 1.
    #[test]
    fn emnist_is_read_by_its_own_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mut set = digits::generate(40, 20);
        for part in [&mut set.train, &mut set.test] {
            part.labels.iter_mut().for_each(|label| *label += 1);
        }
        write(folder.path(), &set).unwrap();
        fs::remove_file(at(SYNTHETIC_MARK)).unwrap();
        for file in FILES {
            let name = file.name.replace("t10k", "test");
            fs::rename(at(&format!("{}.gz", file.name)), at(&format!("emnist-letters-{name}.gz")))
                .unwrap();
        }
        let found = read_own(folder.path()).unwrap();
        assert_eq!(found.classes, 10);
        for (found, written) in [(&found.train, &set.train), (&found.test, &set.test)] {
            assert_eq!(found.pixels, written.pixels);
            let labels: Vec<u8> = written.labels.iter().map(|label| label - 1).collect();
            assert_eq!(found.labels, labels);
        }
        let labels = "emnist-letters-test-labels-idx1-ubyte.gz";
        fs::copy(at(labels), at("emnist-byclass-test-labels-idx1-ubyte.gz")).unwrap();
        let said = read_own(folder.path()).unwrap_err().to_string();
        assert!(said.contains("holds 2 sets: emnist-byclass, emnist-letters"), "{said}");
        fs::remove_file(at("emnist-byclass-test-labels-idx1-ubyte.gz")).unwrap();
        fs::remove_file(at(labels)).unwrap();
        let said = read_own(folder.path()).unwrap_err().to_string();
        assert!(said.contains("emnist-letters-test-labels-idx1-ubyte is not in it"), "{said}");
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

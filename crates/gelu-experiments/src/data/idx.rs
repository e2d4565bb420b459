//! The IDX format of MNIST: big-endian sizes, then bytes.
//!
//! ```text
//! images: 00 00 08 03 | count | rows | columns | count·rows·columns bytes
//! labels: 00 00 08 01 | count | count bytes
//! ```
//!
//! Files may be plain or gzipped; the content shows which. The reader does not trust the header: it holds no more in
//! memory than the file really contains, and the file must contain exactly what the header says.

use super::Images;
use super::files::{AGAIN, read_bytes};
use crate::{Error, Result};
use gelu_compare::error::Place;
use std::path::Path;

/// The magic number of unsigned bytes in three dimensions.
const IMAGES_MAGIC: [u8; 4] = [0, 0, 8, 3];
/// The magic number of unsigned bytes in one dimension.
const LABELS_MAGIC: [u8; 4] = [0, 0, 8, 1];
/// The largest side of an image, in pixels.
const LARGEST_SIDE: u32 = 4096;

/// Reads images and their classes from two files.
///
/// # Errors
///
/// If a file cannot be read, is not IDX, or contains less or more than its header says, if a class is not below
/// `classes`, or if the two files have different numbers of items.
pub fn read(images: &Path, labels: &Path, classes: usize) -> Result<Images> {
    let (pixels, height, width) = read_images(images)?;
    let classes_read = read_labels(labels, classes)?;
    let count = pixels.len() / (height * width);
    if classes_read.len() != count {
        return Err(Error::data(
            labels,
            Place::File,
            format!(
                "holds {} labels for the {count} images of {}",
                classes_read.len(),
                images.display()
            ),
            "the two files are not of one set",
        ));
    }
    Ok(Images { pixels, channels: 1, height, width, labels: classes_read })
}

/// Reads a file of images: their bytes, rows and columns.
///
/// # Errors
///
/// If [`read`] would fail for this file.
pub fn read_images(path: &Path) -> Result<(Vec<u8>, usize, usize)> {
    let mut bytes = read_bytes(path)?;
    let mut header = Header { path, bytes: &bytes, position: 0 };
    header.magic(IMAGES_MAGIC, "pictures")?;
    let count = header.size("the number of images")?;
    let height = header.side("rows")?;
    let width = header.side("columns")?;
    let content = u64::from(count) * u64::from(height) * u64::from(width);
    let start = header.expect_content(content, "pixels")?;
    // In place, because allocating 47 MB takes longer than moving the bytes.
    bytes.drain(..start);
    Ok((bytes, height as usize, width as usize))
}

/// Reads a file of classes.
///
/// # Errors
///
/// If [`read`] would fail for this file.
pub fn read_labels(path: &Path, classes: usize) -> Result<Vec<u8>> {
    let bytes = read_bytes(path)?;
    let mut header = Header { path, bytes: &bytes, position: 0 };
    header.magic(LABELS_MAGIC, "labels")?;
    let count = header.size("the number of labels")?;
    let start = header.expect_content(u64::from(count), "labels")?;
    let labels = bytes[start..].to_vec();
    if let Some(index) = labels.iter().position(|&label| usize::from(label) >= classes) {
        let problem = format!("label {} is not below {classes}", labels[index]);
        return Err(Error::data(path, Place::Item(index), problem, AGAIN));
    }
    Ok(labels)
}

struct Header<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    position: usize,
}

impl Header<'_> {
    fn refuse<T>(&self, position: usize, problem: String) -> Result<T> {
        Err(Error::data(self.path, Place::Byte(position as u64), problem, AGAIN))
    }

    fn field(&mut self, what: &str) -> Result<[u8; 4]> {
        let field = self.bytes.get(self.position..).and_then(|rest| rest.first_chunk::<4>());
        match field {
            Some(field) => {
                self.position += 4;
                Ok(*field)
            }
            None => self.refuse(self.bytes.len(), format!("the file ends inside {what}")),
        }
    }

    fn magic(&mut self, expected: [u8; 4], what: &str) -> Result<()> {
        let found = self.field("the magic number")?;
        if found == expected {
            return Ok(());
        }
        let hint = match found {
            IMAGES_MAGIC => ": that is a file of images",
            LABELS_MAGIC => ": that is a file of labels",
            _ => "",
        };
        self.refuse(
            0,
            format!("the magic number is {found:02x?}, not {expected:02x?} of {what}{hint}"),
        )
    }

    fn size(&mut self, what: &str) -> Result<u32> {
        let position = self.position;
        match u32::from_be_bytes(self.field(what)?) {
            0 => self.refuse(position, format!("{what} is 0")),
            size => Ok(size),
        }
    }

    fn side(&mut self, what: &str) -> Result<u32> {
        let position = self.position;
        match self.size(&format!("the number of {what}"))? {
            side if side > LARGEST_SIDE => {
                self.refuse(position, format!("{side} {what} are more than {LARGEST_SIDE}"))
            }
            side => Ok(side),
        }
    }

    /// Returns the start of the content, after checking that it is as long as the header says.
    fn expect_content(&self, expected: u64, what: &str) -> Result<usize> {
        let found = (self.bytes.len() - self.position) as u64;
        match found == expected {
            true => Ok(self.position),
            false => self.refuse(
                self.bytes.len().min(self.position + expected.min(found) as usize),
                format!("the header announces {expected} {what}, the file holds {found}"),
            ),
        }
    }
}

/// Returns grey images as the content of an IDX file.
pub fn images_to_bytes(images: &Images) -> Vec<u8> {
    let mut bytes = IMAGES_MAGIC.to_vec();
    for size in [images.len(), images.height, images.width] {
        bytes.extend((size as u32).to_be_bytes());
    }
    bytes.extend(&images.pixels);
    bytes
}

/// Returns classes as the content of an IDX file.
pub fn labels_to_bytes(labels: &[u8]) -> Vec<u8> {
    let mut bytes = LABELS_MAGIC.to_vec();
    bytes.extend((labels.len() as u32).to_be_bytes());
    bytes.extend(labels);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use proptest::prelude::*;
    use std::fs;
    use std::io::Write;

    fn images(count: usize, height: usize, width: usize) -> Images {
        let pixels = (0..count * height * width).map(|i| i as u8).collect();
        let labels = (0..count).map(|i| (i % 10) as u8).collect();
        Images { pixels, channels: 1, height, width, labels }
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// Reads a set from these contents of the two files.
    fn read_from(images: &[u8], labels: &[u8]) -> Result<Images> {
        let folder = tempfile::tempdir().unwrap();
        let (i, l) = (folder.path().join("images"), folder.path().join("labels"));
        fs::write(&i, images).unwrap();
        fs::write(&l, labels).unwrap();
        read(&i, &l, 10)
    }

    fn problem(images: &[u8], labels: &[u8]) -> String {
        read_from(images, labels).unwrap_err().to_string()
    }

    #[test]
    fn plain_and_gzipped_files_are_read() {
        let set = images(12, 4, 3);
        let (i, l) = (images_to_bytes(&set), labels_to_bytes(&set.labels));
        assert_eq!(read_from(&i, &l).unwrap(), set);
        assert_eq!(read_from(&gzip(&i), &gzip(&l)).unwrap(), set);
    }

    #[test]
    fn damage_is_named_with_its_place() {
        let set = images(12, 4, 3);
        let (i, l) = (images_to_bytes(&set), labels_to_bytes(&set.labels));
        let cut = gzip(&i);
        let broken = problem(&cut[..cut.len() / 2], &l);
        assert!(broken.contains("images: the compressed stream is damaged, "), "{broken}");
        assert!(
            problem(&i[..100], &l)
                .contains("byte 100: the header announces 144 pixels, the file holds 84")
        );
        assert!(problem(&i[..10], &l).contains("byte 10: the file ends inside the number of rows"));
        assert!(problem(&[], &l).contains("is empty"));
        assert!(problem(&l, &l).contains("that is a file of labels"));
        let mut trailing = i.clone();
        trailing.push(0);
        assert!(problem(&trailing, &l).contains("byte 160: the header announces 144"));
        let mut wrong = l.clone();
        for label in [10, 11] {
            wrong[8 + 5] = label;
            let expected = format!("item 5: label {label} is not below 10");
            assert!(problem(&i, &wrong).contains(&expected), "{label}");
        }
        assert!(problem(&i, &labels_to_bytes(&set.labels[..11])).contains("11 labels for the 12"));
        let mut none = i;
        none[4..8].fill(0);
        assert!(problem(&none, &l).contains("byte 4: the number of images is 0"));
    }

    #[test]
    fn header_of_two_to_the_32_pictures_allocates_nothing() {
        let mut bytes = images_to_bytes(&images(1, 28, 28));
        bytes[4..8].fill(0xff);
        assert!(problem(&bytes, &[]).contains("announces 3367254359280 pixels"));
        bytes[8..16].fill(0xff);
        assert!(problem(&bytes, &[]).contains("4294967295 rows"));
    }

    proptest! {
        #[test]
        fn written_sets_are_read_back(count in 1usize..20, height in 1usize..6, width in 1usize..6) {
            let set = images(count, height, width);
            let read = read_from(&images_to_bytes(&set), &labels_to_bytes(&set.labels));
            prop_assert_eq!(read.unwrap(), set);
        }

        #[test]
        fn arbitrary_bytes_never_panic(mut bytes: Vec<u8>, magic: bool, squeeze: bool) {
            if magic {
                bytes.splice(0..0, IMAGES_MAGIC);
            }
            let file = if squeeze { gzip(&bytes) } else { bytes };
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            fs::write(&path, file).unwrap();
            let _ = read_images(&path);
            let _ = read_labels(&path, 10);
        }
    }
}

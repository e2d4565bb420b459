use super::inputs::Pixels;
use crate::{Error, Result};
use burn::tensor::{Device, Tensor, TensorData};
use gelu_learner::networks::TestGroups;
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;

use super::{DataSource, Examples};

/// Images of one size, each with its class, as bytes on the host.
///
/// # Shapes
///
/// - `pixels`: `[images, channels, height, width]`, flat
/// - `labels`: `[images]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Images {
    /// One image after the other, channel by channel, row-major.
    #[serde(with = "serde_bytes")]
    pub pixels: Vec<u8>,
    /// 1 for grey, 3 for red, green and blue.
    pub channels: usize,
    /// Rows of an image.
    pub height: usize,
    /// Columns of an image.
    pub width: usize,
    /// The class of each image.
    #[serde(with = "serde_bytes")]
    pub labels: Vec<u8>,
}

impl Images {
    /// Returns the number of images.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Returns whether there are no images.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Returns the bytes of one image, which are the features of an input.
    pub fn features(&self) -> usize {
        self.channels * self.height * self.width
    }

    /// Returns the test groups: each image is a group of its own.
    pub fn sampled(&self) -> TestGroups {
        TestGroups::singles(self.len())
    }

    /// Returns the images of a range, as far as they exist; borrows if these are all images.
    pub fn part(&self, range: Range<usize>) -> Cow<'_, Self> {
        let end = range.end.min(self.len());
        let start = range.start.min(end);
        if end - start == self.len() {
            return Cow::Borrowed(self);
        }
        let features = self.features();
        Cow::Owned(Self {
            pixels: self.pixels[start * features..end * features].to_vec(),
            labels: self.labels[start..end].to_vec(),
            ..*self
        })
    }

    /// Splits off the last `count` images.
    ///
    /// # Panics
    ///
    /// If there are fewer images.
    pub fn split_last(mut self, count: usize) -> (Self, Self) {
        let kept = self.len() - count;
        let last = Self {
            pixels: self.pixels.split_off(kept * self.features()),
            labels: self.labels.split_off(kept),
            ..self
        };
        (self, last)
    }

    /// Returns the images as inputs of a network, on a device.
    pub fn to_examples(&self, pixels: Pixels, device: &Device) -> Examples {
        let inputs: Vec<f32> = self.pixels.iter().map(|&byte| pixels.scale(byte)).collect();
        let labels: Vec<i32> = self.labels.iter().map(|&label| i32::from(label)).collect();
        let inputs = TensorData::new(inputs, [self.len(), self.features()]);
        Examples {
            inputs: Tensor::<2>::from_data(inputs, device).into(),
            labels: Tensor::from_data(TensorData::new(labels, [self.len()]), device),
            targets: None,
        }
    }
}

/// Serializes a source without its location, because another process may read the same data elsewhere.
pub(super) fn without_location<S: Serializer>(
    source: &DataSource,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    DataSource { location: None, ..source.clone() }.serialize(serializer)
}

/// A data set of images in its two usual splits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImageSet {
    /// The images for training (and validation).
    pub train: Images,
    /// The test images.
    pub test: Images,
    /// Number of classes; every label is below it.
    pub classes: usize,
    /// The source of the images.
    #[serde(serialize_with = "without_location")]
    pub source: DataSource,
    /// The names of the classes, by their numbers, if the set's folders name them.
    #[serde(skip)]
    pub names: Vec<String>,
    /// The number of images, at the end of `train`, that have their own validation folder.
    #[serde(skip)]
    pub set_aside: usize,
    /// Sentences about how the folders were read.
    #[serde(skip)]
    pub notes: Vec<String>,
}

impl ImageSet {
    /// Creates a data set and computes its fingerprint.
    ///
    /// # Errors
    ///
    /// If the images of the two splits differ in size.
    pub fn new(
        name: &str,
        location: Option<PathBuf>,
        synthetic: bool,
        classes: usize,
        train: Images,
        test: Images,
    ) -> Result<Self> {
        let size = |images: &Images| {
            let Images { channels, height, width, .. } = images;
            format!("{width}×{height} pixels and {channels} channels")
        };
        let (of_train, of_test) = (size(&train), size(&test));
        if of_train != of_test {
            return Err(Error::Usage(format!(
                "the training images of {name} have {of_train}, the test images {of_test}"
            )));
        }
        let counts = [&train, &test].map(|part| (part.len() as u64).to_le_bytes());
        let content: [&[u8]; 6] =
            [&counts[0], &train.pixels, &train.labels, &counts[1], &test.pixels, &test.labels];
        let source = DataSource::new(name, location, synthetic, content);
        Ok(Self {
            train,
            test,
            classes,
            source,
            names: Vec::new(),
            set_aside: 0,
            notes: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images(count: u8) -> Images {
        let pixels = (0..count).flat_map(|i| [i, i, i, 255, 0, i]).collect();
        Images { pixels, channels: 1, height: 2, width: 3, labels: (0..count).collect() }
    }

    #[test]
    fn splitting_keeps_pictures_with_their_labels() {
        let (first, last) = images(5).split_last(2);
        assert_eq!([first.labels, last.labels.clone()], [vec![0, 1, 2], vec![3, 4]]);
        assert_eq!(last.pixels[..6], [3, 3, 3, 255, 0, 3]);
        let five = images(5);
        assert_eq!(*five.part(0..2), images(2));
        assert_eq!(*five.part(3..9), last);
        assert!(five.part(5..9).is_empty() && five.part(7..9).is_empty());
        assert!(matches!(five.part(0..9), Cow::Borrowed(_)));
    }

    /// The message gives width before height, as image programs do.
    #[test]
    fn sizes_that_differ_are_named() {
        let turned = Images { height: 3, width: 2, ..images(3) };
        let error = ImageSet::new("x", None, true, 10, images(3), turned).unwrap_err().to_string();
        assert!(error.contains("have 3×2 pixels and 1 channels, the test images 2×3"), "{error}");
        let set = ImageSet::new("x", None, true, 10, images(3), images(2)).unwrap();
        let said = crate::data::DataSet::from(set).describe();
        assert!(said.contains("images of 3×2 pixels, "), "{said}");
    }

    #[test]
    fn pixels_are_scaled_as_the_recipe_says() {
        let device = Device::default();
        let scaled = |pixels| images(1).to_examples(pixels, &device).inputs.numbers().into_data();
        let unit = scaled(Pixels::ZeroToOne).try_to_vec::<f32>().unwrap();
        assert_eq!(unit, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        let signed = scaled(Pixels::MinusOneToOne).try_to_vec::<f32>().unwrap();
        assert_eq!(signed, [-1.0, -1.0, -1.0, 1.0, -1.0, -1.0]);
    }

    #[test]
    fn fingerprint_changes_with_any_byte() {
        let of = |train: Images| {
            ImageSet::new("x", None, true, 10, train, images(2)).unwrap().source.fingerprint
        };
        let mut changed = images(3);
        changed.pixels[7] ^= 1;
        assert_eq!(of(images(3)), of(images(3)));
        assert_ne!(of(images(3)), of(changed));
    }
}

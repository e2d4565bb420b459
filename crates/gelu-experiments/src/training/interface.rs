//! The conversion of inputs and outputs around a trained network.

use super::input_reader::InputReader;
use super::large_reader::LargeReader;
use super::presentation::Presentation;
use crate::data::{Images, Points, Rows, Samples, WindowReader, pictures};
use crate::{Error, Result};
use burn::tensor::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The sizes of a network's inputs and outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Numbers per input.
    pub features: usize,
    /// Number of classes.
    pub classes: usize,
    /// Channels, height and width of an image; `None` if there are no images.
    pub picture: Option<[usize; 3]>,
}

/// The information, besides a run's setting and parameters, that prediction needs. It is saved with the parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interface {
    /// The sizes of inputs and outputs.
    pub shape: Shape,
    /// The names of the classes, by their numbers.
    pub names: Vec<String>,
    /// Converts an input; `None` in runs of an older version that whiten images or look up word vectors.
    pub reader: Option<InputReader>,
}

impl Interface {
    /// Returns the examples of an input, on the device; for a text, windows of at most `context` characters. `large`
    /// is the content of the shared file.
    ///
    /// # Errors
    ///
    /// If the input is not of the kind that the network was trained on.
    ///
    /// # Panics
    ///
    /// If there is no reader, or `large` is missing for a shared reader.
    pub(super) fn read(
        &self,
        input: &str,
        context: Option<usize>,
        large: Option<LargeReader>,
        device: &Device,
    ) -> Result<Samples> {
        match self.reader.as_ref().expect("it has a reader") {
            InputReader::Picture { size, pixels, mean } => {
                let mean = mean.as_ref().map(|mean| {
                    let mean = TensorData::new(mean.clone(), [1, mean.len()]);
                    Tensor::from_data(mean, device)
                });
                let picture = self.picture(Path::new(input), *size)?;
                Ok(Presentation::with_mean(*pixels, mean).present(&picture, device))
            }
            InputReader::Quantity { reader, .. } => {
                let row = reader.read(input)?;
                let (inputs, width) = (row.inputs(0..row.len()), row.features());
                let numbers = Some(vec![0.0; row.len()]);
                let rows = Rows { inputs, width, labels: row.labels().to_vec(), numbers };
                Ok(Samples::of_rows(&rows, device))
            }
            InputReader::Windows(reader) => {
                Ok(Samples::of_windows(&reader.read(input)?, false, device))
            }
            InputReader::Text(vocabulary) => {
                let numbers = numbered(vocabulary, input)?;
                let context = context.unwrap_or(1).min(numbers.len().saturating_sub(1));
                if context == 0 {
                    let problem = "a loss is of characters that follow others; give at least two";
                    return Err(Error::Usage(problem.to_owned()));
                }
                Ok(Samples::of_text(&numbers, context, device))
            }
            InputReader::Point { variables, .. } => {
                let points = Points::parse(input, *variables)?;
                Ok(Samples::of_points(&points, vec![0.0], device))
            }
            InputReader::Shared { .. } => match large.expect("its file was read") {
                LargeReader::Picture { size, pixels, whitening } => {
                    let picture = self.picture(Path::new(input), size)?;
                    let presentation = Presentation::whitened(pixels, whitening, device);
                    Ok(presentation.present(&picture, device))
                }
                LargeReader::AxisWords(vectors) => {
                    let windows = WindowReader::AxisWords(vectors).read(input)?;
                    Ok(Samples::of_windows(&windows, false, device))
                }
            },
        }
    }

    /// Reads an image file, and checks that it has the size and the colours of the training images.
    fn picture(&self, path: &Path, size: Option<usize>) -> Result<Images> {
        let read = pictures::read_one(path, size)?;
        let [channels, height, width] = self.shape.picture.expect("it is a network of images");
        if [read.height, read.width] != [height, width] {
            return Err(Error::Usage(format!(
                "{} has {}×{} pixels, and the network was trained on {width}×{height}; scale the image to that \
                 size",
                path.display(),
                read.width,
                read.height
            )));
        }
        match (read.channels, channels) {
            (found, wanted) if found == wanted => Ok(read),
            (1, wanted) => {
                Ok(Images { pixels: read.pixels.repeat(wanted), channels: wanted, ..read })
            }
            _ => Err(Error::Usage(format!(
                "{} has colours, and the network was trained on grey images; convert it, for example with \
                 `magick PICTURE -colorspace gray GREY`",
                path.display()
            ))),
        }
    }
}

/// Returns the numbers of a text's characters in the network's vocabulary.
pub(super) fn numbered(vocabulary: &str, text: &str) -> Result<Vec<u32>> {
    let known: Vec<char> = vocabulary.chars().collect();
    let number = |c: char| match known.binary_search(&c) {
        Ok(number) => Ok(number as u32),
        Err(_) => Err(Error::Usage(format!(
            "the text has {c:?}, which does not occur in the text that the network was trained on; leave it out"
        ))),
    };
    text.chars().map(number).collect()
}

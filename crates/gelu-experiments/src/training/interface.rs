//! What stands before and behind a trained network.

use super::large_reader::LargeReader;
use super::presentation::Presentation;
use crate::data::points::Scale;
use crate::data::{Images, Pixels, Points, Rows, Samples, WindowReader, pictures};
use crate::{Error, Result};
use burn::tensor::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The sizes of a network's inputs and outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Numbers of an input.
    pub features: usize,
    /// Number of classes.
    pub classes: usize,
    /// Channels, height and width of a picture; `None` where there are none.
    pub picture: Option<[usize; 3]>,
}

/// What predicting needs beside a run's setting and its parameters. It is saved with them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interface {
    /// The sizes of inputs and outputs.
    pub shape: Shape,
    /// The names of the classes, by their numbers.
    pub names: Vec<String>,
    /// How an input is read; `None` in runs of an older version that whiten pictures or look up word vectors.
    pub reader: Option<InputReader>,
}

/// How an input becomes what the network was trained on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputReader {
    /// The file of a picture.
    Picture {
        /// The side of the square that it is scaled to.
        size: Option<usize>,
        /// How its bytes are scaled.
        pixels: Pixels,
        /// What is taken out of each scaled picture: the mean of those trained on.
        mean: Option<Vec<f32>>,
    },
    /// The row of a table, or the file of a recording.
    Windows(WindowReader),
    /// The row of a table, of which a number is predicted.
    Quantity {
        /// How its cells are read.
        reader: WindowReader,
        /// What the numbers are measured in.
        scale: Scale,
    },
    /// A text of these characters, by their numbers.
    Text(String),
    /// The coordinates of a point, in a formula's unit.
    Point {
        /// How many.
        variables: usize,
        /// What the formula's values are measured in.
        scale: Scale,
    },
    /// A picture that is whitened, or words that have vectors. How is larger than most networks, so the runs of a
    /// comparison share a file of it.
    Shared {
        /// The file in the folder `readers` of the comparison.
        file: String,
    },
}

impl Interface {
    /// Returns the examples that an input is, on the device; of a text, windows of at most `context` characters.
    /// `large` is what a shared file holds.
    ///
    /// # Errors
    ///
    /// When the input is none of the kind that the network was trained on.
    ///
    /// # Panics
    ///
    /// Without a reader, or without what its file holds.
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
                LargeReader::Words(vectors) => {
                    let windows = WindowReader::Words(vectors).read(input)?;
                    Ok(Samples::of_windows(&windows, false, device))
                }
            },
        }
    }

    /// The picture of a file, of the size and the colours of those that were trained on.
    fn picture(&self, path: &Path, size: Option<usize>) -> Result<Images> {
        let read = pictures::read_one(path, size)?;
        let [channels, height, width] = self.shape.picture.expect("it is a network of pictures");
        if [read.height, read.width] != [height, width] {
            return Err(Error::Usage(format!(
                "{} has {}×{} pixels, and the network was trained on {width}×{height}; scale the picture to that \
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
                "{} has colours, and the network was trained on grey pictures; convert it, for example with \
                 `magick PICTURE -colorspace gray GREY`",
                path.display()
            ))),
        }
    }
}

/// The numbers of a text's characters, by the characters that the network knows.
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

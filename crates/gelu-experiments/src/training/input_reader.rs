//! How an input becomes what a trained network reads. It is saved with the network.

use crate::data::points::Scale;
use crate::data::{Pixels, WindowReader};
use serde::{Deserialize, Serialize};

/// The conversion of an input into the form that the network was trained on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputReader {
    /// An image file.
    Picture {
        /// The side of the square to which the image is scaled.
        size: Option<usize>,
        /// The scaling of the bytes.
        pixels: Pixels,
        /// The mean of the scaled training images, which is subtracted.
        mean: Option<Vec<f32>>,
    },
    /// The row of a table, or the file of a recording.
    Windows(WindowReader),
    /// The row of a table, for which a number is predicted.
    Quantity {
        /// Reads the cells.
        reader: WindowReader,
        /// The scale of the numbers.
        scale: Scale,
    },
    /// A text of these characters; a character's number is its index.
    Text(String),
    /// The coordinates of a point, for a formula.
    Point {
        /// The number of coordinates.
        variables: usize,
        /// The scale of the formula's values.
        scale: Scale,
    },
    /// An image to whiten, or words to look up. The data for this are larger than most networks, so the runs of a
    /// comparison share a file of them.
    Shared {
        /// The name of the file in the comparison's folder `readers`.
        file: String,
    },
}

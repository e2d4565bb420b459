//! Decoded images of one size.

use super::decode;
use crate::{Error, Result};
use gelu_compare::error::Place;
use image::DynamicImage;
use image::imageops::FilterType;
use std::path::Path;

/// The largest size of all images together, in bytes.
const MOST_PIXELS: usize = 2 << 30;

/// Images of one size, one after the other.
#[derive(Default)]
pub(super) struct Pixels {
    size: Option<usize>,
    pub(super) height: usize,
    pub(super) width: usize,
    /// Red, green and blue of every pixel.
    interleaved: Vec<u8>,
    coloured: bool,
}

impl Pixels {
    /// Creates an empty collection; with `size`, each image is scaled to this many pixels per side.
    pub(super) fn new(size: Option<usize>) -> Self {
        Self { size, ..Self::default() }
    }

    pub(super) fn push(&mut self, path: &Path, bytes: &[u8]) -> Result<()> {
        let refuse =
            |problem: String, advice: &str| Err(Error::data(path, Place::File, problem, advice));
        let decoded = decode(path, bytes, self.size)?;
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
                    "has {width}×{height} pixels, the images before it {}×{}",
                    self.width, self.height
                ),
                "`size = N` in the recipe's data scales all to N×N",
            );
        }
        if self.interleaved.len() + 3 * height * width > MOST_PIXELS {
            return refuse(
                "with it the images take more than 2 GiB".to_owned(),
                "`size = N` in the recipe's data makes them smaller",
            );
        }
        self.interleaved.extend(picture.into_rgb8().into_raw());
        Ok(())
    }

    pub(super) fn channels(&self) -> usize {
        if self.coloured { 3 } else { 1 }
    }

    /// Returns each image's channels one after the other.
    pub(super) fn planes(self) -> Vec<u8> {
        let mut planes = Vec::with_capacity(self.interleaved.len() / 3 * self.channels());
        for picture in self.interleaved.chunks_exact((3 * self.height * self.width).max(1)) {
            for channel in 0..self.channels() {
                planes.extend(picture.iter().skip(channel).step_by(3));
            }
        }
        planes
    }
}

/// Returns the largest square in the centre of an image.
fn middle(picture: &DynamicImage) -> DynamicImage {
    let (width, height) = (picture.width(), picture.height());
    let side = width.min(height);
    picture.crop_imm((width - side) / 2, (height - side) / 2, side, side)
}

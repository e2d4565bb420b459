use serde::{Deserialize, Serialize};

/// The conversion of a pixel's byte into a network's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pixels {
    /// `x / 255`: 0 to 1.
    ZeroToOne,
    /// `x / 127.5 − 1`: −1 to 1.
    MinusOneToOne,
    /// `(x − 127.5) / 128`: just inside −1 to 1.
    Centred,
}

impl Pixels {
    /// Returns the input for a byte.
    pub fn scale(self, byte: u8) -> f32 {
        let x = f32::from(byte);
        match self {
            Self::ZeroToOne => x / 255.0,
            Self::MinusOneToOne => x / 127.5 - 1.0,
            Self::Centred => (x - 127.5) / 128.0,
        }
    }
}

/// A normalisation that is fitted to the training images (without validation, before any limit) and applied to every
/// image.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Normalisation {
    /// Subtracts the mean training image, pixel by pixel.
    MeanPicture,
    /// ZCA whitening, [`gelu_models::Zca`].
    Zca {
        /// The number added to every eigenvalue of the covariance.
        regulariser: f64,
    },
}

/// The augmentation of the training images. It depends only on the run's seed and the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Augmentation {
    /// Whether an epoch has every image and its mirror image, which doubles the number of images.
    #[serde(default)]
    pub mirrored: bool,
    /// Whether an image and its mirror image alternate from epoch to epoch. Which one comes first is random for each
    /// image (Jordan, arXiv 2404.00498, section 3.6).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flips: bool,
    /// The width of the border of zeros added to each image before a random crop to its original size.
    pub crop_padding: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_span_what_their_names_say() {
        let ends = |pixels: Pixels| (pixels.scale(0), pixels.scale(255));
        assert_eq!(ends(Pixels::ZeroToOne), (0.0, 1.0));
        assert_eq!(ends(Pixels::MinusOneToOne), (-1.0, 1.0));
        assert_eq!(ends(Pixels::Centred), (-127.5 / 128.0, 127.5 / 128.0));
    }
}

use serde::{Deserialize, Serialize};

/// How a pixel's byte becomes a network's input.
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
    /// The input that a byte becomes.
    pub fn scale(self, byte: u8) -> f32 {
        let x = f32::from(byte);
        match self {
            Self::ZeroToOne => x / 255.0,
            Self::MinusOneToOne => x / 127.5 - 1.0,
            Self::Centred => (x - 127.5) / 128.0,
        }
    }
}

/// What is fitted to the training pictures (validation left out, before any limit) and applied to
/// every picture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Normalisation {
    /// The mean training picture is subtracted, pixel by pixel.
    MeanPicture,
    /// ZCA whitening, [`gelu_models::Zca`].
    Zca {
        /// Added to every eigenvalue of the covariance.
        regulariser: f64,
    },
}

/// How the training pictures are varied. What becomes of a picture is a function of the run's seed
/// and the epoch alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Augmentation {
    /// Whether an epoch shows every picture and its mirror image: twice as many.
    #[serde(default)]
    pub mirrored: bool,
    /// Whether a picture and its mirror image take turns, epoch by epoch. Which is shown first is drawn for
    /// each (Jordan, arXiv 2404.00498, section 3.6).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flips: bool,
    /// Each picture is surrounded by so many zeros and cut out again at a random place.
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

use crate::{Error, Result};
use realfft::{RealFftPlanner, RealToComplex};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use std::fmt;
use std::sync::Arc;

/// Numbers per frame: 12 cepstral coefficients and the log energy, then their derivatives.
pub const COEFFICIENTS: usize = 26;

/// Number of coefficients without derivatives.
const STATIC: usize = COEFFICIENTS / 2;
const CEPSTRAL: usize = STATIC - 1;
const FILTERS: usize = 26;
const PRE_EMPHASIS: f64 = 0.97;
const LIFTER: f64 = 22.0;
/// Number of frames on either side that a derivative uses.
const REGRESSION: isize = 2;
/// Smallest value before a logarithm, in units of a 16-bit sample, so that silence has a logarithm.
const FLOOR: f64 = 1.0;
/// Sample rates for which 26 filters and frames of 25 ms are reasonable.
const RATES: std::ops::RangeInclusive<u32> = 4_000..=96_000;

/// Turns sound into frames of mel-frequency cepstral coefficients, like HTK's `MFCC_E_D`.
///
/// `s` are the samples (16-bit integers) of a frame of 25 ms. There is a frame every 10 ms, as long as it ends within
/// the sound.
///
/// 1. `e = ln Σ sₙ²`: the log energy.
/// 2. `sₙ ← sₙ − 0.97 sₙ₋₁`, with `s₋₁ = s₀`; times the Hamming window `0.54 − 0.46 cos(2πn/(N−1))`.
/// 3. Magnitudes of the Fourier transform, padded with zeros to a power of two.
/// 4. 26 triangular filters, evenly spaced from 0 to half the rate on the mel scale
///    `1127 ln(1 + f/700)` and linear on it; the natural logarithms `mⱼ` of their outputs.
/// 5. `cᵢ = √(2/26) Σⱼ mⱼ cos(πi(j − ½)/26)`, i = 1…12, lifted by `1 + 11 sin(πi/22)`.
/// 6. Derivatives of `c₁…c₁₂, e` by regression over two frames on either side, the edge frames
///    repeated: `dₜ = Σ θ(xₜ₊θ − xₜ₋θ) / 10`, θ = 1, 2.
///
/// Energies and filter outputs below 1 count as 1. The energy is not normalised per utterance; instead, every
/// coefficient is normalised over the training set ([`Normalisation`]).
///
/// Young et al., The HTK Book 3.4, sections 5.2, 5.4, 5.6, 5.8 and 5.9.
#[derive(Clone)]
pub struct Analysis {
    window: usize,
    step: usize,
    hamming: Vec<f64>,
    fourier: Arc<dyn RealToComplex<f64>>,
    /// For each frequency, the index of a filter and the filter's share; the next filter gets the rest.
    filters: Vec<(usize, f64)>,
    /// `[CEPSTRAL, FILTERS]`, lifted.
    cosines: Vec<f64>,
}

impl fmt::Debug for Analysis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Analysis").field("window", &self.window).field("step", &self.step).finish()
    }
}

impl Analysis {
    /// Version of the analysis. Increase it when the coefficients, the examples made from frames, or the cached data
    /// change.
    pub const VERSION: u32 = 3;

    /// Creates the analysis for sound of `rate` samples per second.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] for rates outside 4 to 96 kHz.
    pub fn new(rate: u32) -> Result<Self> {
        if !RATES.contains(&rate) {
            let (low, high) = (RATES.start(), RATES.end());
            return Err(Error::Usage(format!(
                "{rate} samples a second: speech is analysed at {low} to {high}"
            )));
        }
        let window = (rate as usize * 25).div_ceil(1000);
        let step = rate as usize / 100;
        let length = window.next_power_of_two();
        let turn = 2.0 * PI / (window - 1) as f64;
        Ok(Self {
            window,
            step,
            hamming: (0..window).map(|n| 0.54 - 0.46 * (turn * n as f64).cos()).collect(),
            fourier: RealFftPlanner::new().plan_fft_forward(length),
            filters: filters(length, rate),
            cosines: lifted_cosines(),
        })
    }

    /// Returns the number of samples in a frame.
    pub fn window(&self) -> usize {
        self.window
    }

    /// Returns the number of whole frames in a sound of `samples` samples.
    pub fn frames(&self, samples: usize) -> usize {
        match samples.checked_sub(self.window) {
            Some(rest) => 1 + rest / self.step,
            None => 0,
        }
    }

    /// Returns the sample in the middle of a frame.
    pub fn centre(&self, frame: usize) -> u64 {
        (frame * self.step + self.window / 2) as u64
    }

    /// Returns the frames of a sound, `[frames, COEFFICIENTS]`, flat.
    pub fn coefficients(&self, samples: &[i16]) -> Vec<f32> {
        let mut frame = self.fourier.make_input_vec();
        let mut spectrum = self.fourier.make_output_vec();
        let mut scratch = self.fourier.make_scratch_vec();
        let mut statics: Vec<[f64; STATIC]> = Vec::with_capacity(self.frames(samples.len()));
        for index in 0..self.frames(samples.len()) {
            let start = index * self.step;
            let sound = &samples[start..start + self.window];
            let energy: f64 = sound.iter().map(|&s| f64::from(s) * f64::from(s)).sum();
            self.shape(sound, &mut frame);
            self.fourier
                .process_with_scratch(&mut frame, &mut spectrum, &mut scratch)
                .expect("the buffers were made for this transform");
            let logs = self.filtered(spectrum.iter().map(|value| value.norm())).map(logarithm);
            let mut row = [0.0; STATIC];
            for (value, cosines) in row.iter_mut().zip(self.cosines.chunks_exact(FILTERS)) {
                *value = cosines.iter().zip(&logs).map(|(cosine, log)| cosine * log).sum();
            }
            row[CEPSTRAL] = logarithm(energy);
            statics.push(row);
        }
        with_derivatives(&statics)
    }

    /// Applies pre-emphasis and the window to a frame, and writes it into the (longer) input of the Fourier
    /// transform.
    fn shape(&self, sound: &[i16], frame: &mut [f64]) {
        frame.fill(0.0);
        let mut before = f64::from(sound[0]);
        for ((value, &sample), weight) in frame.iter_mut().zip(sound).zip(&self.hamming) {
            let sample = f64::from(sample);
            *value = weight * (sample - PRE_EMPHASIS * before);
            before = sample;
        }
    }

    fn filtered(&self, magnitudes: impl Iterator<Item = f64>) -> [f64; FILTERS] {
        // Filters 0 and FILTERS + 1 are the outer edges of the first and the last filter.
        let mut outputs = [0.0; FILTERS + 2];
        for (magnitude, &(filter, share)) in magnitudes.zip(&self.filters) {
            outputs[filter] += share * magnitude;
            outputs[filter + 1] += (1.0 - share) * magnitude;
        }
        std::array::from_fn(|filter| outputs[filter + 1])
    }
}

fn logarithm(value: f64) -> f64 {
    value.max(FLOOR).ln()
}

/// Returns the two filters that share each frequency of a transform of `length` samples; see [`Analysis`].
fn filters(length: usize, rate: u32) -> Vec<(usize, f64)> {
    let mel = |frequency: f64| 1127.0 * (1.0 + frequency / 700.0).ln();
    let distance = mel(f64::from(rate) / 2.0) / (FILTERS + 1) as f64;
    let shares = (0..=length / 2).map(|bin| {
        let position = mel(bin as f64 * f64::from(rate) / length as f64) / distance;
        let filter = (position as usize).min(FILTERS);
        (filter, filter as f64 + 1.0 - position)
    });
    shares.collect()
}

fn lifted_cosines() -> Vec<f64> {
    let mut cosines = Vec::with_capacity(CEPSTRAL * FILTERS);
    for i in 1..=CEPSTRAL {
        let lift = 1.0 + LIFTER / 2.0 * (PI * i as f64 / LIFTER).sin();
        for j in 0..FILTERS {
            let angle = PI * i as f64 * (j as f64 + 0.5) / FILTERS as f64;
            cosines.push(lift * (2.0 / FILTERS as f64).sqrt() * angle.cos());
        }
    }
    cosines
}

fn with_derivatives(statics: &[[f64; STATIC]]) -> Vec<f32> {
    let mut coefficients = Vec::with_capacity(statics.len() * COEFFICIENTS);
    let last = statics.len() as isize - 1;
    let at = |frame: isize| &statics[frame.clamp(0, last) as usize];
    let norm: isize = (1..=REGRESSION).map(|theta| 2 * theta * theta).sum();
    for frame in 0..statics.len() as isize {
        coefficients.extend(at(frame).map(|value| value as f32));
        for index in 0..STATIC {
            let differences = (1..=REGRESSION)
                .map(|theta| theta as f64 * (at(frame + theta)[index] - at(frame - theta)[index]));
            coefficients.push((differences.sum::<f64>() / norm as f64) as f32);
        }
    }
    coefficients
}

/// Mean and standard deviation of each coefficient over the training set, used to normalise every set.
///
/// (The paper's code subtracts the mean of its validation and test sets twice. We take this for a mistake and do not
/// repeat it.)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Normalisation {
    mean: [f64; COEFFICIENTS],
    deviation: [f64; COEFFICIENTS],
}

impl Normalisation {
    /// Measures frames, `[frames, COEFFICIENTS]`, flat. The deviation is that of the frames themselves (divided by
    /// their number); it is 1 for a coefficient that never changes.
    ///
    /// # Panics
    ///
    /// If there are no frames, or if a frame is incomplete.
    pub fn fit(frames: &[f32]) -> Self {
        assert!(!frames.is_empty(), "a mean needs a frame");
        assert!(frames.len().is_multiple_of(COEFFICIENTS), "frames are whole");
        let frames = frames.as_chunks::<COEFFICIENTS>().0;
        let count = frames.len() as f64;
        // Summing distances from the first frame gives exactly 0 for a coefficient that never changes.
        let mut mean = frames[0].map(f64::from);
        for frame in frames {
            for ((sum, &value), &first) in mean.iter_mut().zip(frame).zip(&frames[0]) {
                *sum += (f64::from(value) - f64::from(first)) / count;
            }
        }
        let mut variance = [0.0; COEFFICIENTS];
        for frame in frames {
            for ((sum, mean), &value) in variance.iter_mut().zip(&mean).zip(frame) {
                *sum += (f64::from(value) - mean).powi(2) / count;
            }
        }
        let deviation = variance.map(|value| if value > 0.0 { value.sqrt() } else { 1.0 });
        Self { mean, deviation }
    }

    /// Subtracts the mean from frames and divides them by the deviation, in place.
    ///
    /// # Panics
    ///
    /// If a frame is incomplete.
    pub fn apply(&self, frames: &mut [f32]) {
        let (frames, rest) = frames.as_chunks_mut::<COEFFICIENTS>();
        assert!(rest.is_empty(), "frames are whole");
        for frame in frames {
            for ((value, mean), deviation) in frame.iter_mut().zip(&self.mean).zip(&self.deviation)
            {
                *value = ((f64::from(*value) - mean) / deviation) as f32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_lie_whole_in_the_sound() {
        let analysis = Analysis::new(16_000).unwrap();
        assert_eq!(
            [0, 399, 400, 559, 560, 16_000].map(|n| analysis.frames(n)),
            [0, 0, 1, 1, 2, 98]
        );
        assert_eq!((analysis.centre(0), analysis.centre(3)), (200, 680));
        assert_eq!(analysis.coefficients(&[5; 700]).len(), 2 * COEFFICIENTS);
        assert!(analysis.coefficients(&[5; 399]).is_empty());
        assert_eq!(Analysis::new(8_000).unwrap().frames(1_148), 12);
    }

    #[test]
    fn every_rate_is_analysed_or_refused() {
        for rate in [4_000, 8_000, 11_025, 16_000, 22_050, 44_100, 96_000] {
            let analysis = Analysis::new(rate).unwrap();
            let sound: Vec<i16> = (0..analysis.window() as i16).map(|n| n * 7 % 301).collect();
            assert!(analysis.coefficients(&sound).iter().all(|value| value.is_finite()));
        }
        for rate in [0, 1, 3_999, u32::MAX] {
            assert!(Analysis::new(rate).unwrap_err().to_string().contains("4000 to 96000"));
        }
    }

    #[test]
    fn silence_and_the_loudest_sound_are_finite() {
        let analysis = Analysis::new(8_000).unwrap();
        let silence = analysis.coefficients(&[0; 400]);
        assert!(silence.iter().all(|&value| value.abs() < 1e-4), "{silence:?}");
        let square: Vec<i16> = (0..400).map(|n| [i16::MIN, i16::MAX][n / 3 % 2]).collect();
        let loud = analysis.coefficients(&square);
        assert!(loud.iter().all(|value| value.is_finite()));
        // ln(200 · 32768²) = 26.092…
        assert!((loud[CEPSTRAL] - 26.0927).abs() < 1e-3, "{}", loud[CEPSTRAL]);
    }

    #[test]
    fn neighbouring_filters_share_each_frequency_out() {
        let shares = filters(512, 16_000);
        assert_eq!(shares.len(), 257);
        assert_eq!(shares[0], (0, 1.0));
        assert!(
            shares
                .iter()
                .all(|&(filter, share)| filter <= FILTERS && share <= 1.0 && share > -1e-9)
        );
        assert!(shares.is_sorted_by_key(|&(filter, _)| filter));
        assert!((0..=FILTERS).all(|filter| shares.iter().any(|&(f, _)| f == filter)));
    }

    #[test]
    fn normalised_frames_have_mean_zero_and_deviation_one() {
        let mut frames: Vec<f32> = (0..100 * COEFFICIENTS)
            .map(|i| if i % COEFFICIENTS == 3 { 7.5 } else { (i * i % 97) as f32 * 3.0 + 1e3 })
            .collect();
        Normalisation::fit(&frames).apply(&mut frames);
        let again = Normalisation::fit(&frames);
        assert!(again.mean.iter().all(|mean| mean.abs() < 1e-5));
        assert_eq!(frames[3], 0.0, "a constant coefficient becomes 0");
        assert!(again.deviation.iter().all(|deviation| (deviation - 1.0).abs() < 1e-5));
    }
}

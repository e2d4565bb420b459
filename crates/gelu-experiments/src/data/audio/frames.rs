//! Frames of recordings as examples: each frame with its neighbours, and the label at its centre.

use super::super::{DataSource, WindowReader, WindowSet, Windows};
use super::{Analysis, COEFFICIENTS, Normalisation, Recording};
use crate::{Error, Result};
use gelu_compare::error::Place;
use std::num::NonZero;
use std::path::Path;
use std::thread::ScopedJoinHandle;

/// Number of frames in an example: the labelled frame, and five on either side.
pub const WINDOW: usize = 11;
const SIDE: usize = WINDOW / 2;

/// The frames of some recordings and their labels.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    /// `[frames, COEFFICIENTS]`, flat.
    coefficients: Vec<f32>,
    /// One label per frame. A frame without a label is not an example, but a neighbour in other examples.
    labels: Vec<Option<u8>>,
    /// The end of each recording, as a frame index.
    ends: Vec<usize>,
}

impl Frames {
    /// Adds a recording; `label` returns the label of a sample, and error messages name `path`.
    ///
    /// # Errors
    ///
    /// If the recording is shorter than one frame.
    pub fn push(
        &mut self,
        path: &Path,
        recording: &Recording,
        analysis: &Analysis,
        label: impl Fn(u64) -> Option<u8>,
    ) -> Result<()> {
        let frames = analysis.frames(recording.samples.len());
        if frames == 0 {
            let problem = format!(
                "has {} samples, less than the {} of one frame",
                recording.samples.len(),
                analysis.window()
            );
            return Err(Error::data(path, Place::File, problem, "take the recording out"));
        }
        self.coefficients.extend(analysis.coefficients(&recording.samples));
        self.labels.extend((0..frames).map(|frame| label(analysis.centre(frame))));
        self.ends.push(self.labels.len());
        Ok(())
    }

    /// Makes frames of many things at once, on all cores: `each` adds the frames of one thing and returns its
    /// fingerprint. Frames and fingerprints are in the order of `things`.
    ///
    /// # Errors
    ///
    /// The error of the first thing, in order, that fails.
    pub fn gather<T: Sync>(
        things: &[T],
        each: impl Fn(&mut Self, &T) -> Result<[u8; 32]> + Sync,
    ) -> Result<(Self, Vec<[u8; 32]>)> {
        let workers = std::thread::available_parallelism().map_or(1, NonZero::get);
        let share = things.len().div_ceil(workers).max(1);
        let work = |things: &[T]| -> Result<(Self, Vec<[u8; 32]>)> {
            let mut frames = Self::default();
            let fingerprints = things.iter().map(|thing| each(&mut frames, thing));
            let fingerprints = fingerprints.collect::<Result<_>>()?;
            Ok((frames, fingerprints))
        };
        let parts: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                things.chunks(share).map(|chunk| scope.spawn(|| work(chunk))).collect();
            let join = |thread: ScopedJoinHandle<'_, _>| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            threads.into_iter().map(join).collect()
        });
        let mut all = (Self::default(), Vec::new());
        for part in parts {
            let (frames, fingerprints) = part?;
            all.0.append(frames);
            all.1.extend(fingerprints);
        }
        Ok(all)
    }

    /// Returns the number of frames.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Returns whether there are no frames.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Adds the recordings of another set after these.
    fn append(&mut self, other: Self) {
        let offset = self.labels.len();
        self.coefficients.extend(other.coefficients);
        self.labels.extend(other.labels);
        self.ends.extend(other.ends.into_iter().map(|end| offset + end));
    }

    /// Returns the labelled frames with their neighbours, one group per recording. Beyond the ends of a recording,
    /// its first and last frames are repeated.
    pub(in crate::data) fn into_windows(
        mut self,
        normalisation: &Normalisation,
    ) -> Result<Windows> {
        normalisation.apply(&mut self.coefficients);
        let mut windows = Windows::new(self.coefficients.into(), COEFFICIENTS, WINDOW)?;
        let mut start = 0;
        for end in self.ends {
            let (mut rows, mut labels) = (Vec::new(), Vec::new());
            for frame in start..end {
                let Some(label) = self.labels[frame] else { continue };
                let row = |place: usize| (frame + place).saturating_sub(SIDE).clamp(start, end - 1);
                rows.extend((0..WINDOW).map(|place| row(place) as u32));
                labels.push(label);
            }
            windows.push_group(&rows, &labels);
            start = end;
        }
        Ok(windows)
    }
}

/// Frames in the three splits of a data set.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// The training frames, which also determine the normalisation.
    pub train: Frames,
    /// The validation frames.
    pub validation: Frames,
    /// The test frames.
    pub test: Frames,
}

impl Parts {
    /// Returns the data set of these frames of recordings of `rate` samples per second, normalised by the training
    /// frames, with the class names `names`.
    ///
    /// # Errors
    ///
    /// If a split is empty, or has more frames than a tensor can index.
    pub fn into_set(self, names: Vec<String>, rate: u32, source: DataSource) -> Result<WindowSet> {
        let parts =
            [("training", &self.train), ("validation", &self.validation), ("test", &self.test)];
        if let Some((part, _)) = parts.iter().find(|(_, frames)| frames.is_empty()) {
            let place = source.location.unwrap_or_default();
            let advice = "name the folder that holds the whole set, or copy it again";
            let problem = format!("there are no {part} recordings in it");
            return Err(Error::data(place, Place::File, problem, advice));
        }
        let normalisation = Normalisation::fit(&self.train.coefficients);
        Ok(WindowSet {
            train: self.train.into_windows(&normalisation)?,
            validation: self.validation.into_windows(&normalisation)?,
            test: self.test.into_windows(&normalisation)?,
            classes: names.len(),
            source,
            names,
            reader: Some(WindowReader::Recording { rate, normalisation: Box::new(normalisation) }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> DataSource {
        DataSource::new("x", None, true, [b""])
    }

    /// Returns a recording of `frames` frames at 8 kHz with increasing volume.
    fn recording(frames: usize) -> Recording {
        let samples = (0..200 + (frames - 1) * 80).map(|n| (n as i16 % 50) * (n as i16 / 80));
        Recording { samples: samples.collect(), rate: 8_000 }
    }

    fn parts(label: impl Fn(u64) -> Option<u8>) -> Parts {
        let analysis = Analysis::new(8_000).unwrap();
        let mut parts = Parts::default();
        let path = Path::new("a");
        parts.train.push(path, &recording(3), &analysis, &label).unwrap();
        parts.train.push(path, &recording(20), &analysis, &label).unwrap();
        parts.validation.push(path, &recording(4), &analysis, &label).unwrap();
        parts.test.push(path, &recording(5), &analysis, &label).unwrap();
        parts
    }

    #[test]
    fn windows_repeat_the_edges_and_stay_in_their_recording() {
        let set = parts(|_| Some(4)).into_set(vec!["x".to_owned(); 10], 8_000, source()).unwrap();
        let windows = &set.train;
        assert_eq!((windows.features(), windows.len(), windows.groups()), (286, 23, 2));
        assert_eq!(windows.rows()[..11], [0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2]);
        assert_eq!(windows.rows()[2 * 11..3 * 11], [0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2]);
        assert_eq!(windows.rows()[3 * 11..4 * 11], [3, 3, 3, 3, 3, 3, 4, 5, 6, 7, 8]);
        assert_eq!(windows.rows()[12 * 11..13 * 11], [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]);
    }

    #[test]
    fn a_frame_without_a_label_is_a_neighbour_only() {
        // Frame 1 has its centre at sample 180.
        let set = parts(|centre| (centre != 180).then_some(1))
            .into_set(vec!["x".to_owned(); 2], 8_000, source())
            .unwrap();
        assert_eq!((set.train.group(0), set.train.group(1)), (0..2, 2..21));
        assert_eq!(set.train.rows()[11..22], [0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2]);
        assert_eq!(set.test.len(), 4);
    }

    #[test]
    fn the_training_frames_alone_decide_the_normalisation() {
        let parts = parts(|_| Some(0));
        let normalisation = Normalisation::fit(&parts.train.coefficients);
        let mut expected = parts.test.coefficients.clone();
        normalisation.apply(&mut expected);
        let set = parts.into_set(vec!["x".to_owned(); 1], 8_000, source()).unwrap();
        assert_eq!(set.test.table(), expected);
        let refit = Normalisation::fit(set.train.table());
        let mut twice = set.train.table().to_vec();
        refit.apply(&mut twice);
        let change = twice.iter().zip(set.train.table()).map(|(a, b)| (a - b).abs());
        assert!(change.fold(0.0, f32::max) < 1e-4, "applied once, it is complete");
    }

    #[test]
    fn a_recording_shorter_than_a_frame_and_an_empty_part_are_refused() {
        let analysis = Analysis::new(8_000).unwrap();
        let short = Recording { samples: vec![1; 199], rate: 8_000 };
        let mut frames = Frames::default();
        let error = frames.push(Path::new("s.wav"), &short, &analysis, |_| None).unwrap_err();
        assert!(error.to_string().contains("s.wav: has 199 samples, less than the 200"), "{error}");
        let error = Parts { validation: frames, ..parts(|_| None) }.into_set(
            vec!["x".to_owned(); 1],
            8_000,
            source(),
        );
        assert!(error.unwrap_err().to_string().contains("no validation recordings"));
    }

    #[test]
    fn gathered_frames_are_in_order_and_the_first_error_counts() {
        let analysis = Analysis::new(8_000).unwrap();
        let lengths: Vec<usize> = (1..30).collect();
        let gather = |bad: usize| {
            Frames::gather(&lengths, |frames, &length| {
                let name = format!("{length}");
                if length >= bad {
                    return Err(Error::Usage(name));
                }
                frames.push(Path::new(&name), &recording(length), &analysis, |_| Some(0))?;
                Ok([length as u8; 32])
            })
        };
        let (frames, fingerprints) = gather(99).unwrap();
        assert_eq!(frames.len(), 29 * 30 / 2);
        assert_eq!(frames.ends[..4], [1, 3, 6, 10]);
        assert!(fingerprints.iter().map(|f| usize::from(f[0])).eq(1..30));
        assert_eq!(gather(7).unwrap_err().to_string(), "7");
    }

    #[test]
    fn appended_recordings_keep_their_bounds() {
        let mut first = parts(|_| Some(1)).train;
        first.append(parts(|_| Some(1)).test);
        assert_eq!((first.ends, first.labels.len()), (vec![3, 23, 28], 28));
    }
}

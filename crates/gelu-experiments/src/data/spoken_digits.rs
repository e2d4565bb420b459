//! Spoken digits: recordings named `{digit}_{speaker}_{index}.wav`, as in the Free Spoken Digit Dataset; 8 kHz, 16
//! bits, one channel.
//!
//! As usual, the recordings 0 to 4 of each speaker and digit are for test. The recordings 5 to 9 are for validation,
//! and all others for training. The label of every frame of a recording is its digit.
//!
//! Jackson et al., github.com/Jakobovski/free-spoken-digit-dataset, CC BY-SA 4.0.

use super::audio::frames::{Frames, Parts};
use super::audio::{Analysis, Recording, wav};
use super::synthetic::generator;
use super::synthetic::speech::{Sound, Voice, length};
use super::text::shown;
use super::{DataSource, WindowSet, synthetic};
use crate::{Error, Result};
use gelu_compare::error::Place;
use gelu_compare::files::write_atomically;
use sha2::{Digest, Sha256};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Number of classes.
pub const CLASSES: usize = 10;
/// Samples per second.
pub const RATE: u32 = 8_000;
/// Indices of the test recordings.
pub const TEST: Range<u32> = 0..5;
/// Indices of the validation recordings.
pub const VALIDATION: Range<u32> = 5..10;

/// A recording, with the information in its file name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Take {
    digit: u8,
    index: u32,
    path: PathBuf,
}

impl Take {
    fn named(path: PathBuf) -> Result<Self> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let parsed = name.split_once('_').and_then(|(digit, rest)| {
            let (speaker, index) = rest.rsplit_once('_')?;
            let digit = digit.parse::<u8>().ok().filter(|&digit| usize::from(digit) < CLASSES)?;
            (!speaker.is_empty()).then_some((digit, index.parse::<u32>().ok()?))
        });
        match parsed {
            Some((digit, index)) => Ok(Self { digit, index, path }),
            None => {
                let problem = format!(
                    "{} is not a digit, a speaker and an index, as `7_ann_12`",
                    shown(&name)
                );
                Err(Error::data(&path, Place::File, problem, "rename it or take it out"))
            }
        }
    }

    fn add_to(&self, frames: &mut Frames, analysis: &Analysis) -> Result<[u8; 32]> {
        let recording = Recording::read(&self.path)?.expect_rate(&self.path, RATE)?;
        frames.push(&self.path, &recording, analysis, |_| Some(self.digit))?;
        let mut digest =
            Sha256::new_with_prefix(self.path.file_name().unwrap_or_default().as_encoded_bytes());
        digest.update(wav::to_bytes(&recording));
        Ok(digest.finalize().into())
    }
}

/// Returns whether recordings are in `folder`, or in `recordings` below it.
pub fn is_present(folder: &Path) -> bool {
    sounds(folder).is_ok_and(|sounds| !sounds.is_empty())
}

/// Reads the recordings in `folder`, or in `recordings` below it.
///
/// # Errors
///
/// If a file's name, format, rate or length is not as above, or a split would be empty.
pub fn read(folder: &Path) -> Result<WindowSet> {
    let takes = sounds(folder)?.into_iter().map(Take::named).collect::<Result<Vec<Take>>>()?;
    let analysis = Analysis::new(RATE)?;
    let mut fingerprints = Vec::new();
    let mut part = |belongs: &dyn Fn(u32) -> bool| -> Result<Frames> {
        let chosen: Vec<&Take> = takes.iter().filter(|take| belongs(take.index)).collect();
        let (frames, more) = Frames::gather(&chosen, |f, take| take.add_to(f, &analysis))?;
        fingerprints.extend(more);
        Ok(frames)
    };
    let parts = Parts {
        train: part(&|index| !TEST.contains(&index) && !VALIDATION.contains(&index))?,
        validation: part(&|index| VALIDATION.contains(&index))?,
        test: part(&|index| TEST.contains(&index))?,
    };
    let synthetic = synthetic::is_marked(&root(folder));
    let location = Some(folder.to_path_buf());
    let names = (0..CLASSES).map(|digit| digit.to_string()).collect();
    parts.into_set(names, RATE, DataSource::new("spoken-digits", location, synthetic, fingerprints))
}

/// Returns the folder of the recordings: `folder`, or `recordings` below it.
pub fn root(folder: &Path) -> PathBuf {
    let inner = folder.join("recordings");
    if inner.is_dir() { inner } else { folder.to_path_buf() }
}

/// Returns the WAV files, sorted by name.
fn sounds(folder: &Path) -> Result<Vec<PathBuf>> {
    let folder = root(folder);
    let mut sounds = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(Error::io("list", &folder))? {
        let path = entry.map_err(Error::io("list", &folder))?.path();
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("wav")) {
            sounds.push(path);
        }
    }
    sounds.sort();
    Ok(sounds)
}

/// Writes `count` generated recordings of every digit by each of `speakers` voices, marked as synthetic. A digit is
/// three sounds between silences.
///
/// # Errors
///
/// If there would be no training recordings, the folder contains anything else, or a file cannot be written.
pub fn write_synthetic(folder: &Path, speakers: usize, count: u32) -> Result<()> {
    if speakers == 0 || count <= VALIDATION.end {
        return Err(Error::Usage(format!(
            "{speakers} speakers with {count} recordings of each digit leave nothing to train on; \
             the first {} are for testing and validation",
            VALIDATION.end
        )));
    }
    synthetic::begin(folder, &format!("spoken-tones, {speakers} by {count}"))?;
    for speaker in 0..speakers {
        let voice = Voice::random(&mut generator(SEED, speaker as u64));
        for digit in 0..CLASSES {
            for index in 0..count {
                let stream = (1 + speaker as u64) << 40 | (digit as u64) << 32 | u64::from(index);
                let mut rng = generator(SEED, stream);
                let mut sounds = vec![(Sound::SILENCE, length(0.02..0.06, RATE, &mut rng))];
                for place in 0..3 {
                    let sound = Sound::of(digit * 3 + place * 7 % 11);
                    sounds.push((sound, length(0.05..0.14, RATE, &mut rng)));
                }
                sounds.push((Sound::SILENCE, length(0.02..0.06, RATE, &mut rng)));
                let samples = voice.speak(&sounds, RATE, &mut rng);
                let path = folder.join(format!("{digit}_voice{speaker}_{index}.wav"));
                let bytes = wav::to_bytes(&Recording { samples, rate: RATE });
                write_atomically(&path, bytes)?;
            }
        }
    }
    Ok(())
}

const SEED: u64 = 0xd161;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Windows;
    use std::collections::BTreeSet;
    use std::fs;

    #[test]
    fn written_recordings_are_read_back_split_and_labelled() {
        let folder = tempfile::tempdir().unwrap();
        write_synthetic(&folder.path().join("recordings"), 2, 12).unwrap();
        let set = read(folder.path()).unwrap();
        assert!(set.source.synthetic);
        let parts = [&set.train, &set.validation, &set.test];
        assert_eq!(parts.map(Windows::groups), [2 * 10 * 2, 2 * 10 * 5, 2 * 10 * 5]);
        assert_eq!(set.test.features(), 286);
        for part in parts {
            assert_eq!(part.labels().iter().collect::<BTreeSet<_>>().len(), CLASSES);
            assert!(part.table().iter().all(|value| value.is_finite()));
        }
        // Recordings are sorted by name: the first are of digit 0 and the last of digit 9.
        assert_eq!((set.train.labels()[0], set.train.labels().last()), (0, Some(&9)));
    }

    /// The same sounds in the same order, but one has another digit in its name.
    #[test]
    fn a_name_is_part_of_the_fingerprint() {
        let folder = tempfile::tempdir().unwrap();
        write_synthetic(folder.path(), 1, 12).unwrap();
        let before = read(folder.path()).unwrap();
        let [from, to] = ["3_voice0_11.wav", "4_ann_11.wav"].map(|name| folder.path().join(name));
        fs::rename(from, to).unwrap();
        let after = read(folder.path()).unwrap();
        assert_eq!(after.train.table(), before.train.table());
        assert_ne!(after.train.labels(), before.train.labels());
        assert_ne!(after.source.fingerprint, before.source.fingerprint);
    }

    #[test]
    fn names_rates_and_missing_parts_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, rate: u32| {
            let bytes = wav::to_bytes(&Recording { samples: vec![1; 400], rate });
            fs::write(folder.path().join(name), bytes).unwrap();
        };
        let problem = || read(folder.path()).unwrap_err().to_string();
        assert!(problem().contains("there are no training recordings"));
        write("3_ann_b_0.wav", RATE);
        write("notes.txt", RATE);
        assert!(problem().contains("there are no training recordings"));
        write("3_ann_10.WAV", RATE);
        write("3_ann_5.wav", 16_000);
        assert!(problem().contains("3_ann_5.wav: has 16000 samples a second, not 8000"));
        write("3_ann_5.wav", RATE);
        assert!(read(folder.path()).is_ok());
        for name in ["11_ann_0.wav", "3_ann.wav", "3__0.wav", "x_ann_0.wav", "3_ann_-1.wav"] {
            write(name, RATE);
            assert!(problem().contains("is not a digit, a speaker and an index"), "{name}");
            fs::remove_file(folder.path().join(name)).unwrap();
        }
        let refused = write_synthetic(folder.path(), 1, 11).unwrap_err().to_string();
        assert!(refused.contains("is not empty"), "{refused}");
        assert!(read(&folder.path().join("nowhere")).is_err());
    }
}

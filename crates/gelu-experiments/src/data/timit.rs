//! TIMIT: 6,300 English sentences read by 630 speakers, with the phones heard in them.
//!
//! ```text
//! TRAIN/DR1/FCJF0/SI1027.WAV        sound: NIST SPHERE (or RIFF WAV), 16 kHz
//! TRAIN/DR1/FCJF0/SI1027.PHN        its phones
//! TEST/DR1/…
//! ```
//!
//! Names may be in either case, and the tree may be in a folder `TIMIT` or `data`. The two `SA` sentences, which
//! every speaker reads, are left out. Training uses the 3,696 other sentences of `TRAIN`, test the 192 sentences of
//! the 24 speakers of the core test set, and validation the 1,152 sentences of the other 144 speakers of `TEST`.
//!
//! The label of a frame is the phone at its centre, one of 39 classes ([`phones`]). A frame in a glottal stop, which
//! has no class, or without a phone is a neighbour of other frames but not an example.
//!
//! Garofolo et al., TIMIT Acoustic-Phonetic Continuous Speech Corpus, LDC93S1, 1993; licensed by
//! the Linguistic Data Consortium.

use super::audio::frames::{Frames, Parts};
use super::audio::phones::{self, Phone};
use super::audio::{Analysis, Recording, phn, sphere};
use super::files::read_bytes;
use super::synthetic::generator;
use super::synthetic::speech::{Sound, Voice, length};
use super::{DataSource, WindowSet, synthetic};
use crate::{Error, Result};
use gelu_compare::error::Place;
use gelu_compare::files::write_atomically;
use rand::RngExt;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Number of classes.
pub const CLASSES: usize = phones::FOLDED.len();
/// Samples per second.
pub const RATE: u32 = 16_000;
/// Numbers of training, validation and test sentences in the whole corpus.
pub const SENTENCES: [usize; 3] = [3_696, 1_152, 192];

/// The speakers of the core test set: two men and a woman of each of the eight dialect regions, in the order of
/// TIMIT's own documentation (`DOC/TESTSET.DOC`), table 3.
pub const CORE_TEST: [&str; 24] = [
    "MDAB0", "MWBT0", "FELC0", "MTAS1", "MWEW0", "FPAS0", "MJMP0", "MLNT0", "FPKT0", "MLLL0",
    "MTLS0", "FJLM0", "MBPM0", "MKLT0", "FNLP0", "MCMJ0", "MJDH0", "FMGD0", "MGRT0", "MNJM0",
    "FDHC0", "MJLN0", "MPAM0", "FMLD0",
];

/// The files of a sentence.
#[derive(Clone, Debug)]
struct Sentence {
    /// The name of the speaker, in capitals.
    speaker: String,
    sound: PathBuf,
    phones: PathBuf,
}

impl Sentence {
    fn add_to(&self, frames: &mut Frames, analysis: &Analysis) -> Result<[u8; 32]> {
        let recording = Recording::read(&self.sound)?.expect_rate(&self.sound, RATE)?;
        let text = read_bytes(&self.phones)?;
        let segments = phn::parse(&self.phones, &text)?;
        let refuse = |problem: String| {
            let advice = "sound and phones are not of one sentence, or one is cut short";
            Err(Error::data(&self.phones, Place::File, problem, advice))
        };
        let samples = recording.samples.len();
        let end = segments.last().map_or(0, |last| last.samples.end);
        // A hundredth of a second beyond the sound cannot be a frame's centre.
        if end > samples as u64 + u64::from(RATE / 100) {
            let sound = self.sound.display();
            return refuse(format!(
                "the phones end at {end}, the {samples} samples of {sound} before"
            ));
        }
        let at = |sample| phn::phone_at(&segments, sample);
        let count = analysis.frames(samples);
        let covered = (0..count).filter(|&frame| at(analysis.centre(frame)).is_some()).count();
        if covered * 2 < count {
            return refuse(format!("the phones cover {covered} of the {count} frames"));
        }
        frames.push(&self.sound, &recording, analysis, |sample| at(sample)?.folded())?;
        let mut digest = Sha256::new_with_prefix(text);
        digest.update(sphere::to_bytes(&recording));
        Ok(digest.finalize().into())
    }
}

/// Returns whether `folder` contains a tree with `TRAIN` and `TEST`.
pub fn is_present(folder: &Path) -> bool {
    find_tree(folder).is_ok()
}

/// Reads the tree in `folder`, or in `TIMIT` or `data` below it.
///
/// # Errors
///
/// If the tree is not as above or incomplete, a file is damaged, a sound does not have 16 kHz, or phones do not fit
/// their sound. A tree that is marked as synthetic may have any size.
pub fn read(folder: &Path) -> Result<WindowSet> {
    let (root, [train, rest]) = find_tree(folder)?;
    let train = sentences(&train)?;
    let is_core = |sentence: &Sentence| CORE_TEST.contains(&sentence.speaker.as_str());
    let (test, validation): (Vec<_>, Vec<_>) = sentences(&rest)?.into_iter().partition(is_core);
    let synthetic = synthetic::is_marked(&root);
    let found = [train.len(), validation.len(), test.len()];
    if !synthetic && found != SENTENCES {
        let [train, validation, test] = found;
        let [all_train, all_validation, all_test] = SENTENCES;
        let problem = format!(
            "there are {train} training, {validation} validation and {test} test sentences, not \
             {all_train}, {all_validation} and {all_test}"
        );
        return Err(Error::data(root, Place::File, problem, "copy the whole corpus"));
    }
    let analysis = Analysis::new(RATE)?;
    let mut fingerprints = Vec::new();
    let mut part = |sentences: &[Sentence]| -> Result<Frames> {
        let (frames, more) = Frames::gather(sentences, |f, s| s.add_to(f, &analysis))?;
        fingerprints.extend(more);
        Ok(frames)
    };
    let parts = Parts { train: part(&train)?, validation: part(&validation)?, test: part(&test)? };
    let location = Some(folder.to_path_buf());
    let names = phones::FOLDED.map(str::to_owned).to_vec();
    parts.into_set(names, RATE, DataSource::new("timit", location, synthetic, fingerprints))
}

/// Returns the folder with `TRAIN` and `TEST`: `folder`, or one below it.
///
/// # Errors
///
/// If there is no such folder.
pub fn root(folder: &Path) -> Result<PathBuf> {
    Ok(find_tree(folder)?.0)
}

/// Returns the entries of a folder, by their names in capitals.
fn entries(folder: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let list = std::fs::read_dir(folder).map_err(Error::io("list", folder))?;
    let mut entries = BTreeMap::new();
    for entry in list {
        let entry = entry.map_err(Error::io("list", folder))?;
        entries.insert(entry.file_name().to_string_lossy().to_uppercase(), entry.path());
    }
    Ok(entries)
}

/// Returns the folder with `TRAIN` and `TEST`, and these two folders.
fn find_tree(folder: &Path) -> Result<(PathBuf, [PathBuf; 2])> {
    let mut inside = entries(folder)?;
    let mut roots = vec![folder.to_path_buf()];
    roots.extend(["TIMIT", "DATA"].iter().filter_map(|name| inside.remove(*name)));
    for root in roots.into_iter().filter(|root| root.is_dir()) {
        let mut found = entries(&root)?;
        if let (Some(train), Some(test)) = (found.remove("TRAIN"), found.remove("TEST")) {
            return Ok((root, [train, test]));
        }
    }
    let advice = "name the folder of TIMIT that holds TRAIN and TEST";
    Err(Error::data(folder, Place::File, "TRAIN and TEST are not in it", advice))
}

/// Returns the sentences of `TRAIN` or `TEST`, without `SA`, sorted by dialect region, speaker and name.
fn sentences(part: &Path) -> Result<Vec<Sentence>> {
    let mut sentences = Vec::new();
    let regions = entries(part)?.into_iter().filter(|(name, path)| {
        matches!(name.as_bytes(), [b'D', b'R', b'1'..=b'8']) && path.is_dir()
    });
    for (_, region) in regions {
        for (speaker, folder) in entries(&region)?.into_iter().filter(|(_, path)| path.is_dir()) {
            let mut files = entries(&folder)?;
            let names: Vec<String> = files
                .keys()
                .filter_map(|name| name.rsplit_once('.'))
                .filter(|(stem, kind)| ["WAV", "PHN"].contains(kind) && !stem.contains('.'))
                .map(|(stem, _)| stem.to_owned())
                .collect();
            for name in names.into_iter().filter(|name| !name.starts_with("SA")) {
                let found =
                    [format!("{name}.WAV"), format!("{name}.PHN")].map(|file| files.remove(&file));
                match found {
                    [Some(sound), Some(phones)] => {
                        sentences.push(Sentence { speaker: speaker.clone(), sound, phones });
                    }
                    // Taken already, together with its partner.
                    [None, None] => {}
                    [sound, _] => {
                        let missing = if sound.is_some() { "PHN" } else { "WAV" };
                        let problem = format!("{name}.{missing} is not in it");
                        return Err(Error::data(folder, Place::File, problem, "copy it again"));
                    }
                }
            }
        }
    }
    Ok(sentences)
}

/// The numbers of speakers in a generated tree; each reads ten sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speakers {
    /// Number of speakers below `TRAIN`.
    pub train: usize,
    /// Number of speakers below `TEST`, outside the core test set.
    pub validation: usize,
    /// Number of speakers of the core test set.
    pub test: usize,
}

/// Writes a generated tree in TIMIT's layout and formats, marked as synthetic. Sentences are silence, 6 to 14 random
/// phones, and silence; phones of one class sound alike.
///
/// # Errors
///
/// If a split would be empty or too large, the folder contains anything else, or a file cannot be written.
pub fn write_synthetic(folder: &Path, speakers: Speakers) -> Result<()> {
    let Speakers { train, validation, test } = speakers;
    if [train, validation, test].contains(&0) || test > CORE_TEST.len() || train + validation > 999
    {
        return Err(Error::Usage(format!(
            "{train} training, {validation} validation and {test} test speakers: there must be 1 \
             to {} test speakers and 1 to 999 others",
            CORE_TEST.len()
        )));
    }
    let sizes = format!("{train}, {validation} and {test} speakers");
    synthetic::begin(folder, &format!("spoken-phones, {sizes}"))?;
    for index in 0..train + validation + test {
        let (part, region, name) = match index.checked_sub(train + validation) {
            Some(core) => ("TEST", core / 3, CORE_TEST[core].to_owned()),
            // No speaker of TIMIT has such a name.
            None => {
                (if index < train { "TRAIN" } else { "TEST" }, index % 8, format!("X{index:03}0"))
            }
        };
        let home = folder.join(part).join(format!("DR{}", region + 1)).join(name);
        std::fs::create_dir_all(&home).map_err(Error::io("create the folder", &home))?;
        let voice = Voice::random(&mut generator(SEED, index as u64));
        for (sentence, kind) in KINDS.into_iter().enumerate() {
            let stream = ((1 + index as u64) << 32) | sentence as u64;
            write_sentence(&home.join(format!("{kind}{}", sentence + 1)), voice, stream)?;
        }
    }
    Ok(())
}

/// The kinds of sentences that a speaker reads: two that all speakers read, three of their own, and five that several
/// share.
const KINDS: [&str; 10] = ["SA", "SA", "SI", "SI", "SI", "SX", "SX", "SX", "SX", "SX"];
const SEED: u64 = 0x71317;

fn write_sentence(stem: &Path, voice: Voice, stream: u64) -> Result<()> {
    let mut rng = generator(SEED, stream);
    let mut said = vec!["h#"];
    for _ in 0..rng.random_range(6..15) {
        said.push(phones::PHONES[rng.random_range(0..phones::PHONES.len())].0);
    }
    said.push("h#");
    let (mut sounds, mut segments) = (Vec::new(), Vec::new());
    let mut start = 0;
    for phone in said.into_iter().filter_map(Phone::named) {
        let length = length(0.04..0.14, RATE, &mut rng);
        let sound = match phone.folded().map(usize::from) {
            Some(class) if phones::FOLDED[class] != "sil" => Sound::of(class),
            _ => Sound::SILENCE,
        };
        sounds.push((sound, length));
        segments.push(phn::Segment { samples: start..start + length as u64, phone });
        start += length as u64;
    }
    let recording = Recording { samples: voice.speak(&sounds, RATE, &mut rng), rate: RATE };
    let files = [("WAV", sphere::to_bytes(&recording)), ("PHN", phn::to_text(&segments).into())];
    for (kind, content) in files {
        let path = stem.with_extension(kind);
        write_atomically(&path, content)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Windows;
    use std::collections::BTreeSet;
    use std::fs;

    const SMALL: Speakers = Speakers { train: 3, validation: 2, test: 1 };

    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        write_synthetic(folder.path(), SMALL).unwrap();
        folder
    }

    fn problem(folder: &Path) -> String {
        read(folder).unwrap_err().to_string()
    }

    #[test]
    fn a_made_up_tree_has_as_many_speakers_as_names_and_no_more() {
        for (train, validation, test) in
            [(0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, CORE_TEST.len() + 1), (998, 2, 1)]
        {
            let folder = tempfile::tempdir().unwrap();
            let problem = write_synthetic(folder.path(), Speakers { train, validation, test });
            let problem = problem.unwrap_err().to_string();
            assert!(problem.contains("1 to 24 test speakers and 1 to 999 others"), "{problem}");
        }
        let all = Speakers { train: 1, validation: 1, test: CORE_TEST.len() };
        let folder = tempfile::tempdir().unwrap();
        write_synthetic(folder.path(), all).unwrap();
        let regions = fs::read_dir(folder.path().join("TEST")).unwrap().map(|entry| entry.unwrap());
        let speakers = regions.flat_map(|region| fs::read_dir(region.path()).unwrap());
        let names = speakers.map(|speaker| speaker.unwrap().file_name().into_string().unwrap());
        assert_eq!(names.filter(|name| CORE_TEST.contains(&name.as_str())).count(), 24);
    }

    #[test]
    fn the_core_test_set_is_two_men_and_a_woman_of_each_region() {
        let sexes: String = CORE_TEST.iter().filter_map(|name| name.chars().next()).collect();
        assert_eq!(sexes, "MMF".repeat(8));
        assert_eq!(CORE_TEST.iter().collect::<BTreeSet<_>>().len(), 24);
        // 168 test speakers and 462 training speakers read eight sentences each besides the two `SA`.
        assert_eq!(SENTENCES, [462 * 8, (168 - 24) * 8, 24 * 8]);
    }

    #[test]
    fn a_written_tree_is_read_back_split_by_speaker_without_sa() {
        let folder = tree();
        let set = read(folder.path()).unwrap();
        assert!(set.source.synthetic);
        let parts = [&set.train, &set.validation, &set.test];
        assert_eq!(parts.map(Windows::groups), [24, 16, 8]);
        assert!(set.train.labels().iter().all(|&label| usize::from(label) < CLASSES));
        assert!(set.train.labels().iter().collect::<BTreeSet<_>>().len() > 30);
        assert_eq!(set.train.features(), 286);
    }

    #[test]
    fn labels_are_the_folded_phones_at_the_frames_centres() {
        let folder = tree();
        let home = folder.path().join("TEST/DR1/MDAB0");
        let mut expected = Vec::new();
        for name in ["SI3", "SI4", "SI5", "SX10", "SX6", "SX7", "SX8", "SX9"] {
            let path = home.join(name).with_extension("PHN");
            let segments = phn::parse(&path, &fs::read(&path).unwrap()).unwrap();
            let samples = segments.last().unwrap().samples.end as usize;
            for frame in 0..(samples - 400) / 160 + 1 {
                let centre = frame as u64 * 160 + 200;
                let phone = segments.iter().find(|s| s.samples.contains(&centre)).unwrap().phone;
                expected.extend(phone.folded());
            }
        }
        assert_eq!(read(folder.path()).unwrap().test.labels(), expected);
    }

    #[test]
    fn names_in_lower_case_wav_sound_and_an_outer_folder_read_the_same() {
        let folder = tree();
        let expected = read(folder.path()).unwrap();
        let outer = tempfile::tempdir().unwrap();
        for entry in ["TRAIN/DR1/X0000", "TRAIN/DR2/X0010", "TRAIN/DR3/X0020", "TEST/DR4/X0030"]
            .into_iter()
            .chain(["TEST/DR5/X0040", "TEST/DR1/MDAB0"])
        {
            let target = outer.path().join("timit").join(entry.to_lowercase());
            fs::create_dir_all(&target).unwrap();
            for file in fs::read_dir(folder.path().join(entry)).unwrap() {
                let path = file.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap().to_lowercase();
                let mut content = fs::read(&path).unwrap();
                if name.ends_with("wav") {
                    let recording = Recording::parse(&path, &content).unwrap();
                    content = crate::data::audio::wav::to_bytes(&recording);
                }
                fs::write(target.join(name), content).unwrap();
            }
        }
        fs::write(outer.path().join("timit").join(synthetic::MARK), "").unwrap();
        let found = read(outer.path()).unwrap();
        assert_eq!((&found.train, &found.test), (&expected.train, &expected.test));
        assert_eq!(found.source.fingerprint, expected.source.fingerprint);
    }

    #[test]
    fn phones_that_do_not_fit_the_sound_are_refused() {
        let folder = tree();
        let path = folder.path().join("TRAIN/DR2/X0010/SX7.PHN");
        fs::write(&path, "0 9999999 h#\n").unwrap();
        let error = problem(folder.path());
        assert!(error.contains("SX7.PHN: the phones end at 9999999, the "), "{error}");
        fs::write(&path, "0 400 h#\n").unwrap();
        assert!(problem(folder.path()).contains("the phones cover 2 of the "));
        fs::write(&path, "0 400 hush\n").unwrap();
        assert!(problem(folder.path()).contains("SX7.PHN: line 1: `hush` is none"));
        fs::remove_file(&path).unwrap();
        assert!(problem(folder.path()).contains("X0010: SX7.PHN is not in it"));
    }

    #[test]
    fn incomplete_and_absent_corpora_are_refused() {
        let folder = tree();
        fs::remove_file(folder.path().join(synthetic::MARK)).unwrap();
        let error = problem(folder.path());
        assert!(
            error.contains("there are 24 training, 16 validation and 8 test sentences, not 3696"),
            "{error}"
        );
        let refused = write_synthetic(folder.path(), SMALL).unwrap_err().to_string();
        assert!(refused.contains("is not empty"), "{refused}");
        let empty = tempfile::tempdir().unwrap();
        assert!(problem(empty.path()).contains("TRAIN and TEST are not in it"));
        assert!(write_synthetic(empty.path(), Speakers { test: 25, ..SMALL }).is_err());
    }
}

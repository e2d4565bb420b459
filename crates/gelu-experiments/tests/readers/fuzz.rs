//! Gives every reader randomly damaged files. A reader may return an error that names the file, or data that are
//! consistent; it must never panic.
//!
//! Each test takes about a second. Environment variables make it longer, or repeat one failure:
//!
//! ```text
//! BOLERO_RANDOM_TEST_TIME_MS=600000 BOLERO_RANDOM_ITERATIONS=1000000000 \
//!     cargo test --release --test readers fuzz::wav
//! ```

use bolero::check;
use flate2::{Compression, write::GzEncoder};
use gelu_experiments::data::audio::{Analysis, Recording, phn, sphere, wav};
use gelu_experiments::data::cifar::{self, Cifar};
use gelu_experiments::data::own::table;
use gelu_experiments::data::synthetic::{self, pictures};
use gelu_experiments::data::tweets::{TAGS, WordVectors, parse_tweets};
use gelu_experiments::data::{DataRequest, idx, spoken_digits, timit};
use gelu_experiments::{Error, Result};
use gelu_learner::networks::{Outcomes, TestGroups};
use gelu_learner::networks::{outcomes_to_bytes, parse_outcomes};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::Path;

/// One piece of damage: its kind, its position and its bytes.
pub(super) type Damage = (u8, u32, Vec<u8>);

/// Values at which arithmetic on lengths often goes wrong.
const EDGES: [u32; 8] = [0, 1, 0x7f, 0xffff, 0x7fff_fffe, 0x7fff_ffff, 0xffff_fff8, 0xffff_ffff];

/// Returns a valid file with damage.
pub(super) fn damaged(mut file: Vec<u8>, damages: &[Damage]) -> Vec<u8> {
    for (kind, place, bytes) in damages {
        // Half of all damage is in the first bytes, where headers are.
        let reach = if place % 2 == 0 { file.len() } else { file.len().min(64) };
        let start = *place as usize / 2 % (reach + 1);
        let end = (start + bytes.len()).min(file.len());
        match kind % 7 {
            0 => file.truncate(start),
            1 => drop(file.splice(start..start, bytes.iter().copied())),
            2 => drop(file.drain(start..end)),
            3 => drop(file.splice(start..end, bytes.iter().copied())),
            4 => {
                let edge = EDGES[usize::from(*kind) / 7 % EDGES.len()].to_le_bytes();
                drop(file.splice(start..(start + 4).min(file.len()), edge));
            }
            5 => {
                let piece = file[start..end].to_vec();
                drop(file.splice(start..start, piece));
            }
            _ => file.iter_mut().skip(start).take(1).for_each(|byte| *byte ^= 1 << (kind / 7 % 8)),
        }
    }
    file
}

/// Asserts that an error names the file, is short, and has no raw control characters.
fn acceptable(error: &Error) {
    let text = error.to_string();
    assert!(text.starts_with("foreign"), "{text}");
    assert!(text.chars().count() < 600 && !text.contains(char::is_control), "{text:?}");
}

/// Damages one of the valid files at a time and gives it to a reader.
fn fuzz(valid: &[Vec<u8>], read: impl Fn(&Path, &[u8]) -> Result<()> + std::panic::RefUnwindSafe) {
    check!().with_type::<(u8, Vec<Damage>)>().for_each(|(which, damages)| {
        let file = damaged(valid[usize::from(*which) % valid.len()].clone(), damages);
        if let Err(error) = read(Path::new("foreign"), &file) {
            acceptable(&error);
        }
    });
}

fn sound() -> Recording {
    Recording { samples: (0..900).map(|n| (n * 37 % 2_001 - 1_000) as i16).collect(), rate: 16_000 }
}

#[test]
fn cifar() {
    for set in [Cifar::Ten, Cifar::Hundred] {
        let images = pictures::generate(set, 3, 1).train;
        fuzz(&[cifar::to_bytes(set, &images, |class| class / 5), Vec::new()], |path, bytes| {
            let records = cifar::parse(set, path, bytes)?;
            let images = &records.images;
            assert_eq!(images.pixels.len(), images.len() * cifar::PICTURE);
            let mut coarse = records.coarse.iter();
            let again: Vec<u8> = images
                .labels
                .iter()
                .zip(images.pixels.chunks(cifar::PICTURE))
                .flat_map(|(label, pixels)| {
                    let labels = coarse.next().into_iter().chain([label]);
                    labels.chain(pixels).copied().collect::<Vec<u8>>()
                })
                .collect();
            assert_eq!(again, bytes, "nothing is lost or made up");
            Ok(())
        });
    }
}

#[test]
fn pictures_of_ones_own() {
    let picture = image::RgbImage::from_fn(9, 7, |x, y| image::Rgb([x as u8, y as u8, 200]));
    let formats = [image::ImageFormat::Png, image::ImageFormat::Jpeg];
    let valid = formats.map(|format| {
        let mut bytes = std::io::Cursor::new(Vec::new());
        picture.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    });
    fuzz(&valid, |path, bytes| {
        let picture = gelu_experiments::data::pictures::decode(path, bytes, None)?.into_rgb8();
        assert_eq!(
            picture.as_raw().len() as u64,
            3 * u64::from(picture.width()) * u64::from(picture.height())
        );
        Ok(())
    });
}

#[test]
fn scores() {
    use gelu_compare::comparison::Wording;
    use gelu_compare::measure::Direction;
    use gelu_compare::measure::Measure;
    use gelu_compare::scores::{Columns, Question, Table, judge};
    let rows = |separator: &str| -> String {
        let row = |(arm, seed): (&str, u64)| {
            [arm, "0.5", &seed.to_string(), &format!("0.{seed}7")].join(separator) + "\n"
        };
        ["gelu", "relu"].iter().flat_map(|arm| (1..7).map(move |seed| row((arm, seed)))).collect()
    };
    let header = "activation,dropout,seed,loss\n";
    let valid = [
        format!("{header}{}", rows(",")),
        format!("{}{}", header.replace(',', "\t"), rows("\t")),
        format!("{header}{}relu,0.5,7,nan\n\"ge,lu\",0.5,1,-1e300\n", rows(",")),
    ];
    let columns = Columns {
        compare: "activation".to_owned(),
        each: vec!["dropout".to_owned()],
        metric: "loss".to_owned(),
        seed: "seed".to_owned(),
        ..Columns::default()
    };
    let question = Question {
        wording: Wording::of(&Measure::named("loss")),
        baseline: None,
        target: None,
        negligible: 0.01,
        guard: None,
        alpha: 0.05,
        planned: None,
        label: str::to_owned,
    };
    fuzz(&valid.map(String::into_bytes), |path, bytes| {
        let scores = Table::read(bytes, path, &columns, [Direction::Lower; 2])?;
        for arm in &scores.arms {
            assert!(!scores.seeds_of(arm).is_empty(), "{arm:?} has a score");
        }
        let judged = judge(&scores, path, &columns, &question)?;
        assert!(judged.len() < scores.arms.len(), "all but the baseline");
        Ok(())
    });
}

#[test]
fn tables() {
    let rows: String =
        (0..12).map(|i| format!("{i},{},t{},{}\n", i * i, i % 2, ["x", "y"][i % 2])).collect();
    let european = (0..12).map(|i| format!("{i},5;{};{},25\n", ["", "u", "v"][i % 3], i * i));
    let valid = [
        format!("a,b,c,class\n{rows}"),
        format!("class,\"b \"\"1\"\"\"\r\n{}", "x,1e30\r\ny,-.5\r\n".repeat(6)),
        format!("b;c;class\n{}", european.collect::<String>()),
        format!(
            "b\tsplit\tclass\n{}",
            "1\ttrain\tx\n2\ttest\ty\n?\tTrain\ty\n4\tval\tx\n".repeat(3)
        ),
    ];
    let asked = DataRequest { target: Some("class".into()), ..DataRequest::from("csv") };
    fuzz(&valid.map(String::into_bytes), |path, bytes| {
        let set = table::parse(&asked, path, bytes)?;
        let [table] = &set.tables[..] else { panic!("one file is one table") };
        assert!(!table.notes().is_empty() && !table.summary().is_empty());
        for seed in [1, 2] {
            let rows = table.of_seed(seed, [usize::MAX; 3]);
            for part in &rows.parts {
                assert!(!part.labels.is_empty() && part.width == table.width());
                assert_eq!(part.inputs.len(), part.labels.len() * part.width);
                assert!(part.inputs.iter().all(|number| number.is_finite()));
                let classes = table.target.classes();
                assert!(part.labels.iter().all(|&label| usize::from(label) < classes));
                assert!(part.numbers.iter().flatten().all(|number| number.is_finite()));
            }
        }
        Ok(())
    });
}

#[test]
fn tweets() {
    let valid = ["i\tO\nlove\tV\n:)\tE\n\nrt\t~\n@x\t@\n:\t~\n\n", "\u{feff}é\tN\r\n\r\n", ""];
    fuzz(&valid.map(|text| text.as_bytes().to_vec()), |path, bytes| {
        for tweet in parse_tweets(path, bytes)? {
            assert!(!tweet.words.is_empty());
            assert_eq!(tweet.words.len(), tweet.tags.len());
            assert!(tweet.tags.iter().all(|&tag| usize::from(tag) < TAGS.len()));
        }
        Ok(())
    });
}

const VECTORS: &str = "</s>\t0.5 -1 2e-3\nUUUNKKK\t1 2 3\ni\t1e30 -0 .5\nlove\t4 5 6\n";

fn check_vectors(vectors: &WordVectors) {
    let tweets = parse_tweets(Path::new("t"), "i\tO\nLOVE\tV\nx\tN\n".as_bytes()).unwrap();
    let windows = vectors.windows(&tweets).unwrap();
    assert_eq!(windows.inputs(0..3).len(), 9 * vectors.width());
    assert!(windows.table().iter().all(|value| value.is_finite()));
}

#[test]
fn word_vectors() {
    fuzz(&[VECTORS.as_bytes().to_vec(), Vec::new()], |path, bytes| {
        check_vectors(&WordVectors::parse(path, bytes)?);
        Ok(())
    });
}

#[test]
fn compressed_files() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(VECTORS.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("foreign.gz");
    fuzz(&[packed], |_, bytes| {
        std::fs::write(&path, bytes).unwrap();
        match WordVectors::read(&path) {
            Ok(vectors) => check_vectors(&vectors),
            Err(error) => assert!(error.to_string().contains("foreign.gz"), "{error}"),
        }
        Ok(())
    });
}

#[test]
fn wav() {
    fuzz(&[wav::to_bytes(&sound()), b"RIFF".to_vec()], |path, bytes| {
        let recording = wav::parse(path, bytes)?;
        assert!(recording.samples.len() * 2 < bytes.len());
        assert_eq!(wav::parse(path, &wav::to_bytes(&recording)).unwrap(), recording);
        Ok(())
    });
}

#[test]
fn sphere() {
    fuzz(&[sphere::to_bytes(&sound()), b"NIST_1A\n   1024\n".to_vec()], |path, bytes| {
        let recording = sphere::parse(path, bytes)?;
        assert!(recording.samples.len() * 2 < bytes.len());
        assert_eq!(sphere::parse(path, &sphere::to_bytes(&recording)).unwrap(), recording);
        Ok(())
    });
}

#[test]
fn sound_of_any_rate() {
    fuzz(&[wav::to_bytes(&sound()), sphere::to_bytes(&sound())], |path, bytes| {
        let recording = Recording::parse(path, bytes)?;
        if let Ok(analysis) = Analysis::new(recording.rate) {
            let coefficients = analysis.coefficients(&recording.samples);
            assert!(coefficients.iter().all(|value| value.is_finite()));
        }
        Ok(())
    });
}

#[test]
fn phn() {
    let valid =
        ["0 3050 h#\n3050 4559 sh\n4559 5723 ix\n5723 6642 hv\n6642 8772 eh\n", "0 1 q\r\n"];
    fuzz(&valid.map(|text| text.as_bytes().to_vec()), |path, bytes| {
        let segments = phn::parse(path, bytes)?;
        assert_eq!(phn::parse(path, phn::to_text(&segments).as_bytes()).unwrap(), segments);
        for segment in &segments {
            assert!(phn::phone_at(&segments, segment.samples.end - 1).is_some());
        }
        Ok(())
    });
}

#[test]
fn idx() {
    let images = idx::images_to_bytes(&synthetic_digits());
    let labels = idx::labels_to_bytes(&synthetic_digits().labels);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("foreign");
    fuzz(&[images, labels], |_, bytes| {
        std::fs::write(&path, bytes).unwrap();
        if let Ok((pixels, height, width)) = idx::read_images(&path) {
            assert!(pixels.len() < bytes.len() && pixels.len().is_multiple_of(height * width));
        }
        if let Ok(labels) = idx::read_labels(&path, 10) {
            assert!(labels.iter().all(|&label| label < 10));
        }
        Ok(())
    });
}

/// The damaged files get a matching digest; otherwise the reader would never read the rest.
#[test]
fn outcomes() {
    let groups = || TestGroups::of_sizes([3, 1, 1, 6]);
    let bits = |shift: usize| (0..11).map(|i| usize::is_multiple_of(i + shift, 3)).collect();
    let valid = [
        Outcomes::of_errors(7, groups(), bits(0)),
        Outcomes::of_noise(7, groups(), vec![(0.2, bits(1)), (0.4, bits(2))]),
        Outcomes::of_losses(7, groups(), (0..11).map(|i| i as f32 / 3.0).collect()),
    ];
    let unsealed = |outcomes: &Outcomes| {
        let bytes = outcomes_to_bytes(outcomes);
        bytes[..bytes.len() - 32].to_vec()
    };
    fuzz(&valid.each_ref().map(unsealed), |path, bytes| {
        let sealed = [bytes, &Sha256::digest(bytes)[..]].concat();
        let outcomes = parse_outcomes(path, &sealed)?;
        assert_eq!(parse_outcomes(path, &outcomes_to_bytes(&outcomes)).unwrap(), outcomes);
        assert_eq!(outcomes.by_group().len(), outcomes.groups().len());
        assert!(outcomes.groups().len() <= 8 * bytes.len() && outcomes.mean().is_finite());
        Ok(())
    });
}

fn synthetic_digits() -> gelu_experiments::data::Images {
    gelu_experiments::data::digits::generate(3, 1).train
}

/// Damages one file at a time in a whole tree.
fn fuzz_tree(
    folder: &Path,
    file: &Path,
    read: impl Fn(&Path) -> Result<()> + std::panic::RefUnwindSafe,
) {
    let valid = std::fs::read(file).unwrap();
    let damaged_tree = |damages: &[Damage]| {
        std::fs::write(file, damaged(valid.clone(), damages)).unwrap();
        if let Err(error) = read(folder) {
            assert!(error.to_string().contains("foreign"), "{error}");
        }
    };
    check!()
        .with_iterations(40)
        .with_type::<Vec<Damage>>()
        .for_each(|damages| damaged_tree(damages));
    std::fs::write(file, valid).unwrap();
}

#[test]
fn timit_tree() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("foreign");
    timit::write_synthetic(&folder, timit::Speakers { train: 1, validation: 1, test: 1 }).unwrap();
    for file in ["SX7.PHN", "SX7.WAV"] {
        let file = folder.join("TEST/DR1/MDAB0").join(file);
        fuzz_tree(&folder, &file, |folder| timit::read(folder).map(drop));
    }
    assert!(timit::read(&folder).is_ok());
}

#[test]
fn spoken_digits_folder() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("foreign");
    spoken_digits::write_synthetic(&folder, 1, 11).unwrap();
    fuzz_tree(&folder, &folder.join("3_voice0_10.wav"), |folder| {
        spoken_digits::read(folder).map(drop)
    });
    assert!(synthetic::is_marked(&folder) && spoken_digits::read(&folder).is_ok());
}

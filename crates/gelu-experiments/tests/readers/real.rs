//! Tests from real files to examples; skipped with a message if the files are missing.

use gelu_experiments::data::tweets::{self, VectorsFile, WordVectors, parse_tweets};
use gelu_experiments::data::{Windows, cifar, spoken_digits};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns a folder of real data: in `$GELU_TEST_DATA`, or in `shared/data` next to the repository.
fn folder(name: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("GELU_TEST_DATA").map_or(beside, PathBuf::from);
    let folder = data.join(name);
    if !folder.is_dir() {
        eprintln!("skipped: no {} (set GELU_TEST_DATA)", folder.display());
        return None;
    }
    Some(folder)
}

#[test]
fn the_papers_tweets_are_read() {
    let Some(folder) = folder("tweets") else { return };
    let set = tweets::read(&folder, None).unwrap();
    let parts = [&set.train, &set.validation, &set.test];
    assert_eq!(parts.map(Windows::groups), [1000, 327, 500]);
    assert_eq!(parts.map(Windows::len), [14_619, 4_823, 7_152]);
    assert_eq!((set.classes, set.train.features()), (25, 150));
    assert!(!set.source.synthetic);
    // The training tweets begin with `i O`, `predict V`, `i O`, `won't V`.
    assert_eq!(set.train.labels()[..4], [1, 7, 1, 7]);
}

#[test]
fn one_word_in_thirty_five_of_the_tweets_is_unknown() {
    let Some(folder) = folder("tweets") else { return };
    let vectors = WordVectors::read(&folder.join("embeddings-brown50.txt.gz")).unwrap();
    assert_eq!((vectors.len(), vectors.width()), (30_559, 50));
    let unknown = tweets::FILES.map(|name| {
        let path = folder.join(name);
        let bytes = std::fs::read(&path).unwrap();
        let tweets = parse_tweets(&path, &bytes).unwrap();
        let words = tweets.iter().flat_map(|tweet| &tweet.words);
        let found: Vec<VectorsFile> = words.map(|word| vectors.row(word).1).collect();
        // The tweets are in lower case, except for marks whose vectors have the same spelling.
        assert!(!found.contains(&VectorsFile::LowerCase));
        found.iter().filter(|&&found| found == VectorsFile::Unknown).count()
    });
    // A separate script counted these in the same files.
    assert_eq!(unknown, [422, 153, 205]);
}

#[test]
fn free_spoken_digits_are_read() {
    let Some(folder) = folder("fsdd") else { return };
    let archive = folder.join("fsdd-recordings.tar.xz");
    let target = tempfile::tempdir().unwrap();
    let mut unpack = Command::new("tar");
    unpack.arg("-xJf").arg(&archive).arg("-C").arg(target.path());
    if !unpack.status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: cannot unpack {} with tar and xz", archive.display());
        return;
    }
    let set = spoken_digits::read(target.path()).unwrap();
    let parts = [&set.train, &set.validation, &set.test];
    // Six speakers, ten digits, fifty recordings of each: five for test, five for validation.
    assert_eq!(parts.map(Windows::groups), [2_400, 300, 300]);
    // The sum of 1 + ⌊(samples − 200)/80⌋ over the files of each split, counted by a separate script.
    assert_eq!(parts.map(Windows::len), FSDD_FRAMES);
    assert!(set.train.table().iter().all(|value| value.is_finite()));
}

const FSDD_FRAMES: [usize; 3] = [100_305, 12_606, 12_326];

#[test]
fn real_cifar_10_is_read() {
    let Some(folder) = folder("cifar10") else { return };
    if !cifar::is_present(cifar::Cifar::Ten, &folder) {
        eprintln!("skipped: no binary CIFAR-10 in {}", folder.display());
        return;
    }
    let set = cifar::read(cifar::Cifar::Ten, &folder).unwrap();
    assert_eq!((set.train.len(), set.test.len()), (50_000, 10_000));
    for class in 0..10 {
        assert_eq!(set.train.labels.iter().filter(|&&label| label == class).count(), 5_000);
    }
}

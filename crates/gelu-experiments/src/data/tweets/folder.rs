use super::super::files::read_bytes;
use super::super::{DataSource, WindowReader, WindowSet, Windows, synthetic};
use super::{TAGS, WordVectors, parse_tweets};
use crate::{Error, Result};
use gelu_compare::error::Place;
use std::path::{Path, PathBuf};

/// The files of the three splits.
pub const FILES: [&str; 3] = ["tweets-train.txt", "tweets-dev.txt", "tweets-devtest.txt"];

/// Returns whether the three files of tweets are in `folder`, or in its folder that has them in the authors'
/// repository.
pub fn is_present(folder: &Path) -> bool {
    let folder = place(folder);
    FILES.iter().all(|name| find(&folder, name).is_some())
}

/// Returns the folder of the tweets: `folder`, or the one below it that has them in the authors' repository.
fn place(folder: &Path) -> PathBuf {
    let inner = ["data/Tweets", "Tweets"].map(|inner| folder.join(inner));
    let holds_tweets = |folder: &PathBuf| FILES.iter().any(|name| find(folder, name).is_some());
    match holds_tweets(&folder.to_path_buf()) {
        true => folder.to_path_buf(),
        false => inner.into_iter().find(holds_tweets).unwrap_or_else(|| folder.to_path_buf()),
    }
}

fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let paths = [folder.join(name), folder.join(format!("{name}.gz"))];
    paths.into_iter().find(|path| path.exists())
}

/// Reads the three files of tweets in `folder`, or in `data/Tweets` below it as in the authors' repository, and word
/// vectors from `vectors` or from the only file there whose name begins with `embeddings`.
///
/// # Errors
///
/// If a file is missing or damaged, or there are several files of vectors and `vectors` is `None`.
pub fn read(folder: &Path, vectors: Option<&Path>) -> Result<WindowSet> {
    let place = place(folder);
    let folder = place.as_path();
    let mut contents = Vec::new();
    for name in FILES {
        let path = find(folder, name).ok_or_else(|| {
            let advice =
                "the folder must hold tweets-train.txt, tweets-dev.txt and tweets-devtest.txt";
            Error::data(folder, Place::File, format!("{name} is not in it"), advice)
        })?;
        contents.push((read_bytes(&path)?, path));
    }
    let vectors = vectors.map_or_else(|| find_vectors(folder), |path| Ok(path.to_path_buf()))?;
    let vector_bytes = read_bytes(&vectors)?;
    let embedding = WordVectors::parse(&vectors, &vector_bytes)?;
    let part = |index: usize| -> Result<Windows> {
        let (bytes, path) = &contents[index];
        embedding.windows(&parse_tweets(path, bytes)?)
    };
    let (train, validation, test) = (part(0)?, part(1)?, part(2)?);
    let content = contents.iter().map(|(bytes, _)| bytes).chain([&vector_bytes]);
    let location = Some(folder.to_path_buf());
    let source = DataSource::new("tweets", location, synthetic::is_marked(folder), content);
    let names = TAGS.map(str::to_owned).to_vec();
    let reader = Some(WindowReader::AxisWords(Box::new(embedding)));
    Ok(WindowSet { train, validation, test, classes: TAGS.len(), source, names, reader })
}

fn find_vectors(folder: &Path) -> Result<PathBuf> {
    let entries = std::fs::read_dir(folder).map_err(Error::io("list", folder))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::io("list", folder))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with("embeddings") && (name.ends_with(".txt") || name.ends_with(".txt.gz")) {
            found.push(path);
        }
    }
    found.sort();
    match &found[..] {
        [path] => Ok(path.clone()),
        [] => Err(Error::data(
            folder,
            Place::File,
            "no embeddings*.txt or embeddings*.txt.gz is in it",
            "put the word vectors there, `word<TAB>v1 v2 …` a line",
        )),
        [first, second, ..] => Err(Error::data(
            folder,
            Place::File,
            format!("{} and {} are both in it", first.display(), second.display()),
            "leave the one to use there",
        )),
    }
}

/// Writes generated tweets and vectors as files, marked as synthetic.
///
/// # Errors
///
/// If the folder contains anything else, or a file cannot be written.
pub fn write_synthetic(folder: &Path, corpus: &synthetic::tweets::Corpus) -> Result<()> {
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;
    let [train, validation, test] = [&corpus.train, &corpus.validation, &corpus.test].map(Vec::len);
    let name = synthetic::tweets::NAME;
    synthetic::begin(folder, &format!("{name}, {train}, {validation} and {test}"))?;
    for (name, tweets) in FILES.iter().zip([&corpus.train, &corpus.validation, &corpus.test]) {
        let mut text = String::new();
        for tweet in tweets {
            for (word, tag) in tweet {
                text.push_str(&format!("{word}\t{}\n", TAGS[usize::from(*tag)]));
            }
            text.push('\n');
        }
        gelu_compare::files::write_atomically(&folder.join(name), text)?;
    }
    let path = folder.join("embeddings-synthetic.txt.gz");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let mut lines = String::new();
    for (word, vector) in &corpus.vectors {
        let numbers: Vec<String> = vector.iter().map(|value| format!("{value:.3}")).collect();
        lines.push_str(&format!("{word}\t{}\n", numbers.join(" ")));
    }
    let packed = encoder.write_all(lines.as_bytes()).and_then(|()| encoder.finish());
    gelu_compare::files::write_atomically(&path, packed.map_err(Error::io("compress", &path))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn written_tweets_are_read_back_marked_synthetic() {
        let folder = tempfile::tempdir().unwrap();
        let corpus = synthetic::tweets::generate(40, 12, 15);
        write_synthetic(folder.path(), &corpus).unwrap();
        let set = read(folder.path(), None).unwrap();
        assert!(set.source.synthetic);
        assert_eq!([&set.train, &set.validation, &set.test].map(Windows::groups), [40, 12, 15]);
        let tags: Vec<u8> = corpus.validation.iter().flatten().map(|(_, tag)| *tag).collect();
        assert_eq!(set.validation.labels(), tags);

        fs::copy(
            folder.path().join("embeddings-synthetic.txt.gz"),
            folder.path().join("embeddings2.txt.gz"),
        )
        .unwrap();
        assert!(read(folder.path(), None).unwrap_err().to_string().contains("are both in it"));
        assert!(read(folder.path(), Some(&folder.path().join("embeddings2.txt.gz"))).is_ok());
        fs::remove_file(folder.path().join("embeddings2.txt.gz")).unwrap();
        fs::rename(
            folder.path().join("embeddings-synthetic.txt.gz"),
            folder.path().join("embeddings-twitter.txt.gz"),
        )
        .unwrap();
        // The layout of the authors' repository.
        let repository = tempfile::tempdir().unwrap();
        fs::create_dir(repository.path().join("data")).unwrap();
        fs::rename(folder.path(), repository.path().join("data/Tweets")).unwrap();
        assert!(is_present(repository.path()));
        let found = read(repository.path(), None).unwrap();
        assert_eq!(found.source.fingerprint, set.source.fingerprint);
        let folder = repository.path().join("data/Tweets");
        assert_eq!(read(&folder, None).unwrap().source.fingerprint, set.source.fingerprint);
        fs::remove_file(folder.join("tweets-dev.txt")).unwrap();
        assert!(
            read(&folder, None).unwrap_err().to_string().contains("tweets-dev.txt is not in it")
        );
    }
}

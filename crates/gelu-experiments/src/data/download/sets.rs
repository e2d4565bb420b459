//! The files that the program may fetch, their servers, and their checks.

use super::{Archive, Check, RemoteFile};
use crate::data::{corpus, mnist};

const MNIST: [&str; 2] = [
    "https://ossci-datasets.s3.amazonaws.com/mnist",
    "https://storage.googleapis.com/cvdf-datasets/mnist",
];
/// Krizhevsky's page publishes the MD5 of each archive.
const CIFAR: &str = "https://www.cs.toronto.edu/~kriz";
/// The authors' repository, at a fixed commit.
const TWEETS: &str = "https://raw.githubusercontent.com/hendrycks/GELUs/\
    2726505c4767eed99dfd89ce0f836fbca44d6a6d/data/Tweets";
/// Jackson's repository, at a fixed commit with all 3,000 recordings. The server packs the archive, so its bytes may
/// differ from time to time, but its files do not.
const SPOKEN_DIGITS: &str =
    "https://codeload.github.com/Jakobovski/free-spoken-digit-dataset/tar.gz";
const SPOKEN_DIGITS_COMMIT: &str = "1306d2c6da002dfb2fd1f113d8596d801648a085";

/// Karpathy's repository, at a fixed commit.
const SHAKESPEARE: &str = "https://raw.githubusercontent.com/karpathy/char-rnn/\
    6f9487a6fe5b420b7ca9afb0d7c078e37c1d1b4e/data/tinyshakespeare";

/// Returns the files of a data set; empty if the program may not fetch it.
pub fn files_of(set: &str) -> Vec<RemoteFile> {
    match set {
        "mnist" => mnist::FILES.map(mnist_file).to_vec(),
        "cifar10" => vec![cifar(
            "cifar-10-binary.tar.gz",
            "c32a1d4ab5d03f1284b67883e8d87530",
            "cifar-10-batches-bin",
        )],
        "cifar100" => vec![cifar(
            "cifar-100-binary.tar.gz",
            "03b5dce01913d631647c71ecec9e9cb8",
            "cifar-100-binary",
        )],
        "tweets" => tweets(),
        "shakespeare" => vec![RemoteFile {
            name: corpus::FILE.to_owned(),
            mirrors: vec![SHAKESPEARE.to_owned()],
            check: Check::Sha256(
                "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
            ),
            largest: 8 << 20,
            archive: None,
        }],
        "spoken-digits" => vec![RemoteFile {
            name: SPOKEN_DIGITS_COMMIT.to_owned(),
            mirrors: vec![SPOKEN_DIGITS.to_owned()],
            check: Check::Reading,
            largest: 200 << 20,
            archive: Some(Archive {
                folder: "recordings",
                extension: "wav",
                digest: Some("1801eae019c063377d98f831d3f93574f259475df7332bb0e3d1b080fb5e6959"),
            }),
        }],
        _ => Vec::new(),
    }
}

fn mnist_file(file: mnist::MnistFile) -> RemoteFile {
    RemoteFile {
        name: format!("{}.gz", file.name),
        mirrors: MNIST.map(str::to_owned).to_vec(),
        check: Check::Mnist(file),
        largest: 32 << 20,
        archive: None,
    }
}

fn cifar(name: &str, md5: &'static str, folder: &'static str) -> RemoteFile {
    RemoteFile {
        name: name.to_owned(),
        mirrors: vec![CIFAR.to_owned()],
        check: Check::Md5(md5),
        largest: 200 << 20,
        archive: Some(Archive { folder, extension: "bin", digest: None }),
    }
}

fn tweets() -> Vec<RemoteFile> {
    let file = |name: &str, check: Check| RemoteFile {
        name: name.to_owned(),
        mirrors: vec![TWEETS.to_owned()],
        check,
        largest: 100 << 20,
        archive: None,
    };
    let sha256 = Check::Sha256;
    vec![
        file(
            "tweets-train.txt",
            sha256("0eeb02801b1097aa32bfac490a61c0919c9e74f2c74dd0048b520041bf218f7c"),
        ),
        file(
            "tweets-dev.txt",
            sha256("304eedc25cf601111ed2daac954092a026e11bc515effda8f9de09616e91dbc8"),
        ),
        file(
            "tweets-devtest.txt",
            sha256("5bb2323a63a17d073468b9436980232e2e7b92d0dc1e5e46e722aae189229e3c"),
        ),
        // At the same commit, but without a check: the authors publish no digest, and we could not fetch the file to
        // compute one. The program prints the SHA-256 of a fetched file.
        file("embeddings-twitter.txt", Check::Reading),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::catalogue;

    #[test]
    fn what_may_not_be_fetched_has_no_files() {
        let fetchable: Vec<&str> = catalogue()
            .iter()
            .map(|set| set.name)
            .filter(|name| !files_of(name).is_empty())
            .collect();
        assert_eq!(
            fetchable,
            ["mnist", "cifar10", "cifar100", "tweets", "spoken-digits", "shakespeare"]
        );
    }

    /// A branch can change, and then the fetched content would change unnoticed.
    #[test]
    fn files_of_repositories_are_those_of_one_commit() {
        let is_commit =
            |part: &str| part.len() == 40 && part.chars().all(|c| c.is_ascii_hexdigit());
        for file in ["tweets", "spoken-digits", "shakespeare"].into_iter().flat_map(files_of) {
            for mirror in &file.mirrors {
                let url = format!("{mirror}/{}", file.name);
                assert!(url.split('/').any(is_commit), "{url}");
            }
        }
    }
}

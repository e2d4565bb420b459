use super::archive::Archive;
use super::transfer::transfer;
use crate::data::files::read_bytes;
use crate::data::mnist::MnistFile;
use crate::{Error, Result};
use flate2::read::MultiGzDecoder;
use gelu_compare::files::write_atomically;
use indicatif::ProgressBar;
use md5::{Digest, Md5};
use sha2::Sha256;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use tempfile::TempPath;

/// A file of a data set on a server.
#[derive(Clone, Debug)]
pub struct RemoteFile {
    /// The file's name on every server, and on disk unless it is unpacked.
    pub name: String,
    /// The server folders to fetch from, in this order.
    pub mirrors: Vec<String>,
    /// The check of the content.
    pub check: Check,
    /// The largest size in bytes.
    pub largest: u64,
    /// How to unpack the file, unless it is saved as it is.
    pub archive: Option<Archive>,
}

/// A check that a fetched file has the right content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The MD5 that the authors publish.
    Md5(&'static str),
    /// The SHA-256.
    Sha256(&'static str),
    /// The MD5 of the uncompressed content.
    Mnist(MnistFile),
    /// No digest is published; reading the whole data set, or the unpacked files, is the check.
    Reading,
}

/// The result of fetching a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// The file existed with the right content.
    AlreadyThere,
    /// The file was fetched from this mirror.
    From(String),
}

impl RemoteFile {
    /// Fetches the file into `folder`, from the first mirror that serves the right content. `bar` shows the bytes of
    /// the current download.
    ///
    /// # Errors
    ///
    /// If no mirror serves the file ([`Error::Failed`], with the reason of each mirror), or it cannot be written.
    pub fn fetch(&self, folder: &Path, bar: &ProgressBar) -> Result<Fetched> {
        fs::create_dir_all(folder).map_err(Error::io("create the folder", folder))?;
        if self.is_there(folder) {
            return Ok(Fetched::AlreadyThere);
        }
        // Dropping this value deletes the file, whatever happens.
        let part = tempfile::Builder::new()
            .prefix(".fetching-")
            .tempfile_in(folder)
            .map_err(Error::io("create a file in", folder))?
            .into_temp_path();
        let mut failures = Vec::new();
        for mirror in &self.mirrors {
            let url = format!("{}/{}", mirror.trim_end_matches('/'), self.name);
            match self.from(&url, &part, bar) {
                Ok(()) => {
                    self.put(part, folder)?;
                    return Ok(Fetched::From(mirror.clone()));
                }
                Err(reason) => failures.push(format!("{url}: {reason}")),
            }
        }
        Err(Error::Failed(format!("cannot fetch {} ({})", self.name, failures.join("; "))))
    }

    /// Returns the SHA-256 of the file in `folder` if there is no digest to check, so that users can compare and save
    /// it.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn unchecked_sha256(&self, folder: &Path) -> Result<Option<String>> {
        if self.check != Check::Reading || self.archive.is_some() {
            return Ok(None);
        }
        let path = folder.join(&self.name);
        let sha256 = File::open(&path).and_then(|mut file| digest::<Sha256>(&mut file));
        sha256.map(Some).map_err(Error::io("read", path))
    }

    fn is_there(&self, folder: &Path) -> bool {
        match (&self.archive, self.check) {
            (Some(archive), _) => archive.is_unpacked(folder),
            (None, Check::Mnist(file)) => file.find(folder).is_some_and(|path| {
                read_bytes(&path).is_ok_and(|content| file.is_canonical(&content))
            }),
            (None, _) => {
                let path = folder.join(&self.name);
                path.is_file() && self.verify(&path).is_ok()
            }
        }
    }

    fn from(&self, url: &str, part: &Path, bar: &ProgressBar) -> Result<(), String> {
        transfer(url, part, self.largest, bar)?;
        self.verify(part)
    }

    /// Checks that a file has the right content.
    fn verify(&self, path: &Path) -> Result<(), String> {
        let unreadable = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
        let mut file = File::open(path).map_err(unreadable)?;
        let found = match self.check {
            Check::Reading => return Ok(()),
            Check::Md5(_) => digest::<Md5>(&mut file).map_err(unreadable)?,
            Check::Sha256(_) => digest::<Sha256>(&mut file).map_err(unreadable)?,
            Check::Mnist(canonical) => {
                digest::<Md5>(&mut MultiGzDecoder::new(file).take(canonical.length + 1))
                    .map_err(|error| format!("it serves a damaged file: {error}"))?
            }
        };
        let (kind, expected) = match self.check {
            Check::Sha256(expected) => ("SHA-256", expected),
            Check::Md5(expected) => ("MD5", expected),
            Check::Mnist(canonical) => ("MD5", canonical.md5),
            Check::Reading => return Ok(()),
        };
        match found == expected {
            true => Ok(()),
            false => Err(format!("it serves another content (its {kind} differs: {found})")),
        }
    }

    fn put(&self, part: TempPath, folder: &Path) -> Result<()> {
        match &self.archive {
            Some(archive) => archive.unpack(&part, folder)?,
            None => {
                // `write_atomically` creates a file that other users may read; the temporary file is private.
                let content = fs::read(&part).map_err(Error::io("read", &part))?;
                write_atomically(&folder.join(&self.name), content)?;
            }
        }
        Ok(())
    }
}

/// Returns the digest in hexadecimal digits.
fn digest<D: Digest>(content: &mut impl Read) -> std::io::Result<String> {
    let mut digest = D::new();
    let mut chunk = vec![0; 64 << 10];
    loop {
        match content.read(&mut chunk)? {
            0 => break,
            read => digest.update(&chunk[..read]),
        }
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::super::server::{Server, gzip, tar_gz};
    use super::*;
    use gelu_compare::testing::steps;

    /// Returns a file with the given check and mirrors.
    fn remote(check: Check, mirrors: &[&Server]) -> RemoteFile {
        RemoteFile {
            name: "some-idx1-ubyte.gz".to_owned(),
            mirrors: mirrors.iter().map(|server| server.address()).collect(),
            check,
            largest: 1 << 20,
            archive: None,
        }
    }

    fn md5(content: &[u8]) -> &'static str {
        digest::<Md5>(&mut &content[..]).unwrap().leak()
    }

    /// Returns MNIST's check for these bytes.
    fn canonical(content: &[u8]) -> Check {
        Check::Mnist(MnistFile {
            name: "some-idx1-ubyte",
            md5: md5(content),
            length: content.len() as u64,
        })
    }

    /// Returns bytes that cannot be compressed.
    fn noise(count: usize) -> Vec<u8> {
        let step = |x: u64| {
            x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
        };
        let states = std::iter::successors(Some(1_u64), |&x| Some(step(x)));
        states.map(|x| (x >> 56) as u8).take(count).collect()
    }

    fn hidden() -> ProgressBar {
        ProgressBar::hidden()
    }

    #[test]
    fn falls_through_broken_mirrors_to_the_one_that_serves_it() {
        let content = b"the canonical content".repeat(50);
        let mirrors = [
            &Server::missing(),
            &Server::of(gzip(b"something else")),
            &Server::of(b"no gzip".to_vec()),
            &Server::of(gzip(&content)),
        ];
        let folder = tempfile::tempdir().unwrap();
        let file = remote(canonical(&content), &mirrors);
        assert_eq!(
            file.fetch(folder.path(), &hidden()).unwrap(),
            Fetched::From(mirrors[3].address())
        );
        let path = folder.path().join("some-idx1-ubyte.gz");
        assert_eq!(read_bytes(&path).unwrap(), content);
        let none = remote(canonical(&content), &[]);
        assert_eq!(none.fetch(folder.path(), &hidden()).unwrap(), Fetched::AlreadyThere);
        fs::write(path, b"damaged since").unwrap();
        assert!(none.fetch(folder.path(), &hidden()).is_err());
    }

    #[test]
    fn failure_is_one_line_that_says_what_each_mirror_did() {
        let folder = tempfile::tempdir().unwrap();
        let wrong = Server::of(gzip(b"wrong"));
        let mut file = remote(canonical(b"right"), &[&wrong]);
        file.mirrors.push("http://127.0.0.1:9".to_owned());
        let error = file.fetch(folder.path(), &hidden()).unwrap_err().to_string();
        assert!(error.contains("127.0.0.1:9") && error.contains("MD5 differs"), "{error}");
        assert!(!error.contains('\n'), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_broken_download_is_tried_again_and_leaves_nothing() {
        let content = noise(300_000);
        let folder = tempfile::tempdir().unwrap();
        let server = Server::of(content.clone()).breaking_off(2);
        let file = remote(Check::Md5(md5(&content)), &[&server]);
        file.fetch(folder.path(), &hidden()).unwrap();
        assert_eq!(fs::read(folder.path().join(&file.name)).unwrap(), content);
        let always = Server::of(content.clone()).breaking_off(usize::MAX);
        let folder = tempfile::tempdir().unwrap();
        let error = remote(Check::Md5(md5(&content)), &[&always]).fetch(folder.path(), &hidden());
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("cannot fetch some-idx1-ubyte.gz (http://127"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// The remains of an interrupted download are not part of the file, whatever the server answers.
    #[test]
    fn remains_of_another_try_are_no_part_of_the_file() {
        let content = noise(50_000);
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".fetching-some-idx1-ubyte.gz"), [7; 60_000]).unwrap();
        let server = Server::of(content.clone());
        let file = remote(Check::Reading, &[&server]);
        file.fetch(folder.path(), &hidden()).unwrap();
        assert_eq!(fs::read(folder.path().join(&file.name)).unwrap(), content);
    }

    #[cfg(unix)]
    #[test]
    fn what_was_fetched_may_be_read_as_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = remote(Check::Reading, &[&Server::of(noise(10))]);
        file.fetch(folder.path(), &hidden()).unwrap();
        let mode = |name: &str| {
            fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777
        };
        fs::write(folder.path().join("ordinary"), "").unwrap();
        assert_eq!(mode(&file.name), mode("ordinary"));
    }

    #[test]
    fn endless_answers_are_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::of(noise(50_000));
        let mut file = remote(Check::Reading, &[&server]);
        file.largest = 1_000;
        let error = file.fetch(folder.path(), &hidden()).unwrap_err().to_string();
        assert!(error.contains("more than 1000 bytes"), "{error}");
    }

    #[test]
    fn a_file_without_a_published_digest_has_its_own_told() {
        let content = b"word\t1 2 3\n".to_vec();
        let folder = tempfile::tempdir().unwrap();
        let server = Server::of(content.clone());
        let file = remote(Check::Reading, &[&server]);
        file.fetch(folder.path(), &hidden()).unwrap();
        // printf 'word\t1 2 3\n' | sha256sum
        let expected = "b9f237a882c285bee82c7ac48438dc73fd3f905c8ea8cb0b21db6b7e894857ca";
        assert_eq!(file.unchecked_sha256(folder.path()).unwrap().as_deref(), Some(expected));
        let checked = remote(Check::Md5(md5(&content)), &[&server]);
        assert_eq!(checked.unchecked_sha256(folder.path()).unwrap(), None);
    }

    #[test]
    fn archive_is_unpacked_whole_or_not_at_all() {
        let files: &[(&str, &[u8])] = &[
            ("top/recordings/a.wav", b"one"),
            ("top/recordings/b.wav", b"two"),
            ("top/README.md", b"not wanted"),
            ("top/../../outside.wav", b"never"),
        ];
        let packed = tar_gz(files);
        let server = Server::of(packed.clone());
        let folder = tempfile::tempdir().unwrap();
        let archive = |digest| Archive { folder: "recordings", extension: "wav", digest };
        // sha256sum a.wav b.wav | sha256sum
        let right = "74fb36685fb006009d175474b70c8a49da37b1ef975f9dd63cca296603ec2c56";
        let mut file = remote(Check::Md5(md5(&packed)), &[&server]);
        file.archive = Some(archive(Some("0000")));
        let error = file.fetch(folder.path(), &hidden()).unwrap_err().to_string();
        assert!(error.contains("holds other files"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{error}");
        for digest in [Some(right), None] {
            let folder = tempfile::tempdir().unwrap();
            file.archive = Some(archive(digest));
            let steps = steps(|| {
                file.fetch(folder.path(), &hidden()).unwrap();
            });
            // The folder counts as complete once it has its name.
            let unpacked = steps.iter().rposition(|step| step == "rename recordings").unwrap();
            for file in ["sync a.wav", "sync b.wav"] {
                assert!(steps[..unpacked].contains(&file.to_owned()), "{file}: {steps:?}");
            }
            if cfg!(unix) {
                let name = folder.path().file_name().unwrap().to_string_lossy();
                assert_eq!(steps[unpacked - 1], "sync recordings");
                assert_eq!(steps[unpacked + 1], format!("sync {name}"));
            }
            let unpacked = folder.path().join("recordings");
            assert_eq!(fs::read(unpacked.join("a.wav")).unwrap(), b"one");
            assert_eq!(fs::read_dir(unpacked).unwrap().count(), 2);
            assert_eq!(file.fetch(folder.path(), &hidden()).unwrap(), Fetched::AlreadyThere);
        }
    }
}

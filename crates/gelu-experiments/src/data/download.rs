//! Fetching data sets: several mirrors, checked content, atomic files.

use super::{idx, mnist::MnistFile};
use crate::files::write_atomically;
use crate::{Error, Result};
use flate2::read::MultiGzDecoder;
use indicatif::ProgressBar;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// Where the files of MNIST are served, in the order they are tried.
pub const MNIST_MIRRORS: [&str; 2] = [
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
];

/// No file of MNIST is longer when compressed.
const LARGEST_DOWNLOAD: u64 = 32 << 20;

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// It was there and is the canonical one.
    AlreadyThere,
    /// It was fetched from this mirror.
    From(String),
}

/// Fetches one file of MNIST into `folder`, from the first mirror that serves the canonical
/// content. `bar` shows the bytes of the download under way.
///
/// # Errors
///
/// When no mirror serves it ([`Error::Download`], saying what each of them did), or it cannot be
/// written.
pub fn fetch_mnist_file(
    file: &MnistFile,
    folder: &Path,
    mirrors: &[String],
    bar: &ProgressBar,
) -> Result<Fetched> {
    std::fs::create_dir_all(folder).map_err(Error::io("create the folder", folder))?;
    if let Some(path) = file.find(folder)
        && idx::read_bytes(&path).is_ok_and(|content| file.is_canonical(&content))
    {
        return Ok(Fetched::AlreadyThere);
    }
    let mut failures = Vec::new();
    for mirror in mirrors {
        let url = format!("{}/{}.gz", mirror.trim_end_matches('/'), file.name);
        match download(&url, bar).and_then(|packed| verify(file, packed)) {
            Ok(packed) => {
                write_atomically(&folder.join(format!("{}.gz", file.name)), packed)?;
                return Ok(Fetched::From(mirror.clone()));
            }
            Err(reason) => failures.push(format!("{url}: {reason}")),
        }
    }
    Err(Error::Download(format!(
        "cannot fetch {} ({}); offline, put the four MNIST files into {} yourself or train on the \
         built-in digits: `gelu compare`",
        file.name,
        failures.join("; "),
        folder.display()
    )))
}

fn download(url: &str, bar: &ProgressBar) -> Result<Vec<u8>, String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(15)))
        .timeout_recv_response(Some(Duration::from_secs(30)))
        .timeout_recv_body(Some(Duration::from_secs(600)))
        .build()
        .into();
    let response = agent.get(url).call().map_err(|error| error.to_string())?;
    let length = response.body().content_length();
    bar.reset();
    bar.set_length(length.unwrap_or(0));
    let limited = response.into_body().into_reader().take(LARGEST_DOWNLOAD + 1);
    let mut packed = Vec::new();
    bar.wrap_read(limited).read_to_end(&mut packed).map_err(|error| error.to_string())?;
    match packed.len() as u64 {
        read if read > LARGEST_DOWNLOAD => Err("serves more than 32 MiB".to_owned()),
        read if length.is_some_and(|length| length != read) => {
            Err(format!("broke off after {read} bytes"))
        }
        _ => Ok(packed),
    }
}

fn verify(file: &MnistFile, packed: Vec<u8>) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    let mut decoder = MultiGzDecoder::new(packed.as_slice()).take(file.length + 1);
    decoder.read_to_end(&mut content).map_err(|error| format!("serves a damaged file: {error}"))?;
    match file.is_canonical(&content) {
        true => Ok(packed),
        false => Err("serves another content (its MD5 differs)".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use md5::{Digest, Md5};
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    /// A mirror on this machine that answers one request with these bytes, then goes away.
    fn mirror(answer: Vec<u8>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = BufReader::new(stream.try_clone().unwrap()).lines();
            while request.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            stream.write_all(&answer).unwrap();
        });
        format!("http://{address}/mnist")
    }

    fn ok(body: &[u8], announced: usize) -> Vec<u8> {
        let mut answer =
            format!("HTTP/1.1 200 OK\r\nContent-Length: {announced}\r\nConnection: close\r\n\r\n")
                .into_bytes();
        answer.extend(body);
        answer
    }

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    /// A file whose canonical content is these bytes.
    fn file(content: &[u8]) -> MnistFile {
        let md5: String = Md5::digest(content).iter().map(|b| format!("{b:02x}")).collect();
        MnistFile { name: "some-idx1-ubyte", md5: md5.leak(), length: content.len() as u64 }
    }

    #[test]
    fn falls_through_broken_mirrors_to_the_one_that_serves_it() {
        let content = b"the canonical content".repeat(50);
        let packed = gzip(&content);
        let mirrors = [
            mirror(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec()),
            mirror(ok(&packed[..packed.len() / 2], packed.len())),
            mirror(ok(&gzip(b"something else"), gzip(b"something else").len())),
            mirror(ok(b"no gzip", 7)),
            mirror(ok(&packed, packed.len())),
        ];
        let folder = tempfile::tempdir().unwrap();
        let file = file(&content);
        let fetch = |mirrors: &[String]| {
            fetch_mnist_file(&file, folder.path(), mirrors, &ProgressBar::hidden())
        };
        assert_eq!(fetch(&mirrors).unwrap(), Fetched::From(mirrors[4].clone()));
        let path = file.find(folder.path()).unwrap();
        assert_eq!(idx::read_bytes(&path).unwrap(), content);
        assert_eq!(fetch(&[]).unwrap(), Fetched::AlreadyThere);
        std::fs::write(path, b"damaged since").unwrap();
        assert!(fetch(&[]).is_err());
    }

    #[test]
    fn failure_is_one_line_that_says_what_each_mirror_did_and_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let closed = "http://127.0.0.1:9".to_owned();
        let wrong = mirror(ok(&gzip(b"wrong"), gzip(b"wrong").len()));
        let mirrors = [closed, wrong];
        let file = file(b"right");
        let result = fetch_mnist_file(&file, folder.path(), &mirrors, &ProgressBar::hidden());
        let error = result.unwrap_err().to_string();
        assert!(error.contains("127.0.0.1:9") && error.contains("MD5 differs"), "{error}");
        assert!(error.contains("gelu compare") && !error.contains('\n'), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

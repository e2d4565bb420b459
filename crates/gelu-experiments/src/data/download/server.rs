//! A server on this machine, to test downloads against.

use flate2::{Compression, write::GzEncoder};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Serves one content under any name until the test ends.
pub(super) struct Server {
    address: String,
    behaviour: Arc<Mutex<Behaviour>>,
}

struct Behaviour {
    /// `None` is answered with 404.
    content: Option<Vec<u8>>,
    ranges: bool,
    limit: usize,
    served: Vec<usize>,
}

impl Server {
    pub(super) fn of(content: Vec<u8>) -> Self {
        Self::start(Some(content))
    }

    pub(super) fn missing() -> Self {
        Self::start(None)
    }

    /// Ends every connection after so many bytes of content.
    pub(super) fn breaking_off_after(self, limit: usize) -> Self {
        self.behaviour.lock().unwrap().limit = limit;
        self
    }

    /// Always sends all.
    pub(super) fn without_ranges(self) -> Self {
        self.behaviour.lock().unwrap().ranges = false;
        self
    }

    pub(super) fn address(&self) -> String {
        self.address.clone()
    }

    /// Bytes of content sent over each connection.
    pub(super) fn served(&self) -> Vec<usize> {
        self.behaviour.lock().unwrap().served.clone()
    }

    fn start(content: Option<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/folder", listener.local_addr().unwrap());
        let behaviour = Behaviour { content, ranges: true, limit: usize::MAX, served: Vec::new() };
        let behaviour = Arc::new(Mutex::new(behaviour));
        let shared = behaviour.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                // A client that goes away in the middle is what some tests are about.
                let _ = answer(stream.unwrap(), &mut shared.lock().unwrap());
            }
        });
        Self { address, behaviour }
    }
}

fn answer(mut stream: TcpStream, behaviour: &mut Behaviour) -> std::io::Result<()> {
    let mut from = None;
    for line in BufReader::new(stream.try_clone()?).lines() {
        let line = line?.to_ascii_lowercase();
        if let Some(range) = line.strip_prefix("range: bytes=") {
            from = range.trim_end_matches('-').parse::<usize>().ok();
        }
        if line.is_empty() {
            break;
        }
    }
    let Some(content) = &behaviour.content else {
        return stream.write_all(
            b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        );
    };
    let from = from.filter(|_| behaviour.ranges);
    let rest = &content[from.unwrap_or(0).min(content.len())..];
    let (status, range) = match from {
        Some(from) => {
            let last = content.len() - 1;
            let range = format!("Content-Range: bytes {from}-{last}/{}\r\n", content.len());
            ("206 Partial Content", range)
        }
        None => ("200 OK", String::new()),
    };
    let length = rest.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{range}Connection: close\r\n\r\n"
    )?;
    let sent = &rest[..rest.len().min(behaviour.limit)];
    behaviour.served.push(sent.len());
    stream.write_all(sent)
}

pub(super) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// An archive of these files; a path may be one that no honest archive has.
pub(super) fn tar_gz(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        builder.append(&header, *content).unwrap();
    }
    gzip(&builder.into_inner().unwrap())
}

//! A server on this machine, to test downloads against.

use flate2::{Compression, write::GzEncoder};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Serves the same content under any name until the test ends.
pub(super) struct Server {
    address: String,
    behaviour: Arc<Mutex<Behaviour>>,
}

struct Behaviour {
    /// The content; `None` is answered with 404.
    content: Option<Vec<u8>>,
    /// The number of further connections to break off in the middle.
    broken: usize,
}

impl Server {
    pub(super) fn of(content: Vec<u8>) -> Self {
        Self::start(Some(content))
    }

    pub(super) fn missing() -> Self {
        Self::start(None)
    }

    /// Breaks off the first `connections` connections in the middle.
    pub(super) fn breaking_off(self, connections: usize) -> Self {
        self.behaviour.lock().unwrap().broken = connections;
        self
    }

    pub(super) fn address(&self) -> String {
        self.address.clone()
    }

    fn start(content: Option<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/folder", listener.local_addr().unwrap());
        let behaviour = Behaviour { content, broken: 0 };
        let behaviour = Arc::new(Mutex::new(behaviour));
        let shared = behaviour.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                // Some tests are about clients that disconnect in the middle.
                let _ = answer(stream.unwrap(), &mut shared.lock().unwrap());
            }
        });
        Self { address, behaviour }
    }
}

fn answer(mut stream: TcpStream, behaviour: &mut Behaviour) -> std::io::Result<()> {
    for line in BufReader::new(stream.try_clone()?).lines() {
        if line?.is_empty() {
            break;
        }
    }
    let Some(content) = &behaviour.content else {
        return stream.write_all(
            b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        );
    };
    let length = content.len();
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")?;
    let sent = match behaviour.broken {
        0 => length,
        _ => length / 2,
    };
    behaviour.broken = behaviour.broken.saturating_sub(1);
    stream.write_all(&content[..sent])
}

pub(super) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Returns an archive of these files; a path may be invalid in a normal archive.
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

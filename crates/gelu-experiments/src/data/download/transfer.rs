//! Moving bytes from a server into a file, over as many connections as it takes.

use indicatif::ProgressBar;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;
use ureq::http::{StatusCode, header};

/// Connections tried in a row that bring nothing new.
const FRUITLESS: u32 = 3;
const CHUNK: usize = 64 << 10;

/// Why a connection ended early.
enum Ended {
    /// Another one may get further.
    Broken(String),
    /// Another one would end the same way.
    Refused(String),
}

/// Fetches `url` into `target`, going on behind what is there from an earlier try. What was fetched
/// stays when it fails. `bar` shows the bytes of the whole.
///
/// # Errors
///
/// With the last connection's reason.
pub(super) fn transfer(
    url: &str,
    target: &Path,
    largest: u64,
    bar: &ProgressBar,
) -> Result<(), String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(15)))
        .timeout_recv_response(Some(Duration::from_secs(30)))
        // A stalled connection ends, and the next one goes on behind it.
        .timeout_recv_body(Some(Duration::from_secs(600)))
        .build()
        .into();
    let mut fruitless = 0;
    loop {
        let before = length(target);
        let reason = match connect(&agent, url, target, largest, bar) {
            Ok(()) => return Ok(()),
            Err(Ended::Refused(reason)) => return Err(reason),
            Err(Ended::Broken(reason)) => reason,
        };
        let now = length(target);
        fruitless = if now > before { 0 } else { fruitless + 1 };
        if fruitless == FRUITLESS {
            return Err(match now {
                0 => reason,
                _ => format!("{reason}; {now} bytes are kept, and the same command goes on there"),
            });
        }
        std::thread::sleep(Duration::from_millis(200) * fruitless);
    }
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

fn connect(
    agent: &ureq::Agent,
    url: &str,
    target: &Path,
    largest: u64,
    bar: &ProgressBar,
) -> Result<(), Ended> {
    let kept = length(target);
    let mut request = agent.get(url);
    if kept > 0 {
        request = request.header(header::RANGE, format!("bytes={kept}-"));
    }
    let response = match request.call() {
        Ok(response) => response,
        // Nothing lies behind what is kept: it is whole, or of another length than the server's.
        Err(ureq::Error::StatusCode(416)) if kept > 0 => return Ok(()),
        Err(error @ ureq::Error::StatusCode(500..)) => {
            return Err(Ended::Broken(error.to_string()));
        }
        Err(error @ ureq::Error::StatusCode(_)) => return Err(Ended::Refused(error.to_string())),
        Err(error) => return Err(Ended::Broken(error.to_string())),
    };
    let goes_on = response.status() == StatusCode::PARTIAL_CONTENT
        && starts_at(response.headers().get(header::CONTENT_RANGE), kept);
    let done = if goes_on { kept } else { 0 };
    let whole = response.body().content_length().map(|rest| done + rest);
    if whole.is_some_and(|whole| whole > largest) {
        return Err(too_large(largest));
    }
    bar.set_length(whole.unwrap_or(0));
    bar.set_position(done);
    let failed = |error: std::io::Error| {
        Ended::Refused(format!("cannot write {}: {error}", target.display()))
    };
    let mut file = OpenOptions::new()
        .create(true)
        .write(true)
        .append(goes_on)
        .truncate(!goes_on)
        .open(target)
        .map_err(failed)?;
    let mut reader = response.into_body().into_reader();
    let mut chunk = vec![0; CHUNK];
    let mut position = done;
    loop {
        let read = reader.read(&mut chunk).map_err(|error| Ended::Broken(error.to_string()))?;
        if read == 0 {
            break;
        }
        position += read as u64;
        if position > largest {
            return Err(too_large(largest));
        }
        file.write_all(&chunk[..read]).map_err(failed)?;
        bar.set_position(position);
    }
    match whole {
        Some(whole) if whole != position => {
            Err(Ended::Broken(format!("it broke off after {position} of {whole} bytes")))
        }
        _ => file.sync_all().map_err(failed),
    }
}

/// Whether a `Content-Range` of `bytes 100-199/200` starts at this byte.
fn starts_at(range: Option<&header::HeaderValue>, byte: u64) -> bool {
    let range =
        range.and_then(|value| value.to_str().ok()).and_then(|text| text.strip_prefix("bytes "));
    let start = range.and_then(|text| text.split('-').next()).and_then(|text| text.parse().ok());
    start == Some(byte)
}

fn too_large(largest: u64) -> Ended {
    Ended::Refused(format!("it serves more than {largest} bytes, which no such file has"))
}

//! Copies bytes from a server into a file.

use indicatif::ProgressBar;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

/// The number of connections to try. Each starts from the beginning, because no file is large enough to make partial
/// downloads worth their checks.
const TRIES: u32 = 3;
const CHUNK: usize = 64 << 10;

/// The reason why a connection ended early.
enum Ended {
    /// Another connection may succeed.
    Broken(String),
    /// Another connection would end the same way.
    Refused(String),
}

/// Fetches `url` into `target`. `bar` shows the bytes.
///
/// # Errors
///
/// The reason of the last connection.
pub(super) fn transfer(
    url: &str,
    target: &Path,
    largest: u64,
    bar: &ProgressBar,
) -> Result<(), String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(15)))
        .timeout_recv_response(Some(Duration::from_secs(30)))
        // Ends a stalled connection.
        .timeout_recv_body(Some(Duration::from_secs(600)))
        .build()
        .into();
    let mut tries = 1;
    loop {
        match connect(&agent, url, target, largest, bar) {
            Ok(()) => return Ok(()),
            Err(Ended::Refused(reason)) => return Err(reason),
            Err(Ended::Broken(reason)) if tries == TRIES => return Err(reason),
            Err(Ended::Broken(_)) => {}
        }
        std::thread::sleep(Duration::from_millis(200) * tries);
        tries += 1;
    }
}

fn connect(
    agent: &ureq::Agent,
    url: &str,
    target: &Path,
    largest: u64,
    bar: &ProgressBar,
) -> Result<(), Ended> {
    let response = agent.get(url).call().map_err(|error| match error {
        ureq::Error::StatusCode(..500) => Ended::Refused(error.to_string()),
        _ => Ended::Broken(error.to_string()),
    })?;
    let whole = response.body().content_length();
    if whole.is_some_and(|whole| whole > largest) {
        return Err(too_large(largest));
    }
    bar.set_length(whole.unwrap_or(0));
    bar.set_position(0);
    let failed = |error: std::io::Error| {
        Ended::Refused(format!("cannot write {}: {error}", target.display()))
    };
    let mut file = File::create(target).map_err(failed)?;
    let mut reader = response.into_body().into_reader();
    let mut chunk = vec![0; CHUNK];
    let mut position = 0;
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

fn too_large(largest: u64) -> Ended {
    Ended::Refused(format!("it serves more than {largest} bytes, which no such file has"))
}

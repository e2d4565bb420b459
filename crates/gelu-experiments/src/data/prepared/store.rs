use crate::{Error, Result};
use gelu_compare::files::write_atomically;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::path::Path;

/// Bytes of the checksum before the data.
const CHECKSUM: usize = 32;

/// Writes atomically, so that a reader never sees a partial file. The permissions follow the umask, because users may
/// share the cache.
pub(crate) fn write<T: Serialize>(path: &Path, thing: &T) -> Result<()> {
    let mut bytes = vec![0; CHECKSUM];
    rmp_serde::encode::write(&mut bytes, thing)
        .map_err(|error| Error::Failed(error.to_string()))?;
    let checksum = Sha256::digest(&bytes[CHECKSUM..]);
    bytes[..CHECKSUM].copy_from_slice(&checksum);
    write_atomically(path, bytes)
}

/// Reads the content of a file; `None` if there is none, or it is damaged.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let bytes = std::fs::read(path).ok()?;
    let (checksum, content) = bytes.split_at_checked(CHECKSUM)?;
    (*Sha256::digest(content) == *checksum).then(|| rmp_serde::from_slice(content).ok())?
}

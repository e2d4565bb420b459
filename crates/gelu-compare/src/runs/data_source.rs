use super::canonical::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// Where a data set is from; nothing where an experiment names none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataSource {
    /// Its name: `mnist`, `digits`.
    pub name: String,
    /// The folder it was read from; `None` for built-in data.
    pub location: Option<PathBuf>,
    /// Whether it was generated rather than collected.
    pub synthetic: bool,
    /// SHA-256 of its content: tells data sets apart, whatever they are called.
    pub fingerprint: String,
}

impl DataSource {
    /// Describes data by name, place and the fingerprint of its content, given piece by piece.
    pub fn new(
        name: &str,
        location: Option<PathBuf>,
        synthetic: bool,
        content: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> Self {
        let mut digest = Sha256::new();
        for piece in content {
            digest.update(piece);
        }
        let fingerprint = hex(&digest.finalize());
        Self { name: name.to_owned(), location, synthetic, fingerprint }
    }
}

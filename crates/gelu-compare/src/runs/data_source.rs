use super::canonical::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// The origin of a data set. Empty if a recipe names no data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataSource {
    /// The data set's name: `mnist`, `digits`.
    pub name: String,
    /// The folder from which the data was read; `None` for built-in data.
    pub location: Option<PathBuf>,
    /// Whether the data was generated rather than collected.
    pub synthetic: bool,
    /// The SHA-256 of the content. It distinguishes data sets regardless of their names.
    pub fingerprint: String,
}

impl DataSource {
    /// Creates the description of a data set. `content` gives the content piece by piece, for the fingerprint.
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

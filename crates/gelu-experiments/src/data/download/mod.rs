//! Fetching data sets: several mirrors, and content that is checked before it counts.

mod archive;
mod remote;
#[cfg(test)]
mod server;
mod sets;
mod transfer;

pub use archive::Archive;
pub use remote::{Check, Fetched, RemoteFile};
pub use sets::files_of;

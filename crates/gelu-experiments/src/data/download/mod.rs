//! Downloads of data sets, from several mirrors and with checked content.

mod archive;
mod remote;
#[cfg(test)]
mod server;
mod sets;
mod transfer;

pub use archive::Archive;
pub use remote::{Check, Fetched, RemoteFile};
pub use sets::files_of;

//! The crate's error type. Its messages explain how to fix the problem.

use crate::names::printable_lines;
use std::fmt;
use std::path::{Path, PathBuf};

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this crate. Its message says what is wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request itself makes no sense (exit code 2).
    #[error("{0}")]
    Usage(String),

    /// The operating system refused a file or folder.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// The failed action, as a verb: "read", "create", "rename".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },

    /// A file could be read, but its content is wrong.
    #[error("{}: {place}{problem}{}", path.display(), AdviceLine(advice))]
    Data {
        /// The file.
        path: PathBuf,
        /// The position in the file.
        place: Place,
        /// The problem there, with the offending value.
        problem: String,
        /// Advice on how to fix the problem; may be empty.
        advice: String,
    },

    /// A run could not be carried out.
    #[error("run {}: {problem}", run.display())]
    Run {
        /// The run's folder.
        run: PathBuf,
        /// The problem.
        problem: String,
    },

    /// Another worker has taken the run over, because this one was silent for too long.
    #[error(
        "run {}: another worker has taken it over, since this one was silent for too long; this \
         one has written nothing since",
        run.display()
    )]
    LeaseLost {
        /// The run's folder.
        run: PathBuf,
    },

    /// A failure that involves no file, such as that of a device or a download. Holds the message.
    #[error("{0}")]
    Failed(String),

    /// The user stopped the program (exit code 130).
    #[error("interrupted; everything finished so far is saved in {}", out.display())]
    Interrupted {
        /// The folder with the results so far.
        out: PathBuf,
    },
}

impl Error {
    /// Returns a closure for `map_err` that makes an [`Error::Io`]: `fs::read(p).map_err(Error::io("read", p))`.
    pub fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        move |source| Self::Io { action, path, source }
    }

    /// Creates an [`Error::Data`]. `problem` and `advice` may contain control characters; they are escaped.
    pub fn data(
        path: impl AsRef<Path>,
        place: Place,
        problem: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self::Data {
            path: path.as_ref().to_path_buf(),
            place,
            problem: printable_lines(&problem.into()),
            advice: printable_lines(&advice.into()),
        }
    }

    /// Returns the process's exit code for this error: 2 for wrong usage, 130 if interrupted, 1 for anything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Interrupted { .. } => 130,
            _ => 1,
        }
    }
}

/// A position in a file, for error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    File,
    /// A byte offset in the uncompressed content, from 0.
    Byte(u64),
    /// A line, from 1.
    Line(usize),
    /// An item of a collection (an image, a record), from 0.
    Item(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => Ok(()),
            Self::Byte(offset) => write!(f, "byte {offset}: "),
            Self::Line(line) => write!(f, "line {line}: "),
            Self::Item(index) => write!(f, "item {index}: "),
        }
    }
}

struct AdviceLine<'a>(&'a str);

impl fmt::Display for AdviceLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "; {}", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_error_says_file_place_problem_and_advice() {
        let error = Error::data("d/train", Place::Byte(4), "count is 9", "fetch it again");
        assert_eq!(error.to_string(), "d/train: byte 4: count is 9; fetch it again");
        let whole = Error::data("d/train", Place::File, "is empty", "");
        assert_eq!(whole.to_string(), "d/train: is empty");
    }
}

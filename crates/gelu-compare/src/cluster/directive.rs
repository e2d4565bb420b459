use crate::names::printable;
use crate::{Error, Result};
use std::fmt;
use std::path::Path;

/// A line `#SBATCH --option=value`. Slurm reads it and no shell does, so nothing can be quoted as for a
/// shell: what may stand there is checked here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Directive {
    option: &'static str,
    value: Option<String>,
}

impl Directive {
    /// An option without a value.
    pub(super) fn flag(option: &'static str) -> Self {
        Self { option, value: None }
    }

    /// A value of our own making.
    pub(super) fn plain(option: &'static str, value: impl fmt::Display) -> Self {
        Self { option, value: Some(value.to_string()) }
    }

    /// A value that somebody has typed.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] when it holds what Slurm might take for something else.
    pub(super) fn word(option: &'static str, value: &str) -> Result<Self> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.:,+@".contains(c);
        match !value.is_empty() && value.chars().all(allowed) {
            true => Ok(Self::plain(option, value)),
            false => Err(Error::Usage(format!(
                "--{option} `{}` cannot stand in a Slurm script; it takes letters, digits and -_.:,+@",
                printable(value)
            ))),
        }
    }

    /// A file in `folder`, whose name may be a pattern of Slurm's, as `%A_%a.log`.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] when the folder's path holds what Slurm takes in no way: it is quoted, but a
    /// quote ends that, and after a backslash no pattern counts.
    pub(super) fn file(option: &'static str, folder: &Path, pattern: &str) -> Result<Self> {
        let folder = super::shell::utf8(folder)?;
        if folder.chars().any(|c| c.is_control() || c == '"' || c == '\\') {
            return Err(Error::Usage(format!(
                "the path {} cannot stand in a Slurm script; choose a folder without quotes (\"), \
                 backslashes and control characters",
                printable(folder)
            )));
        }
        // A percent sign of the folder's own is no pattern.
        Ok(Self::plain(option, format!("\"{}/{pattern}\"", folder.replace('%', "%%"))))
    }
}

impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#SBATCH --{}", self.option)?;
        match &self.value {
            Some(value) => write!(f, "={value}"),
            None => Ok(()),
        }
    }
}

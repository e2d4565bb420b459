use crate::names::printable;
use crate::{Error, Result};
use std::fmt;
use std::path::Path;

/// A line `#SBATCH --option=value`. Slurm reads this line itself, without a shell, so shell quoting does not work.
/// The constructors check the value instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Directive {
    option: &'static str,
    value: Option<String>,
}

impl Directive {
    /// Creates an option without a value.
    pub(super) fn flag(option: &'static str) -> Self {
        Self { option, value: None }
    }

    /// Creates an option whose value this program chose. The value is not checked.
    pub(super) fn plain(option: &'static str, value: impl fmt::Display) -> Self {
        Self { option, value: Some(value.to_string()) }
    }

    /// Creates an option whose value the user typed.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] if `value` contains a character that Slurm might interpret.
    pub(super) fn word(option: &'static str, value: &str) -> Result<Self> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.:,+@".contains(c);
        match !value.is_empty() && value.chars().all(allowed) {
            true => Ok(Self::plain(option, value)),
            false => Err(Error::Usage(format!(
                "--{option} `{}` cannot be written into a Slurm script; it takes letters, digits and -_.:,+@",
                printable(value)
            ))),
        }
    }

    /// Creates an option whose value is a file in `folder`. The file's name may be a pattern of Slurm's, such as
    /// `%A_%a.log`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] if the folder's path contains a character that cannot be written. The path is in
    /// quotes, which a quote would end, and after a backslash Slurm replaces no pattern.
    pub(super) fn file(option: &'static str, folder: &Path, pattern: &str) -> Result<Self> {
        let folder = super::shell::utf8(folder)?;
        if folder.chars().any(|c| c.is_control() || c == '"' || c == '\\') {
            return Err(Error::Usage(format!(
                "the path {} cannot be written into a Slurm script; choose a folder without quotes (\"), \
                 backslashes and control characters",
                printable(folder)
            )));
        }
        // Slurm must not read a percent sign in the folder's path as a pattern.
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

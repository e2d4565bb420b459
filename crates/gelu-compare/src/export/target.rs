use super::{mlflow, tensorboard};
use crate::runs::Snapshot;
use crate::suggestion::did_you_mean;
use crate::{Error, Result};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The forms of all targets.
const EXPORTS: &str = "There are: tensorboard, tensorboard=DIR, mlflow=URL";

/// A place to export results to, in addition to the comparison's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Event files in this folder, by default `tensorboard` in the comparison's folder. They store measures as 32-bit
    /// numbers.
    TensorBoard(Option<PathBuf>),
    /// The MLflow server at this address.
    MlFlow(String),
}

impl Target {
    /// Exports every run that has finished an epoch, and returns a line that says what was done. Replaces what an
    /// earlier export of the same runs left.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written, or if the server is down or refuses something.
    pub fn export(&self, snapshot: &Snapshot, comparison: &Path) -> Result<String> {
        match self {
            Self::TensorBoard(folder) => {
                let default = comparison.join("tensorboard");
                let folder = folder.as_deref().unwrap_or(&default);
                let runs = tensorboard::write(snapshot, folder)?;
                Ok(format!(
                    "{runs} runs as TensorBoard events (32-bit numbers): tensorboard --logdir {}",
                    folder.display()
                ))
            }
            Self::MlFlow(url) => {
                let sent = mlflow::send(snapshot, comparison, url)?;
                Ok(format!("{} runs sent to MLflow at {url}, {} were there", sent.new, sent.known))
            }
        }
    }
}

impl FromStr for Target {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (kind, place) = match text.split_once('=') {
            Some((kind, place)) => (kind, Some(place).filter(|place| !place.is_empty())),
            None => (text, None),
        };
        match (kind, place) {
            ("tensorboard", place) => Ok(Self::TensorBoard(place.map(PathBuf::from))),
            ("mlflow", Some(url)) if url.starts_with("http://") || url.starts_with("https://") => {
                Ok(Self::MlFlow(url.trim_end_matches('/').to_owned()))
            }
            ("mlflow", _) => Err(Error::Usage(
                "mlflow needs the address of its server, as in mlflow=http://127.0.0.1:5000"
                    .to_owned(),
            )),
            _ => Err(Error::Usage(match did_you_mean(kind, &["tensorboard", "mlflow"]) {
                Some(question) => format!("unknown export `{text}`; {question} {EXPORTS}"),
                None => format!("unknown export `{text}`. {EXPORTS}"),
            })),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TensorBoard(None) => f.write_str("tensorboard"),
            Self::TensorBoard(Some(folder)) => write!(f, "tensorboard={}", folder.display()),
            Self::MlFlow(url) => write!(f, "mlflow={url}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_parse_from_their_own_text() {
        for text in ["tensorboard", "tensorboard=some/where", "mlflow=http://127.0.0.1:5000"] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
        for text in ["mlflow", "mlflow=", "mlflow=127.0.0.1:5000", "wandb", ""] {
            let error = text.parse::<Target>().unwrap_err().to_string();
            assert!(error.contains("mlflow=") || error.contains("tensorboard"), "{error}");
        }
    }
}

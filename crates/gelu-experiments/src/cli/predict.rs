use super::eval::{data_of, run_of};
use super::print;
use crate::training::{OfText, Prediction, Word, predict};
use crate::{Error, Result};
use clap::Args;
use gelu_compare::cli::{number, whole};
use gelu_learner::device::DeviceName;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct Predict {
    /// Folder of a comparison, whose best run predicts, or folder of one run
    folder: PathBuf,
    /// A PNG or JPEG file, a row of the table as comma-separated cells (with or without the class), the WAV file of a
    /// recording, the words of a tweet, the start of a text, or the comma-separated coordinates of a point
    #[arg(allow_negative_numbers = true)]
    input: String,
    /// Folder with the data set's files, for runs of an older version
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Device to predict on
    #[arg(long, value_name = "NAME")]
    device: Option<DeviceName>,
    /// For a text: number of characters to write
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = whole::<u32>(1..=1_000_000))]
    characters: u32,
    /// For a text: 0 always takes the likeliest character, 1 samples from the network's probabilities
    #[arg(long, value_name = "T", default_value_t = 0.0, allow_negative_numbers = true, value_parser = number)]
    temperature: f64,
    /// For a text: print its log loss instead of continuing it
    #[arg(long, conflicts_with_all = ["characters", "temperature"])]
    loss: bool,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

impl Predict {
    pub(super) fn run(self) -> Result<ExitCode> {
        if !(self.temperature.is_finite() && self.temperature >= 0.0) {
            return Err(Error::Usage(format!(
                "--temperature {} cannot be; it is a number from 0 on",
                self.temperature
            )));
        }
        let run = run_of(&self.folder)?;
        let device = self.device.map_or_else(DeviceName::default_device, Ok)?;
        device.check()?;
        let of_text = match self.loss {
            true => OfText::LogLoss,
            false => OfText::Continuation {
                length: self.characters as usize,
                temperature: self.temperature,
            },
        };
        let data = || data_of(&self.folder, &run, self.data);
        let predicted = predict(&run, data, &self.input, of_text, &device.open())?;
        print(&match self.json {
            true => json_of(predicted, run.path()),
            false => lines_of(predicted, &self.input, run.path()),
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn json_of(predicted: Prediction, run: &Path) -> String {
    let document = match predicted {
        Prediction::Classes(classes) => {
            let of = |(class, p): (String, f64)| json!({ "class": class, "probability": p });
            let classes: Vec<_> = classes.into_iter().map(of).collect();
            json!({ "run": run, "classes": classes })
        }
        Prediction::AxisWords(words) => json!({ "run": run, "words": words }),
        Prediction::Text(text) => json!({ "run": run, "text": text }),
        Prediction::LogLoss { loss, characters } => {
            json!({ "run": run, "loss": loss, "characters": characters })
        }
        Prediction::Value(value) => json!({ "run": run, "value": value }),
    };
    format!("{document}\n")
}

fn lines_of(predicted: Prediction, input: &str, run: &Path) -> String {
    let by = format!("by the network in {}\n", run.display());
    match predicted {
        Prediction::Text(text) => format!("{input}{text}\n"),
        Prediction::LogLoss { loss, characters } => {
            format!("{loss:.4} nats per character over {characters} characters\n{by}")
        }
        Prediction::Value(value) => format!("{value:.6}\n{by}"),
        Prediction::AxisWords(words) => {
            let width = words.iter().map(|word| word.word.chars().count()).max().unwrap_or(0);
            let line = |Word { word, class, probability }: Word| {
                format!("{word:width$}  {class}  {probability:.4}\n")
            };
            words.into_iter().map(line).collect::<String>() + &by
        }
        Prediction::Classes(classes) => {
            let width = classes.iter().map(|(class, _)| class.chars().count()).max();
            let (width, count) = (width.unwrap_or(0), classes.len());
            let line = |(class, p): (String, f64)| format!("{class:width$}  {p:.4}\n");
            let shown: String = classes.into_iter().take(5).map(line).collect();
            let more = if count > 5 { format!("and {} more; ", count - 5) } else { String::new() };
            format!("{shown}{more}{by}")
        }
    }
}

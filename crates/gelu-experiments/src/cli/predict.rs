use super::eval::{data_of, run_of};
use super::print;
use crate::device::DeviceName;
use crate::training::{Continuation, Prediction, predict};
use crate::{Error, Result};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct Predict {
    /// A comparison's folder, whose best run predicts, or the folder of one run
    folder: PathBuf,
    /// A PNG or JPEG file, a row of the table as its cells between commas (with or without the class), or a text
    /// to go on from
    input: String,
    /// Folder that holds the data set's files, which say how inputs are scaled
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Device to predict on
    #[arg(long, value_name = "NAME")]
    device: Option<DeviceName>,
    /// Characters to write behind a text
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    characters: u32,
    /// Of a text: 0 always takes the likeliest character, 1 draws as the network has it
    #[arg(long, value_name = "T", default_value_t = 0.0, allow_negative_numbers = true)]
    temperature: f64,
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
        let (data, place) = data_of(&self.folder, &run, self.data)?;
        let device = self.device.map_or_else(DeviceName::default_device, Ok)?;
        device.check()?;
        let continuation =
            Continuation { length: self.characters as usize, temperature: self.temperature };
        let predicted =
            predict(&run, data, place.as_deref(), &self.input, continuation, &device.open())?;
        let folder = run.path().display();
        print(&match (self.json, predicted) {
            (true, Prediction::Classes(classes)) => {
                let of = |(class, p): (String, f64)| json!({ "class": class, "probability": p });
                let classes: Vec<_> = classes.into_iter().map(of).collect();
                format!("{}\n", json!({ "run": run.path(), "classes": classes }))
            }
            (true, Prediction::Text(text)) => {
                format!("{}\n", json!({ "run": run.path(), "text": text }))
            }
            (false, Prediction::Text(text)) => format!("{}{text}\n", self.input),
            (false, Prediction::Classes(classes)) => {
                let width = classes.iter().map(|(class, _)| class.chars().count()).max();
                let (width, count) = (width.unwrap_or(0), classes.len());
                let line = |(class, p): (String, f64)| format!("{class:width$}  {p:.4}\n");
                let shown: String = classes.into_iter().take(5).map(line).collect();
                let more =
                    if count > 5 { format!("and {} more; ", count - 5) } else { String::new() };
                format!("{shown}{more}by the network in {folder}\n")
            }
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

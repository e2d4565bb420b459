use super::numbers::{count, number};
use crate::comparison::sentence;
use crate::measure::Direction;
use crate::output::print;
use crate::report::{forest_svg, png, strips};
use crate::scores::{self, Columns, Judged, Scores, ScoresDocument};
use crate::{Error, Result};
use clap::Args;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Characters in a line of a terminal.
const TERMINAL: usize = 80;

/// Judge any table of scores: a CSV file with settings, seeds and a measure
#[derive(Debug, Args)]
pub struct Verdict {
    /// A CSV file with a line a run: columns of settings, `seed`, and a measure; - reads standard
    /// input, a name in .tsv has tabs
    file: PathBuf,
    /// The column whose values are compared
    #[arg(long, value_name = "COLUMN")]
    compare: String,
    /// Columns at each of whose values there is a verdict
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    each: Vec<String>,
    /// The column of the measure that decides
    #[arg(long, value_name = "COLUMN")]
    primary: String,
    /// Lower values are better [the default]
    #[arg(long, conflicts_with = "higher")]
    lower: bool,
    /// Higher values are better
    #[arg(long)]
    higher: bool,
    /// The value that the others are compared with [default: that of the first line]
    #[arg(long, value_name = "VALUE")]
    baseline: Option<String>,
    /// A difference that nobody would care about, in the measure's unit; without it nothing is called
    /// the same
    #[arg(long, value_name = "DIFFERENCE", value_parser = number)]
    negligible: Option<f64>,
    /// Numbers of seeds after which these results were looked at before: every look has its price
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count::<u64>)]
    looked_at: Vec<u64>,
    /// Draw the forest plot into FILE, which ends in .svg or .png
    #[arg(long, value_name = "FILE")]
    forest: Option<PathBuf>,
    /// Print the verdicts as one JSON document on standard output, and nothing else there
    #[arg(long)]
    json: bool,
}

impl Verdict {
    /// Judges the table and prints the verdicts. `label` says how sentences and pictures call a value of
    /// the column that is compared.
    ///
    /// # Errors
    ///
    /// A table that cannot be read or judged, a number that makes no sense, a picture that cannot be
    /// written.
    pub fn run(self, label: impl Fn(&str) -> String) -> Result<ExitCode> {
        let negligible = self.negligible.unwrap_or(0.0);
        if !(negligible.is_finite() && negligible >= 0.0) {
            return Err(Error::Usage(format!(
                "--negligible {negligible} is no size of a difference; it has to be 0 or more"
            )));
        }
        let better = if self.higher { Direction::Higher } else { Direction::Lower };
        let Self { compare, each, primary, .. } = self;
        let columns = Columns { compare, each, primary };
        let (reader, name): (Box<dyn Read>, _) = match self.file.as_os_str() == "-" {
            true => (Box::new(std::io::stdin().lock()), Path::new("standard input")),
            false => {
                let file = File::open(&self.file).map_err(Error::io("read", &self.file))?;
                (Box::new(file), self.file.as_path())
            }
        };
        let table = Scores::read(reader, name, &columns, better)?;
        let baseline = self.baseline.as_deref();
        let mut judged = scores::judge(&table, name, baseline, negligible, &self.looked_at)?;
        for one in &mut judged {
            one.found.arm = label(&one.found.arm);
            one.found.baseline = label(&one.found.baseline);
        }
        let shown = name.display().to_string();
        let forest = scores::forest(&shown, &columns, better, &judged);
        if let (Some(path), Some(forest)) = (&self.forest, &forest) {
            draw(&forest_svg(forest), path)?;
        }
        match self.json {
            true => print(&ScoresDocument::new(&shown, &columns, better, &judged).to_json())?,
            false => {
                let strips = forest.map_or_else(String::new, |forest| strips(&forest, TERMINAL));
                print(&format!("{strips}\n{}", sentences(&columns, better, &judged)))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes the picture in the form that the file's name asks for.
fn draw(svg: &str, path: &Path) -> Result<()> {
    let bytes = match path.extension().and_then(|ending| ending.to_str()) {
        Some("svg") => svg.as_bytes().to_vec(),
        Some("png") => png(svg)?,
        _ => {
            return Err(Error::Usage(format!(
                "--forest {}: the name has to end in .svg or .png",
                path.display()
            )));
        }
    };
    crate::files::write_atomically(path, bytes)
}

/// A sentence a comparison, and what the intervals hold for.
fn sentences(columns: &Columns, better: Direction, judged: &[Judged]) -> String {
    let wording = scores::wording(columns, better);
    let wrap = |text: &str| {
        let options = textwrap::Options::new(TERMINAL).subsequent_indent("  ");
        format!("{}\n", textwrap::fill(text, options))
    };
    let mut said = String::new();
    for one in judged {
        let context = scores::context(columns, one);
        let head = if context.is_empty() { context } else { format!("{context}: ") };
        said += &wrap(&format!("{head}{}", sentence(&one.found, &wording)));
    }
    let comparisons = match judged.len() {
        1 => "the comparison".to_owned(),
        several => format!("all {several} comparisons"),
    };
    let looks = judged.first().map_or(1, |one| one.found.rules.looks.iter().count());
    let looks = if looks > 1 { format!(" and all {looks} looks") } else { String::new() };
    said + "\n"
        + &wrap(&format!(
            "Intervals are 95 % intervals over {comparisons}{looks}; p counts them, too, and is held \
             against 0.05."
        ))
}

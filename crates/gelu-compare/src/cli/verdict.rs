use super::numbers::{no_worse, number, whole};
use crate::comparison::{ALPHA, Wording, error_rate};
use crate::measure::{Direction, Measure, NoWorse, Scale};
use crate::output::print;
use crate::pack;
use crate::report::{forest_svg, png, strips};
use crate::scores::{self, Columns, Question, ScoresDocument, Table, TableVerdict};
use crate::{Error, Result};
use clap::Args;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Characters per line of a terminal.
const TERMINAL: usize = 80;

/// Judge any table of scores: a CSV file with settings, seeds and a metric
#[derive(Debug, Args)]
pub struct Verdict {
    /// A CSV file (or a .tsv file with tabs) with one line per run and columns of settings, `seed` and a metric.
    /// Also a comparison's file from `pack`, or - for standard input
    file: PathBuf,
    /// Column whose values are compared
    #[arg(long, value_name = "COLUMN", required_unless_present = "wide")]
    compare: Option<String>,
    /// In a table with one column of scores per setting: these columns, the baseline first
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', conflicts_with_all = ["compare", "no_worse"])]
    wide: Vec<String>,
    /// Make one verdict for each value of these columns
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    each: Vec<String>,
    /// Column of the metric that decides; with --wide, a name for the scores [default: score]
    #[arg(long, aliases = ["primary", "measure"], value_name = "COLUMN", required_unless_present = "wide")]
    metric: Option<String>,
    /// Column of seeds; runs with the same seed are a pair
    #[arg(long, value_name = "COLUMN", default_value = "seed")]
    seed: String,
    /// Use only lines with this value in this column, as in state=finished; may be given several times; several
    /// values of one column are alternatives
    #[arg(long, value_name = "COLUMN=VALUE", value_parser = only)]
    only: Vec<(String, String)>,
    /// Compare runs that share no seeds, or settings with different numbers of runs, without pairs
    #[arg(long)]
    unpaired: bool,
    /// Compare each setting with this number instead of a baseline
    #[arg(long, value_name = "NUMBER", value_parser = number, conflicts_with_all = ["baseline", "unpaired"])]
    target: Option<f64>,
    /// Make one verdict over the values of this column: data sets, tasks, languages
    #[arg(long, value_name = "COLUMN", requires = "scale", conflicts_with_all = ["each", "target", "no_worse", "planned"])]
    over: Option<String>,
    /// How to bring the differences of --over to one scale: as they are, relative to the baseline's mean, or as ranks
    #[arg(long, value_name = "SCALE", requires = "over")]
    scale: Option<Scale>,
    /// Lower values are better [the default]
    #[arg(long, conflicts_with = "higher")]
    lower: bool,
    /// Higher values are better; with names, only for these metrics
    #[arg(long, value_name = "METRICS", value_delimiter = ',', num_args = 0.., require_equals = true)]
    higher: Option<Vec<String>>,
    /// Value that the others are compared with [default: that of the first line]
    #[arg(long, value_name = "VALUE")]
    baseline: Option<String>,
    /// A difference too small to care about, in the metric's unit; without it no verdict is "the same"
    #[arg(long, value_name = "DIFFERENCE", value_parser = number, conflicts_with = "unpaired")]
    negligible: Option<f64>,
    /// Call a setting better only if it is not worse in another column by more than this, as in loss=0.002
    #[arg(long, value_name = "COLUMN=DIFFERENCE", value_parser = no_worse, conflicts_with = "unpaired")]
    no_worse: Option<NoWorse>,
    /// Maximum probability that any verdict of the table is wrong
    #[arg(long, value_name = "PROBABILITY", value_parser = number, default_value_t = ALPHA)]
    level: f64,
    /// Number of seeds planned before the first run [default: those in the table]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..=u64::MAX), conflicts_with = "unpaired")]
    planned: Option<u64>,
    /// Save the forest plot as FILE, which ends in .svg or .png
    #[arg(long, value_name = "FILE")]
    forest: Option<PathBuf>,
    /// Print the verdicts as one JSON document on standard output, and nothing else there
    #[arg(long)]
    json: bool,
}

/// Parses a column with a value: `state=finished`.
fn only(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((column, value)) if !column.trim().is_empty() => {
            Ok((column.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("a column and its value are written as in state=finished".to_owned()),
    }
}

impl Verdict {
    /// Judges the table and prints the verdicts. `label` returns the name of a compared value in sentences and
    /// images.
    ///
    /// # Errors
    ///
    /// Returns an error if the table cannot be read or judged, a number makes no sense, or the image cannot be
    /// written.
    pub fn run(self, label: fn(&str) -> String) -> Result<ExitCode> {
        self.check()?;
        let columns = self.columns();
        let question = self.question(&columns, label);
        let (reader, name): (Box<dyn Read>, _) = match self.file.as_os_str() == "-" {
            true => (Box::new(std::io::stdin().lock()), Path::new("standard input")),
            false => (self.table()?, self.file.as_path()),
        };
        let guard = columns.guard.as_deref().unwrap_or_default();
        let directions = [self.direction(&columns.metric), self.direction(guard)];
        let table = Table::read(reader, name, &columns, directions)?;
        let judged = match self.scale {
            Some(scale) => scores::judge_over_tasks(&table, name, &columns, &question, scale)?,
            None => scores::judge(&table, name, &columns, &question)?,
        };
        let shown = name.display().to_string();
        let forest = scores::forest(&shown, &columns, &question, &judged);
        if let (Some(path), Some(forest)) = (&self.forest, &forest) {
            draw(&forest_svg(forest), path)?;
        }
        match self.json {
            true => print(
                &ScoresDocument::new(&shown, &columns, &question, table.left_out, &judged)
                    .to_json(),
            )?,
            false => {
                let strips = forest.map_or_else(String::new, |forest| strips(&forest, TERMINAL));
                print(&format!(
                    "{strips}\n{}",
                    sentences(&columns, &question, table.left_out, &judged)
                ))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Returns a reader of the table's bytes: those of the file, or the scores of a packed comparison.
    fn table(&self) -> Result<Box<dyn Read>> {
        Ok(match pack::scores(&self.file)? {
            Some(scores) => Box::new(Cursor::new(scores)),
            None => Box::new(File::open(&self.file).map_err(Error::io("read", &self.file))?),
        })
    }

    fn check(&self) -> Result<()> {
        let refuse = |problem: String| Err(Error::Usage(problem));
        let size = |flag: &str, size: f64| match size.is_finite() && size >= 0.0 {
            true => Ok(()),
            false => {
                refuse(format!("{flag} {size} is no size of a difference; it has to be 0 or more"))
            }
        };
        size("--negligible", self.negligible.unwrap_or(0.0))?;
        size("--no-worse", self.no_worse.as_ref().map_or(0.0, |no_worse| no_worse.margin))?;
        if !(self.level > 0.0 && self.level < 1.0) {
            return refuse(format!(
                "--level {} has to lie between 0 and 1, as 0.05 does",
                self.level
            ));
        }
        match self.target.is_some_and(|target| !target.is_finite()) {
            true => refuse("--target has to be a finite number".to_owned()),
            false => Ok(()),
        }
    }

    fn columns(&self) -> Columns {
        Columns {
            compare: self.compare.clone().unwrap_or_default(),
            wide: self.wide.clone(),
            each: self.over.clone().map_or_else(|| self.each.clone(), |over| vec![over]),
            metric: self.metric.clone().unwrap_or_else(|| "score".to_owned()),
            guard: self.no_worse.as_ref().map(|no_worse| no_worse.metric.clone()),
            seed: self.seed.clone(),
            unpaired: self.unpaired,
            only: self.only.clone(),
        }
    }

    /// Returns which values of `metric` are better.
    fn direction(&self, metric: &str) -> Direction {
        let is_named =
            |names: &[String]| names.is_empty() || names.iter().any(|name| name == metric);
        match self.higher.as_deref().is_some_and(is_named) {
            true => Direction::Higher,
            false => Direction::Lower,
        }
    }

    fn question(&self, columns: &Columns, label: fn(&str) -> String) -> Question {
        let wording =
            |metric: &str| Wording::of(&Measure::named(metric).towards(self.direction(metric)));
        let guard = |no_worse: &NoWorse| (wording(&no_worse.metric), no_worse.margin);
        Question {
            wording: wording(&columns.metric),
            baseline: self.baseline.clone(),
            target: self.target,
            negligible: self.negligible.unwrap_or(0.0),
            guard: self.no_worse.as_ref().map(guard),
            alpha: self.level,
            planned: self.planned,
            label,
        }
    }
}

/// Writes the image to `path`, in the format of the file's ending.
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

/// Returns a sentence with details for each comparison, and the error rate of the verdicts.
fn sentences(
    columns: &Columns,
    question: &Question,
    left_out: usize,
    judged: &[TableVerdict],
) -> String {
    let wrap = |text: &str| {
        let options = textwrap::Options::new(TERMINAL).subsequent_indent("  ");
        format!("{}\n", textwrap::fill(text, options))
    };
    let (mut said, mut details) = (String::new(), String::new());
    for one in judged {
        let context = scores::context(columns, one);
        let head = if context.is_empty() { context } else { format!("{context}: ") };
        said += &wrap(&format!("{head}{}", one.finding.sentence));
        if let Some(over) = &one.finding.over {
            said += &wrap(&over.words[0]);
            over.words[1..].iter().for_each(|line| said += &format!("  {line}\n"));
        }
        if let Some(text) = &one.finding.details {
            let (arm, baseline) = (&one.finding.arm, &one.finding.baseline);
            details += &wrap(&format!("{head}{arm} and {baseline}: {text}"));
        }
    }
    let left_out = match left_out {
        0 => String::new(),
        1 => wrap("1 line was left out, because its run has not finished."),
        lines => {
            wrap(&format!("{lines} lines were left out, because their runs have not finished."))
        }
    };
    let assumes = match (columns.unpaired, &question.target) {
        (true, _) => "if the scores of both have one distribution but for a shift",
        (false, Some(_)) => "if scores are symmetric about their centre",
        (false, None) => {
            "if the differences between runs with the same seed are symmetric about their centre"
        }
    };
    let errs = wrap(&format!("{}, {assumes}.", error_rate(judged.len(), question.alpha)));
    format!("{said}\n{details}{left_out}{errs}")
}

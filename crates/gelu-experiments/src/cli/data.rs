use super::print;
use crate::data::download::{Fetched, MNIST_MIRRORS, fetch_mnist_file};
use crate::data::{self, Availability, digits, mnist};
use crate::{Error, Result};
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct Data {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the data sets, and where they are
    List,
    /// Download a data set and check it
    Fetch {
        /// Name of the data set
        name: String,
        /// Folder to put it into [default: where experiments look for it]
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Try this mirror instead of the customary ones; may be given several times
        #[arg(long = "mirror", value_name = "URL")]
        mirrors: Vec<String>,
    },
    /// Check the files of a folder
    Check {
        /// The folder
        folder: PathBuf,
    },
    /// Write a generated data set in the files of a real one
    Synth {
        /// Name of the generated data set
        #[arg(default_value = "digits")]
        name: String,
        /// Folder to write to
        out: PathBuf,
        /// Training examples
        #[arg(long, value_name = "N", default_value_t = digits::TRAIN)]
        train: usize,
        /// Test examples
        #[arg(long, value_name = "N", default_value_t = digits::TEST)]
        test: usize,
    },
}

impl Data {
    pub(super) fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::List => list(),
            Command::Fetch { name, out, mirrors } => fetch(&name, out, mirrors),
            Command::Check { folder } => check(&folder),
            Command::Synth { name, out, train, test } => synth(&name, &out, train, test),
        }
    }
}

fn list() -> Result<ExitCode> {
    let mut lines = String::new();
    for info in data::catalogue() {
        let place = match info.availability() {
            Availability::BuiltIn => "built in".to_owned(),
            Availability::Present(folder) => folder.display().to_string(),
            Availability::Absent(_) => format!("not here; `gelu data fetch {}`", info.name),
        };
        let mark = if info.synthetic { " (synthetic)" } else { "" };
        lines.push_str(&format!(
            "{}{mark}\n  {}\n  {}\n  {place}\n",
            info.name, info.what, info.origin
        ));
    }
    print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

fn fetch(name: &str, out: Option<PathBuf>, mirrors: Vec<String>) -> Result<ExitCode> {
    let folder = match (data::DataSetInfo::named(name)?.availability(), out) {
        (Availability::BuiltIn, _) => {
            print(&format!("{name} is built in; there is nothing to fetch\n"))?;
            return Ok(ExitCode::SUCCESS);
        }
        (_, Some(folder)) => folder,
        (Availability::Present(folder) | Availability::Absent(folder), None) => folder,
    };
    let mirrors = match mirrors.is_empty() {
        true => MNIST_MIRRORS.map(str::to_owned).to_vec(),
        false => mirrors,
    };
    let style = "{prefix} {bar:30} {bytes}/{total_bytes} {bytes_per_sec}";
    let style = ProgressStyle::with_template(style).expect("the template is well-formed");
    for file in mnist::FILES {
        let bar = ProgressBar::new(0).with_style(style.clone()).with_prefix(file.name);
        let fetched = fetch_mnist_file(&file, &folder, &mirrors, &bar)?;
        bar.finish_and_clear();
        print(&match fetched {
            Fetched::AlreadyThere => format!("{}: already there\n", file.name),
            Fetched::From(mirror) => format!("{}: fetched from {mirror}\n", file.name),
        })?;
    }
    print(&format!("{name} is in {}\n", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn check(folder: &Path) -> Result<ExitCode> {
    let reports = mnist::check(folder);
    let mut problems = 0;
    for report in &reports {
        match &report.finding {
            Ok(finding) => {
                let canonical =
                    if finding.canonical { "canonical MNIST" } else { "not MNIST's own content" };
                print(&format!(
                    "ok       {}: {} items, {canonical}\n",
                    report.file.name, finding.items
                ))?;
            }
            Err(error) => {
                problems += 1;
                print(&format!("PROBLEM  {}: {error}\n", report.file.name))?;
            }
        }
    }
    if problems > 0 {
        return Ok(ExitCode::FAILURE);
    }
    // Each file may be sound while they do not belong together.
    let set = mnist::read(folder)?;
    let mark = if set.source.synthetic { ", SYNTHETIC" } else { "" };
    print(&format!(
        "{} training and {} test pictures of {}×{}{mark}\n",
        set.train.len(),
        set.test.len(),
        set.train.height,
        set.train.width
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn synth(name: &str, out: &Path, train: usize, test: usize) -> Result<ExitCode> {
    if name != "digits" {
        return Err(Error::Usage(format!("unknown generated data set `{name}`; there is: digits")));
    }
    if train == 0 || test == 0 {
        return Err(Error::Usage(
            "a data set needs at least one training and one test example".to_owned(),
        ));
    }
    let here = mnist::is_present(out) && !out.join(mnist::SYNTHETIC_MARK).exists();
    if here {
        return Err(Error::Usage(format!(
            "{} holds real data; generated files go into a folder of their own",
            out.display()
        )));
    }
    mnist::write(out, &digits::generate(train, test))?;
    print(&format!(
        "{train} training and {test} test digits are in {}, marked synthetic\n",
        out.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

use super::own::{Own, say_how_read};
use super::print;
use super::suggested::Suggested;
use crate::data::download::{self, Fetched};
use crate::data::synthetic::files;
use crate::data::{self, Availability, DataRequest, mnist, prepared};
use crate::{Error, Result};
use clap::{Args, Subcommand};
use gelu_compare::cli::count;
use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct Data {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the data sets and their folders
    List,
    /// Download a data set and check it
    Fetch {
        /// Name of the data set
        #[arg(value_parser = Suggested::data_sets())]
        name: String,
        /// Folder to put it into [default: where experiments look for it]
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Folder on a server to fetch from instead of the usual servers; may be given several times
        #[arg(long = "mirror", value_name = "URL")]
        mirrors: Vec<String>,
    },
    /// Read a whole data set, check its files and describe its content
    Info {
        /// Name of the data set; for your own data: idx, pictures, csv or tables
        #[arg(value_parser = Suggested::data_sets())]
        name: String,
        /// Folder with its files, or the file of a table [default: where experiments look for it]
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
        #[command(flatten)]
        own: Own,
    },
    /// Write a generated data set in the files of a real one
    Synth {
        /// Data set whose file formats to write; `digits` stands for mnist
        #[arg(value_parser = Suggested::data_sets())]
        name: String,
        /// Folder to write to; must be empty
        out: PathBuf,
        /// Number of training examples: images or tweets; for timit, speakers; for spoken digits, recordings of each
        /// digit by each of three voices [default: a small set]
        #[arg(long, value_name = "N", value_parser = count::<usize>)]
        train: Option<usize>,
        /// Number of test examples of the same kind (spoken digits: five)
        #[arg(long, value_name = "N", value_parser = count::<usize>)]
        test: Option<usize>,
    },
    /// List the cache of prepared data: drawn digits, decoded images, whitenings
    Cache {
        /// Clear the cache; data that are needed again are prepared again
        #[arg(long)]
        remove: bool,
    },
}

impl Data {
    pub(super) fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::List => list(),
            Command::Fetch { name, out, mirrors } => fetch(&name, out, mirrors),
            Command::Info { name, data, own } => info(&own.asked(&name), data.as_deref()),
            Command::Cache { remove } => cache(remove),
            Command::Synth { name, out, train, test } => {
                print(&format!("{}\n", files::write(&name, &out, train, test)?))?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

fn list() -> Result<ExitCode> {
    let mut lines = String::new();
    for info in data::catalogue() {
        let place = match info.availability() {
            Availability::BuiltIn => "built in".to_owned(),
            Availability::Present(folder) => folder.display().to_string(),
            Availability::Absent(folder) => {
                format!("not in {}; {}", folder.display(), info.how)
            }
        };
        let mark = if info.synthetic { " (synthetic)" } else { "" };
        lines.push_str(&format!(
            "{}{mark}\n  {}\n  {}\n  {place}\n",
            info.name, info.what, info.origin
        ));
    }
    lines.push_str("your own\n");
    for info in data::own::kinds() {
        lines.push_str(&format!("  {:<8}  {}\n", info.name, info.what));
    }
    print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

fn info(asked: &DataRequest, folder: Option<&Path>) -> Result<ExitCode> {
    let name = &asked.set;
    let info = data::DataSetInfo::named(name)?;
    // Without a target column, a table can only list its columns.
    if !(name == "csv" && asked.target.is_none()) {
        asked.validate()?;
    }
    if let (true, Some(file)) = (name == "csv", folder) {
        let columns = data::own::table::columns(asked, file)?;
        print(&format!("columns of {}\n  {}\n", file.display(), columns.join("\n  ")))?;
    }
    if name == "mnist" {
        let folder = match (folder, info.availability()) {
            (Some(folder), _) => Some(folder.to_path_buf()),
            (None, Availability::Present(folder)) => Some(folder),
            (None, _) => None,
        };
        if let Some(folder) = folder
            && !check(&folder)?
        {
            return Ok(ExitCode::FAILURE);
        }
    }
    let set = data::load(asked, folder)?;
    say_how_read(&set, &[], |line| if name == "csv" { Ok(()) } else { print(line) })?;
    let source = set.source();
    let mark = if source.synthetic { " (SYNTHETIC DATA)" } else { "" };
    let place = match &source.location {
        Some(folder) => folder.display().to_string(),
        None => "built in".to_owned(),
    };
    print(&format!(
        "{name}{mark}\n  {}\n  {}\n  {place}\n  {}\n  content {}\n",
        info.what,
        info.origin,
        set.describe(),
        source.fingerprint
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn fetch(name: &str, out: Option<PathBuf>, mirrors: Vec<String>) -> Result<ExitCode> {
    let info = data::DataSetInfo::named(name)?;
    let folder = match (info.availability(), out) {
        (Availability::BuiltIn, _) => {
            print(&format!("{name} is built in; there is nothing to fetch\n"))?;
            return Ok(ExitCode::SUCCESS);
        }
        (_, Some(folder)) => folder,
        (Availability::Present(folder) | Availability::Absent(folder), None) => folder,
    };
    let mut files = download::files_of(name);
    if files.is_empty() {
        let problem = format!("{name} cannot be fetched: {}: {}", folder.display(), info.how);
        return Err(Error::Usage(problem));
    }
    if data::synthetic::is_marked(&folder) {
        let problem = format!(
            "{} holds generated files; take them away, or name another folder with --out",
            folder.display()
        );
        return Err(Error::Usage(problem));
    }
    let style = "{prefix} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
    let style = ProgressStyle::with_template(style).expect("the template is well-formed");
    for file in &mut files {
        if !mirrors.is_empty() {
            file.mirrors = mirrors.clone();
        }
        let bar = ProgressBar::new(0).with_style(style.clone()).with_prefix(file.name.clone());
        let fetched = file.fetch(&folder, &bar).map_err(|error| offline(error, name, &folder))?;
        bar.finish_and_clear();
        print(&match fetched {
            Fetched::AlreadyThere => format!("{}: already there\n", file.name),
            Fetched::From(mirror) => format!("{}: fetched from {mirror}\n", file.name),
        })?;
        if let Some(sha256) = file.unchecked_sha256(&folder)? {
            print(&format!("{}: SHA-256 {sha256}, and none to compare it with\n", file.name))?;
        }
    }
    let set = data::load(&name.into(), Some(&folder))?;
    print(&format!("{name} is in {}: {}\n", folder.display(), set.describe()))?;
    Ok(ExitCode::SUCCESS)
}

fn cache(remove: bool) -> Result<ExitCode> {
    let Some(folder) = prepared::folder() else {
        return Err(Error::Usage(
            "there is no folder for prepared data; $GELU_CACHE names one".to_owned(),
        ));
    };
    let files = prepared::kept(&folder)?;
    let bytes = files.iter().map(|file| file.bytes).sum();
    let mut lines = String::new();
    for prepared::StoredData { path, bytes } in &files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        lines.push_str(&format!("{:>11}  {name}\n", HumanBytes(*bytes).to_string()));
        if remove {
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(Error::io("remove", path)(error));
                }
                _ => {}
            }
        }
    }
    let (count, bytes, folder) = (files.len(), HumanBytes(bytes), folder.display());
    print(&format!(
        "{lines}{count} files of {bytes} {} {folder}\n",
        if remove { "removed from" } else { "in" }
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Adds advice for a computer without internet access to the error.
fn offline(error: Error, name: &str, folder: &Path) -> Error {
    match error {
        Error::Failed(problem) => Error::Failed(format!(
            "{problem}; offline, put the files of {name} into {} yourself, or train on the built-in \
             digits: `gelu compare`",
            folder.display()
        )),
        other => other,
    }
}

/// Prints for each file of MNIST whether it is intact and the canonical one. Returns whether all are intact.
fn check(folder: &Path) -> Result<bool> {
    let reports = mnist::check(folder);
    for report in &reports {
        let name = &report.file.name;
        print(&match &report.finding {
            Ok(finding) if finding.canonical => {
                format!("ok       {name}: {} items, canonical MNIST\n", finding.items)
            }
            Ok(finding) => {
                format!("ok       {name}: {} items, not MNIST's own content\n", finding.items)
            }
            Err(error) => format!("PROBLEM  {name}: {error}\n"),
        })?;
    }
    Ok(reports.iter().all(|report| report.finding.is_ok()))
}

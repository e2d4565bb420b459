use super::widened::History;
use super::{Description, Foreign, Plan, Recipe, RunFolder, RunStatus, Spec, StatusFile};
use crate::error::Place;
use crate::files::{from_toml, problem, read_text, sync, sync_folder};
use crate::names::{excerpts, printable};
use crate::suggestion::did_you_mean;
use crate::{Error, Result};
use serde::Deserialize;
use std::fs;
use std::io::{ErrorKind, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// A folder with a plan and its runs:
///
/// ```text
/// comparison.toml     the recipe, the data and the backend, from which the runs are made; for other
///                     programs, how to show the comparison; see Plan
/// plan/               once the comparison was extended: whether a process is doing so; see Lease
/// runs/<run>/         one folder per run; see RunFolder
/// results.json …      the report, once there is something to report
/// ```
///
/// The recipe and the runs alone determine the remaining work, so any number of processes can work on it; see
/// [`plan`](crate::comparison::plan).
#[derive(Clone, Debug)]
pub struct Comparison<R> {
    path: PathBuf,
    of: PhantomData<R>,
}

/// Returns whether a pair of runs is complete. Seeds added after that are an extension of the plan.
pub type HasBegun<R> = fn(&Comparison<R>, &Plan<R>) -> bool;

impl<R: Recipe> Comparison<R> {
    /// Creates the folder of a comparison, or joins an existing one. If the folder holds a part of the comparison,
    /// extends it.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder holds another comparison, or cannot be created or written to.
    pub fn create(path: &Path, asked: &Plan<R>, has_begun: HasBegun<R>) -> Result<(Self, Plan<R>)> {
        let folder = Self { path: path.to_path_buf(), of: PhantomData };
        let runs = folder.runs();
        fs::create_dir_all(&runs).map_err(Error::io("create the folder", &runs))?;
        if folder.write_first(asked)? {
            if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                sync_folder(parent)?;
            }
            return Ok((folder, asked.clone()));
        }
        let there = folder.plan()?;
        let widened = match folder.widened(&there, asked, has_begun)? {
            same if same == there => same,
            _ => folder.widen(asked, has_begun)?,
        };
        Ok((folder, widened))
    }

    /// Returns what [`create`](Self::create) would make of the comparison in the folder, without changing it, or
    /// `None` if the folder holds no comparison.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder holds another comparison or cannot be read.
    pub fn foresee(
        path: &Path,
        asked: &Plan<R>,
        has_begun: HasBegun<R>,
    ) -> Result<Option<(Self, Plan<R>)>> {
        let folder = Self { path: path.to_path_buf(), of: PhantomData };
        if !folder.file().exists() {
            return Ok(None);
        }
        let widened = folder.widened(&folder.plan()?, asked, has_begun)?;
        Ok(Some((folder, widened)))
    }

    pub(super) fn widened(
        &self,
        there: &Plan<R>,
        asked: &Plan<R>,
        has_begun: HasBegun<R>,
    ) -> Result<Plan<R>> {
        let history = History {
            has_begun: || has_begun(self, there),
            unreported: |measures: &[&str]| self.unreported(measures),
        };
        there.widened(asked, history).map_err(|difference| {
            Error::data(
                &self.path,
                Place::File,
                format!("holds another comparison: {difference}"),
                "name another folder with --out",
            )
        })
    }

    /// Returns the number of complete runs. Also returns the first of `measures` that the last epoch of a finished
    /// run lacks, with a list of the columns that the run has.
    fn unreported(&self, measures: &[&str]) -> (usize, Option<String>) {
        let (mut complete, mut missing) = (0, None);
        for entry in fs::read_dir(self.runs()).into_iter().flatten().flatten() {
            let run = RunFolder::at(&entry.path());
            let Ok(StatusFile { status, .. }) = run.status() else { continue };
            complete += usize::from(status.is_complete());
            // A diverged run counts as the worst in every measure.
            if status == RunStatus::Finished {
                let epochs = run.metrics().unwrap_or_default();
                let has = |name: &str| epochs.last().is_some_and(|last| last.get(name).is_some());
                let told = || super::columns(epochs.iter()).join(", ");
                let unreported = measures.iter().find(|name| !has(name));
                missing =
                    missing.or(unreported.map(|name| format!("{name}: there are {}", told())));
            }
        }
        (complete, missing)
    }

    /// Opens an existing comparison.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder holds no comparison.
    pub fn open(path: &Path) -> Result<Self> {
        let folder = Self { path: path.to_path_buf(), of: PhantomData };
        folder.plan()?;
        Ok(folder)
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the folder with the runs.
    pub fn runs(&self) -> PathBuf {
        self.path.join("runs")
    }

    /// Returns the path of `comparison.toml`.
    pub fn file(&self) -> PathBuf {
        self.path.join("comparison.toml")
    }

    /// Returns the folder of a run. Creates the folder if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`RunFolder::create`].
    pub fn run(&self, spec: &R::Spec) -> Result<RunFolder> {
        RunFolder::create(&self.runs(), spec)
    }

    /// Reads `comparison.toml`.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is missing, damaged or of another version.
    pub fn plan(&self) -> Result<Plan<R>> {
        let path = self.file();
        let Some(text) = read_text(&path)? else {
            return Err(no_comparison(&self.path, R::Spec::TOOL));
        };
        let refuse = |problem: String, advice: &str| {
            Err(Error::data(&path, Place::File, problem, advice.to_owned()))
        };
        let damaged = "restore it; if another program made it, use that";
        let (version, maker) = match toml::from_str::<Head>(&text) {
            Ok(head) => (head.version, head.description),
            Err(error) => return refuse(problem(&error), damaged),
        };
        match version {
            Some(there) if there == Plan::<R>::VERSION => {}
            Some(newer) if newer > Plan::<R>::VERSION => {
                let problem =
                    format!("was made by a newer version of this program (layout {newer})");
                return refuse(problem, "use that version");
            }
            _ => {
                let problem = "was made by an older version of this program".to_owned();
                return refuse(problem, "use that version, or name another folder with --out");
            }
        }
        if let Some(Maker { program, .. }) = maker.filter(Maker::is_foreign::<R>) {
            let program = printable(&program);
            return Err(Error::data(
                &self.path,
                Place::File,
                format!("holds a comparison of {program}, and only {program} goes on with it"),
                "name another folder with --out; `runs`, `report` and `watch` show this one",
            ));
        }
        let plan: Plan<R> = match from_toml(&text) {
            Ok(plan) => plan,
            Err(problem) => return refuse(problem, damaged),
        };
        let Plan { recipe, description, .. } = plan;
        let plan = Plan { recipe: recipe.described(description), description: None, ..plan };
        match plan.validate() {
            Ok(()) => Ok(plan),
            Err(error) => refuse(error.to_string(), damaged),
        }
    }

    /// Returns whether another kind of program made the comparison in the folder. This program can then show the
    /// comparison, but not continue it.
    pub fn is_foreign(path: &Path) -> bool {
        let text = read_text(&path.join("comparison.toml")).ok().flatten();
        let head: Option<Head> = text.and_then(|text| toml::from_str(&text).ok());
        head.and_then(|head| head.description).is_some_and(|maker| maker.is_foreign::<R>())
    }

    /// Returns whether every user of this machine may write into the folder.
    pub fn is_open_to_all(&self) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let open = |path: &Path| {
                fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o002 != 0)
            };
            open(&self.path) || open(&self.runs())
        }
        #[cfg(not(unix))]
        false
    }

    /// Writes `comparison.toml` if there is none, and returns whether it did. If two processes try, one of them
    /// succeeds.
    fn write_first(&self, plan: &Plan<R>) -> Result<bool> {
        let path = self.file();
        if path.exists() {
            return Ok(false);
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".writing-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(&self.path);
        let mut file = file.map_err(Error::io("create a file in", &self.path))?;
        file.write_all(to_toml(plan).as_bytes()).map_err(Error::io("write", &path))?;
        sync(file.as_file(), &path)?;
        match file.persist_noclobber(&path) {
            Ok(_) => {
                #[cfg(any(test, feature = "testing"))]
                crate::files::steps::note("rename", &path);
                sync_folder(&self.path).map(|()| true)
            }
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(Error::io("write", &path)(error.error)),
        }
    }
}

/// The parts of `comparison.toml` to read first, because the rest may depend on the version or the program.
#[derive(Default, Deserialize)]
struct Head {
    version: Option<u32>,
    description: Option<Maker>,
}

/// The program that made a comparison; see [`Description`].
#[derive(Deserialize)]
struct Maker {
    tool: String,
    program: String,
}

impl Maker {
    fn is_foreign<R: Recipe>(&self) -> bool {
        let any = <Foreign as Recipe>::Spec::TOOL;
        R::Spec::TOOL != any && R::Spec::TOOL != self.tool
    }
}

/// Returns the comparisons in a folder, by name: folders and packed files.
pub(crate) fn comparisons_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.join("comparison.toml").exists() || is_packed(path))
        .collect();
    found.sort();
    found
}

#[cfg(feature = "program")]
use crate::pack::is_packed;

/// Without programs there are no packed comparisons.
#[cfg(not(feature = "program"))]
fn is_packed(_: &Path) -> bool {
    false
}

/// Returns an error for a folder without a comparison. It suggests the comparisons inside and next to the folder.
fn no_comparison(path: &Path, tool: &str) -> Error {
    let problem = match path.exists() {
        true => "holds no comparison (no comparison.toml)",
        false => "holds no comparison: there is no such folder",
    };
    let parent = path.parent().map(|parent| match parent.as_os_str().is_empty() {
        true => Path::new("."),
        false => parent,
    });
    let inner = comparisons_in(path);
    let beside = parent.filter(|_| inner.is_empty()).map(comparisons_in).unwrap_or_default();
    let advice = match (inner.is_empty(), beside.is_empty()) {
        (false, _) => format!("name one of those in it: {}", listed(&inner)),
        (true, false) => {
            let name =
                |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let names: Vec<String> = beside.iter().map(|path| name(path)).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            match did_you_mean(&name(path), &names) {
                Some(question) => format!("{question} Next to it there are: {}", listed(&beside)),
                None => format!("next to it there are: {}", listed(&beside)),
            }
        }
        (true, true) if tool == <Foreign as Recipe>::Spec::TOOL => {
            "name the folder that `compare` wrote, by default in results/".to_owned()
        }
        (true, true) => {
            format!("name the folder that `{tool} compare` wrote, by default results/<experiment>")
        }
    };
    Error::data(path, Place::File, problem, advice)
}

/// Returns folders as a list for an error, cut after a few.
fn listed(folders: &[PathBuf]) -> String {
    let names: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    excerpts(names.iter().map(String::as_str))
}

pub(super) fn to_toml<R: Recipe>(plan: &Plan<R>) -> String {
    let description = Some(Description::of(&plan.recipe));
    let described = Plan { description, ..plan.clone() };
    toml::to_string(&described).expect("a comparison holds plain values alone")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::steps::steps;
    use crate::runs::examples::plan;

    /// Runs are worthless without the plan that they belong to.
    #[test]
    fn a_plan_is_on_the_disk_before_it_counts_whether_first_or_widened() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("made");
        let create = |asked: &Plan<_>| {
            steps(|| drop(Comparison::create(&path, asked, |_, _| false).unwrap()))
        };
        let asked = plan();
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let files = ["sync comparison.toml".to_owned(), "rename comparison.toml".to_owned()];
        let folders = ["sync made".to_owned(), format!("sync {}", name(parent.path()))];
        let with = |folders: &[String]| match cfg!(unix) {
            true => [&files[..], folders].concat(),
            false => files.to_vec(),
        };
        assert_eq!(create(&asked), with(&folders));
        assert_eq!(create(&asked), [""; 0], "nothing is written");
        let mut wider = asked.clone();
        wider.recipe.seeds += 1;
        let widened = create(&wider);
        // The lease by which one process at a time widens is renamed, too.
        let of_plan: Vec<_> = widened
            .into_iter()
            .filter(|step| !step.contains("free-") && !step.contains("lease-"))
            .collect();
        assert_eq!(of_plan, with(&folders[..1]));
    }
}

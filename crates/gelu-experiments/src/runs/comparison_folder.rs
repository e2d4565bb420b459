use super::files::write_atomically;
use super::{ComparisonSnapshot, RunFolder, RunSpec};
use crate::error::Place;
use crate::measure::{LossKind, Reported, Selection};
use crate::recipe::FigureSpec;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of a comparison:
///
/// ```text
/// comparison.toml     the plan: what was asked for last
/// runs/<run>/         one folder a run; see RunFolder
/// results.json …      the report, once there is something to report
/// ```
///
/// Runs of earlier plans stay in `runs/` and are found again when a plan asks for them.
#[derive(Clone, Debug)]
pub struct ComparisonFolder {
    path: PathBuf,
}

/// What a comparison consists of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Name of the recipe.
    pub experiment: String,
    /// One line for headings.
    pub title: String,
    /// Name of the data set.
    pub data: String,
    /// Where it was read from; absent for built-in data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_location: Option<PathBuf>,
    /// Whether the data was generated.
    pub synthetic: bool,
    /// Name of the device the runs were planned for.
    pub device: String,
    /// What the best learning rate is chosen by.
    pub selection: Selection,
    /// Which epoch of a run its results are those of.
    #[serde(default)]
    pub reported: Reported,
    /// What the loss is.
    #[serde(default)]
    pub loss: LossKind,
    /// Folder names of the runs, in the order they are shown.
    pub runs: Vec<String>,
    /// The figure of the paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<FigureSpec>,
}

impl ComparisonFolder {
    /// A folder to work in, created if it is new.
    ///
    /// # Errors
    ///
    /// When it cannot be made or written to.
    pub fn create(path: &Path) -> Result<Self> {
        let folder = Self { path: path.to_path_buf() };
        let runs = folder.runs();
        fs::create_dir_all(&runs).map_err(Error::io("create the folder", &runs))?;
        Ok(folder)
    }

    /// An existing comparison.
    ///
    /// # Errors
    ///
    /// When there is none in that folder.
    pub fn open(path: &Path) -> Result<Self> {
        let folder = Self { path: path.to_path_buf() };
        folder.plan()?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its runs are.
    pub fn runs(&self) -> PathBuf {
        self.path.join("runs")
    }

    /// The folder of a run, created if it is new.
    ///
    /// # Errors
    ///
    /// As [`RunFolder::create`].
    pub fn run(&self, spec: &RunSpec) -> Result<RunFolder> {
        RunFolder::create(&self.runs(), spec)
    }

    /// Replaces the plan.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn set_plan(&self, plan: &Plan) -> Result<()> {
        let text = toml::to_string(plan).expect("a plan holds plain values alone");
        write_atomically(&self.plan_file(), text)
    }

    /// The plan.
    ///
    /// # Errors
    ///
    /// When `comparison.toml` is missing or damaged.
    pub fn plan(&self) -> Result<Plan> {
        let path = self.plan_file();
        let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::data(
                &self.path,
                Place::File,
                "holds no comparison (no comparison.toml)",
                "name the folder that `gelu compare` wrote, by default results/<experiment>",
            ),
            _ => Error::io("read", &path)(error),
        })?;
        let damaged = |error: toml::de::Error| {
            Error::data(
                &path,
                Place::File,
                error.to_string().trim_end(),
                "run the same `gelu compare` again: it rewrites the plan and keeps the runs",
            )
        };
        toml::from_str(&text).map_err(damaged)
    }

    /// The folders of the planned runs, in plan order.
    ///
    /// # Errors
    ///
    /// When the plan or a run's specification cannot be read.
    pub fn run_folders(&self) -> Result<Vec<RunFolder>> {
        let runs = self.runs();
        self.plan()?.runs.iter().map(|name| RunFolder::open(&runs.join(name))).collect()
    }

    /// Everything the folder says at this moment.
    ///
    /// # Errors
    ///
    /// When the plan or a planned run cannot be read.
    pub fn snapshot(&self) -> Result<ComparisonSnapshot> {
        let plan = self.plan()?;
        let runs = self.run_folders()?.iter().map(RunFolder::snapshot).collect::<Result<_>>()?;
        Ok(ComparisonSnapshot {
            experiment: plan.experiment,
            title: plan.title,
            data: plan.data,
            data_location: plan.data_location.map(|path| path.display().to_string()),
            synthetic: plan.synthetic,
            device: plan.device,
            selection: plan.selection,
            reported: plan.reported,
            loss: plan.loss,
            figure: plan.figure,
            runs,
        })
    }

    fn plan_file(&self) -> PathBuf {
        self.path.join("comparison.toml")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::Recipe;
    use crate::runs::RunStatus;
    use gelu_core::Activation;

    #[test]
    fn planned_runs_are_read_back_in_plan_order() {
        let out = tempfile::tempdir().unwrap();
        let folder = ComparisonFolder::create(out.path()).unwrap();
        let recipe = Recipe::named("mnist-script").unwrap();
        let mut names = Vec::new();
        for activation in [Activation::Relu, Activation::Gelu] {
            let spec = RunSpec::new(&recipe, &activation, 1e-4, 0.5, 1, "flex", "abc");
            folder.run(&spec).unwrap();
            names.push(spec.folder_name());
        }
        let plan = Plan {
            experiment: recipe.name.clone(),
            title: recipe.title.clone(),
            data: "mnist".to_owned(),
            data_location: Some(PathBuf::from("somewhere")),
            synthetic: false,
            device: "flex".to_owned(),
            selection: recipe.comparison.selection,
            reported: recipe.comparison.reported,
            loss: recipe.network.loss(),
            runs: names,
            figure: recipe.figure.clone(),
        };
        folder.set_plan(&plan).unwrap();
        assert_eq!(ComparisonFolder::open(out.path()).unwrap().plan().unwrap(), plan);
        let snapshot = folder.snapshot().unwrap();
        assert_eq!(snapshot.activations(), ["relu", "gelu"]);
        assert!(snapshot.runs.iter().all(|run| run.status == RunStatus::Waiting));
    }

    #[test]
    fn folder_without_a_plan_says_what_to_name_instead() {
        let out = tempfile::tempdir().unwrap();
        let error = ComparisonFolder::open(out.path()).unwrap_err().to_string();
        assert!(error.contains("no comparison"), "{error}");
    }
}

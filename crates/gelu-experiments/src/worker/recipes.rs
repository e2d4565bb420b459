use crate::comparison::SnapshotReader;
use crate::data::{self, DataSet};
use crate::recipe::Recipe;
use crate::runs::{ClaimedRun, Plan, RunSpec};
use crate::training::{
    Display, PreparedSplits, Splits, can_join, cohort_size, join, train, train_together,
};
use crate::{Error, Result, environment};
use burn::tensor::Device;
use gelu_compare::runs::{Environment, Recipe as _, RunStatus};
use gelu_compare::worker::Trainer;
use gelu_compare::worker::{Control, Cores};
use gelu_learner::device::DeviceName;
use std::path::PathBuf;
use std::sync::Arc;

/// Trains the runs of recipes on a device.
#[derive(Debug)]
pub struct Recipes {
    device: Device,
    device_name: DeviceName,
    cores: Cores,
    /// The location of the data, if it differs from the comparison's.
    location: Option<PathBuf>,
    data: Option<DataSet>,
    prepared: PreparedSplits,
    /// Whether training steps may be recorded and replayed.
    captures: bool,
    /// The maximum number of runs to train as one program, if given.
    cohort: Option<usize>,
}

impl Recipes {
    /// For a comparison, on the device that it was made for where no other is named. `data` is where its
    /// data is, if not where the comparison says; `slots` is how many workers share this processor, itself
    /// among them; `captures` says whether training steps may be recorded and replayed.
    ///
    /// # Errors
    ///
    /// If the comparison is for another backend, or the device does not compute.
    pub fn new(
        reader: &SnapshotReader,
        device: Option<DeviceName>,
        data: Option<PathBuf>,
        slots: usize,
        captures: bool,
    ) -> Result<Self> {
        let plan = reader.plan();
        let device_name = match device {
            Some(device) => device,
            None => plan.device.parse()?,
        };
        let backend = &plan.backend;
        if backend != device_name.backend() {
            return Err(Error::Usage(format!(
                "the comparison in {} is trained on {backend}, and results of two backends differ; \
                 name a device of {backend}, not {device_name}",
                reader.folder().path().display()
            )));
        }
        device_name.check()?;
        Ok(Self {
            device: device_name.open(),
            device_name,
            cores: Cores::here(slots),
            location: data,
            data: None,
            prepared: PreparedSplits::default(),
            captures,
            cohort: None,
        })
    }

    /// The same with `runs` as the maximum number of runs to train as one program. Without it, a fixed number for each
    /// kind of network applies.
    pub fn with_cohort(self, runs: Option<usize>) -> Self {
        Self { cohort: runs, ..self }
    }

    /// Returns the splits of a run.
    fn splits(&mut self, spec: &RunSpec, plan: &Plan) -> Result<Splits> {
        let Self { location, data, prepared, device, .. } = self;
        prepared.of(spec, device, move || {
            if data.is_none() {
                let location = location.as_deref().or(plan.data.location.as_deref());
                *data = Some(data::load(&spec.asked(), location)?);
            }
            Ok(data.as_ref().expect("it was read just now"))
        })
    }
}

impl Trainer for Recipes {
    type Recipe = Recipe;

    fn check(&self, spec: &RunSpec) -> Result<()> {
        spec.activation.nonlinearity().map(|_| ())
    }

    fn environment(&self, plan: &Plan, left: usize) -> Environment {
        let useful = plan.recipe.comparison.threads;
        environment::here(&self.device_name, self.cores.share(left, useful))
    }

    fn cohort(&self, spec: &RunSpec, left: usize) -> usize {
        let most = match self.cohort {
            Some(runs) if can_join(spec) => runs,
            Some(_) => 1,
            None => cohort_size(spec),
        };
        // Other workers here want some, too.
        most.min(left.div_ceil(self.cores.slots()))
    }

    fn join(&self, first: &RunSpec, other: &RunSpec) -> bool {
        join(first, other)
    }

    fn train_together(
        &mut self,
        runs: &[Arc<ClaimedRun>],
        plan: &Plan,
        environment: &Environment,
        control: &Control,
    ) -> Vec<Result<RunStatus>> {
        let criterion = plan.recipe.design().criterion();
        let (mut ready, mut results) = (Vec::new(), Vec::new());
        for run in runs {
            match self.splits(run.spec(), plan) {
                Ok(splits) => {
                    ready.push((run.clone(), splits));
                    results.push(None);
                }
                Err(error) => results.push(Some(Err(error))),
            }
        }
        let trained = train_together(&ready, &criterion, &self.device, control, environment);
        let mut trained = trained.into_iter();
        let result = |result: Option<_>| result.or_else(|| trained.next());
        results.into_iter().filter_map(result).collect()
    }

    fn train(
        &mut self,
        run: &Arc<ClaimedRun>,
        plan: &Plan,
        environment: &Environment,
        control: &Control,
    ) -> Result<RunStatus> {
        let splits = self.splits(run.spec(), plan)?;
        let criterion = plan.recipe.design().criterion();
        let how = (Display::Folder, self.captures);
        train(run, &splits, &criterion, &self.device, control, environment, how)
    }
}

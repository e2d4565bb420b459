use crate::comparison::ComparisonReader;
use crate::data::{self, DataSet};
use crate::recipe::Recipe;
use crate::runs::{ClaimedRun, Comparison, RunSpec};
use crate::training::{Display, PreparedSplits, train};
use crate::{Error, Result, environment};
use burn::tensor::Device;
use gelu_compare::runs::{Environment, Experiment, RunStatus};
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
        reader: &ComparisonReader,
        device: Option<DeviceName>,
        data: Option<PathBuf>,
        slots: usize,
        captures: bool,
    ) -> Result<Self> {
        let comparison = reader.comparison();
        let device_name = match device {
            Some(device) => device,
            None => comparison.device.parse()?,
        };
        let backend = &comparison.backend;
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
        })
    }
}

impl Trainer for Recipes {
    type Experiment = Recipe;

    fn check(&self, spec: &RunSpec) -> Result<()> {
        spec.activation.nonlinearity().map(|_| ())
    }

    fn environment(&self, comparison: &Comparison, left: usize) -> Environment {
        let useful = comparison.recipe.comparison.threads;
        environment::here(&self.device_name, self.cores.share(left, useful))
    }

    fn train(
        &mut self,
        run: &Arc<ClaimedRun>,
        comparison: &Comparison,
        environment: &Environment,
        control: &Control,
    ) -> Result<RunStatus> {
        let Self { location, data, prepared, device, .. } = self;
        let spec = run.spec();
        let splits = prepared.of(spec, device, move || {
            if data.is_none() {
                let location = location.as_deref().or(comparison.data.location.as_deref());
                *data = Some(data::load(&spec.asked(), location)?);
            }
            Ok(data.as_ref().expect("it was read just now"))
        })?;
        let criterion = comparison.recipe.design().criterion();
        let how = (Display::Folder, self.captures);
        train(run, &splits, &criterion, &self.device, control, environment, how)
    }
}

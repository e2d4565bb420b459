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
}

impl Recipes {
    /// Creates a trainer for a comparison, on `device` or on the comparison's device. `data` is the location of the
    /// data if it differs from the comparison's. `slots` is the number of workers that share this processor,
    /// including this one.
    ///
    /// # Errors
    ///
    /// If the comparison is for another backend, or the device does not compute.
    pub fn new(
        reader: &ComparisonReader,
        device: Option<DeviceName>,
        data: Option<PathBuf>,
        slots: usize,
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
        train(run, &splits, &criterion, &self.device, control, environment, Display::Folder)
    }
}

//! What a type cannot check.

use super::{NetworkRecipe, OptimizerRecipe, Recipe, ScheduleRecipe};
use crate::activation::ActivationList;
use crate::data::{DataKind, DataSetInfo};
use crate::measure::{Looks, Metric, Primary, Reported, Split};
use crate::names::{check_file_name, check_line};
use crate::{Error, Result};

impl Recipe {
    /// Checks every value that a type cannot.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] naming the value, and what it has to be.
    pub fn validate(&self) -> Result<()> {
        let at_least_one = |what: &str, value: usize| match value {
            0 => refuse(format!("{what} is 0; it has to be at least 1")),
            _ => Ok(()),
        };
        check_file_name("the recipe's name", &self.name)?;
        check_line("the recipe's title", &self.title)?;
        if let Some(figure) = &self.figure {
            check_file_name("the figure's name", &figure.name)?;
            check_line("the figure's axis", &figure.axis)?;
        }
        let varied = &self.comparison;
        at_least_one("the number of epochs", self.training.epochs)?;
        at_least_one("the batch size", self.training.batch_size)?;
        at_least_one("the number of seeds", varied.seeds as usize)?;
        at_least_one("the number of threads", varied.threads)?;
        at_least_one("the number of activations", varied.activations.len())?;
        ActivationList::check_names(&varied.activations)?;
        at_least_one("the number of learning rates", varied.learning_rates.len())?;
        at_least_one("the number of dropout rates", varied.dropout.len())?;
        at_least_one("the train limit", self.data.train_limit.unwrap_or(1))?;
        at_least_one("the test limit", self.data.test_limit.unwrap_or(1))?;
        for &rate in &varied.learning_rates {
            if !(rate.is_finite() && rate > 0.0) {
                return refuse(format!(
                    "learning rate {rate} cannot be trained with; it has to be above 0 and finite"
                ));
            }
        }
        for &rate in &varied.dropout {
            if !(0.0..1.0).contains(&rate) {
                return refuse(format!(
                    "dropout rate {rate} is not a probability; it has to be at least 0 and below 1"
                ));
            }
        }
        self.validate_network()?;
        self.validate_data()?;
        self.validate_training()?;
        self.validate_tuning()?;
        self.validate_selection()?;
        self.validate_verdict()
    }

    /// A measure that no run has would choose the first learning rate, and say nothing.
    fn validate_selection(&self) -> Result<()> {
        let selection = self.comparison.selection;
        let (metric, split) = selection.measure();
        let info = DataSetInfo::named(&self.data.set)?;
        let pictures = matches!(info.kind, DataKind::Pictures { .. });
        if metric == Metric::Error && !self.network.classifies() {
            return refuse(format!(
                "there is nothing to choose by: selection is {selection}, and this network \
                 classifies nothing; choose by a loss (--selection valid-loss or train-loss)"
            ));
        }
        if split == Split::Valid && pictures && self.data.validation == 0 {
            return refuse(format!(
                "there is nothing to choose by: selection is {selection}, and no examples are set \
                 aside for validation (data.validation is 0); set some aside (--validation N), or \
                 choose by the training loss (--selection train-loss)"
            ));
        }
        let final_runs_choose = self.comparison.reported == Reported::BestEpoch
            && self.comparison.retrain.is_some()
            && split == Split::Valid;
        match final_runs_choose {
            true => refuse(
                "comparison.reported is best-epoch, and the final runs of comparison.retrain have \
                 no validation examples to choose an epoch by; report the last epoch",
            ),
            false => Ok(()),
        }
    }

    fn validate_verdict(&self) -> Result<()> {
        let varied = &self.comparison;
        if varied.primary.is_error() && !self.network.classifies() {
            return refuse(
                "comparison.primary is an error, and this network classifies nothing; it has to be \
                 test-loss or train-loss",
            );
        }
        if varied.primary == Primary::NoisyTestError && self.criterion().amplitudes.is_empty() {
            return refuse(
                "comparison.primary is noisy-test-error, and there is no noise; noise.amplitudes has \
                 to have one above 0",
            );
        }
        let (metric, split) = varied.selection.measure();
        if varied.primary.by_epoch() == (metric, split) && varied.learning_rates.len() > 1 {
            return refuse(format!(
                "comparison.primary and comparison.selection are both the {split} {metric}: the best of \
                 {} learning rates would be judged by what it was chosen for; choose by another \
                 measure, or name one learning rate",
                varied.learning_rates.len()
            ));
        }
        let negligible = varied.negligible;
        if !(negligible.is_finite() && negligible > 0.0) {
            return refuse(format!(
                "comparison.negligible is {negligible}; it is a difference too small to care \
                 about, above 0 (0.001 is 0.1 points of error)"
            ));
        }
        if varied.primary.is_error() && negligible >= 1.0 {
            return refuse(format!(
                "comparison.negligible is {negligible}; errors are fractions, and 0.1 points are \
                 0.001"
            ));
        }
        if let Some(baseline) = &varied.baseline
            && varied.named(baseline).is_none()
        {
            let names: Vec<String> = varied.activations.iter().map(ToString::to_string).collect();
            return refuse(format!(
                "the baseline {baseline} is not among the activations that are compared: {}",
                names.join(", ")
            ));
        }
        match varied.until_decided {
            Some(until) if !(Looks::FIRST..=Looks::LAST).contains(&until.max_seeds) => {
                refuse(format!(
                    "{} seeds at most cannot be looked at; a comparison that goes on until it is \
                     decided is looked at after {} seeds for the first time, and after {} at the \
                     latest",
                    until.max_seeds,
                    Looks::FIRST,
                    Looks::LAST
                ))
            }
            _ => Ok(()),
        }
    }

    fn validate_network(&self) -> Result<()> {
        let positive = |what: &str, sizes: &[usize]| match sizes.contains(&0) || sizes.is_empty() {
            true => refuse(format!("{what} is 0; every layer needs at least one neuron")),
            false => Ok(()),
        };
        match &self.network {
            NetworkRecipe::Classifier { width, .. } => positive("network.width", &[*width]),
            NetworkRecipe::Autoencoder { encoder } => {
                positive("a width of network.encoder", encoder)?;
                match self.comparison.dropout.iter().any(|&rate| rate != 0.0) {
                    true => refuse("the autoencoder drops nothing; its dropout rate has to be 0"),
                    false => Ok(()),
                }
            }
            NetworkRecipe::Cnn { widths, noise } => {
                positive("a width of network.widths", widths)?;
                match noise.is_finite() && *noise >= 0.0 {
                    true => Ok(()),
                    false => refuse(format!(
                        "network.noise {noise} is no standard deviation; it has to be at least 0"
                    )),
                }
            }
            NetworkRecipe::WideResNet { depth, width, .. } => {
                positive("network.width", &[*width])?;
                match *depth >= 10 && (depth - 4).is_multiple_of(6) {
                    true => Ok(()),
                    false => refuse(format!(
                        "network.depth {depth} is no depth of a wide residual network; it has to \
                         be 6n + 4: 10, 16, 22, 28, 34, 40, …"
                    )),
                }
            }
        }
    }

    fn validate_data(&self) -> Result<()> {
        let info = DataSetInfo::named(&self.data.set)?;
        let name = info.name;
        match info.kind {
            DataKind::Pictures { .. } if self.data.pixels.is_none() => refuse(format!(
                "data.pixels is missing; {name} are pictures, and it says how bytes become inputs"
            )),
            DataKind::Pictures { side, .. } if self.network.is_convolutional() && side < 12 => {
                refuse(format!("the pictures of {name} are too small for this network"))
            }
            DataKind::Pictures { .. } => Ok(()),
            DataKind::Windows if self.network.is_convolutional() => {
                refuse(format!("{name} holds no pictures, which this network needs"))
            }
            DataKind::Windows if self.data.validation > 0 => refuse(format!(
                "data.validation is {}; {name} has a validation part of its own, leave it out",
                self.data.validation
            )),
            DataKind::Windows
                if self.data.pixels.is_some()
                    || self.data.normalisation.is_some()
                    || self.data.augmentation.is_some() =>
            {
                refuse(format!(
                    "data.pixels, normalisation and augmentation are for pictures; {name} has none"
                ))
            }
            DataKind::Windows => Ok(()),
        }
    }

    fn validate_training(&self) -> Result<()> {
        let share = |what: &str, value: f64| match (0.0..1.0).contains(&value) {
            true => Ok(()),
            false => refuse(format!("{what} is {value}; a share is at least 0 and below 1")),
        };
        match &self.training.schedule {
            ScheduleRecipe::Constant | ScheduleRecipe::Cosine => {}
            ScheduleRecipe::ConstantThenLinear { constant } => {
                share("schedule.constant", *constant)?;
            }
            ScheduleRecipe::Steps { after, factor } => {
                after.iter().try_for_each(|&step| share("schedule.after", step))?;
                if !after.is_sorted() {
                    return refuse(format!(
                        "schedule.after is {after:?}; its shares have to ascend"
                    ));
                }
                if !(*factor > 0.0 && *factor <= 1.0) {
                    return refuse(format!(
                        "schedule.factor is {factor}; it has to be above 0 and at most 1"
                    ));
                }
            }
        }
        match &self.training.optimizer {
            OptimizerRecipe::Adam { beta_1, beta_2, epsilon, beta_1_change, .. } => {
                share("optimizer.beta_1", *beta_1)?;
                share("optimizer.beta_2", *beta_2)?;
                if !(epsilon.is_finite() && *epsilon > 0.0) {
                    return refuse(format!("optimizer.epsilon is {epsilon}; it has to be above 0"));
                }
                if let Some(change) = beta_1_change {
                    share("optimizer.beta_1_change.to", change.to)?;
                    share("optimizer.beta_1_change.after", change.after)?;
                }
                Ok(())
            }
            OptimizerRecipe::Sgd { momentum, l2 } => {
                share("optimizer.momentum", *momentum)?;
                match l2.is_finite() && *l2 >= 0.0 {
                    true => Ok(()),
                    false => refuse(format!("optimizer.l2 is {l2}; it has to be at least 0")),
                }
            }
        }
    }

    fn validate_tuning(&self) -> Result<()> {
        if let Some(retrain) = self.comparison.retrain {
            if retrain.tuning_seeds == 0 {
                return refuse("comparison.retrain.tuning_seeds is 0; it has to be at least 1");
            }
            if self.data.validation == 0 {
                return refuse(
                    "there is nothing to tune on: data.validation is 0, and comparison.retrain \
                     tunes the learning rate on the validation examples",
                );
            }
        }
        let amplitudes = self.noise.iter().flat_map(|noise| &noise.amplitudes);
        for amplitude in amplitudes {
            if !(amplitude.is_finite() && *amplitude >= 0.0) {
                return refuse(format!("noise amplitude {amplitude} has to be at least 0"));
            }
        }
        Ok(())
    }
}

fn refuse(problem: impl Into<String>) -> Result<()> {
    Err(Error::Usage(problem.into()))
}

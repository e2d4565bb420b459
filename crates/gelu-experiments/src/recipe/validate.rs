//! Checks the values of a recipe that the types do not restrict.

use super::limits::{self, MOST_RUNS, MOST_SEEDS, MOST_THREADS};
use super::{BatchUnit, NetworkRecipe, NoiseRecipe, Panels, Recipe, combinations};
use crate::data::{DataKind, DataSetInfo};
use crate::measure::{Metric, Primary};
use crate::{Error, Result};
use gelu_compare::measure::{NoWorse, Reported, Split, UntilDecided};
use gelu_compare::names::{check_file_name, check_line};
use gelu_compare::runs::Recipe as _;
use gelu_compare::suggestion::did_you_mean;
use gelu_learner::activation::{ActivationList, TargetFormula};

impl Recipe {
    /// Checks the values that the types do not restrict.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] naming the value and the allowed values.
    pub fn validate(&self) -> Result<()> {
        check_file_name("the recipe's name", &self.name)?;
        check_line("the recipe's title", &self.title)?;
        if let Some(figure) = &self.figure {
            check_file_name("the figure's name", &figure.name)?;
            check_line("the figure's axis", &figure.axis)?;
        }
        self.training.validate()?;
        if self.training.label_smoothing > 0.0 && !self.network.classifies() {
            return refuse(
                "training.label_smoothing is for classes, and this network names none; leave it out",
            );
        }
        self.validate_varied()?;
        self.validate_network()?;
        self.validate_data()?;
        self.validate_tuning()?;
        self.validate_figure()?;
        self.validate_selection()?;
        self.validate_verdict()
    }

    fn validate_varied(&self) -> Result<()> {
        let varied = &self.comparison;
        limits::count("the number of seeds", varied.seeds, MOST_SEEDS)?;
        limits::count("the number of threads", varied.threads as u64, MOST_THREADS)?;
        let settings = [
            ("activations", varied.activations.len()),
            ("learning rates", varied.learning_rates.len()),
            ("dropout rates", varied.dropout.len()),
            // Empty if no formulas are learned.
            ("formulas", varied.formulas.len().max(1)),
            // Empty if no sizes or tables are varied.
            ("sizes and tables", combinations(varied)),
        ];
        for (what, length) in settings {
            limits::count(&format!("the number of {what}"), length as u64, u64::MAX)?;
        }
        self.validate_sizes()?;
        ActivationList::check_names(&varied.activations)?;
        TargetFormula::check_names(&varied.formulas)?;
        varied.learning_rates.iter().try_for_each(|&rate| limits::learning_rate(rate))?;
        varied.dropout.iter().try_for_each(|&rate| limits::dropout(rate))?;
        if let Some(retrain) = varied.retrain {
            let what = "comparison.retrain.tuning_seeds";
            limits::count(what, retrain.tuning_seeds, MOST_SEEDS)?;
        }
        let settings: u128 = settings.iter().map(|&(_, length)| length as u128).product();
        let tuning = varied.retrain.map_or(0, |retrain| retrain.tuning_seeds);
        let runs = settings * u128::from(varied.seeds.max(tuning));
        match runs > MOST_RUNS {
            true => refuse(format!(
                "these are {runs} runs; a comparison has at most {MOST_RUNS}, so compare fewer \
                 settings or seeds"
            )),
            false => Ok(()),
        }
    }

    /// Checks that runs measure the metric that chooses. Otherwise it would silently choose the first learning rate.
    fn validate_selection(&self) -> Result<()> {
        let selection = self.comparison.selection;
        let (metric, split) = selection.measure();
        let info = DataSetInfo::named(&self.data.set)?;
        let pictures = info.kind == DataKind::Pictures;
        if metric == Metric::Error && !self.network.classifies() {
            return refuse(format!(
                "there is nothing to choose by: selection is {selection}, and this network \
                 predicts no classes; choose by a loss (--selection valid-loss or train-loss)"
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
                "comparison.primary names a classification error, and this network predicts no classes; \
                 set it to test-loss or train-loss",
            );
        }
        let (formulas, numbers) = match self.network.is_regression() {
            true => (!self.data.is_of_tables(), self.data.is_of_tables()),
            false => (false, false),
        };
        if (varied.primary.is_of_formulas() && !formulas)
            || (varied.primary.is_of_tables() && !numbers)
        {
            let (what, possible) = match (varied.primary.is_of_formulas(), numbers) {
                (true, true) => ("formulas are", "test-unexplained, test-loss or train-loss"),
                (true, false) => ("formulas are", "test-error, test-loss or train-loss"),
                (false, _) if formulas => {
                    ("a table's numbers are", "test-rmse, test-loss or train-loss")
                }
                (false, _) => ("a table's numbers are", "test-error, test-loss or train-loss"),
            };
            return refuse(format!(
                "comparison.primary is {}, which is measured where {what} learned; it has to be {possible}",
                varied.primary.name()
            ));
        }
        if varied.primary == Primary::NoisyTestError
            && self.noise.as_ref().is_none_or(|noise| noise.disturbing().is_empty())
        {
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
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let question = did_you_mean(baseline, &names).map(|question| format!("; {question}"));
            return refuse(format!(
                "the baseline {baseline} is not among the activations that are compared: {}{}",
                names.join(", "),
                question.unwrap_or_default()
            ));
        }
        if let Some(level) = varied.level.filter(|level| !(*level > 0.0 && *level < 1.0)) {
            return refuse(format!(
                "comparison.level is {level}; it has to lie between 0 and 1, as 0.05 does"
            ));
        }
        if let Some(no_worse) = &varied.no_worse {
            self.check_no_worse(no_worse)?;
        }
        // The tables of a folder are not known before it is read; they are checked then.
        let is_unread = self.data.set == "tables" && varied.tables.is_empty();
        if let Some(over) = varied.over.as_ref().filter(|_| !is_unread) {
            let axes = self.design().axes;
            over.check(&axes, varied.until_decided.is_some(), varied.no_worse.is_some())?;
        }
        match varied.until_decided {
            Some(until) if !(1..=UntilDecided::MOST).contains(&until.max_seeds) => refuse(format!(
                "{} seeds at most cannot decide anything; a comparison that goes on until it is decided has \
                 from 1 to {} of them",
                until.max_seeds,
                UntilDecided::MOST
            )),
            _ => Ok(()),
        }
    }

    /// Checks that the metric that must not get worse is one that runs measure, and not the deciding metric.
    fn check_no_worse(&self, NoWorse { metric, margin }: &NoWorse) -> Result<()> {
        let design = self.design();
        let names: Vec<&str> = design.measures.iter().map(|m| m.name.as_str()).collect();
        if !names.contains(&metric.as_str()) || *metric == design.primary {
            let question = did_you_mean(metric, &names).map(|question| format!("; {question}"));
            return Err(Error::Usage(format!(
                "{metric} is no metric that can be kept from getting worse; there are: {}{}",
                names.join(", "),
                question.unwrap_or_default()
            )));
        }
        match margin.is_finite() && *margin > 0.0 {
            true => Ok(()),
            false => Err(Error::Usage(format!(
                "{metric} may get worse by {margin}; that has to be more than 0, as in {metric}=0.01"
            ))),
        }
    }

    fn validate_network(&self) -> Result<()> {
        self.network.validate()?;
        let named = &self.comparison.activations;
        named.iter().try_for_each(|activation| self.network.check_activation(activation))?;
        let drops = self.comparison.dropout.iter().any(|&rate| rate != 0.0);
        match self.network {
            NetworkRecipe::Autoencoder { .. } if drops => {
                refuse("the autoencoder drops nothing; its dropout rate has to be 0")
            }
            NetworkRecipe::Regression { .. } if drops && !self.data.is_of_tables() => {
                refuse("a network that learns formulas drops nothing; its dropout rate has to be 0")
            }
            NetworkRecipe::Airbench { .. } if drops => {
                refuse("the network of kind airbench drops nothing; its dropout rate has to be 0")
            }
            NetworkRecipe::Gpt { .. } if drops => {
                refuse("the transformer drops nothing; its dropout rate has to be 0")
            }
            _ => Ok(()),
        }
    }

    fn validate_data(&self) -> Result<()> {
        self.data.validate()?;
        let info = DataSetInfo::named(&self.data.set)?;
        let name = info.name;
        let text = info.kind == DataKind::Text;
        if !text && self.network.context().is_some() {
            return refuse(format!("{name} is no text, which a network of kind gpt reads"));
        }
        let table = info.kind == DataKind::Tables;
        if !(text || table) && self.training.batches.is_some() {
            return refuse(
                "training.batches is for texts and tables; an epoch of other data is each of their examples once",
            );
        }
        if !self.comparison.tables.is_empty() && name != "tables" {
            return refuse(
                "comparison.tables are those of a folder (`tables = DIR`); leave it out",
            );
        }
        let grouped = info.kind == DataKind::Windows;
        if self.training.batch_of == BatchUnit::Groups && !grouped {
            return refuse(format!(
                "training.batch_of is groups, and the examples of {name} are in none; leave it out"
            ));
        }
        let points = info.kind == DataKind::Points;
        match (self.network.is_regression(), points, self.comparison.formulas.is_empty()) {
            (true, false, _) if !table => {
                return refuse(format!(
                    "a network of kind regression learns formulas at points (`set = \"points\"`), or the numbers of a \
                     table (`csv = FILE`), and {name} is neither"
                ));
            }
            (false, true, _) => {
                return refuse("formulas are learned at points by a network of kind regression");
            }
            (true, true, true) => {
                return refuse(
                    "comparison.formulas is empty; name what is to be learned, as in [\"wave=sin(3*x)*y\"]",
                );
            }
            (_, false, false) => {
                return refuse(format!(
                    "comparison.formulas are learned at points (`set = \"points\"`), and {name} are none"
                ));
            }
            (true, true, false) | (_, false, true) => {}
        }
        match info.kind {
            DataKind::Pictures if self.data.pixels.is_none() => refuse(format!(
                "data.pixels is missing; {name} are images, and it says how bytes become inputs"
            )),
            DataKind::Pictures => Ok(()),
            DataKind::Windows | DataKind::Tables if self.network.is_convolutional() => {
                refuse(format!("{name} holds no images, which this network needs"))
            }
            DataKind::Windows | DataKind::Tables if self.data.validation > 0 => refuse(format!(
                "data.validation is {}; {name} has a validation part of its own, leave it out",
                self.data.validation
            )),
            DataKind::Windows | DataKind::Text | DataKind::Points | DataKind::Tables
                if self.data.pixels.is_some()
                    || self.data.normalisation.is_some()
                    || self.data.augmentation.is_some() =>
            {
                refuse(format!(
                    "data.pixels, normalisation and augmentation are for images; {name} has none"
                ))
            }
            DataKind::Text if self.network.context().is_none() => {
                refuse(format!("{name} is a text, which takes a network of kind gpt"))
            }
            DataKind::Text | DataKind::Points if self.data.validation > 0 => refuse(format!(
                "data.validation is {}; {name} has a validation part of its own, leave it out",
                self.data.validation
            )),
            DataKind::Text if self.noise.is_some() => {
                refuse("noise is added to numbers, and a text has none; leave it out")
            }
            DataKind::Text if self.training.batches.is_none() => refuse(format!(
                "training.batches is missing; windows of {name} are drawn at random, and it says how many \
                 batches of them make an epoch"
            )),
            DataKind::Windows | DataKind::Text | DataKind::Points | DataKind::Tables => Ok(()),
        }
    }

    fn validate_tuning(&self) -> Result<()> {
        if self.comparison.retrain.is_some() && self.data.validation == 0 {
            return refuse(
                "there is nothing to tune on: data.validation is 0, and comparison.retrain tunes the \
                 learning rate on the validation examples",
            );
        }
        self.noise.as_ref().map_or(Ok(()), NoiseRecipe::validate)
    }

    /// Checks that runs measure the metric of the figure, so that it is not empty, and that its panels fit the
    /// comparison.
    fn validate_figure(&self) -> Result<()> {
        let Some(figure) = &self.figure else { return Ok(()) };
        let loss = self.loss();
        if figure.splits.is_empty() {
            return refuse(
                "figure.splits is empty; name what is drawn, as in [\"train\", \"test\"]",
            );
        }
        let no_error = figure.metric == Metric::Error && !self.network.classifies();
        let unknown =
            |split: &&Split| no_error || !Metric::of(loss, **split).contains(&figure.metric);
        if let Some(split) = figure.splits.iter().find(unknown) {
            let measured = Metric::of(loss, *split).iter();
            let possible = measured.filter(|&&m| m != Metric::Error || self.network.classifies());
            let possible: Vec<String> = possible.map(ToString::to_string).collect();
            return refuse(format!(
                "figure.metric is {}, which is not measured on the {split} split of this network; it can be {}",
                figure.metric,
                possible.join(" or ")
            ));
        }
        match (figure.panels, self.comparison.formulas.is_empty()) {
            (Panels::Formula, true) => refuse(
                "figure.panels is formula, and no formulas are learned; it can be single, dropout or learning-rate",
            ),
            (Panels::Dropout, false) => refuse(
                "figure.panels is dropout, and networks that learn formulas drop nothing; it can be single, formula or learning-rate",
            ),
            _ => Ok(()),
        }
    }
}

fn refuse(problem: impl Into<String>) -> Result<()> {
    Err(Error::Usage(problem.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::Retraining;

    #[test]
    fn data_networks_and_plans_that_do_not_belong_together_are_refused() {
        type Case = (&'static str, fn(&mut Recipe), &'static str);
        let cases: [Case; 8] = [
            (
                "char-gpt",
                |recipe| recipe.data.set = "tweets".to_owned(),
                "is no text, which a network of kind gpt reads",
            ),
            (
                "mnist-classifier",
                |recipe| recipe.training.batches = Some(3),
                "training.batches is for texts and tables",
            ),
            (
                "mnist-classifier",
                |recipe| recipe.comparison.tables = vec!["iris".to_owned()],
                "comparison.tables are those of a folder",
            ),
            (
                "symbolic",
                |recipe| recipe.data.set = "mnist".to_owned(),
                "a network of kind regression learns formulas at points",
            ),
            (
                "mnist-classifier",
                |recipe| recipe.comparison.formulas = vec!["wave=sin(x)".parse().unwrap()],
                "comparison.formulas are learned at points",
            ),
            (
                "mnist-classifier",
                |recipe| {
                    recipe.data.set = "shakespeare".to_owned();
                    (recipe.data.pixels, recipe.data.normalisation) = (None, None);
                    (recipe.data.augmentation, recipe.training.batches) = (None, Some(3));
                },
                "is a text, which takes a network of kind gpt",
            ),
            (
                "mnist-classifier",
                |recipe| {
                    recipe.data.validation = 0;
                    recipe.comparison.retrain = Some(Retraining { tuning_seeds: 1 });
                },
                "there is nothing to tune on",
            ),
            (
                "mnist-autoencoder",
                |recipe| recipe.training.label_smoothing = 0.1,
                "training.label_smoothing is for classes",
            ),
        ];
        for (name, change, said) in cases {
            let mut recipe = Recipe::named(name).unwrap();
            recipe.validate().unwrap();
            change(&mut recipe);
            let refused = recipe.validate().unwrap_err().to_string();
            assert!(refused.contains(said), "{name}: {refused}");
        }
    }
}

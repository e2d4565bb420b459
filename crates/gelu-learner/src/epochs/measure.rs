//! Measures the splits after an epoch.

use super::{EpochByEpoch, Events};
use crate::Confusion;
use crate::batch_metrics::LOSS;
use crate::metrics::Recording;
use crate::probe::probe;
use crate::session::{Measured, Tested};
use crate::split_metrics::{MetricSums, SplitMetrics, unreadable};
use crate::training::{Further, MeasuredSplits};
use crate::{Error, ModelOutput, Result, Trainable};
use burn::data::dataloader::{DataLoader, Progress};
use burn::tensor::{Bool, Int, Tensor};
use burn::train::{InferenceStep, LearnerEvent, TrainingItem, ValidLoader};
use gelu_compare::measure::{EpochMetrics, Split};
use gelu_compare::runs::{Phase, Spec};

impl<M: Trainable, S: Spec> EpochByEpoch<M, S> {
    /// Measures every split with dropout off. Also returns the outcome of each test example if the run saves them. `rate`
    /// is the learning rate of the epoch's last step; `events` is given if Burn's display shows the events.
    pub(crate) fn measure(
        &self,
        epoch: usize,
        trained: SplitMetrics,
        mut events: Option<&mut Events<M>>,
        network: &M,
        rate: f64,
    ) -> Result<Measured> {
        let model = network.valid();
        let MeasuredSplits { train, valid, test, further, recorders, class_names, .. } =
            &self.measured;
        let splits = [train.as_ref(), valid.as_ref(), test.as_ref()].into_iter().flatten();
        let all = splits.chain(further.iter().map(|further| &further.examples));
        let total = all.map(|split| split.num_items()).sum();
        self.session.progress.update(|progress| {
            (progress.phase, progress.done, progress.total) = (Phase::Evaluate, 0, total);
        });
        let count = |examples| self.session.progress.update(|progress| progress.done += examples);
        // Burn's display has one curve besides training: validation if there is a validation split, otherwise test.
        let on_display = match (&events, valid) {
            (None, _) => None,
            (Some(_), Some(_)) => Some(Split::Valid),
            (Some(_), None) => Some(Split::Test),
        };
        let mut tell = |event| match &mut events {
            Some(events) => self.tell_valid(events, event),
            None => Ok(()),
        };
        let (mut wrong, mut recorded, mut confusions) = (Vec::new(), Vec::new(), Vec::new());
        let mut measure = |split: Split, loader: Option<&ValidLoader<M>>| -> Result<SplitMetrics> {
            let Some(loader) = loader else { return Ok(SplitMetrics::default()) };
            let mut recordings: Vec<Box<dyn Recording<M>>> =
                recorders.iter().map(|recorder| recorder.begin()).collect();
            self.session.begin_part(epoch, part_of(split), &self.device);
            if on_display == Some(split) {
                tell(LearnerEvent::StartSplit {
                    epoch_number: epoch,
                    total_items: loader.num_items(),
                })?;
            }
            let (mut done, mut batches, mut classes) = (0, 0, Vec::new());
            let score = evaluate(&model, loader.as_ref(), |examples, output| {
                count(examples);
                if split == Split::Test && self.session.options().outcomes {
                    wrong.extend(output.wrong());
                }
                if !class_names.is_empty() {
                    classes.extend(output.classes());
                }
                (done, batches) = (done + examples, batches + 1);
                let progress = Progress::new(done, loader.num_items(), Some("examples".to_owned()));
                for recording in &mut recordings {
                    recording.update(&output, progress.clone())?;
                }
                if on_display != Some(split) {
                    return Ok(());
                }
                let item = TrainingItem::new(output, progress, Some(batches), None);
                tell(LearnerEvent::ProcessedItem(item))
            })?;
            if on_display == Some(split) {
                tell(LearnerEvent::EndSplit(epoch))?;
            }
            if !class_names.is_empty() {
                confusions.push((split, confusion(class_names, classes)?));
            }
            for (recorder, mut recording) in recorders.iter().zip(recordings) {
                recorded.push((format!("{split}_{}", recorder.column()), recording.finish()?));
            }
            Ok(score)
        };
        let mut metrics = EpochMetrics::new(epoch).with("learning_rate", rate);
        let train = match train {
            None => trained,
            train => {
                metrics.set("batch_loss", trained.loss());
                measure(Split::Train, train.as_ref())?
            }
        };
        let valid = measure(Split::Valid, valid.as_ref())?;
        let test = measure(Split::Test, test.as_ref())?;
        let mut beside = Vec::with_capacity(further.len());
        for (index, Further { column, metric, examples }) in further.iter().enumerate() {
            self.session.begin_part(epoch, Split::ALL.len() + index, &self.device);
            let score = evaluate(&model, examples.as_ref(), |examples, _| {
                count(examples);
                Ok(())
            })?;
            beside.push((column, score.get(metric)));
        }
        for (split, score) in Split::ALL.into_iter().zip([train, valid, test]) {
            set_all::<M>(&mut metrics, split, &score);
        }
        // If one of Burn's metrics has the name of a metric that is measured anyway, the latter stays.
        recorded.retain(|(column, _)| metrics.get(column).is_none());
        for (column, value) in recorded {
            metrics.set(&column, value);
        }
        for (column, value) in beside {
            metrics.set(column, value);
        }
        for (column, value) in self.probed(epoch, network)? {
            metrics.set(&column, value);
        }
        let columns = error_columns(class_names);
        for (split, confusion) in &confusions {
            for (class, column) in columns.iter().enumerate() {
                metrics.set(&format!("{split}_{column}"), confusion.error(class));
            }
        }
        let of_test = confusions.into_iter().find(|(split, _)| *split == Split::Test);
        let confusion = of_test.map(|(_, confusion)| confusion);
        Ok((metrics, Tested { wrong: read_bools(wrong)?, confusion }))
    }

    /// Returns the metrics of an epoch after which no split is measured.
    pub(crate) fn trained_alone(
        &self,
        epoch: usize,
        trained: &SplitMetrics,
        rate: f64,
    ) -> EpochMetrics {
        let mut metrics = EpochMetrics::new(epoch).with("learning_rate", rate);
        match self.measured.train {
            None => set_all::<M>(&mut metrics, Split::Train, trained),
            Some(_) => metrics.set("batch_loss", trained.loss()),
        }
        metrics
    }

    /// Measures the layers, if the training asks for it.
    fn probed(&self, epoch: usize, network: &M) -> Result<Vec<(String, Option<f64>)>> {
        let MeasuredSplits { probed: Some(loader), valid, test, .. } = &self.measured else {
            return Ok(Vec::new());
        };
        // The same seed as for that split, so that a batcher with random numbers makes the same first batch.
        let split = match (valid, test) {
            (Some(_), _) => Split::Valid,
            (None, Some(_)) => Split::Test,
            (None, None) => Split::Train,
        };
        self.session.begin_part(epoch, part_of(split), &self.device);
        probe(network, loader.as_ref(), &self.device)
    }
}

/// Sets the metrics of a split, those that the output declares first.
fn set_all<M: Trainable>(metrics: &mut EpochMetrics, split: Split, score: &SplitMetrics) {
    let declared = <M as InferenceStep>::Output::metrics();
    for name in std::iter::once(LOSS).chain(declared.iter().map(|metric| metric.name.as_str())) {
        metrics.set(&format!("{split}_{name}"), score.get(name));
    }
    // A network may measure more than its type declares.
    for (name, value) in score.iter() {
        metrics.set(&format!("{split}_{name}"), value);
    }
}

/// Returns the number of a split among the parts of the data.
fn part_of(split: Split) -> usize {
    match split {
        Split::Train => 0,
        Split::Valid => 1,
        Split::Test => 2,
    }
}

/// Measures `model` on everything that `loader` yields, and calls `seen` with every batch's number of examples and
/// output.
///
/// # Errors
///
/// If the loader fails or yields nothing, a result cannot be read back from the device, or `seen` fails.
pub fn evaluate<M: InferenceStep<Output: ModelOutput>>(
    model: &M,
    loader: &dyn DataLoader<M::Input>,
    mut seen: impl FnMut(usize, M::Output) -> Result<()>,
) -> Result<SplitMetrics> {
    let mut sums = MetricSums::default();
    for batch in loader.iter() {
        let batch = batch.map_err(|error| Error::Failed(error.to_string()))?;
        let output = model.step(batch);
        let metrics = output.measure();
        let examples = metrics.examples;
        sums.push(metrics);
        seen(examples, output)?;
    }
    sums.finish()
}

/// Counts the predicted classes per true class, from pairs of both for each batch.
fn confusion(names: &[String], batches: Vec<[Tensor<1, Int>; 2]>) -> Result<Confusion> {
    if batches.is_empty() {
        return Err(Error::Usage(
            "the network's output says no classes, which .class_names(…) needs; implement ModelOutput::classes"
                .to_owned(),
        ));
    }
    let (classes, chosen): (Vec<_>, Vec<_>) = batches.into_iter().map(Into::into).unzip();
    let places = |batches: Vec<Tensor<1, Int>>| -> Result<Vec<usize>> {
        let all = Tensor::cat(batches, 0).try_into_data().map_err(unreadable)?;
        all.iter::<i64>().map(|class| place(names, class)).collect()
    };
    Ok(Confusion::of(names, places(classes)?.into_iter().zip(places(chosen)?)))
}

fn place(names: &[String], class: i64) -> Result<usize> {
    let place = usize::try_from(class).ok().filter(|&class| class < names.len());
    place.ok_or_else(|| {
        Error::Usage(format!(
            "class {class} has no name, because .class_names(…) has {} names; give one for each class",
            names.len()
        ))
    })
}

/// Returns the column name of each class's error, without the name of a split: `error_cat`.
fn error_columns(names: &[String]) -> Vec<String> {
    let mut columns: Vec<String> = Vec::with_capacity(names.len());
    for (class, name) in names.iter().enumerate() {
        let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let name = words.map(str::to_lowercase).collect::<Vec<_>>().join("_");
        let column = format!("error_{name}");
        // Two names may differ only in their punctuation.
        let is_free = !name.is_empty() && !columns.contains(&column);
        columns.push(if is_free { column } else { format!("error_class_{class}") });
    }
    columns
}

/// Returns one value per example from one tensor per batch; `None` if there is no batch.
///
/// # Errors
///
/// If a result cannot be read back from the device.
pub fn read_bools(batches: Vec<Tensor<1, Bool>>) -> Result<Option<Vec<bool>>> {
    if batches.is_empty() {
        return Ok(None);
    }
    let all = Tensor::cat(batches, 0).try_into_data().map_err(unreadable)?;
    Ok(Some(all.iter::<bool>().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_class_without_a_name_is_refused() {
        let said = place(&names(&["cat", "dog"]), 2).unwrap_err().to_string();
        assert!(said.contains("class 2 has no name") && said.contains("2 names"), "{said}");
        assert!(place(&names(&["cat", "dog"]), -1).is_err());
    }

    #[test]
    fn columns_differ_although_names_are_alike() {
        let columns = error_columns(&names(&["T-shirt/top", "t shirt top", "+", "Straße"]));
        let expected = ["error_t_shirt_top", "error_class_1", "error_class_2", "error_straße"];
        assert_eq!(columns, expected);
    }
}

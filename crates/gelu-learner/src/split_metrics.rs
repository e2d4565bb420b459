use crate::batch_metrics::{Amount, LOSS};
use crate::{BatchMetrics, Error, Result};
use burn::tensor::{Int, Tensor};

/// The metrics of a network over a split.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SplitMetrics {
    /// The metrics that every batch had, in their order; the loss is the first.
    values: Vec<(&'static str, f64)>,
}

impl SplitMetrics {
    /// Returns the mean loss over the examples.
    pub fn loss(&self) -> f64 {
        self.get(LOSS).unwrap_or(f64::NAN)
    }

    /// Returns an iterator over the metrics that every batch had, with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.values.iter().copied()
    }

    /// Returns a metric, if every batch had it.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// Adds up the metrics of batches. Results stay on the device until a caller asks for them, and then come back in one
/// transfer per metric. Sums are in f64 and in the order of the batches, so they do not depend on when a caller asks.
#[derive(Debug, Default)]
pub(crate) struct MetricSums {
    /// Batches that are not yet read back.
    pending: Vec<BatchMetrics>,
    batches: usize,
    sums: Vec<Sum>,
}

/// Computes a metric from the numbers of all examples.
type Finish = fn(&[Vec<f64>]) -> f64;

/// A metric over the batches so far.
#[derive(Debug)]
struct Sum {
    name: &'static str,
    batches: usize,
    of: f64,
    over: f64,
    /// Whether the metric is the root of the ratio `of / over`.
    root: bool,
    /// The numbers of every example, if `finish` computes the metric from them.
    rows: Vec<Vec<f64>>,
    finish: Option<Finish>,
}

impl Sum {
    fn new(name: &'static str) -> Self {
        let (rows, finish) = (Vec::new(), None);
        Self { name, batches: 0, of: 0.0, over: 0.0, root: false, rows, finish }
    }

    fn value(&self) -> f64 {
        if let Some(finish) = self.finish {
            return finish(&self.rows);
        }
        let ratio = self.of / self.over;
        if self.root { ratio.sqrt() } else { ratio }
    }
}

impl MetricSums {
    /// Adds a batch without waiting for the device.
    pub(crate) fn push(&mut self, mut batch: BatchMetrics) {
        batch.take_loss();
        self.pending.push(batch);
    }

    /// Returns the metrics so far, if every batch had them.
    ///
    /// # Errors
    ///
    /// If there was no batch, a metric has more than one number per batch, or a result cannot be read back from the
    /// device.
    pub(crate) fn finish(&mut self) -> Result<SplitMetrics> {
        self.read_back()?;
        if self.batches == 0 {
            return Err(Error::Failed("there is no batch to measure".to_owned()));
        }
        let of_all = self.sums.iter().filter(|sum| sum.batches == self.batches);
        Ok(SplitMetrics { values: of_all.map(|sum| (sum.name, sum.value())).collect() })
    }

    fn read_back(&mut self) -> Result<()> {
        let pending = std::mem::take(&mut self.pending);
        let mut names: Vec<&'static str> = Vec::new();
        for part in pending.iter().flat_map(|batch| &batch.parts) {
            if !names.contains(&part.name) {
                names.push(part.name);
            }
        }
        for name in names {
            let of_name = |batch: &BatchMetrics| {
                let part = batch.parts.iter().find(|part| part.name == name)?;
                Some((batch.examples as f64, part.value.clone()))
            };
            self.add(name, pending.iter().filter_map(of_name).collect())?;
        }
        self.batches += pending.len();
        Ok(())
    }

    fn add(&mut self, name: &'static str, batches: Vec<(f64, Amount)>) -> Result<()> {
        let (mut floats, mut counts) = (Vec::new(), Vec::new());
        for (_, amount) in &batches {
            match amount {
                Amount::Mean(mean) | Amount::RootOfMean(mean) => floats.push(mean.clone()),
                Amount::Count(count) => counts.push(count.clone()),
                Amount::Ratio(sums) => floats.extend(sums.iter().cloned()),
                Amount::Rows(..) => {}
            }
        }
        let mut floats = read(name, floats)?.into_iter();
        let mut counts = read_counts(name, counts)?.into_iter();
        let index = self.sums.iter().position(|sum| sum.name == name).unwrap_or_else(|| {
            self.sums.push(Sum::new(name));
            self.sums.len() - 1
        });
        let sum = &mut self.sums[index];
        let mut next = || floats.next().unwrap_or(f64::NAN);
        for (examples, amount) in batches {
            sum.batches += 1;
            match amount {
                Amount::Mean(_) | Amount::RootOfMean(_) => {
                    sum.root = matches!(amount, Amount::RootOfMean(_));
                    sum.of += next() * examples;
                    sum.over += examples;
                }
                Amount::Count(_) => {
                    sum.of += counts.next().unwrap_or(0) as f64;
                    sum.over += examples;
                }
                Amount::Ratio(..) => {
                    sum.of += next();
                    sum.over += next();
                }
                Amount::Rows(rows, finish) => {
                    let width = rows.dims()[1].max(1);
                    let data = rows.try_into_data().map_err(unreadable)?;
                    let numbers: Vec<f64> = data.iter::<f64>().collect();
                    sum.rows.extend(numbers.chunks(width).map(<[f64]>::to_vec));
                    sum.finish = Some(finish);
                }
            }
        }
        Ok(())
    }
}

/// Reads one number from each tensor.
fn read(name: &str, tensors: Vec<Tensor<1>>) -> Result<Vec<f64>> {
    check(name, tensors.iter().map(|tensor| tensor.dims()[0]))?;
    if tensors.is_empty() {
        return Ok(Vec::new());
    }
    let data = Tensor::cat(tensors, 0).try_into_data().map_err(unreadable)?;
    Ok(data.iter::<f64>().collect())
}

fn read_counts(name: &str, tensors: Vec<Tensor<1, Int>>) -> Result<Vec<u64>> {
    check(name, tensors.iter().map(|tensor| tensor.dims()[0]))?;
    if tensors.is_empty() {
        return Ok(Vec::new());
    }
    let data = Tensor::cat(tensors, 0).try_into_data().map_err(unreadable)?;
    Ok(data.iter::<u64>().collect())
}

fn check(name: &str, mut sizes: impl Iterator<Item = usize>) -> Result<()> {
    match sizes.find(|&size| size != 1) {
        None => Ok(()),
        Some(size) => Err(Error::Failed(format!(
            "the {name} of a batch has {size} numbers, and is to be one: their mean, for example"
        ))),
    }
}

/// Returns the error for a result that cannot be read back from the device.
pub fn unreadable(error: impl std::fmt::Display) -> Error {
    Error::Failed(format!("cannot read a result back from the device: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    fn batch(examples: usize, loss: f32, wrong: Option<i32>) -> BatchMetrics {
        let device = Device::default();
        let loss = BatchMetrics::new(examples, Tensor::from_data([loss], &device));
        match wrong {
            Some(wrong) => loss.count("error", Tensor::from_data([wrong], &device)),
            None => loss,
        }
    }

    #[test]
    fn batches_weigh_by_their_examples() {
        let mut sums = MetricSums::default();
        sums.push(batch(3, 1.0, Some(3)));
        sums.push(batch(1, 5.0, Some(0)));
        let score = sums.finish().unwrap();
        assert_eq!((score.loss(), score.get("error")), (2.0, Some(0.75)));
    }

    #[test]
    fn a_ratio_is_one_of_sums_not_a_mean_of_ratios() {
        let device = Device::default();
        let mut sums = MetricSums::default();
        for (of, over) in [(1.0, 1.0), (1.0, 9.0)] {
            let tensor = |value: f32| Tensor::from_data([value], &device);
            sums.push(batch(5, 1.0, None).ratio("f1", tensor(of), tensor(over)));
        }
        assert_eq!(sums.finish().unwrap().get("f1"), Some(0.2));
    }

    #[test]
    fn a_root_is_taken_of_the_mean_over_all_batches() {
        let device = Device::default();
        let mut sums = MetricSums::default();
        // Errors of 3, 3, 3 and 1 give √((9 + 9 + 9 + 1)/4), not a mean of 3 and 1.
        for (examples, square) in [(3, 9.0_f32), (1, 1.0)] {
            let mean = Tensor::from_data([square], &device);
            sums.push(batch(examples, 1.0, None).root_of_mean("rmse", mean));
        }
        assert_eq!(sums.finish().unwrap().get("rmse"), Some(7.0_f64.sqrt()));
    }

    #[test]
    fn asking_in_between_changes_nothing() {
        let losses = [0.1, 0.7, 1e-3, 3.3, 0.2];
        let (mut asked, mut left_alone) = (MetricSums::default(), MetricSums::default());
        for (index, loss) in losses.into_iter().enumerate() {
            asked.push(batch(index + 1, loss, Some(1)));
            left_alone.push(batch(index + 1, loss, Some(1)));
            asked.finish().unwrap();
        }
        assert_eq!(asked.finish().unwrap(), left_alone.finish().unwrap());
        let mean =
            losses.iter().zip(1..).map(|(loss, n)| f64::from(*loss) * f64::from(n)).sum::<f64>()
                / 15.0;
        let score = asked.finish().unwrap();
        assert_eq!((score.loss(), score.get("error")), (mean, Some(5.0 / 15.0)));
    }

    #[test]
    fn an_error_over_some_of_the_batches_is_none() {
        let mut sums = MetricSums::default();
        sums.push(batch(2, 1.0, None));
        assert_eq!(sums.finish().unwrap().get("error"), None);
        sums.push(batch(2, 1.0, Some(1)));
        assert_eq!(sums.finish().unwrap().get("error"), None);
    }

    #[test]
    fn a_loss_of_many_numbers_is_refused() {
        let device = Device::default();
        let mut sums = MetricSums::default();
        sums.push(BatchMetrics::new(3, Tensor::from_data([1.0, 2.0, 3.0], &device)));
        let error = sums.finish().unwrap_err().to_string();
        assert!(error.contains("the loss of a batch has 3 numbers"), "{error}");
    }

    #[test]
    fn nothing_to_measure_is_an_error() {
        assert!(MetricSums::default().finish().is_err());
    }

    #[test]
    fn gathered_numbers_are_finished_over_all_batches_and_not_batch_by_batch() {
        let device = Device::default();
        let mut sums = MetricSums::default();
        // In each batch the example of the class ranks first. Over both batches, the two examples of the class rank
        // first and third.
        for rows in [[[0.9, 1.0], [0.6, 0.0]], [[0.5, 1.0], [0.1, 0.0]]] {
            let rows = Tensor::<2>::from_floats(rows, &device);
            sums.push(batch(2, 1.0, None).gather("auroc", rows, crate::metrics::auroc));
            sums.finish().unwrap();
        }
        assert_eq!(sums.finish().unwrap().get("auroc"), Some(0.75));
    }
}

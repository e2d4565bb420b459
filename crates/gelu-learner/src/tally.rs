use crate::measurement::{Amount, LOSS};
use crate::{Error, Measurement, Result};
use burn::tensor::{Int, Tensor};

/// What a network achieves on a split.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// The measures of all batches, in their order; the loss is the first.
    values: Vec<(&'static str, f64)>,
}

impl Score {
    /// Mean loss over its examples.
    pub fn loss(&self) -> f64 {
        self.get(LOSS).unwrap_or(f64::NAN)
    }

    /// All measures that every batch had, with their names.
    pub fn measures(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.values.iter().copied()
    }

    /// A measure, where every batch had it.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// Adds up what batches measured. Results stay on the device until they are asked for, and then come
/// back in one transfer a measure; sums are in f64, in the order of the batches, so that they do not
/// depend on when somebody asked.
#[derive(Debug, Default)]
pub struct Tally {
    /// Not read back yet.
    pending: Vec<Measurement>,
    batches: usize,
    sums: Vec<Sum>,
}

/// A measure so far.
#[derive(Debug)]
struct Sum {
    name: &'static str,
    batches: usize,
    of: f64,
    over: f64,
    /// Whether the measure is the root of their ratio.
    root: bool,
}

impl Sum {
    fn ratio(&self) -> f64 {
        let ratio = self.of / self.over;
        if self.root { ratio.sqrt() } else { ratio }
    }
}

impl Tally {
    /// Takes in a batch, without waiting for the device.
    pub fn push(&mut self, mut measurement: Measurement) {
        measurement.take_loss();
        self.pending.push(measurement);
    }

    /// The measures so far that every batch had.
    ///
    /// # Errors
    ///
    /// When there was no batch, a measure is more than one number a batch, or a result cannot be read back
    /// from the device.
    pub fn score(&mut self) -> Result<Score> {
        self.read_back()?;
        if self.batches == 0 {
            return Err(Error::Failed("there is no batch to measure".to_owned()));
        }
        let of_all = self.sums.iter().filter(|sum| sum.batches == self.batches);
        Ok(Score { values: of_all.map(|sum| (sum.name, sum.ratio())).collect() })
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
            let of_name = |batch: &Measurement| {
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
            }
        }
        let mut floats = read(name, floats)?.into_iter();
        let mut counts = read_counts(name, counts)?.into_iter();
        let index = self.sums.iter().position(|sum| sum.name == name).unwrap_or_else(|| {
            self.sums.push(Sum { name, batches: 0, of: 0.0, over: 0.0, root: false });
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
            }
        }
        Ok(())
    }
}

/// One number of each.
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

/// That a device does not give something back.
pub fn unreadable(error: impl std::fmt::Display) -> Error {
    Error::Failed(format!("cannot read a result back from the device: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    fn batch(examples: usize, loss: f32, wrong: Option<i32>) -> Measurement {
        let device = Device::default();
        let loss = Measurement::new(examples, Tensor::from_data([loss], &device));
        match wrong {
            Some(wrong) => loss.count("error", Tensor::from_data([wrong], &device)),
            None => loss,
        }
    }

    #[test]
    fn batches_weigh_by_their_examples() {
        let mut tally = Tally::default();
        tally.push(batch(3, 1.0, Some(3)));
        tally.push(batch(1, 5.0, Some(0)));
        let score = tally.score().unwrap();
        assert_eq!((score.loss(), score.get("error")), (2.0, Some(0.75)));
    }

    #[test]
    fn a_ratio_is_one_of_sums_not_a_mean_of_ratios() {
        let device = Device::default();
        let mut tally = Tally::default();
        for (of, over) in [(1.0, 1.0), (1.0, 9.0)] {
            let tensor = |value: f32| Tensor::from_data([value], &device);
            tally.push(batch(5, 1.0, None).ratio("f1", tensor(of), tensor(over)));
        }
        assert_eq!(tally.score().unwrap().get("f1"), Some(0.2));
    }

    #[test]
    fn a_root_is_taken_of_the_mean_over_all_batches() {
        let device = Device::default();
        let mut tally = Tally::default();
        // Errors of 3, 3, 3 and 1: √((9 + 9 + 9 + 1)/4), no mean of 3 and 1.
        for (examples, square) in [(3, 9.0_f32), (1, 1.0)] {
            let mean = Tensor::from_data([square], &device);
            tally.push(batch(examples, 1.0, None).root_of_mean("rmse", mean));
        }
        assert_eq!(tally.score().unwrap().get("rmse"), Some(7.0_f64.sqrt()));
    }

    #[test]
    fn asking_in_between_changes_nothing() {
        let losses = [0.1, 0.7, 1e-3, 3.3, 0.2];
        let (mut asked, mut left_alone) = (Tally::default(), Tally::default());
        for (index, loss) in losses.into_iter().enumerate() {
            asked.push(batch(index + 1, loss, Some(1)));
            left_alone.push(batch(index + 1, loss, Some(1)));
            asked.score().unwrap();
        }
        assert_eq!(asked.score().unwrap(), left_alone.score().unwrap());
        let mean =
            losses.iter().zip(1..).map(|(loss, n)| f64::from(*loss) * f64::from(n)).sum::<f64>()
                / 15.0;
        let score = asked.score().unwrap();
        assert_eq!((score.loss(), score.get("error")), (mean, Some(5.0 / 15.0)));
    }

    #[test]
    fn an_error_over_some_of_the_batches_is_none() {
        let mut tally = Tally::default();
        tally.push(batch(2, 1.0, None));
        assert_eq!(tally.score().unwrap().get("error"), None);
        tally.push(batch(2, 1.0, Some(1)));
        assert_eq!(tally.score().unwrap().get("error"), None);
    }

    #[test]
    fn a_loss_of_many_numbers_is_refused() {
        let device = Device::default();
        let mut tally = Tally::default();
        tally.push(Measurement::new(3, Tensor::from_data([1.0, 2.0, 3.0], &device)));
        let error = tally.score().unwrap_err().to_string();
        assert!(error.contains("the loss of a batch has 3 numbers"), "{error}");
    }

    #[test]
    fn nothing_to_measure_is_an_error() {
        assert!(Tally::default().score().is_err());
    }
}

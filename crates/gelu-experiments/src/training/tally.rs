use super::evaluate::{Measurement, Score};
use crate::{Error, Result};
use burn::tensor::{Int, Tensor};

/// Adds up what batches measured. Results stay on the device until they are asked for, and then come
/// back in one transfer; sums are in f64, in the order of the batches, so that they do not depend
/// on when somebody asked.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Not read back yet.
    pending: Vec<Measurement>,
    examples: usize,
    /// Sum over the examples.
    loss: f64,
    /// `None` once a batch counted nothing.
    wrong: Option<usize>,
}

impl Tally {
    /// Takes in a batch, without waiting for the device.
    pub(super) fn push(&mut self, measurement: Measurement) {
        self.pending.push(measurement);
    }

    /// Mean loss over the examples so far.
    ///
    /// # Errors
    ///
    /// As [`score`](Self::score).
    pub(super) fn mean_loss(&mut self) -> Result<f64> {
        Ok(self.score()?.loss)
    }

    /// Mean loss, and the share of wrongly classified examples where every batch counted them, so
    /// far.
    ///
    /// # Errors
    ///
    /// When there was no batch, or a result cannot be read back from the device.
    pub(super) fn score(&mut self) -> Result<Score> {
        self.read_back()?;
        if self.examples == 0 {
            return Err(Error::Failed("there is no batch to measure".to_owned()));
        }
        let examples = self.examples as f64;
        let error = self.wrong.map(|wrong| wrong as f64 / examples);
        Ok(Score { loss: self.loss / examples, error })
    }

    fn read_back(&mut self) -> Result<()> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Ok(());
        }
        let so_far = if self.examples == 0 { Some(0) } else { self.wrong };
        let losses = pending.iter().map(|batch| batch.loss.clone()).collect();
        let losses = Tensor::cat(losses, 0).try_into_data().map_err(unreadable)?;
        for (batch, loss) in pending.iter().zip(losses.iter::<f64>()) {
            self.examples += batch.examples;
            self.loss += loss * batch.examples as f64;
        }
        let counts: Option<Vec<Tensor<1, Int>>> =
            pending.into_iter().map(|batch| batch.wrong).collect();
        self.wrong = match (so_far, counts) {
            (Some(so_far), Some(counts)) => {
                let counts = Tensor::cat(counts, 0).try_into_data().map_err(unreadable)?;
                Some(so_far + counts.iter::<u64>().sum::<u64>() as usize)
            }
            _ => None,
        };
        Ok(())
    }
}

pub(super) fn unreadable(error: impl std::fmt::Display) -> Error {
    Error::Failed(format!("cannot read a result back from the device: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    fn batch(examples: usize, loss: f32, wrong: Option<i32>) -> Measurement {
        let device = Device::default();
        Measurement {
            examples,
            loss: Tensor::from_data([loss], &device),
            wrong: wrong.map(|wrong| Tensor::from_data([wrong], &device)),
        }
    }

    #[test]
    fn batches_weigh_by_their_examples() {
        let mut tally = Tally::default();
        tally.push(batch(3, 1.0, Some(3)));
        tally.push(batch(1, 5.0, Some(0)));
        assert_eq!(tally.score().unwrap(), Score { loss: 2.0, error: Some(0.75) });
    }

    #[test]
    fn asking_in_between_changes_nothing() {
        let losses = [0.1, 0.7, 1e-3, 3.3, 0.2];
        let (mut asked, mut left_alone) = (Tally::default(), Tally::default());
        for (index, loss) in losses.into_iter().enumerate() {
            asked.push(batch(index + 1, loss, Some(1)));
            left_alone.push(batch(index + 1, loss, Some(1)));
            asked.mean_loss().unwrap();
        }
        assert_eq!(asked.score().unwrap(), left_alone.score().unwrap());
        let mean =
            losses.iter().zip(1..).map(|(loss, n)| f64::from(*loss) * f64::from(n)).sum::<f64>()
                / 15.0;
        assert_eq!(asked.score().unwrap(), Score { loss: mean, error: Some(5.0 / 15.0) });
    }

    #[test]
    fn an_error_over_some_of_the_batches_is_none() {
        let mut tally = Tally::default();
        tally.push(batch(2, 1.0, None));
        assert_eq!(tally.score().unwrap().error, None);
        tally.push(batch(2, 1.0, Some(1)));
        assert_eq!(tally.score().unwrap().error, None);
    }

    #[test]
    fn nothing_to_measure_is_an_error() {
        assert!(Tally::default().score().is_err());
    }
}

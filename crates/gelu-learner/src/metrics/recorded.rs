//! Burn's own metrics, recorded in the files of a run.

use crate::{Error, Result, Trainable};
use burn::data::dataloader::Progress;
use burn::train::InferenceStep;
use burn::train::metric::{Adaptor, Metric, MetricAttributes, MetricMetadata, Numeric};

/// A metric that can be recorded over one split.
pub trait Recorder<M: Trainable>: Send + Sync {
    /// Returns the metric's name in files, without the name of a split.
    fn column(&self) -> String;

    /// Returns whether higher values are better.
    fn is_higher_better(&self) -> bool;

    /// Starts a recording over one split.
    fn begin(&self) -> Box<dyn Recording<M>>;
}

/// A metric while it is recorded over one split.
pub trait Recording<M: Trainable> {
    /// Adds a batch.
    fn update(&mut self, output: &<M as InferenceStep>::Output, progress: Progress) -> Result<()>;

    /// Returns the value over the split.
    fn finish(&mut self) -> Result<f64>;
}

/// One numeric metric or a tuple of up to six, with the bounds of Burn's `MetricRegistration`.
pub trait RecordedMetrics<M: Trainable> {
    #[doc(hidden)]
    fn add_to(self, recorders: &mut Vec<Box<dyn Recorder<M>>>);
}

struct Recorded<Me>(Me);

impl<M, Me> Recorder<M> for Recorded<Me>
where
    M: Trainable,
    Me: Metric + Numeric + 'static,
    <M as InferenceStep>::Output: Adaptor<Me::Input>,
{
    fn column(&self) -> String {
        let name = self.0.name();
        let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect::<Vec<_>>().join("_")
    }

    fn is_higher_better(&self) -> bool {
        matches!(self.0.attributes(), MetricAttributes::Numeric(numeric) if numeric.higher_is_better)
    }

    fn begin(&self) -> Box<dyn Recording<M>> {
        let mut metric = self.0.clone();
        metric.clear();
        Box::new(Recorded(metric))
    }
}

impl<M, Me> Recording<M> for Recorded<Me>
where
    M: Trainable,
    Me: Metric + Numeric + 'static,
    <M as InferenceStep>::Output: Adaptor<Me::Input>,
{
    fn update(&mut self, output: &<M as InferenceStep>::Output, progress: Progress) -> Result<()> {
        let metadata = MetricMetadata { progress, iteration: None, lr: None };
        let updated = self.0.update(&output.adapt(), &metadata);
        updated.map(|_| ()).map_err(|error| failed(&self.0, error))
    }

    fn finish(&mut self) -> Result<f64> {
        self.0.compute().map_err(|error| failed(&self.0, error))?;
        Ok(self.0.final_value().current())
    }
}

fn failed(metric: &impl Metric, error: impl std::fmt::Display) -> Error {
    Error::Failed(format!("cannot compute the metric {}: {error}", metric.name()))
}

macro_rules! recorded {
    ($($Me:ident)*) => {
        impl<M, $($Me,)*> RecordedMetrics<M> for ($($Me,)*)
        where
            M: Trainable,
            $($Me: Metric + Numeric + 'static,)*
            $(<M as InferenceStep>::Output: Adaptor<$Me::Input>,)*
        {
            #[allow(non_snake_case, reason = "the names of the types are those of the values")]
            fn add_to(self, recorders: &mut Vec<Box<dyn Recorder<M>>>) {
                let ($($Me,)*) = self;
                $(recorders.push(Box::new(Recorded($Me)));)*
            }
        }
    };
}

recorded!(A);
recorded!(A B);
recorded!(A B C);
recorded!(A B C D);
recorded!(A B C D E);
recorded!(A B C D E F);

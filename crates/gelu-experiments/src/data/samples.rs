use super::inputs::Pixels;
use super::{Examples, Images, Windows};
use burn::tensor::{Device, Int, Tensor, TensorData};
use std::ops::Range;
use std::sync::Arc;

/// Examples that lie on a device, to be taken in batches.
///
/// Windows lie there as a table of vectors and the numbers of their rows: a batch is gathered when
/// it is taken, and overlapping windows take no more memory than their vectors.
#[derive(Clone, Debug)]
pub struct Samples {
    inputs: Inputs,
    labels: Tensor<1, Int>,
    /// Where each group of examples ends; `None` where every example stands for itself.
    groups: Option<Arc<[usize]>>,
}

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there are three for a whole data set")]
enum Inputs {
    /// `[examples, features]`
    Rows(Tensor<2>),
    /// `[rows, width]` and `[examples, window]`
    Windows { table: Tensor<2>, rows: Tensor<2, Int> },
}

/// Which examples make a batch.
#[derive(Debug)]
pub(super) enum Chosen {
    Range(Range<usize>),
    Indices(Vec<i32>),
}

impl Samples {
    /// Pictures.
    pub fn of_images(images: &Images, pixels: Pixels, device: &Device) -> Self {
        images.to_examples(pixels, device).into()
    }

    /// Windows; `grouped` keeps their groups together in batches.
    pub fn of_windows(windows: &Windows, grouped: bool, device: &Device) -> Self {
        let height = windows.table().len() / windows.width();
        let table = TensorData::new(windows.table().to_vec(), [height, windows.width()]);
        let rows: Vec<i32> = windows.rows().iter().map(|&row| row as i32).collect();
        let rows = TensorData::new(rows, [windows.len(), windows.window()]);
        let labels: Vec<i32> = windows.labels().iter().map(|&label| i32::from(label)).collect();
        Self {
            inputs: Inputs::Windows {
                table: Tensor::from_data(table, device),
                rows: Tensor::from_data(rows, device),
            },
            labels: Tensor::from_data(TensorData::new(labels, [windows.len()]), device),
            groups: grouped.then(|| windows.group_ends().into()),
        }
    }

    /// The same examples, each standing for itself.
    pub fn ungrouped(self) -> Self {
        Self { groups: None, ..self }
    }

    /// How many examples.
    pub fn len(&self) -> usize {
        self.labels.dims()[0]
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many things a batch is a number of: groups, or examples.
    pub fn units(&self) -> usize {
        self.groups.as_ref().map_or_else(|| self.len(), |groups| groups.len())
    }

    /// Numbers of an input.
    pub fn features(&self) -> usize {
        match &self.inputs {
            Inputs::Rows(rows) => rows.dims()[1],
            Inputs::Windows { table, rows } => table.dims()[1] * rows.dims()[1],
        }
    }

    /// The device they lie on.
    pub fn device(&self) -> Device {
        self.labels.device()
    }

    /// The same on another device.
    pub fn to_device(&self, device: &Device) -> Self {
        let inputs = match self.inputs.clone() {
            Inputs::Rows(rows) => Inputs::Rows(rows.to_device(device)),
            Inputs::Windows { table, rows } => {
                Inputs::Windows { table: table.to_device(device), rows: rows.to_device(device) }
            }
        };
        Self { inputs, labels: self.labels.clone().to_device(device), groups: self.groups.clone() }
    }

    /// The same examples with other inputs, made from theirs as `[examples, features]`.
    ///
    /// # Panics
    ///
    /// If `change` returns another number of examples.
    pub fn map_inputs(self, change: impl FnOnce(Tensor<2>) -> Tensor<2>) -> Self {
        let all = self.take(&Chosen::Range(0..self.len()));
        let inputs = change(all.inputs);
        assert_eq!(inputs.dims()[0], self.len(), "every example has its input");
        Self { inputs: Inputs::Rows(inputs), ..self }
    }

    /// The examples that belong to some units.
    pub(super) fn resolve(&self, units: &Chosen) -> Chosen {
        let Some(ends) = &self.groups else {
            return match units {
                Chosen::Range(range) => Chosen::Range(range.clone()),
                Chosen::Indices(indices) => Chosen::Indices(indices.clone()),
            };
        };
        let start = |group: usize| if group == 0 { 0 } else { ends[group - 1] };
        match units {
            Chosen::Range(range) => Chosen::Range(start(range.start)..start(range.end)),
            Chosen::Indices(groups) => {
                let groups = groups.iter().map(|&group| group as usize);
                let examples = groups.flat_map(|group| start(group)..ends[group]);
                Chosen::Indices(examples.map(|example| example as i32).collect())
            }
        }
    }

    /// Gathers some examples.
    pub(super) fn take(&self, chosen: &Chosen) -> Examples {
        match chosen {
            Chosen::Range(range) => {
                let range = range.clone();
                let labels = self.labels.clone().slice([range.clone()]);
                let inputs = match &self.inputs {
                    Inputs::Rows(rows) => rows.clone().slice([range]),
                    Inputs::Windows { table, rows } => gather(table, rows.clone().slice([range])),
                };
                Examples { inputs, labels }
            }
            Chosen::Indices(indices) => {
                let data = TensorData::new(indices.clone(), [indices.len()]);
                let device = self.device().inner();
                let indices = Tensor::<1, Int>::from_data(data, &device);
                let labels = self.labels.clone().select(0, indices.clone());
                let inputs = match &self.inputs {
                    Inputs::Rows(rows) => rows.clone().select(0, indices),
                    Inputs::Windows { table, rows } => {
                        gather(table, rows.clone().select(0, indices))
                    }
                };
                Examples { inputs, labels }
            }
        }
    }
}

/// The vectors of windows, one behind the other: `[examples, window · width]`.
fn gather(table: &Tensor<2>, rows: Tensor<2, Int>) -> Tensor<2> {
    let ([examples, window], width) = (rows.dims(), table.dims()[1]);
    table.clone().select(0, rows.reshape([examples * window])).reshape([examples, window * width])
}

impl From<Examples> for Samples {
    fn from(examples: Examples) -> Self {
        Self { inputs: Inputs::Rows(examples.inputs), labels: examples.labels, groups: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows() -> Windows {
        let table: Vec<f32> = (0..10).map(|v| v as f32).collect();
        let mut windows = Windows::new(table.into(), 2, 3).unwrap();
        windows.push_group(&[0, 0, 1, 0, 1, 2], &[5, 6]);
        windows.push_group(&[3, 2, 1], &[7]);
        windows.push_group(&[4, 4, 4, 0, 1, 0], &[8, 9]);
        windows
    }

    fn values(tensor: Tensor<2>) -> Vec<f32> {
        tensor.into_data().iter::<f32>().collect()
    }

    #[test]
    fn gathered_windows_are_those_on_the_host() {
        let windows = windows();
        let samples = Samples::of_windows(&windows, false, &Device::default());
        assert_eq!((samples.len(), samples.units(), samples.features()), (5, 5, 6));
        let batch = samples.take(&Chosen::Range(1..4));
        assert_eq!(values(batch.inputs), windows.inputs(1..4));
        let batch = samples.take(&Chosen::Indices(vec![4, 0]));
        let expected = [windows.inputs(4..5), windows.inputs(0..1)].concat();
        assert_eq!(values(batch.inputs), expected);
        assert_eq!(batch.labels.into_data().iter::<i64>().collect::<Vec<_>>(), [9, 5]);
    }

    #[test]
    fn groups_bring_all_their_examples() {
        let samples = Samples::of_windows(&windows(), true, &Device::default());
        assert_eq!((samples.len(), samples.units()), (5, 3));
        let resolved = samples.resolve(&Chosen::Indices(vec![2, 0]));
        assert!(matches!(&resolved, Chosen::Indices(i) if *i == [3, 4, 0, 1]), "{resolved:?}");
        let resolved = samples.resolve(&Chosen::Range(1..3));
        assert!(matches!(&resolved, Chosen::Range(r) if *r == (2..5)), "{resolved:?}");
        assert_eq!(samples.ungrouped().units(), 5, "measured example by example");
    }
}

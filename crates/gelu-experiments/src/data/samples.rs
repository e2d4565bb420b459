use super::inputs::Pixels;
use super::{BatchInputs, Examples, Images, Points, Rows, Targets, Windows};
use burn::tensor::{Device, Int, Tensor, TensorData};
use std::ops::Range;
use std::sync::Arc;

/// Examples on a device, to be taken in batches.
///
/// Windows are stored as a table of vectors and the numbers of their rows. A batch is gathered when it is taken, and
/// overlapping windows take no more memory than their vectors.
#[derive(Clone, Debug)]
pub struct Samples {
    inputs: Inputs,
    labels: Tensor<1, Int>,
    /// The number to predict for each example, if there are no classes; only with `Inputs::Rows`.
    targets: Option<Targets>,
    /// The end of each group of examples; `None` if every example is its own group.
    groups: Option<Arc<[usize]>>,
}

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there are three for a whole data set")]
enum Inputs {
    /// `[examples, features]`
    Rows(Tensor<2>),
    /// `[rows, width]` and `[examples, window]`
    Windows { table: Tensor<2>, rows: Tensor<2, Int> },
    /// `[characters]`, in windows of `context` characters.
    Text { characters: Tensor<1, Int>, context: usize },
}

/// The examples of a batch.
#[derive(Debug)]
pub(super) enum Chosen {
    Range(Range<usize>),
    Indices(Vec<i32>),
    /// Windows of a text, by the positions of their first characters.
    Places(Vec<i32>),
}

impl Samples {
    /// Creates examples of images.
    pub fn of_images(images: &Images, pixels: Pixels, device: &Device) -> Self {
        images.to_examples(pixels, device).into()
    }

    /// Creates examples of windows; `grouped` keeps the examples of a group together in batches.
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
            targets: None,
            groups: grouped.then(|| windows.group_ends().into()),
        }
    }

    /// Creates examples of a text, in windows of `context` characters. An example predicts a character from the
    /// characters before it in its window. In sequential order, windows do not overlap, and the rest at the end is
    /// not used.
    ///
    /// # Panics
    ///
    /// If the text does not have at least one character more than a window.
    pub fn of_text(text: &[u32], context: usize, device: &Device) -> Self {
        assert!(context > 0 && text.len() > context, "{} characters are no window", text.len());
        let data: Vec<i32> = text.iter().map(|&character| character as i32).collect();
        let characters = Tensor::<1, Int>::from_data(TensorData::new(data, [text.len()]), device);
        let windows = (text.len() - 1) / context;
        let labels = characters.clone().narrow(0, 1, windows * context);
        let inputs = Inputs::Text { characters, context };
        Self { inputs, labels, targets: None, groups: None }
    }

    /// Creates examples of points with their numbers to predict.
    ///
    /// # Panics
    ///
    /// If there are more or fewer numbers than points.
    pub fn of_points(points: &Points, targets: Vec<f32>, device: &Device) -> Self {
        let count = points.len();
        assert_eq!(targets.len(), count, "every point has its number");
        let rows = TensorData::new(points.coordinates().to_vec(), [count, points.variables()]);
        Self {
            inputs: Inputs::Rows(Tensor::from_data(rows, device)),
            labels: Tensor::zeros([count], device),
            targets: Some(Targets::new(targets, None, device)),
            groups: None,
        }
    }

    /// Creates examples of the rows of a table.
    pub fn of_rows(rows: &Rows, device: &Device) -> Self {
        let count = rows.labels.len();
        let labels: Vec<i32> = rows.labels.iter().map(|&label| i32::from(label)).collect();
        let inputs = TensorData::new(rows.inputs.clone(), [count, rows.width]);
        let targets = |numbers: &Vec<f32>| Targets::new(numbers.clone(), rows.variance(), device);
        Self {
            inputs: Inputs::Rows(Tensor::from_data(inputs, device)),
            labels: Tensor::from_data(TensorData::new(labels, [count]), device),
            targets: rows.numbers.as_ref().map(targets),
            groups: None,
        }
    }

    /// Returns the same examples without groups; the examples of a text stay in their windows.
    pub fn ungrouped(self) -> Self {
        Self { groups: None, ..self }
    }

    /// Returns the number of examples.
    pub fn len(&self) -> usize {
        self.labels.dims()[0]
    }

    /// Returns whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of units that batches count: groups, windows of a text, or examples.
    pub fn units(&self) -> usize {
        match &self.groups {
            Some(groups) => groups.len(),
            None => self.len() / self.examples_a_window(),
        }
    }

    /// Returns the number of examples in a window of a text; 1 for other inputs.
    pub(super) fn examples_a_window(&self) -> usize {
        match &self.inputs {
            Inputs::Text { context, .. } => *context,
            _ => 1,
        }
    }

    /// Returns the positions where a window of a text can begin; `None` for other inputs.
    pub(super) fn places(&self) -> Option<Range<i32>> {
        match &self.inputs {
            Inputs::Text { characters, context } => {
                Some(0..(characters.dims()[0] - context) as i32)
            }
            _ => None,
        }
    }

    /// Returns the numbers per input; for a text, the tokens per window.
    pub fn features(&self) -> usize {
        match &self.inputs {
            Inputs::Rows(rows) => rows.dims()[1],
            Inputs::Windows { table, rows } => table.dims()[1] * rows.dims()[1],
            Inputs::Text { context, .. } => *context,
        }
    }

    /// Returns the device of the examples.
    pub fn device(&self) -> Device {
        self.labels.device()
    }

    /// Returns a copy on another device.
    pub fn to_device(&self, device: &Device) -> Self {
        let inputs = match self.inputs.clone() {
            Inputs::Rows(rows) => Inputs::Rows(rows.to_device(device)),
            Inputs::Windows { table, rows } => {
                Inputs::Windows { table: table.to_device(device), rows: rows.to_device(device) }
            }
            Inputs::Text { characters, context } => {
                Inputs::Text { characters: characters.to_device(device), context }
            }
        };
        Self {
            inputs,
            labels: self.labels.clone().to_device(device),
            targets: self.targets.clone().map(|targets| targets.map(|t| t.to_device(device))),
            groups: self.groups.clone(),
        }
    }

    /// Returns the inputs of the first `count` examples, or all if there are fewer, `[examples, features]`.
    ///
    /// # Panics
    ///
    /// If the inputs are tokens.
    pub fn first_inputs(&self, count: usize) -> Tensor<2> {
        self.take(&Chosen::Range(0..count.min(self.len()))).inputs.numbers()
    }

    /// Returns the same examples with inputs that `change` makes from theirs, `[examples, features]`.
    ///
    /// # Panics
    ///
    /// If `change` returns another number of examples, or the inputs are tokens.
    pub fn map_inputs(self, change: impl FnOnce(Tensor<2>) -> Tensor<2>) -> Self {
        let all = self.take(&Chosen::Range(0..self.len()));
        let inputs = change(all.inputs.numbers());
        assert_eq!(inputs.dims()[0], self.len(), "every example has its input");
        Self { inputs: Inputs::Rows(inputs), ..self }
    }

    /// Converts units into their examples.
    pub(super) fn resolve(&self, units: &Chosen) -> Chosen {
        let Some(ends) = &self.groups else {
            return match units {
                Chosen::Range(range) => Chosen::Range(range.clone()),
                Chosen::Indices(indices) => Chosen::Indices(indices.clone()),
                Chosen::Places(places) => Chosen::Places(places.clone()),
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
            Chosen::Places(_) => unreachable!("a text has no groups"),
        }
    }

    /// Gathers some examples; for a text, some windows.
    pub(super) fn take(&self, chosen: &Chosen) -> Examples {
        let (labels, targets) = (self.labels.clone(), self.targets.clone());
        match (&self.inputs, chosen) {
            (Inputs::Text { characters, context }, chosen) => {
                windows_of(characters, *context, chosen)
            }
            (Inputs::Rows(rows), Chosen::Range(range)) => Examples {
                inputs: rows.clone().slice([range.clone()]).into(),
                labels: labels.slice([range.clone()]),
                targets: targets.map(|targets| targets.map(|t| t.slice([range.clone()]))),
            },
            (Inputs::Windows { table, rows }, Chosen::Range(range)) => Examples {
                inputs: gather(table, rows.clone().slice([range.clone()])).into(),
                labels: labels.slice([range.clone()]),
                targets: None,
            },
            (Inputs::Rows(rows), Chosen::Indices(indices)) => {
                let indices = indices_on(indices, &self.device().inner());
                let inputs = rows.clone().select(0, indices.clone()).into();
                let targets = targets.map(|targets| targets.map(|t| t.select(0, indices.clone())));
                Examples { inputs, labels: labels.select(0, indices), targets }
            }
            (Inputs::Windows { table, rows }, Chosen::Indices(indices)) => {
                let indices = indices_on(indices, &self.device().inner());
                let inputs = gather(table, rows.clone().select(0, indices.clone())).into();
                Examples { inputs, labels: labels.select(0, indices), targets: None }
            }
            (_, Chosen::Places(_)) => unreachable!("only a text has places"),
        }
    }
}

fn indices_on(indices: &[i32], device: &Device) -> Tensor<1, Int> {
    Tensor::from_data(TensorData::new(indices.to_vec(), [indices.len()]), device)
}

/// Returns windows of a text: those of a range one after the other, or those at given positions.
fn windows_of(characters: &Tensor<1, Int>, context: usize, chosen: &Chosen) -> Examples {
    let starts: Vec<i32> = match chosen {
        Chosen::Range(range) => {
            let characters = |from: usize| {
                characters.clone().narrow(0, range.start * context + from, range.len() * context)
            };
            let tokens = characters(0).reshape([range.len(), context]);
            let inputs = BatchInputs::Tokens(tokens);
            return Examples { inputs, labels: characters(1), targets: None };
        }
        Chosen::Indices(windows) => windows.iter().map(|window| window * context as i32).collect(),
        Chosen::Places(places) => places.clone(),
    };
    let device = characters.device().inner();
    let taken = |from: i32| {
        let places = |&start: &i32| start + from..start + from + context as i32;
        let places: Vec<i32> = starts.iter().flat_map(places).collect();
        characters.clone().select(0, indices_on(&places, &device))
    };
    let tokens = taken(0).reshape([starts.len(), context]);
    Examples { inputs: BatchInputs::Tokens(tokens), labels: taken(1), targets: None }
}

/// Returns the vectors of windows, one after the other: `[examples, window · width]`.
fn gather(table: &Tensor<2>, rows: Tensor<2, Int>) -> Tensor<2> {
    let ([examples, window], width) = (rows.dims(), table.dims()[1]);
    table.clone().select(0, rows.reshape([examples * window])).reshape([examples, window * width])
}

impl From<Examples> for Samples {
    fn from(examples: Examples) -> Self {
        Self {
            inputs: Inputs::Rows(examples.inputs.numbers()),
            labels: examples.labels,
            targets: examples.targets,
            groups: None,
        }
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
        assert_eq!(values(batch.inputs.numbers()), windows.inputs(1..4));
        let batch = samples.take(&Chosen::Indices(vec![4, 0]));
        let expected = [windows.inputs(4..5), windows.inputs(0..1)].concat();
        assert_eq!(values(batch.inputs.numbers()), expected);
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

    #[test]
    fn characters_are_followed_by_their_labels_in_every_kind_of_window() {
        let text: Vec<u32> = (10..21).collect();
        let samples = Samples::of_text(&text, 3, &Device::default());
        assert_eq!((samples.len(), samples.units(), samples.features()), (9, 3, 3));
        assert_eq!(
            samples.places(),
            Some(0..8),
            "the last begins where its last label is the last character"
        );
        let found = |chosen| {
            let Examples { inputs, labels, .. } = samples.take(&samples.resolve(&chosen));
            let numbers = |data: TensorData| data.iter::<i64>().collect::<Vec<_>>();
            let inputs = inputs.tokens();
            assert_eq!(inputs.dims()[1], 3);
            (numbers(inputs.into_data()), numbers(labels.into_data()))
        };
        let (tokens, labels) = found(Chosen::Range(1..3));
        assert_eq!((tokens, labels), ((13..19).collect(), (14..20).collect()));
        let (tokens, labels) = found(Chosen::Places(vec![7, 0]));
        assert_eq!(tokens, [17, 18, 19, 10, 11, 12]);
        assert_eq!(labels, [18, 19, 20, 11, 12, 13]);
        assert_eq!(found(Chosen::Indices(vec![2])).0, [16, 17, 18]);
    }
}

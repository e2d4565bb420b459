use super::dataset::without_location;
use super::{DataSource, WindowReader};
use crate::{Error, Result};
use gelu_learner::networks::TestGroups;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::Range;
use std::sync::Arc;

/// Labelled windows over a table of vectors: the words of tweets, the frames of recordings.
///
/// An example is `window` rows of the table, one after the other, and a label. The rows are given by their numbers
/// and not copied: the inputs of a whole speech corpus would take eleven times the memory of its frames, and on a
/// device a batch is a single gather from the table. Examples come in groups (a tweet, a sentence), so that a batch
/// can be a number of groups.
///
/// # Shapes
///
/// - table: `[rows, width]`
/// - rows: `[examples, window]`
/// - labels: `[examples]`
/// - inputs: `[examples, window · width]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Windows {
    #[serde(serialize_with = "slice", deserialize_with = "shared")]
    table: Arc<[f32]>,
    width: usize,
    window: usize,
    rows: Vec<u32>,
    labels: Vec<u8>,
    group_ends: Vec<usize>,
}

pub(super) fn slice<S: Serializer>(
    table: &[f32],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    table.serialize(serializer)
}

pub(super) fn shared<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Arc<[f32]>, D::Error> {
    Vec::deserialize(deserializer).map(Arc::from)
}

impl Windows {
    /// Creates windows without examples over a table of rows with `width` numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if the table has more rows than an `i32` can count, because tensors use it as index.
    ///
    /// # Panics
    ///
    /// If the table does not consist of whole rows, or `width` or `window` is 0.
    pub fn new(table: Arc<[f32]>, width: usize, window: usize) -> Result<Self> {
        assert!(width > 0 && window > 0, "rows and windows hold something");
        assert!(table.len().is_multiple_of(width), "{} is no multiple of {width}", table.len());
        let rows = table.len() / width;
        if i32::try_from(rows).is_err() {
            return Err(Error::Usage(format!("{rows} vectors are more than a tensor can index")));
        }
        let (rows, labels, group_ends) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { table, width, window, rows, labels, group_ends })
    }

    /// Adds a group of examples: their rows, `window` each, and their labels.
    ///
    /// # Panics
    ///
    /// If there are not `window` rows per label, or a row is not in the table.
    pub fn push_group(&mut self, rows: &[u32], labels: &[u8]) {
        assert_eq!(rows.len(), labels.len() * self.window, "every label has its window");
        let height = self.table.len() / self.width;
        assert!(rows.iter().all(|&row| (row as usize) < height), "rows lie in the table");
        self.rows.extend(rows);
        self.labels.extend(labels);
        self.group_ends.push(self.labels.len());
    }

    /// Returns the number of examples.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Returns whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Returns the numbers per input: `window · width`.
    pub fn features(&self) -> usize {
        self.window * self.width
    }

    /// Returns the vectors, row after row.
    pub fn table(&self) -> &[f32] {
        &self.table
    }

    /// Returns the numbers per row of the table.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the rows per window.
    pub fn window(&self) -> usize {
        self.window
    }

    /// Returns the rows of every example, `window` each.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Returns the label of every example.
    pub fn labels(&self) -> &[u8] {
        &self.labels
    }

    /// Returns the number of groups.
    pub fn groups(&self) -> usize {
        self.group_ends.len()
    }

    /// Returns the examples of a group.
    ///
    /// # Panics
    ///
    /// If there is no such group.
    pub fn group(&self, index: usize) -> Range<usize> {
        let start = if index == 0 { 0 } else { self.group_ends[index - 1] };
        start..self.group_ends[index]
    }

    /// Returns the end of each group, as an index of examples.
    pub fn group_ends(&self) -> &[usize] {
        &self.group_ends
    }

    /// Returns the test groups: examples of one group were sampled together.
    pub fn sampled(&self) -> TestGroups {
        TestGroups::of_sizes((0..self.groups()).map(|index| self.group(index).len()))
    }

    /// Returns `count` evenly spread groups; all if there are no more.
    ///
    /// Data sets are sorted, for example by speaker or digit, so the first groups would be too similar.
    pub fn spread(&self, count: usize) -> Self {
        let all = self.groups();
        if count >= all {
            return self.clone();
        }
        let (rows, labels, group_ends) = (Vec::new(), Vec::new(), Vec::new());
        let mut chosen = Self { rows, labels, group_ends, ..self.clone() };
        for index in 0..count {
            let Range { start, end } = self.group(index * all / count);
            let rows = &self.rows[start * self.window..end * self.window];
            chosen.push_group(rows, &self.labels[start..end]);
        }
        chosen
    }

    /// Returns the inputs of some examples, flat: `[examples, features]`.
    ///
    /// # Panics
    ///
    /// If there are no such examples.
    pub fn inputs(&self, examples: Range<usize>) -> Vec<f32> {
        let mut inputs = Vec::with_capacity(examples.len() * self.features());
        for &row in &self.rows[examples.start * self.window..examples.end * self.window] {
            let start = row as usize * self.width;
            inputs.extend(&self.table[start..start + self.width]);
        }
        inputs
    }
}

/// A data set of windows in its three usual splits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowSet {
    /// The training windows.
    pub train: Windows,
    /// The validation windows.
    pub validation: Windows,
    /// The test windows.
    pub test: Windows,
    /// Number of classes; every label is below it.
    pub classes: usize,
    /// The source of the data.
    #[serde(serialize_with = "without_location")]
    pub source: DataSource,
    /// The names of the classes, by their numbers.
    pub names: Vec<String>,
    /// Converts an input that is not in the set; `None` if that is impossible.
    pub reader: Option<WindowReader>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows() -> Windows {
        let table: Vec<f32> = (0..8).map(|v| v as f32).collect();
        let mut windows = Windows::new(table.into(), 2, 3).unwrap();
        windows.push_group(&[0, 0, 1, 0, 1, 2], &[5, 6]);
        windows.push_group(&[], &[]);
        windows.push_group(&[3, 2, 1], &[7]);
        windows
    }

    #[test]
    fn inputs_are_the_rows_of_the_window_in_order() {
        let windows = windows();
        assert_eq!((windows.len(), windows.features()), (3, 6));
        assert_eq!(windows.inputs(2..3), [6.0, 7.0, 4.0, 5.0, 2.0, 3.0]);
        assert_eq!(windows.inputs(0..1), [0.0, 1.0, 0.0, 1.0, 2.0, 3.0]);
        assert_eq!(windows.inputs(0..3).len(), 18);
    }

    #[test]
    fn groups_partition_the_examples() {
        let windows = windows();
        let groups: Vec<_> = (0..windows.groups()).map(|index| windows.group(index)).collect();
        assert_eq!(groups, [0..2, 2..2, 2..3]);
        assert_eq!(windows.labels(), [5, 6, 7]);
        assert_eq!(windows.sampled(), TestGroups::of_sizes([2, 1]));
    }

    #[test]
    fn spread_groups_come_from_all_over() {
        let mut windows = windows();
        windows.push_group(&[1, 1, 1], &[8]);
        let half = windows.spread(2);
        assert_eq!((half.labels(), half.group_ends()), (&[5, 6, 7][..], &[2, 3][..]));
        assert_eq!(half.inputs(2..3), windows.inputs(2..3));
        assert_eq!(windows.spread(9), windows);
    }

    #[test]
    #[should_panic(expected = "rows lie in the table")]
    fn row_outside_the_table_is_a_programming_error() {
        windows().push_group(&[0, 0, 4], &[1]);
    }
}

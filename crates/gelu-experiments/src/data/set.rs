use super::{DataSource, ImageSet, PointSet, TableSet, TextSet, WindowSet, points};
use super::{Table, Target};

/// A data set as it was read: images in two splits, or windows over vectors or a text in three.
#[derive(Clone, Debug, PartialEq)]
pub enum DataSet {
    /// Images; the validation images are taken from the training images.
    Pictures(ImageSet),
    /// Words with neighbouring words, or frames with neighbouring frames; with a validation split.
    Windows(WindowSet),
    /// A text, as characters, in three splits.
    Text(TextSet),
    /// Points with the values of formulas.
    Points(PointSet),
    /// The user's own tables; each run splits their rows by its seed.
    Tables(TableSet),
}

impl DataSet {
    /// Returns the source of the data.
    pub fn source(&self) -> &DataSource {
        match self {
            Self::Pictures(set) => &set.source,
            Self::Windows(set) => &set.source,
            Self::Text(set) => &set.source,
            Self::Points(set) => &set.source,
            Self::Tables(set) => &set.source,
        }
    }

    pub(super) fn source_mut(&mut self) -> &mut DataSource {
        match self {
            Self::Pictures(set) => &mut set.source,
            Self::Windows(set) => &mut set.source,
            Self::Text(set) => &mut set.source,
            Self::Points(set) => &mut set.source,
            Self::Tables(set) => &mut set.source,
        }
    }

    /// Returns the number of classes. For a text it is the number of different characters, for points the number of
    /// outputs, 1, and for tables the number of the first table.
    pub fn classes(&self) -> usize {
        match self {
            Self::Pictures(set) => set.classes,
            Self::Windows(set) => set.classes,
            Self::Text(set) => set.vocabulary.len(),
            Self::Points(_) => 1,
            Self::Tables(set) => set.tables[0].target.classes(),
        }
    }

    /// Returns the names of the classes, by their numbers; empty for a text, for points and for tables.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Pictures(set) if set.names.is_empty() => {
                (0..set.classes).map(|class| class.to_string()).collect()
            }
            Self::Pictures(set) => set.names.clone(),
            Self::Windows(set) => set.names.clone(),
            Self::Text(_) | Self::Points(_) | Self::Tables(_) => Vec::new(),
        }
    }

    /// Returns the channels, height and width of an image; `None` if there are no images.
    pub fn picture(&self) -> Option<[usize; 3]> {
        match self {
            Self::Pictures(set) => Some([set.train.channels, set.train.height, set.train.width]),
            Self::Windows(_) | Self::Text(_) | Self::Points(_) | Self::Tables(_) => None,
        }
    }

    /// Describes the data in one line.
    pub fn describe(&self) -> String {
        match self {
            Self::Pictures(set) => format!(
                "{} training{} and {} test images of {}×{} pixels, {} classes",
                set.train.len() - set.set_aside,
                match set.set_aside {
                    0 => String::new(),
                    count => format!(", {count} validation"),
                },
                set.test.len(),
                set.train.width,
                set.train.height,
                set.classes
            ),
            Self::Windows(set) => {
                let parts = [&set.train, &set.validation, &set.test];
                let [train, validation, test] =
                    parts.map(|part| format!("{} in {}", part.len(), part.groups()));
                format!(
                    "{train} training, {validation} validation and {test} test groups, \
                     {} numbers an input, {} classes",
                    set.train.features(),
                    set.classes
                )
            }
            Self::Text(set) => format!(
                "{} training, {} validation and {} test characters, {} different ones",
                set.train.len(),
                set.validation.len(),
                set.test.len(),
                set.vocabulary.len()
            ),
            Self::Tables(set) => match &set.tables[..] {
                [table] => in_words(table),
                tables => {
                    let rows: usize = tables.iter().map(Table::rows).sum();
                    format!("{} tables with {rows} rows together", tables.len())
                }
            },
            Self::Points(_) => format!(
                "{0} training and {1} validation points by the seed of a run; {2} test points inside \
                 and {2} outside for each number of variables",
                points::TRAIN,
                points::VALIDATION,
                points::TEST,
            ),
        }
    }
}

fn in_words(table: &Table) -> String {
    let [train, validation, test] = table.sizes();
    let inputs = match table.width() {
        1 => "1 number".to_owned(),
        width => format!("{width} numbers"),
    };
    let target = match &table.target {
        Target::Classes { names, .. } => format!("{} classes", names.len()),
        Target::Numbers(_) => "a number to predict".to_owned(),
    };
    format!(
        "{train} training, {validation} validation and {test} test rows, {inputs} an input, {target}"
    )
}

impl From<TableSet> for DataSet {
    fn from(set: TableSet) -> Self {
        Self::Tables(set)
    }
}

impl From<ImageSet> for DataSet {
    fn from(set: ImageSet) -> Self {
        Self::Pictures(set)
    }
}

impl From<TextSet> for DataSet {
    fn from(set: TextSet) -> Self {
        Self::Text(set)
    }
}

impl From<PointSet> for DataSet {
    fn from(set: PointSet) -> Self {
        Self::Points(set)
    }
}

impl From<WindowSet> for DataSet {
    fn from(set: WindowSet) -> Self {
        Self::Windows(set)
    }
}

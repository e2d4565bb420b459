use super::{DataSource, ImageSet, PointSet, TextSet, WindowSet, Windows, points};

/// A data set as it is read: pictures in two parts, windows over vectors or a text in three.
#[derive(Clone, Debug, PartialEq)]
pub enum DataSet {
    /// Pictures; validation is taken from the training part.
    Pictures(ImageSet),
    /// Words with their neighbours, frames with theirs; with a validation part of their own.
    Windows(WindowSet),
    /// A text, by characters, in three parts.
    Text(TextSet),
    /// Points where formulas have values.
    Points(PointSet),
}

impl DataSet {
    /// Where it is from.
    pub fn source(&self) -> &DataSource {
        match self {
            Self::Pictures(set) => &set.source,
            Self::Windows(set) => &set.source,
            Self::Text(set) => &set.source,
            Self::Points(set) => &set.source,
        }
    }

    pub(super) fn source_mut(&mut self) -> &mut DataSource {
        match self {
            Self::Pictures(set) => &mut set.source,
            Self::Windows(set) => &mut set.source,
            Self::Text(set) => &mut set.source,
            Self::Points(set) => &mut set.source,
        }
    }

    /// Number of classes; of a text, how many different characters there are; of points, where numbers are
    /// learned, that of outputs.
    pub fn classes(&self) -> usize {
        match self {
            Self::Pictures(set) => set.classes,
            Self::Windows(set) => set.classes,
            Self::Text(set) => set.vocabulary.len(),
            Self::Points(_) => 1,
        }
    }

    /// The names of the classes, by their numbers; none of a text and of points.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Pictures(set) if set.names.is_empty() => {
                (0..set.classes).map(|class| class.to_string()).collect()
            }
            Self::Pictures(set) => set.names.clone(),
            Self::Windows(set) => set.names.clone(),
            Self::Text(_) | Self::Points(_) => Vec::new(),
        }
    }

    /// Channels, height and width of a picture; `None` where there are none.
    pub fn picture(&self) -> Option<[usize; 3]> {
        match self {
            Self::Pictures(set) => Some([set.train.channels, set.train.height, set.train.width]),
            Self::Windows(_) | Self::Text(_) | Self::Points(_) => None,
        }
    }

    /// What it holds, in a line.
    pub fn describe(&self) -> String {
        match self {
            Self::Pictures(set) => format!(
                "{} training and {} test pictures of {}×{} pixels, {} classes",
                set.train.len(),
                set.test.len(),
                set.train.width,
                set.train.height,
                set.classes
            ),
            Self::Windows(set)
                if set.train.window() == 1 && set.train.groups() == set.train.len() =>
            {
                let [train, validation, test] =
                    [&set.train, &set.validation, &set.test].map(Windows::len);
                format!(
                    "{train} training, {validation} validation and {test} test rows, {} numbers an \
                     input, {} classes",
                    set.train.features(),
                    set.classes
                )
            }
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

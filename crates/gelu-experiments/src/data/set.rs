use super::{DataSource, ImageSet, WindowSet};

/// A data set as it is read: pictures in two parts, or windows over vectors in three.
#[derive(Clone, Debug, PartialEq)]
pub enum DataSet {
    /// Pictures; validation is taken from the training part.
    Pictures(ImageSet),
    /// Words with their neighbours, frames with theirs; with a validation part of their own.
    Windows(WindowSet),
}

impl DataSet {
    /// Where it is from.
    pub fn source(&self) -> &DataSource {
        match self {
            Self::Pictures(set) => &set.source,
            Self::Windows(set) => &set.source,
        }
    }

    pub(super) fn source_mut(&mut self) -> &mut DataSource {
        match self {
            Self::Pictures(set) => &mut set.source,
            Self::Windows(set) => &mut set.source,
        }
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        match self {
            Self::Pictures(set) => set.classes,
            Self::Windows(set) => set.classes,
        }
    }

    /// Numbers of an input.
    pub fn features(&self) -> usize {
        match self {
            Self::Pictures(set) => set.train.features(),
            Self::Windows(set) => set.train.features(),
        }
    }

    /// Channels, height and width of a picture; `None` where there are none.
    pub fn picture(&self) -> Option<[usize; 3]> {
        match self {
            Self::Pictures(set) => Some([set.train.channels, set.train.height, set.train.width]),
            Self::Windows(_) => None,
        }
    }

    /// What it holds, in a line.
    pub fn describe(&self) -> String {
        match self {
            Self::Pictures(set) => format!(
                "{} training and {} test pictures of {}×{}, {} classes",
                set.train.len(),
                set.test.len(),
                set.train.height,
                set.train.width,
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
        }
    }
}

impl From<ImageSet> for DataSet {
    fn from(set: ImageSet) -> Self {
        Self::Pictures(set)
    }
}

impl From<WindowSet> for DataSet {
    fn from(set: WindowSet) -> Self {
        Self::Windows(set)
    }
}

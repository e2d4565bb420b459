use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A part of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// The data that the network is trained on.
    Train,
    /// The data that settings are chosen on.
    Valid,
    /// The data that results are reported for, and that no choice uses.
    Test,
}

impl Split {
    /// All parts, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::Train, Self::Valid, Self::Test];
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Train => "train",
            Self::Valid => "valid",
            Self::Test => "test",
        })
    }
}

impl Split {
    /// Returns the part of the data that a measure's name begins with, and the rest of the name, which is the
    /// quantity: `test_error` is the error on the test set.
    pub fn of_name(name: &str) -> (Option<Self>, &str) {
        let begins = |split: Self| {
            let rest = name.strip_prefix(&split.to_string())?.strip_prefix('_')?;
            (!rest.is_empty()).then_some((Some(split), rest))
        };
        Self::ALL.into_iter().find_map(begins).unwrap_or((None, name))
    }
}

use crate::{Error, Result};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A regular expression whose named groups are measures: `val (?<valid_loss>[0-9.]+)`; one named `epoch` is
/// the epoch.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern(Regex);

impl Pattern {
    /// What a line tells by this pattern: measures with their texts.
    pub fn read<'a>(&'a self, line: &'a str) -> Vec<(&'a str, &'a str)> {
        let Some(found) = self.0.captures(line) else { return Vec::new() };
        let names = self.0.capture_names().flatten();
        names.filter_map(|name| Some((name, found.name(name)?.as_str()))).collect()
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl FromStr for Pattern {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refuse = |problem: String| Error::Usage(format!("the pattern `{text}` {problem}"));
        let regex = Regex::new(text).map_err(|error| refuse(format!("cannot be read: {error}")))?;
        let named = regex.capture_names().flatten().any(|name| name != "epoch");
        match named {
            true => Ok(Self(regex)),
            false => Err(refuse(
                "names no measure; write its number as (?<test_error>[0-9.eE+-]+)".to_owned(),
            )),
        }
    }
}

impl TryFrom<String> for Pattern {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.to_string()
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_groups_are_measures() {
        let pattern: Pattern = r"epoch (?<epoch>\d+).*val (?<valid_loss>[0-9.]+)".parse().unwrap();
        let read = pattern.read("[epoch 3] train 0.5 val 0.25 done");
        assert_eq!(read, [("epoch", "3"), ("valid_loss", "0.25")]);
        assert!(pattern.read("nothing").is_empty());
        for (text, problem) in [("(", "cannot be read"), ("loss ([0-9]+)", "names no measure")] {
            let error = text.parse::<Pattern>().unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}

//! What the files hold that a command names. With the words of the command they say which run a run is: a changed program
//! makes other runs.

mod change;
mod digest;
mod identity;
mod names;
mod python;

pub(super) use change::{announce_change, settle};
pub(crate) use digest::digest_of;
pub(super) use identity::digest;

use self::digest::Digests;
use super::{Study, StudyRun, Template};
use crate::runs::Experiment;
use crate::setting::Setting;
use crate::{Error, Result};
use names::{Name, names};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Files by their paths, as the command names them, each with what stands for its content.
pub type Files = BTreeMap<String, String>;

/// The contents of the files that the commands of a study name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contents {
    /// The files that count in every run, because `--depends` matches them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    depends: Files,
    /// For each word that names a file: that file and, for a Python script, the modules that it imports from its folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    words: BTreeMap<String, Files>,
}

impl Contents {
    /// Reads the files that the commands of a study name, and those that the patterns in `depends` match.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, and a pattern that is none or matches no file.
    pub(super) fn read(study: &Study, depends: &[String]) -> Result<Self> {
        let mut digests = Digests::default();
        let mut contents = Self::default();
        for pattern in depends {
            contents.depends.extend(matches(pattern, &mut digests)?);
        }
        for name in study.names() {
            let files = digests.files_of(&name)?;
            if !files.is_empty() {
                contents.words.entry(name.into_word()).or_default().extend(files);
            }
        }
        Ok(contents)
    }

    /// The files that a run of these words depends on.
    pub(super) fn of_run(&self, words: &[String]) -> Files {
        let named = names(words).into_iter().filter_map(|name| self.words.get(&name.into_word()));
        let mut files = self.depends.clone();
        files.extend(named.flatten().map(|(path, content)| (path.clone(), content.clone())));
        files
    }
}

impl Study {
    /// The words of a run's command; `None` where the program has the loop itself.
    ///
    /// # Errors
    ///
    /// A command that cannot be split into words.
    pub(super) fn words(&self, setting: &Setting, seed: u64) -> Result<Option<Vec<String>>> {
        match self.has_commands() {
            true => Ok(Some(Template::of(self.command.as_deref(), setting)?.words(setting, seed))),
            false => Ok(None),
        }
    }

    /// What the commands of its planned runs name.
    fn names(&self) -> BTreeSet<Name> {
        let seeds = self.until_decided.map_or(self.seeds, |until| until.max_seeds);
        let mut all = BTreeSet::new();
        for setting in self.design().settings() {
            for seed in 1..=seeds {
                let words = self.words(&setting, seed).ok().flatten().unwrap_or_default();
                all.extend(names(&words));
                if seed == 1 && !self.uses_seed(&setting) {
                    break;
                }
            }
        }
        all
    }

    /// Whether the words of a setting's command depend on the seed.
    fn uses_seed(&self, setting: &Setting) -> bool {
        let words = |seed| self.words(setting, seed).ok().flatten();
        words(1) != words(2)
    }
}

/// The files that a pattern of `--depends` matches.
fn matches(pattern: &str, digests: &mut Digests) -> Result<Files> {
    let refuse = |problem: &dyn std::fmt::Display| {
        Error::Usage(format!("--depends {} {problem}", crate::names::printable(pattern)))
    };
    let paths = glob::glob(pattern).map_err(|error| refuse(&format!("is no pattern: {error}")))?;
    let mut files = Files::new();
    for path in paths {
        let path =
            path.map_err(|error| refuse(&format!("matches what cannot be read: {error}")))?;
        if path.is_file() {
            files.insert(path.display().to_string(), digests.of(&path)?);
        }
    }
    match files.is_empty() {
        true => Err(refuse(&"matches no file")),
        false => Ok(files),
    }
}

/// Refuses a run whose files have changed since its comparison recorded them. A program that is found by its name alone
/// may be another on every host, and is not looked at.
///
/// # Errors
///
/// The first file that changed, and what to do.
pub(super) fn check(spec: &StudyRun) -> Result<()> {
    let program = spec.words()?.into_iter().next().unwrap_or_default();
    for (path, recorded) in &spec.files {
        if *path == program && names::is_searched_for(path) {
            continue;
        }
        let place = names::find_program(path).filter(|_| *path == program);
        let place = place.unwrap_or_else(|| PathBuf::from(path));
        let now = match digest::is_large(recorded) {
            true => digest::size_and_time(&place),
            false => digest_of(&place),
        };
        if now.ok().as_ref() != Some(recorded) {
            let path = crate::names::printable(path);
            return Err(Error::Failed(format!(
                "{path} changed while this comparison was running, so no run with the content it had can begin. Run the \
                 same command again to compare what there is now. If the program itself writes {path}, let it write \
                 into $GELU_RUN instead"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;

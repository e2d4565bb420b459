//! The contents of the files that a command names. They are part of a run's identity, together with the command's
//! words: a changed program makes other runs.

mod change;
mod digest;
mod identity;
mod names;
mod python;

pub(super) use change::{announce_change, settle};
pub(crate) use digest::digest_of;
pub(super) use identity::digest;

use self::digest::Digests;
use super::{ProgramRecipe, ProgramSpec, Template};
use crate::runs::Recipe;
use crate::setting::Setting;
use crate::{Error, Result};
use names::{Name, names};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Files by their paths, as the command names them. The values are digests; for large files, sizes and modification
/// times.
pub type Files = BTreeMap<String, String>;

/// The contents of the files that the commands of a recipe name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contents {
    /// The files that count in every run, because `--depends` matches them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    depends: Files,
    /// For each word that names a file: the file and, for a Python script, the modules that it imports from its
    /// folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    words: BTreeMap<String, Files>,
}

impl Contents {
    /// Reads the files that the commands of a recipe name, and those that the patterns in `depends` match.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read, or if a pattern is invalid or matches no file.
    pub(super) fn read(recipe: &ProgramRecipe, depends: &[String]) -> Result<Self> {
        let mut digests = Digests::default();
        let mut contents = Self::default();
        for pattern in depends {
            contents.depends.extend(matches(pattern, &mut digests)?);
        }
        for name in recipe.names() {
            let files = digests.files_of(&name)?;
            if !files.is_empty() {
                contents.words.entry(name.into_word()).or_default().extend(files);
            }
        }
        Ok(contents)
    }

    /// Returns the files on which a run with these words depends.
    pub(super) fn of_run(&self, words: &[String]) -> Files {
        let named = names(words).into_iter().filter_map(|name| self.words.get(&name.into_word()));
        let mut files = self.depends.clone();
        files.extend(named.flatten().map(|(path, content)| (path.clone(), content.clone())));
        files
    }
}

impl ProgramRecipe {
    /// Returns the words of a run's command, or `None` if the program contains the loop itself.
    ///
    /// # Errors
    ///
    /// Returns an error if the command cannot be split into words.
    pub(super) fn words(&self, setting: &Setting, seed: u64) -> Result<Option<Vec<String>>> {
        match self.has_commands() {
            true => Ok(Some(Template::of(self.command.as_deref(), setting)?.words(setting, seed))),
            false => Ok(None),
        }
    }

    /// Returns the names in the commands of the planned runs.
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

    /// Returns whether the words of a setting's command depend on the seed.
    fn uses_seed(&self, setting: &Setting) -> bool {
        let words = |seed| self.words(setting, seed).ok().flatten();
        words(1) != words(2)
    }
}

/// Returns the files that a pattern of `--depends` matches.
fn matches(pattern: &str, digests: &mut Digests) -> Result<Files> {
    let refuse = |problem: &dyn std::fmt::Display| {
        Error::Usage(format!("--depends {} {problem}", crate::names::printable(pattern)))
    };
    let paths =
        glob::glob(pattern).map_err(|error| refuse(&format!("is not a pattern: {error}")))?;
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

/// Checks that the files of a run are as its comparison recorded them. Ignores a program that is searched for in
/// `PATH`, because it may differ between hosts.
///
/// # Errors
///
/// Returns an error that names the first changed file and explains what to do.
pub(super) fn check(spec: &ProgramSpec) -> Result<()> {
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

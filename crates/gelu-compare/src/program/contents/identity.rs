//! The identity of a command's program, independent of the names of its files.

use super::names::{Name, by_content, names};
use super::{Contents, Files};
use crate::Result;
use crate::program::ProgramRecipe;
use crate::setting::Setting;
use sha2::{Digest, Sha256};
use std::path::Path;

/// The number of seeds that count for a command whose file names depend on the seed.
const SEEDS: u64 = 20;

impl ProgramRecipe {
    /// Returns the identity of a compared command: its words with the contents of files instead of their paths, and
    /// the files that these import. After `cp new old` it is the same for both.
    ///
    /// # Errors
    ///
    /// Returns an error if the command cannot be split into words.
    pub(in crate::program) fn identity(&self, command: &str) -> Result<String> {
        let setting = Setting::new([(Self::COMMAND, command)]);
        let nothing = Contents::default();
        let contents = self.contents.as_ref().unwrap_or(&nothing);
        let mut all = Vec::new();
        for seed in 1..=if self.uses_seed(&setting) { SEEDS } else { 1 } {
            let words = self.words(&setting, seed)?.unwrap_or_default();
            all.push(contents.identity(&words));
        }
        Ok(digest(&all))
    }
}

impl Contents {
    /// Returns the files that `--depends` matches.
    pub(in crate::program) fn dependencies(&self) -> &Files {
        &self.depends
    }

    /// Returns the words with contents instead of paths, and the contents of imported files by their paths relative
    /// to the importing file's folder.
    fn identity(&self, words: &[String]) -> (Vec<String>, Vec<(String, String)>) {
        let of = |name: &Name| {
            let word = name.clone().into_word();
            self.words.get(&word)?.get(&word).cloned()
        };
        let mut imported = Vec::new();
        for name in names(words) {
            let word = name.into_word();
            let folder = Path::new(&word).parent().unwrap_or(Path::new(""));
            let files = self.words.get(&word).into_iter().flatten();
            imported.extend(files.filter(|(path, _)| **path != word).map(|(path, content)| {
                let path = Path::new(path);
                let path = path.strip_prefix(folder).unwrap_or(path);
                (path.display().to_string(), content.clone())
            }));
        }
        (by_content(words, of), imported)
    }
}

/// Returns the SHA-256 of a value, in hexadecimal.
pub(in crate::program) fn digest(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string(value).expect("plain values");
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

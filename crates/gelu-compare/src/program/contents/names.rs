//! The words of a command that may name files.

use std::path::{Path, PathBuf};

/// Shells, which run the command after `-c`.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "fish"];

/// A name in a command.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
    /// The program to start.
    Program(String),
    /// A path, if a file of that name exists.
    File(String),
    /// A Python module to run: `python -m train`.
    Module(String),
}

impl Name {
    /// Returns the word under which the name is recorded.
    pub(super) fn into_word(self) -> String {
        match self {
            Self::Program(word) | Self::File(word) => word,
            Self::Module(module) => format!("-m {module}"),
        }
    }
}

/// Returns the names in a command: its program, every word that may be a path, the values of flags after `=`, the
/// module after Python's `-m`, and the words of a command for a shell.
pub(super) fn names(words: &[String]) -> Vec<Name> {
    let Some((program, arguments)) = words.split_first() else { return Vec::new() };
    let stem = Path::new(program).file_stem().unwrap_or_default().to_string_lossy();
    let (is_shell, is_python) = (SHELLS.contains(&&*stem), stem.starts_with("python"));
    let mut all = vec![Name::Program(program.clone())];
    let mut before = "";
    for word in arguments {
        match before {
            "-m" if is_python => all.push(Name::Module(word.clone())),
            "-c" | "-lc" | "-ec" if is_shell => all.extend(of_script(word)),
            _ => all.extend(of_word(word)),
        }
        before = word;
    }
    all
}

fn of_word(word: &str) -> impl Iterator<Item = Name> {
    let value = word.split_once('=').map(|(_, value)| value);
    let paths = [Some(word), value].into_iter().flatten().filter(|path| !path.is_empty());
    paths.map(|path| Name::File(path.to_owned())).collect::<Vec<_>>().into_iter()
}

/// Returns the names in a command for a shell, without the files that it writes.
fn of_script(script: &str) -> Vec<Name> {
    let words = shell_words::split(script).unwrap_or_default();
    let mut before = "";
    let mut all = Vec::new();
    for word in &words {
        if !before.ends_with('>') {
            all.extend(of_word(word.trim_end_matches(';')));
        }
        before = word;
    }
    all
}

/// Returns the words with digests instead of paths. They are equal for commands that differ only in paths.
pub(super) fn by_content(
    words: &[String],
    content: impl Fn(&Name) -> Option<String>,
) -> Vec<String> {
    let Some((program, arguments)) = words.split_first() else { return Vec::new() };
    let stem = Path::new(program).file_stem().unwrap_or_default().to_string_lossy();
    let is_shell = SHELLS.contains(&&*stem);
    let file = |path: &str| content(&Name::File(path.to_owned()));
    let of_word = |word: &str| {
        let value = word.split_once('=').and_then(|(flag, path)| Some((flag, file(path)?)));
        match (file(word), value) {
            (Some(content), _) => content,
            (None, Some((flag, content))) => format!("{flag}={content}"),
            (None, None) => word.to_owned(),
        }
    };
    let of_script = |script: &str| {
        let words = shell_words::split(script).unwrap_or_default();
        let parts: Vec<String> = words
            .iter()
            .map(|word| {
                format!(
                    "{}{}",
                    of_word(word.trim_end_matches(';')),
                    if word.ends_with(';') { ";" } else { "" }
                )
            })
            .collect();
        // A command that names no file keeps its white space.
        if words == parts { script.to_owned() } else { format!("{parts:?}") }
    };
    let mut all = vec![content(&Name::Program(program.clone())).unwrap_or_else(|| program.clone())];
    let mut before = "";
    for word in arguments {
        all.push(match before {
            "-c" | "-lc" | "-ec" if is_shell => of_script(word),
            _ => of_word(word),
        });
        before = word;
    }
    all
}

/// Returns whether a program of that name is searched for in the folders of `PATH`.
pub(super) fn is_searched_for(program: &str) -> bool {
    !program.contains(std::path::is_separator)
}

/// Returns the file of a program, as the system finds it.
pub(super) fn find_program(program: &str) -> Option<PathBuf> {
    let with_extension = |path: PathBuf| {
        let executable = path.with_extension(std::env::consts::EXE_EXTENSION);
        [path, executable].into_iter().find(|path| path.is_file())
    };
    if !is_searched_for(program) {
        return with_extension(PathBuf::from(program));
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).find_map(|folder| with_extension(folder.join(program)))
}

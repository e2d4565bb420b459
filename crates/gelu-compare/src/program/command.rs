use super::ProgramRecipe;
use crate::names::printable;
use crate::output::complain;
use crate::setting::{Axis, Setting};
use crate::suggestion::did_you_mean;
use crate::{Error, Result};

/// A command with placeholders: `python train.py --lr {lr} --seed {seed}`. It is split into words by a shell's rules
/// before values are inserted, but no shell runs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    words: Vec<String>,
}

impl Template {
    /// Splits a command into words.
    ///
    /// # Errors
    ///
    /// Returns an error for a quote that is not closed, and for a command without words.
    pub(crate) fn parse(command: &str) -> Result<Self> {
        let refuse =
            |problem: &str| Error::Usage(format!("the command `{}` {problem}", printable(command)));
        let words =
            shell_words::split(command).map_err(|_| refuse("has a quote that is not closed"))?;
        match words.is_empty() {
            true => Err(refuse("has no word")),
            false => Ok(Self { words }),
        }
    }

    /// Parses the command of a run: `command` if there is one, or else the compared command in `setting`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`parse`](Self::parse).
    pub(super) fn of(command: Option<&str>, setting: &Setting) -> Result<Self> {
        match command {
            Some(command) => Self::parse(command),
            None => Self::parse(&setting.text(ProgramRecipe::COMMAND)),
        }
    }

    /// Returns the names in braces.
    fn placeholders(&self) -> Vec<&str> {
        let mut all = Vec::new();
        for word in &self.words {
            all.extend(pieces(word).filter_map(|piece| match piece {
                Piece::Name(name) => Some(name),
                Piece::Text(_) => None,
            }));
        }
        all
    }

    /// Checks that placeholders and axes match. `environment` says that the program reads its setting from the
    /// environment.
    ///
    /// # Errors
    ///
    /// Returns an error for a placeholder that is not an axis. Without `environment`, also returns an error for an
    /// axis without a placeholder.
    pub(crate) fn check(&self, axes: &[Axis], environment: bool) -> Result<()> {
        let names = self.placeholders();
        let known: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
        if let Some(name) = names.iter().find(|name| **name != SEED && !known.contains(name)) {
            let known = [known.as_slice(), &[SEED]].concat();
            let question = did_you_mean(name, &known).map(|question| format!("; {question}"));
            return Err(Error::Usage(format!(
                "the command has {{{name}}}, and no axis of that name; there are: {}{}",
                known.join(", "),
                question.unwrap_or_default()
            )));
        }
        match known.iter().find(|name| !names.contains(name)) {
            Some(name) if !environment => Err(Error::Usage(format!(
                "the command does not use the axis {name}: write {{{name}}} where its value belongs, or \
                 say --environment where the program reads $GELU_SETTING"
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the words of a run's command.
    pub(crate) fn words(&self, setting: &Setting, seed: u64) -> Vec<String> {
        let filled = |word: &String| -> String {
            let value = |piece: Piece<'_>| match piece {
                Piece::Text(text) => text.to_owned(),
                Piece::Name(SEED) => seed.to_string(),
                Piece::Name(name) => match setting.get(name) {
                    Some(value) => value.content().into_owned(),
                    None => format!("{{{name}}}"),
                },
            };
            pieces(word).map(value).collect()
        };
        self.words.iter().map(filled).collect()
    }

    /// Returns a word that a shell would interpret but the program gets unchanged. Words after `-c` are for a shell.
    fn of_shell(&self) -> Option<&str> {
        let operator = |word: &str| {
            let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
            ["&&", "||", "|", "&"].contains(&word)
                || word.ends_with(';')
                || rest.starts_with(['>', '<'])
        };
        let variable = |word: &str| {
            word.match_indices('$').any(|(at, _)| {
                word[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || "_{(".contains(c))
            })
        };
        let obeyed =
            |word: &str| operator(word) || word == "~" || word.starts_with("~/") || variable(word);
        let is_script =
            |at: usize| at > 0 && matches!(self.words[at - 1].as_str(), "-c" | "-lc" | "-e");
        let mut words = self.words.iter().enumerate();
        words.find(|(at, word)| obeyed(word) && !is_script(*at)).map(|(_, word)| word.as_str())
    }

    /// Prints a warning if a word seems to be for a shell.
    pub(super) fn warn_of_shell(&self) {
        if let Some(word) = self.of_shell() {
            complain(&format!(
                "gelu-compare: warning: no shell sees the command, and the program is given `{word}` as it is; write \
                 sh -c '…' where a shell is to obey it\n"
            ));
        }
    }

    /// Returns a short name for the program: `train` for `python train.py --lr {lr}`.
    pub(crate) fn name(&self) -> String {
        let plain = |word: &&String| !word.starts_with('-') && !word.contains(['{', '=']);
        let script = |word: &&String| word.contains('.') && plain(word);
        let word = self.words.iter().skip(1).find(script).unwrap_or(&self.words[0]);
        let stem = std::path::Path::new(word).file_stem().unwrap_or_default().to_string_lossy();
        let kept: String = stem
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c))
            .take(60)
            .collect();
        if kept.is_empty() { "program".to_owned() } else { kept }
    }
}

const SEED: &str = "seed";

enum Piece<'a> {
    Text(&'a str),
    Name(&'a str),
}

/// Splits a word into pieces: `{name}` is a name, other braces are text.
fn pieces(word: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = word;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let name = |start: usize| {
            let inside = &rest[start + 1..];
            let name = &inside[..inside.find('}')?];
            let mut letters = name.chars();
            let first = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
            (first && letters.all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)))
                .then_some(name)
        };
        let found = rest.match_indices('{').find_map(|(start, _)| Some((start, name(start)?)));
        let (piece, left) = match found {
            Some((0, name)) => (Piece::Name(name), &rest[name.len() + 2..]),
            Some((start, _)) => (Piece::Text(&rest[..start]), &rest[start..]),
            None => (Piece::Text(rest), ""),
        };
        rest = left;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::{Role, Value};

    fn setting() -> Setting {
        Setting::new([("lr", Value::from(1e-3)), ("name", Value::from("two words; rm -rf $HOME"))])
    }

    #[test]
    fn values_are_put_into_words_that_were_split_before() {
        let template =
            Template::parse("python 'a b.py' --lr={lr} {name} --seed {seed} '{x: 1}' {}").unwrap();
        let words = template.words(&setting(), 7);
        let expected = [
            "python",
            "a b.py",
            "--lr=0.001",
            "two words; rm -rf $HOME",
            "--seed",
            "7",
            "{x: 1}",
            "{}",
        ];
        assert_eq!(words, expected);
        assert_eq!(template.name(), "ab");
        assert_eq!(Template::parse("./train {lr}").unwrap().name(), "train");
    }

    #[test]
    fn words_for_a_shell_are_pointed_out() {
        for (command, word) in [
            ("python t.py --seed {seed} 2>&1", Some("2>&1")),
            ("python ~/t.py {seed}", Some("~/t.py")),
            ("python t.py --out $HOME/x", Some("$HOME/x")),
            ("./a {seed} && ./b", Some("&&")),
            ("./a {seed} > log", Some(">")),
            ("./a {seed} | tail -1", Some("|")),
            ("./a {seed}; ./b", Some("{seed};")),
            ("./a --x=${X}", Some("--x=${X}")),
            ("sh -c 'cd ~ && ./a $HOME > log 2>&1' x {seed}", None),
            ("./a {seed} a~b costs 5$ x=>y '' -3", None),
        ] {
            assert_eq!(Template::parse(command).unwrap().of_shell(), word, "{command}");
        }
    }

    #[test]
    fn placeholders_and_axes_have_to_be_the_same() {
        let axes = [Axis::new("lr", Role::Compared, [1e-3, 1e-4])];
        let check = |command: &str, environment| {
            let checked = Template::parse(command).unwrap().check(&axes, environment);
            checked.map_err(|error| error.to_string())
        };
        assert_eq!(check("train {lr} {seed}", false), Ok(()));
        let unknown = check("train {lr} {width}", false).unwrap_err();
        assert!(
            unknown.contains("{width}, and no axis of that name; there are: lr, seed"),
            "{unknown}"
        );
        let unused = check("train {seed}", false).unwrap_err();
        assert!(unused.contains("does not use the axis lr: write {lr}"), "{unused}");
        assert_eq!(check("train {seed}", true), Ok(()));
        for (command, problem) in [("train 'x", "a quote"), ("  ", "no word")] {
            let error = Template::parse(command).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}

//! The commands that a Markdown page quotes.

/// A command of the program, as a page quotes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Quoted {
    /// The line of the page on which the command begins, from 1.
    pub line: usize,
    /// The words after the program's name.
    pub words: Vec<String>,
    /// The number of runs that the page claims for the command: `N runs` in the comment after the command, in the
    /// paragraph after its block, or in the rest of its sentence.
    pub runs: Option<usize>,
    /// Whether the command is part of a sentence, which may leave out required arguments.
    pub inline: bool,
}

/// The commands of a page, and the lines of its shell blocks that write a recipe.
#[derive(Debug, Default, PartialEq)]
pub struct Page {
    pub commands: Vec<Quoted>,
    pub recipes: Vec<String>,
}

impl Page {
    /// Finds the commands of `program` that the page quotes.
    pub fn of(program: &str, markdown: &str) -> Self {
        let mut page = Self::default();
        // The commands of the last block. The next paragraph may contain their number of runs.
        let mut pending = 0..0;
        for part in parts(markdown) {
            match part {
                Part::Shell(line, text) => {
                    let before = page.commands.len();
                    page.shell(program, line, &text);
                    pending = before..page.commands.len();
                }
                Part::Prose(line, text) => {
                    page.attribute(std::mem::take(&mut pending), &text);
                    page.prose(program, line, &text);
                }
            }
        }
        page
    }

    fn shell(&mut self, program: &str, line: usize, text: &str) {
        for (offset, command) in whole_commands(text) {
            let words = shell_words::split(&command).unwrap_or_default();
            let writes = |two: &[String]| two[0] == ">" && two[1].ends_with(".toml");
            if words.windows(2).any(writes) {
                self.recipes.push(command.clone());
            }
            let comment = command.split_once(" # ").map_or("", |(_, comment)| comment);
            let runs = runs(comment).map(|said| said.count);
            for words in
                simple_commands(&words).iter().filter_map(|words| arguments(program, words))
            {
                self.commands.push(Quoted { line: line + offset, words, runs, inline: false });
            }
        }
    }

    /// Adds the number of runs in the paragraph after a block to the block's commands that have none: to the only
    /// comparison among them, or to all if the paragraph says `each`.
    fn attribute(&mut self, block: std::ops::Range<usize>, paragraph: &str) {
        let Some(said) = runs(paragraph) else { return };
        let silent = |command: &&mut Quoted| command.compares() && command.runs.is_none();
        let mut silent: Vec<&mut Quoted> = self.commands[block].iter_mut().filter(silent).collect();
        if silent.len() == 1 || said.each {
            silent.iter_mut().for_each(|command| command.runs = Some(said.count));
        }
    }

    fn prose(&mut self, program: &str, line: usize, text: &str) {
        let pieces: Vec<&str> = text.split('`').collect();
        let mut at = line;
        for (index, piece) in pieces.iter().enumerate() {
            let words = shell_words::split(piece).unwrap_or_default();
            if let (1, Some(words)) = (index % 2, arguments(program, &words)) {
                let next = pieces[index + 1..].iter().enumerate();
                let is_command = |(after, piece): &(usize, &&str)| {
                    after % 2 == 1 && piece.trim_start().starts_with(&format!("{program} "))
                };
                let rest: Vec<&str> =
                    next.take_while(|piece| !is_command(piece)).map(|(_, piece)| *piece).collect();
                let runs = runs(sentence(&rest.join(" "))).map(|said| said.count);
                self.commands.push(Quoted { line: at, words, runs, inline: true });
            }
            at += piece.matches('\n').count();
        }
    }
}

impl Quoted {
    /// Returns whether the command trains runs.
    pub fn compares(&self) -> bool {
        self.words.first().is_some_and(|word| word == "compare")
    }

    /// Returns the value of a flag.
    pub fn flag(&self, name: &str) -> Option<&str> {
        let place = self.words.iter().position(|word| word == name)?;
        self.words.get(place + 1).map(String::as_str)
    }
}

/// A block of shell commands, or a paragraph, with the number of its first line.
enum Part {
    Shell(usize, String),
    Prose(usize, String),
}

fn parts(markdown: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let (mut fence, mut text, mut start) = (None::<&str>, String::new(), 1);
    for (number, line) in (1..).zip(markdown.lines()) {
        let mark = line.trim_start().strip_prefix("```");
        match (fence, mark) {
            (None, Some(language)) => {
                parts.push(Part::Prose(start, std::mem::take(&mut text)));
                (fence, start) = (Some(language), number + 1);
            }
            (Some(language), Some(_)) => {
                let block = std::mem::take(&mut text);
                parts.extend((language == "sh").then_some(Part::Shell(start, block)));
                (fence, start) = (None, number + 1);
            }
            (None, None) if line.trim().is_empty() || line.starts_with('#') => {
                parts.push(Part::Prose(start, std::mem::take(&mut text)));
                start = number + 1;
            }
            _ => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    parts.push(Part::Prose(start, text));
    parts.retain(|part| !matches!(part, Part::Prose(_, text) if text.is_empty()));
    parts
}

/// Returns the commands of a block, each with its continuation lines and the number of lines before it.
fn whole_commands(block: &str) -> Vec<(usize, String)> {
    let mut commands = Vec::new();
    let (mut command, mut start) = (String::new(), 0);
    for (number, line) in block.lines().enumerate() {
        if command.is_empty() {
            start = number;
        }
        match line.strip_suffix('\\') {
            Some(line) => command.push_str(line),
            None => {
                command.push_str(line);
                match shell_words::split(&command) {
                    Ok(_) => commands.push((start, std::mem::take(&mut command))),
                    // A quotation continues on the next line.
                    Err(_) => command.push('\n'),
                }
            }
        }
    }
    commands
}

/// Splits words at `&&`, `|` and `;`, and drops redirections.
fn simple_commands(words: &[String]) -> Vec<Vec<String>> {
    let apart = |word: &String| match word.strip_suffix(';') {
        Some(word) if !word.is_empty() => vec![word.to_owned(), ";".to_owned()],
        _ => vec![word.clone()],
    };
    let words: Vec<String> = words.iter().flat_map(apart).collect();
    let parts = words.split(|word| ["&&", "|", ";"].contains(&word.as_str()));
    parts.map(|words| words.iter().take_while(|word| *word != ">").cloned().collect()).collect()
}

/// Returns the words after the program's name, or after the `--` of a `cargo run --release` that starts it (without a
/// chosen package or binary, that is `gelu`). Returns `None` for other commands and for commands with an ellipsis.
fn arguments(program: &str, words: &[String]) -> Option<Vec<String>> {
    let behind = |name: &str| words.iter().position(|word| word == name).map(|place| place + 1);
    let of_cargo = ["cargo", "run", "--release"].iter().eq(words.iter().take(3));
    let chosen = ["-p", "--example", "--bin"].iter().find_map(|flag| behind(flag));
    let started = chosen.and_then(|place| words.get(place)).map_or("gelu", String::as_str);
    let start = match of_cargo {
        true => behind("--").filter(|_| started == program)?,
        false => behind(program)?,
    };
    // The words after `:::` are those of a tool that starts the command.
    let words = words[start..].iter().take_while(|word| *word != ":::");
    let words: Vec<String> = words.cloned().collect();
    let whole = !words.is_empty() && words.iter().all(|word| word != "…");
    whole.then_some(words)
}

/// Returns the text up to the end of the sentence.
fn sentence(text: &str) -> &str {
    let mut ends = text.match_indices(['.', '!', '?']).filter(|(at, mark)| {
        let rest = &text[at + mark.len()..];
        rest.is_empty() || rest.starts_with(char::is_whitespace)
    });
    ends.next().map_or(text, |(at, _)| &text[..at])
}

/// A number of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Said {
    count: usize,
    each: bool,
}

/// Returns the first count, as in `144 runs`, `24 short runs` or `1 run`. Ignores counts after `of`, as in a median
/// of 5 runs, because these are only some of the runs.
fn runs(text: &str) -> Option<Said> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let plain = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let number = |word: &str| plain(word).replace(',', "").parse::<usize>().ok();
    (1..words.len()).filter(|&at| matches!(plain(words[at]).as_str(), "runs" | "run")).find_map(
        |at| {
            let place = [at.checked_sub(1), at.checked_sub(2)].into_iter().flatten();
            let (place, count) = place.filter_map(|at| Some((at, number(words[at])?))).next()?;
            let of_some = place.checked_sub(1).is_some_and(|before| plain(words[before]) == "of");
            let each = words.get(at + 1).is_some_and(|word| plain(word) == "each");
            (!of_some).then_some(Said { count, each })
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(markdown: &str) -> Vec<(usize, String, Option<usize>)> {
        let commands = Page::of("gelu", markdown).commands;
        commands.iter().map(|c| (c.line, c.words.join(" "), c.runs)).collect()
    }

    #[test]
    fn commands_of_blocks_have_the_number_behind_them() {
        let page = "# Title\n\n```sh\ngelu data fetch mnist && gelu compare a \\\n    --seeds 2   # 6 runs\n\
                    cargo run --release --features cuda -- compare b\n\
                    cargo run --release --example c -- compare\n```\n\n\
                    The median of 5 runs, as they say: 1,440 short runs and 7 runs.\n\n```text\ngelu compare d\n```\n";
        let expected = [
            (4, "data fetch mnist", Some(6)),
            (4, "compare a --seeds 2", Some(6)),
            (6, "compare b", Some(1440)),
        ];
        assert_eq!(found(page), expected.map(|(line, words, runs)| (line, words.to_owned(), runs)));
    }

    #[test]
    fn one_number_is_that_of_several_commands_only_where_it_is_of_each() {
        let page = |said: &str| format!("```sh\ngelu compare a\ngelu compare b\n```\n\n{said}\n");
        let runs = |said: &str| found(&page(said)).into_iter().map(|c| c.2).collect::<Vec<_>>();
        assert_eq!(runs("Two rates, 48 runs each."), [Some(48); 2]);
        assert_eq!(runs("Two rates, 48 runs."), [None; 2]);
    }

    #[test]
    fn commands_in_sentences_have_the_number_of_their_sentence() {
        let page = "First\n`gelu compare a --data\nDIR`, `b` and 1e-3: 16 runs. 9 runs of `gelu eval` and\n\
                    | `parallel x gelu work y ::: {1..8}` | `gelu compare …` | `gelu` |\n";
        let expected =
            [(2, "compare a --data DIR", Some(16)), (3, "eval", None), (4, "work y", None)];
        assert_eq!(found(page), expected.map(|(line, words, runs)| (line, words.to_owned(), runs)));
    }

    #[test]
    fn lines_that_write_a_recipe_are_kept_whole() {
        let page = "```sh\ngelu recipe show a | sed 's/x/y/\n    s/1/2/' > b.toml\n```\n";
        let found = Page::of("gelu", page);
        assert_eq!(found.recipes, ["gelu recipe show a | sed 's/x/y/\n    s/1/2/' > b.toml"]);
        assert_eq!(found.commands[0].words, ["recipe", "show", "a"]);
    }
}

//! Pages of the book that the programs write.

use super::Sandbox;
use std::path::Path;

/// Compares the part of a page between `<!-- part: begin -->` and `<!-- part: end -->` with what it has to be.
/// `UPDATE_BOOK=1` writes it instead.
#[track_caller]
pub fn assert_generated(page: &Path, part: &str, expected: &str) {
    let marks = ["begin", "end"].map(|end| format!("<!-- {part}: {end} -->"));
    let text = std::fs::read_to_string(page).unwrap();
    let (before, rest) = text.split_once(&format!("{}\n", marks[0])).unwrap();
    let (there, after) = rest.split_once(&marks[1]).unwrap();
    if std::env::var_os("UPDATE_BOOK").is_some() {
        let text = [before, &marks[0], "\n", expected, &marks[1], after].concat();
        std::fs::write(page, text).unwrap();
        return;
    }
    assert_eq!(there, expected, "{}: UPDATE_BOOK=1 writes it anew", page.display());
}

/// Returns the short help of every command of a program as Markdown.
pub fn command_line(program: &Sandbox, name: &str) -> String {
    let mut text = String::new();
    let mut commands = vec![Vec::new()];
    while let Some(words) = commands.pop() {
        let help = help(program, &words);
        let title: Vec<&str> =
            std::iter::once(name).chain(words.iter().map(String::as_str)).collect();
        let below = subcommands(&help);
        // What has commands below it is described by them.
        if below.is_empty() {
            text += &format!("### {}\n\n```text\n{}\n```\n\n", title.join(" "), help.trim_end());
        }
        let below = below.into_iter().map(|command| [words.clone(), vec![command]].concat());
        commands.extend(below.rev());
    }
    text
}

fn help(program: &Sandbox, words: &[String]) -> String {
    let words: Vec<&str> = words.iter().map(String::as_str).chain(["-h"]).collect();
    let output = program.command(&words).env("COLUMNS", "100").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    help.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The commands that a help text lists, but for `help` itself.
fn subcommands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| line.starts_with("  "));
    let names = listed.filter_map(|line| {
        let name = line.strip_prefix("  ")?.split_whitespace().next()?;
        (!line.starts_with("   ") && name != "help").then(|| name.to_owned())
    });
    names.collect()
}

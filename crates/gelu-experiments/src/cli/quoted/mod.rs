//! Checks every command quoted in README, book and recipes: the program accepts it, and it makes the number of runs
//! that the text gives.

mod dependencies;
mod links;

use super::{Arguments, Command, compare::Compare, dry_run};
use crate::recipe::Recipe;
use clap::Parser;
use clap::error::ErrorKind;
use gelu_compare::pack;
use gelu_compare::testing::{Page, Quoted};
use gelu_learner::device::DeviceName;
use std::fs;
use std::path::{Path, PathBuf};

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

fn root() -> PathBuf {
    Path::new(PACKAGE).join("../..")
}

/// Returns the checked texts as pairs of name and Markdown.
fn texts() -> Vec<(String, String)> {
    let mut paths = ["README.md", "CONTRIBUTING.md", "evidence/README.md", "docs/src", "crates"]
        .map(|name| root().join(name))
        .to_vec();
    paths.push(root().join("crates/gelu-experiments/recipes"));
    let mut texts = Vec::new();
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            let inside = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
            // Of each package, only the README in its folder.
            paths.extend(inside.map(|inside| match path.ends_with("crates") {
                true => inside.join("README.md"),
                false => inside,
            }));
            continue;
        }
        let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("md") if path.exists() => texts.push((name, fs::read_to_string(&path).unwrap())),
            Some("toml") => texts.push((name, head(&fs::read_to_string(&path).unwrap()))),
            _ => {}
        }
    }
    texts.sort();
    texts
}

/// Returns the head of a recipe as Markdown; indented lines are shell commands.
fn head(recipe: &str) -> String {
    let comments = recipe.lines().map_while(|line| line.strip_prefix('#'));
    let lines = comments.map(|line| match line.strip_prefix("   ") {
        Some(command) => format!("```sh\n{command}\n```"),
        None => line.trim_start().to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the problems of the commands on a page, one line each, and the numbers of commands and of commands with a
/// number of runs.
fn check(name: &str, markdown: &str) -> (Vec<String>, [usize; 2]) {
    let page = Page::of("gelu", markdown);
    let scratch = tempfile::tempdir().unwrap();
    for command in &page.recipes {
        write_recipe(command, scratch.path());
    }
    let problem = |quoted: &Quoted| {
        let problem = problem(quoted, scratch.path())?;
        Some(format!("{name}:{}: gelu {}: {problem}", quoted.line, quoted.words.join(" ")))
    };
    let problems = page.commands.iter().filter_map(problem).collect();
    let counted = page.commands.iter().filter(|quoted| quoted.runs.is_some()).count();
    (problems, [page.commands.len(), counted])
}

/// Runs a line with which a page creates a recipe, in `folder`.
fn write_recipe(command: &str, folder: &Path) {
    let script = format!("gelu() {{ cat \"$RECIPES/$3.toml\"; }}\n{command}");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-ec", &script]).current_dir(folder);
    let ended = shell.env("RECIPES", Path::new(PACKAGE).join("recipes")).status().unwrap();
    assert!(ended.success(), "{command}");
}

fn problem(quoted: &Quoted, recipes: &Path) -> Option<String> {
    let words = quoted.words.iter().map(|word| stand_in(word, recipes));
    let parsed = Arguments::try_parse_from(std::iter::once("gelu".to_owned()).chain(words));
    match parsed.map(|arguments| arguments.command) {
        Ok(Command::Compare(compare)) => miscounted(quoted, compare),
        Ok(_) => None,
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp => None,
            // A sentence may name a command without its required arguments.
            ErrorKind::MissingRequiredArgument
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                if quoted.inline && quoted.words.len() == 1 =>
            {
                None
            }
            _ => Some(error.to_string()),
        },
    }
}

/// Replaces a placeholder: a shell, a recipe that the page created, or a device of another build.
fn stand_in(word: &str, recipes: &Path) -> String {
    let backend = |name: &str| name.split(':').next().unwrap_or_default().to_owned();
    let is_device = |name: &str| DeviceName::all_backends().any(|known| known == backend(name));
    match word {
        "SHELL" => "bash".to_owned(),
        word if word.ends_with(".toml") => recipes.join(word).display().to_string(),
        word if word.split(',').all(is_device) => DeviceName::default_device().unwrap().to_string(),
        word => word.to_owned(),
    }
}

/// Returns a problem if the command does not make the number of runs that the page gives.
fn miscounted(quoted: &Quoted, compare: Compare) -> Option<String> {
    let Compare { selection, varied, .. } = compare;
    let recipe = match selection.recipe(None, |recipe| varied.change(recipe)) {
        Ok(recipe) => recipe,
        Err(error) => return Some(error.to_string()),
    };
    let (said, planned) = (quoted.runs?, dry_run::runs(&recipe));
    let right = match recipe.comparison.until_decided {
        None => said == planned,
        Some(until) => {
            let mut whole = recipe.clone();
            whole.comparison.until_decided = None;
            whole.comparison.seeds = until.max_seeds;
            let possible = planned..=dry_run::runs(&whole);
            let kept = kept(quoted, &recipe);
            possible.contains(&said) && kept.is_none_or(|kept| kept == said)
        }
    };
    (!right).then(|| format!("is said to make {said} runs; a dry run of it says {planned}"))
}

/// Returns the number of runs of a comparison in `evidence/`; `None` if it is not there.
fn kept(quoted: &Quoted, recipe: &Recipe) -> Option<usize> {
    let name = quoted.flag("--out").map_or(&*recipe.name, |out| out.trim_start_matches("results/"));
    let file = root().join("evidence").join(format!("{name}.zip"));
    if !file.exists() {
        return None;
    }
    let opened = pack::open(&file).ok()?;
    Some(fs::read_dir(opened.path().join("runs")).ok()?.count())
}

#[test]
fn what_is_quoted_can_be_typed_and_makes_as_many_runs_as_it_says() {
    let (mut problems, mut found) = (Vec::new(), [0; 2]);
    for (name, text) in texts() {
        let (wrong, counts) = check(&name, &text);
        problems.extend(wrong);
        found = [0, 1].map(|index| found[index] + counts[index]);
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(found[0] >= 80 && found[1] >= 25, "{found:?} commands, and with a number of runs");
}

#[test]
fn whoever_says_what_was_measured_says_of_how_many_runs() {
    let measured = |quoted: &&Quoted| {
        quoted.compares() && quoted.flag("--data").is_some() && quoted.flag("--device").is_none()
    };
    let mut found = 0;
    for (name, text) in texts() {
        if !name.contains("docs/src/results") {
            continue;
        }
        for quoted in Page::of("gelu", &text).commands.iter().filter(measured) {
            assert!(quoted.runs.is_some(), "{name}:{}: {:?}", quoted.line, quoted.words);
            found += 1;
        }
    }
    assert!(found >= 10, "{found} comparisons");
}

#[test]
fn wrong_commands_and_numbers_are_found() {
    for (markdown, expected) in [
        ("```sh\ngelu compare digits --sedes 3\n```\n", Some("--sedes")),
        ("```sh\ngelu compare digit\n```\n", Some("unknown experiment")),
        ("```sh\ngelu watch\n```\n", Some("<FOLDER>")),
        ("`gelu watch` shows it.\n", None),
        ("`gelu look DIR` shows it.\n", Some("look")),
        ("```sh\ngelu compare mnist-classifier --seeds 3   # 54 runs\n```\n", None),
        ("```sh\ngelu compare mnist-classifier --seeds 3   # 56 runs\n```\n", Some("says 54")),
        ("`gelu compare digits --until-decided`, 30 runs.\n", None),
        ("`gelu compare digits --until-decided`, 61 runs.\n", Some("says 27")),
        ("`gelu compare mnist-script --until-decided`, 15 runs.\n", Some("says 16")),
        ("`gelu compare digits --device cuda`\n", None),
        ("`gelu compare digits --device cida`\n", Some("cida")),
        (
            "```sh\ngelu recipe show digits | sed 's/^seeds = .*/seeds = 0/' > a.toml\n\
             gelu compare --recipe a.toml\n```\n",
            Some("number of seeds is 0"),
        ),
    ] {
        let problems = check("page", markdown).0.join("\n");
        match expected {
            Some(expected) => assert!(problems.contains(expected), "{markdown}: {problems}"),
            None => assert_eq!(problems, "", "{markdown}"),
        }
    }
}

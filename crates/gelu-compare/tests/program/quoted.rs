//! Checks that every command of `gelu-compare` quoted in a README or in the book is valid.

use gelu_compare::testing::Sandbox;
use gelu_compare::testing::{Page, Quoted};
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the README, the pages of the book, and the packages' READMEs.
fn texts() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let entries = |folder: &str| {
        let entries = fs::read_dir(root.join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    let mut texts = vec![root.join("README.md")];
    texts.extend(entries("crates").into_iter().map(|package| package.join("README.md")));
    for page in entries("docs/src") {
        match page.is_dir() {
            true => texts.extend(entries(page.to_str().unwrap())),
            false => texts.push(page),
        }
    }
    texts.retain(|path| path.is_file() && path.extension().is_some_and(|kind| kind == "md"));
    texts
}

/// Runs a command without side effects, and returns its error message, or `None` if the program accepts the command.
fn problem(sandbox: &Sandbox, quoted: &Quoted) -> Option<String> {
    let mut words: Vec<&str> = quoted.words.iter().map(String::as_str).collect();
    let harmless = match words[0] {
        "compare" | "judge" => "--dry-run",
        // Other requirements, such as files, only exist in a real folder.
        _ => "--help",
    };
    // A command in a sentence may be only a name.
    if quoted.inline && words.len() == 1 {
        words.push("--help");
    } else if !words.contains(&harmless) {
        words.push(harmless);
    }
    let outcome = sandbox.run(&words);
    (outcome.code() != 0).then(|| outcome.stderr())
}

fn problems(name: &str, markdown: &str) -> (Vec<String>, usize) {
    let sandbox = crate::program();
    let commands = Page::of("gelu-compare", markdown).commands;
    let problem = |quoted: &Quoted| {
        let problem = problem(&sandbox, quoted)?;
        Some(format!("{name}:{}: {}: {problem}", quoted.line, quoted.words.join(" ")))
    };
    (commands.iter().filter_map(problem).collect(), commands.len())
}

#[test]
fn what_is_quoted_can_be_typed() {
    let (mut wrong, mut found) = (Vec::new(), 0);
    for path in texts() {
        let (more, count) =
            problems(&path.display().to_string(), &fs::read_to_string(&path).unwrap());
        wrong.extend(more);
        found += count;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(found >= 12, "{found} commands");
}

#[test]
fn wrong_commands_are_found() {
    let judge = |more: &str| {
        format!("```sh\ngelu-compare judge './a {{seed}}' './b {{seed}}' {more}\n```\n")
    };
    for (markdown, expected) in [
        (judge("--measure loss"), None),
        (judge("--mesure loss"), Some("--mesure")),
        (judge(""), Some("which metric decides?")),
        (judge("--measure loss --baseline a"), Some("--baseline")),
        (
            "```sh\ngelu-compare compare './a {lr}' --compare rl=1,2 --metric x\n```\n".to_owned(),
            Some("no axis"),
        ),
        ("`gelu-compare judge` says which.\n".to_owned(), None),
        ("`gelu-compare juge` says which.\n".to_owned(), Some("juge")),
    ] {
        let said = problems("page", &markdown).0.join("\n");
        match expected {
            Some(expected) => assert!(said.contains(expected), "{markdown}: {said}"),
            None => assert_eq!(said, "", "{markdown}"),
        }
    }
}

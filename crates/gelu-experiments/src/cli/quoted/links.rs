//! Checks every link in README and book: its file and its heading exist, and in the book it leads to a page of the
//! book.

use super::{root, texts};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Returns the lines outside code blocks, numbered from 1.
fn prose(markdown: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    (1..).zip(markdown.lines()).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    })
}

/// Returns the targets of a line's links.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
}

/// Returns the anchors of a page's headings: lower case, spaces as hyphens, no punctuation.
fn anchors(markdown: &str) -> BTreeSet<String> {
    let headings = prose(markdown).filter_map(|(_, line)| line.strip_prefix('#'));
    let anchor = |heading: &str| {
        let text = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        text.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
    };
    headings.map(anchor).collect()
}

/// Returns the problem of a link on the page `name`, if there is one.
fn problem(name: &str, markdown: &str, target: &str) -> Option<String> {
    if target.contains("://") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let page = root().join(name);
    let path = match file {
        "" => page.clone(),
        file => page.parent()?.join(file),
    };
    let Ok(path) = path.canonicalize() else { return Some("there is no such file".to_owned()) };
    let book = root().join("docs/src").canonicalize().unwrap();
    if Path::new(name).starts_with("docs/src") && !path.starts_with(&book) {
        return Some("it leads out of the book".to_owned());
    }
    let linked = match file {
        "" => markdown.to_owned(),
        _ if anchor.is_empty() => return None,
        _ => fs::read_to_string(&path).unwrap(),
    };
    let missing = !anchor.is_empty() && !anchors(&linked).contains(anchor);
    missing.then(|| format!("no heading there makes `#{anchor}`"))
}

#[test]
fn links_lead_somewhere() {
    let (mut problems, mut count) = (Vec::new(), 0);
    for (name, markdown) in texts() {
        for (line, text) in prose(&markdown) {
            for target in targets(text) {
                count += 1;
                let problem = problem(&name, &markdown, target);
                problems
                    .extend(problem.map(|problem| format!("{name}:{line}: {target}: {problem}")));
            }
        }
    }
    assert!(count > 50, "only {count} links were found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn broken_links_are_found() {
    let page = "docs/src/explanation/speed.md";
    let markdown = "# A heading, with `code`\n";
    let found = |target: &str| problem(page, markdown, target);
    assert_eq!(found("#a-heading-with-code"), None);
    assert_eq!(found("numerics.md"), None);
    assert_eq!(found("https://example.com/nowhere"), None);
    assert!(found("#nothing").unwrap().contains("no heading"));
    assert!(found("nothing.md").unwrap().contains("no such file"));
    assert!(found("../../../README.md").unwrap().contains("out of the book"));
}

//! Checks the dependencies in README and book: each is a crate of this workspace, by its folder in a clone, with
//! features that it has, or Burn in the workspace's version.

use super::{root, texts};
use std::fs;
use toml::{Table, Value};

/// Returns the blocks of a page that list dependencies.
fn blocks(markdown: &str) -> impl Iterator<Item = &str> {
    let blocks = markdown.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.filter(|block| block.starts_with("[dependencies]"))
}

fn manifest(folder: &str) -> Table {
    let path = root().join(folder).join("Cargo.toml");
    let text = fs::read_to_string(&path);
    text.unwrap_or_else(|error| panic!("{}: {error}", path.display())).parse().unwrap()
}

/// Returns the problem of a dependency, if there is one.
fn problem(name: &str, value: &Value) -> Option<String> {
    if name == "burn" {
        let ours = manifest(".");
        let ours = &ours["workspace"]["dependencies"]["burn"]["version"];
        let same = value.get("version") == Some(ours);
        return (!same).then(|| format!("the workspace has burn {ours}"));
    }
    // A dependency of Burn with a pinned version; it comes from the registry.
    if value.as_str().is_some_and(|version| version.starts_with('=')) {
        return None;
    }
    let folder = format!("crates/{name}");
    if value.get("path").and_then(Value::as_str) != Some(&format!("../gelu/{folder}")) {
        return Some("a version that nobody can fetch".to_owned());
    }
    let features = manifest(&folder).remove("features").unwrap_or(Value::Table(Table::new()));
    let asked = value.get("features").and_then(Value::as_array).into_iter().flatten();
    let mut missing = asked.filter_map(Value::as_str).filter(|name| features.get(name).is_none());
    missing.next().map(|feature| format!("no feature {feature}"))
}

#[test]
fn what_a_stranger_is_told_to_depend_on_can_be_had() {
    let (mut problems, mut count) = (Vec::new(), 0);
    for (page, markdown) in texts() {
        for block in blocks(&markdown) {
            let block: Table = block.parse().unwrap();
            for (name, value) in block["dependencies"].as_table().unwrap() {
                count += 1;
                let problem = problem(name, value);
                problems.extend(problem.map(|problem| format!("{page}: {name}: {problem}")));
            }
        }
    }
    assert!(count >= 15, "only {count} dependencies were found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

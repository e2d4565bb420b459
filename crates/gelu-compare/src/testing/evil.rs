//! Strings with characters that a terminal or a browser would act on, to put into every string of a file.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Sets the window's title, clears the screen, sets a colour by a single byte; has a line break, text that runs
/// backwards, and the special characters of HTML, Markdown and CSV.
pub const EVIL: &str =
    "\u{1b}]0;evil\u{7}\u{1b}[2J\u{9b}31m\u{7f}\ngelu: a line\r\t\u{202e}\u{2066}<i>|&\"'`";
/// The same, as far as a folder's name can contain it.
pub const EVIL_NAME: &str =
    "evil\u{1b}]0;evil\u{7}\u{1b}[2J\u{9b}31m\u{7f}\r\t\u{202e}\u{2066}<i>|&\"'`";

/// Returns whether a terminal acts on the character, or the character reverses text.
fn obeyed(c: char) -> bool {
    c.is_control() && c != '\n' || "\u{202e}\u{2066}".contains(c)
}

#[track_caller]
pub fn assert_text(what: &str, bytes: &[u8]) -> String {
    let text = String::from_utf8(bytes.to_vec()).unwrap_or_else(|error| panic!("{what}: {error}"));
    if let Some(at) = text.find(obeyed) {
        let around: String = text[at..].chars().take(60).collect();
        panic!("{what}: {around:?}");
    }
    assert!(!text.contains("panicked"), "{what}: {text}");
    text
}

pub type Leaf = Vec<String>;

/// Returns the paths of all strings of a tree.
pub fn leaves(tree: &Value) -> Vec<Leaf> {
    let below = |key: String, value: &Value| {
        leaves(value).into_iter().map(move |rest| [vec![key.clone()], rest].concat())
    };
    match tree {
        Value::String(_) => vec![Vec::new()],
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.flat_map(|(i, item)| below(i.to_string(), item).collect::<Vec<_>>()).collect()
        }
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(key, item)| below(key.clone(), item).collect::<Vec<_>>())
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the tree with [`EVIL`] added to one of its strings.
pub fn spoiled(tree: &Value, leaf: &Leaf) -> Value {
    let mut tree = tree.clone();
    let place = leaf.iter().fold(&mut tree, |value, key| match value {
        Value::Array(items) => &mut items[key.parse::<usize>().unwrap()],
        other => &mut other[key],
    });
    *place = format!("{}{EVIL}", place.as_str().unwrap()).into();
    tree
}

pub fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap();
    match path.extension().is_some_and(|extension| extension == "toml") {
        true => toml::from_str(&text).unwrap(),
        false => serde_json::from_str(&text).unwrap(),
    }
}

pub fn write(path: &Path, tree: &Value) {
    let text = match path.extension().is_some_and(|extension| extension == "toml") {
        true => toml::to_string(tree).unwrap(),
        false => tree.to_string(),
    };
    fs::write(path, text).unwrap();
}

/// Makes a failed run of one finished run, and of the other a run that another host trains. Returns the file that names
/// that host.
pub fn unfinished(failed: &Path, running: &Path) -> PathBuf {
    let status = r#"{"state":"failed","reason":"the disk is full","seconds":1.5}"#;
    fs::write(failed.join("status.json"), status).unwrap();
    fs::write(running.join("status.json"), r#"{"state":"running","seconds":1.5}"#).unwrap();
    let progress = r#"{"epoch":1,"phase":"train","done":1,"total":2,"batch_loss":0.5}"#;
    fs::write(running.join("progress.json"), progress).unwrap();
    fs::rename(running.join("free-0001"), running.join("lease-0002")).unwrap();
    let holder = running.join("lease-0002/holder.json");
    let elsewhere = r#"{"host":"elsewhere","identity":"other","process":1,"beat":1}"#;
    fs::write(&holder, elsewhere).unwrap();
    holder
}

//! Finds the modules that a Python script imports from its own folder, as far as its source shows.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// An import statement: `from ..package.module import name` has two dots.
#[derive(Debug, PartialEq, Eq)]
struct Import {
    dots: usize,
    module: Vec<String>,
    /// The imported names, each of which may be a module.
    names: Vec<String>,
}

/// Returns a Python script, the modules that it imports from its folder, and the modules that these import. Returns
/// nothing if `script` is not a Python script. `root` is the folder of modules if it is not the script's folder.
pub(super) fn closure(script: &Path, root: Option<&Path>) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    if !is_python(script) {
        return found;
    }
    let root = root.unwrap_or_else(|| folder(script));
    let mut left = vec![script.to_path_buf()];
    while let Some(path) = left.pop() {
        if !found.insert(path.clone()) {
            continue;
        }
        let source = std::fs::read(&path).unwrap_or_default();
        for import in imports(&String::from_utf8_lossy(&source)) {
            left.extend(files(&import, root, folder(&path)));
        }
    }
    found
}

/// Returns the files of a module that is run by its name.
pub(super) fn module(root: &Path, name: &str) -> Vec<PathBuf> {
    let module: Vec<String> = name.split('.').map(str::to_owned).collect();
    let main = root.join(module.join("/")).join("__main__.py");
    let mut all = files(&Import { dots: 0, module, names: Vec::new() }, root, root);
    all.extend(main.is_file().then_some(main));
    all
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

fn is_python(path: &Path) -> bool {
    if path.extension().is_some_and(|extension| extension == "py") {
        return true;
    }
    let mut line = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(200).read_to_end(&mut line));
    let line = String::from_utf8_lossy(&line);
    read.is_ok() && line.starts_with("#!") && line.lines().next().unwrap_or("").contains("python")
}

/// Returns the existing files in these folders that an import reads. Importing a package runs its `__init__.py`.
fn files(import: &Import, root: &Path, own: &Path) -> Vec<PathBuf> {
    let start = match import.dots {
        0 => root,
        dots => own.ancestors().nth(dots - 1).unwrap_or(own),
    };
    let mut all = vec![start.join("__init__.py")];
    if import.dots == 0 {
        all.clear();
    }
    let mut place = start.to_path_buf();
    let mut add = |place: &Path| {
        all.push(place.with_extension("py"));
        all.push(place.join("__init__.py"));
    };
    for part in &import.module {
        place.push(part);
        add(&place);
    }
    import.names.iter().for_each(|name| add(&place.join(name)));
    all.retain(|path| path.is_file());
    all
}

/// Returns all imports of a source, at any position.
fn imports(source: &str) -> Vec<Import> {
    let mut all = Vec::new();
    let mut lines = source.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    while let Some(line) = lines.next() {
        let mut whole = line.to_owned();
        let is_open = |text: &str| text.contains('(') && !text.contains(')');
        while whole.ends_with('\\') || (whole.contains("import") && is_open(&whole)) {
            let Some(next) = lines.next() else { break };
            whole = format!("{} {next}", whole.trim_end_matches('\\'));
        }
        whole.split(';').for_each(|statement| all.extend(statement_imports(statement.trim())));
    }
    all
}

fn statement_imports(statement: &str) -> Vec<Import> {
    let dotted = |name: &str| -> Vec<String> {
        name.split('.').filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    // In `a as b`, the import is `a`.
    let first = |item: &str| item.split_whitespace().next().unwrap_or_default().to_owned();
    let items = |list: &str| -> Vec<String> {
        list.split(',').map(|item| first(item.trim_matches([' ', '(', ')', '\t']))).collect()
    };
    if let Some(list) = statement.strip_prefix("import ") {
        let import = |name: String| Import { dots: 0, module: dotted(&name), names: Vec::new() };
        return items(list).into_iter().map(import).collect();
    }
    let Some((module, list)) =
        statement.strip_prefix("from ").and_then(|rest| rest.split_once(" import"))
    else {
        return Vec::new();
    };
    let module = module.trim();
    let dots = module.len() - module.trim_start_matches('.').len();
    let names = items(list).into_iter().filter(|name| !name.is_empty() && name != "*");
    vec![Import { dots, module: dotted(module), names: names.collect() }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn imports_are_found_in_every_spelling() {
        let source = "import os, model as m; import a.b\n\
                      from .losses import (mse,  # the usual one\n    mae as l1,\n)\n\
                      if x:\n    from .. import up\n\
                      from data \\\n    import load\n\
                      from things import *\nprint('no import here')";
        let found: Vec<String> = imports(source)
            .into_iter()
            .map(|i| format!("{}{}:{}", ".".repeat(i.dots), i.module.join("."), i.names.join(",")))
            .collect();
        let expected =
            ["os:", "model:", "a.b:", ".losses:mse,mae,", "..:up", "data:load", "things:"];
        let found: Vec<&str> = found.iter().map(|f| f.trim_end_matches(',')).collect();
        let expected: Vec<&str> = expected.iter().map(|e| e.trim_end_matches(',')).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn modules_of_the_scripts_own_folder_count_with_those_that_they_import() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("train.py", "import os\nimport model\nfrom nets.deep import Net\nimport train");
        write("model.py", "from nets import wide");
        write("nets/__init__.py", "from . import base");
        write("nets/base.py", "from ..other import nothing");
        write("nets/deep.py", "from .base import Layer");
        write("nets/wide.py", "");
        write("other.py", "");
        write("unused.py", "");
        let relative = |path: PathBuf| path.strip_prefix(folder.path()).unwrap().to_owned();
        let found: Vec<PathBuf> =
            closure(&folder.path().join("train.py"), None).into_iter().map(relative).collect();
        let expected = [
            "model.py",
            "nets/__init__.py",
            "nets/base.py",
            "nets/deep.py",
            "nets/wide.py",
            "other.py",
            "train.py",
        ];
        assert_eq!(found, expected.map(PathBuf::from));
        let run = module(folder.path(), "nets.deep").into_iter().map(relative);
        assert_eq!(
            run.collect::<Vec<_>>(),
            ["nets/__init__.py", "nets/deep.py"].map(PathBuf::from)
        );
        write("plain", "import model");
        assert!(closure(&folder.path().join("plain"), None).is_empty());
        write("plain", "#!/usr/bin/env python3\nimport other");
        assert_eq!(closure(&folder.path().join("plain"), None).len(), 2);
    }
}

use super::*;
use crate::setting::{Axis, Role};
use std::fs;

/// Creates a recipe of two commands.
fn judged(a: &str, b: &str) -> ProgramRecipe {
    let mut recipe = ProgramRecipe::new("judged", "loss");
    recipe.axis(Axis::new(ProgramRecipe::COMMAND, Role::Compared, [a, b]));
    recipe
}

fn files(recipe: &ProgramRecipe, index: usize, seed: u64) -> Files {
    recipe.files(&recipe.design().settings()[index], seed)
}

#[test]
fn a_run_depends_on_what_its_own_command_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    for name in ["a", "b", "conf.toml", "data-2.csv", "extra"] {
        fs::write(path(name), name).unwrap();
    }
    fs::write(path("t.py"), "import used").unwrap();
    fs::write(path("used.py"), "").unwrap();
    let a = format!("{} --config={} {} {{seed}}", path("a"), path("conf.toml"), path(""));
    let b = format!(
        "sh -c '{} < {} > {}' {}",
        path("b"),
        path("t.py"),
        path("extra"),
        path("data-{seed}.csv")
    );
    let mut recipe = judged(&a, &b);
    recipe.contents = Some(Contents::read(&recipe, &[]).unwrap());
    let keys = |files: Files| files.into_keys().collect::<Vec<_>>();
    assert_eq!(keys(files(&recipe, 0, 1)), [path("a"), path("conf.toml")]);
    let of_shell = |data: &[String]| {
        let mut all = vec![path("b"), path("t.py"), path("used.py"), "sh".to_owned()];
        all.extend_from_slice(data);
        all.sort();
        all
    };
    assert_eq!(keys(files(&recipe, 1, 1)), of_shell(&[]));
    assert_eq!(keys(files(&recipe, 1, 2)), of_shell(&[path("data-2.csv")]));
    let before = recipe.clone();
    fs::write(path("conf.toml"), "changed").unwrap();
    recipe.contents = Some(Contents::read(&recipe, &[path("ext*")]).unwrap());
    assert_ne!(files(&recipe, 0, 1)[&path("conf.toml")], files(&before, 0, 1)[&path("conf.toml")]);
    assert_eq!(files(&recipe, 1, 1)[&path("b")], files(&before, 1, 1)[&path("b")]);
    assert!(files(&recipe, 1, 1).contains_key(&path("extra")), "it depends on it");
    assert!(recipe.begins_anew(&before));
    for (pattern, problem) in [("none-*", "matches no file"), ("a[", "is not a pattern")] {
        let refused = Contents::read(&recipe, &[pattern.to_owned()]).unwrap_err().to_string();
        assert!(refused.contains(problem), "{refused}");
    }
}

#[test]
fn a_large_data_file_counts_by_size_and_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large");
    let write = |bytes: u64| fs::File::create(&path).unwrap().set_len(bytes).unwrap();
    let content = |is_program: bool| {
        let word = path.display().to_string();
        let name = if is_program { Name::Program(word) } else { Name::File(word) };
        Digests::default().files_of(&name).unwrap().into_values().next().unwrap()
    };
    write(64_000_000);
    assert_eq!(content(false).len(), 64, "the SHA-256 of its content");
    write(64_000_001);
    assert!(content(false).starts_with("64000001 bytes, changed 20"), "{}", content(false));
    assert_eq!(content(true).len(), 64);
}

#[test]
fn a_run_whose_file_changed_since_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("t.sh").display().to_string();
    fs::write(&script, "one").unwrap();
    let mut recipe = judged(&format!("sh {script} {{seed}}"), "sh");
    recipe.contents = Some(Contents::read(&recipe, &[]).unwrap());
    let plan = crate::runs::Plan::new(recipe, crate::runs::DataSource::default(), "", "");
    let keys = crate::comparison::plan::grid(&plan.recipe.design());
    let spec = plan.spec(&keys[0]).unwrap();
    check(&spec).unwrap();
    fs::write(&script, "two").unwrap();
    let refused = check(&spec).unwrap_err().to_string();
    assert!(refused.contains("t.sh changed while this comparison was running"), "{refused}");
    fs::remove_file(&script).unwrap();
    assert!(check(&spec).is_err());
    // Another host may have another shell, so `sh` is not checked.
    let mut elsewhere = plan.spec(&keys[1]).unwrap();
    elsewhere.files.insert("sh".to_owned(), "another".to_owned());
    check(&elsewhere).unwrap();
}

#[test]
fn a_program_is_its_contents_whatever_its_files_are_called() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    for (name, text) in [
        ("old.py", "import model"),
        ("new.py", "import model"),
        ("model.py", ""),
        ("a.toml", "1"),
        ("b.toml", "1"),
        ("c.toml", "2"),
    ] {
        fs::write(path(name), text).unwrap();
    }
    fs::create_dir(path("copy")).unwrap();
    fs::copy(path("new.py"), path("copy/new.py")).unwrap();
    fs::copy(path("model.py"), path("copy/model.py")).unwrap();
    let identity = |command: &str| {
        let command = command.replace('@', &path(""));
        let mut recipe = judged(&command, "other");
        recipe.contents = Some(Contents::read(&recipe, &[]).unwrap());
        recipe.identity(&command).unwrap()
    };
    for [one, other] in [
        ["python3 @old.py {seed}", "python3 @new.py {seed}"],
        ["python3 @old.py {seed}", "python3 @copy/new.py {seed}"],
        ["./run --config=@a.toml x", "./run --config=@b.toml x"],
        ["sh -c './run < @a.toml; true'", "sh -c './run < @b.toml; true'"],
    ] {
        assert_eq!(identity(one), identity(other), "{one} and {other}");
    }
    for [one, other] in [
        ["python3 @old.py {seed}", "python3 @new.py {seed} 1"],
        ["python3 @old.py {seed}", "python3 @new.py"],
        ["./run --config=@a.toml", "./run --config=@c.toml"],
        ["./run --config=@a.toml", "./run --conf=@a.toml"],
        ["./run a b", "./run 'a b'"],
        ["sh -c './run < @a.toml; true'", "sh -c './run < @c.toml; true'"],
    ] {
        assert_ne!(identity(one), identity(other), "{one} and {other}");
    }
    let before = identity("python3 @old.py {seed}");
    fs::write(path("model.py"), "x = 1").unwrap();
    assert_ne!(identity("python3 @old.py {seed}"), before, "it imports another model");
}

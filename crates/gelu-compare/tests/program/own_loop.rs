//! Tests of a program around its own loop, the example `own_loop`.

use gelu_compare::testing::{Sandbox, kill, wait};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

fn own_loop() -> Sandbox {
    Sandbox::of_example("own_loop")
}

fn documents(comparison: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(comparison.join("results.json")).unwrap()).unwrap()
}

/// Returns the measures of all runs.
fn epochs(comparison: &Path) -> Vec<Value> {
    let document = documents(comparison);
    document["runs"].as_array().unwrap().iter().map(|run| run["epochs"].clone()).collect()
}

#[test]
fn without_arguments_it_compares_what_main_says() {
    let sandbox = own_loop();
    let said = sandbox.run(&[]).success();
    assert!(
        said.contains("0.02 and 0.01 cannot be told apart yet: 0.02 diverged in 3 of 8"),
        "{said}"
    );
    let document = documents(&sandbox.path("results/descent"));
    assert_eq!(document["runs"].as_array().unwrap().len(), 3 * 8);
    assert_eq!(document["runs"][0]["epochs"].as_array().unwrap().len(), 20);
    let other = ["compare", "--compare", "step=0.1,0.2", "--seeds", "2", "--out", "mine", "--json"];
    let mine: Value = serde_json::from_str(&sandbox.run(&other).success()).unwrap();
    assert_eq!(mine["runs"].as_array().unwrap().len(), 4);
    sandbox
        .run(&["compare", "--compare", "step=a,b", "--out", "text"])
        .refused(1, "step is a: it has to be a number, as in 0.1 or 1e-3");
    sandbox
        .run(&["compare", "--metric", "depth", "--out", "depth"])
        .refused(1, "it never reported depth; it reported height");
}

#[test]
fn an_axis_that_the_program_does_not_have_is_refused_before_anything_is_made() {
    let sandbox = own_loop();
    for flag in ["--compare", "--tune", "--each"] {
        for command in ["compare", "submit"] {
            sandbox.run(&[command, flag, "stpe=0.1,0.2"]).refused(
                2,
                "there is no axis stpe; did you mean `step`? There are: step. What else",
            );
        }
    }
    assert!(!sandbox.path("results").exists());
}

#[test]
fn a_run_that_was_stopped_goes_on_to_the_same_numbers() {
    let sandbox = own_loop();
    let arguments = ["--compare", "step=0.01,0.02", "--seeds", "1"];
    sandbox.run(&[&["compare", "--out", "whole"], &arguments[..]].concat()).success();
    sandbox.run(&[&["submit", "--out", "pieces"], &arguments[..]].concat()).success();
    // Creates the state that a worker leaves when it is killed after epoch 7.
    sandbox.run(&["work", "pieces"]).success();
    let runs = fs::read_dir(sandbox.path("pieces/runs")).unwrap();
    let whole = epochs(&sandbox.path("whole"));
    for run in runs.map(|run| run.unwrap().path()) {
        cut(&run, 7);
    }
    sandbox.run(&["work", "pieces"]).success();
    sandbox.run(&["report", "pieces"]).success();
    assert_eq!(epochs(&sandbox.path("pieces")), whole);
}

#[test]
fn one_run_by_hand_is_that_of_the_comparison() {
    let sandbox = own_loop();
    let arguments = ["train", "--set", "step=0.02", "--seed", "3", "--out", "one"];
    let said = sandbox.run(&arguments).success();
    assert!(said.contains("epoch 20  height -0.2") && said.contains("finished"), "{said}");
    let again = sandbox.run(&arguments).success();
    assert!(!again.contains("epoch") && again.contains("finished"), "{again}");
    sandbox
        .run(&["compare", "--compare", "step=0.01,0.02", "--seeds", "3", "--out", "all"])
        .success();
    let one = fs::read_dir(sandbox.path("one/runs")).unwrap().next().unwrap().unwrap();
    let same = sandbox.path("all/runs").join(one.file_name()).join("metrics.csv");
    assert_eq!(fs::read(one.path().join("metrics.csv")).unwrap(), fs::read(same).unwrap());
    sandbox
        .run(&["train", "--set", "width=3"])
        .refused(2, "there is no axis width; there are: step");
}

#[test]
fn workers_that_are_killed_lose_nothing_that_was_reported() {
    let sandbox = own_loop();
    sandbox.run(&["compare", "--out", "whole"]).success();
    sandbox.run(&["submit", "--out", "pieces"]).success();
    sandbox.killed_workers("pieces", 6);
    sandbox.run(&["work", "pieces"]).success();
    sandbox.are_equal("whole", "pieces");
    let again = |run: &Path| {
        let sessions = fs::read_dir(run).unwrap().filter(|file| {
            file.as_ref().unwrap().file_name().to_string_lossy().starts_with("provenance-")
        });
        sessions.count() > 1
    };
    assert!(sandbox.runs("pieces").iter().any(|run| again(run)), "none was killed in a run");
}

#[test]
fn two_programs_do_not_train_one_run_at_the_same_time() {
    let sandbox = Sandbox::of_example("odd_loop");
    let train = ["train", "--set", "pause=30000", "--out", "one"];
    let mut first = sandbox.command(&train).spawn().unwrap();
    wait("the first to begin", || {
        sandbox.path("one/runs").exists()
            && sandbox.runs("one").iter().any(|run| run.join("status.json").exists())
    });
    let said = sandbox.run(&train).refused(1, "is working on it; wait for it or stop it");
    assert!(said.contains(&format!("process {} on ", first.id())), "{said}");
    kill(&mut first);
}

#[test]
fn commands_and_loops_are_not_each_others_to_work_on() {
    let sandbox = own_loop();
    sandbox.run(&["submit", "--out", "loops"]).success();
    let compare = crate::program();
    let folder = sandbox.path("loops");
    compare
        .run(&["work", folder.to_str().unwrap()])
        .refused(2, "holds a comparison of descent; work on it with: descent work");
    assert_eq!(fs::read_dir(folder.join("runs")).unwrap().count(), 0);
    // Another program's loop is rejected too.
    let odd = Sandbox::of_example("odd_loop");
    odd.run(&["work", folder.to_str().unwrap()]).refused(2, "holds a comparison of descent;");
    odd.run(&["compare", "--out", folder.to_str().unwrap()])
        .refused(1, "it is one of descent, not of odd; name another folder with --out\n");
    assert_eq!(fs::read_dir(folder.join("runs")).unwrap().count(), 0);
}

/// Changes a comparison's folder as if another kind of program, such as gelu, had made it, with another recipe and
/// other files.
fn made_by_another_kind_of_program(folder: &Path) {
    let table = |path: &Path| -> toml::Table { fs::read_to_string(path).unwrap().parse().unwrap() };
    let file = folder.join("comparison.toml");
    let mut comparison = table(&file);
    let description = comparison["description"].as_table_mut().unwrap();
    for name in ["tool", "program"] {
        description.insert(name.to_owned(), "otherwise".into());
    }
    let words = toml::toml! {
        column = "size"
        title = "step size"
        plural = "step sizes"
        short_plural = "sizes"
        label = [[0.01, "one hundredth"]]
    };
    let axis = &mut description["design"]["axes"][0];
    axis.as_table_mut().unwrap().insert("words".to_owned(), words.into());
    comparison.insert("recipe".to_owned(), toml::toml! { layers = [1, 2] }.into());
    fs::write(file, comparison.to_string()).unwrap();
    for run in fs::read_dir(folder.join("runs")).unwrap() {
        let file = run.unwrap().path().join("run.toml");
        let mut spec = table(&file);
        let setting = spec.remove("setting").unwrap();
        spec.insert("size".to_owned(), setting["step"].clone());
        spec.insert("network".to_owned(), toml::toml! { width = 3 }.into());
        fs::write(file, spec.to_string()).unwrap();
    }
}

#[test]
fn any_program_shows_the_comparison_of_any_other_and_only_its_own_goes_on_with_it() {
    let sandbox = own_loop();
    let arguments = ["compare", "--compare", "step=0.01,0.02", "--seeds", "2", "--out"];
    sandbox.run(&[&arguments[..], &["mine"]].concat()).success();
    let folder = sandbox.path("mine");
    let before = documents(&folder);
    for foreign in [false, true] {
        if foreign {
            made_by_another_kind_of_program(&folder);
        }
        let compare = crate::program();
        let other = Sandbox::of_example("odd_loop");
        for program in [&compare, &other] {
            let at = folder.to_str().unwrap();
            let listed = program.run(&["runs", at]).success();
            assert_eq!(listed.matches("  finished ").count(), 4, "{listed}");
            assert_eq!(listed.contains("one hundredth"), foreign, "{listed}");
            let above = program.run(&["runs", sandbox.path("").to_str().unwrap()]).success();
            assert!(above.contains("4 runs: 4 finished"), "{above}");
            program.run(&["watch", at, "--plain"]).success();
            let out = ["report", at, "--out", "shown", "--export", "tensorboard=shown/board"];
            program.run(&out).success();
            let shown = documents(&program.path("shown"));
            for part in ["differences", "criterion", "runs"] {
                let numbers = |document: &Value| {
                    let text = document[part].to_string();
                    let text = text.replace("size", "step").replace("one hundredth", "0.01");
                    serde_json::from_str::<Value>(&text).unwrap()
                };
                assert_eq!(numbers(&shown), numbers(&before), "{part}");
            }
            let refused = if foreign { "holds a comparison of otherwise, and only" } else { "" };
            let work = program.run(&["work", at]);
            assert!(work.code() > 0 && work.stderr().contains(refused), "{}", work.stderr());
            assert!(!work.stderr().contains("delete"), "{}", work.stderr());
        }
    }
    let refused = "holds a comparison of otherwise, and only otherwise goes on with it; name";
    sandbox.run(&[&arguments[..], &["mine"]].concat()).refused(1, refused);
}

#[test]
fn a_folder_that_cannot_be_read_is_said_by_the_exit_code_as_well() {
    let sandbox = own_loop();
    sandbox.run(&["submit", "--out", "all/good"]).success();
    fs::create_dir(sandbox.path("all/bad")).unwrap();
    fs::write(sandbox.path("all/bad/comparison.toml"), "version = 3\n[recipe]\n").unwrap();
    let runs = sandbox.run(&["runs", "all"]);
    assert!(runs.stdout().contains("all/good: descent, 24 runs"), "{}", runs.stdout());
    let said = runs.refused(1, "if another program made it, use that");
    assert!(!said.contains("delete"), "{said}");
}

#[test]
fn a_folder_may_be_called_like_a_flag() {
    let sandbox = own_loop();
    let arguments = ["--compare", "step=0.01,0.02", "--seeds", "1"];
    sandbox.run(&[&["compare", "--out=-x"][..], &arguments].concat()).success();
    let said = sandbox.run(&[&["submit", "--out=-y"][..], &arguments].concat()).success();
    assert!(said.contains("work ./-y\n"), "{said}");
}

#[test]
fn a_measure_that_is_no_number_ends_a_run_in_its_epoch() {
    let sandbox = Sandbox::of_example("odd_loop");
    for (fault, epoch) in [("nan", 1), ("infinite", 2), ("late-nan", 3)] {
        let fault = format!("fault={fault}");
        let said = sandbox.run(&["train", "--set", &fault, "--out", &fault]).success();
        assert!(said.contains(&format!("diverged in epoch {epoch}")), "{said}");
        let run = &sandbox.runs(&fault)[0];
        let table = fs::read_to_string(run.join("metrics.csv")).unwrap_or_default();
        assert_eq!(table.lines().skip(1).count(), epoch - 1, "{table}");
    }
    // A diverged run is the worst result, but not a failure.
    let faults = ["compare", "--compare", "fault=none,nan", "--seeds", "6", "--out", "all"];
    let said = sandbox.run(&faults).success();
    assert!(said.contains("none beats nan"), "{said}");
}

#[test]
fn epochs_are_reported_one_by_one() {
    let sandbox = Sandbox::of_example("odd_loop");
    for (fault, code, said) in [
        ("skips", 2, "epoch 3 is reported where 2 belongs; epochs are reported one by one"),
        ("repeats", 2, "epoch 1 is reported where 2 belongs"),
        ("saves", 1, "it cannot be saved: no paper"),
    ] {
        let set = format!("fault={fault}");
        sandbox.run(&["train", "--set", &set, "--out", fault]).refused(code, said);
        let status = fs::read_to_string(sandbox.runs(fault)[0].join("status.json")).unwrap();
        assert!(status.contains("failed"), "{status}");
    }
}

/// Turns a finished run into one that was stopped after some epochs, with its state at that time.
fn cut(run: &Path, epochs: usize) {
    let text = fs::read_to_string(run.join("metrics.csv")).unwrap();
    let kept: String = text.lines().take(1 + epochs).map(|line| format!("{line}\n")).collect();
    let checkpoint = run.join(format!("checkpoint-{epochs:04}"));
    fs::create_dir(&checkpoint).unwrap();
    let setting = fs::read_to_string(run.join("run.toml")).unwrap();
    let value = |name: &str| -> f64 {
        let line = setting.lines().find_map(|line| line.strip_prefix(&format!("{name} = ")));
        line.unwrap().parse().unwrap()
    };
    let (step, seed) = (value("step"), value("seed"));
    let mut x = seed;
    for _ in 0..epochs {
        x -= step * (4.0 * x.powi(3) - 2.0 * x + 0.1 * seed.sin());
    }
    fs::write(checkpoint.join("x"), x.to_string()).unwrap();
    fs::write(checkpoint.join("metrics.csv"), &kept).unwrap();
    let sums =
        Command::new("sha256sum").args(["metrics.csv", "x"]).current_dir(&checkpoint).output();
    fs::write(checkpoint.join("SHA256SUMS"), sums.unwrap().stdout).unwrap();
    fs::write(run.join("metrics.csv"), &kept).unwrap();
    fs::write(run.join("status.json"), "{\"state\":\"interrupted\",\"seconds\":1.0}\n").unwrap();
}

/// One more byte at the end makes another build that runs the same.
#[test]
fn a_rebuilt_program_says_how_many_runs_another_build_has_trained() {
    let built = own_loop();
    let program = built.path("loop");
    fs::copy(built.command(&[]).get_program(), &program).unwrap();
    let run = |seeds: &str| {
        let words =
            ["compare", "--compare", "step=0.01,0.02", "--seeds", seeds, "--out", "one", "--plain"];
        let output = Command::new(&program).args(words).current_dir(built.folder.path()).output();
        let output = output.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        said
    };
    assert!(!run("1").contains("changed since"));
    assert!(!run("2").contains("changed since"), "it is the same program");
    let mut bytes = fs::read(&program).unwrap();
    bytes.push(0);
    fs::write(&program, bytes).unwrap();
    let said = run("3");
    assert!(
        said.contains("this program changed since 4 of these runs, which count as they are"),
        "{said}"
    );
    assert!(said.contains("name another folder with --out"), "{said}");
}

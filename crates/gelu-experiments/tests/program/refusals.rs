//! Tests that wrong input gives a clear message and the right exit code, and loses nothing.

use crate::support::{Sandbox, small};
use std::fs;

#[test]
fn instructions_and_methods_that_are_not_there_are_refused_before_anything_is_made() {
    for (variable, value, refusal) in [
        ("GELU_SIMD", "avx3", "names no instruction set"),
        ("GELU_CONVOLUTION", "fft", "names no way to compute convolutions"),
    ] {
        let sandbox = Sandbox::new();
        let mut command = sandbox.command(&["compare", "--out", "out"]);
        let output = command.env(variable, value).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.starts_with(&format!("gelu: {variable}={value} {refusal}")), "{said}");
        assert!(!sandbox.path("out").exists());
    }
}

#[test]
fn wrong_usage_says_what_there_is() {
    let sandbox = Sandbox::new();
    let cases: &[(&[&str], &str)] = &[
        (&["compare", "mnist-clasifier"], "did you mean `mnist-classifier`? There are: digits, "),
        (&["compare", "mnst"], "did you mean `mnist-classifier`, "),
        (&["compare", "--train-limit", "60000"], "it leaves nothing out"),
        (&["compare", "--test-limit", "2000"], "it leaves nothing out"),
        (&["data", "info", "mnst"], "did you mean `mnist`?"),
        (&["data", "info", "mnist", "--target", "x"], "only a table has some"),
        (&["data", "info", "csv", "--size", "8", "--target", "x"], "data.size is for images"),
        (&["data", "synth", "out"], "<OUT>"),
        (&["compare", "--activations", "gelu,rleu"], "did you mean `relu`?"),
        (&["compare", "--device", "gpu"], "unknown device `gpu`"),
        (&["compare", "--seeds", "0"], "the number of seeds is 0"),
        (&["compare", "--batch-size", "0"], "the batch size is 0"),
        (&["compare", "--batch-size", "5001"], "only 5000 examples"),
        (&["compare", "--epochs", "0"], "the number of epochs is 0"),
        (&["compare", "--epochs", "-1"], "unexpected argument"),
        (&["compare", "--train-limit", "0"], "train limit is 0"),
        (&["compare", "--learning-rates", "1e-3,0"], "learning rate 0"),
        (&["compare", "--learning-rates", "NaN"], "learning rate NaN"),
        (&["compare", "--dropout", "1"], "dropout rate 1"),
        (
            &["compare", "--learning-rates", "1e-1,1e-3", "--validation", "0"],
            "nothing to choose by: selection is valid-error",
        ),
        (&["compare", "--validation", "0"], "--selection train-loss"),
        (&["compare", "mnist-autoencoder", "--selection", "valid-error"], "predicts no classes"),
        (&["compare", "--baseline", "silu"], "silu is not among the activations"),
        (&["compare", "--until-decided", "--max-seeds", "0"], "0 seeds at most cannot decide"),
        (&["compare", "--max-seeds", "12"], "goes with --until-decided"),
        (&["compare", "--until-decided", "--seeds", "9"], "cannot be used with"),
        (&["compare", "--data", "."], "gelu compare mnist-classifier --data"),
        (&["data", "fetch", "imagenet"], "there are: digits, mnist"),
        (&["data", "fetch", "timit"], "its licence does not allow copies"),
        (&["data", "synth", "digits", "out", "--train", "0"], "at least one"),
        (&["frobnicate"], "unrecognized subcommand"),
    ];
    for (arguments, expected) in cases {
        sandbox.run(arguments).refused(2, expected);
    }
    assert!(!sandbox.path("results").exists(), "nothing is made for what is refused");
}

/// Commands from the book, each with one mistyped word.
#[test]
fn a_mistyped_word_is_answered_with_what_was_meant() {
    let sandbox = Sandbox::new();
    for (name, version) in [("digits", 3), ("symbolic", 3)] {
        let folder = sandbox.path(&format!("results/{name}"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("comparison.toml"), format!("version = {version}\n")).unwrap();
    }
    let cases: &[(&[&str], &str)] = &[
        (&["comapre", "mnist-classifier"], "compare"),
        (&["compare", "mnist-classifer"], "did you mean `mnist-classifier`?"),
        (&["compare", "--actviations", "gelu,relu"], "--activations"),
        (&["compare", "--activations", "gelu,rleu"], "did you mean `relu`?"),
        (
            &["compare", "--activations", "gelu,relu", "--baseline", "rleu"],
            "is not among the activations that are compared: gelu, relu; did you mean `relu`?",
        ),
        (&["compare", "--selection", "valid-eror"], "a similar value exists: 'valid-error'"),
        (&["compare", "--device", "felx"], "did you mean `flex`?"),
        (&["compare", "--seeds", "eight"], "--seeds <N>': it has to be a whole number, at least 0"),
        (&["compare", "--epochs", "1O"], "--epochs <N>': it has to be a whole number, at least 0"),
        (&["compare", "--jobs", "two"], "--jobs <N>': it has to be a whole number from 1 to 65535"),
        (&["compare", "--learning-rates", "1e-3;1e-4"], "it has to be a number, as in 0.1 or 1e-3"),
        (&["eval", "results/digits", "--noise", "x"], "--noise <LIST>': it has to be a number"),
        (&["data", "fetch", "tweet"], "did you mean `tweets`?"),
        (&["data", "info", "cvs"], "did you mean `csv`?"),
        (&["recipe", "show", "symbloic"], "did you mean `symbolic`?"),
    ];
    for (arguments, expected) in cases {
        sandbox.run(arguments).refused(2, expected);
    }
    let beside =
        "did you mean `digits`? Next to it there are: `results/digits`, `results/symbolic`";
    sandbox.run(&["report", "results/digit"]).refused(1, beside);
    let inner = "name one of those in it: `results/digits`, `results/symbolic`";
    sandbox.run(&["report", "results"]).refused(1, inner);
}

/// The largest number of the type `u64`.
const HUGE: &str = "18446744073709551615";

#[test]
fn numbers_that_nobody_can_mean_are_refused_before_anything_is_made() {
    let sandbox = Sandbox::new();
    let cases: &[(&[&str], &str)] = &[
        (&["compare", "--seeds", HUGE, "--dry-run"], "it has to be at most 100000"),
        (&["compare", "--seeds", "100001"], "the number of seeds is 100001"),
        (
            &[
                "compare",
                "--seeds",
                "100000",
                "--activations",
                "gelu,relu,elu",
                "--dropout",
                "0,0.1,0.2,0.3",
            ],
            "these are 1200000 runs",
        ),
        (&["compare", "--epochs", "1000001"], "it has to be at most 1000000"),
        (&["compare", "--epochs", HUGE, "--dry-run"], "it has to be at most 1000000"),
        (&["compare", "--batch-size", HUGE], "the batch size is 18446744073709551615"),
        (&["compare", "--train-limit", HUGE], "the train limit is 18446744073709551615"),
        (&["compare", "--test-limit", HUGE], "the test limit is 18446744073709551615"),
        (&["compare", "--validation", HUGE], "data.validation is 18446744073709551615"),
        (&["compare", "--until-decided", "--max-seeds", HUGE], "cannot decide anything"),
        (&["compare", "--learning-rates", "1e308"], "learning rate 1e308 cannot be trained with"),
        (&["compare", "--learning-rates", "1e-3,1e-308"], "learning rate 1e-308"),
        (&["compare", "--learning-rates=-1"], "learning rate -1"),
        (&["compare", "--learning-rates", "inf"], "learning rate inf"),
        (&["compare", "--dropout", "0.9999999999"], "dropout rate 0.9999999999"),
        (&["compare", "--lease", HUGE], "a whole number from 1 to 86400"),
        (&["submit", "--seeds", HUGE], "it has to be at most 100000"),
        (&["submit", "--learning-rates", "1e308"], "learning rate 1e308"),
        (&["train", "--learning-rate", "1e308"], "learning rate 1e308"),
        (&["train", "--dropout", "NaN"], "dropout rate NaN"),
        (&["train", "--epochs", HUGE], "it has to be at most 1000000"),
        (&["train", "--seed", HUGE], "a whole number from 0 to"),
        (&["eval", ".", "--noise", "1e300"], "noise amplitude 1e300"),
        (&["eval", ".", "--noise", "NaN"], "noise amplitude NaN"),
        (&["data", "synth", "digits", "out", "--train", HUGE], "at most 1000000"),
        (&["data", "synth", "timit", "out", "--test", HUGE], "at most 1000000"),
    ];
    for (arguments, expected) in cases {
        sandbox.run(arguments).refused(2, expected);
    }
    let names: Vec<_> = fs::read_dir(sandbox.path("")).unwrap().flatten().collect();
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn a_recipe_with_numbers_that_nobody_can_mean_is_wrong_usage_too() {
    let sandbox = Sandbox::new();
    let recipe = include_str!("../../recipes/digits.toml");
    for (key, value) in [
        ("seeds", "9223372036854775807"),
        ("seeds", "0"),
        ("epochs", "1000001"),
        ("batch_size", "9223372036854775807"),
        ("learning_rates", "[1e308]"),
        ("learning_rates", "[0.0]"),
        ("learning_rates", "[nan]"),
        ("dropout", "[1.0]"),
        ("width", "9223372036854775807"),
        ("width", "1000000"),
        ("depth", "9223372036854775807"),
        ("validation", "9223372036854775807"),
        ("negligible", "nan"),
    ] {
        let mut found = 0;
        let line = |line: &str| match line.starts_with(&format!("{key} = ")) {
            true => {
                found += 1;
                format!("{key} = {value}\n")
            }
            false => format!("{line}\n"),
        };
        let text: String = recipe.lines().map(line).collect();
        assert_eq!(found, 1, "{key}");
        fs::write(sandbox.path("mine.toml"), text).unwrap();
        for command in ["compare", "train", "submit"] {
            sandbox.run(&[command, "--recipe", "mine.toml"]).refused(2, "recipe mine.toml: ");
        }
    }
    assert!(!sandbox.path("results").exists());
}

/// Impossible numbers in a folder are reported as damage.
#[test]
fn a_folder_with_numbers_that_nobody_can_mean_is_named() {
    let sandbox = Sandbox::new();
    let mut made = small("gelu", "1", &["--out", "made"]);
    made[0] = "submit";
    sandbox.run(&made).success();
    let file = sandbox.path("made/comparison.toml");
    let text = fs::read_to_string(&file).unwrap();
    for (here, there) in [
        ("seeds = 1\n", "seeds = 9223372036854775807\n"),
        ("lease_seconds = 60", "lease_seconds = 9223372036854775807"),
        ("epochs = 1\n", "epochs = 9223372036854775807\n"),
    ] {
        assert!(text.contains(here), "{here}: {text}");
        fs::write(&file, text.replace(here, there)).unwrap();
        for command in ["report", "work", "runs", "watch", "eval"] {
            sandbox.run(&[command, "made"]).refused(1, "comparison.toml: ");
        }
    }
}

/// An unknown activation cannot be trained, and its name does not become a path.
#[test]
fn an_activation_that_is_a_path_makes_no_folder() {
    let sandbox = Sandbox::new();
    let mut made = small("gelu", "1", &["--out", "made"]);
    made[0] = "submit";
    sandbox.run(&made).success();
    let file = sandbox.path("made/comparison.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("[\"gelu\"]", "[\"../../../evil\"]")).unwrap();
    sandbox.run(&["work", "made"]).refused(1, "unknown activation `../../../evil`");
    assert_eq!(fs::read_dir(sandbox.path("made/runs")).unwrap().count(), 0);
    let names: Vec<_> = fs::read_dir(sandbox.path("")).unwrap().flatten().collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("file"), "not a folder").unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&["compare", "mnist-classifier"], "gelu data fetch mnist"),
        (&["compare", "mnist-classifier", "--data", "nowhere"], "nowhere: there is no such folder"),
        (&["compare", "--recipe", "none.toml"], "none.toml: there is no such file; name a recipe"),
        (&["compare", "--out", "file/out"], "cannot create the folder file/out"),
        (&["report", "."], "holds no comparison"),
        (&["watch", "nowhere"], "holds no comparison"),
        (&["eval", "."], "holds no comparison"),
        (&["work", "."], "holds no comparison"),
    ];
    for (arguments, expected) in cases {
        sandbox.run(arguments).refused(1, expected);
    }
}

#[test]
fn recipes_from_strangers_write_nowhere_else() {
    let sandbox = Sandbox::new();
    let recipe = include_str!("../../recipes/digits.toml");
    for (honest, evil) in [
        ("name = \"digits\"", "name = \"../../evil\""),
        ("name = \"curves\"", "name = \"../../evil\""),
        ("title = \"Built-in", "title = \"\\u001b]0;evil\\u0007Built-in"),
    ] {
        fs::write(sandbox.path("mine.toml"), recipe.replace(honest, evil)).unwrap();
        let said = sandbox.run(&["compare", "--recipe", "mine.toml"]).refused(2, "mine.toml");
        assert!(!said.contains('\u{1b}'), "{said:?}");
    }
    let names: Vec<_> = fs::read_dir(sandbox.path("")).unwrap().flatten().collect();
    assert_eq!(names.len(), 1, "nothing is made: {names:?}");
}

#[test]
fn folders_of_other_versions_and_of_other_backends_are_refused() {
    let sandbox = Sandbox::new();
    let mut made = small("gelu", "1", &["--out", "made"]);
    made[0] = "submit";
    sandbox.run(&made).success();
    let file = sandbox.path("made/comparison.toml");
    let text = fs::read_to_string(&file).unwrap();
    for (here, there, expected) in [
        ("version = 3", "version = 4", "newer version"),
        ("version = 3", "version = 1", "older version"),
        ("backend = \"flex\"", "backend = \"vulkan\"", "name a device of vulkan"),
        ("name = \"digits\"", "name = \"../x\"", "cannot be the name of a file"),
    ] {
        assert!(text.contains(here), "{text}");
        fs::write(&file, text.replace(here, there)).unwrap();
        let outcome = sandbox.run(&["work", "made"]);
        assert!(outcome.stderr().contains(expected), "{expected}: {}", outcome.stderr());
        assert_ne!(outcome.code(), 0);
    }
    assert_eq!(fs::read_dir(sandbox.path("made/runs")).unwrap().count(), 0);
}

#[test]
fn a_cluster_that_is_not_there_is_said_so() {
    let sandbox = Sandbox::new();
    let mut submit = small("gelu", "1", &["--slurm", "--out", "made"]);
    submit[0] = "submit";
    let outcome = sandbox.command(&submit).env("PATH", "/nonexistent").output().unwrap();
    let said = String::from_utf8(outcome.stderr).unwrap();
    assert_eq!(outcome.status.code(), Some(2), "{said}");
    assert!(said.contains("there is no Slurm here") && said.contains("workers.sh"), "{said}");
    submit.push("--dry-run");
    let script = sandbox.run(&submit).success();
    assert!(
        script.starts_with("#!/bin/bash\n") && script.contains("#SBATCH --array=1-4"),
        "{script}"
    );
    submit.extend(["--partition", "x\ny"]);
    sandbox.run(&submit).refused(2, "partition");
}

#[cfg(unix)]
#[test]
fn what_slurm_says_is_shown_in_lines_and_its_control_characters_aside() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    let sbatch = sandbox.path("sbatch");
    let says = "#!/bin/sh\nprintf 'error: no such partition: main\\n\\033[2Jerror: refused\\n' >&2\nexit 1\n";
    fs::write(&sbatch, says).unwrap();
    fs::set_permissions(&sbatch, fs::Permissions::from_mode(0o755)).unwrap();
    let mut submit = small("gelu", "1", &["--slurm", "--out", "made"]);
    submit[0] = "submit";
    let path = format!("{}:/usr/bin:/bin", sandbox.path("").display());
    let outcome = sandbox.command(&submit).env("PATH", path).output().unwrap();
    let said = String::from_utf8(outcome.stderr).unwrap();
    let expected =
        "gelu: Slurm refuses the job: error: no such partition: main\n\\u001b[2Jerror: refused\n";
    assert_eq!((outcome.status.code(), said.as_str()), (Some(2), expected));
}

#[test]
fn what_slurm_cannot_be_told_is_refused_before_anything_is_made() {
    let sandbox = Sandbox::new();
    let cases: &[(&[&str], &str)] = &[
        (&["--partition", "a b"], "--partition `a b`"),
        (&["--account", "$HOME"], "--account `$HOME`"),
        (&["--time", "1h"], "2-12:30:00"),
        (&["--time", "3"], "--time 3 leaves no time to train"),
        (&["--notice", "0"], "a whole number from 1 to 65535"),
        (&["--out", "a\"b"], "without quotes"),
    ];
    for (more, expected) in cases {
        let mut submit = small("gelu", "1", &["--slurm"]);
        submit[0] = "submit";
        submit.extend(*more);
        sandbox.run(&submit).refused(2, expected);
    }
    assert_eq!(fs::read_dir(sandbox.path("")).unwrap().count(), 0, "nothing is made");
    let mut submit = small("gelu", "1", &["--slurm", "--out", "WORKER of it's $own"]);
    submit[0] = "submit";
    submit.extend(["--partition", "WORKER", "--dry-run"]);
    let script = sandbox.run(&submit).success();
    assert!(script.contains("\n#SBATCH --partition=WORKER\n"), "{script}");
    assert!(script.contains("/WORKER of it's $own/slurm/%A_%a.log\"\n"), "{script}");
    assert!(script.contains(r"/WORKER of it'\''s $own' --device flex)"), "{script}");
}

#[test]
fn recipe_with_an_unknown_key_is_refused_with_its_line() {
    let sandbox = Sandbox::new();
    let recipe = include_str!("../../recipes/digits.toml").replace("batch_size", "batchsize");
    fs::write(sandbox.path("mine.toml"), recipe).unwrap();
    let said = sandbox.run(&["compare", "--recipe", "mine.toml"]).refused(2, "batchsize");
    assert!(said.contains("mine.toml") && said.contains("line"), "{said}");
}

#[test]
fn damaged_data_are_refused_before_anything_is_made() {
    let sandbox = Sandbox::new();
    sandbox.run(&["data", "synth", "digits", "d", "--train", "5200", "--test", "50"]).success();
    let images = sandbox.path("d/train-images-idx3-ubyte.gz");
    let whole = fs::read(&images).unwrap();
    let compare = ["compare", "mnist-classifier", "--data", "d", "--epochs", "1"];
    let damages: &[(&[u8], &str)] = &[
        (&whole[..whole.len() / 2], "compressed stream is damaged"),
        (b"", "is empty"),
        (b"\0\0\x08\x01\0\0\0\x01\0", "that is a file of labels"),
        (b"\0\0\x08\x03\xff\xff\xff\xff\0\0\0\x1c\0\0\0\x1c", "announces 3367254359280 pixels"),
    ];
    for (content, expected) in damages {
        fs::write(&images, content).unwrap();
        sandbox.run(&compare).refused(1, expected);
        let checked = sandbox.run(&["data", "info", "mnist", "--data", "d"]);
        assert_eq!(checked.code(), 1);
        assert!(checked.stdout().contains(expected), "{}", checked.stdout());
        assert!(checked.stdout().contains("ok       t10k-labels"), "{}", checked.stdout());
    }
    assert!(!sandbox.path("results").exists());
    fs::write(&images, whole).unwrap();
    assert!(sandbox.run(&["data", "info", "mnist", "--data", "d"]).success().contains("SYNTHETIC"));
}

#[test]
fn results_on_synthetic_files_are_marked_synthetic() {
    let sandbox = Sandbox::new();
    sandbox.run(&["data", "synth", "digits", "d", "--train", "5200", "--test", "50"]).success();
    let text = sandbox
        .run(&[
            "compare",
            "mnist-classifier",
            "--data",
            "d",
            "--epochs",
            "1",
            "--seeds",
            "1",
            "--learning-rates",
            "1e-3",
            "--dropout",
            "0",
            "--activations",
            "gelu",
            "--plain",
        ])
        .success();
    assert!(text.contains("data: mnist (SYNTHETIC DATA)"), "{text}");
    let figure = fs::read_to_string(sandbox.path("results/mnist-classifier/figure-2.svg")).unwrap();
    assert!(figure.contains("SYNTHETIC DATA"));
}

#[cfg(unix)]
#[test]
fn unreadable_files_and_folders_that_cannot_be_written_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    let locked = sandbox.path("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(locked.join("probe"), "x").is_ok() {
        eprintln!("skipped: this user may write anywhere (root)");
        return;
    }
    sandbox
        .run(&small("gelu", "1", &["--out", "locked/out"]))
        .refused(1, "cannot create the folder locked/out");
}

#[test]
fn offline_fetch_says_what_to_do_in_one_line() {
    let sandbox = Sandbox::new();
    let closed = ["data", "fetch", "mnist", "--mirror", "http://127.0.0.1:9/"];
    let said = sandbox.run(&closed).refused(1, "gelu compare");
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_part_of_a_generated_file() {
    use crate::support::{Outcome, PROGRAM};
    // Limits in blocks of 512 bytes; each set has a file that is larger.
    for (name, blocks) in [
        ("mnist", 8),
        ("cifar10", 8),
        ("tweets", 8),
        ("timit", 8),
        ("spoken-digits", 4),
        ("shakespeare", 8),
    ] {
        let sandbox = Sandbox::new();
        let limited =
            format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" data synth {name} out");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &limited, PROGRAM]).current_dir(sandbox.path(""));
        let outcome = Outcome(shell.output().unwrap());
        outcome.refused(1, "File too large");
        let mut folders = vec![sandbox.path("out")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let (path, length) = (entry.path(), entry.metadata().unwrap().len());
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                assert!(length < 512 * blocks, "{} has been cut", path.display());
                assert!(
                    !entry.file_name().to_string_lossy().starts_with(".writing"),
                    "{}",
                    path.display()
                );
            }
        }
    }
}
